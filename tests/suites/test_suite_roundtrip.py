"""Writing a suite and reading it back: nothing is lost, or the loss is named."""

from __future__ import annotations

import json
import string
import tempfile
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cimento import (
    Condition,
    InputError,
    Item,
    Meta,
    Prediction,
    Region,
    Suite,
    SuiteError,
    UsageError,
)
from cimento.errors import StorageError
from cimento.faults import errors
from cimento.suites import METRICS, sentence
from cimento.suites.checks import check_suite
from cimento.suites.formats.items import escape, read_regions, unescape, write_regions
from cimento.suites.formats.writing import TARGETS, convert, losses
from cimento.suites.load import open_suite
from cimento.suites.stimuli import join_regions
from tests.helpers.suites_on_disk import write, write_folder

# Everything that a cell, a line or a quoted string could trip over, with letters of three scripts.
SPECIAL = "|\\\t\n\r\"';,=#{}[]<>%&  ¦\u2028\xa0’"
LETTERS = "abnrtAZ09àéßžñÇ" + "жёйЩы" + "αώ" + "e\u0301о\u0301" + "中😀"
characters = st.sampled_from(SPECIAL + LETTERS)
raw_texts = st.text(characters, max_size=12)
texts = raw_texts.map(str.strip)
words = texts.filter(bool)

keys = st.one_of(
    st.sampled_from(
        ["name", "metric", "version", "tags", "comment", "language", "formula", "type", "relation",
         "options", "regions", "meta", "items", "predictions", "factors", "_extra", "cimento",
         "item_number", "conditions", "condition_name", "region_number", "content", "id", "rest",
         "model_config", "extra", "oovs"]
    ),
    raw_texts,
)  # fmt: skip
json_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**25), 10**25),
        st.floats(allow_nan=False),
        raw_texts,
    ),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(raw_texts, inner, max_size=2),
    max_leaves=4,
)
extras = st.dictionaries(keys, json_values, max_size=2)
column_names = st.one_of(
    st.sampled_from(["item", "condition", "text", "_extra", "good", "bad", "id", "Item", "", " a"]),
    raw_texts,
)
condition_names = st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=8)
item_ids = st.one_of(st.integers(0, 10**20).map(str), words, st.sampled_from(["007", "-1", "1.0"]))


@st.composite
def predictions(draw: st.DrawFn, n_regions: int, names: list[str]) -> tuple[Prediction, ...]:
    """Up to two formulas that name what is there."""
    return tuple(
        Prediction(
            f"({draw(st.integers(1, n_regions))};%{names[0]}%) < (*;%{names[-1]}%)",
            comment=draw(raw_texts),
            extra=draw(extras),
        )
        for _ in range(draw(st.integers(0, 2)))
    )


@st.composite
def suites(draw: st.DrawFn) -> Suite:
    """A suite without errors, with something unusual in every field."""
    n_regions = draw(st.integers(1, 4))
    names = draw(st.lists(condition_names, min_size=1, max_size=3, unique=True))
    columns = draw(st.lists(column_names, max_size=3, unique=True))
    ids = draw(st.lists(item_ids, min_size=1, max_size=3, unique=True))
    cluster = draw(st.sampled_from(["", "template", " odd"]))
    factors = draw(st.dictionaries(words, st.lists(words, min_size=1, max_size=2), max_size=1))

    def region(index: int) -> Region:
        glued = bool(index) and draw(st.booleans())
        return Region(draw(texts), glued=glued, extra=draw(extras))

    def condition(name: str, clustered: str) -> Condition:
        regions = [region(index) for index in range(n_regions)]
        if not any(region.text for region in regions):
            regions[-1] = replace(regions[-1], text=draw(words))
        free = {column: draw(raw_texts) for column in columns if draw(st.booleans())}
        free |= {factor: draw(st.sampled_from(levels)) for factor, levels in factors.items()}
        free |= {cluster: clustered} if cluster else {}
        return Condition(name, tuple(regions), free, extra=draw(extras))

    items = []
    for id_ in ids:
        clustered = draw(words)
        conditions = tuple(condition(name, clustered) for name in draw(st.permutations(names)))
        items.append(Item(id_, conditions, extra=draw(extras)))
    return Suite(
        meta=Meta(
            draw(words),
            **{key: draw(raw_texts) for key in ("version", "language", "comment", "license")},
            tags=tuple(draw(st.lists(raw_texts, max_size=2))),
            extra=draw(extras),
        ),
        region_names=tuple(draw(raw_texts) for _ in range(n_regions)),
        predictions=draw(predictions(n_regions, names)),
        items=tuple(items),
        metric=draw(st.sampled_from(METRICS)),
        join=draw(st.sampled_from(["blank", "detok"])),
        cluster=cluster,
        factors={factor: tuple(levels) for factor, levels in factors.items()},
        extra=draw(extras),
    )


@pytest.mark.slow
@pytest.mark.parametrize(("format_", "name"), [("native", "s"), ("syntaxgym", "s.json")])
@settings(deadline=None)
@given(suite=suites())
def test_nothing_is_lost(format_, name, suite):
    faults = errors(check_suite(suite))
    # Marks before the sentences of one condition are a fault of what is said, not of its form.
    assume("CIM-S061" not in {fault.code for fault in faults})
    assert faults == ()
    assert losses(suite, format_) == []
    with tempfile.TemporaryDirectory() as folder:
        path = convert(suite, format_, Path(folder) / name)
        assert open_suite(path).suite == suite


@settings(deadline=None)
@given(st.lists(st.tuples(texts, st.booleans()), min_size=1, max_size=6))
def test_regions_are_written_as_one_cell(pieces):
    regions = tuple(
        Region(text, glued=glued and index > 0) for index, (text, glued) in enumerate(pieces)
    )
    cell = write_regions((region.text, region.glued) for region in regions)
    assert not set(cell) & set("\t\n\r")
    read, doubtful = read_regions(cell)
    assert doubtful == []
    assert [(region.text.strip(), region.glued) for region in read] == [
        (region.text, region.glued) for region in regions
    ]


@settings(deadline=None)
@given(raw_texts)
def test_cells_are_escaped(text):
    assert unescape(escape(text)) == text


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.text("ab .,", max_size=5), st.booleans()), min_size=1, max_size=5),
    st.sampled_from(["blank", "detok"]),
)
def test_sentences_are_those_that_models_see(pieces, rule):
    regions = tuple(Region(text, glued=glued) for text, glued in pieces)
    condition = Condition("a", regions)
    assert sentence(condition, rule=rule) == join_regions(condition.regions, rule=rule)[0]


# --- what the files look like


PAIR = Prediction("(*;%good%) < (*;%bad%)")


def pair_suite(**columns: str) -> Suite:
    sentences = {"good": "Le lampade sono accese.", "bad": "Le lampade è accese."}
    conditions = tuple(
        Condition(name, (Region(text),), columns) for name, text in sentences.items()
    )
    return Suite(Meta("lampade"), ("sentence",), (PAIR,), (Item("1", conditions),))


def test_what_is_written_is_plain(tmp_path):
    folder = write_folder(tmp_path / "s")
    convert(open_suite(folder).suite, "native", tmp_path / "copy")
    assert (tmp_path / "copy" / "items.tsv").read_bytes() == (folder / "items.tsv").read_bytes()
    toml = (tmp_path / "copy" / "suite.toml").read_text(encoding="utf-8")
    assert "_extra" not in toml
    assert "[options]" not in toml
    document = convert(open_suite(folder).suite, "syntaxgym", tmp_path / "s.json")
    parsed = json.loads(document.read_text(encoding="utf-8"))
    assert set(parsed) == {"meta", "region_meta", "predictions", "items"}
    assert parsed["items"][0]["item_number"] == 1
    assert parsed["items"][0]["conditions"][0]["regions"][1] == {
        "region_number": 2,
        "content": "sono",
    }


def test_keys_that_are_not_known_are_kept_in_toml_itself(tmp_path):
    suite = pair_suite()
    suite = replace(suite, meta=replace(suite.meta, extra={"funding": "none", "grant": None}))
    toml = convert(suite, "native", tmp_path / "s") / "suite.toml"
    text = toml.read_text(encoding="utf-8")
    assert 'funding = "none"' in text
    assert "_extra = '{\"grant\": null}'" in text or '_extra = "{\\"grant\\": null}"' in text


def test_ids_that_are_no_numbers_are_kept_in_json(tmp_path):
    suite = pair_suite()
    suite = replace(suite, items=(replace(suite.items[0], id="lampade-1"),))
    parsed = json.loads(convert(suite, "syntaxgym", tmp_path / "s.json").read_text("utf-8"))
    assert parsed["items"][0]["item_number"] == 1
    assert parsed["items"][0]["cimento"] == {"id": "lampade-1"}


def test_pairs_are_written_as_blimp(tmp_path):
    suite = pair_suite(phenomenon="agreement", length="4", one_prefix_method="true", code="007")
    assert losses(suite, "blimp") == []
    path = convert(suite, "blimp", tmp_path / "s.jsonl")
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "sentence_good": "Le lampade sono accese.",
        "sentence_bad": "Le lampade è accese.",
        "length": 4,
        "one_prefix_method": True,
        "code": "007",
        "linguistics_term": "agreement",
        "UID": "lampade",
        "pairID": "1",
    }
    again = open_suite(path).suite
    assert again.name == "lampade"
    assert again.items[0].column("phenomenon") == "agreement"
    assert convert(again, "blimp", tmp_path / "t.jsonl").read_bytes() == path.read_bytes()


def test_blimp_is_refused_with_all_that_would_be_lost(tmp_path):
    suite = open_suite(write_folder(tmp_path / "s")).suite
    suite = replace(
        suite,
        metric="mean",
        join="detok",
        extra={"a": 1},
        meta=replace(suite.meta, tags=("x",)),
        predictions=(*suite.predictions, Prediction("(1;%match%) = (1;%mismatch%)")),
    )
    with pytest.raises(InputError) as caught:
        convert(suite, "blimp", tmp_path / "s.jsonl")
    message = str(caught.value)
    for lost in (
        "language, in the metadata",
        "tags, in the metadata",
        "the division into 3 regions",
        "the conditions match, mismatch",
        "the 2 predictions",
        "the extra",
        "the metric mean",
        "the rule detok",
    ):
        assert lost in message
    assert not (tmp_path / "s.jsonl").exists()


def test_blimp_may_be_written_with_losses(tmp_path):
    suite = open_suite(write_folder(tmp_path / "s")).suite
    path = convert(suite, "blimp", tmp_path / "s.jsonl", allow_loss=True)
    first = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    assert first["sentence_good"] == "Le lampade sono accese."
    assert first["sentence_bad"] == "Le lampade è accese."


def test_each_prediction_that_compares_two_conditions_makes_pairs(tmp_path):
    suite = open_suite(write_folder(tmp_path / "s")).suite
    formulas = ["(2;%mismatch%) > (2;%match%)", "(*;%match%) < 3", "(1;%match%) < (1;%mismatch%)"]
    suite = replace(suite, predictions=tuple(map(Prediction, formulas)))
    path = convert(suite, "blimp", tmp_path / "s.jsonl", allow_loss=True)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["pairID"] for line in lines] == [
        f"{item}-prediction {number}" for item in (1, 2) for number in (0, 2)
    ]
    assert [line["prediction"] for line in lines[:2]] == ["prediction 0", "prediction 2"]
    assert {line["sentence_good"] for line in lines[:2]} == {"Le lampade sono accese."}


def test_no_pairs_are_refused_whatever_is_allowed(tmp_path):
    suite = replace(open_suite(write_folder(tmp_path / "s")).suite, predictions=())
    with pytest.raises(InputError, match="no pairs"):
        convert(suite, "blimp", tmp_path / "s.jsonl", allow_loss=True)


def test_columns_that_differ_between_conditions_are_a_loss():
    [item] = pair_suite(note="x").items
    other = replace(item.conditions[1], columns={"note": "y"})
    suite = replace(pair_suite(), items=(replace(item, conditions=(item.conditions[0], other)),))
    assert losses(suite, "blimp") == ["the column note, which differs between conditions"]


# --- refusals


def test_a_suite_with_faults_is_not_written(tmp_path):
    suite = replace(pair_suite(), items=())
    with pytest.raises(SuiteError, match="CIM-S005"):
        convert(suite, "native", tmp_path / "s")


def test_nothing_is_written_over(tmp_path):
    path = write(tmp_path / "s.json", "mine")
    folder = write_folder(tmp_path / "s")
    for format_, target in (("syntaxgym", path), ("native", folder)):
        with pytest.raises(StorageError, match="exists already"):
            convert(pair_suite(), format_, target)
    assert path.read_text() == "mine"


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(UsageError, match="Did you mean 'syntaxgym'"):
        convert(pair_suite(), "sintaxgym", tmp_path / "s")


@pytest.mark.parametrize("format_", TARGETS)
def test_a_folder_that_cannot_be_written_is_reported(tmp_path, format_):
    write(tmp_path / "file", "in the way")
    with pytest.raises(StorageError, match="cannot be written"):
        convert(pair_suite(), format_, tmp_path / "file" / "s")


def test_letters_stay_as_they_are_written(tmp_path):
    apart = unicodedata.normalize("NFD", "perché")
    suite = pair_suite(note=apart)
    for format_, name in (("native", "s"), ("syntaxgym", "s.json"), ("blimp", "s.jsonl")):
        assert (
            open_suite(convert(suite, format_, tmp_path / name)).suite.items[0].column("note")
            == apart
        )
