"""Answers, and the mean of each rated sentence, as tables for spreadsheet programs and the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from cimento.app.words import Words
from cimento.judgments import Judgment, table_of
from cimento.judgments.summaries import QuestionSummary, is_rated, once, rating_of
from cimento.measures.participants import z_by_participant
from cimento.report.cells import Shown, count, printed
from cimento.report.formatting import number
from cimento.report.grid import Grid
from cimento.suites.ratings import Rating

_NUMBERS = ("value", "position", "seconds", "session_seconds")


def answers_grid(judgments: Sequence[Judgment]) -> Grid:
    """The answers as a table, one in a row, with the columns of numbers last.

    Args:
        judgments: the answers.
    """
    present = table_of(judgments).columns
    labels = [name for name in present if name not in _NUMBERS]
    columns = [*labels, *(name for name in _NUMBERS if name in present)]
    return Grid(
        title="answers", header=tuple(columns), labels=len(labels),
        rows=tuple(tuple(_cell(getattr(one, name), name) for name in columns) for one in judgments),
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
    z: float | None


def sentence_means(judgments: Sequence[Judgment]) -> list[SentenceMean]:
    """The mean ratings of sentences, in the order of the answers.

    Args:
        judgments: the answers; those that are not ratings are left out, and of repeated ones of one
            person all but the first.
    """
    ratings: dict[tuple[str, str, str, str], list[Rating]] = {}
    for one in once(judgments):
        if is_rated(one.question) and one.counts and (value := rating_of(one)) is not None:
            place = (one.suite, one.item, one.condition, one.candidate or "")
            ratings.setdefault(place, []).append(Rating(value, one.annotator or ""))
    z, _, _ = z_by_participant(ratings)
    means = []
    for place, given in ratings.items():
        values = [rating.value for rating in given]
        suite, item, condition, sentence = place
        means.append(
            SentenceMean(
                suite=suite, item=item, condition=condition, sentence=sentence, n=len(values),
                mean=fmean(values), sd=stdev(values) if values[1:] else None,
                z=fmean([one.value for one in z[place]]) if place in z else None,
            )
        )  # fmt: skip
    return means


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


def means_grid(judgments: Sequence[Judgment]) -> Grid:
    """The ratings of each sentence: number, mean, standard deviation (n - 1) and mean z-score.

    Args:
        judgments: the answers, as for `sentence_means`.
    """
    return Grid(
        title="means",
        # The names of a suite of ratings, so that the file can be run as one.
        header=(
            "suite", "item", "condition", "sentence", "rating_n", "rating", "rating_sd", "mean_z"
        ),
        labels=4,
        rows=tuple(
            (
                one.suite, one.item, one.condition, one.sentence,
                count(one.n),
                number(one.mean, digits=4),
                number(one.sd, digits=4, absent=""),
                number(one.z, digits=4, absent=""),
            )
            for one in sentence_means(judgments)
        ),
    )  # fmt: skip
