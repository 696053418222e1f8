"""What the author of a suite calls its sentences, such as *filler*, in columns of any name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cimento.errors import UsageError, need_known
from cimento.judgments import FILLER
from cimento.kinds.base import SurveyItem
from cimento.people.surveys import SurveyQuestion
from cimento.suites.cells import Cells
from cimento.suites.filler_rows import may_call_filler
from cimento.suites.ratings import OWN_COLUMNS
from cimento.suites.sentence_list import are_labels

AUTHORS = ("label", "grammaticality")
"""Columns of ratings that are labels of an author."""

_PHENOMENON, _PEOPLE = "phenomenon", "participants"


def label_names(items: Sequence[SurveyItem], *, others: Sequence[str] = ()) -> tuple[str, ...]:
    """The columns that label what people are asked about, by their cells.

    Every item has a word there, and there are few such words; of ratings and of answers there may
    be few too.

    Args:
        items: what people are asked about.
        others: columns without labels, whatever their cells.
    """
    names = dict.fromkeys(name for item in items for name in item.columns)
    known = {*OWN_COLUMNS, *others, Cells("", dict.fromkeys(names, "")).find(_PEOPLE)}
    names = dict.fromkeys(name for name in names if name not in known - {*AUTHORS})
    cells = {name: [item.columns.get(name, "").strip() for item in items] for name in names}
    # Suites name their phenomenon so, whatever it is called in the file.
    own = cells.pop(_PHENOMENON, None)
    if own is not None and own not in cells.values() and len({*own}) > 1:
        cells[_PHENOMENON] = own
    return tuple(name for name, of_each in cells.items() if are_labels(of_each))


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


def filler_labels(labels: Iterable[Mapping[str, str]]) -> Counter[str]:
    """The labels that may call their sentences fillers, with the number of sentences of each.

    Args:
        labels: of each sentence, by column.
    """
    return Counter(
        label for of_one in labels for label in {*of_one.values()} if may_call_filler(label)
    )


def fillers_apart(
    sets: Sequence[tuple[SurveyQuestion, ...]], labels: Sequence[str], *, where: str
) -> tuple[list[tuple[SurveyQuestion, ...]], tuple[SurveyQuestion, ...]]:
    """The questions of the test, and those whose sentences have a label of fillers.

    Args:
        sets: the questions about a suite, in sets of which nobody sees two.
        labels: those that fillers have; none if there are no fillers.
        where: the suite, for messages.

    Raises:
        UsageError: no sentence has such a label, or no other is left.
    """
    known = dict.fromkeys(
        name for members in sets for one in members for name in one.labels.values()
    )
    for label in labels:
        need_known(
            label, [*known], where=f"--filler-label={label}", seen="no sentence is so called"
        )
    called = [
        (members, any(not {*labels}.isdisjoint(one.labels.values()) for one in members))
        for members in sets
    ]
    test = [members for members, is_filler in called if not is_filler]
    if not test:
        raise UsageError(
            where=f"--filler-label={' '.join(labels)}",
            seen=f"every sentence of {where} is a filler",
            todo="Name the labels of fillers alone.",
        )
    fillers = [one for members, is_filler in called if is_filler for one in members]
    return test, tuple(
        replace(one, kind=FILLER, id=f"filler-label-{number}")
        for number, one in enumerate(fillers, start=1)
    )
