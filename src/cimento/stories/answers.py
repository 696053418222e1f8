"""What a model said of stories, read from the tables of a run: labels, norms, replies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.errors import TableError
from cimento.stories.asking import WITHOUT_STORY, Task
from cimento.stories.corrections import correct_suite
from cimento.stories.options import corrected, normalised, pmi_corrections, prior_corrections
from cimento.stories.parsing import parse, parse_words
from cimento.stories.prompts import TierPrompt
from cimento.stories.records import OPTIONS, TIERS, StorySuite, Tier, TierAnswer
from cimento.stories.settings import StoryOptions, prompt_for

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """What the tables of a run hold for one request.

    Attributes:
        nats: log-probability of each option; None for a recording that only says which was given.
        n_tokens: of each option; None where that is not known.
        greedy: whether greedy decoding would write each option; None where that is not known.
        reply: what the model wrote; None where options were scored.
        stop_reason: why the reply ends.
    """

    nats: tuple[float | None, ...] = ()
    n_tokens: tuple[int | None, ...] = ()
    greedy: tuple[bool | None, ...] = ()
    reply: str | None = None
    stop_reason: str = ""


@dataclass(frozen=True, slots=True)
class Options:
    """The answers that a question allows.

    Attributes:
        labels: in the order in which they are options.
        words: what is answered for each.
    """

    labels: tuple[str, ...]
    words: tuple[str, ...]


RECORDED: Mapping[Tier, Options] = {
    tier: Options(labels, labels) for tier, labels in OPTIONS.items()
}
"""The options of recorded answers, which have no words and stand in one order."""


def raw_answers(tables: Mapping[str, pl.DataFrame]) -> dict[int, Raw]:
    """What was answered to each request, by its number; those without answer are not there."""
    found: dict[int, Raw] = {}
    replies = {
        number: (text, stop or "")
        for number, text, stop in (
            tables["replies"].select("request", "text", "stop_reason").iter_rows()
            if "replies" in tables
            else ()
        )
    }
    rows: dict[int, list[tuple[float | None, int | None, bool | None]]] = {}
    if "choices" in tables:
        columns = ("request", "logprob_nats", "n_tokens", "is_greedy")
        table = tables["choices"].sort("request", "option").select(columns)
        for number, *row in table.iter_rows():
            rows.setdefault(number, []).append(tuple(row))
    for number in dict.fromkeys((*rows, *replies)):
        nats, n_tokens, greedy = zip(*rows[number], strict=True) if number in rows else ((), (), ())
        reply, stop = replies.get(number, (None, ""))
        found[number] = Raw(
            nats=nats, n_tokens=n_tokens, greedy=greedy, reply=reply, stop_reason=stop
        )
    return found


def tier_options(tier: Tier, suite: StorySuite, options: StoryOptions) -> Options:
    """The options of a tier, in the order in which they are asked."""
    asked = TierPrompt(tier, prompt_for(options, suite), options.style)
    return Options(asked.labels, tuple(asked.answer(label) for label in asked.labels))


def tier_answers(
    tier: Tier,
    asked: Iterable[tuple[int, int]],
    raw: Mapping[int, Raw],
    *,
    suite: StorySuite,
    options: StoryOptions,
    is_recorded: bool = False,
) -> list[TierAnswer]:
    """The answers of a tier, the options compared as the options of the run say.

    Args:
        tier: which.
        asked: number of each request and the row that it is about.
        raw: what was answered to each request.
        suite: that was asked about.
        options: how it was asked, and how options are compared.
        is_recorded: the answers are those of a recording.

    Raises:
        UsageError: the norm needs what was not kept.
        TableError: the tables are not those of the suite.
    """
    known = RECORDED[tier] if is_recorded else tier_options(tier, suite, options)
    there = [(row, raw[number]) for number, row in asked if number in raw]
    values = [_values(each, known, options) for _, each in there]
    scored = [each for (row, _), each in zip(there, values, strict=True) if each and row >= 0]
    corrections = None
    if options.norm == "prior" and scored:
        corrections = prior_corrections(scored, [known.labels] * len(scored))
    elif options.norm == "pmi" and scored:
        alone = next((v for (row, _), v in zip(there, values, strict=True) if row < 0), None)
        corrections = pmi_corrections(_without_story(alone), known.labels)
    return [
        _tier_answer(
            row,
            tier,
            each,
            known,
            corrected(nats, known.labels, corrections) if nats and corrections else nats,
            options,
        )
        for (row, each), nats in zip(there, values, strict=True)
        if row != WITHOUT_STORY
    ]


def _without_story(values: tuple[float, ...] | None) -> tuple[float, ...]:
    from cimento.errors import UsageError

    if values is None:
        raise UsageError(
            where="norm=pmi",
            seen="the question was not asked without a story, which it needs",
            todo="Ask the model again with --set norm=pmi.",
        )
    return values


def _values(raw: Raw, known: Options, options: StoryOptions) -> tuple[float, ...] | None:
    """What options are compared by, as far as one prompt tells; None where none was scored."""
    nats = [value for value in raw.nats if value is not None]
    if not nats or len(nats) < len(raw.nats):
        return None
    if len(nats) != len(known.labels):
        raise TableError(
            where="choices",
            seen=f"a request has {len(nats)} options, and the question has {len(known.labels)}",
            todo="Run again: the suite or the wording is not the one that was asked.",
        )
    return normalised(nats, options.norm, n_tokens=raw.n_tokens, words=known.words)


def _tier_answer(
    row: int,
    tier: Tier,
    raw: Raw,
    known: Options,
    values: tuple[float, ...] | None,
    options: StoryOptions,
) -> TierAnswer:
    if values is not None:
        greedy = tuple(bool(each) for each in raw.greedy if each is not None)
        whole = len(greedy) == len(raw.greedy)
        return TierAnswer(
            row=row,
            tier=tier,
            logprobs_nats=values,
            options=known.labels,
            greedy=greedy if whole else (),
            reply=None,
        )
    if raw.greedy:
        # A recording that says what was chosen, or only that the right option was not.
        chosen = next((n for n, g in zip(known.labels, raw.greedy, strict=True) if g), None)
        return TierAnswer(
            row=row,
            tier=tier,
            options=known.labels,
            label=chosen,
            reply=raw.reply if chosen else None,
            correct=None if chosen else False,
        )
    text = raw.reply or ""
    label, reason = read_reply(tier, text, known, options)
    return TierAnswer(
        row=row, tier=tier, options=known.labels, label=label, reply=text, reason=reason
    )


def read_reply(
    task: Task, text: str, known: Options, options: StoryOptions
) -> tuple[str | None, str]:
    """The label that a reply says, or None and why there is none.

    Args:
        task: what was asked.
        text: of the reply.
        known: the answers that the question allows.
        options: how it was asked.
    """
    # A reply may be one of the words to the letter, in a language that the parser does not know.
    exact = {word.lower(): label for word, label in zip(known.words, known.labels, strict=True)}
    label = exact.get(text.strip().strip(".").lower())
    if label is not None:
        return label, ""
    tier = next((tier for tier in TIERS if tier == task), None)
    if tier is None:
        parsed = parse_words(text, exact)
    else:
        parsed = parse(tier, text, numbering=options.numbering)
    return parsed.label, parsed.reason


def asked_suite(suite: StorySuite, options: StoryOptions) -> StorySuite:
    """The suite as it is asked about: corrected, where that was wanted and is not done yet.

    Raises:
        InputError: the corrections were made for other stories.
    """
    name = options.corrections
    return correct_suite(suite, name) if name and name not in suite.corrections else suite
