"""The pages of items: one item, as all models answered it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from cimento.errors import counted
from cimento.report.items import marked_regions

if TYPE_CHECKING:
    from cimento.report.records import ItemRecord
    from cimento.report.strips import Strip
    from cimento.site.board import ItemAcross, SuitePart
    from cimento.site.pages import SiteLook


def item_pages(look: SiteLook, part: SuitePart) -> Iterator[tuple[str, str]]:
    """The page of each item, with its path.

    Args:
        look: what all pages share.
        part: the suite.
    """
    around = {before.page: after for before, after in pairwise(part.items)}
    for item in part.items:
        following = around.get(item.page)
        more = [(part.page, part.name), *([(following.page, "next item")] if following else [])]
        columns = [
            column
            for column in _columns(item.first.strips)
            if any(_bits(record, [column]) != [None] for _, record in item.answers)
        ]
        yield (
            item.page,
            look.page(
                "item.html",
                item.page,
                title=f"{part.name}, {item.id}",
                links=look.links(item.page, *more),
                item=item,
                language=part.whole.language,
                texts=[(strip.condition, _underlined(strip)) for strip in item.first.strips],
                remarks=_common_remarks(item),
                columns=[text for _, text in columns],
                answered=any(record.answers for _, record in item.answers),
                rows=[(entry, record, _bits(record, columns)) for entry, record in item.answers],
                valued=_valued(item),
                verdict=_verdict,
                lacking=_lacking(item),
            ),
        )


def _verdict(record: ItemRecord) -> str:
    return (record.outcome.verdict if record.outcome else None) or "unjudged"


def _valued(item: ItemAcross) -> str:
    """The heading of the values of an item; empty if no model has one."""
    outcomes = [record.outcome for _, record in item.answers if record.outcome]
    known = [one for one in outcomes if one.value is not None]
    if not known:
        return ""
    name = "Margin" if item.judged else known[0].question
    return ", ".join(dict.fromkeys([name, *(one.unit for one in known if one.unit)]))


def _lacking(item: ItemAcross) -> list[str]:
    """The reasons for outcomes, each with the number of models that have it."""
    reasons = Counter(record.outcome.reason for _, record in item.answers if record.outcome)
    return [f"{counted(n, 'model')}: {reason}." for reason, n in reasons.items() if reason]


def _underlined(strip: Strip) -> list[tuple[str, bool]]:
    """The text of a strip in pieces, each with whether it is in a region that decides."""
    marked = marked_regions(strip)
    pieces: list[tuple[str, bool]] = []
    for region in strip.regions:
        text = "".join(piece.text for piece in region.pieces)
        bare = text.strip()
        before, _, after = text.partition(bare) if bare else ("", "", text)
        pieces += [(before, False), (bare, region.number in marked), (after, False)]
    return [(text, decides) for text, decides in pieces if text]


_Place = tuple[str, int | None]


def _columns(strips: Sequence[Strip]) -> list[tuple[_Place, tuple[str, str]]]:
    """What has a number in the table of an item: places, each with its condition and text."""
    places: list[tuple[_Place, tuple[str, str]]] = []
    for strip in strips:
        marked = marked_regions(strip)
        asked = any(piece.asked for region in strip.regions for piece in region.pieces)
        if not marked and asked:
            places.append(((strip.condition, None), (strip.condition, "")))
        places += [
            (
                (strip.condition, region.number),
                (strip.condition, "".join(piece.text for piece in region.pieces).strip()),
            )
            for region in strip.regions
            if region.number in marked
        ]
    return places


def _bits(record: ItemRecord, columns: Iterable[tuple[_Place, object]]) -> list[float | None]:
    """The summed surprisal in each place; None where a part of it has no score."""
    strips = {strip.condition: strip for strip in record.strips}
    return [_sum(strips.get(condition), number) for (condition, number), _ in columns]


def _sum(strip: Strip | None, number: int | None) -> float | None:
    pieces = [
        piece
        for region in (strip.regions if strip else ())
        if number in (None, region.number)
        for piece in region.pieces
        if piece.asked
    ]
    known = [piece.surprisal_bits for piece in pieces if piece.surprisal_bits is not None]
    return sum(known) if pieces and len(known) == len(pieces) else None


def _common_remarks(item: ItemAcross) -> tuple[tuple[str, str], ...]:
    """The remarks on an item that do not depend on the model, such as people's ratings."""
    shared = set(item.first.remarks).intersection(*(one.remarks for _, one in item.answers))
    return tuple(remark for remark in item.first.remarks if remark in shared)
