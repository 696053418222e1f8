"""``cimento join``: reading times beside surprisals of words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cimento.cli import options

if TYPE_CHECKING:
    from cimento.reading_times.joining import Frequency


# size: one argument for each option.
def join(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Observations: .csv, .tsv, .xlsx, .parquet.")
    ],
    *,
    model: Annotated[
        str,
        options.option(
            "-m", "--model", help="demo-causal, a folder, org/name@revision, openai:URL#model."
        ),
    ],
    output: Annotated[
        Path | None,
        options.option("-o", "--output", help="File, .csv, .tsv or .parquet; else printed as CSV."),
    ] = None,
    text_column: Annotated[
        str, options.option("--text-column", help="Which column says which text it is.")
    ] = "text",
    position_column: Annotated[
        str, options.option("--position-column", help="Which has the number of the word.")
    ] = "position",
    word_column: Annotated[
        str, options.option("--word-column", help="Which has the word itself.")
    ] = "word",
    texts: Annotated[
        Path | None,
        options.option(
            "--texts", help="The whole texts, where rows are missing: a table with `content`."
        ),
    ] = None,
    before: Annotated[
        int, options.option("--before", min=0, help="Of how many earlier words too.")
    ] = 2,
    frequency: Annotated[
        str, options.option("--frequency", help="Language of word frequencies (wordfreq): it.")
    ] = "",
    entropy: Annotated[
        bool, options.option("--entropy", help="With the entropy before every word.")
    ] = False,
    device: options.Device = "auto",
    dtype: options.Dtype = "float32",
    kind: options.Kind = "auto",
    bos: options.Bos = None,
    pll: options.Pll = None,
    boundary: options.Boundary = None,
    window: options.Window = "refuse",
    stride: options.Stride = None,
    batch_size: options.BatchSize = None,
) -> None:
    """Join reading times, or other measures of words, to the surprisals of these words.

    One row for each observation, with the word, the words before it, length and frequency.
    """
    from dataclasses import replace

    from cimento.cli.console import note, show
    from cimento.reading_times import (
        ENTROPY,
        READING_POLICY,
        Names,
        join_surprisals,
        read_observations,
        read_texts,
        write_joined,
    )
    from cimento.sources import Asking

    observations = read_observations(file)
    policy = options.given(bos=bos, pll=pll, boundary=boundary, stride=stride)
    asking = Asking(
        policy=replace(READING_POLICY, dtype=dtype, window=window, **policy),
        kind=kind,
        device=device,
        token_budget=batch_size,
        columns=(ENTROPY,) if entropy else (),
    )
    joined = join_surprisals(
        observations,
        model,
        names=Names(text=text_column, position=position_column, word=word_column),
        texts=read_texts(texts, column=text_column) if texts else None,
        before=before,
        frequency=_frequencies(frequency) if frequency else None,
        asking=asking,
    )
    if output is None:
        show(joined.write_csv())
        return
    write_joined(joined, output)
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
