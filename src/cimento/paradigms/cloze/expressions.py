"""Multiword items made from concordances: the keyword's words in braces, each asked in turn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from cimento.corpus.texts import (
    PlainSentence,
    balanced,
    concordance_sentences,
    read_concordance,
    tokens,
)
from cimento.paradigms.cloze.suite import MultiwordItem
from cimento.suites.derived import OTHER, kind_of

NamedBy: TypeAlias = Literal["keyword", "file"]
FEWEST_WORDS = 2
"""Words that an expression must have besides articles and the like."""

_WORD = re.compile(r"\w+(?:-\w+)*")


def items_of_concordances(
    paths: Sequence[Path],
    *,
    language: str,
    named_by: NamedBy,
    per: int | None,
    seed: int,
    shortest: int,
    longest: int,
) -> tuple[list[MultiwordItem], Counter[str]]:
    """Items of the sentences around the keywords, and the number of lines left out by reason.

    Args:
        paths: concordances, as for ``cimento corpus concordance``.
        language: ISO 639-1 code; function words (*al* in *testa al toro*) are not hidden.
        named_by: what an expression is called: its keyword in lower case, or the file it is from,
            which keeps inflected forms (*pecore nere*) together.
        per: sentences for each expression, in turn from thirds of length; None for all.
        seed: seed of the draw and of the order.
        shortest: least number of tokens.
        longest: greatest number of tokens.

    Raises:
        InputError: a file cannot be read.
    """
    counts = Counter[str]()
    grouped: dict[str, list[MultiwordItem]] = {}
    for path in paths:
        found = concordance_sentences(
            read_concordance(path), name=path.stem, seed=seed, shortest=shortest, longest=longest
        )
        counts.update(found.counts)
        for sentence in found.sentences:
            name = path.stem.replace("_", " ") if named_by == "file" else sentence.comments["node"]
            text, reason = _braced(sentence, language)
            if reason:
                counts[reason] += 1
            else:
                columns = {"source": sentence.id, "reference": sentence.comments["reference"]}
                grouped.setdefault(name, []).append(MultiwordItem("", name, text, columns))
    items = []
    for name, group in grouped.items():
        lengths = [len(list(tokens(item.text))) for item in group]
        drawn = balanced(group, lengths, n=per, seed=seed)
        items += [
            MultiwordItem(f"{name}/{number}", name, item.text, item.columns)
            for number, item in enumerate(drawn, start=1)
        ]
    return items, counts


def _braced(sentence: PlainSentence, language: str) -> tuple[str, str]:
    """The sentence with the words of its keyword in braces, or why it cannot be used."""

    def is_content(word: str) -> bool:
        return kind_of(word, language, initial=False) in {OTHER, None}

    parts = sentence.comments["node"].split()
    pattern = r"\s*".join(map(re.escape, parts))
    found = list(re.finditer(rf"(?<!\w){pattern}(?!\w)", sentence.text, re.IGNORECASE))
    if len(found) != 1 or not {"{", "}"}.isdisjoint(sentence.text):
        return "", "keyword not there once, left out"
    start, end = found[0].span()
    marked = _WORD.sub(
        lambda word: f"{{{word[0]}}}" if is_content(word[0].lower()) else word[0],
        sentence.text[start:end],
    )
    if marked.count("{") < FEWEST_WORDS:
        return "", "keyword with one word to hide, left out"
    return sentence.text[:start] + marked + sentence.text[end:], ""
