"""The course of a training; oracles: Bonett and Price, scipy."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import cimento
from cimento.compare.over_suites import SuiteFacts
from cimento.compare.ranking import rank_models
from cimento.compare.training_courses import courses_of, training_of
from cimento.compare.training_tables import training_grids
from tests.compare.test_gate import by_hand, marks
from tests.compare.test_summary_tables import stored
from tests.helpers.command_line import invoke
from tests.helpers.made_runs import made_run, outcomes_of

DEMO = Path(cimento.__file__).parent / "data" / "models" / "demo-causal"
HEADS = [("s", "all"), ("t", "all")]
FACTS = {
    name: SuiteFacts(unit=name, phenomena=frozenset({name}), chance=0.5, is_design=False)
    for name in ("s", "t")
}


def course(*right: int, n: int = 100, suites: str = "s"):
    """Of each step, how many of n items are right: the first ones."""
    outcomes = [
        marks("+" * k + "-" * (n - k), suite, f"m@step{step}", family="m", step=step)
        for suite in suites
        for step, k in enumerate(right, start=1)
    ]
    rankings = rank_models(outcomes, with_pairs=False).rankings
    return courses_of(rankings, outcomes, FACTS, headlines=HEADS)


def test_each_step_is_compared_with_the_first_and_the_last_at_one_level():
    (one,) = course(20, 30, 60, 62)
    level = 1 - 0.05 / 5  # three steps after the first, two more before the last
    for made, (gained, lost) in (
        (one.from_first[0], (10, 0)),
        (one.from_first[1], (40, 0)),
        (one.from_first[2], (42, 0)),
        (one.to_last[0], (42, 0)),
        (one.to_last[1], (32, 0)),
        (one.to_last[2], (2, 0)),
    ):
        assert (made.low, made.high) == pytest.approx(by_hand(gained, lost, 100, level))
    # By hand: 10 of 10 is significant at .01 (p = 2 / 1024), 2 of 2 is not.
    assert (one.rises, one.falls, one.differs_until) == (2, None, 2)
    assert one.rest_within == pytest.approx(by_hand(2, 0, 100, level)[1])


def test_what_is_still_changing_never_rose_or_fell():
    (rising,) = course(20, 30, 60, 90)
    assert (rising.differs_until, rising.rest_within) == (3, None)
    (flat,) = course(50, 51, 50)
    assert (flat.rises, flat.falls, flat.differs_until) == (None, None, None)
    assert flat.rest_within == pytest.approx(by_hand(1, 0, 100, 1 - 0.05 / 3)[1])
    (falling,) = course(60, 60, 20)
    assert (falling.rises, falling.falls) == (None, 3)
    header = training_grids([falling])["training"].header
    assert "falls at" in header
    assert "falls at" not in training_grids([flat])["training"].header


def test_the_change_of_a_mean_is_that_of_its_suites():
    (one,) = course(20, 30, 60, suites="st")
    low, _ = by_hand(40, 0, 100, 1 - 0.05 / 3)
    # Zou and Donner: of two alike, the distance is that of one through the root of two.
    assert one.change.estimate == pytest.approx(0.4)
    assert one.change.low == pytest.approx(0.4 - (0.4 - low) / 2**0.5)


def run_of(named: str, *, weights: str = "", suite: str = "s", **card: str):
    return made_run(
        named,
        outcomes_of("+-", "all"),
        suite=suite,
        manifest={
            "named": named,
            "inputs": {"revision": weights or named},
            "model": {"kind": "causal", "tokenizer": "t", "details": {"parameters": "1", **card}},
        },
    )


def test_names_propose_a_training_and_records_decide():
    names = [f"org/m@step{k}" for k in (200, 100, 300)]
    training = training_of([run_of(name) for name in names])
    assert training is not None
    assert (training.steps, training.alike) == ((100, 200, 300), ())
    assert training.names == ("org/m@step100", "org/m@step300")
    assert training_of([run_of(name) for name in names[:2]]) is None
    assert training_of([*map(run_of, names), run_of("org/other@step1")]) is None
    other = [*map(run_of, names[:2]), run_of(names[2], parameters="2")]
    assert training_of(other) is None
    same = training_of([run_of(name, weights="w") for name in names])
    assert same is not None
    assert same.alike == (200, 300)
    assert training_of([*map(run_of, names), run_of("org/m-step100", weights="w")]) is None


def test_the_command_shows_the_curve_and_ranks_only_if_asked(tmp_path, capsys):
    for step in (1000, 2000, 3000):
        for suite in ("it-subject-verb", "it-clitic-participle"):
            stored(tmp_path, f"m-step{step}", (suite,), limit=12)
    capsys.readouterr()
    assert invoke(["compare", str(tmp_path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "3 checkpoints of m, steps 1,000 to 3,000. Taken as the order" in shown
    assert "from m-step1000@0000000 to m-step3000" in shown
    assert "rank" not in shown
    assert invoke(["compare", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [point["step"] for point in told["training"][0]["points"]] == [1000, 2000, 3000]
    assert told["order"]["steps"] == [1000, 2000, 3000]
    assert invoke(["compare", str(tmp_path), "--pairs"]) == 0
    assert "rank interval" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow  # 20 s, for five models on twelve suites
def test_a_language_shows_the_first_and_the_last_of_many_checkpoints(tmp_path, capsys):
    for step in (100, 20, 300, 4000, 50):
        shutil.copytree(DEMO, tmp_path / f"checkpoint-{step}")
    models = [part for path in tmp_path.iterdir() for part in ("-m", str(path))]
    command = ["run", "--language", "it", "--sets", "starter", *models, "-o"]
    assert invoke([*command, str(tmp_path / "runs")]) == 0
    printed = capsys.readouterr()
    shown = set(re.findall(r"checkpoint-\d+", printed.out))
    assert shown == {"checkpoint-20", "checkpoint-4000"}
    said = " ".join(printed.out.split())
    assert "What 5 checkpoints know about Italian (first and last shown)" in said
    assert "Of 5 checkpoints, steps 20 to 4,000, tables have the first and the last" in said
    assert f"The curve: cimento compare {tmp_path / 'runs' / 'it'}" in printed.err
    answer = tmp_path / "runs" / "it" / "answer"
    # The five have the same weights, so that at all steps the same is above chance.
    assert "| all |" in answer.with_suffix(".md").read_text(encoding="utf-8")
    page = answer.with_suffix(".html").read_text(encoding="utf-8")
    assert page.count('<svg class="figure"') == 1
    assert json.loads(answer.with_suffix(".json").read_text(encoding="utf-8"))["steps"] == [
        20, 50, 100, 300, 4000,
    ]  # fmt: skip
