"""Tables as linguists keep them: bars, regions in columns, scales in headers, answers of people."""

from __future__ import annotations

import pytest

from cimento import InputError, SuiteError, load_suite
from cimento.intake.names import meaning
from cimento.intake.workbooks import write_sheets
from cimento.suites.formats import detect_format
from cimento.suites.ratings import rated_of
from tests.helpers.check_pages import with_formulas, with_hidden


def written(tmp_path, *rows):
    """A table of rows whose cells are separated by slashes with blanks."""
    path = tmp_path / "table.tsv"
    path.write_text("".join(row.replace(" / ", "\t") + "\n" for row in rows), encoding="utf-8")
    return path


def found(suite, code):
    return [fault for fault in suite.reading.faults if fault.code == code]


def test_bars_in_good_and_bad_sentences_are_reported_once_with_their_rows(tmp_path):
    path = written(
        tmp_path,
        "item / buona / cattiva",
        "1 / La zia parte. / La zia partono.",
        "2 / Il | gatto dorme. / Il | gatto dormono.",
    )
    [fault] = found(load_suite(path), "CIM-S064")
    assert fault.places == ("table.tsv row 3",)
    assert "in 2 of 4 sentences" in fault.seen


def test_a_rating_off_the_scale_in_the_header_is_an_error_with_its_row(tmp_path):
    path = written(
        tmp_path,
        "frase / giudizio (1-5)",
        "La zia parte. / 4,5",
        "La zia partono. / 45",
        "Il gatto dorme. / 5",
    )
    with pytest.raises(SuiteError) as error:
        load_suite(path)
    [fault] = error.value.faults
    assert (fault.code, fault.where) == ("CIM-S037", "table.tsv row 3")
    assert "45 is off the scale from 1 to 5" in fault.seen


def advice(path):
    with pytest.raises(InputError) as error:
        detect_format(path)
    return error.value.todo


def test_columns_that_count_the_rows_are_no_ratings(tmp_path):
    path = written(tmp_path, "n / Frase", "1 / La zia parte oggi.", "2 / Il gatto dorme qui.")
    assert "rating'" not in advice(path)
    assert "'n'" not in advice(path)


def test_two_forms_in_a_cell_become_two_columns(tmp_path):
    path = written(
        tmp_path, "n / Frase", "1 / Le porte erano/*era aperte.", "2 / Le zie parte/*partono."
    )
    assert "as in 'erano/*era'" in advice(path)
    assert "two columns" in advice(path)


@pytest.mark.parametrize("blank", ["...", "…", "[ ]", "__", "[BLANK]", "------", "<mask>"])
def test_blanks_that_are_no_underscores_are_read_as_blanks(tmp_path, blank):
    path = written(
        tmp_path,
        "ítem / frase / respuesta / distractores",
        f"1 / Llueve, {blank} salgo igual. / pero / si, donde",
        f"2 / No vino {blank} llovía. / porque / pero, cuando",
    )
    items = load_suite(path).suite.items
    assert [item.filled("X") for item in items] == ["Llueve, X salgo igual.", "No vino X llovía."]
    assert [item.targets for item in items] == [("pero",), ("porque",)]


@pytest.mark.parametrize("cell", ["Llueve, [pero] salgo igual.", "Llueve ... y ... salgo."])
def test_blanks_that_are_not_clear_are_answered_with_the_mark(tmp_path, cell):
    path = written(tmp_path, "frase / respuesta", f"{cell} / pero", f"{cell} No. / porque")
    assert "three underscores: ___" in advice(path)


def test_a_missing_blank_among_others_is_named_with_its_row(tmp_path):
    rows = [f"{n} / El perro [BLANK] aquí {n}. / ladra" for n in range(1, 10)]
    path = written(tmp_path, "ítem / frase / respuesta", *rows, "10 / El perro aquí. / ladra")
    with pytest.raises(SuiteError, match=r"CIM-C001 table.tsv row 11: There is no blank"):
        load_suite(path)


REGIONS = (
    "1 / giusta / Il cane / che vedi / dorme / qui.",
    "1 / sbagliata / Il cane / che vedi / dormono / qui.",
    "2 / giusta / La zia /  / sorride / spesso.",
    "2 / sbagliata / La zia /  / sorridono / spesso.",
)


@pytest.mark.parametrize("names", ["R1 / R2 / R3 / R4", "Soggetto / Relativa / Verbo / Resto"])
def test_a_column_for_each_region_is_read(tmp_path, names):
    loaded = load_suite(written(tmp_path, f"Item / Condizione / {names}", *REGIONS))
    suite = loaded.suite
    assert suite.region_names == tuple(names.split(" / "))
    first, _, third, _ = (condition for _, condition in suite.stimuli())
    assert [region.text for region in first.regions] == ["Il cane", "che vedi", "dorme", "qui."]
    assert [region.text for region in third.regions] == ["La zia", "", "sorride", "spesso."]
    assert len(found(loaded, "CIM-S065")) == 1


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("Prima / Seguito", "{} / x / Piove a Torino. / Esco."),
        ("Attrattore / R / S", "{} / x / plurale / La zia / parte"),
        ("Attrattore / Inizio / Fine", "{} / x / Plurale / La zia / parte."),
    ],
)
def test_columns_that_may_be_no_regions_are_asked_about(tmp_path, header, row):
    path = written(tmp_path, f"Item / Condition / {header}", *(row.format(n) for n in range(1, 5)))
    assert "regions of one sentence, join them in one column sentence" in advice(path)


ANSWERS = tuple(
    f"{person} / {number} / {text} / {rating}"
    for person, ratings in {"S1": "632", "S2": "714", "S3": "62x"}.items()
    for number, (text, rating) in enumerate(
        zip(("La zia parte.", "La zia partono.", "Il gatto dorme."), ratings, strict=True), start=1
    )
)


def rated(path):
    suite = load_suite(path)
    return suite, [
        [(rating.participant, rating.value) for rating in sentence.ratings]
        for sentence in rated_of(suite.suite).sentences
    ]


@pytest.mark.parametrize("counts_rows", [False, True])
def test_a_row_for_each_answer_is_read_as_ratings_of_the_sentence(tmp_path, counts_rows):
    rows = [row.replace("x", "").split(" / ") for row in ANSWERS]
    if counts_rows:
        rows = [[who, str(n), *rest] for n, (who, _, *rest) in enumerate(rows, start=1)]
    header = "Participante / Ítem / Oración / Puntuación (1-7)"
    suite, ratings = rated(written(tmp_path, header, *map(" / ".join, rows)))
    assert ratings == [
        [("S1", 6), ("S2", 7), ("S3", 6)],
        [("S1", 3), ("S2", 1), ("S3", 2)],
        [("S1", 2), ("S2", 4)],
    ]
    assert not found(suite, "CIM-S036")
    assert "named in 'Participante': there are 3 sentences" in found(suite, "CIM-S065")[0].seen


def test_columns_of_people_beside_their_means_are_their_ratings(tmp_path):
    path = written(
        tmp_path,
        "N / Oración / P1 / P2 / Media",
        "1 / La zia parte. / 7 / 6 / 6,5",
        "2 / La zia partono. / 2 / 1 / 1,5",
        "3 / Il gatto dorme. / 5 /  / 5",
    )
    suite, ratings = rated(path)
    assert ratings == [[("P1", 7), ("P2", 6)], [("P1", 2), ("P2", 1)], [("P1", 5)]]
    assert "P1, P2 are read" in found(suite, "CIM-S065")[0].seen


@pytest.mark.parametrize("names", ["P1 / P2", "Участник 1 / Участник 2", "Inf_01 / Inf_02"])
def test_columns_of_people_without_means_are_their_ratings(tmp_path, names):
    path = written(
        tmp_path,
        f"Ítem / Oración / {names}",
        "1 / La zia parte. / 7 / 6",
        "1 / La zia partono. / 2 / ",
        "2 / Il gatto dorme. / 5 / 6,5",
    )
    suite, ratings = rated(path)
    assert [[value for _, value in both] for both in ratings] == [[7, 6], [2], [5, 6.5]]
    assert [item.id for item in suite.suite.items] == ["1-1", "1-2", "2-1"]
    assert f"{names.replace(' /', ',')} are read" in found(suite, "CIM-S065")[0].seen


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("Oración / Sílabas1 / Sílabas2", ["3 / 4", "2 / 5"]),
        ("Oración / P1 / S2", ["3 / 4", "2 / 5"]),
    ],
)
def test_columns_that_may_be_no_ratings_are_asked_about_with_their_range(tmp_path, header, cells):
    rows = [f"La zia parte. / {cells[0]}", f"Il gatto dorme. / {cells[1]}"]
    names = header.split(" / ")
    with pytest.raises(InputError) as error:
        load_suite(written(tmp_path, header, *rows))
    option = f"--columns='sentence={names[0]},person={names[1]},person 2={names[2]}'"
    assert f"hold the ratings of one person each, give {option};" in error.value.todo


def test_columns_of_other_numbers_are_no_ratings(tmp_path):
    path = written(
        tmp_path,
        "Oración / sílabas / palabras / Media",
        "La zia parte. / 5 / 3 / 6,5",
        "La zia partono. / 6 / 3 / 1,5",
    )
    suite, ratings = rated(path)
    assert ratings == [[], []]
    assert not found(suite, "CIM-S065")


def test_answers_of_nobody_are_asked_about(tmp_path):
    rows = [row.replace("x", "1").partition(" / ")[2] for row in ANSWERS]
    with pytest.raises(SuiteError) as error:
        load_suite(written(tmp_path, "Ítem / Oración / Puntuación", *rows))
    assert "add a column that says who gave each rating" in error.value.faults[0].todo


def test_hidden_rows_are_read_and_named(tmp_path):
    rows = [("good", "bad"), ("La zia parte.", "La zia partono."), ("Piove.", "Piovono.")]
    path = tmp_path / "pairs.xlsx"
    path.write_bytes(with_hidden(write_sheets({"Foglio1": rows}, where="pairs"), "row 3 hidden"))
    loaded = load_suite(path)
    assert [fault.places for fault in found(loaded, "CIM-S066")] == [("pairs.xlsx row 3",)]
    assert len(loaded.suite.items) == 2


def test_a_formula_without_a_stored_value_is_named_as_that(tmp_path):
    rows = [
        ("item", "good", "bad"),
        ("1", '=CONCATENATE("La zia ","parte.")', "La zia partono."),
        ("2", "Piove.", "=TRIM(B3)"),
    ]
    path = tmp_path / "pairs.xlsx"
    path.write_bytes(with_formulas(write_sheets({"Foglio1": rows}, where="pairs"), rows))
    with pytest.raises(SuiteError) as error:
        load_suite(path)
    [fault] = error.value.faults
    assert (fault.code, fault.places) == ("CIM-S082", ("pairs.xlsx row 2", "pairs.xlsx row 3"))


def test_a_formula_whose_result_is_an_empty_text_is_an_empty_cell(tmp_path):
    rows = [("good", "bad", "notes"), ("La zia parte.", "La zia partono.", '=IF(TRUE,"","x")')]
    path = tmp_path / "pairs.xlsx"
    made = write_sheets({"Foglio1": rows}, where="pairs")
    path.write_bytes(with_formulas(made, rows, type_="str"))
    assert not found(load_suite(path), "CIM-S082")


INVERTED = [
    "Giudizio (1 = perfetta, 5 = inaccettabile)",
    "Giudizio (1=ottima 5=pessima)",
    "Rating (1 = fully acceptable, 5 = not at all acceptable)",
    "Оценка (1 = отлично, 5 = ужасно)",
]


def headed(tmp_path, header):
    path = tmp_path / "ratings.csv"
    path.write_text(
        f"Frase;{header}\nLa zia parte.;1\nLa zia partono.;4,5\nIl gatto dorme.;2\n", "utf-8"
    )
    return path


@pytest.mark.parametrize("header", INVERTED)
def test_ratings_that_are_better_if_lower_are_refused_with_the_formula(tmp_path, header):
    with pytest.raises(SuiteError) as error:
        load_suite(headed(tmp_path, header))
    [fault] = error.value.faults
    assert fault.code == "CIM-S037"
    assert "lower ratings are better" in fault.seen
    assert "(in Excel, =6-B2)" in fault.todo


@pytest.mark.parametrize("ends", ["1 = inaccettabile, 7 = perfetta", "1 = not natural, 7 = fine"])
def test_the_ends_of_a_scale_may_be_explained_in_the_header(tmp_path, ends):
    suite = load_suite(headed(tmp_path, f"Giudizio ({ends})"))
    assert {**suite.suite.extra["ratings"]} == {"low": 1, "high": 7}
    assert not found(suite, "CIM-S036")


def test_words_for_the_ends_that_are_not_known_are_a_note(tmp_path):
    [fault] = found(load_suite(headed(tmp_path, "Giudizio (1 = blu, 7 = rossa)")), "CIM-S036")
    assert "Higher ratings are read as better" in fault.seen


@pytest.mark.parametrize("marks", ["6712", "1100"])
@pytest.mark.parametrize("names", [("Condizione", "gramm", "agramm"), ("Gruppo", "a", "b")])
def test_a_row_for_each_answer_is_no_pair_even_if_items_have_versions(tmp_path, names, marks):
    header, *versions = names
    texts = ("La zia parte.", "La zia partono.", "Il gatto dorme.", "Il gatto dormono.")
    rows = [
        f"{person} / {number // 2 + 1} / {versions[number % 2]} / {texts[number]}"
        f" / {marks[(number % 2) * 2 + (person == 'S1')]}"
        for person in ("S1", "S2", "S3")
        for number in range(4)
    ]
    suite, ratings = rated(
        written(tmp_path, f"Partecipante / Item / {header} / Frase / Voto", *rows)
    )
    assert [len(given) for given in ratings] == [3, 3, 3, 3]
    assert suite.suite.cluster == ("cluster",)
    assert [item.conditions[0].columns["cluster"] for item in suite.suite.items] == [*"1122"]
    assert len({item.id for item in suite.suite.items}) == 4
    assert len(found(suite, "CIM-S065")) == 1


def test_right_answers_of_blanks_may_be_headed_as_in_school_and_wrong_ones_are_advised(tmp_path):
    row = "Non esco ___ piove. / perché / però"
    path = written(tmp_path, "Frase / Risposta corretta / Distrattore 1", row)
    [item] = load_suite(path).suite.items
    assert [option.role for option in item.options] == ["target", "implausible"]
    assert "distractor 1" in advice(written(tmp_path, "Esempio / Parole / Altro", row))


def test_the_one_column_of_words_beside_blanks_is_proposed_and_read_as_the_advice_says(tmp_path):
    rows = ("Il cane ___ forte. / abbaia", "La cena cuoce sul ___. / fuoco")
    path = written(tmp_path, "Esempio / Da scrivere", *rows)
    option = "--columns='sentence=Esempio,target=Da scrivere'"
    said = f"If 'Da scrivere' holds the words that are due in the blanks, say so: {option}."
    assert advice(path) == said

    reading = load_suite(path, columns={"sentence": "Esempio", "target": "Da scrivere"})
    assert [item.targets for item in reading.suite.items] == [("abbaia",), ("fuoco",)]


@pytest.mark.parametrize(
    ("cell", "targets"),
    [
        ("abbaia; ha", ("abbaia", "ha")),
        ("abbaia, ha; ringhia", ("abbaia, ha", "ringhia")),
        ("abbaia, ha", ("abbaia", "ha")),
        ("abbaia;", ("abbaia;",)),
        (",", (",",)),
    ],
)
def test_answers_that_are_written_with_semicolons_are_several_and_this_is_said(
    tmp_path, cell, targets
):
    rows = (f"Il cane ___ forte. / {cell}", "La cena cuoce sul ___. / fuoco")
    reading = load_suite(written(tmp_path, "Frase / Risposte attese", *rows))
    assert reading.suite.items[0].targets == targets
    said = [fault.seen for fault in found(reading, "CIM-C017")]
    several = f"'Risposte attese', {cell!r} as {len(targets)} options."
    assert [several in seen for seen in said] == [True] * (len(targets) > 1)


def test_a_column_of_contexts_that_models_do_not_read_is_named(tmp_path):
    pairs = written(tmp_path, "Contesto / buona / cattiva", "Piove. / La zia parte. / La zia vola.")
    [fault] = found(load_suite(pairs), "CIM-S068")
    assert fault.todo.endswith("add --context-column Contesto to cimento run.")
    rows = ("1 / gramm / Piove. / La zia parte.", "1 / agramm / Piove. / La zia partono.")
    assert found(load_suite(written(tmp_path, "Item / Cond / Contesto / Frase", *rows)), "CIM-S068")


def test_advice_on_judgments_of_pairs_without_numbers_and_on_stories(tmp_path):
    rows = ("1a / La zia parte oggi. / sì", "1b / La zia partono oggi. / no")
    said = advice(written(tmp_path, "ID / Frase / Grammaticale", *rows))
    assert said.endswith("give both sentences of a pair one number in a column item.")
    texts = " / ".join(f"Frase numero {n} della storia." for n in range(1, 6))
    said = advice(written(tmp_path, "Frase 1 / Frase 2 / Frase 3 / Frase 4 / Frase 5", texts))
    assert "cimento suites new stories" in said


def test_sentences_with_blanks_and_numbered_options_are_no_design(tmp_path):
    path = written(
        tmp_path,
        "item / sentence / option_1 / option_2 / correct",
        "1 / Il cane ___ in giardino. / dorme / dormono / dorme",
        "2 / Non è venuto ___ pioveva. / perché / però / perché",
    )
    assert advice(path).startswith("If these are sentences with blanks, call their column text")


@pytest.mark.parametrize(
    ("header", "conditions"),
    [
        ("item / condicion / oracion", ["good", "bad"]),
        ("numero / condicao / sentenca", ["good", "bad"]),
        ("ítem / condición / oracion", ["good", "bad"]),
    ],
)
def test_names_of_columns_need_no_accents(tmp_path, header, conditions):
    rows = [
        f"{n} / {condition} / La frase {condition} es {n}."
        for n in (1, 2)
        for condition in conditions
    ]
    suite = load_suite(written(tmp_path, header, *rows)).suite
    assert list(suite.condition_names) == conditions


def test_pairs_are_headed_without_accents_but_short_words_stay_apart(tmp_path):
    path = written(tmp_path, "aceitavel / inaceitavel", "A casa é bela. / A casa é belo.")
    assert len(load_suite(path).suite.items) == 1
    assert (meaning("má"), meaning("ma")) == ("bad", "ma")


@pytest.mark.parametrize("name", ["Lista A", "Opzioni"])
def test_sentences_with_blanks_are_never_advised_to_be_one_side_of_a_pair(tmp_path, name):
    row = "Il gatto beve il ___ dalla ciotola. / latte / sasso, libro, treno"
    with pytest.raises(InputError, match="call their column text, that of the right words target"):
        load_suite(written(tmp_path, f"Frase / Dovuta / {name}", row))


@pytest.mark.parametrize(
    ("ratings", "count"), [(("6,4", "1,8", "3") * 2, 1), (("1", "0", "0") * 2, 0)]
)
def test_ratings_beside_conditions_that_are_no_pair_are_said_not_to_be_read(
    tmp_path, ratings, count
):
    texts = ("La zia parte.", "La zia partono.", "La zia partire.")
    rows = [
        f"{number // 3 + 1} / {'abc'[number % 3]} / {texts[number % 3]} / {rating}"
        for number, rating in enumerate(ratings)
    ]
    suite = load_suite(written(tmp_path, "Item / Condizione / Frase / Media", *rows))
    assert len(suite.suite.items) == 2
    assert len(found(suite, "CIM-S069")) == count


def test_numbers_of_rows_as_r_writes_them_need_no_name(tmp_path):
    rows = ["1 / 1 / La zia parte. / La zia partono.", "5 / 2 / Il gatto dorme. / I gatti dorme."]
    suite = load_suite(written(tmp_path, " / item / good / bad", *rows)).suite
    assert [item.id for item in suite.items] == ["1", "2"]


def test_a_region_that_one_row_of_a_condition_lacks_is_named(tmp_path):
    rows = [
        f"{n} / {condition} / La zia / {'' if (n, condition) == (2, 'a') else 'parte'} / presto."
        for n in (1, 2, 3)
        for condition in ("a", "b")
    ]
    suite = load_suite(written(tmp_path, "Item / Condition / Soggetto / Verbo / Resto", *rows))
    _, fault = found(suite, "CIM-S065")
    assert fault.where == "table.tsv row 4"
    assert "'Verbo' is empty here, unlike in all other rows of its condition." in fault.seen


def test_a_text_of_a_word_processor_is_asked_to_become_a_spreadsheet(tmp_path):
    (tmp_path / "frasi.docx").write_bytes(b"PK")
    with pytest.raises(InputError, match="Copy its table into a spreadsheet"):
        load_suite(tmp_path / "frasi.docx")


def test_an_item_of_one_sentence_among_pairs_is_named_with_its_row(tmp_path):
    rows = [f"{n} / La zia {verb} {n}. / {mark}" for n in range(1, 7)
            for verb, mark in (("parte", "ok"), ("partono", "*"))]  # fmt: skip
    rows[7] = rows[7].replace("4 /", "9 /")
    with pytest.raises(SuiteError) as error:
        load_suite(written(tmp_path, "Item / Frase / Giudizio", *rows))
    [fault] = error.value.faults
    assert (fault.code, fault.where) == ("CIM-S012", "table.tsv row 8")
    assert "Items of one sentence: '4', '9' in rows 8, 9" in fault.seen


def test_answers_with_a_column_for_each_sentence_are_sent_to_annotate_import(tmp_path):
    header = "Partecipante / La zia parte oggi. / La zia partono oggi."
    said = advice(written(tmp_path, header, "P1 / 6 / 2", "P2 / 7 / 1"))
    assert "`cimento annotate import table.tsv --form wide --names keep" in said


def test_advice_on_versions_of_any_name_and_on_answers_that_are_numbers(tmp_path):
    orders = ("1 / SVO / Juan compró pan.", "1 / OVS / Pan compró Juan.",
              "2 / SVO / Ana lee libros.", "2 / OVS / Libros lee Ana.")  # fmt: skip
    said = advice(written(tmp_path, "Ítem / Orden / Oración", *orders))
    assert said.startswith("If 'Orden' says which version of its item a sentence is")
    rows = ("P1 / Las llaves están aquí. / 6", "P1 / Las llaves está aquí. / 2",
            "P2 / Las llaves están aquí. / 7", "P2 / Las llaves está aquí. / 1")  # fmt: skip
    said = advice(written(tmp_path, "Participante / Oración / Respuesta", *rows))
    assert "--columns='sentence=Oración,participant=Participante,rating=Respuesta'" in said
    three = "1 / Quiero que vienes hoy. / Quiero que vengas hoy. / Quiero que venir hoy."
    said = advice(written(tmp_path, "Ítem / Indicativo / Subjuntivo / Infinitivo", three))
    assert "conditions=Indicativo,conditions 2=Subjuntivo,conditions 3=Infinitivo" in said


def test_a_factor_that_is_called_context_is_no_context_that_models_do_not_read(tmp_path):
    cells = [(item, plain, far) for item in "12" for plain in ("non isola", "isola")
             for far in ("breve", "lunga")]  # fmt: skip
    rows = [
        f"{item} / {plain} / {far} / Chi vede {item} {plain} {far}?" for item, plain, far in cells
    ]
    reading = load_suite(written(tmp_path, "Item / Contesto / Dipendenza / Frase", *rows))
    assert [*reading.suite.factors] == ["Contesto", "Dipendenza"]
    assert found(reading, "CIM-S068") == []
