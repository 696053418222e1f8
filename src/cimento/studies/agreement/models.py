"""Models side by side: what is known of each, paired tests, and what goes with being better."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import InputError
from cimento.intake.reading import TableReading, reading_of
from cimento.intake.shapes import Shape
from cimento.intake.table import Table
from cimento.io.values import group_by
from cimento.paired.item_outcomes import different_scales
from cimento.statistics.correlation import correlate
from cimento.statistics.design import Design
from cimento.statistics.means import mean_of
from cimento.statistics.multiple import holm
from cimento.studies.agreement.profile import agreement_of, contrast_design, contrasted
from cimento.studies.agreement.table import cell_of, mean_or_none, version_of
from cimento.studies.own_tables import MODELS, open_own, refuse_absent
from cimento.suites import NOTHING

if TYPE_CHECKING:
    from cimento.studies.agreement.profile import Alternative
    from cimento.studies.agreement.table import LanguageRow, Version
    from cimento.studies.agreement.twins import AgreementRun

Facts = Mapping[str, str]
"""What is known of a model, by the name of the column; what is not known is left out."""

NAME, SOURCE = "model", "citation"
_SHAPE = Shape(name="models", needs=(NAME,), may=("facts",))
NO_COMMON = "no item with a value for both models"
SAME = "the same for all models"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """One model in one language and version, with what is known of it.

    Attributes:
        model: its label.
        language: ISO 639-1 code.
        version: plain or adversarial.
        kind: of the model, such as ``causal``; empty where it is not known.
        n_ratios: items with a ratio.
        ratio: mean of the ratios, as in the table of languages.
        n_verdicts: items that were judged.
        accuracy: mean of the accuracies.
        n_targets: items whose target's tokens are known.
        target_tokens: mean number of tokens of a target.
        n_compared: comparisons of a target with another form.
        unequal: proportion of comparisons whose two forms have different numbers of tokens.
        facts: its tokenizer, vocabulary, parameters, training tokens, and other columns.
    """

    model: str
    language: str
    version: Version
    kind: str
    n_ratios: int
    ratio: float | None
    n_verdicts: int
    accuracy: float | None
    n_targets: int
    target_tokens: float | None
    n_compared: int
    unequal: float | None
    facts: Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPairRow:
    """Two models in one cell of the profile, comparison by comparison.

    Attributes:
        language: ISO 639-1 code.
        agreement: the suite's phenomenon, or its plain name.
        features: what is wrong with the alternatives.
        version: plain or adversarial.
        first: label of the one model.
        second: label of the other.
        n: comparisons with a value for both.
        first_accuracy: proportion of these in which the first finds the target less surprising.
        second_accuracy: share in which the second does.
        difference: mean ratio of the first minus that of the second; None where the models are
            of two kinds, whose scores are on different scales.
        low: lower end of its interval.
        high: upper end.
        p: of no difference.
        p_holm: the same, adjusted over all rows of the table.
        reason: why there is no difference, or no interval.
    """

    language: str
    agreement: str
    features: str
    version: Version
    first: str
    second: str
    n: int
    first_accuracy: float | None
    second_accuracy: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRow:
    """Whether models with more of something have the higher ratios.

    Attributes:
        language: ISO 639-1 code.
        version: plain or adversarial.
        kind: of the models; ratios of two kinds are on different scales.
        fact: column of the table of models whose values are numbers.
        n: models of which it is known.
        r: Spearman's correlation with the mean ratio; ranks, so that no scale must be chosen.
        low: lower end of its bootstrap interval over models.
        high: upper end.
        p: by the test that belongs to the interval.
        p_holm: the same, adjusted over all rows of the table.
        reason: why a number is None.
    """

    language: str
    version: Version
    kind: str
    fact: str
    n: int
    r: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    reason: str | None


def known_models() -> dict[str, Facts]:
    """The table of models that comes with cimento, with a source for every row."""
    name = "models.tsv"
    with resources.as_file(resources.files("cimento") / "data" / name) as path:
        return read_models(path)[0]


def read_models(
    path: Path, columns: Mapping[str, str] = NOTHING
) -> tuple[dict[str, Facts], TableReading]:
    """A user's table of models: a column `model`, and any others.

    Args:
        path: the file.
        columns: the column of the role ``model``, where it has another name.

    Returns:
        What is known of each model, and what the table was read as.

    Raises:
        InputError: the file cannot be read, has no such column, or names a model twice.
        UsageError: the chosen column is not there.
    """
    table = open_own(path, columns, MODELS)
    refuse_absent(columns, [table])
    facts, column = _facts(table)
    roles = {NAME: [column], "facts": [name for name in table.columns if name != column]}
    read = reading_of(table, _SHAPE, roles, n_items=len(facts))
    return facts, replace(read, what=NAME)


def model_facts(run: AgreementRun, given: Mapping[str, Facts], known: Mapping[str, Facts]) -> Facts:
    """What is known of a run's model.

    The user's table says most; then what the run recorded of the model itself; then what was
    published about a model of this name.

    Args:
        run: one suite with one model.
        given: the user's table.
        known: the published one.
    """
    recorded = {key: run.details[key] for key in RECORDED if run.details.get(key)}
    properties = {**_named(run.model, known), **recorded, **_named(run.model, given)}
    return {key: value for key, value in properties.items() if key != SOURCE}


RECORDED = ("tokenizer", "vocabulary", "parameters")
"""What a run says of its model itself."""


def model_rows(
    runs: Sequence[AgreementRun], languages: Sequence[LanguageRow], given: Mapping[str, Facts]
) -> list[ModelRow]:
    """Every model in every language and version.

    Args:
        runs: of any models, languages and suites.
        languages: the means of the same runs.
        given: the user's table of models.
    """
    known = known_models()
    by_cell = group_by(runs, cell_of)
    rows = []
    for language in languages:
        agreement_runs = by_cell[language.model, language.language, language.version]
        lengths = [
            float(counts[run.contrast.target])
            for run in agreement_runs
            for counts in run.n_tokens.values()
            if run.contrast.target in counts
        ]
        compared = [contrast for run in agreement_runs for contrast in contrasted(run)]
        rows.append(
            ModelRow(
                model=language.model,
                language=language.language,
                version=language.version,
                kind=agreement_runs[0].kind,
                n_ratios=sum(one.mean is not None for run in agreement_runs for one in run.ratios),
                ratio=language.ratio,
                n_verdicts=sum(
                    held is not None for run in agreement_runs for held in run.passed.values()
                ),
                accuracy=language.accuracy,
                n_targets=len(lengths),
                target_tokens=mean_or_none(lengths),
                n_compared=len(compared),
                unequal=mean_or_none([float(contrast.more_tokens != 0) for contrast in compared]),
                facts=model_facts(agreement_runs[0], given, known),
            )
        )
    return rows


def model_pairs(runs: Sequence[AgreementRun], *, seed: int) -> list[ModelPairRow]:
    """Every two models in every cell of the profile, tested on what both were asked.

    Args:
        runs: of any models, languages and suites.
        seed: of bootstrap and tests.
    """
    by_suite = group_by(runs, lambda run: (run.language, run.suite.name))
    rows = [
        _pair_row(first, second, features, seed=seed)
        for group in by_suite.values()
        for first, second in combinations(group, 2)
        for features in dict.fromkeys(contrast.features for contrast in contrasted(first))
    ]
    adjusted = holm([row.p for row in rows])
    return [replace(row, p_holm=p) for row, p in zip(rows, adjusted, strict=True)]


def fact_rows(models: Sequence[ModelRow]) -> list[FactRow]:
    """Every column of numbers beside the mean ratio, over models of one kind.

    Args:
        models: as `model_rows` gives them; with one model there is nothing to compare.
    """
    groups = group_by(models, lambda row: (row.language, row.version, row.kind))
    rows = [
        _fact_row(fact, group)
        for group in groups.values()
        if len(group) > 1
        for fact in ("target_tokens", *_number_columns(group))
    ]
    adjusted = holm([row.p for row in rows])
    return [replace(row, p_holm=p) for row, p in zip(rows, adjusted, strict=True)]


def _facts(table: Table) -> tuple[dict[str, Facts], str]:
    """What is known of each model, and the column of their names."""
    column = table.find(NAME)
    if column is None:
        todo = f"Name the models in a column {NAME!r}, one a row; or give --columns {NAME}=COLUMN."
        raise InputError(where=table.name, seen=f"there is no column {NAME!r}", todo=todo)
    facts: dict[str, Facts] = {}
    for row in table.rows:
        cells = {key: value.strip() for key, value in row.cells.items() if value.strip()}
        name = cells.pop(column, "")
        if not name or name in facts:
            raise InputError(
                where=table.where(row),
                seen=f"the model {name!r} is here again" if name else "no model is named",
                todo="Give each model one row.",
            )
        facts[name] = cells
    return facts, column


def _named(label: str, table: Mapping[str, Facts]) -> Facts:
    """The row of a model: by its label, its name without the revision, or its folder's name."""
    name = label.rpartition("@")[0] or label
    return next((table[key] for key in (label, name, Path(name).name) if key in table), {})


def _pair_row(
    first: AgreementRun, second: AgreementRun, features: str, *, seed: int
) -> ModelPairRow:
    ours, theirs = (
        {(contrast.item, contrast.condition): contrast for contrast in contrasted(run)}
        for run in (first, second)
    )
    both: list[tuple[Alternative, Alternative]] = [
        (contrast, theirs[key])
        for key, contrast in ours.items()
        if contrast.features == features and key in theirs
    ]
    different = different_scales((first.kind, second.kind))
    differences = [] if different else [a.ratio - b.ratio for a, b in both]
    mean = mean_of(
        differences, contrast_design([a for a, _ in both] if differences else ()), seed=seed
    )
    return ModelPairRow(
        language=first.language,
        agreement=agreement_of(first),
        features=features,
        version=version_of(first.suite.name),
        first=first.model,
        second=second.model,
        n=len(both),
        first_accuracy=mean_or_none([float(a.margin_bits > 0) for a, _ in both]),
        second_accuracy=mean_or_none([float(b.margin_bits > 0) for _, b in both]),
        difference=mean.value,
        low=mean.low,
        high=mean.high,
        p=mean.p,
        p_holm=None,
        reason=(different or mean.reason) if both else NO_COMMON,
    )


def _number_columns(rows: Sequence[ModelRow]) -> list[str]:
    """The columns that hold numbers, or nothing, for every model."""
    names = dict.fromkeys(name for row in rows for name in row.facts)
    return [
        name
        for name in names
        if all(_number(row.facts[name]) is not None for row in rows if name in row.facts)
    ]


def _number(text: str) -> float | None:
    try:
        value = float(text.replace(",", "").replace("_", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _fact_row(fact: str, rows: Sequence[ModelRow]) -> FactRow:
    def value_of(row: ModelRow) -> float | None:
        return row.target_tokens if fact == "target_tokens" else _number(row.facts.get(fact, ""))

    pairs = [
        (value, row.ratio)
        for row in rows
        if (value := value_of(row)) is not None and row.ratio is not None
    ]
    x, y = [value for value, _ in pairs], [ratio for _, ratio in pairs]
    correlation = correlate(x, y, design=Design.independent(len(pairs)))
    same = len(pairs) > 1 and len(set(x)) == 1
    return FactRow(
        language=rows[0].language,
        version=rows[0].version,
        kind=rows[0].kind,
        fact=fact,
        n=len(pairs),
        r=correlation.r,
        low=correlation.low,
        high=correlation.high,
        p=correlation.p,
        p_holm=None,
        reason=SAME if same else correlation.reason,
    )
