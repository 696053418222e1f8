"""A handle of a model, which is loaded when first needed and released when another is needed."""

from __future__ import annotations

import functools
import gc
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from cimento.engine.cache import AnswerCache, answer_key, get_answers, put_answers
from cimento.engine.model_thread import ModelThread
from cimento.engine.requests import Request
from cimento.engine.rounding import HALF, measure_rounding
from cimento.engine.scores import THIS_THREAD, Progress, model_key
from cimento.errors import ModelError
from cimento.io.memory import give_back
from cimento.models.base import ModelCard, Widening
from cimento.models.registry import AnyScorer, ScorerSource, Source, asking_by, name_of, open_source
from cimento.models.settings import Asking
from cimento.suites import JsonValue

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from cimento.io.tables import Column
    from cimento.models.answering import Render
    from cimento.models.base import FloatArray, Plan, Planner
    from cimento.models.hf.loading import ModelFacts

P = ParamSpec("P")
R = TypeVar("R")


class ModelHandle:
    """A model as paradigms and the engine see it; its weights are loaded when it has to answer.

    Args:
        model: its name as for ``cimento run -m``, or a model that is loaded already.
        scoring: the settings of scoring.

    Attributes:
        source: the source from which it is loaded.
        scoring: the settings of scoring, with the number format of its weights.

    Raises:
        CimentoError: there is no such file or model.
    """

    def __init__(self, model: str | AnyScorer, scoring: Asking) -> None:
        self.model = model
        self.source: Source = open_source(model, scoring)
        self.scoring = asking_by(self.source, scoring)
        self._scorer: AnyScorer | None = None
        self._thread = ModelThread()
        self._measuring = threading.Lock()
        self._is_measured = False

    @property
    def label(self) -> str:
        """The name and revision of the model, known before anything is loaded."""
        return self.source.label

    @property
    def inputs(self) -> dict[str, JsonValue]:
        """Everything that determines its answers, for the manifest."""
        return self.source.inputs

    @property
    def named(self) -> str:
        """The name under which it can be opened again; empty for a model made in Python."""
        return name_of(self.source)

    @property
    def is_server(self) -> bool:
        """Whether the model is on a server."""
        return self.named.startswith("openai:")

    @property
    def recorded(self) -> frozenset[str]:
        """The names of recorded tables: none, since a model answers whatever it is asked."""
        return frozenset()

    @property
    def card(self) -> ModelCard:
        """The card of the model, made from its files alone until its weights are loaded."""
        if self._scorer is None and self.sized is not None:
            return self.sized.card
        return self.scorer.card

    def addresses(self, requests: Sequence[Request], table: str) -> list[bytes]:
        """The cache keys of answers other than token scores; see `cimento.engine.cache`.

        Args:
            requests: the requests.
            table: name of the table that holds their answers.
        """
        key = model_key(self.card, self.scoring.policy)
        return [answer_key(key, table, repr(request)) for request in requests]

    def known_or_asked(
        self,
        requests: Sequence[Request],
        table: str,
        ask: Callable[[Sequence[Any]], Iterable[Mapping[int, JsonValue]]],
        *,
        cache: AnswerCache,
        progress: Progress | None = None,
    ) -> list[list[Any]]:
        """The answers to requests as lists, from the cache where it has them, else from the model.

        Args:
            requests: the requests, without repeats.
            table: name of the table that holds their answers.
            ask: asks the model; gives some answers at a time, by their places among what is asked.
            cache: the cache of known answers; new ones are stored there as they come.
            progress: called with the number of answers so far and the number in all.
        """
        keys = self.addresses(requests, table)
        known = get_answers(cache, keys)
        todo = [number for number, key in enumerate(keys) if key not in known]
        done = len(keys) - len(todo)
        for given in ask([requests[number] for number in todo]) if todo else ():
            fresh = {keys[todo[place]]: answer for place, answer in given.items()}
            put_answers(cache, fresh)
            known |= fresh
            done += len(fresh)
            if progress is not None:
                progress(done, len(keys))
        return [answer for key in keys if isinstance(answer := known[key], list)]

    @property
    def is_loaded(self) -> bool:
        """Whether the model's weights are in memory."""
        return self._scorer is not None

    @property
    def waits(self) -> bool:
        """Whether the model computes on a GPU, so that this process is idle meanwhile."""
        card = None if self._scorer is None else self._scorer.card
        return card is not None and card.device.startswith(("cuda", "mps", "xpu"))

    @property
    def scorer(self) -> AnyScorer:
        """The loaded model.

        Raises:
            CimentoError: the model cannot be loaded.
        """
        if self._scorer is None:
            self._scorer = self.source.load()
        return self._scorer

    def measure_rounding(self, cache: AnswerCache) -> None:
        """Measure what half precision does to margins, once for a model, and put it on its card.

        Args:
            cache: the cache of answers, which keeps the measure.
        """
        scorer = self.scorer
        card = scorer.card
        # A diffusion model draws what it masks, and needs many passes for each text.
        if card.dtype not in HALF or card.kind == "diffusion" or not isinstance(scorer, Widening):
            return
        with self._measuring:
            if scorer.card.rounding_bits is None and not self._is_measured:
                self._is_measured = True
                bits = self.call(measure_rounding, scorer, self.scoring.policy, cache)
                scorer.card = replace(scorer.card, rounding_bits=bits)

    def call(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """The result of a function for which the model computes.

        A model on a GPU has a thread that does nothing else; see `cimento.engine.model_thread`.
        """
        return (self._thread if self.waits else THIS_THREAD).call(function, *args, **kwargs)

    def carry_out(self, planner: Planner, plan: Plan, columns: tuple[Column, ...]) -> FloatArray:
        """The scores of a plan."""
        place = self._thread if self.waits else THIS_THREAD
        return place.carry_out(planner, plan, columns)

    def client(self) -> AbstractContextManager[None]:
        """A context in which a thread prepares a unit for the model and stores its answers."""
        return self._thread.client() if self.waits else nullcontext()

    def expect(self, units: int) -> None:
        """Say how many units are under way that the model could answer together."""
        if self.waits:
            self._thread.expect(units)

    def release(self) -> None:
        """Free the memory of the weights, which are loaded again when they are needed."""
        if self._scorer is None:
            return
        self._thread.close()
        self._thread = ModelThread()
        self._scorer, self._is_measured = None, False
        if isinstance(self.source, ScorerSource):
            self.source.release()
            # A model refers to itself in cycles, and its memory is needed for the next one.
            gc.collect()
            give_back()

    @functools.cached_property
    def sized(self) -> ModelFacts | None:
        """The size of a model of transformers, read from its files; None for every other model.

        Raises:
            ModelError: its config or tokenizer cannot be read.
        """
        located = self.source.located if isinstance(self.source, ScorerSource) else None
        if located is None:
            return None
        from cimento.models.hf.loading import size_up

        return size_up(located, policy=self.scoring.policy, kind=self.scoring.kind)

    @property
    def tokenizer(self) -> PreTrainedTokenizerBase | None:
        """The tokenizer of a model of transformers; None for every other model.

        Raises:
            ModelError: it cannot be read without loading the model.
        """
        if self._scorer is None:
            return None if self.sized is None else self.sized.tokenizer
        from cimento.models.answering import has_filler

        return self._scorer.inside().tokenizer if has_filler(self._scorer) else None

    def on_special_tokens(self, texts: Iterable[str]) -> tuple[str, ...]:
        """A note on special tokens of the model in texts that it is asked about, if there are any.

        Models of transformers only; of one that comes with code, only the loaded one can say.
        """
        from cimento.models.special_tokens import on_special_tokens, suspicious

        some = dict.fromkeys(suspicious(texts))
        try:
            tokenizer = self.tokenizer if some else None
        except ModelError:
            return ()
        return () if tokenizer is None else on_special_tokens(tokenizer, some)

    def tell_special_tokens(
        self, texts: Iterable[str], remark: Callable[[str], object] | None
    ) -> None:
        """Tell of special tokens of the model in texts; see `on_special_tokens`."""
        if remark is not None:
            for line in self.on_special_tokens(texts):
                remark(f"{line}.")

    @functools.cached_property
    def _render(self) -> Render | None:
        from cimento.models.answering import chat_template, template_of

        if self._scorer is None and self.sized is not None:
            return template_of(self.sized.tokenizer) if self.sized.card.kind == "causal" else None
        return chat_template(self.scorer)

    def chat(self, messages: Sequence[tuple[str, str]]) -> str | None:
        """Turns of (role, content) in the model's chat template; None where it has none.

        Raises:
            ModelError: the template cannot render them.
        """
        return None if self._render is None else self._render(messages)

    @property
    def takes_messages(self) -> bool:
        """Whether the model takes turns and renders them itself, as servers do."""
        if self._scorer is None and self.sized is not None:
            return False
        from cimento.models.server.model import ServerScorer

        return isinstance(self.scorer, ServerScorer)
