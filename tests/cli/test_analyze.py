"""``cimento analyze items`` on stored runs of the starter suites."""

from __future__ import annotations

import json

import pytest

from cimento.cli.main import invoke
from tests.helpers.json_output import checking

SUITES = ("it-subject-verb", "it-filler-gap")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("analyzed")
    models = ("-m", "demo-causal", "-m", "demo-masked")
    assert invoke(["run", *SUITES, *models, "-o", str(folder)]) == 0
    return folder


def test_tables_show_models_phenomena_variance_and_items(runs, capsys):
    assert invoke(["analyze", "items", str(runs)]) == 0
    shown = capsys.readouterr().out
    for part in (
        "The ability of models",
        "How hard the phenomena are",
        "proportions of the variance",
    ):
        assert part in shown
    # The suites differ in their level of chance, and so each has a scale of its own.
    assert shown.index("subject-verb agreement") < shown.index("Chance 0.19. ")
    assert shown.index("Chance 0.19. ") < shown.index("filler-gap")


def test_json_has_every_item_and_every_answer(runs, capsys):
    assert checking(invoke)(["analyze", "items", str(runs), "--json", "--covariate", "length"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["answers"] == 2 * len(printed["items"])
    assert printed["slopes"].keys() == {"length"}
    assert sum(part["share"]["value"] for part in printed["variance"]) == pytest.approx(1)
    assert all(item["texts"] for item in printed["items"])


def test_tables_are_written_in_every_form(runs, tmp_path):
    assert invoke(["analyze", "items", str(runs), "--items", "-o", str(tmp_path)]) == 0
    names = {"models", "phenomena", "variance", "items"}
    written = {path.name for path in tmp_path.glob("*.csv")}
    assert written == {f"{name}{level}.csv" for name in names for level in ("", "-chance-0.19")}
    drawn = {path.stem for path in tmp_path.glob("*.svg")}
    assert drawn == {"wright", "difficulty", "information"}
    lines = (tmp_path / "items.csv").read_text("utf-8").splitlines()
    assert len(lines) == 25  # a heading, and the 24 items of the suite of agreement


@pytest.mark.parametrize(
    ("options", "seen"),
    [
        (["--covariate", "color"], "no such column"),
        (["--phenomenon", "foo"], "--phenomenon foo: no suite has such a column"),
        (["--model", "3pl"], "3pl"),
        (["--measure", "nothing"], "measure"),
    ],
)
def test_what_cannot_be_done_is_one_message(runs, capsys, options, seen):
    assert invoke(["analyze", "items", str(runs), *options]) == 2
    assert seen in capsys.readouterr().err


def test_no_runs_are_one_message(tmp_path, capsys):
    assert invoke(["analyze", "items", str(tmp_path)]) != 0
    assert "cimento:" in capsys.readouterr().err


def test_a_page_has_the_section_and_a_table_cannot(runs, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert invoke(["report", str(runs), "--analyze", "-o", str(page)]) == 0
    text = page.read_text("utf-8")
    assert "Items, models and phenomena" in text
    assert "Items and models on one scale" in text
    assert invoke(["report", str(runs), "--analyze", "-o", str(tmp_path / "all.csv")]) == 2
    assert "for pages" in capsys.readouterr().err


@pytest.mark.slow
def test_answers_to_prompts_are_analyzed_apart(runs, tmp_path, capsys):
    asked = str(tmp_path / "it-subject-verb-prompted")
    assert invoke(["suites", "build", "prompted", SUITES[0], "-o", asked]) == 0
    models = ("-m", "demo-causal", "-m", "demo-masked")
    prompted = str(tmp_path / "runs")
    assert invoke(["run", asked, *models, "--set", "answer=loglik", "-o", prompted]) == 0
    together = []
    for several in ([str(runs)], [str(runs), prompted], [prompted]):
        capsys.readouterr()
        assert invoke(["analyze", "items", *several, "--json"]) == 0
        shown = capsys.readouterr()
        together.append(json.loads(shown.out))
        assert ("runs by prompt of demo-causal" in shown.err) == (len(several) > 1)
    assert together[0] == together[1]
    assert {item["suite"] for item in together[2]["items"]} == {"it-subject-verb-prompted"}
    assert invoke(["report", str(runs), prompted, "--site", str(tmp_path / "site")]) == 0
    items = (tmp_path / "site/tables/analysis/items.csv").read_text("utf-8")
    assert "subject-verb" in (tmp_path / "site/tables/ranks.csv").read_text("utf-8")
    assert "prompted" not in items
