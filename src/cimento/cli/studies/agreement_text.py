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
    tables += [_profile(report), _covariates(report)]
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
            *("accuracy", "more tokens", "rarer"),
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


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _p(value: float | None) -> str:
    return "<.001" if value is not None and value < _SMALLEST_P else _number(value)


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.3f} to {high:.3f}"


def _named(items: Sequence[str]) -> str:
    shown = ", ".join(items[:_MOST_NAMED])
    return f"{len(items)}: {shown}{' ...' if len(items) > _MOST_NAMED else ''}" if items else "0"
