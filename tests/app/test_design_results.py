"""Results of a two by two design in the window: remarks, comparisons, figures in five languages."""

import re

import pytest

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from cimento.app.conclusions import results_beside
from cimento.app.report_page import page_language
from cimento.app.shown import compared, figure_file, results_of, shown_figures
from cimento.app.words import LANGUAGES, words
from cimento.app.workspace import Workspace
from cimento.cli.main import invoke
from cimento.kinds.run import open_run
from cimento.report.formatting import remarks
from tests.helpers.grids import SETS
from tests.helpers.rated_designs import answers, sentences, write_rows

CELLS = {
    ("corta", "no-isla"): "¿Quién cree que {} {} {}?",
    ("larga", "no-isla"): "¿Qué cree Ana que {1} {0}?",
    ("corta", "isla"): "¿Quién se enfada si {} {} {}?",
    ("larga", "isla"): "¿Qué se enfada Ana si {1} {0}?",
}
TEXTS = re.compile(r">([^<>]+)<")
ENGLISH = re.compile(r"error bars|within items|less probable|the bad cell|by phenomenon| over ")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """A workspace with two runs of a design, by models whose scores are on different scales."""
    folder = tmp_path_factory.mktemp("design")
    rows = [
        f"{number},{distance},{structure},{text.format(*of)}"
        for number, of in enumerate(SETS, 1)
        for (distance, structure), text in CELLS.items()
    ]
    table = folder / "islas.csv"
    table.write_text("Grupo,Distancia,Estructura,Oración\n" + "\n".join(rows), encoding="utf-8")
    models = ("-m", "demo-causal", "-m", "demo-masked")
    assert invoke(["run", str(table), *models, "--language", "es", "-o", str(folder / "runs")]) == 0
    return folder


@pytest.fixture(scope="module")
def named(workspace):
    """The runs, by their paths from the workspace."""
    folders = sorted(one.parent for one in workspace.rglob("manifest.json"))
    return {str(one.relative_to(workspace)): open_run(one) for one in folders}


def test_a_remark_on_a_proportion_says_that_it_is_none_of_dd(named):
    said = remarks(next(iter(named.values())).summary())
    (one,) = [
        text for text in said if text.startswith("proportion of larga_no-isla over larga_isla: ")
    ]
    assert "All or nearly all of 6 items agree" in one
    spanish = page_language("es").known(one)
    assert spanish is not None
    assert spanish.startswith(
        "proporción de larga_no-isla mejor que larga_isla: Todos o casi todos"
    )


def test_dds_on_different_scales_are_beside_each_other_and_not_compared(named):
    grids = compared(list(named), list(named.values())).grids
    assert grids["dd-pairs"].title == (
        "DD of each model, over the items that both have; not compared."
    )
    assert not any("larger effect" in note for note in grids["dd-pairs"].footnotes)


def test_dd_is_the_main_question_of_a_comparison(named):
    rates = compared(list(named), list(named.values())).grids["rates"]
    assert "p (holm): main questions and others apart, in families of 1 and 4 tests." in rates.notes
    questions = [row[1] for row in rates.rows]
    corrected = [row[-1] for row in rates.rows]
    raw = [row[-2] for row in rates.rows]
    assert corrected[questions.index("DD")] == raw[questions.index("DD")]


def test_the_tests_of_a_model_do_not_depend_on_what_is_shown_beside_it(workspace, named):
    name = next(iter(named))

    def tests(names):
        tables = {one.name: one.grid for _, one in results_of(Workspace(workspace), names).tables}
        return {row[1]: row[-2] for row in tables["tests"].rows}

    (alone,) = tests([name]).items()
    assert alone in tests(list(named)).items()


@pytest.mark.parametrize("language", LANGUAGES)
def test_figures_are_in_one_language_with_room_for_their_labels(workspace, named, language):
    say = words(language)
    drawn = list(shown_figures(results_of(Workspace(workspace), list(named)), say))
    assert {figure.name for figure, _ in drawn} >= {"interaction", "pairs", "margins"}
    for figure, svg in drawn:
        # The renderer counts gradients on from drawing to drawing; texts are the same in the file.
        assert TEXTS.findall(figure_file(figure, ".svg", say).decode()) == TEXTS.findall(svg)
        assert bool(ENGLISH.search(svg)) == (language == "en" and figure.name != "margins")
        if figure.name == "interaction":
            size = re.search(r'width="(\d+)" height="(\d+)" viewBox="(\S+) 0 (\d+)', svg)
            assert size is not None
            width, _, left, whole = size.groups()
            assert width == whole
            behind = re.search(r'<rect x="(\S+)" width="(\d+)"', svg)
            assert behind is not None
            assert behind.groups() == (left, width)


def test_people_s_effect_comes_before_the_model_s(tmp_path):
    table = write_rows([*answers([*sentences()])], tmp_path / "isole.csv")
    run = ["run", str(table), "--language", "it", "-m", "demo-causal"]
    assert invoke([*run, "-o", str(tmp_path / "runs")]) == 0
    folder = next((tmp_path / "runs").rglob("manifest.json")).parent
    (result,) = results_beside([folder])
    first, second = result.sentence(words("it")).split(": ", 1)[0], result.sentence(words("en"))
    assert first == "Le persone mostrano l'effetto"
    # The numbers are those of the table of people's DD, whose own tests are by hand.
    run = open_run(folder)
    for one in run.paradigm.presenter.design_effects(run, of_people=True):
        estimate = one.estimate
        value, ends = f"{estimate.value:.2f}", f"[{estimate.low:.2f}, {estimate.high:.2f}]"
        assert f"{estimate.level} DD {value} {ends} z" in second.replace("\N{MINUS SIGN}", "-")
