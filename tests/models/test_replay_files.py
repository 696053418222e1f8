"""Files of recorded surprisals and model specs, well formed and otherwise."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cimento import CimentoError, InputError, TableError
from cimento.models.recorded.reading import parse_spec, read_recording, read_spec

HEADER = "sentence_id\ttoken_id\ttoken\tsurprisal\n"


def recorded(folder: Path, content: str | bytes):
    path = folder / "recording.tsv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_recording(path)


def test_sentences_with_their_tokens(tmp_path):
    rows = "1\t1\tIl\t2.5\n1\t2\tcane\t0\n2\t1\tDorme\t-0.0\n"
    recording = recorded(tmp_path, HEADER + rows)
    first, second = recording.sentences
    assert (first.id, first.line, first.tokens, first.surprisals) == (
        *(1, 2),
        *(("Il", "cane"), (2.5, 0.0)),
    )
    assert (second.id, second.line, second.tokens) == (2, 4, ("Dorme",))
    assert len(recording.digest) == 64


@pytest.mark.parametrize(
    "token", ['"', "NA", "null", "nan", "", " ", "#", "'", "«", "\x0b", "\u2028", "\x85", "1", '"a']
)
def test_tokens_are_taken_as_they_are(tmp_path, token):
    recording = recorded(tmp_path, f"{HEADER}1\t1\t{token}\t3.5\n1\t2\tx\t1\n")
    assert recording.sentences[0].tokens == (token, "x")


@pytest.mark.parametrize(
    ("text", "value"),
    [("inf", math.inf), ("-inf", -math.inf), ("1e999", math.inf), ("7", 7.0), (" 2.5 ", 2.5)],
)
def test_numbers_as_programs_write_them(tmp_path, text, value):
    assert recorded(tmp_path, f"{HEADER}1\t1\tIl\t{text}\n").sentences[0].surprisals == (value,)


@pytest.mark.parametrize("text", ["NaN", "nan", "NA", "", "None"])
def test_no_number_as_programs_write_it(tmp_path, text):
    assert math.isnan(recorded(tmp_path, f"{HEADER}1\t1\tIl\t{text}\n").sentences[0].surprisals[0])


@pytest.mark.parametrize(
    "content",
    [
        "sentence_id token_id token surprisal\n1 1 Il 2.5\n1  2\tcane 3\n",
        "1\t1\tIl\t2.5\n1\t2\tcane\t3\n",
        "1 1 Il 2.5\n1 2 cane 3",
        "\ufeff" + HEADER.replace("\n", "\r\n") + "1\t1\tIl\t2.5\r\n\r\n1\t2\tcane\t3\r\n\r\n",
        "surprisal\tmodel\ttoken\ttoken_id\tsentence_id\n2.5\tm\tIl\t1\t1\n3\tm\tcane\t2\t1\n",
    ],
    ids=["blanks", "headless", "headless blanks", "windows", "other columns"],
)
def test_other_ways_to_write_the_same(tmp_path, content):
    [sentence] = recorded(tmp_path, content).sentences
    assert sentence.tokens == ("Il", "cane")
    assert sentence.surprisals == (2.5, 3.0)


@pytest.mark.parametrize(
    ("content", "where", "seen"),
    [
        ("", "recording.tsv", "holds no surprisals"),
        (HEADER, "recording.tsv", "holds no surprisals"),
        ("sentence_id\ttoken\tsurprisal\n", "line 1", "lacks the column token_id"),
        ("sentence_id,token_id,token,surprisal\n", "line 1", "lacks the column"),
        ("token\t" + HEADER, "line 1", "has token twice"),
        (HEADER + "1\t1\tIl\t2.5\n1\t2\tca", "line 3", "in the middle of a row"),
        (HEADER + "1\t1\tIl\t2.5\n1\t2\tcane\t", "line 3", "in the middle of a row"),
        (HEADER + "1\t1\tIl\n1\t2\tcane\t3\n", "line 2", "has 3 fields where the header has 4"),
        (HEADER + "1\t1\tIl\tcane\t3\n", "line 2", "has 5 fields where the header has 4"),
        (HEADER + "1\t1\tIl\t2,5\n", "line 2", "'2,5' and not a number"),
        (HEADER + "1\t1\tIl\t1_0\n", "line 2", "not a number"),
        (HEADER + "one\t1\tIl\t2\n", "line 2", "sentence_id is 'one'"),
        (HEADER + "1\t1.0\tIl\t2\n", "line 2", "token_id is '1.0'"),
        (HEADER + "1\t" + "9" * 5000 + "\tIl\t2\n", "line 2", "not a whole number"),
        (HEADER + "0\t1\tIl\t2\n", "line 2", "is sentence 0, token 1; due was sentence 1, token 1"),
        (HEADER + "1\t1\tIl\t2\n3\t1\tDue\t2\n", "line 3", "due was sentence 1, token 2, or"),
        (HEADER + "1\t1\tIl\t2\n1\t3\tDue\t2\n", "line 3", "is sentence 1, token 3"),
        (HEADER + "1\t1\tIl\t2\n1\t1\tDue\t2\n", "line 3", "is sentence 1, token 1"),
        ((HEADER + "1\t1\tIl\t2\n1\t2\tè\t2\n").encode("latin-1"), "line 3", "is not UTF-8"),
        ((HEADER + "1\t1\tIl\t2\n").encode("utf-16"), "line 1", "is not UTF-8"),
    ],
)
def test_what_cannot_be_used_is_refused_at_its_line(tmp_path, content, where, seen):
    with pytest.raises(TableError) as caught:
        recorded(tmp_path, content)
    assert caught.value.where.endswith(where)
    assert seen in caught.value.seen
    assert caught.value.todo


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_recording(tmp_path / "no.tsv")
    with pytest.raises(InputError, match="is a folder"):
        read_recording(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read_spec(tmp_path / "no.json")


def test_a_model_spec(tmp_path):
    path = tmp_path / "spec.json"
    content = {
        "name": "un modello",
        "image": {"gpu": {"required": False}},
        "vocabulary": {"unk_types": ["<unk>"], "suffix_types": ["</s>"], "items": ["Il", "cane"]},
        "tokenizer": {"type": "word", "cased": True, "drop_token_pattern": None},
    }
    path.write_text(json.dumps(content), encoding="utf-8-sig")
    spec = read_spec(path)
    assert spec.name == "un modello"
    assert spec.vocabulary.unk_types == ("<unk>",)
    assert spec.vocabulary.prefix_types == ()
    assert spec.tokenizer.drop_token_pattern is None


def spec_text(**tokenizer: object) -> str:
    return json.dumps({"vocabulary": {}, "tokenizer": {"type": "word", "cased": True, **tokenizer}})


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("", "Invalid JSON"),
        ("{", "Invalid JSON"),
        ("[]", "should be an object"),
        ("{}", "vocabulary: Field required; tokenizer: Field required"),
        ('{"vocabulary": {}, "tokenizer": {"type": "word"}}', "tokenizer.cased: Field required"),
        (
            '{"vocabulary": {"unk_types": "<unk>"}, "tokenizer": {"type": "word", "cased": true}}',
            "vocabulary.unk_types: Input should be a valid array",
        ),
        (
            spec_text(type="wrod"),
            "tokenizer.type: Input should be 'word', 'subword' or 'character'",
        ),
        (spec_text(cased="false"), "tokenizer.cased: Input should be a valid boolean"),
        (spec_text(drop_token_pattern="["), "drop_token_pattern: not a regular expression"),  # noqa: S106  # no password
        (spec_text(sentinel_pattern="##"), "sentinel_position: missing"),
    ],
)
def test_a_wrong_model_spec_is_refused(text, seen):
    with pytest.raises(TableError) as caught:
        parse_spec(text, where="spec.json")
    assert seen in caught.value.seen
    assert caught.value.where == "spec.json"


FIELD = st.one_of(st.sampled_from(["1", "2", "Il", "2.5", "", "nan", '"']), st.text(max_size=3))
LINES = st.lists(st.lists(FIELD, max_size=5).map("\t".join), max_size=6).map("\n".join)


@given(content=st.one_of(st.binary(max_size=80), LINES.map(lambda lines: HEADER + lines), LINES))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_or_refused(tmp_path, content):
    data = content if isinstance(content, bytes) else content.encode()
    try:
        recording = recorded(tmp_path, data)
    except CimentoError:
        return
    ids = [sentence.id for sentence in recording.sentences]
    assert ids == list(range(1, len(ids) + 1))
    assert all(
        len(sentence.tokens) == len(sentence.surprisals) > 0 for sentence in recording.sentences
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["vocabulary", "tokenizer", "type", "cased"]), inner)
    ),
    max_leaves=8,
)


@given(content=st.one_of(st.text(max_size=40), JSON.map(json.dumps)))
@settings(deadline=None)
def test_any_text_is_a_spec_or_refused(content):
    try:
        spec = parse_spec(content, where="spec.json")
    except CimentoError:
        return
    assert spec.tokenizer.type in {"word", "subword", "character"}
