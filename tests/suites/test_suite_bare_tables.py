"""Tables as people keep them, without a suite.toml: pairs, rated sentences, and what is neither."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import openpyxl
import pytest

from cimento import CimentoError, InputError, UsageError, evaluate, load_suite
from cimento.suites.ratings import rated_of
from tests.helpers.command_line import invoke

PAIRS = (
    ("Il gatto dorme sul divano.", "Il gatto dormono sul divano."),
    ("Le zie partono domani.", "Le zie parte domani."),
)
RATED = (
    ("Il gatto dorme sul divano.", "6,5"),
    ("Il gatto dormono.", "2"),
    ("Piove a Torino.", "7"),
)


def good_texts(loaded, good, bad):
    """The good sentences of pairs whose marks for good and bad one message names."""
    assert loaded.suite.condition_names == ("good", "bad")
    [fault] = loaded.reading.faults
    shown = repr(good) if good else "an empty cell"
    assert f"{shown} stands for good and {bad!r} for bad." in fault.seen
    return [item.conditions[0].regions[0].text for item in loaded.suite.items]


def written(path: Path, header: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> Path:
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in (header, *rows):
            book.active.append(row)
        book.save(path)
        return path
    mark = ";" if path.suffix == ".csv" else "\t"
    text = "".join(mark.join(row) + "\n" for row in (header, *rows))
    path.write_text(text, encoding="utf-8")
    return path


NUMBERS = (
    (
        "1", "El niño duerme.", "El niño duermen.", "Los niños duermen.", "Los niños duerme.",
    ),
    ("2", "La niña canta.", "La niña cantan.", "Las niñas cantan.", "Las niñas canta."),
)  # fmt: skip
ONE_ROW = (
    "Ítem", "Singular gramatical", "Singular no gramatical", "Plural gramatical",
    "Plural no gramatical",
)  # fmt: skip
CELLS = tuple(product(("singular", "plural"), ("gramatical", "agramatical")))
LONG = tuple(
    (item, *cell, text) for item, *texts in NUMBERS for cell, text in zip(CELLS, texts, strict=True)
)


@pytest.mark.parametrize(
    ("header", "rows", "ids"),
    [
        (ONE_ROW, NUMBERS, ["1-Singular", "1-Plural", "2-Singular", "2-Plural"]),
        (
            ("Item", "Número", "Gramaticalidad", "Oración"), LONG,
            ["singular-1", "plural-1", "singular-2", "plural-2"],
        ),
    ],
)  # fmt: skip
def test_good_and_bad_sentences_in_both_numbers_are_pairs(tmp_path, header, rows, ids):
    path = written(tmp_path / "numero.csv", header, rows)
    loaded = load_suite(path, language="es")
    suite = loaded.suite
    assert [item.id for item in suite.items] == ids
    texts = [[c.regions[0].text for c in item.conditions] for item in suite.items]
    assert texts == [list(row[k : k + 2]) for row in NUMBERS for k in (1, 3)]
    assert suite.condition_names == ("good", "bad")
    assert [item.column("phenomenon").lower() for item in suite.items] == ["singular", "plural"] * 2
    assert [*suite.clusters().values()] == [("cluster", k) for k in ("1", "1", "2", "2")]
    [fault] = [fault for fault in loaded.reading.faults if fault.code == "CIM-S063"]
    assert "for each of" in fault.seen

    # The message says how to have the design that it might be as well.
    if header == ONE_ROW:
        command = ["suites", "convert", str(path), "--from", "factorial-table"]
        assert invoke([*command, "-o", str(tmp_path / "design")]) == 0
        path = tmp_path / "design"
    else:
        named = tuple((*row[:3], "_".join(row[1:3]), row[3]) for row in rows)
        written(path, (*header[:3], "condition", header[3]), named)
    assert len(load_suite(path, language="" if path.is_dir() else "es").suite.condition_names) == 4


def test_names_of_numbers_and_sides_may_take_two_rows(tmp_path):
    book = openpyxl.Workbook()
    upper = ("Ítem", "Singular", "", "Plural", "")
    for row in (upper, ("", *("Gramatical", "Agramatical") * 2), *NUMBERS):
        book.active.append(row)
    for merged in ("A1:A2", "B1:C1", "D1:E1"):
        book.active.merge_cells(merged)
    book.save(tmp_path / "numero.xlsx")
    suite = load_suite(tmp_path / "numero.xlsx").suite
    assert [(item.id, item.column("number")) for item in suite.items] == [
        (f"{item}-{number}", number) for item in "12" for number in ("Singular", "Plural")
    ]


@pytest.mark.parametrize("suffix", [".xlsx", ".csv", ".tsv"])
def test_pairs_and_rated_sentences_run_as_they_are_in_the_language_given(tmp_path, suffix, capsys):
    pairs = written(tmp_path / f"coppie{suffix}", ("Frase grammaticale", "Frase errata"), PAIRS)
    rated = written(tmp_path / f"giudizi{suffix}", ("frase", "giudizio"), RATED)
    command = ["run", str(pairs), str(rated), "--language", "it", "-m", "demo-causal", "--json"]
    assert invoke([*command, "-o", str(tmp_path / "runs")]) == 0
    shown = capsys.readouterr()
    runs = json.loads(shown.out)["runs"]
    assert [(run["suite"], run["language"], run["paradigm"]) for run in runs] == [
        ("coppie", "it", "regions"),
        ("giudizi", "it", "ratings"),
    ]
    assert "CIM-S033" not in shown.out


def test_ratings_of_a_bare_table_have_the_scale_that_holds_them(tmp_path):
    path = written(tmp_path / "giudizi.csv", ("frase", "giudizio"), RATED)
    loaded = load_suite(path, language="it")
    assert [fault.code for fault in loaded.reading.faults] == ["CIM-S036"]
    rated = rated_of(loaded.suite)
    assert [sentence.mean for sentence in rated.sentences] == [6.5, 2, 7]
    assert (rated.scale.low, rated.scale.high) == (1, 7)


@pytest.mark.parametrize(
    ("ratings", "ends"),
    [(("2.3", "4", "6.6"), (1, 7)), (("3", "10", "5"), (1, 10)), (("0", "4", "7"), (0, 7)),
     (("1.5", "3", "5"), (1, 5)), (("20", "35", "90"), (0, 100)),
     (("2", "14.5", "18"), (2, 18)), (("-3", "0", "3"), (-3, 3))],
)  # fmt: skip
def test_a_scale_without_a_name_begins_at_1_if_it_may(tmp_path, ratings, ends):
    rows = tuple((text, rating) for (text, _), rating in zip(RATED, ratings, strict=True))
    loaded = load_suite(written(tmp_path / "giudizi.csv", ("frase", "giudizio"), rows))
    scale = rated_of(loaded.suite).scale
    assert (scale.low, scale.high) == ends
    [fault] = [fault for fault in loaded.reading.faults if fault.code == "CIM-S036"]
    assert f"assumed: {ends[0]} to {ends[1]}." in fault.seen
    assert "correct ratings.low and ratings.high" in fault.todo


def test_a_table_of_one_rating_throughout_is_refused(tmp_path, capsys):
    rows = tuple((text, "3") for text, _ in RATED)
    path = written(tmp_path / "giudizi.tsv", ("frase", "giudizio"), rows)
    assert invoke(["run", str(path), "-m", "demo-causal"]) == 2
    said = capsys.readouterr().err
    assert "giudizi.tsv: column giudizio: The ratings are all 3." in said
    assert "so the ratings must differ" in said
    assert "Correct the field" not in said


def test_every_rating_that_is_no_number_is_a_fault_with_its_row(tmp_path, capsys):
    rows = (*RATED, ("Nevica a Bari.", "due"), ("Grandina a Pisa.", "6,x"))
    path = written(tmp_path / "giudizi.csv", ("frase", "giudizio"), rows)
    assert invoke(["suites", "check", str(path), "--language", "it"]) == 2
    shown = capsys.readouterr()
    assert "CIM-S037 giudizi.csv row 5: The giudizio is 'due', not a number." in shown.out
    assert "CIM-S037 giudizi.csv row 6: The giudizio is '6,x', not a number." in shown.out
    assert "giudizi.csv: 2 errors" in shown.err


@pytest.mark.parametrize(
    ("name", "judgments", "code", "seen", "todo"),
    [
        ("giudizio", ("ok", "*", "OK"), "CIM-S037", "'ok' (1), '*' (1), 'OK' (1)",
         "such as 1 for 'ok' or 'OK' and 0 for '*'. In Excel"),
        ("giudizio", ("accettabile", "??", "*"), "CIM-S037", "not numbers: 'accettabile' (1)",
         "such as 3 for 'accettabile', 2 for '??' and 1 for '*'"),
        ("giudizio", ("", "*", "*"), "CIM-S037", "'*' (2)", "Write 0 in place of '*', and 1 where"),
        ("giudizio", ("bella", "brutta", "3"), "CIM-S037", "'bella' (1), 'brutta' (1)",
         "Write a number in place of each, higher for better."),
        ("grammaticalità", ("ok", "?", "*"), "", "frase, grammaticalità",
         "acceptable, call it rating, and 'frase' sentence. Write numbers"),
    ],
)  # fmt: skip
def test_judgments_in_words_and_marks_are_one_fault_that_proposes_numbers(
    tmp_path, name, judgments, code, seen, todo
):
    rows = tuple((text, cell) for (text, _), cell in zip(RATED, judgments, strict=True))
    path = written(tmp_path / "giudizi.csv", ("frase", name), rows)
    with pytest.raises(CimentoError) as caught:
        load_suite(path, language="it")
    message = " ".join(str(caught.value).split())
    assert message.count("CIM-S037") == bool(code)
    assert seen in message
    assert todo in message


def test_a_rated_table_may_have_a_column_of_conditions(tmp_path):
    rows = tuple((text, "buona", rating) for text, rating in RATED)
    path = written(tmp_path / "giudizi.csv", ("frase", "condizione", "giudizio"), rows)
    rated = rated_of(load_suite(path, language="it").suite)
    assert [sentence.mean for sentence in rated.sentences] == [6.5, 2, 7]
    assert rated.sentences[0].columns["condizione"] == "buona"


def test_a_missing_language_says_how_to_give_it(tmp_path, capsys):
    path = written(tmp_path / "coppie.tsv", ("buona", "cattiva"), PAIRS)
    assert invoke(["suites", "check", str(path)]) == 0
    assert "in which language the sentences are: --language CODE (en, es" in capsys.readouterr().out
    assert invoke(["suites", "check", str(path), "--language", "it"]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"cimento run {path} --language it -m MODEL" in shown.err


def test_a_run_without_the_language_is_made_anew_with_it(tmp_path, capsys):
    path = written(tmp_path / "coppie.tsv", ("buona", "cattiva"), PAIRS)
    command = ["run", str(path), "-m", "demo-causal", "-o", str(tmp_path / "runs"), "--json"]
    seen = []
    for given in ([], ["--language", "it"], []):
        assert invoke([*command, *given]) == 0
        seen.append(json.loads(capsys.readouterr().out)["runs"][0]["language"])
    assert seen == ["", "it", "it"]


@pytest.mark.parametrize("command", ["audit", "check"])
def test_a_language_that_is_none_or_another_than_the_suites_is_refused(command, capsys):
    assert invoke(["suites", command, "it-subject-verb", "--language", "Italian"]) == 2
    assert "Give --language it." in capsys.readouterr().err
    assert invoke(["suites", command, "it-subject-verb", "--language", "es"]) == 2
    assert "says that it is in 'it'" in capsys.readouterr().err
    assert invoke(["suites", command, "it-subject-verb", "--language", "it"]) == 0


def test_the_language_is_kept_by_a_workbook_made_of_the_table_and_known_in_python(tmp_path):
    path = written(tmp_path / "coppie.csv", ("corretta", "errata"), PAIRS)
    book = tmp_path / "coppie.xlsx"
    assert invoke(["suites", "convert", str(path), "--language", "it", "-o", str(book)]) == 0
    assert load_suite(book).suite.meta.language == "it"
    run = evaluate(path, "demo-causal", language="it")
    assert run.suite.meta.language == "it"
    with pytest.raises(UsageError, match="not an ISO 639-1 code"):
        load_suite(path, language="italiano")


def test_a_plan_takes_the_language(tmp_path):
    path = written(tmp_path / "coppie.csv", ("corretta", "errata"), PAIRS)
    assert invoke(["plan", str(path), "--language", "it", "-m", "demo-causal"]) == 0


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("Frase grammaticale", "Frase agrammaticale"),
        ("accettabile", "Inaccettabile"),
        ("Oración gramatical", "Oración agramatical"),
        ("correcta", "incorrecta"),
        ("Sentença aceitável", "Sentença inaceitável"),
        ("certa", "errada"),
        ("грамматичное предложение", "неграмматичное предложение"),
        ("Frasi grammaticali", "Frasi agrammaticali"),
        ("corrette", "scorrette"),
        ("Oraciones gramaticales", "Oraciones agramaticales"),
        ("Correctas", "Incorrectas"),
        ("Enunciados correctos", "Enunciados incorrectos"),
        ("Frases gramaticais", "Frases agramaticais"),
        ("Sentenças aceitáveis", "Sentenças inaceitáveis"),
        ("Правильные предложения", "Неправильные предложения"),
        ("правильные", "неправильные"),
        ("Grammatical sentences", "Ungrammatical sentences"),
    ],
)
def test_headers_that_say_which_sentence_is_which_are_understood(tmp_path, good, bad):
    path = written(tmp_path / "pairs.tsv", (good, bad, "nota"), ((*PAIRS[0], "x"),))
    [item] = load_suite(path).suite.items
    assert [condition.regions[0].text for condition in item.conditions] == list(PAIRS[0])
    assert item.conditions[0].columns == {"nota": "x"}


@pytest.mark.parametrize(
    ("header", "rows", "todo"),
    [
        (("Frase A", "Frase B"), PAIRS, "rename 'Frase A' and 'Frase B': good is the column"),
        (PAIRS[0], PAIRS[1:], "Its first row holds a sentence"),
        (
            ("Ítem", "Oración", "Gramatical"),
            (("1", PAIRS[0][0], "bien"), ("1", PAIRS[0][1], "fatal")),
            "If the two sentences of an item are a pair, call 'Gramatical' condition",
        ),
        (("a", "b"), (("1", "2"),), "Pairs need the columns good and bad"),
    ],
)
def test_columns_that_are_not_understood_are_named_with_what_they_would_be_called(
    tmp_path, header, rows, todo
):
    path = written(tmp_path / "table.tsv", header, rows)
    with pytest.raises(InputError) as caught:
        load_suite(path)
    assert f"is a table with the columns {', '.join(header)}" in str(caught.value)
    assert todo in str(caught.value)


@pytest.mark.parametrize("phenomenon", ["número", "concordancia de número"])
def test_two_columns_of_sentences_are_a_pair_with_any_other_columns(tmp_path, phenomenon):
    header = ("Ítem", "Fenómeno", "Primera", "Segunda", "Notas")
    rows = tuple((str(n), phenomenon, *pair, "x") for n, pair in enumerate(PAIRS))
    with pytest.raises(InputError) as caught:
        load_suite(written(tmp_path / "pares.csv", header, rows))
    assert "If each row is a pair, rename 'Primera' and 'Segunda'" in caught.value.todo


@pytest.mark.parametrize("name", ["frasi", "Frases", "oraciones", "sentenças", "предложения"])
def test_a_column_of_sentences_may_be_named_in_the_plural(tmp_path, name):
    path = written(tmp_path / "giudizi.csv", (name, "rating"), RATED)
    assert len(rated_of(load_suite(path).suite).sentences) == len(RATED)


def test_pairs_with_hardly_a_word_in_common_are_named_once(tmp_path, capsys):
    slipped = ((PAIRS[0][0], PAIRS[1][1]), (PAIRS[1][0], PAIRS[0][1]), PAIRS[0])
    path = written(tmp_path / "coppie.tsv", ("good", "bad"), slipped)
    assert invoke(["suites", "check", str(path), "--language", "it"]) == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if "CIM-S060" in line]
    assert "coppie.tsv row 2, item 1" in line
    assert "2 of 3 pairs are like this" in line
    assert invoke(["suites", "audit", str(path), "--language", "it"]) == 0
    assert "hardly a word in common: 2: 1, 2" in capsys.readouterr().out


def test_a_rating_far_from_all_others_and_sentences_without_one_are_told(tmp_path):
    ratings = ("7", "2", "12", "3", "1", "")
    rows = [(f"La casa numero {n} cade.", rating) for n, rating in enumerate(ratings)]
    loaded = load_suite(written(tmp_path / "giudizi.csv", ("frase", "giudizio"), rows))
    said = {fault.code: fault.seen for fault in loaded.reading.faults}
    assert said["CIM-S036"].endswith("1 to 12. The highest, 12, is only in giudizi.csv row 4.")
    assert said["CIM-S038"] == "Of 6 sentences, 1 has no rating; the first: giudizi.csv row 7."


def test_four_columns_of_sentences_are_no_pair(tmp_path):
    names = ("one", "two", "three", "four")
    rows = [[f"La casa {name} cade piano." for name in names]] * 3
    with pytest.raises(InputError, match="is a condition, say so") as caught:
        load_suite(written(tmp_path / "isole.csv", names, rows))
    assert "rename" not in str(caught.value)


def test_a_sheet_as_people_keep_it_is_read(tmp_path):
    """Numbers without a name or as 1.0, notes below, and a scale in the name of a column."""
    head = ("", "Frase (buona)", "Frase (cattiva)")
    rows = (("1", *PAIRS[0]), ("2", *PAIRS[1]))
    notes = (("", "", ""), ("Nota: da Rossi (2019).", "", ""), ("* = agrammaticale", "", ""))
    loaded = load_suite(written(tmp_path / "coppie.csv", head, (*rows, *notes)), language="it")
    assert [item.id for item in loaded.suite.items] == ["1", "2"]
    [fault] = loaded.reading.faults
    assert (fault.code, fault.where) == ("CIM-S009", "coppie.csv row 5")
    assert fault.seen == "Everything from row 5 on is ignored: 'Nota: da Rossi (2019).'."

    # Numbers in the first row of an item only, a note right below, and names with line breaks.
    head = ("Ítem", "Condición:", "“Oración”")
    rows = (
        ("1", "gramatical", PAIRS[0][0]), ("", "agramatical", PAIRS[0][1]),
        ("2", "gramatical", PAIRS[1][0]), ("", "agramatical", PAIRS[1][1]), ("Total: 2 ítems",),
    )  # fmt: skip
    suite = load_suite(written(tmp_path / "oraciones.xlsx", head, rows), language="es").suite
    assert [(item.id, len(item.conditions)) for item in suite.items] == [("1", 2), ("2", 2)]
    head = ("N.", "Frase\ngrammaticale", "Frase\nagrammaticale:")
    rows = tuple((str(n), *pair) for n, pair in enumerate(PAIRS))
    assert len(load_suite(written(tmp_path / "frasi.xlsx", head, rows)).suite.items) == 2

    rated = tuple((f"{n}.0", *row) for n, row in enumerate(RATED, start=1))
    header = ("Item", "Oración", "Juicio medio (0-7)")
    loaded = load_suite(written(tmp_path / "juicios.csv", header, rated), language="es")
    assert loaded.reading.faults == ()
    assert [sentence.id for sentence in rated_of(loaded.suite).sentences] == ["1", "2", "3"]
    assert rated_of(loaded.suite).scale.low == 0


def test_names_that_are_repeated_above_others_are_names_in_two_rows(tmp_path):
    upper, lower = ("Item", *("Singular",) * 2, *("Plural",) * 2), ("", *("Buena", "Mala") * 2)
    path = written(tmp_path / "numero.csv", upper, (lower, *NUMBERS))
    loaded = load_suite(path)
    names = ("Singular Buena", "Singular Mala", "Plural Buena", "Plural Mala")
    assert loaded.reading.table.roles == {"item": ("Item",), "conditions": names}
    assert [fault.where for fault in loaded.reading.faults if fault.code == "CIM-S009"] == [
        "numero.csv row 1"
    ]


def test_a_title_above_the_names_of_the_columns_is_passed_over_and_named(tmp_path):
    path = written(tmp_path / "giudizi.tsv", ("Le mie frasi",), (("frase", "voto"), *RATED))
    loaded = load_suite(path, language="it")
    assert [fault.code for fault in loaded.reading.faults] == ["CIM-S009", "CIM-S036"]
    assert len(loaded.suite.items) == len(RATED)


ISLANDS = """item;condizione;frase;distanza;struttura
1;breve_libera;Chi pensa | che Ada canta?;breve;libera
1;lunga_libera;Che cosa pensa | che Ada canta?;lunga;libera
1;breve_isola;Chi chiede | se Ada canta?;breve;isola
1;lunga_isola;Che cosa chiede | se Ada canta?;lunga;isola
"""


def islands(path: Path, *, items: int = 5) -> Path:
    header, *rows = ISLANDS.splitlines()
    lines = [row.replace("1", str(number), 1) for number in range(1, items + 1) for row in rows]
    path.write_text("\n".join([header, *lines]) + "\n", "utf-8")
    return path


def test_bars_of_a_bare_design_divide_regions_and_its_columns_are_the_factors(tmp_path):
    suite = load_suite(islands(tmp_path / "isole.csv"), language="it").suite
    assert suite.factors == {"distanza": ("breve", "lunga"), "struttura": ("libera", "isola")}
    assert [region.text for region in suite.items[0].conditions[0].regions] == [
        "Chi pensa",
        "che Ada canta?",
    ]
    assert [prediction.name for prediction in suite.predictions] == [
        "DD",
        "breve_libera over lunga_isola",
        "lunga_libera over lunga_isola",
        "breve_isola over lunga_isola",
    ]


def test_slips_in_a_bare_design_are_named_with_their_rows(tmp_path, capsys):
    path = islands(tmp_path / "isole.csv")
    text = path.read_text("utf-8").replace("4;breve_isola;Chi chiede |", "4;breve_isola;Chi chiede")
    lines = text.replace("se Ada canta?;breve;isola", "se Ada canta?;lunga;isola", 1)
    path.write_text(lines, "utf-8")
    assert invoke(["suites", "check", str(path), "--language", "it"]) == 2
    shown = capsys.readouterr().out
    assert "CIM-S031 isole.csv row 4: distanza is 'lunga' in breve_isola, and 'breve' else" in shown
    assert "CIM-S013 isole.csv row 16, item 4, condition breve_isola: There is 1 region" in shown


def test_a_run_on_one_prediction_does_not_replace_the_run_on_all(tmp_path, capsys):
    asked = ["run", "it-subject-verb", "-m", "demo-causal", "--limit", "4", "-o", str(tmp_path)]
    assert invoke(asked) == 0
    assert invoke([*asked, "--prediction", "number"]) == 0
    assert len(list(tmp_path.glob("it-subject-verb/*/manifest.json"))) == 2
    capsys.readouterr()
    assert invoke(["report", str(tmp_path)]) == 0
    assert "(only number)" in " ".join(capsys.readouterr().out.split())


CELLS = """\
short_plain,short_whether,long_plain,long_whether
Who thinks that Ann sold it?,Who asks whether Ann sold it?,What do you think that Ann sold?,\
What do you wonder whether Ann sold?
Who says that Tom read it?,Who asks whether Tom read it?,What do you say that Tom read?,\
What do you wonder whether Tom read?
"""


def test_check_says_which_cell_of_a_bare_design_is_taken_as_the_bad_one(tmp_path, capsys):
    path = tmp_path / "cells.csv"
    path.write_text(CELLS, "utf-8")
    assert invoke(["suites", "check", str(path), "--language", "en"]) == 0
    shown = capsys.readouterr()
    where = "where distance is long and second_factor is whether"
    assert f"expected to be the least acceptable: long_whether, {where}" in shown.err
    assert "CIM-S060" not in shown.out  # opposite cells of a design share few words


@pytest.mark.parametrize("header", ["N.º", "Nº", "n°", "№", "Número"])
def test_a_column_of_numbers_numbers_the_items_and_conditions_may_have_accents(tmp_path, header):
    path = written(
        tmp_path / "frases.csv",
        (header, "Condição", "Frase"),
        (
            ("7", "boa", "Os meninos dormem."),
            ("7", "má", "Os meninos dorme."),
            ("9", "boa", "A casa é grande."),
            ("9", "má", "A casa são grande."),
        ),
    )
    suite = load_suite(path, language="pt").suite
    assert [item.id for item in suite.items] == ["7", "9"]
    assert [prediction.formula for prediction in suite.predictions] == ["(*;%boa%) < (*;%má%)"]
