"""cimento: targeted linguistic evaluation of language models.

The names in ``__all__``, in the order of use, are the public interface, together with those of
the modules in docs/extending.md, section "Public names"; everything else may change. The types
that signatures name, for annotations, are in `cimento.types`. Each name is loaded when it is first
used, so that importing cimento is quick and does not import torch.
"""

from __future__ import annotations

import sys
from types import ModuleType

from cimento._version import __version__ as __version__
from cimento.io.public_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
__all__ = __dir__()  # noqa: PLE0605, RUF100  # from the one list


class _Package(ModuleType):
    """The type of this package's module object.

    `cite`, `compare`, `export` and `report` name both a function and a subpackage. Importing a
    subpackage sets an attribute of the package, which would hide the function of the same name.
    Python offers no other way to prevent this: the attribute is not set if the name is public.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
