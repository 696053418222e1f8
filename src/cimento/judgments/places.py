"""Which item an answer is about, found by its id or by the text that was shown."""

from __future__ import annotations

import difflib
import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cimento.errors import InputError, did_you_mean

_TAG = re.compile(r"<[^<>]*>")
_BRACKETED = re.compile(r".*\[(?P<row>[^\[\]]+)\]\s*")
"""How form programs head the columns of a grid: the question, and its row in brackets."""

_SHOWN = 3


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
        self._hints: dict[str, str] = {}
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
        """Names that are like one that is not known; else some names, the first ones."""
        if name not in self._hints:
            key, known = plain(name), self._by_name
            close = difflib.get_close_matches(key, known, n=1)
            some = ", ".join(map(repr, itertools.islice(known, _SHOWN)))
            self._hints[name] = (
                did_you_mean(key, known)
                if close
                else f"Is it the suite that was asked? Its items are called {some} ..."
            )
        return self._hints[name]


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
