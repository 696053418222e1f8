"""Which words go with which nouns, and which pairs are held out."""

from __future__ import annotations

from functools import cached_property

from demo.lexicon import Adjective, Lexicon, Noun, Verb, held_out


class Words:
    """The lexicon by kind, with the partners each noun may have.

    Args:
        lexicon: of one language.
        unseen: False for training text, which leaves held-out pairs out; True for tests,
            which have nothing else.
    """

    def __init__(self, lexicon: Lexicon, *, unseen: bool = False) -> None:
        self.lexicon = lexicon
        self._unseen = unseen
        self._by_kinds: dict[str, tuple[Noun, ...]] = {}
        self._verbs: dict[tuple[str, str], tuple[Verb, ...]] = {}
        self._adjectives: dict[str, tuple[Adjective, ...]] = {}

    def nouns(self, kinds: str) -> tuple[Noun, ...]:
        """The nouns of these kinds."""
        if kinds not in self._by_kinds:
            nouns = tuple(noun for noun in self.lexicon.nouns if noun.kind in kinds)
            self._by_kinds[kinds] = nouns
        return self._by_kinds[kinds]

    def _allowed(self, noun: Noun, lemma: str) -> bool:
        return held_out(self.lexicon.language, noun.lemma, lemma) is self._unseen

    def verbs(self, noun: Noun) -> tuple[Verb, ...]:
        """The verbs that may agree with a noun."""
        key = (noun.lemma, noun.kind)
        if key not in self._verbs:
            self._verbs[key] = tuple(
                verb
                for verb in self.lexicon.verbs
                if noun.kind in verb.subjects
                and verb.objects != "P"
                and self._allowed(noun, verb.lemma)
            )
        return self._verbs[key]

    def adjectives(self, noun: Noun) -> tuple[Adjective, ...]:
        """The adjectives that may agree with a noun."""
        if noun.lemma not in self._adjectives:
            self._adjectives[noun.lemma] = tuple(
                adjective
                for adjective in self.lexicon.adjectives
                if noun.kind in adjective.kinds and self._allowed(noun, adjective.lemma)
            )
        return self._adjectives[noun.lemma]

    @cached_property
    def human_verbs(self) -> tuple[Verb, ...]:
        """What names and pronouns do."""
        return tuple(
            verb for verb in self.lexicon.verbs if "h" in verb.subjects and verb.objects != "P"
        )

    def linkers(self, noun: Noun | None) -> tuple[Verb, ...]:
        """Verbs that come before a predicative adjective in place of the copula."""
        return tuple(
            verb for verb in self._linkers if noun is None or self._allowed(noun, verb.lemma)
        )

    @cached_property
    def _linkers(self) -> tuple[Verb, ...]:
        return tuple(verb for verb in self.lexicon.verbs if verb.objects == "P")

    @cached_property
    def human_adjectives(self) -> tuple[Adjective, ...]:
        """What names and pronouns are."""
        return tuple(a for a in self.lexicon.adjectives if "h" in a.kinds)
