"""The items of a run as a reader goes through them: verdicts, margins, token strips."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.report.strips import Stretch, Strip, read_tokens, strip

if TYPE_CHECKING:
    import polars as pl

    from cimento.suites.model import Suite
    from cimento.verdicts.judge import Verdict

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
        outcome: the verdict on all predictions together; None for a suite without predictions.
        verdicts: one for each prediction.
        strips: one for each condition.
        answers: the model's best answers, where it was asked for some.
        remarks: what else is known, such as the judgments of people: label and text.
    """

    id: str
    phenomenon: str
    outcome: Verdict | None
    verdicts: tuple[Verdict, ...]
    strips: tuple[Strip, ...]
    answers: tuple[AnswerList, ...] = ()
    remarks: tuple[tuple[str, str], ...] = ()


def item_records(
    suite: Suite,
    verdicts: Iterable[Verdict],
    tokens: pl.DataFrame,
    requests: pl.DataFrame,
    *,
    limit: int | None = None,
) -> tuple[ItemRecord, ...]:
    """The items of a run, those that went worst first.

    Args:
        suite: that was judged.
        verdicts: as ``judge`` gives them.
        tokens: a table of the schema ``answers.TOKENS``.
        requests: a table of the schema ``answers.REQUESTS``.
        limit: how many at most; None for all.

    Returns:
        Fails, ties, passes, each by the margin of all predictions together, smallest first; then
        what could not be scored.
    """
    import polars as pl

    by_item: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_item.setdefault(verdict.item, []).append(verdict)
    names = sorted(
        (item.id for item in suite.items), key=lambda name: _badness(by_item.get(name, ()))
    )[:limit]
    rows = requests.filter(pl.col("item").is_in(names))
    strips = _strips(rows, tokens.filter(pl.col("request").is_in(rows["request"].implode())))
    about = suite.meta.phenomenon
    phenomena = {item.id: item.column("phenomenon") or about for item in suite.items}
    return tuple(
        ItemRecord(
            id=name,
            phenomenon=phenomena[name],
            outcome=_outcome(by_item.get(name, ())),
            verdicts=tuple(each for each in by_item.get(name, ()) if each.prediction is not None),
            strips=strips.get(name, ()),
        )
        for name in names
    )


def worst_first(items: Iterable[ItemRecord]) -> tuple[ItemRecord, ...]:
    """Fails, ties, passes, each by its margin, smallest first; then what could not be scored."""
    return tuple(sorted(items, key=lambda each: _badness((each.outcome,) if each.outcome else ())))


def _outcome(verdicts: Sequence[Verdict]) -> Verdict | None:
    return next((each for each in verdicts if each.prediction is None), None)


def _badness(verdicts: Sequence[Verdict]) -> tuple[int, float]:
    outcome = _outcome(verdicts)
    if outcome is None:
        return len(_WORST_FIRST), 0.0
    margin = -math.inf if outcome.margin_bits is None else outcome.margin_bits
    return _WORST_FIRST.index(outcome.verdict), margin


def _strips(requests: pl.DataFrame, tokens: pl.DataFrame) -> Mapping[str, tuple[Strip, ...]]:
    """Item to its strips, conditions in the order of the requests table."""
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
