"""Answers, and the mean of each rated sentence, as tables for spreadsheet programs and the page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cimento.app.csv_files import has_decimal_comma
from cimento.app.sentence_means import sentence_means, z_scores
from cimento.app.words import USUAL, Words
from cimento.intake.words import (
    EXPORTED,
    OURS,
    QUESTIONS,
    apart_from,
    told_cell,
    told_side,
    told_tie,
)
from cimento.judgments import ACCEPTABLE, BETTER, FIELDS, FILLER, SCALE, Judgment, csv_of, table_of
from cimento.judgments.labeled import Place
from cimento.judgments.summaries import QuestionSummary
from cimento.judgments.yes_no import NO, YES
from cimento.people.surveys import SurveyDesign, storage
from cimento.people.surveys.administration import background, judgments_in
from cimento.report.cells import Shown, count, printed
from cimento.report.excel import xlsx
from cimento.report.formatting import number
from cimento.report.grid import Grid

_OF_MEANS = ("rating_n", "rating", "rating_sd", "mean_z_n", "mean_z")
_HEADINGS = {*FIELDS, *_OF_MEANS}.union(
    *(EXPORTED[name].values() for name in (*FIELDS, "sentence", *_OF_MEANS))
)
_NUMBERS = ("value", "position", "answer_place", "seconds", "session_seconds")


@dataclass(frozen=True, slots=True)
class Beyond:
    """What a survey asked beyond its suite, of those whose answers are read.

    Attributes:
        fillers: answers to fillers.
        told: answers of participants about themselves, by the text of the question, then by code.
    """

    fillers: Sequence[Judgment] = ()
    told: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def beyond_in(path: Path, design: SurveyDesign, judgments: Sequence[Judgment]) -> Beyond:
    """What the people of some answers were asked beyond the suite.

    Args:
        path: the file with the answers of the survey.
        design: of the survey.
        judgments: the answers; nothing of other people is there.

    Raises:
        StorageError: the file cannot be read.
    """
    people = {one.annotator for one in judgments}
    if not path.is_file() or people.isdisjoint(one.id for one in storage.participants(path)):
        return Beyond()
    answers = judgments_in(path, with_fillers=True)
    of_people = background(path)
    prompts = Counter(question.prompt for question in design.background)
    prompts.update({name for question in design.questions for name in question.labels})
    told: dict[str, dict[str, str]] = {}
    for asked in design.background:
        is_unclear = asked.prompt in _HEADINGS or prompts[asked.prompt] > 1
        title = f"{asked.prompt} ({asked.name})" if is_unclear else asked.prompt
        told[title] = {
            code: value for (code, name), value in of_people.items() if name == asked.name
        }
    return Beyond(
        [one for one in answers if one.question == FILLER and one.annotator in people], told
    )


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of sentences.

    Attributes:
        names: of the columns that have them.
        of_place: the label of each column, by suite, item and condition; choices among sentences
            have no condition.
    """

    names: tuple[str, ...] = ()
    of_place: Mapping[Place, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def at(cls, of_place: Mapping[Place, Mapping[str, str]]) -> Labels:
        """Labels by suite, item and condition, with all columns that they name."""
        return cls((*dict.fromkeys(name for one in of_place.values() for name in one),), of_place)

    def of(self, suite: str, item: str, condition: str) -> tuple[str, ...]:
        """The labels of a sentence, column by column; empty where it has none."""
        usual = self.of_place.get((suite, item, ""), {})
        found = self.of_place.get((suite, item, condition), usual)
        return tuple(found.get(name, "") for name in self.names)

    def columns(self, places: Sequence[Place]) -> dict[str, list[str]]:
        """The labels of some sentences, by the heading of their column."""
        of_each = [self.of(*place) for place in places]
        return {
            name: [of_one[number] for of_one in of_each] for number, name in enumerate(self.names)
        }


NO_LABELS = Labels()


def condition_label(labels: Labels) -> str | None:
    """The column of labels that is called condition; None without one."""
    own = {"condition", *map(str.casefold, EXPORTED["condition"].values())}
    return next((one for one in labels.names if one.strip().casefold() in own), None)


def own_item(item: str, label: str) -> str:
    """The author's own item, where an id has the label of its condition too: *3/island*."""
    return item.removesuffix(f"/{label}")


def named_by_labels(judgments: Sequence[Judgment], labels: Labels) -> tuple[list[Judgment], Labels]:
    """Answers whose conditions are those of a column of labels that is called condition.

    A list of sentences has one condition of its own for all of them, which says nothing beside it.
    Ids such as *3/island* are those of an item in a condition: the item is then the author's own.

    Args:
        judgments: the answers.
        labels: of their sentences.

    Returns:
        The answers, and the labels of other columns.
    """
    name = condition_label(labels)
    if name is None or len({one.condition for one in judgments if one.counts}) != 1:
        return [*judgments], labels
    at = labels.names.index(name)
    named = [
        replace(
            one,
            item=own_item(one.item, of_one[at]),
            condition=of_one[at] or one.condition,
        )
        if any(of_one := labels.of(one.suite, one.item, one.condition))
        else one
        for one in judgments
    ]
    rest = {
        (suite, own_item(item, of_one.get(name, "")), of_one.get(name, "")): {
            k: v for k, v in of_one.items() if k != name
        }
        for (suite, item, _), of_one in labels.of_place.items()
    }
    return named, Labels(tuple(one for one in labels.names if one != name), rest)


def workbook_of(grid: Grid, language: str) -> bytes:
    """A table of answers or of means as an Excel workbook, whose sheet has a name in a language."""
    sheet = heading_of(grid.title, language)
    return xlsx(grid, sheet=sheet[:1].upper() + sheet[1:])


def file_named(name: str, grid: Grid, language: str) -> str:
    """The name of the workbook of a table, which ends in what the table is in a language."""
    return f"{name}-{'-'.join(heading_of(grid.title, language).lower().split())}.xlsx"


def heading_of(name: str, language: str) -> str:
    """The heading of a column in a language; in English, the name of the field."""
    return EXPORTED[name].get(language, name)


def shown_apart(names: Iterable[str], own: Collection[str], say: Words) -> dict[str, str]:
    """The titles of columns of a page by their names, apart from those of an author's own.

    Args:
        names: such as ``condition``.
        own: the titles of the author's columns, which stay as they are.
        say: the words of the page.
    """
    titles = {name: say(f"people.of-{name}") for name in names}
    return {name: f"{title}{OURS}" if title in own else title for name, title in titles.items()}


def condition_shown(condition: str, say: Words) -> str:
    """The condition of a sentence, where it is that of a list in the words of a page."""
    return told_cell(condition, say.language)


def _headings(
    judgments: Sequence[Judgment], names: Sequence[str], language: str, *, own: Sequence[str]
) -> list[str]:
    """The headings of fields of judgments; times that others wrote are in no zone that is known.

    Args:
        judgments: the answers.
        names: the fields.
        language: ISO 639-1.
        own: columns of the author's own, whose names stay as they are.
    """
    is_ours = all(one.at is None or one.at.endswith(_UTC) for one in judgments)
    return [
        apart_from("sent" if name == "at" and not is_ours else name, language, own)
        for name in names
    ]


_UTC = ("+00:00", "Z")


def _in_words(judgments: Iterable[Judgment], language: str) -> list[Judgment]:
    """Judgments with what cimento itself has named, and the ends of scales, in a language."""
    return [
        replace(
            one, condition=told_side(told_cell(one.condition, language), language),
            item=one.item if one.counts and one.question != FILLER
            else told_cell(one.item, language),
            question=QUESTIONS.get(one.question, {}).get(language, one.question),
            scale=_scale(one.scale, language),
            value=_value(one, language),
        )
        for one in judgments
    ]  # fmt: skip


def _value(judgment: Judgment, language: str) -> str | None:
    """An answer; in English, as it is stored, as the headings are too."""
    value = judgment.value
    if value is None or language == USUAL:
        return value
    if judgment.question == ACCEPTABLE:
        return _TRUTH.get(language, {}).get(value, value)
    return told_tie(value, language) if judgment.question == BETTER else value


_TRUTH = {
    "it": {YES: "sì", NO: "no"},
    "es": {YES: "sí", NO: "no"},
    "pt": {YES: "sim", NO: "não"},
    "ru": {YES: "да", NO: "нет"},
}
"""The answers yes and no, which `cimento.judgments.yes_no` reads again."""


def _scale(scale: str | None, language: str) -> str | None:
    ends = SCALE.fullmatch(scale or "")
    form = _SCALES.get(language)
    return form.format(*ends.groups()) if ends and form else scale


_SCALES = {"it": "da {} a {}", "es": "de {} a {}", "pt": "de {} a {}", "ru": "от {} до {}"}


def answers_csv(
    judgments: Sequence[Judgment], beyond: Beyond, language: str, labels: Labels = NO_LABELS
) -> bytes:
    """The answers as CSV, with those to fillers and of people about themselves.

    Args:
        judgments: the answers.
        beyond: what else was asked.
        language: of the headings, ISO 639-1.
        labels: of the sentences.
    """
    import polars as pl

    whole = [*judgments, *beyond.fillers]
    table = table_of(_in_words(whole, language))
    people = table["annotator"].to_list() if beyond.told else []
    more = [
        pl.Series(title, [answers.get(who, "") for who in people], dtype=pl.String)
        for title, answers in beyond.told.items()
    ]
    of_each = labels.columns([(one.suite, one.item, one.condition) for one in whole])
    more += [pl.Series(title, cells, dtype=pl.String) for title, cells in of_each.items()]
    if any(scores := z_scores(whole)):
        more.append(pl.Series(_z_heading(language, labels.names), scores, dtype=pl.Float64))
    headings = _headings(whole, table.columns, language, own=labels.names)
    renamed = table.rename(dict(zip(table.columns, headings, strict=True)))
    whole_table = renamed.with_columns(more)
    return csv_of(whole_table, decimal_comma=has_decimal_comma(language)).encode()


def _z_heading(language: str, own: Collection[str]) -> str:
    """The heading of z within participants, apart from headings of the author."""
    return apart_from("z_by_participant", language, own)


def answers_grid(
    judgments: Sequence[Judgment], beyond: Beyond, language: str, labels: Labels = NO_LABELS
) -> Grid:
    """The answers as a table, one in a row, with the columns of numbers last.

    Args:
        judgments: the answers.
        beyond: what else was asked: fillers are further rows, and questions about people columns.
        language: of the headings, ISO 639-1.
        labels: of the sentences, which have a column for each name.
    """
    whole = [*judgments, *beyond.fillers]
    beside = labels.columns([(one.suite, one.item, one.condition) for one in whole])
    for title, said in beyond.told.items():
        beside[title] = [said.get(one.annotator or "", "") for one in whole]
    scores = z_scores(whole)
    judgments = _in_words(whole, language)
    present = table_of(judgments).columns
    own = (*labels.names, *beyond.told)
    texts = [name for name in present if name not in _NUMBERS]
    numbers = [name for name in _NUMBERS if name in present]
    columns = [
        *([_cell(getattr(one, name), name) for one in judgments] for name in texts),
        *map(_as_numbers, beside.values()),
        *([_cell(getattr(one, name), name) for one in judgments] for name in numbers),
        *([[number(z, digits=4, absent="") for z in scores]] if any(scores) else ()),
    ]
    return Grid(
        title="answers",
        header=(
            *_headings(judgments, texts, language, own=own), *beside,
            *_headings(judgments, numbers, language, own=own),
            *([_z_heading(language, own)] if any(scores) else ()),
        ),
        labels=len(texts) + len(beside),
        rows=tuple(zip(*columns, strict=True)),
    )  # fmt: skip


_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)([.,][0-9]+)?")
"""A number; a code such as *007* is none."""


def _as_numbers(cells: Sequence[str]) -> list[str]:
    """The cells of a column; as numbers where all are, such as ages."""
    if all(map(_NUMBER.fullmatch, filter(None, cells))):
        return [printed(cell.replace(",", ".")) for cell in cells]
    return [_cell(cell, "") for cell in cells]


def _cell(value: str | float | None, column: str) -> str:
    text = "" if value is None else str(value)
    return printed(text) if column in _NUMBERS else Shown(text, value)


def scale_of_alpha(summary: QuestionSummary) -> str:
    """The scale of the alpha of a question: ``interval`` or ``nominal``."""
    return summary.alpha.coefficient.rpartition(", ")[2]


def alpha_title(summaries: Iterable[QuestionSummary], say: Words, *, key: str = "of-alpha") -> str:
    """The title of a column of alphas, which says of which scale they are.

    Args:
        summaries: of the questions in its rows.
        say: the words of the page.
        key: of its text: with or without an interval.
    """
    scales = dict.fromkeys(map(scale_of_alpha, summaries))
    shown = "; ".join(say(f"people.alpha-scale-{scale}") for scale in scales)
    return say(f"people.{key}", scale=shown)


def means_grid(
    judgments: Sequence[Judgment],
    language: str,
    design: SurveyDesign | None = None,
    labels: Labels = NO_LABELS,
) -> Grid:
    """The ratings of each sentence: number, mean, standard deviation (n - 1) and mean z-score.

    Args:
        judgments: the answers, as for `sentence_means`.
        language: of the headings, ISO 639-1.
        design: of the survey, as for `sentence_means`.
        labels: of the sentences, which have a column for each name.
    """
    means, own = sentence_means(judgments, design), labels.names
    # A condition that all share says nothing, and would be beside the author's own.
    is_marked = apart_from("condition", language, own).endswith(OURS)
    is_plain = is_marked and len({one.condition for one in means}) == 1
    texts = ("suite", "item", *(() if is_plain else ("condition",)), "sentence")
    return Grid(
        title="means",
        # The names of a suite of ratings, so that the file can be run as one.
        header=(
            *(apart_from(name, language, own) for name in texts), *own,
            *(apart_from(name, language, own) for name in _OF_MEANS),
        ),
        labels=len(texts) + len(labels.names),
        rows=tuple(
            (
                one.suite, one.item,
                *(() if is_plain else (told_cell(one.condition, language),)), one.sentence,
                *labels.of(one.suite, one.item, one.condition), count(one.n),
                number(one.mean, digits=4),
                number(one.sd, digits=4, absent=""),
                count(one.n_z),
                number(one.z, digits=4, absent=""),
            )
            for one in means
        ),
    )  # fmt: skip
