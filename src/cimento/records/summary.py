"""Summaries of runs as plain records, for ``--json``, ``summary.json`` and notebooks.

docs/parts/tables.md describes the JSON, and data/schemas/summary.schema.json is its schema.
"""

from __future__ import annotations

import functools
import inspect
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from cimento._version import __version__
from cimento.errors import TableError
from cimento.io.parsing import faults_of, refuse_very_faulty
from cimento.records.outcomes import Estimate, Outcome
from cimento.records.usage import RunUsage
from cimento.suites import JsonValue

if TYPE_CHECKING:
    from pydantic import TypeAdapter


SUMMARY_VERSION = 3
_ORDER = ("schema_version", "cimento", "runs", "missing", "means")

JsonSchema: TypeAlias = dict[str, "bool | int | str | list[str] | JsonSchema"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """The results of one model on one suite.

    Attributes:
        suite: name of the suite.
        paradigm: kind of test, such as ``regions``.
        model: name of the model with the first digits of its revision.
        model_kind: ``causal``, ``masked``, ``seq2seq`` or ``replay``.
        language: language of the suite, ISO 639-1; empty where the suite does not state it.
        n_items: items in the run, judged or not.
        folder: folder of the run; None where it is not stored.
        options: options of the kind of test, by name.
        estimates: rates, effects and correlations, each with its interval.
        warnings: remarks made while the model was asked and its answers were judged.
        outcomes: outcome of every item; only in the output of ``--json``, since a run folder has
            them in a table.
        usage: usage of a server by the run; only where a server was asked.
    """

    suite: str
    paradigm: str
    model: str
    model_kind: str
    language: str
    n_items: int
    folder: str | None
    options: dict[str, object]
    estimates: tuple[Estimate, ...]
    warnings: tuple[str, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    usage: RunUsage | None = None

    @property
    def label(self) -> str:
        """The model, with the measure by which its sentences are compared if there is one."""
        return f"{self.model} [{self.measure}]" if self.measure else self.model

    @property
    def measure(self) -> str:
        """The measure by which sentences are compared; empty where there is none."""
        return str(self.options.get("measure") or "")

    @property
    def plain_options(self) -> dict[str, JsonValue]:
        """The options as JSON values."""
        plain: dict[str, JsonValue] = json.loads(json.dumps(self.options))
        return plain

    @property
    def headline(self) -> Estimate | None:
        """The one headline estimate of the run; None where there is nothing to judge."""
        return next((estimate for estimate in self.estimates if estimate.role == "headline"), None)

    @property
    def results(self) -> tuple[Estimate, ...]:
        """The rates over all items, for each question and for all together."""
        return self._rates("")

    @property
    def phenomena(self) -> tuple[Estimate, ...]:
        """The rates of each phenomenon over all questions together."""
        return self._rates("phenomenon")

    def to_json(self) -> str:
        """The results as JSON text: the `Summary` of this run alone, as in ``summary.json``."""
        return Summary(runs=(self,)).to_json()

    def _rates(self, group: str) -> tuple[Estimate, ...]:
        headline = self.headline
        return tuple(
            estimate
            for estimate in self.estimates
            if headline is not None
            and estimate.group == group
            and estimate.role != "detail"
            and estimate.is_share
            and estimate.method == headline.method
        )


def summaries_by_suite(runs: Iterable[RunSummary]) -> dict[str, list[RunSummary]]:
    """The runs grouped by suite, in the order of the first run of each suite."""
    groups: dict[str, list[RunSummary]] = {}
    for run in runs:
        groups.setdefault(run.suite, []).append(run)
    return groups


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A run that was requested and could not be made."""

    suite: str
    model: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteMean:
    """The mean accuracy of one model over suites of a benchmark.

    Attributes:
        benchmark: name of the benchmark.
        model: name of the model with the first digits of its revision.
        measure: measure by which sentences are compared; empty for regions.
        phenomenon: phenomenon of the suites; empty for all of them.
        n_suites: number of suites in the mean.
        of_suites: number of suites of the benchmark.
        value: the mean; None where it is undefined.
        low: lower end of its 95% interval for `target`; None where there is none.
        high: upper end of the interval; None where there is none.
        target: what the interval is about: ``phenomena`` for other phenomena, by which the mean
            is clustered, or ``suites`` for other suites of the one phenomenon.
        n_phenomena: number of phenomena of the suites.
        items_low: lower end of the 95% interval for other items of these very suites; None where
            there is none.
        items_high: upper end of that interval.
        reason: the reason why the value or its interval is None; empty where both are defined.
        published: published means over the same suites, by model; also those of people.
        n_items: number of items in the runs of these suites; 0 where it is unknown.
    """

    benchmark: str
    model: str
    measure: str
    phenomenon: str
    n_suites: int
    of_suites: int
    value: float | None
    low: float | None
    high: float | None
    reason: str
    published: Mapping[str, float]
    n_items: int = 0
    target: str = "phenomena"
    n_phenomena: int = 0
    items_low: float | None = None
    items_high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The summary of a set of runs.

    Attributes:
        schema_version: version of this JSON format.
        cimento: version of the program that wrote it.
        runs: one record for each suite and model.
        missing: the runs that could not be made, with the reasons.
        means: means over the suites of a benchmark with published figures, such as BLiMP.
    """

    runs: tuple[RunSummary, ...]
    missing: tuple[Missing, ...] = ()
    means: tuple[SuiteMean, ...] = ()
    cimento: str = __version__
    schema_version: int = SUMMARY_VERSION

    def to_json(self) -> str:
        """The summary as JSON text that ends with a line break, as ``--json`` prints it."""
        plain = _adapter().dump_python(self, mode="json")
        ordered = {name: plain[name] for name in _ORDER}
        for run in ordered["runs"]:
            if not run["usage"]:
                del run["usage"]
        return json.dumps(ordered, ensure_ascii=False, indent=2, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str, *, where: str = "summary.json") -> Summary:
        """Read back what `to_json` wrote.

        Args:
            text: the JSON text.
            where: name of the text in messages.

        Raises:
            TableError: the text is not a summary of this version.
        """
        from pydantic import ValidationError

        adapter = _adapter()
        refuse_very_faulty(adapter, text, where=where)
        try:
            summary = adapter.validate_json(text)
        except ValidationError as error:
            place, message = faults_of(error)[0]
            raise TableError(
                where=where,
                seen=f"is not a summary of cimento ({place or 'the text'}: {message})",
                todo="Give a summary.json, or what `cimento run --json` printed.",
            ) from error
        if summary.schema_version != SUMMARY_VERSION:
            raise TableError(
                where=where,
                seen=f"has schema version {summary.schema_version}; "
                f"this cimento reads version {SUMMARY_VERSION}",
                todo="Open the run folder instead: runs of every version are read.",
            )
        return summary


def json_schema() -> JsonSchema:
    """The JSON schema (draft 2020-12) of what `Summary.to_json` writes.

    Its descriptions are taken from the docstrings of the records.
    """
    schema: JsonSchema = _adapter().json_schema(mode="serialization")
    records = (Estimate, Outcome, RunSummary, RunUsage, Missing, SuiteMean)
    return described_schema(schema, Summary, records, name=f"summary:{SUMMARY_VERSION}")


def described_schema(
    schema: JsonSchema, whole: type, records: Iterable[type], *, name: str
) -> JsonSchema:
    """A JSON schema with the descriptions in the docstrings of its records.

    Args:
        schema: as pydantic makes it.
        whole: the record that it is of.
        records: those in its definitions.
        name: of the schema, with its version.
    """
    definitions = schema["$defs"]
    if isinstance(definitions, dict):
        for record in records:
            definition = definitions[record.__name__]
            if isinstance(definition, dict):
                _describe(definition, record.__doc__ or "")
    _describe(schema, whole.__doc__ or "")
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, "$id": f"urn:cimento:{name}", **schema}


@functools.cache
def _adapter() -> TypeAdapter[Summary]:
    from pydantic import TypeAdapter

    return TypeAdapter(Summary)


def _describe(schema: JsonSchema, docstring: str) -> None:
    """Copy the description of each attribute in a docstring to the property of that name."""
    first, _, attributes = inspect.cleandoc(docstring).partition("\n\nAttributes:\n")
    schema["description"] = _plain(first)
    properties = schema["properties"]
    if not isinstance(properties, dict):
        return
    texts = re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", attributes, flags=re.MULTILINE)
    for name, text in texts:
        described = properties.get(name)
        if isinstance(described, dict):
            described.pop("title", None)
            described["description"] = _plain(text)


def _plain(text: str) -> str:
    """A docstring's sentence in the terms of JSON."""
    return " ".join(text.split()).replace("None", "null").replace("``", "")
