"""Free memory given back to the system, so that a long run needs no more of it than a short one."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache


def give_back() -> None:
    """Have the C library give back what is free, where it can; a millisecond's work.

    glibc keeps what is freed between blocks that are in use. Tensors of ever other sizes leave
    such gaps, a few megabytes for every thousand sentences.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], object] | None:
    """The function of glibc that does it; None where the C library is another."""
    try:
        found: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
    return found
