"""What the form for a survey takes from the test that is chosen."""

from __future__ import annotations

from itertools import pairwise

import pytest

from cimento.app.checking import check_grid
from cimento.app.opening import open_grid
from cimento.app.proposing import suits_people
from cimento.app.suiting import seen_by_each, suited_to
from cimento.errors import UsageError
from cimento.judgments import Judgment
from cimento.kinds.registry import load_suite
from cimento.people.annotate.importing import apply_judgments
from cimento.people.surveys import read_design
from cimento.people.surveys.building import build_design
from cimento.people.surveys.plan import SurveyPlan
from tests.app.test_people_page import fill
from tests.helpers.app_user import until, visit

pytest.importorskip("nicegui")

from nicegui import ui

PAIRS = (
    "frase grammaticale\tfrase agrammaticale\n"
    "Le barche sono tornate.\tLe barche sono tornato.\n"
    "La zia l'ho chiamata ieri.\tLa zia ho la chiamata ieri.\n"
)
LIST = "frase\ttipo\nLe barche tornano.\tbuona\nIl vento soffia.\tbuona\nLe barche torna.\tstrana\n"
ITEMS = (
    "item\tcondizione\tfrase\n1\tpresente\tLa torta cuoce.\n1\tpassato\tLa torta cuoceva.\n"
    "2\tpresente\tIl vento soffia.\n2\tpassato\tIl vento soffiava.\n"
)


def listed(folder, name, table):
    """A table among the tests of a workspace."""
    (folder / "suites").mkdir()
    (folder / "suites" / name).write_text(table, encoding="utf-8")


@pytest.mark.parametrize(
    ("table", "suited"),
    [
        (PAIRS, ("choice", False, [2, 2])),
        (LIST, ("likert", True, [1, 1, 1])),
        (ITEMS, ("likert", False, [2, 2])),
        ("a\tb\n1\t2\n", None),
    ],
)
def test_what_suits_a_table(tmp_path, table, suited):
    file = tmp_path / "barche.tsv"
    file.write_text(table, encoding="utf-8")
    found = suited_to(file)
    of_items = found and (found.task, found.is_each_alone, [*found.sizes.values()])
    assert of_items == suited


def test_conditions_of_any_names_are_asked_about_and_their_ratings_run(tmp_path):
    file = tmp_path / "barche.tsv"
    file.write_text(
        ITEMS.replace("presente", "tempo presente").replace("passato", "l'altro"), encoding="utf-8"
    )
    report = check_grid(grid := open_grid(file).grid)
    assert {one.code for one in report.findings if one.severity == "error"} == {"CIM-S015"}
    assert suits_people(grid, report.findings)
    design = build_design(file, SurveyPlan(contact="Anna", language="it", checks=0))
    assert {one.condition for one in design.questions} == {"tempo presente", "l'altro"}
    assert len(design.surveys) == 2
    judgments = [
        Judgment(
            suite="barche", item=one.item, condition=one.condition, candidate=one.candidate,
            annotator=who, value=value, scale="1 to 5",
        )
        for one in design.questions for who, value in (("P-1", "4"), ("P-2", "2"))
    ]  # fmt: skip
    copy = tmp_path / "copia.xlsx"
    assert apply_judgments(file, judgments, copy, language="it").used == 8
    assert load_suite(copy).suite.condition_names == ("tempo presente", "l'altro")


@pytest.mark.parametrize(("table", "fits"), [(LIST, True), (PAIRS, False), ("a\tb\n1\t2\n", False)])
def test_people_can_be_asked_about_what_has_faults_for_models_only(tmp_path, table, fits):
    file = tmp_path / "barche.tsv"
    file.write_text(table, encoding="utf-8")
    grid = open_grid(file).grid
    assert suits_people(grid, check_grid(grid).findings) == fits


def test_pairs_are_chosen_between_and_their_fillers_taken_as_the_page_says(tmp_path):
    listed(tmp_path, "barche.tsv", PAIRS)

    async def flow(user):
        await user.open("/it/people?suite=suites/barche.tsv")
        await until(lambda: any(
            "quello adatto al test: scegliere la migliore di due frasi" in str(menu.options)
            for menu in user.find(ui.select).elements
        ))  # fmt: skip
        await user.should_see("--task choice", retries=200)
        await user.should_see("--language it")
        await user.should_see("Le frasi di uno stesso item stanno su una sola pagina")
        await user.should_not_see("Nessuno vede due condizioni dello stesso item.")
        await user.should_not_see("ognuno vede tutte le frasi")
        fill(user, ui.input, "Responsabile (nome ed e-mail)", "Anna Bianchi")
        fill(
            user, ui.textarea, "Riempitivi, mescolati alle altre frasi",
            "Il treno è in orario. | Il treno sono in orario.",
        )  # fmt: skip
        fill(user, ui.textarea, "Altre domande sui partecipanti, scritte da te",
             "Quale dialetto parli?")  # fmt: skip
        user.find("Crea il questionario").click()
        await user.should_see("Su barche.", retries=300)
        await user.should_see("Domande sulle persone: «Quale dialetto parli?».")

    visit(tmp_path, flow)
    design = read_design(tmp_path / "surveys" / "barche")
    assert (design.task, len(design.surveys)) == ("choice", 1)
    assert sum(one.kind == "filler" for one in design.questions) == 1


def test_a_survey_that_is_made_at_once_has_the_language_of_the_page(tmp_path):
    listed(tmp_path, "barche.tsv", LIST)

    async def flow(user):
        await user.open("/it/people?suite=suites/barche.tsv")
        fill(user, ui.input, "Responsabile (nome ed e-mail)", "Anna Bianchi")
        user.find("Crea il questionario").click()  # before the file has been read
        await user.should_see("Su barche.", retries=300)
        await user.should_see("Pause: nessuna. Domande sulle persone: nessuna.")

    visit(tmp_path, flow)
    assert read_design(tmp_path / "surveys" / "barche").language == "it"


def test_a_list_without_items_is_seen_whole_and_the_page_says_so(tmp_path):
    listed(tmp_path, "barche.tsv", LIST)

    async def flow(user):
        await user.open("/it/people?suite=suites/barche.tsv")
        await user.should_see("ognuno vede tutte le frasi", retries=200)
        await user.open("/it/run?suite=suites/barche.tsv")
        await user.should_see("un elenco di frasi senza giudizi", retries=200)
        user.find(marker="run").click()
        await user.should_see("senza giudizi", kind=ui.notification, retries=200)

    visit(tmp_path, flow)
    assert not (tmp_path / "queue").exists() or not list((tmp_path / "queue").glob("*.json"))


PHENOMENA = (
    "N.;Frase;Fenomeno;Condizione\n1;Le barche tornano.;accordo;norma\n"
    "2;Le barche torna.;accordo;parlato\n3;Ti vedo domani.;clitici;norma\n"
    "4;Vedo ti domani.;clitici;parlato\n5;Sono partita presto.;ausiliare;norma\n"
    "6;Ho partita presto.;ausiliare;parlato\n"
)


@pytest.mark.parametrize("lists", [None, 2, 3])
def test_the_number_of_sentences_that_somebody_sees_is_that_of_the_lists(lists, tmp_path):
    file = tmp_path / "fenomeni.csv"
    file.write_text(PHENOMENA, encoding="utf-8")
    plan = SurveyPlan(contact="Anna", language="it", checks=0, surveys=lists)
    dealt = [len(survey.questions) for survey in build_design(file, plan).surveys]
    told = seen_by_each([*suited_to(file).sizes.values()], lists)
    assert told == (len(dealt), min(dealt), max(dealt))


def test_everybody_sees_all_conditions_where_somebody_wants_it(tmp_path):
    listed(tmp_path, "fenomeni.csv", PHENOMENA)

    async def walk(user):
        await user.open("/it/people?suite=suites/fenomeni.csv")
        await user.should_see("Ogni persona vede 3 delle 6 frasi", retries=300)
        await user.should_see("(accordo, clitici, ausiliare)")
        fill(user, ui.input, "Responsabile (nome ed e-mail)", "Anna")
        user.find("Tutti vedono tutte le frasi").click()
        await user.should_see("Ognuno vede tutte le 6 frasi", retries=300)
        user.find("Crea il questionario").click()
        await user.should_see("Su fenomeni.", retries=300)  # all of its files are there then

    visit(tmp_path, walk)
    design = read_design(tmp_path / "surveys" / "fenomeni")
    [survey] = design.surveys
    asked = {one.id: one for one in design.questions if not one.expected}
    in_order = [asked[name].item for name in survey.questions if name in asked]
    assert sorted(in_order) == ["accordo"] * 2 + ["ausiliare"] * 2 + ["clitici"] * 2
    assert all(one != after for one, after in pairwise(in_order))


@pytest.mark.parametrize(
    ("table", "more", "said"),
    [
        (PAIRS, {"task": "choice"}, "task choice"),
        (PHENOMENA.replace(";", "\t"), {"apart": "N."}, "'N.'"),
    ],
)
def test_all_conditions_are_refused_where_they_mean_nothing(table, more, said, tmp_path):
    file = tmp_path / "barche.tsv"
    file.write_text(table, encoding="utf-8")
    with pytest.raises(UsageError, match=f"all.conditions: .*{said}"):
        build_design(file, SurveyPlan(contact="Anna", language="it", all_conditions=True, **more))
