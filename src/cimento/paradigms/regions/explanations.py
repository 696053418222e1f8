"""Explanations: the effect of every interchange on the margin of a prediction, and their averages.

The effect is the margin less the margin with the states of the source in their place, in bits: what
the model would lose of its prediction. Exchanging everything gives the full effect. Effects of
different places are not parts of a sum: what one region carries after a layer, another carries
after the next.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from cimento.engine.requests import Answers
from cimento.io.explained import EXPLANATIONS, PATCHES
from cimento.io.tables import NO_LEFT_CONTEXT, REQUESTS, TOKENS
from cimento.io.values import NoValue, Value
from cimento.measures import BITS_PER_NAT
from cimento.paradigms.regions.chance import NearTies, near_tie_threshold
from cimento.paradigms.regions.interchanges import Interchanges, PatchPlace
from cimento.paradigms.regions.judging import judged_suite, options_of, values_of
from cimento.paradigms.regions.swaps import Contrasts, ExplainSettings, SwapContrast
from cimento.paradigms.regions.two_by_two import items_by_phenomenon, summed
from cimento.statistics.design import Design
from cimento.statistics.means import STUDENTIZED_DRAWS, mean_of
from cimento.statistics.multiple import holm
from cimento.suites.stimuli import stimulus_text

if TYPE_CHECKING:
    import polars as pl

    from cimento.kinds.run import Run
    from cimento.suites import Item, Suite

PARTS: Mapping[str, str] = {
    "residual": "residual stream",
    "attention": "attention output",
    "mlp": "MLP output",
    "heads": "single heads",
}
"""The parts of a layer, in words."""
WITHIN_ERROR = "no item's effect exceeds the error of a margin"
"""Why a cell has no test, before the error and its origin."""

_Values: TypeAlias = "Mapping[str, Mapping[str, tuple[Value, ...]]]"
_Place: TypeAlias = tuple[int, str, int, "int | None", "int | None"]
"""Number of the contrast, item, region, layer, head."""

NOTHING_EXCHANGED = "nothing that is measured comes after the tokens of this region"
NOT_EXACT = "the two sentences have other numbers of tokens (--align exact)"
_ALIGNMENTS = ("", "exact", "shifted", "last token")
"""From the most to the least exact."""


def explanations_table(
    run: Run, compared: Contrasts, asked: Interchanges, answers: Answers, settings: ExplainSettings
) -> pl.DataFrame:
    """The explanations table: one row for each item, comparison, region, layer and head.

    Args:
        run: run of a region suite.
        compared: the comparisons.
        asked: the requests.
        answers: the answers to them.
        settings: the settings.

    Raises:
        TableError: a table cannot be read.
    """
    suite, contrasts = compared.suite, compared.contrasts
    # The values of every sentence as it is.
    scored = [(number, *key, asked.spans[key]) for key, number in asked.scores.items()]
    known = _values(suite, answers.tables[TOKENS.name].collect(), scored, run)
    by_id = {item.id: item for item in suite.items}
    cells = _patched(suite, asked, answers, run)
    # A masked model reads a mask for some of the words.
    is_word = settings.part == RESIDUAL and run.model_kind == "causal"
    sums: dict[_Place, list[tuple[float | None, str, str]]] = {}
    inexact = set[tuple[int, str]]()
    for number, place in asked.patches:
        contrast, base = contrasts[place.contrast], known[place.item][place.base]
        same = is_word and same_words(by_id[place.item], place, contrast.swaps[place.base])
        for layer, head, alignment, values in cells.get(number, [(None, None, "", None)]):
            if alignment in ("shifted", "last token"):
                inexact.add((place.contrast, place.item))
            unchanged = same and (layer, alignment) == (0, "exact")
            effect, reason = _effect(contrast, place.base, base, base if unchanged else values)
            cell = (place.contrast, place.item, place.region, layer, head)
            sums.setdefault(cell, []).append((effect, alignment, reason))
    return _rows(compared, run, settings, known, sums, inexact)


def _rows(
    compared: Contrasts,
    run: Run,
    settings: ExplainSettings,
    known: _Values,
    sums: Mapping[_Place, Sequence[tuple[float | None, str, str]]],
    inexact: Collection[tuple[int, str]],
) -> pl.DataFrame:
    """The table of the effects of each place, which are the sums over what was exchanged there."""
    import polars as pl

    suite, by_id = compared.suite, {item.id: item for item in compared.suite.items}
    rows = []
    for (number, item, region, layer, head), parts in sums.items():
        contrast = compared.contrasts[number]
        margin, full = _margins(contrast, known[item], unit=options_of(run).unit)
        reason = next((reason for *_, reason in parts if reason), "")
        if settings.align == "exact" and (number, item) in inexact:
            reason = NOT_EXACT
        effect = None if reason else sum(effect or 0.0 for effect, *_ in parts)
        alignment = max((name for _, name, _ in parts), key=_ALIGNMENTS.index)
        rows.append(
            (suite.name, item, contrast.question, contrast.named, settings.part, region,
             suite.region_names[region - 1], layer, head, alignment, margin,
             effect, full, reason, *_source(compared, number, by_id[item]))
        )  # fmt: skip
    schema = EXPLANATIONS.polars()
    return pl.DataFrame(rows, schema=schema, orient="row")


def same_words(item: Item, place: PatchPlace, source: str) -> bool:
    """Whether a region has the same words in two conditions.

    Before the first layer, a state is a word and its place: where both are the same, exchanging it
    changes nothing, by construction.
    """
    regions = (item.condition(name).regions[place.region - 1] for name in (place.base, source))
    first, second = regions
    return (first.text, first.glued) == (second.text, second.glued)


def _source(compared: Contrasts, number: int, item: Item) -> tuple[str, str | None]:
    """The first sentence that states come from, and the item that its controller comes from."""
    source = next(iter(compared.contrasts[number].swaps.values()))
    text = stimulus_text(item.condition(source), rule=compared.suite.join)
    return text, compared.donor(number, item.id) or None


def _values(
    suite: Suite,
    tokens: pl.DataFrame,
    places: Sequence[tuple[int, str, str, Sequence[tuple[int, int]]]],
    run: Run,
) -> _Values:
    """The values of regions in nats.

    Args:
        suite: the suite.
        tokens: tokens of requests.
        places: number of a request, item, condition, and the spans of the regions.
        run: the run, by whose rules they are combined.
    """
    import polars as pl

    rows = [
        (number, suite.name, item, condition, region, "", "", start, end, True)
        for number, item, condition, spans in places
        for region, (start, end) in enumerate(spans, start=1)
    ]
    requests = pl.DataFrame(rows, schema=REQUESTS.polars(), orient="row")
    return values_of(run, tokens=tokens, requests=requests).values


_Cells: TypeAlias = "dict[int, list[tuple[int | None, int | None, str, tuple[Value, ...] | None]]]"


def _patched(suite: Suite, asked: Interchanges, answers: Answers, run: Run) -> _Cells:
    """Layer, head, alignment and the values of the base's regions, by number of the request."""
    import polars as pl

    if PATCHES.name not in answers.tables:
        return {}
    keys = ["request", "layer", "head", "alignment"]
    table = answers.table(PATCHES.name)
    cells = table.select(keys).unique(maintain_order=True).with_row_index("cell")
    tokens = table.join(cells, on=keys, nulls_equal=True, maintain_order="left").select(
        pl.col("cell").cast(pl.Int32).alias("request"),
        "position",
        pl.lit("").alias("token"),
        pl.lit(None, pl.Int64).alias("token_id"),
        "start",
        "end",
        "logprob_nats",
        pl.when(pl.col("logprob_nats").is_null())
        .then(pl.lit(NO_LEFT_CONTEXT))
        .alias("unscored_reason"),
    )
    about = dict(asked.patches)
    listed = cells.select("cell", *keys).rows()
    places = []
    for cell, request, *_ in listed:
        item, base = about[request].item, about[request].base
        places.append((cell, str(cell), base, asked.spans[item, base]))
    values = _values(suite, tokens, places, run)
    by_request: _Cells = {}
    for cell, request, layer, head, alignment in listed:
        cell_values = values[str(cell)][about[request].base]
        by_request.setdefault(request, []).append((layer, head, alignment, cell_values))
    return by_request


def _at(values: Sequence[Value], region: int | str) -> Value:
    """The value of a region, or the sum of all."""
    return summed(values, range(1, len(values) + 1) if region == "*" else [int(region)])


def _effect(
    contrast: SwapContrast, base: str, plain: Sequence[Value], changed: Sequence[Value] | None
) -> tuple[float | None, str]:
    """The effect in bits of other values of one condition, or why there is none."""
    if changed is None:
        return None, NOTHING_EXCHANGED
    effect = 0.0
    for reference, factor in contrast.weights.items():
        if reference.condition == base:
            before, after = (_at(values, reference.region) for values in (plain, changed))
            if isinstance(before, NoValue):
                return None, before.reason
            if isinstance(after, NoValue):
                return None, after.reason
            effect += factor * (before - after)
    return effect * BITS_PER_NAT, ""


def _margins(
    contrast: SwapContrast, values: Mapping[str, tuple[Value, ...]], *, unit: str
) -> tuple[float | None, float | None]:
    """The margin and the effect of exchanging everything, in bits."""
    margin, full = 0.0, 0.0
    for reference, factor in contrast.weights.items():
        value = _at(values.get(reference.condition, ()) or (NoValue(""),) * 99, reference.region)
        source = contrast.swaps.get(reference.condition, reference.condition)
        other = _at(values.get(source, ()) or (NoValue(""),) * 99, reference.region)
        if isinstance(value, NoValue) or isinstance(other, NoValue):
            return None, None
        margin += factor * value
        full += factor * (value - other)
    constant = contrast.constant * (1.0 if unit == "bits" else BITS_PER_NAT)
    return margin * BITS_PER_NAT + constant, full * BITS_PER_NAT


def margin_bits(
    contrast: SwapContrast, values: Mapping[str, tuple[Value, ...]], *, unit: str
) -> float | None:
    """The margin of a comparison; None if a region has no value.

    Args:
        contrast: the comparison.
        values: values of the regions of each condition, in nats.
        unit: the unit of the numbers in the formula.
    """
    return _margins(replace(contrast, swaps={}), values, unit=unit)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class InterchangeMean:
    """The mean effect of the interchange of one region at one layer (or head), over items.

    Attributes:
        question: the comparison, as in the explanations table.
        phenomenon: the phenomenon of the items.
        part: the part of a layer.
        region: number of the region; 0 for everything at once, which is the full effect.
        region_name: name of the region.
        layer: the layer; None for the full effect.
        head: the head; None unless single heads are exchanged.
        effect_bits: the mean effect; None without items.
        low: lower end of its 95% interval over items (clusters, if there are any); None without
            one.
        high: upper end of the interval.
        p: p-value of no effect; None without a test.
        p_holm: p-value, corrected for all cells of the table.
        method: method of interval and test.
        n: number of items.
        n_inexact: number of items whose tokens were not paired one by one at the same
            positions.
        full_bits: the mean over the same items of the effect of exchanging everything.
        share: `effect_bits` / `full_bits`; None where the full effect is not surely there.
        reason: why a value is None.
    """

    question: str
    phenomenon: str
    part: str
    region: int
    region_name: str
    layer: int | None
    head: int | None
    effect_bits: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None = None
    method: str = ""
    n: int = 0
    n_inexact: int = 0
    full_bits: float | None = None
    share: float | None = None
    reason: str = ""

    def plain(self) -> dict[str, object]:
        """The mean as a JSON object."""
        return asdict(self)


EVERYTHING = "everything"
RESIDUAL = "residual"
SAME_WORDS = "zero by construction: before the first layer, the same words are the same states"
NO_FULL = "the full effect does not differ significantly from 0"
MOST_DRAWN = 200
"""Number of cells above which intervals are by Student's t, for bootstraps of all take minutes."""


def cell_means(
    suite: Suite, table: pl.DataFrame, *, seed: int = 0, near: NearTies | None = None
) -> tuple[InterchangeMean, ...]:
    """The mean effects of an explanations table, by comparison, phenomenon and part.

    P-values are corrected by Holm's method over all cells of a part together.

    Args:
        suite: the suite.
        table: an explanations table.
        seed: seed of the bootstrap.
        near: error of the number format; cells in which no item's effect exceeds it are not tested,
            since rounding may be the same in all items.
    """
    import polars as pl

    clusters = suite.clusters() if suite.cluster else None
    known = table.filter(pl.col("layer").is_not_null() & pl.col("effect_bits").is_not_null())
    known = with_phenomena(known, suite)
    all_means: list[InterchangeMean] = []
    whole = known.unique(["question", "phenomenon", "part", "item"], maintain_order=True)
    whole = whole.with_columns(
        region=pl.lit(0, pl.Int32), region_name=pl.lit(EVERYTHING), layer=pl.lit(None, pl.Int32),
        head=pl.lit(None, pl.Int32), alignment=pl.lit("exact"), effect_bits=pl.col("full_bits"),
    )  # fmt: skip
    for part in known["part"].unique(maintain_order=True).to_list():
        rows = known.filter(part=part)
        draws = STUDENTIZED_DRAWS if rows.select(_CELL).n_unique() <= MOST_DRAWN else 0
        every = whole.filter(part=part)
        full = _means(every, clusters, seed=seed, draws=STUDENTIZED_DRAWS)
        # The interval of the full effect that is printed decides whether anything has a share.
        sure = {
            (mean.question, mean.phenomenon)
            for mean in full
            if mean.low is not None and mean.high is not None and mean.low * mean.high > 0
        }
        means = _means(rows, clusters, seed=seed, draws=draws, near=near)
        corrected = holm([mean.p for mean in means])
        all_means += [_with_share(mean, sure) for mean in full]
        means = [_with_share(mean, sure) for mean in means]
        all_means += [replace(mean, p_holm=p) for mean, p in zip(means, corrected, strict=True)]
    all_means.sort(key=_order)
    return tuple(all_means)


def with_phenomena(table: pl.DataFrame, suite: Suite) -> pl.DataFrame:
    """A table of items with the column ``phenomenon``, empty where an item has none."""
    import polars as pl

    phenomena = {item: name for name, items in items_by_phenomenon(suite).items() for item in items}
    return table.with_columns(
        phenomenon=pl.col("item").replace_strict(phenomena, default="", return_dtype=pl.String)
    )


def _order(mean: InterchangeMean) -> tuple[object, ...]:
    layer, head = (-1 if number is None else number for number in (mean.layer, mean.head))
    return [*PARTS].index(mean.part), mean.question, mean.phenomenon, mean.region, layer, head


_CELL = ["question", "phenomenon", "part", "region", "region_name", "layer", "head"]
"""The columns that tell cells apart."""


def _means(
    table: pl.DataFrame,
    clusters: Mapping[str, Hashable] | None,
    *,
    seed: int,
    draws: int,
    near: NearTies | None = None,
) -> list[InterchangeMean]:
    """The mean over items of each cell of a table; see `cell_means`."""
    means = []
    for key, rows in table.group_by(_CELL, maintain_order=True):
        place: dict[str, Any] = dict(zip(_CELL, key, strict=True))
        design = Design.of(rows["item"].to_list(), clusters)
        mean = mean_of(rows["effect_bits"].to_numpy(), design, seed=seed, draws=draws)
        full = mean_of(rows["full_bits"].to_numpy(), design, seed=seed, draws=0)
        if near and mean.p is not None and rows["effect_bits"].abs().max() <= near.bits:  # type: ignore[operator]  # numbers
            mean = replace(mean, p=None, reason=within_error(near.bits, near.reason))
        if place["layer"] == 0 and (rows["effect_bits"] == 0).all():
            mean = replace(mean, reason=SAME_WORDS)
        cell = InterchangeMean(
            **place,
            effect_bits=mean.value,
            low=mean.low,
            high=mean.high,
            p=mean.p,
            method=mean.method,
            n=mean.n,
            n_inexact=int((rows["alignment"] != "exact").sum()),
            full_bits=full.value,
            reason=mean.reason or "",
        )
        means.append(cell)
    return means


def _with_share(mean: InterchangeMean, sure: Collection[tuple[str, str]]) -> InterchangeMean:
    """A mean with its proportion of the full effect, or why there is none."""
    if (mean.question, mean.phenomenon) not in sure:
        return replace(mean, reason=mean.reason or NO_FULL)
    if not mean.full_bits or mean.effect_bits is None:
        return mean
    return replace(mean, share=mean.effect_bits / mean.full_bits)


def means_of(run: Run, table: pl.DataFrame) -> tuple[InterchangeMean, ...]:
    """The mean effects of an explanations table of a run."""
    options = options_of(run)
    near = near_tie_threshold(run.manifest, options.near_tie_bits)
    return cell_means(judged_suite(run), table, seed=options.seed, near=near)


def item_remarks(table: pl.DataFrame, item: str) -> tuple[tuple[str, str], ...]:
    """What is shown of an explanation beside an item: the effects of each region by layer.

    Args:
        table: explanations table of a run.
        item: id of the item.
    """
    import polars as pl

    of_item = table.filter(pl.col("item") == item, pl.col("part") != "heads")
    of_item = of_item.filter(pl.col("effect_bits").is_not_null())
    remarks = []
    keys = ["question", "part", "margin_bits"]
    for (question, part, margin), rows in of_item.group_by(keys, maintain_order=True):
        regions = rows.sort("layer").group_by("region", "region_name", maintain_order=True)
        lines = [
            # Two decimals, without the minus sign of a rounded zero.
            f"{name}: {' '.join(f'{bits:z.2f}' for bits in some['effect_bits'].to_list())}"
            for (_, name), some in sorted(regions, key=lambda entry: entry[0][0])
        ]
        label = f"{question}, {PARTS[str(part)]}"
        remarks.append((label, f"bits of {margin:.2f}, by layer. {'; '.join(lines)}"))
    sources = of_item.select("question", "source_text", "donor").unique(maintain_order=True)
    for question, text, donor in sources.drop_nulls("source_text").iter_rows():
        whole = text if donor is None else f"{text} (with the controller of item {donor})"
        remarks.append((f"{question}, states from", whole))
    return tuple(remarks)


def within_error(bits: float, reason: str) -> str:
    """Why the mean effect of a cell is shown with its interval, and without a test.

    Args:
        bits: error of the number format.
        reason: origin of it.
    """
    return f"{WITHIN_ERROR}, {bits:g} bits ({reason})"
