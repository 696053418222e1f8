"""Requests answered by one model: the one place where a model is asked anything.

Every answer is looked for in the cache first, and put there as soon as it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from cimento.engine.cache import AnswerCache, get_answers, put_answers
from cimento.engine.fills import fills
from cimento.engine.handle import ModelHandle
from cimento.engine.requests import Answers, Choose, Fill, Reply, Request, Score
from cimento.engine.scores import Progress, ask, whole_text
from cimento.io.tables import CHOICES, REPLIES, TOKENS, Column
from cimento.models.base import Meter, Metered, Remarking
from cimento.runs.usage import Tokens, total
from cimento.suites.model import JsonValue

if TYPE_CHECKING:
    import polars as pl

    from cimento.models.questions import OptionScores

Answered: TypeAlias = "tuple[str, pl.DataFrame, tuple[str, ...]]"
"""Name of a table, the table, and what the model has to say of the requests."""

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
    """The answers to some requests, whatever they ask; their numbers are their positions.

    Args:
        requests: each once.
        model: who answers.
        cache: what is already known; new answers are put there as they come.
        columns: what is wanted of every token besides its log-probability.
        progress: told how far it is.

    Raises:
        ModelError: the model cannot answer.
        UsageError: it does not answer questions of this sort.
    """
    import polars as pl

    meter = model.scorer.meter if isinstance(model.scorer, Metered) else {}
    meter.clear()
    tables: dict[str, list[pl.DataFrame]] = {}
    warnings: list[str] = []
    askers: dict[type[Request], _Asker] = {
        Score: partial(_scores, columns), Fill: fills, Choose: _choices, Reply: _replies
    }  # fmt: skip
    for kind, asker in askers.items():
        numbers = [number for number, request in enumerate(requests) if isinstance(request, kind)]
        if numbers:
            some = [requests[number] for number in numbers]
            name, table, remarks = asker(some, model, cache, progress)
            if len(some) < len(requests):
                new = pl.col("request").replace_strict(
                    range(len(numbers)), numbers, return_dtype=pl.Int32
                )
                table = table.with_columns(request=new)
            tables.setdefault(name, []).append(table)
            warnings += remarks
    return Answers(
        tables={name: pl.concat(parts) for name, parts in tables.items()},
        n=len(requests),
        warnings=tuple(warnings),
        model=model.scorer.card,
        usage=_usage(requests, meter),
    )


def _usage(requests: Sequence[Request], meter: Meter) -> dict[int, Tokens]:
    """What each request came to; what is sent once for several counts for the first of them."""
    usage: dict[int, Tokens] = {}
    for number, request in enumerate(requests):
        sent = [meter.pop(key) for key in (request, *sent_texts(request)) if key in meter]
        if sent:
            usage[number] = total(sent)
    return usage


def sent_texts(request: Request) -> tuple[str, ...]:
    """The texts that a server which scores whole texts is sent for a request; none for a chat."""
    if isinstance(request, Score):
        texts = [whole_text(request)]
    elif isinstance(request, Fill):
        texts = [f"{request.before}{option}{request.after}" for option in request.options]
    elif not request.messages:
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
    )
    remarks = scorer.remarks(requests) if isinstance(scorer, Remarking) else ()
    return TOKENS.name, table, remarks


def _choices(
    requests: Sequence[Choose], model: ModelHandle, cache: AnswerCache, progress: Progress | None
) -> Answered:
    import polars as pl

    remarks: list[str] = []

    def asked(some: Sequence[Choose]) -> Iterator[tuple[int, JsonValue]]:
        for number, scores in _option_scores(some, model, remarks):
            greedy = scores.greedy or [None] * len(scores.nats)
            yield (
                number,
                [
                    [sum(nats) if nats else None, len(nats), is_greedy]
                    for nats, is_greedy in zip(scores.nats, greedy, strict=True)
                ],
            )

    answers = _known_or_asked(requests, asked, CHOICES.name, model, cache, progress)
    rows: list[tuple[object, ...]] = []
    for number, (request, answer) in enumerate(zip(requests, answers, strict=True)):
        rows += [
            (number, option, request.options[option], *scores)
            for option, scores in enumerate(answer)
        ]
    table = pl.DataFrame(rows, schema=CHOICES.polars(), orient="row")
    return CHOICES.name, table, tuple(remarks)


def _option_scores(
    requests: Sequence[Choose], model: ModelHandle, remarks: list[str]
) -> Iterator[tuple[int, OptionScores]]:
    """What the model says of options; what it remarks is added to a list."""
    from cimento.models.answering import option_scorer

    chooser = option_scorer(model.scorer, policy=model.scoring.policy)
    yield from chooser.score_options(requests)
    remarks += getattr(chooser, "remarks", ())


def _replies(
    requests: Sequence[Reply], model: ModelHandle, cache: AnswerCache, progress: Progress | None
) -> Answered:
    import polars as pl

    remarks: list[str] = []

    def asked(some: Sequence[Reply]) -> Iterator[tuple[int, JsonValue]]:
        # A model whose next tokens can be seen is held to options by what it says of them.
        remote = model.takes_messages
        held = [
            number
            for number, each in enumerate(some)
            if each.options and not (remote and each.messages)
        ]
        free = [number for number in range(len(some)) if number not in set(held)]
        yield from _constrained(some, held, model, remarks)
        yield from _written(some, free, model, remarks)

    answers = _known_or_asked(requests, asked, REPLIES.name, model, cache, progress)
    rows = [(number, *answer) for number, answer in enumerate(answers)]
    return REPLIES.name, pl.DataFrame(rows, schema=REPLIES.polars(), orient="row"), tuple(remarks)


def _constrained(
    requests: Sequence[Reply], numbers: Sequence[int], model: ModelHandle, remarks: list[str]
) -> Iterator[tuple[int, JsonValue]]:
    """What greedy decoding writes where nothing but the options may be written."""
    from cimento.models.questions import descend

    some = [
        Choose(prompt=each.prompt, options=each.options, templated=each.templated)
        for each in (requests[number] for number in numbers)
    ]
    if some:
        for number, scores in _option_scores(some, model, remarks):
            yield numbers[number], [some[number].options[descend(scores)], "end"]


def _written(
    requests: Sequence[Reply], numbers: Sequence[int], model: ModelHandle, remarks: list[str]
) -> Iterator[tuple[int, JsonValue]]:
    """What the model writes itself."""
    from cimento.models.answering import replier

    if not numbers:
        return
    writer = replier(model.scorer, policy=model.scoring.policy)
    for number, written in writer.reply([requests[number] for number in numbers]):
        yield numbers[number], [written.text, written.stop_reason]
    remarks += getattr(writer, "remarks", ())


def _known_or_asked(
    requests: Sequence[Any],
    asked: Callable[[Sequence[Any]], Iterator[tuple[int, JsonValue]]],
    table: str,
    model: ModelHandle,
    cache: AnswerCache,
    progress: Progress | None,
) -> list[list[Any]]:
    """Answers as lists: from the cache where it has them, else as the model gives them."""
    keys = model.addresses(requests, table)
    known = get_answers(cache, keys)
    todo = [number for number, key in enumerate(keys) if key not in known]
    if todo:
        answers = asked([requests[number] for number in todo])
        for done, (place, answer) in enumerate(answers, start=len(keys) - len(todo) + 1):
            key = keys[todo[place]]
            known[key] = answer
            put_answers(cache, {key: answer})
            if progress is not None:
                progress(done, len(keys))
    return [answer for key in keys if isinstance(answer := known[key], list)]
