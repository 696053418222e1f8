"""Readers of factorial suites, Sprouse et al. 2016 among them, designs, and checks of wording."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest

from cimento import Condition, InputError, Item, Meta, Region, Suite, SuiteError, load_suite
from cimento.suites.checks import check_suite
from cimento.suites.design import predictions_of, squares
from cimento.suites.formats.region_rows import merged
from cimento.suites.load import inspect_suite, open_suite
from tests.helpers.suites_on_disk import write

FOUR = {
    "short_nonisland": "Chi pensa che Anna abbia dipinto il muro?",
    "long_nonisland": "Che cosa pensi che Anna abbia dipinto?",
    "short_island": "Chi si chiede se Anna abbia dipinto il muro?",
    "long_island": "Che cosa ti chiedi se Anna abbia dipinto?",
}
OTHER = {key: value.replace("Anna", "Piero") for key, value in FOUR.items()}


def lines(*records) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def codes(path) -> set[str]:
    return {fault.code for fault in inspect_suite(path)[1]}


def test_four_sentences_a_line_make_a_two_by_two_design(tmp_path):
    path = write(tmp_path / "se.jsonl", lines({"item": 7, **FOUR}, {"item": 9, **OTHER}))
    loaded = open_suite(path)
    suite = loaded.suite
    assert loaded.format == "factorial"
    assert [item.id for item in suite.items] == ["7", "9"]
    assert dict(suite.factors) == {
        "distance": ("short", "long"),
        "structure": ("nonisland", "island"),
    }
    (square,) = squares(suite)
    assert square.conditions == tuple(FOUR)
    assert suite.items[0].condition("long_island").columns == {
        "distance": "long",
        "structure": "island",
    }
    assert suite.predictions == predictions_of(square)


def test_a_first_line_says_conditions_factors_and_phenomenon(tmp_path):
    header = {
        "conditions": ["plain_that", "far_that", "plain_if", "far_if"],
        "factorial_properties_and_levels": {"reach": ["plain", "far"], "clause": ["that", "if"]},
        "phenomenon_properties": {
            "name": "whether islands",
            "language": "it",
            "island_type": "whether",
            "dependency_type": None,
        },
    }
    names = dict(zip(header["conditions"], FOUR.values(), strict=True))
    path = write(tmp_path / "headed.jsonl", lines(header, {**names, "note": "x"}, {**names}))
    suite = open_suite(path).suite
    assert suite.meta.language == "it"
    assert suite.meta.phenomenon == "whether islands"
    assert suite.meta.extra == {"island_type": "whether"}
    assert squares(suite)[0].unacceptable.condition == "far_if"
    assert suite.items[0].column("note") == "x"
    assert [item.id for item in suite.items] == ["1", "2"]


def test_one_json_document_whatever_its_suffix(tmp_path):
    document = {"sentences": [{**FOUR, "pairID": "3", "UID": "whether", "extra": [1]}]}
    text = json.dumps(document, indent=2)
    for name in ("custom.jsonl", "custom.json"):
        suite = open_suite(write(tmp_path / name, text)).suite
        assert suite.items[0].id == "3"
        assert suite.items[0].column("UID") == "whether"
        assert suite.items[0].extra == {"extra": [1]}
        assert suite.condition_names == tuple(FOUR)


def test_blimp_and_syntaxgym_stay_what_they_are(tmp_path):
    pair = {"sentence_good": "La casa è bella.", "sentence_bad": "La casa sono bella."}
    assert open_suite(write(tmp_path / "pairs.jsonl", lines(pair))).format == "blimp"
    with pytest.raises(SuiteError, match="sentence_bad"):
        open_suite(write(tmp_path / "half.jsonl", lines({"sentence_good": "La casa è bella."})))


def test_a_table_with_a_sentence_a_row(tmp_path):
    header = "suite,dependency,island,item,item_in_suite,structure,distance,condition,sentence\n"
    rows = [
        f'prova,wh,{island},{9 + n},{n},{name.split("_")[1]},{name.split("_")[0]},{name},"{text}"'
        for island, four in (("whether", FOUR), ("adjunct", OTHER))
        for n in (1, 2)
        for name, text in four.items()
    ]
    loaded = open_suite(write(tmp_path / "t.csv", header + "\n".join(rows) + "\n"))
    suite = loaded.suite
    assert loaded.format == "factorial-table"
    assert [item.id for item in suite.items] == [
        "whether-1", "whether-2", "adjunct-1", "adjunct-2",
    ]  # fmt: skip
    assert suite.items[2].column("phenomenon") == "wh_adjunct"
    assert suite.items[0].condition("short_island").columns["structure"] == "island"
    assert len(suite.predictions) == 4


def test_a_bare_table_with_a_column_for_each_cell_of_a_design(tmp_path):
    names = ("corta_nonisola", "lunga_nonisola", "corta_isola", "lunga_isola")
    rows = [[str(number), *texts.values(), "x"] for number, texts in ((4, FOUR), (9, OTHER))]
    text = "\n".join("\t".join(row) for row in [["item", *names, "nota"], *rows])
    loaded = open_suite(write(tmp_path / "largo.tsv", text + "\n"))
    suite = loaded.suite
    assert loaded.format == "factorial-table"
    assert [item.id for item in suite.items] == ["4", "9"]
    assert suite.condition_names == names
    assert suite.items[1].condition("lunga_isola").regions[0].text == OTHER["long_island"]
    assert suite.items[0].column("nota") == "x"
    (square,) = squares(suite)
    assert square.unacceptable.condition == "lunga_isola"
    assert suite.predictions == predictions_of(square)


def test_an_empty_cell_of_a_design_is_a_missing_condition(tmp_path):
    text = "\n".join("\t".join(row) for row in [list(FOUR), list(FOUR.values())])
    text += "\n" + "\t".join([*OTHER.values()][:3]) + "\t\n"
    faults = inspect_suite(write(tmp_path / "largo.tsv", text))[1]
    assert [fault.seen for fault in faults if fault.code == "CIM-S012"] == [
        "The item lacks long_island, unlike 1 of 2 items."
    ]


@pytest.mark.parametrize(
    "names", [("grammaticale", "agrammaticale"), ("Correcta", "Incorrecta"), ("good", "bad")]
)
def test_conditions_called_good_and_bad_are_compared(tmp_path, names):
    good, bad = names
    text = f"item\tcondizione\tfrase\n1\t{good}\tI cani abbaiano.\n1\t{bad}\tI cani abbaia.\n"
    suite = open_suite(write(tmp_path / "t.tsv", text)).suite
    assert [prediction.formula for prediction in suite.predictions] == [
        f"(*;%{good}%) < (*;%{bad}%)"
    ]


def test_words_with_their_regions(tmp_path):
    def rows(condition, words):
        return [f"0,{i},{w},{r},{condition},1.5" for i, (w, r) in enumerate(words)]

    that = [("<eos>", "start"), ("So", "start"), ("che", "che"), ("lava", "verb"), ("panni", "obj")]
    what = [("<eos>", "start"), ("So", "start"), ("cosa", "wh"), ("lava", "verb"), (".", "end")]
    text = "\ufeffsent_index,word_index,word,region,condition,surprisal\n" + "\n".join(
        rows("that_nogap", that) + rows("what_gap", what)
    )
    for name, data in (("w.csv", text.encode()), ("w2.csv.gz", gzip.compress(text.encode()))):
        loaded = open_suite(write(tmp_path / name, data))
        suite = loaded.suite
        assert loaded.format == "words"
        assert suite.region_names == ("start", "che", "wh", "verb", "obj", "end")
        regions = [region.text for region in suite.items[0].condition("what_gap").regions]
        assert regions == ["So", "", "cosa", "lava", "", "."]


def test_a_packed_file_that_is_damaged(tmp_path):
    with pytest.raises(InputError, match="damaged"):
        open_suite(write(tmp_path / "w.csv.gz", b"not packed at all"))


def test_words_that_leave_a_region_and_come_back(tmp_path):
    text = "sent_index,word_index,word,region,condition\n0,0,a,x,c\n0,1,b,y,c\n0,2,c,x,c\n"
    assert "CIM-S014" in codes(write(tmp_path / "w.csv", text))


@pytest.mark.parametrize(
    ("orders", "expected"),
    [
        ([("a", "c"), ("a", "b", "c")], ("a", "b", "c")),
        ([("a", "b"), ("b", "c"), ("a", "c")], ("a", "b", "c")),
        ([], ()),
    ],
)
def test_orders_of_regions_are_merged(orders, expected):
    assert merged(orders) == expected


# --- bad input


def test_an_item_with_three_sentences(tmp_path):
    three = {key: FOUR[key] for key in list(FOUR)[:3]}
    path = write(tmp_path / "t.jsonl", lines({"item": 1, **FOUR}, {"item": 2, **three}))
    faults = [fault for fault in inspect_suite(path)[1] if fault.code == "CIM-S012"]
    assert "lacks long_island" in faults[0].seen
    with pytest.raises(SuiteError, match="item 2"):
        open_suite(path)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"item": 1, "short_island": 3, "long_island": "Che cosa?"}\n', "CIM-S003"),
        ('{"short_island": "Chi?"}\n[1]\n', "CIM-S003"),
        ('{"short_island": "Chi?"}\n{"short', "CIM-S002"),
        ('{"conditions": []}\n', "CIM-S003"),
    ],
)
def test_json_that_is_no_suite(tmp_path, text, code):
    assert code in codes(write(tmp_path / "t.jsonl", text))


# --- designs


def design(factors, conditions, *, extra=None) -> Suite:
    made = tuple(
        Condition(name, (Region(f"La frase {name}."),), dict(zip(factors, levels, strict=True)))
        for name, levels in conditions.items()
    )
    return Suite(
        meta=Meta("prova", language="it"),
        region_names=("sentence",),
        predictions=(),
        items=(Item("1", made),),
        factors=factors,
        extra=extra or {},
    )


TWO = {"distance": ("short", "long"), "structure": ("plain", "island")}
CELLS = {
    "a": ("short", "plain"),
    "b": ("long", "plain"),
    "c": ("short", "island"),
    "d": ("long", "island"),
}


def test_the_last_levels_are_the_unacceptable_cell_unless_the_suite_says_otherwise():
    assert squares(design(TWO, CELLS))[0].conditions == ("a", "b", "c", "d")
    turned = squares(design(TWO, CELLS, extra={"design": {"unacceptable": "a"}}))[0]
    assert turned.conditions == ("d", "c", "b", "a")


def test_two_by_n_is_n_minus_one_squares_whichever_factor_is_the_longer_one():
    factors = {"distance": ("short", "long"), "island": ("none", "whether", "adjunct")}
    cells = {f"{d}_{i}": (d, i) for d in factors["distance"] for i in factors["island"]}
    made = squares(design(factors, cells))
    assert [square.name for square in made] == ["whether", "adjunct"]
    assert made[1].conditions == ("short_none", "long_none", "short_adjunct", "long_adjunct")
    swapped = dict(reversed(factors.items()))
    again = squares(design(swapped, {name: (i, d) for name, (d, i) in cells.items()}))
    assert [square.conditions for square in again] == [square.conditions for square in made]


def test_a_cell_without_a_condition_is_a_fault_and_a_hole():
    suite = design(TWO, {name: CELLS[name] for name in "abc"})
    assert squares(suite)[0].unacceptable.condition is None
    faults = [fault for fault in check_suite(suite) if fault.code == "CIM-S034"]
    assert [fault.seen for fault in faults] == ["No condition is distance long, structure island."]


@pytest.mark.parametrize(
    ("factors", "conditions", "extra", "message"),
    [
        (TWO, {**CELLS, "e": ("long", "island")}, None, "d and e are both long island"),
        (TWO, CELLS, {"design": {"unacceptable": "z"}}, "there is no condition 'z'"),
        (TWO, CELLS, {"design": {"unacceptable": ["a", "d"]}}, "no single plain level"),
        ({"x": ("1",), "y": ("1", "2")}, {"a": ("1", "1")}, None, "fewer than two levels"),
        (
            {"x": ("1", "2", "3"), "y": ("1", "2", "3")},
            {"a": ("1", "1")},
            None,
            "a design of 3 x 3",
        ),
    ],
)
def test_declarations_that_make_no_design(factors, conditions, extra, message):
    suite = design(factors, conditions, extra=extra)
    with pytest.raises(InputError, match=message):
        squares(suite)
    assert any(fault.code == "CIM-S034" and message in fault.seen for fault in check_suite(suite))


def test_suites_without_two_factors_have_no_design():
    assert squares(design({}, {"a": ()})) == ()
    assert squares(design({"x": ("1", "2")}, {"a": ("1",)})) == ()


# --- wording


def factorial(*items) -> Suite:
    made = tuple(
        Item(
            str(number),
            tuple(
                Condition(
                    name,
                    (Region(text),),
                    dict(zip(("distance", "structure"), name.split("_"), strict=True)),
                )
                for name, text in four.items()
            ),
        )
        for number, four in enumerate(items, start=1)
    )
    return Suite(
        meta=Meta("prova", language="it"),
        region_names=("sentence",),
        predictions=(),
        items=made,
        factors={"distance": ("short", "long"), "structure": ("nonisland", "island")},
    )


def with_name(name: str) -> dict[str, str]:
    return {key: text.replace("Anna", name) for key, text in FOUR.items()}


def wording(suite: Suite) -> dict[str, str]:
    return {
        fault.code: f"{fault.where}: {fault.seen}"
        for fault in check_suite(suite)
        if "CIM-S053" <= fault.code <= "CIM-S057"
    }


def test_good_wording_is_left_alone():
    names = ("Anna", "Piero", "Lucia", "Marco", "Elena")
    assert wording(factorial(*map(with_name, names))) == {}


def test_slips_are_seen_against_the_habit_of_the_suite():
    slips = {
        "short_nonisland": "chi pensa che che Lucia abbia dipinto il muro?",
        "long_island": "Che cosa ti chiedi se Lucia abbia dipinto",
    }
    suite = factorial(with_name("Anna"), with_name("Piero"), {**with_name("Lucia"), **slips})
    by_code = wording(suite)
    assert set(by_code) == {"CIM-S053", "CIM-S054", "CIM-S055"}
    assert "item 3, condition long_island" in by_code["CIM-S053"]
    assert "11 of 12" in by_code["CIM-S053"]
    assert "'chi' begins with a small letter" in by_code["CIM-S054"]
    assert "'che che'" in by_code["CIM-S055"]


def test_items_that_repeat_each_other():
    names = ("Anna", "Piero", "Lucia", "Marco", "Elena", "Paolo", "Sara", "Bruno", "Irene")
    again = {key: text.replace("il muro", "la porta") for key, text in with_name("Anna").items()}
    by_code = wording(factorial(*map(with_name, names), again))
    assert "Items 1, 10 have the same words in all their conditions" in by_code["CIM-S056"]
    assert "is the sentence of long_island in items 1, 10" in by_code["CIM-S057"]
    suite = replace(factorial(*map(with_name, names), again), factors={})
    assert wording(suite) == {}


# --- the published materials


@pytest.mark.slow
@pytest.mark.golden
def test_all_files_of_the_island_study_load(shared):
    folder = shared / "data" / "islands"
    paths = [
        *sorted((folder / "italian" / "suites").glob("*.jsonl")),
        *sorted((folder / "italian").glob("*.csv")),
        folder / "english" / "sprouse2016_en_items.csv",
        *sorted((folder / "wilcox_style").glob("*.csv.gz")),
    ]
    sizes = {path.name.split(".")[0]: len(open_suite(path).suite.items) for path in paths}
    assert len(paths) == 42
    assert sizes["madeddu_2022-10_wh_whether"] == 59
    assert sizes["sprouse2016_it"] == sizes["sprouse2016_en_items"] == 64
    assert sizes["gpt2_whether_rc_result"] == 50


@pytest.mark.golden
@pytest.mark.parametrize(
    ("name", "code", "places"),
    [
        ("madeddu_2022-07_wh_subject", "CIM-S053", ["item 20", "item 21"]),
        ("madeddu_2022-07_wh_whether", "CIM-S056", ["presentato"]),
        ("madeddu_2022-07_wh_complex_np", "CIM-S044", ["have both"]),
        ("variation__wh_complex_np_islands_8_wh_complex_np", "CIM-S054", ["'chi'"]),
        ("variation__wh_complex_np_islands_3_wh_complex_np", "CIM-S055", ["item 1", "'che che'"]),
        ("variation__wh_adjunct_islands_wh_adjunct", "CIM-S057", ["'Chi'"]),
    ],
)
def test_the_faults_of_the_published_materials_are_reported(shared, name, code, places):
    path = shared / "data" / "islands" / "italian" / "suites" / f"{name}.jsonl"
    message = "\n".join(str(fault) for fault in inspect_suite(path)[1] if fault.code == code)
    assert all(place in message for place in places)


SPROUSE = """Island Type;Clause type;Condition 1;Condition 2;item number;sentence
Adjunct island;WH;Long;Island;1;Che cosa sei triste se vendo?
Adjunct island;WH;Long;non-island;1;Che cosa speri che io venda?
Adjunct island;WH;Short;Island;1;Chi è triste se vendo la bicicletta?
Adjunct island;WH;Short;non-island;1;Chi spera che io venda la bicicletta?
Complex NP;RC;Long;Island;1;Ho visto la bicicletta che hai sentito la voce che vendo.
Complex NP;RC;Long;non-island;1;Ho visto la bicicletta che hai sentito che vendo.
Complex NP;RC;Short;Island;1;Ho visto chi ha sentito la voce che vendo la bicicletta.
Complex NP;RC;Short;non-island;1;Ho visto chi ha sentito che vendo la bicicletta.
"""


def test_the_columns_of_sprouse_as_released_are_the_design(tmp_path):
    path = tmp_path / "materials.csv"
    path.write_text(SPROUSE, encoding="utf-8")
    suite = load_suite(path, language="it").suite
    assert dict(suite.factors) == {
        "distance": ("short", "long"),
        "structure": ("nonisland", "island"),
    }
    assert [item.id for item in suite.items] == ["wh_adjunct-1", "rc_complex_np-1"]
    worst = suite.items[0].conditions[0]
    assert (worst.name, worst.regions[0].text) == ("long_island", "Che cosa sei triste se vendo?")
    assert worst.columns["phenomenon"] == "wh_adjunct"
    assert any("long_island" in prediction.formula for prediction in suite.predictions)


@pytest.mark.golden
def test_the_released_table_has_the_sentences_of_the_released_suites(shared):
    folder = shared / "data/authors/islands-master/outputs/sprouse"
    suite = load_suite(folder / "Experiment 2 materials - Italian.csv", language="it").suite
    assert len(suite.items) == 64
    # The suites write the straight apostrophe and a final mark where the table has none.
    plain = {
        (condition.name, _plain(condition.regions[0].text))
        for item in suite.items
        for condition in item.conditions
    }
    paths = [path for path in folder.glob("*.jsonl") if path.name[:3] in ("wh_", "rc_")]
    assert len(paths) == 7
    for path in paths:
        lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        records = [record for record in lines if "long_island" in record]
        assert len(records) == 8
        for record in records:
            for name in suite.condition_names:
                assert (name, _plain(record[name])) in plain


def _plain(text):
    return text.replace("\u2019", "'").rstrip(" .?")


def test_the_order_of_keys_does_not_say_which_cell_is_the_worst(tmp_path):
    """Where no word says the plain levels, nothing is predicted; as in tables, with CIM-S067."""
    four = dict(zip(("b_y", "b_x", "a_x", "a_y"), FOUR.values(), strict=True))
    other = dict(zip(four, OTHER.values(), strict=True))
    path = write(tmp_path / "se.jsonl", lines({"item": 7, **four}, {"item": 9, **other}))
    assert open_suite(path).suite.predictions == ()
    assert "CIM-S067" in codes(path)
    levels = {"f": ["a", "b"], "g": ["x", "y"]}
    stated = {"conditions": [*four], "factorial_properties_and_levels": levels}
    path = write(tmp_path / "so.jsonl", lines(stated, {"item": 7, **four}, {"item": 9, **other}))
    [square] = squares(open_suite(path).suite)
    assert square.unacceptable.condition == "b_y"


def test_sentences_in_an_object_of_their_own_are_the_conditions_and_notes_are_none(tmp_path):
    names = ("nonisland_short", "nonisland_long", "island_short", "island_long")
    items = [
        {
            "id": f"se-{number}",
            "sentences": dict(zip(names, texts.values(), strict=True)),
            "lexicon": {"oggetto": "il muro"},
            "note": "La frase principale cambia con la struttura.",
        }
        for number, texts in enumerate((FOUR, OTHER))
    ]
    path = write(tmp_path / "se.jsonl", lines(*items))
    suite = open_suite(path).suite
    assert suite.condition_names == names
    assert [square.unacceptable.condition for square in squares(suite)] == ["island_long"]
    assert suite.items[0].extra == {"lexicon": {"oggetto": "il muro"}}


def test_conditions_with_blanks_in_their_names_can_be_used_in_formulas(tmp_path):
    rows = ["item\tcondition\tsentence"]
    for item, noun in enumerate(("Anna", "Piero")):
        rows += [f"{item}\tActive Control\t{noun} dipinge il muro."]
        rows += [f"{item}\tNo-Attraction Violation\tIl muro dipinge {noun}."]
        rows += [f"{item}\tPassive Control\tIl muro è dipinto da {noun}."]
    suite = load_suite(write(tmp_path / "t.tsv", "\n".join(rows) + "\n"), language="it").suite
    assert suite.condition_names[:2] == ("Active-Control", "No-Attraction-Violation")
