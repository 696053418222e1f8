"""The public names of the paradigm of blanks, loaded on first use.

They are those in ``__all__`` (docs/extending.md).
"""

from cimento.io.public_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
__all__ = __dir__()  # noqa: PLE0605, RUF100  # from the one list
