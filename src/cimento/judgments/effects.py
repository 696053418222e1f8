"""What conditions do to people's answers: proportions of choices, and mixed models of answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

from cimento.io.values import grouped
from cimento.judgments import ACCEPTABLE, BETTER, FITS, WHICH_FITS, Judgment
from cimento.judgments.chosen import preferred
from cimento.judgments.summaries import (
    EACH_ALONE,
    ItemClusters,
    is_rated,
    labels_of,
    once,
    place_design,
    rating_of,
)
from cimento.judgments.yes_no import NO, YES
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, share_interval
from cimento.statistics.mixed import MixedFit
from cimento.statistics.raters import UNKNOWN_PEOPLE, for_others

INTERCEPTS = "answer ~ condition + (1 | participant) + (1 | item)"
SLOPES = "answer ~ condition + (1 + condition | participant) + (1 + condition | item)"
_MOST_SLOPES = 3
"""Conditions up to which slopes are tried: more have more correlations than answers can tell."""
_MOST_OPTIONS = 8
"""Options up to which each has a share: where every item has options of its own, none says much."""
_Row: TypeAlias = tuple[str, float, str | None, tuple[str, str]]
"""Condition, answer as a number, participant, and item of its suite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionShare:
    """The proportion of choices of a condition or an option, or of answers yes.

    Attributes:
        question: which.
        condition: condition or option that was chosen, or condition asked about; may be empty.
        n: choices or answers.
        share: from 0 to 1.
        these: its 95% interval for other items and these people.
        others: for other items and other people like these.
    """

    question: str
    condition: str
    n: int
    share: float
    these: Interval
    others: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionModel:
    """A mixed model of the answers to a question.

    Attributes:
        question: which.
        formula: in words of judgments.
        conditions: the first is the one that the others are compared with, in the order of effects.
        n: answers.
        clusters: number of clusters of the items, of each factor; empty where items stand alone.
        fit: cumulative of ratings, logistic of yes and no.
    """

    question: str
    formula: str
    conditions: tuple[str, ...]
    n: int
    clusters: tuple[int, ...]
    fit: MixedFit


def condition_shares(
    judgments: Sequence[Judgment], *, clusters: ItemClusters = EACH_ALONE,
    options: Sequence[str] = (),
) -> tuple[ConditionShare, ...]:  # fmt: skip
    """The proportions of choices and of answers yes, by condition, with their intervals.

    Of repeated answers of one person the first counts (`once`). Answers of one item, or of its
    clusters, belong together; for other people, those of one person do too, with people crossed.

    Args:
        judgments: of any questions.
        clusters: what their items belong to.
        options: conditions that could be chosen, which have a proportion if nobody chose them.
    """
    return tuple(
        share
        for question, answers in _by_question(judgments).items()
        for share in _shares(question, answers, clusters, options)
    )


def _shares(
    question: str, answers: Sequence[Judgment], clusters: ItemClusters, known: Sequence[str]
) -> Iterator[ConditionShare]:
    """The proportions of a question, if it is one of choices or of yes and no."""
    if question in (BETTER, WHICH_FITS):
        chosen = [j.value if question == WHICH_FITS else preferred(j) for j in answers]
        options = dict.fromkeys(filter(None, [*known, *chosen]))
        if len(options) <= _MOST_OPTIONS:
            for option in options:
                yes = [one == option for one in chosen]
                yield _share(question, option, answers, yes, clusters)
    elif question in (ACCEPTABLE, FITS):
        by_condition = grouped((j.condition, j) for j in answers if j.value in (YES, NO))
        for condition, asked in by_condition.items():
            yes = [j.value == YES for j in asked]
            yield _share(question, condition, asked, yes, clusters)


def _share(
    question: str,
    condition: str,
    asked: Sequence[Judgment],
    yes: Sequence[bool],
    clusters: ItemClusters,
) -> ConditionShare:
    items = place_design([judgment.key for judgment in asked], clusters).clusters
    people = [judgment.annotator for judgment in asked]
    design = Design(tuple(range(len(asked))), items)
    return ConditionShare(
        question=question,
        condition=condition,
        n=len(asked),
        share=sum(yes) / len(yes),
        these=share_interval(yes, design),
        others=for_others(partial(share_interval, yes), design, people),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceShare:
    """How often one sentence was preferred where it could be, or called acceptable.

    Attributes:
        suite: name of the suite.
        item: id of the item.
        condition: of the sentence; empty where it is not known.
        sentence: as it was chosen, or the word for both or neither.
        n: number of people who chose it, or said yes.
        of: number of people who chose between it and others, or said yes or no.
    """

    suite: str
    item: str
    condition: str
    sentence: str
    n: int
    of: int


def sentence_shares(
    judgments: Sequence[Judgment],
    options: Mapping[tuple[str, str], Sequence[tuple[str, str]]] = MappingProxyType({}),
) -> list[SentenceShare]:
    """How often each sentence was preferred, by item, in the order of the answers.

    Args:
        judgments: the answers; those that are not choices of the better sentence are left out, and
            of repeated ones of one person all but the first.
        options: suite and item to the conditions and sentences that could be chosen, so that those
            that nobody chose are there too.
    """
    chosen: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
    for one in once(judgments):
        if one.question == BETTER and one.counts:
            counts = chosen.setdefault((one.suite, one.item), Counter())
            counts[one.condition, one.value or ""] += 1
    for place, counts in chosen.items():
        counts.update(dict.fromkeys(options.get(place, ()), 0))
    return [
        SentenceShare(
            suite=suite, item=item, condition=condition, sentence=sentence, n=n,
            of=counts.total(),
        )
        for (suite, item), counts in chosen.items()
        for (condition, sentence), n in counts.most_common()
    ]  # fmt: skip


def acceptance_shares(judgments: Sequence[Judgment]) -> list[SentenceShare]:
    """How often each sentence was called acceptable, in the order of the answers.

    Args:
        judgments: the answers; those that are not yes or no to whether a sentence is acceptable are
            left out, and of repeated ones of one person all but the first.
    """
    asked = grouped(
        ((one.suite, one.item, one.condition, one.candidate or one.item), one.value == YES)
        for one in once(judgments)
        if one.question == ACCEPTABLE and one.counts and one.value in (YES, NO)
    )
    return [
        SentenceShare(
            suite=suite, item=item, condition=condition, sentence=sentence, n=sum(yes), of=len(yes)
        )
        for (suite, item, condition, sentence), yes in asked.items()
    ]


def condition_models(
    judgments: Sequence[Judgment], *, clusters: ItemClusters = EACH_ALONE
) -> tuple[ConditionModel, ...]:
    """Mixed models of ratings and of answers yes and no, with the effects of conditions.

    Participants and items are crossed random factors, with intercepts, and with slopes of the
    condition where there are two or three (Barr et al. 2013, doi:10.1016/j.jml.2012.11.001), by
    which conditions may also differ more in one cluster than in another. Where that fit is singular
    or does not converge, or conditions are many, clusters enter by
    ``(1 | cluster) + (1 | cluster:condition)``, with one variance for all conditions. Conditions
    are compared with the first of them. Of repeated answers the first counts.

    Args:
        judgments: of any questions.
        clusters: what their items belong to.
    """
    return tuple(
        model
        for question, answers in _by_question(judgments).items()
        for model in _models(question, answers, clusters)
    )


def _models(
    question: str, answers: Sequence[Judgment], clusters: ItemClusters
) -> Iterator[ConditionModel]:
    """The models of the answers to one question; none of a single condition."""
    rows: list[_Row] = [
        (judgment.condition, value, judgment.annotator, (judgment.suite, judgment.item))
        for judgment in answers
        if judgment.condition and (value := _number(question, judgment)) is not None
    ]
    conditions = tuple(dict.fromkeys(condition for condition, *_ in rows))
    if len(conditions) <= 1:
        return
    factors = _factors([item for *_, item in rows], clusters)
    has_slopes = len(conditions) <= _MOST_SLOPES
    for base in [INTERCEPTS, *([SLOPES] if has_slopes else [])]:
        for terms in _of_clusters([*factors], slopes=has_slopes):
            formula = " + ".join([base, *terms])
            fit = _fit(question, formula, conditions, rows, factors)
            yield ConditionModel(
                question=question,
                formula=formula.replace("answer", "rating" if is_rated(question) else "yes"),
                conditions=conditions,
                n=len(rows),
                clusters=tuple(factor.m for factor in factors.values()),
                fit=fit,
            )
            if fit.doubt is None:
                break


def _factors(items: Sequence[tuple[str, str]], clusters: ItemClusters) -> dict[str, Design]:
    """The clusters of some items by the name that they have in formulas, factor by factor."""
    known = list(dict.fromkeys(items))
    design = Design(tuple(known), labels_of(known, clusters))
    together = [factor for factor in design.factors() if factor.clustered]
    return {f"cluster_{n}" if n > 1 else "cluster": one for n, one in enumerate(together, start=1)}


def _of_clusters(names: Sequence[str], *, slopes: bool) -> list[list[str]]:
    """The random effects of clusters that are tried, in order; without clusters only no effects."""
    by_condition = [f"(1 + condition | {name})" for name in names]
    apart = [f"(1 | {name}) + (1 | {name}:condition)" for name in names]
    return [*([by_condition] if slopes and names else []), apart]


def _fit(
    question: str,
    formula: str,
    conditions: Sequence[str],
    rows: Sequence[_Row],
    factors: Mapping[str, Design],
) -> MixedFit:
    from cimento.statistics.mixed_answers import (
        LAPLACE,
        cumulative_mixed_model,
        logistic_mixed_model,
    )

    # Names of conditions are anyone's: columns have names of our own.
    names = {condition: f"condition_{n}" for n, condition in enumerate(conditions[1:], start=2)}
    text = formula
    for name in factors:
        text = text.replace(f"{name}:condition", f"{name}_cell")
    text = text.replace("condition", " + ".join(names.values()))
    if any(person is None for _, _, person, _ in rows):
        return MixedFit(text, LAPLACE, len(rows), reason=UNKNOWN_PEOPLE)
    columns: dict[str, Sequence[Hashable]] = {
        "answer": [value for _, value, _, _ in rows],
        "participant": [person for _, _, person, _ in rows],
        "item": [item for *_, item in rows],
    }
    for condition, name in names.items():
        columns[name] = [float(one == condition) for one, *_ in rows]
    for name, factor in factors.items():
        label = dict(zip(factor.units, factor.clusters, strict=True))
        columns[name] = [label[item] for *_, item in rows]
        columns[f"{name}_cell"] = [(label[item], condition) for condition, *_, item in rows]
    fit = cumulative_mixed_model if is_rated(question) else logistic_mixed_model
    return fit(text, columns)


def _number(question: str, judgment: Judgment) -> float | None:
    """A rating, or 1 for yes and 0 for no; None for other answers."""
    if is_rated(question):
        return rating_of(judgment)
    if question == ACCEPTABLE and judgment.value in (YES, NO):
        return float(judgment.value == YES)
    return None


def _by_question(judgments: Sequence[Judgment]) -> dict[str, list[Judgment]]:
    counted = once(judgment for judgment in judgments if judgment.counts)
    return grouped((judgment.question, judgment) for judgment in counted)
