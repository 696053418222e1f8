"""Unigram frequencies of tokens or words, for NormLP and SLOR.

Frequencies are not smoothed. An unknown token or word has no probability, and a sentence that
contains one has no value but a reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from cimento.errors import InputError, UsageError, did_you_mean, needing
from cimento.io.files import expanded, read_utf8
from cimento.io.parsing import parse_json
from cimento.measures.sentence import Missing, Numbers, total

WORDFREQ = "wordfreq"


class Unigrams(Protocol):
    """A source of log-probabilities by frequency alone."""

    def logprobs_nats(self, tokens: Sequence[str], text: str) -> Numbers | Missing:
        """The log-probabilities of a sentence, or the reason why there are none.

        Args:
            tokens: the sentence as the model's tokenizer spells it.
            text: the sentence as written.
        """


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Counts of a model's own tokens: ``ln(count / total)`` for each token.

    Attributes:
        counts: the count of each token, spelled as the tokenizer does.
        total: the sum of all counts.
    """

    counts: Mapping[str, float]
    total: float

    def logprobs_nats(self, tokens: Sequence[str], text: str) -> Numbers | Missing:  # noqa: ARG002
        """The log-probability of every token; see `Unigrams`."""
        for token in tokens:
            if not self.counts.get(token):
                return Missing(f"the token {token!r} is not in the unigram counts")
        return tuple(math.log(self.counts[token] / self.total) for token in tokens)


@dataclass(frozen=True, slots=True)
class WordFrequencies:
    """Frequencies of words in a language, such as those of wordfreq.

    Attributes:
        split: a function from a text to its words, without punctuation marks.
        frequency: a function from a word to its share among all words; 0 for an unknown word.
    """

    split: Callable[[str], Sequence[str]]
    frequency: Callable[[str], float]

    def logprobs_nats(self, tokens: Sequence[str], text: str) -> Numbers | Missing:  # noqa: ARG002
        """The log-probability of every word; see `Unigrams`."""
        logprobs = []
        for word in self.split(text):
            share = self.frequency(word)
            if share <= 0:
                return Missing(f"the word {word!r} is not in the word frequencies")
            logprobs.append(math.log(share))
        return tuple(logprobs)


def load_unigrams(source: str, *, language: str) -> Unigrams:
    """Unigram frequencies from a file or from the package wordfreq.

    Args:
        source: ``wordfreq``, ``wordfreq:it``, or a file of token counts: a JSON object, or lines of
            a token and its count separated by a tab.
        language: ISO 639-1 code, for ``wordfreq`` without a code.

    Raises:
        MissingDependencyError: wordfreq is not installed.
        InputError: the file cannot be read, or is not a list of counts.
        UsageError: wordfreq does not know the language, or no language is given.
    """
    name, _, chosen = source.partition(":")
    if name == WORDFREQ:
        return _wordfreq(chosen or language)
    counts = _read_counts(expanded(source))
    return TokenCounts(counts, total(list(counts.values())))


def _wordfreq(language: str) -> WordFrequencies:
    with needing(WORDFREQ, extra="frequency", purpose="--unigrams wordfreq"):
        from wordfreq import available_languages, word_frequency
        from wordfreq.tokens import tokenize
    known = available_languages("best")
    if language not in known:
        raise UsageError(
            where="--unigrams wordfreq",
            seen=f"there are no frequencies for the language {language!r}"
            if language
            else "the suite does not say its language",
            todo=did_you_mean(language, known) if language else "Write it so: wordfreq:it.",
        )
    return WordFrequencies(
        split=lambda text: tokenize(text, language),
        frequency=lambda word: word_frequency(word, language),
    )


def _read_counts(path: Path) -> dict[str, float]:
    text = read_utf8(path)
    counts = _from_json(text, path) if path.suffix.lower() == ".json" else _from_lines(text, path)
    if not any(counts.values()):
        raise InputError(where=str(path), seen="holds no counts", todo="Give token and count.")
    return counts


def _from_json(text: str, path: Path) -> dict[str, float]:
    try:
        content = parse_json(text)
    except ValueError as error:
        raise InputError(where=str(path), seen=f"is not JSON ({error})") from error
    if not isinstance(content, dict):
        raise InputError(where=str(path), seen="is not a JSON object of token and count")
    return {
        token: _count(count, where=f"{path}, token {token!r}") for token, count in content.items()
    }


def _from_lines(text: str, path: Path) -> dict[str, float]:
    counts: dict[str, float] = {}
    # splitlines would also split at rare line breaks, which a token may contain.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        token, tabulator, count = line.rstrip("\r").rpartition("\t")
        if not tabulator:
            raise InputError(
                where=where, seen="has no tabulator", todo="Write token, tabulator, count."
            )
        if token in counts:
            raise InputError(where=where, seen=f"counts the token {token!r} a second time")
        counts[token] = _count(count, where=where)
    return counts


def _count(value: object, *, where: str) -> float:
    try:
        count = float(value) if isinstance(value, str | int | float) else math.nan
    except ValueError:
        count = math.nan
    if not (math.isfinite(count) and count >= 0):
        raise InputError(where=where, seen=f"{value!r} is not a count", todo="Write a number.")
    return count


Frequency: TypeAlias = Callable[[str], float]
"""Function from a word to its Zipf frequency: log10 of its occurrences per billion words."""


def zipf_frequencies(language: str, *, purpose: str) -> Frequency | None:
    """The Zipf frequencies of a language's words (wordfreq); None if wordfreq lacks the language.

    Raises:
        MissingDependencyError: wordfreq is not installed.
    """
    with needing("wordfreq", extra="frequency", purpose=purpose):
        import wordfreq
    if language not in wordfreq.available_languages():
        return None
    return lambda word: float(wordfreq.zipf_frequency(word, language))
