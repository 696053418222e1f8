"""Panics of polars, which its library prints on standard error before Python hears of them."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
from collections.abc import Iterator

_STDERR = 2
_PANICKED = b" panicked at "


@contextlib.contextmanager
def without_panics() -> Iterator[None]:
    """A context in which a panic of polars raises an error of polars and prints nothing.

    Damaged files can make polars panic, and the lines about its own code would only frighten. What
    anybody else writes to standard error meanwhile comes after the context. Where other threads
    run, which may write there or start processes, nothing is held back.
    """
    from polars.exceptions import PanicException, PolarsError

    if threading.active_count() > 1:
        yield
        return
    with contextlib.ExitStack() as stack:
        try:
            held = stack.enter_context(tempfile.TemporaryFile())
            usual = os.dup(_STDERR)
        except OSError:  # closed, or no room
            yield
            return
        stack.callback(os.close, usual)
        if sys.stderr is not None:
            sys.stderr.flush()
        os.dup2(held.fileno(), _STDERR)
        failed = False
        try:
            yield
        except (PolarsError, PanicException):  # a panic in a thread of polars is another error
            failed = True
            raise
        finally:
            if sys.stderr is not None:
                sys.stderr.flush()
            os.dup2(usual, _STDERR)
            held.seek(0)
            written = held.read()
            if written and not (failed and _PANICKED in written):
                os.write(_STDERR, written)
