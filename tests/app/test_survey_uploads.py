"""Answers to a survey that were gathered on paper, chosen on the survey's page."""

import pytest

from cimento.people.surveys.building import build_design
from cimento.people.surveys.exports import write_survey
from cimento.people.surveys.plan import SurveyPlan
from tests.app.test_people_results import choose, said_on
from tests.helpers.app_user import visit

pytest.importorskip("nicegui")

SENTENCES = ("Le barche tornano.", "Il vento soffia.", "Le barche torna.")
TABLE = "frase\ttipo\n" + "".join(f"{one}\tbuona\n" for one in SENTENCES)


def uploaded(tmp_path, rows, *, checks):
    """What the page of a survey in Italian says of a file of answers."""
    suite = tmp_path / "barche.tsv"
    suite.write_text(TABLE, encoding="utf-8")
    plan = SurveyPlan(contact="Anna Bianchi", language="it", checks=checks)
    write_survey(build_design(suite, plan), tmp_path / "surveys" / "barche")
    said = []

    async def flow(user):
        await user.open("/it/people?survey=surveys/barche")
        await choose(user, "carta.csv", "\n".join(",".join(row) for row in rows) + "\n")
        await user.should_see(marker="counts", retries=300)
        said.extend(said_on(user))

    visit(tmp_path, flow)
    return said


def test_questions_that_nobody_answered_are_said_in_the_language_of_the_page(tmp_path):
    rows = [("Partecipante", *SENTENCES), ("P01", "5", "4", "1"), ("P02", "4", "5", "2")]
    said = uploaded(tmp_path, rows, checks=1)
    (line,) = [one for one in said if "check-1" in one]
    assert line.startswith("Domanda senza nessuna risposta (1): check-1 (")
    assert line.endswith("Se le persone hanno risposto, la colonna ha forse un altro titolo?")


def test_people_who_did_not_answer_every_question_are_said_in_the_language_of_the_page(tmp_path):
    rows = [("Partecipante", *SENTENCES), ("P01", "5", "", "1"), ("P02", "4", "5", "2")]
    said = uploaded(tmp_path, rows, checks=0)
    assert "Persone che non hanno risposto a tutte le domande: 1: P01 (2 su 3)." in said
