"""Contexts with continuations, and the keys of published sets, in files of the tests' own."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import polars as pl
import pytest

from cimento import InputError, SuiteError, evaluate, load_suite
from cimento.suites import sentence
from cimento.suites.load import open_suite
from cimento.suites.naming import ALL_PREDICTIONS
from cimento.testing.models import FakeScorer

CROSSED = [
    {
        "Domain": "spatial relations",
        "Context1": "The cat is under the chair. The chair is in the kitchen.",
        "Context2": "The chair is under the cat. The cat is asleep in the kitchen.",
        "Target1": "The chair is above the cat.",
        "Target2": "The cat is above the chair.",
        "ContextType": "direct",
    },
    {
        "Domain": "quantities",
        "Context1": "Ana had three pears and ate two.",
        "Context2": "Ana had three pears and ate none.",
        "Target1": "One pear is left.",
        "Target2": "Three pears are left.",
        "ContextType": "indirect",
    },
]
TRACKED = [
    {
        "input_prefix": "Box 0 has a key, Box 1 is empty. Move the key to Box 1. Box 1 contains",
        "options": [" the key.", " nothing.", " the lamp."],
        "numops": 1,
    },
    {
        "input_prefix": "Box 0 is empty, Box 1 has a pen. Take the pen out. Box 1 contains",
        "options": [" nothing.", " the pen.", " a stamp."],
        "numops": 1,
    },
]

FORMS = [
    {"sentences": "Its glupity was clear.\tIts glupness was clear.", "ratio": 0.75},
    {"sentences": "The ostrivity of it!\tThe ostrivness of it!", "ratio": 0.2},
    {"sentences": "Such blimmity is rare.\tSuch blimmness is rare.", "ratio": 1},
]


def lines(path: Path, rows: list[dict[str, object]]) -> Path:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    return path


def array(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")
    return path


def parquet(path: Path, rows: list[dict[str, object]]) -> Path:
    pl.DataFrame(rows).write_parquet(path)
    return path


WRITERS = {"a.jsonl": lines, "a.json": array, "a.parquet": parquet, "b.json": lines}


@pytest.mark.parametrize("name", WRITERS)
def test_two_contexts_crossed_with_two_targets(name: str, tmp_path: Path) -> None:
    loaded = open_suite(WRITERS[name](tmp_path / name, list(map(dict, CROSSED))))
    suite = loaded.suite
    assert loaded.format == "crossed"
    assert [prediction.formula for prediction in suite.predictions] == [
        "(2;%context1_target1%) < (2;%context2_target1%)",
        "(2;%context2_target2%) < (2;%context1_target2%)",
    ]
    item = suite.items[1]
    assert sentence(item.condition("context2_target1")) == (
        "Ana had three pears and ate none. One pear is left."
    )
    assert item.condition("context1_target1").columns["phenomenon"] == "quantities"
    assert item.condition("context1_target1").columns["ContextType"] == "indirect"


@pytest.mark.parametrize("name", WRITERS)
def test_a_context_with_options_the_right_one_first(name: str, tmp_path: Path) -> None:
    loaded = open_suite(WRITERS[name](tmp_path / name, list(map(dict, TRACKED))))
    suite = loaded.suite
    assert loaded.format == "options"
    assert [prediction.formula for prediction in suite.predictions] == [
        "(2;%option1%) < (2;%option2%)",
        "(2;%option1%) < (2;%option3%)",
    ]
    assert sentence(suite.items[1].condition("option2")).endswith("Box 1 contains the pen.")


def test_options_are_judged_against_the_first(tmp_path: Path) -> None:
    path = lines(tmp_path / "boxes.jsonl", list(map(dict, TRACKED)))
    # Two tokens of "nothing." are likelier than any others: right in the second item only.
    model = FakeScorer(lambda tokens, at: -1.0 if "nothing" in tokens[at] else -5.0)
    outcomes = evaluate(path, model, language="en").outcomes().filter(question=ALL_PREDICTIONS)
    assert outcomes["right"].to_list() == [False, True]


def test_a_blank_between_context_and_option_counts(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"input_prefix": "un", "options": ["kind", " kind"]}]
    suite = open_suite(lines(tmp_path / "glued.jsonl", rows)).suite
    assert [sentence(condition) for condition in suite.items[0].conditions] == ["unkind", "un kind"]


@pytest.mark.parametrize("options", [["one"], "one", [1, 2], None])
def test_options_that_are_none(options: object, tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"input_prefix": "Box", "options": options}]
    with pytest.raises(SuiteError, match="not a list of two or more texts"):
        open_suite(lines(tmp_path / "boxes.jsonl", rows))


ENDINGS = [
    [["Le lampade del salotto", "Le lampade del salotto"], ["sono accese.", "è accesa."]],
    [["Il cugino di Marta", "I cugini di Marta"], ["arriva domani.", "arriva domani."]],
]
"""The form of BHS's files: prefixes of the two sides and their endings, the good one first."""


def test_prefixes_and_endings_are_read_and_the_ending_is_judged(tmp_path: Path) -> None:
    path = tmp_path / "lamps.json"
    path.write_text(json.dumps(ENDINGS, ensure_ascii=False), encoding="utf-8")
    loaded = open_suite(path)
    assert loaded.format == "endings"
    suite = loaded.suite
    assert suite.region_names == ("prefix", "ending")
    assert [prediction.formula for prediction in suite.predictions] == ["(2;%good%) < (2;%bad%)"]
    assert [sentence(suite.items[0].condition(name)) for name in ("good", "bad")] == [
        "Le lampade del salotto sono accese.",
        "Le lampade del salotto è accesa.",
    ]
    assert sentence(suite.items[1].condition("bad")) == "I cugini di Marta arriva domani."
    # What is likely after its own prefix is right, whatever the prefix itself costs.
    model = FakeScorer(lambda tokens, at: -1.0 if "sono" in tokens[at] else -5.0)
    assert evaluate(path, model, language="it").outcomes()["right"].to_list()[0] is True


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('[[["Il gatto", "Il gatto"], ["dorme."]]]', "not a pair of prefixes"),
        ('[[["Il gatto", "Il gatto"], ["dorme.", 1]]]', "not a pair of prefixes"),
        ('[[["Il gatto", "Il gatto"], ["dorme.", "dormono."]], {}]', "pair 2"),
        ('[[["Il gatto", "Il gatto"], ["dorme.", "dor', "Not JSON"),
    ],
)
def test_what_are_no_prefixes_and_endings_is_refused(
    content: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "lamps.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SuiteError, match=said):
        open_suite(path)


PAIRS: dict[str, list[dict[str, object]]] = {
    # The keys of JBLiMP and TurBLiMP; of BHS; of COMPS; of SLING.
    "pairs": [{"good_sentence": "Il mare è calmo.", "bad_sentence": "Il mare sono calmo."}],
    "minicons": [{"context": "Il mare", "ending_good": "è calmo.", "ending_bad": "sono calmo."}],
    "minicons ": [
        {
            "id": 1,
            "prefix_acceptable": "A wren",
            "prefix_unacceptable": "A mole",
            "property_phrase": "can fly.",
        }
    ],
    "blimp": [
        {
            "sentence_good": "Il mare è calmo.",
            "sentence_bad": "Il mare sono calmo.",
            "paradigm": "calm",
            "pair_ID": 0,
        }
    ],
}


@pytest.mark.parametrize("format_", PAIRS)
@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_keys_of_published_sets(format_: str, suffix: str, tmp_path: Path) -> None:
    write = lines if suffix == ".jsonl" else parquet
    loaded = open_suite(write(tmp_path / f"a{suffix}", PAIRS[format_]))
    known = "pairs" if (format_, suffix) == ("blimp", ".parquet") else format_.strip()
    assert loaded.format == known
    good, bad = (sentence(condition) for condition in loaded.suite.items[0].conditions)
    assert {good, bad} <= {
        "Il mare è calmo.",
        "Il mare sono calmo.",
        "A wren can fly.",
        "A mole can fly.",
    }
    assert len(loaded.suite.predictions) == 1


def test_two_forms_with_the_share_of_people_who_prefer_the_first(tmp_path: Path) -> None:
    suite = open_suite(lines(tmp_path / "wug_adj_nominalization.jsonl", FORMS)).suite
    assert [
        [(condition.name, condition.columns["chosen_by"]) for condition in item.conditions]
        for item in suite.items
    ] == [
        [("first", "0.750000"), ("second", "0.250000")],
        [("first", "0.200000"), ("second", "0.800000")],
        [("first", "1.000000"), ("second", "0.000000")],
    ]
    # Tokens cost the square of their letters: margins are 8² - 7², 10² - 9² and 9² - 8², so their
    # ranks 1, 3, 2 beside 2, 1, 3, and rho is 1 - 6 (1 + 4 + 1) / (3 (9 - 1)).
    run = evaluate(suite, FakeScorer(lambda tokens, index: -float(len(tokens[index]) ** 2)))
    row = run.table("estimates").filter(pl.col("statistic") == "spearman").row(0, named=True)
    assert (row["n"], row["value"]) == (3, pytest.approx(-0.5))


@pytest.mark.parametrize("row", [{"sentences": "one text"}, {"ratio": 1.5}, {"ratio": "much"}])
def test_forms_that_are_none(row: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="no number from 0 to 1"):
        open_suite(lines(tmp_path / "wug.jsonl", [*FORMS, {**FORMS[0], **row}]))


def test_a_split_of_the_hub_is_named_after_its_folder(tmp_path: Path) -> None:
    for name in ("calm", "plural"):
        (tmp_path / name).mkdir()
        parquet(tmp_path / name / "train-00000-of-00001.parquet", PAIRS["pairs"])
    runs = [
        evaluate(path, FakeScorer(lambda _tokens, _at: -1.0), language="it")
        for path in sorted(tmp_path.rglob("*.parquet"))
    ]
    assert [run.suite_name for run in runs] == ["calm", "plural"]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("agreement/data.tsv", "agreement"),
        ("agreement/it/data.tsv", "agreement-it"),
        ("agreement/fi/fin/data.tsv", "agreement-fi"),  # fetched, one language of several
        ("agreement/ar/arb/data.tsv", "agreement-ar"),
        ("agreement/fro/fro/data.tsv", "agreement-fro"),
        ("agreement/fro/test.tsv", "agreement-fro"),
        ("agreement/it/verbs.tsv", "verbs"),
    ],
)
def test_a_file_called_data_is_named_after_its_set_and_language(file, name, tmp_path):
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text("good\tbad\nIl cane dorme.\tIl cane dormono.\n", encoding="utf-8")
    assert load_suite(path, language="it").suite.name == name
    assert load_suite(path.parent, language="it").suite.name == name


def test_a_zipped_language_of_a_set_has_the_name_of_its_folder(tmp_path):
    (tmp_path / "agreement").mkdir()
    archive = tmp_path / "agreement" / "it.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("data.tsv", "good\tbad\nIl cane dorme.\tIl cane dormono.\n")
    assert load_suite(archive, language="it").suite.name == "agreement-it"


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"\x00" * 40 + b"PAR1"])
def test_a_damaged_parquet_file(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(content)
    with pytest.raises((SuiteError, InputError), match=r"a\.parquet"):
        open_suite(path)


def test_json_that_is_no_table_is_still_syntaxgym(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"meta": {"name": "a"}}', encoding="utf-8")
    with pytest.raises(SuiteError, match=r"region_meta: This field is missing"):
        open_suite(tmp_path / "a.json")


@pytest.mark.parametrize("column", ["Context1", "Target1", "Target2"])
@pytest.mark.parametrize(("value", "code"), [("7.5", "CIM-S081"), (["no text"], "CIM-S083")])
def test_columns_of_contexts_that_hold_no_text_are_refused(tmp_path, column, value, code):
    path = lines(tmp_path / "crossed.jsonl", [{**row, column: value} for row in CROSSED])
    with pytest.raises(SuiteError) as error:
        open_suite(path)
    assert code in {fault.code for fault in error.value.faults}
