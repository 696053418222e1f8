"""Types that the signatures of public names name, for annotations in code of your own.

They are what functions take and return and that has no other public module, whichever part of
cimento it is written in. A type is loaded when it is first used.
"""

from cimento.io.public_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
__all__ = __dir__()  # noqa: PLE0605, RUF100  # from the one list
