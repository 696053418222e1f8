"""Decisions of one person, written down one by one, so that none is lost when something stops."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.errors import InputError, StorageError, UsageError
from cimento.io.parsing import parse_json
from cimento.io.tables import JUDGMENTS, write_table
from cimento.paradigms.cloze.answers import ClozeAnswers
from cimento.report import formatting
from cimento.runs.run import open_run
from cimento.statistics.agreement import Agreement, cohen_kappa, krippendorff_alpha
from cimento.statistics.design import Design

if TYPE_CHECKING:
    import polars as pl

    from cimento.suites.model import JsonValue


FOLDER = "annotations"
QUESTION = "fits"
REMARK_JOINT = "; "

Verdict: TypeAlias = Literal["yes", "no"]
CandidateKey: TypeAlias = tuple[str, str]
"""An item and a candidate for its blank."""


@dataclass(frozen=True, slots=True)
class CandidateDecision:
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
    fits: Verdict | None
    remarks: tuple[str, ...] = ()
    at: str = ""

    @property
    def pair(self) -> CandidateKey:
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
        self._kept: dict[CandidateKey, CandidateDecision] = {}
        for decision in _read(self.path):
            self._apply(decision)

    @property
    def decisions(self) -> Mapping[CandidateKey, CandidateDecision]:
        """What counts now, by item and candidate, in the order in which it was said."""
        return self._kept

    def add(self, decision: CandidateDecision) -> None:
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

    def _apply(self, decision: CandidateDecision) -> None:
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


def _now(decision: CandidateDecision) -> CandidateDecision:
    moment = datetime.now(UTC).isoformat(timespec="seconds")
    return CandidateDecision(
        decision.item, decision.candidate, decision.fits, decision.remarks, moment
    )


def _whole_lines(path: Path) -> int:
    """Bytes up to the end of the last whole line."""
    return path.read_bytes().rfind(b"\n") + 1 if path.exists() else 0


def _read(path: Path) -> Iterable[CandidateDecision]:
    if not path.exists():
        return
    lines = path.read_bytes()[: _whole_lines(path)].splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            record = parse_json(line)
            decision = CandidateDecision(
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


def _refuse_other_kinds(decision: CandidateDecision) -> None:
    """See that the values of a decision are of the kinds that they should be.

    Raises:
        TypeError: one is not.
    """
    texts = (decision.item, decision.candidate, decision.at, *decision.remarks)
    if not all(isinstance(each, str) for each in texts) or decision.fits not in ("yes", "no", None):
        raise TypeError("a value is of another kind")


@dataclass(frozen=True, slots=True)
class TwoPeople:
    """Two people on the candidates that both judged.

    Attributes:
        first: name of one.
        second: name of the other.
        n: candidates that both judged.
        equal: on which they agree.
        kappa: Cohen's, with its interval over what items were made from.
    """

    first: str
    second: str
    n: int
    equal: int
    kappa: Agreement


@dataclass(frozen=True, slots=True)
class RunAgreement:
    """What the people who judged a run said.

    Attributes:
        judged: name to how many candidates.
        alpha: Krippendorff's, over all, with its interval over what items were made from.
        pairs: every two of them.
        divided: candidates on which they do not agree, with what each said.
    """

    judged: Mapping[str, int]
    alpha: Agreement
    pairs: tuple[TwoPeople, ...]
    divided: tuple[tuple[CandidateKey, Mapping[str, str]], ...]

    def plain(self) -> dict[str, JsonValue]:
        """As JSON."""
        return {
            "annotators": dict(self.judged),
            "krippendorff_alpha": _plain(self.alpha),
            "pairs": [
                {
                    "first": each.first,
                    "second": each.second,
                    "n": each.n,
                    "equal": each.equal,
                    "cohen_kappa": _plain(each.kappa),
                }
                for each in self.pairs
            ],
            "divided": [
                {"item": item, "candidate": candidate, "said": dict(said)}
                for (item, candidate), said in self.divided
            ],
        }


def candidate_agreement(run: Path) -> RunAgreement:
    """How far the people who judged a run agree.

    Raises:
        InputError: nobody has judged it.
    """
    said = {
        each.annotator: {pair: one.fits or "" for pair, one in each.decisions.items()}
        for each in journals(run)
    }
    if not said:
        raise InputError(
            where=str(run),
            seen="nobody has judged its candidates",
            todo="Judge them: cimento annotate candidates RUN --annotator NAME.",
        )
    asked = list(dict.fromkeys(pair for own in said.values() for pair in own))
    clusters = _clusters(run)
    ratings = [[own.get(pair) for own in said.values()] for pair in asked]
    return RunAgreement(
        judged={name: len(own) for name, own in said.items()},
        alpha=krippendorff_alpha(ratings, design=_design(asked, clusters)),
        pairs=tuple(_two(said, *names, clusters) for names in combinations(said, 2)),
        divided=tuple(
            (pair, votes) for pair in asked if len(set((votes := _votes(said, pair)).values())) > 1
        ),
    )


def candidate_agreement_text(found: RunAgreement) -> str:
    """The same as text."""
    lines = [f"{name}: {count} candidates judged" for name, count in found.judged.items()]
    lines += [
        f"{each.first} / {each.second}: equal on {each.equal} of {each.n},"
        f" Cohen's kappa {formatting.agreement(each.kappa)}"
        for each in found.pairs
    ]
    lines.append(f"Krippendorff's alpha {formatting.agreement(found.alpha)}")
    for (item, candidate), said in found.divided:
        votes = ", ".join(f"{name} {value}" for name, value in said.items())
        lines.append(f"  {item}: {candidate}: {votes}")
    return "\n".join(lines)


def _clusters(run: Path) -> dict[str, str]:
    """Item of a run to what it was made from: the candidates of one belong together."""
    clusters = ClozeAnswers(open_run(run)).cluster_of
    return {item: cluster or item for item, cluster in clusters.items()}


def _design(pairs: Sequence[CandidateKey], clusters: Mapping[str, str]) -> Design:
    return Design(tuple(pairs), tuple(clusters.get(item, item) for item, _ in pairs))


def _two(
    said: Mapping[str, Mapping[CandidateKey, str]],
    first: str,
    second: str,
    clusters: Mapping[str, str],
) -> TwoPeople:
    one, other = said[first], said[second]
    both = [pair for pair in one if pair in other]
    columns = [one[pair] for pair in both], [other[pair] for pair in both]
    return TwoPeople(
        first,
        second,
        len(both),
        sum(one[pair] == other[pair] for pair in both),
        cohen_kappa(*columns, design=_design(both, clusters)),
    )


def _votes(said: Mapping[str, Mapping[CandidateKey, str]], pair: CandidateKey) -> dict[str, str]:
    return {name: own[pair] for name, own in said.items() if pair in own}


def _plain(found: Agreement) -> dict[str, JsonValue]:
    return {
        "value": found.value,
        "n": found.items,
        "low": found.low,
        "high": found.high,
        "interval_method": found.method,
        "reason": found.reason,
    }
