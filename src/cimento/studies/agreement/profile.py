"""The competence profile: what a model knows of each agreement, and what confounds it."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.io.values import group_by
from cimento.report.figures import Figure, figure_of, frame_of, in_lines, require_rows
from cimento.statistics.design import Design
from cimento.statistics.intervals import share_interval
from cimento.statistics.means import bounded_mean
from cimento.statistics.regression import Regression, regress
from cimento.studies.agreement.table import Version, mean_or_none, version_of
from cimento.studies.agreement.twins import plain_name
from cimento.suites.derived import Frequency

if TYPE_CHECKING:
    import polars as pl

    from cimento.studies.agreement.twins import AgreementRun
    from cimento.suites import Condition


FEATURES = {
    "num": "number",
    "number": "number",
    "gen": "gender",
    "gend": "gender",
    "gender": "gender",
    "per": "person",
    "pers": "person",
    "person": "person",
    "case": "case",
}
"""Parts of the names of conditions, such as ``mismatch_gend``, to features."""

CONTROLS = {"more_tokens": "length in tokens", "less_frequent": "frequency"}
"""Predictor to what is equal where it is 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """One alternative of one item, beside the target.

    Attributes:
        item: its id.
        condition: the alternative's.
        cluster: what the item belongs to, in its suite.
        features: what is wrong with the alternative, such as ``gender + number``.
        ratio: probability ratio of the target and this alternative.
        margin_bits: surprisal of the alternative minus that of the target.
        more_tokens: tokens of the alternative's target region minus those of the grammatical one.
        less_frequent: Zipf frequency of the grammatical form minus that of the alternative; None
            where frequencies are not known.
    """

    item: str
    condition: str
    cluster: Hashable
    features: str
    ratio: float
    margin_bits: float
    more_tokens: int
    less_frequent: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRow:
    """One cell of the profile.

    Attributes:
        model: its label.
        language: ISO 639-1 code.
        agreement: the suite's phenomenon, or its plain name.
        features: what is wrong with the alternatives.
        version: plain or adversarial.
        n: comparisons of a target with an alternative.
        ratio: mean probability ratio.
        ratio_low: lower end of its interval.
        ratio_high: upper end.
        reason: why the ratio has no interval.
        accuracy: proportion of comparisons in which the target is the less surprising.
        accuracy_low: lower end of its interval.
        accuracy_high: upper end.
        more_tokens: how many more tokens the alternatives have on average.
        less_frequent: by how much they are rarer on average, on the Zipf scale.
        unequal: proportion of comparisons whose two forms have different numbers of tokens.
        n_equal: the others, whose two forms have as many tokens.
        ratio_equal: mean probability ratio of these; None where there is none.
        equal_low: lower end of its interval.
        equal_high: upper end.
    """

    model: str
    language: str
    agreement: str
    features: str
    version: Version
    n: int
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    reason: str | None
    accuracy: float | None
    accuracy_low: float | None
    accuracy_high: float | None
    more_tokens: float | None
    less_frequent: float | None
    unequal: float | None
    n_equal: int
    ratio_equal: float | None
    equal_low: float | None
    equal_high: float | None


def agreement_of(run: AgreementRun) -> str:
    """What a suite is about: its phenomenon, or its plain name."""
    return run.suite.meta.phenomenon or plain_name(run.suite.name) or run.suite.name


def feature_of(condition: str) -> str:
    """The features that a condition's name says are wrong, joined by `` + ``; else its name."""
    parts = re.split(r"[-_ ]+", condition.casefold())
    features = dict.fromkeys(FEATURES[part] for part in parts if part in FEATURES)
    return " + ".join(features) or condition


def contrasted(run: AgreementRun, *, frequency: Frequency | None = None) -> list[Alternative]:
    """Every comparison of a target with an alternative that has a value.

    Args:
        run: one suite with one model.
        frequency: of words, in the suite's language.
    """
    clusters = run.suite.clusters()
    items = {item.id: item for item in run.suite.items}
    target = run.contrast.target
    contrasts = []
    for ratios in run.ratios:
        item, tokens = items[ratios.item], run.n_tokens.get(ratios.item, {})
        compared = zip(run.contrast.alternatives, ratios.ratios, ratios.margins_bits, strict=True)
        for name, ratio, margin in compared:
            if ratio is None or margin is None:
                continue
            rarer = None
            if frequency:
                right, wrong = item.condition(target), item.condition(name)
                rarer = _zipf(right, frequency, run) - _zipf(wrong, frequency, run)
            contrasts.append(
                Alternative(
                    item=ratios.item,
                    condition=name,
                    cluster=(run.suite.name, clusters[ratios.item]),
                    features=feature_of(name),
                    ratio=ratio,
                    margin_bits=margin,
                    more_tokens=tokens.get(name, 0) - tokens.get(target, 0),
                    less_frequent=rarer,
                )
            )
    return contrasts


def profile_rows(
    runs: Sequence[AgreementRun], *, seed: int, frequency: Callable[[str], Frequency | None]
) -> list[ProfileRow]:
    """The profile of one or several models.

    Args:
        runs: of any models, languages and suites.
        seed: of the bootstrap.
        frequency: language to the frequencies of its words, None where there are none.
    """
    rows = []
    for run in runs:
        contrasts = contrasted(run, frequency=frequency(run.language))
        for features, cell in group_by(contrasts, lambda contrast: contrast.features).items():
            rows.append(_profile_row(run, features, cell, seed=seed))
    return rows


def contrast_design(contrasts: Sequence[Alternative]) -> Design:
    """The design of comparisons: those of one cluster of items belong together."""
    return Design(
        tuple(contrast.item for contrast in contrasts),
        tuple(contrast.cluster for contrast in contrasts),
    )


def with_covariates(contrasts: Sequence[Alternative]) -> tuple[Regression, tuple[str, ...]]:
    """The margin where both forms are equally long in tokens and, if known, equally frequent.

    A regression of the margin in bits on the difference in tokens and in Zipf frequency: its
    intercept is the effect of agreement that they leave. A predictor that does not vary is left
    out; it is controlled only if the forms never differ in it.

    Args:
        contrasts: comparisons; those without frequencies are left out where others have them.

    Returns:
        The regression, and what is equal at its intercept.
    """
    known = [contrast for contrast in contrasts if contrast.less_frequent is not None] or list(
        contrasts
    )
    differences: dict[str, list[float]] = {
        "more_tokens": [float(contrast.more_tokens) for contrast in known],
        "less_frequent": [
            contrast.less_frequent for contrast in known if contrast.less_frequent is not None
        ],
    }
    predictors = {name: values for name, values in differences.items() if len(set(values)) > 1}
    equal = [
        CONTROLS[name]
        for name, values in differences.items()
        if name in predictors or set(values) == {0.0}
    ]
    regression = regress(
        [contrast.margin_bits for contrast in known], predictors, contrast_design(known)
    )
    return regression, tuple(equal)


def _zipf(condition: Condition, frequency: Frequency, run: AgreementRun) -> float:
    """The mean Zipf frequency of the words of the target."""
    text = " ".join(condition.regions[number - 1].text for number in run.contrast.regions)
    words = re.findall(r"[^\W\d_]+", text)
    return sum(frequency(word) for word in words) / len(words) if words else 0.0


def _profile_row(
    run: AgreementRun, features: str, cell: Sequence[Alternative], *, seed: int
) -> ProfileRow:
    rarity = [contrast.less_frequent for contrast in cell if contrast.less_frequent is not None]
    equal = [contrast for contrast in cell if contrast.more_tokens == 0]
    right = [contrast.margin_bits > 0 for contrast in cell]
    ratio, of_equal = (
        bounded_mean([contrast.ratio for contrast in group], contrast_design(group), seed=seed)
        for group in (cell, equal)
    )
    accuracy = share_interval(right, contrast_design(cell))
    return ProfileRow(
        model=run.model,
        language=run.language,
        agreement=agreement_of(run),
        features=features,
        version=version_of(run.suite.name),
        n=len(cell),
        ratio=mean_or_none([contrast.ratio for contrast in cell]),
        ratio_low=ratio.low,
        ratio_high=ratio.high,
        reason=ratio.reason,
        accuracy=mean_or_none([float(held) for held in right]),
        accuracy_low=accuracy.low,
        accuracy_high=accuracy.high,
        more_tokens=mean_or_none([float(contrast.more_tokens) for contrast in cell]),
        less_frequent=mean_or_none(rarity),
        unequal=mean_or_none([float(contrast.more_tokens != 0) for contrast in cell]),
        n_equal=len(equal),
        ratio_equal=mean_or_none([contrast.ratio for contrast in equal]),
        equal_low=of_equal.low,
        equal_high=of_equal.high,
    )


VERSIONS = ("plain", "adversarial")

_NAME_LINE = 24
"""Most letters in a line of a model's name above its columns."""
_PALE = "abs(datum.ratio - 0.5) < 0.3"
"""Where a square is so pale that dark figures are read better on it."""


def profile_figure(rows: Sequence[ProfileRow]) -> Figure:
    """The mean probability ratio of every cell in every language, a panel for each model.

    White is 0.5: the target is as likely as the alternative. Blue is above, red below.

    Raises:
        UsageError: no comparison has a value.
        MissingDependencyError: altair is not installed.
    """
    frame = profile_frame(rows)
    require_rows(
        frame,
        where="the profile as a figure",
        seen="no comparison has a value",
        todo="Are the targets scored? See the reasons with --json.",
    )
    import altair as alt

    title = "Mean probability ratio of the target, by agreement and feature"
    cells = list(dict.fromkeys(frame["cell"]))
    base = alt.Chart().encode(
        x=alt.X("version:N", title=None, sort=list(VERSIONS), axis=alt.Axis(labelAngle=0)),
        y=alt.Y("cell:N", title=None, sort=cells, axis=alt.Axis(labelLimit=320)),
    )
    squares = base.mark_rect(stroke="white").encode(
        color=alt.Color("ratio:Q", title="ratio").scale(
            scheme="redblue", domain=[0, 1], domainMid=0.5
        )
    )
    numbers = base.mark_text().encode(
        text=alt.Text("ratio:Q", format=".2f"),
        color=alt.condition(_PALE, alt.value("#222222"), alt.value("white")),
    )
    models = list(dict.fromkeys(frame["model"]))
    header = alt.Header.from_dict(dict(in_lines(models, _NAME_LINE)), validate=False)
    chart = (
        alt.layer(squares, numbers, data=frame)
        .properties(width=alt.Step(76), height=alt.Step(17))
        .facet(
            column=alt.Column("model:N", title=None, sort=models, header=header),
            title=title,
        )
    )
    return figure_of(chart, name="profile", title=title, frame=frame)


def profile_frame(rows: Sequence[ProfileRow]) -> pl.DataFrame:
    """The numbers of `profile_figure`: a row for each cell of each model.

    Suites about the same are one cell: its ratio is the mean over all comparisons, and it has no
    interval.
    """
    import polars as pl

    known = [
        (
            row.model,
            row.language,
            f"{row.language} {row.agreement}: {row.features}",
            row.version,
            row.n,
            row.ratio,
            row.ratio_low,
            row.ratio_high,
            row.accuracy,
        )
        for row in rows
        if row.ratio is not None
    ]
    weight = pl.col("n") / pl.col("n").sum()
    alone = pl.len() == 1
    frame = frame_of(
        known, model=str, language=str, cell=str, version=str, n=int, ratio=float, low=float,
        high=float, accuracy=float,
    )  # fmt: skip
    return frame.group_by("model", "language", "cell", "version", maintain_order=True).agg(
        pl.col("n").sum(),
        (pl.col("ratio") * weight).sum(),
        pl.when(alone).then(pl.col("low").first()),
        pl.when(alone).then(pl.col("high").first()),
        (pl.col("accuracy") * weight).sum(),
    )
