"""Recorded answers, replayed for a suite without loading a model.

A recording of surprisals belongs to a suite by position: its sentences are the suite's items, each
with its conditions, in file order. Which token belongs to which region is found from the tokens
themselves (see `token_aligner`), and special tokens are charged to regions as SyntaxGym does.

Logs of lm-evaluation-harness are those with ``--log_samples``. Each task of a model is a file
``samples_TASK_TIME.jsonl``, beside ``results_TIME.json``, which names the model. A sample holds the
document that it was made from, what was asked, and the summed log-probability of each option, in
nats. Logs of 2024 and later are read, and those that ``cimento export --to lm-eval`` writes.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from cimento.errors import InputError, TableError, UsageError, counted
from cimento.io.below import files_below
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_json, value_at
from cimento.io.tables import TOKENS
from cimento.io.values import Unit
from cimento.models.base import ModelCard
from cimento.models.recorded.aligning import Alignment, align_tokens
from cimento.models.recorded.reading import (
    PLAIN,
    ModelSpec,
    RecordedSentence,
    RecordedSurprisals,
    read_recording,
    read_spec,
)
from cimento.suites import Condition, Item, JoinRule, JsonValue, Suite
from cimento.suites.letters import one_spelling
from cimento.suites.reading import sha256_of
from cimento.suites.stimuli import Span, join_regions

if TYPE_CHECKING:
    import polars as pl


_FILE = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.+-]+)\.jsonl")
_NAMED = re.compile(r"(?:^|,)(?:pretrained|model|peft)=([^,]+)")
_GET_THEM = "lm-eval writes them with --log_samples --output_path FOLDER."


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One document of a task with the model's answers.

    Attributes:
        where: it stands, for messages.
        doc: as the task's data have it.
        contexts: what came before each option.
        options: as they were asked, with the blank before them where there is one.
        logprobs_nats: of each option; NaN where none was logged.
        greedy: whether the model would have written each option; None where that is not known.
    """

    where: str
    doc: Mapping[str, JsonValue]
    contexts: tuple[str, ...]
    options: tuple[str, ...]
    logprobs_nats: tuple[float, ...]
    greedy: tuple[bool | None, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The whole scored texts."""
        return tuple(a + b for a, b in zip(self.contexts, self.options, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLog:
    """The samples of one task.

    Attributes:
        task: its name.
        path: of the file.
        sha256: of the file, hexadecimal.
        samples: in order.
    """

    task: str
    path: Path
    sha256: str
    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLog:
    """The logs of one model in one folder.

    Attributes:
        model: as lm-eval was given it, such as ``org/name``.
        folder: of its files.
        tasks: the newest log of each task.
    """

    model: str
    folder: Path
    tasks: tuple[TaskLog, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the tasks."""
        return tuple(task.task for task in self.tasks)

    @property
    def sha256(self) -> str:
        """Of all its files together, hexadecimal."""
        return sha256_of(*(task.sha256.encode() for task in self.tasks))


def is_log(path: Path) -> bool:
    """Whether a path is a file of samples, or a folder with some in it."""
    return bool(_FILE.fullmatch(path.name)) or (
        path.is_dir() and bool(files_below(path, "samples_*.jsonl"))
    )


def read_logs(path: Path) -> list[ModelLog]:
    """The logs of a folder and all below, or one file of samples.

    Raises:
        InputError: there are none, or one cannot be used.
    """
    files = [path] if path.is_file() else files_below(path, "samples_*.jsonl")
    folders: dict[Path, dict[str, Path]] = {}
    for file in files:
        if match := _FILE.fullmatch(file.name):
            # Logs are read in order of time, so that the newest replaces earlier ones.
            folders.setdefault(file.parent, {})[match["task"]] = file
    if not folders:
        seen = "there are no samples_TASK_TIME.jsonl"
        raise InputError(where=str(path), seen=seen, todo=_GET_THEM)
    return [
        ModelLog(
            model=_model_of(folder),
            folder=folder,
            tasks=tuple(_read_task(task, file) for task, file in tasks.items()),
        )
        for folder, tasks in folders.items()
    ]


def one_log(path: Path) -> ModelLog:
    """The log of the only model in a folder.

    Raises:
        InputError: there are several, or none, or one cannot be used.
    """
    logs = read_logs(path)
    if len(logs) > 1:
        folders = ", ".join(str(log.folder.relative_to(path)) for log in logs)
        raise InputError(
            where=str(path), seen="it holds the logs of several models", todo=f"Name one: {folders}"
        )
    return logs[0]


def _model_of(folder: Path) -> str:
    """The model that a folder's results name; else the name of the folder, as lm-eval makes it."""
    for results in sorted(folder.glob("results_*.json"), reverse=True):
        try:
            content = parse_json(read_bytes(results))
        except json.JSONDecodeError:
            continue
        args = value_at(content, "config", "model_args")
        named = _NAMED.search(args) if isinstance(args, str) else None
        name = args.get("pretrained") if isinstance(args, dict) else named and named[1]
        if name or (name := value_at(content, "model_name")):
            return str(name)
    return folder.name.replace("__", "/")


def _read_task(task: str, path: Path) -> TaskLog:
    data = read_bytes(path)
    try:
        samples = tuple(_samples(data.decode("utf-8"), path))
    except UnicodeDecodeError as error:
        raise InputError(where=str(path), seen=f"not UTF-8: {error}", todo=_GET_THEM) from error
    return TaskLog(task=task, path=path, sha256=sha256_of(data), samples=samples)


def _samples(text: str, path: Path) -> Iterator[Sample]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path.name} line {number}"
        try:
            yield _sample(parse_json(line), where)
        except (AttributeError, KeyError, TypeError, IndexError, ValueError) as error:
            raise InputError(
                where=f"{path.parent / path.name} line {number}",
                seen="it is not a sample of a task with options that were scored",
                todo=_GET_THEM,
            ) from error


def _sample(line: Any, where: str) -> Sample:  # noqa: ANN401  # what JSON has
    asked = line["arguments"]
    pairs: Sequence[Sequence[str]] = (
        [(arguments["arg_0"], arguments["arg_1"]) for arguments in asked.values()]
        if isinstance(asked, Mapping)
        else asked
    )
    responses = [response[0] for response in line["resps"]]
    answers = [_number_and_flag(response) for response in responses]
    contexts, options = zip(*((str(pair[0]), str(pair[1])) for pair in pairs), strict=True)
    values, greedy = zip(*answers[: len(options)], strict=True)
    if len(values) != len(options) or not isinstance(line["doc"], Mapping):
        raise ValueError("there are as many answers as options")
    return Sample(
        where=where,
        doc=line["doc"],
        contexts=contexts,
        options=options,
        logprobs_nats=values,
        greedy=greedy,
    )


def _number_and_flag(answer: Sequence[object]) -> tuple[float, bool | None]:
    """The two parts of an answer, which lm-eval writes as JSON or as Python prints them."""
    value, greedy = answer
    number = math.nan if value in (None, "None") else float(str(value))
    return number, {"true": True, "false": False}.get(str(greedy).lower())


_SHOWN = 5
_GIVE_SPEC = "Give the model spec with --spec: it names special tokens and the marks of pieces."


@dataclass(frozen=True, slots=True)
class Replay:
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


def replay(suite: Suite, path: Path, *, spec: Path | None = None, unit: Unit = "bits") -> Replay:
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
    return Replay(
        card=card,
        stimuli=tuple((stimulus.item.id, stimulus.condition.name) for stimulus in stimuli),
        tokens=_tokens(stimuli, unit),
        warnings=tuple(_warnings(stimuli, model)),
    )


def replay_log(suite: Suite, path: Path, *, limit: int | None = None) -> Replay:
    """Match sentences that lm-eval scored with the stimuli of a suite, by their texts.

    Each sentence has a single number, which is treated as that of one token.

    Args:
        suite: whose conditions have one region each.
        path: lm-eval's logs of one model (`cimento.models.recorded`).
        limit: how many items are needed, whichever were logged; None for all.

    Raises:
        InputError: the logs cannot be read.
        TableError: the suite is judged by regions, or a sentence was not logged.
    """
    log = one_log(path)
    values, after = _logged_sentences(log)
    if limit is not None:
        suite = _logged_part(suite, values, limit)
    rows, stimuli = [], []
    for request, (item, condition) in enumerate(suite.stimuli()):
        text, regions = join_regions(condition.regions, rule=suite.join)
        where = f"{path}, item {item.id!r}, condition {condition.name!r}"
        if len(regions) != 1:
            seen = f"a log of lm-eval has one number for a sentence, and this has {len(regions)}"
            todo = "Give surprisals of tokens, or a suite of whole sentences."
            raise TableError(where=where, seen=f"{seen} regions", todo=todo)
        key = one_spelling(text.strip())
        if key not in values:
            todo = (
                f"Is it the log of this suite? Its tasks are {', '.join(log.names)}. If it was made"
                " with --limit N, give --limit N here too."
            )
            raise TableError(where=where, seen=f"{text!r} was not logged", todo=todo)
        value = values[key]
        known = math.isfinite(value)
        number, reason = (value, None) if known else (None, _reason(-value))
        stimuli.append((item.id, condition.name))
        rows.append((request, 0, text, None, 0, len(text), number, reason, 1))
    import polars as pl

    said = f"{after} samples were scored after a context: theirs is the value of what follows it."
    return Replay(
        card=ModelCard(name=log.model, kind="replay", revision=log.sha256, tokenizer=""),
        stimuli=tuple(stimuli),
        tokens=pl.DataFrame(rows, schema=TOKENS.polars(present=["region"]), orient="row"),
        warnings=(said,) if after else (),
    )


def _logged_sentences(log: ModelLog) -> tuple[dict[str, float], int]:
    """The value of each sentence of a log, and the number of samples that followed a context."""
    values: dict[str, float] = {}
    after = 0
    for task in log.tasks:
        for sample in task.samples:
            after += any(map(str.strip, sample.contexts))
            for text, value in zip(sample.texts, sample.logprobs_nats, strict=True):
                values.setdefault(one_spelling(text.strip()), value)
    return values, after


def _logged_part(suite: Suite, values: Mapping[str, float], limit: int) -> Suite:
    """The items all of whose sentences were logged; all items if those are fewer than needed."""
    logged = tuple(
        item
        for item in suite.items
        if all(
            one_spelling(join_regions(condition.regions, rule=suite.join)[0].strip()) in values
            for condition in item.conditions
        )
    )
    return suite if len(logged) < limit else replace(suite, items=logged)


def _check_count(suite: Suite, recording: RecordedSurprisals, path: Path) -> None:
    wanted = sum(1 for _ in suite.stimuli())
    n_sentences = len(recording.sentences)
    if n_sentences != wanted:
        raise TableError(
            where=str(path),
            seen=f"holds {n_sentences} sentences, but the suite {suite.name!r} has {wanted} "
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
    respelled = [stimulus.text for stimulus in stimuli if stimulus.alignment.is_respelled]
    if respelled:
        yield (
            "Recorded with accents or apostrophes spelled differently in the suite, and taken"
            f" for the same letters: {counted(len(respelled), 'sentence')}, the first"
            f" {respelled[0]!r}. A model may score the other spelling otherwise."
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
