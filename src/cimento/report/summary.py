"""What a set of runs says, as plain records: the shape of ``--json`` and of ``summary.json``.

Every other form of report (terminal, Markdown, CSV, HTML) is made from these records. The JSON
is described in docs/json-summary.md and, for programs, in docs/schemas/summary.schema.json.
"""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from cimento.errors import TableError
from cimento.parsing import faults_of, refuse_very_faulty
from cimento.verdicts.accuracy import LengthOnly
from cimento.verdicts.judge import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cimento.suites.model import Suite
    from cimento.verdicts.accuracy import Accuracies, Accuracy

SUMMARY_VERSION = 1

JsonSchema: TypeAlias = dict[str, "bool | int | str | list[str] | JsonSchema"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How often a prediction held: counts first, then the rate with what is needed to read it.

    Attributes:
        index: number of the prediction in its suite, from 0; None for the conjunction, which
            passes where all predictions of the suite pass.
        formula: of the prediction; None for the conjunction.
        comment: what the prediction claims, in words.
        passed: items where it held.
        failed: items where it did not.
        tied: items where both sides were exactly equal.
        near_tied: of the passed and failed ones, how many by less than
            the run's ``near_tie_bits``.
        unscored: items that could not be judged; they are in no other count.
        accuracy: passed / (passed + failed + tied); where ties count as passes,
            (passed + tied) / (passed + failed + tied).
        low: lower end of the 95 % interval of the accuracy.
        high: upper end of that interval.
        interval_method: how the interval was made.
        chance: expected accuracy where all values are drawn from one distribution.
        chance_method: how that was found: ``counted over all orders``, ``exact for normal values``,
            ``by lot`` (one of so many options), or ``simulated`` with the number of draws and the
            seed.
        length: what it would be by the numbers of tokens alone; chance supposes equal lengths.
        null_reasons: for each of the fields that is None, why.
    """

    index: int | None
    formula: str | None
    comment: str = ""
    passed: int
    failed: int
    tied: int
    near_tied: int
    unscored: int
    accuracy: float | None
    low: float | None
    high: float | None
    interval_method: str | None
    chance: float | None
    chance_method: str | None = None
    length: LengthOnly | None = None
    null_reasons: dict[str, str] = field(default_factory=dict)

    @property
    def n_judged(self) -> int:
        """The number of items that the accuracy is taken over."""
        return self.passed + self.failed + self.tied

    @property
    def is_off_by_length(self) -> bool:
        """Whether length alone leads away from chance."""
        return self.length is not None and self.length.is_off(self.chance)

    @property
    def label(self) -> str:
        """The prediction's number, or ``all`` for the conjunction."""
        return "all" if self.index is None else str(self.index)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phenomenon:
    """The results over the items of one phenomenon."""

    name: str
    n_items: int
    predictions: tuple[Result, ...]
    conjunction: Result | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """What one model did on one suite.

    Attributes:
        suite: name of the suite.
        model: name of the model with the first digits of its revision.
        model_kind: ``causal``, ``masked`` or ``replay``.
        language: of the suite, ISO 639-1; empty where the suite does not say.
        n_items: items in the run, judged or not.
        folder: where the run is stored; None where it is not.
        metric: how the surprisals of a region's tokens became one value.
        predictions: one result each, in the order of the suite.
        conjunction: all predictions together; None for a suite without predictions.
        phenomena: the same by phenomenon; empty where no item names one.
        warnings: what was noticed on the way.
        measure: the measure of sentences that predictions were judged on instead of region
            values; empty where they were not.
        ties_pass: whether ties count as passes in the accuracies, as the conventions of another
            tool have it; else they never do.
        near_tie_bits: verdicts with a smaller margin are counted as near ties; null where nothing
            is compared.
        near_tie_reason: why it is this threshold.
        verdicts: the verdict on every item; only in what ``--json`` prints, for a run folder has
            them in a table.
    """

    suite: str
    model: str
    model_kind: str
    language: str
    n_items: int
    folder: str | None
    metric: str
    predictions: tuple[Result, ...]
    conjunction: Result | None
    phenomena: tuple[Phenomenon, ...] = ()
    warnings: tuple[str, ...] = ()
    measure: str = ""
    ties_pass: bool = False
    near_tie_bits: float | None = None
    near_tie_reason: str = ""
    verdicts: tuple[Verdict, ...] = ()

    @property
    def label(self) -> str:
        """The model, and the measure that it was judged on, where it was judged on one."""
        return f"{self.model} [{self.measure}]" if self.measure else self.model

    @property
    def results(self) -> tuple[Result, ...]:
        """Every prediction's result, and the conjunction where it says something of its own."""
        return with_conjunction(self.predictions, self.conjunction)

    @property
    def near_tied(self) -> tuple[int, int]:
        """Near ties, and all verdicts that were given on single predictions."""
        return (
            sum(each.near_tied for each in self.predictions),
            sum(each.n_judged for each in self.predictions),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A run that was asked for and could not be made."""

    suite: str
    model: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a set of runs says.

    Attributes:
        schema_version: of this shape.
        cimento: version of the program that wrote it.
        runs: one record for each suite and model.
        missing: what could not be run, and why.
    """

    cimento: str
    runs: tuple[RunSummary, ...]
    missing: tuple[Missing, ...] = ()
    schema_version: int = SUMMARY_VERSION


def with_conjunction(
    predictions: tuple[Result, ...], conjunction: Result | None
) -> tuple[Result, ...]:
    """The predictions, followed by their conjunction where there are two or more."""
    if conjunction is None or len(predictions) == 1:
        return predictions
    return (*predictions, conjunction)


def by_suite(runs: Iterable[RunSummary]) -> dict[str, list[RunSummary]]:
    """The runs of each suite together, suites in the order of their first run."""
    groups: dict[str, list[RunSummary]] = {}
    for run in runs:
        groups.setdefault(run.suite, []).append(run)
    return groups


def to_json(summary: Summary) -> str:
    """The summary as JSON text; ends with a line break."""
    fields = asdict(summary)
    ordered = {"schema_version": fields.pop("schema_version"), **fields}
    return json.dumps(ordered, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def from_json(text: str, *, where: str = "summary.json") -> Summary:
    """Read back what `to_json` wrote.

    Args:
        text: the JSON text.
        where: what to call it in a message.

    Raises:
        TableError: the text is not a summary, or is one of a later version of cimento.
    """
    from pydantic import TypeAdapter, ValidationError

    adapter = TypeAdapter(Summary)
    refuse_very_faulty(adapter, text, where=where)
    try:
        summary = adapter.validate_json(text)
    except ValidationError as error:
        place, told = faults_of(error)[0]
        raise TableError(
            where=where,
            seen=f"is not a summary of cimento ({place or 'the text'}: {told})",
            todo="Give a summary.json, or what `cimento run --json` printed.",
        ) from error
    if summary.schema_version > SUMMARY_VERSION:
        raise TableError(
            where=where,
            seen=f"has schema version {summary.schema_version}; "
            f"this cimento reads up to {SUMMARY_VERSION}",
            todo="Install a newer cimento.",
        )
    return summary


def json_schema() -> JsonSchema:
    """The JSON schema (draft 2020-12) of what `to_json` writes.

    The descriptions are those of the docstrings in this module.
    """
    from pydantic import TypeAdapter

    schema: JsonSchema = TypeAdapter(Summary).json_schema(mode="serialization")
    definitions = schema["$defs"]
    if isinstance(definitions, dict):
        for record in (LengthOnly, Result, Phenomenon, Verdict, RunSummary, Missing):
            definition = definitions[record.__name__]
            if isinstance(definition, dict):
                _describe(definition, record.__doc__ or "")
    _describe(schema, Summary.__doc__ or "")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _describe(schema: JsonSchema, docstring: str) -> None:
    """Move what a docstring says about each attribute to the property of that name."""
    first, _, attributes = inspect.cleandoc(docstring).partition("\n\nAttributes:\n")
    schema["description"] = _plain(first)
    properties = schema["properties"]
    if not isinstance(properties, dict):
        return
    told = re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", attributes, flags=re.MULTILINE)
    for name, text in told:
        described = properties[name]
        if isinstance(described, dict):
            described.pop("title", None)
            described["description"] = _plain(text)


def _plain(text: str) -> str:
    """A docstring's sentence as a reader of JSON would have it."""
    return " ".join(text.split()).replace("None", "null").replace("``", "")


def run_summary(
    suite: Suite,
    overall: Accuracies,
    by_phenomenon: Mapping[str, Accuracies],
    *,
    model: str,
    model_kind: str,
    folder: str | None = None,
    warnings: Sequence[str] = (),
) -> RunSummary:
    """The summary of one run.

    Args:
        suite: as it was judged: with the metric and the predictions that were used.
        overall: over all items.
        by_phenomenon: the same for each phenomenon; may be empty.
        model: label of the model.
        model_kind: ``causal``, ``masked`` or ``replay``.
        folder: where the run is stored.
        warnings: what was noticed on the way.
    """
    return RunSummary(
        suite=suite.name,
        model=model,
        model_kind=model_kind,
        language=suite.meta.language,
        n_items=overall.n_items,
        folder=folder,
        metric=suite.metric,
        predictions=_results(suite, overall),
        conjunction=_conjunction(overall),
        phenomena=tuple(
            Phenomenon(
                name=name,
                n_items=each.n_items,
                predictions=_results(suite, each),
                conjunction=_conjunction(each),
            )
            for name, each in by_phenomenon.items()
        ),
        warnings=tuple(warnings),
    )


def _results(suite: Suite, accuracies: Accuracies) -> tuple[Result, ...]:
    return tuple(
        _result(accuracy, index=index, formula=prediction.formula, comment=prediction.comment)
        for index, (prediction, accuracy) in enumerate(
            zip(suite.predictions, accuracies.predictions, strict=True)
        )
    )


def _conjunction(accuracies: Accuracies) -> Result | None:
    if accuracies.conjunction is None:
        return None
    return _result(accuracies.conjunction, index=None, formula=None, comment="")


def _result(accuracy: Accuracy, *, index: int | None, formula: str | None, comment: str) -> Result:
    reasons = {}
    for name in ("accuracy", "low", "high", "interval_method"):
        if getattr(accuracy, name) is None:
            reasons[name] = accuracy.reason or ""
    if accuracy.chance is None:
        reasons |= dict.fromkeys(("chance", "chance_method"), accuracy.chance_reason or "")
    if accuracy.length is None:
        reasons["length"] = accuracy.length_reason or ""
    return Result(
        index=index,
        formula=formula,
        comment=comment,
        passed=accuracy.passed,
        failed=accuracy.failed,
        tied=accuracy.tied,
        near_tied=accuracy.near_tied,
        unscored=accuracy.unscored,
        accuracy=accuracy.accuracy,
        low=accuracy.low,
        high=accuracy.high,
        interval_method=accuracy.interval_method,
        chance=accuracy.chance,
        chance_method=accuracy.chance_method,
        length=accuracy.length,
        null_reasons=reasons,
    )
