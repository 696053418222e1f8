"""What the tests hold cimento's scores against: one sentence at a time, nothing padded or shared.

Written apart from the package, on the `tokenizers` library and the model's own forward pass.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import regex
import torch
from tokenizers import Tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# Short and long, in several scripts; not among the sentences that the tokenizers were trained on.
TEXTS = (
    "Sì.",
    "L'amica della zia canta.",
    "Las llaves del armario están en la mesa de la cocina.",
    "Кошки, которых видел сосед, спят.",
    "Nell'orto dell'anziana c'erano già le fragole, però nessuno le raccoglieva più.",
    "Os meninos não comeram a maçã vermelha 🍎, nem a pêra.",
    "«Où est-il?», asked the children's teacher (twice).",
    "Cafe\u0301 e citta\u0300: o\u0301чень хорошо\u0301.",
    "The author that the critics near the lake admire   writes \t every morning.",
    "Las llaves del armario está en la mesa de la cocina.",
    "Las llaves del armario",
    "Zażółć gęślą jaźń, 北京 and ελληνικά are outside of the vocabulary.",
)


@dataclass(frozen=True)
class Tokens:
    """A text's tokens.

    Attributes:
        ids: token ids, nothing special around them.
        starts: first character of each token that is not blank; the length of the text where
            none follows.
        apart: whether each token is nothing but blanks, and comes before another blank or at the
            end: it is part of no word.
    """

    ids: list[int]
    starts: list[int]
    apart: list[bool]


def tokens_of(folder: Path, text: str) -> Tokens:
    """Tokenize with the file that was saved, without transformers."""
    tokenizer = _tokenizer((folder / "tokenizer.json").read_bytes())
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    spans = tokenizer.encode(text, add_special_tokens=False).offsets
    apart = [
        not text[start:end].strip() and not text[end : end + 1].strip() for start, end in spans
    ]
    return Tokens(ids=ids, starts=starts_of(tokenizer, text), apart=apart)


_tokenizer = functools.cache(Tokenizer.from_buffer)


def starts_of(tokenizer: Tokenizer, text: str) -> list[int]:
    """The first character of each token that is not blank."""
    offsets = tokenizer.encode(text, add_special_tokens=False).offsets
    return [len(text) - len(text[start:].lstrip()) for start, _end in offsets]


_ALONE = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]"
"""Letters of scripts that put no blanks between words, each of which is one."""
WORDS = {
    "split": rf"[\p{{P}}\p{{S}}]|{_ALONE}\p{{M}}*|(?:(?!{_ALONE})[^\s\p{{P}}\p{{S}}])+",
    "keep": rf"{_ALONE}[\p{{M}}\p{{P}}\p{{S}}]*|(?:(?!{_ALONE})\S)+",
}


def word_numbers(text: str, starts: Sequence[int], *, punctuation: str = "split") -> list[int]:
    """The word that each token begins in; words are found by regular expression."""
    number_at = [-1] * (len(text) + 1)
    words = list(regex.finditer(WORDS[punctuation], text))
    for number, match in enumerate(words):
        for index in range(*match.span()):
            number_at[index] = number
    number_at[len(text)] = len(words) - 1
    return [number_at[start] for start in starts]


def units_of(text: str, tokens: Tokens, *, punctuation: str = "split") -> list[int]:
    """What is masked together in a word: its number, or one of its own for blanks apart."""
    numbers = word_numbers(text, tokens.starts, punctuation=punctuation)
    return [
        -2 - index if apart else number
        for index, (number, apart) in enumerate(zip(numbers, tokens.apart, strict=True))
    ]


def causal(model: PreTrainedModel, before: Sequence[int], ids: Sequence[int]) -> list[float | None]:
    """log P of each token after `before`; None for a token that nothing precedes."""
    sequence = [*before, *ids]
    with torch.no_grad():
        table = model(input_ids=torch.tensor([sequence])).logits[0].float().log_softmax(-1)
    return [
        table[index - 1, sequence[index]].item() if index else None
        for index in range(len(before), len(sequence))
    ]


def masked(
    model: PreTrainedModel,
    before: Sequence[int],
    ids: Sequence[int],
    after: Sequence[int],
    *,
    mask: int,
    words: Sequence[int] | None,
) -> list[float]:
    """Pseudo-log-likelihood of each token; `words` asks for within-word-l2r."""
    copies = []
    for index in range(len(ids)):
        shown = list(ids)
        shown[index] = mask
        for later in range(index + 1, len(ids)):
            if words is not None and words[later] == words[index]:
                shown[later] = mask
        copies.append([*before, *shown, *after])
    # The copies have one length, so that none of them is padded.
    with torch.no_grad():
        logits = model(input_ids=torch.tensor(copies)).logits
    places = torch.arange(len(ids))
    tables = logits[places, len(before) + places].float().log_softmax(-1)
    return tables[places, torch.tensor(ids)].tolist()
