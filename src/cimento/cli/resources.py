"""The resources that several commands share: dictionaries, word frequencies, options of studies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.console import note
from cimento.cli.flags import SheetOptions, run_options_of
from cimento.errors import MissingDependencyError, UsageError
from cimento.io.declared import Texts, option
from cimento.measures.normalizing import zipf_frequencies
from cimento.options import Dtype, Limit, run_option
from cimento.studies import Form, write_parts
from cimento.suites.derived import Frequency

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cimento.corpus.morphology import Morphology
    from cimento.options import RunOptions
    from cimento.report.grid import Grid
    from cimento.studies import Section


def open_named(name: str, *, language: str) -> Morphology:
    """A dictionary, with its index in the cache folder; unreadable lines are reported.

    Args:
        name: name, as for `cimento.corpus.morphology.dictionaries.open_morphology`.
        language: ISO 639-1 code of the language of the texts.

    Raises:
        CimentoError: the dictionary does not exist, or is unusable.
    """
    from cimento.corpus.morphology.dictionaries import dictionary_for, faults_of

    opened = dictionary_for(name, language)
    for fault in faults_of(opened):
        note(f"warning: {fault}")
    return opened


def needed_frequencies(language: str) -> Frequency:
    """The Zipf frequencies of a language's words, for commands that require them.

    Raises:
        MissingDependencyError: wordfreq is not installed.
        UsageError: wordfreq lacks the language.
    """
    frequencies = zipf_frequencies(language, purpose="--frequency")
    if frequencies is None:
        raise UsageError(
            where="--frequency",
            seen=f"there are no frequencies for the language {language!r}",
            todo="Give an ISO 639-1 code, such as it.",
        )
    return frequencies


def zipf_frequencies_if_any(language: str) -> Frequency | None:
    """The Zipf frequencies of a language's words; without them, a note says what is left out."""
    try:
        return zipf_frequencies(language, purpose="frequencies of words")
    except MissingDependencyError as error:
        note(f"Frequencies are left out. {error}")
        return None


class StudyOptions(SheetOptions):
    """Models to ask, where results are written, and the form in which they are shown."""

    model: Texts = option(
        (),
        "Ask this model about the released items, or else about ours, and print its rows below"
        " the published ones. May be repeated.",
        flags=("-m",),
    )
    output: Path | None = option(
        None, "A folder for tables (.txt, .csv, .tex), figures and runs.", flags=("-o",)
    )
    limit: int | None = run_option("limit")
    device: str = run_option("device")
    dtype: Dtype = run_option("dtype")
    batch_size: Limit = run_option("batch_size")
    batch_tokens: Limit = run_option("batch_tokens")
    form: Form = option(
        "text", "Format of the tables: text, markdown, csv or latex.", flags=("--format",)
    )
    as_json: bool = run_option("as_json")

    def run_options(self, **fixed: object) -> RunOptions:
        """The options of runs, which are stored below the folder of results if there is one.

        Args:
            fixed: options that the study sets itself.
        """
        place = {} if self.output is None else {"output": self.output / "runs"}
        return run_options_of(self, **fixed, **place)

    def write(
        self,
        parts: Mapping[str, Section | Grid | Sequence[Section | Grid]],
        figures: Sequence[Path] = (),
    ) -> None:
        """Write tables beside the figures, and say where they are; nothing without a folder."""
        if self.output is None:
            return
        written = write_parts(parts, self.output)
        self.neutralize(*written)
        names = ", ".join(path.name for path in (*written, *figures))
        note(f"Written to {self.output}: {names}")
