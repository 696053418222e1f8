"""``cimento study``: a published study redone from the data it released."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cimento.cli import study_agreement, study_connectives, study_portuguese, study_stories
from cimento.cli.console import note, show
from cimento.cli.flags import command_of, run_option, run_options_of
from cimento.cli.study_agreement import StudyOptions
from cimento.errors import InputError
from cimento.options import Limit, Texts, option
from cimento.studies.islands.study import (
    MEASURES,
    accuracy_tables,
    model_sections,
    read_study_suites,
    study,
)
from cimento.studies.record import as_json, as_text, write_parts

if TYPE_CHECKING:
    from cimento.options import RunOptions
    from cimento.studies.record import Section


class IslandOptions(StudyOptions):
    """The data, the sections wanted, and models that score the suites."""

    data: Path = option(..., "The folder of the study's data.")
    model: Texts = option((), "Also score the Italian suites with this model.", flags=("-m",))
    section: Texts = option((), "Only this section, such as human. May be repeated.")
    output: Path = run_option("output")
    limit: int | None = run_option("limit")
    device: str = run_option("device")
    batch_size: Limit = run_option("batch_size")
    batch_tokens: Limit = run_option("batch_tokens")


def _islands(options: IslandOptions) -> int:
    """Every computation of the Italian island study that needs no model, next to printed values.

    With -m the two Italian suites are scored too: LP, PenLP and their logistic forms, tokens of
    masked models hidden one at a time (original), as the study did, and Tables 1 and 2 are written
    to -o below the published rows. --section none leaves everything else out.
    """
    if not options.data.is_dir():
        raise InputError(
            where=str(options.data), seen="is no folder", todo="Give the data with --data."
        )
    nothing = options.section == (NOTHING,)
    sections = [] if nothing else study(options.data, options.section)
    code = 0
    if options.model:
        from cimento.measures import columns_needed
        from cimento.studies.islands.study import MEASURES

        run_options = run_options_of(
            options, pll="original", columns=columns_needed(MEASURES), measures=("lp",)
        )
        found, code = _models(options, run_options)
        sections += found
    show(as_json("islands", sections) if options.as_json else as_text(sections, options.form))
    return code


islands = command_of(IslandOptions, _islands)


NOTHING = "none"


def _models(options: IslandOptions, run_options: RunOptions) -> tuple[list[Section], int]:
    """The sections of some models, and the exit code."""
    from cimento.cli.evaluating import evaluate_with_progress, report_failures
    from cimento.paradigms.regions.designs import factorials

    runs, failures = evaluate_with_progress(
        read_study_suites(options.data), options.model, run_options
    )
    results = factorials(runs, MEASURES)
    written = write_parts(accuracy_tables(results), options.output)
    note(f"Written to {options.output}: {', '.join(path.name for path in written)}")
    return model_sections(results), report_failures(runs, failures)


app = typer.Typer(
    help="Repeat a published study: every table, computed and as printed.", no_args_is_help=True
)
app.command("agreement")(study_agreement.agreement)
app.command("portuguese")(study_portuguese.portuguese)
app.command("stories")(study_stories.stories)
app.command("connectives")(study_connectives.connectives)
app.command("islands")(islands)
