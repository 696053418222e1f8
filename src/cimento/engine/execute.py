"""Requests answered by one model: the one place where a model is asked anything."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from cimento.answers import CHOICES, FILLS, REPLIES, TOKENS
from cimento.engine.cache import AnswerCache
from cimento.engine.requests import Answers, Choose, Fill, Reply, Request, Score
from cimento.errors import UsageError
from cimento.models.base import ModelCard, Remarking
from cimento.requests import Plan, ScoreRequest
from cimento.sources import AnyScorer, Asking, ScorerSource, Source, ask, name_of, open_source

if TYPE_CHECKING:
    import polars as pl

    from cimento.suites.model import JsonValue

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of requests answered and the number in all."""


class ModelHandle:
    """A model that is loaded when it is first needed, as paradigms and the engine see it.

    Args:
        source: where it comes from.
        scoring: how it scores texts.
    """

    def __init__(self, source: Source, scoring: Asking) -> None:
        self.source = source
        self.scoring = scoring

    @classmethod
    def opened(cls, model: str | AnyScorer, scoring: Asking) -> ModelHandle:
        """A model by its name, or one that is there already.

        Raises:
            CimentoError: there is no such file or model.
        """
        return cls(open_source(model, scoring), scoring)

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
    def recorded(self) -> frozenset[str]:
        """Nothing: it answers what it is asked."""
        return frozenset()

    @property
    def card(self) -> ModelCard:
        """What is known about it; it is loaded for that."""
        return self.scorer.card

    @functools.cached_property
    def scorer(self) -> AnyScorer:
        """The model, loaded.

        Raises:
            CimentoError: it cannot be loaded, or is a recording.
        """
        if not isinstance(self.source, ScorerSource):
            raise UsageError(
                where=f"model {self.label!r}",
                seen="it is a recording and answers only what was recorded",
                todo="Give a model.",
            )
        return self.source.load()

    def chat(self, messages: Sequence[tuple[str, str]]) -> str | None:
        """Turns, as (role, content), in its chat template; None where it has none.

        Raises:
            ModelError: the template cannot render them.
        """
        from cimento.models.chatting import chat_template

        render = chat_template(self.scorer)
        return None if render is None else render(messages)

    @property
    def takes_messages(self) -> bool:
        """Whether it renders turns itself, as servers do."""
        from cimento.models.server import ServerScorer

        return isinstance(self.scorer, ServerScorer)


def answer(
    requests: Sequence[Request],
    model: ModelHandle,
    *,
    cache: AnswerCache,
    progress: Progress | None = None,
) -> Answers:
    """The answers to some requests, whatever they ask; their numbers are their positions.

    Args:
        requests: each once.
        model: who answers.
        cache: what is already known; new answers are put there as they come.
        progress: told how far it is.

    Raises:
        ModelError: the model cannot answer.
        UsageError: it does not answer questions of this sort.
    """
    import polars as pl

    tables: dict[str, list[pl.DataFrame]] = {}
    warnings: list[str] = []
    askers: dict[type[Request], _Asker] = {
        Score: _scores, Fill: _fills, Choose: _choices, Reply: _replies
    }  # fmt: skip
    for kind, asker in askers.items():
        numbers = [number for number, request in enumerate(requests) if isinstance(request, kind)]
        if numbers:
            some = [requests[number] for number in numbers]
            name, table, remarks = asker(some, model, cache, progress)
            new = pl.DataFrame({"request": range(len(numbers)), "number": numbers})
            renumbered = table.with_columns(
                request=pl.col("request").replace_strict(
                    new["request"], new["number"], return_dtype=pl.Int32
                )
            )
            tables.setdefault(name, []).append(renumbered)
            warnings += remarks
    return Answers(
        tables={name: pl.concat(parts) for name, parts in tables.items()},
        n=len(requests),
        warnings=tuple(warnings),
    )


_Asker: TypeAlias = Callable[
    [Sequence["Any"], ModelHandle, AnswerCache, "Progress | None"],
    "tuple[str, pl.DataFrame, tuple[str, ...]]",
]


def _scores(
    requests: Sequence[Score], model: ModelHandle, cache: AnswerCache, progress: Progress | None
) -> tuple[str, pl.DataFrame, tuple[str, ...]]:
    scorer, scoring = model.scorer, model.scoring
    plan = Plan(
        suite="",
        requests=tuple(
            ScoreRequest(number, each.text, each.context, each.wanted, each.regions, each.blank)
            for number, each in enumerate(requests)
        ),
        places=(),
    )
    table = ask(
        plan,
        scorer,
        policy=scoring.policy,
        cache=cache,
        columns=scoring.columns,
        progress=progress,
    )
    remarks = scorer.remarks(plan.requests) if isinstance(scorer, Remarking) else ()
    return TOKENS.name, table, remarks


def _fills(
    requests: Sequence[Fill], model: ModelHandle, cache: AnswerCache, progress: Progress | None
) -> tuple[str, pl.DataFrame, tuple[str, ...]]:
    from cimento.engine.fills import fill_blanks, fills_table

    answers = fill_blanks(requests, model, cache=cache, progress=progress)
    return FILLS.name, fills_table(list(enumerate(answers))), ()


def _choices(
    requests: Sequence[Choose],
    model: ModelHandle,
    cache: AnswerCache,  # noqa: ARG001
    progress: Progress | None,
) -> tuple[str, pl.DataFrame, tuple[str, ...]]:
    import polars as pl

    from cimento.models.answering import OptionAsk
    from cimento.models.choosing import option_scorer

    chooser = option_scorer(model.scorer, policy=model.scoring.policy)
    asks = [
        OptionAsk(prompt=each.prompt, options=each.options, templated=each.templated)
        for each in requests
    ]
    rows: list[tuple[object, ...]] = []
    for done, (number, scores) in enumerate(chooser.score_options(asks), start=1):
        greedy = scores.greedy or [None] * len(scores.nats)
        for option, (nats, is_greedy) in enumerate(zip(scores.nats, greedy, strict=True)):
            text = requests[number].options[option]
            rows.append((number, option, text, sum(nats), len(nats), is_greedy))
        if progress is not None:
            progress(done, len(requests))
    table = pl.DataFrame(rows, schema=CHOICES.polars(), orient="row").sort("request", "option")
    return CHOICES.name, table, tuple(getattr(chooser, "remarks", ()))


def _replies(
    requests: Sequence[Reply],
    model: ModelHandle,
    cache: AnswerCache,  # noqa: ARG001
    progress: Progress | None,
) -> tuple[str, pl.DataFrame, tuple[str, ...]]:
    import polars as pl

    from cimento.models.answering import ReplyAsk
    from cimento.models.replying import replier

    writer = replier(model.scorer, policy=model.scoring.policy)
    asks = [
        ReplyAsk(
            prompt=each.prompt,
            messages=tuple({"role": role, "content": text} for role, text in each.messages),
            templated=each.templated,
            max_tokens=each.max_tokens,
            stop=each.stop,
            options=each.options,
        )
        for each in requests
    ]
    rows: list[tuple[object, ...]] = []
    for done, (number, reply) in enumerate(writer.reply(asks), start=1):
        rows.append((number, reply.text, reply.stop_reason))
        if progress is not None:
            progress(done, len(requests))
    table = pl.DataFrame(rows, schema=REPLIES.polars(), orient="row").sort("request")
    return REPLIES.name, table, ()
