"""What the pages of steps 4 and 5 show, made without a page.

Of stored runs: reports, comparisons, figures and tables. Of surveys: plans, progress, room links.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import chain
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from cimento.app.csv_files import frame_csv
from cimento.app.language_answers import answer_file
from cimento.app.opening import zipped
from cimento.app.report_page import page_language, report_page
from cimento.app.words import USUAL, Words
from cimento.app.workspace import Workspace
from cimento.compare import compare
from cimento.compare.methods import comparison_methods, ranking_methods
from cimento.documents import sections_of, versions_apart
from cimento.documents.language_answer import read_answer
from cimento.documents.language_page import answer_html
from cimento.documents.paper import results_grid
from cimento.errors import CimentoError, InputError, UsageError, needing
from cimento.intake.words import told_cell
from cimento.judgments import FILLER, PRACTICE
from cimento.kinds.run import Run, open_runs
from cimento.paired.item_outcomes import labeled_apart
from cimento.people.surveys import DATABASE, SurveyDesign, SurveyQuestion, read_design, storage
from cimento.people.surveys.administration import session_seconds
from cimento.records.store import MANIFEST
from cimento.report import NamedGrid
from cimento.report.figures import Figure, lacking_figures
from cimento.report.grid import Grid
from cimento.report.language import figure_in

if TYPE_CHECKING:
    from nicegui import App
    from starlette.requests import Request
    from starlette.responses import Response

EXPORTS = ("jspsych", "pcibex", "qualtrics", "print", "forms")
"""The folders of a survey with what other programs, and paper, need."""

SEED = 0
FIGURE_FORMS = (".svg", ".pdf", ".png", ".csv")

# The page has a policy of its own. In this frame it is of no origin, so that nothing in it could
# reach the app, even if a suite's text were ever run.
SANDBOX = "allow-scripts allow-popups"
_POLICY = f"sandbox {SANDBOX}; frame-ancestors 'self'"

_N_BEFORE_AFTER = 2
"""Number of runs that are compared item by item; more are ranked."""


def survey_command(suite: str, given: Mapping[str, object], folder: str) -> list[str]:
    """The command that builds a survey.

    Args:
        suite: name or path of the suite.
        given: options of `SurveyPlan` that are not as usual.
        folder: the survey's folder.
    """
    flags = (
        (f"--{name.replace('_', '-')}", *([] if value is True else [f"{value}"]))
        for name, value in given.items()
        if value or name == "checks"  # of no other option is 0 a wish
    )
    return ["annotate", "survey", "build", suite, "-o", folder, *chain.from_iterable(flags)]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a survey is.

    Attributes:
        people: number of participants with a link.
        begun: those who have agreed.
        finished: those who have answered everything.
        answers: number of questions answered.
        kinds: number of answers to questions of the test, to attention checks, fillers and
            practice, without the kinds that have none.
        wanted: number of questions that those who have agreed are asked.
        last: when the last answer came, in UTC; empty before the first.
        minutes: median of the sittings of those who have finished; None before the first.
    """

    people: int = 0
    begun: int = 0
    finished: int = 0
    answers: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)
    wanted: int = 0
    last: str = ""
    minutes: float | None = None


def progress(survey: Path) -> Progress:
    """How far the survey in a folder is, read while it goes on.

    Raises:
        InputError: the folder holds no survey.
        StorageError: the answers cannot be read.
    """
    database = survey / DATABASE
    if not database.is_file():
        read_design(survey)
        return Progress()
    people, answers = storage.participants(database), storage.answers(database)
    kind_of_question = {one.id: kind_of(one) for one in read_design(survey).questions}
    given = {(answer.participant, answer.question) for answer in answers}
    kinds = Counter(kind_of_question.get(question, "test") for _, question in given)
    sittings = [session_seconds(person) for person in people]
    seconds = [sitting for sitting in sittings if sitting is not None]
    return Progress(
        people=len(people),
        begun=sum(person.consented_at is not None for person in people),
        finished=sum(person.finished_at is not None for person in people),
        answers=len(given),
        kinds=_in_order(kinds),
        wanted=sum(len(person.questions) for person in people if person.consented_at is not None),
        last=max((answer.at for answer in answers), default=""),
        minutes=median(seconds) / _MINUTE if seconds else None,
    )


KINDS = ("test", "check", FILLER, PRACTICE)
"""The kinds of questions of a survey, with those of the test first."""


def kind_of(question: SurveyQuestion) -> str:
    """The kind of a question, one of `KINDS`."""
    return "check" if question.expected else question.kind or "test"


def kinds_in(questions: Iterable[SurveyQuestion]) -> dict[str, int]:
    """The number of questions of each kind that there is, in the order of `KINDS`."""
    return _in_order(Counter(map(kind_of, questions)))


def _in_order(counts: Counter[str]) -> dict[str, int]:
    return {kind: counts[kind] for kind in KINDS if counts[kind]}


_MINUTE = 60.0

WORDS_PER_MINUTE = 238
"""Silent reading of prose by adults, in English (Brysbaert 2019, doi:10.1016/j.jml.2019.104047)."""


def words_to_read(design: SurveyDesign) -> int:
    """Number of words in the longest list of a survey, with consent text and guidelines.

    Args:
        design: what is asked.
    """
    around = [*design.consent, *design.guidelines]
    return max(
        sum(
            len(text.split())
            for text in (*around, *chain.from_iterable(q.lines for q in questions))
        )
        for questions in design.by_survey.values()
    )


def zipped_export(survey: Path, form: str) -> bytes:
    """One of `EXPORTS` of a survey as a zip archive.

    Raises:
        InputError: the survey has no such files.
    """
    files = sorted(path for path in (survey / form).rglob("*") if path.is_file())
    if form not in EXPORTS or not files:
        raise InputError(
            where=f"{survey.name}/{form}", seen="there is nothing", todo="Make the survey again."
        )
    return zipped({path.relative_to(survey).as_posix(): path for path in files})


def qr_code(link: str) -> str:
    """A link as a QR code (ISO/IEC 18004), as an SVG element.

    Raises:
        MissingDependencyError: the extra ``app`` is not installed.
    """
    with needing("segno", extra="app", purpose="the QR code of a survey"):
        import segno
    made: str = segno.make(link, error="m", micro=False).svg_inline(
        border=4, omitsize=True, dark="#000", light="#fff"
    )
    return made


@dataclass(frozen=True, slots=True)
class Results:
    """Some runs, and what the report shows of them.

    Attributes:
        runs: the runs, with labels that tell them apart.
        figures: the figures of the page.
        tables: the tables of the page, and before them the one for a paper; of designs alone,
            after them. Each is behind the name of its suite, which is empty for the one for a
            paper, and where there is only one suite.
        lacking: why no figure can be drawn; empty where they can.
    """

    runs: tuple[Run, ...]
    figures: tuple[Figure, ...]
    tables: tuple[tuple[str, NamedGrid], ...]
    lacking: str


def results_of(workspace: Workspace, names: Sequence[str]) -> Results:
    """The results of some runs; those asked for last are kept.

    Args:
        workspace: the folder.
        names: paths of the runs from there.

    Raises:
        CimentoError: none is named, one is outside the workspace, or one cannot be read.
    """
    if not names:
        raise UsageError(where="runs", seen="none is chosen", todo="Choose one or more.")
    paths = tuple(workspace.plain(name) for name in names)
    times = tuple(
        manifest.stat().st_mtime_ns if (manifest := path / MANIFEST).is_file() else 0
        for path in paths
    )
    return _results(paths, times)


@functools.lru_cache(maxsize=4)
def _results(paths: tuple[Path, ...], _times: tuple[int, ...]) -> Results:
    runs = labeled_apart(versions_apart(open_runs(paths)))
    sections = sections_of(runs)
    paper = ("", NamedGrid("results", results_grid(runs)))
    own = [
        (section.first.suite if len(sections) > 1 else "", table)
        for section in sections
        for table in section.tables
    ]
    # The table for a paper has the accuracy of a design, which is reported by DD.
    are_designs = all(run.paradigm.presenter.design_effects(run) for run in runs)
    return Results(
        runs=tuple(runs),
        figures=tuple(figure for section in sections for figure in section.figures),
        tables=(*own, paper) if are_designs else (paper, *own),
        lacking=lacking_figures(),
    )


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Some runs compared.

    Attributes:
        names: paths of the runs from the workspace, the earliest first.
        grids: the tables, by name; none for fewer than two runs.
        alone: suite and model of the runs that are compared with no other.
        methods: how they were compared and tested, in English, with the works cited.
    """

    names: tuple[str, ...]
    grids: Mapping[str, Grid]
    alone: tuple[str, ...] = ()
    methods: str = ""


def compared(names: Sequence[str], runs: Sequence[Run]) -> RunComparison:
    """Runs compared: two of them item by item, the earlier one as before, more by rank.

    Args:
        names: paths of the runs from the workspace.
        runs: the runs, in the same order.

    Raises:
        UsageError: no two belong together.
    """
    by_age = sorted(
        zip(names, runs, strict=True), key=lambda pair: str(pair[1].manifest.get("created", ""))
    )
    earliest_first, ordered = tuple(name for name, _ in by_age), [run for _, run in by_age]
    if len(ordered) < _N_BEFORE_AFTER:
        return RunComparison(earliest_first, {})
    if len(ordered) == _N_BEFORE_AFTER:
        pair = compare(*ordered)
        methods = comparison_methods(pair)
        return RunComparison(earliest_first, pair.grids(), methods=methods)
    rankings = compare(ordered)
    methods = ranking_methods(rankings)
    return RunComparison(earliest_first, rankings.grids(), rankings.alone, methods)


def figure_file(figure: Figure, form: str, say: Words) -> bytes:
    """A figure in one of `FIGURE_FORMS`; its numbers have their headings in the page's language.

    Raises:
        CimentoError: it cannot be drawn.
    """
    if form == ".csv":
        headings = {name: say.named("figure", name) for name in figure.frame.columns}
        table = figure.frame
        if "label" in table.columns:
            own = {name: told_cell(name, say.language) for name in table["label"].unique() if name}
            table = table.with_columns(table["label"].replace(own))
        return frame_csv(table.rename(headings), say.language)
    with TemporaryDirectory(prefix="cimento-") as folder:
        return figure.write(Path(folder) / f"figure{form}").read_bytes()


def shown_figures(results: Results, say: Words) -> Iterator[tuple[Figure, str]]:
    """The figures with their drawings as SVG; those that cannot be drawn are left out.

    Args:
        results: what is shown.
        say: the words of the page, in whose language the titles and the axes are.
    """
    language = page_language(say.language)
    for drawn in () if results.lacking else results.figures:
        figure = figure_in(drawn, language)
        try:
            yield figure, figure.svg()
        except UsageError:
            continue


def add_routes(app: App, workspace: Workspace) -> None:
    """Add the addresses of what is shown in a frame: a report, and an answer about a language.

    ``/report?run=NAME&run=NAME&words=CODE``, ``/answer?language=CODE``.
    """
    from starlette.responses import HTMLResponse

    def page(make: Callable[[], str]) -> Response:
        headers = {"content-security-policy": _POLICY}
        try:
            return HTMLResponse(make(), headers=headers)
        except CimentoError as error:
            text = f"<!doctype html><title>cimento</title><p>{escape(str(error))}</p>"
            return HTMLResponse(text, status_code=400, headers=headers)

    def report(request: Request) -> Response:
        names = request.query_params.getlist("run")
        code = request.query_params.get("words", USUAL)
        return page(lambda: report_page(results_of(workspace, names).runs, code))

    def answer(request: Request) -> Response:
        code = request.query_params.get("language", "")
        # The page is made from the numbers: a page in the folder may come from somebody else.
        return page(lambda: answer_html(read_answer(answer_file(workspace, code))))

    app.add_route("/report", report)
    app.add_route("/answer", answer)
