"""Designs whose cells are told by names alone: headings of wide tables, and labels of rows."""

from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento.cli.main import invoke
from cimento.intake.roles import parse_choice
from cimento.kinds.registry import load_suite
from cimento.suites.cell_names import cells_among, cells_named, condition_of
from cimento.suites.level_words import island_factors

LEVELS = {
    "en": (("no island", "island"), ("short", "long")),
    "it": (("senza isola", "con isola"), ("breve", "lunga")),
    "es": (("no isla", "isla"), ("corta", "larga")),
    "pt": (("sem ilha", "ilha"), ("curta", "longa")),
    "ru": (("без острова", "остров"), ("короткая", "длинная")),
}
JOINED = (
    "{}, {}", "{}; {}", "{}/{}", "{} / {}", "{} - {}", "{} – {}", "{} x {}", "{} + {}", "{}: {}",
    "{} ({})", "{}_{}", "{} {}", "{}.{}",
)  # fmt: skip
SETS = [
    ("¿Quién cree que Ana compró el coche?", "¿Qué cree Luis que Ana compró?",
     "¿Quién conoce el rumor de que Ana compró el coche?",
     "¿Qué conoce Luis el rumor de que Ana compró?"),
    ("¿Quién piensa que Pedro robó el cuadro?", "¿Qué piensa Marta que Pedro robó?",
     "¿Quién oyó la noticia de que Pedro robó el cuadro?",
     "¿Qué oyó Marta la noticia de que Pedro robó?"),
    ("¿Quién supone que Carmen escribió la carta?", "¿Qué supone Javier que Carmen escribió?",
     "¿Quién defiende la idea de que Carmen escribió la carta?",
     "¿Qué defiende Javier la idea de que Carmen escribió?"),
]  # fmt: skip


def named(first, second, joined):
    return [joined.format(*levels) for levels in product(first, second)]


def wide(tmp_path, names, *, head="Ítem", others=()):
    """A table with a column for each condition, and perhaps some columns more."""
    rows = [[head, *names, *(name for name, _ in others)]]
    rows += [[str(n), *texts, *(cell for _, cell in others)] for n, texts in enumerate(SETS, 1)]
    path = tmp_path / "islas.csv"
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path.rename(path.with_suffix(".tsv"))


def long(tmp_path, names):
    """A table with a row for each sentence, and the names in one column."""
    rows = [["Ítem", "Condición", "Oración"]]
    for n, texts in enumerate(SETS, 1):
        rows += [[str(n), name, text] for name, text in zip(names, texts, strict=True)]
    path = tmp_path / "islas.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


def dd(suite):
    return [one.formula for one in suite.predictions if one.name == "DD"]


# --- Names alone

words = st.text("abcdefghijklmnopqrstuvwxyzáéíóúñабвгд", min_size=2, max_size=8)
levels = st.lists(words, min_size=1, max_size=3).map(" ".join)


@given(
    st.lists(levels, min_size=2, max_size=2, unique=True),
    st.lists(levels, min_size=2, max_size=4, unique=True),
    st.sampled_from([one for one in JOINED if one not in ("{} {}", "{} x {}")]),
    st.randoms(use_true_random=False),
)
def test_levels_are_told_again_whatever_clear_mark_joins_them_and_in_any_order(
    first, second, joined, random
):
    cells = {joined.format(*levels): levels for levels in product(first, second)}
    names = random.sample([*cells], len(cells))
    assert cells_named(names) == cells
    assert cells_among([*names, "Nota", "Ítem"]) == cells
    assert len({*map(condition_of, cells.values())}) == len(cells)


@pytest.mark.parametrize("language", LEVELS)
@pytest.mark.parametrize("joined", JOINED)
@pytest.mark.parametrize("turned", [False, True])
def test_levels_of_two_words_are_kept_whole(language, joined, turned):
    first, second = LEVELS[language][:: -1 if turned else 1]
    cells = dict(zip(named(first, second, joined), product(first, second), strict=True))
    for names in permutations(cells):
        assert cells_named(names) == cells


def test_without_words_for_levels_the_parts_of_a_name_are_about_as_long_as_each_other():
    names = named(("núcleo singular", "núcleo plural"), ("tema singular", "tema plural"), "{} {}")
    assert cells_named(names)[names[1]] == ("núcleo singular", "tema plural")


def test_three_factors_and_factors_of_three_levels():
    names = ["_".join(one) for one in product(("wh", "that"), ("gap", "full"), ("out", "in"))]
    assert cells_named(names)["wh_full_in"] == ("wh", "full", "in")
    three = named(("wh", "that"), ("sí", "no", "sin tema"), "{} / {}")
    assert cells_named(three)["that / sin tema"] == ("that", "sin tema")


def test_levels_that_differ_in_capitals_are_one():
    names = ("No isla, corta", "no isla, larga", "Isla, corta", "isla, larga")
    assert cells_named(names)["no isla, larga"] == ("No isla", "larga")


@pytest.mark.parametrize(
    "names",
    [
        ("A", "B", "C", "D"),
        ("Condición 1", "Condición 2", "Condición 3", "Condición 4"),
        ("no isla, corta", "no isla, larga", "isla, corta", "isla, media"),  # not crossed
        ("isla, corta", "isla, larga"),
        ("a, b", "a, c", "a, d", "a, e"),  # one factor has one level
        ("¡sí!, a", "sí, a", "¡sí!, b", "sí, b"),  # one name of a condition for two cells
    ],
)
def test_other_names_are_no_cells(names):
    assert cells_named(names) == {}
    assert cells_among(names) == {}


# --- Tables


@pytest.mark.parametrize("language", LEVELS)
@pytest.mark.parametrize("joined", ["{}, {}", "{}/{}", "{} - {}", "{} {}", "{}_{}", "{} ({})"])
@pytest.mark.parametrize("form", [wide, long])
def test_a_level_of_two_words_that_comes_first_makes_the_same_design(
    tmp_path, language, joined, form
):
    (plain, island), (short, far) = LEVELS[language]
    suite = load_suite(form(tmp_path, named((plain, island), (short, far), joined))).suite
    bad = condition_of((island, far))
    a, b, c, d = (f"(*;%{condition_of(one)}%)" for one in product((plain, island), (short, far)))
    assert dd(suite) == [f"({d} - {b}) - ({c} - {a}) > 0"]
    assert [*suite.factors.values()] == [
        tuple(condition_of([level]) for level in levels)
        for levels in ((plain, island), (short, far))
    ]
    texts = {one.name: one.regions[0].text for one in suite.items[1].conditions}
    assert texts[bad] == SETS[1][3]


def test_with_and_without_belong_to_the_word_behind_them(tmp_path):
    suite = load_suite(wide(tmp_path, named(*LEVELS["it"], "{}, {}"))).suite
    assert [*suite.factors.values()] == [("senza-isola", "con-isola"), ("breve", "lunga")]


def test_a_note_with_a_comma_in_its_name_is_none_of_the_conditions(tmp_path):
    others = [("Nota, si la hay", "revisar"), ("Fuente, página", "12")]
    suite = load_suite(wide(tmp_path, named(*LEVELS["es"], "{}, {}"), others=others)).suite
    assert len(suite.condition_names) == 4
    assert dd(suite)


def test_names_that_tell_no_levels_are_conditions_once_somebody_says_so(tmp_path):
    path = wide(tmp_path, ("Condición 1", "Condición 2", "Condición 3", "Condición 4"))
    chosen = ",".join(f"conditions{'' if n == 1 else f' {n}'}=Condición {n}" for n in range(1, 5))
    suite = load_suite(path, columns=parse_choice(chosen)).suite
    assert suite.condition_names == ("Condición-1", "Condición-2", "Condición-3", "Condición-4")
    assert not suite.predictions
    assert [one.regions[0].text for one in suite.items[2].conditions] == [*SETS[2]]


def test_columns_of_numbers_are_no_conditions_whatever_somebody_says(tmp_path):
    path = wide(tmp_path, "ABCD", others=[("Año", "1999")])
    with pytest.raises(Exception, match="holds numbers"):
        load_suite(path, columns={"conditions": "A", "conditions 2": "Año"})


def test_names_of_conditions_that_tell_no_factors():
    assert island_factors(["good", "bad"]) == {}
    assert island_factors(["a_x", "b_x", "a_y"]) == {}
    assert island_factors(["a_x", "b_x", "a_y", "b_y"]) == {
        "first_factor": ("a", "b"),
        "second_factor": ("x", "y"),
    }


# --- Attraction


ATTRACTION = [
    ("A chave do armário está na mesa.", "A chave dos armários está na mesa.",
     "A chave do armário estão na mesa.", "A chave dos armários estão na mesa."),
    ("A porta da loja fecha cedo.", "A porta das lojas fecha cedo.",
     "A porta da loja fecham cedo.", "A porta das lojas fecham cedo."),
    ("O livro do aluno caiu no chão.", "O livro dos alunos caiu no chão.",
     "O livro do aluno caíram no chão.", "O livro dos alunos caíram no chão."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("judged", "numbers", "names"),
    [(("gramatical", "agramatical"), ("atrator singular", "atrator plural"),
      ["gramaticalidade", "atrator"]),
     (("grammaticale", "agrammaticale"), ("attrattore singolare", "attrattore plurale"),
      ["grammaticalità", "attrattore"]),
     (("grammatical", "ungrammatical"), ("singular", "plural"), ["grammaticality", "number"]),
     (("gramatical", "agramatical"), ("distractor singular", "distractor plural"),
      ["gramaticalidad", "distractor"]),
     (("грамматично", "неграмматично"), ("единственное", "множественное"),
      ["грамматичность", "число"])],
)  # fmt: skip
def test_pairs_in_two_numbers_become_a_design_of_attraction_as_the_advice_says(
    tmp_path, judged, numbers, names
):
    header = ["item", *(f"{side} {number}" for side in judged for number in numbers)]
    rows = [[str(n), *texts] for n, texts in enumerate(ATTRACTION, 1)]
    path = tmp_path / "atrator.csv"
    path.write_text("\n".join(",".join(row) for row in [header, *rows]), encoding="utf-8")
    [advice] = [one for one in load_suite(path).reading.faults if one.code == "CIM-S063"]
    assert "--from factorial-table" in advice.todo
    made = tmp_path / "made"
    asked = ["suites", "convert", str(path), "--from", "factorial-table", "-o", str(made)]
    assert invoke(asked) == 0
    suite = load_suite(made).sentences
    assert [*suite.factors] == names
    # Attraction: the difference between good and bad is smaller beside a plural.
    values = dict(zip(suite.condition_names, (10.0, 10.5, 16.0, 13.0), strict=True))
    formulas = [one.formula for one in suite.predictions]
    assert [dd_of(formula, values) for formula in formulas[:1]] == [(16.0 - 10.0) - (13.0 - 10.5)]
    good_plural, bad_plural = suite.condition_names[1::2]
    assert f"(*;%{good_plural}%) < (*;%{bad_plural}%)" in formulas
    good, bad = suite.condition_names[::2]
    assert f"(*;%{good}%) < (*;%{bad}%)" in formulas
    assert len(formulas) == 3
    assert "differ more with" in suite.predictions[0].comment


def dd_of(formula, values):
    """The left side of a prediction above 0, with numbers in place of surprisals."""
    left, _, right = formula.rpartition(">")
    assert right.strip() == "0"
    for name in sorted(values, key=len, reverse=True):
        left = left.replace(f"(*;%{name}%)", str(values[name]))
    return eval(left, {"__builtins__": {}})  # noqa: S307  # digits, signs and brackets


def test_where_no_word_says_the_plain_level_the_command_that_converts_says_so(tmp_path, capsys):
    header = ["item", *(f"{side} {of}" for side in ("gramatical", "agramatical")
                        for of in ("sujeito", "objeto"))]  # fmt: skip
    rows = [[str(n), *texts] for n, texts in enumerate(ATTRACTION, 1)]
    path = tmp_path / "atrator.csv"
    path.write_text("\n".join(",".join(row) for row in [header, *rows]), encoding="utf-8")
    made = tmp_path / "made"
    asked = ["suites", "convert", str(path), "--from", "factorial-table", "-o", str(made)]
    assert invoke(asked) == 0
    said = capsys.readouterr()
    assert "CIM-S067" in said.out + said.err
    assert "'sujeito control'" in " ".join((said.out + said.err).split())
