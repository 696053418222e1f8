"""A probabilistic grammar over trees, the same for every language.

It never lets a held-out noun and verb (or adjective) agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

from demo.dice import Dice
from demo.lexicon import Lexicon, Noun, Verb
from demo.linearize import finish, linearizer
from demo.partners import Words
from demo.relations import RELATIONS, WEIGHTS
from demo.trees import (
    Act,
    Clause,
    Complement,
    Features,
    Modifier,
    Name,
    Number,
    Pair,
    Phrase,
    Place,
    Predicate,
    Pronoun,
    State,
    Subject,
)

_DEEPEST = 2
_PLURAL_ONLY = ("all", "many", "some", "few", "two", "three")


class Grammar:
    """Sentences of one language.

    Args:
        lexicon: its words.
        dice: where chance comes from.
    """

    def __init__(self, lexicon: Lexicon, dice: Dice) -> None:
        self.lexicon = lexicon
        self.dice = dice
        self.words = Words(lexicon)
        self.linearizer = linearizer(lexicon.language)
        names = lexicon.table("names")
        self._names = tuple(Name(text, gender) for gender in ("m", "f") for text in names[gender])
        self._adverbs = lexicon.table("adverbs")
        self._quantities = tuple(
            kind for kind in lexicon.table("determiners") if kind in _PLURAL_ONLY
        )
        self._joins = lexicon.table("joins")["clauses"]
        self._owners = tuple(
            kind for kind in ("own", "your", "our", "their") if kind in lexicon.table("determiners")
        )
        self._owned = "octvpsda" if lexicon.language == "it" else "octvpsdah"
        self._demonstratives = tuple(
            kind for kind in ("this", "that") if kind in lexicon.table("determiners")
        )

    # Parts

    def name(self) -> Name:
        """Somebody."""
        return self.dice.pick(self._names)

    def determiner(self, noun: Noun, number: Number, *, depth: int = 0) -> str:
        """A determiner that goes with the noun and the number; deeper ones are mostly definite."""
        dice = self.dice
        if dice.chance(0.6 if depth == 0 else 0.85):
            return "def"
        if dice.chance(0.4):
            return "indef"
        if noun.kind in self._owned and dice.chance(0.4):
            return dice.pick(self._owners)
        if dice.chance(0.5):
            return dice.pick(self._demonstratives)
        if number == "sg":
            return dice.weighted(("def", "every"), (4, 1))
        return dice.pick(self._quantities)

    def phrase(self, kinds: str, *, depth: int = 0) -> Phrase:
        """A noun phrase; deeper ones carry less."""
        dice = self.dice
        noun = dice.pick(self.words.nouns(kinds))
        return self.around(noun, depth=depth)

    def around(self, noun: Noun, *, depth: int = 0) -> Phrase:
        """A noun phrase with this noun."""
        dice = self.dice
        number: Number = "sg" if noun.kind == "k" or dice.chance(0.5) else "pl"
        phrase = Phrase(noun, number, self.determiner(noun, number, depth=depth))
        adjectives = self.words.adjectives(noun)
        if adjectives and dice.chance(0.22):
            phrase = replace(phrase, adjective=dice.pick(adjectives))
        if depth < _DEEPEST and dice.chance(0.35 if depth == 0 else 0.1):
            modifier = self.modifier(noun, depth=depth + 1)
            owned = phrase.determiner in self._owners
            if modifier and not (owned and modifier.relation == "of"):
                late = modifier.relation in ("of", "for", "with") and dice.chance(0.3)
                phrase = replace(phrase, modifier=modifier, late=late)
        elif depth == 0 and dice.chance(0.12):
            phrase = replace(phrase, relative=self.relative(noun))
        return phrase

    def modifier(self, noun: Noun, *, depth: int = 1) -> Modifier | None:
        """A prepositional phrase for this noun, where there is one for its kind."""
        fitting = [
            (relation, inner)
            for relation, pairs in RELATIONS.items()
            for outer, inner in pairs
            if noun.kind in outer
        ]
        if not fitting:
            return None
        relation, kinds = self.dice.weighted(fitting, [WEIGHTS[name] for name, _ in fitting])
        inner = self.phrase(kinds, depth=depth)
        if inner.noun is noun:
            return None
        if inner.determiner == "indef" and self.dice.chance(0.7):
            inner = replace(inner, determiner="def")
        return Modifier(relation, inner)

    def relative(self, noun: Noun) -> Clause | None:
        """A relative clause about this noun, as its subject or its object."""
        dice = self.dice
        if dice.chance(0.5):
            predicate = self.predicate(noun, depth=2, plain=True)
            if predicate is None:
                return None
            return Clause(None, predicate, self.tense(predicate), gap="subject")
        verb = dice.pick(self._transitive(noun.kind))
        subject = self.someone(noun, verb)
        if subject is None:
            return None
        tense = self.tense(Act(verb))
        return Clause(subject, Act(verb), tense, gap="object")

    def _transitive(self, kind: str) -> Sequence[Verb]:
        return self._transitive_by_kind[kind]

    @cached_property
    def _transitive_by_kind(self) -> dict[str, tuple[Verb, ...]]:
        return {
            kind: tuple(
                verb
                for verb in self.lexicon.verbs
                if kind in verb.objects and not verb.preposition and "h" in verb.subjects
            )
            for kind in "hafkoctpsdvnle"
        }

    def someone(self, other: Noun | None, verb: Verb) -> Subject | None:
        """A person who may do this to another; None where chance finds nobody in three throws."""
        if self.dice.chance(0.3):
            return self.name()
        for _ in range(3):
            phrase = self.phrase("h", depth=2)
            if phrase.noun is not other and verb in self.words.verbs(phrase.noun):
                return phrase
        return None

    def subject(self, *, kinds: str = "") -> Subject:
        """Somebody or something."""
        dice = self.dice
        chosen = dice.weighted(("phrase", "name", "pronoun", "pair"), (75, 8, 10, 4))
        if kinds or chosen == "phrase":
            return self.phrase(kinds or dice.weighted(_SUBJECT_KINDS, _SUBJECT_WEIGHTS))
        if chosen == "name":
            return self.name()
        if chosen == "pronoun":
            return self.pronoun()
        left, right = self.phrase("h", depth=2), self.phrase("h", depth=2)
        if left.noun is right.noun:
            return left
        return Pair(left, right)

    def pronoun(self) -> Pronoun:
        """Any person; second person plural only where the language has it."""
        dice = self.dice
        number: Number = "sg" if dice.chance(0.6) else "pl"
        second = number == "sg" or self.lexicon.language in ("it", "ru", "en")
        person = dice.pick((1, 2, 3) if second else (1, 3))
        features = Features(person, number, dice.pick(("m", "f")))
        return Pronoun(features, silent=dice.chance(0.7))

    def predicate(
        self, noun: Noun | None, *, depth: int = 0, plain: bool = False, other: Noun | None = None
    ) -> Predicate | None:
        """Something said of a noun (None: of a person); None where all of it is held out."""
        dice = self.dice
        verbs = self.words.verbs(noun) if noun else self.words.human_verbs
        adjectives = self.words.adjectives(noun) if noun else self.words.human_adjectives
        if other is not None:
            verbs = tuple(v for v in verbs if v in self.words.verbs(other))
            adjectives = tuple(a for a in adjectives if a in self.words.adjectives(other))
        if plain:
            verbs = tuple(verb for verb in verbs if not set("SQ") & set(verb.objects))
        if adjectives and (not verbs or dice.chance(0.35)):
            degree = dice.pick(self._adverbs["state"]) if dice.chance(0.25) else ""
            linkers = self.words.linkers(noun) if other is None and dice.chance(0.2) else ()
            return State(dice.pick(adjectives), degree, dice.pick(linkers) if linkers else None)
        if noun and noun.kind in "haoc" and dice.chance(0.06):
            return Place("in", self.phrase("p", depth=2))
        if not verbs:
            return None
        verb = dice.pick(verbs)
        if set("SQ") & set(verb.objects):
            return Act(verb, self.complement(verb))
        if not verb.objects:
            return Act(verb)
        phrase = self.object(verb, depth=depth, avoid=noun)
        return Act(verb, phrase)

    def object(self, verb: Verb, *, depth: int = 0, avoid: Noun | None = None) -> Phrase | Name:
        """Something that this can be done to."""
        if "h" in verb.objects and self.dice.chance(0.2):
            return self.name()
        phrase = self.phrase(verb.objects, depth=depth + 1)
        while phrase.noun is avoid:
            phrase = self.phrase(verb.objects, depth=depth + 1)
        return phrase

    def complement(self, verb: Verb) -> Complement:
        """An embedded clause."""
        dice = self.dice
        if "S" in verb.objects and ("Q" not in verb.objects or dice.chance(0.4)):
            return Complement("that", self.clause(plain=True))
        kind = dice.weighted(("whether", "who", "what", "where", "why", "when"), (2, 3, 4, 1, 1, 1))
        if kind == "whether":
            return Complement(kind, self.clause(plain=True))
        return Complement(kind, self.questioned(kind))

    def questioned(self, kind: str) -> Clause:
        """A clause whose subject, object or circumstance is asked for."""
        dice = self.dice
        if kind == "who" and dice.chance(0.6):
            predicate = self.predicate(None, depth=1, plain=True)
            if predicate is None:
                raise ValueError("nobody does anything in this language")
            return Clause(
                None, predicate, self.tense(predicate), gap="subject", adverb=self.adverb("")
            )
        if kind in ("who", "what"):
            asked = "h" if kind == "who" else dice.pick("oftp")
            verb = dice.pick([v for v in self._transitive(asked) if v.case == "acc"])
            subject = self.someone(None, verb) or self.name()
            tense = self.tense(Act(verb))
            return Clause(subject, Act(verb), tense, gap="object", adverb=self.adverb(tense, 0.2))
        clause = self.clause(plain=True)
        while not isinstance(clause.predicate, Act) or (
            kind == "where" and clause.predicate.object
        ):
            clause = self.clause(plain=True)
        return replace(clause, adverb="", frequency="", negated=False)

    # Clauses

    def tense(self, predicate: Predicate) -> str:
        """A tense."""
        if self.lexicon.language == "en" and isinstance(predicate, Act) and self.dice.chance(0.12):
            return "perfect"
        return self.dice.weighted(("present", "past", "imperfect", "future"), (62, 20, 10, 8))

    def adverb(self, tense: str, probability: float = 0.3) -> str:
        """An adverb that goes with the tense, or none."""
        if tense in self._adverbs and self.dice.chance(probability):
            return self.dice.pick(self._adverbs[tense])
        return ""

    def clause(self, *, plain: bool = False, kinds: str = "") -> Clause:
        """A clause; plain ones embed nothing."""
        while True:
            subject = self.subject(kinds=kinds)
            predicate = self.about(subject, plain=plain)
            if predicate is not None:
                break
        tense = self.tense(predicate)
        negated = self.dice.chance(0.1)
        state = isinstance(predicate, State)
        if state and isinstance(predicate, State) and predicate.degree:
            negated = False
        adverb = "" if _embeds(predicate) or state else self.adverb(tense)
        clause = Clause(subject, predicate, tense, negated, adverb)
        often = tense in ("present", "imperfect") and isinstance(predicate, Act)
        if often and not negated and not adverb and self.dice.chance(0.12):
            return replace(clause, frequency=self.dice.pick(self._adverbs["frequency"]))
        return clause

    def about(self, subject: Subject, *, plain: bool = False) -> Predicate | None:
        """Something said of a subject."""
        if isinstance(subject, Phrase):
            return self.predicate(subject.noun, plain=plain)
        if isinstance(subject, Pair) and isinstance(subject.left, Phrase):
            right = subject.right
            other = right.noun if isinstance(right, Phrase) else None
            return self.predicate(subject.left.noun, plain=plain, other=other)
        return self.predicate(None, plain=plain)

    # Sentences

    def sentence(self) -> str:
        """A sentence of any kind, with capital and final mark."""
        kinds: tuple[tuple[Callable[[], str], int], ...] = (
            (self.statement, 66),
            (self.joined, 8),
            (self.polar, 7),
            (self.content, 9),
            (self.distant, 2),
            (self.exists, 6),
            (self.fronted, 4),
        )
        return self.dice.weighted([kind for kind, _ in kinds], [weight for _, weight in kinds])()

    def statement(self) -> str:
        """One clause."""
        return self._finish(self.linearizer.statement(self.clause()))

    def fronted(self) -> str:
        """An adverb, then a clause."""
        clause = replace(self.clause(plain=True), adverb="", frequency="", negated=False)
        adverb = self.adverb(clause.tense, 1.0)
        return self._finish(f"{adverb} {self.linearizer.statement(clause)}".strip())

    def joined(self) -> str:
        """Two clauses."""
        word = self.dice.pick(self._joins)
        comma = "," if self.lexicon.language == "ru" or word in _COMMA_BEFORE else ""
        left = self.linearizer.statement(self.clause(plain=True))
        right = self.linearizer.statement(self.clause(plain=True))
        return self._finish(f"{left}{comma} {word} {right}")

    def polar(self) -> str:
        """A yes-no question."""
        return self._finish(self.linearizer.polar(self.clause(plain=True)), "?")

    def content(self) -> str:
        """A question with a question word."""
        kind = self.dice.weighted(("who", "what", "where", "why", "when"), (4, 4, 2, 1, 1))
        return self._finish(self.linearizer.content(self.questioned(kind), kind), "?")

    def distant(self) -> str:
        """A question about the object of an embedded clause (not in Russian)."""
        if self.lexicon.language == "ru":
            return self.content()
        kind = self.dice.pick(("who", "what"))
        inner = self.questioned(kind)
        matrix = self.dice.pick([v for v in self.lexicon.verbs if v.objects == "S"])
        if inner.gap != "object":
            return self.content()
        subject: Subject = self.name() if self.dice.chance(0.5) else self.pronoun()
        outer = Clause(subject, Act(matrix, Complement("that", inner)), gap="object")
        return self._finish(self.linearizer.content(outer, kind), "?")

    def exists(self) -> str:
        """Something is somewhere."""
        kinds, relation, places = self.dice.pick(
            (
                ("octf", "on", "s"),
                ("has", "in", "p"),
                ("hav", "near", "dspn"),
                ("oct", "near", "ds"),
            )
        )
        phrase = self.phrase(kinds, depth=2)
        determiner = "indef"
        if phrase.number == "pl" and self.dice.chance(0.5):
            determiner = self.dice.pick([kind for kind in self._quantities if kind != "all"])
        phrase = replace(phrase, determiner=determiner)
        place = Place(relation, replace(self.phrase(places, depth=2), determiner="def"))
        return self._finish(self.linearizer.exists(phrase, place))

    def _finish(self, text: str, mark: str = ".") -> str:
        return finish(text, mark, language=self.lexicon.language)


_COMMA_BEFORE = ("ma", "pero", "mas", "but", "anche se", "aunque", "although")
_SUBJECT_KINDS = ("h", "a", "octd", "psvnl", "fk", "e")
_SUBJECT_WEIGHTS = (50, 10, 16, 14, 4, 6)


def _embeds(predicate: Predicate) -> bool:
    return isinstance(predicate, Act) and isinstance(predicate.object, Complement)
