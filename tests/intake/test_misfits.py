"""What a column is, is decided by its cells: no number, date or id becomes a sentence or rating."""

from __future__ import annotations

import json
import string
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import CimentoError, InputError, SuiteError, load_suite
from cimento.intake.profile import is_moment, number_of, profile
from cimento.suites import sentence
from cimento.suites.formats import detect_format
from cimento.suites.ratings import rated_of

N_ROWS = 8
PAIRS = [
    (f"Il cane numero {word} dorme.", f"Il cane numero {word} dormono.")
    for word in ("uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto")
]


def written(folder, header, rows, name="table.tsv"):
    path = folder / name
    lines = ("\t".join(map(str, row)) + "\n" for row in (header, *rows))
    path.write_text("".join(lines), encoding="utf-8")
    return path


def contents(path):
    """All that decides a run: the items, texts, predictions, and ratings; and what is not used."""
    loaded = load_suite(path, language="it")
    suite = loaded.suite
    texts = [
        (item.id, condition.name, sentence(condition, rule=suite.join))
        for item, condition in suite.stimuli()
    ]
    predictions = [prediction.formula for prediction in suite.predictions]
    rated = []
    if suite.extra.get("kind"):
        rated = [
            (one.id, one.mean, one.sd, one.n, [(r.value, r.participant) for r in one.ratings])
            for one in rated_of(suite).sentences
        ]
    said = " ".join(map(repr, loaded.reading.table.unused))
    return (texts, predictions, rated, suite.factors, suite.cluster, suite.region_names), said


def numbered(low, high):
    return st.lists(st.integers(low, high).map(str), min_size=N_ROWS, max_size=N_ROWS)


def decimals(low, high):
    values = st.floats(low, high, allow_nan=False).map(lambda value: f"{value:.4f}")
    return st.lists(values, min_size=N_ROWS, max_size=N_ROWS)


OTHERS = {
    "uid": st.integers(1, 10_000).map(lambda n: [str(n + k) for k in range(N_ROWS)]),
    "list": st.just(["1", "1", "2", "2", "3", "3", "4", "4"]),
    "frequency": numbered(0, 90_000),
    "length": numbered(4, 6),
    "surprisal": decimals(0, 40),
    "good_score": decimals(1, 7),
    "age": numbered(18, 80),
    "date": st.lists(st.dates().map(lambda day: day.isoformat()), min_size=N_ROWS, max_size=N_ROWS),
    "time": st.lists(
        st.times().map(lambda time: time.strftime("%H:%M")), min_size=N_ROWS, max_size=N_ROWS
    ),
    "mean RT": decimals(200, 900),
}
COLUMNS = st.sampled_from(sorted(OTHERS)).flatmap(
    lambda name: st.tuples(st.just(name), OTHERS[name])
)

TABLES = {
    "pairs": (("item", "good", "bad"), [(n, *pair) for n, pair in enumerate(PAIRS, start=1)]),
    "pairs by level": (
        ("item", "good singular", "bad singular", "good plural", "bad plural"),
        [(n, *pair, *pair[::-1]) for n, pair in enumerate(PAIRS, start=1)],
    ),
    "prefixes": (
        ("prefix", "good_continuation", "bad_continuation"),
        [(good.rpartition(" ")[0], good.split()[-1], bad.split()[-1]) for good, bad in PAIRS],
    ),
    "judged": (
        ("item", "sentence", "accettabilità"),
        [(n // 2 + 1, PAIRS[n // 2][n % 2], ("sì", "no")[n % 2]) for n in range(N_ROWS)],
    ),
    "means": (
        ("item", "sentence", "mean rating", "sd"),
        [(n, good, f"{1 + n * 0.6:.1f}", "0.5") for n, (good, _) in enumerate(PAIRS)],
    ),
    "people": (
        ("sentence", "P1", "P2", "P3"),
        [(good, 1 + n % 7, 1 + (n + 3) % 7, 4) for n, (good, _) in enumerate(PAIRS)],
    ),
    "raters beside their mean": (
        ("sentence", "anna", "bruno", "rating"),
        [
            (good, 1 + n % 5, 2 + n % 4, (3 + n % 5 + n % 4) / 2)
            for n, (good, _) in enumerate(PAIRS)
        ],
    ),
    "answers": (
        ("subject", "sentence", "rating"),
        [(f"A{n % 2}", PAIRS[n // 2][0], (6, 5, 2, 1, 4, 3, 7, 5)[n]) for n in range(N_ROWS)],
    ),
    "labels": (
        ("sentence", "label"),
        [(PAIRS[n][n % 2], 1 - n % 2) for n in range(N_ROWS)],
    ),
    "conditions": (
        ("item", "condition", "sentence"),
        [(n // 2, ("good", "bad")[n % 2], PAIRS[n // 2][n % 2]) for n in range(N_ROWS)],
    ),
    "crossed": (
        ("item", "distance", "island", "sentence"),
        [
            (n // 4, ("short", "long")[n % 2], ("whether", "that")[n // 2 % 2], PAIRS[n][0])
            for n in range(N_ROWS)
        ],
    ),
    "cells": (
        ("item", "short_nonisland", "long_nonisland", "short_island", "long_island"),
        [(n, *pair, *pair[::-1]) for n, pair in enumerate(PAIRS)],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
@settings(deadline=None, max_examples=12)
@given(data=st.data())
def test_a_column_of_numbers_or_dates_changes_nothing_and_is_named(name, data):
    header, rows = TABLES[name]
    other, cells = data.draw(COLUMNS)
    place = data.draw(st.integers(0, len(header)))
    more = [(*row[:place], cell, *row[place:]) for row, cell in zip(rows, cells, strict=True)]
    with TemporaryDirectory() as folder:
        before, _ = contents(written(Path(folder), header, rows))
        named = (*header[:place], other, *header[place:])
        after, said = contents(written(Path(folder), named, more))
    assert after == before
    assert repr(other) in said


NUMBERS = st.sampled_from(
    [numbered(0, 9_999), decimals(-5, 40), OTHERS["date"], OTHERS["time"], OTHERS["uid"]]
).flatmap(lambda cells: cells)
SENTENCES = {
    "pairs": ("good", "bad"),
    "pairs by level": ("good singular", "bad plural"),
    "prefixes": ("prefix", "good_continuation", "bad_continuation"),
    "judged": ("sentence",), "means": ("sentence",), "people": ("sentence",),
    "answers": ("sentence",), "labels": ("sentence",), "conditions": ("sentence",),
    "cells": ("short_island",),
}  # fmt: skip


@pytest.mark.parametrize("name", SENTENCES)
@settings(deadline=None, max_examples=8)
@given(data=st.data())
def test_numbers_and_dates_in_the_place_of_sentences_are_never_read_as_sentences(name, data):
    header, rows = TABLES[name]
    column = data.draw(st.sampled_from(SENTENCES[name]))
    cells = data.draw(NUMBERS)
    place = header.index(column)
    more = [(*row[:place], cell, *row[place + 1 :]) for row, cell in zip(rows, cells, strict=True)]
    with TemporaryDirectory() as folder:
        path = written(Path(folder), header, more)
        try:
            suite = load_suite(path, language="it").suite
        except CimentoError:
            return
        texts = {sentence(condition, rule=suite.join) for _, condition in suite.stimuli()}
    assert texts.isdisjoint(cells)


@settings(deadline=None, max_examples=15)
@given(st.sampled_from(["date", "time", "uid"]).flatmap(OTHERS.__getitem__))
def test_dates_and_numbers_of_rows_in_the_place_of_ratings_are_refused(cells):
    rows = [(good, cell) for (good, _), cell in zip(PAIRS, cells, strict=True)]
    with TemporaryDirectory() as folder:
        path = written(Path(folder), ("sentence", "rating"), rows)
        with pytest.raises(SuiteError) as error:
            load_suite(path, language="it")
    assert {fault.code for fault in error.value.faults} == {"CIM-S081"}


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False, width=32) | st.integers(-(10**9), 10**9))
def test_every_number_that_python_writes_is_one(value):
    assert number_of(str(value)) == float(str(value))


@settings(deadline=None)
@given(st.dates(), st.times(), st.sampled_from(["%Y-%m-%d", "%d/%m/%Y", "%d.%m.%y", "%d %B %Y"]))
def test_every_date_is_one_with_a_time_and_without(day, time, form):
    text = day.replace(year=1000 + day.year % 9000).strftime(form)
    assert is_moment(text)
    assert is_moment(f"{text} {time.strftime('%H:%M:%S')}")
    assert number_of(text) is None


@settings(deadline=None)
@given(st.text(string.ascii_letters + " .", min_size=1))
def test_no_text_of_letters_is_a_number_or_a_date(text):
    assert number_of(text) is None
    assert not is_moment(text)


def test_words_such_as_na_and_numbers_among_words_stay_words(tmp_path):
    rows = [("NA", "NaN"), ("null", "None"), ("007", "Agente 007."), ("Piove.", "Piovono.")]
    suite = load_suite(written(tmp_path, ("good", "bad"), rows), language="it").suite
    assert [tuple(sentence(c) for c in item.conditions) for item in suite.items] == rows


def test_the_kinds_of_columns():
    assert profile(["1", "2", "3"]).numbers_rows
    assert profile(["1", "1", "2", "2"]).counts
    assert not profile(["4", "4", "4"]).counts
    assert profile(["1,5", "2", "NA", ""]).kind == "numbers"
    assert profile(["NA", "", "null"]).kind == "nothing"
    assert profile(["sì", "no", "sì"]).two == ("sì", "no")


def test_a_context_that_is_no_whole_sentence_is_read_before_both_sides_of_a_pair(tmp_path):
    rows = [
        ("Il cuoco ha tagliato il", "pane.", "brodo."),
        ("La pilota ha guidato l'", "aereo.", "arco."),
    ]
    loaded = load_suite(written(tmp_path, ("contesto", "good_ending", "bad_ending"), rows))
    assert [sentence(c) for _, c in loaded.suite.stimuli()][:2] == [
        "Il cuoco ha tagliato il pane.", "Il cuoco ha tagliato il brodo.",
    ]  # fmt: skip
    assert loaded.suite.predictions[0].formula == "(2;%good%) < (2;%bad%)"
    assert any("'contesto' is read as the beginning" in f.seen for f in loaded.reading.faults)


def test_a_context_that_is_a_whole_sentence_is_named_and_stays_apart(tmp_path):
    rows = [
        ("Che cosa fa?", "Il cane dorme.", "Il cane dormono."),
        ("E poi?", "Piove.", "Piovono."),
    ]
    loaded = load_suite(written(tmp_path, ("context", "good", "bad"), rows), language="it")
    assert sentence(loaded.suite.items[0].condition("good")) == "Il cane dorme."
    assert "CIM-S068" in {fault.code for fault in loaded.reading.faults}


def test_a_prefix_beside_pairs_of_json_lines_is_read_too(tmp_path):
    path = tmp_path / "pairs.jsonl"
    rows = [
        {"prefix": "Il cuoco taglia il", "sentence_good": "pane.", "sentence_bad": "brodo."},
        {"prefix": "La zia legge il", "sentence_good": "libro.", "sentence_bad": "sole."},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    suite = load_suite(path, language="it").suite
    assert sentence(suite.items[1].condition("bad")) == "La zia legge il sole."


# The forms that the documentation of pandas' DataFrame.to_json gives for its argument orient.
FRAMES = {
    "columns": '{"sentence_good":{"0":"Piove.","1":"Il cane dorme."},'
    '"sentence_bad":{"0":"Piovono.","1":"Il cane dormono."}}',
    "index": '{"0":{"sentence_good":"Piove.","sentence_bad":"Piovono."},'
    '"1":{"sentence_good":"Il cane dorme.","sentence_bad":"Il cane dormono."}}',
    "split": '{"columns":["sentence_good","sentence_bad"],"index":[0,1],'
    '"data":[["Piove.","Piovono."],["Il cane dorme.","Il cane dormono."]]}',
    "records": '[{"sentence_good":"Piove.","sentence_bad":"Piovono."},'
    '{"sentence_good":"Il cane dorme.","sentence_bad":"Il cane dormono."}]',
}


@pytest.mark.parametrize("orient", FRAMES)
def test_a_data_frame_in_json_is_the_table_that_it_is(tmp_path, orient):
    path = tmp_path / "frame.json"
    path.write_text(FRAMES[orient], encoding="utf-8")
    suite = load_suite(path, language="it").suite
    assert [sentence(condition) for _, condition in suite.stimuli()] == [
        "Piove.", "Piovono.", "Il cane dorme.", "Il cane dormono.",
    ]  # fmt: skip


@pytest.mark.parametrize("value", ['{"a": 1}', '["Piove."]', "true", "7", "[]"])
@pytest.mark.parametrize("header", [("sentence_good", "sentence_bad"), ("sentence", "rating")])
def test_a_value_of_json_that_is_no_text_is_no_sentence(tmp_path, value, header):
    first, second = header
    other = '"Piovono."' if second != "rating" else "3"
    lines = [f'{{"{first}": "Piove {n}.", "{second}": {other}}}' for n in range(3)]
    lines.insert(1, f'{{"{first}": {value}, "{second}": {other}}}')
    path = tmp_path / "pairs.json"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(SuiteError) as error:
        load_suite(path, language="it")
    [fault] = [fault for fault in error.value.faults if fault.severity == "error"]
    assert (fault.code, fault.where) == ("CIM-S083", "pairs.json row 3")


def test_json_lines_in_a_json_file_are_lines_whatever_their_keys(tmp_path):
    path = tmp_path / "labels.json"
    lines = [f'{{"uid": {n}, "label": {1 - n % 2}, "sentence": "Piove {n}."}}' for n in range(4)]
    path.write_text("\n".join(lines), encoding="utf-8")
    rated = rated_of(load_suite(path, language="it").suite)
    assert [one.mean for one in rated.sentences] == [1, 0, 1, 0]
    path.write_text('{"a": "x", "b": 1}\n{"a": "y", "b": 2}\n', encoding="utf-8")
    with pytest.raises(InputError, match="is a table with the columns a, b"):
        detect_format(path)
    path.write_text('{"a": "x",\n "a": "y"}\n', encoding="utf-8")
    with pytest.raises(CimentoError, match="'a' is there twice"):
        load_suite(path)


def test_labels_are_one_for_good_and_zero_for_bad_and_other_numbers_are_named(tmp_path):
    sentences = ("Piove.", "Piovono.", "Il cane dorme.", "Dormo.")
    rows = [(n, text, int(n != 1), 2 * int(n == 1)) for n, text in enumerate(sentences)]
    loaded = load_suite(written(tmp_path, ("id", "sentence", "acceptable", "error_type"), rows))
    rated = rated_of(loaded.suite)
    assert [one.mean for one in rated.sentences] == [1, 0, 1, 1]
    assert (rated.scale.low, rated.scale.high) == (0, 1)
    said = [fault.seen for fault in loaded.reading.faults]
    assert any("'acceptable' is read as the label" in text for text in said)
    assert loaded.reading.table.unused == ("error_type",)


def test_a_column_that_asks_what_is_wrong_is_a_label_the_other_way_round(tmp_path):
    rows = [("Piove.", 0), ("Piovono.", 1), ("Il cane dorme.", 0)]
    loaded = load_suite(written(tmp_path, ("sentence", "ungrammatical"), rows), language="it")
    assert [one.mean for one in rated_of(loaded.suite).sentences] == [1, 0, 1]


@pytest.mark.parametrize(
    "header",
    [("Frase", "Media", "DS", "n"), ("sentence", "mean_rating", "sd_rating", "n"),
     ("sentence", "rating.mean", "rating.sd", "N")],
)  # fmt: skip
def test_means_stand_beside_their_standard_deviations_and_numbers(tmp_path, header):
    rows = [("Piove.", "6,4", "0,8", 20), ("Piovono.", "2,1", "1,0", 19)]
    rated = rated_of(load_suite(written(tmp_path, header, rows), language="it").suite)
    assert [(one.mean, one.sd, one.n) for one in rated.sentences] == [
        (6.4, 0.8, 20),
        (2.1, 1.0, 19),
    ]


def test_what_cannot_be_a_standard_deviation_is_named_as_not_used(tmp_path):
    rows = [("Piove.", "6.4", "412"), ("Piovono.", "2.1", "389")]
    loaded = load_suite(written(tmp_path, ("sentence", "rating", "sd"), rows), language="it")
    assert [one.sd for one in rated_of(loaded.suite).sentences] == [None, None]
    assert loaded.reading.table.unused == ("sd",)


def test_na_is_an_empty_cell_in_ratings_of_every_form(tmp_path):
    wide = [("Piove.", 7, "NA", 6), ("Piovono.", "NA", 1, 2), ("Dormo.", 5, 5, "NA")]
    rated = rated_of(load_suite(written(tmp_path, ("sentence", "P1", "P2", "P3"), wide)).suite)
    assert [one.n for one in rated.sentences] == [2, 2, 2]
    assert [r.participant for r in rated.sentences[1].ratings] == ["P2", "P3"]
    long = [(text, f"A{k}", cell) for text, *cells in wide for k, cell in enumerate(cells)]
    rated = rated_of(load_suite(written(tmp_path, ("sentence", "subject", "rating"), long)).suite)
    assert [one.mean for one in rated.sentences] == [6.5, 1.5, 5]
    joined = [(text, "; ".join(map(str, cells)), "A; B; C") for text, *cells in wide]
    path = written(tmp_path, ("sentence", "ratings", "participants"), joined)
    rated = rated_of(load_suite(path).suite)
    assert [[r.participant for r in one.ratings] for one in rated.sentences] == [
        ["A", "C"], ["B", "C"], ["A", "B"],
    ]  # fmt: skip


def test_na_in_a_column_of_numbers_beside_pairs_is_an_empty_cell(tmp_path):
    rows = [("Piove.", "Piovono.", "3.1", "NA"), ("Dormo.", "Dormi.", "NA", "x")]
    suite = load_suite(written(tmp_path, ("good", "bad", "freq", "note"), rows)).suite
    columns = [item.condition("good").columns for item in suite.items]
    assert ["freq" in cells for cells in columns] == [True, False]
    assert [cells["note"] for cells in columns] == ["NA", "x"]


def test_pairs_are_told_by_what_is_expected(tmp_path):
    header = ("sentid", "pairid", "contextid", "condition", "comparison", "sentence", "ROI")
    rows = [
        (1, 1, 1, "sing", "expected", "The boy is here.", 3),
        (2, 1, 1, "sing", "unexpected", "The boy are here.", 3),
        (3, 2, 1, "plur", "expected", "The boys are here.", 3),
        (4, 2, 1, "plur", "unexpected", "The boys is here.", 3),
    ]
    loaded = load_suite(written(tmp_path, header, rows), language="en")
    assert sentence(loaded.suite.items[1].condition("bad")) == "The boys is here."
    assert loaded.reading.table.unused == ("sentid", "contextid", "condition", "ROI")


@pytest.mark.parametrize(
    "column", ["pairid", "ROI", "ItemNum", "age", "surprisal", "probability", "freq"]
)
def test_advice_takes_no_measure_for_a_person(tmp_path, column):
    rows = [(good, n % 5, 7 - n % 3) for n, (good, _) in enumerate(PAIRS)]
    with pytest.raises(InputError) as error:
        detect_format(written(tmp_path, ("Stimolo", column, "contextid"), rows))
    assert "one person each" not in error.value.todo
    assert column not in error.value.todo


def test_words_that_are_there_for_each_of_several_models_are_refused(tmp_path):
    header = ("", "sent_index", "word_index", "word", "region", "condition", "surprisal", "model")
    words = [(0, "I", "Prefix"), (1, "sleep", "Verb")]
    rows = [
        (n, 0, n, word, region, "gap", 1.5, model) for n, word, region in words for model in "ab"
    ]
    with pytest.raises(SuiteError) as error:
        load_suite(written(tmp_path, header, rows), language="en")
    [fault] = [fault for fault in error.value.faults if fault.severity == "error"]
    assert fault.code == "CIM-S011"
    assert "'model'" in fault.todo


CENTRAL = {
    "pl": [("Książka leży na stole.", "Książka leżą na stole."), ("Źrebię śpi.", "Źrebię śpią.")],
    "cs": [("Kůň běží rychle.", "Kůň běžíš rychle."), ("Žena čte.", "Žena čtou.")],
    "sk": [("Ľudia čítajú.", "Ľudia číta."), ("Kôň beží.", "Kôň bežia.")],
    "hu": [("A lány könyvet olvas.", "A lány könyvet olvasok."), ("Őz fut.", "Őz futnak.")],
    "sl": [("Žena čaka.", "Žena čakajo."), ("Šola stoji.", "Šola stojijo.")],
    "hr": [("Čovjek šeće.", "Čovjek šeću."), ("Đak uči.", "Đak uče.")],
    "ro": [("Băiatul mănâncă.", "Băiatul mănânci."), ("Fata citeşte.", "Fata citeşti.")],
}


@pytest.mark.parametrize("language", CENTRAL)
def test_tables_of_central_europe_are_read_in_the_encoding_of_their_excel(tmp_path, language):
    path = tmp_path / "pairs.csv"
    lines = "".join(f"{good};{bad}\r\n" for good, bad in CENTRAL[language])
    path.write_bytes(f"good;bad\r\n{lines}".encode("cp1250"))
    loaded = load_suite(path, language=language)
    read = [tuple(sentence(c) for c in item.conditions) for item in loaded.suite.items]
    assert read == CENTRAL[language]
    assert any("read as cp1250" in fault.seen for fault in loaded.reading.faults)


@pytest.mark.parametrize("language", ["", "it", "fr", "pl"])
def test_other_encodings_are_read_as_before(tmp_path, language):
    path = tmp_path / "pairs.csv"
    path.write_bytes("good;bad\r\nLa città è bella.;La città è belli.\r\n".encode("cp1252"))
    loaded = load_suite(path, language=language)
    assert sentence(loaded.suite.items[0].condition("good")) == "La città è bella."


def test_a_legend_below_a_table_with_headings_is_no_part_of_it(tmp_path):
    rows = [
        (1, "La torta, l'ha mangiata Gianni.", "La torta, l'ha mangiato Gianni.", ""),
        ("Participi", "", "", ""),
        (2, "Le chiavi le ho perse.", "Le chiavi le ho perso.", ""),
        (3, "Li ho visti tutti.", "Li ho visto tutti.", ""),
        ("", "", "", ""),
        ("", "", "", "* = agrammaticale"),
    ]
    loaded = load_suite(written(tmp_path, ("item", "good", "bad", "note"), rows), language="it")
    assert [item.id for item in loaded.suite.items] == ["1", "2", "3"]
    assert {fault.code for fault in loaded.reading.faults} == {"CIM-S009"}


def test_a_quotation_mark_alone_in_running_text_between_tabs_is_text(tmp_path):
    rows = [
        ('"Piove, disse.', '"Piovono, disse.'),
        ("Rido.", "Ridi."),
        ('"Canto ""bene""."', "x"),
    ]
    loaded = load_suite(written(tmp_path, ("good", "bad"), rows, "pairs.txt"), language="it")
    texts = [sentence(condition) for _, condition in loaded.suite.stimuli()]
    assert texts == ['"Piove, disse.', '"Piovono, disse.', "Rido.", "Ridi.", 'Canto "bene".', "x"]
    assert [f.where for f in loaded.reading.faults if f.code == "CIM-S084"] == ["pairs.txt row 2"]


def test_two_quotation_marks_left_open_do_not_swallow_the_rows_between(tmp_path):
    rows = [
        ('"Piove.', "Piovono."),
        ("Dormo.", "Dormi."),
        ("Canto.", '"Canti.'),
        ("Rido.", "Ridi."),
    ]
    loaded = load_suite(written(tmp_path, ("bad", "good"), rows, "pairs.txt"), language="it")
    assert len(loaded.suite.items) == len(rows)
    assert "CIM-S084" in {fault.code for fault in loaded.reading.faults}


def test_a_cell_of_two_lines_that_a_program_quoted_is_one_cell(tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text('good\tbad\tnotes\nPiove.\tPiovono.\t"due\nrighe"\nDormo.\tDormi.\t\n', "utf-8")
    loaded = load_suite(path, language="it")
    assert len(loaded.suite.items) == 2
    assert "CIM-S084" not in {fault.code for fault in loaded.reading.faults}


def test_reading_times_of_people_are_no_ratings(tmp_path):
    rows = [("La zia parte.", 350, 420), ("Il gatto dorme.", 380, 410)]
    with pytest.raises(InputError) as error:
        detect_format(written(tmp_path, ("Oración", "P1", "P2"), rows))
    assert "one person each" not in error.value.todo
