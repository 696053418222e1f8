"""Attributions: what each token of the compared sentences contributes to a margin.

The margin is a sum of surprisals of regions, so the contributions of a token to the score of a
region, times the factor of the region in the margin, add up over all sentences: to the margin less
the margin of the baseline, if gradients are integrated (Sundararajan et al. 2017,
arXiv:1703.01365).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cimento.engine.requests import Answers, Attribute, Request
from cimento.errors import UsageError
from cimento.io.explained import ATTRIBUTIONS, GRADIENTS
from cimento.io.tables import NO_LEFT_CONTEXT
from cimento.measures import BITS_PER_NAT
from cimento.models.questions import ERROR_NATS, ERROR_SHARE
from cimento.paradigms.regions.explanations import with_phenomena
from cimento.paradigms.regions.interchanges import texts_of, wanted_of
from cimento.paradigms.regions.judging import judged_suite, options_of
from cimento.report import Contributions
from cimento.report.items import strips_at
from cimento.report.strips import StripToken
from cimento.statistics.design import Design
from cimento.statistics.means import mean_of
from cimento.statistics.multiple import holm
from cimento.suites.stimuli import NO_CONTEXT, Context, Span

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    import polars as pl

    from cimento.kinds.run import Run
    from cimento.paradigms.regions.swaps import Contrasts, ExplainSettings, SwapContrast
    from cimento.suites import Suite

RULES: Mapping[str, str] = {
    "integrated": "integrated gradients",
    "gradient": "gradient x input",
}
"""The rules of attribution, in words."""

EVERYTHING = "all words"


NOTHING = "no token before what is measured can contribute"


@dataclass(frozen=True, slots=True)
class Term:
    """What a request for contributions is about: a part of the margin.

    Attributes:
        contrast: number of the contrast.
        item: id of the item.
        condition: the condition.
        weight: factor of the surprisal of the measured regions in the margin.
    """

    contrast: int
    item: str
    condition: str
    weight: float


@dataclass(slots=True)
class AttributionRequests:
    """The requests of attributions, each once, with what they are about.

    Attributes:
        asked: the requests.
        terms: number of the request, and what it is about.
        spans: the spans of the regions of each item and condition.
    """

    asked: dict[Request, int] = field(default_factory=dict)
    terms: list[tuple[int, Term]] = field(default_factory=list)
    spans: dict[tuple[str, str], tuple[Span, ...]] = field(default_factory=dict)

    def places(self) -> Mapping[int, tuple[str, str]]:
        """The item and the condition of each request."""
        return {number: (term.item, term.condition) for number, term in self.terms}


def attributed(
    run: Run,
    compared: Contrasts,
    settings: ExplainSettings,
    *,
    context: Context = NO_CONTEXT,
    by_region: bool = False,
) -> AttributionRequests:
    """The requests of attributions.

    Args:
        run: run of a region suite.
        compared: the comparisons.
        settings: the settings, of which items, rule and baseline count.
        context: what comes before the texts.
        by_region: whether a token's score depends on its region.

    Raises:
        UsageError: regions are not summed, or the suite lacks the column with the contexts.
    """
    suite = judged_suite(run)
    if suite.metric != "sum":
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen=f"the value of a region is the {suite.metric} of its tokens, and contributions are"
            " to sums",
            todo="Judge the run with --metric=sum.",
        )
    context.check(suite)
    attributed = AttributionRequests()
    texts = texts_of(suite, context, by_region=by_region, items=settings.items)
    chosen = [item for item in suite.items if (item.id, item.conditions[0].name) in texts]
    for number, contrast in enumerate(compared.contrasts):
        factors: dict[tuple[str, float], set[int | str]] = {}
        for reference, factor in contrast.weights.items():
            factors.setdefault((reference.condition, factor), set()).add(reference.region)
        for item in chosen:
            if not {one.name for one in item.conditions}.issuperset(contrast.conditions):
                continue
            for (condition, weight), regions in factors.items():
                score, spans = texts[item.id, condition]
                text = score._replace(wanted=wanted_of(spans, frozenset(regions)))
                request = Attribute(text=text, rule=settings.rule, baseline=settings.baseline)
                place = attributed.asked.setdefault(request, len(attributed.asked))
                attributed.terms.append((place, Term(number, item.id, condition, weight)))
                attributed.spans[item.id, condition] = spans
    return attributed


def attributions_table(
    run: Run,
    compared: Contrasts,
    asked: AttributionRequests,
    answers: Answers,
    settings: ExplainSettings,
) -> pl.DataFrame:
    """The attributions table: a row for each item, comparison, condition and token.

    Args:
        run: run of a region suite.
        compared: the comparisons.
        asked: the requests.
        answers: the answers to them.
        settings: the settings, of which rule and baseline count.
    """
    import polars as pl

    suite, unit = judged_suite(run), options_of(run).unit
    by_request: dict[int, list[dict[str, object]]] = {}
    for row in answers.table(GRADIENTS.name).iter_rows(named=True):
        by_request.setdefault(row["request"], []).append(row)
    groups: dict[tuple[int, str], list[tuple[int, Term]]] = {}
    for number, term in asked.terms:
        groups.setdefault((term.contrast, term.item), []).append((number, term))
    rows = []
    drops = options_of(run).unscored_first in ("drop", "zero")
    for (number, item), terms in groups.items():
        contrast = compared.contrasts[number]
        # Every request that has contributions has a row, in which its scores stand.
        first = [(by_request[request][0], term) for request, term in terms if request in by_request]
        margin, start = _totals(contrast, first, unit=unit)
        unscored = any(row["unscored"] for row, _ in first) and not drops
        reason = NO_LEFT_CONTEXT if unscored else NOTHING if len(first) < len(terms) else ""
        totals = (None, None) if reason else (margin, start)
        for request, term in terms:
            gap = None if reason else _gap(by_request.get(request, ()), term)
            for row in by_request.get(request, ()):
                region = _region(asked.spans[item, term.condition], int(str(row["start"])))
                bits = -term.weight * float(str(row["contribution_nats"])) * BITS_PER_NAT
                rows.append(
                    (suite.name, item, contrast.question, settings.rule, settings.baseline,
                     term.condition, region, suite.region_names[region - 1], row["position"],
                     row["start"], row["end"], row["token"], None if reason else bits, *totals, gap,
                     row["steps"], reason)
                )  # fmt: skip
    return _summed(pl.DataFrame(rows, schema=ATTRIBUTIONS.polars(), orient="row"))


def _summed(table: pl.DataFrame) -> pl.DataFrame:
    """The table with one row for a token of a sentence that has several factors in the margin."""
    import polars as pl

    added = ("contribution_bits", "gap_bits", "steps")
    keys = [name for name in table.columns if name not in added]
    known = pl.when(pl.col("reason") == "").then(pl.col("contribution_bits"))
    gap = pl.when(pl.col("gap_bits").is_not_null().all()).then(pl.col("gap_bits").sum())
    return (
        table.group_by(keys, maintain_order=True)
        .agg(pl.col("contribution_bits").sum(), gap, pl.col("steps").max())
        .with_columns(contribution_bits=known)
        .select(table.columns)
    )


def _gap(rows: Sequence[Mapping[str, object]], term: Term) -> float | None:
    """By how much the contributions in a sentence miss their sum, in bits; None if it is unknown.

    It is never negative, so that what two sentences miss does not cancel out.
    """
    if not rows or rows[0]["baseline_nats"] is None:
        return None
    scores = [float(str(rows[0][name])) for name in ("logprob_nats", "baseline_nats")]
    nats = math.fsum(float(str(row["contribution_nats"])) for row in rows)
    return abs(term.weight * (nats - scores[0] + scores[1])) * BITS_PER_NAT


def _totals(
    contrast: SwapContrast, scores: Sequence[tuple[Mapping[str, object], Term]], *, unit: str
) -> tuple[float, float | None]:
    """The margin of a comparison in bits, and that of the baseline if it is known."""
    constant = contrast.constant * (1.0 if unit == "bits" else BITS_PER_NAT)
    totals: list[float | None] = []
    for name in ("logprob_nats", "baseline_nats"):
        values = [(row[name], term.weight) for row, term in scores]
        if any(value is None for value, _ in values):
            totals.append(None)
        else:
            nats = sum(-weight * float(str(value)) for value, weight in values)
            totals.append(nats * BITS_PER_NAT + constant)
    margin, start = totals
    return margin or 0.0, start


def _region(spans: Sequence[Span], start: int) -> int:
    """The number of the last region that begins at or before a character and is not empty."""
    filled = [(span[0], number) for number, span in enumerate(spans, start=1) if span[0] < span[1]]
    place = bisect_right([begin for begin, _ in filled], start)
    return filled[max(0, place - 1)][1]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributionMean:
    """The mean contribution of a region to the margin, over items.

    Attributes:
        question: the comparison, as in the attributions table.
        phenomenon: the phenomenon of the items.
        rule: gradient or integrated.
        baseline: the embedding from which contributions count.
        region: number of the region; 0 for all together.
        region_name: name of the region.
        contribution_bits: the mean over items; None without items.
        low: lower end of its 95% interval over items (clusters, if there are any).
        high: upper end of the interval.
        p: p-value of no contribution; None without a test.
        p_holm: p-value, corrected for all regions of the table.
        method: method of interval and test.
        n: number of items: all of the comparison and phenomenon, so that the means of regions add
            up. In an item in which no word of a region can have a contribution, it is 0.
        margin_bits: the mean margin of the items.
        baseline_bits: the mean margin of the baseline; None for gradients alone.
        error_bits: largest amount, over sentences, by which the contributions in one miss the
            difference between its score and that of its baseline; None for gradients alone.
        reason: why a value is None.
        unsettled: items with a sentence in which this amount is larger than the integral is
            promised to be right to.
        moved: the sum of the sizes of all contributions of words, divided by that of the margins;
            None for single regions, and where all margins are 0.
    """

    question: str
    phenomenon: str
    rule: str
    baseline: str
    region: int
    region_name: str
    contribution_bits: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None = None
    method: str = ""
    n: int = 0
    margin_bits: float | None = None
    baseline_bits: float | None = None
    error_bits: float | None = None
    reason: str = ""
    unsettled: tuple[str, ...] = ()
    moved: float | None = None

    def plain(self) -> dict[str, object]:
        """The mean as a JSON object."""
        return asdict(self)


_KEYS = ["question", "phenomenon", "rule", "baseline"]


def contribution_means(
    suite: Suite, table: pl.DataFrame, *, seed: int = 0
) -> tuple[ContributionMean, ...]:
    """The mean contributions of an attributions table, by comparison, phenomenon and region.

    P-values are corrected by Holm's method over all regions of a rule together.

    Args:
        suite: the suite.
        table: an attributions table.
        seed: seed of the bootstrap.
    """
    import polars as pl

    clusters = suite.clusters() if suite.cluster else None
    known = with_phenomena(table.filter(reason=""), suite)
    everything = known.with_columns(
        region=pl.lit(0, pl.Int32), region_name=pl.lit(EVERYTHING, pl.String)
    )
    places = [*_KEYS, "region", "region_name"]
    all_items = {
        key: rows.unique("item", maintain_order=True).select("item", "margin_bits", "baseline_bits")
        for key, rows in known.group_by(_KEYS, maintain_order=True)
    }
    means: list[ContributionMean] = []
    for rule in known["rule"].unique(maintain_order=True).to_list():
        parts = []
        for key, rows in (
            pl.concat([everything, known]).filter(rule=rule).group_by(places, maintain_order=True)
        ):
            place = dict(zip(places, key, strict=True))
            items = all_items[key[: len(_KEYS)]]
            parts.append(_contribution_mean(place, rows, items, clusters, seed=seed))
        corrected = iter(holm([mean.p for mean in parts if mean.region]))
        means += [replace(m, p_holm=next(corrected)) if m.region else m for m in parts]
    means.sort(key=lambda m: ([*RULES].index(m.rule), m.question, m.phenomenon, m.region))
    return tuple(means)


def _contribution_mean(
    place: Mapping[str, Any],
    rows: pl.DataFrame,
    items: pl.DataFrame,
    clusters: Mapping[str, Hashable] | None,
    *,
    seed: int,
) -> ContributionMean:
    """The mean contribution, over items, of the tokens of one region or of all."""
    import polars as pl

    # A region without a row has nothing before what is measured: its contribution is 0.
    sums = rows.group_by("item", maintain_order=True).agg(pl.col("contribution_bits").sum())
    items = items.join(sums, on="item", how="left", maintain_order="left")
    items = items.with_columns(pl.col("contribution_bits").fill_null(0.0))
    design = Design.of(items["item"].to_list(), clusters)
    mean = mean_of(items["contribution_bits"].to_numpy(), design, seed=seed)
    largest: object = None
    unsettled: tuple[str, ...] = ()
    moved: float | None = None
    if not place["region"]:
        largest, unsettled = rows["gap_bits"].max(), _unsettled(rows)
        # The sizes of all contributions as a proportion of those of the margins.
        margins = float(items["margin_bits"].abs().sum())
        moved = float(rows["contribution_bits"].abs().sum()) / margins if margins else None
    return ContributionMean(
        **place,
        contribution_bits=mean.value,
        low=mean.low,
        high=mean.high,
        p=mean.p,
        method=mean.method,
        n=len(items),
        margin_bits=_mean(items["margin_bits"]),
        baseline_bits=_mean(items["baseline_bits"]),
        error_bits=None if largest is None else float(str(largest)),
        reason=mean.reason or "",
        unsettled=unsettled,
        moved=moved,
    )


def _unsettled(rows: pl.DataFrame) -> tuple[str, ...]:
    """The items with a sentence whose integrated contributions miss their sum."""
    import polars as pl

    # How the terms of a sentence add up is not in the table: this is the largest tolerance.
    moved = pl.col("contribution_bits").abs().sum()
    allowed = (moved * ERROR_SHARE).clip(ERROR_NATS * BITS_PER_NAT)
    missed = (pl.col("gap_bits").first() > allowed).fill_null(value=False)
    sentences = rows.group_by("item", "condition", maintain_order=True).agg(missed.alias("missed"))
    return tuple(sentences.filter("missed")["item"].unique(maintain_order=True))


def _mean(values: pl.Series) -> float | None:
    mean = values.mean()
    return None if mean is None else float(str(mean))


def contributions_of(run: Run, table: pl.DataFrame) -> tuple[ContributionMean, ...]:
    """The mean contributions of an attributions table of a run."""
    return contribution_means(judged_suite(run), table, seed=options_of(run).seed)


def item_contributions(run: Run, table: pl.DataFrame) -> dict[str, tuple[Contributions, ...]]:
    """The contributions of the tokens of each item, as strips.

    Args:
        run: the run.
        table: its attributions table.
    """
    attributed: dict[str, tuple[Contributions, ...]] = {}
    requests = run.table("requests")
    known = table.filter(reason="")
    keys = ["question", "rule", "baseline"]
    for (question, rule, baseline), rows in known.group_by(keys, maintain_order=True):
        tokens: dict[tuple[str, str], list[StripToken]] = {}
        columns = ("item", "condition", "token", "start", "end", "contribution_bits")
        for item, condition, text, start, end, bits in rows.select(columns).iter_rows():
            tokens.setdefault((item, condition), []).append(StripToken(text, start, end, bits))
        some = requests.join(rows.select("item", "condition").unique(), on=["item", "condition"],
                             how="semi", maintain_order="left")  # fmt: skip
        totals = dict(rows.select("item", "margin_bits").iter_rows())
        for item, strips in strips_at(some, tokens).items():
            label = f"{question}, {RULES[str(rule)]}"
            if rule == "integrated":
                label += f" from the {baseline} embedding"
            made = Contributions(label=label, margin_bits=totals[item], strips=strips)
            attributed[item] = (*attributed.get(item, ()), made)
    return attributed
