"""Step 5 without its page: plans as commands, progress, exports, links, ratings beside models."""

import io
import statistics
import zipfile
from dataclasses import replace
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from scipy import stats

from cimento import InputError
from cimento.app.beside_ratings import beside_models
from cimento.app.shown import (
    figure_file,
    progress,
    qr_code,
    survey_command,
    zipped_export,
)
from cimento.app.words import words
from cimento.cite import cite
from cimento.compare import compare
from cimento.compare.comparison_tables import models_grid
from cimento.documents import grid_file
from cimento.judgments import Judgment
from cimento.kinds.run import open_runs
from cimento.people.surveys import DATABASE, design_json, read_design, storage
from cimento.people.surveys.building import build_design
from cimento.people.surveys.exports import write_survey
from cimento.people.surveys.participants import network_host
from cimento.people.surveys.plan import SurveyPlan
from cimento.report.figures import Figure
from cimento.report.formatting import p_number, signed
from cimento.report.grid import EstimateCell, Grid
from cimento.suites.builtin import find_suite
from tests.helpers.command_line import invoke

SUITE = "it-acceptability"
WISHES = {
    "task": "likert", "surveys": 2, "checks": 1, "scale": 7, "limit": 6,
    "contact": "Anna Bianchi", "title": "Frasi italiane", "language": "it", "break_every": 4,
}  # fmt: skip


@pytest.fixture
def survey(tmp_path):
    design = build_design(find_suite(SUITE), SurveyPlan(**WISHES))
    write_survey(design, tmp_path / "survey")
    return tmp_path / "survey"


@pytest.mark.parametrize(("suite", "given"), [(SUITE, WISHES), ("it-connectives", {"limit": 4})])
def test_the_command_that_is_shown_builds_the_same_survey(tmp_path, suite, given):
    folder = tmp_path / "by-command"
    assert invoke(survey_command(suite, given, str(folder))) == 0
    design = build_design(find_suite(suite), SurveyPlan(**given))
    assert design_json(read_design(folder)) == design_json(design)


def test_progress_counts_people_and_questions_and_not_fields(survey):
    assert progress(survey) == progress(survey)
    assert progress(survey).people == 0
    design, database = read_design(survey), survey / DATABASE
    storage.prepare(database, design)
    (first, _), _ = storage.invite_participants(database, design, 2)
    with storage.opened_database(database) as connection:
        storage.store_consent(connection, first.id, design)
        storage.store_answer(
            connection, first.id, first.questions[0], {"acceptability": "3", "other": "x"},
            remark="", seconds=1.0, asked=first.questions,
        )  # fmt: skip
    now = progress(survey)
    assert (now.people, now.begun, now.finished, now.answers) == (2, 1, 0, 1)
    assert now.wanted == len(first.questions)  # the other has not agreed
    assert now.last


def test_what_is_no_survey_is_refused(tmp_path):
    with pytest.raises(InputError):
        progress(tmp_path)


def test_exports_are_archives_of_their_folders(survey):
    names = zipfile.ZipFile(io.BytesIO(zipped_export(survey, "jspsych"))).namelist()
    assert "jspsych/index.html" in names
    for form in ("..", "", "design"):
        with pytest.raises(InputError):
            zipped_export(survey, form)


def test_a_qr_code_is_a_square_of_its_own_without_references():
    pytest.importorskip("segno")
    drawn = qr_code("http://192.168.1.20:54321/room/0123456789abcdef0123")
    root = ET.fromstring(drawn)  # noqa: S314  # made here
    _, _, width, height = root.attrib["viewBox"].split()
    # A link of 51 bytes needs version 4 at level M, 33 modules, or more; the margin is 4.
    assert width == height
    assert (int(width) - 8 - 17) % 4 == 0
    assert int(width) - 8 >= 33
    assert "href" not in drawn
    assert qr_code("http://a") != qr_code("http://b")


def test_links_for_the_room_have_a_number_as_host():
    assert all(part.isdecimal() for part in network_host().split("."))


NOUNS = ("cane", "gatto", "topo", "lupo", "orso", "cervo")


def run_of_pairs(folder, name, pairs):
    """A run of a small model on pairs of sentences, in a suite called ``coppie``."""
    path = folder / name / "coppie.csv"
    path.parent.mkdir()
    path.write_text(
        "item,good,bad\n" + "".join(f"{n},{good},{bad}\n" for n, (good, bad) in pairs.items())
    )
    made = folder / "runs" / name
    asked = ["run", str(path), "--language", "it", "-m", "demo-causal", "-o", str(made)]
    assert invoke(asked) == 0
    (run,) = open_runs(made)
    return run


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory):
    """Runs of a test before and after its third pair was put right, with ratings of the latter."""
    folder = tmp_path_factory.mktemp("pairs")
    pairs = {str(n): (f"Il {x} dorme.", f"Il {x} dormono.") for n, x in enumerate(NOUNS, 1)}
    before = run_of_pairs(folder, "before", {**pairs, "3": pairs["3"][::-1]})
    after = run_of_pairs(folder, "after", pairs)
    judgments = [
        Judgment(
            suite="coppie", item=item, condition=name, candidate=sentence, annotator=who,
            value=str((int(item) * 7 + (name == "good") * 5) % 11 + shift),
        )
        for item, pair in pairs.items()
        for name, sentence in zip(("good", "bad"), pair, strict=True)
        for who, shift in (("p", 0), ("q", 1))
    ]  # fmt: skip
    return before, after, judgments


def test_mean_ratings_are_correlated_with_the_scores_of_the_same_sentences(two_runs):
    _, run, judgments = two_runs
    other = replace(run, manifest={**run.manifest, "suite": {"name": "t"}})
    (beside,) = beside_models(judgments, [run, other])
    scores = {
        row["item"] + row["condition"]: row for row in run.paradigm.judge.scores(run).to_dicts()
    }
    rated = {one.item + one.condition: float(one.value) for one in judgments}
    expected = stats.spearmanr(
        [*rated.values()], [scores[key]["oriented"] for key in rated]
    ).statistic
    assert (beside.suite, beside.model, beside.correlation.n) == ("coppie", run.model, 12)
    assert beside.measure == next(iter(scores.values()))["measure"]
    assert beside.correlation.r == pytest.approx(expected)
    assert beside.others == ()


def test_each_sentence_has_its_rating_its_value_and_both_ranks(two_runs):
    _, run, judgments = two_runs
    (beside,) = beside_models(judgments, [run])
    scores = {(row["item"], row["condition"]): row for row in run.paradigm.judge.scores(run)
              .to_dicts()}  # fmt: skip
    assert [(one.rated.item, one.rated.condition) for one in beside.sentences] == [*scores]
    for one in beside.sentences:
        given = [float(j.value) for j in judgments
                 if (j.item, j.condition) == (one.rated.item, one.rated.condition)]  # fmt: skip
        assert one.rated.mean == statistics.fmean(given)
        assert (one.rated.n, one.rated.n_z) == (2, 2)
        assert one.value == scores[one.rated.item, one.rated.condition]["value"]
    means = [one.rated.mean for one in beside.sentences]
    oriented = [row["oriented"] for row in scores.values()]
    assert [one.rank for one in beside.sentences] == [*stats.rankdata([-x for x in means])]
    assert [one.rank_model for one in beside.sentences] == [*stats.rankdata([-x for x in oriented])]
    assert sum(one.gap for one in beside.sentences) == pytest.approx(0)


def test_the_numbers_of_a_figure_have_headings_in_the_language_of_the_page():
    frame = pl.DataFrame({"id": ["1"], "text": ["Llueve."], "label": ["sentence"], "gap": [0.5]})
    figure = Figure(name="scatter", title="", frame=frame, spec={})
    header, row = figure_file(figure, ".csv", words("es")).decode("utf-8-sig").splitlines()
    assert header.startswith('ítem;oración;condición;"rango según el modelo menos rango')
    assert row == "1;Llueve.;oración;0,5"


def test_ratings_of_other_sentences_than_the_runs_are_left_out_and_named(two_runs):
    before, after, judgments = two_runs
    old, new = beside_models(judgments, [before, after])
    assert (old.correlation.n, old.others) == (10, ("3",))
    assert (new.correlation.n, new.others) == (12, ())
    assert len({old.suite, new.suite, "coppie"}) == 3
    # They are marked with the digits that the methods paragraph has.
    for run, beside in ((before, old), (after, new)):
        assert beside.suite == f"coppie ({run.manifest['suite']['sha256'][:4]})"
        assert f"SHA-256 {run.manifest['suite']['sha256'][:4]}" in cite([run], "appendix")
    # Spaces and large letters make no other sentence, and what is not known is taken as fitting.
    loose = [replace(one, candidate=f" {one.candidate.upper()}  ") for one in judgments]
    unknown = [replace(one, candidate=None) for one in judgments]
    for given in (loose, unknown):
        assert [beside.others for beside in beside_models(given, [after])] == [()]


def test_numbers_are_numbers_in_excel_and_all_else_is_text():
    openpyxl = pytest.importorskip("openpyxl")
    rows = (
        (
            "=1+1",
            EstimateCell(value=250 / 3, low=70.0, high=90.0, n=6),
            signed(0.012),
            "[0.1, 0.2]",
        ),
        ("2", EstimateCell(value=None, low=None, high=None, n=0), p_number(3e-05), ""),
    )
    grid = Grid(title="t", header=("model", "accuracy", "change", "95%"), rows=rows)
    sheet = openpyxl.load_workbook(io.BytesIO(grid_file(grid, ".xlsx"))).active
    read = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
    assert read == [
        ["=1+1", pytest.approx(250 / 3, abs=1e-9), 70, 90, 6, 0.012, "[0.1, 0.2]"],
        ["2", None, None, None, 0, 3e-05, None],
    ]
    assert [cell.number_format for cell in sheet[2]] == [
        "@", "0.0", "0.0", "0.0", "0", "+0.0000;-0.0000;0.0000", "@",
    ]  # fmt: skip
    assert sheet["A2"].data_type == "s"


def test_items_and_both_ends_of_intervals_are_numbers_in_excel(two_runs):
    openpyxl = pytest.importorskip("openpyxl")
    before, after, _ = two_runs
    change = compare(before, after).rates[0].change
    others = [replace(after, manifest={**after.manifest, "label": name}) for name in "mn"]
    (ranking,) = compare([after, *others]).rankings
    models = models_grid([ranking, ranking])
    for grid, low in (
        (compare(before, after).grids()["rates"], change.low),
        (models, ranking.models[0].interval.low),
    ):
        sheet = openpyxl.load_workbook(io.BytesIO(grid_file(grid, ".xlsx"))).active
        names, first = ([cell.value for cell in row] for row in list(sheet.iter_rows())[:2])
        cells = dict(zip(names, first, strict=True))
        assert isinstance(cells["items"], int)
        assert cells["95% low"] == pytest.approx(low)
        assert cells["95% high"] > cells["95% low"]
