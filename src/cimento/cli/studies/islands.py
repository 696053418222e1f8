"""``cimento study islands``: what needs no model, beside what is printed; models on request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cimento.cli import options
from cimento.cli.console import show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cimento.options import RunOptions
    from cimento.studies.record import Section


# size: one argument for each option.
def islands(
    data: Annotated[Path, options.option("--data", help="The folder of the study's data.")],
    *,
    json: options.Json = False,
    model: Annotated[
        list[str] | None,
        options.option("-m", "--model", help="Also score the Italian suites with this model."),
    ] = None,
    section: Annotated[
        list[str] | None,
        options.option("--section", help="Only this section, such as human. May be repeated."),
    ] = None,
    output: options.Output = Path("runs"),
    limit: options.Limit = None,
    device: options.Device = "auto",
    batch_size: options.BatchSize = None,
    batch_tokens: options.BatchTokens = None,
) -> int:
    """Every computation of the Italian island study that needs no model, beside what is printed.

    With -m the two Italian suites are scored too: LP, PenLP and their logistic forms, tokens of
    masked models hidden one at a time (original), as the study did. --section none leaves
    everything else out.
    """
    from cimento.errors import InputError
    from cimento.studies.islands.study import study
    from cimento.studies.record import as_json, as_text

    if not data.is_dir():
        raise InputError(where=str(data), seen="is no folder", todo="Give the data with --data.")
    wanted = section or []
    sections = [] if wanted == [NOTHING] else study(data, wanted)
    code = 0
    if model:
        from cimento.measures import columns_needed
        from cimento.options import RunOptions, checked
        from cimento.studies.islands.study import MEASURES

        run_options = checked(
            RunOptions,
            {
                "pll": "original",
                "device": device,
                "batch_size": batch_size or "auto",
                "batch_tokens": batch_tokens or "auto",
                "columns": columns_needed(MEASURES),
                "limit": limit,
                "measures": ("lp",),
                "output": output,
            },
            written="--",
        )
        found, code = _models(data, model, run_options)
        sections += found
    show(as_json(sections) if json else as_text(sections))
    return code


NOTHING = "none"


def _models(
    data: Path, models: Sequence[str], run_options: RunOptions
) -> tuple[list[Section], int]:
    """The sections of some models, and the exit code."""
    from cimento.cli.evaluating import evaluate_with_progress, report_failures
    from cimento.paradigms.regions.designs import factorials
    from cimento.studies.islands.study import MEASURES, model_sections, read_study_suites

    runs, failures = evaluate_with_progress(read_study_suites(data), models, run_options)
    return model_sections(data, factorials(runs, MEASURES)), report_failures(runs, failures)
