"""One tier as classification: accuracy, ties, bias, calibration, detection of plausible stories.

In detection the positive class is "plausible". A constant answer is right in as many stories as
have that label, so that accuracy alone says little.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cimento.paradigms.stories.outcomes import TierOutcome, probabilities
from cimento.statistics.calibration import (
    Calibration,
    Scaling,
    brier,
    expected_calibration_error,
    nll,
    temperature_scaling,
)
from cimento.statistics.classification import (
    Confusion,
    Threshold,
    auc,
    balanced_accuracy,
    confusion,
    d_prime,
    mcc,
    threshold_mcc,
    tnr,
    tpr,
)
from cimento.statistics.design import Design, Statistic
from cimento.statistics.intervals import Interval
from cimento.suites.stories import (
    FALSE,
    OPTIONS,
    STORY,
    TRUE,
    Story,
    Tier,
    bases,
    by_row,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionConfidence:
    """Whether the probabilities over the options mean what they say.

    Attributes:
        n: answers with probabilities and a right label.
        brier_sum: mean over answers of the sum over options of squared errors.
        nll: mean negative logarithm of the probability of what is right, in nats.
        calibration: expected calibration error with its ten bins.
        mean_confidence: mean probability of the option chosen.
    """

    n: int
    brier_sum: Statistic
    nll: Statistic
    calibration: Calibration
    mean_confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The answers at one tier, whichever stories were asked about.

    Attributes:
        n: answers that can be scored.
        scored: number of answers whose options were scored.
        acc: share that is right; ties are treated as the answers were judged (`outcomes.judge`).
        acc_norm_chars: accuracy with log-probabilities divided by the number of characters of the
            words in the prompt, ties treated in the same way.
        acc_if_ties_wrong: accuracy with ties counted as wrong.
        chance: accuracy of drawing an option at random.
        majority: accuracy of always giving the label that is most often right among these.
        n_ties_at_max: answers where options share the highest log-probability.
        any_choice_greedy_rate: proportion of answers in which an option is what greedy decoding
            writes; None where it was not recorded. Near 0 says that no option follows the prompt
            as the model would write it, mostly because of a blank.
        pred_distribution: label to the number of answers that chose it.
        first_option: numbers of answers that chose the option listed first, and should have.
        invalid: replies that could not be read; they count as wrong.
        unscored: answers left out, by reason.
        confidence: None where options were not scored.
    """

    n: int
    scored: int
    acc: Statistic
    acc_norm_chars: Statistic
    acc_if_ties_wrong: Statistic
    chance: float
    majority: Statistic
    n_ties_at_max: int
    any_choice_greedy_rate: Statistic
    pred_distribution: Mapping[str, int]
    first_option: tuple[int, int]
    invalid: int
    unscored: Mapping[str, int]
    confidence: OptionConfidence | None


def choices(outcomes: Sequence[TierOutcome], tier: Tier) -> Choices:
    """Describe the answers at a tier."""
    at_tier = [outcome for outcome in outcomes if outcome.tier == tier]
    known = [outcome for outcome in at_tier if outcome.correct is not None]
    scored = [outcome for outcome in known if outcome.answer.logprobs_nats is not None]
    greedy = [any(outcome.answer.greedy) for outcome in at_tier if outcome.answer.greedy]
    return Choices(
        n=len(known),
        scored=len(scored),
        acc=share([bool(outcome.correct) for outcome in known]),
        acc_norm_chars=share([outcome.by_characters == outcome.gold for outcome in scored]),
        acc_if_ties_wrong=share([bool(outcome.correct) and not outcome.tied for outcome in known]),
        chance=1 / len(OPTIONS[tier]),
        majority=_majority(known),
        n_ties_at_max=sum(outcome.tied for outcome in known),
        any_choice_greedy_rate=share(greedy, "not recorded"),
        pred_distribution={
            label: sum(outcome.chosen == label for outcome in known) for label in OPTIONS[tier]
        },
        first_option=(
            sum(outcome.chosen == outcome.answer.options[0] for outcome in scored),
            sum(outcome.gold == outcome.answer.options[0] for outcome in scored),
        ),
        invalid=sum(outcome.invalid for outcome in known),
        unscored=Counter(outcome.reason for outcome in at_tier if outcome.correct is None),
        confidence=_confidence(scored) if scored else None,
    )


def share(values: Collection[float], reason: str = "no answers") -> Statistic:
    """The proportion of true values, or the mean of numbers."""
    return Statistic(math.fsum(values) / len(values)) if values else Statistic(None, reason)


def _majority(known: Sequence[TierOutcome]) -> Statistic:
    labels = [outcome.gold for outcome in known if outcome.gold is not None]
    most = max(map(labels.count, set(labels)), default=0)
    return Statistic(most / len(labels)) if labels else Statistic(None, "no answers")


def _confidence(scored: Sequence[TierOutcome]) -> OptionConfidence:
    rows, right, best = [], [], []
    for outcome in scored:
        values = probabilities(outcome.answer)
        if values is None or outcome.gold is None:
            continue
        rows.append(values)
        right.append(outcome.answer.options.index(outcome.gold))
        best.append(max(values))
    correct = [bool(outcome.correct) for outcome in scored]
    return OptionConfidence(
        n=len(rows),
        brier_sum=brier(rows, right),
        nll=_nll(scored) or nll(rows, right),
        calibration=expected_calibration_error([min(1.0, p) for p in best], correct),
        mean_confidence=math.fsum(best) / len(best),
    )


def _nll(scored: Sequence[TierOutcome]) -> Statistic | None:
    """The same from log-probabilities, which do not underflow; None where one is minus infinity."""
    losses = []
    for outcome in scored:
        values = outcome.answer.logprobs_nats
        if values is None or outcome.gold is None or -math.inf in values:
            return None
        top = max(values)
        total = top + math.log(math.fsum(math.exp(value - top) for value in values))
        losses.append(total - values[outcome.answer.options.index(outcome.gold)])
    return Statistic(math.fsum(losses) / len(losses))


def scaled_confidence(
    outcomes: Sequence[TierOutcome], tier: Tier, *, stories: Sequence[Story], seed: int
) -> Scaling:
    """The calibration of answers at a tier at the best temperature of the other triples.

    Answers with an impossible option are left out.

    Args:
        outcomes: outcomes of one model.
        tier: tier whose answers are scaled.
        stories: all stories of the suite.
        seed: seed of the division into folds.
    """
    known = by_row(stories)
    scores, right, clusters = [], [], []
    for outcome in outcomes:
        values = outcome.answer.logprobs_nats
        if outcome.tier != tier or outcome.correct is None or outcome.gold is None:
            continue
        if values is not None and all(map(math.isfinite, values)):
            scores.append(values)
            right.append(outcome.answer.options.index(outcome.gold))
            clusters.append(known[outcome.row].belongs_to)
    return temperature_scaling(scores, right, seed=seed, clusters=clusters)


NO_MARGINS = "options were not scored"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictDetection:
    """The first tier of one model.

    Attributes:
        answered: stories with a readable answer that have a label.
        answers: label to the proportion of `answered`.
        invalid: replies that could not be read.
        counts: true and false positives and negatives.
        tpr: proportion of plausible stories called plausible.
        tnr: proportion of implausible stories called implausible.
        balanced_accuracy: mean of the two.
        mcc: Matthews's correlation.
        auc: how often a plausible story has the higher margin of "true" over "false".
        d_prime: sensitivity, log-linear correction.
        criterion: above 0: inclined to answer "false".
        sibling_pair_accuracy: how often a plausible story has a higher margin than its own
            implausible variant, ties as half.
        n_pairs: number of such pairs.
        mean_margin_nats: mean log-probability of "true" minus that of "false".
    """

    answered: int
    answers: Mapping[str, float]
    invalid: int
    counts: Confusion
    tpr: Statistic
    tnr: Statistic
    balanced_accuracy: Statistic
    mcc: Statistic
    auc: Statistic
    d_prime: float | None
    criterion: float | None
    sibling_pair_accuracy: Statistic
    n_pairs: int
    mean_margin_nats: Statistic


def detect(stories: Sequence[Story], outcomes: Sequence[TierOutcome]) -> ConflictDetection:
    """Measure the first tier."""
    known = by_row(stories)
    first = [outcome for outcome in outcomes if outcome.tier == STORY]
    answered = _answered(first)
    is_plausible = [outcome.gold == TRUE for outcome in answered]
    called_plausible = [outcome.chosen == TRUE for outcome in answered]
    counts = confusion(is_plausible, called_plausible)
    sensitivity = d_prime(counts)
    margins = _margins(first)
    pairs = sibling_pairs(stories, margins)
    n = len(answered)
    chosen = Counter(outcome.chosen for outcome in answered)
    return ConflictDetection(
        answered=n,
        answers={label: chosen[label] / n for label in (FALSE, TRUE)} if n else {},
        invalid=sum(outcome.invalid for outcome in first),
        counts=counts,
        tpr=tpr(counts),
        tnr=tnr(counts),
        balanced_accuracy=balanced_accuracy(counts),
        mcc=mcc(counts),
        auc=auc(list(margins.values()), [known[row].plausible for row in margins])
        if margins
        else Statistic(None, NO_MARGINS),
        d_prime=sensitivity.d_prime,
        criterion=sensitivity.criterion,
        sibling_pair_accuracy=share(pairs.values(), "no plausible story has a scored variant"),
        n_pairs=len(pairs),
        mean_margin_nats=share(margins.values(), NO_MARGINS),
    )


def unbiased_mcc(
    stories: Sequence[Story], outcomes: Sequence[TierOutcome], *, seed: int
) -> Threshold:
    """Matthews's correlation of the margin at the threshold that is best on the other triples.

    An inclined model may tell stories apart and yet answer all of them alike; a threshold chosen
    by cross-validation over triples shows what it could tell.

    Args:
        stories: all stories of the suite.
        outcomes: outcomes of one model.
        seed: seed of the division into folds.
    """
    margins = _margins([outcome for outcome in outcomes if outcome.tier == STORY])
    if not margins:
        return Threshold(None, None, (), NO_MARGINS)
    known = by_row(stories)
    return threshold_mcc(
        list(margins.values()),
        [known[row].plausible for row in margins],
        seed=seed,
        clusters=[known[row].belongs_to for row in margins],
    )


def sibling_pairs(stories: Sequence[Story], margins: Mapping[int, float]) -> dict[int, float]:
    """For each implausible story with a plausible sibling, whether the sibling's margin is higher.

    Args:
        stories: all of them.
        margins: row to the margin of "true" over "false" in nats.

    Returns:
        Row of the implausible story to 1 (it has), 0.5 (a tie) or 0.
    """
    known = bases(stories)
    shares = {}
    for story in stories:
        base = known[story.story_id]
        if story.plausible or base is None:
            continue
        if story.row in margins and base.row in margins:
            difference = margins[base.row] - margins[story.row]
            shares[story.row] = 0.5 if difference == 0 else float(difference > 0)
    return shares


def _margins(first: Sequence[TierOutcome]) -> dict[int, float]:
    """Row to how much more probable "true" is than "false", in nats, where that is finite."""
    margins = {}
    for outcome in first:
        values, options = outcome.answer.logprobs_nats, outcome.answer.options
        if values is not None:
            difference = values[options.index(TRUE)] - values[options.index(FALSE)]
            if math.isfinite(difference):
                margins[outcome.row] = difference
    return margins


def _answered(first: Sequence[TierOutcome]) -> list[TierOutcome]:
    """Those with a readable answer to a story that has a label."""
    return [outcome for outcome in first if outcome.chosen is not None and outcome.gold is not None]


def detection_intervals(
    stories: Sequence[Story], outcomes: Sequence[TierOutcome]
) -> dict[str, Interval]:
    """Intervals of the first tier's measures, 95%, stories of one triple together.

    Those of balanced accuracy and AUC are of `statistics.classification`; the accuracy of sibling
    pairs is a mean (`mean_of`, without draws).

    Args:
        stories: all stories of the suite.
        outcomes: outcomes of one model.
    """
    from cimento.statistics.classification import auc_interval, balanced_interval
    from cimento.statistics.means import mean_of

    known = by_row(stories)
    first = [outcome for outcome in outcomes if outcome.tier == STORY]
    answered = _answered(first)
    margins = _margins(first)
    pairs = sibling_pairs(stories, margins)

    def design(rows: Iterable[int]) -> Design:
        units = tuple(rows)
        return Design(units, tuple(known[row].belongs_to for row in units))

    siblings = mean_of(list(pairs.values()), design(pairs), seed=0, draws=0)
    return {
        "balanced_accuracy": balanced_interval(
            [outcome.chosen == TRUE for outcome in answered],
            [outcome.gold == TRUE for outcome in answered],
            design(outcome.row for outcome in answered),
        ),
        "auc": auc_interval(
            list(margins.values()), [known[row].plausible for row in margins], design(margins)
        ),
        "sibling_pair_accuracy": Interval(
            siblings.low, siblings.high, siblings.method, siblings.reason
        ),
    }
