"""JSON, TOML and gzip of strangers: the usual exception, whatever is wrong."""

from __future__ import annotations

import gzip
import json
import sys
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import InputError
from cimento.io.parsing import (
    MAX_DEPTH,
    SMALL_BYTES,
    parse_json,
    parse_lines,
    parse_toml,
    unpack_gzip,
    value_at,
)

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=20,
)


@settings(deadline=None)
@given(VALUES, st.booleans())
def test_json_is_read_as_the_library_reads_it(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)

    assert parse_json(text) == value
    assert parse_json(text.encode()) == value
    assert parse_json(b"\xef\xbb\xbf" + text.encode()) == value


LINES = st.lists(
    st.sampled_from(
        (
            '{"a": 1}', '{"a": "b", "c": null}', '{"a": ["\\u00e9", {}]}', " ", "", "7",
            '{"a": [{}', '{}]}', '{"a": 1', '"b": 2}', "{},{}", '["x"]', f'{{"a": {"9" * 400}}}',
            '{"a": 1, "a": 2}', '{"a": "\\ud800"}',
            '{"a": ' + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "}",
        )
    ),
    max_size=6,
)  # fmt: skip


@settings(deadline=None)
@given(LINES, st.integers(1, 4))
def test_lines_are_read_together_as_one_by_one(lines, together):
    expected = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                expected.append((number, parse_json(line)))
            except json.JSONDecodeError as error:
                expected.append((number, str(error)))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("cimento.io.parsing._LINES_AT_ONCE", together)
        read = [
            (n, str(v) if isinstance(v, ValueError) else v)
            for n, v in parse_lines("\n".join(lines))
        ]
    assert read == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 100_000, "nested"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "nested"),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, "nested"),
        ("9" * 5_000, "digits"),
        ("9" * 400, "digits"),
        ('"\\ud800"', "surrogate"),
        ('{"\\uDFFF": 1}', "surrogate"),
        (b"\xff", "UTF-8"),
        ("{", "Expecting"),
        ("", "Expecting"),
        ('{"a": 1, "b": {"c": 1, "d": 2, "c": 1}}', "'c' is there twice"),
        (b'[{"a": null, "a": null}]', "'a' is there twice"),
        ('{"a": ' + "9" * 400 + ', "a": 1}', "digits|twice"),
    ],
)
def test_what_is_wrong_with_json_is_one_exception(text, said):
    with pytest.raises(json.JSONDecodeError, match=said):
        parse_json(text)


def test_what_a_person_may_write_in_json_is_read():
    depth = MAX_DEPTH - 1
    deep = "[" * depth + "]" * depth
    assert json.dumps(parse_json(deep)) == deep
    assert parse_json('"\\ud83d\\ude00 \\\\ud800"') == "\U0001f600 \\ud800"
    assert parse_json(f'["{"9" * 400}", 7]') == ["9" * 400, 7]
    assert parse_json("[" + "{}," * 500 + "{}]") == [{}] * 501


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = " + "[" * 10_000, "nested"),
        ("a." * 200 + "a = 1", "nested"),
        ("a." * 400_000 + "a = 1", "nested"),
        ('"".' + "a." * 400_000 + "a = 1", "nested"),
        (f"a = {'9' * (sys.get_int_max_str_digits() + 1)}", "digits"),
        ("a = ", "Invalid"),
    ],
)
def test_what_is_wrong_with_toml_is_one_exception(text, said):
    with pytest.raises(tomllib.TOMLDecodeError, match=said):
        parse_toml(text)


def test_points_in_a_text_of_toml_are_no_keys():
    text = "... " * 300

    assert parse_toml(f'a.b = "{text}"') == {"a": {"b": text}}


@settings(deadline=None)
@given(st.binary(max_size=2_000))
def test_gzip_is_unpacked(data):
    assert unpack_gzip(gzip.compress(data), where="a.gz") == data


@pytest.mark.parametrize("cut", [0, 5, 20, -4])
def test_gzip_that_is_damaged_is_told(cut):
    whole = gzip.compress(b"Le lampade sono accese." * 9)

    with pytest.raises(InputError, match=r"a\.gz is damaged"):
        unpack_gzip(whole[:cut] or b"no", where="a.gz")


def test_gzip_may_grow_as_text_does_and_not_more():
    assert len(unpack_gzip(gzip.compress(bytes(SMALL_BYTES)), where="a.gz")) == SMALL_BYTES
    with pytest.raises(InputError, match="do not trust this file"):
        unpack_gzip(gzip.compress(bytes(SMALL_BYTES + 1)), where="a.gz")


def test_a_place_that_json_lacks_has_no_value():
    value = {"choices": [{"text": "a"}], "usage": 3}

    assert value_at(value, "choices", 0, "text") == "a"
    assert value_at(value) is value
    for path in (("choices", 1), ("usage", "n"), ("choices", "text"), ("absent",), (0,)):
        assert value_at(value, *path) is None
