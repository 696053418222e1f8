"""``cimento study``: published studies, recomputed from their released data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cimento.cli import study_agreement, study_islands, study_portuguese, study_stories
from cimento.cli.console import show, show_json
from cimento.cli.flags import command_of, run_option
from cimento.cli.study_agreement import StudyOptions
from cimento.errors import UsageError
from cimento.models.base import BosRule
from cimento.options import option
from cimento.studies.record import as_text

if TYPE_CHECKING:
    from cimento.studies.connectives.own import Perplexities
    from cimento.studies.record import Section


class ConnectivesOptions(StudyOptions):
    """The released data, your own copy of the resource, and models to score it."""

    data: Path | None = option(None, "Folder of released data (AcCompl-it, Lau 2020, ...).")
    own: Path | None = option(None, "Folder of your copy: acceptability.tsv, cloze.tsv.")
    expected: Path | None = option(None, "JSON of expected statistics of --data.")
    blimp: Path | None = option(
        None, "BLiMP's published human accuracies (CSV).", flags=("--blimp-summary",)
    )
    model: str | None = option(
        None, "Gives the perplexities of --own; else column ppl.", flags=("-m",)
    )
    cloze_model: str | None = option(None, "Masked; gives completions; else completions.tsv.")
    bos: BosRule | None = run_option("bos")
    device: str = run_option("device")


def _connectives(options: ConnectivesOptions) -> int:
    """Check the printed tables, describe comparable data, recompute Tables 2 to 5 from your copy.

    The resource is not public: without --data and --own, only the printed tables are checked. The
    exit code is 1 if a number differs from the expected one.
    """
    from cimento.studies.connectives import text
    from cimento.studies.connectives.checks import check_published
    from cimento.studies.connectives.released import compare, read_expected, released

    if (options.expected or options.blimp) and options.data is None:
        raise UsageError(where="--expected", seen="there is no --data", todo="Give both.")
    if (options.model or options.cloze_model) and options.own is None:
        raise UsageError(where="--model", seen="there is no --own", todo="Give both.")
    checks = check_published()
    found = released(options.data, published_blimp=options.blimp) if options.data else None
    compared = (
        compare(found.values, read_expected(options.expected)) if found and options.expected else []
    )
    own, scored = _own(options.own, options) if options.own else ([], None)
    if options.as_json:
        show_json(
            {
                "checks": checks,
                "statistics": found.values if found else None,
                "absent": found.absent if found else None,
                "compared": compared,
                "own": own,
                "perplexities": scored.plain() if scored else None,
            }
        )
    else:
        sections = [text.printed_section(checks)]
        sections += text.released_sections(found) if found else []
        sections += [text.expected_section(compared)] if compared else []
        show(as_text([*sections, *text.with_scoring(own, scored)], options.form))
    return int(any(each.equal is False for each in compared))


connectives = command_of(ConnectivesOptions, _connectives)


def _own(folder: Path, options: ConnectivesOptions) -> tuple[list[Section], Perplexities | None]:
    """The tables of a user's copy, and a model's perplexities on it."""
    from cimento.studies.connectives.own import own_tables, read_own, scored_copy

    copy, scored = scored_copy(
        read_own(folder),
        model=options.model,
        cloze_model=options.cloze_model,
        device=options.device,
        bos=options.bos or "none",
    )
    return own_tables(copy, scored.values if scored else None), scored


app = typer.Typer(
    help="Repeat a published study: every table, computed and as printed.", no_args_is_help=True
)
app.command("agreement")(study_agreement.agreement)
app.command("portuguese")(study_portuguese.portuguese)
app.command("stories")(study_stories.stories)
app.command("connectives")(connectives)
app.command("islands")(study_islands.islands)
