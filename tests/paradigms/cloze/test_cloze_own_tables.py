"""Tables of blanks as people keep them, without a suite.toml: no bars, numbered columns."""

from __future__ import annotations

import pytest

from cimento import SuiteError
from cimento.paradigms.cloze.files import check_cloze, load_cloze
from cimento.paradigms.cloze.own_tables import is_blank_table, read_item_table
from cimento.suites import Meta
from cimento.suites.cloze import ClozeItem, ClozeSuite, Option


def read(tmp_path, text):
    path = tmp_path / "blanks.tsv"
    path.write_text(text, encoding="utf-8")
    return read_item_table(path)


def texts(reading):
    return [[option.text for option in item.options] for item in reading.suite.items]


def seen(reading):
    return [str(fault) for fault in reading.faults if fault.code == "CIM-C017"]


ROWS = "Chove, ___ saio.\tmas\tse{} onde\nVou lá ___ posso.\tporque\tmas{} quando\n"


@pytest.mark.parametrize("mark", [",", ";"])
def test_commas_or_semicolons_separate_options_where_no_bar_does(tmp_path, mark):
    reading = read(tmp_path, "frase\tresposta\timplausível\n" + ROWS.format(mark, mark))
    assert texts(reading) == [["mas", "se", "onde"], ["porque", "mas", "quando"]]
    [message] = seen(reading)
    assert f"'implausível', 'se{mark} onde' as 2 options" in message


def test_with_a_bar_commas_are_part_of_an_option(tmp_path):
    reading = read(tmp_path, "frase\tresposta\timplausível\n" + ROWS.format(" |", ","))
    assert texts(reading) == [["mas", "se", "onde"], ["porque", "mas, quando"]]
    assert not seen(reading)


def test_numbered_columns_of_distractors_are_read_together(tmp_path):
    head = "n\tfrase\trisposta\tdistrattore 1\tdistrattore 2\n"
    rows = "1\tPiove, ___ esco.\tma\tse\tdove\n2\tNon vengo ___ piove.\tperché\tma\t\n"
    reading = read(tmp_path, head + rows)
    assert texts(reading) == [["ma", "se", "dove"], ["perché", "ma"]]
    assert not seen(reading)


HEADS = [
    "frase\trisposta\tAlternativa 1\tAlternativa 2",
    "frase\trisposta\tParola sbagliata 1\tParola sbagliata 2",
    "oración\trespuesta\tPalabra incorrecta\tOtra palabra",
    "frase\tresposta\tDistrator\tOutra palavra",
    "предложение\tответ\tдругое слово 1\tдругое слово 2",
    "sentence\tanswer\tWrong word 1\tWrong word 2",
]


@pytest.mark.parametrize("head", HEADS)
def test_words_that_are_wrong_may_have_columns_of_their_own(tmp_path, head):
    rows = "\nPiove, ___ esco.\tma\tse\tdove\nNon vengo ___ piove.\tperché\tma\t\n"
    reading = read(tmp_path, head + rows)
    assert texts(reading) == [["ma", "se", "dove"], ["perché", "ma"]]
    assert not seen(reading)


@pytest.mark.parametrize(
    ("head", "cells", "options"),
    [
        ("Frase\tRisposta attesa\tAlternative", "dell'uva\tla sedia; l'olio",
         ["dell'uva", "la sedia", "l'olio"]),
        ("Oración\tRespuesta\tOtras opciones", "pan\tluz, árbol", ["pan", "luz", "árbol"]),
        ("Frase\tPalavra esperada\tErradas", "pão | bolo\tluz | mês",
         ["pão", "bolo", "luz", "mês"]),
    ],
)  # fmt: skip
def test_a_column_may_hold_several_wrong_words(tmp_path, head, cells, options):
    reading = read(tmp_path, f"id\t{head}\na7\tCompro ___ ogni giorno.\t{cells}\n")
    assert texts(reading) == [options]
    assert [item.id for item in reading.suite.items] == ["a7"]


def test_a_row_with_two_blanks_is_an_error_that_says_what_to_do(tmp_path):
    rows = "frase\trisposta\nPiove, ___ esco.\tma\nSe ___ qui, ___ con te.\tfossi\n"
    reading = read(tmp_path, rows)
    (error,) = (one for one in reading.faults if one.severity == "error")
    assert "There are 2 blanks in 'Se ___ qui, ___ con te.'" in error.seen
    assert error.todo == "Write a row for each blank, with the other words in their places."


@pytest.mark.parametrize("cell", ["ma", "una parola lunga"])
def test_other_words_are_no_wrong_ones_where_a_cell_is_the_answer_or_several(tmp_path, cell):
    rows = f"frase\trisposta\tAlternativa\nPiove, ___ esco.\tma\t{cell}\n"
    reading = read(tmp_path, rows + "Esco ___ posso.\tse\tquando\n")
    assert texts(reading) == [["ma"], ["se"]]


def test_columns_of_words_that_are_no_options_are_named(tmp_path):
    head = "frase\trisposta\tCandidato 1\tCandidato 2\tregistro\n"
    rows = "Piove, ___ esco.\tma\tse\tdove\tpiano\nEsco ___ posso.\tse\tma\tchi\tpiano\n"
    rows += "Resto ___ piove.\tse\tchi\tdi\tpiano\n"
    [message] = seen(read(tmp_path, head + rows))
    assert "not read as options: Candidato 1, Candidato 2." in message


@pytest.mark.parametrize("others", [("se, dove",), ("se, dove", "però")])
def test_an_option_that_looks_like_several_is_reported_where_no_role_has_several(others):
    options = (Option("ma"), *(Option(text, "implausible") for text in others))
    suite = ClozeSuite(
        Meta("s", language="it"), items=(ClozeItem("1", "Piove, ", " esco.", options),)
    )
    codes = [fault.code for fault in check_cloze(suite)]
    assert ("CIM-C017" in codes) == (len(others) == 1)


@pytest.mark.parametrize(
    ("head", "cells", "column"),
    [
        ("text\ttarget", ("0.31", "0.2"), "target"),  # probabilities
        ("text\ttarget", ("1", "0"), "target"),  # a label, by the name that machines use
        ("text\trisposta", ("-2,5", "-7,25"), "risposta"),
        ("text\ttarget\tdistractor 1", ("ma\t3.5", "se\t0.2"), "distractor 1"),
    ],
)
def test_numbers_and_labels_are_no_words_whatever_their_column_is_called(
    tmp_path, head, cells, column
):
    rows = "".join(f"{n} voci, ___ tutto tace.\t{cell}\n" for n, cell in enumerate(cells))
    with pytest.raises(SuiteError) as error:
        read(tmp_path, f"{head}\n{rows}")
    [fault] = [fault for fault in error.value.faults if fault.code == "CIM-S081"]
    assert f"The column {column!r} holds" in fault.seen


def test_whole_numbers_may_be_due_and_are_named(tmp_path):
    reading = read(tmp_path, "text\ttarget\nTre e due fa ___.\t5\nQuattro e tre fa ___.\t7\n")
    assert texts(reading) == [["5"], ["7"]]
    assert [fault.code for fault in reading.faults] == ["CIM-S065"]


SPANISH = """\
Enunciado\tEsperada\tIncorrecta\tFenómeno\tObservaciones
La sopa está ___.\tfría\tfrío\tgénero\tadjetivo
¿___ alguien en casa?\tHay\thaya\tmodo\tverbo
___ muchos gatos.\tHabía\tHabían\tnúmero\texistencial
Los libros ___ caros.\t\testán\tcópula\tdudosa
"""


def test_a_row_without_its_word_and_a_capital_against_none_are_warned_about(tmp_path):
    reading = read(tmp_path, SPANISH)
    warned = {fault.code: (fault.severity, fault.where, fault.seen) for fault in reading.faults}
    assert warned.keys() == {"CIM-C018", "CIM-C019"}, "remarks are not options"
    bare = "1 row has no expected word, and no place in the results: 5."
    assert warned["CIM-C018"] == ("warning", "blanks.tsv row 5", bare)
    assert warned["CIM-C019"][:2] == ("warning", "blanks.tsv row 3"), "behind an opening mark too"
    assert "'Hay' and 'haya' differ" in warned["CIM-C019"][2]
    assert reading.table.roles["phenomenon"] == ("Fenómeno",)
    assert reading.table.unused == ("Observaciones",)
    assert [*reading.suite.items[0].columns] == ["Fenómeno", "Observaciones"]
    whole = SPANISH.replace("\t\testán", "\tson\testán").replace("haya", "Haya")
    assert read(tmp_path, whole).faults == ()


@pytest.mark.parametrize(
    "rows",
    [
        "1\tEl gato ___.\tduerme\tLuna\n",  # a capital within a sentence may be a name's
        "1\tLlegó ___.\tMaría\tella\n",
        "1\t___ duerme.\t8\tocho\n2\t___ come.\t日\tella\n",
    ],
)
def test_capitals_are_nothing_within_a_sentence_or_of_what_has_none(tmp_path, rows):
    codes = [
        fault.code for fault in read(tmp_path, f"n\ttexto\tesperada\tdistractor\n{rows}").faults
    ]
    assert "CIM-C019" not in codes


def test_a_table_most_of_whose_rows_have_a_blank_is_one_of_blanks_and_names_the_other(tmp_path):
    text = SPANISH.replace("La sopa está ___.", "La sopa está caliente.")
    path = tmp_path / "blanks.tsv"
    path.write_text(text, encoding="utf-8")
    assert is_blank_table(path)
    with pytest.raises(SuiteError, match=r"CIM-C001 blanks\.tsv row 2: There is no blank in 'La"):
        load_cloze(path)
    few = "".join(f"Frase {n}.\tvoz\tluz\tx\ty\n" for n in range(4))
    path.write_text(SPANISH + few, encoding="utf-8")
    assert not is_blank_table(path)


def test_a_slip_in_one_row_leaves_the_wrong_words_theirs_and_names_the_row(tmp_path):
    rows = "Anna è ___.\ttornata\ttornata\nLe chiavi ___ qui.\tsono\tè\nIo ___ qui.\tsto\tsta\n"
    reading = read(tmp_path, "Frase\tParola giusta\tParola sbagliata\n" + rows)
    assert texts(reading) == [["tornata", "tornata"], ["sono", "è"], ["sto", "sta"]]
    (error,) = reading.faults
    assert (error.code, error.severity, error.where) == ("CIM-C007", "error", "blanks.tsv row 2")
    assert error.seen == "'tornata' is both in 'Parola giusta' and in 'Parola sbagliata'."
    with pytest.raises(SuiteError) as refused:
        load_cloze(tmp_path / "blanks.tsv")
    assert [one.code for one in refused.value.faults].count("CIM-C007") == 1


def test_a_row_without_a_wrong_word_is_warned_about(tmp_path):
    rows = "Anna è ___.\tqui\t\nLe chiavi ___ qui.\tsono\tè\nIo ___ qui.\tsto\tsta\n"
    (warning,) = read(tmp_path, "Frase\tParola giusta\tParola sbagliata\n" + rows).faults
    assert (warning.code, warning.severity, warning.where) == (
        "CIM-C018",
        "warning",
        "blanks.tsv row 2",
    )
    seen = "1 row has no other option, and no place in the choice among the given words: 2."
    assert warning.seen == seen


LISTS = [
    ("Il medico visita ___.", "il paziente, i pazienti", "il paziente"),
    ("Anna è ___ tardi.", "arrivata, arrivato, arrivati", "arrivata"),
    ("Penso che ___ tardi.", "è, sia", "sia"),
]


@pytest.mark.parametrize(
    "head",
    [
        ("Frase", "Completamenti", "Risposta corretta"),
        ("Frase", "Opzioni", "Corretta"),
        ("Frase", "Distrattori", "Risposta corretta"),
        ("Testo", "Alternative", "Parola giusta"),
        ("Testo", "A", "B"),
    ],
)
def test_a_list_of_options_with_the_right_one_among_them_is_read_whatever_its_name(tmp_path, head):
    reading = read(tmp_path, "".join("\t".join(row) + "\n" for row in (head, *LISTS)))
    assert texts(reading) == [
        ["il paziente", "i pazienti"],
        ["arrivata", "arrivato", "arrivati"],
        ["sia", "è"],
    ]
    is_called_wrong = head[1] == "Distrattori"
    assert [one.code for one in reading.faults] == ["CIM-C020"] * is_called_wrong
    if is_called_wrong:
        assert "those in 'Distrattori' in 3 rows" in reading.faults[0].seen
    roles = reading.table.roles
    assert (roles["target"], roles["implausible"]) == ((head[2],), (head[1],))
    assert is_blank_table(tmp_path / "blanks.tsv")


def test_a_right_word_that_its_list_alone_lacks_is_an_error_that_names_the_row(tmp_path):
    rows = [*LISTS, *LISTS, ("Che lei ___ la verità.", "dica, dice", "dichi")]
    rows += [("Nulla da scegliere ___.", "", "qui")]
    head = ("Frase", "Opzioni", "Risposta corretta")
    reading = read(tmp_path, "".join("\t".join(row) + "\n" for row in (head, *rows)))
    (error,) = (one for one in reading.faults if one.severity == "error")
    assert (error.code, error.places) == ("CIM-C022", ("blanks.tsv row 8",))
    assert "not one of those in 'Opzioni', as in the other rows, in 1 row: 8 (dichi)" in error.seen
    assert not any(fault.code == "CIM-C020" for fault in reading.faults)


def test_the_right_word_in_some_lists_alone_is_an_error_of_its_row(tmp_path):
    rows = [*LISTS[:1], *((text, "una, due, tre", due) for text, _, due in LISTS[1:])]
    head = ("Frase", "Distrattori", "Risposta corretta")
    reading = read(tmp_path, "".join("\t".join(row) + "\n" for row in (head, *rows)))
    errors = [(one.code, one.where) for one in reading.faults if one.severity == "error"]
    assert errors == [("CIM-C007", "blanks.tsv row 2")]


def test_good_and_bad_words_beside_a_blank_are_its_words_and_no_pairs(tmp_path):
    rows = "La sopa está ___.\tfría\tfrío\nLos libros ___ caros.\tson\testán\n"
    reading = read(tmp_path, "Frase completa\tCorrecta\tMal\n" + rows)
    assert texts(reading) == [["fría", "frío"], ["son", "están"]]
    assert reading.table.roles["target"] == ("Correcta",)
    assert is_blank_table(tmp_path / "blanks.tsv")


@pytest.mark.parametrize(
    "head", ["Frase completa\tParola critica\tRivale", "Frase\tParola corretta\tParola errata"]
)
def test_the_blank_of_a_full_sentence_is_where_its_right_word_is(tmp_path, head):
    rows = "I vicini hanno un'auto.\thanno\tha\nC'è l’amica di Eva.\tl'amica\tl'amico\n"
    reading = read(tmp_path, f"{head}\n{rows}")
    assert is_blank_table(tmp_path / "blanks.tsv")
    assert [item.text for item in reading.suite.items] == [
        "I vicini ___ un'auto.",
        "C'è ___ di Eva.",
    ]
    (warning,) = reading.faults
    assert (warning.code, warning.where) == ("CIM-C021", "blanks.tsv row 2")
    right = head.split("\t")[1]
    assert f'the word in {right!r} is in its sentence: "I vicini ___ un\'auto."' in warning.seen


def test_words_that_are_there_twice_or_not_at_all_are_one_error_that_names_the_rows(tmp_path):
    rows = "I vicini hanno un'auto.\thanno\tha\nLe torte sono buone.\tsono\tè\n"
    rows += "Anna dorme.\tdorme\tdormono\nLa zia chiama la nonna.\tla\tlo\nEva ride.\trida\trido\n"
    rows += "___ mele sono qui.\tle\tla\n"
    reading = read(tmp_path, "Frase\tParola giusta\tParola sbagliata\n" + rows)
    (error,) = (one for one in reading.faults if one.severity == "error")
    assert error.code == "CIM-C001"
    assert error.seen == (
        "The right word is not exactly once in its sentence in 'Frase' in 2 rows: 5 (la), 6 (rida)."
    )
    assert error.places == ("blanks.tsv row 5", "blanks.tsv row 6")
    assert [item.text for item in reading.suite.items][-1] == "___ mele sono qui.", "a blank stays"


@pytest.mark.parametrize(
    "head",
    [
        "frase\tparola\tnota",  # a word of its sentence may be there for other reasons
        "sentence\ttarget\tcondition",
        "frase\tparola critica\tcondizione",
    ],
)
def test_full_sentences_beside_one_of_their_words_alone_are_no_blanks(tmp_path, head):
    path = tmp_path / "blanks.tsv"
    rows = "I vicini hanno un'auto.\thanno\tplurale\nAnna dorme.\tdorme\tsingolare\n"
    path.write_text(f"{head}\n{rows}", encoding="utf-8")
    assert not is_blank_table(path)
