"""Offsets of tokens from tokenizers that give none, found by the bytes that tokens stand for.

Tokenizers that are written in Python (of bytes and characters, such as that of ByT5, and some for
Japanese) tell the tokens of a text, but not where they stand. A token may stand for one byte (a
character up to U+00FF in its place, or ``<0xE3>``), for bytes in the alphabet of byte-level
tokenizers, or for the characters of its name without the marks of words (``▁``, ``##``, ``</w>``).
The reading by which the tokens add up to the text is the right one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from cimento.models.characters import BYTE_LETTERS
from cimento.suites.stimuli import Span

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_OCTETS = {letter: octet for octet, letter in BYTE_LETTERS.items()}
_LATIN = 0x100
_SPACE = 0x20
_LATER = 0b10
"""The first bits of the bytes of a character after its first one."""


def byte_offsets(text: str, tokens: Sequence[str], *, unknown: str = "") -> list[Span] | None:
    """The character offsets of the tokens of a text; None if no reading adds up to it.

    A token of a part of a character has the offsets of that character, as in byte-level tokenizers.

    Args:
        text: the text.
        tokens: its tokens, as the tokenizer spells them.
        unknown: the token for what is not in the vocabulary, which stands for one character.

    Example:
        >>> byte_offsets("è q", ["Ã", "¨", " ", "q"])
        [(0, 1), (0, 1), (1, 2), (2, 3)]
    """
    data = text.encode()
    starts = [place for place, character in enumerate(text) for _ in character.encode()]
    for spell in (_as_byte, _as_letters, _as_name):
        spans = _walk(data, tokens, spell, unknown)
        if spans is not None:
            return [
                (starts[low], starts[high - 1] + 1) if high > low else _empty(starts, low, text)
                for low, high in spans
            ]
    return None


def _empty(starts: Sequence[int], place: int, text: str) -> Span:
    at = starts[place] if place < len(starts) else len(text)
    return (at, at)


def _walk(
    data: bytes, tokens: Sequence[str], spell: Callable[[str], bytes | None], unknown: str
) -> list[Span] | None:
    """The byte offsets of tokens, between which only blanks may be left out."""
    spans: list[Span] = []
    at = 0
    for token in tokens:
        piece = None if token == unknown else spell(token)
        if piece is None and token != unknown:
            return None
        start = at
        while start < len(data) and data[start] == _SPACE and not (piece or b"x").startswith(b" "):
            start += 1
        if piece is None:
            at = start + 1
            while at < len(data) and data[at] >> 6 == _LATER:
                at += 1
        elif data.startswith(piece, start):
            at = start + len(piece)
        else:
            return None
        spans.append((start, at))
    return spans if not data[at:].strip() else None


def _as_byte(token: str) -> bytes | None:
    """One byte: ByT5 writes it as the character of that number."""
    if match := _BYTE.fullmatch(token):
        return bytes([int(match[1], 16)])
    return bytes([ord(token)]) if len(token) == 1 and ord(token) < _LATIN else None


def _as_letters(token: str) -> bytes | None:
    """Bytes in the alphabet of byte-level tokenizers."""
    octets = [_OCTETS.get(letter) for letter in token]
    return None if None in octets else bytes(octet for octet in octets if octet is not None)


def _as_name(token: str) -> bytes | None:
    """The characters of a token's name, without the marks of words."""
    if match := _BYTE.fullmatch(token):
        return bytes([int(match[1], 16)])
    plain = token.removeprefix("##").removesuffix("</w>").removesuffix("@@")
    return plain.replace("▁", " ").lstrip().encode()
