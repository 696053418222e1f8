"""Scorers from outside, checked at every answer before it is kept.

A mistake in somebody's own model must not become a number: a surprisal in place of a
log-probability would turn every verdict round.
"""

from __future__ import annotations

import operator
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cimento.errors import CimentoError, ModelError
from cimento.models.base import ModelCard, Scorer, TextScorer

if TYPE_CHECKING:
    from cimento.models.base import Encoding, FloatArray, Score

_END = object()
ROUNDING_NATS = 1e-3
_OPTIONAL = (
    "count_layers", "inside", "meter", "patch", "policy", "refusal", "remarks", "score_columns",
)  # fmt: skip
_PAIRS = (
    "a text and a dictionary of the offset of each token's first byte and its log-probability in"
    " nats, for each text"
)
_CURE = (
    "cimento.testing.check_model(scorer) tests everything that is expected (see the page"
    ' "Extending cimento").'
)


def checked_scorer(scorer: Scorer | TextScorer) -> Scorer | TextScorer:
    """A scorer whose answers are checked; one of cimento's own is given back as it is."""
    protocols = Scorer.__module__
    modules = {base.__module__ for base in type(scorer).__mro__} - {protocols}
    if any(module.startswith("cimento.") for module in modules):
        return scorer
    return CheckedTexts(scorer) if isinstance(scorer, TextScorer) else CheckedTokens(scorer)


class _CheckedScorer:
    """What both kinds of scorers share: their card, and what they may have besides."""

    def __init__(self, scorer: Scorer | TextScorer) -> None:
        self.card: ModelCard = scorer.card
        for name in _OPTIONAL:
            if hasattr(scorer, name):
                setattr(self, name, getattr(scorer, name))

    @contextmanager
    def _blamed(self, method: str) -> Iterator[None]:
        """A context in which errors are those of a method of the model.

        Raises:
            ModelError: anything but an error of cimento was raised.
        """
        try:
            yield
        except CimentoError:
            raise
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            theirs = [frame for frame in frames if frame.filename != __file__]
            at = f" ({Path(theirs[-1].filename).name}, line {theirs[-1].lineno})" if theirs else ""
            raise self._wrong(
                f"its {method}() failed with {type(error).__name__}: {str(error)[:500]}{at}"
            ) from error

    def _wrong(self, seen: str) -> ModelError:
        return ModelError(where=f"model {self.card.name!r}", seen=seen, todo=_CURE)

    def _need_probability(self, nats: float, where: str) -> None:
        """See that a number can be the logarithm of a probability.

        Raises:
            ModelError: it is above 0 by more than rounding.
        """
        if nats > ROUNDING_NATS:
            raise self._wrong(
                f"it gave {nats:g} for {where}, and the logarithm of a probability is at most 0"
                " (a surprisal has the other sign)"
            )


class CheckedTexts(_CheckedScorer):
    """A `TextScorer` whose answers are checked.

    Args:
        scorer: the scorer.
    """

    def __init__(self, scorer: TextScorer) -> None:
        super().__init__(scorer)
        self._scorer = scorer

    def read(self, texts: Sequence[str]) -> Iterator[tuple[str, dict[int, float]]]:
        """The scorer's answers, one for each text.

        Raises:
            ModelError: an answer is missing, or is not as `TextScorer.read` describes it.
        """
        missing = dict.fromkeys(texts)
        with self._blamed("read"):
            given: object = self._scorer.read(texts)
        if not isinstance(given, Iterable):
            raise self._wrong(f"its read() returned {given!r}, and must yield {_PAIRS}")
        answers = iter(given)
        while True:
            with self._blamed("read"):
                answer: object = next(answers, _END)
            if answer is _END:
                break
            text, scores = self._answer(answer)
            if text not in missing:
                raise self._wrong(f"its read() yielded {text!r}, which it was not asked, or twice")
            del missing[text]
            yield text, scores
        for text in missing:
            raise self._wrong(f"its read() ended without an answer to {text!r}")

    def _answer(self, answer: object) -> tuple[str, dict[int, float]]:
        """An answer as a text and its scores by ascending offsets.

        Raises:
            ModelError: it is not one.
        """
        match answer:
            case (str() as text, Mapping() as given):
                try:
                    scores = {operator.index(at): float(given[at]) for at in sorted(given)}
                except (TypeError, ValueError):
                    pass
                else:
                    self._need_scores(text, scores)
                    return text, scores
        raise self._wrong(f"its read() yielded {str(answer)[:80]!r}, and must yield {_PAIRS}")

    def _need_scores(self, text: str, scores: Mapping[int, float]) -> None:
        """See that scores are log-probabilities of a text from its first byte.

        Raises:
            ModelError: they are not.
        """
        size, places = len(text.encode()), list(scores)
        if places and (places[0] != 0 or places[-1] >= size):
            raise self._wrong(
                f"its tokens of {text!r} are at the bytes {places}: they begin at 0 and end before"
                f" {size}"
            )
        for at, nats in scores.items():
            if nats != nats and at:  # noqa: PLR0124  # NaN alone differs from itself
                raise self._wrong(f"it gave nan for byte {at} of {text!r}; only byte 0 may have it")
            self._need_probability(nats, f"the token at byte {at} of {text!r}")


class CheckedTokens(_CheckedScorer):
    """A `Scorer` whose answers are checked.

    Args:
        scorer: the scorer.
    """

    def __init__(self, scorer: Scorer) -> None:
        super().__init__(scorer)
        self._scorer = scorer

    def encode(self, requests: Sequence[Score]) -> Sequence[Encoding]:
        """The requests in tokens.

        Raises:
            ModelError: there is not one answer for each request.
        """
        with self._blamed("encode"):
            encoded: object = self._scorer.encode(requests)
        if not isinstance(encoded, Sized):
            raise self._wrong(
                f"its encode() returned {type(encoded).__name__}, and must return a list with a"
                " cimento.models.Encoding for each request"
            )
        self._need_as_many(len(encoded), len(requests), "encode")
        return cast("Sequence[Encoding]", encoded)

    def score(self, encoded: Sequence[Encoding]) -> list[FloatArray]:
        """The log-probability of each wanted token.

        Raises:
            ModelError: there is not one number for each, or one is not a log-probability.
        """
        import numpy as np

        with self._blamed("score"):
            given: object = self._scorer.score(encoded)
        if not isinstance(given, Iterable):
            raise self._wrong(
                f"its score() returned {type(given).__name__}, and must return a list with an array"
                " of log-probabilities for each text"
            )
        with self._blamed("score"):
            rows = [np.asarray(row, np.float64) for row in given]
        self._need_as_many(len(rows), len(encoded), "score")
        for text, row in zip(encoded, rows, strict=True):
            if row.shape != (len(text.wanted),):
                raise self._wrong(
                    f"its score() gave an array of the shape {row.shape} for the"
                    f" {len(text.wanted)} wanted tokens of a text"
                )
            for place in np.flatnonzero(row > ROUNDING_NATS)[:1]:
                token = text.tokens[text.wanted[place]]
                self._need_probability(float(row[place]), f"the token {token!r}")
        return rows

    def _need_as_many(self, given: int, asked: int, method: str) -> None:
        """See that a method gave one answer for each request.

        Raises:
            ModelError: it gave another number of them.
        """
        if given != asked:
            raise self._wrong(f"its {method}() gave {given} answers to {asked} requests")
