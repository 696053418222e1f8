"""Tables of answers that the window writes in its language, read back to the same numbers."""

import io
from dataclasses import replace

import openpyxl
import pytest

from cimento.app.answer_tables import (
    Beyond,
    answers_csv,
    answers_grid,
    means_grid,
    workbook_of,
)
from cimento.app.incoming import asked_about, read_upload, remarks_on
from cimento.app.sentence_means import sentence_means
from cimento.app.words import LANGUAGES, said
from cimento.intake.words import EXPORTED, QUESTIONS
from cimento.judgments import FIELDS, FILLER, Judgment, judgments_of, read_judgments
from cimento.judgments.summaries import summarize
from cimento.kinds.registry import load_suite
from cimento.suites.ratings import rated_of

SENTENCES = (
    ("1", "good", "La portera abrió el buzón."),
    ("1", "bad", "La portera abrieron el buzón."),
    ("2", "good", "Los gatos duermen en el sofá."),
    ("2", "bad", "Los gatos duerme en el sofá."),
)
RATINGS = {"P-1": (7, 2, 6, 3), "P-2": (6, 1, 7, 1), "P-3": (4, 4, 5, 4)}


def answers():
    """Ratings of three people, an attention check each, and what they said to a filler."""
    asked, fillers = [], []
    for person, ratings in RATINGS.items():
        common = {"suite": "concordancia", "annotator": person, "survey": "1"}
        for place, ((item, condition, text), value) in enumerate(
            zip(SENTENCES, ratings, strict=True), start=1
        ):
            asked.append(
                Judgment(
                    item=item, condition=condition, candidate=text, value=str(value),
                    position=place, seconds=2.5, session_seconds=61.25, scale="1 to 7",
                    at="2026-03-02T10:00:00+00:00", **common,
                )
            )  # fmt: skip
        asked.append(
            Judgment(
                item="check-1", candidate="Elige 7.", value="7" if person != "P-3" else "2",
                expected="7", position=5, seconds=1.5, session_seconds=61.25, scale="1 to 7",
                **common,
            )
        )  # fmt: skip
        fillers.append(
            Judgment(item="filler-1", question=FILLER, candidate="Ayer llovió.", value="7",
                     position=6, **common)
        )  # fmt: skip
    return asked, Beyond(fillers, {"¿Dónde vives?": {"P-1": "Lugo", "P-2": "Jaén"}})


def fields(judgments):
    """All that was answered but who answered, which has another name after reading."""
    names = [name for name in FIELDS if name != "annotator"]
    return sorted(tuple(str(getattr(one, name)) for name in names) for one in judgments)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("form", [".csv", ".xlsx"])
def test_answers_are_read_back_and_fillers_are_said_to_be_kept_apart(tmp_path, language, form):
    asked, beyond = answers()
    data = (
        answers_csv(asked, beyond, language)
        if form == ".csv"
        else workbook_of(answers_grid(asked, beyond, language), language)
    )
    came = read_upload(f"r{form}", data, asked=asked_about(None), secret=tmp_path / "key")
    assert fields(came.judgments) == fields(asked)
    assert len({one.annotator for one in came.judgments}) == len(RATINGS)
    [before], [after] = summarize(asked), summarize(came.judgments)
    assert (after.mean, after.sd, after.alpha) == (before.mean, before.sd, before.alpha)
    remarks = remarks_on(came)
    assert any("3 skipped: it is a filler question" in remark for remark in remarks)
    told = [said(remark, language) for remark in remarks]
    assert None not in told
    assert language == "en" or not any("filler question" in text for text in told if text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_table_that_is_written_is_one_of_judgments(tmp_path, language):
    asked, _ = answers()
    file = tmp_path / "answers.csv"
    file.write_bytes(answers_csv(asked, Beyond(), language))
    assert judgments_of(read_judgments(file)) == asked


@pytest.mark.parametrize("language", LANGUAGES)
def test_means_are_read_back_as_a_suite_of_ratings(tmp_path, language):
    # Each sentence an item, as a list of sentences is asked.
    asked = [replace(one, item=one.candidate, condition="sentence") for one in answers()[0]]
    file = tmp_path / "means.xlsx"
    file.write_bytes(workbook_of(means_grid(asked, language), language))
    rated = rated_of(load_suite(file, language="es").suite).sentences
    written = {one.sentence: (one.mean, one.n, one.sd) for one in sentence_means(asked)}
    assert {one.text: (one.mean, one.n) for one in rated} == {
        text: (pytest.approx(mean, abs=1e-4), n) for text, (mean, n, _) in written.items()
    }
    # By hand: 7, 6 and 4.
    assert written[SENTENCES[0][2]] == pytest.approx((17 / 3, 3, 1.5275252))


@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != "en"])
def test_no_heading_is_english_and_none_is_used_twice(language):
    asked, beyond = answers()
    grid = answers_grid(asked, beyond, language)
    book = openpyxl.load_workbook(io.BytesIO(workbook_of(grid, language)))
    assert book.sheetnames == [EXPORTED["answers"][language]]
    assert {*grid.header}.isdisjoint(FIELDS)
    assert len({*grid.header}) == len(grid.header)
    cells = {cell for row in grid.rows for cell in map(str, row)}
    assert cells.isdisjoint({*QUESTIONS, "good", "bad"})


@pytest.mark.parametrize("language", LANGUAGES)
def test_answers_have_their_z_within_participants_and_ages_are_numbers(language):
    asked, beyond = answers()
    told = {"Edad": {"P-1": "27", "P-2": "34", "P-3": ""}, "Clave": {"P-1": "007", "P-2": "12"}}
    grid = answers_grid(asked, replace(beyond, told=told), language)
    book = openpyxl.load_workbook(io.BytesIO(workbook_of(grid, language)))
    head, *rows = book.active.iter_rows(values_only=True)
    z = [row[head.index(EXPORTED["z_by_participant"].get(language, "z_by_participant"))]
         for row in rows]  # fmt: skip
    # x = np.array([7, 2, 6, 3]); (x - x.mean()) / x.std(ddof=1); a check of attention has none
    assert z[:4] == pytest.approx((1.05021, -1.05021, 0.630126, -0.630126), abs=1e-5)
    assert z[4] is None
    assert {row[head.index("Edad")] for row in rows} == {27, 34, None}
    assert {row[head.index("Clave")] for row in rows} == {"007", "12", None}


def test_every_field_has_a_heading_in_every_language():
    others = {*LANGUAGES} - {"en"}
    assert {*FIELDS} <= {*EXPORTED}
    assert all({*texts} == others for texts in (*EXPORTED.values(), *QUESTIONS.values()))
