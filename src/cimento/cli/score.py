"""``cimento score``, ``fill`` and ``join``: surprisals, blanks and reading times of free text."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.console import deliver, json_text, note, show, show_json
from cimento.cli.flags import SheetOptions, command_of
from cimento.cli.resources import needed_frequencies
from cimento.errors import UsageError
from cimento.evaluation.freetext import score_end_marks, score_texts
from cimento.io.declared import option
from cimento.io.files import need_writable
from cimento.io.lines import read_contexts, read_lines
from cimento.models.questions import OpenRule
from cimento.models.settings import BoundaryRule, PllRule, WindowRule
from cimento.options import ModelOptions, ScoringOptions

if TYPE_CHECKING:
    import polars as pl


_LONGEST_SHOWN = 80
"""Longest text, in characters, that is repeated in advice."""


class _ScoreOptions(ScoringOptions):
    """The texts, the scoring options, and the columns to print."""

    file: Path = option(Path("-"), "One text per line; - is standard input.", argument="[FILE]")
    model: str = option(
        ..., "demo-causal, a folder, org/name@revision, openai:URL#model.", flags=("-m",)
    )
    words: bool = option(
        default=False, help="One row per word, or one per token.", flags=("--words/--tokens",)
    )
    context_file: Path | None = option(None, "What comes before each text, one line for each.")
    end_marks: str = option("", "Instead: how probable these are after every word, such as '?.'.")
    as_json: bool = option(default=False, help="Print JSON.", flags=("--json",))
    output: Path | None = option(None, "A file (UTF-8); else printed.", flags=("-o",))


@command_of
def score(options: _ScoreOptions) -> int:
    """Print the surprisal of every token or word of a text, in bits, as TSV.

    Each line of the input is a text of its own; empty lines are skipped.
    """
    asking, model = options.asking, options.model
    if options.context and options.context_file is not None:
        raise UsageError(
            where="--context-file",
            seen="--context is given too",
            todo="Give one of the two.",
        )
    if options.output is not None:
        need_writable(options.output)
    texts = _texts(options.file, command=f"cimento score -m {model}")
    if options.end_marks:
        table = score_end_marks(texts, model, marks=tuple(options.end_marks), asking=asking)
    else:
        file = options.context_file
        contexts = None if file is None else read_contexts(file, texts, remark=note)
        table = score_texts(
            texts, model, contexts=contexts, asking=asking, words=options.words, remark=note
        )
    shown = (
        json_text({"texts": _by_text(texts, table, rows="scores")})
        if options.as_json
        else table.write_csv(separator="\t", null_value="", quote_style="never")
    )
    deliver(shown, options.output)
    return 0


def _texts(file: Path, *, command: str) -> list[str]:
    """The texts to be asked about, from a file or standard input.

    Args:
        file: the file; ``-`` is standard input.
        command: the command without its file, for messages.

    Raises:
        UsageError: a text was given in the place of the file.
        InputError: the file cannot be read, or holds no text.
    """
    text = str(file)
    if " " in text and not _exists(file):
        raise UsageError(
            where="FILE",
            seen=f"there is no file {text[:_LONGEST_SHOWN]!r}, which looks like a text",
            todo="Texts are read from standard input:"
            f" echo {shlex.quote(text) if len(text) <= _LONGEST_SHOWN else 'TEXT'} | {command}",
        )
    if text == "-" and sys.stdin is not None and sys.stdin.isatty():
        end = "Ctrl-Z and Enter" if sys.platform == "win32" else "Ctrl-D"
        note(f"cimento: type one text per line, and {end} after the last.")
    return read_lines(file, remark=note)


def _exists(file: Path) -> bool:
    """Whether there is a file; none has a name as long as a text may be."""
    try:
        return file.exists()
    except OSError:
        return False


class _FillOptions(ModelOptions):
    """The texts, the way to fill their blanks, and the model."""

    file: Path = option(
        Path("-"), "One text per line, its blank as ___; - is standard input.", argument="[FILE]"
    )
    model: str = option(..., "demo-masked, demo-causal, a folder, org/name ...", flags=("-m",))
    k: int = option(10, "How many candidates.", flags=("-k", "--top"), ge=1)
    protocol: OpenRule = option(
        "auto",
        "mask: one mask, any tokens; words: whole ones; complete: words of several tokens;"
        " beam: any sequences; left: what comes next; sentinel; auto depends on the model.",
    )
    masks: int = option(3, "Tokens of the longest candidate.", ge=1)
    among: str = option("", "Score these in every blank: rossa|rosso.", flags=("--options",))
    choice: str = option("", "How options are scored: left-to-right,sentence ...")
    as_json: bool = option(default=False, help="Print JSON.", flags=("--json",))
    output: Path | None = option(None, "A file (UTF-8); else printed.", flags=("-o",))


@command_of
def fill(options: _FillOptions) -> int:
    """Print a model's fillers for the blank of each text, as TSV.

    Options may also follow a text, after a tab: ``La casa è ___.<TAB>rossa|rosso``.
    """
    from cimento.evaluation.free_fills import fill_policy, fill_texts

    named = {name: getattr(options, name) for name in ("k", "protocol", "masks", "choice")}
    policy = fill_policy(named)
    if options.output is not None:
        need_writable(options.output)
    command = f"cimento fill -m {options.model}"
    lines = [line.partition("\t") for line in _texts(options.file, command=command)]
    texts = [text for text, _, _ in lines]
    table = fill_texts(
        texts,
        options.model,
        options=[_parts(after or options.among) for _, _, after in lines],
        policy=policy,
        asking=options.asking,
        remark=note,
    )
    by_text = _by_text(texts, table, rows="fills")
    deliver(json_text({"texts": by_text}) if options.as_json else _tsv(table), options.output)
    return 0


def _parts(cell: str) -> list[str]:
    return [part.strip() for part in cell.split("|") if part.strip()]


def _tsv(table: pl.DataFrame) -> str:
    """The rows as TSV, with tabs and line breaks in candidates escaped."""
    import polars as pl

    marks = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
    candidate = pl.col("candidate").str.replace_many(list(marks), list(marks.values()))
    escaped = table.with_columns(candidate)
    return escaped.write_csv(separator="\t", null_value="", quote_style="never")


def _by_text(texts: Sequence[str], table: pl.DataFrame, *, rows: str) -> list[dict[str, object]]:
    """Each text with its rows, under this name."""
    by_number: dict[int, list[dict[str, object]]] = {}
    for row in table.iter_rows(named=True):
        number = row.pop("text")
        by_number.setdefault(number, []).append(row)
    return [
        {"text": text, rows: by_number.get(number, [])}
        for number, text in enumerate(texts, start=1)
    ]


class _JoinOptions(ModelOptions, SheetOptions):
    """The observations, the values to join, and the scoring options."""

    file: Path = option(..., "Observations: .csv, .tsv, .xlsx, .parquet.", argument="FILE")
    model: str = option(
        ..., "demo-causal, a folder, org/name@revision, openai:URL#model.", flags=("-m",)
    )
    output: Path | None = option(
        None, "File, .csv, .tsv or .parquet; else printed as CSV.", flags=("-o",)
    )
    columns: str = option("", "Columns by their roles: text=item,position=zone,word=token,rt=RT.")
    texts: Path | None = option(
        None, "The whole texts, where rows are missing: a table with `content`."
    )
    before: int = option(2, "Also add values of this many preceding words.", ge=0)
    frequency: str = option("", "Language of word frequencies (wordfreq): it.")
    entropy: bool = option(default=False, help="Add the entropy before every word.")
    pll: PllRule | None = option(
        None, "Pseudo-log-likelihood of masked models; within-word-l2r by default."
    )
    boundary: BoundaryRule | None = option(
        None, "Correct words for where they may end; none by default."
    )
    window: WindowRule = option("refuse", "Texts longer than the model's window.")
    stride: int | None = option(None, "Tokens that a sliding window is moved by.", ge=1)
    as_json: bool = option(default=False, help="Print JSON.", flags=("--json",))


@command_of
def join(options: _JoinOptions) -> int:
    """Join reading times, or other measures of words, to the surprisals of these words.

    One row for each observation, with the word, the words before it, length and frequency.
    """
    from dataclasses import replace

    from cimento.intake.roles import parse_choice
    from cimento.people import reading_times as reading
    from cimento.people.word_columns import word_columns

    if options.output is not None:
        reading.refuse_output(options.output)
    observations = reading.read_observations(options.file)
    names, read = word_columns(observations, parse_choice(options.columns), where=options.file.name)
    note(read.said())
    observations, changed = reading.with_decimal_points(observations, names=names)
    joined = reading.join_surprisals(
        observations,
        options.model,
        names=names,
        texts=reading.read_texts(options.texts, column=names.text) if options.texts else None,
        before=options.before,
        frequency=needed_frequencies(options.frequency) if options.frequency else None,
        asking=replace(
            options.asking,
            policy=options.policy(reading.READING_POLICY),
            columns=(reading.ENTROPY,) if options.entropy else (),
        ),
        remark=note,
    )
    if options.as_json:
        show_json({"observations": joined.to_dicts()})
    elif options.output is None:
        show(joined.write_csv())
    if options.output is not None:
        reading.write_joined(joined, options.output)
        options.neutralize(options.output)
        note(f"{len(joined)} observations: {options.output}")
    for name, number in changed.items():
        point = number.replace(",", ".")
        note(f"Column {name!r}: decimal commas are now points ({number} is {point}).")
    return 0
