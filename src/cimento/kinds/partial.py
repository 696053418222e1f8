"""What a run with ``--limit`` says of the items that it has."""

from __future__ import annotations

from cimento.records.store import Manifest

IN_TURN = "in_turn"
"""Key of the manifest of a run with a limit: columns whose values took turns, none for the first
items of the suite."""
TAKEN = "taken"
"""Key of the manifest of such a run of a recording without some items: the ids of those it has."""


def taken_items(manifest: Manifest, counted: str) -> str:
    """The items of such a run in words, as in "12 items (each phenomenon in turn)".

    Args:
        manifest: the manifest of the run.
        counted: their number and what they are, such as "12 items of the suite".
    """
    by = manifest.get(IN_TURN)
    if not isinstance(by, list) or not by:
        return f"the first {counted.removeprefix('1 ')}"
    return f"{counted} (each {' and '.join(map(str, by))} in turn)"
