"""Which item an answer is about, found by its id or by the text that was shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cimento.errors import InputError, did_you_mean

_TAG = re.compile(r"<[^<>]*>")
_BRACKETED = re.compile(r".*\[(?P<row>[^\[\]]+)\]\s*")
"""How form programs head the columns of a grid: the question, and its row in brackets."""


@dataclass(frozen=True, slots=True)
class Place:
    """A question of a suite.

    Attributes:
        suite: name of the suite.
        item: id of the item.
        condition: of the item; empty for blanks.
        text: what was shown.
    """

    suite: str
    item: str
    condition: str
    text: str


class Places:
    """The questions of suites, by everything that they may be called in an answer.

    Args:
        named: each place with its names: an id, an id with its condition, the text.
    """

    def __init__(self, named: Iterable[tuple[Place, Iterable[str]]]) -> None:
        self._by_name: dict[str, set[Place]] = {}
        for place, names in named:
            for name in names:
                if key := plain(name):
                    self._by_name.setdefault(key, set()).add(place)

    def __bool__(self) -> bool:
        """Whether there is any place."""
        return bool(self._by_name)

    def find(self, *names: str, where: str) -> Place | None:
        """The place that the first known name means; None where none is known.

        Raises:
            InputError: a name means more than one place.
        """
        for name in (variant for each in names for variant in _variants(each)):
            found = self._by_name.get(name, set())
            if len(found) > 1:
                shown = ", ".join(sorted(f"{p.item} {p.condition}".strip() for p in found)[:3])
                raise InputError(
                    where=where,
                    seen=f"{name!r} may be any of {shown} ...",
                    todo="Say which by the item's id and its condition.",
                )
            if found:
                return next(iter(found))
        return None

    def hint(self, name: str) -> str:
        """Names that are like one that is not known."""
        return did_you_mean(plain(name), self._by_name)


def plain(text: str) -> str:
    """A text as places are compared: NFC, without tags, with single blanks, one apostrophe."""
    bare = unicodedata.normalize("NFC", _TAG.sub(" ", text)).replace("’", "'")
    return " ".join(bare.split())


def _variants(name: str) -> Iterator[str]:
    whole = plain(name)
    if whole:
        yield whole
    if found := _BRACKETED.fullmatch(whole):
        yield plain(found["row"])
