"""``cimento score`` and ``fill``: surprisals and blanks of free text."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.console import deliver, json_text, note
from cimento.cli.flags import command_of
from cimento.errors import UsageError
from cimento.evaluation.end_marks import score_end_marks
from cimento.evaluation.free_measures import measure_texts
from cimento.evaluation.freetext import score_texts
from cimento.io.declared import Texts, option
from cimento.io.files import need_writable
from cimento.io.lines import read_contexts, read_lines
from cimento.models.questions import OpenRule
from cimento.options import ModelOptions, ScoringOptions, run_option

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
    measures: Texts = option(
        (),
        "Instead: these measures of each text as a whole, such as lp,penlp:0.6,ppl.",
        flags=("--measure",),
        metavar="NAME,NAME...",
    )
    unigrams: str | None = run_option("unigrams")
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
    if options.end_marks and (options.measures or options.context_file is not None):
        raise UsageError(
            where="--end-marks",
            seen=f"{'--measure' if options.measures else '--context-file'} is given too",
            todo="Give one of the two.",
        )
    if options.measures and options.words:
        raise UsageError(
            where="--words", seen="--measure is about whole texts", todo="Leave one of them out."
        )
    if options.output is not None:
        need_writable(options.output)
    texts = _texts(options.file, command=f"cimento score -m {model}")
    file = options.context_file
    contexts = None if file is None else read_contexts(file, texts, remark=note)
    if options.end_marks:
        table = score_end_marks(texts, model, marks=tuple(options.end_marks), asking=asking)
    elif options.measures:
        table = measure_texts(
            texts,
            model,
            measures=[name.strip() for text in options.measures for name in text.split(",")],
            unigrams=options.unigrams or "",
            contexts=contexts,
            asking=asking,
            remark=note,
        )
    else:
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
    top_p: float | None = option(
        None,
        "Only the first candidates that together reach this probability, such as 0.9.",
        ge=0,
        le=1,
    )
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

    Options may also follow a text, after a tab: La casa è ___.<TAB>rossa|rosso.

    Examples: cimento fill texts.txt -m demo-masked -k 3; echo "La casa è ___." | cimento fill -
    -m demo-causal --options "rossa|rosso".
    """
    from cimento.evaluation.free_fills import fill_policy, fill_texts, nucleus_of

    if options.top_p == 0:
        raise UsageError(
            where="--top-p", seen="no candidate is within 0", todo="Give more, such as 0.9."
        )
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
    if options.top_p is not None:
        table, short = nucleus_of(table, options.top_p)
        for number, reached in short.items():
            note(
                f"text {number}: its {options.k} candidates reach {reached:.3g}, not"
                f" {options.top_p:g}. More with -k."
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
