"""Blanks to be filled: suites and how to make them, options, runs and profiles of candidates.

The names in ``__all__`` are public and are loaded on first use.
"""

from cimento.io.public_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
__all__ = __dir__()  # noqa: PLE0605, RUF100  # from the one list
