"""The estimates of a run of stories, each number with its interval or why it has none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cimento.io.values import group_by
from cimento.paradigms.stories.classification import (
    choices,
    detect,
    detection_intervals,
    scaled_confidence,
    share,
    unbiased_mcc,
)
from cimento.paradigms.stories.judging import (
    ALL_RIGHT,
    BOTH_ORDERS,
    CHAINED,
    AnsweredQuestion,
    JudgedAnswers,
    answered_questions,
    asked_of,
    judged_run,
)
from cimento.paradigms.stories.metrics import (
    CHANCE,
    EMPTY,
    METRICS,
    baselines,
    chance_of,
    partial_credit,
)
from cimento.paradigms.stories.options import Grouping
from cimento.paradigms.stories.prompts import choose_shots
from cimento.paradigms.stories.rounds import FIRST, PAIR_TASK
from cimento.records.outcomes import BASELINE, Estimate, rate
from cimento.statistics.design import Design, Statistic
from cimento.statistics.intervals import Interval, share_interval
from cimento.suites.stories import CONFLICT, STATE, STORY, TIERS, Tier

if TYPE_CHECKING:
    import polars as pl

    from cimento.kinds.run import Run

BY_LOT = "answers drawn at random"
BY_LOT_EACH = "answers drawn at random at this tier and at all tiers before"
GIVEN: Mapping[Tier, str] = {
    STORY: "implausible stories",
    CONFLICT: f"right at {STORY}",
    STATE: f"right at {CONFLICT} and before",
}
"""What the stories of a conditional rate, and of a step of the flow, have in common."""

PARTLY = "partial credit"
"""The method of estimates of how near wrong answers are."""

QUESTIONS = "questions"
FIRST_CHOSEN = "first story chosen"
_COUNTED = "it is counted, and no sample"
_NO_INTERVAL = "no interval is made of it"
_DETECTION = {
    "TPR": "tpr",
    "TNR": "tnr",
    "balanced accuracy": "balanced_accuracy",
    "MCC": "mcc",
    "AUC": "auc",
    "accuracy of sibling pairs": "sibling_pair_accuracy",
    "mean margin of true over false": "mean_margin_nats",
}
"""Statistic to the field of a `ConflictDetection`."""

_NONE = Interval(None, None, None, _NO_INTERVAL)

TITLES: Mapping[Tier, str] = {
    STORY: "Is the story plausible?",
    CONFLICT: "Which sentences conflict?",
    STATE: "Which state explains it?",
}


def tier_question(tier: Tier) -> str:
    """The question whether a story is right at a tier and at all tiers before."""
    return CHAINED.get(tier, tier)


def tier_estimates(run: Run) -> list[Estimate]:
    """All estimates of a run of the three tiers, the headline first."""
    judged, table = judged_run(run), run.outcomes()
    like = Estimate(suite=run.suite.name, model=run.model, question="")
    estimates = [_untiered(tier, table, judged, like) for tier in TIERS]
    estimates += [_chained(tier, table, judged, like) for tier in CHAINED]
    for grouping in judged.groupings:
        estimates += _metrics(grouping, table, judged, like)
    estimates += [_given(tier, table, judged, like) for tier in TIERS]
    estimates += _baselines(judged, like)
    estimates += _detection(judged, like, seed=asked_of(run)[1].seed)
    for tier in TIERS:
        estimates += _choices(tier, judged, like, seed=asked_of(run)[1].seed)
    estimates += _partial(judged, like)
    return [*estimates, *_by_examples(run, judged, table, like)]


def _untiered(tier: Tier, table: pl.DataFrame, judged: JudgedAnswers, like: Estimate) -> Estimate:
    """Accuracy at a tier whatever came before; only where all stories were asked there.

    Of some only it is the model's own choice which they are.
    """
    like = replace(
        like,
        question=tier,
        role="headline" if tier == STORY else "main",
        description=TITLES[tier],
        chance=chance_of(tier),
        chance_method=BY_LOT,
    )
    asked = {outcome.row for outcome in judged.outcomes if outcome.tier == tier}
    wanted = judged.wanted(tier)
    there = sum(story.row in asked for story in wanted)
    if there < len(wanted):
        reason = f"{there} of {len(wanted)} stories were asked" if there else "not asked"
        return replace(like, reason=reason)
    return _rate(table, like)


def _rate(
    table: pl.DataFrame,
    like: Estimate,
    rows: Iterable[int] | None = None,
    *,
    empty: str = EMPTY,
) -> Estimate:
    """The proportion of right outcomes of a question, over all stories or over some of them."""
    import polars as pl

    is_here = pl.col("question") == like.question
    if rows is not None:
        is_here &= pl.col("item").is_in(list(map(str, rows)))
    estimate = rate(table.filter(is_here), like)
    return estimate if estimate.n else replace(estimate, reason=empty)


def _chained(tier: Tier, table: pl.DataFrame, judged: JudgedAnswers, like: Estimate) -> Estimate:
    like = replace(
        like,
        question=tier_question(tier),
        description=f"Right at {tier} and at all tiers before",
        chance=chance_of(tier, chained=True),
        chance_method=BY_LOT_EACH,
    )
    if not judged.chained.known(tier):
        return replace(like, reason=judged.chained.reasons[tier])
    return _rate(table, like)


def _metrics(
    grouping: Grouping, table: pl.DataFrame, judged: JudgedAnswers, like: Estimate
) -> Iterator[Estimate]:
    """Accuracy, consistency and verifiability under a grouping: of all that it keeps, by kind."""
    for name, (tier, group) in METRICS.items():
        if group is None and not grouping.corrections:
            continue  # of all stories, which have an estimate already
        cell = replace(
            like,
            question=tier_question(tier),
            group=grouping.label,
            level=group or "",
            role="detail",
            description=name,
            chance=chance_of(tier, chained=True),
            chance_method=BY_LOT if tier == STORY else BY_LOT_EACH,
        )
        if not judged.chained.known(tier):
            yield replace(cell, reason=judged.chained.reasons[tier])
            continue
        rows = grouping.rows(group, later=tier != STORY)
        estimate = _rate(table, cell, rows)
        # A story that a correction makes implausible was not asked at the later tiers.
        yield replace(estimate, unscored=len(rows) - estimate.n)


def _given(tier: Tier, table: pl.DataFrame, judged: JudgedAnswers, like: Estimate) -> Estimate:
    """Proportion of the implausible stories reaching a tier that pass it: a step of the flow."""
    like = replace(
        like,
        question=tier,
        method=f"given {GIVEN[tier]}",
        statistic="conditional accuracy",
        role="detail",
        description=f"Accuracy over implausible stories: {GIVEN[tier]}",
        chance=chance_of(tier),
        chance_method=BY_LOT,
    )
    if not judged.chained.known(tier):
        return replace(like, reason=judged.chained.reasons[tier])
    passed = judged.chained.passed[TIERS[TIERS.index(tier) - 1]] if tier != STORY else {}
    rows = [s.row for s in judged.wanted(CONFLICT) if tier == STORY or passed[s.row]]
    return _rate(table, like, rows, empty="no story reached it")


def _baselines(judged: JudgedAnswers, like: Estimate) -> Iterator[Estimate]:
    for grouping in judged.groupings:
        for answers, metrics in baselines(judged.stories, grouping).items():
            if answers == CHANCE:
                continue
            for name, value in metrics.items():
                tier, group = METRICS[name]
                yield replace(
                    like,
                    question=tier_question(tier),
                    method=f"{BASELINE}{answers}",
                    group=grouping.label,
                    level=group or "",
                    role="detail",
                    description=f"{name} of answers without any knowledge",
                    value=value,
                    reason=_COUNTED if value is not None else EMPTY,
                    n=len(grouping.rows(group, later=tier != STORY)),
                )


def _detection(judged: JudgedAnswers, like: Estimate, *, seed: int) -> Iterator[Estimate]:
    """The first tier as detection of plausible stories, and its bias."""
    detection = detect(judged.stories, judged.outcomes)
    intervals = detection_intervals(judged.stories, judged.outcomes)
    best = unbiased_mcc(judged.stories, judged.outcomes, seed=seed)
    like = replace(like, question=STORY, role="detail", n=detection.answered)
    for statistic, name in _DETECTION.items():
        yield _number(statistic, getattr(detection, name), like, intervals.get(name, _NONE))
    for label, value in detection.answers.items():
        yield _number(f"proportion of answers {label}", Statistic(value), like)
    for name, number in {"d'": detection.d_prime, "criterion": detection.criterion}.items():
        yield _number(name, Statistic(number, "one class only"), like)
    yield _number("MCC at a held-out threshold", Statistic(best.mcc, best.reason), like)
    yield _number("MCC at the best threshold", Statistic(best.mcc_in_sample, best.reason), like)


def _number(name: str, number: Statistic, like: Estimate, interval: Interval = _NONE) -> Estimate:
    """A number with its interval, or why it has none."""
    if number.value is None:
        return replace(like, statistic=name, reason=number.reason or "undefined")
    return replace(
        like,
        statistic=name,
        unit="nats" if name.startswith(("mean margin", "NLL")) else "",
        value=number.value,
        low=interval.low,
        high=interval.high,
        interval_method=interval.method,
        reason=interval.reason or "",
    )


def _choices(tier: Tier, judged: JudgedAnswers, like: Estimate, *, seed: int) -> Iterator[Estimate]:
    """The answers at a tier as choices among options, whichever stories were asked about."""
    if not any(outcome.tier == tier for outcome in judged.outcomes):
        return
    answers = choices(judged.outcomes, tier)
    like = replace(like, question=tier, role="detail", n=answers.n)
    yield _number("accuracy of those asked", answers.acc, like)
    yield _number("accuracy by characters", answers.acc_norm_chars, like)
    yield _number("majority", answers.majority, like)
    yield _number("an option is greedy", answers.any_choice_greedy_rate, like)
    confidence = answers.confidence
    if confidence is None:
        return
    like = replace(like, n=confidence.n)
    error = Statistic(confidence.calibration.ece, confidence.calibration.reason)
    yield _number("Brier score", confidence.brier_sum, like)
    yield _number("NLL", confidence.nll, like)
    yield _number("ECE", error, like)
    yield _number("mean confidence", Statistic(confidence.mean_confidence), like)
    scaled = scaled_confidence(judged.outcomes, tier, stories=judged.stories, seed=seed)
    like = replace(like, n=answers.scored)
    for name, value in {
        "temperature": scaled.temperature,
        "NLL at that temperature": scaled.nll_scaled,
        "ECE at that temperature": scaled.ece_scaled,
    }.items():
        yield _number(name, Statistic(value, scaled.reason), like)


def _partial(judged: JudgedAnswers, like: Estimate) -> Iterator[Estimate]:
    """The nearness of wrong answers, over all answers with a label at the later tiers."""
    credit = partial_credit(judged.outcomes)
    for name, (tier, right, n) in {
        "exactly one sentence right": (CONFLICT, credit.one_right, credit.n_pairs),
        "breakpoint right": (CONFLICT, credit.breakpoint_right, credit.n_pairs),
        "conflicting sentence right": (CONFLICT, credit.conflicting_right, credit.n_pairs),
        "state of the same family": (STATE, credit.family_right, credit.n_states),
    }.items():
        value = Statistic(right / n) if n else Statistic(None, "no answers")
        alike = replace(like, question=tier, method=PARTLY, role="detail", right=right, n=n)
        yield _number(name, value, alike)
    like = replace(like, question=CONFLICT, method=PARTLY, role="detail", n=credit.n_pairs)
    yield _number("mean distance", Statistic(credit.mean_distance, "no answers"), like)


def _by_examples(
    run: Run, judged: JudgedAnswers, table: pl.DataFrame, like: Estimate
) -> Iterator[Estimate]:
    """Accuracy of the first tier by how many of the worked examples are plausible stories."""
    suite, options = asked_of(run)
    if run.model_kind == "replay" or not options.shots or not judged.outcomes:
        return
    shots = choose_shots(STORY, suite.asked, suite.stories, options.examples)
    counts = {
        story.row: sum(shot.plausible for shot in examples)
        for story, examples in zip(suite.asked, shots, strict=True)
    }
    for number, rows in sorted(group_by(counts, counts.__getitem__).items()):
        accuracy = replace(
            like, question=STORY, group="plausible examples", level=str(number), role="detail",
            chance=chance_of(STORY), chance_method=BY_LOT,
        )  # fmt: skip
        yield _rate(table, accuracy, rows)


def question_estimates(run: Run) -> list[Estimate]:
    """Questions that are right, and stories of which all questions are.

    For pairs also how often the story that comes first is chosen: one half is not a preference.
    """
    import polars as pl

    answers, table = answered_questions(run), run.outcomes()
    like = Estimate(suite=run.suite.name, model=run.model, question=QUESTIONS, role="headline")
    is_pair = any(question.task == PAIR_TASK for question, _ in answers)
    whole = BOTH_ORDERS if is_pair else ALL_RIGHT
    chance = (0.5, 0.25) if is_pair else (None, None)
    method = BY_LOT if is_pair else "it differs from question to question"
    alone = replace(like, chance=chance[0], chance_method=method)
    stories = replace(like, question=whole, role="main", chance=chance[1], chance_method=method)
    single = table.with_columns(question=pl.lit(QUESTIONS)).filter(table["question"] != whole)
    estimates = [
        _rate(single, alone, empty="nothing was asked"),
        _rate(table, stories, empty="nothing was asked"),
    ]
    return [*estimates, *([_first_chosen(answers, like)] if is_pair else [])]


def _first_chosen(answers: Sequence[AnsweredQuestion], like: Estimate) -> Estimate:
    first = [outcome.chosen == FIRST for _, outcome in answers]
    clusters = tuple(question.story.belongs_to for question, _ in answers)
    design = Design(tuple(range(len(first))), clusters)
    like = replace(
        like, question=FIRST_CHOSEN, role="main", right=sum(first), n=len(first),
        clustered=design.clustered,
    )  # fmt: skip
    value, interval = share(first, "nothing was asked"), share_interval(first, design)
    return _number("proportion of answers", value, like, interval)
