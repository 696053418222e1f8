"""GITA4CALAMITA (Pensa et al. 2024): its metrics, prompts and draws from recorded answers.

Here is the record of one model's answers, as the study reports them, beside what was published.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from pathlib import Path

from cimento.paradigms import JsonValue
from cimento.paradigms.stories import (
    CONFLICT,
    CONFLICT_KINDS,
    METRICS,
    STATE,
    STORY,
    TIERS,
    TRUE,
    Chain,
    Choices,
    Grouping,
    JudgedAnswers,
    Rate,
    RecordedAnswers,
    Story,
    Tier,
    baselines,
    by_true_shots,
    choices,
    confusions,
    constant_answers,
    detect,
    detection_intervals,
    flow,
    judge_stories,
    majority_labels,
    metric_values,
    partial_credit,
    rate_of,
    rates,
    scaled_confidence,
    survivors,
    unbiased_mcc,
)
from cimento.statistics import (
    Difference,
    Significance,
    Statistic,
    bootstrap,
    holm,
    mcnemar,
    share_difference,
    share_test,
    wilson,
)
from cimento.studies.stories.prompts import rebuild


def record_as_json(value: object) -> JsonValue:
    """A record as JSON; an undefined number named ``x`` is null, with ``x_reason`` beside it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    if isinstance(value, Mapping):
        return {str(key): record_as_json(child) for key, child in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Sequence | frozenset | set):
        return [record_as_json(child) for child in value]
    return str(value)


def _fields(record: object) -> dict[str, JsonValue]:
    plain: dict[str, JsonValue] = {}
    for field in dataclasses.fields(record):  # type: ignore[arg-type]  # seen to be a record above
        value = getattr(record, field.name)
        if isinstance(value, Statistic):
            plain[field.name] = value.value
            if value.value is None:
                plain[f"{field.name}_reason"] = value.reason
        elif field.name != "reason" or value:
            plain[field.name] = record_as_json(value)
    return plain


_FILE = Path(__file__).parents[2] / "data" / "studies" / "stories.json"

TABLE_3 = (
    "Accuracy", "Cloze Accuracy", "Order Accuracy", "Plausible Accuracy", "Consistency",
    "Cloze Consistency", "Order Consistency", "Verifiability", "Cloze Verifiability",
    "Order Verifiability",
)  # fmt: skip
"""The columns of the paper's Table 3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedModel:
    """What was published about one model.

    Attributes:
        chat_template: what its recorded prompts were rendered by; None for flat text.
        metrics_txt: metric to the value in the authors' log; None where there is no log.
        table3_percent: metric to the percentage printed; None where the model is not there.
    """

    chat_template: str | None = None
    metrics_txt: Mapping[str, float] | None = None
    table3_percent: Mapping[str, float] | None = None


def published_model(stem: str) -> PublishedModel | None:
    """What was published about a model; None where nothing is known."""
    return _load().get(stem)


def published_rows() -> dict[str, Mapping[str, str]]:
    """The ten rows of Table 3 in percent, with their digits: model to metric to number.

    Of models whose row is not in the preprint's table, the authors' log rounded.
    """
    return {
        name: {
            metric: f"{(facts.table3_percent or {}).get(metric, 100 * value):.2f}"
            for metric, value in (facts.metrics_txt or {}).items()
        }
        for name, facts in _load().items()
    }


@cache
def _load() -> dict[str, PublishedModel]:
    models = json.loads(_FILE.read_text(encoding="utf-8"))["models"]
    return {name: PublishedModel(**content) for name, content in models.items()}


def summarize_stories(judged: JudgedAnswers, *, seed: int) -> dict[str, JsonValue]:
    """All measures of one model as JSON.

    Args:
        judged: its answers.
        seed: of folds.
    """
    stories, outcomes, chained = judged.stories, judged.outcomes, judged.chained
    first = judged.groupings[0]
    return {
        "grouping": first.name,
        "n_recorded": {tier: sum(outcome.tier == tier for outcome in outcomes) for tier in TIERS},
        "rates": {
            grouping.name: record_as_json(rates(chained, grouping)) for grouping in judged.groupings
        },
        "flow": record_as_json(flow(stories, chained)),
        "conditional": record_as_json(conditional_rates(chained)),
        "untiered": {tier: record_as_json(untiered_rate(judged, tier)) for tier in TIERS},
        "baselines": record_as_json(baselines(stories, first)),
        "baselines_by_grouping": {
            grouping.name: record_as_json(baselines(stories, grouping))
            for grouping in judged.groupings
        },
        "constant": constant_summary(stories),
        "detection": record_as_json(detect(stories, outcomes)),
        "detection_intervals": record_as_json(detection_intervals(stories, outcomes)),
        "threshold": record_as_json(unbiased_mcc(stories, outcomes, seed=seed)),
        "per_task": {
            tier: record_as_json(choices(outcomes, tier))
            for tier in TIERS
            if any(outcome.tier == tier for outcome in outcomes)
        },
        "temperature": {
            tier: record_as_json(scaled_confidence(outcomes, tier, stories=stories, seed=seed))
            for tier in TIERS
        },
        **_survivors(stories, chained, CONFLICT_KINDS),
        "by_true_shots": record_as_json(by_true_shots(stories, outcomes)),
        "confusion_physical_state": record_as_json(confusions(outcomes)),
        "partial_credit": record_as_json(partial_credit(outcomes)),
    }


def constant_summary(stories: Sequence[Story]) -> dict[str, JsonValue]:
    """What "false" with the majority pair and state gets, broken down as a model's answers are."""
    answers = constant_answers(stories, majority_labels(stories))
    judged = judge_stories(stories, answers)
    return {
        "flow": record_as_json(flow(stories, judged.chained)),
        "detection": record_as_json(detect(stories, judged.outcomes)),
        **_survivors(stories, judged.chained, CONFLICT_KINDS[:3]),
        "partial_credit": record_as_json(partial_credit(judged.outcomes)),
    }


def _survivors(
    stories: Sequence[Story], chained: Chain, kinds: Sequence[str]
) -> dict[str, JsonValue]:
    return {f"by_{kind}": record_as_json(survivors(stories, chained, kind)) for kind in kinds}


def conditional_rates(chained: Chain) -> dict[str, Rate]:
    """How many of the implausible stories that reach a later tier pass it."""
    names = {"conflict_given_story": (STORY, CONFLICT), "state_given_conflict": (CONFLICT, STATE)}
    by_name = {}
    for name, (before, tier) in names.items():
        passed = chained.passed
        values = {
            row: value
            for row, value in passed[tier].items()
            if passed[before][row] and value is not None
        }
        by_name[name] = (
            rate_of(name, values, chained, reason="no story reached it")
            if chained.known(tier)
            else Rate(name=name, value=None, count=None, reason=chained.reasons[tier])
        )
    return by_name


def untiered_rate(judged: JudgedAnswers, tier: Tier) -> Rate:
    """Accuracy at one tier over all stories that have a correct answer there, whatever came before.

    It is None where only some of them were asked, because these are then the model's own choice.
    """
    wanted = {story.row for story in judged.wanted(tier)}
    asked = (outcome for outcome in judged.outcomes if outcome.tier == tier)
    values = {outcome.row: outcome.correct for outcome in asked if outcome.row in wanted}
    if len(values) < len(wanted):
        reason = f"{len(values)} of {len(wanted)} stories were asked" if values else "not asked"
        return Rate(name="untiered", value=None, count=None, reason=reason)
    return rate_of("untiered", values, judged.chained, reason="there is no such story")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryComparison:
    """Two models on the stories that both have an answer to.

    Attributes:
        first: one model.
        second: the other.
        n: stories compared.
        only_first_correct: right in the first only.
        only_second_correct: right in the second only.
        change: second minus first, with its interval; None where nothing can be compared.
        test: of the two shares; None as for `change`.
        p_holm: its p, corrected for all pairs of models compared together; None where there is
            one pair.
        reason: why nothing can be compared.
    """

    first: str
    second: str
    n: int
    only_first_correct: int = 0
    only_second_correct: int = 0
    change: Difference | None = None
    test: Significance | None = None
    p_holm: float | None = None
    reason: str = ""


def compare_at_tier(
    chains: Mapping[str, Chain], *, tier: Tier = STORY
) -> tuple[StoryComparison, ...]:
    """Every pair of models at a tier, counted through the chain, stories of a triple together.

    Args:
        chains: model to its chain, all over the same stories.
        tier: right at this tier and all before.
    """
    comparisons = [
        _compare(first, second, chains[first], chains[second], tier)
        for first, second in combinations(sorted(chains), 2)
    ]
    if len(comparisons) == 1:
        return tuple(comparisons)
    adjusted = holm([one.test.p if one.test else None for one in comparisons])
    return tuple(replace(one, p_holm=p) for one, p in zip(comparisons, adjusted, strict=True))


def _compare(first: str, second: str, one: Chain, other: Chain, tier: Tier) -> StoryComparison:
    silent = [
        f"{name}: {chain.reasons[tier]}"
        for name, chain in ((first, one), (second, other))
        if not chain.known(tier)
    ]
    a, b = one.passed[tier], other.passed[tier]
    rows = [row for row, value in a.items() if value is not None and b.get(row) is not None]
    if silent or not rows:
        reason = "; ".join(silent) or "no story in common"
        return StoryComparison(first=first, second=second, n=0, reason=reason)
    columns = [[bool(chain.passed[tier][row]) for row in rows] for chain in (one, other)]
    pairs = list(zip(*columns, strict=True))
    design = one.design(rows)
    return StoryComparison(
        first=first,
        second=second,
        n=len(rows),
        only_first_correct=pairs.count((True, False)),
        only_second_correct=pairs.count((False, True)),
        change=share_difference(columns[1], columns[0], design),
        test=share_test(columns[1], columns[0], design),
    )


MORE = "more"


def study_record(
    stories: Sequence[Story], responses: RecordedAnswers, *, seed: int, draws: int
) -> dict[str, JsonValue]:
    """Every number of the study for one model, under the names it is reported by.

    ``paper_code`` and ``corrected`` are the two groupings; ``wilson95`` and
    ``cluster_bootstrap95_paper_code`` are the intervals of the reference, ``interval`` is the one
    that respects triples. Under ``more`` is what the study did not report.

    Args:
        stories: as published, uncorrected.
        responses: of one model.
        seed: of the bootstrap.
        draws: of the bootstrap.
    """
    judged = judge_stories(stories, responses.answers, first_of_ties=True)
    chained = judged.chained
    facts = published_model(responses.model)
    by_name = {grouping.name: grouping for grouping in judged.groupings}
    more = summarize_stories(judged, seed=seed)
    record: dict[str, JsonValue] = {
        "model": responses.model,
        "chat_template": facts.chat_template if facts else None,
        "n_recorded": more["n_recorded"],
        "paper_code": _grouped(chained, by_name["paper_code"]),
        "corrected": _grouped(chained, by_name["corrected"]) if "corrected" in by_name else None,
        "cluster_bootstrap95_paper_code": record_as_json(
            bootstrap_intervals(chained, by_name["paper_code"], seed=seed, draws=draws)
        ),
        "conditional": {name: rate.value for name, rate in conditional_rates(chained).items()},
        "type_field_accuracy": _type_accuracy(chained, by_name["type"]),
        "bias": _bias(judged),
        "per_task": {
            tier: _task(chosen)
            for tier in TIERS
            if (chosen := choices(judged.outcomes, tier)).scored
        },
        "by_state_implausible": more["by_state"],
        "by_conflict_distance": more["by_distance"],
    }
    if any(outcome.tier == STATE and outcome.chosen for outcome in judged.outcomes):
        record["confusion_physical_state"] = more["confusion_physical_state"]
    record["published_metrics_txt"] = record_as_json(facts.metrics_txt if facts else None)
    record["published_table3_percent"] = record_as_json(facts.table3_percent if facts else None)
    # Only what the study's models were asked was made by its protocol.
    rebuilt = rebuild(stories, responses, chained, facts.chat_template) if facts else {}
    record[MORE] = {"prompts": record_as_json(rebuilt), **more}
    return record


def paired_record(
    stories: Sequence[Story], models: Sequence[RecordedAnswers]
) -> dict[str, JsonValue]:
    """Every pair of models at the first tier, stories of a triple together, with Holm's correction.

    ``mcnemar_exact_p`` is the reference's, which counts the stories of a triple as independent.
    """
    chains = {
        model.model: judge_stories(stories, model.answers, first_of_ties=True).chained
        for model in models
    }
    return {
        f"{comparison.first} vs {comparison.second}": {
            "only_first_correct": comparison.only_first_correct,
            "only_second_correct": comparison.only_second_correct,
            "mcnemar_exact_p": mcnemar(
                comparison.only_first_correct, comparison.only_second_correct
            ).p
            if comparison.test
            else None,
            "n": comparison.n,
            "change": record_as_json(comparison.change),
            "test": record_as_json(comparison.test),
            "p_holm": comparison.p_holm,
            **({"reason": comparison.reason} if comparison.reason else {}),
        }
        for comparison in compare_at_tier(chains)
    }


def bootstrap_intervals(
    chained: Chain, grouping: Grouping, *, seed: int, draws: int
) -> dict[str, tuple[float, float] | None]:
    """The reference's interval (95%) of each metric: percentile bootstrap over whole triples.

    Where all draws are equal, which a proportion of 0 or 1 always gives, both ends are the value,
    as in the reference. It is here for comparison alone; `rates` has the interval that is shown.

    Returns:
        None for metrics that have no value.
    """
    intervals: dict[str, tuple[float, float] | None] = {}
    for name, (tier, _) in METRICS.items():
        values = {
            row: float(value)
            for row, value in metric_values(name, chained, grouping).items()
            if value is not None
        }
        if not values or not chained.known(tier):
            intervals[name] = None
            continue
        right = list(values.values())
        drawn = bootstrap(
            right,
            lambda rows: float(rows.mean()),
            chained.design(values),
            seed=seed,
            draws=draws,
            method="percentile",
            several=lambda rows: rows.mean(axis=1),
        )
        equal = len(set(right)) == 1
        low, high = (right[0], right[0]) if equal else (drawn.low, drawn.high)
        intervals[name] = None if low is None or high is None else (low, high)
    return intervals


def _grouped(chained: Chain, grouping: Grouping) -> dict[str, JsonValue]:
    by_name = rates(chained, grouping)
    return {
        "value": {name: rate.value for name, rate in by_name.items()},
        "count": {
            name: None if rate.value is None else record_as_json(rate.count)
            for name, rate in by_name.items()
        },
        # The reference's: each story as if it stood alone.
        "wilson95": {
            name: record_as_json(wilson(rate.value, rate.count[1]))
            if rate.value is not None and rate.count
            else None
            for name, rate in by_name.items()
        },
        "interval": {name: record_as_json(rate.interval) for name, rate in by_name.items()},
    }


def _type_accuracy(chained: Chain, grouping: Grouping) -> dict[str, JsonValue]:
    by_name = rates(chained, grouping)
    names = ("order", "cloze", "plausible")
    return {name: by_name[f"{name.capitalize()} Accuracy"].value for name in names}


def _bias(judged: JudgedAnswers) -> dict[str, JsonValue]:
    """The first tier as a detection task.

    Matthews's correlation of a constant answer, which is undefined, is 0 here, as the study's
    reference values have it; ``mcc_reason`` says so.
    """
    detection = detect(judged.stories, judged.outcomes)
    counts = detection.counts
    measures = ("tpr", "tnr", "balanced_accuracy", "mcc", "auc", "sibling_pair_accuracy")
    record: dict[str, JsonValue] = {
        "p_answer_true": detection.answers.get(TRUE),
        **{name: getattr(counts, name) for name in ("tp", "tn", "fp", "fn")},
        **{name: getattr(detection, name).value for name in measures},
        "n_pairs": detection.n_pairs,
        "mean_ll_true_minus_false": detection.mean_margin_nats.value,
    }
    if detection.mcc.value is None and detection.answered:
        record["mcc"] = 0.0
        record["mcc_reason"] = f"{detection.mcc.reason}; 0 by convention"
    return record


def _task(chosen: Choices) -> dict[str, JsonValue]:
    record: dict[str, JsonValue] = {
        "n": chosen.n,
        "acc": chosen.acc.value,
        "acc_norm_chars": chosen.acc_norm_chars.value,
        "n_ties_at_max": chosen.n_ties_at_max,
        "any_choice_greedy_rate": chosen.any_choice_greedy_rate.value,
        "acc_if_ties_wrong": chosen.acc_if_ties_wrong.value,
        "pred_distribution": record_as_json(chosen.pred_distribution),
    }
    if chosen.confidence is not None:
        record["calibration"] = {
            "n": chosen.confidence.n,
            "brier_sum": chosen.confidence.brier_sum.value,
            "nll": chosen.confidence.nll.value,
            "ece10": chosen.confidence.calibration.ece,
            "mean_confidence": chosen.confidence.mean_confidence,
        }
    return record
