"""Sentences without annotation as CoNLL-U, so that every later step reads them as it reads others.

Words are told from marks, and no more: classes are ``X``, lemmas the words in small letters, and
every word depends on the first one. Rules that look at syntax find nothing there; ``plain`` does,
which looks at forms alone.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

THIRDS = 3

_TOKEN = re.compile(
    r"https?://\S+|www\.\S+"  # addresses
    r"|[@#]\w+"  # mentions and hashtags
    r"|\w+['’](?=\w)"  # l' before a word
    r"|\b(?:perche|pero|cioe|piu|po|di|da|fa|va|sta)['’](?!\w)"  # an accent or a cut written so
    r"|\w+(?:[-.]\w+)*"  # words, numbers with points
    r"|\.{2,}|[!?]+|[^\w\s]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PlainSentence:
    """A sentence without annotation.

    Attributes:
        id: unique in its file.
        text: with single blanks, in NFC.
        comments: name to text, written above it.
    """

    id: str
    text: str
    comments: Mapping[str, str] = field(default_factory=dict)


def normalised(text: str) -> str:
    """A text in NFC, with single blanks and without control characters."""
    composed = unicodedata.normalize("NFC", text)
    kept = (" " if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char for char in composed)
    return " ".join("".join(kept).split())


def tokens(text: str) -> Iterator[tuple[str, bool]]:
    """The tokens of a text, and whether a blank follows each."""
    for found in _TOKEN.finditer(text):
        yield found[0], text[found.end() : found.end() + 1] in ("", " ")


def as_conllu(sentences: Iterable[PlainSentence]) -> Iterator[str]:
    """Sentences as CoNLL-U, one text each."""
    for each in sentences:
        lines = [f"# sent_id = {each.id}", f"# text = {each.text}", "# annotation = none"]
        lines += [f"# {name} = {' '.join(text.split())}" for name, text in each.comments.items()]
        for number, (form, blank) in enumerate(tokens(each.text), start=1):
            head, relation = ("0", "root") if number == 1 else ("1", "dep")
            misc = "_" if blank else "SpaceAfter=No"
            lines.append(
                "\t".join((str(number), form, form.lower(), "X", "_", "_", head, relation, "_",
                           misc))
            )  # fmt: skip
        yield "\n".join(lines) + "\n\n"


def balanced(
    members: Sequence[T], lengths: Sequence[int], *, n: int | None, seed: int
) -> tuple[T, ...]:
    """Some of several things, drawn by seed in turn from thirds of length; mixed.

    Args:
        members: that are drawn from.
        lengths: of each.
        n: how many; None for all.
        seed: of the draw and of the order.
    """
    generator = random.Random(seed)  # noqa: S311  # a draw, not a secret
    order = sorted(range(len(members)), key=lambda place: lengths[place])
    cuts = [len(order) * k // THIRDS for k in range(THIRDS + 1)]
    strata = [order[cuts[k] : cuts[k + 1]] for k in range(THIRDS)]
    for stratum in strata:
        generator.shuffle(stratum)
    wanted = len(members) if n is None else min(n, len(members))
    taken: list[int] = []
    while len(taken) < wanted:
        for stratum in strata:
            if stratum and len(taken) < wanted:
                taken.append(stratum.pop())
    generator.shuffle(taken)
    return tuple(members[place] for place in taken)
