"""An append-only log of JSON values, one a line, which loses none when a machine stops."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from cimento.errors import InputError
from cimento.io.files import writing
from cimento.io.parsing import parse_json

Record = TypeVar("Record")


class Log:
    """A file of JSON lines with one writer.

    A line is on the disk before `append` returns. A last line that was cut off when the machine
    stopped is ignored, and overwritten by the next one.

    Args:
        path: the path of the file, which need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, value: object) -> None:
        """Append a value to the log.

        Raises:
            StorageError: the value cannot be written; no part of it is kept then.
        """
        line = json.dumps(value, ensure_ascii=False) + "\n"
        with writing(self.path, todo="Free some space, or check its permissions."):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            whole = len(self._whole_lines())
            with self.path.open("r+b" if self.path.exists() else "wb") as file:
                file.seek(whole)
                file.truncate()
                file.write(line.encode())
                file.flush()
                os.fsync(file.fileno())

    def read(self, record_of: Callable[[Any], Record], *, name: str, todo: str) -> list[Record]:
        """All values in the log as records, in order.

        Args:
            record_of: makes a record of a value; its errors say what is wrong with a value.
            name: name of a record in messages, such as ``decision``.
            todo: advice for a line that is not such a record.

        Raises:
            InputError: a line is not such a record; the message says which line.
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
