"""A profile as JSON: every share with its counts, every undefined value with its reason."""

from __future__ import annotations

from dataclasses import asdict
from typing import cast

from cimento.cloze.judging.expected import JudgmentComparison
from cimento.cloze.judging.precision import Share
from cimento.cloze.people import PeopleReport
from cimento.cloze.profile import Dimension, FrequencyEffect, HeatCell, Measured, Profile
from cimento.suites.model import JsonValue

Json = dict[str, JsonValue]


def profile_json(found: Profile) -> Json:
    """The profile as plain values."""
    effect = found.frequency
    return {
        "k": found.k,
        "by": found.by or None,
        "dimensions": [_dimension(each) for each in found.dimensions],
        "heat": [_cell(each) for each in found.heat],
        "top_classes": {name: _share(share) for name, share in found.top_classes.items()},
        "first_matches": {name: _share(share) for name, share in found.first_matches.items()},
        "labels": {name: _share(share) for name, share in found.labels.items()},
        "frequency": _frequency(effect) if effect else None,
    }


def _frequency(effect: FrequencyEffect) -> Json:
    """One p: by permutation where items stand alone; rows of clusters are not exchangeable."""
    found = effect.spearman
    spearman: Json = {
        "r": found.r,
        "n": found.n,
        "low": found.low,
        "high": found.high,
        "interval_method": found.method,
        "p": found.p_permutation,
        "p_method": None if found.p_permutation is None else "permutation",
        "reason": found.reason,
    }
    return {
        "auc": cast("Json", asdict(effect.auc)),
        "spearman": spearman,
        "unknown": effect.unknown,
    }


def people_json(found: PeopleReport) -> Json:
    """People's choices and a model's agreement with them as plain values."""
    return {
        "majorities": {name: _share(share) for name, share in found.majorities.items()},
        "same_mode": _share(found.same_mode),
        "divergence_bits": cast("Json", asdict(found.divergence_bits)),
        "items": [cast("Json", asdict(each)) for each in found.items],
    }


def comparison_json(found: JudgmentComparison) -> Json:
    """Judgments by dictionary beside those of people as plain values."""
    return {
        "both": found.both,
        "dictionary_only": found.rule_only,
        "people_only": found.person_only,
        "neither": found.neither,
        "agreement": found.agreement.value,
        "kappa": cast("Json", asdict(found.kappa)),
    }


def _dimension(each: Dimension) -> Json:
    said: Json = {
        "name": each.name,
        "items": each.clusters.items,
        "clusters": each.clusters.clusters,
        "largest_cluster": each.clusters.largest,
        "in_largest_cluster": each.clusters.in_largest,
        "hits": [_measured(share) for share in each.hits],
        "fitting": [_measured(share) for share in each.fitting],
    }
    for name in ("confidence", "calibration"):
        value = getattr(each, name)
        said[name] = cast("Json", asdict(value)) if value is not None else None
    if each.not_expected is not None:
        said["not_expected"] = {
            "of_judged": _share(each.not_expected.of_judged),
            "of_fitting": _share(each.not_expected.of_fitting),
            "above": each.not_expected.above,
            "threshold": each.not_expected.threshold,
        }
    return said


def _measured(each: Measured) -> Json:
    interval = each.interval
    return {
        **_share(each.share),
        "low": interval.low,
        "high": interval.high,
        "interval_method": interval.method,
        "reason": interval.reason,
    }


def _cell(each: HeatCell) -> Json:
    return {
        "expression": each.expression,
        "word": each.word,
        "first": _share(each.first),
        "top": _share(each.top),
    }


def _share(share: Share) -> Json:
    return {"correct": share.correct, "n": share.n, "share": share.value}
