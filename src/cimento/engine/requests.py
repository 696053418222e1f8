"""The four questions that a model can be asked, as plain records.

`Score`: how probable are the tokens of a text? `Fill`: what belongs in the blank? `Choose`: how
probable is each of some answers after a prompt? `Reply`: what does the model write? A request says
nothing of the suite that it comes from, so that two suites that ask the same are answered once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from cimento.models.base import ModelCard, Score
from cimento.models.questions import Choose, FillPolicy, Reply
from cimento.runs.usage import Tokens

if TYPE_CHECKING:
    import polars as pl

__all__ = ("NO_ANSWERS", "Answers", "Choose", "Fill", "Reply", "Request", "Requests", "Score")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """A text with a blank, for which a model finds candidates and scores options.

    Attributes:
        before: what stands before the blank.
        after: what stands after it.
        options: what is scored there besides the candidates; empty for none.
        policy: how candidates are found, and by which rules options are scored.
    """

    before: str
    after: str
    options: tuple[str, ...] = ()
    policy: FillPolicy = field(default_factory=FillPolicy)


Request: TypeAlias = Score | Fill | Choose | Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """One round of requests, and what each is for.

    Attributes:
        asked: the requests, each once; their numbers go on from those of earlier rounds.
        places: a requests table (docs/tables.md): for each number the item, the condition and the
            region that it answers for. One request may answer for several.
    """

    asked: Sequence[Request]
    places: pl.DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What a model said to all requests so far.

    Attributes:
        tables: ``tokens`` for `Score`, ``fills`` for `Fill`, ``choices`` for `Choose`, ``replies``
            for `Reply`; each has the column ``request``. A question that was never asked has none.
        n: how many requests there were.
        warnings: what the model had to say of the requests, as sentences.
        model: who answered; None where nothing was asked.
        usage: number of a request to what it came to at a server; those that were known already,
            and those to other models, are not there.
    """

    tables: Mapping[str, pl.DataFrame]
    n: int
    warnings: tuple[str, ...] = ()
    model: ModelCard | None = None
    usage: Mapping[int, Tokens] = field(default_factory=dict)

    def joined(self, following: Answers) -> Answers:
        """These answers and those to the next round, whose requests are numbered on."""
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
            usage={**self.usage, **{self.n + n: each for n, each in following.usage.items()}},
        )


NO_ANSWERS = Answers(tables={}, n=0)
"""What is known before the first round."""
