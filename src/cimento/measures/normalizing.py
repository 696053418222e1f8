"""The scales and frequencies by which scores are normalized.

Scores of a pool are set on a common scale: z, Likert by equal bins or by quantiles, robust z. The
choice of the pool (the scope) decides the result as much as the formula does, so it is always
explicit: `normalize` takes exactly the scores of one pool.

NormLP and SLOR take unigram frequencies of tokens or words. They are not smoothed: an unknown token
or word has no probability, and a sentence that contains one has no value but a reason.
"""

from __future__ import annotations

import bisect
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, get_args

from cimento.errors import InputError, UsageError, did_you_mean, need_known, needing
from cimento.io.files import expanded, read_utf8
from cimento.io.parsing import number_in, parse_json
from cimento.io.values import NoValue, Numbers, Value, total
from cimento.suites.derived import Frequency

Normalization: TypeAlias = Literal[
    "raw", "z", "likert", "likert-z", "quantile", "quantile-z", "robust-z"
]
"""How scores are made comparable across models."""
Scope: TypeAlias = Literal["suite", "phenomenon"]
"""The pool for one model and one measure: all scores of the suite, or of a phenomenon."""

SCALES: Mapping[Normalization, str] = {
    "z": "z-score",
    "likert": "7 points",
    "likert-z": "z-score of 7 points",
    "quantile": "7 quantile points",
    "quantile-z": "z-score of 7 quantile points",
    "robust-z": "robust z-score",
}
"""The names of scales, in words; raw scores are described by their unit."""

NORMALIZATIONS: tuple[Normalization, ...] = get_args(Normalization)
POINTS = 7
"""Number of points of the Likert scale in Sprouse et al. 2016."""

LOWERED = 0.001
"""Proportion of the range by which the lowest edge is lowered, so that the minimum is in a bin."""
MAD_TO_SD = 1.482602218505602
"""1 / Phi^-1(3/4), by which the median absolute deviation of normal data becomes their sd."""

TOO_FEW = "fewer than two scores to normalize"
ALL_EQUAL = "all scores are equal"
NO_SPREAD = "more than half of the scores are equal, so that their median deviation is 0"
TIES_IN_QUANTILES = "too many equal scores for so many bins of equal size"


@dataclass(frozen=True, slots=True)
class Bins:
    """Bins that are open on the left and closed on the right.

    Attributes:
        edges: edges in ascending order, one more than there are bins.
    """

    edges: tuple[float, ...]

    def point(self, value: float) -> int:
        """The number of the bin of a value, from 1; a value on an edge is in the lower bin."""
        inner = self.edges[1:-1]
        return bisect.bisect_left(inner, value) + 1


def equal_bins(values: Sequence[float], *, n: int = POINTS) -> Bins | NoValue:
    """Bins of equal width over the range of the values.

    The edges are those of ``pandas.cut(values, bins=n)``: the lowest is lowered by 0.1% of the
    range.

    Args:
        values: the scores of one pool.
        n: number of bins.
    """
    low, high = min(values), max(values)
    if low == high:
        return NoValue(ALL_EQUAL)
    step = (high - low) / n
    edges = [low + step * k for k in range(n)] + [high]
    edges[0] = low - LOWERED * (high - low)
    return Bins(tuple(edges))


def quantile_bins(values: Sequence[float], *, n: int = POINTS) -> Bins | NoValue:
    """Bins that hold equal proportions of the values, as nearly as can be.

    The edges are quantiles by linear interpolation (Hyndman and Fan 1996, type 7,
    doi:10.1080/00031305.1996.10473566).

    Args:
        values: the scores of one pool.
        n: number of bins.
    """
    import numpy as np

    edges = [float(edge) for edge in np.quantile(values, [k / n for k in range(n + 1)])]
    if edges[0] == edges[-1]:
        return NoValue(ALL_EQUAL)
    if len(set(edges)) <= n:
        return NoValue(TIES_IN_QUANTILES)
    return Bins(tuple(edges))


def normalize(values: Sequence[Value], kind: Normalization) -> tuple[Value, ...]:
    """The scores of one pool on another scale, in the same order.

    ``z``: (x - mean) / population sd. ``likert``: 1 to 7 by `equal_bins`; ``quantile``: by
    `quantile_bins`. ``likert-z`` and ``quantile-z``: the z of these numbers, the scale of the
    bert-syntax-it study (2022). ``robust-z``: (x - median) / (1.4826 MAD) (Leys et al. 2013,
    doi:10.1016/j.jesp.2013.03.013).

    Args:
        values: all scores of one pool; missing ones stay missing and are left out of all
            computations.
        kind: the scale.

    Raises:
        UsageError: there is no such scale.
    """
    where = f"normalization {kind!r}"
    need_known(kind, NORMALIZATIONS, where=where, seen="there is no such scale")
    known = [value for value in values if not isinstance(value, NoValue)]
    scaled: Sequence[float] | NoValue = known
    if kind != "raw":
        scaled = _scaled(known, kind) if len(known) > 1 else NoValue(TOO_FEW)
    if isinstance(scaled, NoValue):
        return tuple(value if isinstance(value, NoValue) else scaled for value in values)
    rest = iter(scaled)
    return tuple(value if isinstance(value, NoValue) else next(rest) for value in values)


def standard_scores(values: Sequence[float], *, ddof: int = 0) -> list[float] | NoValue:
    """The z-score (x - mean) / sd of each of at least two values.

    Args:
        values: the scores of one pool.
        ddof: 0 for the population's sd, 1 for that of a sample.
    """
    if len(values) < 2:  # noqa: PLR2004 - a sd needs two
        return NoValue(TOO_FEW)
    if min(values) == max(values):
        return NoValue(ALL_EQUAL)
    mean = math.fsum(values) / len(values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    if squares < sys.float_info.min:
        # Squares of very small deviations lose digits; scaling by a power of two loses none.
        return standard_scores([(value - mean) * 2.0**500 for value in values], ddof=ddof)
    sd = math.sqrt(squares / (len(values) - ddof))
    return [(value - mean) / sd for value in values]


def robust_z_scores(values: Sequence[float]) -> list[float] | NoValue:
    """The robust z-score, (x - median) / (1.4826 times the median absolute deviation)."""
    import statistics

    if min(values) == max(values):
        return NoValue(ALL_EQUAL)
    median = statistics.median(values)
    spread = MAD_TO_SD * statistics.median(abs(value - median) for value in values)
    return [(value - median) / spread for value in values] if spread else NoValue(NO_SPREAD)


_BINS: Mapping[str, Callable[[Sequence[float]], Bins | NoValue]] = {
    "likert": equal_bins,
    "quantile": quantile_bins,
}


def _scaled(values: Sequence[float], kind: Normalization) -> Sequence[float] | NoValue:
    """The scores of one pool, none of them missing, on another scale than their own."""
    if kind == "robust-z":
        return robust_z_scores(values)
    if divide := _BINS.get(kind.removesuffix("-z")):
        bins = divide(values)
        if isinstance(bins, NoValue):
            return bins
        values = [float(bins.point(value)) for value in values]
    return standard_scores(values) if kind.endswith("z") else values


WORDFREQ = "wordfreq"
MODEL: Literal["model"] = "model"
"""The source of unigrams that is the model itself, of which the tokens table has a column."""


class Unigrams(Protocol):
    """A source of log-probabilities by frequency alone."""

    def logprobs_nats(self, tokens: Sequence[str], text: str) -> Numbers | NoValue:
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

    def logprobs_nats(self, tokens: Sequence[str], text: str) -> Numbers | NoValue:  # noqa: ARG002
        """The log-probability of every token; see `Unigrams`."""
        for token in tokens:
            if not self.counts.get(token):
                return NoValue(f"the token {token!r} is not in the unigram counts")
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

    def logprobs_nats(self, tokens: Sequence[str], text: str) -> Numbers | NoValue:  # noqa: ARG002
        """The log-probability of every word; see `Unigrams`."""
        logprobs = []
        for word in self.split(text):
            share = self.frequency(word)
            if share <= 0:
                return NoValue(f"the word {word!r} is not in the word frequencies")
            logprobs.append(math.log(share))
        return tuple(logprobs)


def load_unigrams(source: str, *, language: str) -> Unigrams | Literal["model"]:
    """Unigram frequencies from a file or from the package wordfreq, or the model itself.

    Args:
        source: ``model``, ``wordfreq``, ``wordfreq:it``, or a file of token counts: a JSON object,
            or lines of a token and its count separated by a tab.
        language: ISO 639-1 code, for ``wordfreq`` without a code.

    Raises:
        MissingDependencyError: wordfreq is not installed.
        InputError: the file cannot be read, or is not a list of counts.
        UsageError: wordfreq does not know the language, or no language is given.
    """
    name, _, chosen = source.partition(":")
    if source == MODEL:
        return MODEL
    if name == WORDFREQ:
        return _wordfreq(chosen or language)
    counts = _read_counts(expanded(source))
    return TokenCounts(counts, total(list(counts.values())))


def _wordfreq(language: str) -> WordFrequencies:
    with needing(WORDFREQ, extra="frequency", purpose="--unigrams=wordfreq"):
        from wordfreq import available_languages, word_frequency
        from wordfreq.tokens import tokenize
    known = available_languages("best")
    if language not in known:
        raise UsageError(
            where="--unigrams=wordfreq",
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
    text, counts = read_utf8(path), dict[str, float]()
    rows = _from_json(text, path) if path.suffix.lower() == ".json" else _from_lines(text, path)
    for where, token, value in rows:
        if token in counts:
            raise InputError(where=where, seen=f"counts the token {token!r} a second time")
        count = number_in(value) if isinstance(value, str) else value
        if not (isinstance(count, int | float) and 0 <= count < math.inf):
            raise InputError(where=where, seen=f"{value!r} is not a count", todo="Write a number.")
        counts[token] = float(count)
    if not any(counts.values()):
        raise InputError(where=str(path), seen="holds no counts", todo="Give token and count.")
    return counts


def _from_json(text: str, path: Path) -> Iterator[tuple[str, str, object]]:
    """The place, token and count of each entry of a JSON object."""
    try:
        content = parse_json(text)
    except ValueError as error:
        raise InputError(where=str(path), seen=f"is not JSON ({error})") from error
    if not isinstance(content, dict):
        raise InputError(where=str(path), seen="is not a JSON object of token and count")
    yield from ((f"{path}, token {token!r}", token, count) for token, count in content.items())


def _from_lines(text: str, path: Path) -> Iterator[tuple[str, str, object]]:
    """The place, token and count of each line that is not blank."""
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
        yield where, token, count


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
