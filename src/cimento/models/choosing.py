"""How probable each of some answers is, for every model that scores texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from cimento.errors import NonFiniteScoreError
from cimento.io.tables import Column
from cimento.models.answering import Choose, OptionScorer, OptionScores
from cimento.models.base import ColumnScorer, ModelCard, Policy, Remarking, Scorer, TextScorer
from cimento.suites.stimuli import ScoreRequest

if TYPE_CHECKING:
    from cimento.models.inspection import Inside

_RANK: tuple[Column, ...] = ("rank",)


def option_scorer(scorer: Scorer | TextScorer, *, policy: Policy) -> OptionScorer:
    """What scores answers with a model.

    Args:
        scorer: the model.
        policy: how it scores texts.
    """
    if isinstance(scorer, TextScorer):
        return TextOptions(scorer)
    if scorer.card.kind == "causal":
        from cimento.models.causal import CausalScorer

        if isinstance(scorer, CausalScorer):
            return CausalOptions(scorer.inside(), card=scorer.card, policy=policy)
    return ScoredOptions(scorer)


class CausalOptions:
    """Answers scored by a causal model of transformers, what prompts share computed once.

    Args:
        inside: the model and its tokenizer.
        card: what is known about it.
        policy: its rule for what stands before a text.
        sharing: whether what prompts share is computed once.
    """

    def __init__(
        self, inside: Inside, *, card: ModelCard, policy: Policy, sharing: bool = True
    ) -> None:
        from cimento.models.prefixed import PrefixReader
        from cimento.models.tokenizing import causal_frame

        self._tokenizer = inside.tokenizer
        self._before = causal_frame(inside.tokenizer, policy.bos).before
        self._reader = PrefixReader(inside.model, sharing=sharing)
        self.card = card

    @property
    def remarks(self) -> tuple[str, ...]:
        """Why prompts do not share what they could, where they do not."""
        return (self._reader.remark,) if self._reader.remark else ()

    def score_options(self, asks: Sequence[Choose]) -> Iterator[tuple[int, OptionScores]]:
        """Score answers; see `OptionScorer`. Prompts that begin alike come one after another."""
        split = [self._split(ask) for ask in asks]
        for number in sorted(range(len(asks)), key=lambda number: split[number][0][0]):
            texts, starts = zip(*split[number], strict=True)
            yield number, self._score(texts, starts, where=asks[number].prompt)

    def _split(self, ask: Choose) -> list[tuple[list[int], int]]:
        from cimento.models.splitting import split_ids

        return [
            split_ids(
                self._tokenizer,
                ask.prompt,
                option,
                before=() if ask.templated else self._before,
                window=self.card.window,
            )
            for option in ask.options
        ]

    def _score(
        self, texts: Sequence[Sequence[int]], starts: Sequence[int], *, where: str
    ) -> OptionScores:
        if not all(starts):
            # Without anything before the prompt's first token, it has no probability.
            raise _not_finite(self.card, float("nan"), where)
        nats: list[tuple[float, ...]] = []
        greedy: list[bool] = []
        tokens: list[tuple[str, ...]] = []
        for text, start, rows in zip(texts, starts, self._reader.read(texts, starts), strict=True):
            ids = list(text[start:])
            chosen = rows[range(len(ids)), ids]
            nats.append(tuple(chosen.double().tolist()))
            greedy.append(bool((rows.argmax(dim=1).tolist()) == ids))
            tokens.append(tuple(self._tokenizer.convert_ids_to_tokens(ids)))
        _check(nats, self.card, where)
        return OptionScores(nats=tuple(nats), tokens=tuple(tokens), greedy=tuple(greedy))


class ScoredOptions:
    """Answers scored as texts with a context: masked models, n-grams and others.

    A masked model gives the pseudo-log-likelihood of the answer's tokens with all others seen.

    Args:
        scorer: the model.
    """

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer

    @property
    def card(self) -> ModelCard:
        """What is known about the model."""
        return self._scorer.card

    @property
    def remarks(self) -> tuple[str, ...]:
        """Nothing is to be said."""
        return ()

    def score_options(self, asks: Sequence[Choose]) -> Iterator[tuple[int, OptionScores]]:
        """Score answers; see `OptionScorer`."""
        for number, ask in enumerate(asks):
            requests = [
                ScoreRequest(id=place, text=option.strip(), context=ask.prompt.rstrip())
                for place, option in enumerate(ask.options)
            ]
            encoded = self._scorer.encode(requests)
            greedy: tuple[bool, ...] = ()
            if isinstance(self._scorer, ColumnScorer) and self.card.kind == "causal":
                tables = self._scorer.score_columns(encoded, _RANK)
                values = [table[:, 0].tolist() for table in tables]
                greedy = tuple(bool((table[:, 1] == 1).all()) for table in tables)
            else:
                values = [row.tolist() for row in self._scorer.score(encoded)]
            nats = [tuple(map(float, row)) for row in values]
            _check(nats, self.card, ask.prompt)
            tokens = [tuple(each.tokens[index] for index in each.wanted) for each in encoded]
            yield number, OptionScores(nats=tuple(nats), tokens=tuple(tokens), greedy=greedy)


class TextOptions:
    """Answers scored by a server that scores whole texts.

    Args:
        scorer: the server's model.
    """

    def __init__(self, scorer: TextScorer) -> None:
        self._scorer = scorer

    @property
    def card(self) -> ModelCard:
        """What is known about the model."""
        return self._scorer.card

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the user should know of the server."""
        return self._scorer.remarks(()) if isinstance(self._scorer, Remarking) else ()

    def score_options(self, asks: Sequence[Choose]) -> Iterator[tuple[int, OptionScores]]:
        """Score answers; see `OptionScorer`. A prompt is yielded when all its answers are there."""
        texts = {ask.prompt + option for ask in asks for option in ask.options}
        waiting = dict(enumerate(asks))
        known: dict[str, dict[int, float]] = {}
        for text, scores in self._scorer.read(sorted(texts)):
            known[text] = scores
            for number, ask in list(waiting.items()):
                if ask.prompt + ask.options[0] in known and all(
                    ask.prompt + option in known for option in ask.options
                ):
                    del waiting[number]
                    yield number, self._scores(ask, known)

    def _scores(self, ask: Choose, known: dict[str, dict[int, float]]) -> OptionScores:
        nats: list[tuple[float, ...]] = []
        tokens: list[tuple[str, ...]] = []
        for option in ask.options:
            content = (ask.prompt + option).encode()
            seam = len(ask.prompt.encode())
            scores = known[ask.prompt + option]
            # A token across the seam holds a part of the answer.
            first = max((at for at in scores if at <= seam), default=0)
            places = [at for at in scores if at >= first]
            pieces = zip(places, chain(places[1:], [len(content)]), strict=True)
            nats.append(tuple(scores[at] for at in places))
            tokens.append(tuple(content[low:high].decode(errors="replace") for low, high in pieces))
        _check(nats, self.card, ask.prompt)
        return OptionScores(nats=tuple(nats), tokens=tuple(tokens))


def _check(nats: Sequence[Sequence[float]], card: ModelCard, prompt: str) -> None:
    """See that every token of every answer has a probability."""
    for value in chain.from_iterable(nats):
        # Not <= 0: half precision can give a little more.
        if not -float("inf") < value < float("inf"):
            raise _not_finite(card, value, prompt)


def _not_finite(card: ModelCard, value: float, prompt: str) -> NonFiniteScoreError:
    return NonFiniteScoreError(
        where=f"model {card.name!r}, prompt that ends in {prompt[-60:]!r}",
        seen=f"the model gave {value} for a token of an answer",
        todo="Its weights may be damaged, or the dtype too narrow: try --dtype float32.",
    )
