"""The text of `annotate agreement` on other people, choices, effects of conditions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from cimento.io.inline_markup import columns
from cimento.judgments import BOTH, NONE, Judgment
from cimento.judgments.effects import ConditionModel, ConditionShare, SentenceShare, sentence_shares
from cimento.judgments.summaries import ItemClusters, QuestionSummary
from cimento.report.formatting import interval, number, p_short
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, wilson, z_quantile

_EFFECT = "effect on log-odds"
_BY_CLUSTER = (
    "With cluster in the formula, conditions may differ more in one cluster than in another."
)


def targets_text(summaries: Sequence[QuestionSummary], clusters: ItemClusters) -> str:
    """What the intervals of alpha are about, and those for other people."""
    together = (
        f" ({Design(tuple(clusters), tuple(clusters.values())).described})" if clusters else ""
    )
    about = f"other items{together}, same people"
    lines = [f"The interval of alpha above is for {about}. For other people too:"]
    lines += [f"  {summary.question}: {_ends(summary.alpha_others)}" for summary in summaries]
    return "\n".join(lines)


def shares_text(shares: Sequence[ConditionShare]) -> str:
    """The proportions of choices or of answers yes, with both intervals; empty without any."""
    if not shares:
        return ""
    header = ("question", "condition", "n", "share", "95%, these people", "95%, other people")
    rows = [
        (one.question, one.condition or "yes", str(one.n), number(one.share), _ends(one.these),
         _ends(one.others))
        for one in shares
    ]  # fmt: skip
    return columns([header, *rows])


def unknown_sides(judgments: Sequence[Judgment]) -> list[SentenceShare]:
    """How often each sentence was chosen, where it is not known which is which."""
    shares = sentence_shares([one for one in judgments if not one.condition])
    ties = (BOTH, NONE)
    return [] if all(one.sentence in ties for one in shares) else shares


def sentences_text(shares: Sequence[SentenceShare]) -> str:
    """How often each sentence was chosen, as a table; empty without any."""
    if not shares:
        return ""
    header = ("item", "sentence", "chosen", "proportion", "95%, other people")
    rows = [
        (one.item, one.sentence, f"{one.n} of {one.of}", number(one.n / one.of),
         interval(*wilson(one.n / one.of, one.of)))
        for one in shares
    ]  # fmt: skip
    return columns([header, *rows])


def models_text(models: Sequence[ConditionModel]) -> str:
    """The effects of conditions in mixed models of answers."""
    if not models:
        return "No question has ratings, or yes and no, of two conditions or more."
    header = ("question", "model", "answers", "condition", _EFFECT, "se", "95%", "z", "p", "remark")
    rows = [row for model in models for row in _rows(model)]
    notes = dict.fromkeys(
        f"{model.question}: each condition beside {model.conditions[0]!r}; above 0 it is"
        f" {'rated higher' if model.fit.thresholds else 'accepted more often'}."
        for model in models
        if model.fit.fixed
    )
    clustered = any(model.clusters for model in models)
    others = "items, clusters and people" if clustered else "items and people"
    method = (
        "Mixed models of ordered answers (cumulative link, logit; of yes and no logistic), by"
        f" Laplace's approximation; 95% and p: normal, not corrected; for other {others}."
    )
    by_cluster = [_BY_CLUSTER] if clustered else []
    return "\n".join([columns([header, *rows]), *notes, method, *by_cluster])


def _rows(model: ConditionModel) -> Iterator[tuple[str, ...]]:
    doubt = model.fit.doubt
    effects = [effect for effect in model.fit.fixed if effect.name.startswith("condition_")]
    first = (model.question, model.formula, str(model.n))
    if doubt is not None or not effects:
        yield (*first, *("-",) * 6, doubt or "-")
        return
    reach = z_quantile(0.95)
    for condition, effect in zip(model.conditions[1:], effects, strict=True):
        ends = (effect.estimate - reach * effect.se, effect.estimate + reach * effect.se)
        yield (
            *first, condition, number(effect.estimate), number(effect.se), interval(*ends),
            number(effect.statistic, digits=2), p_short(effect.p), _times(effect.estimate),
        )  # fmt: skip


def _times(effect: float) -> str:
    return f"odds x {math.exp(effect):.3g}"


def _ends(one: Interval) -> str:
    return interval(one.low, one.high, absent=f"none ({one.reason})")
