"""Headings that name a role in one table and none in another: the cells decide."""

import pytest
from openpyxl import Workbook

from cimento import CimentoError
from cimento.kinds.registry import load_suite
from tests.intake.test_published import loaded, ratings

GOOD = ("La zia apre la finestra.", "I ragazzi corrono nel parco.", "Il vento scuote i rami.")
BAD = ("La zia aprono la finestra.", "I ragazzi corre nel parco.", "Il vento scuotono i rami.")
BOTH = [text for pair in zip(GOOD, BAD, strict=True) for text in pair]
TURNS = ["gramm", "agramm"] * 3
TWICE = [str(number) for number in (1, 1, 2, 2, 3, 3)]


@pytest.mark.parametrize("text", ["Stimolo", "Stimulus", "Estímulo", "Estimulo", "Стимул"])
@pytest.mark.parametrize("number", ["No.", "Nr", "Nr.", "N.", "N°", "#", "№", "n"])
def test_stimuli_and_short_numbers_are_sentences_and_items(tmp_path, text, number):
    suite, read = loaded(tmp_path, {number: TWICE, "Condizione": TURNS, text: BOTH})
    assert [item.id for item in suite.items] == ["1", "2", "3"]
    assert read.roles == {"item": (number,), "condition": ("Condizione",), "sentence": (text,)}
    assert [prediction.formula for prediction in suite.predictions] == [
        "(*;%gramm%) < (*;%agramm%)"
    ]


def test_stimuli_with_numbers_are_items(tmp_path):
    suite, read = loaded(tmp_path, {"Stimolo": TWICE, "Condizione": TURNS, "Frase": BOTH})
    assert read.roles["item"] == ("Stimolo",)
    assert read.roles["sentence"] == ("Frase",)
    assert len(suite.items) == len(GOOD)


def test_numbers_of_people_are_no_items(tmp_path):
    points = ["6.1", "2.2", "5.9", "1.8", "6.4", "2.0"]
    people = ["24", "23", "24", "24", "22", "24"]
    columns = {"Stimolo": BOTH, "N": people, "Media": points}
    suite, read = loaded(tmp_path, columns)
    assert read.roles["rating_n"] == ("N",)
    assert "item" not in read.roles
    assert [item.id for item in suite.items] == [str(number) for number in range(1, 7)]


@pytest.mark.parametrize(
    "heading",
    [
        "N.º de avaliadores", "Nº de juízes", "Anzahl", "Anzahl der Bewertungen", "n° giudici",
        "Numero di valutatori", "N. partecipanti", "число оценщиков", "Кол-во респондентов",
        "Número de evaluadores", "N.º de participantes", "raters", "No. of judges",
        "nombre de juges", "N. parlanti", "N.º de hablantes", "Número de falantes", "speakers",
        "число носителей", "N. informanti", "numero di persone",
    ],
)  # fmt: skip
def test_numbers_of_raters_have_many_names_and_the_cells_decide(tmp_path, heading):
    points, spread = ["6.1", "2.2", "5.9", "1.8", "6.4", "2.0"], ["1.1"] * 6
    people = ["24", "23", "24", "24", "22", "24"]
    columns = {"Stimolo": BOTH, "Media": points, "DS": spread, heading: people}
    suite, read = loaded(tmp_path, columns)
    assert (read.roles["rating_sd"], read.roles["rating_n"]) == (("DS",), (heading,))
    assert [one.conditions[0].columns["rating_n"] for one in suite.items] == people
    shares = ["0.4", "0.2", "0.9", "0.8", "0.4", "0.6"]
    _, read = loaded(tmp_path, {**columns, heading: shares})
    assert "rating_n" not in read.roles


def test_rows_with_numbers_of_their_own_are_no_items_with_two_conditions(tmp_path):
    own = [str(number) for number in range(1, 7)]
    with pytest.raises(CimentoError) as caught:
        loaded(tmp_path, {"N.": own, "Condizione": TURNS, "Stimolo": BOTH})
    [fault] = caught.value.faults
    assert "'N.' gives each row a number of its own" in fault.seen
    assert "rows 2 to 3 are the first item" in fault.todo


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("Giudizio", ("grammaticale", "agrammaticale")),
        ("Juicio", ("gramatical", "agramatical")),
        ("Оценка", ("правильно", "неправильно")),
        ("Voto", ("accettabile", "inaccettabile")),
    ],
)
def test_two_words_for_good_and_bad_in_a_column_of_ratings_are_labels(tmp_path, header, words):
    suite, read = loaded(tmp_path, {"Frase": BOTH, header: [*words] * 3})
    assert read.roles == {"sentence": ("Frase",), "label": (header,)}
    assert ratings(suite) == {text: float(number % 2 == 0) for number, text in enumerate(BOTH)}


def test_two_rows_of_names_may_both_fill_a_column(tmp_path):
    book = Workbook()
    sheet = book.active
    sheet.append(["N.", "Frasi", None, "Info"])
    sheet.append([None, "grammaticale", "agrammaticale", "parola"])
    for number, both in enumerate(zip(GOOD, BAD, strict=True), 1):
        sheet.append([number, *both, "verbo"])
    sheet.merge_cells("B1:C1")
    book.save(tmp_path / "coppie.xlsx")
    read = load_suite(tmp_path / "coppie.xlsx").reading.table
    assert read.roles["good"] == ("Frasi grammaticale",)
    assert read.unused == ("Info parola",)


LEVELS = [(one, other) for one in ("concorde", "discorde") for other in ("oggi", "poi", "ora")]
SIX = [
    (str(item), *levels, f"{levels[1].capitalize()} {name} {verb if k < 3 else plural} la torta.")
    for item, (name, verb, plural) in enumerate(
        [("Ugo", "mangia", "mangiano"), ("Eva", "taglia", "tagliano"), ("Lea", "fa", "fanno")], 1
    )
    for k, levels in enumerate(LEVELS)
]


def test_two_columns_of_two_and_three_levels_make_six_conditions(tmp_path):
    names = ("Item", "Accordo", "Avverbio", "Frase")
    suite, read = loaded(tmp_path, dict(zip(names, zip(*SIX, strict=True), strict=True)))
    assert suite.condition_names == tuple("_".join(levels) for levels in LEVELS)
    assert read.roles["factors"] == ("Accordo", "Avverbio")
    assert len(suite.items) == 3
    assert suite.predictions == ()


def test_levels_with_marks_in_the_names_of_columns_become_names_of_conditions(tmp_path):
    names = ["estr.lunga sì", "estr.lunga no", "estr.breve sì", "estr.breve no"]
    columns = {name: [f"{text[:-1]} {k}." for text in GOOD] for k, name in enumerate(names)}
    suite, _ = loaded(tmp_path, {"Item": ["1", "2", "3"], **columns})
    assert suite.condition_names[:2] == ("estr-lunga_sì", "estr-lunga_no")
