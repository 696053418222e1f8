"""What a run shows of people's answers, in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.records.outcomes import KAPPA, NO_INTERVAL, SAME_VERDICT
from cimento.report.formatting import interval, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cimento.records.outcomes import Estimate


def same_verdict_said(model: str, estimates: Sequence[Estimate]) -> str:
    """Say on how many items a model has the verdict of people together.

    Args:
        model: name of the model.
        estimates: of its run.

    Returns:
        A sentence; empty if people's answers to the headline question are unknown.
    """
    questions = {one.question for one in estimates if one.role == "headline"}
    known = {one.statistic: one for one in estimates if one.question in questions}
    same, kappa = known.get(SAME_VERDICT), known.get(KAPPA)
    if same is None or kappa is None or same.value is None:
        return ""
    if kappa.value is None:
        agreed = f"Cohen's kappa is undefined: {kappa.reason}"
    elif kappa.reason == NO_INTERVAL:
        agreed = f"Cohen's kappa {number(kappa.value)}"
    else:
        agreed = f"Cohen's kappa is 0: {kappa.reason}"
    ends = interval(same.low, same.high, absent="")
    share = " ".join(filter(None, (number(same.value), ends)))
    return f"{model} has the same verdict on {same.right} of {same.n} items ({share}; {agreed})."
