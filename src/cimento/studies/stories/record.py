"""One model's recorded answers as the study reports them, with what was published beside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.statistics.classification import ONE_CLASS_ONLY
from cimento.statistics.differences import mcnemar
from cimento.statistics.intervals import wilson
from cimento.statistics.resampling import bootstrap
from cimento.stories.breakdown import by_distance, by_state, confusions
from cimento.stories.choices import Choices, choices
from cimento.stories.detection import detect
from cimento.stories.grouping import Grouping
from cimento.stories.judging import Judged, judge_stories
from cimento.stories.rates import METRICS, metric_values, rates
from cimento.stories.records import STATE, TIERS, TRUE, Story
from cimento.stories.responses import Responses
from cimento.stories.tiers import Chain
from cimento.studies.stories.as_json import as_json
from cimento.studies.stories.facts import published
from cimento.studies.stories.pairs import compare
from cimento.studies.stories.prompts import rebuild
from cimento.studies.stories.summary import conditional_rates, summarize
from cimento.suites.model import JsonValue

if TYPE_CHECKING:
    from cimento.statistics.values import Floats

MORE = "more"


def study_record(
    stories: Sequence[Story], responses: Responses, *, seed: int, draws: int
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
    facts = published(responses.model)
    by_name = {grouping.name: grouping for grouping in judged.groupings}
    record: dict[str, JsonValue] = {
        "model": responses.model,
        "chat_template": facts.chat_template if facts else None,
        "n_recorded": {tier: sum(each.tier == tier for each in judged.outcomes) for tier in TIERS},
        "paper_code": _grouped(chained, by_name["paper_code"]),
        "corrected": _grouped(chained, by_name["corrected"]) if "corrected" in by_name else None,
        "cluster_bootstrap95_paper_code": as_json(
            bootstrap_intervals(chained, by_name["paper_code"], seed=seed, draws=draws)
        ),
        "conditional": {name: rate.value for name, rate in conditional_rates(chained).items()},
        "type_field_accuracy": _type_accuracy(chained, by_name["type"]),
        "bias": _bias(judged),
        "per_task": _per_task(judged),
        "by_state_implausible": as_json(by_state(stories, chained)),
        "by_conflict_distance": as_json(by_distance(stories, chained)),
    }
    if any(each.tier == STATE and each.chosen for each in judged.outcomes):
        record["confusion_physical_state"] = as_json(confusions(judged.outcomes))
    record["published_metrics_txt"] = as_json(facts.metrics_txt if facts else None)
    record["published_table3_percent"] = as_json(facts.table3_percent if facts else None)
    template = facts.chat_template if facts else None
    record[MORE] = {
        "prompts": as_json(rebuild(stories, responses, chained, template)),
        **summarize(judged, seed=seed),
    }
    return record


def paired_record(stories: Sequence[Story], models: Sequence[Responses]) -> dict[str, JsonValue]:
    """Every pair of models at the first tier, stories of a triple together, with Holm's correction.

    ``mcnemar_exact_p`` is the reference's, which counts the stories of a triple as independent.
    """
    chains = {
        each.model: judge_stories(stories, each.answers, first_of_ties=True).chained
        for each in models
    }
    return {
        f"{each.first} vs {each.second}": {
            "only_first_correct": each.only_first_correct,
            "only_second_correct": each.only_second_correct,
            "mcnemar_exact_p": mcnemar(each.only_first_correct, each.only_second_correct).p
            if each.test
            else None,
            "n": each.n,
            "change": as_json(each.change),
            "test": as_json(each.test),
            "p_holm": each.p_holm,
            **({"reason": each.reason} if each.reason else {}),
        }
        for each in compare(chains)
    }


def bootstrap_intervals(
    chained: Chain, grouping: Grouping, *, seed: int, draws: int
) -> dict[str, tuple[float, float] | None]:
    """The reference's interval (95 %) of each metric: percentile bootstrap over whole triples.

    Where all draws are equal, which a share of 0 or 1 always gives, both ends are the value, as
    in the reference. It stands here for comparison alone; `rates` has the interval that is shown.

    Returns:
        None for metrics that have no value.
    """
    found: dict[str, tuple[float, float] | None] = {}
    for name, (tier, _) in METRICS.items():
        values = {
            row: float(value)
            for row, value in metric_values(name, chained, grouping).items()
            if value is not None
        }
        if not values or not chained.known(tier):
            found[name] = None
            continue
        right = list(values.values())
        drawn = bootstrap(
            right, _mean, chained.design(values), seed=seed, draws=draws, method="percentile"
        )
        equal = len(set(right)) == 1
        low, high = (right[0], right[0]) if equal else (drawn.low, drawn.high)
        found[name] = None if low is None or high is None else (low, high)
    return found


def _mean(rows: Floats) -> float:
    return float(rows.mean())


def _grouped(chained: Chain, grouping: Grouping) -> dict[str, JsonValue]:
    found = rates(chained, grouping)
    return {
        "value": {name: rate.value for name, rate in found.items()},
        "count": {
            name: None if rate.value is None else as_json(rate.count)
            for name, rate in found.items()
        },
        # The reference's: each story as if it stood alone.
        "wilson95": {
            name: as_json(wilson(rate.value, rate.count[1]))
            if rate.value is not None and rate.count
            else None
            for name, rate in found.items()
        },
        "interval": {name: as_json(rate.interval) for name, rate in found.items()},
    }


def _type_accuracy(chained: Chain, grouping: Grouping) -> dict[str, JsonValue]:
    found = rates(chained, grouping)
    names = ("order", "cloze", "plausible")
    return {name: found[f"{name.capitalize()} Accuracy"].value for name in names}


def _bias(judged: Judged) -> dict[str, JsonValue]:
    """The first tier as a detection task.

    Matthews's correlation of a constant answer, which is undefined, is 0 here, as the study's
    reference values have it; ``mcc_reason`` says so.
    """
    found = detect(judged.stories, judged.outcomes)
    counts = found.counts
    record: dict[str, JsonValue] = {
        "p_answer_true": found.answers.get(TRUE),
        "tp": counts.tp,
        "tn": counts.tn,
        "fp": counts.fp,
        "fn": counts.fn,
        "tpr": found.tpr.value,
        "tnr": found.tnr.value,
        "balanced_accuracy": found.balanced_accuracy.value,
        "mcc": found.mcc.value,
        "auc": found.auc.value,
        "sibling_pair_accuracy": found.sibling_pair_accuracy.value,
        "n_pairs": found.n_pairs,
        "mean_ll_true_minus_false": found.mean_margin_nats.value,
    }
    if found.mcc.value is None and found.answered:
        record["mcc"] = 0.0
        record["mcc_reason"] = f"{ONE_CLASS_ONLY}; 0 by convention"
    return record


def _per_task(judged: Judged) -> dict[str, JsonValue]:
    found = {tier: choices(judged.outcomes, tier) for tier in TIERS}
    return {tier: _task(each) for tier, each in found.items() if each.scored}


def _task(found: Choices) -> dict[str, JsonValue]:
    record: dict[str, JsonValue] = {
        "n": found.n,
        "acc": found.acc.value,
        "acc_norm_chars": found.acc_norm_chars.value,
        "n_ties_at_max": found.n_ties_at_max,
        "any_choice_greedy_rate": found.any_choice_greedy_rate.value,
        "acc_if_ties_wrong": found.acc_if_ties_wrong.value,
        "pred_distribution": as_json(found.pred_distribution),
    }
    if found.confidence is not None:
        record["calibration"] = {
            "n": found.confidence.n,
            "brier_sum": found.confidence.brier_sum.value,
            "nll": found.confidence.nll.value,
            "ece10": found.confidence.calibration.ece,
            "mean_confidence": found.confidence.mean_confidence,
        }
    return record
