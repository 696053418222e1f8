"""Test pairs whose noun and verb, or noun and adjective, never agree in training text.

The two sentences of a pair differ in one word, which agrees with the subject in the first only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from demo.dice import Dice
from demo.grammar import Grammar
from demo.lexicon import Language, Noun, load_lexicon
from demo.linearize import finish
from demo.partners import Words
from demo.relations import RELATIONS
from demo.trees import Act, Clause, Features, Modifier, Number, Phrase, State

KINDS = ("simple", "attractor")


@dataclass(frozen=True, slots=True)
class Pair:
    """A grammatical and an ungrammatical sentence; ``start``, ``end``: the word that differs.

    Attributes:
        language: of both.
        kind: ``simple``, or ``attractor`` where a noun of the other number is between.
        good: the grammatical one.
        bad: the other.
    """

    language: Language
    kind: str
    good: str
    bad: str

    def target(self, sentence: str) -> tuple[int, int]:
        """Where in a sentence of the pair the word stands that differs, as characters."""
        words = list(zip(self.good.split(" "), self.bad.split(" "), strict=True))
        place = next(i for i, (good, bad) in enumerate(words) if good != bad)
        pieces = sentence.split(" ")
        start = len(" ".join(pieces[:place])) + (1 if place else 0)
        return start, start + len(pieces[place].rstrip("."))


def pairs(language: Language, kind: str, *, count: int, seed: int) -> list[Pair]:
    """Test pairs of one kind, all different.

    Args:
        language: of the sentences.
        kind: ``simple`` or ``attractor``.
        count: how many.
        seed: the same seed gives the same pairs.
    """
    maker = _Maker(language, Dice(seed, 77))
    by_good: dict[str, Pair] = {}
    while len(by_good) < count:
        pair = maker.pair(kind)
        if pair:
            by_good[pair.good] = pair
    return list(by_good.values())


class _Maker:
    def __init__(self, language: Language, dice: Dice) -> None:
        self._language = language
        self._dice = dice
        lexicon = load_lexicon(language)
        self._grammar = Grammar(lexicon, dice)
        self._unseen = Words(lexicon, unseen=True)

    def pair(self, kind: str) -> Pair | None:
        noun = self._dice.pick(self._unseen.nouns("haoctsdvpnle"))
        predicate = self._predicate(noun)
        number: Number = self._dice.pick(("sg", "pl"))
        if predicate is None:
            return None
        plain = Phrase(noun, number, "def")
        wrong = self._wrong(plain.features, predicate)
        subject = self._distracted(plain, wrong) if kind == "attractor" else plain
        if subject is None:
            return None
        clause = Clause(subject, predicate)
        good = self._grammar.linearizer.statement(clause)
        bad = self._grammar.linearizer.statement(clause, agree=wrong)
        return self._checked(kind, finish(good), finish(bad))

    def _predicate(self, noun: Noun) -> Act | State | None:
        verbs = [verb for verb in self._unseen.verbs(noun) if not verb.objects]
        adjectives = self._unseen.adjectives(noun)
        if adjectives and (not verbs or self._dice.chance(0.5)):
            return State(self._dice.pick(adjectives))
        return Act(self._dice.pick(verbs)) if verbs else None

    def _wrong(self, right: Features, predicate: Act | State) -> Features:
        """The other number; of adjectives the other gender, as two words show their number."""
        if isinstance(predicate, State) and self._language != "en":
            return replace(right, gender="f" if right.gender != "f" else "m")
        return replace(right, number="pl" if right.number == "sg" else "sg")

    def _distracted(self, subject: Phrase, wrong: Features) -> Phrase | None:
        """The subject with a noun behind it that has the features of the wrong form."""
        relation, kinds = self._dice.pick(_RELATED)
        outer = next(outer for outer, inner in RELATIONS[relation] if inner == kinds)
        other = self._dice.pick(self._grammar.words.nouns(kinds))
        if subject.noun.kind not in outer or other.gender != wrong.gender:
            return None
        modifier = Modifier(relation, Phrase(other, _opposite(subject.number), "def"))
        return replace(subject, modifier=modifier)

    def _checked(self, kind: str, good: str, bad: str) -> Pair | None:
        words = list(zip(good.split(" "), bad.split(" "), strict=True))
        different = sum(one != other for one, other in words)
        return Pair(self._language, kind, good, bad) if different == 1 else None


def _opposite(number: Number) -> Number:
    return "pl" if number == "sg" else "sg"


_RELATED = tuple(
    (relation, inner) for relation, kind_pairs in RELATIONS.items() for _, inner in kind_pairs
)
