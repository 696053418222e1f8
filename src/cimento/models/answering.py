"""How probable each of some answers is, for every model that scores texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from cimento.errors import NonFiniteScoreError, TextTooLongError, UsageError
from cimento.io.tables import Column
from cimento.models.base import (
    AUTO,
    BatchLimits,
    ColumnScorer,
    ModelCard,
    Policy,
    Remarking,
    Scorer,
    TextScorer,
)
from cimento.models.hf.prefixed import prompt_ids
from cimento.models.questions import (
    Choose,
    OptionScorer,
    OptionScores,
    Replier,
    Reply,
    StopReason,
    Written,
)
from cimento.suites.stimuli import ScoreRequest

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.models.hf.inspection import Inside
    from cimento.models.questions import Filler


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
        from cimento.models.hf.causal import CausalScorer

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
        from cimento.models.hf.prefixed import PrefixReader
        from cimento.models.tokens.tokenizing import causal_frame

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
        from cimento.models.hf.prefixed import split_ids

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


def replier(scorer: Scorer | TextScorer, *, policy: Policy) -> Replier:
    """What answers in a model's own words.

    Args:
        scorer: the model, loaded.
        policy: its rule for what stands before a text.

    Raises:
        UsageError: the model does not write.
    """
    from cimento.models.server.model import ServerScorer

    if isinstance(scorer, ServerScorer):
        return scorer.replier()
    if scorer.card.kind == "causal":
        from cimento.models.hf.causal import CausalScorer

        if isinstance(scorer, CausalScorer):
            return CausalReplier(scorer.inside(), card=scorer.card, policy=policy)
    if isinstance(scorer, Replier):
        return scorer
    raise UsageError(
        where=f"model {scorer.card.name!r}",
        seen=f"a {scorer.card.kind} model of this kind writes no replies",
        todo="Score its answers with --set answer=loglik.",
    )


class CausalReplier:
    """A causal model that goes on after a prompt with the most probable token, again and again.

    Its own settings for generation (sampling, penalties) are not used; its end tokens are.

    Args:
        inside: the model and its tokenizer.
        card: what is known about it.
        policy: its rule for what stands before a text.
    """

    def __init__(self, inside: Inside, *, card: ModelCard, policy: Policy) -> None:
        from cimento.models.hf.prefixed import PrefixReader
        from cimento.models.tokens.tokenizing import causal_frame

        self._tokenizer = inside.tokenizer
        self._before = causal_frame(inside.tokenizer, policy.bos).before
        self._reader = PrefixReader(inside.model)
        self._ends = end_tokens(inside.model, inside.tokenizer)
        self.card = card

    def reply(self, asks: Sequence[Reply]) -> Iterator[tuple[int, Written]]:
        """Answer prompts one after another, those that begin alike as neighbours; see `Replier`."""
        prompts = [
            prompt_ids(self._tokenizer, ask.prompt, before=() if ask.templated else self._before)
            for ask in asks
        ]
        for number in sorted(range(len(asks)), key=lambda number: prompts[number]):
            yield number, self._reply(asks[number], prompts[number])

    def _reply(self, ask: Reply, prompt: Sequence[int]) -> Written:
        written: list[int] = []
        while len(written) < ask.max_tokens:
            token = self._next([*prompt, *written], ask)
            if token in self._ends:
                return self._done(written, ask, "end")
            written.append(token)
            text = self._text(written)
            if any(stop in text.lstrip() for stop in ask.stop):
                return self._done(written, ask, "stop")
        return self._done(written, ask, "length")

    def _next(self, ids: Sequence[int], ask: Reply) -> int:
        window = self.card.window
        if window is not None and len(ids) >= window:
            raise TextTooLongError(
                where=f"prompt that ends in {ask.prompt[-60:]!r}",
                seen=f"with the reply it is longer than the model's window of {window} tokens",
                todo="Ask with fewer examples (--set shots=1), or a model with a longer window.",
            )
        # What is predicted is asked for by a token that is not read.
        [rows] = self._reader.read([[*ids, ids[-1]]], [len(ids)])
        if bool(rows.isnan().any()):
            raise NonFiniteScoreError(
                where=f"model {self.card.name!r}",
                seen="the model gave NaN while it wrote a reply",
                todo="Its weights may be damaged, or the dtype too narrow: try --dtype float32.",
            )
        return int(rows[0].argmax())

    def _text(self, written: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(written), skip_special_tokens=True))

    def _done(self, written: Sequence[int], ask: Reply, reason: StopReason) -> Written:
        text = self._text(written)
        # Empty lines before the reply are no end of it.
        opening = len(text) - len(text.lstrip())
        ends = [at for stop in ask.stop if (at := text.find(stop, opening)) >= 0]
        return Written(text[: min(ends)] if ends else text, reason)


def end_tokens(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """The tokens that end a reply, as the model's settings and its tokenizer name them."""
    named = getattr(model.generation_config, "eos_token_id", None)
    ends = {named} if isinstance(named, int) else set(named or ())
    if tokenizer.eos_token_id is not None:
        ends.add(int(tokenizer.eos_token_id))
    return frozenset(ends)


Render: TypeAlias = Callable[[Sequence[tuple[str, str]]], str]
"""From turns, as (role, content), to the text that ends where the model's answer begins."""

PROMPT_DATE = "26 Jul 2024"
"""Llama's template writes the day into the prompt; this is the one that it falls back to itself, so
that a prompt is the same tomorrow."""


def chat_template(scorer: Scorer | TextScorer) -> Render | None:
    """A model's chat template, as its tokenizer renders it; None where it has none."""
    from cimento.models.hf.inspection import Inspectable

    if not isinstance(scorer, Inspectable) or scorer.card.kind != "causal":
        return None
    return template_of(scorer.inside().tokenizer)


def template_of(tokenizer: PreTrainedTokenizerBase) -> Render | None:
    """The chat template of a tokenizer; None where it has none."""
    if not tokenizer.chat_template:
        return None

    def render(turns: Sequence[tuple[str, str]]) -> str:
        return str(
            tokenizer.apply_chat_template(
                [{"role": role, "content": text} for role, text in turns],
                tokenize=False,
                add_generation_prompt=True,
                date_string=PROMPT_DATE,
                # Models that think aloud first leave it out, for options are scored at once.
                enable_thinking=False,
            )
        )

    return render


class _Opened(Protocol):
    """A scorer that lets itself be looked into."""

    @property
    def card(self) -> ModelCard: ...

    def inside(self) -> Inside: ...


def has_filler(scorer: object) -> bool:
    """Whether a model finds candidates itself; any other can still choose among options."""
    return hasattr(scorer, "inside")


def open_filler(scorer: object, *, policy: Policy, limits: BatchLimits = AUTO) -> Filler:
    """What fills blanks with the model of a scorer.

    Args:
        scorer: a model of transformers, loaded.
        policy: the policy it was loaded with.
        limits: of a batch; chosen by device where there are none.

    Raises:
        UsageError: the model does not show what it is made of.
        ModelError: the model cannot be asked exactly.
    """
    if not has_filler(scorer):
        raise UsageError(
            where="fill",
            seen="this model gives only scores of texts, and no candidates of its own",
            todo="Give options to choose among, or a model of transformers.",
        )
    opened = cast("_Opened", scorer)
    inside, card = opened.inside(), opened.card
    limits = limits.or_tokens(512 if inside.model.device.type == "cpu" else 16_384)
    if card.kind == "masked":
        from cimento.models.hf.fill_masked import MaskedFiller

        sliding = policy.window == "sliding"
        return MaskedFiller(inside, card=card, limits=limits, sliding=sliding)
    if card.kind == "seq2seq":
        from cimento.models.hf.fill_causal import SentinelFiller

        return SentinelFiller(inside, card=card)
    from cimento.models.hf.fill_causal import CausalFiller

    return CausalFiller(inside, card=card, policy=policy, limits=limits)
