"""``cimento study islands`` and ``cimento study connectives``: the two studies of Italian.

Both set released numbers, or those of one's own models, beside printed ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cimento.cli.console import note, show, show_json
from cimento.cli.flags import command_of
from cimento.cli.resources import StudyOptions
from cimento.errors import InputError, UsageError
from cimento.models.settings import BosRule
from cimento.options import Texts, option
from cimento.studies.record import as_json, as_text, tables_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cimento.paradigms.regions.factorial import Factorial
    from cimento.report.grid import Grid
    from cimento.runs.run import Run
    from cimento.studies.connectives.models import Material
    from cimento.studies.connectives.released import Released
    from cimento.studies.connectives.text import CountedCorpus
    from cimento.studies.connectives.user_copy import UserCopy
    from cimento.studies.islands.models import Asked
    from cimento.studies.record import Section


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
    from cimento.studies.islands.models import MEASURES, asked_of, model_tables
    from cimento.studies.islands.study import people_of

    if options.section:
        raise UsageError(
            where="--section",
            seen="it is about released files, and -m asks a model",
            todo="Leave one of the two out.",
        )
    asked = asked_of(options.data)
    people = people_of(options.data, options.people)
    settings = {"pll": "original", "columns": columns_needed(tuple(MEASURES)), "measures": ("lp",)}
    runs, failures = evaluate_with_progress(
        asked.suites, options.model, options.run_options(**settings)
    )
    if not runs:
        return report_failures(runs, failures)
    tables = model_tables(runs, asked, limit=options.limit)
    for line in asked.remarks:
        note(f"cimento: {line}")
    if options.as_json:
        plain = {
            name: {"header": grid.spread[0], "rows": grid.spread[1], "notes": grid.footnotes}
            for name, grid in tables.items()
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
    from cimento.studies.islands.study import study_figures

    if lacking := lacking_figures():
        note(lacking)
        return
    names = []
    for name, figure in study_figures(runs, asked, people):
        figure.write(folder / f"{name}.svg")
        names.append(name)
    panels = [f"{name}.svg" for name in names if "/" not in name]
    note(f"Figures: {', '.join(panels)}; {len(names) - len(panels)} of tokens in tokens/")


class ConnectivesOptions(StudyOptions):
    """Released data, a copy of one's own, and models that are asked."""

    data: Path | None = option(None, "Folder of released data: AcCompl-it, treebanks, Lau 2020 ...")
    own: Path | None = option(None, "Folder of your copy: acceptability.tsv, cloze.tsv.")
    expected: Path | None = option(None, "JSON of expected statistics of --data.")
    bos: BosRule = option("none", "What stands before the sentences of Table 4.")


def _connectives(options: ConnectivesOptions) -> int:
    """Check the printed tables, describe released data, make Tables 2 to 6 of your own models.

    The resource is not public: models are asked your copy of it (--own), or else our own items.
    Table 6 is counted in the treebanks of --data. Exit code 1: a number differs from an expected
    one.
    """
    from cimento.studies.connectives import text
    from cimento.studies.connectives.checks import check_published
    from cimento.studies.connectives.models import copy_material, starter_material
    from cimento.studies.connectives.user_copy import read_copy

    if options.expected and options.data is None:
        raise UsageError(where="--expected", seen="there is no --data", todo="Give both.")
    checks = check_published()
    released, counted = _released(options.data) if options.data else (None, [])
    expected = text.read_expected(options.expected) if options.expected else {}
    compared = text.compare(released.values, expected) if released else []
    copy = read_copy(options.own) if options.own else None
    material = copy_material(copy) if copy else starter_material()
    runs, code = _runs(options, material) if options.model else (_Runs([], []), 0)
    if options.model and not runs.all:
        return code
    tables = _tables(material, runs, counted) if options.model or options.output else {}
    sections = _sections(copy, runs, counted)
    if options.as_json:
        show_json(
            {
                "checks": checks,
                "statistics": released.values if released else None,
                "absent": released.absent if released else None,
                "compared": compared,
                "sections": sections,
                "tables": tables_plain(tables),
            }
        )
    elif options.model:
        show(as_text(list(tables.values()), options.form))
    else:
        above = [
            text.printed_section(checks),
            *(text.released_sections(released) if released else []),
        ]
        above += [text.expected_section(compared)] if compared else []
        show(as_text([*above, *sections], options.form))
    details = {"details": sections} if sections else {}
    options.write({**tables, **details}, _figures(runs.all, options.output))
    return code or int(any(cell.equal is False for cell in compared))


connectives = command_of(ConnectivesOptions, _connectives)


def _released(folder: Path) -> tuple[Released, list[CountedCorpus]]:
    """Statistics of the released files of a folder, and counts in its treebanks.

    Raises:
        InputError: there is none of them, or one cannot be used.
    """
    from cimento.studies.connectives.released import need_folder, nothing_there, released
    from cimento.studies.connectives.text import count_table_6, treebanks_in

    need_folder(folder)
    statistics, treebanks = released(folder), treebanks_in(folder)
    if not (statistics.values or treebanks):
        raise nothing_there(folder)
    if statistics.absent:
        note(f"cimento: not in {folder}: {', '.join(statistics.absent)}")
    return statistics, count_table_6(treebanks)


class _Runs(NamedTuple):
    """Runs of the two sections."""

    rated: list[Run]
    filled: list[Run]

    @property
    def all(self) -> list[Run]:
        """The runs of both."""
        return [*self.rated, *self.filled]


def _runs(options: ConnectivesOptions, material: Material) -> tuple[_Runs, int]:
    """Every model asked both sections, and the exit code."""
    from cimento.cli.evaluating import evaluate_with_progress, report_failures

    # A blank may open its text: only whole sentences are asked without anything before them.
    of_sentences = options.run_options(bos=options.bos, unscored_first="drop")
    of_blanks = options.run_options(bos="auto")
    rated, rated_failures = (
        evaluate_with_progress([material.rated_suite], options.model, of_sentences)
        if material.rated_suite is not None
        else ([], [])
    )
    filled, blanks_failures = (
        evaluate_with_progress([material.blanks_suite], options.model, of_blanks)
        if material.blanks_suite is not None
        else ([], [])
    )
    runs = _Runs(rated, filled)
    return runs, report_failures(runs.all, [*rated_failures, *blanks_failures])


def _tables(material: Material, runs: _Runs, counted: list[CountedCorpus]) -> dict[str, Grid]:
    """Tables 2 to 6; without treebanks, Table 6 of our own small one."""
    from cimento.studies.connectives.models import paper_tables
    from cimento.studies.connectives.text import count_table_6, sample_treebank

    counted = counted or count_table_6(sample_treebank())
    return paper_tables(material, rated=runs.rated, filled=runs.filled, counted=counted)


def _sections(
    copy: UserCopy | None, runs: _Runs, counted: Sequence[CountedCorpus]
) -> list[Section]:
    """What is computed beside printed numbers: Table 6, the copy, and each model."""
    from cimento.studies.connectives.models import model_sections
    from cimento.studies.connectives.text import table_6_section
    from cimento.studies.connectives.user_copy import copy_tables

    return [
        *([table_6_section(counted)] if counted else []),
        *(copy_tables(copy) if copy else []),
        *model_sections(runs.rated),
    ]


def _figures(runs: Sequence[Run], folder: Path | None) -> list[Path]:
    """The figures of the runs; none without a folder."""
    from cimento.cli.evaluating import report_figures

    return report_figures(runs, folder) if runs and folder is not None else []
