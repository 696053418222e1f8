"""A list of sentences whose author calls a column of labels like a column of cimento."""

from __future__ import annotations

import openpyxl
import pytest

from cimento.app.answer_tables import (
    NO_LABELS,
    Beyond,
    Labels,
    answers_csv,
    answers_grid,
    means_grid,
)
from cimento.app.label_shares import good_shares, group_shares_grid, label_shares
from cimento.app.labels import label_tables, labels_asked
from cimento.app.words import words
from cimento.cli.main import invoke
from cimento.intake.words import EXPORTED
from cimento.judgments import BETTER, Judgment, judgments_of, read_judgments
from cimento.people.annotate.importing import apply_judgments
from cimento.people.surveys.building import build_design
from cimento.people.surveys.material import load_material
from cimento.people.surveys.plan import SurveyPlan

SENTENCES = [
    ("Le barche sono tornate all'alba.", "accordo", "buona"),
    ("Le barche sono tornato all'alba.", "accordo", "cattiva"),
    ("La zia l'ho chiamata ieri.", "clitico", "buona"),
    ("La zia ho la chiamata ieri.", "clitico", "cattiva"),
    ("Domani il museo apre alle dieci.", "altro", "riempitivo"),
    ("Il pane si compra in piazza.", "altro", "riempitivo"),
]


@pytest.fixture
def listed(tmp_path):
    """A workbook with sentences and two columns of labels."""
    book = openpyxl.Workbook()
    for row in [("Frase", "Costruzione", "Condizione"), *SENTENCES]:
        book.active.append(row)
    book.save(tmp_path / "barche.xlsx")
    return tmp_path / "barche.xlsx"


def rated(design):
    """Two people's ratings of all sentences."""
    return [
        Judgment(
            suite=design.source.suite, item=one.item, condition=one.condition,
            candidate=one.candidate, annotator=person, value=str(value), scale="1 to 5",
        )
        for person, values in {"P-1": (5, 1, 4, 2, 5, 4), "P-2": (4, 2, 5, 2, 5, 5)}.items()
        for one, value in zip(sorted(design.questions, key=lambda q: q.item), values, strict=True)
    ]  # fmt: skip


def test_two_columns_of_labels_have_means_together(listed):
    design = build_design(listed, SurveyPlan(language="it", checks=0))
    tables = label_tables(rated(design), labels_asked(design), words("it"))
    (both,) = (one for one in tables if "×" in one.name)
    assert both.name == "Costruzione × Condizione"
    # By hand, of the two people's ratings in `rated`.
    assert {mean.label: mean.these.value for mean in both.means} == {
        "accordo × buona": 4.5, "accordo × cattiva": 1.5, "clitico × buona": 4.5,
        "clitico × cattiva": 2.0, "altro × riempitivo": 4.75,
    }  # fmt: skip


def choices(answers):
    """Choices between the sentences of pairs: the sides that each person chose."""
    return [
        Judgment(
            suite="coppie", item=str(n), condition=side, annotator=who, question=BETTER,
            value=f"Frase {side}.",
        )
        for who, sides in answers.items() for n, side in enumerate(sides)
    ]  # fmt: skip


def test_a_group_and_a_person_without_a_good_choice_have_a_proportion_too():
    names = ("accordo", "clitici")
    labels = Labels.at(
        {("coppie", str(n), ""): {"Condizione": name} for n, name in enumerate(names)}
    )
    answers = {"P-1": ("good", "bad"), "P-2": ("bad", "bad"), "P-3": ("good", "bad")}
    judgments = choices(answers)
    found = label_shares(judgments, labels)
    grid = group_shares_grid(found, good_shares(judgments), "it")
    assert [row[:3] + tuple(map(float, row[3:6])) for row in grid.rows] == [
        ("Condizione", "accordo", "frase buona", 1, 3, pytest.approx(2 / 3, abs=1e-4)),
        ("Condizione", "clitici", "frase buona", 1, 3, 0),
        ("Partecipante", "P-1", "frase buona", 2, 2, 0.5),
        ("Partecipante", "P-2", "frase buona", 2, 2, 0),
        ("Partecipante", "P-3", "frase buona", 2, 2, 0.5),
    ]
    assert {*grid.header}.isdisjoint(EXPORTED)


def test_choices_have_proportions_by_label():
    labels = Labels.at(
        {
            ("coppie", str(n), ""): {"Fenomeno": name}
            for n, name in enumerate(("accordo", "clitici"))
        }
    )
    answers = {"P-1": ("good", "bad"), "P-2": ("good", "good"), "P-3": ("good", "bad")}
    judgments = choices(answers)
    found = label_shares(judgments, labels)
    shares = {one.label: (one.items, one.share.n, one.share.share) for one in found["Fenomeno"]}
    assert shares == {"accordo": (1, 3, 1.0), "clitici": (1, 3, pytest.approx(1 / 3))}
    assert label_shares(judgments, NO_LABELS) == {}


@pytest.mark.parametrize("language", ["it", "en"])
def test_the_author_s_column_keeps_its_name_and_answers_are_read_back(listed, tmp_path, language):
    design = build_design(listed, SurveyPlan(language="it", checks=0))
    judgments, labels = rated(design), labels_asked(design)
    assert labels.names == ("Costruzione", "Condizione")
    grid = answers_grid(judgments, Beyond(), language, labels)
    assert grid.header.count("Condizione") == 1
    place = grid.header.index("Condizione")
    assert [str(row[place]) for row in grid.rows] == [label for *_, label in SENTENCES] * 2
    file = tmp_path / "answers.csv"
    file.write_bytes(answers_csv(judgments, Beyond(), language, labels))
    assert judgments_of(read_judgments(file)) == judgments
    plain = answers_csv(judgments, Beyond(), language, NO_LABELS)
    assert "(cimento)" not in plain.decode()
    means = means_grid(judgments, language, design, labels)
    assert [name for name in means.header if "ondi" in name] == ["Condizione"]


def test_a_copy_with_the_ratings_is_read_as_the_list_was_and_can_be_run(listed, tmp_path, capsys):
    design = build_design(listed, SurveyPlan(language="it", checks=0))
    copy = tmp_path / "copy"
    applied = apply_judgments(listed, rated(design), copy, language="it")
    assert applied.used == 12
    before, after = load_material(listed, language="it").suite, load_material(copy).suite
    for one, other in zip(before.items, after.items, strict=True):
        assert [c.name for c in one.conditions] == [c.name for c in other.conditions]
        assert one.conditions[0].columns.items() <= other.conditions[0].columns.items()
    assert invoke(["suites", "check", str(copy)]) == 0
    assert "0 errors" in capsys.readouterr().err
    assert invoke(["run", str(copy), "-m", "demo-causal", "-o", str(tmp_path / "runs")]) == 0
