"""``cimento study stories``: GITA4CALAMITA from recorded answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cimento.cli import options
from cimento.cli.console import note, show
from cimento.cli.spreadsheets import neutralise
from cimento.io.inline_markup import columns

if TYPE_CHECKING:
    from cimento.suites.model import JsonValue

GroupingName = Literal["paper_code", "type", "corrected"]


# size: one argument for each option.
def stories(
    data: Annotated[
        Path, options.option("--data", help="The stories: GITA4CALAMITA as JSONL, or others.")
    ],
    responses: Annotated[
        list[Path],
        options.option("--responses", help="Recorded answers of one model (JSONL); repeatable."),
    ],
    output: Annotated[
        Path | None,
        options.option("-o", "--output", help="Table 3 as .txt, .csv, .md or .tex."),
    ] = None,
    *,
    grouping: Annotated[
        GroupingName, options.option("--grouping", help="Groups of the table written with -o.")
    ] = "paper_code",
    json: options.Json = False,
    seed: Annotated[int, options.option("--seed", help="Seed of the bootstrap.")] = 1,
    draws: Annotated[
        int, options.option("--draws", min=100, help="Draws of the bootstrap.")
    ] = 20_000,
    spreadsheet_safe: options.SpreadsheetSafe = False,
) -> int:
    """Redo GITA4CALAMITA (Pensa et al. 2024): three tiers of physical commonsense.

    Every metric in the grouping of the paper's code and in a corrected one, with intervals, bias,
    calibration and breakdowns; prompts and draws rebuilt by hash. Several files of answers are
    also compared pair by pair. The exit code is 1 where something published is not met.
    """
    from json import dumps

    from cimento.paradigms.stories.formats import read_stories
    from cimento.paradigms.stories.recordings import read_responses
    from cimento.studies.stories.record import paired_record, study_record
    from cimento.studies.stories.text import differing, equality_rows
    from cimento.suites.builtin import find_suite

    _refuse_unknown_form(output)
    file = read_stories(find_suite(str(data)))
    asked = file.stories
    models = [read_responses(path, stories=asked) for path in responses]
    _refuse_same_names([model.model for model in models])
    records = {model.model: study_record(asked, model, seed=seed, draws=draws) for model in models}
    paired = paired_record(asked, models) if len(models) > 1 else None
    if json:
        whole: JsonValue = next(iter(records.values()))
        if paired is not None:
            whole = {"models": dict(records), "paired_story_class": paired}
        show(dumps(whole, indent=1, ensure_ascii=False))
    else:
        for record in records.values():
            _show(record)
        if paired is not None:
            _show_paired(paired)
    if output is not None:
        told = f"Stories: {data.name}, SHA-256 {file.sha256[:16]}. First of tied options chosen."
        _write_table(records, output, grouping=grouping, note_below=told)
        neutralise([output], asked=spreadsheet_safe)
    wrong = sum(differing(equality_rows(record)) for record in records.values())
    if wrong:
        note(f"{wrong} published numbers are not met.")
    return 1 if wrong else 0


def _refuse_unknown_form(output: Path | None) -> None:
    from cimento.errors import UsageError, did_you_mean
    from cimento.report.grid import GRID_FORMS

    if output is not None and output.suffix not in GRID_FORMS:
        raise UsageError(
            where=f"-o {output}",
            seen=f"the ending {output.suffix!r} names no form of table",
            todo=did_you_mean(output.suffix, GRID_FORMS),
        )


def _write_table(
    records: dict[str, dict[str, JsonValue]],
    output: Path,
    *,
    grouping: GroupingName,
    note_below: str,
) -> None:
    from cimento.io.files import write_text
    from cimento.report.grid import GRID_FORMS
    from cimento.studies.stories.text import table_3

    grid = table_3(records, grouping=grouping, notes=[note_below])
    write_text(GRID_FORMS[output.suffix](grid), output)
    note(f"Written: {output}")


def _show(record: dict[str, JsonValue]) -> None:
    from cimento.studies.stories.record import MORE
    from cimento.studies.stories.text import (
        bias_rows,
        choice_rows,
        equality_rows,
        flow_rows,
        grouping_rows,
        mapping,
        missing_reasons,
        prompt_rows,
        survivor_rows,
    )

    summary = mapping(record[MORE])
    tables = {
        "Metrics of the paper's code": equality_rows(record),
        "Groupings and baselines": grouping_rows(summary),
        "Flow of implausible stories": flow_rows(summary),
        "First tier as detection of plausible stories": bias_rows(record),
        "Answers at each tier, of those who were asked": choice_rows(summary),
        "Right so far, by state": survivor_rows(summary, "by_state"),
        "Right so far, by distance of the two sentences": survivor_rows(summary, "by_distance"),
        "Prompts and draws rebuilt": prompt_rows(record),
    }
    show(f"{record['model']}")
    for title, rows in tables.items():
        show(f"\n{title}\n{columns(rows, indent=2)}")
    for reason in missing_reasons(summary):
        show(f"\n{reason}")
    show("")


def _show_paired(paired: dict[str, JsonValue]) -> None:
    from cimento.studies.stories.text import paired_rows

    show(f"Models against each other, first tier\n{columns(paired_rows(paired), indent=2)}")


def _refuse_same_names(names: list[str]) -> None:
    from cimento.errors import UsageError

    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(
            where="--responses",
            seen=f"two files are called {twice[0]!r}",
            todo="Models are named after their files; rename one.",
        )
