"""What ``cimento study agreement`` shows: the columns of its tables, as fields of its records.

Also its figures: the drop from a suite to its twin, and SyntaxGym's circuits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from cimento.io.parsing import whole_number
from cimento.report.cells import HIGH, LOW, MARKS, REASON, N, Shown, count, ends, no_ends
from cimento.report.figures import BLUE, GRAY, Figure, figure_of, frame_of, require_rows
from cimento.report.formatting import number, p_short
from cimento.report.grid import BLANK, Grid
from cimento.statistics.regression import CONSTANT_TERM
from cimento.studies.agreement import DROP
from cimento.studies.agreement.profile import CONTROLS, VERSIONS
from cimento.studies.agreement.syntaxgym import SG_SCORE
from cimento.studies.agreement.twins import plain_name
from cimento.suites.languages import NAMES

if TYPE_CHECKING:
    from cimento.studies.agreement import AgreementReport, CovariateRow
    from cimento.studies.agreement.syntaxgym import Scores
    from cimento.studies.agreement.table import SuiteRow, TwinRow


NO_SAMPLE = "without intervals: the suites of a language are not a sample of suites"
UNPUBLISHED = "The ratios that the paper printed are not part of cimento."
_MOST_NAMED = 8

Column: TypeAlias = "str | tuple[str, str | Callable[[Any], str]]"
"""A field of a record; or a heading, and the field or the function that gives the cells."""


def _ends(low: str, high: str, reason: str = "") -> Column:
    """Both ends of an interval, or why there is none."""
    return (
        "95%",
        lambda row: _interval(
            getattr(row, low), getattr(row, high), getattr(row, reason) if reason else None
        ),
    )


def _of(field: str, n: str) -> Column:
    """A mean, of which programs see the n beside it."""
    return field, lambda row: Shown(
        number(getattr(row, field)), {"": getattr(row, field), N: getattr(row, n)}
    )


_P: Column = ("p (Holm)", lambda row: p_short(row.p_holm))

_TABLES: Mapping[str, tuple[str, Sequence[Column]]] = {
    "suites": ("ratio and accuracy of every suite", (
        "model", "language", "suite", ("items", "n_items"),
        _of("ratio", "n_ratios"), _ends("ratio_low", "ratio_high", "reason"),
        _of("accuracy", "n_verdicts"), _ends("accuracy_low", "accuracy_high"),
    )),
    "twins": ("plain minus adversarial, item by item", (
        "model", "language", "suite", ("pairs", "n_pairs"), "drop", _ends("low", "high", "reason"),
        _P, ("lost", lambda row: _named(row.lost)), ("won", lambda row: _named(row.won)),
    )),
    "attractors": ("the drop by properties of the attractors", (
        "model", "language", "suite", ("property", "column"), "value", ("pairs", "n_pairs"), "drop",
        _ends("low", "high", "reason"),
    )),
    "languages": ("means of languages, {averaging} weighted equally", (
        "model", "language", "version", ("suites", "n_suites"),
        _of("ratio", "n_suites"), _of("accuracy", "n_suites"),
    )),
    "profile": ("competence by agreement and feature", (
        "model", "language", "agreement", ("wrong", "features"), "version", "n",
        "ratio", _ends("ratio_low", "ratio_high", "reason"),
        "accuracy", _ends("accuracy_low", "accuracy_high"),
        ("more tokens", "more_tokens"), ("rarer", "less_frequent"), ("equal", "n_equal"),
        ("ratio where equal", "ratio_equal"), _ends("equal_low", "equal_high"),
    )),
    "covariates": ("regressions of margins in bits and of drops", (
        "model", "language", "outcome", "term", "value", "95%", "p (Holm)",
    )),
    "models": ("models and what is known of them", (
        "model", "language", "version", _of("ratio", "n_ratios"), _of("accuracy", "n_verdicts"),
        ("tokens a target", _of("target_tokens", "n_targets")[1]), _of("unequal", "n_compared"),
    )),
    "pairs": ("ratio of the first model minus that of the second, item by item", (
        "language", "agreement", ("wrong", "features"), "version", "first", "second", "n",
        ("accuracies", lambda row: Shown(
            f"{number(row.first_accuracy)}, {number(row.second_accuracy)}",
            {"_first": row.first_accuracy, "_second": row.second_accuracy},
        )),
        "difference", _ends("low", "high", "reason"), _P,
    )),
    "facts": ("what goes with the ratio over models", (
        "language", "version", ("kind", lambda row: row.kind or Shown("-", BLANK)),
        ("what", lambda row: row.fact.replace("_", " ")), ("models", "n"),
        ("Spearman", lambda row: number(row.r, absent=row.reason or "-")), _ends("low", "high"), _P,
    )),
}  # fmt: skip
"""Part of the report to the title and the columns of its table."""

PROFILE_TABLES = ("attractors", "profile", "covariates", "models", "pairs", "facts")
"""Names of the tables that a profile adds."""


def agreement_tables(report: AgreementReport) -> dict[str, Grid]:
    """The tables that there are, by the names of their files."""
    averaging = report.languages[0].averaging if report.languages else ""
    facts = dict.fromkeys(name for row in report.models for name in row.facts)
    codes = dict.fromkeys(row.language for row in report.suites)
    more = {"models": [_fact(name) for name in facts]}
    notes = {
        "suites": _contexts(report),
        "languages": (
            *(
                f"{row.language}, {row.version}: no mean accuracy, for {row.reason}"
                for row in report.languages
                if row.reason
            ),
            NO_SAMPLE,
        ),
    }
    grids = {f"table-{code}": _languages_suites(report, code) for code in codes}
    for name, (title, columns) in _TABLES.items():
        pairs = [
            (column, column) if isinstance(column, str) else column
            for column in (*columns, *more.get(name, ()))
        ]
        rows = (tuple(_cell(row, field) for _, field in pairs) for row in getattr(report, name))
        grids[name] = Grid(
            title=title.format(averaging=averaging),
            header=tuple(heading for heading, _ in pairs),
            rows=tuple(_covariates(report) if name == "covariates" else rows),
            notes=tuple(dict.fromkeys(notes.get(name, ()))),
            labels=3,
        )
    return {name: grid for name, grid in grids.items() if grid.rows}


def _languages_suites(report: AgreementReport, language: str) -> Grid:
    """The ratios of one language: a row for each model, two columns for a suite and its twin."""
    rows = [row for row in report.suites if row.language == language]
    ratios = {(row.model, row.suite): _ratio(row) for row in rows}
    means = {
        (row.model, row.version): row.ratio for row in report.languages if row.language == language
    }
    suites = list(dict.fromkeys((row.suite, row.version) for row in rows))
    versions = [version for version in VERSIONS if version in {row.version for row in rows}]
    return Grid(
        title=f"{NAMES.get(language, language)}: mean probability ratio of every suite",
        groups=("", *(plain_name(name) or name for name, _ in suites), *("mean" for _ in versions)),
        header=("model", *(version for _, version in suites), *versions),
        rows=tuple(
            (
                model,
                *(ratios.get((model, name), number(None)) for name, _ in suites),
                *(number(means.get((model, version))) for version in versions),
            )
            for model in dict.fromkeys(row.model for row in rows)
        ),
        notes=("Intervals: table suites. Means: table languages.", UNPUBLISHED),
    )


def _ratio(row: SuiteRow) -> str:
    """A ratio, of which programs see the interval and the n too."""
    rests_on = {LOW: row.ratio_low, HIGH: row.ratio_high, N: row.n_ratios}
    return Shown(number(row.ratio), {"": row.ratio, **rests_on})


def _cell(row: object, field: str | Callable[[Any], str]) -> str:
    value = field(row) if callable(field) else getattr(row, field)
    if isinstance(value, str):
        return value
    return count(value) if isinstance(value, int) else number(value)


def _contexts(report: AgreementReport) -> Iterable[str]:
    return (
        f"{row.suite}: in {row.n_other_contexts} items the conditions differ elsewhere than in"
        " the target, so that their ratio does not compare the forms alone"
        for row in report.suites
        if row.n_other_contexts
    )


def _covariates(report: AgreementReport) -> Iterator[tuple[str, ...]]:
    for row in report.covariates:
        head = (row.model, row.language, row.outcome)
        if row.regression.reason:
            none = Shown(BLANK, {"": None, N: row.regression.n, REASON: row.regression.reason})
            yield (
                *head,
                Shown(row.regression.reason, BLANK),
                none,
                no_ends(BLANK),
                p_short(None, absent=BLANK),
            )
        for c, p in zip(row.regression.coefficients, row.p_holm, strict=True):
            interval = _interval(c.low, c.high)
            value = Shown(number(c.value), {"": c.value, N: row.regression.n})
            yield (*head, _term(row, c.name), value, interval, p_short(p))


def _term(row: CovariateRow, name: str) -> str:
    """The name of a coefficient; of the intercept of margins, what is equal there and what not."""
    if name != CONSTANT_TERM or row.outcome.startswith(DROP):
        return name
    free = [control for control in CONTROLS.values() if control not in row.equal]
    parts = [f"at equal {' and '.join(row.equal)}"] if row.equal else []
    parts += [f"{' and '.join(free)} not controlled"] if free else []
    return f"{name} {', '.join(parts)}"


def _fact(name: str) -> Column:
    """What is known of models, whole numbers with their thousands apart."""

    def cell(row: Any) -> str:  # noqa: ANN401  # a record, as for other columns
        text: str = row.facts.get(name, "-")
        number = whole_number(text)
        if number is None:
            return Shown(text, BLANK) if text in MARKS else text
        return count(number, thousands=True)

    return name.replace("_", " "), cell


def _interval(low: float | None, high: float | None, reason: str | None = None) -> str:
    """The ends of an interval, or why there is none."""
    if low is None or high is None:
        return no_ends(reason or BLANK)
    return ends(low, high, f"{low:.3f} to {high:.3f}")


def _named(items: Sequence[str]) -> str:
    shown = ", ".join(items[:_MOST_NAMED])
    text = f"{len(items)}: {shown}{' ...' if len(items) > _MOST_NAMED else ''}" if items else "0"
    return Shown(text, {"": len(items), "_items": "; ".join(items)})


def drops_figure(rows: Sequence[TwinRow]) -> Figure:
    """How much of the ratio is lost in every adversarial suite, a panel for each model.

    Raises:
        UsageError: no suite has a drop.
        MissingDependencyError: altair is not installed.
    """
    drops = (
        (row.model, _in_language(row), row.drop, row.low, row.high)
        for row in rows
        if row.drop is not None
    )
    frame = frame_of(drops, model=str, suite=str, drop=float, low=float, high=float)
    require_rows(frame, where="the drops as a figure", seen="no suite has a drop")
    import altair as alt

    title = "Ratio on the plain suite minus that on its adversarial twin, with 95% intervals"
    order = list(dict.fromkeys(frame["suite"]))
    base = alt.Chart().encode(y=alt.Y("suite:N", title=None, sort=order))
    lines = base.mark_rule(color=BLUE).encode(x=alt.X("low:Q", title="drop"), x2="high:Q")
    points = base.mark_point(filled=True, color=BLUE, size=40).encode(x="drop:Q")
    zero = alt.Chart().mark_rule(color=GRAY).encode(x=alt.datum(0))
    chart = (
        alt.layer(zero, lines, points, data=frame)
        .properties(width=200, height=alt.Step(16))
        .facet(
            column=alt.Column("model:N", title=None, sort=list(dict.fromkeys(frame["model"]))),
            title=title,
        )
    )
    return figure_of(chart, name="drops", title=title, frame=frame)


def _in_language(row: TwinRow) -> str:
    """The name of a suite with its language: those of several languages may have one name."""
    named = row.suite.startswith(f"{row.language}-")
    return row.suite if named else f"{row.language} {row.suite}"


def circuits_figure(rows: Sequence[Scores]) -> Figure:
    """SG score and circuits of every model, published ones in gray, a panel for each circuit.

    Raises:
        UsageError: no model has a score.
        MissingDependencyError: altair is not installed.
    """
    whose = {True: "published", False: "computed here"}
    scores = (
        (row.model, whose[row.published], name, value)
        for row in rows
        for name, value in {SG_SCORE: row.sg_score, **row.circuits}.items()
        if value is not None
    )
    frame = frame_of(scores, model=str, whose=str, circuit=str, score=float)
    require_rows(frame, where="SyntaxGym's scores as a figure", seen="no model has a score")
    import altair as alt

    title = "SyntaxGym: SG score and circuits"
    circuits = list(dict.fromkeys(frame["circuit"]))
    chart = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X("score:Q", title=None, scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("model:N", title=None, sort=list(dict.fromkeys(frame["model"]))),
            color=alt.Color("whose:N", title=None).scale(
                domain=list(whose.values()), range=[GRAY, BLUE]
            ),
        )
        .properties(width=110, height=alt.Step(14))
        .facet(facet=alt.Facet("circuit:N", title=None, sort=circuits), columns=4, title=title)
    )
    return figure_of(chart, name="syntaxgym", title=title, frame=frame)
