"""Corrections for word boundaries: from probabilities of tokens to probabilities of words.

A tokenizer that marks where words begin says only with the next token that a word has ended: the
tokens of ``lun`` also begin ``lunga``. The probability of a word is that of its tokens times
``Z(after)``, the probability that a word ends after them, divided by ``Z(before)``, the probability
that one ended before them (Pimentel and Meister 2024, doi:10.18653/v1/2024.emnlp-main.1020). In a
row of words the inner factors cancel, so that a term for each token is enough::

    boundary_nats = ln Z(before the token) - ln Z(after the token)

added to the token's surprisal. Where the marks stand at the ends of words, Z is 1 after a marked
token, and the correction vanishes but for words that end without the mark.
"""

from __future__ import annotations

import dataclasses
import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch

from cimento.errors import UsageError
from cimento.io.tables import BOUNDARY
from cimento.models.base import BoundaryRule, Encoded, ModelCard, Policy
from cimento.models.hf.heads import TokenSet
from cimento.models.tokens.facts import PART_OF_CHARACTER, surfaces_of

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from cimento.models.base import FloatArray
    from cimento.models.hf.heads import Read

NOTHING_MARKED = (
    "the tokenizer marks neither beginnings nor ends of words, so that they are not corrected for"
    " their boundaries"
)

Scoring: TypeAlias = Callable[[Sequence[Encoded], "tuple[Read, ...]"], "list[FloatArray]"]


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
        first: whether the first word of a text is divided by what can stand first.
    """

    rule: BoundaryRule
    opening: TokenSet
    initial: TokenSet
    marked: frozenset[int]
    closing: frozenset[int]
    eos: str
    first: bool


def find_boundaries(
    tokenizer: PreTrainedTokenizerBase,
    policy: Policy,
    *,
    vocabulary: int,
    device: torch.device,
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
            where=f"--boundary {rule}",
            seen=f"of words the tokenizer of {tokenizer.name_or_path!r} marks {what}",
            todo="Say --boundary auto.",
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


def described(card: ModelCard, *, bos: str, found: Boundaries | None) -> ModelCard:
    """A model's card with what stands before its texts, and how its words are corrected."""
    if found is None:
        return dataclasses.replace(card, bos=bos)
    details = card.details | {"boundary_eos": found.eos}
    return dataclasses.replace(card, bos=bos, boundary=found.rule, details=details)


def with_boundaries(
    encoded: Sequence[Encoded],
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


def _with_next(text: Encoded) -> Encoded:
    """A text that also wants the token after each that it wants.

    Something stands in for the token after the last one: what comes there is never read, only
    what the model expects there.
    """
    wanted = sorted({*text.wanted, *(index + 1 for index in text.wanted)})
    ends = bool(wanted) and wanted[-1] == len(text.ids)
    ids = (*text.ids, text.ids[-1]) if ends else text.ids
    return dataclasses.replace(text, ids=ids, wanted=tuple(wanted))


def _log_z(
    index: int,
    ids: Sequence[int],
    read: FloatArray,
    boundaries: Boundaries,
    *,
    text_start: int,
) -> float:
    """The log of Z where the token at `index` follows: of a word having ended before it."""
    opening, initial = read[-2:]
    if index == 0:
        return math.nan
    if index == text_start:
        # The first word: divided by what can stand at the beginning of a text, B in the paper.
        if boundaries.rule == "word-end" or not boundaries.first:
            return 0.0
        return float(opening if ids[index] in boundaries.marked else initial)
    return 0.0 if ids[index - 1] in boundaries.closing else float(opening)


def _is_blank_or_mark(char: str) -> bool:
    return char.isspace() or (char != PART_OF_CHARACTER and unicodedata.category(char)[0] in "PS")


def _token_set(numbers: Iterable[int], device: torch.device) -> TokenSet:
    return TokenSet(torch.tensor(sorted(numbers), dtype=torch.long, device=device))
