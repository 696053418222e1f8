"""Estimates of a prompted run: rates, sensitivity and biases, and calibration on people."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from cimento.paradigms.prompted.judging import (
    HALF,
    Answered,
    Asked,
    PromptedRun,
    clusters_of,
    question_of,
)
from cimento.paradigms.prompted.people import people_estimates
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
from cimento.paradigms.ratings.estimates import with_headline
from cimento.paradigms.ratings.suite import rated_of
from cimento.runs.outcomes import Estimate, design_of, mean_estimate, rate
from cimento.statistics.design import Design
from cimento.statistics.detection import DetectionTask, detection
from cimento.statistics.means import bounded_mean, mean_of

if TYPE_CHECKING:
    from cimento.runs.run import Run

D_PRIME, CRITERION = "d'", "criterion c"
HITS, FALSE_ALARMS = "hits", "false alarms"
FIRST, FIRST_LABEL, YES_BIAS = "first chosen", "A or 1 chosen", "yes bias"
HIGH_BIAS, END_BIAS = "high-number bias", "first-end bias"

_SEED = 0
_EVERY_WORDING = "items were not asked with words and with letters: balance=latin or full does so"
_DETECTED = "log-linear rates (Hautus 1995)"

ANSWERED_RIGHT: Mapping[str, str] = {
    "choice": "The share of answers, over the whole design, that name the better sentence.",
    "yesno": "Said to be acceptable more often than its rival, over the whole design.",
    "rating": "Rated higher than its rival, on average over the whole design.",
}

Value: TypeAlias = Callable[[Answered], float]


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
        like = dataclasses.replace(prompted.like, question=question)
        chance, method = _chance(form, asked, prompted.options)
        described = dataclasses.replace(
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
    like = dataclasses.replace(prompted.like, question=QUESTIONS[form])
    asked = prompted.of_form(form)
    people = list(people_estimates(prompted, form))
    known = any(estimate.value is not None for estimate in people)
    if known:
        yield from people
    if form == "yesno":
        rows = prompted.outcomes.filter(prompted.outcomes["question"] == like.question)
        if rows["verdict"].count():
            described = "Said to be acceptable, or not, as the suite labels it."
            yield rate(rows, dataclasses.replace(like, description=described, chance=HALF,
                                                 chance_method="one of two answers"))  # fmt: skip
            yield from _detected(prompted, asked, like, target="")
    if not known:
        yield from people
    yield from _biases(prompted, form, asked, like)


def _chance(
    form: Form, asked: Sequence[Asked], options: PromptedOptions
) -> tuple[float | None, str]:
    """The rate of pairs that pass by lot, and how it was found."""
    if form == "rating":
        return None, "how ratings by lot are spread is not known"
    if options.answer == "loglik":
        return HALF, "by lot"
    n = max((len(one.answers) + one.lost for one in asked), default=0)
    if form == "choice":
        above = sum(math.comb(n, k) for k in range(n // 2 + 1, n + 1)) / 2**n
        return above, f"{n} guesses a pair, more than half of them right"
    # Of two sentences with n guesses each: half of the draws without a tie.
    tie = math.comb(2 * n, n) / 4**n
    return (1 - tie) / 2, f"{n} guesses a sentence"


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
    task: DetectionTask = "2afc" if choice else "yes-no"
    design = _design(prompted, list(counts))
    made = detection(list(counts.values()), design, task=task, seed=_SEED)
    about = "first of two" if choice else "acceptable"
    like = dataclasses.replace(
        like, n=len(counts), clustered=design.clustered, interval_method=made.method,
        reason=made.reason or "",
    )  # fmt: skip
    for statistic, number, described in (
        (D_PRIME, made.sensitivity, f"sensitivity, {_DETECTED}"),
        (CRITERION, made.criterion, f"below 0: tends to say {about}; {_DETECTED}"),
    ):
        yield dataclasses.replace(
            like, statistic=statistic, value=number.value, low=number.low, high=number.high,
            chance=0.0, chance_method="no difference, no bias", description=described,
        )  # fmt: skip
    for statistic, value, n in (
        (HITS, made.hits, made.signals),
        (FALSE_ALARMS, made.false_alarms, made.noises),
    ):
        description = (
            f"said {about} where it was not" if statistic == FALSE_ALARMS else f"said {about}"
        )
        yield dataclasses.replace(
            like, statistic=statistic, role="detail", value=value, n=int(n),
            interval_method=None, description=description,
            reason="its interval is in that of d'",
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
    if form == "rating":
        middle = (prompted.options.points + 1) / 2
        about = "mean number given, over scales in both directions, less the middle"
        yield _mean_bias(prompted, asked, like, HIGH_BIAS, about, lambda a: a.points - middle)
        about = "distance of the number from the middle, towards the end that is named first"
        yield _mean_bias(
            prompted, asked, like, END_BIAS, about,
            lambda a: (a.points - middle) * (-1 if a.prompt.cell.labels == 0 else 1),
        )  # fmt: skip
        return
    what = "sentence" if form == "choice" else "answer"
    about = f"share of answers that take the {what} that comes first"
    yield _share_bias(prompted, asked, like, FIRST, about, _said_first)
    about = "share of answers A or 1, whatever they stand for"
    yield _share_bias(prompted, asked, like, FIRST_LABEL, about, _said_label)
    if form == "yesno":
        yield _yes_bias(prompted, asked, like)


def _said_first(answer: Answered) -> float | None:
    return _decided(answer.share(answer.prompt.answers[0]))


def _said_label(answer: Answered) -> float | None:
    labels = {LETTERS[0], DIGITS[0]} & set(answer.prompt.answers)
    return _decided(answer.share(labels.pop())) if labels else None


def _decided(share: float) -> float:
    return HALF if math.isclose(share, HALF, abs_tol=1e-9) else float(share > HALF)


def _by_item(asked: Sequence[Asked], value: Callable[[Answered], float | None]) -> dict[str, float]:
    """The mean of a value over all answers about an item."""
    values: dict[str, list[float]] = {}
    for one in asked:
        for answer in one.answers:
            if (number := value(answer)) is not None:
                values.setdefault(one.item, []).append(number)
    return {item: math.fsum(several) / len(several) for item, several in values.items()}


def _share_bias(
    prompted: PromptedRun,
    asked: Sequence[Asked],
    like: Estimate,
    statistic: str,
    about: str,
    value: Callable[[Answered], float | None],
) -> Estimate:
    """A share of answers with its interval over items, beside a half."""
    shares = _by_item(asked, value)
    design = _design(prompted, list(shares))
    like = dataclasses.replace(
        like, statistic=statistic, description=about, n=len(shares), chance=HALF,
        chance_method="no bias", clustered=design.clustered,
    )  # fmt: skip
    if not shares:
        return dataclasses.replace(like, reason="no answer with such labels was read")
    interval = bounded_mean(list(shares.values()), design, seed=_SEED)
    return dataclasses.replace(
        like,
        value=math.fsum(shares.values()) / len(shares),
        low=interval.low,
        high=interval.high,
        interval_method=interval.method,
        reason=interval.reason or "",
    )


def _mean_bias(
    prompted: PromptedRun,
    asked: Sequence[Asked],
    like: Estimate,
    statistic: str,
    about: str,
    value: Value,
) -> Estimate:
    """A mean of answers with its interval over items, beside 0."""
    means = _by_item(asked, value)
    like = dataclasses.replace(
        like, statistic=statistic, description=about, unit="points", chance=0.0,
        chance_method="no bias",
    )  # fmt: skip
    return mean_estimate(
        mean_of(list(means.values()), _design(prompted, list(means)), seed=_SEED), like
    )


def _yes_bias(prompted: PromptedRun, asked: Sequence[Asked], like: Estimate) -> Estimate:
    """How much more often a sentence is accepted where that is said by yes, than by a letter."""
    language = prompted.options.language or prompted.suite.meta.language
    yes = judgment_wording(language)["yes"][0]

    def by(kind: str) -> dict[str, float]:
        return _by_item(
            asked,
            lambda a: (
                a.chosen
                if a.prompt.kind == kind and (kind == LETTERED or yes in a.prompt.answers)
                else None
            ),
        )

    words, letters = by(WORDS), by(LETTERED)
    gaps = {item: words[item] - letters[item] for item in words if item in letters}
    about = "share of acceptable where it is said by yes, less the share where by a letter"
    like = dataclasses.replace(
        like, statistic=YES_BIAS, description=about, chance=0.0, chance_method="no bias",
        reason="" if gaps else _EVERY_WORDING,
    )  # fmt: skip
    return mean_estimate(
        mean_of(list(gaps.values()), _design(prompted, list(gaps)), seed=_SEED), like
    )


def _by_design(
    prompted: PromptedRun, form: Form, asked: Sequence[Asked], like: Estimate, *, target: str
) -> Iterator[Estimate]:
    """The share of right answers with each wording, pair of answers and order."""
    factors: Mapping[str, Callable[[Answered], str]] = {
        "wording": lambda a: str(a.prompt.cell.wording + 1),
        "labels": lambda a: a.prompt.labels,
        "order": lambda a: "better first" if a.prompt.cell.order == 0 else "better second",
    }

    def right(answer: Answered) -> float:
        is_rival = form == "yesno" and answer.prompt.conditions[0] != target
        return 1 - answer.chosen if is_rival else answer.chosen

    for factor, of in factors.items():
        levels = sorted({of(answer) for one in asked for answer in one.answers})
        for level in levels:
            about = "share of right answers"
            grouped = dataclasses.replace(like, group=factor, level=level, role="detail")

            only = functools.partial(_at_level, level=level, of=of, value=right)
            yield _share_bias(prompted, asked, grouped, about, about, only)


def _at_level(
    answer: Answered, *, level: str, of: Callable[[Answered], str], value: Value
) -> float | None:
    return value(answer) if of(answer) == level else None
