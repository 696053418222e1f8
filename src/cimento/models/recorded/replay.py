"""Replaying of recorded surprisals for a suite, without loading a model.

A recording belongs to a suite by position: its sentences are the suite's items, each with its
conditions, in file order. Which token belongs to which region is found from the tokens
themselves (see `token_aligner`), and special tokens are charged to regions as SyntaxGym does.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from cimento.errors import TableError, UsageError
from cimento.io.tables import TOKENS
from cimento.models.base import ModelCard
from cimento.models.recorded.aligning import Alignment, align_tokens
from cimento.models.recorded.lm_eval import one_log
from cimento.models.recorded.reading import (
    PLAIN,
    ModelSpec,
    RecordedSentence,
    Recording,
    read_recording,
    read_spec,
)
from cimento.suites.model import Condition, Item, JoinRule, Suite
from cimento.suites.stimuli import Span, join_regions

if TYPE_CHECKING:
    import polars as pl

Unit: TypeAlias = Literal["bits", "nats"]

_SHOWN = 5
_GIVE_SPEC = "Give the model spec with --spec: it names special tokens and the marks of pieces."


@dataclass(frozen=True, slots=True)
class Replayed:
    """The tokens of a recording, matched with a suite.

    Attributes:
        card: the file it comes from.
        stimuli: item and condition of each request, in order; none is merged with another, since
            a recording may hold other numbers for the same text.
        tokens: the tokens table, without the tokens that belong to no region. ``region`` is the
            region a token is charged to; ``surprisal_bits`` is there where the recording is in
            bits. ``start`` and ``end`` are the characters of the text that the token stands
            for, of no length where it stands for none.
        warnings: what the user should know, as sentences.
    """

    card: ModelCard
    stimuli: tuple[tuple[str, str], ...]
    tokens: pl.DataFrame
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Stimulus:
    item: Item
    condition: Condition
    text: str
    regions: tuple[Span, ...]
    sentence: RecordedSentence
    alignment: Alignment


def replay(
    suite: Suite,
    path: Path,
    *,
    spec: Path | None = None,
    unit: Unit = "bits",
) -> Replayed:
    """Match recorded surprisals with the stimuli of a suite.

    Numbers are taken as recorded: many programs give the first token of a sentence, for which
    they have no left context, a surprisal of 0, and it is kept. NaN and infinity become null
    with a reason.

    Args:
        suite: the suite that was recorded.
        path: the recording, as `read_recording` takes it.
        spec: its model spec; without one, tokens must spell the text and nothing else.
        unit: of the recorded surprisals.

    Raises:
        UsageError: there is no such unit.
        InputError: a file cannot be read.
        TableError: a file cannot be used, the number of sentences differs, or a token fits
            nowhere; names the sentence, item and condition.
    """
    if unit not in get_args(Unit):
        raise UsageError(where="unit", seen=f"there is no unit {unit!r}", todo="Known: bits, nats.")
    recording = read_recording(path)
    model = PLAIN if spec is None else read_spec(spec)
    _check_count(suite, recording, path)
    stimuli = [
        _match(item, condition, sentence, where=str(path), rule=suite.join, spec=model)
        for (item, condition), sentence in zip(suite.stimuli(), recording.sentences, strict=True)
    ]
    card = ModelCard(
        name=path.stem,
        kind="replay",
        revision=recording.digest,
        tokenizer=hashlib.sha256(json.dumps(asdict(model)).encode()).hexdigest(),
        details={"recorded_unit": unit, **({"spec": model.name} if model.name else {})},
    )
    return Replayed(
        card=card,
        stimuli=tuple((stimulus.item.id, stimulus.condition.name) for stimulus in stimuli),
        tokens=_tokens(stimuli, unit),
        warnings=tuple(_warnings(stimuli, model)),
    )


def replay_log(suite: Suite, path: Path) -> Replayed:
    """Match sentences that lm-eval scored with the stimuli of a suite, by their texts.

    Each sentence has a single number, which is treated as that of one token.

    Args:
        suite: whose conditions have one region each.
        path: lm-eval's logs of one model (`cimento.models.recorded.lm_eval`).

    Raises:
        InputError: the logs cannot be read.
        TableError: the suite is judged by regions, or a sentence was not logged.
    """
    log = one_log(path)
    values: dict[str, float] = {}
    after = 0
    for task in log.tasks:
        for sample in task.samples:
            after += any(map(str.strip, sample.contexts))
            for text, value in zip(sample.texts, sample.logprobs_nats, strict=True):
                values.setdefault(text.strip(), value)
    rows, stimuli = [], []
    for request, (item, condition) in enumerate(suite.stimuli()):
        text, regions = join_regions(condition.regions, rule=suite.join)
        where = f"{path}, item {item.id!r}, condition {condition.name!r}"
        if len(regions) != 1:
            seen = f"a log of lm-eval has one number for a sentence, and this has {len(regions)}"
            todo = "Give surprisals of tokens, or a suite of whole sentences."
            raise TableError(where=where, seen=f"{seen} regions", todo=todo)
        if text.strip() not in values:
            todo = f"Is it the log of this suite? Its tasks are {', '.join(log.names)}."
            raise TableError(where=where, seen=f"{text!r} was not logged", todo=todo)
        value = values[text.strip()]
        known = math.isfinite(value)
        number, reason = (value, None) if known else (None, _reason(-value))
        stimuli.append((item.id, condition.name))
        rows.append((request, 0, text, None, 0, len(text), number, reason, 1))
    import polars as pl

    said = f"{after} samples were scored after a context: theirs is the value of what follows it."
    return Replayed(
        card=ModelCard(name=log.model, kind="replay", revision=log.sha256, tokenizer=""),
        stimuli=tuple(stimuli),
        tokens=pl.DataFrame(rows, schema=TOKENS.polars(present=["region"]), orient="row"),
        warnings=(said,) if after else (),
    )


def _check_count(suite: Suite, recording: Recording, path: Path) -> None:
    wanted = sum(1 for _ in suite.stimuli())
    found = len(recording.sentences)
    if found != wanted:
        raise TableError(
            where=str(path),
            seen=f"holds {found} sentences, but the suite {suite.name!r} has {wanted} "
            f"({len(suite.items)} items with their conditions)",
            todo="Is it the recording of this suite, whole, in the suite's order?",
        )


def _match(
    item: Item,
    condition: Condition,
    sentence: RecordedSentence,
    *,
    where: str,
    rule: JoinRule,
    spec: ModelSpec,
) -> _Stimulus:
    """One stimulus, and the recorded sentence that belongs to it."""
    text, regions = join_regions(condition.regions, rule=rule)
    try:
        alignment = align_tokens(text, regions, sentence.tokens, spec)
    except TableError as error:
        raise TableError(
            where=f"{where}, sentence {sentence.id} (line {sentence.line}; item {item.id!r}, "
            f"condition {condition.name!r}), {error.where}",
            seen=error.seen,
            todo=_GIVE_SPEC if spec is PLAIN else error.todo,
        ) from error
    return _Stimulus(item, condition, text, tuple(regions), sentence, alignment)


def _tokens(stimuli: Sequence[_Stimulus], unit: Unit) -> pl.DataFrame:
    import polars as pl

    nats = math.log(2) if unit == "bits" else 1.0
    rows: list[dict[str, object]] = []
    for request, stimulus in enumerate(stimuli):
        for position, token in enumerate(stimulus.sentence.tokens):
            if stimulus.alignment.regions[position] is None:
                continue
            surprisal = stimulus.sentence.surprisals[position]
            scored = math.isfinite(surprisal)
            start, end = stimulus.alignment.spans[position]
            rows.append(
                {
                    "request": request,
                    "position": position,
                    "token": token,
                    "token_id": None,
                    "start": start,
                    "end": end,
                    "logprob_nats": 0.0 - surprisal * nats if scored else None,
                    "unscored_reason": None if scored else _reason(surprisal),
                    "region": stimulus.alignment.regions[position],
                    "surprisal_bits": surprisal if scored else None,
                }
            )
    present = ["region", "surprisal_bits"] if unit == "bits" else ["region"]
    schema = TOKENS.polars(present=present)
    return pl.DataFrame([{name: row[name] for name in schema} for row in rows], schema=schema)


def _reason(surprisal: float) -> str:
    if math.isnan(surprisal):
        return "recorded as NaN"
    return "recorded as infinity" if surprisal > 0 else "recorded as minus infinity"


def _warnings(stimuli: Sequence[_Stimulus], spec: ModelSpec) -> Iterator[str]:
    oovs = Counter(
        word for stimulus in stimuli for words in stimulus.alignment.oovs for word in words
    )
    if oovs:
        yield (
            "Unknown words, judged by the surprisal of the token that stands for them: "
            f"{oovs.total()} in all, {len(oovs)} different: {_shown(list(oovs))}."
        )
    lost = [
        stimulus.sentence.tokens[index]
        for stimulus in stimuli
        for index in stimulus.alignment.unspelled
    ]
    if lost:
        yield (
            f"Tokens that begin with {spec.tokenizer.metaspace!r}, do not spell the text where "
            f"they stand and were placed by their length: {len(lost)} in all: {_shown(lost)}."
        )
    values = [value for stimulus in stimuli for value in stimulus.sentence.surprisals]
    unscored = sum(1 for value in values if not math.isfinite(value))
    if unscored:
        yield f"Tokens recorded as NaN or infinity: {unscored} of {len(values)}."
    if 2 * sum(1 for value in values if value < 0) > len(values):
        yield "Most recorded values are negative: are they log-probabilities, not surprisals?"


def _shown(words: Sequence[str]) -> str:
    return ", ".join(words[:_SHOWN]) + (", ..." if len(words) > _SHOWN else "")
