"""``cimento study``: a published study redone from the data it released."""

from __future__ import annotations

import dataclasses
import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cimento.cli import flags, study_agreement
from cimento.cli.console import note, show
from cimento.cli.report import neutralise
from cimento.errors import UsageError
from cimento.io.inline_markup import columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cimento.models.base import BosRule
    from cimento.options import RunOptions
    from cimento.studies.connectives.own import Cell, Perplexities
    from cimento.studies.record import Section
    from cimento.suites.model import JsonValue


# size: one argument for each option.
def connectives(
    data: Annotated[
        Path | None,
        flags.option("--data", help="Folder of released data (AcCompl-it, Lau 2020, ...)."),
    ] = None,
    *,
    own: Annotated[
        Path | None,
        flags.option("--own", help="Folder of your copy: acceptability.tsv, cloze.tsv."),
    ] = None,
    expected: Annotated[
        Path | None, flags.option("--expected", help="JSON of expected statistics of --data.")
    ] = None,
    blimp: Annotated[
        Path | None,
        flags.option("--blimp-summary", help="BLiMP's published human accuracies (CSV)."),
    ] = None,
    model: Annotated[
        str | None,
        flags.option("-m", "--model", help="Gives the perplexities of --own; else column ppl."),
    ] = None,
    cloze_model: Annotated[
        str | None,
        flags.option("--cloze-model", help="Masked; gives completions; else completions.tsv."),
    ] = None,
    bos: flags.Bos = None,
    device: flags.Device = "auto",
    json: flags.Json = False,
) -> int:
    """Check the printed tables, describe comparable data, make Tables 2 to 5 of your own copy.

    The resource is not public: without --data and --own the printed tables alone are checked.
    Exit code 1: a number differs from an expected one.
    """
    from cimento.studies.connectives.checks import check_published
    from cimento.studies.connectives.released import compare, read_expected, released
    from cimento.studies.connectives.text import study_text

    if (expected or blimp) and data is None:
        raise UsageError(where="--expected", seen="there is no --data", todo="Give both.")
    if (model or cloze_model) and own is None:
        raise UsageError(where="--model", seen="there is no --own", todo="Give both.")
    checks = check_published()
    found = released(data, published_blimp=blimp) if data else None
    compared = compare(found.values, read_expected(expected)) if found and expected else []
    cells, scored = (
        _own(own, model, cloze_model, flags.given(bos=bos), device) if own else ([], None)
    )
    if json:
        plain = {
            "checks": [dataclasses.asdict(each) for each in checks],
            "statistics": found.values if found else None,
            "absent": list(found.absent) if found else None,
            "compared": [dataclasses.asdict(each) for each in compared],
            "own": [dataclasses.asdict(each) for each in cells],
            "perplexities": _perplexities(scored),
        }
        show(json_module.dumps(plain, ensure_ascii=False, indent=2))
    else:
        show(study_text(checks, found, compared, cells, scored))
    return int(any(each.equal is False for each in compared))


def _own(
    folder: Path, model: str | None, cloze_model: str | None, bos: dict[str, BosRule], device: str
) -> tuple[list[Cell], Perplexities | None]:
    """The tables of a user's copy, and what a model says of it."""
    from cimento.studies.connectives.own import own_tables, perplexities, read_own, with_completions

    copy = read_own(folder)
    if cloze_model is not None:
        if not copy.cloze:
            raise _no_section(folder, "cloze")
        cloze = with_completions(copy.cloze, cloze_model, device=device)
        copy = dataclasses.replace(copy, cloze=cloze)
    if model is None:
        return own_tables(copy), None
    if copy.acceptability is None:
        raise _no_section(folder, "acceptability")
    scored = perplexities(copy.acceptability, model, device=device, **bos)
    return own_tables(copy, scored.values), scored


def _no_section(folder: Path, name: str) -> UsageError:
    return UsageError(
        where="--model",
        seen=f"{folder} has no {name} section to score",
        todo=f"Add {name}.tsv, or leave the model out.",
    )


def _perplexities(scored: Perplexities | None) -> JsonValue:
    from cimento.measures import Missing

    if scored is None:
        return None
    return {
        "model": scored.model,
        "measure": scored.measure,
        "first_token": scored.first_token,
        "sentences": {
            name: {
                "value": None if isinstance(value, Missing) else value,
                "reason": value.reason if isinstance(value, Missing) else None,
                "n_tokens": scored.tokens[name],
            }
            for name, value in scored.values.items()
        },
    }


# size: one argument for each option.
def islands(
    data: Annotated[Path, flags.option("--data", help="The folder of the study's data.")],
    *,
    json: flags.Json = False,
    model: Annotated[
        list[str] | None,
        flags.option("-m", "--model", help="Also score the Italian suites with this model."),
    ] = None,
    section: Annotated[
        list[str] | None,
        flags.option("--section", help="Only this section, such as human. May be repeated."),
    ] = None,
    output: flags.Output = Path("runs"),
    limit: flags.Limit = None,
    device: flags.Device = "auto",
    batch_size: flags.BatchSize = None,
    batch_tokens: flags.BatchTokens = None,
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


StateName = Literal["snapshot", "release"]


# size: one argument for each option.
def portuguese(
    data: Annotated[
        Path,
        flags.option(
            "--data", help="Folder with the released files, or all-eval.tsv; see docs/cloze.md."
        ),
    ],
    *,
    table: Annotated[
        int | None, flags.option("--table", help="Only this table, 1 to 13; else all of them.")
    ] = None,
    what: Annotated[
        str | None,
        flags.option(
            "--what",
            help="Instead of tables: mcnemar, claims, profiles, auto, confidence, per-template, "
            "hits, per-mwe, person, tense, clusters.",
        ),
    ] = None,
    state: Annotated[
        StateName | None,
        flags.option(
            "--state",
            help="State of the judgments: the snapshot that the paper used, or the release; "
            "both by default.",
        ),
    ] = None,
    json: flags.Json = False,
) -> None:
    """Every table of the study of Brazilian Portuguese, computed beside printed, equal or not."""
    from cimento.errors import UsageError
    from cimento.studies.portuguese.data import load
    from cimento.studies.portuguese.study import numbers_of, of_judgments, part
    from cimento.studies.portuguese.study import table as compute
    from cimento.studies.portuguese.text import part_text, table_text

    if table is not None and what is not None:
        raise UsageError(
            where="--table and --what", seen="both are given", todo="Ask for one at a time."
        )
    released = load(data)
    states = released.states if state is None else (state,)
    if not set(states) <= set(released.states):
        raise UsageError(
            where=f"--state {state}",
            seen="the sheet of judgments alone has only the release",
            todo="Give a folder with all files, see docs/cloze.md.",
        )
    for each in states if of_judgments(table, what) else ():
        for warning in released.warnings(each):
            note(f"warning: {each}: {warning}")
    if what is not None:
        found = part(released, what)
        show(_as_json(found) if json else part_text(what, found))
        return
    numbers = numbers_of(released) if table is None else (table,)
    tables = [compute(released, number, states) for number in numbers]
    if not json:
        show("\n\n".join(table_text(each) for each in tables))
    elif table is not None:
        show(_as_json(tables[0]))
    else:
        show(_as_json({"tables": tables}))


def _as_json(value: object) -> str:
    return json_module.dumps(value, ensure_ascii=False, indent=1)


GroupingName = Literal["paper_code", "type", "corrected"]


# size: one argument for each option.
def stories(
    data: Annotated[
        Path, flags.option("--data", help="The stories: GITA4CALAMITA as JSONL, or others.")
    ],
    responses: Annotated[
        list[Path],
        flags.option("--responses", help="Recorded answers of one model (JSONL); repeatable."),
    ],
    output: Annotated[
        Path | None,
        flags.option("-o", "--output", help="Table 3 as .txt, .csv, .md or .tex."),
    ] = None,
    *,
    grouping: Annotated[
        GroupingName, flags.option("--grouping", help="Groups of the table written with -o.")
    ] = "paper_code",
    json: flags.Json = False,
    seed: Annotated[int, flags.option("--seed", help="Seed of the bootstrap.")] = 1,
    draws: Annotated[
        int, flags.option("--draws", min=100, help="Draws of the bootstrap.")
    ] = 20_000,
    spreadsheet_safe: flags.SpreadsheetSafe = False,
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


app = typer.Typer(
    help="Redo a published study: every table, computed beside printed.", no_args_is_help=True
)
app.command("agreement")(study_agreement.agreement)
app.command("portuguese")(portuguese)
app.command("stories")(stories)
app.command("connectives")(connectives)
app.command("islands")(islands)
