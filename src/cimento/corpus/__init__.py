"""Corpora, and suites made from them: here the sentences of treebanks and their parts of speech.

Treebanks are in CoNLL-U (https://universaldependencies.org/format.html). A measure of how usual the
syntax of a sentence is, whatever its words, is the perplexity of its tags (von Prince and Demberg
2018). The model is of the universal tags, with additive smoothing: ``p(t | h) = (c(h t) + a) /
(c(h) + 18 a)`` for each of the 17 tags and the end, where h are the n - 1 tags before t.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

NO_SPACE = "SpaceAfter=No"


class Word(NamedTuple):
    """A syntactic word: a line with a whole number as its ID.

    It is a named tuple, because a treebank has hundreds of thousands of words.

    Attributes:
        id: number from 1; ``sentence.words[id - 1]`` is this word.
        form: form as written.
        lemma: its lemma.
        upos: universal part of speech.
        feats: ``Name=Value`` separated by ``|``, or ``_``.
        head: ID of its head in the basic tree; 0 for the root.
        deprel: relation to the head, with its subtype.
        misc: the column MISC.
        xpos: part of speech of the treebank's own.
    """

    id: int
    form: str
    lemma: str
    upos: str
    feats: str
    head: int
    deprel: str
    misc: str
    xpos: str = ""

    @property
    def relation(self) -> str:
        """The relation without its subtype: ``advcl`` for ``advcl:relcl``."""
        return self.deprel.partition(":")[0]

    def feature(self, name: str) -> str:
        """The value of a feature; empty if the word lacks it."""
        start = f"{name}="
        values = (part for part in self.feats.split("|") if part.startswith(start))
        return next(values, start)[len(start) :]


class Multiword(NamedTuple):
    """A token of several words, such as ``del``: a line with a range as its ID."""

    first: int
    last: int
    form: str
    misc: str


class Token(NamedTuple):
    """An orthographic token: a word, or several words that are written as one."""

    form: str
    first: int
    last: int
    space_after: bool


@dataclass(frozen=True, slots=True)
class TreebankSentence:
    """A sentence of a treebank.

    Attributes:
        id: its ``sent_id``; made with the line number if it is missing or repeated.
        text: text from its comment, or else joined from the tokens.
        words: words in order; the n-th has ID n.
        multiwords: tokens of several words, in order.
        document: the last ``newdoc`` before it; a running number if that has no id.
    """

    id: str
    text: str
    words: tuple[Word, ...]
    multiwords: tuple[Multiword, ...] = ()
    document: str = ""

    def head_of(self, word: Word) -> Word | None:
        """The head of a word; None for the root."""
        return self.words[word.head - 1] if word.head else None

    def has_child(self, word: Word, relations: Collection[str]) -> bool:
        """Whether a word has a child with one of these relations, subtypes included."""
        return any(child.head == word.id and child.relation in relations for child in self.words)

    def tokens(self) -> Iterator[Token]:
        """The tokens in order: multiword tokens, and words that are in none of them."""
        ranges = {multiword.first: multiword for multiword in self.multiwords}
        done = 0
        for word in self.words:
            if word.id <= done:
                continue
            written = ranges.get(word.id)
            done = written.last if written else word.id
            form, misc = (written or word).form, (written or word).misc
            yield Token(form, word.id, done, NO_SPACE not in misc.split("|"))

    @property
    def n_tokens(self) -> int:
        """The number of tokens."""
        return len(self.words) - sum(
            multiword.last - multiword.first for multiword in self.multiwords
        )


def joined_tokens(tokens: Iterator[Token]) -> str:
    """The text of tokens, with a blank after each that is followed by one."""
    parts = (token.form + (" " if token.space_after else "") for token in tokens)
    return "".join(parts).rstrip(" ")


def token_spans(sentence: TreebankSentence) -> list[tuple[int, int]] | None:
    """The span of each token in the sentence's text; None if the text does not match the tokens."""
    spans, cursor = [], 0
    for token in sentence.tokens():
        while cursor < len(sentence.text) and sentence.text[cursor].isspace():
            cursor += 1
        if not sentence.text.startswith(token.form, cursor):
            return None
        spans.append((cursor, cursor + len(token.form)))
        cursor += len(token.form)
    return spans if not sentence.text[cursor:].strip() else None


_SHOWN = 8


def tree_faults(words: Sequence[Word], lines: Sequence[int]) -> Iterator[tuple[int, str]]:
    """The faults that keep words from forming a tree with one root.

    Args:
        words: the words of one sentence; the n-th has ID n.
        lines: the line number of each word.

    Yields:
        A line number and the description of its fault.
    """
    roots = [word for word in words if word.head == 0]
    beyond = False
    for word, line in zip(words, lines, strict=True):
        if word.head > len(words):
            beyond = True
            yield (
                line,
                f"the head of word {word.id} is {word.head}, but there are {len(words)} words",
            )
    if not roots and not beyond:
        yield lines[0], "no word has the head 0, so that there is no root"
    for extra in roots[1:]:
        yield lines[extra.id - 1], f"word {extra.id} is a second root, after word {roots[0].id}"
    if beyond:
        return
    for circle in _circles(words):
        shown = ", ".join(map(str, circle[:_SHOWN])) + (" ..." if len(circle) > _SHOWN else "")
        yield lines[min(circle) - 1], f"the heads of words {shown} go round in a circle"


def range_faults(
    multiwords: Sequence[Multiword], lines: Sequence[int], n_words: int
) -> Iterator[tuple[int, str]]:
    """The faults of the ranges of multiword tokens."""
    end = 0
    for multiword, line in zip(multiwords, lines, strict=True):
        name = f"{multiword.first}-{multiword.last}"
        if multiword.first >= multiword.last or multiword.first < 1:
            yield line, f"the token {name} is not a range of two words or more"
        elif multiword.last > n_words:
            yield line, f"the token {name} reaches beyond the {n_words} words"
        elif multiword.first <= end:
            yield line, f"the token {name} overlaps the one before it"
        end = max(end, multiword.last)


def _circles(words: Sequence[Word]) -> Iterator[list[int]]:
    """The words of each cycle of heads."""
    reached = [0] * (len(words) + 1)
    for start in range(1, len(words) + 1):
        word = start
        while word and not reached[word]:
            reached[word] = start
            word = words[word - 1].head
        if word and reached[word] == start:
            circle = [word]
            while (following := words[circle[-1] - 1].head) != word:
                circle.append(following)
            yield sorted(circle)


TAGS = (
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN",
    "PUNCT", "SCONJ", "SYM", "VERB", "X",
)  # fmt: skip
"""The universal parts of speech (universaldependencies.org/u/pos)."""

_START, _END = "<s>", "</s>"
_N_OUTCOMES = len(TAGS) + 1


def tags_of(sentence: TreebankSentence) -> tuple[str, ...]:
    """The tags of a sentence's words; a word without a universal tag counts as ``X``."""
    return tuple(word.upos if word.upos in TAGS else "X" for word in sentence.words)


class TagModel:
    """An n-gram model of tags.

    Args:
        sequences: tags of each sentence that it is made of.
        order: n, from 1.
        added: a, added to every count; above 0.
    """

    def __init__(
        self, sequences: Iterable[Sequence[str]], *, order: int = 3, added: float = 1.0
    ) -> None:
        self._order, self._added = order, added
        self._ngrams, self._histories = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
        for sequence in sequences:
            for history, tag in self._steps(sequence):
                self._ngrams[*history, tag] += 1
                self._histories[history] += 1

    def _steps(self, sequence: Sequence[str]) -> Iterable[tuple[tuple[str, ...], str]]:
        """Every tag, and the end, with the tags before it."""
        before = self._order - 1
        padded = (*[_START] * before, *sequence, _END)
        for place in range(before, len(padded)):
            yield padded[place - before : place], padded[place]

    def logprob_nats(self, sequence: Sequence[str]) -> float:
        """The log-probability of a sentence's tags and of its end."""
        return math.fsum(
            math.log(
                (self._ngrams[*history, tag] + self._added)
                / (self._histories[history] + self._added * _N_OUTCOMES)
            )
            for history, tag in self._steps(sequence)
        )

    def perplexity(self, sequences: Sequence[Sequence[str]]) -> float | None:
        """``exp(-ln P / N)`` over all tags and ends of some sentences; None without any."""
        n = sum(len(sequence) + 1 for sequence in sequences)
        total = math.fsum(map(self.logprob_nats, sequences))
        return math.exp(-total / n) if n else None
