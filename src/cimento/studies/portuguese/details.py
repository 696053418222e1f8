"""What stands behind the tables: templates one by one, confidence, readings, corrected labels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from cimento.cloze.judging.clusters import clustering, precision_interval
from cimento.cloze.judging.precision import micro
from cimento.studies.portuguese.data import Row, StudyData
from cimento.studies.portuguese.grammar import (
    DIMENSIONS,
    Json,
    interval_json,
    precision_json,
    share_json,
)
from cimento.suites.model import JsonValue

RECORDED_MODEL = "bertimbau-large"
"""The only model whose candidates for the tests of grammar were released."""

OUT_OF_DICTIONARY = "OOD"

# The notebook's profiles are of the last category that its loop came to. Categories are released
# in alphabetical order, which is the loop's order in all templates but this one.
_LAST_CATEGORY = {"concordância nominal_1d": "pl"}


def per_template(data: StudyData) -> Json:
    """P@1 and P@10 of each template, on the release."""
    return {name: precision_json(rows) for name, rows in _templates(data.release).items()}


def confidence(data: StudyData) -> Json:
    """The mean probability of candidates that fit and of those that do not, by template."""
    return {
        name: {
            "mean_score_s": _mean_probability(rows, fits=True),
            "mean_score_n": _mean_probability(rows, fits=False),
        }
        for name, rows in _templates(data.release).items()
    }


def profiles(data: StudyData) -> Json:
    """How often each dictionary tag occurs among the candidates of a template's last category."""
    found: list[JsonValue] = []
    by_template = _templates(data.release)
    for template in data.templates:
        category = _LAST_CATEGORY.get(template.id, template.seeds[-1].category)
        rows = [
            row for row in by_template.get(template.id, []) if category in row.instance.categories
        ]
        tags = Counter(tag for row in rows for tag in row.candidate.tags)
        unknown = sorted(
            {row.candidate.text for row in rows if OUT_OF_DICTIONARY in row.candidate.tags}
        )
        found.append(
            {
                "template": template.id,
                "category": category,
                "tags": dict(tags.most_common()),
                "ood": [*unknown],
            }
        )
    return {RECORDED_MODEL: found}


def by_person(data: StudyData) -> Json:
    """Subject agreement by the persons that the verb forms really have, on the release."""
    return {
        "note": "Release, pooled. A form that is first and third person has a class of its own.",
        "person": _by_reading(data, lambda reading: reading.partition(".")[2]),
    }


def by_tense(data: StudyData) -> Json:
    """Subject agreement by the tenses that the verb forms really have, on the release."""
    return {
        "note": "Release, pooled. A form that belongs to two tenses has a class of its own.",
        "tense": _by_reading(data, lambda reading: reading.partition(".")[0]),
    }


def clusters(data: StudyData) -> Json:
    """Base sentences that the cases of Tables 8 and 12 share, and intervals that respect them."""
    found: Json = {}
    for dimension in ("nominal_agreement", "passive"):
        cases: dict[str, list[Row]] = {}
        for row in data.release:
            if row.column("dimension") == dimension and row.instance.case:
                cases.setdefault(row.instance.case, []).append(row)
        found[dimension] = {case: _clustered(rows) for case, rows in cases.items()}
    return found


def _clustered(rows: Sequence[Row]) -> Json:
    first = [row for row in rows if row.first]
    shared = clustering(row.column("template") for row in first)
    return {
        "instances": shared.items,
        "base_sentences": shared.clusters,
        "largest": shared.largest,
        "in_largest": shared.in_largest,
        "p1": _with_interval(first),
        "p10": _with_interval(rows),
    }


def _with_interval(rows: Sequence[Row]) -> Json:
    template = {row.candidate.item: row.column("template") for row in rows}
    candidates = [row.candidate for row in rows]
    interval = precision_interval(candidates, lambda each: template[each.item])
    return {**share_json(micro(candidates)), **interval_json(interval)}


def dimension_rows(rows: Iterable[Row], case: str) -> list[Row]:
    """The rows of one of the six tests, by its name in Table 13."""
    return [row for row in rows if row.column("dimension") == DIMENSIONS[case]]


def _templates(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.column("template"), []).append(row)
    return found


def _mean_probability(rows: Sequence[Row], *, fits: bool) -> float | None:
    scores = [
        row.candidate.probability
        for row in rows
        if row.candidate.fits is fits and row.candidate.probability is not None
    ]
    return math.fsum(scores) / len(scores) if scores else None


def _by_reading(data: StudyData, part: Callable[[str], str]) -> Json:
    classes: dict[str, list[Row]] = {}
    for row in dimension_rows(data.release, "Subject Agreement"):
        name = "/".join(sorted({part(reading) for reading in row.instance.readings}))
        classes.setdefault(name, []).append(row)
    return {name: precision_json(classes[name]) for name in sorted(classes)}
