"""Dialogues and spreadsheets in which people write and judge items; here decisions and journals.

A journal has one person's decisions about the candidates of a run, and journals say how far people
agree.

A decision is on the disk before the next one is asked for, so that nothing is lost when a machine
stops: journals are append-only logs of JSON values, one a line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from cimento.errors import InputError, UsageError, counted
from cimento.io.files import writing
from cimento.io.parsing import parse_json
from cimento.io.tables import JUDGMENTS, read_table, write_table
from cimento.judgments import FITS
from cimento.judgments.summaries import PairAgreement, pair_agreement
from cimento.kinds.run import open_run
from cimento.paradigms.cloze import ClozeAnswers
from cimento.report import formatting
from cimento.statistics.agreement import Agreement, krippendorff_alpha
from cimento.statistics.design import Design
from cimento.suites.letters import one_spelling

if TYPE_CHECKING:
    import polars as pl

    from cimento.suites import JsonValue


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
                    where=f"{self.path} line {number}", seen=f"is not a {name} ({error})", todo=todo
                ) from error
        return records

    def _whole_lines(self) -> bytes:
        data = self.path.read_bytes() if self.path.exists() else b""
        return data[: data.rfind(b"\n") + 1]


FOLDER = "annotations"
REMARK_JOINT = "; "

YesOrNo: TypeAlias = Literal["yes", "no"]
CandidateKey: TypeAlias = tuple[str, str]
"""An item and a candidate for its blank."""


@dataclass(frozen=True, slots=True)
class CandidateDecision:
    """One person's decision about one candidate.

    Attributes:
        item: id of the item.
        candidate: as the model wrote it.
        fits: ``yes`` or ``no``; None where an earlier decision is taken back.
        remarks: of what is there besides.
        at: when, in UTC.
    """

    item: str
    candidate: str
    fits: YesOrNo | None
    remarks: tuple[str, ...] = ()
    at: str = ""

    @property
    def pair(self) -> CandidateKey:
        """The item and the candidate."""
        return (self.item, self.candidate)


class Journal:
    """The decisions of one person on one run: the last one about a candidate counts.

    Args:
        run: folder of the run.
        annotator: who decides.

    Raises:
        UsageError: the name cannot be that of a file.
        InputError: the journal cannot be read.

    Attributes:
        decisions: the valid ones by item and candidate, in the order in which they were made.
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
        self._log = Log(self.path)
        self.decisions: dict[CandidateKey, CandidateDecision] = {}
        for decision in self._log.read(
            _decision, name="decision", todo="Was it edited? Remove the line."
        ):
            self._apply(decision)

    def add(self, decision: CandidateDecision) -> None:
        """Write a decision down, with the time where it has none.

        Raises:
            StorageError: it cannot be written; nothing of it is kept then.
        """
        if not decision.at:
            decision = replace(decision, at=datetime.now(UTC).isoformat(timespec="seconds"))
        self._log.append(asdict(decision))
        self._apply(decision)

    def add_new(self, decisions: Iterable[CandidateDecision]) -> int:
        """Write down those decisions that are new or other ones than before; how many they are."""
        new = []
        for decision in decisions:
            known = self.decisions.get(decision.pair)
            if known is None or (known.fits, known.remarks) != (decision.fits, decision.remarks):
                new.append(decision)
        for decision in new:
            self.add(decision)
        return len(new)

    def _apply(self, decision: CandidateDecision) -> None:
        self.decisions.pop(decision.pair, None)
        if decision.fits is not None:
            self.decisions[decision.pair] = decision


def journals(run: Path) -> list[Journal]:
    """The journals of all who judged a run, by name."""
    return [Journal(run, path.stem) for path in sorted((run / FOLDER).glob("*.jsonl"))]


def earlier_judgments(
    answers: ClozeAnswers, run: Path, *, reuse: Path | None = None
) -> pl.DataFrame:
    """Judgments of another run about candidates of this one, and those taken over before.

    Args:
        answers: of the run.
        run: its folder.
        reuse: the other run; None for those taken over before alone.
    """
    import polars as pl

    tables = [pl.DataFrame(schema=JUDGMENTS.polars())]
    if reuse is not None:
        tables.append(read_table(JUDGMENTS, reuse))
    if (run / f"{JUDGMENTS.name}.parquet").exists():
        annotators = [journal.annotator for journal in journals(run)]
        tables.append(read_table(JUDGMENTS, run).filter(~pl.col("annotator").is_in(annotators)))
    # The other run may spell the same candidate with other accents or apostrophes.
    asked = {
        candidate.key: candidate.text
        for method in reversed(answers.methods)
        for candidate in answers.candidates(method)
    }
    both = pl.concat(tables)
    known = [
        None if text is None else asked.get((item, one_spelling(text)))
        for item, text in both.select("item", "candidate").iter_rows()
    ]
    spelled = pl.Series("candidate", known, dtype=pl.String)
    taken = both.with_columns(spelled).filter(pl.col("candidate").is_not_null())
    return taken.unique(["item", "candidate", "annotator"], maintain_order=True)


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
        (suite, decision.item, "", decision.candidate, journal.annotator, FITS, decision.fits,
         REMARK_JOINT.join(decision.remarks), decision.at)
        for journal in journals(run)
        for decision in journal.decisions.values()
    ]  # fmt: skip
    table = pl.DataFrame(rows, schema=JUDGMENTS.polars(), orient="row")
    if earlier is not None:
        key = ("item", "candidate", "annotator")
        table = pl.concat([table, earlier.join(table, on=key, how="anti")])
    write_table(table, JUDGMENTS, run)
    return table


def _decision(record: Mapping[str, Any]) -> CandidateDecision:
    """A line of a journal; TypeError where a value is of another kind."""
    decision = CandidateDecision(
        record["item"], record["candidate"], record["fits"], tuple(record["remarks"]), record["at"]
    )
    texts = (decision.item, decision.candidate, decision.at, *decision.remarks)
    if not all(isinstance(text, str) for text in texts) or decision.fits not in ("yes", "no", None):
        raise TypeError("a value is of another kind")
    return decision


@dataclass(frozen=True, slots=True)
class RunAgreement:
    """The judgments of all annotators of a run, compared.

    Attributes:
        judged: name to how many candidates.
        alpha: Krippendorff's, over all, with its interval over what items were made from.
        pairs: every two of them.
        divided: candidates on which they do not agree, with what each said.
    """

    judged: Mapping[str, int]
    alpha: Agreement
    pairs: tuple[PairAgreement, ...]
    divided: tuple[tuple[CandidateKey, Mapping[str, str]], ...]

    def plain(self) -> dict[str, JsonValue]:
        """The agreement as JSON values."""
        return {
            "annotators": dict(self.judged),
            "krippendorff_alpha": _plain(self.alpha),
            "pairs": [
                {
                    "first": pair.first,
                    "second": pair.second,
                    "n": pair.n,
                    "equal": pair.equal,
                    "cohen_kappa": _plain(pair.kappa),
                }
                for pair in self.pairs
            ],
            "divided": [
                {"item": item, "candidate": candidate, "said": dict(verdicts)}
                for (item, candidate), verdicts in self.divided
            ],
        }


def candidate_agreement(run: Path) -> RunAgreement:
    """The agreement of the annotators of a run.

    Raises:
        InputError: nobody has judged it.
    """
    votes = {
        journal.annotator: {key: decision.fits or "" for key, decision in journal.decisions.items()}
        for journal in journals(run)
    }
    if not votes:
        raise InputError(
            where=str(run),
            seen="nobody has judged its candidates",
            todo="Judge them: cimento annotate candidates RUN --annotator NAME.",
        )
    keys = list(dict.fromkeys(key for of_one in votes.values() for key in of_one))
    clusters = ClozeAnswers(open_run(run)).cluster_of
    by_key = {
        key: {name: of_one[key] for name, of_one in votes.items() if key in of_one} for key in keys
    }
    return RunAgreement(
        judged={name: len(of_one) for name, of_one in votes.items()},
        alpha=krippendorff_alpha(
            [[of_one.get(key) for of_one in votes.values()] for key in keys],
            design=_design(keys, clusters),
        ),
        pairs=tuple(_two(votes, *names, clusters) for names in combinations(votes, 2)),
        divided=tuple((key, fits) for key, fits in by_key.items() if len(set(fits.values())) > 1),
    )


def candidate_agreement_text(agreement: RunAgreement) -> str:
    """The agreement of the annotators as text."""
    lines = [
        f"{name}: {counted(count, 'candidate')} judged" for name, count in agreement.judged.items()
    ]
    lines += [
        f"{pair.first} / {pair.second}: equal on {pair.equal} of {pair.n},"
        f" Cohen's kappa {formatting.agreement_text(pair.kappa)}"
        for pair in agreement.pairs
    ]
    lines.append(f"Krippendorff's alpha {formatting.agreement_text(agreement.alpha)}")
    for (item, candidate), verdicts in agreement.divided:
        votes = ", ".join(f"{name} {value}" for name, value in verdicts.items())
        lines.append(f"  {item}: {candidate}: {votes}")
    return "\n".join(lines)


def _design(keys: Sequence[CandidateKey], clusters: Mapping[str, str]) -> Design:
    """Candidates that belong together: those of items made from the same thing."""
    return Design(tuple(keys), tuple(clusters.get(item) or item for item, _ in keys))


def _two(
    votes: Mapping[str, Mapping[CandidateKey, str]],
    first: str,
    second: str,
    clusters: Mapping[str, str],
) -> PairAgreement:
    one, other = votes[first], votes[second]
    both = [key for key in one if key in other]
    answers = [(one[key], other[key]) for key in both]
    design = _design(both, clusters)
    return pair_agreement(answers, design, question=FITS, first=first, second=second)


def _plain(agreement: Agreement) -> dict[str, JsonValue]:
    return {
        "value": agreement.value,
        "n": agreement.items,
        "low": agreement.low,
        "high": agreement.high,
        "interval_method": agreement.method,
        "reason": agreement.reason,
    }
