"""Stories and chats: sentences that belong together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from demo.grammar import Grammar
from demo.linearize import finish
from demo.trees import (
    Act,
    Clause,
    Complement,
    Name,
    Phrase,
    Predicate,
    Pronoun,
    State,
    Subject,
)

Role: TypeAlias = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat."""

    role: Role
    content: str


class Narrator:
    """Stories and chats in the language of a grammar."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._dice = grammar.dice
        self._language = grammar.lexicon.language
        self._then = grammar.lexicon.table("adverbs")["then"]

    # Stories

    def story(self, sentences: int) -> str:
        """A hero does things; what was mentioned is taken up again."""
        grammar, dice = self._grammar, self._dice
        hero = self._hero()
        tense = dice.pick(("past", "past", "present"))
        known: list[Phrase] = []
        lines = [self._sentence(Clause(hero, self._predicate(hero), tense), known)]
        if isinstance(hero, Phrase):
            hero = replace(hero, determiner="def")
        while len(lines) < sentences:
            choice = dice.weighted(("hero", "thing", "other"), (6, 3, 2))
            if choice == "thing" and known:
                thing = dice.pick(known[-4:])
                said = self._state(thing, tense)
                if said:
                    lines.append(self._sentence(said, known))
                    continue
            actor = self._refer(hero) if choice != "other" else grammar.subject(kinds="h")
            about = hero if choice != "other" else actor
            clause = Clause(actor, self._predicate(about), tense)
            lines.append(self._sentence(clause, known, link=dice.chance(0.2)))
        return " ".join(lines)

    def _hero(self) -> Subject:
        if self._dice.chance(0.6):
            return self._grammar.name()
        phrase = self._grammar.phrase("ha", depth=2)
        return replace(phrase, determiner="indef", number="sg")

    def _refer(self, hero: Subject) -> Subject:
        if self._dice.chance(0.6):
            features = hero.features
            return Pronoun(features)
        return hero

    def _predicate(self, subject: Subject) -> Predicate:
        while True:
            predicate = self._grammar.about(subject, plain=True)
            if predicate is not None:
                return predicate

    def _state(self, phrase: Phrase, tense: str) -> Clause | None:
        adjectives = self._grammar.words.adjectives(phrase.noun)
        if not adjectives:
            return None
        bare = Phrase(phrase.noun, phrase.number, "def")
        return Clause(bare, State(self._dice.pick(adjectives)), tense)

    def _sentence(self, clause: Clause, known: list[Phrase], *, link: bool = False) -> str:
        act = clause.predicate
        if isinstance(act, Act) and isinstance(act.object, Phrase):
            known.append(act.object)
        text = self._grammar.linearizer.statement(clause)
        if link:
            text = f"{self._dice.pick(self._then)} {text}"
        return finish(text, language=self._language)

    # Chats

    def chat(self) -> list[Message]:
        """Facts, questions about them, answers that are right."""
        dice = self._dice
        facts = [self._fact() for _ in range(dice.pick((1, 1, 2, 3)))]
        statements = " ".join(self._say(fact) for fact in facts)
        messages = []
        if dice.chance(0.5):
            system = dice.pick(self._grammar.lexicon.words("system"))
            messages.append(Message("system", system))
        for turn in range(dice.pick((1, 1, 2))):
            question, answer = self._exchange(dice.pick(facts))
            asked = f"{statements} {question}" if turn == 0 else question
            messages += [Message("user", asked), Message("assistant", answer)]
        return messages

    def _fact(self) -> Clause:
        while True:
            clause = self._grammar.clause(plain=True, kinds="h")
            act = clause.predicate
            if clause.negated or not isinstance(act, Act) or isinstance(act.object, Complement):
                continue
            return replace(clause, adverb="", frequency="")

    def _say(self, clause: Clause) -> str:
        return finish(self._grammar.linearizer.statement(clause), language=self._language)

    def _ask(self, clause: Clause, word: str) -> str:
        text = self._grammar.linearizer.content(clause, word)
        return finish(text, "?", language=self._language)

    def _exchange(self, fact: Clause) -> tuple[str, str]:
        kind = self._dice.weighted(("who", "object", "yes", "no"), (4, 3, 2, 2))
        act = fact.predicate
        if kind == "object" and isinstance(act, Act) and self._can_ask_object(act):
            human = isinstance(act.object, Name) or (
                isinstance(act.object, Phrase) and act.object.noun.kind == "h"
            )
            asked = replace(fact, predicate=replace(act, object=None), gap="object")
            return self._ask(asked, "who" if human else "what"), self._say(fact)
        if kind == "who":
            return self._ask(replace(fact, subject=None, gap="subject"), "who"), self._say(fact)
        linearizer, lexicon = self._grammar.linearizer, self._grammar.lexicon
        if kind == "no":
            asked = replace(fact, subject=self._grammar.name())
            answer = f"{lexicon.text('no')}, {linearizer.statement(fact)}"
        else:
            asked = fact
            answer = f"{lexicon.text('yes')}, {linearizer.statement(fact)}"
        question = finish(linearizer.polar(asked), "?", language=self._language)
        return question, finish(answer, language=self._language)

    def _can_ask_object(self, act: Act) -> bool:
        return bool(act.object) and not act.verb.preposition and act.verb.case == "acc"
