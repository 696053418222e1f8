"""The course of a training; oracles: Bonett and Price, scipy."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import cimento
from cimento.compare.over_suites import SuiteFacts
from cimento.compare.phenomena import PhenomenonRate
from cimento.compare.ranking import rank_models
from cimento.compare.training_courses import courses_of, training_of
from cimento.compare.training_tables import training_grids
from cimento.documents.language_answer import LanguageAnswer
from cimento.documents.language_page import answer_grids, answer_text, answer_title
from cimento.documents.language_training import curves
from cimento.report.figures_rates import steps_frame, training_figure
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
    assert "falls" in header
    assert "falls" not in training_grids([flat])["training"].header


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


def answer_over(above: str, other: str = "") -> LanguageAnswer:
    """An answer over steps 1,000, 2,000 ...; a plus where a phenomenon is above chance."""
    models = tuple(f"m-step{1000 * k}@0000000" for k, _ in enumerate(above, 1))
    rates = [
        PhenomenonRate(
            phenomenon=name, is_mapped=True, model=model, value=0.7,
            low=0.6 if mark == "+" else 0.4, high=0.8, about="items", reason="",
            chance=0.5, n_items=40, n_paradigms=1, sets=("s",),
        )
        for name, marks in (("verbs", above), ("islands", other or above))
        for model, mark in zip(models, marks, strict=True)
    ]  # fmt: skip
    steps = tuple(1000 * k for k, _ in enumerate(above, 1))
    return LanguageAnswer(language="it", models=models, phenomena=tuple(rates), steps=steps)


@pytest.mark.parametrize(
    ("above", "said"),
    [
        ("--+-+++", "4 of 7 steps"),
        ("---++++", "from step 4,000"),
        ("------+", "from step 7,000"),
        ("+++++--", "5 of 7 steps"),
        ("-------", "no"),
        ("+++++++", "all"),
        ("-++", "m-step2000, m-step3000"),
    ],
)
def test_since_when_something_is_above_chance_is_said_of_many_checkpoints(above, said):
    grid = answer_grids(answer_over(above))["phenomena"]
    shown = ["m-step1000", f"m-step{1000 * len(above)}"]
    columns = [name for name in grid.header if name.startswith("m-step")]
    assert columns == (shown if len(above) > 4 else ["m-step1000", "m-step2000", "m-step3000"])
    assert [row[grid.header.index("above chance")] for row in grid.rows] == [said, said]


def test_the_page_of_many_checkpoints_has_a_curve_for_each_phenomenon():
    answer = answer_over("---++++", "-------")
    assert answer_title(answer) == "What 7 checkpoints know about Italian (first and last shown)"
    [figure] = curves(answer, answer.phenomena)
    assert figure.frame["panel"].unique(maintain_order=True).to_list() == ["verbs", "islands"]
    assert figure.frame["step"].unique(maintain_order=True).to_list() == [*answer.steps]
    assert "m-step4000" not in answer_text(answer)
    assert not [*curves(answer_over("-++"), answer_over("-++").phenomena)]


def test_an_axis_of_steps_names_the_last_one_whatever_their_distances():
    for steps in ([*range(1000, 25000, 1000)], [2**k for k in range(18)], [10, 11, 12]):
        rows = [("a", step, f"m{step}", 0.5, 0.4, 0.6, 40, None) for step in steps]
        spec = json.dumps(training_figure(steps_frame(rows)).spec)
        [named] = {
            tuple(json.loads(f"[{one}]")) for one in re.findall(r'"values": \[([^]]+)', spec)
        }
        assert named[-1] == steps[-1]
        assert {*named} <= {*steps}
        assert 3 <= len(named) <= 9
