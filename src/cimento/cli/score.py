"""``cimento score``: surprisals of free text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cimento.cli import options


# size: one argument for each option.
def score(
    file: Annotated[
        Path, typer.Argument(metavar="[FILE]", help="One text a line; - is standard input.")
    ] = Path("-"),
    *,
    model: Annotated[
        str,
        options.option(
            "-m", "--model", help="demo-causal, a folder, org/name@revision, openai:URL#model."
        ),
    ],
    words: Annotated[
        bool, options.option("--words/--tokens", help="One row a word, or one a token.")
    ] = False,
    context: options.ContextText = "",
    context_file: Annotated[
        Path | None,
        options.option("--context-file", help="What stands before each text, one line for each."),
    ] = None,
    end_marks: Annotated[
        str,
        options.option(
            "--end-marks", help="Instead: how probable these are after every word, such as '?.'."
        ),
    ] = "",
    device: options.Device = "auto",
    dtype: options.Dtype = "float32",
    model_args: options.ModelArgs = None,
    allow_pickle: options.AllowPickle = False,
    trust_remote_code: options.TrustRemoteCode = False,
    kind: options.Kind = "auto",
    bos: options.Bos = None,
    pll: options.Pll = None,
    punctuation: options.Punctuation = None,
    boundary: options.Boundary = None,
    boundary_eos: options.BoundaryEos = None,
    boundary_first: options.BoundaryFirst = None,
    window: options.Window = "refuse",
    stride: options.Stride = None,
    batch_size: options.BatchSize = None,
    batch_tokens: options.BatchTokens = None,
    columns: options.ColumnNames = None,
    layers: options.Layers = "",
    concurrency: options.Concurrency = 8,
    timeout: options.Timeout = 120.0,
) -> None:
    """Print the surprisal of every token or word of a text, in bits, as TSV.

    Each line of the input is a text of its own; empty lines are passed over.
    """
    from cimento.answers import parse_columns, parse_layers
    from cimento.cli.console import show
    from cimento.end_marks import score_end_marks
    from cimento.errors import UsageError
    from cimento.freetext import read_contexts, read_lines, score_texts
    from cimento.models.arguments import parse_model_args
    from cimento.models.base import Policy
    from cimento.requests import Context
    from cimento.sources import Asking

    asking = Asking(
        policy=Policy(
            **options.given(
                bos=bos,
                pll=pll,
                punctuation=punctuation,
                dtype=dtype,
                model_args=parse_model_args(
                    model_args or (),
                    allow_pickle=allow_pickle,
                    trust_remote_code=trust_remote_code,
                ),
                boundary=boundary,
                boundary_eos=boundary_eos,
                boundary_first=boundary_first,
                window=window,
                stride=stride,
            )
        ),
        kind=kind,
        device=device,
        context=Context(text=context),
        columns=(*parse_columns(columns or ()), *parse_layers(layers)),
        batch_size=batch_size or "auto",
        batch_tokens=batch_tokens or "auto",
        concurrency=concurrency,
        timeout_s=timeout,
    )
    if context and context_file is not None:
        raise UsageError(
            where="--context-file",
            seen="--context is given too",
            todo="Give one of the two.",
        )
    texts = read_lines(file)
    if end_marks:
        table = score_end_marks(texts, model, marks=tuple(end_marks), asking=asking)
        show(table.write_csv(separator="\t", null_value="", quote_style="never"))
        return
    contexts = read_contexts(context_file, texts) if context_file is not None else None
    table = score_texts(texts, model, contexts=contexts, asking=asking, words=words)
    show(table.write_csv(separator="\t", null_value="", quote_style="never"))
