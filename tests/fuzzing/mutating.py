"""One mutator: what disks, editors, other programs and strangers do to a file."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

Mutation: TypeAlias = Callable[[bytes, random.Random], bytes]

MOST_BYTES = 1_000_000
"""No mutated file is larger."""

_PIECES = (
    b"\x00", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\x85", b"\r", b"\r\n", b"\n", b"\t",
    b"\x1b[2J",
    b'"', b"'", b"\\", b"|", b"[", b"]", b"{", b"}", b"(", b")", b"<", b">", b"&", b"%", b";", b",",
    b"=", b"_", b"-", b"#", b"@", b":", b".", b"___", b"[MASK]", b"{}", b"[]", b"null", b"true",
    b"NaN", b"Infinity", b"-1", b"0", b"1e999", b"0.5", b"9" * 20, b"9" * 5000,
    b"9" * 400,
    b"\\ud800", b"\\u0000", "è".encode(), "𝔘".encode(), "\u202e".encode(), "\u2028".encode(),
    "²".encode(), "١".encode(), "\u00a0".encode(), "a\u0301".encode(), b"../../x", b"=1+1",
    b"__class__",
    b"&a [*a]", b"!!python/object", b"<!ENTITY a 'b'>", b"(2;%match%)", b"(*;%good%)",
)  # fmt: skip
_WORD = re.compile(rb"[\w.%-]+")
_NUMBER = re.compile(rb"\d+")


def mutate(data: bytes, generator: random.Random, others: Sequence[bytes] = ()) -> bytes:
    """A file with one to four things wrong.

    Args:
        data: the file.
        generator: draws what is done to it.
        others: files of the same kind, pieces of which may be mixed in.
    """
    for _ in range(generator.choice((1, 1, 2, 4))):
        if others and generator.random() < 0.1:  # rarely
            data = _crossed(data, generator.choice(others), generator)
        else:
            data = generator.choice(_MUTATIONS)(data, generator)
    return data[:MOST_BYTES]


def _crossed(data: bytes, other: bytes, generator: random.Random) -> bytes:
    start, end = _span(other, generator)
    at = _place(data, generator)
    return data[:at] + other[start:end] + data[at:]


def _place(data: bytes, generator: random.Random) -> int:
    return generator.randint(0, len(data))


def _span(data: bytes, generator: random.Random) -> tuple[int, int]:
    """A stretch, rather a short one."""
    start = _place(data, generator)
    return start, min(len(data), start + generator.choice((1, 1, 2, 4, 16, 64, 256)))


def _flip(data: bytes, generator: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(generator.choice((1, 1, 3, 10))):
        if changed:
            changed[generator.randrange(len(changed))] = generator.randrange(256)
    return bytes(changed)


def _cut(data: bytes, generator: random.Random) -> bytes:
    return data[: _place(data, generator)]


def _remove(data: bytes, generator: random.Random) -> bytes:
    start, end = _span(data, generator)
    return data[:start] + data[end:]


def _insert(data: bytes, generator: random.Random) -> bytes:
    at = _place(data, generator)
    return data[:at] + generator.choice(_PIECES) + data[at:]


def _replace_word(data: bytes, generator: random.Random) -> bytes:
    """Another piece, or another word of the file, in place of a word."""
    words = list(_WORD.finditer(data))
    if not words:
        return data
    match = generator.choice(words)
    piece = generator.choice((generator.choice(words)[0], generator.choice(_PIECES), b""))
    return data[: match.start()] + piece + data[match.end() :]


def _change_number(data: bytes, generator: random.Random) -> bytes:
    numbers = list(_NUMBER.finditer(data))
    if not numbers:
        return data
    match = generator.choice(numbers)
    value = generator.choice((b"0", b"-1", b"1.5", b"7" * 20, b"1e308", b"1e999", b"null", b'"x"'))
    return data[: match.start()] + value + data[match.end() :]


_DIGITS = (
    "٠١٢٣٤٥٦٧٨٩",
    "०१२३४५६७८९",
    "⁰¹²³⁴⁵⁶⁷⁸⁹",
    "０１２３４５６７８９",
    "₀₁₂₃₄₅₆₇₈₉",
    "①②③④⑤⑥⑦⑧⑨⑩",
)
"""Digits of other scripts and kinds; `isdigit` takes some that `int` does not."""


def _other_digits(data: bytes, generator: random.Random) -> bytes:
    """A number in other digits."""
    numbers = list(_NUMBER.finditer(data))
    if not numbers:
        return data
    match, digits = generator.choice(numbers), generator.choice(_DIGITS)
    other = "".join(digits[int(digit)] for digit in match[0][:20].decode())
    return data[: match.start()] + other.encode() + data[match.end() :]


_MEMBER = re.compile(rb'"[^"\\\n]{0,200}"\s*:\s*(?:"[^"\\\n]{0,200}"|[\d.]+|true|false|null)')
_SETTING = re.compile(rb"^[\w.-]+[ \t]*=.*$", re.MULTILINE)


def _repeat_key(data: bytes, generator: random.Random) -> bytes:
    """A key that an object of JSON, or a table of TOML, has twice, with another value."""
    members = list(_MEMBER.finditer(data))
    if members:
        match, other = generator.choice(members), generator.choice(members)
        key, value = match[0].partition(b":")[0], other[0].partition(b":")[2]
        return data[: match.end()] + b"," + key + b":" + value + data[match.end() :]
    settings = list(_SETTING.finditer(data))
    if not settings:
        return data
    match, other = generator.choice(settings), generator.choice(settings)
    again = match[0].partition(b"=")[0] + b"=" + other[0].partition(b"=")[2]
    return data[: match.end()] + b"\n" + again + data[match.end() :]


def _swap_lines(data: bytes, generator: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, other = generator.randrange(len(lines)), generator.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _remove_line(data: bytes, generator: random.Random) -> bytes:
    lines = data.split(b"\n")
    del lines[generator.randrange(len(lines))]
    return b"\n".join(lines)


def _repeat(data: bytes, generator: random.Random) -> bytes:
    """A stretch many times over."""
    start, end = _span(data, generator)
    times = generator.choice((2, 2, 10, 200))
    return data[:start] + data[start:end] * times + data[end:]


def _repeat_line(data: bytes, generator: random.Random) -> bytes:
    lines = data.split(b"\n")
    at = generator.randrange(len(lines))
    return b"\n".join(lines[:at] + [lines[at]] * generator.choice((2, 2, 50)) + lines[at:])


def _recode(data: bytes, generator: random.Random) -> bytes:
    text = data.decode("utf-8", "replace")
    return text.encode(generator.choice(("utf-16", "utf-16-le", "cp1252", "utf-8-sig")), "replace")


def _nest(data: bytes, generator: random.Random) -> bytes:
    """Brackets in brackets, far deeper than a stack."""
    at = _place(data, generator)
    opening, closing = generator.choice(
        ((b"[", b"]"), (b'{"a":', b"}"), (b"(", b")"), (b"<a>", b"</a>"))
    )
    depth = generator.choice((3, 90, 2_000))
    return data[:at] + opening * depth + b"1" + closing * depth + data[at:]


_MUTATIONS: tuple[Mutation, ...] = (
    _flip, _flip, _cut, _remove, _insert, _insert, _insert, _replace_word, _replace_word,
    _change_number, _other_digits, _repeat_key, _swap_lines, _remove_line, _repeat, _repeat_line,
    _recode, _nest,
)  # fmt: skip
