"""What a run asks, kept on disk while it is planned: memory does not grow with the items."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import count

from cimento.scheduling.shards import Owner
from cimento.scratch import needing_room, scratch_database

_TABLES = (
    "CREATE TABLE contents (key TEXT, piece INTEGER, content BLOB, PRIMARY KEY (key, piece))",
    "CREATE TABLE owners (address BLOB, wanted TEXT, shard TEXT, number INTEGER)",
    "CREATE INDEX by_address ON owners (address)",
)


class Spool:
    """A store that lasts as long as a run is planned and done.

    It keeps contents by their keys, and is where a `Division` looks up who asks a text: see
    `cimento.scheduling.shards.Owners`.

    Raises:
        StorageError: there is no room for temporary files.
    """

    def __init__(self) -> None:
        self._database = scratch_database(*_TABLES)

    def keep(self, key: str, pieces: Iterable[bytes]) -> None:
        """Keep a content, a piece at a time; under one key there is always the same."""
        query = "INSERT OR IGNORE INTO contents VALUES (?, ?, ?)"
        for number, piece in enumerate(pieces):
            with needing_room():
                self._database.execute(query, (key, number, piece))

    def rename(self, key: str, name: str) -> None:
        """Give a content another key, under which there may be the same already."""
        with needing_room():
            query = "UPDATE OR IGNORE contents SET key = ? WHERE key = ?"
            self._database.execute(query, (name, key))
            self._database.execute("DELETE FROM contents WHERE key = ?", (key,))

    def pieces(self, key: str) -> Iterator[bytes]:
        """What was kept under a key, in the same pieces."""
        query = "SELECT content FROM contents WHERE key = ? AND piece = ?"
        for number in count():
            with needing_room():
                found = self._database.execute(query, (key, number)).fetchall()
            if not found:
                return
            yield bytes(found[0][0])

    def of(self, address: bytes) -> list[Owner]:
        """Who asks the text at an address, in order."""
        query = "SELECT wanted, shard, number FROM owners WHERE address = ? ORDER BY rowid"
        with needing_room():
            rows = self._database.execute(query, (address,)).fetchall()
        return [Owner(_spans(wanted), shard, number) for wanted, shard, number in rows]

    def add(self, address: bytes, owner: Owner) -> None:
        """One more who asks it."""
        wanted = None if owner.wanted is None else json.dumps(sorted(owner.wanted))
        row = (address, wanted, owner.shard, owner.number)
        with needing_room():
            self._database.execute("INSERT INTO owners VALUES (?, ?, ?, ?)", row)

    def close(self) -> None:
        """Forget all of it."""
        self._database.close()


def _spans(wanted: str | None) -> frozenset[tuple[int, int]] | None:
    return None if wanted is None else frozenset((a, b) for a, b in json.loads(wanted))
