"""Lists of sentences with judgment marks of several degrees: the marks are the author's grades."""

import pytest

from cimento.errors import InputError
from cimento.kinds.registry import load_suite
from cimento.suites.formats.examples import pairs_below
from cimento.suites.ratings import rated_of

LIST = (
    "Il fornaio apre alle sei.",
    "*Il fornaio aprono alle sei.",
    "??Chi credi che il libro sia stato letto da?",
    "#La sedia ha paura del buio.",
    "Abbiamo perso l'ultimo treno.",
    "?Di pane ne ho comprato due chili di pane.",
    "I vicini *litiga spesso.",
)
GRADES = [4, 1, 2, None, 4, 3, 1]
CLEAN = [
    "Il fornaio apre alle sei.",
    "Il fornaio aprono alle sei.",
    "Chi credi che il libro sia stato letto da?",
    "La sedia ha paura del buio.",
    "Abbiamo perso l'ultimo treno.",
    "Di pane ne ho comprato due chili di pane.",
    "I vicini litiga spesso.",
]


def written(path, lines, *, heading=""):
    path.write_text("".join(f"{line}\n" for line in (heading, *lines) if line), encoding="utf-8")
    return path


def rated(path):
    loaded = load_suite(path, language="it")
    return loaded, [
        (one.text, next(iter(one.given), None)) for one in rated_of(loaded.suite).sentences
    ]


@pytest.mark.parametrize("heading", ["Frase", ""])
@pytest.mark.parametrize("suffix", [".csv", ".txt"])
def test_marks_of_several_degrees_are_the_grades_of_their_sentences(tmp_path, heading, suffix):
    lines = [f'"{line}"' if suffix == ".csv" else line for line in LIST]
    loaded, sentences = rated(written(tmp_path / f"lista{suffix}", lines, heading=heading))
    assert sentences == [*zip(CLEAN, GRADES, strict=True)]
    scale = rated_of(loaded.suite).scale
    assert (scale.low, scale.high) == (1, 4)
    said = [fault.seen for fault in loaded.reading.faults if fault.code == "CIM-S065"]
    grades, no_degree = said
    assert grades == (
        "Marks are read as the author's grades, and not as part of the text: * is 1 (2), ?? is 2"
        " (1), ? is 3 (1); without a mark it is 4 (2)."
    )
    assert no_degree == (
        "The mark # says that a sentence does not fit its meaning or its context, and not how"
        " acceptable it is: 1 sentence with it has no grade."
    )
    assert loaded.reading.table.shape == "ratings"


def test_a_mark_of_no_degree_gives_no_grade_unless_another_does(tmp_path):
    lines = [
        "Piove da ieri.",
        "*Noi dorme.",
        "#La sedia teme il buio.",
        "#*La sedia temono il buio.",
    ]
    loaded, sentences = rated(written(tmp_path / "lista.txt", [*lines, "%Lo ho visto a Ugo."]))
    assert [grade for _, grade in sentences] == [1, 0, None, 0, None]
    marks = [one.columns.get("original mark") for item in loaded.suite.items
             for one in item.conditions]  # fmt: skip
    assert (marks[2], marks[4]) == ("#", "%")


def test_one_kind_of_mark_labels_sentences_and_numbers_beside_them_stay(tmp_path):
    lines = ["3;Piove da ieri.", "4;*Piovono da ieri.", "7;*Noi dorme tardi.", "9;Marta ride."]
    loaded, sentences = rated(written(tmp_path / "lista.csv", lines, heading="N.;Esempio"))
    assert [grade for _, grade in sentences] == [1, 0, 0, 1]
    assert [item.id for item in loaded.suite.items] == ["3", "4", "7", "9"]
    assert loaded.reading.table.said().startswith('Read as labeled sentences: sentence = "Esempio"')
    [one, two, *_] = loaded.suite.items
    assert one.conditions[0].columns == {"rating": "1"}
    assert two.conditions[0].columns == {"rating": "0", "original mark": "*"}


@pytest.mark.parametrize(
    "lines",
    [
        ["Piove da ieri.", "*Piovono da ieri.", "Marta ride.", "*Marta ridono."],  # pairs
        ["# una nota", "Piove da ieri.", "Marta ride."],  # a comment
        ["Piove da ieri.", "Marta ride molto."],
        ["*Piovono da ieri.", "*Marta ridono.", "*Noi dorme."],  # no other degree
    ],
)
def test_marks_that_alternate_or_do_not_differ_are_no_grades(tmp_path, lines):
    with pytest.raises(InputError, match="one list of sentences"):
        load_suite(written(tmp_path / "lista.txt", lines))


def test_versions_of_a_sentence_may_be_pairs_only_if_each_has_one():
    some = ["Marta ha visto il mare.", "*Marta ha visto mare.", "?Marta il mare ha visto."]
    assert [(one.good, one.bad) for one in pairs_below(some)] == [
        (some[0], "Marta ha visto mare."),
        (some[0], "Marta il mare ha visto."),
    ]
    assert pairs_below([*some, "Piove da ieri."]) == []
    assert pairs_below([some[0], "*Noi dorme tardi."]) == []
