"""The tables of ``cimento study agreement`` as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cimento.report.formatting import number, p_short
from cimento.report.grid import Grid
from cimento.statistics.regression import CONSTANT_TERM
from cimento.studies.agreement.profile import CONTROLS
from cimento.studies.agreement.report import DROP

if TYPE_CHECKING:
    from cimento.studies.agreement.report import AgreementReport, CovariateRow

NO_SAMPLE = "without intervals: the suites of a language are no sample of suites"
_MOST_NAMED = 8

Cells = tuple[str, ...]


def tables(report: AgreementReport) -> list[Grid]:
    """The tables that there are."""
    grids = [_suites(report), _twins(report), _attractors(report), _languages(report)]
    grids += [_profile(report), _covariates(report), _models(report), _pairs(report)]
    return [grid for grid in (*grids, _facts(report)) if grid.rows]


def _table(title: str, header: Cells, rows: Iterable[Cells], notes: Iterable[str] = ()) -> Grid:
    return Grid(
        title=title, header=header, rows=tuple(rows), notes=tuple(dict.fromkeys(notes)), labels=3
    )


def _suites(report: AgreementReport) -> Grid:
    return _table(
        "ratio and accuracy of every suite",
        ("model", "language", "suite", "items", "ratio", "95 %", "accuracy", "95 %"),
        (
            (
                row.model,
                row.language,
                row.suite,
                str(row.n_items),
                number(row.ratio),
                _interval(row.ratio_low, row.ratio_high, row.reason),
                number(row.accuracy),
                _interval(row.accuracy_low, row.accuracy_high),
            )
            for row in report.suites
        ),
        (
            f"{row.suite}: in {row.n_other_contexts} items the conditions differ elsewhere than in"
            " the target, so that their ratio does not compare the forms alone"
            for row in report.suites
            if row.n_other_contexts
        ),
    )


def _twins(report: AgreementReport) -> Grid:
    return _table(
        "plain minus adversarial, item by item",
        ("model", "language", "suite", "pairs", "drop", "95 %", "p (Holm)", "lost", "won"),
        (
            (
                row.model,
                row.language,
                row.suite,
                str(row.n_pairs),
                number(row.drop),
                _interval(row.low, row.high, row.reason),
                p_short(row.p_holm),
                _named(row.lost),
                _named(row.won),
            )
            for row in report.twins
        ),
    )


def _attractors(report: AgreementReport) -> Grid:
    return _table(
        "the drop by properties of the attractors",
        ("model", "language", "suite", "property", "value", "pairs", "drop", "95 %"),
        (
            (
                row.model,
                row.language,
                row.suite,
                row.column,
                row.value,
                str(row.n_pairs),
                number(row.drop),
                _interval(row.low, row.high, row.reason),
            )
            for row in report.attractors
        ),
    )


def _languages(report: AgreementReport) -> Grid:
    averaging = report.languages[0].averaging if report.languages else ""
    told = [
        f"{row.language}, {row.version}: no mean accuracy, for {row.reason}"
        for row in report.languages
        if row.reason
    ]
    return _table(
        f"means of languages, {averaging} weighted equally",
        ("model", "language", "version", "suites", "ratio", "accuracy"),
        (
            (
                row.model,
                row.language,
                row.version,
                str(row.n_suites),
                number(row.ratio),
                number(row.accuracy),
            )
            for row in report.languages
        ),
        [*told, NO_SAMPLE],
    )


def _profile(report: AgreementReport) -> Grid:
    head = ("model", "language", "agreement", "wrong", "version", "n", "ratio", "95 %")
    return _table(
        "competence by agreement and feature",
        (*head, "accuracy", "95 %", "more tokens", "rarer", "equal", "ratio where equal", "95 %"),
        (
            (
                row.model,
                row.language,
                row.agreement,
                row.features,
                row.version,
                str(row.n),
                number(row.ratio),
                _interval(row.ratio_low, row.ratio_high, row.reason),
                number(row.accuracy),
                _interval(row.accuracy_low, row.accuracy_high),
                number(row.more_tokens),
                number(row.less_frequent),
                str(row.n_equal),
                number(row.ratio_equal),
                _interval(row.equal_low, row.equal_high),
            )
            for row in report.profile
        ),
    )


def _covariates(report: AgreementReport) -> Grid:
    rows: list[Cells] = []
    for row in report.covariates:
        head = (row.model, row.language, row.outcome)
        if row.regression.reason:
            rows.append((*head, row.regression.reason, "", "", ""))
        rows += [
            (*head, _term(row, c.name), number(c.value), _interval(c.low, c.high), p_short(p))
            for c, p in zip(row.regression.coefficients, row.p_holm, strict=True)
        ]
    return _table(
        "regressions of margins in bits and of drops",
        ("model", "language", "outcome", "term", "value", "95 %", "p (Holm)"),
        rows,
    )


def _term(row: CovariateRow, name: str) -> str:
    """The name of a coefficient; of the intercept of margins, what is equal there and what not."""
    if name != CONSTANT_TERM or row.outcome.startswith(DROP):
        return name
    free = [each for each in CONTROLS.values() if each not in row.equal]
    parts = [f"at equal {' and '.join(row.equal)}"] if row.equal else []
    parts += [f"{' and '.join(free)} not controlled"] if free else []
    return f"{name} {', '.join(parts)}"


def _models(report: AgreementReport) -> Grid:
    facts = list(dict.fromkeys(name for row in report.models for name in row.facts))
    head = ("model", "language", "version", "ratio", "accuracy", "tokens a target", "unequal")
    return _table(
        "models and what is known of them",
        (*head, *(name.replace("_", " ") for name in facts)),
        (
            (
                row.model,
                row.language,
                row.version,
                number(row.ratio),
                number(row.accuracy),
                number(row.target_tokens),
                number(row.unequal),
                *(_grouped(row.facts.get(name, "-")) for name in facts),
            )
            for row in report.models
        ),
    )


def _pairs(report: AgreementReport) -> Grid:
    head = ("language", "agreement", "wrong", "version", "first", "second", "n")
    return _table(
        "ratio of the first model minus that of the second, item by item",
        (*head, "accuracies", "difference", "95 %", "p (Holm)"),
        (
            (
                row.language,
                row.agreement,
                row.features,
                row.version,
                row.first,
                row.second,
                str(row.n),
                f"{number(row.first_accuracy)}, {number(row.second_accuracy)}",
                number(row.difference),
                _interval(row.low, row.high, row.reason),
                p_short(row.p_holm),
            )
            for row in report.pairs
        ),
    )


def _facts(report: AgreementReport) -> Grid:
    return _table(
        "what goes with the ratio over models",
        ("language", "version", "kind", "what", "models", "Spearman", "95 %", "p (Holm)"),
        (
            (
                row.language,
                row.version,
                row.kind or "-",
                row.fact.replace("_", " "),
                str(row.n),
                number(row.r, absent=row.reason or "-"),
                _interval(row.low, row.high),
                p_short(row.p_holm),
            )
            for row in report.facts
        ),
    )


def _grouped(text: str) -> str:
    """A whole number with its thousands apart; anything else as it is."""
    return f"{int(text):,}" if text.isdecimal() else text


def _interval(low: float | None, high: float | None, reason: str | None = None) -> str:
    """The ends of an interval, or why there is none."""
    return reason or "" if low is None or high is None else f"{low:.3f} to {high:.3f}"


def _named(items: Sequence[str]) -> str:
    shown = ", ".join(items[:_MOST_NAMED])
    return f"{len(items)}: {shown}{' ...' if len(items) > _MOST_NAMED else ''}" if items else "0"
