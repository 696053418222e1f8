"""Decisions of one person, written down one by one, so that none is lost when something stops."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.errors import InputError, StorageError, UsageError
from cimento.io.parsing import parse_json
from cimento.io.tables import JUDGMENTS, write_table

if TYPE_CHECKING:
    import polars as pl

FOLDER = "annotations"
QUESTION = "fits"
REMARK_JOINT = "; "

Said: TypeAlias = Literal["yes", "no"]
Pair: TypeAlias = tuple[str, str]
"""An item and a candidate for its blank."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What one person says of one candidate.

    Attributes:
        item: id of the item.
        candidate: as the model wrote it.
        fits: ``yes`` or ``no``; None where an earlier decision is taken back.
        remarks: of what is there besides.
        at: when, in UTC.
    """

    item: str
    candidate: str
    fits: Said | None
    remarks: tuple[str, ...] = ()
    at: str = ""

    @property
    def pair(self) -> Pair:
        """What it is about."""
        return (self.item, self.candidate)


class Journal:
    """The decisions of one person on one run: one line each, the last one about a pair counts.

    A line is on the disk before the next question is asked. A last line that was cut off when the
    machine stopped is passed over.

    Args:
        run: folder of the run.
        annotator: who decides.

    Raises:
        UsageError: the name cannot be that of a file.
        InputError: the journal cannot be read.
    """

    def __init__(self, run: Path, annotator: str) -> None:
        if not annotator or not all(char.isalnum() or char in "-_." for char in annotator):
            raise UsageError(
                where="--annotator",
                seen=f"got {annotator!r}",
                todo="Give a name of letters, digits, - and _.",
            )
        self.annotator = annotator
        self.path = run / FOLDER / f"{annotator}.jsonl"
        self._kept: dict[Pair, Decision] = {}
        for decision in _read(self.path):
            self._apply(decision)

    @property
    def decisions(self) -> Mapping[Pair, Decision]:
        """What counts now, by item and candidate, in the order in which it was said."""
        return self._kept

    def add(self, decision: Decision) -> None:
        """Write a decision down.

        Raises:
            StorageError: it cannot be written; nothing of it is kept then.
        """
        said = decision if decision.at else _now(decision)
        line = json.dumps(asdict(said), ensure_ascii=False) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            whole = _whole_lines(self.path)
            with self.path.open("r+b" if self.path.exists() else "wb") as file:
                # What was cut off is overwritten, so that it does not spoil this line.
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
        self._apply(said)

    def _apply(self, decision: Decision) -> None:
        self._kept.pop(decision.pair, None)
        if decision.fits is not None:
            self._kept[decision.pair] = decision


def journals(run: Path) -> list[Journal]:
    """The journals of all who judged a run, by name."""
    return [Journal(run, path.stem) for path in sorted((run / FOLDER).glob("*.jsonl"))]


def store_judgments(run: Path, *, suite: str, earlier: pl.DataFrame | None = None) -> pl.DataFrame:
    """Make the judgments table of a run from its journals, and write it.

    Args:
        run: folder of the run.
        suite: its suite's name.
        earlier: judgments taken over from another run; those of a journal come before them.

    Raises:
        StorageError: it cannot be written.
    """
    import polars as pl

    rows = [
        (
            suite,
            each.item,
            "",
            each.candidate,
            journal.annotator,
            QUESTION,
            each.fits,
            REMARK_JOINT.join(each.remarks),
            each.at,
        )
        for journal in journals(run)
        for each in journal.decisions.values()
    ]
    table = pl.DataFrame(rows, schema=JUDGMENTS.polars(), orient="row")
    if earlier is not None:
        own = ("item", "candidate", "annotator")
        table = pl.concat([table, earlier.join(table, on=own, how="anti")])
    write_table(table, JUDGMENTS, run)
    return table


def _now(decision: Decision) -> Decision:
    moment = datetime.now(UTC).isoformat(timespec="seconds")
    return Decision(decision.item, decision.candidate, decision.fits, decision.remarks, moment)


def _whole_lines(path: Path) -> int:
    """Bytes up to the end of the last whole line."""
    return path.read_bytes().rfind(b"\n") + 1 if path.exists() else 0


def _read(path: Path) -> Iterable[Decision]:
    if not path.exists():
        return
    lines = path.read_bytes()[: _whole_lines(path)].splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            record = parse_json(line)
            decision = Decision(
                item=record["item"],
                candidate=record["candidate"],
                fits=record["fits"],
                remarks=tuple(record["remarks"]),
                at=record["at"],
            )
            _refuse_other_kinds(decision)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                where=f"{path} line {number}",
                seen=f"is no decision ({error})",
                todo="Was it edited? Remove the line.",
            ) from error
        yield decision


def _refuse_other_kinds(decision: Decision) -> None:
    """See that the values of a decision are of the kinds that they should be.

    Raises:
        TypeError: one is not.
    """
    texts = (decision.item, decision.candidate, decision.at, *decision.remarks)
    if not all(isinstance(each, str) for each in texts) or decision.fits not in ("yes", "no", None):
        raise TypeError("a value is of another kind")
