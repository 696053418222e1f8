"""Step 5 without its page: plans as commands, progress, exports, links, ratings beside models."""

import io
import zipfile
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from scipy import stats

from cimento import InputError
from cimento.app.shown import (
    DATABASE,
    SurveyWishes,
    beside_models,
    progress,
    qr_code,
    zipped_export,
)
from cimento.people.judgments import Judgment
from cimento.people.surveys import design_json, read_design, storage
from cimento.people.surveys.building import build_design
from cimento.people.surveys.exports import write_survey
from cimento.people.surveys.participants import network_host
from cimento.report.document import grid_file
from cimento.report.grid import EstimateCell, Grid
from cimento.suites.builtin import find_suite
from tests.helpers.command_line import invoke

WISHES = SurveyWishes(
    suite="it-acceptability", task="likert", surveys=2, checks=1, scale=7, limit=6,
    contact="Anna Bianchi", title="Frasi italiane", language="it", break_every=4,
)  # fmt: skip


@pytest.fixture
def survey(tmp_path):
    design = build_design(find_suite(WISHES.suite), WISHES.plan())
    write_survey(design, tmp_path / "survey")
    return tmp_path / "survey"


@pytest.mark.parametrize("wishes", [WISHES, SurveyWishes(suite="it-connectives", limit=4)])
def test_the_command_that_is_shown_builds_the_same_survey(tmp_path, wishes):
    folder = tmp_path / "by-command"
    assert invoke(wishes.command(str(folder))) == 0
    design = build_design(find_suite(wishes.suite), wishes.plan())
    assert design_json(read_design(folder)) == design_json(design)


def test_progress_counts_people_and_questions_and_not_fields(survey):
    assert progress(survey) == progress(survey)
    assert progress(survey).people == 0
    design, database = read_design(survey), survey / DATABASE
    storage.prepare(database, design)
    (first, _), _ = storage.invite_participants(database, design, 2)
    with storage.opened(database) as connection:
        storage.store_consent(connection, first.id, design)
        storage.store_answer(
            connection, first.id, first.questions[0], {"acceptability": "3", "other": "x"},
            remark="", seconds=1.0, asked=first.questions,
        )  # fmt: skip
    now = progress(survey)
    assert (now.people, now.begun, now.finished, now.answers) == (2, 1, 0, 1)
    assert now.wanted == 2 * len(first.questions)
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


def test_mean_ratings_are_correlated_with_the_scores_of_the_same_sentences():
    sentences = [(str(n), name) for n in range(8) for name in ("good", "bad")]
    ratings = [(n * 7 + (name == "good") * 5) % 11 for n, (_, name) in enumerate(sentences)]
    scores = [-((n * 3) % 13) / 2 for n in range(len(sentences))]
    judgments = [
        Judgment(suite="s", item=item, condition=name, annotator=who, value=str(rating + shift))
        for (item, name), rating in zip(sentences, ratings, strict=True)
        for who, shift in (("p", 0), ("q", 1))
    ]
    table = pl.DataFrame(
        {
            "item": [item for item, _ in sentences] + ["99"],
            "condition": [name for _, name in sentences] + ["good"],
            "measure": "lp",
            "unit": "nats",
            "oriented": [*scores, -1.0],
        }
    )
    run = SimpleNamespace(
        suite_name="s", model="m@1", paradigm=SimpleNamespace(scores=lambda _: table)
    )
    other = SimpleNamespace(suite_name="t", model="n", paradigm=None)
    silent = SimpleNamespace(
        suite_name="s", model="o", paradigm=SimpleNamespace(scores=lambda _: None)
    )
    (beside,) = beside_models(judgments, [run, other, silent])
    assert (beside.model, beside.measure, beside.correlation.n) == ("m@1", "lp", 16)
    expected = stats.spearmanr(ratings, scores).statistic
    assert beside.correlation.r == pytest.approx(expected)
    assert beside.correlation.low < expected < beside.correlation.high


def test_numbers_are_numbers_in_excel_and_all_else_is_text():
    openpyxl = pytest.importorskip("openpyxl")
    rows = (
        ("=1+1", EstimateCell(value=250 / 3, low=70.0, high=90.0, n=6), "+0.0120", "[0.1, 0.2]"),
        ("2", EstimateCell(value=None, low=None, high=None, n=0), "3e-05", ""),
    )
    grid = Grid(title="t", header=("model", "accuracy", "change", "95 %"), rows=rows)
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
