"""The estimates of a run of stories, each number with its interval or why it has none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cimento.paradigms.stories.classification import (
    Confidence,
    choices,
    detect,
    detection_intervals,
    scaled_confidence,
    unbiased_mcc,
)
from cimento.paradigms.stories.grouping import Grouping
from cimento.paradigms.stories.judging import (
    ALL_RIGHT,
    BOTH_ORDERS,
    CHAINED,
    Judged,
    QuestionAnswer,
    answered_questions,
    asked_of,
    judged_run,
)
from cimento.paradigms.stories.prompts import choose_shots
from cimento.paradigms.stories.questions import FIRST, PAIR_TASK
from cimento.paradigms.stories.rates import CHANCE, EMPTY, METRICS, baselines, partial_credit
from cimento.paradigms.stories.suite import CONFLICT, OPTIONS, STATE, STORY, TIERS, Tier
from cimento.runs.estimates import Estimate
from cimento.runs.outcomes import rate
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, share_interval

if TYPE_CHECKING:
    import polars as pl

    from cimento.paradigms.stories.outcomes import TierOutcome
    from cimento.runs.run import Run
    from cimento.statistics.values import Statistic as Number

BY_LOT = "by lot"
BY_LOT_EACH = "by lot at this tier and at all before"
BASELINE = "baseline: "
"""Begins the method of what answers without any knowledge get."""

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
_NONE = Interval(None, None, None, _NO_INTERVAL)

TITLES: Mapping[Tier, str] = {
    STORY: "Is the story plausible?",
    CONFLICT: "Which sentences conflict?",
    STATE: "Which state explains it?",
}


def question_of(tier: Tier) -> str:
    """Of a tier, the question whether a story is right there and at all tiers before."""
    return CHAINED.get(tier, tier)


def chance_of(tier: Tier, *, chained: bool = False) -> float:
    """What drawing an option by lot gets at a tier, or there and at all tiers before."""
    before = TIERS[: TIERS.index(tier) + 1] if chained else (tier,)
    chance = 1.0
    for each in before:
        chance /= len(OPTIONS[each])
    return chance


def tier_estimates(run: Run) -> list[Estimate]:
    """All estimates of a run of the three tiers, the headline first."""
    judged, table = judged_run(run), run.outcomes()
    like = Estimate(suite=run.suite.name, model=run.model, question="")
    found = [_untiered(tier, table, judged, like) for tier in TIERS]
    found += [_chained(tier, table, judged, like) for tier in CHAINED]
    for grouping in judged.groupings:
        found += _metrics(grouping, table, judged, like)
    found += [_given(tier, table, judged, like) for tier in TIERS]
    found += _baselines(judged, like)
    found += _detection(judged, like, seed=asked_of(run)[1].seed)
    for tier in TIERS:
        found += _choices(tier, judged, like, seed=asked_of(run)[1].seed)
    found += _partial(judged, like)
    return [*found, *_by_examples(run, judged, table, like)]


def _untiered(tier: Tier, table: pl.DataFrame, judged: Judged, like: Estimate) -> Estimate:
    """Accuracy at a tier whatever came before; only where all stories were asked there.

    Of some only it is the model's own choice which they are.
    """
    import polars as pl

    like = replace(
        like,
        question=tier,
        role="headline" if tier == STORY else "main",
        description=TITLES[tier],
        chance=chance_of(tier),
        chance_method=BY_LOT,
    )
    asked = {each.row for each in judged.outcomes if each.tier == tier}
    wanted = judged.wanted(tier)
    missing = sum(story.row not in asked for story in wanted)
    if missing:
        there = len(wanted) - missing
        reason = f"{there} of {len(wanted)} stories were asked" if there else "not asked"
        return replace(like, reason=reason)
    return _rate(table.filter(pl.col("question") == tier), like)


def _rate(table: pl.DataFrame, like: Estimate, *, empty: str = EMPTY) -> Estimate:
    found = rate(table, like)
    return found if found.n else replace(found, reason=empty)


def _chained(tier: Tier, table: pl.DataFrame, judged: Judged, like: Estimate) -> Estimate:
    import polars as pl

    question = question_of(tier)
    like = replace(
        like,
        question=question,
        description=f"Right at {tier} and at all tiers before",
        chance=chance_of(tier, chained=True),
        chance_method=BY_LOT_EACH,
    )
    if not judged.chained.known(tier):
        return replace(like, reason=judged.chained.reasons[tier])
    return _rate(table.filter(pl.col("question") == question), like)


def _metrics(
    grouping: Grouping, table: pl.DataFrame, judged: Judged, like: Estimate
) -> Iterator[Estimate]:
    """Accuracy, consistency and verifiability under a grouping: of all that it keeps, by kind."""
    import polars as pl

    for name, (tier, group) in METRICS.items():
        if group is None and not grouping.corrections:
            continue  # of all stories, which have an estimate already
        here = replace(
            like,
            question=question_of(tier),
            group=grouping.label,
            level=group or "",
            role="detail",
            description=name,
            chance=chance_of(tier, chained=True),
            chance_method=BY_LOT if tier == STORY else BY_LOT_EACH,
        )
        if not judged.chained.known(tier):
            yield replace(here, reason=judged.chained.reasons[tier])
            continue
        rows = [str(row) for row in grouping.rows(group, later=tier != STORY)]
        is_here = (pl.col("question") == question_of(tier)) & pl.col("item").is_in(rows)
        found = _rate(table.filter(is_here), here)
        # A story that a correction makes implausible was not asked at the later tiers.
        yield replace(found, unscored=len(rows) - found.n)


def _given(tier: Tier, table: pl.DataFrame, judged: Judged, like: Estimate) -> Estimate:
    """How many of the implausible stories that reach a tier pass it: a step of the flow."""
    import polars as pl

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
    rows = [str(s.row) for s in judged.wanted(CONFLICT) if tier == STORY or passed[s.row]]
    is_here = (pl.col("question") == tier) & pl.col("item").is_in(rows)
    return _rate(table.filter(is_here), like, empty="no story reached it")


def _baselines(judged: Judged, like: Estimate) -> Iterator[Estimate]:
    for grouping in judged.groupings:
        for answers, metrics in baselines(judged.stories, grouping).items():
            if answers == CHANCE:
                continue
            for name, value in metrics.items():
                tier, group = METRICS[name]
                yield replace(
                    like,
                    question=question_of(tier),
                    method=f"{BASELINE}{answers}",
                    group=grouping.label,
                    level=group or "",
                    role="detail",
                    description=f"{name} of answers without any knowledge",
                    value=value,
                    reason=_COUNTED if value is not None else EMPTY,
                    n=len(grouping.rows(group, later=tier != STORY)),
                )


def _detection(judged: Judged, like: Estimate, *, seed: int) -> Iterator[Estimate]:
    """The first tier as detection of plausible stories, and its bias."""
    found = detect(judged.stories, judged.outcomes)
    intervals = detection_intervals(judged.stories, judged.outcomes)
    best = unbiased_mcc(judged.stories, judged.outcomes, seed=seed)
    like = replace(like, question=STORY, role="detail", n=found.answered)
    numbers: dict[str, Number] = {
        "TPR": found.tpr,
        "TNR": found.tnr,
        "balanced accuracy": found.balanced_accuracy,
        "MCC": found.mcc,
        "AUC": found.auc,
        "accuracy of sibling pairs": found.sibling_pair_accuracy,
        "mean margin of true over false": found.mean_margin_nats,
    }
    names = {
        "balanced accuracy": "balanced_accuracy",
        "AUC": "auc",
        "accuracy of sibling pairs": "sibling_pair_accuracy",
    }
    for name, number in numbers.items():
        interval = intervals.get(names.get(name, "")) or _NONE
        yield _number(name, number.value, number.reason, interval, like)
    for label, share in found.answers.items():
        yield replace(like, statistic=f"share of answers {label}", value=share, reason=_NO_INTERVAL)
    for name, value in {"d'": found.d_prime, "criterion": found.criterion}.items():
        yield _number(name, value, "one class only", _NONE, like)
    yield _number("MCC at a held-out threshold", best.mcc, best.reason, _NONE, like)
    yield _number("MCC at the best threshold", best.mcc_in_sample, best.reason, _NONE, like)


def _number(
    name: str, value: float | None, reason: str | None, interval: Interval, like: Estimate
) -> Estimate:
    if value is None:
        return replace(like, statistic=name, reason=reason or "undefined")
    return replace(
        like,
        statistic=name,
        unit="nats" if name.startswith(("mean margin", "NLL")) else "",
        value=value,
        low=interval.low,
        high=interval.high,
        interval_method=interval.method,
        reason=interval.reason or "",
    )


def _choices(tier: Tier, judged: Judged, like: Estimate, *, seed: int) -> Iterator[Estimate]:
    """The answers at a tier as choices among options, whichever stories were asked about."""
    if not any(each.tier == tier for each in judged.outcomes):
        return
    found = choices(judged.outcomes, tier)
    like = replace(like, question=tier, role="detail", n=found.n)
    shares = {
        "accuracy of those asked": found.acc,
        "accuracy by characters": found.acc_norm_chars,
        "majority": found.majority,
        "an option is greedy": found.any_choice_greedy_rate,
    }
    for name, share in shares.items():
        yield _number(name, share.value, share.reason, _NONE, like)
    if found.confidence is None:
        return
    yield from _confidence(found.confidence, like)
    scaled = scaled_confidence(judged.outcomes, tier, stories=judged.stories, seed=seed)
    for name, value in {
        "temperature": scaled.temperature,
        "NLL at that temperature": scaled.nll_scaled,
        "ECE at that temperature": scaled.ece_scaled,
    }.items():
        yield _number(name, value, scaled.reason, _NONE, replace(like, n=found.scored))


def _confidence(found: Confidence, like: Estimate) -> Iterator[Estimate]:
    like = replace(like, n=found.n)
    yield _number("Brier score", found.brier_sum.value, found.brier_sum.reason, _NONE, like)
    yield _number("NLL", found.nll.value, found.nll.reason, _NONE, like)
    yield _number("ECE", found.calibration.ece, found.calibration.reason, _NONE, like)
    yield _number("mean confidence", found.mean_confidence, None, _NONE, like)


def _partial(judged: Judged, like: Estimate) -> Iterator[Estimate]:
    """How near wrong answers are, over all answers with a label at the later tiers."""
    found = partial_credit(judged.outcomes)
    rows: dict[Tier, list[TierOutcome]] = {
        tier: [o for o in judged.outcomes if o.tier == tier and o.gold and o.chosen]
        for tier in (CONFLICT, STATE)
    }
    shares: dict[str, tuple[Tier, int]] = {
        "exactly one sentence right": (CONFLICT, found.one_right),
        "breakpoint right": (CONFLICT, found.breakpoint_right),
        "conflicting sentence right": (CONFLICT, found.conflicting_right),
        "state of the same family": (STATE, found.family_right),
    }
    for name, (tier, right) in shares.items():
        here = replace(like, question=tier, method=PARTLY, statistic=name, role="detail")
        yield _share(right, [o.row for o in rows[tier]], here)
    n = found.n_pairs
    here = replace(like, question=CONFLICT, method=PARTLY, role="detail", n=n)
    yield _number("mean distance", found.mean_distance, "no answers", _NONE, here)


def _share(right: int, rows: Sequence[int], like: Estimate) -> Estimate:
    """A share that is counted over answers, without an interval of its own."""
    n = len(rows)
    if not n:
        return replace(like, right=0, reason="no answers")
    return replace(like, value=right / n, n=n, right=right, reason=_NO_INTERVAL)


def _by_examples(
    run: Run, judged: Judged, table: pl.DataFrame, like: Estimate
) -> Iterator[Estimate]:
    """Accuracy of the first tier by how many of the worked examples are plausible stories."""
    suite, options = asked_of(run)
    if run.model_kind == "replay" or not options.shots or not judged.outcomes:
        return
    import polars as pl

    shots = choose_shots(STORY, suite.asked, suite.stories, options.examples)
    counts = {
        str(story.row): sum(shot.plausible for shot in some)
        for story, some in zip(suite.asked, shots, strict=True)
    }
    for number in sorted(set(counts.values())):
        rows = [item for item, count in counts.items() if count == number]
        is_here = (pl.col("question") == STORY) & pl.col("item").is_in(rows)
        here = replace(
            like, question=STORY, group="plausible examples", level=str(number), role="detail",
            chance=chance_of(STORY), chance_method=BY_LOT,
        )  # fmt: skip
        yield _rate(table.filter(is_here), here)


def question_estimates(run: Run) -> list[Estimate]:
    """Questions that are right, and stories of which all questions are.

    For pairs also how often the story that stands first is chosen: one half is no preference.
    """
    import polars as pl

    answers, table = answered_questions(run), run.outcomes()
    like = Estimate(suite=run.suite.name, model=run.model, question=QUESTIONS, role="headline")
    is_pair = any(answer.question.task == PAIR_TASK for answer in answers)
    whole = BOTH_ORDERS if is_pair else ALL_RIGHT
    chance = (0.5, 0.25) if is_pair else (None, None)
    method = BY_LOT if is_pair else "it differs from question to question"
    alone = replace(like, chance=chance[0], chance_method=method)
    stories = replace(like, question=whole, role="main", chance=chance[1], chance_method=method)
    found = [
        _rate(table.filter(pl.col("question") != whole), alone, empty="nothing was asked"),
        _rate(table.filter(pl.col("question") == whole), stories, empty="nothing was asked"),
    ]
    return [*found, *([_first_chosen(answers, like)] if is_pair else [])]


def _first_chosen(answers: Iterable[QuestionAnswer], like: Estimate) -> Estimate:
    known = list(answers)
    first = [answer.chosen == FIRST for answer in known]
    like = replace(like, question=FIRST_CHOSEN, statistic="share of answers", role="main")
    if not known:
        return replace(like, right=0, reason="nothing was asked")
    stories = [answer.question.story for answer in known]
    design = Design(tuple(range(len(known))), tuple(story.story_id for story in stories))
    interval = share_interval(first, design)
    return replace(
        like,
        value=sum(first) / len(first),
        low=interval.low,
        high=interval.high,
        interval_method=interval.method,
        reason=interval.reason or "",
        n=len(first),
        right=sum(first),
        clustered=design.clustered,
    )
