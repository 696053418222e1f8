"""A rate that one answer to everything reaches is not a sign of knowledge, and pages say so."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from cimento import evaluate, evaluate_all, open_runs
from cimento.cli.main import invoke
from cimento.records.outcomes import BASELINE, Estimate, best_constant
from cimento.report.overview import scaled
from cimento.site.board import suite_parts
from cimento.site.pages import above_chance

STORIES = 9
FALSE = 6
"""Of nine stories of `it-stories` two in three are implausible: *false* is right in six."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("runs")
    evaluate("it-stories", "demo-causal", output=place, limit=STORIES, shots=0, prompt="it-1")
    list(evaluate_all(["it-acceptability", "it-subject-verb"], "demo-causal", output=place))
    return place


def run_of(folder, suite):
    return next(run for run in open_runs(folder) if run.suite.name == suite)


@pytest.mark.slow
def test_the_best_constant_answer_is_counted_over_the_stories_that_were_asked(folder):
    run = run_of(folder, "it-stories")
    assert sum(not story.plausible for story in run.suite.stories[:STORIES]) == FALSE
    headline = run.summary().headline
    constant = best_constant(headline, run.estimates())
    assert (constant.name, constant.value) == ("always false", FALSE / STORIES)
    for suite in ("it-acceptability", "it-subject-verb"):
        other = run_of(folder, suite)
        assert best_constant(other.summary().headline, other.estimates()) is None
    assert best_constant(None, []) is None


def test_a_constant_answer_that_is_not_above_chance_is_not_told():
    like = Estimate(suite="s", model="m", question="q", role="headline", right=1, n=2, chance=0.5)
    half = replace(like, role="detail", method=f"{BASELINE}true", value=0.5)
    assert best_constant(like, [half]) is None
    best = best_constant(like, [half, replace(half, method=f"{BASELINE}false / x (y)", value=0.6)])
    assert (best.name, best.value) == ("always false", 0.6)
    elsewhere = replace(half, value=0.9, level="cloze")
    assert best_constant(like, [elsewhere, replace(elsewhere, level="", question="other")]) is None


def test_a_model_between_chance_and_a_constant_answer_is_not_called_above_chance(folder):
    (part,) = suite_parts([run_of(folder, "it-stories")])
    (result,) = part.whole.results
    between = replace(result.estimate, value=0.6, low=0.55, high=0.65)
    above = replace(between, value=0.8, low=0.7, high=0.9)
    for estimate, n in ((between, 0), (above, 1)):
        entry = replace(result.entry, headline=estimate)
        side = replace(part.whole, results=(replace(result, entry=entry, estimate=estimate),))
        assert len(above_chance(side)) == n
    # Without such an answer, chance alone decides.
    entry = replace(result.entry, headline=between, constant=None)
    side = replace(part.whole, results=(replace(result, entry=entry, estimate=between),))
    assert len(above_chance(side)) == 1


@pytest.mark.slow
def test_report_and_board_draw_it_beside_chance(folder, tmp_path, capsys):
    assert invoke(["report", str(folder), "-o", str(tmp_path / "report.html")]) == 0
    assert invoke(["report", str(folder), "--site", str(tmp_path / "site")]) == 0
    capsys.readouterr()
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    board = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "always false 0.667 (chance 0.500)" in report
    assert "chance 0.500 · always false 0.667" in board
    for page in (report, board):
        # The dashed line of the stories is that of the constant answer, and not chance.
        assert re.search(r'class="chance" x1="66\.6', page)
        assert "the dashed line is the best such answer" in page
    alone = tmp_path / "alone.html"
    assert invoke(["report", str(folder / "it-subject-verb"), "-o", str(alone)]) == 0
    assert "constant answer" not in alone.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_ends_of_a_scale_are_those_of_its_statistic(folder, tmp_path, capsys):
    assert invoke(["report", str(folder), "--site", str(tmp_path / "site")]) == 0
    capsys.readouterr()
    board = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    cells = {
        name: re.search(f'<td class="cell" data-suite="{name}".*?</td>', board, re.DOTALL)[0]
        for name in ("it-acceptability", "it-subject-verb")
    }
    ends = "<span>−1</span><span>0</span><span>1</span>"
    assert [ends in cell for cell in cells.values()] == [True, False]
    assert "rates from 0 to 1; correlations from −1 to 1" in board
    # A difference of differences has no ends, and is not drawn at all.
    like = Estimate(suite="s", model="m", question="q")
    assert scaled(replace(like, statistic="DD", value=1.7)) is None
    assert scaled(replace(like, statistic="spearman", value=0.0, chance=0.0)).value == 0.5
