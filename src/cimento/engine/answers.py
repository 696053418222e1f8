"""The answers of one model to requests: the only module in which a model is asked anything.

Each answer is first looked up in the cache, and a new one is stored there as soon as it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from cimento.engine.cache import AnswerCache
from cimento.engine.fills import fills
from cimento.engine.handle import ModelHandle
from cimento.engine.requests import (
    Answers,
    Attribute,
    Choose,
    Fill,
    Patch,
    Reply,
    Request,
    Score,
)
from cimento.engine.scores import Progress, ask
from cimento.engine.whole_texts import whole_text
from cimento.io.explained import GRADIENTS, PATCHES
from cimento.io.tables import CHOICES, REPLIES, TOKENS, Column, TableSchema
from cimento.models.base import HasMeter, HasRemarks, Meter, Remarking, TakingTurns
from cimento.models.failing import forward_errors
from cimento.models.registry import AnyScorer
from cimento.records.usage import Tokens, total_tokens
from cimento.suites import JsonValue

if TYPE_CHECKING:
    import polars as pl

    from cimento.models.questions import OptionScores

Answered: TypeAlias = "tuple[str, pl.DataFrame, tuple[str, ...]]"
"""The name of a table, the table, and the model's remarks on the requests."""

_Asker: TypeAlias = Callable[
    [Sequence[Any], ModelHandle, AnswerCache, "Progress | None"], "Answered"
]


def answer(
    requests: Sequence[Request],
    model: ModelHandle,
    *,
    cache: AnswerCache,
    columns: tuple[Column, ...] = (),
    progress: Progress | None = None,
) -> Answers:
    """The answers to requests of any kinds, numbered by their positions.

    Args:
        requests: the requests, without repeats.
        model: the model that answers.
        cache: the cache of known answers; each new answer is stored there as it comes.
        columns: values wanted of every token besides its log-probability.
        progress: called with the number of answers so far and the number in all.

    Raises:
        ModelError: the model cannot answer.
        UsageError: the model does not answer questions of this kind.
    """
    import polars as pl

    meter = model.scorer.meter if isinstance(model.scorer, HasMeter) else {}
    meter.clear()
    warnings = list(model.scorer.notes) if isinstance(model.scorer, HasRemarks) else []
    tables: dict[str, list[pl.DataFrame]] = {}
    askers: dict[type[Request], _Asker] = {Score: partial(_scores, columns), **_ASKERS}
    for kind, asker in askers.items():
        numbers = [n for n, request in enumerate(requests) if type(request) is kind]
        if some := [requests[number] for number in numbers]:
            asked = partial(asker, some, model, cache, progress)
            # Texts are encoded and laid out in tables while the model answers another thread.
            name, table, remarks = asked() if kind is Score else _called(model, asked)
            if len(some) < len(requests):
                new = pl.col("request").replace_strict(
                    range(len(numbers)), numbers, return_dtype=pl.Int32
                )
                table = table.with_columns(request=new)
            tables.setdefault(name, []).append(table)
            warnings += remarks
    return Answers(
        tables={name: pl.concat(parts).lazy() for name, parts in tables.items()},
        n=len(requests),
        warnings=tuple(dict.fromkeys(warnings)),
        model=model.scorer.card,
        usage=_usage(requests, meter),
    )


def _called(model: ModelHandle, asked: Callable[[], Answered]) -> Answered:
    """The answers of a model, whose own errors name it; `ask` does the same for scores."""
    with forward_errors(model.scorer.card.name, model.scorer):
        return model.call(_in_turn, model.scorer, asked)


def _in_turn(scorer: AnyScorer, asked: Callable[[], Answered]) -> Answered:
    """The answers of a model that other threads may share; scores are asked for in turn anyway."""
    with scorer.turn if isinstance(scorer, TakingTurns) else nullcontext():
        return asked()


def _usage(requests: Sequence[Request], meter: Meter) -> dict[int, Tokens]:
    """The tokens each request used at a server; a text sent for several counts for the first."""
    usage: dict[int, Tokens] = {}
    for number, request in enumerate(requests) if meter else ():
        sent = [meter.pop(key) for key in (request, *sent_texts(request)) if key in meter]
        if sent:
            usage[number] = total_tokens(sent)
    return usage


def sent_texts(request: Request) -> tuple[str, ...]:
    """The texts sent for a request to a server that scores whole texts; none for a chat."""
    if isinstance(request, Score):
        texts = [whole_text(request)]
    elif isinstance(request, Fill):
        texts = [f"{request.before}{option}{request.after}" for option in request.options]
    elif isinstance(request, Choose | Reply) and not request.messages:
        texts = [request.prompt + option for option in request.options]
    else:
        texts = []
    return tuple(text for text in texts if text.strip())


def _scores(
    columns: tuple[Column, ...],
    requests: Sequence[Score],
    model: ModelHandle,
    cache: AnswerCache,
    progress: Progress | None,
) -> Answered:
    scorer, scoring = model.scorer, model.scoring
    table = ask(
        requests,
        scorer,
        policy=scoring.policy,
        cache=cache,
        columns=columns,
        progress=progress,
        compute=model,
    )
    remarks = scorer.remarks(requests) if isinstance(scorer, Remarking) else ()
    return TOKENS.name, table, remarks


def _choices(
    requests: Sequence[Choose], model: ModelHandle, remarks: list[str]
) -> Iterator[tuple[int, JsonValue]]:
    for number, scores in _option_scores(requests, model, remarks):
        greedy = scores.greedy or [None] * len(scores.nats)
        yield (
            number,
            [
                [sum(nats) if nats else None, len(nats), is_greedy]
                for nats, is_greedy in zip(scores.nats, greedy, strict=True)
            ],
        )


def _option_scores(
    requests: Sequence[Choose], model: ModelHandle, remarks: list[str]
) -> Iterator[tuple[int, OptionScores]]:
    """The model's scores of options; its remarks are added to a list."""
    from cimento.models.answering import option_scorer

    chooser = option_scorer(model.scorer, policy=model.scoring.policy)
    yield from chooser.score_options(requests)
    remarks += getattr(chooser, "remarks", ())


def _replies(
    requests: Sequence[Reply], model: ModelHandle, remarks: list[str]
) -> Iterator[tuple[int, JsonValue]]:
    # Where the probabilities of next tokens can be read, options are chosen by their scores.
    remote = model.takes_messages
    held = [
        number
        for number, request in enumerate(requests)
        if request.options and not (remote and request.messages)
    ]
    free = [number for number in range(len(requests)) if number not in set(held)]
    yield from _constrained(requests, held, model, remarks)
    yield from _written(requests, free, model, remarks)


def _constrained(
    requests: Sequence[Reply], numbers: Sequence[int], model: ModelHandle, remarks: list[str]
) -> Iterator[tuple[int, JsonValue]]:
    """The option that greedy decoding writes for each request when it may write only options."""
    from cimento.models.questions import descend

    some = [
        Choose(prompt=request.prompt, options=request.options, templated=request.templated)
        for request in (requests[number] for number in numbers)
    ]
    if some:
        for number, scores in _option_scores(some, model, remarks):
            yield numbers[number], [some[number].options[descend(scores)], "end"]


def _written(
    requests: Sequence[Reply], numbers: Sequence[int], model: ModelHandle, remarks: list[str]
) -> Iterator[tuple[int, JsonValue]]:
    """The texts that the model writes without constraints."""
    from cimento.models.answering import replier

    if not numbers:
        return
    writer = replier(model.scorer, policy=model.scoring.policy)
    for number, written in writer.reply([requests[number] for number in numbers]):
        yield numbers[number], [written.text, written.stop_reason]
    remarks += getattr(writer, "remarks", ())


def _patches(
    requests: Sequence[Patch], model: ModelHandle, _remarks: list[str]
) -> Iterator[tuple[int, JsonValue]]:
    from cimento.models.answering import patcher

    exchanging = patcher(model.scorer, limits=model.scoring.limits)
    for number, scores in exchanging.patch(requests):
        yield (
            number,
            [
                scores.alignment,
                [list(token) for token in scores.tokens],
                [[layer, head, list(nats)] for layer, head, nats in scores.cells],
            ],
        )


def _gradients(
    requests: Sequence[Attribute], model: ModelHandle, _remarks: list[str]
) -> Iterator[tuple[int, JsonValue]]:
    from cimento.models.answering import attributer

    gradients = attributer(model.scorer, limits=model.scoring.limits)
    for number, attribution in gradients.attribute(requests):
        rows = zip(attribution.tokens, attribution.nats, strict=True)
        scores = [
            attribution.logprob_nats,
            attribution.baseline_nats,
            attribution.unscored,
            attribution.steps,
        ]
        yield number, [list(scores), [[*token, nats] for token, nats in rows]]


@dataclass(frozen=True, slots=True)
class _Question:
    """A kind of question whose answers the cache has as JSON.

    Attributes:
        schema: the schema of the table that holds the answers.
        ask: gives each answer with the place of its request; remarks are added to the list.
        rows: the rows of one answer, without the number of the request.
    """

    schema: TableSchema
    ask: Callable[[Sequence[Any], ModelHandle, list[str]], Iterator[tuple[int, JsonValue]]]
    rows: Callable[[Any, list[Any]], Iterable[tuple[Any, ...]]]

    def __call__(
        self,
        requests: Sequence[Request],
        model: ModelHandle,
        cache: AnswerCache,
        progress: Progress | None,
    ) -> Answered:
        """The answers to some requests, from the cache where it has them."""
        import polars as pl

        remarks: list[str] = []

        def ask(some: Sequence[Request]) -> Iterator[dict[int, JsonValue]]:
            return ({place: answer} for place, answer in self.ask(some, model, remarks))

        name = self.schema.name
        answers = model.known_or_asked(requests, name, ask, cache=cache, progress=progress)
        rows = [
            (number, *row)
            for number, (request, answer) in enumerate(zip(requests, answers, strict=True))
            for row in self.rows(request, answer)
        ]
        table = pl.DataFrame(rows, schema=self.schema.polars(), orient="row")
        return name, table, tuple(remarks)


_ASKERS: Mapping[type[Request], _Asker] = {
    Fill: fills,
    Choose: _Question(
        CHOICES,
        _choices,
        lambda request, answer: (
            (option, request.options[option], *scores) for option, scores in enumerate(answer)
        ),
    ),
    Reply: _Question(REPLIES, _replies, lambda _, answer: [tuple(answer)]),
    Patch: _Question(
        PATCHES,
        _patches,
        lambda _, answer: (
            (answer[0], layer, head, *token, value)
            for layer, head, nats in answer[2]
            for token, value in zip(answer[1], nats, strict=True)
        ),
    ),
    Attribute: _Question(
        GRADIENTS, _gradients, lambda _, answer: ((*row, *answer[0]) for row in answer[1])
    ),
}
"""The functions that answer all kinds of requests but scores."""
