"""Two factors, one of which says which sentences are good: pairs, or a design that keeps them."""

import pytest

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from cimento import load_suite
from cimento.app.checking import check_grid
from cimento.app.conditions import cells_in
from cimento.app.describing import describe
from cimento.app.designing import question_of, with_factors
from cimento.app.opening import open_grid, write_grid
from cimento.app.words import words
from tests.helpers.app_user import visit
from tests.suites.test_suite_bare_tables import written

SETS = (
    ("La chiave", "dell'armadio", "degli armadi", "è nuova.", "sono nuova."),
    ("Il quadro", "del museo", "dei musei", "vale molto.", "valgono molto."),
    ("La porta", "della stanza", "delle stanze", "cigola.", "cigolano."),
)


def attraction(path, numbering, judging, good, bad):
    """A table of three sets of four sentences, whose numbers come last."""
    rows = tuple(
        (f"{head} {noun} {verb}", number, side, str(n))
        for n, (head, one, several, right, wrong) in enumerate(SETS, start=1)
        for number, noun in (("singolare", one), ("plurale", several))
        for side, verb in ((good, right), (bad, wrong))
    )
    return written(path, ("Frase", "Attrattore", judging, numbering), rows)


TABLES = (
    ("Serie", "Verbo", "corretto", "errato"),
    ("Gruppo", "Grammaticalità", "grammaticale", "agrammaticale"),
)


@pytest.mark.parametrize("headings", TABLES)
def test_sets_are_read_as_pairs_and_the_page_asks_whether_they_are_a_design(tmp_path, headings):
    path = attraction(tmp_path / "attrazione.csv", *headings)
    loaded = load_suite(path, language="it")
    assert (len(loaded.suite.items), loaded.suite.condition_names) == (6, ("good", "bad"))
    [said] = [fault for fault in loaded.reading.faults if fault.code == "CIM-S063"]
    assert f"--columns='factors=Attrattore,factors 2={headings[1]}'" in said.todo
    grid = open_grid(path, language="it", words="it").grid
    question = question_of(grid, check_grid(grid).findings)
    assert (question.kind, [*question.factors]) == ("pairs", ["Attrattore", headings[1]])


@pytest.mark.parametrize("headings", TABLES)
def test_the_answer_makes_a_design_that_keeps_the_pairs(tmp_path, headings):
    _, judging, good, bad = headings
    path = attraction(tmp_path / "attrazione.csv", *headings)
    grid = open_grid(path, language="it", words="it").grid
    question = question_of(grid, check_grid(grid).findings)
    cell = cells_in(question.factors)[f"singolare, {bad}"]
    made = describe(with_factors(grid, question, cell, {}), language="it")
    report = check_grid(made)
    assert (report.findings, question_of(made, report.findings)) == ((), None)
    assert {"Frase", "Attrattore", judging} <= {*made.items.columns}
    suite = load_suite(write_grid(made, tmp_path / "attrazione.xlsx")).suite
    assert suite.factors == {"Attrattore": ("plurale", "singolare"), judging: (good, bad)}
    assert len(suite.items) == len(SETS)
    better = {one.formula for one in suite.predictions}
    for number in ("singolare", "plurale"):
        assert f"(*;%{number}_{good}%) < (*;%{number}_{bad}%)" in better
    assert suite.predictions[0].formula == (
        f"((*;%singolare_{bad}%) - (*;%plurale_{bad}%))"
        f" - ((*;%singolare_{good}%) - (*;%plurale_{good}%)) > 0"
    )


@pytest.mark.parametrize("headings", TABLES)
def test_factors_that_somebody_has_chosen_are_a_design(tmp_path, headings):
    path = attraction(tmp_path / "attrazione.csv", *headings)
    chosen = {"factors": "Attrattore", "factors 2": headings[1]}
    loaded = load_suite(path, language="it", columns=chosen)
    assert len(loaded.suite.items) == len(SETS)
    assert len(loaded.suite.condition_names) == 4


def test_a_chosen_label_stays_one(tmp_path):
    path = attraction(tmp_path / "attrazione.csv", *TABLES[0])
    loaded = load_suite(path, language="it", columns={"label": "Verbo"})
    assert len(loaded.suite.items) == 4 * len(SETS)


@pytest.mark.parametrize("answer", ["cell", "pairs"])
def test_the_page_asks_before_it_asks_for_the_language(tmp_path, answer):
    say = words("it")
    folder = tmp_path / "suites"
    folder.mkdir()
    attraction(folder / "attrazione.csv", *TABLES[0])
    seen = {}

    async def flow(user):
        await user.open("/it/edit?suite=suites/attrazione.csv")
        await user.should_see("sia con «plurale» sia con «singolare»", retries=100)
        await user.should_not_see(say("edit.describe"))
        await user.should_see(say("edit.here-as_design"))  # not menus that are so already
        await user.should_not_see(say("edit.worst-do", cell="singolare, errato"))
        # Nobody expects a good sentence to be the least acceptable: it is asked where they differ.
        await user.should_see("«corretto» e «errato» differiscono di più con «plurale»")
        do = "«corretto» e «errato» differiscono di più con «singolare» che con «plurale»"
        user.find(do if answer == "cell" else say("edit.pairs-keep")).click()
        await user.should_see(say("edit.describe"), retries=100)
        await user.should_not_see(do)
        seen["made"] = True

    visit(tmp_path, flow)
    assert seen
