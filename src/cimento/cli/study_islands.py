"""``cimento study islands``: released numbers beside printed ones, or one's own models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.console import note, show, show_json
from cimento.cli.flags import command_of
from cimento.cli.study_options import StudyOptions
from cimento.errors import InputError, UsageError
from cimento.options import Texts, option
from cimento.studies.record import as_json, as_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cimento.paradigms.regions.factorial import Factorial
    from cimento.runs.run import Run
    from cimento.studies.islands.models import Asked


class IslandOptions(StudyOptions):
    """The data, the sections wanted, or models to ask."""

    data: Path | None = option(None, "The folder of released files; without it, our own items.")
    section: Texts = option((), "Only this section, such as human. May be repeated.")
    people: Path | None = option(
        None, "With -m: ratings for the first panels, as for `figure rows --people`."
    )


def _islands(options: IslandOptions) -> int:
    """Every computation of the Italian island study that needs no model, next to printed values.

    With -m Tables 1 to 4 for models of your own, below the published rows, and the figures: people,
    published and new items; tokens. LP, PenLP and their logistic forms are asked as in the study,
    tokens of masked models hidden one at a time.
    """
    from cimento.studies.islands.study import OF_PRINTED, study

    if options.data is not None and not options.data.is_dir():
        raise InputError(
            where=str(options.data), seen="is no folder", todo="Give the data with --data."
        )
    if options.model:
        return _of_models(options)
    if options.output is not None or options.people is not None:
        raise UsageError(
            where="-o" if options.output else "--people",
            seen="it is about models, and none is given",
            todo="Give -m MODEL, or leave it out.",
        )
    if options.data is None:
        note("Without --data, only printed tables are checked; -m asks a model.")
    sections = study(options.data, options.section or (() if options.data else OF_PRINTED))
    show(as_json("islands", sections) if options.as_json else as_text(sections, options.form))
    return 0


islands = command_of(IslandOptions, _islands)


def _of_models(options: IslandOptions) -> int:
    """The tables and figures of some models; the exit code."""
    from cimento.cli.evaluating import evaluate_with_progress, report_failures
    from cimento.measures import columns_needed
    from cimento.studies.islands.drawings import people_of
    from cimento.studies.islands.models import MEASURES, asked_of, model_tables

    if options.section:
        raise UsageError(
            where="--section",
            seen="it is about released files, and -m asks a model",
            todo="Leave one of the two out.",
        )
    asked = asked_of(options.data)
    people = people_of(options.data, options.people)
    how = {"pll": "original", "columns": columns_needed(tuple(MEASURES)), "measures": ("lp",)}
    runs, failures = evaluate_with_progress(asked.suites, options.model, options.run_options(**how))
    if not runs:
        return report_failures(runs, failures)
    tables = model_tables(runs, asked, limit=options.limit)
    for line in asked.remarks:
        note(f"cimento: {line}")
    if options.as_json:
        plain = {
            name: {"header": each.spread[0], "rows": each.spread[1], "notes": each.footnotes}
            for name, each in tables.items()
        }
        show_json({"study": "islands", "sections": [], "tables": plain}, indent=1)
    else:
        show(as_text(list(tables.values()), options.form))
    options.write(tables)
    if options.output is not None:
        _draw(runs, asked, people, options.output)
    return report_failures(runs, failures)


def _draw(runs: Sequence[Run], asked: Asked, people: tuple[str, Factorial], folder: Path) -> None:
    """Write the figures, where they can be drawn, and say which."""
    from cimento.report.figures import lacking_figures
    from cimento.studies.islands.drawings import study_figures

    if lacking := lacking_figures():
        note(lacking)
        return
    names = []
    for name, figure in study_figures(runs, asked, people):
        figure.write(folder / f"{name}.svg")
        names.append(name)
    panels = [f"{name}.svg" for name in names if "/" not in name]
    note(f"Figures: {', '.join(panels)}; {len(names) - len(panels)} of tokens in tokens/")
