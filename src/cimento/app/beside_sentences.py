"""Sentences one by one beside a model, and their means by label: on the page and in Excel."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from statistics import fmean

from nicegui import ui

from cimento.app.answer_tables import (
    Labels,
    condition_label,
    condition_shown,
    own_item,
    shown_apart,
    workbook_of,
)
from cimento.app.beside_ratings import BesideModel, BesideSentence
from cimento.app.breakdowns import measure_named
from cimento.app.findings import button
from cimento.app.frame import Text, Visit, guarded, heading
from cimento.app.parts import save, table
from cimento.app.words import Words, two_decimals
from cimento.intake.words import apart_from, told_cell
from cimento.io.values import grouped
from cimento.report.cells import count, shown
from cimento.report.formatting import number
from cimento.report.grid import Grid

_NO_NAME = re.compile(r"[^\w.-]+")
"""What names of files do without."""


def file_of(used: str, model: str) -> str:
    """The name of a workbook of a table of answers beside a model."""
    return _NO_NAME.sub("-", f"{used}-{model}") + ".xlsx"


class BesideSentences:
    """The part of a page with the sentences that people and a model have valued.

    Args:
        visit: what the page is built for.
        row: people's mean ratings beside the model's scores.
        labels: of the sentences.
    """

    def __init__(self, visit: Visit, row: BesideModel, labels: Labels) -> None:
        self._visit, self._say, self._row, self._labels = visit, visit.say, row, labels

    def build(self, *, used: str) -> None:
        """Build the part in the place where it is called.

        Args:
            used: name of the table of the ratings, which gives the file its name.
        """
        say, row = self._say, self._row
        heading(say("people.one-by-one", suite=row.suite, model=row.model), level=4)
        self._build_by_label()
        columns = self._columns()
        table([*columns], [list(cells) for cells in zip(*columns.values(), strict=True)])
        Text(say("people.ranks-what", measure=measure_of(row, say))).classes("small")
        name = file_of(used, row.model)
        grid = beside_grid(row, self._labels, say)
        give = partial(save, name, partial(workbook_of, grid, say.language))
        with ui.element("div").classes("tools"):
            button(say("people.beside-xlsx"), guarded(self._visit, give), icon="download")

    def _build_by_label(self) -> None:
        """The means of the sentences with each label, by people and by the model."""
        say = self._say
        names = ["sentences", "mean", *(["z"] if self._has_z() else []), "model-mean"]
        for title, of_each in self._by_column():
            groups = grouped(zip(of_each, self._row.sentences, strict=True))
            groups.pop("", None)
            if len(groups) > 1:
                rows = [[label, *self._means(group)] for label, group in groups.items()]
                heads = [say(f"people.of-{name}") for name in names]
                table([title, *heads[:-1], _with_unit(heads[-1], self._row, say)], rows)

    def _by_column(self) -> Iterator[tuple[str, list[str]]]:
        """The columns by which there are means: conditions, and those of labels."""
        say, sentences = self._say, self._row.sentences
        conditions = [condition_shown(one.rated.condition, say) for one in sentences]
        yield shown_apart(("condition",), self._labels.names, say)["condition"], conditions
        yield from self._labels.columns(_places(sentences)).items()

    def _means(self, group: Sequence[BesideSentence]) -> list[str]:
        say, z = self._say, [one.rated.z for one in group if one.rated.z is not None]
        values = [
            fmean([one.rated.mean for one in group]),
            *([fmean(z) if z else None] if self._has_z() else []),
            fmean([turned(one.value, self._row) for one in group]),
        ]
        return [say.number(len(group)), *(two_decimals(value, say) for value in values)]

    def _has_z(self) -> bool:
        """Whether there are z-scores: it is known who gave which ratings."""
        return any(one.rated.z is not None for one in self._row.sentences)

    def _columns(self) -> dict[str, list[str]]:
        """The cells of each column, by its title."""
        say, sentences = self._say, self._row.sentences
        of = shown_apart(_COLUMNS, self._labels.names, say)
        columns = {
            of["item"]: _items(sentences, self._labels),
            of["condition"]: [condition_shown(one.rated.condition, say) for one in sentences],
            of["sentence"]: [one.rated.sentence for one in sentences],
            **self._labels.columns(_places(sentences)),
            of["judgments"]: [say.number(one.rated.n) if one.rated.n else "–" for one in sentences],
            of["mean"]: [two_decimals(one.rated.mean, say) for one in sentences],
            of["z"]: [two_decimals(one.rated.z, say) for one in sentences],
            _with_unit(of["value"], self._row, say): [
                two_decimals(turned(one.value, self._row), say) for one in sentences
            ],
            of["rank"]: [say.number(one.rank, ",g") for one in sentences],
            of["rank-model"]: [say.number(one.rank_model, ",g") for one in sentences],
            of["gap"]: [say.number(one.gap, "+,g") if one.gap else "0" for one in sentences],
        }
        if len({one.rated.condition for one in sentences}) == 1:
            del columns[of["condition"]]
        if not self._has_z():
            del columns[of["z"]]
        return columns


_COLUMNS = (
    "item", "condition", "sentence", "judgments", "mean", "z", "value", "rank", "rank-model", "gap",
)  # fmt: skip


def _with_unit(title: str, row: BesideModel, say: Words) -> str:
    """The heading of a model's values, with their unit behind it if they have one."""
    return f"{title} ({say.named('unit', row.unit)})" if row.unit else title


def _places(sentences: Sequence[BesideSentence]) -> list[tuple[str, str, str]]:
    return [(one.rated.suite, one.rated.item, one.rated.condition) for one in sentences]


def _items(sentences: Sequence[BesideSentence], labels: Labels) -> list[str]:
    """The items of sentences as their author calls them."""
    items, name = [one.rated.item for one in sentences], condition_label(labels)
    if name is None:
        return items
    of_each = labels.columns(_places(sentences))[name]
    return [own_item(item, label) for item, label in zip(items, of_each, strict=True)]


def beside_grid(row: BesideModel, labels: Labels, say: Words) -> Grid:
    """The sentences beside a model as a table for spreadsheet programs.

    Args:
        row: people's mean ratings beside the model's scores.
        labels: of the sentences, which have a column for each name.
        say: the words of the page; the value of the model is called by its measure, with its unit.
    """
    # A condition that all share says nothing beside the author's own.
    is_plain = condition_label(labels) is not None and (
        len({one.rated.condition for one in row.sentences}) == 1
    )
    texts = ("suite", "model", "item", *(() if is_plain else ("condition",)), "sentence")
    before, after = ("rating_n", "rating", "mean_z"), ("rank_people", "rank_model", "rank_gap")
    language, own = say.language, labels.columns(_places(row.sentences))
    return Grid(
        title="beside",
        header=(
            *(apart_from(name, language, own) for name in texts), *own,
            *(apart_from(name, language, own) for name in before), measure_of(row, say),
            *(apart_from(name, language, own) for name in after),
        ),
        labels=len(texts) + len(own),
        rows=tuple(
            (
                row.suite, row.model, item,
                *(() if is_plain else (told_cell(one.rated.condition, language),)),
                one.rated.sentence, *of_one, count(one.rated.n or None),
                number(one.rated.mean, digits=4), number(one.rated.z, digits=4, absent=""),
                number(turned(one.value, row), digits=4),
                *(shown(value, f"{value:g}", absent="")
                  for value in (one.rank, one.rank_model, one.gap)),
            )
            for one, item, *of_one in zip(
                row.sentences, _items(row.sentences, labels), *own.values(), strict=True
            )
        ),
    )  # fmt: skip


def turned(value: float, row: BesideModel) -> float:
    """A value of a model, turned round as its measure is called on the page."""
    return -value if row.is_turned else value


def measure_of(row: BesideModel, say: Words) -> str:
    """The measure in words, turned round where less of it is better: more is then expected."""
    if not row.is_turned:
        return measure_named(row.measure, say, masked=row.is_masked)
    name = f"masked-{row.measure}" if row.is_masked else row.measure
    turned = say.named("turned", name)
    return turned if turned != name else say("people.turned", measure=row.measure)
