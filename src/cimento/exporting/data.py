"""What every export needs of a stored run, whatever its kind: items, texts, verdicts, shares."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from cimento.answers import REQUESTS, TOKENS, VERDICTS, find_table, read_table
from cimento.citing.facts import STORIES, STORIES_FILE, RunFacts, read_facts
from cimento.errors import TableError
from cimento.parsing import parse_json
from cimento.runs.outcomes import each_outcome
from cimento.runs.run import PARADIGM, open_run
from cimento.runs.store import Manifest, RunFolder, find_runs
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, share_interval
from cimento.suites.kinds import ACCEPTABILITY, REGIONS
from cimento.suites.model import JsonValue

ALL = "all"
"""The question whether all predictions of a suite hold together."""

_TWO = 2

ClustersOf: TypeAlias = Callable[[RunFolder, str], Mapping[str, Hashable]]
"""From a run and the kind of its suite to what each item belongs to; empty where all stand alone.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The verdict on one item.

    Attributes:
        item: its id.
        question: number of a prediction, ``all``, or how a blank or a story was asked about.
        verdict: ``pass``, ``fail``, ``tie`` or ``unscored``.
        margin_bits: None where there is none.
        reason: why it is unscored.
    """

    item: str
    question: str
    verdict: str
    margin_bits: float | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How often the answer to one question is right.

    Attributes:
        question: which.
        counts: verdicts by kind.
        right: verdicts that count as right.
        n: verdicts that count.
        accuracy: right / n; None where n is 0.
        interval: Wilson's, at the effective number of items where some belong together; without
            ends, and why, where there are too few.
        clustered: whether some items belong together.
    """

    question: str
    counts: Mapping[str, int]
    right: int
    n: int
    accuracy: float | None
    interval: Interval
    clustered: bool

    @property
    def stderr(self) -> float | None:
        """Standard error of a mean of zeros and ones, n - 1 below; None for `stderr_reason`."""
        if self.stderr_reason or self.accuracy is None:
            return None
        return math.sqrt(self.accuracy * (1 - self.accuracy) / (self.n - 1))

    @property
    def stderr_reason(self) -> str:
        """Why there is no standard error; empty where there is one."""
        if self.n < _TWO:
            return "fewer than two verdicts"
        if self.right in (0, self.n):
            return "all verdicts are equal, so that the formula gives 0; see the interval"
        return "items belong together; see the interval" if self.clustered else ""

    @property
    def uncertainty(self) -> dict[str, JsonValue]:
        """The interval and what there is to say of the standard error, as JSON."""
        interval = self.interval
        return {
            "low": interval.low,
            "high": interval.high,
            "interval_method": interval.method,
            "interval_reason": interval.reason,
            "stderr_reason": self.stderr_reason or None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RunData:
    """A stored run, ready to be written in another format.

    Attributes:
        path: its folder.
        facts: what it was made of and with.
        outcomes: every verdict.
        texts: item to condition to text.
        logprobs: item to condition to the summed log-probability of the tokens that were scored,
            in nats; a condition with an unscored token is not there.
        clusters: item to what it belongs to; empty where each stands alone.
    """

    path: Path
    facts: RunFacts
    outcomes: tuple[Outcome, ...]
    texts: Mapping[str, Mapping[str, str]]
    logprobs: Mapping[str, Mapping[str, float]]
    clusters: Mapping[str, Hashable]

    @property
    def suite(self) -> str:
        """The suite's name."""
        return self.facts.meta.name

    @property
    def model(self) -> str:
        """The model's name, without its revision."""
        return str(self.facts.model.get("name") or self.facts.label)

    @property
    def created(self) -> str:
        """When the run was made, in ISO 8601."""
        return str(self.facts.manifest.get("created", ""))

    @property
    def timestamp(self) -> float:
        """The same in seconds since 1970.

        Raises:
            TableError: the manifest does not say.
        """
        try:
            return datetime.fromisoformat(self.created).timestamp()
        except ValueError as error:
            raise TableError(
                where=str(self.path),
                seen="its manifest does not say when the run was made",
                todo="Run it again.",
            ) from error

    @property
    def questions(self) -> tuple[str, ...]:
        """In the order of the verdicts."""
        return tuple(dict.fromkeys(each.question for each in self.outcomes))

    def is_right(self, outcome: Outcome) -> bool:
        """Whether a verdict counts as right."""
        ties_pass = self.facts.judging.ties == "pass"
        return outcome.verdict == "pass" or (outcome.verdict == "tie" and ties_pass)

    def scored(self, question: str) -> list[Outcome]:
        """The verdicts that count."""
        own = (each for each in self.outcomes if each.question == question)
        return [each for each in own if each.verdict != "unscored"]

    def share(self, question: str) -> Share:
        """How often the answer to a question is right."""
        scored = self.scored(question)
        passed = [self.is_right(each) for each in scored]
        right, n = sum(passed), len(passed)
        items = [each.item for each in scored]
        design = Design.of(items, {item: self.clusters.get(item, item) for item in items})
        every = (each.verdict for each in self.outcomes if each.question == question)
        return Share(
            question=question,
            counts=Counter(every),
            right=right,
            n=n,
            accuracy=right / n if n else None,
            interval=share_interval(passed, design),
            clustered=design.clustered,
        )

    def described(self, question: str) -> str:
        """What counts as right, in words."""
        if question == ALL:
            return "All predictions of the suite hold for the item."
        if question.isdecimal() and int(question) < len(self.facts.predictions):
            return self.facts.predictions[int(question)]
        return f"The answer is right: {question}."

    def cluster_name(self, item: str) -> str:
        """What an item belongs to, as text; itself where it stands alone, empty where all do."""
        if not self.clusters:
            return ""
        label = self.clusters.get(item, item)
        return str(label[1] if isinstance(label, tuple) else label)


def read_runs(paths: Iterable[Path], clusters: ClustersOf) -> list[RunData]:
    """The runs in some folders.

    Args:
        paths: of runs, or of folders of runs.
        clusters: says which items of a run belong together.

    Raises:
        TableError: there is none, or one cannot be read.
    """
    return [read_run(folder, clusters) for path in paths for folder in find_runs(path)]


def read_run(folder: RunFolder, clusters: ClustersOf) -> RunData:
    """A stored run of any kind.

    Args:
        folder: where.
        clusters: says which of its items belong together.

    Raises:
        TableError: it cannot be read.
    """
    manifest = folder.manifest()
    folder.verify(manifest)
    facts = read_facts(folder, manifest)
    texts = _stories(folder.path) if facts.kind == STORIES else _texts(folder.path)
    return RunData(
        path=folder.path,
        facts=facts,
        outcomes=tuple(
            each
            for each in _outcomes_of(folder, manifest, facts.kind)
            # Of one prediction the conjunction says the same again.
            if each.question != ALL or len(facts.predictions) > 1
        ),
        texts=texts,
        logprobs=_logprobs(folder.path),
        clusters=clusters(folder, facts.kind),
    )


def _outcomes_of(folder: RunFolder, manifest: Manifest, kind: str) -> Iterable[Outcome]:
    """What became of the items, as the run was stored or as its paradigm judges it."""
    if PARADIGM not in manifest and manifest.get("kind") != "cloze":
        yield from _outcomes(folder.path, kind)
        return
    run = open_run(folder.path)
    asked = set(run.table(REQUESTS.name)["item"])
    for outcome in each_outcome(run.outcomes()):
        if outcome.verdict is not None and outcome.item in asked:
            yield Outcome(
                item=outcome.item,
                question=" ".join(filter(None, (outcome.method, outcome.question))),
                verdict=outcome.verdict,
                margin_bits=outcome.value if outcome.unit == "bits" else None,
                reason=outcome.reason,
            )


def _outcomes(path: Path, kind: str) -> Iterable[Outcome]:
    table = find_table(VERDICTS, path)
    if table is None:
        return
    columns = ("item", "condition", "prediction", "verdict", "margin_bits", "unscored_reason")
    for item, condition, number, verdict, margin, reason in table.select(columns).iter_rows():
        question = (
            (ALL if number is None else str(number))
            if kind in {REGIONS, ACCEPTABILITY}
            else str(condition)
        )
        yield Outcome(
            item=item,
            question=question,
            verdict=verdict,
            margin_bits=margin,
            reason=reason or "",
        )


def _texts(path: Path) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    columns = ("item", "condition", "context", "text")
    rows = read_table(REQUESTS, path).select(columns).unique(maintain_order=True).iter_rows()
    for item, condition, context, text in rows:
        found.setdefault(item, {})[condition or ""] = (
            f"{context} {text}".strip() if context else text
        )
    return found


def _stories(path: Path) -> dict[str, dict[str, str]]:
    """The sentences of each story; its row is the item."""
    file = path / STORIES_FILE
    try:
        lines = file.read_text("utf-8").split("\n")
        records = [parse_json(line) for line in lines if line.strip()]
        return {str(k): {"": " ".join(each["sentences"])} for k, each in enumerate(records)}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TableError(where=str(file), seen=f"cannot be read ({error})") from error


def _logprobs(path: Path) -> dict[str, dict[str, float]]:
    import polars as pl

    tokens, requests = find_table(TOKENS, path), find_table(REQUESTS, path)
    if tokens is None or requests is None:
        return {}
    sums = tokens.group_by("request").agg(
        pl.col("logprob_nats").sum().alias("sum"),
        pl.col("logprob_nats").is_null().any().alias("missing"),
    )
    places = requests.select("request", "item", "condition").unique(maintain_order=True)
    rows = places.join(sums.filter(~pl.col("missing")), on="request", maintain_order="left")
    found: dict[str, dict[str, float]] = {}
    for item, condition, total in rows.select("item", "condition", "sum").iter_rows():
        found.setdefault(item, {})[condition or ""] = total
    return found
