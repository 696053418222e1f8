"""N-gram models: the baseline that sees a few words to the left and nothing else.

Tokens are whole words, as written: the model must have been trained on text of the same case and
with punctuation marks cut off in the same way. ``<s>`` stands before the first word unless the
policy says ``none``; ``</s>`` is never asked for, so it is part of no region.

ARPA files are read by `arpa`, binary ones by KenLM (Heafield 2011, aclanthology.org/W11-2123).
Both give the same numbers; KenLM reads large models in less time and memory.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cimento.errors import InputError, MissingDependencyError, UsageError
from cimento.io.files import open_plain
from cimento.models.align import tokens_in, word_spans
from cimento.models.arpa import END, START, UNKNOWN, ArpaModel
from cimento.models.base import Encoded, ModelCard, Policy
from cimento.models.locate import Located

if TYPE_CHECKING:
    from cimento.models.base import FloatArray
    from cimento.suites.stimuli import ScoreRequest, Span

NOT_IN_VOCABULARY = "word unknown to the model, which has no <unk>"

_BINARY = b"mmap lm "
_MARKERS = frozenset({START, END, UNKNOWN})
_ABSENT_LOG10 = -100.0
"""What KenLM says of an unknown word where the model has no ``<unk>``."""
_SHOWN = 5


class Ngrams(Protocol):
    """What is asked of an n-gram model, whoever reads it."""

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
        try:
            import kenlm
        except ImportError as error:
            raise MissingDependencyError(
                package="kenlm", extra="kenlm", purpose=f"{path}, a binary model of KenLM"
            ) from error
        config = kenlm.Config()
        config.show_progress = False
        config.arpa_complain = kenlm.ARPALoadComplain.NONE
        try:
            self._model = kenlm.Model(str(path), config)
        except (OSError, RuntimeError) as error:
            raise InputError(where=str(path), seen=f"KenLM cannot read it ({error})") from error
        [(alone, _, _)] = self._model.full_scores(UNKNOWN, bos=False, eos=False)
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


class NgramScorer:
    """Scores the words of texts with an n-gram model.

    Args:
        model: the n-grams.
        located: the file they come from.
        policy: its BOS and punctuation rules are kept.

    Raises:
        UsageError: the policy puts a blank before texts, which are words here.
    """

    def __init__(self, model: Ngrams, located: Located, *, policy: Policy) -> None:
        if policy.leading_blank:
            raise UsageError(
                where="--leading-blank",
                seen="an n-gram model reads words, and no blanks",
                todo="Say --no-leading-blank.",
            )
        self._model = model
        self._policy = policy
        self._start = policy.bos != "none"
        self._card = ModelCard(
            name=located.name,
            kind="causal",
            revision=located.revision,
            # The vocabulary is in the file itself.
            tokenizer=located.revision,
            dtype="float32",
            device="cpu",
            bos=START if self._start else "",
            details={"order": str(model.order), "read_by": type(model).__name__},
        )

    @property
    def card(self) -> ModelCard:
        """What is known about the model."""
        return self._card

    def encode(self, requests: Sequence[ScoreRequest]) -> list[Encoded]:
        """One token for each word; see the Protocol."""
        return [self._encode(request) for request in requests]

    def _encode(self, request: ScoreRequest) -> Encoded:
        spans = self._words(request.text)
        outside = [START] if self._start else []
        outside += [request.context[low:high] for low, high in self._words(request.context)]
        tokens = (*outside, *(request.text[low:high] for low, high in spans))
        unknown = self._unknown(tokens)
        placed = (*[(-1, -1)] * len(outside), *spans)
        wanted = request.wanted if request.wanted is not None else ((0, len(request.text)),)
        return Encoded(
            request=request.id,
            ids=tuple(_identity(UNKNOWN if i in unknown else t) for i, t in enumerate(tokens)),
            tokens=tokens,
            spans=placed,
            words=(*[-1] * len(outside), *range(len(spans))),
            first=len(outside),
            wanted=tuple(tokens_in(placed, wanted)),
            undefined={} if self._model.has_unknown else dict.fromkeys(unknown, NOT_IN_VOCABULARY),
        )

    def score(self, encoded: Sequence[Encoded]) -> list[FloatArray]:
        """Log-probabilities of the wanted words given the words before them; see `Scorer`."""
        return [self._score(each) for each in encoded]

    def _score(self, each: Encoded) -> FloatArray:
        import numpy as np

        unknown = self._unknown(each.tokens)
        words = [UNKNOWN if i in unknown else token for i, token in enumerate(each.tokens)]
        log10 = self._model.log10(words[self._start :], start=self._start)
        values = [log10[index - self._start] * math.log(10) for index in each.wanted]
        return np.array(values, dtype=np.float64)

    def remarks(self, requests: Sequence[ScoreRequest]) -> tuple[str, ...]:
        """How many words of these texts the model does not know."""
        encoded = [self._encode(request) for request in requests]
        words = [token for each in encoded for token in each.tokens[each.first :]]
        unknown = Counter(
            each.tokens[index]
            for each in encoded
            for index in self._unknown(each.tokens)
            if index >= each.first
        )
        if not unknown:
            return ()
        shown = ", ".join([*unknown][:_SHOWN]) + (", ..." if len(unknown) > _SHOWN else "")
        fate = "scored as <unk>" if self._model.has_unknown else "unscored: the model has no <unk>"
        remark = (
            f"{unknown.total()} of {len(words)} words ({len(unknown)} different) are unknown to the"
            f" model and {fate}: {shown}"
        )
        return (remark,)

    def _words(self, text: str) -> list[Span]:
        return word_spans(text, punctuation=self._policy.punctuation)

    def _unknown(self, tokens: Sequence[str]) -> frozenset[int]:
        """Indices of the words that the model does not know; a marker in a text is no word."""
        return frozenset(
            index
            for index, token in enumerate(tokens)
            if index >= self._start and (token in _MARKERS or not self._model.knows(token))
        )


def locate_ngrams(path: Path) -> Located:
    """An n-gram model's file, by name and content, without loading it.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        with open_plain(path) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            where=str(path),
            seen=f"cannot be read ({error.strerror or error})",
            todo="Give the path of an ARPA file or of a binary file of KenLM.",
        ) from error
    name = path.name.removesuffix(".gz").removesuffix(".arpa").removesuffix(".bin")
    return Located(name=name, folder=path, revision=digest)


def load_ngrams(located: Located, *, policy: Policy) -> NgramScorer:
    """Load an n-gram model.

    Args:
        located: its file.
        policy: how texts are scored.

    Raises:
        MissingDependencyError: the file is binary, and KenLM is not installed.
        InputError: the file is no n-gram model.
    """
    path = located.folder
    with path.open("rb") as file:
        binary = file.read(len(_BINARY)) == _BINARY
    model: Ngrams = KenlmModel(path) if binary else ArpaModel(path)
    return NgramScorer(model, located, policy=policy)


def _identity(word: str) -> int:
    """A number for a word that is the same on every machine; negative, since it is no token id."""
    digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
    return -1 - (int.from_bytes(digest) >> 1)
