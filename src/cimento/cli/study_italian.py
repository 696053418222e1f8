"""``cimento study islands``, ``connectives`` and ``stories``: the three studies of Italian.

All set released numbers, or those of models of your own, beside printed ones.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cimento.cli.console import note, show, show_json, write_drawn
from cimento.cli.evaluating import evaluate_with_progress, report_failures, report_figures
from cimento.cli.flags import command_of
from cimento.cli.resources import StudyOptions
from cimento.errors import InputError, UsageError
from cimento.intake.roles import parse_choice
from cimento.io.declared import Settings, Texts, option
from cimento.models.settings import BosRule, PllRule
from cimento.options import run_option
from cimento.paradigms import stories as kind
from cimento.studies import as_json, as_text, need_folder, tables_plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cimento.kinds.run import Run
    from cimento.report.figures import Figure
    from cimento.report.grid import Grid
    from cimento.studies import Section
    from cimento.studies.connectives.models import Material
    from cimento.studies.connectives.released import ReleasedStatistics
    from cimento.studies.connectives.text import CountedCorpus
    from cimento.studies.connectives.user_copy import UserCopy
    from cimento.suites import JsonValue
    from cimento.suites.stories import StorySuite

STARTER = "it-stories"
_WHERE = "https://github.com/EkhiAzur/GITA4CALAMITA"


class IslandOptions(StudyOptions):
    """The data, the sections wanted, or models to ask."""

    data: Path | None = option(None, "The folder of released files; without it, our own items.")
    section: Texts = option((), "Only this section, such as human. May be repeated.")
    people: Path | None = option(
        None, "With -m: judgments or ratings for the first panels, as for `report --figure rows`."
    )


@command_of
def islands(options: IslandOptions) -> int:
    """Every computation of the Italian island study that needs no model, next to printed values.

    With -m Tables 1 to 4 for models of your own, below the published rows, and the figures: people,
    published and new items; tokens. LP, PenLP and their logistic forms are computed as in the
    study, with the tokens of masked models hidden one at a time.
    """
    from cimento.studies.islands import PRINTED_SECTIONS, study

    if options.data is not None:
        need_folder(options.data)
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
    sections = study(options.data, options.section or (() if options.data else PRINTED_SECTIONS))
    show(as_json("islands", sections) if options.as_json else as_text(sections, options.form))
    return 0


def _of_models(options: IslandOptions) -> int:
    """The tables and figures of some models; the exit code."""
    from cimento.measures import columns_needed
    from cimento.studies.islands import people_ratings, study_figures
    from cimento.studies.islands.columns import TABLES_OF_ACCURACY, models_in_columns
    from cimento.studies.islands.models import MEASURES, island_suites, model_tables

    if options.section:
        raise UsageError(
            where="--section",
            seen="it is about released files, and -m asks a model",
            todo="Leave one of the two out.",
        )
    asked = island_suites(options.data)
    people = people_ratings(options.data, options.people, asked)
    settings = {"pll": "original", "store": columns_needed(tuple(MEASURES)), "measures": ("lp",)}
    runs, failures = evaluate_with_progress(
        asked.suites, options.model, options.run_options(**settings)
    )
    if not runs:
        return report_failures(runs, failures)
    tables = model_tables(runs, asked, limit=options.limit)
    for line in asked.remarks:
        note(f"cimento: {line}")
    if options.as_json:
        plain = tables_plain(tables)
        show_json({"study": "islands", "sections": [], "tables": plain}, indent=1)
    else:
        show(as_text(list(tables.values()), options.form))
    columns = {f"{name}-columns": models_in_columns(tables[name]) for name in TABLES_OF_ACCURACY}
    options.write({**tables, **columns})
    if options.output is not None:
        _draw(study_figures(runs, asked, people), options.output)
    return report_failures(runs, failures)


def _draw(figures: Iterable[tuple[str, Figure]], folder: Path) -> None:
    """Write the figures, where they can be drawn, and say which."""
    from cimento.report.figures import lacking_figures

    if lacking := lacking_figures():
        note(lacking)
        return
    names = []
    for name, figure in figures:
        figure.write(folder / f"{name}.svg")
        names.append(name)
    panels = [f"{name}.svg" for name in names if "/" not in name]
    note(f"Figures: {', '.join(panels)}; {len(names) - len(panels)} of tokens in tokens/")


class ConnectivesOptions(StudyOptions):
    """Released data, a copy of one's own, and models that are asked."""

    data: Path | None = option(None, "Folder of released data: AcCompl-it, treebanks, Lau 2020 ...")
    own: Path | None = option(None, "Folder of your copy: acceptability.tsv, cloze.tsv.")
    columns: str = option(
        "",
        "Which column of --own is what, where it has another name: sentence=Frase,ratings=Voti.",
        metavar="ROLE=COLUMN,...",
    )
    expected: Path | None = option(None, "JSON of expected statistics of --data.")
    bos: BosRule = option("none", "What comes before the sentences of Table 4.")
    pll: PllRule | None = run_option("pll")
    survey: Path | None = option(
        None, "A folder for the surveys of both sections, as in the study: five and four."
    )
    contact: str = option("", "Who is responsible, for the consent text of the surveys.")


@command_of
def connectives(options: ConnectivesOptions) -> int:
    """Check the printed tables, describe released data, make Tables 2 to 6 of your own models.

    The resource is not public: models are asked your copy of it (--own), or else our own items.
    Table 6 is counted in the treebanks of --data. Exit code 1: a number differs from an expected
    one.
    """
    from cimento.studies.connectives import check_published, text
    from cimento.studies.connectives.models import copy_material, starter_material

    if options.expected and options.data is None:
        raise UsageError(where="--expected", seen="there is no --data", todo="Give both.")
    checks = check_published()
    released, counted = _released(options.data) if options.data else (None, [])
    expected = text.read_expected(options.expected) if options.expected else {}
    compared = text.compare_statistics(released.values, expected) if released else []
    copy = _copy(options)
    material = copy_material(copy) if copy else starter_material()
    if options.survey is not None:
        _write_surveys(options, material, copy, options.survey)
    runs, code = _connective_runs(options, material) if options.model else (_Runs([], []), 0)
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
    folder = options.output if runs.all else None
    drawn = [] if folder is None else report_figures(runs.all, folder)
    options.write({**tables, **details}, drawn)
    return code or int(any(cell.equal is False for cell in compared))


_SURVEYS = {"acceptability": 5, "cloze": 4}
"""Sections, and the number of surveys over which the study distributed each."""


def _write_surveys(
    options: ConnectivesOptions, material: Material, copy: UserCopy | None, folder: Path
) -> None:
    """Write the surveys of both sections: ratings from 1 to 5, and options or none of them."""
    from cimento.cli.annotate_surveys import survey_said
    from cimento.people.surveys.building import build_design
    from cimento.people.surveys.exports import write_survey
    from cimento.people.surveys.plan import SurveyPlan
    from cimento.studies.connectives.models import BLANKS_STARTER, PAIRS_STARTER
    from cimento.suites.builtin import find_suite

    own = (copy.sentences_path, copy.blanks_path) if copy else (PAIRS_STARTER, BLANKS_STARTER)
    said = ["Put each out with cimento annotate serve; its answers come back with annotate import."]
    sizes = (
        len(material.sentences.sentences) if material.sentences else 0,
        len(material.blanks.items) if material.blanks else 0,
    )
    for (section, number), source, size in zip(_SURVEYS.items(), own, sizes, strict=True):
        if source is None:
            continue
        plan = SurveyPlan(
            surveys=min(number, size),
            none=True if section == "cloze" else None,
            language="it",
            contact=options.contact,
        )
        design = build_design(find_suite(source), plan)
        write_survey(design, folder / section)
        said += [f"{folder / section}", survey_said(design)]
    note("\n".join(said))


def _copy(options: ConnectivesOptions) -> UserCopy | None:
    """The user's copy, of which it is said what its tables were read as; None where none is given.

    Raises:
        CimentoError: it cannot be used.
    """
    from cimento.studies.connectives.user_copy import read_copy
    from cimento.studies.own_tables import COPY

    if options.own is None:
        if options.columns:
            raise UsageError(where="--columns", seen="there is no --own", todo="Give both.")
        return None
    copy = read_copy(options.own, parse_choice(options.columns, COPY))
    for read in copy.readings:
        note(read.said())
    return copy


def _released(folder: Path) -> tuple[ReleasedStatistics, list[CountedCorpus]]:
    """Statistics of the released files of a folder, and counts in its treebanks.

    Raises:
        InputError: there is none of them, or one cannot be used.
    """
    from cimento.studies.connectives.released import nothing_there, released
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


def _connective_runs(options: ConnectivesOptions, material: Material) -> tuple[_Runs, int]:
    """Every model asked both sections, and the exit code."""
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


class StoryStudyOptions(StudyOptions):
    """The stories, recorded answers or models, and their grouping."""

    data: Path | None = option(
        None, "The stories: GITA4CALAMITA as JSONL, or others; else those of the logs."
    )
    responses: tuple[Path, ...] = option(
        (), "A folder of lm-eval's logs, or recorded answers of one model (JSONL); repeatable."
    )
    also: Texts = option(
        (),
        "A further row per model, asked with these options too: shots=0, or"
        " protocol=native,prompt=it-1. May be repeated.",
        metavar="KEY=VALUE,...",
    )
    grouping: kind.GroupingName = option("paper_code", "Groups of Table 3.")
    seed: int = option(1, "Seed of the bootstrap.")
    draws: int = option(20000, "Draws of the bootstrap.", ge=100)
    set: Settings = run_option("set")


@command_of
def stories(options: StoryStudyOptions) -> int:
    """Recompute GITA4CALAMITA (Pensa et al. 2024): three tiers of physical commonsense.

    The source is lm-eval's logs or your own models. It prints Table 3 below the published rows,
    every metric with intervals, bias, calibration and breakdowns; recorded prompts are rebuilt by
    hash. Models are asked with protocol=paper if --set says nothing else, once more for each
    --also, and all rows compared in pairs. The exit code is 1 if a published number differs.
    """
    from cimento.studies.stories import paired_record, study_record
    from cimento.studies.stories.asked import answers_of, asked, asked_stories, drawn
    from cimento.studies.stories.text import (
        compared_with_published,
        paired_grid,
        story_kinds,
        tier_table,
    )

    suite, recorded = _recorded(options)
    runs, code = _story_runs(options, suite) if options.model else ([], 0)
    models = [*recorded, *answers_of(runs)]
    if not models:
        return code
    stories = asked_stories(runs[0]) if runs and not recorded else suite.stories
    seeded = partial(study_record, stories, seed=options.seed, draws=options.draws)
    records = {model.model: seeded(model) for model in models}
    paired = paired_record(stories, models) if len(models) > 1 else None
    note_below = f"{len(stories)} stories of {suite.name}. The first of tied options is chosen."
    tables: dict[str, Section | Grid] = {
        "table-2": story_kinds(stories),
        "table-3": tier_table(
            records,
            stories,
            grouping=options.grouping,
            by_model=asked(runs),
            of=suite.stories,
            notes=[note_below],
        ),
    }
    details = [part for record in records.values() for part in compared_with_published(record)]
    details += [] if paired is None else [paired_grid(paired)]
    if not options.as_json:
        show(as_text([*tables.values(), *details], options.form))
    else:
        compared = {} if paired is None else {"paired_story_class": paired}
        show_json({"models": records, **compared}, indent=1)
    if options.output is not None:
        figures = write_drawn(partial(drawn, suite.name, stories, models), options.output)
        options.write({**tables, "details": details}, figures)
    return code or _unmet(records)


def _unmet(records: Mapping[str, Mapping[str, JsonValue]]) -> int:
    """The exit code, after a note on published numbers that are not met."""
    from cimento.studies.stories.text import differing, metric_sections

    wrong = sum(differing(metric_sections(record)) for record in records.values())
    if wrong:
        note(f"{wrong} published numbers are not met.")
    return int(bool(wrong))


def _recorded(options: StoryStudyOptions) -> tuple[StorySuite, list[kind.RecordedAnswers]]:
    """The stories, and the recorded answers to them.

    Raises:
        UsageError: there is no recording and no model, there are no stories, or two share a name.
        InputError: a folder has no logs.
    """
    from cimento.suites.builtin import find_suite
    from cimento.suites.formats.stories import read_stories

    _refuse_nothing(options)
    in_logs = options.data is None and bool(options.responses)
    suite = None if in_logs else read_stories(find_suite(str(options.data or STARTER)))
    return kind.recorded_stories(options.responses, suite)


def _refuse_nothing(options: StoryStudyOptions) -> None:
    """Require something to read or to ask.

    Raises:
        UsageError: there is no recording and no model.
        InputError: a folder has no logs.
    """
    from cimento.models.recorded import is_log

    if not (options.responses or options.model):
        raise UsageError(
            where="study stories",
            seen="there is neither --responses nor -m",
            todo=f"Give the authors' logs (results/ of {_WHERE}), or -m MODEL to ask a model.",
        )
    for path in options.responses:
        if path.is_dir() and not is_log(path):
            raise InputError(
                where=str(path),
                seen="no log of lm-eval is there or below: looked for samples_story_class_*.jsonl,"
                " samples_conflict_detec_*.jsonl, samples_physical_state_*.jsonl",
                todo=f"They are in results/ of {_WHERE}. Without them, -m MODEL asks a model, and"
                " the published rows are beside it.",
            )


def _story_runs(options: StoryStudyOptions, suite: StorySuite) -> tuple[list[Run], int]:
    """The runs of all models, asked as the study asked and in every further way; the exit code."""
    from cimento.studies.stories.asked import ways_to_ask

    ways = ways_to_ask(options.set, options.also)
    wanted = suite if suite.path == Path() else str(options.data or STARTER)
    runs: list[Run] = []
    failures = []
    for way in ways:
        run_options = options.run_options(set=way)
        done, failed = evaluate_with_progress([wanted], options.model, run_options)
        runs += done
        failures += failed
    return runs, report_failures(runs, failures)
