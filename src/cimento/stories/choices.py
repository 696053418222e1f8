"""One tier's answers as choices among options: accuracy, ties, greedy options, calibration."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cimento.statistics.calibration import (
    Calibration,
    Scaling,
    brier,
    expected_calibration_error,
    nll,
    temperature_scaling,
)
from cimento.statistics.values import Value
from cimento.stories.outcomes import Outcome, by_characters, probabilities
from cimento.stories.records import OPTIONS, Story, Tier


@dataclass(frozen=True, slots=True, kw_only=True)
class Confidence:
    """Whether the probabilities over the options mean what they say.

    Attributes:
        n: answers with probabilities and a right label.
        brier_sum: mean over answers of the sum over options of squared errors.
        nll: mean negative logarithm of the probability of what is right, in nats.
        calibration: expected calibration error with its ten bins.
        mean_confidence: mean probability of the option chosen.
    """

    n: int
    brier_sum: Value
    nll: Value
    calibration: Calibration
    mean_confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The answers at one tier, whichever stories were asked about.

    Attributes:
        n: answers that can be scored.
        scored: those of them where options were scored.
        acc: share that is right, the first of tied options chosen.
        acc_norm_chars: the same with log-probabilities divided by the number of characters.
        acc_if_ties_wrong: the same with ties counted as wrong.
        chance: what drawing an option by lot gets.
        majority: what always giving the label that is right most often among these gets.
        n_ties_at_max: answers where options share the highest log-probability.
        any_choice_greedy_rate: share of answers in which an option is what greedy decoding
            writes; None where it was not recorded. Near 0 says that no option follows the prompt
            as the model would write it, mostly because of a blank.
        pred_distribution: label to how often it was chosen.
        first_option: how often the option listed first was chosen, and how often it was right.
        invalid: replies that could not be read; they count as wrong.
        unscored: answers left out, by reason.
        confidence: None where options were not scored.
    """

    n: int
    scored: int
    acc: Value
    acc_norm_chars: Value
    acc_if_ties_wrong: Value
    chance: float
    majority: Value
    n_ties_at_max: int
    any_choice_greedy_rate: Value
    pred_distribution: Mapping[str, int]
    first_option: tuple[int, int]
    invalid: int
    unscored: Mapping[str, int]
    confidence: Confidence | None


def choices(outcomes: Sequence[Outcome], tier: Tier) -> Choices:
    """Describe the answers at a tier."""
    here = [each for each in outcomes if each.tier == tier]
    known = [each for each in here if each.correct is not None]
    scored = [each for each in known if each.answer.logprobs_nats is not None]
    unscored: dict[str, int] = {}
    for each in here:
        if each.correct is None:
            unscored[each.reason] = unscored.get(each.reason, 0) + 1
    greedy = [any(each.answer.greedy) for each in here if each.answer.greedy]
    return Choices(
        n=len(known),
        scored=len(scored),
        acc=share([bool(each.correct) for each in known]),
        acc_norm_chars=share([by_characters(each.answer) == each.gold for each in scored]),
        acc_if_ties_wrong=share([bool(each.correct) and not each.tied for each in known]),
        chance=1 / len(OPTIONS[tier]),
        majority=_majority(known),
        n_ties_at_max=sum(each.tied for each in known),
        any_choice_greedy_rate=share(greedy, "not recorded"),
        pred_distribution={
            label: sum(each.chosen == label for each in known) for label in OPTIONS[tier]
        },
        first_option=(
            sum(each.chosen == _first(each) for each in scored),
            sum(each.gold == _first(each) for each in scored),
        ),
        invalid=sum(each.invalid for each in known),
        unscored=unscored,
        confidence=_confidence(scored) if scored else None,
    )


def share(values: Sequence[bool], reason: str = "no answers") -> Value:
    """The share of true values."""
    return Value(sum(values) / len(values)) if values else Value(None, reason)


def _majority(known: Sequence[Outcome]) -> Value:
    labels = [each.gold for each in known if each.gold is not None]
    most = max(map(labels.count, set(labels)), default=0)
    return Value(most / len(labels)) if labels else Value(None, "no answers")


def _first(outcome: Outcome) -> str:
    return outcome.answer.options[0]


def _confidence(scored: Sequence[Outcome]) -> Confidence:
    rows, right, best = [], [], []
    for each in scored:
        values = probabilities(each.answer)
        if values is None or each.gold is None:
            continue
        rows.append(values)
        right.append(each.answer.options.index(each.gold))
        best.append(max(values))
    correct = [bool(each.correct) for each in scored]
    return Confidence(
        n=len(rows),
        brier_sum=brier(rows, right),
        nll=_nll(scored) or nll(rows, right),
        calibration=expected_calibration_error([min(1.0, p) for p in best], correct),
        mean_confidence=math.fsum(best) / len(best),
    )


def _nll(scored: Sequence[Outcome]) -> Value | None:
    """The same from log-probabilities, which do not underflow; None where one is minus infinity."""
    losses = []
    for each in scored:
        values = each.answer.logprobs_nats
        if values is None or each.gold is None or -math.inf in values:
            return None
        top = max(values)
        total = top + math.log(math.fsum(math.exp(value - top) for value in values))
        losses.append(total - values[each.answer.options.index(each.gold)])
    return Value(math.fsum(losses) / len(losses))


def scaled_confidence(
    outcomes: Sequence[Outcome], tier: Tier, *, stories: Sequence[Story], seed: int
) -> Scaling:
    """How calibrated the answers at a tier would be at the best temperature of other triples.

    Answers with an impossible option are left out.

    Args:
        outcomes: of one model.
        tier: which.
        stories: all of them.
        seed: of the division into folds.
    """
    scores, right, numbers = [], [], []
    for each in outcomes:
        values = each.answer.logprobs_nats
        if each.tier != tier or values is None or each.correct is None or each.gold is None:
            continue
        if all(map(math.isfinite, values)):
            scores.append(values)
            right.append(each.answer.options.index(each.gold))
            numbers.append(stories[each.row].story_id)
    return temperature_scaling(scores, right, seed=seed, clusters=numbers)
