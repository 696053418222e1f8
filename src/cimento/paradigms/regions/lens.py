"""The logit lens: the margin of a prediction that each layer would give by itself.

The scores are those of the model's head on the states after a layer (nostalgebraist 2020,
"interpreting GPT: the logit lens"), which a run stores with ``--layers``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.io.tables import LAYER, LayerColumn, layer_of
from cimento.paradigms.regions.explanations import margin_bits
from cimento.paradigms.regions.judging import judged_suite, options_of, tokens_of, values_of
from cimento.paradigms.regions.swaps import ExplainSettings, margins_of
from cimento.paradigms.regions.two_by_two import items_by_phenomenon
from cimento.statistics.design import Design
from cimento.statistics.means import mean_of

if TYPE_CHECKING:
    from cimento.kinds.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class LensMean:
    """The mean margin, over items, of what a layer predicts by itself.

    Attributes:
        question: the comparison, as in the explanations table.
        phenomenon: the phenomenon of the items.
        layer: the layer; 0 is the input of the first one.
        margin_bits: the mean margin; None without items.
        low: lower end of its 95% interval over items (clusters, if there are any).
        high: upper end.
        n: number of items.
        reason: why there is no interval.
    """

    question: str
    phenomenon: str
    layer: int
    margin_bits: float | None
    low: float | None
    high: float | None
    n: int
    reason: str = ""


def lens_of(run: Run) -> tuple[LensMean, ...]:
    """The mean margins of each layer; empty if the run has no scores of layers.

    Args:
        run: run of a region suite.
    """
    import polars as pl

    tokens = tokens_of(run)
    names = [name for name in tokens.collect_schema().names() if name.startswith(LAYER)]
    layers = sorted((layer_of(LayerColumn(name)) or 0, name) for name in names)
    if not layers or options_of(run).measure:
        return ()
    try:
        contrasts = margins_of(run, ExplainSettings()).contrasts
    except UsageError:
        return ()
    suite, options = judged_suite(run), options_of(run)
    clusters = suite.clusters() if suite.cluster else None
    means = []
    for layer, name in layers:
        scored = tokens.with_columns(logprob_nats=pl.col(name)).drop(names)
        values = values_of(run, tokens=scored).values
        for contrast in contrasts:
            for phenomenon, items in items_by_phenomenon(suite).items():
                margins = {
                    item: margin
                    for item in items
                    if item in values
                    and (margin := margin_bits(contrast, values[item], unit=options.unit))
                    is not None
                }
                design = Design.of(list(margins), clusters)
                mean = mean_of(list(margins.values()), design, seed=options.seed, draws=0)
                means.append(
                    LensMean(
                        question=contrast.question, phenomenon=phenomenon, layer=layer,
                        margin_bits=mean.value, low=mean.low, high=mean.high, n=len(margins),
                        reason=mean.reason or "",
                    )
                )  # fmt: skip
    return tuple(means)
