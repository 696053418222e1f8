"""What runs show part by part, in the language of the page: phenomena, and rated sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from cimento.app.beside_ratings import main_correlation
from cimento.app.words import Words, said
from cimento.io.values import grouped
from cimento.kinds.run import Run
from cimento.measures import find_measure
from cimento.records.outcomes import Estimate
from cimento.records.places import Places, farthest_apart
from cimento.report.cells import count, lower, upper
from cimento.report.formatting import number
from cimento.report.grid import Grid
from cimento.report.language import Told
from cimento.suites.ratings import NO_NUMBERS, NO_SPREAD, rated_of, ratings_by

_MOST_LEVELS = 40
_MOST_APART = 5
_CEILING = "noise ceiling"
_RATINGS = "ratings"
"""The kind of suites of rated sentences."""


def parts_of(runs: Sequence[Run], say: Words) -> list[Grid]:
    """The tables of runs: their rates by phenomenon, and their rated sentences; none of designs.

    Args:
        runs: runs of one suite.
        say: the words of the page, in whose language the tables are.
    """
    shown = [run for run in runs if not run.paradigm.presenter.design_effects(run)]
    rated = [(run.model, grid) for run in shown for grid in _rated(run, say)]
    if len(shown) > 1:
        rated = [(model, replace(one, title=Told(f"{model}. {one.title}"))) for model, one in rated]
    return [*_shares(shown, say), *(grid for _, grid in rated)]


def _shares(runs: Sequence[Run], say: Words) -> Iterator[Grid]:
    """The headline's share by each column with several values: right of all, and the interval."""
    by_group = grouped(
        (one.group, (run.model, one)) for run in runs for one in _levels_of_headline(run)
    )
    end = say("people.of-interval")
    for group, rows in by_group.items():
        levels = {one.level for _, one in rows}
        if not 1 < len(levels) <= _MOST_LEVELS:
            continue
        column = _column(group, say)
        models = {say("read.model"): lambda row: row[0]} if len(runs) > 1 else {}
        differ = len({one.chance for _, one in rows} - {None}) > 1
        chance = {say("read.part_chance"): lambda row: number(row[1].chance, digits=3, absent="")}
        chances = chance if differ else {}
        grid = Grid.of(
            rows,
            {
                **models,
                _capital(column): lambda row: say.named("phenomenon", row[1].level) or "–",
                say("read.part_right"): lambda row: row[1].right,
                say("read.part_items"): lambda row: row[1].n,
                say("read.part_share"): lambda row: number(row[1].value, digits=3),
                **chances,
                say("read.part_low"): lambda row: lower(number(row[1].low, absent="")),
                say("read.part_high"): lambda row: upper(number(row[1].high, absent="")),
                say("read.part_why"): lambda row: (
                    _why(row[1].reason, say) if row[1].low is None else ""
                ),
            },
            title=Told(say("read.by", column=column)),
            labels=1 + len(models),
            remarks=1,
        )
        yield replace(grid, groups=(*("",) * (len(grid.header) - 3), end, end, ""))


def _levels_of_headline(run: Run) -> Iterator[Estimate]:
    """The proportions of the headline's question by values of columns."""
    estimates = run.estimates()
    headline = next((one for one in estimates if one.role == "headline"), None)
    if headline is not None and headline.is_share:
        asked = headline.question, headline.method
        yield from (
            one
            for one in estimates
            if one.group and one.is_share and (one.question, one.method) == asked
        )


def _column(name: str, say: Words) -> str:
    """What a column by which results are broken down is called."""
    return say("start.phenomenon").lower() if name == "phenomenon" else name


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


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
    first = main_correlation(run)
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


def _rated(run: Run, say: Words) -> Iterator[Grid]:
    """The rated sentences on which people and the model differ most, and all by phenomenon."""
    places = _places(run)
    apart = [one for one in places if one.gap][:_MOST_APART]
    names = ("rating", "rank", "in_model")
    if apart:
        yield Grid(
            title=Told(say("read.apart")),
            header=tuple(say(f"read.part_{name}") for name in ("sentence", *names)),
            rows=tuple((one.row.text, *_placed([one])) for one in apart),
            notes=(Told(say("read.ranks_of", n=say.number(places[0].of))),),
        )
    by_phenomenon = _by_phenomenon(run, places)
    if 1 < len(by_phenomenon) <= _MOST_LEVELS:
        column = _column("phenomenon", say)
        yield Grid(
            title=Told(say("read.by", column=column)),
            header=(_capital(column), *(say(f"read.part_{name}") for name in ("count", *names))),
            rows=tuple(
                (say.named("phenomenon", level), count(len(several)), *_placed(several))
                for level, several in by_phenomenon.items()
            ),
            notes=(Told(say("read.means_only")),),
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


def _placed(places: Sequence[Places[_Sentence]]) -> tuple[str, str, str]:
    """The rating, the rank by it and the rank in the model, as means of several sentences."""
    rating = fmean(one.row.rating for one in places)
    ranks = (fmean(one.people for one in places), fmean(one.model for one in places))
    people, model = (number(rank, digits=0 if rank == int(rank) else 1) for rank in ranks)
    return number(rating, digits=2), people, model


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
    elif known[0].reason == NO_SPREAD and all(one.n for one in rated_of(run.sentences).sentences):
        told.append(say("read.ceiling_needs_sd"))
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
