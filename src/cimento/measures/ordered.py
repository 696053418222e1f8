"""The tables of a run in the order of judging, of which a block at a time is in memory.

Tables that cimento stores are in this order; those of recordings and other programs may not be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.io.tables import REQUESTS, TOKENS, Rows, collected

if TYPE_CHECKING:
    import polars as pl

    from cimento.io.values import Integers

_ROWS_AT_ONCE = 1 << 18


@dataclass(frozen=True, slots=True)
class OrderedTokens:
    """A tokens table by text and position.

    Attributes:
        rows: the table.
        texts: number of each text, ascending.
        offsets: index of its first row; the number of rows follows at the end.
    """

    rows: pl.LazyFrame
    texts: Integers
    offsets: Integers

    @classmethod
    def of(cls, tokens: Rows) -> OrderedTokens:
        """The tokens table in order; one that is in order already is not read as a whole."""
        rows = tokens.lazy()
        texts, offsets, is_ordered = _texts_of(rows)
        if not is_ordered:
            rows = collected(rows.sort("request", "position"), where=TOKENS.name).lazy()
            texts, offsets, _ = _texts_of(rows)
        return cls(rows, texts, offsets)

    def of_texts(self, first: int, last: int) -> pl.DataFrame:
        """The rows of the texts from one number to another, both included."""
        import numpy as np

        begin = self.offsets[np.searchsorted(self.texts, first, side="left")]
        end = self.offsets[np.searchsorted(self.texts, last, side="right")]
        return collected(self.rows.slice(begin, end - begin), where=TOKENS.name)


def _texts_of(tokens: pl.LazyFrame) -> tuple[Integers, Integers, bool]:
    """The texts and offsets of `OrderedTokens`, and whether the rows are in order."""
    import numpy as np
    import polars as pl

    count = collected(tokens.select(pl.len()), where=TOKENS.name).item()
    places, is_ordered = tokens.select("request", "position"), True
    text, position = np.array([-1]), np.array([0])
    texts, begins = [text[:0]], [text[:0]]
    for begin in range(0, count, _ROWS_AT_ONCE):
        part = collected(places.slice(begin, _ROWS_AT_ONCE), where=TOKENS.name)
        text = np.concatenate((text[-1:], part["request"].to_numpy()))
        position = np.concatenate((position[-1:], part["position"].to_numpy()))
        grows, same = text[1:] > text[:-1], text[1:] == text[:-1]
        is_ordered &= bool((grows | (same & (position[1:] >= position[:-1]))).all())
        texts.append(text[1:][grows])
        begins.append(begin + np.flatnonzero(grows))
    return np.concatenate(texts), np.concatenate([*begins, [count]]), is_ordered


def ordered_requests(requests: Rows) -> tuple[pl.LazyFrame, Integers]:
    """A requests table with the rows of each item, and of each stimulus by region, together.

    Returns:
        The table, and the index of the first row of each stimulus; the number of rows follows at
        the end.
    """
    rows = requests.lazy()
    offsets, is_ordered = _stimuli_of(rows)
    if not is_ordered:
        rows = _in_suite_order(collected(rows, where=REQUESTS.name)).lazy()
        offsets, _ = _stimuli_of(rows)
    return rows, offsets


def _stimuli_of(requests: pl.LazyFrame) -> tuple[Integers, bool]:
    """The offsets of stimuli, and whether rows are together as in `ordered_requests`.

    Names are compared by hashes, which are smaller. Where two names have the same hash, a table in
    order is sorted once more, without harm.
    """
    import numpy as np
    import polars as pl

    hashes = (pl.col("item").hash(), pl.col("condition").hash(), pl.col("region").fill_null(-1))
    keys = collected(requests.select(hashes), where=REQUESTS.name, engine="streaming")
    item, condition, region = (keys[name].to_numpy() for name in keys.columns)
    item_changes = item[1:] != item[:-1]
    changes = item_changes | (condition[1:] != condition[:-1])
    begins = np.flatnonzero(np.concatenate(([len(item) > 0], changes)))
    # One number for a pair of hashes; the factor keeps two equal names from adding up alike.
    stimuli = pl.Series(item[begins] * np.uint64(3) + condition[begins])
    together = stimuli.n_unique() == len(stimuli)
    together &= keys["item"].n_unique() == np.count_nonzero(item_changes) + min(len(item), 1)
    ascends = bool((changes | (region[1:] >= region[:-1])).all())
    return np.concatenate((begins, [len(item)])), ascends and together


def _in_suite_order(requests: pl.DataFrame) -> pl.DataFrame:
    """A requests table in the order of `ordered_requests`, which keeps the order of items."""
    import polars as pl

    row = pl.col("row").first()
    places = requests.select("item", "condition", "region").with_row_index("row")
    keys = (row.over("item"), row.over("item", "condition"), "region", "row")
    return requests[places.select(pl.arg_sort_by(*keys)).to_series()]
