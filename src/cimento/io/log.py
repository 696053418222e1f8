"""The append-only log: JSON values, one a line, none of which is lost when a machine stops."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from cimento.errors import InputError, StorageError
from cimento.io.parsing import parse_json

Record = TypeVar("Record")


class Log:
    """A file of JSON lines with one writer.

    A line is on the disk before `append` returns. A last line that was cut off when the machine
    stopped is ignored, and overwritten by the next one.

    Args:
        path: of the file; need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, value: object) -> None:
        """Write a value down.

        Raises:
            StorageError: it cannot be written; nothing of it is kept then.
        """
        line = json.dumps(value, ensure_ascii=False) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            whole = len(self._whole_lines())
            with self.path.open("r+b" if self.path.exists() else "wb") as file:
                file.seek(whole)
                file.truncate()
                file.write(line.encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StorageError(
                where=str(self.path),
                seen=f"cannot be written ({error.strerror or error})",
                todo="Free some space, or check its permissions.",
            ) from error

    def read(self, record_of: Callable[[Any], Record], *, name: str, todo: str) -> list[Record]:
        """Every value that was written down, in order.

        Args:
            record_of: makes a record of a value; what it raises says what is wrong with it.
            name: of a record, for messages: ``decision``.
            todo: what a person can do about a line that is none.

        Raises:
            InputError: a line is no such record; the message says which.
        """
        records = []
        for number, line in enumerate(self._whole_lines().splitlines(), start=1):
            try:
                records.append(record_of(parse_json(line)))
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(
                    where=f"{self.path} line {number}", seen=f"is no {name} ({error})", todo=todo
                ) from error
        return records

    def _whole_lines(self) -> bytes:
        data = self.path.read_bytes() if self.path.exists() else b""
        return data[: data.rfind(b"\n") + 1]
