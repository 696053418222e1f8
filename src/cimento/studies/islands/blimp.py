"""BLiMP: means of paradigms as the paper defines them, after its erratum, and people's answers."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from cimento.errors import InputError
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_json
from cimento.studies.islands.published import BLIMP_ERRATUM_PARADIGM
from cimento.studies.islands.records import (
    Section,
    beside,
    need,
    number,
    printed_column,
    read_rows,
)
from cimento.studies.printed import same_decimals

SOURCE = "Warstadt et al. 2020, doi:10.1162/tacl_a_00321, files of github.com/alexwarstadt/blimp"
MODELS = ("ngram", "lstm", "txl", "gpt2")
ISLANDS = "island_effects"
OVERALL = "overall"
"""The released file also has means under this name; they are what is printed, not data."""
ERRATUM = "the release has it since BLiMP's erratum of August 2021, the paper is of 2020"
ACCEPTED_ABOVE = 0.5


def blimp_models(data: Path) -> Section:
    """Paradigm, phenomenon and overall means of four models beside the figures first printed."""
    rows = released_accuracies(data / "blimp" / "models_summary.jsonl")
    paradigms = [row for row in rows if row["UID"] != OVERALL]
    printed = _released_means([row for row in rows if row["UID"] == OVERALL])
    first = _first_printed(data / "tables" / "table3b_blimp_paper_islands_gpt2_human.csv")
    lines = []
    for row in paradigms:
        if row["linguistics_term"] == ISLANDS:
            name, value = row["UID"], 100 * float(row["gpt2"])
            line = beside(f"gpt2, {name}", value, first.get(name.lower()))
            lines.append(replace(line, note=ERRATUM if line.equal is False else ""))
    means = {**phenomenon_means(paradigms), OVERALL: _means(paradigms)}
    for phenomenon, found in means.items():
        for model, mean in found.items():
            what = f"{model}, {phenomenon}, mean over paradigms"
            lines.append(beside(what, 100 * mean, printed.get((phenomenon, model))))
    return Section(
        name="blimp",
        title="BLiMP accuracies in %: the released figures beside those of the paper",
        source=f"{SOURCE}; {BLIMP_ERRATUM_PARADIGM} was printed as 42 in 2020",
        lines=tuple(lines),
    )


def blimp_people(data: Path) -> Section:
    """Accuracy of people per paradigm, recomputed from their answers."""
    answers_path = data / "blimp" / "human_responses_long.csv.gz"
    printed_path = data / "blimp" / "human_validation_summary.csv"
    answers, printed = read_rows(answers_path), read_rows(printed_path)
    need(answers_path, answers, ("status", "UID", "good", "correct_position", "chosen_position"))
    need(printed_path, printed, ("Condition", "total_mean", "accepted"))
    lines = []
    pairs = _pair_accuracies(answers)
    for row, mean_printed in zip(printed, printed_column(printed, "total_mean"), strict=True):
        found = pairs.get(row["Condition"], [])
        mean = math.fsum(found) / len(found) if found else None
        accepted = sum(each > ACCEPTED_ABOVE for each in found)
        note = f"{accepted} of {len(found)} pairs accepted, {row['accepted']} printed"
        lines.append(beside(row["Condition"], mean, mean_printed, note=note))
    return Section(
        name="blimp-people",
        title="BLiMP: accuracy of people, mean over the pairs of a paradigm",
        source=SOURCE,
        lines=tuple(lines),
    )


def phenomenon_means(rows: Sequence[Mapping[str, object]]) -> dict[str, dict[str, float]]:
    """Phenomenon and model to the unweighted mean over the phenomenon's paradigms."""
    groups: dict[str, list[Mapping[str, object]]] = {}
    for row in rows:
        groups.setdefault(str(row["linguistics_term"]), []).append(row)
    return {phenomenon: _means(group) for phenomenon, group in groups.items()}


def _means(rows: Sequence[Mapping[str, object]]) -> dict[str, float]:
    return {
        model: math.fsum(float(str(row[model])) for row in rows) / len(rows) for model in MODELS
    }


def released_accuracies(path: Path) -> list[dict[str, str]]:
    """The rows of BLiMP's released file: paradigms, and means under the name ``overall``.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        rows = [parse_json(line) for line in read_bytes(path).split(b"\n") if line.strip()]
    except ValueError as error:
        raise InputError(where=str(path), seen=f"is not JSON Lines ({error})") from error
    names = {"UID", "linguistics_term", *MODELS}
    rows = [row for row in rows if isinstance(row, dict) and names <= row.keys()]
    if not rows:
        raise InputError(where=str(path), seen="has no row with UID and the models' accuracies")
    return rows


def _released_means(rows: Sequence[Mapping[str, str]]) -> dict[tuple[str, str], str]:
    """Phenomenon and model to the released mean, a share with ten decimals, in %."""
    keys = [(row["linguistics_term"], model) for row in rows for model in MODELS]
    shares = same_decimals(str(row[model]) for row in rows for model in MODELS)
    return {key: str(Decimal(share).scaleb(2)) for key, share in zip(keys, shares, strict=True)}


def _first_printed(path: Path) -> dict[str, str]:
    rows = read_rows(path)
    need(path, rows, ("phenomenon", "gpt2_blimp_paper"))
    return {row["phenomenon"].lower().replace(" ", "_"): row["gpt2_blimp_paper"] for row in rows}


def _pair_accuracies(answers: Sequence[Mapping[str, str]]) -> dict[str, list[float]]:
    """Paradigm to the accuracy of each of its pairs over the people who judged it."""
    judged: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row in answers:
        right, chosen = number(row["correct_position"]), number(row["chosen_position"])
        if row["status"] == "Approved" and right is not None and chosen is not None:
            judged[row["UID"]][row["good"]].append(right == chosen)
    return {
        paradigm: [sum(marks) / len(marks) for marks in pairs.values()]
        for paradigm, pairs in judged.items()
    }
