"""Answerers of other questions around a loaded model: options, replies, chats and blanks.

The functions return an answerer for the model of a scorer. Two answerers are defined here, for
models other than causal ones of transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias, TypeGuard, TypeVar

from cimento.errors import UsageError
from cimento.io.tables import Column
from cimento.models.base import ColumnScorer, ModelCard, Remarking, Score, Scorer, TextScorer
from cimento.models.questions import (
    Attributer,
    Choose,
    OptionScorer,
    OptionScores,
    Patcher,
    Replier,
    refuse_not_finite,
)
from cimento.models.settings import AUTO, BatchLimits, Policy

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from cimento.models.hf.inside import Inside, Inspectable
    from cimento.models.questions import Filler

Inner = TypeVar("Inner")

_RANK: tuple[Column, ...] = ("rank",)

Render: TypeAlias = Callable[[Sequence[tuple[str, str]]], str]
"""A function from turns, as (role, content), to the text up to the model's answer."""

PROMPT_DATE = "26 Jul 2024"
"""The date for chat templates.

Llama's template writes the date into the prompt; this is its own default, so that a prompt does not
change from day to day.
"""


def option_scorer(scorer: Scorer | TextScorer, *, policy: Policy) -> OptionScorer:
    """The scorer of options with a model.

    Args:
        scorer: the model.
        policy: the policy of scoring.
    """
    if isinstance(scorer, TextScorer):
        return TextOptions(scorer)
    if inside := _inside_causal(scorer):
        from cimento.models.hf.prompts import CausalOptions

        return CausalOptions(inside, card=scorer.card, policy=policy)
    return ScoredOptions(scorer)


def _inside_causal(scorer: Scorer | TextScorer) -> Inside | None:
    """The parts of a causal model of transformers; None for any other, which needs no torch."""
    if scorer.card.kind != "causal" or not has_filler(scorer):
        return None
    from cimento.models.hf.causal import CausalScorer

    return scorer.inside() if isinstance(scorer, CausalScorer) else None


class ScoredOptions:
    """A scorer of options as texts with a context, for masked models, n-grams and others.

    A masked model gives the pseudo-log-likelihood of the answer's tokens, given all other tokens.

    Args:
        scorer: the model.
    """

    remarks: tuple[str, ...] = ()

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self.card = scorer.card

    def score_options(self, asks: Sequence[Choose]) -> Iterator[tuple[int, OptionScores]]:
        """Score answers; see `OptionScorer`."""
        for number, ask in enumerate(asks):
            requests = [
                Score(text=option.strip(), context=ask.prompt.rstrip())
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
            refuse_not_finite(nats, self.card, ask.prompt)
            tokens = [tuple(text.tokens[index] for index in text.wanted) for text in encoded]
            yield number, OptionScores(nats=tuple(nats), tokens=tuple(tokens), greedy=greedy)


class TextOptions:
    """A scorer of options with a server that scores whole texts.

    Args:
        scorer: the server's model.
    """

    def __init__(self, scorer: TextScorer) -> None:
        self._scorer = scorer

    @property
    def card(self) -> ModelCard:
        """The card of the model."""
        return self._scorer.card

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on the server for the user."""
        return self._scorer.remarks(()) if isinstance(self._scorer, Remarking) else ()

    def score_options(self, asks: Sequence[Choose]) -> Iterator[tuple[int, OptionScores]]:
        """Score answers; see `OptionScorer`. A prompt is yielded once its answers are scored."""
        from cimento.models.server.model import ServerScorer

        chats = [number for number, ask in enumerate(asks) if ask.messages]
        if chats and isinstance(self._scorer, ServerScorer):
            replier = self._scorer.replier()
            for place, listed in replier.score_options([asks[number] for number in chats]):
                yield chats[place], listed
        waiting = {number: ask for number, ask in enumerate(asks) if not ask.messages}
        if not waiting:
            return
        texts = {ask.prompt + option for ask in waiting.values() for option in ask.options}
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
            # A token across the end of the prompt contains a part of the answer.
            first = max((at for at in scores if at <= seam), default=0)
            places = [at for at in scores if at >= first]
            pieces = zip(places, chain(places[1:], [len(content)]), strict=True)
            nats.append(tuple(scores[at] for at in places))
            tokens.append(tuple(content[low:high].decode(errors="replace") for low, high in pieces))
        refuse_not_finite(nats, self.card, ask.prompt)
        return OptionScores(nats=tuple(nats), tokens=tuple(tokens))


def replier(scorer: Scorer | TextScorer, *, policy: Policy) -> Replier:
    """The replier of a model, which generates text.

    Args:
        scorer: the model, loaded.
        policy: the policy, whose BOS rule applies.

    Raises:
        UsageError: the model does not generate text.
    """
    from cimento.models.server.model import ServerScorer

    if isinstance(scorer, ServerScorer):
        return scorer.replier()
    if inside := _inside_causal(scorer):
        from cimento.models.hf.prompts import CausalReplier

        return CausalReplier(inside, card=scorer.card, policy=policy)
    if isinstance(scorer, Replier):
        return scorer
    raise UsageError(
        where=f"model {scorer.card.name!r}",
        seen=f"a {scorer.card.kind} model of this kind writes no replies",
        todo="Score its answers with --set answer=loglik.",
    )


def patcher(scorer: Scorer | TextScorer, *, limits: BatchLimits = AUTO) -> Patcher:
    """The interchange of a model's hidden states.

    Args:
        scorer: a loaded model of transformers.
        limits: the limits of a batch; chosen by device if there are none.

    Raises:
        UsageError: the model does not give access to its layers.
        ModelError: its layers cannot be exchanged.
    """
    if isinstance(scorer, Patcher):
        return scorer
    if not has_filler(scorer):
        raise _no_layers(scorer)
    from cimento.models.hf.interchange import Interchange

    return _inside(scorer, Interchange, limits)


def attributer(scorer: Scorer | TextScorer, *, limits: BatchLimits = AUTO) -> Attributer:
    """The gradients of a model.

    Args:
        scorer: a loaded model of transformers.
        limits: the limits of a batch; chosen by device if there are none.

    Raises:
        UsageError: the model does not give access to its embeddings.
        ModelError: its embeddings cannot be found.
    """
    if isinstance(scorer, Attributer):
        return scorer
    if not has_filler(scorer):
        raise _no_layers(scorer)
    from cimento.models.hf.gradients import Gradients

    return _inside(scorer, Gradients, limits)


def _no_layers(scorer: Scorer | TextScorer) -> UsageError:
    """The error of a scorer that is not of transformers."""
    return UsageError(
        where=f"model {scorer.card.name!r}",
        seen=f"a {scorer.card.kind} model of this kind does not show its layers",
        todo="Explain a run of a model of transformers.",
    )


def _inside(scorer: Scorer | TextScorer, look: Callable[..., Inner], limits: BatchLimits) -> Inner:
    """The view into a scorer, which must be of transformers; opened and proven once.

    Raises:
        UsageError: it is not.
    """
    from cimento.models.hf.scorer import TransformersScorer

    if not isinstance(scorer, TransformersScorer):
        raise _no_layers(scorer)
    if look not in scorer.opened:
        limits = limits.or_tokens(512 if scorer.card.device == "cpu" else 16_384)
        scorer.opened[look] = look(scorer, limits=limits)
    inner: Inner = scorer.opened[look]
    return inner


def chat_template(scorer: Scorer | TextScorer) -> Render | None:
    """The chat template of a model's tokenizer; None where it has none."""
    if not has_filler(scorer) or scorer.card.kind != "causal":
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
                # Reasoning is switched off in models that have it, since options are scored right
                # after the prompt.
                enable_thinking=False,
            )
        )

    return render


def has_filler(scorer: object) -> TypeGuard[Inspectable]:
    """Whether a model can propose candidates; other models can still choose among options."""
    return hasattr(scorer, "inside")


def open_filler(scorer: object, *, policy: Policy, limits: BatchLimits = AUTO) -> Filler:
    """The filler of blanks with the model of a scorer.

    Args:
        scorer: a loaded model of transformers.
        policy: the policy it was loaded with.
        limits: the limits of a batch; chosen by device if there are none.

    Raises:
        UsageError: the model does not give access to its parts.
        ModelError: the model cannot be asked exactly.
    """
    if not has_filler(scorer):
        raise UsageError(
            where="fill",
            seen="this model gives only scores of texts, and no candidates of its own",
            todo="Give options to choose among, or a model of transformers.",
        )
    inside, card = scorer.inside(), scorer.card
    if card.kind == "diffusion":
        raise UsageError(
            where=f"model {card.name!r}",
            seen="a masked diffusion model gives scores of texts here, and no candidates",
            todo="Give options to choose among, or ask it as a masked model: --kind=masked.",
        )
    limits = limits.or_tokens(512 if inside.model.device.type == "cpu" else 16_384)
    if card.kind == "masked":
        from cimento.models.hf.masked import MaskedFiller

        sliding = policy.window == "sliding"
        return MaskedFiller(inside, card=card, limits=limits, sliding=sliding)
    from cimento.models.hf.fill_causal import CausalFiller, SentinelFiller

    if card.kind == "seq2seq":
        return SentinelFiller(inside, card=card)
    return CausalFiller(inside, card=card, policy=policy, limits=limits)
