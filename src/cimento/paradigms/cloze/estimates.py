"""Estimates of a cloze run: accuracies of hits, precisions of candidates, forced choices.

Also: the sentences on them in a methods paragraph.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cimento.cite.sentences import names_in_row
from cimento.errors import counted
from cimento.kinds.base import MethodFacts
from cimento.paradigms.cloze.judging import DIVIDED, HIT, asked, depths_of
from cimento.paradigms.cloze.requests import FITS, ClozeAnswers
from cimento.paradigms.cloze.shares import Share, macro
from cimento.records.blanks import (
    EQUAL_CHANCE,
    FORCED_CHOICE,
    MEAN_CHANCE,
    REACHABLE,
    first_hits,
    forced_choice,
    reach_of,
    summed_up_alike,
)
from cimento.records.outcomes import ACCURACY, GROUP, Estimate, rate, with_headline
from cimento.records.standing import exact_p
from cimento.statistics.unequal_chances import UNEQUAL_CHANCES, unequal_chances_p
from cimento.suites.cloze import ClozeItem

if TYPE_CHECKING:
    import polars as pl

PRECISION, MACRO = "precision", "macro precision"
"""Statistics: of candidates that fit, and of these as a mean over templates."""

TEMPLATE = "template"
"""The column over whose values the mean of precisions goes."""

_OPEN = "any word may be a candidate"
GROUPS_REASON = "a mean of groups has no interval"


class EstimateIndex:
    """The estimates of a run by what they are of.

    Args:
        estimates: of one run.
    """

    def __init__(self, estimates: Iterable[Estimate]) -> None:
        self._estimates = {estimate.key: estimate for estimate in estimates}

    def find(
        self,
        question: str,
        method: str,
        *,
        group: str = "",
        level: str = "",
        statistic: str = ACCURACY,
    ) -> Estimate | None:
        """One of them; None where there is none of this."""
        return self._estimates.get((question, method, group, level, statistic))

    def parts(self, question: str, method: str, column: str) -> Iterator[Estimate]:
        """What holds of each value of a column."""
        for one in self._estimates.values():
            if (one.question, one.method, one.group) == (question, method, column):
                yield one

    def levels(
        self, question: str, method: str, column: str, k: int
    ) -> Iterator[tuple[Estimate, Estimate | None]]:
        """For each value of a column, what holds of the first candidate and of the first k."""
        for first in self.parts(f"{question}1", method, column):
            yield (
                first,
                self.find(
                    f"{question}{k}",
                    method,
                    group=column,
                    level=first.level,
                    statistic=first.statistic,
                ),
            )


def cloze_estimates(answers: ClozeAnswers) -> Sequence[Estimate]:
    """hit@1 to hit@k, P@1 and P@k, and the forced choices, also by the columns of ``by``."""
    outcomes = answers.run.outcomes()
    like = Estimate(suite=answers.suite.name, model=answers.run.model, question="")
    estimates: list[Estimate] = []
    for method in answers.methods:
        open_like = replace(like, method=method, chance_method=_OPEN)
        estimates += _hit_estimates(answers, outcomes, open_like)
        estimates += _fit_estimates(answers, outcomes, open_like)
    estimates += _choice_estimates(answers, outcomes, like)
    (headed,) = summed_up_alike([with_headline(estimates)])
    return headed


def _levels(outcomes: pl.DataFrame, column: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """The outcomes of each value of a free column, in order of the values."""
    import polars as pl

    name = GROUP + column
    values = outcomes[name].drop_nulls().unique().sort() if name in outcomes.columns else ()
    for value in values:
        yield value, outcomes.filter(pl.col(name) == value)


def _by_columns(
    outcomes: pl.DataFrame, like: Estimate, columns: Iterable[str]
) -> Iterator[Estimate]:
    for column in columns:
        for level, rows in _levels(outcomes, column):
            yield rate(rows, replace(like, group=column, level=level, role="detail"))


def _hit_estimates(
    answers: ClozeAnswers, outcomes: pl.DataFrame, like: Estimate
) -> Iterator[Estimate]:
    import polars as pl

    depths = depths_of(answers)
    ranked = asked(outcomes, f"{HIT}{depths[-1]}", like.method)
    if ranked.is_empty():
        return
    for k in range(1, depths[-1] + 1):
        held = (pl.col("value") <= k).fill_null(value=False)
        verdict = pl.when(held).then(pl.lit("pass")).otherwise(pl.lit("fail"))
        # What has no verdict at the greatest depth has none at another one.
        at_k = ranked.with_columns(
            right=pl.when(pl.col("right").is_not_null()).then(held),
            verdict=pl.when(pl.col("right").is_null()).then("verdict").otherwise(verdict),
        )
        first = f"among the first {k} candidates" if k > 1 else "the first candidate"
        hit = replace(
            like,
            question=f"{HIT}{k}",
            role="main" if k in depths else "detail",
            description=f"the target is {first}",
        )
        yield _with_reason(rate(at_k, hit), at_k)
        if GROUP + REACHABLE in at_k.columns and at_k[GROUP + REACHABLE].is_not_null().any():
            reachable = at_k.filter(pl.col(GROUP + REACHABLE) == "yes")
            yield rate(reachable, replace(hit, group=REACHABLE, level="yes", role="detail"))
        if k in depths:
            yield from _by_columns(at_k, hit, answers.options.by)


def _with_reason(hits: Estimate, outcomes: pl.DataFrame) -> Estimate:
    """A proportion of hits; where none is defined, with the reason that all of them share."""
    reasons = outcomes["reason"].drop_nulls().unique().to_list()
    return replace(hits, reason=reasons[0]) if not hits.n and len(reasons) == 1 else hits


def _fit_estimates(
    answers: ClozeAnswers, outcomes: pl.DataFrame, like: Estimate
) -> Iterator[Estimate]:
    for k in depths_of(answers):
        rows = asked(outcomes, f"{FITS}{k}", like.method)
        if rows.is_empty():
            continue
        first = f"the first {k} candidates" if k > 1 else "first candidates"
        fit = replace(
            like,
            question=f"{FITS}{k}",
            statistic=PRECISION,
            description=f"proportion of {first} that fit",
        )
        yield rate(rows, fit)
        if GROUP + TEMPLATE in rows.columns:
            yield _mean_precision(rows, fit)
        yield from _by_columns(rows, fit, answers.options.by)


def _mean_precision(rows: pl.DataFrame, like: Estimate) -> Estimate:
    """The unweighted mean of the precisions of templates."""
    judged = ([r for r in part["right"] if r is not None] for _, part in _levels(rows, TEMPLATE))
    mean = macro(Share(sum(right), len(right)) for right in judged)
    return replace(
        like,
        statistic=MACRO,
        description=f"{like.description}: mean over templates",
        value=mean.value,
        n=mean.groups,
        reason=GROUPS_REASON if mean.groups else "no candidate was judged",
    )


def _choice_estimates(
    answers: ClozeAnswers, outcomes: pl.DataFrame, like: Estimate
) -> Iterator[Estimate]:
    items = {item.id: item for item in answers.items}
    for rule in answers.choices:
        for method in (rule, rule + DIVIDED):
            rows = asked(outcomes, FORCED_CHOICE, method)
            if rows.is_empty():
                continue
            choice = replace(
                like,
                question=FORCED_CHOICE,
                method=method,
                role="main" if method == rule else "detail",
                description="the target is the most probable option",
            )
            yield _rate_of_choices(rows, choice, items)
            for column in answers.options.by if method == rule else ():
                for level, part in _levels(rows, column):
                    of_level = replace(choice, group=column, level=level, role="detail")
                    yield _rate_of_choices(part, of_level, items)


def _rate_of_choices(
    rows: pl.DataFrame, like: Estimate, items: Mapping[str, ClozeItem]
) -> Estimate:
    """The rate of some choices, beside the chance that they would have without any knowledge.

    Where items differ in their chance, the exact test takes each with its own.
    """
    shares = [_chance(items[item]) for item in rows.filter(rows["right"].is_not_null())["item"]]
    method = EQUAL_CHANCE if len({*shares}) <= 1 else MEAN_CHANCE
    chance = math.fsum(shares) / len(shares) if shares else None
    made = rate(rows, replace(like, chance=chance, chance_method=method))
    if method != MEAN_CHANCE or made.clustered or made.right is None:
        return made
    return replace(made, p=unequal_chances_p(made.right, shares), p_method=UNEQUAL_CHANCES)


def _chance(item: ClozeItem) -> float:
    """The chance that a target is the most probable option, if all options are as likely to be."""
    return sum(option.role == "target" for option in item.options) / len(item.options)


_BOTH_SIDES = ", given the text on both sides"

_PROTOCOLS = {
    "mask": f"the most probable tokens at one mask{_BOTH_SIDES}",
    "words": f"the most probable whole words at one mask{_BOTH_SIDES}",
    "complete": f"whole words of one to {{masks}} tokens at as many masks{_BOTH_SIDES}",
    "beam": f"sequences of one to {{masks}} tokens at as many masks{_BOTH_SIDES}",
    "left": "the most probable next tokens after the text before the blank",
    "sentinel": "the answers of the encoder-decoder to a sentinel in place of the blank",
}
_KINDS = {"masked": "masked models", "causal": "causal models", "seq2seq": "encoder-decoders"}
_AUTO = {"masked": "mask", "causal": "left", "seq2seq": "sentinel"}
_HITS = (
    "A hit at k means that an answer expected by the suite's author is among the first k"
    " candidates; an answer that could not be found counts as a miss."
)
_FITTING = (
    "The proportion of fitting candidates is the proportion of those that were judged"
    " [@wilkens2023]."
)

_IN_BRIEF = "An expected answer among the first k candidates was a hit at k."
_RULES = {
    "mask": "its only token at one mask",
    "left-to-right": "each of its tokens with the later ones masked [@kauf2023]",
    "joint": "all of its tokens masked together",
    "sentence": "the whole text with the option in it",
    "left": "the option, given the text before the blank",
    "continuation": "the text after the blank, given the option",
    "sentinel": "the option and the next sentinel, as output of the decoder",
}
_WHOLE_TEXTS = {"sentence", "continuation"}
"""Rules by which the tokens of a text are scored as those of other suites are."""


def cloze_methods(answers: ClozeAnswers) -> MethodFacts:
    """The methods by which blanks were filled, what counts as a hit, and how words were chosen."""
    estimates = answers.run.estimates()
    choice = forced_choice(estimates)
    named = [f"{rule} ({_RULES[rule]})" if rule in _RULES else rule for rule in answers.choices]
    several = "rules" if len(named) > 1 else "rule"
    rules = [f"Options were scored by the {several} {names_in_row(named)}."] if named else []
    stated = [one for one in (first_hits(estimates), choice) if one is not None]
    fits = [one for one in estimates if one.question == f"{FITS}1" and not one.group]
    tested = [*_other_rules(estimates, choice), *_tested(choice)]
    reach = _within_reach(estimates)
    return MethodFacts(
        counted=counted(len(answers.items), "item"),
        sentences=(
            _candidates(answers),
            _HITS,
            *reach,
            *([_FITTING] if fits else []),
            *rules,
            *tested,
        ),
        brief=(
            _IN_BRIEF,
            *reach,
            _candidates_in_brief(answers),
            *_choice_in_brief(estimates, choice),
        ),
        together=f"items of one {' or '.join(columns)}"
        if (columns := answers.suite.cluster)
        else "",
        counts=tuple((one.question, one.method) for one in (*stated, *fits)),
        scores_texts=not _WHOLE_TEXTS.isdisjoint(answers.choices),
    )


def _within_reach(estimates: Iterable[Estimate]) -> list[str]:
    """How many answers the model could find, unless it could find all of them."""
    reach = reach_of(estimates)
    if reach is None:
        return []
    none = f"None of {reach.n:,} expected answers could be found, as all are several tokens: hits"
    some = f"Only {reach.found:,} of {reach.n:,} expected answers could be found; the others, of"
    return [f"{some} several tokens, are misses." if reach.found else f"{none} are undefined."]


def _other_rules(estimates: Iterable[Estimate], choice: Estimate | None) -> Iterator[str]:
    """How many choices have no score by the rules beside the one that is counted."""
    for one in _with_unscored(estimates, choice):
        why = "is several tokens" if one.method == "mask" else "has no score"
        yield (
            f"By the rule {one.method}, {one.unscored:,} of"
            f" {counted(one.n + (one.unscored or 0), 'choice')} could not be scored, as a given"
            f" word {why}."
        )


def _with_unscored(estimates: Iterable[Estimate], choice: Estimate | None) -> list[Estimate]:
    """The choices by other rules than the one that is counted, as far as some have no score."""
    return [
        one
        for one in estimates
        if one.question == FORCED_CHOICE and one.role != "detail" and not one.group
        if one.unscored and choice is not None and one.method != choice.method
    ]


def _tested(choice: Estimate | None) -> Iterator[str]:
    """By which exact test the choice is compared with chance; nothing where it is by none."""
    if choice is None or exact_p(choice, choice.chance) is None:
        return
    if choice.p_method == UNEQUAL_CHANCES:
        yield (
            "The exact two-sided test of the choice against chance takes the chance of each item"
            " (Poisson binomial distribution [@hong2013])."
        )
    else:
        yield "The choice is tested against chance by the exact two-sided binomial test."


def _choice_in_brief(estimates: Iterable[Estimate], choice: Estimate | None) -> list[str]:
    """How a word was chosen among the given ones; empty where there were none to choose among."""
    if choice is None:
        return []
    rule = _RULES.get(choice.method, choice.method)
    others = _with_unscored(estimates, choice)
    listed = ", ".join(f"{one.unscored:,} ({one.method})" for one in others)
    left = f"; unscored by other rules: {listed}" if others else ""
    said = (
        f"Of given words ({counted(choice.n, 'item')}), the most probable was chosen"
        f" ({rule}){left}."
    )
    return [said]


def _candidates(answers: ClozeAnswers) -> str:
    options = answers.options
    if answers.run.model_kind == "replay":
        return f"The candidates for a blank were recorded; the first {options.k} count."
    return f"The candidates for a blank were {_found(answers)}; the first {options.k} were kept."


def _candidates_in_brief(answers: ClozeAnswers) -> str:
    """How the candidates of one kind of model were found, which differs between kinds."""
    if answers.run.model_kind == "replay":
        return "Candidates were recorded."
    kind = _KINDS.get(answers.run.model_kind, "the models")
    return f"Candidates of {kind} were {_found(answers)}."


def _found(answers: ClozeAnswers) -> str:
    options = answers.options
    # A model that is neither of these scores what follows a text, as servers and n-grams do.
    rule: str = options.protocol
    rule = _AUTO.get(answers.run.model_kind, "left") if rule == "auto" else rule
    return _PROTOCOLS.get(rule, f"the rule {rule}").replace("{masks}", str(options.masks))
