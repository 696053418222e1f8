"""The six kinds of request that a model can be asked, as plain records.

`Score`: how probable are the tokens of a text? `Fill`: what belongs in the blank? `Choose`: how
probable is each of some answers after a prompt? `Reply`: what does the model write? `Patch`: how
probable is a text with hidden states of another one? `Attribute`: how much does each token
contribute to the score? A request does not name its suite, so that the
same request of two suites is answered once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from cimento.models.base import ModelCard, Score
from cimento.models.questions import Attribute, Choose, FillPolicy, Patch, Reply
from cimento.runs.usage import Tokens

if TYPE_CHECKING:
    import polars as pl

__all__ = (
    "NO_ANSWERS", "Answers", "Attribute", "Choose", "Fill", "Patch", "Reply", "Request", "Requests",
    "Score",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """A text with a blank, for which a model finds candidates and scores options.

    Attributes:
        before: the text before the blank.
        after: the text after the blank.
        options: the options that are scored in the blank besides the candidates; may be empty.
        policy: the method of finding candidates, and the rules by which options are scored.
    """

    before: str
    after: str
    options: tuple[str, ...] = ()
    policy: FillPolicy = field(default_factory=FillPolicy)


Request: TypeAlias = Score | Fill | Choose | Reply | Patch | Attribute


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """One round of requests, with the places that each answers for.

    Attributes:
        asked: the requests without repeats, numbered from the end of the earlier rounds.
        places: a requests table (docs/tables.md), which gives for each number the item, the
            condition and the region that it answers for. One request may answer for several.
    """

    asked: Sequence[Request]
    places: pl.DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers of a model to all requests so far.

    Attributes:
        tables: ``tokens`` for `Score`, ``fills`` for `Fill`, ``choices`` for `Choose`, ``replies``
            for `Reply`, ``patches`` for `Patch`, ``gradients`` for `Attribute`; each has the column
            ``request``. A kind of request that was never made has no table. They are lazy, because
            the answers to a long suite stay in the files of its units until they are stored.
        n: number of requests.
        warnings: the model's remarks on the requests, as sentences.
        model: the card of the model that answered; None if nothing was asked.
        usage: tokens used at a server, by the number of the request; without requests that were
            known already and those to other models.
    """

    tables: Mapping[str, pl.LazyFrame]
    n: int
    warnings: tuple[str, ...] = ()
    model: ModelCard | None = None
    usage: Mapping[int, Tokens] = field(default_factory=dict)

    def table(self, name: str) -> pl.DataFrame:
        """The rows of a table in memory.

        Args:
            name: such as ``fills``.

        Raises:
            KeyError: no such request was made.
        """
        return self.tables[name].collect()

    def outline(self) -> Answers:
        """The same answers with empty tables, which keep their columns."""
        import polars as pl

        # Not `clear`, whose result keeps the rows alive.
        empty = {n: pl.LazyFrame(schema=rows.collect_schema()) for n, rows in self.tables.items()}
        return replace(self, tables=empty)

    def since(self, first: int) -> Answers:
        """The answers to the requests from some number on, which are numbered from 0 again."""
        import polars as pl

        if not first:
            return self
        tables = {
            name: table.filter(pl.col("request") >= first).with_columns(pl.col("request") - first)
            for name, table in self.tables.items()
        }
        usage = {number - first: used for number, used in self.usage.items() if number >= first}
        return replace(self, tables=tables, n=self.n - first, usage=usage)

    def joined(self, following: Answers) -> Answers:
        """These answers joined with those to the next round, which are numbered after these."""
        import polars as pl

        if not self.n:
            return following
        shifted = {
            name: table.with_columns(pl.col("request") + self.n)
            for name, table in following.tables.items()
        }
        tables = {
            name: pl.concat([part[name] for part in (self.tables, shifted) if name in part])
            for name in dict.fromkeys((*self.tables, *shifted))
        }
        warnings = tuple(dict.fromkeys((*self.warnings, *following.warnings)))
        return Answers(
            tables=tables,
            n=self.n + following.n,
            warnings=warnings,
            model=self.model or following.model,
            usage={**self.usage, **{self.n + n: tokens for n, tokens in following.usage.items()}},
        )


NO_ANSWERS = Answers(tables={}, n=0)
"""The answers before the first round."""
