"""What a run shows part by part, in the language of the page: phenomena, and rated sentences.

The tables of the report say the same and more, in English, as a paper needs them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from nicegui import ui

from cimento.app.frame import Text
from cimento.app.parts import ends, table_of
from cimento.app.words import Words, said
from cimento.io.values import grouped
from cimento.kinds.run import Run
from cimento.measures import find_measure
from cimento.records.outcomes import STATISTICS, Estimate
from cimento.records.places import Places, farthest_apart
from cimento.suites.ratings import NO_NUMBERS, rated_of, ratings_by

_MOST_LEVELS = 40
_MOST_APART = 5
_CEILING = "noise ceiling"
_RATINGS = "ratings"
"""The kind of suites of rated sentences."""


@dataclass(frozen=True, slots=True)
class Part:
    """A table of what a run shows part by part.

    Attributes:
        title: what it shows.
        names: names of the columns.
        rows: cells of each row.
        note: what is said below it; may be empty.
    """

    title: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def show_parts(run: Run, say: Words) -> None:
    """Show what a run shows part by part, in the place where the page is being built.

    Args:
        run: the run.
        say: the words of the page.
    """
    for part in parts_of(run, say):
        Text(part.title)
        show_part(part)
    if line := ceiling_said(run, say):
        Text(line).classes("small")


def show_part(part: Part) -> None:
    """Show a table with its note, in the place where the page is being built.

    Args:
        part: the table.
    """
    with (
        ui.element("div").classes("scroll").props("tabindex=0"),
        table_of(part.names, "grid"),
    ):
        for name, *cells in part.rows:
            with ui.element("tr"):
                Text(name, "th").props("scope=row")
                for cell in cells:
                    Text(cell, "td")
    if part.note:
        Text(part.note).classes("small")


def parts_of(run: Run, say: Words) -> list[Part]:
    """The tables of a run: its rate by phenomenon, or its rated sentences; none for a design.

    Args:
        run: the run.
        say: the words of the page.
    """
    if run.paradigm.presenter.design_effects(run):
        return []
    return [*_shares(run, say), *_rated(run, say)]


def _shares(run: Run, say: Words) -> Iterator[Part]:
    """The headline's share by each column with several values: right of all, and the interval."""
    estimates = run.estimates()
    headline = next((one for one in estimates if one.role == "headline"), None)
    if headline is None or not headline.is_share:
        return
    asked = headline.question, headline.method
    parts = (one for one in estimates if one.group and one.is_share)
    by_group = grouped((one.group, one) for one in parts if (one.question, one.method) == asked)
    for group, levels in by_group.items():
        if 1 < len(levels) <= _MOST_LEVELS:
            column = _column(group, say)
            chances = {one.chance for one in levels}
            has_chances = None not in chances and len(chances) > 1
            names = ["read.part_right", "read.part_share", "people.of-interval"]
            names += ["read.part_chance"] if has_chances else []
            yield Part(
                say("read.by", column=column),
                (_capital(column), *map(say, names)),
                tuple(
                    (*_share_row(one, say), *([_chance(one, say)] if has_chances else []))
                    for one in levels
                ),
            )


def _column(name: str, say: Words) -> str:
    """What a column by which results are broken down is called."""
    return say("start.phenomenon").lower() if name == "phenomenon" else name


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _share_row(one: Estimate, say: Words) -> tuple[str, ...]:
    """The value of a column, how many of its items are right, their share and its interval."""
    level = say.named("phenomenon", one.level) or "–"
    right = f"{say.number(one.right or 0)}/{say.number(one.n)}"
    value = "–" if one.value is None else say.number(one.value, ".3f")
    return level, right, value, ends(one.low, one.high, say, ".3f") or _why(one.reason, say)


def _chance(one: Estimate, say: Words) -> str:
    """The share that no knowledge reaches."""
    return "–" if one.chance is None else say.number(one.chance, ".3f")


def _why(reason: str | None, say: Words) -> str:
    """Why something is not there."""
    return said(reason or "", say.language) or reason or "–"


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A rated sentence with its value of the measure that is compared with ratings."""

    id: str
    text: str
    rating: float
    value: float


def _places(run: Run) -> list[Places[_Sentence]]:
    """The rated sentences of a run, those on which people and the model differ most first."""
    correlations = (one for one in run.estimates() if one.statistic in STATISTICS)
    first = next((one for one in correlations if one.role != "detail" and not one.group), None)
    if run.paradigm.name != _RATINGS or first is None or run.sentences is None:
        return []
    texts = {sentence.id: sentence.text for sentence in rated_of(run.sentences).sentences}
    outcomes = run.outcomes()
    known = outcomes.filter(outcomes["question"] == first.question).drop_nulls(
        ["value", "reference"]
    )
    rows = [
        _Sentence(item, texts[item], rating, value)
        for item, rating, value in known.select("item", "reference", "value").iter_rows()
    ]
    return farthest_apart(rows, higher_is_better=find_measure(first.question).higher_is_better)


def _rated(run: Run, say: Words) -> Iterator[Part]:
    """The rated sentences on which people and the model differ most, and all by phenomenon."""
    places = _places(run)
    apart = [one for one in places if one.gap][:_MOST_APART]
    if apart:
        yield Part(
            say("read.apart"),
            tuple(say(f"read.part_{name}") for name in ("sentence", "rating", "rank", "in_model")),
            tuple((one.row.text, *_placed([one], say)) for one in apart),
            say("read.ranks_of", n=say.number(places[0].of)),
        )
    by_phenomenon = _by_phenomenon(run, places)
    if 1 < len(by_phenomenon) <= _MOST_LEVELS:
        column = _column("phenomenon", say)
        names = ("count", "rating", "rank", "in_model")
        yield Part(
            say("read.by", column=column),
            (_capital(column), *(say(f"read.part_{name}") for name in names)),
            tuple(
                (say.named("phenomenon", level), say.number(len(several)), *_placed(several, say))
                for level, several in by_phenomenon.items()
            ),
            say("read.means_only"),
        )


def _by_phenomenon(
    run: Run, places: Sequence[Places[_Sentence]]
) -> Mapping[str, list[Places[_Sentence]]]:
    """The ranked sentences by their phenomenon, in the order of the suite."""
    items = run.sentences.items if run.sentences is not None else ()
    known = {item.id: item.column("phenomenon") or "" for item in items}
    order = {
        id_: number for number, id_ in enumerate(run.outcomes()["item"].unique(maintain_order=True))
    }
    in_order = sorted(places, key=lambda one: order[one.row.id])
    names = ((known.get(one.row.id, ""), one) for one in in_order)
    return grouped((name, one) for name, one in names if name)


def _placed(places: Sequence[Places[_Sentence]], say: Words) -> tuple[str, str, str]:
    """The rating, the rank by it and the rank in the model, as means of several sentences."""
    rating = say.number(fmean(one.row.rating for one in places), ".2f")
    ranks = (fmean(one.people for one in places), fmean(one.model for one in places))
    people, model = (say.number(rank, ".0f" if rank == int(rank) else ".1f") for rank in ranks)
    return rating, people, model


def ceiling_said(run: Run, say: Words) -> str:
    """The noise ceiling of people's ratings, or why there is none; empty without people.

    Args:
        run: the run.
        say: the words of the page.
    """
    if run.paradigm.name != _RATINGS or run.sentences is None:
        return ""
    known = [one for one in run.estimates() if one.statistic == _CEILING and not one.group]
    if ratings_by(run.sentences) != "people" or not known:
        return ""
    value = next((one.value for one in known if one.value is not None), None)
    if value is not None:
        return say("read.ceiling", value=say.number(value, ".3f"))
    told = [say("read.no_ceiling", reason=_why(known[0].reason, say))]
    if known[0].reason == NO_NUMBERS:
        told.append(say("read.ceiling_needs_n"))
    elif not known[0].n:
        told.append(say("read.ceiling_needs_people"))
    return " ".join(told)


def measures_said(names: Sequence[str], runs: Sequence[Run], say: Words) -> list[str]:
    """What the measures in English tables are, a line for each that is known.

    Args:
        names: texts of cells, of which some are names of measures.
        runs: the runs that the tables are of.
        say: the words of the page.
    """
    kinds = dict.fromkeys(run.model_kind == "masked" for run in runs)
    lines = []
    for name in dict.fromkeys(names):
        meant = dict.fromkeys(measure_named(name, say, masked=masked) for masked in kinds)
        if known := [text for text in meant if text != name]:
            lines.append(f"{name}: {'; '.join(known)}")
    return lines


def measure_named(name: str, say: Words, *, masked: bool) -> str:
    """What a measure is called; of a masked model it is of a pseudo-log-likelihood.

    Args:
        name: as cimento names it.
        say: the words of the page.
        masked: whether it is a masked model's.
    """
    usual = say.named("measure", name)
    return say.texts.get(f"named.masked-{name}", usual) if masked else usual
