"""Yes or no from a measure: how well a threshold divides what authors call acceptable or not.

The best threshold of nine parts answers for the tenth, as for the baselines of CoLA (Warstadt et
al. 2019, doi:10.1162/tacl_a_00290); the sentences of a cluster or pair stay together.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval

THRESHOLD_CHOSEN = "its threshold was chosen on other sentences: no interval"
NO_LABELS = "no sentence is labelled acceptable or unacceptable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """Values against labels.

    Attributes:
        n: sentences with a label and a value.
        acceptable: how many of them are labelled acceptable.
        auc: how often an acceptable one is better than an unacceptable one, ties as half.
        auc_interval: of that, 95 %, over clusters or pairs; MCC has none: its threshold was chosen.
        mcc: Matthews's correlation of labels and answers to what was held out.
        mcc_in_sample: of the best threshold for all, which flatters.
        folds: how many parts the sentences were divided into.
        reasons: for each of the fields that is None, why.
    """

    n: int
    acceptable: int
    auc: float | None
    auc_interval: Interval
    mcc: float | None
    mcc_in_sample: float | None
    folds: int
    reasons: dict[str, str]


def divide(
    values: Sequence[float],
    acceptable: Sequence[bool],
    clusters: Sequence[Hashable],
    *,
    seed: int,
    folds: int = 10,
) -> Binary:
    """AUC, and the MCC of a threshold that was chosen on other sentences.

    Args:
        values: of which the acceptable sentences should have the higher.
        acceptable: whether each sentence is labelled acceptable.
        clusters: what each sentence belongs to.
        seed: of the division into parts.
        folds: how many parts.

    Raises:
        UsageError: fewer than two folds, or columns of different lengths.
    """
    from cimento.statistics.classification import auc, auc_interval, threshold_mcc

    if not values:
        reasons = dict.fromkeys(("auc", "mcc", "mcc_in_sample"), NO_LABELS)
        return Binary(
            n=0, acceptable=0, auc=None,
            auc_interval=Interval(None, None, None, NO_LABELS), mcc=None, mcc_in_sample=None,
            folds=0, reasons=reasons,
        )  # fmt: skip
    design = Design(tuple(range(len(values))), tuple(clusters))
    area = auc(values, acceptable)
    found = threshold_mcc(values, acceptable, seed=seed, folds=folds, clusters=clusters)
    reasons = {}
    if area.value is None:
        reasons["auc"] = area.reason or ""
    if found.mcc is None:
        reasons["mcc"] = found.reason or ""
    if found.mcc_in_sample is None:
        reasons["mcc_in_sample"] = found.reason or ""
    return Binary(
        n=len(values),
        acceptable=sum(acceptable),
        auc=area.value,
        auc_interval=auc_interval(values, acceptable, design),
        mcc=found.mcc,
        mcc_in_sample=found.mcc_in_sample,
        folds=len(found.thresholds),
        reasons=reasons,
    )
