"""Single ratings of people as a table for other programs: one row for each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.measures.participants import z_by_participant
from cimento.suites.ratings import AUTHOR, OWN_COLUMNS, rated_of, ratings_by

if TYPE_CHECKING:
    import polars as pl

    from cimento.export.data import RunData
    from cimento.suites.ratings import Rating

_OF_MODELS = ("suite", "model", "measure", "unit", "cluster", "value", "oriented")


def judgments_of_people(data: RunData, known: pl.DataFrame) -> pl.DataFrame | None:
    """The single ratings in the suite of a run, each beside what is known of its sentence.

    Names are replaced by P1, P2 ... in the order of the suite. z is within all that a participant
    rated in the suite, as in the tables of people's effects.

    Args:
        data: the run.
        known: a row for each sentence, or several, with its item and condition.

    Returns:
        The table; None where the suite has no single ratings.

    Raises:
        InputError: the scale or a rating is invalid.
    """
    import polars as pl

    given = single_ratings(data)
    if not given:
        return None
    named = dict.fromkeys(one.participant for ones in given.values() for one in ones)
    names = {name: f"P{n}" for n, name in enumerate(filter(None, named), start=1)}
    scaled, _, _ = z_by_participant(given)
    z = {(place, one.participant): one.value for place, ones in scaled.items() for one in ones}
    rows = [
        (data.suite, names.get(who, ""), *place, one.value, z.get((place, who)))
        for place, ones in given.items()
        for one in ones
        for who in (one.participant,)
    ]
    texts = dict.fromkeys(("suite", "participant", "item", "condition"), pl.String)
    numbers = dict.fromkeys(("rating", "z"), pl.Float64)
    free = [
        name for name in known.columns if name not in (*_OF_MODELS, *OWN_COLUMNS, *texts, *numbers)
    ]
    about = known.select("item", "condition", *free).unique(["item", "condition"])
    ratings = pl.DataFrame(rows, schema={**texts, **numbers}, orient="row")
    return ratings.join(about, on=["item", "condition"], how="left", maintain_order="left")


def single_ratings(data: RunData) -> dict[tuple[str, str], tuple[Rating, ...]]:
    """The single ratings of each sentence of a suite, by item and condition."""
    suite = data.run.sentences
    if suite is None or "ratings" not in suite.extra or ratings_by(suite) == AUTHOR:
        return {}
    sentences = rated_of(suite).sentences
    return {
        (item.id, condition.name): sentence.ratings
        for (item, condition), sentence in zip(suite.stimuli(), sentences, strict=True)
        if sentence.ratings
    }
