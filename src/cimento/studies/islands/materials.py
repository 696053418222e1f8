"""The materials of the study: what loads, what is faulty, how much the conditions differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from cimento.errors import InputError
from cimento.measures.normalising import NORMALISATIONS
from cimento.studies.islands.human import SOURCE as HUMAN_SOURCE
from cimento.studies.islands.human import by_phenomenon, read_judgments, unit_means
from cimento.studies.islands.published import LAU_CORRELATIONS
from cimento.studies.islands.records import Line, Section, beside, need, number, read_rows
from cimento.suites.design import ISLAND_SQUARE
from cimento.suites.faults import CHECKS
from cimento.suites.load import inspect_suite
from cimento.suites.model import Condition, Suite, sentence
from cimento.verdicts.effects import effects_of
from cimento.verdicts.factorial import normalised

ITEMS_PER_SUITE = "items"


def materials(data: Path) -> Section:
    """Every suite of the study: items, faults that a model sees, length and overlap."""
    folder = data / "italian" / "suites"
    paths = sorted(folder.glob("*.jsonl"))
    if not paths:
        raise InputError(where=str(folder), seen="holds no suites", todo="Give the data folder.")
    lines = [line for path in paths for line in _suite_lines(path)]
    return Section(
        name="materials",
        title="Materials: items, faults, words per condition, shared words of an item",
        source="bert-syntax-it 2022 and Sprouse et al. 2016, as files of suites",
        lines=tuple(lines),
    )


def _suite_lines(path: Path) -> Iterator[Line]:
    suite, faults = inspect_suite(path)
    counts = Counter(fault.code for fault in faults)
    told = "; ".join(f"{CHECKS[code].title} ({n})" for code, n in sorted(counts.items()))
    items = float(len(suite.items)) if suite else None
    yield Line(what=f"{path.stem}: {ITEMS_PER_SUITE}", computed=items, note=told)
    if suite is None:
        return
    words = {
        name: fmean(_length(item.condition(name), suite) for item in suite.items)
        for name in suite.condition_names
    }
    note = ", ".join(f"{name} {mean:.1f}" for name, mean in words.items())
    spread = max(words.values()) - min(words.values())
    yield Line(
        what=f"{path.stem}: words, longest less shortest condition", computed=spread, note=note
    )
    yield Line(what=f"{path.stem}: share of words in all four", computed=overlap(suite))


def overlap(suite: Suite) -> float | None:
    """The mean over items of words common to all conditions over words of any (Jaccard)."""
    shares = []
    for item in suite.items:
        sets = [
            {word.strip(".,;:!?").lower() for word in sentence(each, rule=suite.join).split()}
            for each in item.conditions
        ]
        if sets and set.union(*sets):
            shares.append(len(set.intersection(*sets)) / len(set.union(*sets)))
    return fmean(shares) if shares else None


def _length(condition: Condition, suite: Suite) -> int:
    return len(sentence(condition, rule=suite.join).split())


def scales(data: Path) -> Section:
    """DD of the English wh items on every scale, taking people as if they were a model.

    The pool is that of the study: all sentences of the four phenomena together.
    """
    judgments = read_judgments(data / "english" / "sprouse2016_en_ratings.csv")
    means: dict[str, dict[str, float]] = {}
    groups: dict[str, list[str]] = {}
    for phenomenon, group in by_phenomenon(judgments).items():
        if phenomenon.startswith("wh_"):
            for item, conditions in unit_means(group, "item").items():
                means[f"{phenomenon}-{item}"] = conditions
                groups.setdefault(phenomenon, []).append(f"{phenomenon}-{item}")
    pool = [item for items in groups.values() for item in items]
    lines = []
    for kind in NORMALISATIONS:
        scaled = normalised(means, [pool], kind)
        for phenomenon, items in groups.items():
            found = effects_of(ISLAND_SQUARE, scaled, items, normalisation=kind)
            errors = ", ".join(
                "undefined" if cell.se is None else f"{cell.se:.4f}" for cell in found.cells
            )
            note = found.reason or f"standard errors on this scale: {errors}"
            lines.append(Line(what=f"{kind}: DD of {phenomenon}", computed=found.dd, note=note))
    return Section(
        name="scales",
        title="What the scale does to DD: people's item means as scores, pooled over phenomena",
        source=f"{HUMAN_SOURCE}; scales of the 2022 study and others",
        lines=tuple(lines),
    )


def contexts(data: Path) -> Section:
    """Ratings of one sentence in different contexts, correlated (Lau et al. 2020)."""
    from cimento.statistics.correlation import coefficient

    ratings = {
        name: _ratings(data / "lau2020" / f"context-{name}-ratings.csv") for name in _CONTEXTS
    }
    lines = [
        Line(
            what=f"{name}: mean of mean ratings",
            computed=fmean(found.values()),
            note=f"{len(found)} sentences",
        )
        for name, found in ratings.items()
    ]
    for (one, other), printed in LAU_CORRELATIONS.items():
        ids = [id_ for id_ in ratings[one] if id_ in ratings[other]]
        columns = ([ratings[name][id_] for id_ in ids] for name in (one, other))
        found = coefficient(*columns, kind="pearson")
        what = f"Pearson's r, {one} and {other}"
        lines.append(beside(what, found.r, printed, note=f"{len(ids)} sentences"))
    return Section(
        name="contexts",
        title="Acceptability without context, in its own, and in a random one",
        source="Lau et al. 2020, doi:10.1162/tacl_a_00315",
        lines=tuple(lines),
    )


_CONTEXTS = ("none", "real", "random")


def _ratings(path: Path) -> dict[str, float]:
    """Sentence to the mean of its single ratings."""
    rows = read_rows(path)
    need(path, rows, ("ID", "full-ratings"))
    found = {}
    for row in rows:
        single = [number(each) for each in row["full-ratings"].split(",")]
        known = [each for each in single if each is not None]
        if known:
            found[row["ID"]] = fmean(known)
    return found
