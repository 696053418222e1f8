"""Reading without garbage collection, which takes half of the time where nothing is in a cycle."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_MANY_OBJECTS = 5_000
"""Number of objects below which a garbage collection takes no noticeable time."""

_others_are_frozen = threading.Event()
"""Set once objects are known to be frozen, which stay so: counting them visits each of them."""


@contextmanager
def no_collection() -> Iterator[None]:
    """A context without garbage collection, which would take half of the time of reading.

    Reading makes millions of small records, which stay alive and are in no cycle.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            many = gc.get_count()[0] > _MANY_OBJECTS and not _others_are_frozen.is_set()
            if many and gc.get_freeze_count():
                _others_are_frozen.set()
            elif many:
                # Freezing and unfreezing moves the new objects to the oldest generation, which is
                # seldom searched.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
