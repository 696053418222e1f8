"""The items of a run as a reader goes through them: verdicts, margins, token strips."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cimento.report.strips import Stretch, Strip, read_tokens, strip

if TYPE_CHECKING:
    import polars as pl

    from cimento.runs.outcomes import Outcome
    from cimento.suites.model import Suite

_WORST_FIRST = ("fail", "tie", "pass", "unscored")


@dataclass(frozen=True, slots=True)
class Given:
    """Something that a model could put somewhere, or choose.

    Attributes:
        text: what it is.
        share: its probability; None where that is not known.
        mark: what is known of it, such as ``target`` or ``fits``; empty where nothing is.
    """

    text: str
    share: float | None = None
    mark: str = ""


@dataclass(frozen=True, slots=True)
class AnswerList:
    """What a model gave in one place, the best first.

    Attributes:
        name: how it was asked, or which question.
        answers: in order.
    """

    name: str
    answers: tuple[Given, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRecord:
    """One item of a run.

    Attributes:
        id: of the item.
        phenomenon: that the item is about; empty where the suite does not say.
        outcome: what became of it as a whole; None where nothing is right or wrong.
        parts: what became of each question, where there are several.
        strips: one for each condition.
        answers: the model's best answers, where it was asked for some.
        remarks: what else is known, such as the judgments of people: label and text.
    """

    id: str
    phenomenon: str
    outcome: Outcome | None
    strips: tuple[Strip, ...]
    parts: tuple[Outcome, ...] = ()
    answers: tuple[AnswerList, ...] = ()
    remarks: tuple[tuple[str, str], ...] = ()


def item_records(
    suite: Suite,
    outcomes: Iterable[Outcome],
    tokens: pl.DataFrame,
    requests: pl.DataFrame,
    *,
    alone: str = "",
    limit: int | None = None,
) -> tuple[ItemRecord, ...]:
    """The items of a run, those that went worst first.

    Args:
        suite: that was judged.
        outcomes: of its items; the last of an item is that of the whole.
        tokens: a table of the schema ``answers.TOKENS``.
        requests: a table of the schema ``answers.REQUESTS``.
        alone: what the one question is called where there are no others.
        limit: how many at most; None for all.

    Returns:
        Fails, ties, passes, each by the margin of all predictions together, smallest first; then
        what could not be scored.
    """
    import polars as pl

    by_item: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_item.setdefault(outcome.item, []).append(outcome)
    whole = {item: several[-1] for item, several in by_item.items()}
    names = sorted((item.id for item in suite.items), key=lambda name: badness(whole.get(name)))
    names = names[:limit]
    rows = requests.filter(pl.col("item").is_in(names))
    strips = strips_of(rows, tokens.filter(pl.col("request").is_in(rows["request"].implode())))
    about = suite.meta.phenomenon
    phenomena = {item.id: item.column("phenomenon") or about for item in suite.items}
    return tuple(
        ItemRecord(
            id=name,
            phenomenon=phenomena[name],
            outcome=whole.get(name),
            parts=_parts(by_item.get(name, ()), alone),
            strips=strips.get(name, ()),
        )
        for name in names
    )


def _parts(outcomes: Sequence[Outcome], alone: str) -> tuple[Outcome, ...]:
    """The outcome of each question but the last, which is of all of them, or of the only one."""
    if len(outcomes) == 1:
        return (replace(outcomes[0], question=alone or outcomes[0].question),)
    return tuple(outcomes[:-1])


def worst_first(items: Iterable[ItemRecord]) -> tuple[ItemRecord, ...]:
    """Fails, ties, passes, each by its margin, smallest first; then what could not be scored."""
    return tuple(sorted(items, key=lambda item: badness(item.outcome)))


def badness(outcome: Outcome | None) -> tuple[int, float]:
    """A key that sorts outcomes worst first; what has no verdict comes last."""
    if outcome is None or outcome.verdict is None:
        return len(_WORST_FIRST), 0.0
    margin = -math.inf if outcome.value is None else outcome.value
    return _WORST_FIRST.index(outcome.verdict), margin


def strips_of(requests: pl.DataFrame, tokens: pl.DataFrame) -> Mapping[str, tuple[Strip, ...]]:
    """Item to its strips, conditions in the order of the requests table.

    Args:
        requests: a table of the schema ``answers.REQUESTS``.
        tokens: a table of the schema ``answers.TOKENS``; may be empty.
    """
    answers = read_tokens(tokens)
    stretches: dict[tuple[str, str], list[Stretch]] = {}
    asked: dict[tuple[str, str], tuple[int, str]] = {}
    for row in requests.iter_rows(named=True):
        stimulus = (row["item"], row["condition"])
        asked[stimulus] = (row["request"], row["text"])
        stretches.setdefault(stimulus, []).append(
            Stretch(row["region"], row["start"], row["end"], row["needed"])
        )
    strips: dict[str, tuple[Strip, ...]] = {}
    for (item, condition), (request, text) in asked.items():
        cut = strip(
            condition,
            text,
            stretches=stretches[item, condition],
            tokens=answers.get(request, ()),
        )
        strips[item] = (*strips.get(item, ()), cut)
    return strips
