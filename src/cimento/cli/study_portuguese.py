"""``cimento study portuguese``: all tables, from the authors' files or from your own models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cimento.cli.console import note, show, show_json
from cimento.cli.flags import command_of
from cimento.cli.resources import StudyOptions
from cimento.errors import UsageError
from cimento.options import option
from cimento.studies.record import as_text, tables_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cimento.paradigms.cloze.requests import Candidate
    from cimento.runs.run import Run
    from cimento.studies.portuguese.data import StudyData

StateName = Literal["snapshot", "release"]


class PortugueseOptions(StudyOptions):
    """The released files, the parts of the study to show, and models to ask."""

    data: Path | None = option(None, "The authors' folder as released, or one file of it.")
    table: int | None = option(None, "Only this table, 1 to 13; else all of them.")
    what: str | None = option(
        None,
        "Instead of tables: mcnemar, claims, profiles, auto, confidence, per-template, "
        "hits, per-mwe, person, tense, clusters.",
    )
    state: StateName | None = option(
        None,
        "State of the judgments: the snapshot that the paper used, or the release; both "
        "by default.",
    )
    dictionary: str = option("rules:pt", "With -m: judges candidates; delaf:FILE for UNITEX-PB.")
    reuse: tuple[Path, ...] = option(
        (), "With -m: judged candidates of the same sentences; those of --data always."
    )


def _portuguese(options: PortugueseOptions) -> int:
    """Recompute the tables of the Brazilian Portuguese study, next to the printed values.

    With -m, the same tables are made for your own models, below the published rows: the multiword
    tables at once, and the grammar tests with the judgments of a dictionary and of people.
    """
    from cimento.studies.portuguese.data import STATE_FILES, WHERE, load

    if options.table is not None and options.what is not None:
        raise UsageError(
            where="--table and --what", seen="both are given", todo="Ask for one at a time."
        )
    if options.model:
        return _of_models(options, load(options.data) if options.data else None)
    if options.data is None:
        raise UsageError(
            where="study portuguese",
            seen="there is neither --data nor -m",
            todo=f"Give the authors' folder ({WHERE}), or -m MODEL to ask a model.",
        )
    released = load(options.data)
    states = released.states if options.state is None else (options.state,)
    if not set(states) <= set(released.states):
        raise UsageError(
            where=f"--state {options.state}",
            seen=f"{STATE_FILES[options.state]} is not there" if options.state else "",
            todo="Give the folder as the authors released it.",
        )
    _show_released(options, released, states)
    return 0


portuguese = command_of(PortugueseOptions, _portuguese)


def _show_released(
    options: PortugueseOptions, released: StudyData, states: Sequence[StateName]
) -> None:
    """Print the tables, or another requested part, of the authors' files."""
    from cimento.studies.portuguese.study import numbers_of, of_judgments, part
    from cimento.studies.portuguese.study import table as compute
    from cimento.studies.portuguese.text import part_section, table_section

    for state in states if of_judgments(options.table, options.what) else ():
        for warning in released.warnings(state):
            note(f"warning: {state}: {warning}")
    if options.what is not None:
        result = part(released, options.what)
        if options.as_json:
            show_json({"rows": result} if isinstance(result, list) else result, indent=1)
        else:
            show(as_text([part_section(options.what, result)], options.form))
        return
    numbers = numbers_of(released) if options.table is None else (options.table,)
    tables = [compute(released, number, states) for number in numbers]
    if not options.as_json:
        show(as_text([table_section(table) for table in tables], options.form))
    else:
        show_json({"tables": tables} if options.table is None else tables[0], indent=1)


def _of_models(options: PortugueseOptions, released: StudyData | None) -> int:
    """The tables of some models; the exit code."""
    from cimento.cli.evaluating import evaluate_with_progress, report_failures, report_figures
    from cimento.studies.portuguese.models import answers_of, judged, model_tables

    if options.what is not None or options.state is not None:
        raise UsageError(
            where="--what" if options.what else "--state",
            seen="it is about the authors' files, and -m asks a model",
            todo="Leave one of the two out.",
        )
    runs, failures = evaluate_with_progress(
        _suites(options.data), options.model, options.run_options()
    )
    if not runs:
        return report_failures(runs, failures)
    by_model: dict[str, list[Run]] = {}
    for run in runs:
        by_model.setdefault(run.model, []).append(run)
    models = [answers_of(model, model_runs, released) for model, model_runs in by_model.items()]
    earlier = _earlier(options, released)
    rows, said = judged(models, dictionary=options.dictionary, earlier=earlier)
    for line in said:
        note(f"cimento: {line}.")
    rule = f"Dictionary: {options.dictionary}; subject agreement has no rule."
    ours = ["Published rows are about the study's sentences, the others about our own."]
    both = ours if released is None else []
    tables = model_tables(models, rows, both, of_grammar=[rule, *said])
    if options.table is not None:
        tables = {name: table for name, table in tables.items() if name == f"table-{options.table}"}
    if options.as_json:
        show_json({"tables": tables_plain(tables)}, indent=1)
    elif tables:
        show(as_text(list(tables.values()), options.form))
    if options.output is not None and tables:
        options.write(tables, report_figures(runs, options.output))
    return report_failures(runs, failures)


def _suites(data: Path | None) -> list[str]:
    """The suites for models: the authors' sentences if available, otherwise our own."""
    from cimento.paradigms.cloze.portuguese import MULTIWORD, SHEET
    from cimento.studies.portuguese.models import GRAMMAR_STARTER, MULTIWORD_STARTER

    if data is None:
        return [MULTIWORD_STARTER, GRAMMAR_STARTER]
    folder = data.parent if data.is_file() else data
    names = [data.name] if data.is_file() else [MULTIWORD, SHEET]
    paths = [str(folder / name) for name in (MULTIWORD, SHEET) if name in names]
    paths = [path for path in paths if Path(path).is_file()]
    if not paths:
        raise UsageError(
            where=f"--data {data}",
            seen=f"neither {MULTIWORD} nor {SHEET} is there, whose sentences are asked",
            todo="Give the folder as the authors released it, or leave --data out.",
        )
    return paths


def _earlier(options: PortugueseOptions, released: StudyData | None) -> list[Candidate]:
    """The candidates that people judged before, the released ones first."""
    from cimento.paradigms.cloze.judgments import read_judged_candidates

    candidates = [row.candidate for row in released.judged] if released else []
    return candidates + [
        candidate for path in options.reuse for candidate in read_judged_candidates(path)
    ]
