"""What the author of a suite calls its sentences, such as *filler*, in columns of any name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cimento.kinds.base import SurveyItem
from cimento.suites.ratings import OWN_COLUMNS
from cimento.suites.sentence_list import are_labels

AUTHORS = ("label", "grammaticality")
"""Columns of ratings that are labels of an author."""


def label_names(items: Sequence[SurveyItem], *, others: Sequence[str] = ()) -> tuple[str, ...]:
    """The columns that label what people are asked about, by their cells.

    Every item has a word there, and there are few such words; of ratings and of answers there may
    be few too.

    Args:
        items: what people are asked about.
        others: columns without labels, whatever their cells.
    """
    known = {*OWN_COLUMNS, *others} - {*AUTHORS}
    names = dict.fromkeys(name for item in items for name in item.columns if name not in known)
    return tuple(
        name for name in names if are_labels([item.columns.get(name, "").strip() for item in items])
    )


def labels_of_items(
    items: Sequence[SurveyItem], *, others: Sequence[str] = ()
) -> dict[tuple[str, str], Mapping[str, str]]:
    """The labels of what people are asked about, by item and condition, then by column.

    Args:
        items: what people are asked about.
        others: as for `label_names`.
    """
    names = label_names(items, others=others)
    return {
        (item.item, item.condition): {name: item.columns[name].strip() for name in names}
        for item in items
    }
