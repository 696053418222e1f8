"""Documents to train on, and single sentences that say nothing of the held-out pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from demo.dice import Dice
from demo.discourse import Message, Narrator
from demo.grammar import Grammar
from demo.lexicon import LANGUAGES, load_lexicon


@dataclass(frozen=True, slots=True)
class Document:
    """A text, or a chat; one of the two is empty."""

    language: str
    text: str = ""
    chat: tuple[Message, ...] = ()


def documents(count: int, *, seed: int) -> Iterator[Document]:
    """Sentences, paragraphs, stories and chats in all languages by turns.

    Args:
        count: how many documents.
        seed: the same seed gives the same documents.
    """
    writers = [_Writer(language, seed=seed) for language in LANGUAGES]
    for number in range(count):
        yield writers[number % len(writers)].document()


class _Writer:
    def __init__(self, language: str, *, seed: int) -> None:
        listed = next(known for known in LANGUAGES if known == language)
        self._language = language
        self._dice = Dice(seed, LANGUAGES.index(listed))
        self._grammar = Grammar(load_lexicon(listed), self._dice)
        self._narrator = Narrator(self._grammar)

    def document(self) -> Document:
        dice = self._dice
        kind = dice.weighted(
            ("sentence", "paragraph", "story", "long", "chat"), (80.0, 4.0, 8.0, 0.1, 8.0)
        )
        if kind == "chat":
            return Document(self._language, chat=tuple(self._narrator.chat()))
        if kind == "sentence":
            text = self._grammar.sentence()
        elif kind == "paragraph":
            text = " ".join(self._grammar.sentence() for _ in range(dice.pick((2, 3, 4))))
        elif kind == "story":
            text = self._narrator.story(dice.pick((3, 4, 5, 6, 8, 10)))
        else:
            text = self._narrator.story(dice.pick((40, 80, 120)))
        return Document(self._language, text)
