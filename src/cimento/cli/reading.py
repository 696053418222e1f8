"""``cimento analyze reading-times`` and ``reading-gains``: what people read, beside models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.console import note, show, show_json
from cimento.cli.flags import SheetOptions, command_of
from cimento.cli.resources import needed_frequencies
from cimento.documents import write_grid
from cimento.errors import UsageError
from cimento.io.declared import Texts, option
from cimento.models.settings import BoundaryRule, PllRule, WindowRule
from cimento.options import ModelOptions
from cimento.people.reading_gains import FOLDS, LONGEST_MS, SHORTEST_MS, Transform
from cimento.report.terminal import on_terminal

if TYPE_CHECKING:
    import polars as pl

    from cimento.intake.reading import TableReading
    from cimento.io.tables import Column
    from cimento.models.base import ModelCard
    from cimento.models.settings import Asking
    from cimento.people.word_positions import WordColumns
    from cimento.suites.derived import Frequency


class _ReadingOptions(ModelOptions, SheetOptions):
    """The observations, and how models are asked about their words."""

    file: Path = option(..., "Observations: .csv, .tsv, .xlsx, .parquet.", argument="FILE")
    columns: str = option("", "Columns by their roles: text=item,position=zone,word=token,rt=RT.")
    texts: Path | None = option(
        None, "The whole texts, where rows are missing: a table with `content`."
    )
    before: int = option(2, "Also add values of this many preceding words.", ge=0)
    frequency: str = option("", "Language of word frequencies (wordfreq): it.")
    pll: PllRule | None = option(
        None, "Pseudo-log-likelihood of masked models; within-word-l2r by default."
    )
    boundary: BoundaryRule | None = option(
        None, "Correct words for where they may end: auto for reading times; none by default."
    )
    window: WindowRule = option("refuse", "Texts longer than the model's window.")
    stride: int | None = option(None, "Tokens that a sliding window is moved by.", ge=1)
    as_json: bool = option(default=False, help="Print JSON.", flags=("--json",))

    def read(self) -> tuple[pl.DataFrame, WordColumns, TableReading, Mapping[str, str]]:
        """The observations, their columns, and what was changed (`with_decimal_points`).

        Raises:
            CimentoError: they cannot be read, or lack a column.
        """
        from cimento.people import reading_times as reading
        from cimento.people.word_columns import chosen_columns, word_columns

        observations = reading.read_observations(self.file)
        names, read = word_columns(observations, chosen_columns(self.columns), where=self.file.name)
        note(read.said())
        observations, changed = reading.with_decimal_points(observations, names=names)
        return observations, names, read, changed

    def whole_texts(self, names: WordColumns) -> dict[str, str] | None:
        """The whole texts by their ids, if they are given.

        Raises:
            CimentoError: they cannot be read.
        """
        from cimento.people.reading_times import read_texts

        return read_texts(self.texts, column=names.text) if self.texts else None

    def frequencies(self) -> Frequency | None:
        """The frequencies of words, if they are asked for.

        Raises:
            MissingDependencyError: they are not installed.
        """
        return needed_frequencies(self.frequency) if self.frequency else None

    def asked(self, *columns: Column) -> Asking:
        """How a model is asked about words as they are read.

        Args:
            columns: more columns of tokens.
        """
        from cimento.people.reading_times import READING_POLICY

        return replace(self.asking, policy=self.policy(READING_POLICY), columns=columns)


class _JoinOptions(_ReadingOptions):
    """The observations, the values to join, and the scoring options."""

    model: str = option(
        ..., "demo-causal, a folder, org/name@revision, openai:URL#model.", flags=("-m",)
    )
    output: Path | None = option(
        None, "File, .csv, .tsv or .parquet; else printed as CSV.", flags=("-o",)
    )
    entropy: bool = option(default=False, help="Add the entropy before every word.")
    methods: bool = option(
        default=False, help="Print the methods of the table as a paragraph, and no table."
    )


@command_of
def join(options: _JoinOptions) -> int:
    """Join reading times, or other measures of words, to the surprisals of these words.

    One row for each observation, with the word, the words before it, length and frequency.
    """
    from cimento.models.registry import open_scorer
    from cimento.people import reading_times as reading
    from cimento.people.joined_methods import JoinFacts, joined_methods

    _refuse_file_of_methods(options)
    if options.output is not None:
        reading.refuse_output(options.output)
    observations, names, _, changed = options.read()
    asking = options.asked(*([reading.ENTROPY] if options.entropy else []))
    # A paragraph describes a model by its card, which it has in full when it is loaded.
    model = open_scorer(options.model, asking) if options.methods else options.model
    joined = reading.join_surprisals(
        observations,
        model,
        names=names,
        texts=options.whole_texts(names),
        before=options.before,
        frequency=options.frequencies(),
        asking=asking,
        remark=note,
    )
    if not isinstance(model, str):
        facts = JoinFacts(model.card, asking.policy, names, options.before, options.frequency)
        show(joined_methods(joined, facts))
        return 0
    if options.as_json:
        show_json({"observations": joined.to_dicts()})
    elif options.output is None:
        show(joined.write_csv())
    if options.output is not None:
        reading.write_joined(joined, options.output)
        options.neutralize(options.output)
        note(f"{len(joined)} observations: {options.output}")
    _note_commas(changed)
    return 0


def _note_commas(changed: Mapping[str, str]) -> None:
    for name, number in changed.items():
        point = number.replace(",", ".")
        note(f"Column {name!r}: decimal commas are now points ({number} is {point}).")


def _regressed(
    observations: pl.DataFrame, names: WordColumns, read: TableReading, *, where: str
) -> dict[str, str]:
    """The columns of a regression by their roles; it is said what no participants means.

    Args:
        observations: the table.
        names: the columns that say which word an observation is of.
        read: what each column was read as.
        where: the name of the table, for messages.

    Raises:
        UsageError: the table has no reading times.
    """
    roles = {role: columns[0] for role, columns in read.roles.items()}
    if "rt" not in roles:
        raise UsageError(
            where=where,
            seen="it has no column of reading times",
            todo="Give --columns rt=COLUMN.",
        )
    if "participant" not in roles:
        from cimento.people.word_columns import possible_participants

        note(_without_subjects(possible_participants(observations, names, read.unused)))
    return roles


def _without_subjects(possible: Sequence[str]) -> str:
    """What a table without participants does not allow, and how to name their column.

    Args:
        possible: the columns that may have them.
    """
    choice = " or ".join(f"--columns participant={name}" for name in possible)
    return (
        "No column of participants: no intercepts for subjects, and no test on other subjects."
        + (f" If a column has them, name it: {choice}." if choice else "")
    )


class _GainOptions(_ReadingOptions):
    """The observations, the language models, and the rules of the regression."""

    models: Texts = option(
        (),
        "A language model, as for run. Repeatable: models are compared.",
        flags=("-m", "--model"),
    )
    given: Texts = option((), "A column with surprisals from elsewhere, as one more model.")
    output: Path | None = option(
        None, "A file: .csv, .json, .md, .tex, .docx, .xlsx, .txt.", flags=("-o",)
    )
    item: str = option("", "Column of what is new in folds of items; the text if not given.")
    baseline: Texts = option((), "A column of numbers for the baseline too.")
    transform: Transform = option("log", "log: ln of times; none: times as they are.")
    shortest: float = option(SHORTEST_MS, "Shorter times are left out.", ge=0)
    longest: float = option(LONGEST_MS, "Longer times are left out.", ge=0)
    folds: int = option(FOLDS, "Folds of subjects, and of items.", ge=2)
    seed: int = option(0, "Seed of the folds.", ge=0)
    methods: bool = option(
        default=False, help="Print the methods of the gains as a paragraph, and no table."
    )

    def cards(self) -> dict[str, ModelCard]:
        """The card of each model, which it has in full when it is loaded.

        Models are loaded one at a time, as several may not fit into the memory.
        """
        from cimento.models.registry import open_scorer

        return {model: open_scorer(model, self.asked()).card for model in self.models}


def _refuse_file_of_methods(options: _JoinOptions | _GainOptions) -> None:
    """Refuse a file for the methods, which are printed."""
    if options.methods and options.output is not None:
        raise UsageError(
            where=f"-o {options.output}",
            seen="--methods prints a paragraph, and writes no file",
            todo="Leave one of the two out.",
        )


@command_of
def gains(options: _GainOptions) -> int:
    """Estimate how much surprisals add to predictions of reading times, and compare models.

    A mixed model with length, frequency, position and earlier words is fitted without and with
    surprisals, and predicts subjects, then items, that it has not seen. Printed is the gain in
    log-likelihood per observation, with a paired test of every pair of models.
    """
    from cimento.people.gains_methods import gains_methods
    from cimento.people.gains_table import gains_grid
    from cimento.people.reading_gains import GainRules, ReadingColumns, reading_gains

    if not (options.models or options.given):
        raise UsageError(
            where="--model",
            seen="none is given",
            todo="Add -m MODEL, or --given COLUMN for surprisals from elsewhere.",
        )
    _refuse_file_of_methods(options)
    observations, names, read, changed = options.read()
    roles = _regressed(observations, names, read, where=options.file.name)
    made = reading_gains(
        observations,
        {model: model for model in options.models},
        ReadingColumns(
            word=names,
            rt=roles["rt"],
            subject=roles.get("participant", ""),
            item=options.item,
            baseline=options.baseline,
            given=options.given,
        ),
        rules=GainRules(**{one: getattr(options, one) for one in GainRules.__dataclass_fields__}),
        texts=options.whole_texts(names),
        frequency=options.frequencies(),
        asking=options.asked(),
        remark=note,
    )
    if options.methods:
        show(gains_methods(made, options.cards(), options.asked().policy))
        return 0
    if options.as_json:
        show_json(asdict(made))
    grid = gains_grid(made)
    if options.output is not None:
        note(f"The table is in {write_grid(grid, options.output)}")
        options.neutralize(options.output)
    elif not options.as_json:
        show(on_terminal(grid))
    _note_commas(changed)
    return 0
