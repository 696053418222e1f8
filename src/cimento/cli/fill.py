"""``cimento fill``: what a model puts in the blanks of free text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.flags import command_of
from cimento.models.questions import OpenRule
from cimento.options import ModelOptions, option

if TYPE_CHECKING:
    import polars as pl


class _Options(ModelOptions):
    """Which texts, how their blanks are filled, and by which model."""

    file: Path = option(Path("-"), "One text a line, its blank as ___; - is standard input.")
    model: str = option(..., "demo-masked, demo-causal, a folder, org/name ...", flags=("-m",))
    k: int = option(10, "How many candidates.", flags=("-k", "--top"), ge=1)
    protocol: OpenRule = option(
        "auto",
        "mask: one mask, any tokens; words: whole ones; complete: words of several tokens;"
        " beam: any sequences; left: what comes next; sentinel. By the model if not given.",
    )
    masks: int = option(3, "Tokens of the longest candidate.", unit="tokens", ge=1)
    among: str = option("", "Score these in every blank: rossa|rosso.", flags=("--options",))
    choice: str = option("", "How options are scored: left-to-right,sentence ...")
    as_json: bool = option(default=False, help="Print JSON, one object a text.", flags=("--json",))


def _fill(options: _Options) -> int:
    """Print what a model puts in the blank of each text, as TSV.

    Options may also stand after a text, behind a tab: ``La casa è ___.<TAB>rossa|rosso``.
    """
    from cimento.cli.console import show
    from cimento.cloze.free import fill_texts
    from cimento.cloze.options import ClozeOptions
    from cimento.engine.freetext import read_lines
    from cimento.options import checked

    named = {name: getattr(options, name) for name in ("k", "protocol", "masks", "choice")}
    policy = checked(ClozeOptions, named, written="--").policy
    lines = [line.partition("\t") for line in read_lines(options.file)]
    texts = [text for text, _, _ in lines]
    table = fill_texts(
        texts,
        options.model,
        options=[_parts(after or options.among) for _, _, after in lines],
        policy=policy,
        asking=options.asking,
    )
    show(_json(texts, table) if options.as_json else _tsv(table))
    return 0


fill = command_of(_Options, _fill, positional="file", metavar="[FILE]")


def _parts(cell: str) -> list[str]:
    return [part.strip() for part in cell.split("|") if part.strip()]


def _tsv(table: pl.DataFrame) -> str:
    escaped = table.with_columns(_escaped("candidate"))
    return escaped.write_csv(separator="\t", null_value="", quote_style="never")


def _json(texts: list[str], table: pl.DataFrame) -> str:
    """An object for each text, a line each."""
    fills: dict[int, list[dict[str, object]]] = {}
    for row in table.iter_rows(named=True):
        number = row.pop("text")
        fills.setdefault(number, []).append(row)
    objects = (
        {"text": text, "fills": fills.get(number, [])} for number, text in enumerate(texts, start=1)
    )
    return "\n".join(json.dumps(each, ensure_ascii=False) for each in objects)


def _escaped(column: str) -> pl.Expr:
    """A column in which no tab and no line break stands as it is."""
    import polars as pl

    marks = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
    return pl.col(column).str.replace_many(list(marks), list(marks.values()))
