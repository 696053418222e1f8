"""The public names of a package: listed once, in its stub, and loaded on first use.

The stub ``__init__.pyi`` of such a package has a line for each name, ``from home import name as
name``. Type checkers read it, and so does the package's ``__init__.py``, with two statements::

    __getattr__, __dir__ = lazy_names(__name__, __file__)
    __all__ = __dir__()

Nothing but the stub says what is public, and importing the package imports none of its homes.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable


def homes_of(file: str) -> dict[str, str]:
    """The public names of a package, each with the module that defines it.

    Args:
        file: the ``__file__`` of the package, beside which its stub is.
    """
    # `pathlib` and `ast` take longer to be imported than the whole package.
    with io.open_code(file.rpartition(".")[0] + ".pyi") as stub:
        lines = stub.read().decode().splitlines()
    imports = (line.split() for line in lines if line.startswith("from "))
    return {name: home for _, home, _, name, *_ in imports}


def lazy_names(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package whose stub lists its names.

    Args:
        package: name of the package.
        file: its ``__file__``.
    """
    homes = homes_of(file)

    def load(name: str) -> object:
        if name not in homes:
            from cimento.errors import did_you_mean

            near = did_you_mean(name, list(homes), listed=())
            advice = f". {near}" if near and not name.startswith("_") else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{advice}")
        return getattr(importlib.import_module(homes[name]), name)

    return load, lambda: sorted(homes)
