"""Corrections for word boundaries: from probabilities of tokens to probabilities of words.

A tokenizer that marks where words begin says only with the next token that a word has ended: the
tokens of ``lun`` also begin ``lunga``. The probability of a word is that of its tokens times
``Z(after)``, the probability that a word ends after them, divided by ``Z(before)``, the probability
that one ended before them (Pimentel and Meister 2024, doi:10.18653/v1/2024.emnlp-main.1020). In a
row of words the inner factors cancel, so that a term for each token is enough::

    boundary_nats = ln Z(before the token) - ln Z(after the token)

added to the token's surprisal. Where the marks are at the ends of words, Z is 1 after a marked
token, and the correction vanishes but for words that end without the mark.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch

from cimento.errors import UsageError
from cimento.io.tables import BOUNDARY
from cimento.models.base import Encoding, ModelCard
from cimento.models.characters import BYTE_LETTERS
from cimento.models.hf.heads import TokenSet
from cimento.models.settings import BoundaryRule, Policy
from cimento.suites import JsonValue

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from cimento.models.base import FloatArray
    from cimento.models.hf.heads import Read


NOTHING_MARKED = (
    "the tokenizer marks neither beginnings nor ends of words, so that they are not corrected for"
    " their boundaries"
)

Scoring: TypeAlias = Callable[[Sequence[Encoding], "tuple[Read, ...]"], "list[FloatArray]"]


PART_OF_CHARACTER = "\ufffd"
"""The replacement for a character of which a token is only a part."""

_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_NO_BYTE = 0xFF  # UTF-8 has no such byte

_BYTE_OF = {letter: octet for octet, letter in BYTE_LETTERS.items()}


def surfaces_of(tokenizer: PreTrainedTokenizerBase) -> tuple[BoundaryRule, dict[int, str]]:
    """What of words a tokenizer marks, and the text that each token stands for.

    A mark is read as the blank that it stands for. Special tokens stand for no text and are left
    out.

    Returns:
        ``word-start`` (``Ġ`` of byte-level tokenizers, ``▁`` of SentencePiece), ``word-end``
        (``</w>``) or ``none``; token id to text.
    """
    state = tokenizer_state(tokenizer)
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
    """The spelling rules of a tokenizer.

    Attributes:
        suffix: what is at the end of a word; None where nothing does.
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
            octets = bytes(_BYTE_OF.get(char, _NO_BYTE) for char in token)
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


def _values(part: object, *keys: str) -> list[object]:
    """The values of some keys, anywhere in a part of a tokenizer.json."""
    if isinstance(part, list):
        return [value for member in part for value in _values(member, *keys)]
    if not isinstance(part, dict):
        return []
    return [part[key] for key in keys if key in part] + _values(list(part.values()), *keys)


def _first(values: Iterable[object]) -> str | None:
    return next((value for value in values if isinstance(value, str) and value), None)


def tokenizer_state(tokenizer: PreTrainedTokenizerBase) -> dict[str, Any]:
    """The content of a tokenizer's ``tokenizer.json``; of one without, its class and vocabulary."""
    if tokenizer.is_fast:
        state: dict[str, Any] = json.loads(tokenizer.backend_tokenizer.to_str())
        return state
    return {
        "model": {"type": type(tokenizer).__name__},
        "vocabulary": sorted(tokenizer.get_vocab().items()),
        "special": {name: str(token) for name, token in tokenizer.special_tokens_map.items()},
    }


def tokenizer_kind(state: dict[str, JsonValue]) -> str:
    """What kind a tokenizer is, such as ``byte-level BPE``, by the parts that its file names.

    Args:
        state: the content of its ``tokenizer.json``.
    """
    model = state["model"]
    algorithm = str(model.get("type")) if isinstance(model, dict) else ""
    if "ByteLevel" in _values([state.get("pre_tokenizer"), state.get("decoder")], "type"):
        return f"byte-level {algorithm}"
    if algorithm in ("WordPiece", "WordLevel"):
        return algorithm
    around = [state.get(part) for part in ("normalizer", "pre_tokenizer", "decoder")]
    if "▁" not in json.dumps(around, ensure_ascii=False):
        return algorithm
    falls_back = isinstance(model, dict) and model.get("byte_fallback")
    return f"SentencePiece-like {algorithm}" + ", unknown characters as bytes" * bool(falls_back)


@dataclass(frozen=True, slots=True, eq=False)
class Boundaries:
    """The possible ends of words, as sets of a tokenizer's tokens.

    Attributes:
        rule: ``word-start`` or ``word-end``: what the tokenizer marks.
        opening: tokens before which a word has ended, with EOS.
        initial: tokens that can begin a text whose first word bears no mark, with EOS.
        marked: tokens that begin with the mark of a word's beginning.
        closing: tokens after which a word has ended, whatever follows.
        eos: the EOS token that ends words too; empty where none does.
        first: whether the first word of a text is divided by what can come first.
    """

    rule: BoundaryRule
    opening: TokenSet
    initial: TokenSet
    marked: frozenset[int]
    closing: frozenset[int]
    eos: str
    first: bool


def find_boundaries(
    tokenizer: PreTrainedTokenizerBase, policy: Policy, *, vocabulary: int, device: torch.device
) -> Boundaries | None:
    """The boundaries of words in a tokenizer; None if no correction is made.

    Args:
        tokenizer: a fast tokenizer.
        policy: its rule ``auto`` corrects by what the tokenizer marks, if it marks anything. With
            punctuation ``split`` a word also ends before and after every mark, with ``keep`` (as
            in the paper) only at blanks and at the end of the text.
        vocabulary: number of tokens that the model knows.
        device: where the model is.

    Raises:
        UsageError: the tokenizer does not mark what the rule says.
    """
    rule = policy.boundary
    if rule == "none":
        return None
    marks, surfaces = surfaces_of(tokenizer)
    if rule == "auto" and marks == "none":
        return None
    if rule not in ("auto", marks):
        what = {"none": "nothing", "word-start": "beginnings", "word-end": "ends"}[marks]
        raise UsageError(
            where=f"--boundary={rule}",
            seen=f"of words the tokenizer of {tokenizer.name_or_path!r} marks {what}",
            todo="Say --boundary=auto.",
        )
    known = {number: text for number, text in surfaces.items() if number < vocabulary}
    end = tokenizer.eos_token_id
    ends_words = policy.boundary_eos and end is not None and end < vocabulary
    eos = {int(end)} if ends_words else set()
    ends = _is_blank_or_mark if policy.punctuation == "split" else str.isspace
    marked = {number for number, text in known.items() if text[0].isspace()}
    opening = {number for number, text in known.items() if ends(text[0])} | eos
    return Boundaries(
        rule=marks,
        opening=_token_set(opening, device),
        initial=_token_set((set(known) - marked) | eos, device),
        marked=frozenset(marked),
        closing=frozenset(n for n, text in known.items() if ends(text[-1])),
        eos=str(tokenizer.eos_token) if eos else "",
        first=policy.boundary_first == "initial",
    )


def card_with_boundaries(card: ModelCard, *, bos: str, boundaries: Boundaries | None) -> ModelCard:
    """A model's card with what comes before its texts, and how its words are corrected."""
    if boundaries is None:
        return dataclasses.replace(card, bos=bos)
    details = card.details | {"boundary_eos": boundaries.eos}
    return dataclasses.replace(card, bos=bos, boundary=boundaries.rule, details=details)


def with_boundaries(
    encoded: Sequence[Encoding],
    columns: Sequence[Read],
    *,
    boundaries: Boundaries,
    text_starts: Sequence[int],
    score: Scoring,
) -> list[FloatArray]:
    """Scores of texts with the terms for word boundaries among the columns.

    Args:
        encoded: what is asked.
        columns: what is read besides log-probabilities, `BOUNDARY` among them.
        boundaries: of the model's tokenizer.
        text_starts: for each text, where its tokens begin, a context's too where a model reads
            the two as one.
        score: scores texts with columns of the other kinds.
    """
    others = tuple(column for column in columns if column != BOUNDARY)
    place = 1 + list(columns).index(BOUNDARY)
    longer = [_with_next(text) for text in encoded]
    tables = score(longer, (*others, boundaries.opening, boundaries.initial))
    results = []
    for text, more, table, start in zip(encoded, longer, tables, text_starts, strict=True):
        row_of = {index: row for row, index in enumerate(more.wanted)}
        log_z = {
            index: _log_z(index, more.ids, table[row], boundaries, text_start=start)
            for index, row in row_of.items()
        }
        terms = [log_z[index] - log_z[index + 1] for index in text.wanted]
        rows = table[[row_of[index] for index in text.wanted], : 1 + len(others)]
        results.append(np.insert(rows, place, terms, axis=1))
    return results


def _with_next(text: Encoding) -> Encoding:
    """A text that also wants the token after each that it wants.

    Something is in for the token after the last one: what comes there is never read, only
    what the model expects there.
    """
    wanted = sorted({*text.wanted, *(index + 1 for index in text.wanted)})
    ends = bool(wanted) and wanted[-1] == len(text.ids)
    ids = (*text.ids, text.ids[-1]) if ends else text.ids
    return dataclasses.replace(text, ids=ids, wanted=tuple(wanted))


def _log_z(
    index: int, ids: Sequence[int], read: FloatArray, boundaries: Boundaries, *, text_start: int
) -> float:
    """The log of Z where the token at `index` follows: of a word having ended before it."""
    opening, initial = read[-2:]
    if index == 0:
        return math.nan
    if index == text_start:
        # The first word: divided by what can be at the beginning of a text, B in the paper.
        if boundaries.rule == "word-end" or not boundaries.first:
            return 0.0
        return float(opening if ids[index] in boundaries.marked else initial)
    return 0.0 if ids[index - 1] in boundaries.closing else float(opening)


def _is_blank_or_mark(char: str) -> bool:
    return char.isspace() or (char != PART_OF_CHARACTER and unicodedata.category(char)[0] in "PS")


def _token_set(numbers: Iterable[int], device: torch.device) -> TokenSet:
    return TokenSet(torch.tensor(sorted(numbers), dtype=torch.long, device=device))
