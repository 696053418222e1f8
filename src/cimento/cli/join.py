"""``cimento join``: reading times beside surprisals of words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cimento.cli import options
from cimento.cli.console import note, show

if TYPE_CHECKING:
    import polars as pl

    from cimento.reading_times.joining import Frequency

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="Observations: .csv, .tsv, .xlsx, .parquet.")
]
Model = Annotated[
    str,
    options.option(
        "-m", "--model", help="demo-causal, a folder, org/name@revision, openai:URL#model."
    ),
]
Output = Annotated[
    Path | None,
    options.option("-o", "--output", help="File, .csv, .tsv or .parquet; else printed as CSV."),
]
TextColumn = Annotated[
    str, options.option("--text-column", help="Which column says which text it is.")
]
PositionColumn = Annotated[
    str, options.option("--position-column", help="Which has the number of the word.")
]
WordColumn = Annotated[str, options.option("--word-column", help="Which has the word itself.")]
Texts = Annotated[
    Path | None,
    options.option(
        "--texts", help="The whole texts, where rows are missing: a table with `content`."
    ),
]
Before = Annotated[int, options.option("--before", min=0, help="Of how many earlier words too.")]
Language = Annotated[
    str, options.option("--frequency", help="Language of word frequencies (wordfreq): it.")
]
Entropy = Annotated[bool, options.option("--entropy", help="With the entropy before every word.")]


# size: one argument for each option.
def join(
    file: File,
    *,
    model: Model,
    output: Output = None,
    text_column: TextColumn = "text",
    position_column: PositionColumn = "position",
    word_column: WordColumn = "word",
    texts: Texts = None,
    before: Before = 2,
    frequency: Language = "",
    entropy: Entropy = False,
    device: options.Device = "auto",
    dtype: options.Dtype = "float32",
    model_args: options.ModelArgs = None,
    allow_pickle: options.AllowPickle = False,
    trust_remote_code: options.TrustRemoteCode = False,
    kind: options.Kind = "auto",
    bos: options.Bos = None,
    pll: options.Pll = None,
    boundary: options.Boundary = None,
    window: options.Window = "refuse",
    stride: options.Stride = None,
    batch_size: options.BatchSize = None,
    batch_tokens: options.BatchTokens = None,
    spreadsheet_safe: options.SpreadsheetSafe = False,
) -> None:
    """Join reading times, or other measures of words, to the surprisals of these words.

    One row for each observation, with the word, the words before it, length and frequency.
    """
    from dataclasses import replace

    from cimento import reading_times as reading
    from cimento.models.arguments import parse_model_args
    from cimento.sources import Asking

    if output is not None:
        reading.refuse_output(output)
    policy = options.given(bos=bos, pll=pll, boundary=boundary, stride=stride)
    policy |= {"dtype": dtype, "window": window}
    policy["model_args"] = parse_model_args(
        model_args or (), allow_pickle=allow_pickle, trust_remote_code=trust_remote_code
    )
    joined = reading.join_surprisals(
        reading.read_observations(file),
        model,
        names=reading.Names(text=text_column, position=position_column, word=word_column),
        texts=reading.read_texts(texts, column=text_column) if texts else None,
        before=before,
        frequency=_frequencies(frequency) if frequency else None,
        asking=Asking(
            policy=replace(reading.READING_POLICY, **policy),
            kind=kind,
            device=device,
            batch_size=batch_size or "auto",
            batch_tokens=batch_tokens or "auto",
            columns=(reading.ENTROPY,) if entropy else (),
        ),
    )
    _write(joined, output, spreadsheet_safe=spreadsheet_safe)


def _write(joined: pl.DataFrame, output: Path | None, *, spreadsheet_safe: bool) -> None:
    from cimento.cli.spreadsheets import neutralise
    from cimento.reading_times import write_joined

    if output is None:
        show(joined.write_csv())
        return
    write_joined(joined, output)
    neutralise([output], asked=spreadsheet_safe)
    note(f"{len(joined)} observations: {output}")


def _frequencies(language: str) -> Frequency:
    """The frequencies of a language's words.

    Raises:
        UsageError: there are none of that language.
    """
    from cimento.cli.frequencies import zipf_frequencies
    from cimento.errors import UsageError

    found = zipf_frequencies(language, purpose="--frequency")
    if found is None:
        raise UsageError(
            where="--frequency",
            seen=f"wordfreq has no language {language!r}",
            todo="Give an ISO 639-1 code, such as it.",
        )
    return found
