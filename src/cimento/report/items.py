"""Items of runs, worst first: strips, outcomes, and the JSON block in a page.

The page's script draws items from the block on demand. To keep pages small, only the worst items of
each run are kept if there are many or long ones; the page gives the total. `encode_items` describes
the form of the block.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from cimento.io.values import grouped
from cimento.report import AnswerList, ItemRecord
from cimento.report.language import ENGLISH, ENGLISH_CODE, PageLanguage
from cimento.report.strips import Stretch, Strip, StripToken, aligned, read_tokens, strip

if TYPE_CHECKING:
    import polars as pl

    from cimento.records.outcomes import Outcome
    from cimento.report import RunReport
    from cimento.report.strips import Piece
    from cimento.suites import Suite


_WORST_FIRST = ("fail", "tie", "pass", "unscored")


def item_records(
    suite: Suite,
    outcomes: Iterable[Outcome],
    tokens: pl.DataFrame,
    requests: pl.DataFrame,
    *,
    limit: int | None = None,
    question: str = "",
) -> tuple[ItemRecord, ...]:
    """The items of a run, worst first.

    Args:
        suite: the suite that was judged.
        outcomes: outcomes of its items; the last outcome of an item is about the whole item.
        tokens: a table of the schema ``answers.TOKENS``.
        requests: a table of the schema ``answers.REQUESTS``.
        limit: largest number of items; None for all.
        question: the question that the verdict and the margin of an item are about, as DD is in a
            design; empty, or where no outcome has it, for the last outcome.

    Returns:
        Fails, ties, passes, each ordered by margin, smallest first; then unscored items.
    """
    import polars as pl

    by_item = grouped((outcome.item, outcome) for outcome in outcomes)
    whole = {
        item: next((one for one in several if question and one.question == question), several[-1])
        for item, several in by_item.items()
    }
    names = sorted((item.id for item in suite.items), key=lambda name: badness(whole.get(name)))
    if limit is not None:
        names = names[:limit]
        requests = requests.filter(pl.col("item").is_in(names))
        tokens = tokens.filter(pl.col("request").is_in(requests["request"].implode()))
    strips = strips_of(requests, tokens)
    about = suite.meta.phenomenon
    phenomena = {item.id: item.column("phenomenon") or about for item in suite.items}
    return tuple(
        ItemRecord(
            id=name,
            phenomenon=phenomena[name],
            outcome=whole.get(name),
            parts=_parts(by_item.get(name, ()), whole.get(name)),
            strips=strips.get(name, ()),
        )
        for name in names
    )


def _parts(outcomes: Sequence[Outcome], whole: Outcome | None) -> tuple[Outcome, ...]:
    """The outcomes of single questions, without that which the whole item has."""
    several = len(outcomes) > 1 and whole is outcomes[-1]
    return tuple(outcomes[:-1] if several else outcomes)


def worst_first(items: Iterable[ItemRecord]) -> tuple[ItemRecord, ...]:
    """The items: fails, ties, passes, each by margin, smallest first; unscored ones last."""
    return tuple(sorted(items, key=lambda item: badness(item.outcome)))


def badness(outcome: Outcome | None) -> tuple[int, float]:
    """A key that sorts outcomes worst first, and then those without a verdict, by their size."""
    if outcome is None or outcome.verdict is None:
        value = None if outcome is None else outcome.value
        return len(_WORST_FIRST), math.inf if value is None else -abs(value)
    margin = -math.inf if outcome.value is None else outcome.value
    return _WORST_FIRST.index(outcome.verdict), margin


def strips_of(requests: pl.DataFrame, tokens: pl.DataFrame) -> Mapping[str, tuple[Strip, ...]]:
    """The strips of each item, with the conditions in the order of the requests table.

    Args:
        requests: a table of the schema ``answers.REQUESTS``.
        tokens: a table of the schema ``answers.TOKENS``; may be empty.
    """
    answers = read_tokens(tokens)
    places = requests.select("item", "condition", "request").unique().rows()
    return strips_at(
        requests, {(item, name): answers.get(request, ()) for item, name, request in places}
    )


def strips_at(
    requests: pl.DataFrame, tokens: Mapping[tuple[str, str], Sequence[StripToken]]
) -> Mapping[str, tuple[Strip, ...]]:
    """The strips of each item, of tokens that are known by item and condition.

    Args:
        requests: a table of the schema ``answers.REQUESTS``.
        tokens: the tokens of each item and condition.
    """
    stretches: dict[tuple[str, str], list[Stretch]] = {}
    texts: dict[tuple[str, str], str] = {}
    rows = requests.select("item", "condition", "text", "region", "start", "end", "needed")
    for item, condition, text, *place in rows.rows():
        texts[item, condition] = text
        stretches.setdefault((item, condition), []).append(Stretch(*place))
    strips: dict[str, tuple[Strip, ...]] = {}
    for (item, condition), text in texts.items():
        cut = strip(
            condition,
            text,
            stretches=stretches[item, condition],
            tokens=tokens.get((item, condition), ()),
        )
        strips[item] = (*strips.get(item, ()), cut)
    return strips


BUDGET = 2_400_000
"""Largest number of characters in the block, so that a page of 5,000 items has at most 3 MB."""

BLOCK_VERDICTS = ("fail", "tie", "pass", "unscored", "unjudged")
"""The verdicts, worst first; the page's script has the same list."""

NEEDED, GLUED = 1, 2

_SAYS = re.compile(r'\bsay\("([^"]+)"')
"""A text that the script of a page says."""

Plain: TypeAlias = "str | int | list[Plain] | None"


@dataclass(frozen=True, slots=True)
class ItemBlock:
    """The data block.

    Attributes:
        json: the block as JSON, safe inside a script element.
        kept: number of items in the block, for each run.
    """

    json: str
    kept: tuple[int, ...]


class _Words(defaultdict[str, int]):
    """The index of repeated texts: a text that is new gets the next number.

    Args:
        language: the language of the page, into which what cimento itself says is put.
    """

    def __init__(self, language: PageLanguage) -> None:
        super().__init__(lambda: len(self))
        self.language = language
        self.plain = functools.cache(language.plain)
        self[""] = 0

    def told(self, text: str) -> int:
        """The index of a text of cimento, in the language of the page."""
        return self[self.plain(text)]


def said_by(script: str, language: PageLanguage) -> dict[str, str]:
    """What the script of a page says in a language, by the English text.

    Args:
        script: the script, in which each text is an argument of ``say``.
        language: the language of the page.
    """
    marks = ("right", "target", "fits", "does not fit")
    texts = dict.fromkeys((*_SAYS.findall(script), *BLOCK_VERDICTS, *marks))
    return {text: language.plain(text) for text in texts}


def encode_items(
    runs: Sequence[RunReport],
    *,
    budget: int = BUDGET,
    language: PageLanguage = ENGLISH,
    script: str = "",
) -> ItemBlock:
    """The block of the items of some runs.

    An item is ``[run, id, phenomenon, verdict, margin, unit, reason, strips, parts, answers,
    remarks, contributions]``. Repeated texts are indices into ``words``; margins are in hundredths
    of their unit, surprisals in hundredths of a bit, probabilities in ten-thousandths. A strip is
    its condition and its regions. A region is its flags (1: a prediction needs it, or it differs;
    2: no space between it and the next) and its pieces. A piece is its text, followed by its
    surprisal, by ``[reason]`` if it has none, or by nothing if the model was not asked about it.
    Contributions are a label and strips with contributions in the place of surprisals.

    Args:
        runs: runs with their items, worst first.
        budget: characters allowed for all items together; each run gets an equal share, and short
            runs leave their rest to the others.
        language: the language of the page.
        script: script of the page; what it says is in the block in other languages than English.
    """
    words = _Words(language)
    parts: list[list[str]] = [[] for _ in runs]
    left = budget
    order = sorted(range(len(runs)), key=lambda number: len(runs[number].items))
    for place, number in enumerate(order):
        share = left // (len(runs) - place)
        for item in runs[number].items:
            text = _dumped(_item(number, item, words))
            if len(text) > share and parts[number]:
                break
            parts[number].append(text)
            share -= len(text)
            left -= len(text)
    items = ",".join(text for part in parts for text in part)
    head = {
        "runs": [
            {"suite": run.suite, "model": run.model, "language": run.language}
            for run in runs
        ],
        "words": list(words),
        **({} if language.code == ENGLISH_CODE else {"says": said_by(script, language)}),
    }  # fmt: skip
    whole = f'{_dumped(head)[:-1]},"items":[{items}]}}'
    return ItemBlock(json=script_safe(whole), kept=tuple(len(part) for part in parts))


def script_safe(text: str) -> str:
    """JSON that cannot end its script element, and that old JavaScript engines accept."""
    marks: dict[str, str | int | None] = {
        "<": "\\u003c",
        ">": "\\u003e",
        "&": "\\u0026",
        "\u2028": "\\u2028",
        "\u2029": "\\u2029",
    }
    return text.translate(str.maketrans(marks))


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _item(number: int, item: ItemRecord, words: _Words) -> list[Plain]:
    outcome = item.outcome
    return [
        number,
        item.id,
        words[item.phenomenon],
        BLOCK_VERDICTS.index(item.verdict or "unjudged"),
        _hundredths(outcome.value if outcome else None),
        words.told(outcome.unit if outcome else ""),
        words.told(outcome.reason if outcome else ""),
        [_strip(strip, words) for strip in aligned(item.strips)],
        _block_parts(item, words),
        [_answers(group, words) for group in item.answers],
        [[words.told(name), words.plain(text)] for name, text in item.remarks],
        [
            [words.told(some.label), *(_strip(strip, words) for strip in some.strips)]
            for some in item.contributions
        ],
    ]


def _block_parts(item: ItemRecord, words: _Words) -> list[Plain]:
    """The outcome of each question, if there are several."""
    return [
        [
            words[words.language.named(part.question)],
            BLOCK_VERDICTS.index(part.verdict or "unjudged"),
            _hundredths(part.value),
            words.told(part.unit),
        ]
        for part in item.parts
        if len(item.parts) > 1
    ]


def _answers(group: AnswerList, words: _Words) -> list[Plain]:
    cells: list[Plain] = [words.told(group.name)]
    for answer in group.answers:
        share = None if answer.share is None else round(10_000 * answer.share)
        cells.append([answer.text, share, words[answer.mark]])
    return cells


def _hundredths(value: float | None) -> int | None:
    return None if value is None or not math.isfinite(value) else round(100 * value)


def _strip(strip: Strip, words: _Words) -> Plain:
    regions: list[Plain] = [words[strip.condition]]
    marked = marked_regions(strip)
    after = [*strip.regions[1:], None]
    for region, other in zip(strip.regions, after, strict=True):
        flags = NEEDED if region.number in marked else 0
        if region.touches_next and not (other and other.begins_blank):
            flags |= GLUED
        regions.append([flags, *_pieces(region.pieces, words)])
    return regions


def marked_regions(strip: Strip) -> frozenset[int]:
    """The numbers of the regions that decide; none if the whole stimulus does."""
    filled = [region for region in strip.regions if region.pieces]
    needed = frozenset(region.number for region in filled if region.needed)
    return needed if len(needed) < len(filled) else frozenset()


def _pieces(pieces: Sequence[Piece], words: _Words) -> list[Plain]:
    """The pieces one after the other; a space is prefixed to the piece that follows it."""
    cells: list[Plain] = []
    blank = ""
    for text, asked, bits, reason in pieces:
        if not asked and text.isspace():
            blank = " "
            continue
        cells.append(blank + text)
        blank = ""
        if bits is not None:
            cells.append(round(100 * bits))
        elif asked:
            cells.append([words.told(reason or "no score")])
    return cells
