"""Suites made from others or in Python: pairs from rows, merged suites, and matched copies.

The conditions of the items of a matched copy are alike in length and words.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from statistics import fmean
from typing import Any, TypeAlias

from cimento.errors import UsageError, counted, need_known
from cimento.intake.chosen import rows_with_roles
from cimento.io.clusters import columns_named
from cimento.suites import (
    BAD,
    GOOD,
    PAIR_PREDICTION,
    Item,
    JsonValue,
    Meta,
    Suite,
    pair_conditions,
    sentence,
)
from cimento.suites.letters import one_spelling
from cimento.suites.stimuli import count_words

_ALSO_NAMED = (("sentence_good", "sentence_bad"), ("grammatical", "ungrammatical"))
"""Names of the columns of good and bad sentences in published datasets."""

RowsLike: TypeAlias = "Iterable[Sequence[object]] | Iterable[Mapping[str, Any]] | Any"
"""Rows as tuples, dictionaries, a dictionary of columns, or a data frame of polars or pandas."""


def pairs(
    rows: RowsLike,
    *,
    name: str = "pairs",
    language: str = "",
    good: str = GOOD,
    bad: str = BAD,
    cluster: str | Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
) -> Suite:
    """Make a suite of minimal pairs, in which the good sentence should be more probable.

    Args:
        rows: tuples of a good and a bad sentence; or dictionaries, a dictionary of columns, or a
            data frame, with a column for each (``good`` and ``bad``, or ``sentence_good`` and
            ``sentence_bad`` as in BLiMP). Other columns are kept; ``phenomenon`` breaks the results
            down, and a column ``id`` names the pairs.
        name: name of the suite.
        language: ISO 639-1 code.
        good: name of the column of good sentences.
        bad: name of the column of bad sentences.
        cluster: name of the column whose value says which pairs belong together, or
            several names if clusters are crossed.
        columns: the columns by their roles, in place of the names above: ``{"good": "A", "bad":
            "B", "item": "N."}``. A column whose cells do not fit its role is refused unless an
            exclamation mark follows its name: ``A!``.

    Returns:
        The suite, with one item per pair and one prediction.

    Raises:
        UsageError: there are no pairs, or a row is not a pair; or a column does not fit its role.

    Example:
        >>> suite = pairs([("The keys are here.", "The keys is here."), ("We go.", "We goes.")])
        >>> len(suite.items)
        2
    """
    given = rows_of(rows, "pairs")
    if columns:
        given, good, bad = rows_with_roles(list(given), columns), GOOD, BAD
    records = [_record(row, number, good, bad) for number, row in enumerate(given, start=1)]
    _refuse_empty(records, columns_named(cluster))
    return Suite(
        meta=Meta(name=name, language=language),
        region_names=("sentence",),
        predictions=(PAIR_PREDICTION,),
        items=tuple(_item(record, good, bad) for record in records),
        cluster=cluster,
    )


def _refuse_empty(records: Sequence[Mapping[str, str]], clusters: Sequence[str]) -> None:
    """Refuse no pairs at all, and pairs without their cluster.

    Raises:
        UsageError: there are no pairs, or none has the column.
    """
    if not records:
        raise UsageError(where="pairs", seen="there are none", todo="Give (good, bad) tuples.")
    for name in clusters:
        if not any(name in record for record in records):
            raise UsageError(
                where=f"cluster={name!r}",
                seen="no pair has this column",
                todo="Give the name of a column, or leave it out.",
            )


def rows_of(rows: RowsLike, what: str) -> Iterable[object]:
    """The rows of any of the accepted forms, one by one.

    Args:
        rows: tuples, dictionaries, a dictionary of columns, or a data frame.
        what: what they are, for messages.

    Raises:
        UsageError: they have another form.
    """
    if isinstance(rows, Mapping):
        return _rows_of_columns(rows, what)
    if hasattr(rows, "iter_rows"):
        return list(rows.iter_rows(named=True))
    if hasattr(rows, "to_dict") and hasattr(rows, "columns"):
        return list(rows.to_dict("records"))
    if isinstance(rows, str) or not isinstance(rows, Iterable):
        raise UsageError(
            where=what,
            seen=f"got {type(rows).__name__}",
            todo="Give tuples, dictionaries or a data frame.",
        )
    return rows


def _rows_of_columns(columns: Mapping[str, Any], what: str) -> list[dict[str, object]]:
    """The rows of a dictionary of columns.

    Raises:
        UsageError: a value is not a column, or the columns have different lengths.
    """
    lengths = {
        len(cells) if isinstance(cells, Sequence) and not isinstance(cells, str) else None
        for cells in columns.values()
    }
    if len(lengths) > 1 or None in lengths:
        raise UsageError(
            where=what,
            seen="got one dictionary, whose values are not lists of one length",
            todo="Give a list for each column, or a list with a dictionary for each row.",
        )
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _record(row: object, number: int, good: str, bad: str) -> dict[str, str]:
    """A row as texts by column, always with ``id``."""
    if isinstance(row, Mapping):
        values = {str(key): value for key, value in row.items()}
    elif isinstance(row, Sequence) and not isinstance(row, str) and len(row) == 2:  # noqa: PLR2004
        values = dict(zip((good, bad), row, strict=True))
    else:
        raise UsageError(
            where=f"pair {number}", seen=f"got {row!r}", todo="Give a good and a bad sentence."
        )
    if (good, bad) == (GOOD, BAD) and not values.keys() & {GOOD, BAD}:
        named = next((names for names in _ALSO_NAMED if values.keys() >= set(names)), (GOOD, BAD))
        values = {
            dict(zip(named, (GOOD, BAD), strict=True)).get(key, key): values[key] for key in values
        }
    for column in (good, bad):
        value = values.get(column)
        if not isinstance(value, str) or not value.strip():
            detail = f": {value!r}" if column in values else ""
            raise UsageError(
                where=f"pair {number}",
                seen=f"there is no sentence under {column!r}{detail}",
                todo=f"Its columns are: {', '.join(values)}. Name two of them with good= and bad=.",
            )
    # Data frames of pandas have NaN for empty cells; only NaN is not equal to itself.
    cells = {
        key: str(value)
        for key, value in values.items()
        if value is not None and not (isinstance(value, float) and math.isnan(value))
    }
    return {"id": str(number), **cells}


def _item(record: Mapping[str, str], good: str, bad: str) -> Item:
    columns = {key: value for key, value in record.items() if key not in {"id", good, bad}}
    return Item(record["id"], pair_conditions(record[good].strip(), record[bad].strip(), columns))


PHENOMENON = "phenomenon"
"""Free column by which results are broken down."""


def merge_suites(parts: Mapping[str, Suite], *, name: str) -> Suite:
    """One suite merged from several, so that normalization pools over all of them.

    Items keep their order and get the name of their part as a prefix: ``adjunct-7``. The column
    ``phenomenon`` holds the name of the part.

    Args:
        parts: suites by the names of the parts, all with the same regions, predictions and factors.
        name: name of the merged suite.

    Raises:
        UsageError: there are no parts, or they do not have the same design.
    """
    if not parts:
        raise UsageError(where=f"suite {name!r}", seen="there is nothing to merge")
    first_name, first = next(iter(parts.items()))
    for part, suite in parts.items():
        for what in ("region_names", "predictions", "factors", "metric", "join", "cluster"):
            if getattr(suite, what) != getattr(first, what):
                raise UsageError(
                    where=f"suites {first_name!r} and {part!r}",
                    seen=f"they have different {what.replace('_', ' ')}",
                    todo="Only suites of one design can be one suite.",
                )
    items = tuple(_named(item, part) for part, suite in parts.items() for item in suite.items)
    meta = dataclasses.replace(first.meta, name=name, phenomenon="", extra={})
    return dataclasses.replace(first, meta=meta, items=items)


def _named(item: Item, part: str) -> Item:
    conditions = tuple(
        dataclasses.replace(condition, columns={**condition.columns, PHENOMENON: part})
        for condition in item.conditions
    )
    return dataclasses.replace(item, id=f"{part}-{item.id}", conditions=conditions)


NOTHING = "nothing"
"""The class of an empty region."""

OTHER = "another word"
"""The class of words that are in no list: nouns, verbs, names."""

_FIRST_WORD = re.compile(r"\w+")
_AT_START = ("wh-word", "preposition", "determiner", "complementizer")
_WITHIN = ("complementizer", "preposition", "determiner", "wh-word")


def first_word(text: str) -> str:
    """The first word of a text in lower case, without punctuation; empty without words."""
    match = _FIRST_WORD.search(one_spelling(text))
    return match.group().casefold() if match else ""


def closed_class(word: str, language: str, *, initial: bool) -> str | None:
    """The closed class of a word; `OTHER` for an open one, `NOTHING` for none.

    Args:
        word: a word in lower case.
        language: ISO 639-1 code.
        initial: whether the word begins a sentence; *che* is then a wh-word.

    Returns:
        The class; None if there are no lists for the language.
    """
    if not word:
        return NOTHING
    lists = _lists().get(language.partition("-")[0])
    if lists is None:
        return None
    order = _AT_START if initial else _WITHIN
    return next((kind for kind in order if word in lists[kind]), OTHER)


@functools.cache
def _lists() -> Mapping[str, Mapping[str, frozenset[str]]]:
    path = resources.files("cimento") / "data" / "function_words.toml"
    text = path.read_text(encoding="utf-8")
    return {
        language: {kind: frozenset(words.split()) for kind, words in kinds.items()}
        for language, kinds in tomllib.loads(text).items()
    }


Frequency = Callable[[str], float]
"""A function from a word to its Zipf frequency: log10 of occurrences in 10^9 words."""

PROVENANCE = "provenance"
"""Key of suite.toml for how a copy of a suite was made."""
_WORD = re.compile(r"[^\W\d_]+(?:['’])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The largest allowed differences between the conditions of an item; None for no limit.

    Attributes:
        words: largest difference between conditions in number of words.
        characters: largest difference in number of characters.
        frequency: largest difference in mean Zipf frequency of the words.
        overlap: smallest ratio of words in all conditions to words in any (Jaccard).
    """

    words: int | None = None
    characters: int | None = None
    frequency: float | None = None
    overlap: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """The differences between the conditions of an item, or their means over items.

    Attributes:
        words: difference in words between the longest and the shortest condition.
        characters: the same difference in characters.
        overlap: ratio of words in all conditions to words in any.
        frequency: difference between the highest and the lowest mean Zipf frequency; None if not
            requested.
    """

    words: float
    characters: float
    overlap: float
    frequency: float | None = None

    def is_within(self, limits: Limits) -> bool:
        """Whether all limits are kept."""
        differences = (
            (self.words, limits.words),
            (self.characters, limits.characters),
            (self.frequency, limits.frequency),
        )
        return all(
            most is None or (difference is not None and difference <= most)
            for difference, most in differences
        ) and (limits.overlap is None or self.overlap >= limits.overlap)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedSuite:
    """A matched copy with its balance before and after matching.

    Attributes:
        suite: the copy; its items keep their ids.
        before: mean balance of all items.
        after: mean balance of the items that were kept.
        dropped: ids of the other items.
    """

    suite: Suite
    before: Balance
    after: Balance
    dropped: tuple[str, ...]


def match_items(
    suite: Suite,
    limits: Limits,
    *,
    conditions: Sequence[str] = (),
    frequency: Frequency | None = None,
    sha256: str = "",
) -> MatchedSuite:
    """A copy of a suite with the items whose conditions are within the limits.

    Args:
        suite: the suite.
        limits: the limits on differences.
        conditions: names of the compared conditions; empty for all.
        frequency: the frequency of words, for a limit on it.
        sha256: digest of the suite, for the provenance.

    Raises:
        UsageError: no item is left, there is no such condition, or frequencies are missing.
    """
    _check(suite, limits, conditions, frequency)
    balances = {
        item.id: balance(item, suite, conditions=conditions, frequency=frequency)
        for item in suite.items
    }
    kept = [item for item in suite.items if balances[item.id].is_within(limits)]
    if not kept:
        closest = mean_balance(list(balances.values()))
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen=f"none of its {counted(len(suite.items), 'item')} is within the limits",
            todo=f"On average the conditions differ by {closest.words:.1f} words and "
            f"{closest.characters:.1f} characters, and share {closest.overlap:.2f} of their words.",
        )
    how: dict[str, JsonValue] = {
        "limits": {k: v for k, v in dataclasses.asdict(limits).items() if v is not None},
        "conditions": list(conditions),
        "items": f"{len(kept)} of {len(suite.items)}",
    }
    ids = {item.id for item in kept}
    return MatchedSuite(
        suite=remade(suite, kept, name="matched", said=origin_of(suite.meta, sha256) | how),
        before=mean_balance(list(balances.values())),
        after=mean_balance([balances[item.id] for item in kept]),
        dropped=tuple(item.id for item in suite.items if item.id not in ids),
    )


def origin_of(meta: Meta, sha256: str) -> dict[str, JsonValue]:
    """The part of a copy's provenance that names the suite it was made from."""
    return {"suite": meta.name, "version": meta.version, "sha256": sha256}


def remade(
    suite: Suite, items: Iterable[Item], *, name: str, said: Mapping[str, JsonValue]
) -> Suite:
    """A copy of a suite with other items.

    Args:
        suite: the suite.
        items: the items of the copy.
        name: what is added to the name of the suite.
        said: the provenance of the copy.
    """
    return dataclasses.replace(
        suite,
        meta=dataclasses.replace(suite.meta, name=f"{suite.name}-{name}"),
        items=tuple(items),
        extra={**suite.extra, PROVENANCE: dict(said)},
    )


def _check(
    suite: Suite, limits: Limits, conditions: Sequence[str], frequency: Frequency | None
) -> None:
    for name in conditions:
        need_known(
            name,
            suite.condition_names,
            where=f"condition {name!r}",
            seen=f"the suite {suite.name!r} has no such condition",
        )
    if limits.frequency is not None and frequency is None:
        raise UsageError(where="frequency limit", seen="there are no frequencies of words")


def balance(
    item: Item, suite: Suite, *, conditions: Sequence[str] = (), frequency: Frequency | None = None
) -> Balance:
    """The balance of the conditions of an item.

    Args:
        item: an item of the suite.
        suite: the suite, which determines how regions are joined.
        conditions: names of the compared conditions; empty for all.
        frequency: the frequency of words; None leaves it out.
    """
    texts = [
        sentence(condition, rule=suite.join)
        for condition in item.conditions
        if not conditions or condition.name in conditions
    ]
    words = [_WORD.findall(one_spelling(text).lower()) for text in texts]
    lengths, characters = [count_words(text) for text in texts], [len(text) for text in texts]
    sets = [set(word) for word in words]
    union = set.union(*sets) if sets else set()
    means = []
    if frequency is not None:
        means = [fmean(map(frequency, word)) for word in words if word]
    return Balance(
        words=float(max(lengths) - min(lengths)) if lengths else 0.0,
        characters=float(max(characters) - min(characters)) if characters else 0.0,
        overlap=len(set.intersection(*sets)) / len(union) if union else 0.0,
        frequency=max(means) - min(means) if means else None,
    )


def mean_balance(balances: Sequence[Balance]) -> Balance:
    """The mean of one or more balances."""
    frequencies = [balance.frequency for balance in balances if balance.frequency is not None]
    return Balance(
        words=fmean(balance.words for balance in balances),
        characters=fmean(balance.characters for balance in balances),
        overlap=fmean(balance.overlap for balance in balances),
        frequency=fmean(frequencies) if frequencies else None,
    )
