"""Paradigms: the kinds of test, each with its requests, its judging and its reports.

The names in ``__all__`` are all that a package with a paradigm of its own needs
(docs/extending.md). They are loaded on first use.
"""

from cimento.io.public_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
__all__ = __dir__()  # noqa: PLE0605, RUF100  # from the one list
