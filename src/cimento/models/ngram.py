"""N-gram models: the baseline that sees only a few words to the left.

Tokens are whole words, as written: the model must have been trained on text of the same case and
with punctuation marks cut off in the same way. A word that the model knows only with its accents
or apostrophes spelled otherwise (`cimento.suites.letters`) is that word. ``<s>`` precedes the first
word unless the policy is ``none``; ``</s>`` is not scored.

Files in the ARPA text format are read without any package, binary ones with ``kenlm``. A model says
log10 P of n-grams and, for those that can be a context, a back-off weight. The probability of a
word is that of the longest n-gram that ends with it and is known, times the back-off weights of the
longer contexts (Katz 1987, doi:10.1109/TASSP.1987.1165125).
"""

from __future__ import annotations

import gzip
import hashlib
import math
import re
import struct
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, Protocol

from cimento.errors import InputError, UsageError, counted, needing
from cimento.io.files import open_plain, reading
from cimento.io.parsing import MAX_GROWTH, SMALL_BYTES
from cimento.models.base import Encoding, ModelCard
from cimento.models.characters import tokens_in
from cimento.models.hf.files import LocatedModel
from cimento.models.settings import Policy
from cimento.suites.letters import spellings_of
from cimento.suites.stimuli import word_spans

if TYPE_CHECKING:
    from cimento.models.base import FloatArray, Score
    from cimento.suites.stimuli import Span

UNKNOWN_WORD = "<unk>"
START = "<s>"
END = "</s>"

LONGEST_LINE = 100_000
"""Greatest length of a line in bytes; an n-gram has a few words and two numbers."""

_COUNT = re.compile(rb"ngram\s+(\d{1,3})\s*=\s*(\d{1,18})")
_SECTION = re.compile(rb"\\(\d{1,3})-grams:")
_GZIP = b"\x1f\x8b"
_SINGLE = struct.Struct("f")

NOT_IN_VOCABULARY = "word unknown to the model, which has no <unk>"

_BINARY = b"mmap lm "
_MARKERS = frozenset({START, END, UNKNOWN_WORD})
_ABSENT_LOG10 = -100.0
"""The value in KenLM of an unknown word in a model without ``<unk>``."""
_SHOWN = 5
_MOST_KEPT = 2**14
"""Texts whose words are kept for remarks; with more, the remarks split them again."""


class ArpaModel:
    """An n-gram model held in dictionaries, which suits a few million n-grams.

    Numbers have single precision and are added in KenLM's order, so that both agree.

    Args:
        path: the file, which may be compressed with gzip.

    Attributes:
        order: length of its longest n-grams, in words.

    Raises:
        InputError: the file cannot be read, or is not an ARPA file; the message names the line.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log10: dict[str, float] = {}
        self._backoff: dict[str, float] = {}
        try:
            with _open(path) as file:
                self.order = self._read(file)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(where=str(path), seen=f"cannot be read ({error})") from error

    @property
    def has_unknown(self) -> bool:
        """Whether words that are not in the vocabulary have a probability."""
        return UNKNOWN_WORD in self._log10

    def knows(self, word: str) -> bool:
        """Whether the word is in the vocabulary."""
        return word in self._log10

    def log10(self, words: Sequence[str], *, start: bool) -> list[float]:
        """log10 P of each word given the words before it; NaN where it is undefined.

        Args:
            words: the words of a text; those that are not in the vocabulary count as ``<unk>``.
            start: whether ``<s>`` precedes the first word.
        """
        known = [START] if start else []
        values = []
        for word in words:
            known.append(word if self.knows(word) else UNKNOWN_WORD)
            values.append(self._last(known[-self.order :]))
        return values

    def _last(self, words: Sequence[str]) -> float:
        """log10 P of the last of some words given the others."""
        context = words[:-1]
        for dropped in range(len(words)):
            value = self._log10.get(" ".join(words[dropped:]))
            if value is not None:
                for begin in reversed(range(dropped)):
                    value = _single(value + self._backoff.get(" ".join(context[begin:]), 0.0))
                return value
        return math.nan

    def _lines(self, file: gzip.GzipFile | IO[bytes]) -> Iterator[tuple[int, bytes]]:
        """The lines with their numbers, none of them so long that it fills the memory."""
        number = 0
        left = MAX_GROWTH * self._path.stat().st_size + SMALL_BYTES
        while line := file.readline(LONGEST_LINE):
            number += 1
            left -= len(line)
            if len(line) == LONGEST_LINE:
                raise self._fault(f"the line has {LONGEST_LINE:,} bytes or more", number)
            if left < 0:
                raise self._fault("the file grows as no model does when it is unpacked", number)
            yield number, line

    def _read(self, file: gzip.GzipFile | IO[bytes]) -> int:
        """Read all n-grams, and return the order of the model."""
        said: Counter[int] = Counter()
        orders: Counter[int] = Counter()
        order, ended = 0, False
        for number, line in self._lines(file):
            text = line.strip()
            if counted := _COUNT.fullmatch(text):
                said[int(counted[1])] = int(counted[2])
            elif section := _SECTION.fullmatch(text):
                order = int(section[1])
            elif text == b"\\end\\":
                ended = True
                break
            elif order and text:
                self._add(text.split(), order, number)
                orders[order] += 1
        if not said:
            raise self._fault("it is not an n-gram model in ARPA format (no line `ngram 1=...`)")
        if not ended or said != orders:
            counts = ", ".join(f"{orders[n]} of {said[n]} {n}-grams" for n in sorted(said | orders))
            raise self._fault(f"it holds {counts}" + ("" if ended else ", and no line `\\end\\`"))
        return max(said)

    def _add(self, fields: Sequence[bytes], order: int, line: int) -> None:
        try:
            numbers = [float(fields[0]), *map(float, fields[order + 1 :])]
            words = b" ".join(fields[1 : order + 1]).decode()
        except ValueError as error:
            raise self._fault(f"not a {order}-gram with its numbers ({error})", line) from error
        if not order + 1 <= len(fields) <= order + 2 or not all(map(math.isfinite, numbers)):
            raise self._fault(f"not a {order}-gram between a number and at most one more", line)
        if numbers[0] > 0:
            raise self._fault(f"{numbers[0]} is not a logarithm of a probability", line)
        words = UNKNOWN_WORD if words == "<UNK>" else words
        self._log10[words] = _single(numbers[0])
        if len(numbers) > 1 and numbers[1] != 0:
            self._backoff[words] = _single(numbers[1])

    def _fault(self, seen: str, line: int | None = None) -> InputError:
        where = str(self._path) if line is None else f"{self._path}, line {line}"
        return InputError(where=where, seen=seen, todo="Was the file cut short or edited?")


def _open(path: Path) -> gzip.GzipFile | IO[bytes]:
    with path.open("rb") as file:
        compressed = file.read(len(_GZIP)) == _GZIP
    return gzip.open(path, "rb") if compressed else path.open("rb")


def _single(value: float) -> float:
    """The nearest single-precision number."""
    rounded: float = _SINGLE.unpack(_SINGLE.pack(value))[0]
    return rounded


class Ngrams(Protocol):
    """The protocol of an n-gram model."""

    @property
    def order(self) -> int:
        """Length of its longest n-grams, in words."""

    @property
    def has_unknown(self) -> bool:
        """Whether words that are not in the vocabulary have a probability."""

    def knows(self, word: str) -> bool:
        """Whether the word is in the vocabulary."""

    def log10(self, words: Sequence[str], *, start: bool) -> list[float]:
        """log10 P of each word given the words before it; NaN where there is none."""


class KenlmModel:
    """An n-gram model read by KenLM.

    Args:
        path: a binary file.

    Raises:
        MissingDependencyError: KenLM is not installed.
        InputError: KenLM cannot read the file.
    """

    def __init__(self, path: Path) -> None:
        with needing("kenlm", extra="kenlm", purpose=f"{path}, a binary model of KenLM"):
            import kenlm
        config = kenlm.Config()
        config.show_progress = False
        config.arpa_complain = kenlm.ARPALoadComplain.NONE
        try:
            self._model = kenlm.Model(str(path), config)
        except (OSError, RuntimeError) as error:
            raise InputError(where=str(path), seen=f"KenLM cannot read it ({error})") from error
        [(alone, _, _)] = self._model.full_scores(UNKNOWN_WORD, bos=False, eos=False)
        self.has_unknown = alone != _ABSENT_LOG10

    @property
    def order(self) -> int:
        """Length of its longest n-grams, in words."""
        return int(self._model.order)

    def knows(self, word: str) -> bool:
        """Whether the word is in the vocabulary."""
        return word in self._model

    def log10(self, words: Sequence[str], *, start: bool) -> list[float]:
        """log10 P of each word given the words before it; NaN where there is none."""
        scores = self._model.full_scores(" ".join(words), bos=start, eos=False)
        return [value if self.has_unknown or not oov else math.nan for value, _, oov in scores]


class _Words(NamedTuple):
    """The words of a text with those before it, and the index of its own first one."""

    tokens: tuple[str, ...]
    first: int


class NgramScorer:
    """A scorer of the words of texts with an n-gram model.

    Args:
        model: the n-gram model.
        located: its file.
        policy: the policy, of which the rules of BOS, punctuation and words apply.

    Raises:
        UsageError: the policy puts a blank before texts, which are words here.
    """

    def __init__(self, model: Ngrams, located: LocatedModel, *, policy: Policy) -> None:
        if policy.leading_blank:
            raise UsageError(
                where="--leading-blank",
                seen="an n-gram model reads words, and no blanks",
                todo="Say --no-leading-blank.",
            )
        if policy.lowercase:
            raise UsageError(
                where="--lowercase",
                seen="an n-gram model reads words as they are",
                todo="Lower-case the texts of the suite.",
            )
        self._model = model
        self._policy = policy
        self._start = policy.bos != "none"
        self._known: dict[str, str] = {}
        self._split: dict[Score, _Words] = {}
        self.card = ModelCard(
            name=located.name,
            kind="causal",
            revision=located.revision,
            # The vocabulary is part of the file, so its hash covers the tokenizer.
            tokenizer=located.revision,
            dtype="float32",
            device="cpu",
            bos=START if self._start else "",
            details={"order": str(model.order), "read_by": type(model).__name__},
        )

    def encode(self, requests: Sequence[Score]) -> list[Encoding]:
        """Encode requests with one token for each word; see `Scorer`."""
        return [self._encode(request) for request in requests]

    def _encode(self, request: Score) -> Encoding:
        spans = self._words(request.text, [start for start, _ in request.regions])
        outside = [START] if self._start else []
        outside += [request.context[low:high] for low, high in self._words(request.context)]
        tokens = (*outside, *(request.text[low:high] for low, high in spans))
        if len(self._split) >= _MOST_KEPT:
            self._split.clear()
        self._split[request] = _Words(tokens, first=len(outside))
        unknown = self._unknown(tokens)
        known = self._as_known(tokens)
        placed = (*[(-1, -1)] * len(outside), *spans)
        wanted = request.wanted if request.wanted is not None else ((0, len(request.text)),)
        return Encoding(
            ids=tuple(map(_identity, known)),
            tokens=tokens,
            spans=placed,
            words=(*[-1] * len(outside), *range(len(spans))),
            first=len(outside),
            wanted=tuple(tokens_in(placed, wanted)),
            undefined={} if self._model.has_unknown else dict.fromkeys(unknown, NOT_IN_VOCABULARY),
        )

    def score(self, encoded: Sequence[Encoding]) -> list[FloatArray]:
        """Log-probabilities of the wanted words given the words before them; see `Scorer`."""
        import numpy as np

        scores: list[FloatArray] = []
        for text in encoded:
            words = self._as_known(text.tokens)
            log10 = self._model.log10(words[self._start :], start=self._start)
            values = [log10[index - self._start] * math.log(10) for index in text.wanted]
            scores.append(np.array(values, dtype=np.float64))
        return scores

    def remarks(self, requests: Sequence[Score]) -> tuple[str, ...]:
        """Remarks on the words in these texts that the model spells otherwise, or does not know."""
        texts = [self._split.get(request) or self._words_of(request) for request in requests]
        self._split.clear()
        return (*self._respelled(texts), *self._not_known(texts))

    def _words_of(self, request: Score) -> _Words:
        """The words of a text that was not encoded just before."""
        encoded = self._encode(request)
        return _Words(encoded.tokens, first=encoded.first)

    def _respelled(self, texts: Sequence[_Words]) -> Iterator[str]:
        """A remark on words that the model knows in another spelling of their letters."""
        other = Counter(
            token
            for text in texts
            for token, known in zip(text.tokens, self._as_known(text.tokens), strict=True)
            if known not in (token, UNKNOWN_WORD)
        )
        if other:
            yield (
                f"{counted(other.total(), 'word')} ({len(other)} different) are known to the model"
                " with accents or apostrophes spelled otherwise, and scored as these:"
                f" {_few([*other])}"
            )

    def _not_known(self, texts: Sequence[_Words]) -> Iterator[str]:
        """A remark on the number of words that the model does not know."""
        words = [token for text in texts for token in text.tokens[text.first :]]
        unknown = Counter(
            text.tokens[index]
            for text in texts
            for index in self._unknown(text.tokens)
            if index >= text.first
        )
        if not unknown:
            return
        fate = "scored as <unk>" if self._model.has_unknown else "unscored: the model has no <unk>"
        yield (
            f"{unknown.total()} of {len(words)} words ({len(unknown)} different) are unknown to the"
            f" model and {fate}: {_few([*unknown])}"
        )

    def _words(self, text: str, bars: Collection[int] = ()) -> list[Span]:
        policy = self._policy
        return word_spans(
            text, punctuation=policy.punctuation, segmenter=policy.segmenter, bars=bars
        )

    def _unknown(self, tokens: Sequence[str]) -> frozenset[int]:
        """The indices of words that the model does not know; a marker in a text is not a word."""
        return frozenset(
            index
            for index, token in enumerate(tokens)
            if index >= self._start and not self._spelled(token)
        )

    def _as_known(self, tokens: Sequence[str]) -> list[str]:
        """The words that the model is asked for, with its mark for those that it does not know."""
        return [
            token if index < self._start else self._spelled(token) or UNKNOWN_WORD
            for index, token in enumerate(tokens)
        ]

    def _spelled(self, token: str) -> str:
        """A word as the model spells it; empty if it does not know it."""
        if token not in self._known:
            spellings = () if token in _MARKERS else spellings_of(token)
            self._known[token] = next(filter(self._model.knows, spellings), "")
        return self._known[token]


def _few(words: Sequence[str]) -> str:
    """The first of some words."""
    return ", ".join(words[:_SHOWN]) + (", ..." if len(words) > _SHOWN else "")


def locate_ngrams(path: Path) -> LocatedModel:
    """An n-gram model's file located by its name and content, without loading it.

    Raises:
        InputError: the file cannot be read.
    """
    todo = "Give the path of an ARPA file or of a binary file of KenLM."
    with reading(path, todo=todo), open_plain(path) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    # With its ending: *it* alone, for `it.arpa`, would read as a pronoun in a report.
    return LocatedModel(name=path.name.removesuffix(".gz"), folder=path, revision=digest)


def load_ngrams(located: LocatedModel, *, policy: Policy) -> NgramScorer:
    """Load an n-gram model.

    Args:
        located: its file.
        policy: how texts are scored.

    Raises:
        MissingDependencyError: the file is binary, and KenLM is not installed.
        InputError: the file is not an n-gram model.
    """
    path = located.folder
    with path.open("rb") as file:
        binary = file.read(len(_BINARY)) == _BINARY
    model: Ngrams = KenlmModel(path) if binary else ArpaModel(path)
    return NgramScorer(model, located, policy=policy)


def _identity(word: str) -> int:
    """A number for a word that is the same on every machine; negative, unlike a token id."""
    digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
    return -1 - (int.from_bytes(digest) >> 1)
