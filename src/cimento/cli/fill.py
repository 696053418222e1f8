"""``cimento fill``: what a model puts in the blanks of free text."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cimento.cli import options

if TYPE_CHECKING:
    import polars as pl

File = Annotated[
    Path,
    typer.Argument(
        metavar="[FILE]", help="One text a line, its blank as ___; - is standard input."
    ),
]
Model = Annotated[
    str,
    options.option("-m", "--model", help="demo-masked, demo-causal, a folder, org/name ..."),
]
Protocol = Annotated[
    str,
    options.option(
        "--protocol",
        help="mask: one mask, any tokens; words: whole ones; complete: words of several tokens;"
        " beam: any sequences; left: what comes next; sentinel. By the model if not given.",
    ),
]
Masks = Annotated[int, options.option("--masks", min=1, help="Tokens of the longest candidate.")]
Among = Annotated[str, options.option("--options", help="Score these in every blank: rossa|rosso.")]
Choice = Annotated[
    str, options.option("--choice", help="How options are scored: left-to-right,sentence ...")
]


# size: one argument for each option.
def fill(
    file: File = Path("-"),
    *,
    model: Model,
    k: Annotated[int, options.option("-k", "--top", min=1, help="How many candidates.")] = 10,
    protocol: Protocol = "auto",
    masks: Masks = 3,
    among: Among = "",
    choice: Choice = "",
    json: Annotated[bool, options.option("--json", help="Print JSON, one object a text.")] = False,
    device: options.Device = "auto",
    dtype: options.Dtype = "float32",
    model_args: options.ModelArgs = None,
    allow_pickle: options.AllowPickle = False,
    trust_remote_code: options.TrustRemoteCode = False,
    kind: options.Kind = "auto",
    bos: options.Bos = None,
    batch_size: options.BatchSize = None,
    batch_tokens: options.BatchTokens = None,
    concurrency: options.Concurrency = 8,
    timeout: options.Timeout = 120.0,
) -> None:
    """Print what a model puts in the blank of each text, as TSV.

    Options may also stand after a text, behind a tab: ``La casa è ___.<TAB>rossa|rosso``.
    """
    from cimento.cli.console import show
    from cimento.cli.run_cloze import fill_policy
    from cimento.cloze.free import fill_texts
    from cimento.freetext import read_lines
    from cimento.models.arguments import parse_model_args
    from cimento.models.base import Policy
    from cimento.sources import Asking

    blanks = fill_policy({"k": str(k), "protocol": protocol, "masks": str(masks), "choice": choice})
    lines = [line.partition("\t") for line in read_lines(file)]
    args = parse_model_args(
        model_args or (), allow_pickle=allow_pickle, trust_remote_code=trust_remote_code
    )
    texts = [text for text, _, _ in lines]
    table = fill_texts(
        texts,
        model,
        options=[_parts(own or among) for _, _, own in lines],
        policy=blanks,
        asking=Asking(
            policy=Policy(**options.given(bos=bos, dtype=dtype, model_args=args)),
            kind=kind,
            device=device,
            batch_size=batch_size or "auto",
            batch_tokens=batch_tokens or "auto",
            concurrency=concurrency,
            timeout_s=timeout,
        ),
    )
    show(_json(texts, table) if json else _tsv(table))


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
    return "\n".join(json_module.dumps(each, ensure_ascii=False) for each in objects)


def _escaped(column: str) -> pl.Expr:
    """A column in which no tab and no line break stands as it is."""
    import polars as pl

    marks = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
    return pl.col(column).str.replace_many(list(marks), list(marks.values()))
