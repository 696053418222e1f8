"""Formats other than the native one: SyntaxGym JSON and CSV, BLiMP JSONL, tables of pairs."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import InputError, Region, SuiteError, load_suites
from cimento.cli.suites import ConvertOptions
from cimento.suites.formats import FORMATS
from cimento.suites.load import inspect_suite, open_suite, suite_paths
from tests.helpers.command_line import invoke
from tests.helpers.suites_on_disk import (
    ITEMS,
    PAIRS,
    TOML,
    codes_of,
    faults_of,
    syntaxgym,
    write,
    write_folder,
    write_workbook,
)

BLIMP = """\
{"sentence_good": "Anna saw herself.", "sentence_bad": "Anna saw himself.", "UID": "reflexives", \
"linguistics_term": "binding", "field": "syntax", "one_prefix_method": true, "length": 3, \
"pairID": "7", "notes": ["a", 1], "none": null}
{"sentence_good": "The boy saw himself.", "sentence_bad": "The boy saw itself.", \
"UID": "reflexives", "linguistics_term": "binding", "pairID": "8"}
"""

CSV = """\
item_number,condition_name,region_number,region_name,content
1,plain,1,Start,As the rain
1,plain,2,Verb, fell
1,plain,3,Rest,"the dog, asleep, barked"
1,comma,1,Start,As the rain
1,comma,2,Verb,stopped
1,comma,3,Rest,
"""


# --- SyntaxGym JSON


def test_syntaxgym_json_is_read(tmp_path):
    text = syntaxgym()
    loaded = open_suite(write(tmp_path / "s.json", text))
    suite = loaded.suite
    assert suite.name == "lampade"
    assert suite.region_names == ("r1", "r2", "r3")
    assert suite.items[0].id == "1"
    assert suite.items[0].condition("match").regions[1] == Region("sono")
    assert (suite.metric, suite.meta.language) == ("sum", "it")
    assert loaded.sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert loaded.faults == ()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_accepted(tmp_path, encoding):
    expected = open_suite(write(tmp_path / "a.json", syntaxgym())).suite
    assert open_suite(write(tmp_path / "b.json", syntaxgym().encode(encoding))).suite == expected


def test_square_brackets_and_stray_blanks_are_accepted(tmp_path):
    text = syntaxgym(
        contents=["Le lampade ", " sono", "accese."],
        predictions=[
            {"type": "formula", "formula": "[(2;%match%) - 1] < [(2;%mismatch%) - 1]"},
        ],
    )
    path = write(tmp_path / "s.json", text)
    suite = open_suite(path).suite
    assert [region.text for region in suite.items[0].condition("match").regions] == [
        "Le lampade",
        "sono",
        "accese.",
    ]
    # one fault for each of the three regions that had blanks
    assert [fault.code for fault in faults_of(path)] == ["CIM-S040"] * 3


def test_predictions_by_relation_become_formulas(tmp_path):
    older = {
        "relation": "greaterthan", "region_number": 2, "l_operand": "mismatch",
        "r_operand": "match",
    }  # fmt: skip
    meta = {"name": "older", "metric": "all", "tags": ["agreement"], "language": "it"}
    suite = open_suite(write(tmp_path / "s.json", syntaxgym(predictions=[older], meta=meta))).suite
    assert suite.predictions[0].formula == "(2;%mismatch%) > (2;%match%)"
    assert suite.predictions[0].extra == older
    assert suite.metric == "sum"
    assert suite.meta.extra == {"metric": "all"}
    assert suite.meta.tags == ("agreement",)


def test_what_an_evaluated_suite_says_is_kept(tmp_path):
    parsed = json.loads(syntaxgym())
    parsed["meta"]["model"] = "gpt2"
    region = parsed["items"][0]["conditions"][0]["regions"][1]
    region.update({"metric_value": {"sum": 3.5}, "oovs": ["sono"]})
    del parsed["predictions"]
    path = write(tmp_path / "s.json", json.dumps(parsed))
    suite = open_suite(path).suite
    assert suite.meta.extra == {"model": "gpt2"}
    kept = suite.items[0].condition("match").regions[1].extra
    assert kept == {"metric_value": {"sum": 3.5}, "oovs": ["sono"]}
    assert codes_of(path) == ["CIM-S023"]


def test_numbers_may_be_written_as_text(tmp_path):
    text = syntaxgym().replace('"region_number": 2', '"region_number": "2"')
    text = text.replace('"item_number": 1', '"item_number": "a-1"')
    suite = open_suite(write(tmp_path / "s.json", text)).suite
    assert suite.items[0].id == "a-1"


BAD_JSON: Mapping[str, tuple[str | bytes, str, str]] = {
    "empty": ("", "CIM-S002", "empty"),
    "truncated": (syntaxgym()[:200], "CIM-S002", "Not JSON"),
    "mis-encoded": (syntaxgym().encode("cp1252"), "CIM-S001", "0xe8"),
    "a list": ("[]", "CIM-S003", "An object with named fields"),
    "another schema": ('{"a": 1}', "CIM-S003", "region_meta"),
    "nested beyond reason": ("[" * 100_000, "CIM-S002", "Not JSON"),
    "no content": (syntaxgym().replace('"content": "sono"', '"text": "sono"'), "CIM-S003",
                   "items 1 (item_number 1), conditions 1, regions 2, content"),
    "unknown metric": (syntaxgym(meta={"name": "x", "metric": "total"}), "CIM-S003", "total"),
    "unknown relation": (syntaxgym(predictions=[{"relation": "near", "region_number": 1,
                         "l_operand": "a", "r_operand": "b"}]), "CIM-S003", "relation"),
    "prediction of another type": (syntaxgym(predictions=[{"type": "python", "formula": "1"}]),
                                   "CIM-S003", "predictions 0, type"),
    "regions out of order": (syntaxgym().replace('"region_number": 2', '"region_number": 4'),
                             "CIM-S014", "1, 4, 3"),
    "region_meta with a gap": (syntaxgym(region_meta={"1": "a", "2": "b", "4": "c"}), "CIM-S014",
                               "1, 2, 4"),
    "an item twice": (json.dumps({**json.loads(syntaxgym()),
                                  "items": json.loads(syntaxgym())["items"] * 2}), "CIM-S010",
                      "The id '1' is that of item number 1 and of item number 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_JSON)
def test_bad_json_ends_in_one_error_with_its_code_and_place(tmp_path, name):
    text, code, shown = BAD_JSON[name]
    path = write(tmp_path / "s.json", text)
    with pytest.raises(SuiteError) as caught:
        open_suite(path)
    assert code in {fault.code for fault in caught.value.faults}
    assert shown in str(caught.value)


def test_all_faults_of_json_are_reported_at_once(tmp_path):
    parsed = json.loads(syntaxgym())
    del parsed["meta"]["name"]
    parsed["items"][0]["conditions"][1]["regions"][0]["content"] = 3
    faults = faults_of(write(tmp_path / "s.json", json.dumps(parsed)))
    assert len(faults) == 2


# --- SyntaxGym CSV


def test_syntaxgym_csv_is_read(tmp_path):
    path = write(tmp_path / "rain.csv", CSV)
    suite = open_suite(path).suite
    assert suite.name == "rain"
    assert suite.region_names == ("Start", "Verb", "Rest")
    assert suite.items[0].condition("plain").regions[2].text == "the dog, asleep, barked"
    assert suite.items[0].condition("comma").regions[2].text == ""
    assert codes_of(path) == ["CIM-S023", "CIM-S033", "CIM-S040"]
    [stray] = [fault for fault in faults_of(path) if fault.code == "CIM-S040"]
    assert stray.where == "rain.csv row 3"


def test_a_region_missing_in_csv_is_reported(tmp_path):
    path = write(tmp_path / "rain.csv", CSV.replace("1,plain,2,Verb, fell\n", ""))
    assert {"CIM-S013", "CIM-S014"} <= set(codes_of(path))


def test_a_column_missing_in_csv_is_reported(tmp_path):
    path = write(tmp_path / "rain.csv", CSV.replace("content", "said"))
    assert codes_of(path) == ["CIM-S004"]


# --- BLiMP JSONL


def test_a_name_that_blimp_has_too_makes_no_sentences_english(tmp_path):
    """ZhoBLiMP has a paradigm of this name; no sentence of BLiMP has a letter beyond ASCII."""
    uid = {"UID": "anaphor_gender_agreement"}
    english = {"sentence_good": "Anna saw herself.", "sentence_bad": "Anna saw himself."}
    theirs = write(tmp_path / "a.jsonl", json.dumps({**uid, **english}))
    assert open_suite(theirs).suite.meta.language == "en"
    chinese = {"sentence_good": "姐姐批评了她自己。", "sentence_bad": "姐姐批评了他自己。"}
    other = write(tmp_path / "b.jsonl", json.dumps({**uid, **chinese}))
    assert open_suite(other).suite.meta.language == ""
    [loaded] = load_suites(other, language="zh")
    assert loaded.suite.meta.language == "zh"


def test_blimp_is_read(tmp_path):
    path = write(tmp_path / "x.jsonl", BLIMP)
    loaded = open_suite(path)
    suite = loaded.suite
    assert (suite.name, suite.meta.phenomenon) == ("reflexives", "binding")
    assert suite.condition_names == ("good", "bad")
    assert [prediction.formula for prediction in suite.predictions] == ["(*;%good%) < (*;%bad%)"]
    item = suite.items[0]
    assert item.id == "7"
    assert item.condition("bad").regions == (Region("Anna saw himself."),)
    assert item.column("phenomenon") == "binding"
    assert item.column("field") == "syntax"
    assert item.column("one_prefix_method") == "true"
    assert item.column("length") == "3"
    assert item.column("none") is None
    assert item.extra == {"notes": ["a", 1]}
    assert codes_of(path) == ["CIM-S033"]


def test_pairs_of_several_paradigms_are_told_apart(tmp_path):
    rows = [
        {"sentence_good": f"Anna saw {n}.", "sentence_bad": f"Anna see {n}.", "UID": uid,
         "pairID": "0"}
        for n, uid in enumerate(["a", "b"])
    ]  # fmt: skip
    path = write(tmp_path / "both.jsonl", "\n".join(map(json.dumps, rows)))
    suite = open_suite(path).suite
    assert [item.id for item in suite.items] == ["a/0", "b/0"]
    assert suite.name == "both"


def test_pairs_without_ids_are_numbered(tmp_path):
    rows = BLIMP.replace('"pairID": "7", ', "")
    suite = open_suite(write(tmp_path / "x.jsonl", rows)).suite
    assert [item.id for item in suite.items] == ["1", "2"]


def test_the_same_pair_id_twice_is_reported(tmp_path):
    path = write(tmp_path / "x.jsonl", BLIMP.replace('"8"', '"7"'))
    assert "CIM-S010" in codes_of(path)


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        ("", "CIM-S002", "x.jsonl"),
        (BLIMP[:-20], "CIM-S002", "x.jsonl line 2"),
        ('{\n  "sentences": []\n}\n', "CIM-S002", "x.jsonl line 1"),
        (BLIMP.replace("sentence_bad", "bad"), "CIM-S003", "x.jsonl line 1"),
        (BLIMP.replace('"Anna saw herself."', "null"), "CIM-S003", "x.jsonl line 1"),
        (BLIMP.encode().replace(b"boy", b"b\xf3y"), "CIM-S001", "x.jsonl row 2"),
    ],
)
def test_bad_jsonl_is_reported(tmp_path, text, code, where):
    [first, *_] = faults_of(write(tmp_path / "x.jsonl", text))
    assert first.code == code
    assert first.where.startswith(where)


# --- tables of pairs


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("coppie.csv", PAIRS.encode("utf-8-sig")),
        ("coppie.csv", PAIRS.encode("cp1252")),
        ("coppie.csv", PAIRS.replace("\n", "\r\n").encode("cp1252")),
        ("coppie.txt", PAIRS.replace("Vieni; presto", "Vieni, presto").replace(
            "Viene; presto", "Viene, presto").replace(";", "\t").encode("utf-16")),
    ],
)  # fmt: skip
def test_a_table_of_pairs_is_read_as_excel_writes_it(tmp_path, name, content):
    suite = open_suite(write(tmp_path / name, content)).suite
    assert suite.name == "coppie"
    assert [item.id for item in suite.items] == ["a", "b"]
    assert suite.items[0].condition("good").regions == (Region("Le città sono belle."),)
    quoted = suite.items[1].condition("bad").regions[0].text
    assert quoted in {'Hanno detto: "Viene; presto!"', 'Hanno detto: "Viene, presto!"'}
    assert suite.items[0].column("tipo") == "verbo"
    assert [prediction.formula for prediction in suite.predictions] == ["(*;%good%) < (*;%bad%)"]


def test_a_workbook_of_pairs_is_read(tmp_path):
    rows = [["id", "good", "bad"], [1.0, "Dormo.", "Dormi io."], [None, None, None]]
    suite = open_suite(write_workbook(tmp_path / "p.xlsx", rows)).suite
    assert [item.id for item in suite.items] == ["1"]


def test_bars_backslashes_and_quotes_of_pairs_are_text(tmp_path):
    content = 'good\tbad\nA | b\\n "c"\tA | b\\n "d\n'
    suite = open_suite(write(tmp_path / "p.tsv", content)).suite
    assert suite.items[0].condition("good").regions == (Region('A | b\\n "c"'),)
    assert suite.items[0].condition("bad").regions == (Region('A | b\\n "d'),)
    assert suite.items[0].id == "1"


def test_an_id_used_twice_in_a_table_of_pairs_is_reported(tmp_path):
    path = write(tmp_path / "p.csv", PAIRS.replace("\nb;", "\na;"))
    assert codes_of(path) == ["CIM-S010", "CIM-S033"]


# --- which format it is


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("notes.xyz", b"x"),
        ("notes", b"x"),
    ],
)
def test_an_unknown_format_is_refused_with_the_list_of_what_is_read(tmp_path, name, content):
    with pytest.raises(InputError) as caught:
        open_suite(write(tmp_path / name, content))
    for format_ in FORMATS.values():
        assert format_.title in str(caught.value)


def test_a_missing_path_is_refused(tmp_path):
    for name in ("nothing", "nothing.json", "nothing.csv", "nothing.jsonl"):
        with pytest.raises(InputError, match="no such file"):
            open_suite(tmp_path / name)


def test_inspecting_gives_suite_and_faults_instead_of_an_error(tmp_path):
    suite, faults = inspect_suite(write(tmp_path / "s.json", syntaxgym()[:99]))
    assert suite is None
    assert [fault.code for fault in faults] == ["CIM-S002"]
    suite, faults = inspect_suite(write(tmp_path / "t.json", syntaxgym()))
    assert suite is not None
    assert faults == ()


def test_a_folder_may_hold_many_suites(tmp_path):
    write(tmp_path / "README.md", "about")
    write(tmp_path / ".hidden.json", "{")
    write(tmp_path / "b.jsonl", BLIMP)
    write(tmp_path / "c.csv", PAIRS)
    write_folder(tmp_path / "a")
    (tmp_path / "empty").mkdir()
    assert [path.name for path in suite_paths(tmp_path)] == ["a", "b.jsonl", "c.csv"]
    assert [suite.suite.name for suite in load_suites(tmp_path)] == [
        "lampade",
        "reflexives",
        "c",
    ]
    assert len(list(load_suites(tmp_path / "a"))) == 1
    assert len(list(load_suites(tmp_path / "b.jsonl"))) == 1


def test_faults_of_many_suites_are_reported_together(tmp_path):
    write(tmp_path / "a.json", "{")
    write_folder(tmp_path / "b", toml="")
    with pytest.raises(SuiteError) as caught:
        list(load_suites(tmp_path))
    assert [fault.where for fault in caught.value.faults] == ["a.json", "b: suite.toml"]


def test_a_folder_without_suites_is_refused(tmp_path):
    write(tmp_path / "README.md", "about")
    with pytest.raises(InputError, match="without suites in it"):
        list(load_suites(tmp_path))


# --- damage of every kind

WHOLE = {
    "s.json": syntaxgym().encode(),
    "s.jsonl": BLIMP.encode(),
    "s.csv": CSV.encode(),
    "pairs.csv": PAIRS.encode("cp1252"),
    "pairs.txt": PAIRS.replace(";", "\t").encode("utf-16"),
    "suite.toml": TOML.encode(),
    "items.tsv": ITEMS.encode(),
}
SNIPPETS = [
    b"", b'"', b"\\", b"|", b"\t", b"\n", b"\r", b",", b";", b"\xff", b"\xc3", b"\x00", b"null",
    b"1e999", b"\xef\xbb\xbf", b"\\ud800", b"cimento", b"_extra", b"[[", b"}", b"\xa0", b"\x85",
]  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
@settings(deadline=None)
@given(data=st.data())
def test_damage_ends_in_faults_and_never_in_a_traceback(name, data):
    content = WHOLE[name]
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, len(content)))
    damaged = content[:start] + data.draw(st.sampled_from(SNIPPETS)) + content[end:]
    with tempfile.TemporaryDirectory() as folder:
        path = write_folder(Path(folder)) / name
        write(path, damaged)
        try:
            suite, faults = inspect_suite(path)
        except InputError:
            return
        assert suite is not None or faults
        assert all(str(fault) for fault in faults)


def test_advice_on_a_json_suite_names_its_fields_and_neither_bars_nor_settings(tmp_path, capsys):
    regions = [{"region_number": 1, "content": "Ana"}, {"region_number": 2, "content": "ríe"}]
    conditions = [{"condition_name": "x", "regions": regions},
                  {"condition_name": "y", "regions": regions[:1]}]  # fmt: skip
    path = tmp_path / "ana.json"
    suite = {"meta": {"name": "ana"}, "region_meta": {"1": "subject", "2": "verb"},
             "predictions": []}  # fmt: skip
    suite["items"] = [{"item_number": 1, "conditions": conditions}]
    path.write_text(json.dumps(suite), encoding="utf-8")
    assert invoke(["suites", "check", str(path)]) == 2
    printed = "".join(capsys.readouterr())
    assert "Write one region for each number in region_meta." in printed
    assert 'add a formula to the list "predictions". For example' in printed
    assert "bar ( | )" not in printed
    assert "suite.toml" not in printed


def test_the_help_of_convert_names_all_formats_that_can_be_read():
    about = ConvertOptions.model_fields["from_"].description or ""
    _, _, names = about.removesuffix(".").partition("recognized: ")
    assert names.split(", ") == list(FORMATS)
