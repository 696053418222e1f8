"""``cimento join``: reading times beside surprisals of words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.console import note, show
from cimento.cli.flags import command_of
from cimento.models.base import BoundaryRule, PllRule, WindowRule
from cimento.options import ModelOptions, option

if TYPE_CHECKING:
    import polars as pl

    from cimento.people.reading_times import Frequency


class _Options(ModelOptions):
    """Which observations, beside what, and how words are scored."""

    file: Path = option(..., "Observations: .csv, .tsv, .xlsx, .parquet.")
    model: str = option(
        ..., "demo-causal, a folder, org/name@revision, openai:URL#model.", flags=("-m",)
    )
    output: Path | None = option(
        None, "File, .csv, .tsv or .parquet; else printed as CSV.", flags=("-o",)
    )
    text_column: str = option("text", "Which column says which text it is.")
    position_column: str = option("position", "Which has the number of the word.")
    word_column: str = option("word", "Which has the word itself.")
    texts: Path | None = option(
        None, "The whole texts, where rows are missing: a table with `content`."
    )
    before: int = option(2, "Of how many earlier words too.", unit="words", ge=0)
    frequency: str = option("", "Language of word frequencies (wordfreq): it.")
    entropy: bool = option(default=False, help="With the entropy before every word.")
    pll: PllRule | None = option(
        None, "Pseudo-log-likelihood of masked models; within-word-l2r by default."
    )
    boundary: BoundaryRule | None = option(
        None, "Correct words for where they may end; none by default."
    )
    window: WindowRule = option("refuse", "Texts longer than the model's window.")
    stride: int | None = option(
        None, "Tokens that a sliding window is moved by.", unit="tokens", ge=1
    )
    spreadsheet_safe: bool = option(
        default=False, help="In CSV, an apostrophe before cells that begin a formula."
    )


def _join(options: _Options) -> int:
    """Join reading times, or other measures of words, to the surprisals of these words.

    One row for each observation, with the word, the words before it, length and frequency.
    """
    from dataclasses import replace

    from cimento.people import reading_times as reading

    if options.output is not None:
        reading.refuse_output(options.output)
    column = options.text_column
    joined = reading.join_surprisals(
        reading.read_observations(options.file),
        options.model,
        names=reading.Names(
            text=column, position=options.position_column, word=options.word_column
        ),
        texts=reading.read_texts(options.texts, column=column) if options.texts else None,
        before=options.before,
        frequency=_frequencies(options.frequency) if options.frequency else None,
        asking=replace(
            options.asking,
            policy=options.policy(reading.READING_POLICY),
            columns=(reading.ENTROPY,) if options.entropy else (),
        ),
    )
    _write(joined, options.output, spreadsheet_safe=options.spreadsheet_safe)
    return 0


join = command_of(_Options, _join, positional="file", metavar="FILE")


def _write(joined: pl.DataFrame, output: Path | None, *, spreadsheet_safe: bool) -> None:
    from cimento.cli.spreadsheets import neutralise
    from cimento.people.reading_times import write_joined

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
