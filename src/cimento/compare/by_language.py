"""Languages of an analysis: the ability of models in each, and which of its items to look at.

Models that were trained on different languages have no single ability. A phenomenon that occurs
in several languages therefore counts as one in each, and so a model may be better in one language
than in another; items are compared with the ability of models on the phenomenon in their language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cimento.compare.ranges import Range, range_at
from cimento.io.values import grouped
from cimento.statistics.design import codes

if TYPE_CHECKING:
    from cimento.compare.analysis import AnalyzedItem
    from cimento.compare.answer_table import AnswerTable
    from cimento.compare.family_items import FamilyItem
    from cimento.statistics.design import Integers
    from cimento.statistics.item_response import ItemResponseFit


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageItems:
    """The items in one language.

    Attributes:
        language: code of the language; empty for suites that state none.
        suites: number of suites.
        items: number of items.
        right: proportion of correct answers; None without any.
        backwards: items that are probably backwards; None where that was not looked for.
        disorderly: items whose answers are less orderly than the model expects.
        by_family: items that are easier or harder for a family; None where that is not known.
    """

    language: str
    suites: int
    items: int
    right: float | None
    backwards: int | None
    disorderly: int
    by_family: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AbilityInLanguage:
    """The ability of a model in one language.

    Attributes:
        model: label of the model.
        language: the code; empty for suites that state none.
        ability: over the phenomena in this language, in logits; 0 is the average model there.
        beyond: ability in this language less the model's ability over all phenomena.
    """

    model: str
    language: str
    ability: Range
    beyond: Range


def languages_of(table: AnswerTable) -> tuple[str, ...]:
    """The languages of a table, in the order of its phenomena."""
    return tuple(dict.fromkeys(table.languages))


def language_codes(table: AnswerTable) -> Integers | None:
    """The number of each phenomenon's language; None where all are of one."""
    of = dict(zip(table.phenomena, table.languages, strict=True))
    numbers, count = codes(list(of.values()))
    return numbers if count > 1 else None


def abilities_in_languages(
    table: AnswerTable, fit: ItemResponseFit
) -> tuple[AbilityInLanguage, ...]:
    """The ability of each model in each language, the surest deviations from its own first."""
    if fit.by_area is None or fit.beyond is None:
        return ()
    names, found = languages_of(table), []
    sure = np.abs(fit.beyond.value / fit.beyond.se)
    for place in (-sure).argsort(kind="stable"):
        model, language = divmod(int(place), len(names))
        ability, beyond = range_at(fit.by_area, int(place)), range_at(fit.beyond, int(place))
        if ability is not None and beyond is not None:
            found.append(
                AbilityInLanguage(
                    model=table.respondents[model].name,
                    language=names[language],
                    ability=ability,
                    beyond=beyond,
                )
            )
    return tuple(found)


def items_by_language(
    table: AnswerTable,
    *,
    items: Sequence[AnalyzedItem],
    backwards: Sequence[AnalyzedItem],
    misfits: Sequence[AnalyzedItem],
    by_family: Sequence[FamilyItem] | None,
) -> tuple[LanguageItems, ...]:
    """The items of each language; nothing where all are of one.

    Args:
        table: of answers.
        items: as they were analyzed, in the order of the table.
        backwards: those that are probably backwards.
        misfits: the disorderly ones.
        by_family: those that are easier or harder for a family; None where that is not known.
    """
    of = dict(zip(table.keys, table.languages, strict=True))
    if len(set(of.values())) < 2:  # noqa: PLR2004  # one language is not a division
        return ()
    looked = any(item.backwards is not None for item in items)
    counts = {
        name: grouped((of[one.suite, one.item], one) for one in some)
        for name, some in (("bad", backwards), ("misfit", misfits), ("family", by_family or ()))
    }

    def count(name: str, language: str) -> int:
        return len({(one.suite, one.item) for one in counts[name].get(language, ())})

    described = []
    for language, members in grouped((of[one.suite, one.item], one) for one in items).items():
        answers = sum(one.n for one in members)
        correct = sum(one.n * one.right for one in members if one.right is not None)
        described.append(
            LanguageItems(
                language=language,
                suites=len({one.suite for one in members}),
                items=len(members),
                right=correct / answers if answers else None,
                backwards=count("bad", language) if looked else None,
                disorderly=count("misfit", language),
                by_family=None if by_family is None else count("family", language),
            )
        )
    return tuple(described)
