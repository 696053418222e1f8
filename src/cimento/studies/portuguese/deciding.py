"""Which candidates people should judge for P@1: those that the dictionary leaves open."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from cimento.paradigms.cloze.judgments import reuse_judgments
from cimento.paradigms.cloze.requests import Candidate
from cimento.studies.portuguese.asked import ModelAnswers
from cimento.studies.portuguese.grammar import TABLES, rows_by_case, weights_of
from cimento.studies.portuguese.judge import Readings
from cimento.studies.portuguese.judging import dictionary_judged, joined


def deciding_candidates(
    model: ModelAnswers, readings: Readings, earlier: Iterable[Candidate]
) -> list[tuple[str, str]]:
    """The first candidates that are still open, those first whose judgment tells most.

    A judgment narrows the bounds of P@1 by the weight of the candidate in each row of Tables 4 to
    13 that it belongs to; these are added up. Equal ones keep the order of their sentences.

    Args:
        model: with what people said of its candidates.
        readings: of words in the dictionary.
        earlier: candidates of the same sentences that people judged before.

    Returns:
        The item and the text of each.
    """
    judged = [replace(one, fits=model.people.get(one.key)) for one in model.candidates]
    by_people = reuse_judgments(judged, earlier).candidates
    decided = [
        replace(one, fits=said.fits if one.fits is None else one.fits)
        for one, said in zip(by_people, dictionary_judged(model, readings), strict=True)
    ]
    first = [row for row in joined(model, decided) if row.first]
    told: defaultdict[tuple[str, str], float] = defaultdict(float)
    for table in TABLES.values():
        for rows in rows_by_case(table, first).values():
            for row, weight in zip(rows, weights_of(rows, table.aggregation), strict=True):
                told[row.candidate.item, row.candidate.text] += weight
    waiting = [row.candidate for row in first if row.candidate.fits is None]
    pairs = [(one.item, one.text) for one in waiting]
    return sorted(pairs, key=lambda pair: -told[pair])
