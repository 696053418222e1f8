"""Where the connectives of an inventory stand in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from cimento.corpus.inventories import Connective, Inventory, Spelling, normal
from cimento.corpus.records import Sentence

By: TypeAlias = Literal["lemma", "form", "exact"]
"""``lemma``; ``form`` without regard to case; ``exact``: the form with its case."""

BYS: tuple[By, ...] = get_args(By)


@dataclass(frozen=True, slots=True)
class Match:
    """A connective in a sentence.

    Attributes:
        connective: its name.
        word_ids: IDs of its words, in order.
    """

    connective: str
    word_ids: tuple[int, ...]


_Unit: TypeAlias = tuple[str, int, int]
"""What is compared, and the first and the last word that it stands for."""


class Matcher:
    """Finds the connectives of an inventory.

    Connectives of one word are found by lemma or form, those of several by form alone, since
    treebanks take fixed expressions apart (``dato che`` has the lemma ``dare``). They are looked
    for among words and among tokens, so that ``a causa di`` is found in *a causa del* and ``del
    resto`` in *del resto*.

    Args:
        inventory: what to look for.
        by: how words of single-word connectives are compared.
        all_spellings: whether all spellings count, or only the one that is the connective's name.
        longest: whether a connective inside a longer one (``se`` in ``anche se``) is left out.
    """

    def __init__(
        self,
        inventory: Inventory,
        *,
        by: By = "lemma",
        all_spellings: bool = True,
        longest: bool = True,
    ) -> None:
        self._by = by
        self._longest = longest
        self._single: dict[str, list[str]] = {}
        self._several: dict[str, list[tuple[str, Spelling]]] = {}
        for connective in inventory.connectives:
            kept = connective.spellings if all_spellings else connective.spellings[:1]
            for spelling in kept:
                self._add(connective, spelling)

    def _add(self, connective: Connective, spelling: Spelling) -> None:
        if len(spelling) == 1 and len(spelling[0]) == 1:
            self._single.setdefault(spelling[0][0], []).append(connective.name)
        else:
            self._several.setdefault(spelling[0][0], []).append((connective.name, spelling))

    def find(self, sentence: Sentence) -> list[Match]:
        """The connectives in a sentence, in the order of their first words."""
        found = list(self._find_single(sentence))
        if self._several:
            found += self._find_several(sentence)
            found = _without_shorter(found) if self._longest else list(dict.fromkeys(found))
            found.sort(key=lambda match: match.word_ids)
        return found

    def _find_single(self, sentence: Sentence) -> Iterator[Match]:
        single, by = self._single, self._by
        for word in sentence.words:
            text = word.lemma if by == "lemma" else word.form
            key = text if by == "exact" else text.lower()
            names = single.get(key) or (single.get(key.replace("’", "'")) if "’" in key else None)
            for name in names or ():
                yield Match(name, (word.id,))

    def _find_several(self, sentence: Sentence) -> list[Match]:
        words = [(normal(word.form), word.id, word.id) for word in sentence.words]
        found = list(self._sequences(words))
        if sentence.multiwords:
            tokens = [(normal(each.form), each.first, each.last) for each in sentence.tokens()]
            found += self._sequences(tokens)
        return found

    def _sequences(self, units: Sequence[_Unit]) -> Iterator[Match]:
        used: set[tuple[str, int]] = set()
        for start, unit in enumerate(units):
            for name, spelling in self._several.get(unit[0], ()):
                if (name, start) in used:
                    continue  # the second *sia* of *sia ... sia* begins no other
                places = _places(units, spelling, start)
                if places:
                    used.update((name, place) for place in places)
                    ids = (n for at in places for n in range(units[at][1], units[at][2] + 1))
                    yield Match(name, tuple(ids))


def _places(units: Sequence[_Unit], spelling: Spelling, start: int) -> list[int]:
    """The places of a spelling's words, the first at `start`; empty where they are not there."""
    if not _stands_at(units, spelling[0], start):
        return []
    places = list(range(start, start + len(spelling[0])))
    for part in spelling[1:]:
        after = range(places[-1] + 1, len(units))
        here = next((at for at in after if _stands_at(units, part, at)), None)
        if here is None:
            return []
        places += range(here, here + len(part))
    return places


def _stands_at(units: Sequence[_Unit], part: Sequence[str], start: int) -> bool:
    return len(units) - start >= len(part) and all(
        units[start + n][0] == word for n, word in enumerate(part)
    )


def _without_shorter(found: Iterable[Match]) -> list[Match]:
    """Without repetitions and without matches whose words are all in a longer one."""
    unique = list(dict.fromkeys(found))
    sets = [frozenset(match.word_ids) for match in unique]
    return [
        match
        for match, ids in zip(unique, sets, strict=True)
        if not any(ids < others for others in sets)
    ]
