"""Files of answers from other programs, to a survey or about a test, and a test of a form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from cimento.app.words import without_commands
from cimento.intake.reading import ANSWERS, AnswersReading
from cimento.io.files import write_bytes
from cimento.judgments import ColumnMap
from cimento.judgments.asked import AskedItems
from cimento.judgments.summaries import is_rated
from cimento.kinds.registry import save_suite
from cimento.people.annotate.importing import (
    DESIGN_FORMS,
    form_of,
    open_secret,
    questions_by_name,
    read_answers,
)
from cimento.people.annotate.remarks import worded
from cimento.people.annotate.rows import Import, ImportOptions
from cimento.people.surveys import SurveyDesign
from cimento.people.surveys.asked import asked_by
from cimento.people.surveys.material import load_material

Asked = Callable[..., AskedItems]
"""The questions by their names; ``stored`` says whether answers are as the design has them."""


def asked_in(design: SurveyDesign) -> Asked:
    """The questions of a survey."""
    return partial(asked_by, design)


def asked_about(suite: Path | None) -> Asked:
    """The questions about a suite; with None, every question is one of its own."""
    named = cache(lambda: questions_by_name([suite] if suite else []))  # the suite is read once

    def asked(*, stored: bool) -> AskedItems:  # noqa: ARG001  # a suite has one way of answering
        return named()

    return asked


def read_upload(
    name: str, data: bytes, *, asked: Asked, secret: Path, chosen: Mapping[str, str] | None = None
) -> Import | None:
    """The answers in a file of another program.

    Args:
        name: name of the program's file.
        data: its content.
        asked: the questions.
        secret: file with the key of pseudonyms; made if it is not there.
        chosen: the roles that somebody has chosen for columns, by their names.

    Returns:
        The judgments; None if it is not clear how the answers are arranged.

    Raises:
        CimentoError: the answers do not belong to these questions, or cannot be read.
    """
    with TemporaryDirectory(prefix="cimento-") as temporary:
        path = write_bytes(data, Path(temporary) / name)
        roles = dict(chosen or {})
        items = tuple(column for column, role in roles.items() if role == ANSWERS)
        columns = ColumnMap(
            chosen={role: name for name, role in roles.items() if name not in items}
        )
        form = "wide" if items else form_of(path, columns, asked(stored=False))
        if not form:
            return None
        key, _ = open_secret(secret)
        options = ImportOptions(
            form=form,  # type: ignore[arg-type]  # one of the forms, since it is not empty
            places=asked(stored=form in DESIGN_FORMS),
            secret=key,
            columns=columns,
            items=items,
        )
        return read_answers([path], options)


def remarks_on(came: Import) -> list[str]:
    """What there is to say of answers: those not used, notes, and what was read as what.

    Words in the place of ratings have a form of their own on the page.
    """
    skipped = [f"{number} skipped: {why}" for why, number in came.passed.items()]
    of_words = {*worded(came.judgments)}
    notes = [without_commands(note) for note in came.notes if note not in of_words]
    parts = [part for one in came.readings for part in one.parts]
    return [*skipped, *_blank(came.readings), *filter(None, notes), *parts]


def _blank(readings: Sequence[AnswersReading]) -> Iterator[str]:
    """A remark on empty cells, in tables with a person in each row."""
    for one in readings:
        cells = one.n_people * len(one.roles.get(ANSWERS, ()))
        if one.n_files == 1 and 0 < one.n_judgments < cells:
            empty = cells - one.n_judgments
            are = "is" if empty == 1 else "are"
            yield f"{empty:,} of {cells:,} cells for answers {are} empty."


def rated_sentences(came: Import) -> list[str]:
    """The sentences that a form asks to rate; none if its questions are something else."""
    texts = list(dict.fromkeys(one.item for one in came.judgments if not one.suite))
    whole = sum(" " in text for text in texts)
    if 2 * whole <= len(texts) or not all(is_rated(one.question) for one in came.judgments):
        return []
    return texts


def save_sentences(sentences: Sequence[str], path: Path, *, language: str) -> None:
    """Save sentences as a suite, one item each, which takes their ratings.

    Args:
        sentences: the sentences.
        path: workbook that is written.
        language: ISO 639-1 code of the sentences.

    Raises:
        CimentoError: they cannot be a suite, or it cannot be written.
    """
    with TemporaryDirectory(prefix="cimento-") as temporary:
        text = "\n".join(sentences) + "\n"
        listed = write_bytes(text.encode(), Path(temporary) / f"{path.stem}.txt")
        save_suite(load_material(listed, language=language), path)
