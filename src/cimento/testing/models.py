"""A conformance kit: whether a model scores as cimento expects of every model; and a fake model.

Anyone who writes a `Scorer` or a `TextScorer` can run it::

    for finding in check_model(my_scorer):
        print(finding)
    assert all(finding.passed for finding in check_model(my_scorer))

`FakeScorer` has no weights and needs no torch; it is for tests, examples and documentation.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.engine.cache import MemoryCache
from cimento.engine.scores import ask
from cimento.errors import CimentoError, TextTooLongError, UsageError
from cimento.models.base import EncodedTexts, ModelCard, Score, TextScorer
from cimento.models.characters import Characters
from cimento.models.hf.inside import Inspectable
from cimento.models.registry import AnyScorer
from cimento.models.settings import Policy

if TYPE_CHECKING:
    import polars as pl

    from cimento.models.base import Encoding, FloatArray


TokenScore = Callable[[Sequence[str], int], float]
"""A function from the tokens of a text and the index of one to its log-probability in nats."""


class FakeScorer:
    """A model whose tokens are words and whose scores come from a function.

    Args:
        score: a function from tokens and an index to log P in nats.
        name: name in tables and reports.
        revision: revision, which must be another one for another function.
    """

    def __init__(self, score: TokenScore, *, name: str = "fake", revision: str = "0" * 40) -> None:
        self._score = score
        self._card = ModelCard(name=name, kind="causal", revision=revision, tokenizer="words")
        self._ids: dict[str, int] = {}

    @property
    def card(self) -> ModelCard:
        """The card of the model."""
        return self._card

    def encode(self, requests: Sequence[Score]) -> EncodedTexts:
        """Encode requests with one token for each word and each punctuation mark."""
        import numpy as np

        texts = [request.text for request in requests]
        characters = Characters.of(texts)
        begins = characters.word_begins("split")
        ends = ~characters.blank & np.append(characters.blank[1:] | begins[1:], True)
        first, last = np.flatnonzero(begins), np.flatnonzero(ends) + 1
        text = np.searchsorted(characters.begin, first, side="right") - 1
        offsets = np.searchsorted(first, characters.begin)
        start, end = first - characters.begin[text], last - characters.begin[text]
        wanted = [
            ((0, len(request.text)),) if request.wanted is None else request.wanted
            for request in requests
        ]
        spans = zip(first.tolist(), last.tolist(), strict=True)
        tokens = [characters.texts[low:high] for low, high in spans]
        for token in dict.fromkeys(tokens):
            self._ids.setdefault(token, len(self._ids))
        return EncodedTexts(
            offsets=offsets,
            firsts=[0] * len(requests),
            ids=np.fromiter(map(self._ids.__getitem__, tokens), np.int64, len(tokens)),
            tokens=tokens,
            start=start,
            end=end,
            words=np.arange(len(first)) - offsets[text],
            wanted=characters.inside(wanted, text, start, end),
        )

    def score(self, encoded: Sequence[Encoding]) -> list[FloatArray]:
        """The function's log-probability of every wanted token."""
        import numpy as np

        return [
            np.array([self._score(text.tokens, index) for index in text.wanted], dtype=np.float64)
            for text in encoded
        ]


def uniform_scorer(vocabulary: int, *, name: str = "uniform") -> FakeScorer:
    """A uniform model, in which every token has a surprisal of log `vocabulary` nats."""
    return FakeScorer(lambda _tokens, _index: -math.log(vocabulary), name=name)


TOLERANCE_NATS = 1e-5
"""What the order of float32 arithmetic may change of a token's score: this much, or this part of it
where it is more than one nat."""

HALF_TOLERANCE_NATS = 0.25
"""The same in half precision, where scores differ by tenths between any two batches."""

TEXTS = (
    "Le lampade del corridoio erano accese.",
    "Le lampade del corridoio era accese.",
    "L'amico di Anna, dov'è?",
    "La niña que saluda a los vecinos sonríe.",
    "As crianças não dormem cedo aos sábados.",
    "Письма с почты лежат на столе.",
    "The keys that the farmer lost are old.",
    "Cafe\u0301 — “perché no”?",
    "a",
)


UNKNOWN_TEXT = "\U00012000 \ua66e \u1681 x"
"""A cuneiform sign, a letter of one Old Slavonic manuscript, Ogham; and something known."""

_PLAIN_TEXTS = 4


_FEWEST = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Attributes:
        name: name of the check.
        passed: whether the model, measure or paradigm does what is expected.
        detail: what was seen.
    """

    name: str
    passed: bool
    detail: str

    def __str__(self) -> str:
        return f"{'passed' if self.passed else 'FAILED'}  {self.name}: {self.detail}"


def check_model(
    scorer: AnyScorer, *, texts: Sequence[str] = TEXTS, policy: Policy | None = None
) -> list[Finding]:
    """Run every check on a model.

    Args:
        scorer: the model, loaded.
        texts: what it is tried on; at least three different ones.
        policy: the policy it was loaded with.

    Raises:
        UsageError: there are fewer texts, or it is one text.
    """
    if isinstance(texts, str) or len(set(texts)) < _FEWEST:
        raise UsageError(
            where="texts",
            seen="a model cannot be tried on so little",
            todo=f"Give a list of {_FEWEST} different texts or more.",
        )
    checks = (
        _gives_probabilities,
        _covers_texts,
        _is_plain,
        _scores_first_tokens,
        _takes_unknown_text,
        _is_invariant,
        _answers_parts,
        _takes_empty_text,
        _refuses_long_text,
        _knows_the_cache,
    )
    tried = _AdapterTrial(scorer, tuple(texts), policy or Policy())
    findings: list[Finding] = []
    for check in checks:
        try:
            findings += check(tried)
        except CimentoError as error:
            findings.append(Finding(check.__name__.strip("_"), passed=False, detail=str(error)))
    return findings


@dataclass(frozen=True, slots=True)
class _AdapterTrial:
    """A model, the texts it is tried on, and its policy."""

    scorer: AnyScorer
    texts: tuple[str, ...]
    policy: Policy

    @property
    def tolerance(self) -> float:
        """What arithmetic may change of a token's score with this model's weights."""
        half = self.scorer.card.dtype in ("float16", "bfloat16")
        return HALF_TOLERANCE_NATS if half else TOLERANCE_NATS

    def ask(self, requests: Sequence[Score], cache: MemoryCache | None = None) -> pl.DataFrame:
        """The tokens table for some requests."""
        return ask(requests, self.scorer, policy=self.policy, cache=cache or MemoryCache())

    def whole(self, texts: Sequence[str] | None = None) -> pl.DataFrame:
        """The tokens table for whole texts."""
        chosen = self.texts if texts is None else texts
        return self.ask([Score(text=text) for text in chosen])


def _gives_probabilities(tried: _AdapterTrial) -> Iterator[Finding]:
    table = tried.whole()
    values = table["logprob_nats"].drop_nulls().to_list()
    bad = [value for value in values if not (math.isfinite(value) and value <= TOLERANCE_NATS)]
    yield Finding(
        "log-probabilities are finite and at most 0",
        passed=bool(values) and not bad,
        detail=f"{len(values)} tokens, {len(bad)} of them bad",
    )
    unexplained = _unexplained(table)
    yield Finding(
        "a token without a score has a reason",
        passed=unexplained == 0,
        detail=f"{table['logprob_nats'].null_count()} without, {unexplained} unexplained",
    )


def _unexplained(table: pl.DataFrame) -> int:
    """The number of tokens without a score and without a reason."""
    return table.filter(table["logprob_nats"].is_null() & table["unscored_reason"].is_null()).height


def _covers_texts(tried: _AdapterTrial) -> Iterator[Finding]:
    table = tried.whole()
    missing = []
    for number, text in enumerate(tried.texts):
        covered = {
            index
            for start, end in table.filter(table["request"] == number)
            .select("start", "end")
            .iter_rows()
            for index in range(start, end)
        }
        # A combining mark that a tokenizer composes with its letter belongs to the letter's token.
        missing += [
            char
            for index, char in enumerate(text)
            if not (char.isspace() or index in covered or unicodedata.combining(char))
        ]
    yield Finding(
        "tokens cover every character",
        passed=not missing,
        detail=f"not covered: {''.join(missing)!r}" if missing else "all covered",
    )


def _is_plain(tried: _AdapterTrial) -> Iterator[Finding]:
    """Batches, shared beginnings and rows left out against one text at a time, of real models."""
    if not isinstance(tried.scorer, Inspectable):
        return
    from cimento.models.hf.inspection import compare_with_plain

    requests = [Score(text=text) for text in tried.texts[:_PLAIN_TEXTS]]
    comparison = compare_with_plain(
        tried.scorer, tried.scorer.encode(requests), policy=tried.policy
    )
    if comparison is not None:
        yield Finding(
            "scores are those of a plain forward pass",
            passed=comparison.agrees,
            detail=(
                f"{comparison.n_tokens} tokens, at most"
                f" {comparison.max_difference_nats:.2g} nats apart"
            ),
        )


def _scores_first_tokens(tried: _AdapterTrial) -> Iterator[Finding]:
    if not tried.scorer.card.bos:
        return
    first = tried.whole().filter(position=0)
    yield Finding(
        "the first token is scored where BOS comes before it",
        passed=not first["logprob_nats"].has_nulls(),
        detail=f"{first['logprob_nats'].null_count()} of {first.height} without score",
    )


def _takes_unknown_text(tried: _AdapterTrial) -> Iterator[Finding]:
    table = tried.whole([UNKNOWN_TEXT])
    unexplained = _unexplained(table)
    yield Finding(
        "characters that hardly any vocabulary has are scored, or there is a reason",
        passed=table.height > 0 and unexplained == 0,
        detail=f"{table.height} tokens, {unexplained} unexplained",
    )


def _is_invariant(tried: _AdapterTrial) -> Iterator[Finding]:
    together = _by_text(tried.whole(), len(tried.texts))
    alone = [_by_text(tried.whole([text]), 1)[0] for text in tried.texts]
    backwards = _by_text(tried.whole(tried.texts[::-1]), len(tried.texts))[::-1]
    for name, other in (("batch", alone), ("order", backwards)):
        worst = max(_apart(a, b) for a, b in zip(together, other, strict=True))
        yield Finding(
            f"scores do not depend on the {name}",
            passed=worst <= tried.tolerance,
            detail=f"a token's scores differ by at most {worst:.2g}",
        )


def _answers_parts(tried: _AdapterTrial) -> Iterator[Finding]:
    text = tried.texts[0]
    middle = text.find(" ", len(text) // 2)
    spans = ((0, middle), (middle + 1, len(text)))
    parts = [tried.ask([Score(text=text, wanted=(span,))]) for span in spans]
    table = tried.whole([text])
    whole = float(table["logprob_nats"].sum())
    summed = sum(float(part["logprob_nats"].sum()) for part in parts)
    yield Finding(
        "the parts of a text sum to the whole",
        passed=abs(whole - summed) <= tried.tolerance * table.height,
        detail=f"{summed:.6f} and {whole:.6f} nats",
    )


def _takes_empty_text(tried: _AdapterTrial) -> Iterator[Finding]:
    height = tried.whole([""]).height
    yield Finding("an empty text has no tokens", passed=height == 0, detail=f"{height} tokens")


def _refuses_long_text(tried: _AdapterTrial) -> Iterator[Finding]:
    window = tried.scorer.card.window
    if window is None or tried.policy.window != "refuse" or isinstance(tried.scorer, TextScorer):
        return
    name = "a text longer than the window is refused"
    try:
        tried.scorer.encode([Score(text="a e i o u " * window)])
    except TextTooLongError as error:
        yield Finding(name, passed=True, detail=error.seen)
    else:
        yield Finding(name, passed=False, detail=f"it was taken, with a window of {window}")


def _knows_the_cache(tried: _AdapterTrial) -> Iterator[Finding]:
    cache = MemoryCache()
    requests = [Score(text=text) for text in tried.texts]
    cold, warm = tried.ask(requests, cache), tried.ask(requests, cache)
    yield Finding(
        "a warm cache gives the same table", passed=cold.equals(warm), detail=f"{cold.height} rows"
    )
    begun = MemoryCache()
    tried.ask(requests[: len(requests) // 2], begun)
    gone_on = tried.ask(requests, begun)
    same_tokens = cold.drop("logprob_nats").equals(gone_on.drop("logprob_nats"))
    worst = _apart(cold["logprob_nats"].to_list(), gone_on["logprob_nats"].to_list())
    yield Finding(
        "a run that was stopped goes on to the same scores",
        passed=same_tokens and worst <= tried.tolerance,
        detail=f"a token's scores differ by at most {worst:.2g}",
    )


def _apart(one: Sequence[float | None], other: Sequence[float | None]) -> float:
    """The largest difference of a token's scores, in nats or as a part of more than one nat.

    Infinite where the tokens differ, or one score alone is undefined.
    """
    if [value is None for value in one] != [value is None for value in other]:
        return math.inf
    return max(
        (
            abs(a - b) / max(1.0, abs(a))
            for a, b in zip(one, other, strict=True)
            if a is not None and b is not None
        ),
        default=0.0,
    )


def _by_text(table: pl.DataFrame, count: int) -> list[list[float | None]]:
    """The log-probabilities of the tokens of each text, in nats."""
    scores: list[list[float | None]] = [[] for _ in range(count)]
    for request, value in table.select("request", "logprob_nats").iter_rows():
        scores[request].append(value)
    return scores
