"""The sentences that a form has people judge, and the test that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cimento.intake.profile import number_of
from cimento.judgments import ACCEPTABLE, BETTER
from cimento.judgments.doubted import doubts
from cimento.judgments.summaries import is_rated
from cimento.kinds.registry import load_suite, save_suite
from cimento.people.annotate.rows import Import
from cimento.suites.crossed import CLUSTER
from cimento.suites.ratings import RatedSentence, RatedSet, suite_from_ratings
from cimento.suites.sentence_list import are_labels

CORRECT = "Correct the columns if it is about the person."
"""The end of a question about what was read, which the page shows apart."""


@dataclass(frozen=True, slots=True)
class FormSentences:
    """The sentences of a form, each once.

    Attributes:
        texts: the sentences, in the order of the answers.
        items: what the file calls the item of each; empty strings where it names none.
        condition: the column of their conditions as the file calls it; empty without one, and where
            the conditions cannot be labels.
        conditions: the condition of each; none without a column.
        lost: the column of conditions that are not kept; empty for none.
    """

    texts: tuple[str, ...]
    items: tuple[str, ...]
    condition: str = ""
    conditions: tuple[str, ...] = ()
    lost: str = ""

    @property
    def remarks(self) -> list[str]:
        """What is said of conditions that the test does not have."""
        why = "its cells are not one of a few names for each sentence"
        return [f'The column "{self.lost}" is not kept: {why}.'] if self.lost else []

    @property
    def doubts(self) -> list[str]:
        """What is asked about questions before all sentences."""
        return [*doubts(self.texts, todo=CORRECT)]


def sentences_of(came: Import) -> FormSentences | None:
    """The sentences that a form asks to judge; None if its questions are something else.

    Args:
        came: the answers, read without a test.
    """
    asked = [one for one in came.judgments if not one.suite and not one.is_check]
    if not all(is_rated(one.question) or one.question == ACCEPTABLE for one in asked):
        return None
    items: dict[str, str] = {}
    conditions: dict[str, set[str]] = {}
    for one in asked:
        text = one.candidate or one.item
        items.setdefault(text, one.item if one.candidate else "")
        conditions.setdefault(text, set()).add(one.condition)
    if 2 * sum(" " in text for text in items) <= len(items):
        return None
    column = next((name for of in came.readings for name in of.roles.get("condition", ())), "")
    named = [next(iter(of_one)) if len(of_one) == 1 else "" for of_one in conditions.values()]
    texts, known = tuple(items), tuple(items.values())
    if not column or not any(map(any, conditions.values())):
        return FormSentences(texts, known)
    if not are_labels(named):
        return FormSentences(texts, known, lost=column)
    return FormSentences(texts, known, column, tuple(named))


def needs_test(came: Import) -> bool:
    """Whether answers are not all choices, which say how often each was chosen without a test.

    Args:
        came: the answers, read without a test.
    """
    return not all(one.question == BETTER for one in came.judgments)


def numbered_only(came: Import) -> list[str]:
    """What is said of ratings of sentences of which a file has the numbers alone.

    Args:
        came: the answers, read without a test.

    Returns:
        One line; none where they are not ratings of this kind.
    """
    names = {name for of in came.readings for name in of.roles.get("item", ())}
    are_rated = all(is_rated(one.question) and not one.suite for one in came.judgments)
    are_numbers = all(
        one.candidate is None and number_of(one.item) is not None for one in came.judgments
    )
    if not (came.judgments and names and are_rated and are_numbers):
        return []
    column = ", ".join(sorted(names))
    told = (
        f'No test was made: the column "{column}" has numbers of sentences, and the sentences are '
        "not in the file. To compare models, choose the test whose ids these numbers are, and the "
        "file again."
    )
    return [told]


def save_sentences(sentences: FormSentences, path: Path, *, language: str, words: str) -> None:
    """Save sentences as a suite, which takes their ratings, with their conditions as labels.

    Sentences of one item of the file are of one cluster. What the file calls an item stays in the
    id of each of its sentences.

    Args:
        sentences: the sentences.
        path: workbook that is written.
        language: ISO 639-1 code of the sentences.
        words: the language of what cimento itself writes in it.

    Raises:
        CimentoError: they cannot be a suite, or it cannot be written.
    """
    rated = [
        RatedSentence(id=id_, text=text, columns=columns)
        for id_, text, columns in zip(
            _ids(sentences), sentences.texts, _columns(sentences), strict=True
        )
    ]
    listed = RatedSet(name=path.stem, sentences=tuple(rated), language=language)
    suite = suite_from_ratings(listed)
    if _share_items(sentences):
        suite = replace(suite, cluster=(CLUSTER,))
    save_suite(load_suite(suite), path, words=words)


def _ids(sentences: FormSentences) -> Sequence[str]:
    """The ids of sentences: those of the file, with their conditions where items have several.

    Where these tell no two sentences apart, or there are none, the sentences are counted.
    """
    named = sentences.items
    if _share_items(sentences) and sentences.condition:
        pairs = zip(sentences.items, sentences.conditions, strict=True)
        named = tuple(f"{item}/{condition}" for item, condition in pairs)
    if all(sentences.items) and len({*named}) == len(named):
        return named
    return [str(number) for number in range(1, len(sentences.texts) + 1)]


def _columns(sentences: FormSentences) -> Sequence[dict[str, str]]:
    """The further columns of each sentence: its condition, and the item that it shares."""
    found: list[dict[str, str]] = [{} for _ in sentences.texts]
    if sentences.condition:
        for columns, name in zip(found, sentences.conditions, strict=True):
            columns[sentences.condition] = name
    if _share_items(sentences):
        for columns, item in zip(found, sentences.items, strict=True):
            columns[CLUSTER] = item
    return found


def _share_items(sentences: FormSentences) -> bool:
    """Whether all sentences are of an item, and several of one."""
    return all(sentences.items) and len({*sentences.items}) < len(sentences.items)
