"""Observations of words joined to the surprisals of these words and of those before them.

One row for each observation, ready for a mixed model. What is hard spills over to the next words
(Smith and Levy 2013, doi:10.1016/j.cognition.2013.02.013), so earlier words stand in the row too.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from cimento.engine.cache import MemoryCache
from cimento.engine.freetext import surprisals_of_words
from cimento.engine.scores import ask
from cimento.errors import UsageError
from cimento.io.tables import Column
from cimento.models.align import containing
from cimento.models.base import Policy, Scorer
from cimento.reading_times.places import Names, Places, all_words, find_places
from cimento.sources import AnyScorer, Asking, open_scorer
from cimento.suites.stimuli import Plan, ScoreRequest, Span

if TYPE_CHECKING:
    import polars as pl

Frequency: TypeAlias = Callable[[str], float]
"""From a word to its frequency on the Zipf scale; 0 where it is not known."""

ENTROPY: Column = "entropy_nats"
REASON = "unscored_reason"
READING_POLICY = Policy(punctuation="keep")
"""A mark belongs to the word that it touches, as it is read with it."""


def join_surprisals(
    observations: pl.DataFrame,
    model: str | Scorer,
    *,
    names: Names | None = None,
    texts: Mapping[str, str] | None = None,
    before: int = 2,
    frequency: Frequency | None = None,
    asking: Asking | None = None,
) -> pl.DataFrame:
    """Observations of words with what a model says of these words.

    Args:
        observations: one row for each observation; columns that `names` does not name are kept.
        model: a name as for ``cimento run -m``, or anything that keeps the `Scorer` protocol.
        names: the columns that say which word it is.
        texts: id to text; else texts are made of the table, which must then have every word.
        before: of how many earlier words surprisal, length and frequency are given too.
        frequency: Zipf frequencies of words; None leaves the column out.
        asking: how the model is asked; by default with `READING_POLICY`. With the column
            ``entropy_nats`` the entropy of the position of the word's first token is given.

    Returns:
        The rows of `observations` in their order, with the columns ``surprisal_bits``, ``length``
        (characters without marks at the ends), ``zipf``, ``entropy_nats``, the same with ``_1``
        for the word before, ``_2`` for the one before that, and ``unscored_reason``. Null where
        there is no such word, or no score.

    Raises:
        UsageError: a column is missing, or is there already.
        InputError: words and texts do not agree; the message says where.
        CimentoError: the model cannot be used.
    """
    chosen = asking or Asking(policy=READING_POLICY)
    wanted = ["surprisal_bits", "length"]
    wanted += ["zipf"] if frequency is not None else []
    wanted += [ENTROPY] if ENTROPY in chosen.columns else []
    made = [(name, n) for n in range(before + 1) for name in wanted] + [(REASON, 0)]
    _refuse_columns(observations, [_title(name, n) for name, n in made])
    places = find_places(observations, names or Names())
    values = _values(all_words(places, texts), open_scorer(model, chosen), chosen, frequency)
    return observations.with_columns(_column(name, places, values, distance=n) for name, n in made)


def _refuse_columns(observations: pl.DataFrame, made: Sequence[str]) -> None:
    """UsageError where a column that is made here is there already."""
    for name in made:
        if name in observations.columns:
            raise UsageError(
                where="the table",
                seen=f"it has a column {name!r} already, which is made here",
                todo="Give the column another name.",
            )


def _title(name: str, distance: int) -> str:
    return f"{name}_{distance}" if distance else name


def _column(
    name: str, places: Places, values: Mapping[str, Sequence[_Word]], *, distance: int
) -> pl.Series:
    """A value of the word so many places before that of each observation."""
    import polars as pl

    types = {"length": pl.Int32(), REASON: pl.String()}
    cells = [
        getattr(values[text][index - distance], name) if index >= distance else None
        for text, index in places.rows
    ]
    return pl.Series(_title(name, distance), cells, dtype=types.get(name, pl.Float64()))


class _Word(NamedTuple):
    """What is known about a word of a text."""

    surprisal_bits: float | None
    length: int
    zipf: float | None
    entropy_nats: float | None
    unscored_reason: str | None


def _values(
    words: Mapping[str, Sequence[str]],
    scorer: AnyScorer,
    asking: Asking,
    frequency: Frequency | None,
) -> dict[str, list[_Word]]:
    """What the model and the words themselves say of each word of each text."""
    joined = {text: " ".join(each) for text, each in words.items()}
    ids = {content: number for number, content in enumerate(dict.fromkeys(joined.values()))}
    plan = Plan(
        suite="reading times",
        requests=tuple(
            ScoreRequest(number, content, asking.context.text) for content, number in ids.items()
        ),
        places=(),
    )
    tokens = ask(plan, scorer, policy=asking.policy, cache=MemoryCache(), columns=asking.columns)
    tables = tokens.partition_by("request", as_dict=True, maintain_order=True)
    values: dict[str, list[_Word]] = {}
    for text, content in joined.items():
        table, spans = tables[(ids[content],)], _spans(words[text])
        entropies = _entropies(table, spans)
        values[text] = [
            _Word(bits, len(bare(word)), _zipf(word, frequency), entropies[index], reason)
            for index, (word, (bits, reason)) in enumerate(
                zip(words[text], surprisals_of_words(table, spans), strict=True)
            )
        ]
    return values


def _spans(words: Sequence[str]) -> list[Span]:
    """The characters of each word in the text that has one blank between words."""
    spans, start = [], 0
    for word in words:
        spans.append((start, start + len(word)))
        start += len(word) + 1
    return spans


def _entropies(table: pl.DataFrame, spans: Sequence[Span]) -> list[float | None]:
    """The entropy of the position of each word's first token, where it was asked for."""
    found: dict[int, float | None] = {}
    if ENTROPY in table.columns:
        for start, entropy in table.select("start", ENTROPY).iter_rows():
            found.setdefault(containing(spans, start), entropy)
    return [found.get(index) for index in range(len(spans))]


def bare(word: str) -> str:
    """A word without the marks at its ends: punctuation and symbols of Unicode."""
    kept = [index for index, sign in enumerate(word) if unicodedata.category(sign)[0] not in "PS"]
    return word[kept[0] : kept[-1] + 1] if kept else ""


def _zipf(word: str, frequency: Frequency | None) -> float | None:
    """The frequency of a word; None where it is not known, or several words stand in one place."""
    form = bare(word)
    if frequency is None or not form or " " in form:
        return None
    return frequency(form) or None
