"""Several tests of blanks together in the window: their tables, and how they were tested."""

import pytest

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from nicegui import ui

from cimento.app.shown import compared, results_of
from cimento.app.workspace import Workspace
from cimento.cite.methods import methods_paragraph
from cimento.cli.main import invoke
from cimento.statistics.unequal_chances import unequal_chances_p
from tests.helpers.app_user import until, visit

pytestmark = pytest.mark.slow
VERBS = (
    "frase,resposta,distrator\nAs crianças ___ bolo.,comeram,comeu\nO gato ___ ali.,dorme,dormem\n"
    "Os pais ___ cedo.,saíram,saiu\nA lua ___ no céu.,brilha,brilham\n"
    "Os livros ___ caros.,são,é\nMinha avó ___ bem.,canta,cantam\n"
)
MODES = (
    "frase,opções,resposta\nTalvez ele ___ amanhã.,venha | vem | viria,venha\n"
    "Espero que tudo ___ certo.,dê | dá,dê\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("files")
    for name, table in (("verbos", VERBS), ("modos", MODES)):
        (path / f"{name}.csv").write_text(table, encoding="utf-8")
        command = ["run", str(path / f"{name}.csv"), "-m", "demo-causal", "-m", "demo-masked"]
        assert invoke([*command, "--language", "pt", "-o", str(path / "runs")]) == 0
    return path


def names_in(folder):
    return [stored.path.relative_to(folder).as_posix() for stored in Workspace(folder).runs()]


def test_tables_name_their_test_where_there_are_several(folder):
    names = names_in(folder)
    tables = results_of(Workspace(folder), names).tables
    assert {suite for suite, table in tables if table.name == "choices"} == {"verbos", "modos"}
    assert [suite for suite, table in tables if table.name == "results"] == [""]
    alone = [name for name in names if "verbos" in name]
    assert {suite for suite, _ in results_of(Workspace(folder), alone).tables} == {""}


def test_the_methods_name_the_exact_tests_and_say_what_the_verdicts_are_on(folder):
    runs = results_of(Workspace(folder), names_in(folder)).runs
    said = methods_paragraph(runs, form="markdown")
    assert "with exact binomial and Poisson binomial [@hong2013] tests" in said
    assert "Of 32 verdicts (16 on hit@1, 16 on the choice)" in said
    modes = next(run for run in runs if run.suite.name == "modos" and run.model_kind == "causal")
    choice = next(one for one in modes.estimates() if one.question == "choice")
    assert choice.p == pytest.approx(unequal_chances_p(choice.right, [1 / 3, 1 / 2]))
    whole = methods_paragraph(runs, appendix=True)
    assert "Poisson binomial distribution (Hong 2013)" in whole
    assert "fitting" not in whole


def test_a_comparison_says_how_models_were_tested(folder):
    names = [name for name in names_in(folder) if "verbos" in name]
    runs = results_of(Workspace(folder), names).runs
    assert "McNemar" in compared(names, runs).methods


@pytest.mark.parametrize("count", [2, 3])
def test_results_of_many_runs_begin_with_links_to_each(folder, count):
    runs = Workspace(folder).runs()[:count]

    async def flow(user):
        await user.open("/pt/read")
        for run in runs:
            user.find(marker=f"choose {run.name}").elements.pop().value = True
        user.find(marker="read").click()
        await until(lambda: user._gather_elements(marker="tab-report") != set())
        places = [str(link.props["href"]) for link in user.find(ui.link).elements]
        wanted = [f"#in-short-{n}" for n in range(count)] if count > 2 else []
        assert sorted(place for place in places if place.startswith("#in-short-")) == wanted

    visit(folder, flow)
