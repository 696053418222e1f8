"""The tables of an analysis of items, models and phenomena, and its section of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cimento.compare.figures_analysis import difficulty_figure, information_figure, wright_map
from cimento.errors import counted
from cimento.io.values import NOT_STATED, grouped
from cimento.report import JointReport, NamedGrid, formatting
from cimento.report.cells import ends
from cimento.report.grid import BLANK, Grid

if TYPE_CHECKING:
    from cimento.compare.analysis import Analysis, AnalyzedItem, ShortList
    from cimento.compare.by_language import AbilityInLanguage
    from cimento.compare.ranges import Range

_share = partial(formatting.rate_as_text, absent=BLANK)
_p = partial(formatting.p_number, absent=BLANK)
_number = partial(formatting.number, digits=2, absent=BLANK)
ITEMS_SHOWN = 10
"""Most items that a table for people lists under one heading."""
_TEXT_WIDTH = 72

PARTS = {
    "item": "items within a phenomenon",
    "phenomenon": "phenomena",
    "cluster": "clusters of items from one source",
    "model": "models",
    "family": "families of models",
    "testlet": "items by families of models",
    "interaction": "models on phenomena",
    "discrimination": "items that tell models apart unequally",
    "covariates": "covariates",
    "answer": "chance of a single answer",
}
"""The parts of the variance, in words."""

FIGURES = (wright_map, difficulty_figure, information_figure)
"""The figures of an analysis, in the order of the page."""

KINDS = {"rasch": "Rasch", "2pl": "two-parameter"}


def analysis_grids(analysis: Analysis, *, all_items: bool = False) -> dict[str, Grid]:
    """The tables of an analysis, by name.

    Args:
        analysis: to be shown.
        all_items: whether the table of items has all of them, and not only the notable ones.
    """
    grids = _grids_of_level(analysis, all_items=all_items)
    used = Counter([_level_part(analysis)])
    for other in analysis.others:
        name, part = level_name(other), _level_part(other)
        used[part] += 1
        part = part if used[part] == 1 else f"{part}-{used[part]}"
        grids |= {
            f"{key}-{part}": replace(grid, title=f"{name[0].upper()}{name[1:]}. {grid.title}")
            for key, grid in _grids_of_level(other, all_items=all_items).items()
        }
    if analysis.others:
        levels = ", ".join(map(level_name, (analysis, *analysis.others)))
        note = (
            f"Levels of chance are analyzed apart ({levels}): a guess is right more often in one"
            " than in another, so their logits are not on a common scale. Here:"
            f" {level_name(analysis)}."
        )
        grids["models"] = replace(grids["models"], notes=(*grids["models"].notes, note))
    return grids


def level_name(analysis: Analysis) -> str:
    """The level of chance of an analysis, in words."""
    if analysis.chance is not None:
        return f"chance {analysis.chance:g}"
    return f"chance unknown: {analysis.no_chance}" if analysis.no_chance else "chance unknown"


def _level_part(analysis: Analysis) -> str:
    """The level of chance as a part of the name of a table."""
    return "chance-unknown" if analysis.chance is None else f"chance-{analysis.chance:g}"


def _grids_of_level(analysis: Analysis, *, all_items: bool) -> dict[str, Grid]:
    grids = {"models": _models_grid(analysis), "phenomena": phenomena_grid(analysis)}
    if analysis.variance:
        grids["variance"] = variance_grid(analysis)
    if analysis.slopes:
        grids["covariates"] = slopes_grid(analysis)
    if all_items or notable_items(analysis):
        grids["items"] = _items_grid(analysis, all_items=all_items)
    if analysis.languages:
        grids["languages"] = languages_grid(analysis)
    if any(map(_is_sure, analysis.in_languages)):
        grids["in-languages"] = in_languages_grid(analysis)
    if analysis.by_family:
        grids["families"] = families_grid(analysis)
    if analysis.short is not None:
        grids["short"] = short_grid(analysis.short)
    return grids


COMMAND = "cimento analyze items RUNS -o FOLDER"


def analysis_section(analysis: Analysis) -> JointReport:
    """The section of a report with the figures and tables of an analysis."""
    from cimento.report.figures import drawable

    grids = analysis_grids(analysis)
    return JointReport(
        heading="Items, models and phenomena",
        command=COMMAND,
        figures=drawable(*(partial(make, analysis) for make in FIGURES)),
        tables=tuple(NamedGrid(name, grid, COMMAND) for name, grid in grids.items()),
    )


def _models_grid(analysis: Analysis) -> Grid:
    """A table of models, the most able first, with the ranks that each could hold."""
    people = sum(one.kind == "person" for one in analysis.models)
    who = "models and people" if people else "models"
    return Grid.of(
        analysis.models,
        {
            "model": lambda one: one.model,
            "items": lambda one: one.n,
            "right": lambda one: _share(one.right),
            "ability": lambda one: _logits(one.ability),
            "95%": lambda one: _ends(one.ability),
            "rank": lambda one: one.rank,
            "rank interval": lambda one: (
                BLANK
                if one.rank_low is None or one.rank_high is None
                else formatting.places(one.rank_low, one.rank_high)
            ),
            "best": lambda one: _share(one.best),
        },
        title=f"The ability of {who}, in logits; 0 is their average.",
        notes=tuple(_model_notes(analysis)),
    )


def _model_notes(analysis: Analysis) -> list[str]:
    notes = []
    if analysis.reason:
        notes.append(f"No model of items: {analysis.reason}.")
    elif not analysis.converged:
        notes.append("The optimum was not found for certain: take the intervals with care.")
    if analysis.two_parameters_p is not None:
        notes.append(
            f"{KINDS[analysis.kind].capitalize()} model; that all items discriminate alike has"
            f" p {_p(analysis.two_parameters_p)} (likelihood ratio)."
        )
    if not analysis.reason:
        notes += [_OVER_PHENOMENA, *_family_notes(analysis)]
    counts = [f"{counted(analysis.answers, 'answer')}"]
    if analysis.ties:
        rule = "each half right" if analysis.tie_rule == "half" else "as they were judged"
        counts.append(f"{counted(analysis.ties, 'tie')} ({rule})")
    if analysis.undefined:
        counts.append(f"{analysis.undefined} undefined and left out")
    if analysis.not_asked:
        counts.append(f"{analysis.not_asked} that no run has")
    return [*notes, f"{'; '.join(counts)}."]


_OVER_PHENOMENA = "Abilities are over the phenomena given, not over others that there could be."


def _family_notes(analysis: Analysis) -> list[str]:
    """Which models were taken for a family, and what follows."""
    named = "; ".join(
        f"{family} ({_members(models)})" for family, models in analysis.families.items()
    )
    if not named:
        return ["Families: none; each model answers for itself (--family names some)."]
    if analysis.by_family is None:
        return [f"Families: {named}. Items: {analysis.no_families}, so all is about models of it."]
    shares = "What a family shares on an item is an effect of its own; --family names others."
    return [f"Families: {named}. {shares}"]


def _members(models: Sequence[str]) -> str:
    """The models of a family, or the first ones of many."""
    if len(models) <= ITEMS_SHOWN:
        return ", ".join(models)
    return f"{', '.join(models[:ITEMS_SHOWN])} and {len(models) - ITEMS_SHOWN} more"


def families_grid(analysis: Analysis) -> Grid:
    """A table of items that are easier or harder for one family than abilities say."""
    shown = (analysis.by_family or ())[:ITEMS_SHOWN]
    total = len(analysis.by_family or ())
    more = f"The {len(shown)} surest of {total}." if total > len(shown) else ""
    asked = counted(len(analysis.items) * len(analysis.families), "effect")
    chance = f"P: probability of the sign, 0.95 or more; of {asked}, some reach it by chance."
    return Grid.of(
        shown,
        {
            "family": lambda one: one.family,
            "suite": lambda one: one.suite,
            "item": lambda one: one.item,
            "easier by": lambda one: _logits(one.easier),
            "95%": lambda one: _ends(one.easier),
            "P": lambda one: _share(one.sure),
        },
        title="Items that are easier (above 0) or harder for one family than for others.",
        labels=3,
        notes=(*filter(None, (more,)), chance),
    )


def languages_grid(analysis: Analysis) -> Grid:
    """A table of the languages, with how many items of each call for a look."""
    families = analysis.by_family is not None
    return Grid.of(
        analysis.languages,
        {
            "language": lambda one: one.language or NOT_STATED,
            "suites": lambda one: one.suites,
            "items": lambda one: one.items,
            "right": lambda one: _share(one.right),
            "backwards": lambda one: BLANK if one.backwards is None else one.backwards,
            "disorderly": lambda one: one.disorderly,
            **({"easier or harder for a family": lambda one: one.by_family} if families else {}),
        },
        title="Items to look at, by language.",
        notes=(_IN_EACH, *(() if any(map(_is_sure, analysis.in_languages)) else (_NOT_SURE,))),
    )


_IN_EACH = (
    "A phenomenon in several languages counts as one in each: models may know one of them better."
)


_NOT_SURE = "No model is surely better, or worse, in one language than its ability says."


def _is_sure(one: AbilityInLanguage) -> bool:
    return one.beyond.low > 0 or one.beyond.high < 0


def in_languages_grid(analysis: Analysis) -> Grid:
    """A table of abilities in a language where that surely differs from their ability."""
    sure = [one for one in analysis.in_languages if _is_sure(one)]
    shown, total = sure[:ITEMS_SHOWN], len(analysis.in_languages)
    more = f", the {len(shown)} surest of them" if len(sure) > len(shown) else ""
    which = (
        f"{len(sure)} of {total} abilities differ surely from the model's own{more}; intervals are"
        " not corrected for their number."
    )
    return Grid.of(
        shown,
        {
            "model": lambda one: one.model,
            "language": lambda one: one.language or NOT_STATED,
            "ability": lambda one: _logits(one.ability),
            "95%": lambda one: _ends(one.ability),
            "beyond its own": lambda one: _logits(one.beyond),
            "95% of that": lambda one: _ends(one.beyond),
        },
        title="The ability of models in each language; 0 is the average of the models there.",
        labels=2,
        notes=(which,),
    )


def phenomena_grid(analysis: Analysis) -> Grid:
    """A table of phenomena, the hardest first."""
    notes = ("Intervals are for all items that a phenomenon could have, not only for these.",)
    return Grid.of(
        analysis.phenomena,
        {
            "phenomenon": lambda one: one.phenomenon,
            "suites": lambda one: len(one.suites),
            "items": lambda one: one.items,
            "right": lambda one: _share(one.right),
            "difficulty": lambda one: _logits(one.difficulty),
            "95%": lambda one: _ends(one.difficulty),
        },
        title="How hard the phenomena are, in logits; at 0 the average model gets half right.",
        notes=() if analysis.reason else notes,
    )


def variance_grid(analysis: Analysis) -> Grid:
    """A table of how much of the variance of answers goes with what."""
    return Grid.of(
        analysis.variance,
        {
            "part": lambda one: PARTS[one.part],
            "share": lambda one: _share(one.share.value),
            "95%": lambda one: BLANK if one.part == "covariates" else _ends(one.share, digits=3),
            "sd (logits)": lambda one: _logits(one.sd),
        },
        title="What makes an answer right or wrong: proportions of the variance of answers.",
    )


def slopes_grid(analysis: Analysis) -> Grid:
    """A table of what makes items harder."""
    return Grid.of(
        list(analysis.slopes.items()),
        {
            "covariate": lambda row: row[0],
            "harder by": lambda row: _logits(row[1]),
            "95%": lambda row: _ends(row[1]),
        },
        title="By how many logits items get harder with one standard deviation more of something.",
    )


def _items_grid(analysis: Analysis, *, all_items: bool = False) -> Grid:
    """A table of items: all, or those that call for a look, with their sentences."""
    rows = [("", item) for item in analysis.items] if all_items else notable_items(analysis)
    return Grid.of(
        rows,
        {
            "look at": lambda row: row[0],
            "suite": lambda row: row[1].suite,
            "item": lambda row: row[1].item,
            "right": lambda row: _share(row[1].right),
            "difficulty": lambda row: _logits(row[1].difficulty),
            "95%": lambda row: _ends(row[1].difficulty),
            "discrimination": lambda row: _logits(row[1].discrimination),
            "P(backwards)": lambda row: _share(row[1].backwards),
            "infit": lambda row: _number(row[1].infit),
            "p (BH)": lambda row: _p(row[1].infit_p),
            "sentences": lambda row: sentences(row[1]),
        },
        title="All items." if all_items else "Items to look at.",
        labels=3,
        remarks=1,
        grouped=0 if all_items else 1,
        notes=tuple(_item_notes(analysis)),
    )


def short_grid(short: ShortList) -> Grid:
    """A table of the fewest items that place the models with a precision, by suite."""
    points = f"±{100 * short.precision:g} points"
    shortest = (
        f"{len(short.items)} of {counted(short.of, 'item')} place every model within {points}"
    )
    if short.reached > short.precision:
        reached = f"±{100 * short.reached:.1f}"
        shortest = (
            f"All {counted(len(short.items), 'item')} place models within {reached} points only"
        )
    correlation = _share(short.rank_correlation) or "undefined"
    return Grid.of(
        list(grouped(short.items).items()),
        {
            "suite": lambda row: row[0],
            "items": lambda row: len(row[1]),
            "ids, the most telling first": lambda row: ", ".join(row[1]),
        },
        title=f"{shortest} of the proportion of all items that it gets right.",
        remarks=1,
        notes=(
            f"Rank correlation of the models, by these items and by all: {correlation}.",
            "The items were chosen by these models, which flatters the correlation.",
        ),
    )


def notable_items(analysis: Analysis) -> list[tuple[str, AnalyzedItem]]:
    """The items that call for a look, under headings: backwards, disorderly, hardest, easiest."""
    by_difficulty = sorted(
        (item for item in analysis.items if item.difficulty is not None),
        key=lambda item: -(item.difficulty.value if item.difficulty else 0.0),
    )
    lists: dict[str, Sequence[AnalyzedItem]] = {
        "backwards": analysis.backwards,
        "disorderly": analysis.misfits,
        "hardest": by_difficulty[: ITEMS_SHOWN // 2],
    }
    return [(name, item) for name, items in lists.items() for item in items[:ITEMS_SHOWN]]


def _item_notes(analysis: Analysis) -> list[str]:
    notes = []
    suspects = [item for item in analysis.items if item.backwards is not None]
    if suspects and not analysis.backwards:
        most = max(suspects, key=lambda item: item.backwards or 0.0)
        notes.append(
            "No item is surely backwards; the most suspect is"
            f" {most.item} of {most.suite} (P {_share(most.backwards)})."
        )
    elif suspects:
        notes.append(
            "backwards: better models fail it more often, with a probability of 0.95 or more;"
            " look for a slip in the suite."
        )
    if analysis.misfits:
        notes.append(
            "disorderly: answers are less orderly than the model expects (infit above 1, 5%,"
            " one-sided)."
        )
    if analysis.all_right or analysis.all_wrong:
        notes.append(
            f"{analysis.all_right} of {len(analysis.items)} items are right with every model and"
            f" {analysis.all_wrong} with none: they tell nothing of differences."
        )
    return notes


def sentences(item: AnalyzedItem) -> str:
    """The sentences of an item in one line, shortened."""
    text = " / ".join(dict.fromkeys(item.texts.values()))
    return text if len(text) <= _TEXT_WIDTH else f"{text[: _TEXT_WIDTH - 3].rstrip()}..."


def _logits(range_: Range | None) -> str:
    return _number(range_.value if range_ else None)


def _ends(range_: Range | None, *, digits: int = 2) -> str:
    if range_ is None:
        return BLANK
    text = f"[{range_.low:z.{digits}f}, {range_.high:z.{digits}f}]"
    return ends(range_.low, range_.high, text)
