"""``cimento study connectives``: printed tables, released data, and Tables 2 to 6 of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cimento.cli.console import note, show, show_json
from cimento.cli.flags import command_of
from cimento.cli.study_options import StudyOptions
from cimento.errors import UsageError
from cimento.models.settings import BosRule
from cimento.options import option
from cimento.studies.record import as_text, tables_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cimento.report.grid import Grid
    from cimento.runs.run import Run
    from cimento.studies.connectives.models import Material
    from cimento.studies.connectives.own import OwnCopy
    from cimento.studies.connectives.released import Released
    from cimento.studies.connectives.treebanks import CountedCorpus
    from cimento.studies.record import Section


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
    from cimento.studies.connectives.models import own_material, starter_material
    from cimento.studies.connectives.own import read_own
    from cimento.studies.connectives.released import compare, read_expected

    if options.expected and options.data is None:
        raise UsageError(where="--expected", seen="there is no --data", todo="Give both.")
    checks = check_published()
    found, counted = _released(options.data) if options.data else (None, [])
    expected = read_expected(options.expected) if options.expected else {}
    compared = compare(found.values, expected) if found else []
    own = read_own(options.own) if options.own else None
    material = own_material(own) if own else starter_material()
    runs, code = _runs(options, material) if options.model else (_Runs([], []), 0)
    if options.model and not runs.all:
        return code
    tables = _tables(material, runs, counted) if options.model or options.output else {}
    sections = _sections(own, runs, counted)
    if options.as_json:
        show_json(
            {
                "checks": checks,
                "statistics": found.values if found else None,
                "absent": found.absent if found else None,
                "compared": compared,
                "sections": sections,
                "tables": tables_plain(tables),
            }
        )
    elif options.model:
        show(as_text(list(tables.values()), options.form))
    else:
        above = [text.printed_section(checks), *(text.released_sections(found) if found else [])]
        above += [text.expected_section(compared)] if compared else []
        show(as_text([*above, *sections], options.form))
    details = {"details": sections} if sections else {}
    options.write({**tables, **details}, _figures(runs.all, options.output))
    return code or int(any(each.equal is False for each in compared))


connectives = command_of(ConnectivesOptions, _connectives)


def _released(folder: Path) -> tuple[Released, list[CountedCorpus]]:
    """Statistics of the released files of a folder, and counts in its treebanks.

    Raises:
        InputError: there is none of them, or one cannot be used.
    """
    from cimento.studies.connectives.files import need_folder, nothing_there
    from cimento.studies.connectives.released import released
    from cimento.studies.connectives.treebanks import count_table_6, treebanks_in

    need_folder(folder)
    found, treebanks = released(folder), treebanks_in(folder)
    if not (found.values or treebanks):
        raise nothing_there(folder)
    if found.absent:
        note(f"cimento: not in {folder}: {', '.join(found.absent)}")
    return found, count_table_6(treebanks)


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
    how: dict[str, dict[str, object]] = {
        "acceptability": {"bos": options.bos, "unscored_first": "drop"},
        "cloze": {"bos": "auto"},
    }
    runs = _Runs([], [])
    failures = []
    for name, done in zip(how, runs, strict=True):
        if name in material.asked:
            some, failed = evaluate_with_progress(
                [material.asked[name]], options.model, options.run_options(**how[name])
            )
            done.extend(some)
            failures += failed
    return runs, report_failures(runs.all, failures)


def _tables(material: Material, runs: _Runs, counted: list[CountedCorpus]) -> dict[str, Grid]:
    """Tables 2 to 6; without treebanks, Table 6 of our own small one."""
    from cimento.studies.connectives.models import paper_tables
    from cimento.studies.connectives.treebanks import count_table_6, sample_treebank

    counted = counted or count_table_6(sample_treebank())
    return paper_tables(material, rated=runs.rated, filled=runs.filled, counted=counted)


def _sections(own: OwnCopy | None, runs: _Runs, counted: Sequence[CountedCorpus]) -> list[Section]:
    """What is computed beside printed numbers: Table 6, the copy, and each model."""
    from cimento.studies.connectives.models import model_sections
    from cimento.studies.connectives.own import own_tables
    from cimento.studies.connectives.treebanks import table_6_section

    return [
        *([table_6_section(counted)] if counted else []),
        *(own_tables(own) if own else []),
        *model_sections(runs.rated),
    ]


def _figures(runs: Sequence[Run], folder: Path | None) -> list[Path]:
    """The figures of the runs; none without a folder."""
    from cimento.cli.evaluating import report_figures

    return report_figures(runs, folder) if runs and folder is not None else []
