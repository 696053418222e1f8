"""Memory that is returned to the system, so that a long run needs little more than a short one."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache


def give_back() -> None:
    """Have the C library return free memory to the system, if it can; this takes a millisecond.

    glibc keeps freed memory that lies between blocks in use. Tensors of varying sizes leave such
    gaps, a few megabytes for every thousand sentences.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], object] | None:
    """The function ``malloc_trim`` of glibc; None with another C library."""
    try:
        trim: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
    return trim
