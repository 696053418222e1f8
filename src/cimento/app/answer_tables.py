"""Answers, and the mean of each rated sentence, as tables for spreadsheet programs and the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import TypeAlias

from cimento.app.words import Words
from cimento.intake.words import EXPORTED, QUESTIONS, told_cell
from cimento.io.values import grouped
from cimento.judgments import FIELDS, FILLER, SCALE, Judgment, csv_of, table_of
from cimento.judgments.effects import SentenceShare, sentence_shares
from cimento.judgments.summaries import QuestionSummary, is_rated, once, rating_of
from cimento.measures.participants import z_by_participant
from cimento.people.surveys import SurveyDesign, storage
from cimento.people.surveys.administration import background, judgments_in
from cimento.report.cells import Shown, count, printed
from cimento.report.excel import xlsx
from cimento.report.formatting import number
from cimento.report.grid import Grid
from cimento.suites.ratings import Rating

_HEADINGS = {*FIELDS}.union(*(words.values() for words in EXPORTED.values()))
_NUMBERS = ("value", "position", "seconds", "session_seconds")


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


def workbook_of(grid: Grid, language: str) -> bytes:
    """A table of answers or of means as an Excel workbook, whose sheet has a name in a language."""
    sheet = heading_of(grid.title, language)
    return xlsx(grid, sheet=sheet[:1].upper() + sheet[1:])


def heading_of(name: str, language: str) -> str:
    """The heading of a column in a language; in English, the name of the field."""
    return EXPORTED[name].get(language, name)


def condition_shown(condition: str, say: Words) -> str:
    """The condition of a sentence, where it is that of a list in the words of a page."""
    return told_cell(condition, say.language)


def _in_words(judgments: Iterable[Judgment], language: str) -> list[Judgment]:
    """Judgments with what cimento itself has named, and the ends of scales, in a language."""
    return [
        replace(
            one, condition=told_cell(one.condition, language),
            item=one.item if one.counts and one.question != FILLER
            else told_cell(one.item, language),
            question=QUESTIONS.get(one.question, {}).get(language, one.question),
            scale=_scale(one.scale, language),
        )
        for one in judgments
    ]  # fmt: skip


def _scale(scale: str | None, language: str) -> str | None:
    ends = SCALE.fullmatch(scale or "")
    form = _SCALES.get(language)
    return form.format(*ends.groups()) if ends and form else scale


_SCALES = {"it": "da {} a {}", "es": "de {} a {}", "pt": "de {} a {}", "ru": "от {} до {}"}


def answers_csv(judgments: Sequence[Judgment], beyond: Beyond, language: str) -> str:
    """The answers as CSV, with those to fillers and of people about themselves.

    Args:
        judgments: the answers.
        beyond: what else was asked.
        language: of the headings, ISO 639-1.
    """
    import polars as pl

    table = table_of(_in_words([*judgments, *beyond.fillers], language))
    people = table["annotator"].to_list() if beyond.told else []
    more = [
        pl.Series(title, [answers.get(who, "") for who in people], dtype=pl.String)
        for title, answers in beyond.told.items()
    ]
    return csv_of(
        table.with_columns(more).rename(
            {name: heading_of(name, language) for name in table.columns}
        )
    )


def answers_grid(judgments: Sequence[Judgment], beyond: Beyond, language: str) -> Grid:
    """The answers as a table, one in a row, with the columns of numbers last.

    Args:
        judgments: the answers.
        beyond: what else was asked: fillers are further rows, and questions about people columns.
        language: of the headings, ISO 639-1.
    """
    judgments = _in_words([*judgments, *beyond.fillers], language)
    present = table_of(judgments).columns
    labels = [name for name in present if name not in _NUMBERS]
    numbers = [name for name in _NUMBERS if name in present]
    return Grid(
        title="answers",
        header=(
            *(heading_of(name, language) for name in labels), *beyond.told,
            *(heading_of(name, language) for name in numbers),
        ),
        labels=len(labels) + len(beyond.told),
        rows=tuple(
            (
                *(_cell(getattr(one, name), name) for name in labels),
                *(_cell(told.get(one.annotator or ""), "") for told in beyond.told.values()),
                *(_cell(getattr(one, name), name) for name in numbers),
            )
            for one in judgments
        ),
    )  # fmt: skip


def _cell(value: str | float | None, column: str) -> str:
    text = "" if value is None else str(value)
    return printed(text) if column in _NUMBERS else Shown(text, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceMean:
    """The ratings of one sentence, described.

    Attributes:
        suite: name of the suite.
        item: id of the item.
        condition: of the item.
        sentence: the text; empty if the answers do not have it.
        n: number of people who rated it.
        mean: mean rating.
        sd: standard deviation (n - 1); None for a single rating.
        n_z: number of people in the mean of z-scores.
        z: mean of the z-scores, each within all that its participant rated; None where no
            participant has any.
    """

    suite: str
    item: str
    condition: str
    sentence: str
    n: int
    mean: float
    sd: float | None
    n_z: int
    z: float | None


_Place: TypeAlias = tuple[str, str, str, str]


def _ratings(judgments: Sequence[Judgment]) -> dict[_Place, list[Rating]]:
    """The ratings of each sentence, by suite, item, condition and text."""
    ratings: dict[_Place, list[Rating]] = {}
    for one in once(judgments):
        if is_rated(one.question) and one.counts and (value := rating_of(one)) is not None:
            place = (one.suite, one.item, one.condition, one.candidate or "")
            ratings.setdefault(place, []).append(Rating(value, one.annotator or ""))
    return ratings


def people_without_z(judgments: Sequence[Judgment]) -> list[str]:
    """The participants who have no z-scores, as all their ratings are equal.

    Args:
        judgments: the answers, as for `sentence_means`.
    """
    ratings = _ratings(judgments)
    z, _, _ = z_by_participant(ratings)
    with_z = {one.participant for given in z.values() for one in given}
    people = dict.fromkeys(one.participant for given in ratings.values() for one in given)
    return [name for name in people if name and name not in with_z]


def sentence_means(
    judgments: Sequence[Judgment], design: SurveyDesign | None = None
) -> list[SentenceMean]:
    """The mean ratings of sentences.

    Args:
        judgments: the answers; those that are not ratings are left out, and of repeated ones of one
            person all but the first.
        design: of the survey, whose order the sentences are in; without one they are in that of
            the answers.
    """
    ratings = _ratings(judgments)
    asked = {} if design is None else _order(design)
    z, _, _ = z_by_participant(ratings)
    means = []
    for place in sorted(ratings, key=lambda place: asked.get(place[1:3], len(asked))):
        given = ratings[place]
        values = [rating.value for rating in given]
        suite, item, condition, sentence = place
        means.append(
            SentenceMean(
                suite=suite, item=item, condition=condition, sentence=sentence, n=len(values),
                mean=fmean(values), sd=stdev(values) if values[1:] else None,
                n_z=len(z.get(place, ())),
                z=fmean([one.value for one in z[place]]) if place in z else None,
            )
        )  # fmt: skip
    return means


def _order(design: SurveyDesign) -> dict[tuple[str, str], int]:
    """The places of a survey's items and conditions, as its author wrote them."""
    places = dict.fromkeys((asked.item, asked.condition) for asked in design.questions)
    return {place: number for number, place in enumerate(places)}


def shares_by_sentence(
    judgments: Sequence[Judgment], design: SurveyDesign | None
) -> list[SentenceShare]:
    """How often each sentence was preferred, see `sentence_shares`.

    Args:
        judgments: the answers.
        design: of the survey, which has the sentences that nobody chose; None where there is none,
            so that they are not there.
    """
    if design is None:
        return sentence_shares(judgments)
    asked = grouped(
        ((design.source.suite, question.item), (choice.condition, choice.value))
        for question in design.questions
        for choice in question.choices
    )
    return sentence_shares(judgments, asked)


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
    judgments: Sequence[Judgment], language: str, design: SurveyDesign | None = None
) -> Grid:
    """The ratings of each sentence: number, mean, standard deviation (n - 1) and mean z-score.

    Args:
        judgments: the answers, as for `sentence_means`.
        language: of the headings, ISO 639-1.
        design: of the survey, as for `sentence_means`.
    """
    return Grid(
        title="means",
        # The names of a suite of ratings, so that the file can be run as one.
        header=tuple(
            heading_of(name, language)
            for name in ("suite", "item", "condition", "sentence", "rating_n", "rating",
                         "rating_sd", "mean_z_n", "mean_z")
        ),
        labels=4,
        rows=tuple(
            (
                one.suite, one.item, told_cell(one.condition, language), one.sentence,
                count(one.n),
                number(one.mean, digits=4),
                number(one.sd, digits=4, absent=""),
                count(one.n_z),
                number(one.z, digits=4, absent=""),
            )
            for one in sentence_means(judgments, design)
        ),
    )  # fmt: skip
