"""Parsing of JSON and TOML, and unpacking of gzip, within bounds for untrusted files.

What makes millions of small records does so without garbage collection (`no_collection`).
Readers only have to expect the exception of the format's parser: it is also raised for nesting that
would exhaust the stack, for numbers of thousands of digits, and for texts that no file can hold.
"""

from __future__ import annotations

import gc
import gzip
import io
import itertools
import json
import math
import re
import secrets
import threading
import tomllib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cimento.errors import InputError, as_sentence
from cimento.io.files import read_bytes

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

MAX_DEPTH = 100
"""Greatest depth of nested lists and objects, far beyond any file from real use."""

_LINES_AT_ONCE = 256
"""Number of lines that are parsed together: their text stays in the processor's cache."""

MOST_FAULTS = 1_000
"""Largest number of faults of one file that are listed."""

_CONTAINERS = (list, dict)

_SAMPLE = 200
_SAMPLED = 2_000
"""Number of elements sampled from a list, and from all lists of a document."""

MAX_UNPACKED_BYTES = 500_000_000
SMALL_BYTES = 4_000_000
"""Size in bytes to which any packed file may grow."""
MAX_GROWTH = 20
"""Factor by which a larger file may grow; tables usually shrink four- to tenfold."""

_KEY_END = re.compile(r"[\"'=#]")
_MOST_POINTS = 5_000
_LONG = re.compile(r"\d{309}")
"""More digits than the integer part of any floating-point number has."""
_STEP = 50
_LONG_SEEN = re.compile(r"\d{6}")
"""The digits that are left of such a number when only every fiftieth character is looked at."""
_SURROGATE = re.compile(r"\\u[dD][89abcdefABCDEF]")
_MOST_DIGITS = 15
_KINDS = {
    **dict.fromkeys(("int_parsing", "int_from_float", "int_type"), "a whole number"),
    **dict.fromkeys(("float_parsing", "float_type"), "a number"),
    "finite_number": "a finite number",
    "tuple_type": "a text, or a list of texts",
    "string_type": "a text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "path_type": "a path",
}
_PERCENT = 100.0
_LONGEST_KEY = 60
"""Greatest length in characters of a repeated key that is shown."""

_MANY_OBJECTS = 5_000
"""Number of objects below which a garbage collection takes no noticeable time."""

_others_are_frozen = threading.Event()
"""Set once objects are known to be frozen, which stay so: counting them visits each of them."""


class RepeatedKeyError(json.JSONDecodeError):
    """The error of an object that has a key twice, of which Python would keep the last.

    Args:
        key: the key.
    """

    def __init__(self, key: str) -> None:
        super().__init__("", "", 0)
        self.args = (f"the key {key[:_LONGEST_KEY]!r} is there twice in one object",)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of some keys and values.

    Raises:
        RepeatedKeyError: a key is there twice.
    """
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        key = next(key for place, key in enumerate(keys) if key in keys[:place])
        raise RepeatedKeyError(key)
    return made


_decode = json.JSONDecoder(object_pairs_hook=_object).decode
"""The decoder of all JSON from outside; making one for each of many lines would take long."""


def parse_json(text: str | bytes) -> Any:  # noqa: ANN401  # as json.loads: anything JSON has
    """The value of a JSON text.

    Args:
        text: the text of one document; bytes are UTF-8, with or without a byte order mark.

    Raises:
        json.JSONDecodeError: the text is not JSON, has an object with a key twice, is nested too
            deeply, or has a number of hundreds of digits or half of a surrogate pair, which is not
            a character.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise json.JSONDecodeError("not UTF-8", "", 0) from error
    try:
        # This hook slows parsing down, so it is used only for a text that may have such a number.
        value = _decode_long(text) if _has_long(text) else _decode(text)
        if _has_surrogate(text):
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError:
        raise
    except RecursionError as error:
        raise json.JSONDecodeError(_too_deep(), text, 0) from error
    except UnicodeEncodeError as error:
        raise json.JSONDecodeError(
            "half of a surrogate pair is not a character", text, 0
        ) from error
    except ValueError as error:
        raise json.JSONDecodeError("a number has too many digits", text, 0) from error
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_deep(value):
        raise json.JSONDecodeError(_too_deep(), text, 0)
    return value


def parse_lines(text: str) -> Iterator[tuple[int, Any]]:
    """The number and the value of each line that is not blank, for a text of JSON Lines.

    In the place of a value that `parse_json` refuses there is its error.
    """
    is_ordinary = not (_has_long(text) or _has_surrogate(text))
    numbered = enumerate(each_line(text), start=1)
    while several := list(itertools.islice(numbered, _LINES_AT_ONCE)):
        lines = {number: line for number, line in several if line.strip()}
        values = _objects([*lines.values()]) if is_ordinary else None
        yield from zip(lines, values or map(_value_or_error, lines.values()), strict=True)


def _objects(lines: Sequence[str]) -> list[Any] | None:
    """The objects in some ordinary lines, in half the time of parsing them one by one.

    None if that must be done, since a line is not an object, or is nested too deeply.
    """
    text = ",".join(lines)
    try:
        values: list[Any] = _decode(f"[{text}]")
    except (json.JSONDecodeError, RecursionError):
        return None
    if len(values) != len(lines) or set(map(type, values)) != {dict}:
        return None
    may_be_deep = text.count("[") + text.count("{") >= len(lines) + MAX_DEPTH
    return None if may_be_deep and any(map(_is_deep, values)) else values


def _value_or_error(line: str) -> Any:  # noqa: ANN401  # anything JSON has
    try:
        return parse_json(line)
    except json.JSONDecodeError as error:
        return error


def each_line(text: str) -> Iterator[str]:
    """The lines of a text one by one, cut at line feeds alone."""
    begin = 0
    while (end := text.find("\n", begin)) >= 0:
        yield text[begin:end]
        begin = end + 1
    yield text[begin:]


def parse_toml(text: str) -> dict[str, Any]:
    """The table of a TOML text.

    Raises:
        tomllib.TOMLDecodeError: the text is not TOML, is nested too deeply, or has a number of
            thousands of digits.
    """
    if any(line.count(".") > MAX_DEPTH and _is_long_key(line) for line in text.split("\n")):
        raise tomllib.TOMLDecodeError(_too_deep())
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError as error:
        raise tomllib.TOMLDecodeError(_too_deep()) from error
    except ValueError as error:
        raise tomllib.TOMLDecodeError("a number has too many digits") from error
    if _is_deep(value):
        raise tomllib.TOMLDecodeError(_too_deep())
    return value


def read_toml(path: Path) -> dict[str, Any]:
    """The table in a TOML file.

    Raises:
        InputError: the file cannot be read, or is not TOML.
    """
    try:
        return parse_toml(read_bytes(path).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(
            where=str(path), seen="is not TOML: it is not text in UTF-8", todo="Name another file."
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            where=str(path), seen=f"is not TOML: {error}", todo="Correct it."
        ) from error


def read_json(path: Path) -> Any:  # noqa: ANN401  # as `parse_json`
    """The value in a JSON file.

    Raises:
        InputError: the file cannot be read, or is not JSON.
    """
    try:
        return parse_json(read_bytes(path))
    except ValueError as error:
        raise InputError(
            where=str(path), seen=f"is not JSON: {error}", todo="Correct it."
        ) from error


def unpack_gzip(data: bytes, *, where: str) -> bytes:
    """The unpacked content of a gzip file.

    Args:
        data: the file's bytes.
        where: name of the file in messages.

    Raises:
        InputError: the file is damaged, or grows more than packed text does.
    """
    most = min(max(SMALL_BYTES, MAX_GROWTH * len(data)), MAX_UNPACKED_BYTES)
    try:
        with gzip.open(io.BytesIO(data)) as file:
            content = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            where=where, seen=f"is damaged ({error})", todo="Fetch or pack it again."
        ) from error
    if len(content) > most:
        raise InputError(
            where=where,
            seen=f"{len(data):,} bytes grow to more than {most:,}",
            todo="No text shrinks so much: do not trust this file, or unpack it yourself.",
        )
    return content


def whole_number(text: str) -> int | None:
    """The whole number that a text denotes; None for other texts and for too many digits.

    Python refuses to convert thousands of digits, so long texts are not converted.
    """
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None


def number_in(text: str) -> float:
    """The number that a text denotes, as Python reads it; NaN for other texts."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def is_very_faulty(validate: Callable[[Any], object], data: object) -> bool:
    """Whether a sample of the long lists in some data has very many faults.

    pydantic makes a record of every fault, which for a list of a hundred thousand wrong values
    takes hundreds of megabytes, so a sample is validated first.

    Args:
        validate: raises pydantic's error for faulty data.
        data: values as parsed from JSON or TOML.
    """
    from pydantic import ValidationError

    if not any(isinstance(value, list) and len(value) > _SAMPLE for value in _values(data)):
        return False
    try:
        validate(_sampled(data, [_SAMPLED]))
    except ValidationError as error:
        return error.error_count() > _SAMPLE // 2
    return False


def refuse_very_faulty(adapter: TypeAdapter[Any], text: str | bytes, *, where: str) -> None:
    """Refuse a JSON text of a record with very long lists of wrong values.

    Args:
        adapter: the adapter of the record.
        text: the text; if it is not JSON, that is left for its reader to report.
        where: name of the text in messages.

    Raises:
        InputError: the text has such lists, or an object with a key twice.
    """
    try:
        data = parse_json(text)
    except RepeatedKeyError as error:
        raise InputError(where=where, seen=str(error), todo="Remove one of the two.") from error
    except ValueError:
        return
    if is_very_faulty(lambda part: adapter.validate_json(json.dumps(part)), data):
        raise InputError(where=where, seen="very many things in it are not what they should be")


def _values(data: object) -> Iterator[object]:
    """A value and all values nested in it."""
    stack = [data]
    while stack:
        value = stack.pop()
        yield value
        if isinstance(value, list):
            stack.extend(child for child in value if isinstance(child, list | dict))
        elif isinstance(value, dict):
            stack.extend(child for child in value.values() if isinstance(child, list | dict))


def _sampled(value: object, left: list[int]) -> object:
    """A value with a random sample from its long lists, so that no file can avoid being sampled.

    Args:
        value: a value as parsed from JSON or TOML.
        left: a list of one number, which counts the elements that may still be taken; each list
            keeps at least one.
    """
    if isinstance(value, dict):
        return {key: _sampled(child, left) for key, child in value.items()}
    if not isinstance(value, list):
        return value
    number = min(len(value), max(1, min(_SAMPLE, left[0])))
    left[0] -= number
    places = sorted(secrets.SystemRandom().sample(range(len(value)), number))
    return [_sampled(value[place], left) for place in places]


def faults_of(error: ValidationError) -> list[tuple[str, str]]:
    """The place and message of each fault that pydantic found.

    Very many faults are only counted, since listing them all would fill the memory.
    """
    count = error.error_count()
    if count > MOST_FAULTS:
        return [("", f"{count:,} things in it are not what they should be")]
    details = error.errors(include_url=False, include_context=False, include_input=False)
    return [(".".join(map(str, detail["loc"])), detail["msg"]) for detail in details]


def fault_in_words(fault: Mapping[str, Any]) -> str:
    """What to give in place of a value that pydantic refuses.

    Args:
        fault: its description of the fault: ``type``, ``input``, ``ctx``, ``msg``.
    """
    kind, bounds, value = str(fault["type"]), fault.get("ctx") or {}, fault.get("input")
    if kind in _KINDS:
        meant = _meant_number(str(value))
        return f"Give {_KINDS[kind]}{f': did you mean {meant}?' if meant else '.'}"
    if kind == "literal_error":
        return f"Give {bounds['expected']}."
    if kind == "greater_than_equal":
        return f"Give {bounds['ge']:g} or more."
    if kind == "less_than_equal" and bounds["le"] != 1:
        return f"Give {bounds['le']:g} or less."
    if kind == "less_than_equal":
        percent = float(str(value))
        meant = f": did you mean {percent / _PERCENT:g}?" if percent <= _PERCENT else "."
        return f"It is a share between 0 and 1{meant}"
    return as_sentence(str(fault["msg"]).removeprefix("Value error, "))


def _meant_number(text: str) -> str:
    """The number that is meant by one with commas or with a percent sign; empty for none."""
    if match := re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", text):
        return f"{float(match[1]) / _PERCENT:g}"
    if re.fullmatch(r"[1-9]\d{0,2}(,\d{3})+", text):
        return text.replace(",", "")
    return text.replace(",", ".") if re.fullmatch(r"\d+,\d+", text) else ""


@contextmanager
def no_collection() -> Iterator[None]:
    """A context without garbage collection, which would take half of the time of reading.

    Reading makes millions of small records, which stay alive and are in no cycle.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            many = gc.get_count()[0] > _MANY_OBJECTS and not _others_are_frozen.is_set()
            if many and gc.get_freeze_count():
                _others_are_frozen.set()
            elif many:
                # Freezing and unfreezing moves the new objects to the oldest generation, which is
                # seldom searched.
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def _has_long(text: str) -> bool:
    return bool(_LONG_SEEN.search(text[::_STEP]) and _LONG.search(text))


def _has_surrogate(text: str) -> bool:
    # One character is found much faster than two.
    return "\\" in text and bool(_SURROGATE.search(text))


def _number(digits: str) -> int:
    """The whole number of some digits.

    Raises:
        ValueError: the number is larger than any floating-point number.
    """
    number = int(digits)
    try:
        float(number)
    except OverflowError as error:
        raise ValueError("too large") from error
    return number


_decode_long = json.JSONDecoder(object_pairs_hook=_object, parse_int=_number).decode


def _is_long_key(line: str) -> bool:
    """Whether a line of TOML begins with a key of very many parts, which the parser reads slowly.

    Quoted parts of a key may contain points too, but no real key has so many in one line.
    """
    key = _KEY_END.split(line, maxsplit=1)[0]
    return key.count(".") > MAX_DEPTH or line.count(".") > _MOST_POINTS


def _is_deep(value: object) -> bool:
    """Whether lists and objects nest deeper than is allowed, found without recursion."""
    level: list[Any] = [value] if type(value) in _CONTAINERS else []
    for _ in range(MAX_DEPTH - 1):
        level = [
            child
            for node in level
            for child in (node.values() if type(node) is dict else node)
            if type(child) in _CONTAINERS
        ]
        if not level:
            return False
    return any(level)


def _too_deep() -> str:
    return f"lists and objects are nested more than {MAX_DEPTH} deep"


def value_at(value: Any, *path: str | int) -> Any:  # noqa: ANN401  # as `parse_json`
    """The value at a place in a JSON value; None if there is no such place.

    Args:
        value: any JSON value.
        path: the key or the number of each step.
    """
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and step < len(value) else None
    return value
