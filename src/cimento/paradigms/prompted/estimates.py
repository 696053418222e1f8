"""Estimates of a prompted run: rates, sensitivity and biases; answers beside what people said.

Beside people stand a correlation, a slope, a ceiling and a calibration.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from cimento.paradigms import (
    NO_INTERVAL,
    Estimate,
    design_of,
    mean_estimate,
    rate,
    with_headline,
)
from cimento.paradigms.prompted.judging import (
    HALF,
    Answered,
    Asked,
    PromptedRun,
    accepting_share,
    clusters_of,
    decided,
    question_of,
    rated,
)
from cimento.paradigms.prompted.prompts import (
    DIGITS,
    FORMS,
    LETTERED,
    LETTERS,
    QUESTIONS,
    WORDS,
    Form,
    PromptedOptions,
    judgment_wording,
    rivals_of,
)
from cimento.paradigms.ratings import RatedSentence, ceilings, rated_of
from cimento.statistics import (
    Calibration,
    Design,
    bounded_mean,
    brier_parts,
    correlate,
    expected_calibration_error,
    mean_of,
    regress,
    sensitivity_and_bias,
)

if TYPE_CHECKING:
    from cimento.paradigms import Run

D_PRIME, CRITERION = "d'", "criterion c"
HITS, FALSE_ALARMS = "hits", "false alarms"
FIRST, FIRST_LABEL, YES_BIAS = "first chosen", "A or 1 chosen", "yes bias"
HIGH_BIAS, END_BIAS = "high-number bias", "first-end bias"

_SEED = 0
_EVERY_WORDING = "items were not asked with words and with letters: balance=latin or full does so"
_DETECTED = "log-linear rates (Hautus 1995)"

ANSWERED_RIGHT: Mapping[str, str] = {
    "choice": "The proportion of answers, over the whole design, that name the better sentence.",
    "yesno": "Said to be acceptable more often than its rival, over the whole design.",
    "rating": "Rated higher than its rival, on average over the whole design.",
}

SLOPE, ECE = "slope", "ECE"
_HALVINGS = 1000
_COEFFICIENTS = ("spearman", "pearson")
_NO_SHARES = "of how many people accept a sentence nothing is known, only their mean rating"


def prompted_estimates(run: Run) -> list[Estimate]:
    """All estimates of a run, question by question; the first one is the headline."""
    prompted = PromptedRun.of(run)
    estimates: list[Estimate] = []
    for form in FORMS:
        if form in prompted.options.forms_of(prompted.suite):
            made = _of_pairs if prompted.suite.predictions else _of_sentences
            estimates += made(prompted, form)
    return with_headline(estimates)


def _of_pairs(prompted: PromptedRun, form: Form) -> Iterator[Estimate]:
    """The rate, sensitivity and biases of a question about pairs, for each rival."""
    target, rivals = rivals_of(prompted.suite)
    for rival in rivals:
        question = question_of(form, rivals, rival, target)
        rows = prompted.outcomes.filter(prompted.outcomes["question"] == question)
        asked = prompted.of_form(form, target, rival)
        like = replace(prompted.like, question=question)
        chance, method = _chance(form, asked, prompted.options)
        described = replace(
            like, description=ANSWERED_RIGHT[form], chance=chance, chance_method=method
        )
        yield rate(rows, described)
        if form != "rating":
            yield from _detected(prompted, asked, like, target=target)
            yield from _by_design(prompted, form, asked, like, target=target)
        yield from _biases(prompted, form, asked, like)
    yield from people_estimates(prompted, form)


def _of_sentences(prompted: PromptedRun, form: Form) -> Iterator[Estimate]:
    """What people said beside the answers, and the biases, for single sentences."""
    like = replace(prompted.like, question=QUESTIONS[form])
    asked = prompted.of_form(form)
    people = list(people_estimates(prompted, form))
    known = any(estimate.value is not None for estimate in people)
    if known:
        yield from people
    if form == "yesno":
        rows = prompted.outcomes.filter(prompted.outcomes["question"] == like.question)
        if rows["verdict"].count():
            described = "Said to be acceptable, or not, as the suite labels it."
            yield rate(rows, replace(like, description=described, chance=HALF,
                                                 chance_method="one of two answers"))  # fmt: skip
            yield from _detected(prompted, asked, like, target="")
    if not known:
        yield from people
    yield from _biases(prompted, form, asked, like)


def _chance(
    form: Form, asked: Sequence[Asked], options: PromptedOptions
) -> tuple[float | None, str]:
    """The rate of pairs that pass by guessing, and how it was found."""
    if form == "rating":
        return None, "how ratings drawn at random are spread is not known"
    if options.answer == "loglik":
        return HALF, "answers drawn at random"
    read: dict[str, list[int]] = {}
    for one in asked:
        read.setdefault(one.item, []).append(len(one.answers))
    # Replies that could not be read are not guesses; items without any are left out of all rates.
    sizes = Counter(tuple(counts) for counts in read.values() if all(counts))
    if not sizes:
        return None, "no reply could be read"
    level = _more_than_half if form == "choice" else _more_often
    chance = sum(times * level(*counts) for counts, times in sizes.items()) / sizes.total()
    totals = sorted({n for counts in sizes for n in counts})
    guesses = f"{totals[0]}" if len(totals) == 1 else f"{totals[0]} to {totals[-1]}"
    if form == "choice":
        return chance, f"{guesses} guesses a pair, more than half of them right"
    return chance, f"{guesses} guesses a sentence"


def _more_than_half(n: int) -> float:
    """How often more than half of n guesses are right."""
    return sum(math.comb(n, k) for k in range(n // 2 + 1, n + 1)) / (1 << n)


def _more_often(n: int, *others: int) -> float:
    """How often yes is more usual in n guesses than in m others: half of all without a tie."""
    m = others[0] if others else n
    tie = sum(math.comb(n, k) * math.comb(m, k * m // n) for k in range(n + 1) if k * m % n == 0)
    return (1 - tie / (1 << (n + m))) / 2


def _design(prompted: PromptedRun, items: Sequence[str]) -> Design:
    clusters = clusters_of(prompted.suite)
    return design_of(list(items), [clusters.get(item) for item in items])


def _detected(
    prompted: PromptedRun, asked: Sequence[Asked], like: Estimate, *, target: str
) -> Iterator[Estimate]:
    """d', criterion, hits and false alarms of yes/no, or of the choice of what comes first."""
    counts: dict[str, list[float]] = {}
    signals = _signals(prompted, target)
    for one in asked:
        row = counts.setdefault(one.item, [0.0] * 4)
        for answer in one.answers:
            is_signal, said = answer.prompt.cell.order == 0, answer.chosen
            if one.form == "choice":
                # The first sentence is chosen where the better one is, and is the first.
                said = said if is_signal else 1 - said
            elif (known := signals.get((one.item, one.conditions[0]))) is None:
                continue
            else:
                is_signal = known
            row[0 if is_signal else 2] += said
            row[1 if is_signal else 3] += 1
    counts = {item: row for item, row in counts.items() if row[1] + row[3]}
    choice = bool(asked) and asked[0].form == "choice"
    design = _design(prompted, list(counts))
    made = sensitivity_and_bias(
        list(counts.values()), design, task="2afc" if choice else "yes-no", seed=_SEED
    )
    about = "first of two" if choice else "acceptable"
    like = replace(
        like, n=len(counts), clustered=design.clustered, interval_method=made.method,
        reason=made.reason or "",
    )  # fmt: skip
    for statistic, number, described in (
        (D_PRIME, made.sensitivity, f"sensitivity, {_DETECTED}"),
        (CRITERION, made.criterion, f"below 0: tends to say {about}; {_DETECTED}"),
    ):
        yield replace(
            like, statistic=statistic, value=number.value, low=number.low, high=number.high,
            chance=0.0, chance_method="no difference, no bias", description=described,
        )  # fmt: skip
    for statistic, value, n, described in (
        (HITS, made.hits, made.signals, f"said {about}"),
        (FALSE_ALARMS, made.false_alarms, made.noises, f"said {about} where it was not"),
    ):
        yield replace(
            like, statistic=statistic, role="detail", value=value, n=int(n),
            interval_method=None, description=described, reason="its interval is in that of d'",
        )  # fmt: skip


def _signals(prompted: PromptedRun, target: str) -> dict[tuple[str, str], bool]:
    """Item and condition to whether the sentence is acceptable; of a pair its better one is."""
    if target:
        return {
            (item.id, condition.name): condition.name == target
            for item, condition in prompted.suite.stimuli()
        }
    sentences = zip(prompted.suite.stimuli(), rated_of(prompted.suite).sentences, strict=True)
    return {
        (item.id, condition.name): sentence.label == "acceptable"
        for (item, condition), sentence in sentences
        if sentence.label
    }


def _biases(
    prompted: PromptedRun, form: Form, asked: Sequence[Asked], like: Estimate
) -> Iterator[Estimate]:
    """Tendencies to one answer whatever the sentence, each a mean over items."""
    answers = _each_answer(asked)
    if form == "rating":
        middle = (prompted.options.points + 1) / 2
        values = [(item, answer.points - middle) for item, answer in answers]
        about = "mean number given, over scales in both directions, less the middle"
        like = replace(like, unit="points")
        yield _mean_bias(prompted, values, replace(like, statistic=HIGH_BIAS, description=about))
        signs = [-1 if answer.prompt.cell.labels == 0 else 1 for _, answer in answers]
        values = [(item, value * sign) for (item, value), sign in zip(values, signs, strict=True)]
        about = "distance of the number from the middle, toward the end that is named first"
        yield _mean_bias(prompted, values, replace(like, statistic=END_BIAS, description=about))
        return
    what = "sentence" if form == "choice" else "answer"
    about = f"proportion of answers that take the {what} that comes first"
    said = [(item, decided(answer.share(answer.prompt.answers[0]))) for item, answer in answers]
    yield _share_bias(prompted, said, replace(like, statistic=FIRST, description=about))
    about = "proportion of answers A or 1, whatever they stand for"
    said = [
        (item, decided(answer.share(label)))
        for item, answer in answers
        for label in (LETTERS[0], DIGITS[0])
        if label in answer.prompt.answers
    ]
    yield _share_bias(prompted, said, replace(like, statistic=FIRST_LABEL, description=about))
    if form == "yesno":
        yield _yes_bias(prompted, answers, like)


def _each_answer(asked: Iterable[Asked]) -> list[tuple[str, Answered]]:
    """Every answer, with its item."""
    return [(one.item, answer) for one in asked for answer in one.answers]


def _by_item(values: Iterable[tuple[str, float]]) -> dict[str, float]:
    """The mean of the values of each item."""
    by_item: dict[str, list[float]] = {}
    for item, value in values:
        by_item.setdefault(item, []).append(value)
    return {item: math.fsum(several) / len(several) for item, several in by_item.items()}


def _share_bias(
    prompted: PromptedRun, values: Iterable[tuple[str, float]], like: Estimate
) -> Estimate:
    """A proportion of answers with its interval over items, beside a half."""
    shares = _by_item(values)
    design = _design(prompted, list(shares))
    like = replace(
        like, n=len(shares), chance=HALF, chance_method="no bias", clustered=design.clustered
    )
    if not shares:
        return replace(like, reason="no answer with such labels was read")
    interval = bounded_mean(list(shares.values()), design, seed=_SEED)
    return replace(
        like,
        value=math.fsum(shares.values()) / len(shares),
        low=interval.low,
        high=interval.high,
        interval_method=interval.method,
        reason=interval.reason or "",
    )


def _mean_bias(
    prompted: PromptedRun, values: Iterable[tuple[str, float]], like: Estimate
) -> Estimate:
    """A mean of values with its interval over items, beside 0."""
    means = _by_item(values)
    mean = mean_of(list(means.values()), _design(prompted, list(means)), seed=_SEED)
    return mean_estimate(mean, replace(like, chance=0.0, chance_method="no bias"))


def _yes_bias(
    prompted: PromptedRun, answers: Sequence[tuple[str, Answered]], like: Estimate
) -> Estimate:
    """How much more often a sentence is accepted where that is said by yes, than by a letter."""
    language = prompted.options.language or prompted.suite.meta.language
    yes = judgment_wording(language)["yes"][0]
    words = _by_item(
        (item, answer.chosen)
        for item, answer in answers
        if answer.prompt.kind == WORDS and yes in answer.prompt.answers
    )
    letters = _by_item(
        (item, answer.chosen) for item, answer in answers if answer.prompt.kind == LETTERED
    )
    gaps = {item: words[item] - letters[item] for item in words if item in letters}
    about = "proportion of acceptable where it is said by yes, less the share where by a letter"
    reason = "" if gaps else _EVERY_WORDING
    like = replace(like, statistic=YES_BIAS, description=about, reason=reason)
    return _mean_bias(prompted, gaps.items(), like)


def _by_design(
    prompted: PromptedRun, form: Form, asked: Sequence[Asked], like: Estimate, *, target: str
) -> Iterator[Estimate]:
    """The proportion of correct answers with each wording, pair of answers and order."""
    factors: Mapping[str, Callable[[Answered], str]] = {
        "wording": lambda a: str(a.prompt.cell.wording + 1),
        "labels": lambda a: a.prompt.labels,
        "order": lambda a: "better first" if a.prompt.cell.order == 0 else "better second",
    }

    def right(answer: Answered) -> float:
        is_rival = form == "yesno" and answer.prompt.conditions[0] != target
        return 1 - answer.chosen if is_rival else answer.chosen

    answers = _each_answer(asked)
    about = "proportion of correct answers"
    like = replace(like, statistic=about, description=about, role="detail")
    for factor, of in factors.items():
        for level in sorted({of(answer) for _, answer in answers}):
            values = [(item, right(answer)) for item, answer in answers if of(answer) == level]
            yield _share_bias(prompted, values, replace(like, group=factor, level=level))


def people_estimates(prompted: PromptedRun, form: Form) -> Iterator[Estimate]:
    """Correlation, slope, ceiling and calibration beside what people said of single sentences."""
    if form == "choice":
        return
    scale = rated_of(prompted.suite).scale
    pairs = [
        (one.value, sentence)
        for one, sentence in rated(prompted.suite, prompted.asked, form)
        if sentence.mean is not None
    ]
    known = [(value, sentence) for value, sentence in pairs if value is not None]
    like = replace(
        prompted.like, question=QUESTIONS[form], n=len(known), unscored=len(pairs) - len(known)
    )
    single = not prompted.suite.predictions
    if not pairs or scale is None:
        if single:
            reason = "no sentence has a rating"
            yield from (
                replace(like, statistic=kind, role="main", reason=reason) for kind in _COEFFICIENTS
            )
        return
    yield from _correlated(known, like)
    yield _slope(known, like, prompted.options, form, (scale.low, scale.high))
    people = replace(like, question="rating by people", role="detail")
    sentences = [sentence for _, sentence in pairs]
    yield from (
        replace(one, question=like.question)
        for one in ceilings(sentences, people, seed=_SEED, draws=_HALVINGS)
    )
    if form == "yesno":
        yield from _calibrated(prompted, like)


def _sentence_design(sentences: Sequence[RatedSentence]) -> Design:
    return design_of(
        [sentence.id for sentence in sentences],
        [sentence.cluster or sentence.pair or None for sentence in sentences],
    )


def _correlated(known: Sequence[tuple[float, RatedSentence]], like: Estimate) -> Iterator[Estimate]:
    design = _sentence_design([sentence for _, sentence in known])
    for kind in _COEFFICIENTS:
        correlation = correlate(
            [value for value, _ in known],
            [cast("float", sentence.mean) for _, sentence in known],
            kind=kind, design=design,
        )  # fmt: skip
        yield replace(
            like, statistic=kind, role="main", value=correlation.r, low=correlation.low,
            high=correlation.high, interval_method=correlation.method, n=correlation.n,
            reason=correlation.reason or "", clustered=design.clustered,
            description="Answers by prompt beside the mean ratings of the suite.",
        )  # fmt: skip


def _slope(
    known: Sequence[tuple[float, RatedSentence]],
    like: Estimate,
    options: PromptedOptions,
    form: Form,
    ends: tuple[float, float],
) -> Estimate:
    """The slope of people's mean ratings on the answers, both from 0 to 1: 1 where they agree."""
    low, high = ends
    start, width = (1, options.points - 1) if form == "rating" else (0, 1)
    design = _sentence_design([sentence for _, sentence in known])
    like = replace(
        like, statistic=SLOPE, chance=0.0, chance_method="values and ratings unrelated",
        clustered=design.clustered,
        description="mean ratings on the answers, both from 0 to 1; 1 if they move alike",
    )  # fmt: skip
    answers = [(value - start) / width for value, _ in known]
    means = [(cast("float", sentence.mean) - low) / (high - low) for _, sentence in known]
    regression = regress(means, {"answer": answers}, design)
    if not regression.coefficients:
        return replace(like, reason=regression.reason or "")
    slope = regression.coefficients[1]
    return replace(
        like, value=slope.value, low=slope.low, high=slope.high, p=slope.p,
        interval_method=regression.method,
    )  # fmt: skip


def reliability(prompted: PromptedRun) -> Calibration | None:
    """The bins of yes beside the proportion of people who accept; None where that is not known."""
    shares = _shares(prompted)
    if not shares:
        return None
    return expected_calibration_error([p for p, _ in shares], [o for _, o in shares])


def _shares(prompted: PromptedRun) -> list[tuple[float, float]]:
    """The proportion of acceptable in the answers, and among people, of each sentence with both."""
    scale = rated_of(prompted.suite).scale
    return [
        (one.value, share)
        for one, sentence in rated(prompted.suite, prompted.asked, "yesno")
        if one.value is not None and (share := accepting_share(sentence, scale)) is not None
    ]


def _calibrated(prompted: PromptedRun, like: Estimate) -> Iterator[Estimate]:
    """ECE and Brier's score with its parts, of the proportion of people who accept a sentence."""
    shares = _shares(prompted)
    like = replace(like, n=len(shares), reason="" if shares else _NO_SHARES)
    probabilities, people = [p for p, _ in shares], [o for _, o in shares]
    error = expected_calibration_error(probabilities, people)
    parts = brier_parts(probabilities, people)
    without = NO_INTERVAL if shares else _NO_SHARES
    about = "proportion of acceptable among answers and among people"
    numbers = {
        ECE: error.ece,
        "Brier": parts.score,
        "Brier reliability": parts.reliability,
        "Brier resolution": parts.resolution,
        "Brier uncertainty": parts.uncertainty,
        "Brier within bins": parts.within,
    }
    for statistic, value in numbers.items():
        yield replace(
            like, statistic=statistic, role="main" if statistic in {ECE, "Brier"} else "detail",
            value=value, reason=without, description=about,
        )  # fmt: skip
