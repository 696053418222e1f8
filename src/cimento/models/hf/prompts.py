"""Prompts to causal models: options scored after them, replies written, what they share read once.

Prompts that begin with the same examples are read one after another, sorted; each time the keys
and values of the part that the next prompt shares are kept and the rest is read in one row, the
answers as branches of a prefix tree. The way is not trusted: before it is used, and again when
longer texts come, it is compared with a plain pass over whole texts.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from cimento.errors import ModelError, NonFiniteScoreError, TextTooLongError
from cimento.models.base import ModelCard
from cimento.models.failing import SHOWN_CHARACTERS
from cimento.models.hf.causal import length_that_matters
from cimento.models.hf.layout import Ids, tolerance_nats, unpadded
from cimento.models.hf.room import is_out_of_memory
from cimento.models.questions import (
    Choose,
    GeneratedReply,
    OptionScores,
    Reply,
    StopReason,
    refuse_not_finite,
)
from cimento.models.settings import Policy
from cimento.models.tokenizing import causal_frame, tokenized

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.models.hf.inside import Inside

_ASK_SHORTER = "Ask with fewer examples (--set shots=1), or a model with a longer window."


class PrefixReader:
    """Reads texts that begin alike, the beginning only once.

    Attributes:
        remark: why nothing is shared, as a sentence; empty where it is.

    Args:
        model: in evaluation mode, on its device.
        sharing: whether beginnings may be shared.
    """

    def __init__(self, model: PreTrainedModel, *, sharing: bool = True) -> None:
        self._model = model
        self._sharing = sharing
        self._proven = {False: 0, True: 0}
        self._cached: list[int] = []
        self._cache: Any = None
        self._keeps_logits = "logits_to_keep" in inspect.signature(model.forward).parameters
        config = model.config.get_text_config()
        window = getattr(config, "sliding_window", None)
        self._longest_shared = min(window or sys.maxsize, length_that_matters(model))
        self.remark = ""

    def read(self, texts: Sequence[Ids], starts: Sequence[int]) -> list[torch.Tensor]:
        """Log-probabilities of every token of the vocabulary at the ends of some texts.

        Args:
            texts: token ids; they share a beginning.
            starts: for each text the first position that is predicted, 1 or more.

        Returns:
            For each text a tensor of shape (length - start, vocabulary): what is predicted at
            each position from `start`, given the tokens before it. On the CPU, float32.
        """
        longest = max(map(len, texts))
        # Over longer texts a window slides, or positions are not what they were.
        may_share = self._sharing and longest <= self._longest_shared
        if not may_share:
            return [self._plain(text, start) for text, start in zip(texts, starts, strict=True)]
        try:
            scores, kept = self._shared(texts, starts)
            if longest > self._proven[kept > 0]:
                self._prove(texts, starts, scores, kept=kept > 0)
        # A model that knows no cache or no such mask says so in its own way.
        except Exception as error:
            if all(self._proven.values()) and not is_out_of_memory(error):
                raise
            self._give_up(f"the model does not take it ({type(error).__name__})")
        if self._sharing:
            return scores
        return [self._plain(text, start) for text, start in zip(texts, starts, strict=True)]

    def _prove(
        self,
        texts: Sequence[Ids],
        starts: Sequence[int],
        scores: Sequence[torch.Tensor],
        *,
        kept: bool,
    ) -> None:
        """Compare with a plain pass: the longest text, and the last, furthest from the shared.

        What holds without anything kept from before need not hold with it, so both are tried.
        """
        longest = max(range(len(texts)), key=lambda number: len(texts[number]))
        chosen = {longest, len(texts) - 1}
        worst = max(
            _largest_difference(scores[number], self._plain(texts[number], starts[number]))
            for number in chosen
        )
        # Not more: a difference that is not a number must not pass.
        if not worst <= tolerance_nats(self._model):
            self._give_up(f"scores differ by up to {worst:.2g} nats")
            return
        # One proof holds for texts that are a little longer too.
        length = len(texts[longest])
        self._proven[kept] = length + length // 4

    def _give_up(self, reason: str) -> None:
        self._sharing = False
        self._cache = None
        self._cached = []
        self.remark = f"beginnings that prompts share are computed every time: {reason}"

    def _plain(self, text: Ids, start: int) -> torch.Tensor:
        """One text through the model's own forward pass, nothing shared."""
        with torch.inference_mode():
            fed = torch.tensor([list(text[:-1])], device=self._model.device)
            last = {"logits_to_keep": len(text) - start} if self._keeps_logits else {}
            given = unpadded(self._model, fed) | last
            logits = self._model(**given).logits[0, start - len(text) :]
            scores: torch.Tensor = logits.float().log_softmax(dim=1).cpu()
        return scores

    def _shared(
        self, texts: Sequence[Ids], starts: Sequence[int]
    ) -> tuple[list[torch.Tensor], int]:
        """What `read` gives, and how many tokens were kept from before."""
        order = sorted(range(len(texts)), key=lambda number: tuple(texts[number]))
        first, last = texts[order[0]], texts[order[-1]]
        stem = list(first[: min(common(first, last), *starts)])
        # The end of the stem is read again, for what follows it is asked.
        kept = max(0, min(common(self._cached, stem), len(stem) - 1))
        tree = _branches(texts, order, kept)
        paths = dict(tree.members)
        wanted = {
            number: [paths[number][place - 1 - kept] for place in range(start, len(texts[number]))]
            for number, start in enumerate(starts)
        }
        nodes = sorted({node for some in wanted.values() for node in some})
        logits = self._run(tree, kept, nodes)
        self._forget(kept + len(tree) - len(stem))
        self._cached = stem
        line = {node: number for number, node in enumerate(nodes)}
        scores = logits.float().log_softmax(dim=1).cpu()
        wanted_scores = [
            scores[[line[node] for node in wanted[number]]] for number in range(len(texts))
        ]
        return wanted_scores, kept

    def _run(self, tree: PrefixTree, kept: int, nodes: Sequence[int]) -> torch.Tensor:
        """One pass over the tree, after what is kept; logits of shape (nodes, vocabulary)."""
        from transformers import DynamicCache

        if self._cache is None:
            self._cache = DynamicCache()
        self._forget(len(self._cached) - kept)
        device, dtype = self._model.device, self._model.dtype
        visible = torch.ones((len(tree), kept + len(tree)), dtype=torch.bool)
        visible[:, kept:] = torch.from_numpy(tree.visible())
        bias = torch.zeros((1, 1, *visible.shape), dtype=dtype, device=device)
        bias.masked_fill_(~visible.to(device), torch.finfo(dtype).min)
        index = torch.tensor(nodes, device=device)
        thin = {"logits_to_keep": index} if self._keeps_logits else {}
        with torch.inference_mode():
            logits: torch.Tensor = self._model(
                input_ids=torch.tensor([tree.tokens], device=device),
                position_ids=torch.tensor([tree.depths], device=device) + kept,
                attention_mask=bias,
                past_key_values=self._cache,
                use_cache=True,
                **thin,
            ).logits[0]
        return logits if thin else logits[index]

    def _forget(self, tokens: int) -> None:
        """Take the last tokens out of what is kept."""
        if tokens:
            self._cache.crop(-tokens)


@dataclass(slots=True)
class PrefixTree:
    """The distinct prefixes of some token sequences, laid out in one row.

    The stimuli of a suite share prefixes. Their distinct prefixes form a forest; each node has its
    position in the text, and an attention mask lets it see only its ancestors. One pass of a causal
    model then gives the same scores as a pass over every text.

    Attributes:
        tokens: token id of each node; a parent precedes its children.
        parents: index of each node's parent; -1 for first tokens.
        depths: position of each node in its sequence, from 0.
        members: number of each sequence in the tree, with the node of each of its tokens.
    """

    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    members: list[tuple[int, list[int]]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.tokens)

    def add(self, number: int, ids: Sequence[int], *, shared: int) -> None:
        """Add a sequence that shares its first `shared` tokens with the one added before it."""
        path = self.members[-1][1][:shared] if shared else []
        for token in ids[shared:]:
            self.parents.append(path[-1] if path else -1)
            self.depths.append(len(path))
            path.append(len(self.tokens))
            self.tokens.append(token)
        self.members.append((number, path))

    def visible(self) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
        """Whether each node may see each other node: itself and ancestors; shape (nodes, nodes)."""
        size = len(self.tokens)
        seen = np.zeros((size, size), dtype=np.bool_)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                seen[node] = seen[parent]
            seen[node, node] = True
        return seen


def common(first: Sequence[int], second: Sequence[int]) -> int:
    """The length of the common prefix of two sequences."""
    for index, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return index
    return min(len(first), len(second))


def _branches(texts: Sequence[Ids], order: Sequence[int], kept: int) -> PrefixTree:
    """What is fed of the texts, in order: from `kept` on, without their last tokens."""
    tree = PrefixTree()
    before: Ids = ()
    for number in order:
        fed = texts[number][kept:-1]
        tree.add(number, fed, shared=common(before, fed))
        before = fed
    return tree


def _largest_difference(one: torch.Tensor, other: torch.Tensor) -> float:
    """Between what is likely at all: far below, half-precision models differ and no one asks."""
    likely = other > other.max(dim=1, keepdim=True).values - 20.0
    return float((one - other)[likely].abs().max())


def split_ids(
    tokenizer: PreTrainedTokenizerBase,
    pairs: Sequence[tuple[str, str]],
    *,
    before: Sequence[Sequence[int]],
    window: int | None,
) -> list[tuple[list[int], int]]:
    """Token ids of prompts with what follows each, and the number of the prompt's.

    Both are tokenized together, as text is. Where a token would lie across the seam they are
    tokenized apart, for a model that reads the prompt can only go on after it.

    Args:
        tokenizer: a fast tokenizer.
        pairs: each prompt, which may hold special tokens, written out, and what comes after it,
            which is not empty.
        before: ids put before each prompt, unless it begins with them.
        window: longest sequence that the model can read.

    Raises:
        TextTooLongError: one of them is longer than `window`.
        ModelError: the tokenizer makes nothing of what follows.
    """
    together = tokenized([prompt + following for prompt, following in pairs], tokenizer)
    found = list[tuple[list[int], int]]()
    for (prompt, following), tokens, spans, start in zip(pairs, *together, before, strict=True):
        ids = list(tokens)
        n_prompt = sum([end <= len(prompt) for _, end in spans])
        if n_prompt < len(ids) and spans[n_prompt][0] < len(prompt):
            (first, second), _ = tokenized([prompt, following], tokenizer)
            ids, n_prompt = [*first, *second], len(first)
        if list(start) != ids[: len(start)]:
            ids, n_prompt = [*start, *ids], n_prompt + len(start)
        _need_room(ids, n_prompt, prompt, following, window=window)
        found.append((ids, n_prompt))
    return found


def _need_room(
    ids: Sequence[int], n_prompt: int, prompt: str, following: str, *, window: int | None
) -> None:
    """Refuse a prompt after which nothing comes, or with which it is too long."""
    if n_prompt == len(ids):
        raise ModelError(
            where=f"answer {following!r}", seen="the tokenizer makes no token of it", todo=""
        )
    if window is not None and len(ids) > window:
        raise TextTooLongError(
            where=f"prompt that ends in {prompt[-SHOWN_CHARACTERS:]!r}",
            seen=f"it makes {len(ids)} tokens with what follows,"
            f" and the model's window holds {window}",
            todo=_ASK_SHORTER,
        )


def prompt_ids(
    tokenizer: PreTrainedTokenizerBase, prompt: str, *, before: Sequence[int]
) -> list[int]:
    """Token ids of a prompt alone, as a model reads it before it goes on."""
    [ids], _ = tokenized([prompt], tokenizer)
    return list(ids) if list(before) == list(ids[: len(before)]) else [*before, *ids]


class _PromptReader:
    """A causal model of transformers that reads prompts.

    Args:
        inside: the model and its tokenizer.
        card: what is known about it.
        policy: its rule for what comes before a text.
        sharing: whether what prompts share is computed once.
    """

    def __init__(
        self, inside: Inside, *, card: ModelCard, policy: Policy, sharing: bool = True
    ) -> None:
        self._tokenizer = inside.tokenizer
        self._before = causal_frame(inside.tokenizer, policy.bos).before
        self._reader = PrefixReader(inside.model, sharing=sharing)
        self._ends = end_tokens(inside.model, inside.tokenizer)
        self.card = card


class CausalOptions(_PromptReader):
    """Answers scored by a causal model of transformers, what prompts share computed once."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Why prompts do not share what they could, where they do not."""
        return (self._reader.remark,) if self._reader.remark else ()

    def score_options(self, asks: Sequence[Choose]) -> Iterator[tuple[int, OptionScores]]:
        """Score answers; see `OptionScorer`. Prompts that begin alike come one after another."""
        pairs = [(ask.prompt, option) for ask in asks for option in ask.options]
        before = [() if ask.templated else self._before for ask in asks for _ in ask.options]
        window = self.card.window
        found = iter(split_ids(self._tokenizer, pairs, before=before, window=window))
        split = [[*islice(found, len(ask.options))] for ask in asks]
        for number in sorted(range(len(asks)), key=lambda number: split[number][0][0]):
            texts, starts = zip(*split[number], strict=True)
            yield number, self._score(texts, starts, where=asks[number].prompt)

    def _score(
        self, texts: Sequence[Sequence[int]], starts: Sequence[int], *, where: str
    ) -> OptionScores:
        if not all(starts):
            # Without anything before the prompt's first token, it has no probability.
            refuse_not_finite([[math.nan]], self.card, where)
        nats: list[tuple[float, ...]] = []
        greedy: list[bool] = []
        tokens: list[tuple[str, ...]] = []
        for text, start, rows in zip(texts, starts, self._reader.read(texts, starts), strict=True):
            ids = list(text[start:])
            chosen = rows[range(len(ids)), ids]
            nats.append(tuple(chosen.double().tolist()))
            greedy.append(bool((rows.argmax(dim=1).tolist()) == ids))
            tokens.append(tuple(self._tokenizer.convert_ids_to_tokens(ids)))
        refuse_not_finite(nats, self.card, where)
        return OptionScores(nats=tuple(nats), tokens=tuple(tokens), greedy=tuple(greedy))


class CausalReplier(_PromptReader):
    """A causal model that goes on after a prompt with the most probable token, again and again.

    Its own settings for generation (sampling, penalties) are not used; its end tokens are.
    """

    def reply(self, asks: Sequence[Reply]) -> Iterator[tuple[int, GeneratedReply]]:
        """Answer prompts one after another, those that begin alike as neighbors; see `Replier`."""
        prompts = [
            prompt_ids(self._tokenizer, ask.prompt, before=() if ask.templated else self._before)
            for ask in asks
        ]
        for number in sorted(range(len(asks)), key=lambda number: prompts[number]):
            yield number, self._reply(asks[number], prompts[number])

    def _reply(self, ask: Reply, prompt: Sequence[int]) -> GeneratedReply:
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
                where=f"prompt that ends in {ask.prompt[-SHOWN_CHARACTERS:]!r}",
                seen=f"with the reply it is longer than the model's window of {window} tokens",
                todo=_ASK_SHORTER,
            )
        # What is predicted is asked for by a token that is not read.
        [rows] = self._reader.read([[*ids, ids[-1]]], [len(ids)])
        if bool(rows.isnan().any()):
            raise NonFiniteScoreError(
                where=f"model {self.card.name!r}",
                seen="the model gave NaN while it wrote a reply",
                todo="Its weights may be damaged, or the dtype too narrow: try --dtype=float32.",
            )
        return int(rows[0].argmax())

    def _text(self, written: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(written), skip_special_tokens=True))

    def _done(self, written: Sequence[int], ask: Reply, reason: StopReason) -> GeneratedReply:
        text = self._text(written)
        # Empty lines before the reply do not end it.
        opening = len(text) - len(text.lstrip())
        ends = [at for stop in ask.stop if (at := text.find(stop, opening)) >= 0]
        return GeneratedReply(text[: min(ends)] if ends else text, reason)


def end_tokens(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """The tokens that end a reply, as the model's settings and its tokenizer name them."""
    named = getattr(model.generation_config, "eos_token_id", None)
    ends = {named} if isinstance(named, int) else set(named or ())
    if tokenizer.eos_token_id is not None:
        ends.add(int(tokenizer.eos_token_id))
    return frozenset(ends)
