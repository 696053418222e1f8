"""Tables as linguists keep them: bars, regions in columns, scales in headers, answers of people."""

from __future__ import annotations

import pytest

from cimento import InputError, SuiteError, load_suite
from cimento.paradigms.ratings.suite import rated_of
from cimento.suites.formats import detect_format
from cimento.suites.workbooks import write_sheets
from tests.helpers.check_pages import with_hidden


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


@pytest.mark.parametrize("blank", ["...", "…", "[ ]", "__"])
def test_blanks_that_are_no_underscores_are_answered_with_the_mark(tmp_path, blank):
    path = written(
        tmp_path,
        "ítem / frase / respuesta / distractores",
        f"1 / Llueve, {blank} salgo igual. / pero / si, donde",
        f"2 / No vino {blank} llovía. / porque / pero, cuando",
    )
    assert advice(path).endswith("three underscores: ___. For example, 'Llueve, ___ salgo igual.'.")


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


def test_sentences_with_blanks_and_numbered_options_are_no_design(tmp_path):
    path = written(
        tmp_path,
        "item / sentence / option_1 / option_2 / correct",
        "1 / Il cane ___ in giardino. / dorme / dormono / dorme",
        "2 / Non è venuto ___ pioveva. / perché / però / perché",
    )
    assert advice(path).startswith("If these are sentences with blanks, call their column text")
