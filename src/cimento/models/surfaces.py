"""What a tokenizer marks of words, and the text that each of its tokens stands for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.models.base import BoundaryRule

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

UNKNOWN = "\ufffd"
"""Stands for a character of which a token is only a part."""

_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_NO_BYTE = 0xFF  # UTF-8 has no such byte


def surfaces_of(tokenizer: PreTrainedTokenizerBase) -> tuple[BoundaryRule, dict[int, str]]:
    """What of words a tokenizer marks, and the text that each token stands for.

    A mark is read as the blank that it stands for. Special tokens stand for no text and are left
    out.

    Returns:
        ``word-start`` (``Ġ`` of byte-level tokenizers, ``▁`` of SentencePiece), ``word-end``
        (``</w>``) or ``none``; token id to text.
    """
    state = json.loads(tokenizer.backend_tokenizer.to_str())
    around = [state.get("pre_tokenizer"), state.get("decoder")]
    spelling = _Spelling(
        suffix=_first([state["model"].get("end_of_word_suffix"), *_values(around, "suffix")]),
        bytewise="ByteLevel" in _values(around, "type"),
        blank=_blank([*around, state.get("normalizer")]),
    )
    added = tokenizer.added_tokens_decoder
    special = {number for number, token in added.items() if token.special}
    special |= {int(number) for number in tokenizer.all_special_ids}
    surfaces = {
        number: token if number in added else spelling.text_of(token)
        for token, number in tokenizer.get_vocab().items()
        if token and number not in special
    }
    if spelling.suffix and any(text.endswith(" ") for text in surfaces.values()):
        return "word-end", surfaces
    begins = any(text.startswith(" ") and text.strip() for text in surfaces.values())
    return ("word-start" if begins else "none"), surfaces


@dataclass(frozen=True, slots=True)
class _Spelling:
    """How a tokenizer spells text.

    Attributes:
        suffix: what stands at the end of a word; None where nothing does.
        bytewise: whether each character stands for a byte.
        blank: what stands for a blank; None where nothing does.
    """

    suffix: str | None
    bytewise: bool
    blank: str | None

    def text_of(self, token: str) -> str:
        """The text of a token that is not an added one."""
        if self.suffix and token.endswith(self.suffix):
            return self._plain(token.removesuffix(self.suffix)) + " "
        return self._plain(token)

    def _plain(self, token: str) -> str:
        if self.bytewise:
            octets = bytes(_BYTES.get(char, _NO_BYTE) for char in token)
            return octets.decode(errors="replace")
        octet = _BYTE.fullmatch(token)
        if octet:
            return bytes.fromhex(octet[1]).decode("ascii", errors="replace")
        return token.replace(self.blank, " ") if self.blank else token


def _blank(parts: list[object]) -> str | None:
    """What stands for a blank in SentencePiece's way, in one of the forms it is written in."""
    named = _first(_values(parts, "replacement"))
    replaced = "▁" in _values(parts, "String", "content")
    return named or ("▁" if replaced else None)


def _byte_alphabet() -> Mapping[str, int]:
    """The characters that byte-level tokenizers write for bytes.

    Printable bytes of Latin-1 stand for themselves; the others are numbered from U+0100 on.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [octet for octet in range(0x100) if octet not in set(printable)]
    return {chr(octet): octet for octet in printable} | {
        chr(0x100 + number): octet for number, octet in enumerate(others)
    }


_BYTES = _byte_alphabet()


def _values(part: object, *keys: str) -> list[object]:
    """The values of some keys, anywhere in a part of a tokenizer.json."""
    if isinstance(part, list):
        return [value for each in part for value in _values(each, *keys)]
    if not isinstance(part, dict):
        return []
    return [part[key] for key in keys if key in part] + _values(list(part.values()), *keys)


def _first(values: Iterable[object]) -> str | None:
    return next((value for value in values if isinstance(value, str) and value), None)
