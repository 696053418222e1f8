"""The tables of ``cimento study agreement`` as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.cli.console import columns

if TYPE_CHECKING:
    from cimento.studies.agreement.report import AgreementReport

_MOST_NAMED = 8
_SMALLEST_P = 0.001


def as_text(report: AgreementReport) -> str:
    """The tables that there are, below each other."""
    tables = [_suites(report), _twins(report), _attractors(report), _languages(report)]
    tables += [_profile(report), _covariates(report), _models(report), _pairs(report)]
    tables.append(_facts(report))
    return "\n\n".join(table for table in tables if table)


def _suites(report: AgreementReport) -> str:
    rows = [("model", "language", "suite", "items", "ratio", "95 %", "accuracy", "95 %")]
    rows += [
        (
            row.model,
            row.language,
            row.suite,
            str(row.n_items),
            _number(row.ratio),
            _interval(row.ratio_low, row.ratio_high),
            _number(row.accuracy),
            _interval(row.accuracy_low, row.accuracy_high),
        )
        for row in report.suites
    ]
    told = [
        f"{row.suite}: in {row.n_other_contexts} items the conditions differ elsewhere than in"
        " the target, so that their ratio does not compare the forms alone"
        for row in report.suites
        if row.n_other_contexts
    ]
    return "\n".join([columns(rows), *dict.fromkeys(told)]) if report.suites else ""


def _twins(report: AgreementReport) -> str:
    if not report.twins:
        return ""
    rows = [("model", "language", "suite", "pairs", "drop", "95 %", "p (Holm)", "lost", "won")]
    rows += [
        (
            row.model,
            row.language,
            row.suite,
            str(row.n_pairs),
            _number(row.drop),
            _interval(row.low, row.high),
            _p(row.p_holm),
            _named(row.lost),
            _named(row.won),
        )
        for row in report.twins
    ]
    return "plain minus adversarial, item by item\n" + columns(rows)


def _attractors(report: AgreementReport) -> str:
    if not report.attractors:
        return ""
    rows = [("model", "language", "suite", "property", "value", "pairs", "drop", "95 %")]
    rows += [
        (
            row.model,
            row.language,
            row.suite,
            row.column,
            row.value,
            str(row.n_pairs),
            _number(row.drop),
            _interval(row.low, row.high),
        )
        for row in report.attractors
    ]
    return "the drop by properties of the attractors\n" + columns(rows)


def _languages(report: AgreementReport) -> str:
    if not report.languages:
        return ""
    rows = [("model", "language", "version", "suites", "ratio", "accuracy")]
    rows += [
        (
            row.model,
            row.language,
            row.version,
            str(row.n_suites),
            _number(row.ratio),
            _number(row.accuracy),
        )
        for row in report.languages
    ]
    return f"means of languages, {report.languages[0].averaging} weighted equally\n" + columns(rows)


def _profile(report: AgreementReport) -> str:
    if not report.profile:
        return ""
    rows = [
        (
            *("model", "language", "agreement", "wrong", "version", "n", "ratio", "95 %"),
            *("accuracy", "more tokens", "unequal", "ratio where equal", "rarer"),
        )
    ]
    rows += [
        (
            row.model,
            row.language,
            row.agreement,
            row.features,
            row.version,
            str(row.n),
            _number(row.ratio),
            _interval(row.ratio_low, row.ratio_high),
            _number(row.accuracy),
            _number(row.more_tokens),
            _number(row.unequal),
            _number(row.ratio_equal),
            _number(row.less_frequent),
        )
        for row in report.profile
    ]
    return "competence by agreement and feature\n" + columns(rows)


def _covariates(report: AgreementReport) -> str:
    if not report.covariates:
        return ""
    rows = [("model", "language", "outcome", "term", "value", "95 %", "p")]
    for row in report.covariates:
        head = (row.model, row.language, row.outcome)
        if row.regression.reason:
            rows.append((*head, row.regression.reason, "", "", ""))
        rows += [
            (*head, c.name, _number(c.value), _interval(c.low, c.high), _p(c.p))
            for c in row.regression.coefficients
        ]
    title = "margins at equal length and frequency (intercept), and what these and distance add"
    return f"{title}\n{columns(rows)}"


def _models(report: AgreementReport) -> str:
    if not report.models:
        return ""
    facts = list(dict.fromkeys(name for row in report.models for name in row.facts))
    head = ("model", "language", "version", "ratio", "accuracy", "tokens a target", "unequal")
    rows = [(*head, *(name.replace("_", " ") for name in facts))]
    rows += [
        (
            row.model,
            row.language,
            row.version,
            _number(row.ratio),
            _number(row.accuracy),
            _number(row.target_tokens),
            _number(row.unequal),
            *(_grouped(row.facts.get(name, "-")) for name in facts),
        )
        for row in report.models
    ]
    return "models and what is known of them\n" + columns(rows)


def _pairs(report: AgreementReport) -> str:
    if not report.pairs:
        return ""
    rows = [
        (
            *("language", "agreement", "wrong", "version", "first", "second", "n"),
            *("difference", "95 %", "p (Holm)"),
        )
    ]
    rows += [
        (
            row.language,
            row.agreement,
            row.features,
            row.version,
            row.first,
            row.second,
            str(row.n),
            _number(row.difference),
            _interval(row.low, row.high),
            _p(row.p_holm),
        )
        for row in report.pairs
    ]
    return "ratio of the first model minus that of the second, item by item\n" + columns(rows)


def _facts(report: AgreementReport) -> str:
    if not report.facts:
        return ""
    rows = [("language", "version", "what", "models", "Spearman", "95 %", "p")]
    rows += [
        (
            row.language,
            row.version,
            row.fact.replace("_", " "),
            str(row.n),
            _number(row.r) if row.r is not None else row.reason or "-",
            _interval(row.low, row.high),
            _p(row.p),
        )
        for row in report.facts
    ]
    return "what goes with the ratio over models\n" + columns(rows)


def _grouped(text: str) -> str:
    """A whole number with its thousands apart; anything else as it is."""
    return f"{int(text):,}" if text.isdecimal() else text


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _p(value: float | None) -> str:
    return "<.001" if value is not None and value < _SMALLEST_P else _number(value)


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.3f} to {high:.3f}"


def _named(items: Sequence[str]) -> str:
    shown = ", ".join(items[:_MOST_NAMED])
    return f"{len(items)}: {shown}{' ...' if len(items) > _MOST_NAMED else ''}" if items else "0"
