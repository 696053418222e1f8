"""A model that is opened when it is first needed, and closed when another one is.

Memory that is free is given back to the system, so that a long run needs no more of it than a short
one.
"""

from __future__ import annotations

import ctypes
import functools
import gc
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from cimento.engine.cache import answer_key
from cimento.engine.requests import Request
from cimento.engine.scores import model_key
from cimento.models.base import ModelCard
from cimento.models.registry import (
    AnyScorer,
    Asking,
    ScorerSource,
    Source,
    asking_by,
    name_of,
    open_source,
)
from cimento.suites.model import JsonValue

if TYPE_CHECKING:
    from cimento.models.answering import Render
    from cimento.models.hf.loading import Sized


def give_back() -> None:
    """Have the C library give back what is free, where it can; a millisecond's work.

    glibc keeps what is freed between blocks that are in use. Tensors of ever other sizes leave
    such gaps, a few megabytes for every thousand sentences.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], object] | None:
    """The function of glibc that does it; None where the C library is another."""
    try:
        found: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
    return found


class ModelHandle:
    """A model as paradigms and the engine see it; its weights are loaded when it must answer.

    Args:
        model: its name as for ``cimento run -m``, or a model that is there already.
        scoring: how it scores texts.

    Attributes:
        source: where it comes from.
        scoring: how it scores texts, with the number format that it has.

    Raises:
        CimentoError: there is no such file or model.
    """

    def __init__(self, model: str | AnyScorer, scoring: Asking) -> None:
        self.model = model
        self.source: Source = open_source(model, scoring)
        self.scoring = asking_by(self.source, scoring)
        self._scorer: AnyScorer | None = None

    @property
    def label(self) -> str:
        """Name and revision, known before anything is loaded."""
        return self.source.label

    @property
    def inputs(self) -> dict[str, JsonValue]:
        """What makes its answers what they are, for the manifest."""
        return self.source.inputs

    @property
    def named(self) -> str:
        """How it can be named again; empty where it was made in Python."""
        return name_of(self.source)

    @property
    def is_server(self) -> bool:
        """Whether it stands behind a server."""
        return self.named.startswith("openai:")

    @property
    def recorded(self) -> frozenset[str]:
        """Nothing: it answers what it is asked."""
        return frozenset()

    @property
    def card(self) -> ModelCard:
        """What is known about it: by its files alone, as long as its weights are not loaded."""
        if self._scorer is None and self.sized is not None:
            return self.sized.card
        return self.scorer.card

    def addresses(self, requests: Sequence[Request], table: str) -> list[bytes]:
        """Where answers that are no scores of tokens are kept; see `cimento.engine.cache`.

        Args:
            requests: what is asked.
            table: name of the table that answers it.
        """
        key = model_key(self.card, self.scoring.policy)
        return [answer_key(key, table, repr(request)) for request in requests]

    @property
    def is_loaded(self) -> bool:
        """Whether its weights are in memory."""
        return self._scorer is not None

    @property
    def scorer(self) -> AnyScorer:
        """The model, loaded.

        Raises:
            CimentoError: it cannot be loaded.
        """
        if self._scorer is None:
            self._scorer = self.source.load()
        return self._scorer

    def release(self) -> None:
        """Give back the memory of its weights; they are loaded again when they are needed."""
        if self._scorer is None:
            return
        self._scorer = None
        if isinstance(self.source, ScorerSource):
            self.source.release()
        # A model holds itself in circles; its memory is needed for the next one.
        gc.collect()
        give_back()

    @functools.cached_property
    def sized(self) -> Sized | None:
        """What its files tell of a model of transformers; None for every other model.

        Raises:
            ModelError: its config or tokenizer cannot be read.
        """
        located = self.source.located if isinstance(self.source, ScorerSource) else None
        if located is None:
            return None
        from cimento.models.hf.loading import size_up

        return size_up(located, policy=self.scoring.policy, kind=self.scoring.kind)

    @functools.cached_property
    def _render(self) -> Render | None:
        from cimento.models.answering import chat_template, template_of

        if self._scorer is None and self.sized is not None:
            return template_of(self.sized.tokenizer) if self.sized.card.kind == "causal" else None
        return chat_template(self.scorer)

    def chat(self, messages: Sequence[tuple[str, str]]) -> str | None:
        """Turns, as (role, content), in its chat template; None where it has none.

        Raises:
            ModelError: the template cannot render them.
        """
        return None if self._render is None else self._render(messages)

    @property
    def takes_messages(self) -> bool:
        """Whether it renders turns itself, as servers do."""
        if self._scorer is None and self.sized is not None:
            return False
        from cimento.models.server.model import ServerScorer

        return isinstance(self.scorer, ServerScorer)
