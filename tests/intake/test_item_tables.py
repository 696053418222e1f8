"""Tables of designs and regions, by rows and by columns: properties as for pairs and ratings."""

from __future__ import annotations

from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cimento import CimentoError, SuiteError, load_suite
from cimento.intake.words import HEADERS, NAMES
from cimento.suites import sentence
from cimento.suites.ratings import rated_of
from tests.intake.test_tables import FILLINGS, N_ROWS, NAMED, OTHERS, contents, written

CONDITIONS = ("breve_matrice", "breve_isola", "lunga_matrice", "lunga_isola")
VERBS = ("legge", "vede", "cerca", "trova", "prende", "porta", "lascia", "perde")
TEXTS = [f"Lo zio {verb} già il libro." for verb in VERBS]
SHAPES = {
    "conditions in rows": {
        "item": ["1"] * 4 + ["2"] * 4,
        "condition": [*CONDITIONS] * 2,
        "sentence": TEXTS,
    },
    "levels in rows": {
        "item": ["1"] * 4 + ["2"] * 4,
        "Distanza": ["breve", "breve", "lunga", "lunga"] * 2,
        "Struttura": ["matrice", "isola"] * 4,
        "sentence": TEXTS,
    },
    "items by their cells": {
        "cornice": ["c1", "c1", "c2", "c2", "c3", "c3", "c4", "c4"],
        "condition": ["a", "b"] * 4,
        "sentence": TEXTS,
    },
    "another factor": {
        "item": ["1"] * 4 + ["2"] * 4,
        "condition": ["a", "a", "b", "b"] * 2,
        "forma": ["intera", "ridotta"] * 4,
        "sentence": TEXTS,
    },
    "conditions in columns": {
        "item": [str(number) for number in range(1, N_ROWS + 1)],
        **{name: [f"{text[:-1]} {place}." for text in TEXTS]
           for name, place in zip(CONDITIONS, ("qui", "lì", "giù", "su"), strict=True)},
    },
    "regions in columns": {
        "item": [str(number // 2) for number in range(N_ROWS)],
        "condition": ["a", "b"] * 4,
        "Zona 1": ["Lo zio"] * N_ROWS,
        "Zona 2": [*VERBS],
        "Zona 3": ["già il libro."] * N_ROWS,
    },
    "words in columns": {
        "item": [str(number // 2) for number in range(N_ROWS)],
        "condition": ["a", "b"] * 4,
        "Zona 1": ["Piove."] * N_ROWS,
        "Zona 2": ["Luca"] * N_ROWS,
        "Zona 3": [*VERBS],
        "Zona 4": ["sempre."] * N_ROWS,
    },
    "regions in rows": {
        "item": ["1"] * 4 + ["2"] * 4,
        "condition": ["a", "a", "b", "b"] * 2,
        "region": ["1", "2"] * 4,
        "content": [part for text in TEXTS[:4] for part in (text[:6], text[7:])],
    },
    "context and targets": {
        "item": [str(number) for number in range(1, N_ROWS + 1)],
        "context": [f"Lo zio ieri {verb} il suo" for verb in VERBS],
        "target": ["libro", "quadro", "cane", "posto", "treno", "pacco", "lavoro", "gatto"],
        "vicino": ["giornale", "disegno", "gatto", "tavolo", "tram", "libro", "ufficio", "cane"],
        "lontano": ["fiume", "odore", "martedì", "colore", "mento", "cielo", "lampo", "ieri"],
    },
    "choice with a key": {
        "item": [str(number) for number in range(1, N_ROWS + 1)],
        "context": [f"Lo zio ieri {verb} il suo" for verb in VERBS],
        "A": ["libro", "odore", "cane", "colore", "treno", "pacco", "lampo", "gatto"],
        "B": ["fiume", "quadro", "martedì", "posto", "mento", "cielo", "lavoro", "ieri"],
        "key": ["A", "B", "A", "B", "A", "A", "B", "A"],
    },
    "one target after two contexts": {
        "item": [f"{number}-{letter}" for number in range(7, 11) for letter in "ab"],
        "context": [f"Si sa quale gatto il cane {verb} e poi ha" for verb in VERBS],
        "exp_cloze": ["0.5", "0.3"] * 4,
        "target": [word for word in ("visto", "morso", "perso", "preso") for _ in range(2)],
        "tgt_cloze": ["0.5", "0.1", "0", "0.25", "0.4", "0.3", "1", "0"],
    },
    "contexts crossed with targets": {
        "item": [str(number) for number in range(1, N_ROWS + 1)],
        "context_si": [f"Lo zio {verb} il" for verb in VERBS],
        "context_no": [f"Lo zio non {verb} il" for verb in VERBS],
        "target_si": ["libro"] * N_ROWS,
        "target_no": ["fiume"] * N_ROWS,
    },
}  # fmt: skip
CALLED = {
    "levels in rows": "conditions in rows",
    "items by their cells": "conditions in rows",
    "another factor": "conditions in rows",
    "words in columns": "regions in columns",
}
NAMES_OF = NAMED | {
    "cornice": ["cornice", "SentenceFrame", "story_id"],
    "condition": sorted({"condition", *HEADERS["condition"]}),
    "region": sorted({"region", *NAMES["region"]}),
    "content": sorted({"content", *NAMES["content"]} - {*HEADERS["sentence"]}),
    "context": sorted({"context", *NAMES["context"]}),
    "key": sorted({"key", *NAMES["key"]}),
    "target": sorted({"target", "expected", *HEADERS["target"]}),
}


def in_order(shape):
    """Whether the order of the columns means something: that of regions and factors does."""
    return shape in ("regions in columns", "words in columns", "levels in rows", "another factor")


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@settings(deadline=None)
@given(data=st.data())
def test_a_table_in_any_layout_is_read_as_it_was(shape, data):
    columns = SHAPES[shape]
    order = list(columns) if in_order(shape) else data.draw(st.permutations(list(columns)))
    known = {} if shape == "one target after two contexts" else NAMES_OF  # by its published names
    names = {role: data.draw(st.sampled_from(known.get(role, [role]))) for role in order}
    assume(len({name.casefold() for name in names.values()}) == len(names))
    laid_out = {names[role]: columns[role] for role in order}
    separator = data.draw(st.sampled_from("\t,;"))
    above = data.draw(st.sampled_from([(), ("Materiali del secondo esperimento",)]))
    with TemporaryDirectory() as folder:
        expected, _ = contents(written(folder, columns))
        found, table = contents(written(folder, laid_out, separator=separator, above=above))
    assert [sorted(part) for part in found] == [sorted(part) for part in expected]
    assert table.shape == CALLED.get(shape, shape)
    assert {row for row, _ in table.left_out} == ({1} if above else set())


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@settings(deadline=None)
@given(data=st.data())
def test_columns_of_anything_else_change_nothing_and_every_column_is_accounted_for(shape, data):
    both = list(SHAPES[shape].items())
    for other in data.draw(st.lists(st.sampled_from(sorted(OTHERS)), max_size=3, unique=True)):
        both.insert(data.draw(st.integers(0, len(both))), (other, OTHERS[other]))
    with TemporaryDirectory() as folder:
        expected, before = contents(written(folder, SHAPES[shape]))
        found, table = contents(written(folder, dict(both)))
    assert found == expected
    assert table.roles == before.roles
    in_roles = [name for several in table.roles.values() for name in several]
    assert sorted([*in_roles, *table.unused]) == sorted(name for name, _ in both)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "regions in rows"])
@settings(deadline=None)
@given(data=st.data())
def test_rows_in_another_order_give_the_same_items_in_that_order(shape, data):
    columns = SHAPES[shape]
    order = data.draw(st.permutations(range(N_ROWS)))
    with TemporaryDirectory() as folder:
        (texts, _, formulas), _ = contents(written(folder, columns))
        mixed = {name: [cells[row] for row in order] for name, cells in columns.items()}
        (mixed_texts, _, mixed_formulas), _ = contents(written(folder, mixed))
    assert sorted(mixed_texts) == sorted(texts)
    assert sorted(mixed_formulas) == sorted(formulas)


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "role"), [(s, role) for s in SHAPES for role in SHAPES[s]])
def test_no_column_has_a_role_that_its_cells_do_not_fit(shape, role):
    for kind, cells in FILLINGS.items():
        if kind == "codes" and role in ("item", "condition", "region", "Distanza", "forma"):
            continue  # codes name these
        with TemporaryDirectory() as folder:
            try:
                _, table = contents(written(folder, {**SHAPES[shape], role: cells}))
            except CimentoError:
                continue
        named = {name for names in table.roles.values() for name in names}
        assert role not in named, (kind, table.said())


def test_regions_are_chosen_by_number_where_nothing_says_which_columns_they_are(tmp_path):
    columns = {
        "numero": ["12", "11", "15", "14"],
        "stimolo": ["1", "1", "2", "2"],
        "tipo": ["a", "b"] * 2,
        "inizio": ["Anna", "Luca"] * 2,
        "autore": ["Gianni", "Piero"] * 2,
        "fine": ["dorme qui.", "dormono qui."] * 2,
    }
    path = written(tmp_path, columns)
    with pytest.raises(CimentoError):
        load_suite(path, language="it")
    chosen = {"item": "stimolo", "condition": "tipo", "region1": "inizio", "region2": "fine"}
    loaded = load_suite(path, language="it", columns=chosen)
    assert loaded.suite.items[0].conditions[1].regions[1].text == "dormono qui."
    assert loaded.reading.table.unused == ("numero", "autore")
    with pytest.raises(SuiteError, match="holds numbers"):
        load_suite(path, language="it", columns={**chosen, "region2": "numero"})


def test_regions_stand_between_other_columns_of_numbers_and_words(tmp_path):
    columns = {
        "item": ["1", "1", "2", "2"],
        "condition": ["a", "b"] * 2,
        "fonte": ["rossi 2001"] * 4,
        "R1": ["La zia", "Le zie"] * 2,
        "RT1": ["300", "312", "298", "334"],
        "R2": ["canta bene."] * 4,
        "RT2": ["412", "398", "365", "377"],
        "nota": ["", "dubbia", "", ""],
    }
    loaded = load_suite(written(tmp_path, columns), language="it")
    table = loaded.reading.table
    assert table.roles["regions"] == ("R1", "R2")
    assert table.unused == ("fonte", "RT1", "RT2", "nota")


def test_a_suite_folder_says_what_its_table_was_read_as(tmp_path):
    (tmp_path / "suite.toml").write_text(
        '[meta]\nname = "s"\nlanguage = "it"\n[factors]\nverbo = ["x", "y"]\n', encoding="utf-8"
    )
    (tmp_path / "items.tsv").write_text(
        "item\tcondition\ttext\tverbo\tnota\n1\ta\tPiove.\tx\tb\n1\tb\tPiovono.\ty\tb\n",
        encoding="utf-8",
    )
    assert load_suite(tmp_path).reading.table.said() == (
        'Read as conditions in rows: item = "item", condition = "condition", sentence = "text",'
        ' factors = "verbo"; 1 item; kept, not scored: "nota".'
    )


def test_a_described_suite_of_ratings_names_its_ratings_whatever_their_column_is_called(tmp_path):
    (tmp_path / "suite.toml").write_text(
        'kind = "acceptability"\nregions = ["sentence"]\n[meta]\nname = "s"\nlanguage = "it"\n'
        "[ratings]\nlow = 1\nhigh = 7\n",
        encoding="utf-8",
    )
    (tmp_path / "items.tsv").write_text(
        "item\tcondition\ttext\tMedia\tfonte\n1\tsentence\tPiove.\t6,2\ta\n", encoding="utf-8"
    )
    loaded = load_suite(tmp_path)
    assert loaded.reading.table.said() == (
        'Read as ratings: item = "item", condition = "condition", sentence = "text",'
        ' rating = "Media"; 1 item; kept, not scored: "fonte".'
    )
    assert rated_of(loaded.suite).sentences[0].mean == 6.2


def test_contexts_with_words_to_choose_from_are_refused_with_their_rows(tmp_path):
    columns = {name: list(cells) for name, cells in SHAPES["contexts crossed with targets"].items()}
    columns["context_si"][2] = "Lo zio cerca (il|lo)"
    with pytest.raises(SuiteError, match=r"row 4: 'context_si' has words to choose from"):
        load_suite(written(tmp_path, columns), language="it")


def test_the_context_that_people_continue_with_the_target_is_the_expected_one(tmp_path):
    loaded = load_suite(written(tmp_path, SHAPES["one target after two contexts"]), language="it")
    suite = loaded.suite
    assert [item.id for item in suite.items] == ["7", "8", "9", "10"]
    texts = [sentence(item.conditions[0]) for item in suite.items]
    assert [text.split()[6] for text in texts] == ["legge", "trova", "prende", "lascia"]
    columns = dict(SHAPES["one target after two contexts"])
    columns["tgt_cloze"] = ["0.5", "0.5", *columns["tgt_cloze"][2:]]
    with pytest.raises(SuiteError, match="Item '7' has no two contexts"):
        load_suite(written(tmp_path, columns), language="it")


def test_an_open_article_is_the_one_that_each_target_needs(tmp_path):
    columns = {
        "item": ["1", "2"],
        "context_aff": ["A pine is (a|an)", "A crow is (a|an)"],
        "context_neg": ["A pine is not (a|an)", "A crow is not (a|an)"],
        "target_aff": ["evergreen", "bird"],
        "target_neg": ["fish", "insect"],
    }
    loaded = load_suite(written(tmp_path, columns), language="en")
    texts = [[sentence(one) for one in item.conditions] for item in loaded.suite.items]
    assert texts[0][:2] == ["A pine is an evergreen", "A pine is not an evergreen"]
    assert texts[1][2:] == ["A crow is an insect", "A crow is not an insect"]
    assert "CIM-S065" in {fault.code for fault in loaded.reading.faults}
    for doubtful in ("hour", "union", "European", "NGO"):
        columns["target_neg"] = ["fish", doubtful]
        with pytest.raises(SuiteError, match=r"row 3: 'context_aff' has words to choose from"):
            load_suite(written(tmp_path, columns), language="en")


def test_three_options_are_put_in_order_by_their_key(tmp_path):
    columns = {
        "A": ["Dormo io.", "Dormo tu.", "Dormono noi."],
        "B": ["Dorme io.", "Dormi tu.", "Dormite noi."],
        "C": ["Dormono io.", "Dormite tu.", "Dormiamo noi."],
        "risposta": ["A", "B", "C"],
    }
    loaded = load_suite(written(tmp_path, columns), language="it")
    texts = [[c.regions[0].text for c in item.conditions] for item in loaded.suite.items]
    assert texts[1] == ["Dormi tu.", "Dormo tu.", "Dormite tu."]
    assert loaded.reading.table.roles["options"] == ("A", "B", "C")
    columns["risposta"][1] = "D"
    with pytest.raises(SuiteError, match=r"row 3: The column 'risposta' has 'd'"):
        load_suite(written(tmp_path, columns), language="it")


def test_columns_named_as_less_expected_count_before_other_words(tmp_path):
    columns = {**SHAPES["context and targets"], "tema": [f"tema{n}x" for n in "abcdefgh"]}
    guessed = load_suite(written(tmp_path, columns), language="it")
    assert guessed.reading.table.roles["others"] == ("vicino", "lontano", "tema")
    assert "CIM-S065" in {fault.code for fault in guessed.reading.faults}
    columns = {"distrattore 1" if n == "vicino" else n: cells for n, cells in columns.items()}
    table = load_suite(written(tmp_path, columns), language="it").reading.table
    assert table.roles["others"] == ("distrattore 1",)
    assert table.unused == ("lontano", "tema")


def test_letters_of_lists_before_regions_are_none(tmp_path):
    columns = {
        "item": ["1", "1", "2", "2"],
        "condition": ["a", "b"] * 2,
        "lista": ["A", "B"] * 2,
        "inizio": ["La zia", "Le zie"] * 2,
        "fine": ["canta bene."] * 4,
    }
    table = load_suite(written(tmp_path, columns), language="it").reading.table
    assert table.roles["regions"] == ("inizio", "fine")


def test_a_word_that_is_the_expected_one_in_half_of_the_rows_is_no_alternative(tmp_path):
    columns = dict(SHAPES["context and targets"])
    expected = columns["target"]
    columns["vicino"] = [word if row % 2 else "altro" for row, word in enumerate(expected)]
    table = load_suite(written(tmp_path, columns), language="it").reading.table
    assert table.roles["others"] == ("lontano",)
    assert table.unused == ("vicino",)


def test_two_columns_that_are_crossed_with_the_conditions_leave_it_open_which_are_the_items(
    tmp_path,
):
    columns = {**SHAPES["items by their cells"], "altro": list("xyyzzwwx")}
    with pytest.raises(CimentoError):
        load_suite(written(tmp_path, columns), language="it")
    columns["altro"] = list("xxyyzzww")  # the same groups
    table = load_suite(written(tmp_path, columns), language="it").reading.table
    assert (table.roles["item"], table.unused) == (("cornice",), ("altro",))


def test_a_number_for_each_row_gives_way_to_the_column_that_groups_the_rows(tmp_path):
    columns = {"item": [str(n) for n in range(N_ROWS)], **SHAPES["items by their cells"]}
    loaded = load_suite(written(tmp_path, columns), language="it")
    assert loaded.reading.table.roles["item"] == ("cornice",)
    assert loaded.reading.table.unused == ("item",)
    assert [len(item.conditions) for item in loaded.suite.items] == [2] * 4


def test_sentences_in_several_lists_count_once_and_their_rows_are_named(tmp_path):
    by_cells = SHAPES["items by their cells"]
    columns = {"item": by_cells["cornice"], **by_cells, "lista": list("1212") * 2}
    del columns["cornice"]
    twice = {name: [*cells, *cells[:2]] for name, cells in columns.items()}
    with pytest.raises(SuiteError, match="CIM-S011"):  # the same rows are a slip
        load_suite(written(tmp_path, twice), language="it")
    twice["lista"][-2:] = ["3", "3"]
    loaded = load_suite(written(tmp_path, twice), language="it")
    assert loaded.reading.table.left_out == ((10, "there already"), (11, "there already"))
    assert len(loaded.suite.items) == 4
    twice["sentence"][-1] = "Lo zio vede il mare."  # another sentence is not a repetition
    with pytest.raises(SuiteError, match="CIM-S011"):
        load_suite(written(tmp_path, twice), language="it")


def test_parts_of_sentences_without_a_mark_at_the_end_are_regions_if_both_ends_are_called_so(
    tmp_path,
):
    columns = {
        "item": ["1", "1", "2", "2"],
        "condition": ["gap", "nogap"] * 2,
        "prefisso": ["Io so"] * 4,
        "legame": ["chi", "che"] * 2,
        "soggetto": ["la zia", "la zia", "il cane", "il cane"],
        "verbo": ["saluta", "saluta", "cerca", "cerca"],
        "fine": ["la mattina", "", "la sera", ""],
        "tema": ["casa", "casa", "via", "via"],
    }
    loaded = load_suite(written(tmp_path, columns), language="it")
    assert loaded.reading.table.roles["regions"] == tuple(columns)[2:-1]
    assert loaded.reading.table.unused == ("tema",)
    assert "CIM-S065" in {fault.code for fault in loaded.reading.faults}
    assert sentence(loaded.suite.items[0].conditions[0]) == "Io so chi la zia saluta la mattina"
    unnamed = {"luogo" if name == "fine" else name: cells for name, cells in columns.items()}
    with pytest.raises(CimentoError):
        load_suite(written(tmp_path, unnamed), language="it")


def test_regions_of_a_script_without_blanks_are_joined_without_them(tmp_path):
    columns = {
        "item": ["1", "1", "2", "2"],
        "condition": ["a", "b"] * 2,
        "Zona 1": ["小狗", "小狗", "小猫", "小猫"],
        "Zona 2": ["跑", "坐"] * 2,
        "Zona 3": ["了三天。"] * 4,
    }
    suite = load_suite(written(tmp_path, columns), language="zh").suite
    assert sentence(suite.items[0].conditions[1], rule=suite.join) == "小狗坐了三天。"


@pytest.mark.slow
@pytest.mark.parametrize("wide", [True, False])
def test_tables_made_to_exhaust_are_refused_before_they_do(tmp_path, wide):
    """2,000 columns of two levels that no two factors explain; 300,000 sentences of one column."""
    if wide:
        levels = [
            ["x" if (row * 7 + n) % 5 < n % 3 + 1 else "y" for row in range(80)]
            for n in range(1998)
        ]
        cells = {f"c{n}": column for n, column in enumerate(levels)}
        columns = {
            "item": [str(n // 4) for n in range(80)],
            "sentence": [f"Piove {n}." for n in range(80)],
        }
        path = written(tmp_path, {**columns, **cells})
    else:
        path = written(tmp_path, {"sentence": [f"Piove {n} giorni." for n in range(300_000)]})
    with pytest.raises(CimentoError) as refused:
        load_suite(path, language="it")
    assert len(str(refused.value)) < 2000
