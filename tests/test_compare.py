"""Two runs compared; oracles: hand calculation and scipy."""

from __future__ import annotations

import dataclasses
import json

import pytest

from cimento.cli.main import invoke
from cimento.comparing import compare, pair_runs
from cimento.errors import UsageError
from cimento.judging import Judging
from cimento.models.fake import FakeScorer, uniform_scorer
from cimento.regions_api import evaluate
from cimento.suites.design import predictions_of, squares
from cimento.verdicts.comparing import NO_SHARED_ITEM, compare_verdicts, paired
from cimento.verdicts.judge import Verdict
from tests.designs import island_suite

SUITE = island_suite({"se": ["1", "2", "3"], "np": ["4"]})
FORMULAS = tuple(each.formula for each in predictions_of(squares(SUITE)[0]))


def verdicts(marks: str) -> list[Verdict]:
    names = {"+": "pass", "-": "fail", "=": "tie", "?": "unscored"}
    margins = {"+": 2.0, "-": -1.0, "=": 0.0, "?": None}
    return [
        Verdict("s", str(k), None, 0, names[mark], margins[mark], None)
        for k, mark in enumerate(marks)
    ]


def test_flips_by_hand():
    (found,) = compare_verdicts(verdicts("+++--=?+"), verdicts("+--+--++"), seed=0)
    # item 6 is unscored before; of the other seven, 1 and 2 are lost, 3 is gained
    assert found.n == 7
    assert (found.first, found.second) == (4 / 7, 3 / 7)
    assert (found.gained, found.lost) == (("3",), ("1", "2"))
    # exact binomial, 1 of 3 at 1/2, two-sided: 2 * (1 + 3) / 8
    assert found.test.p == pytest.approx(1.0)
    assert found.margins.first == pytest.approx((4 * 2 - 2 + 0) / 7)
    assert found.margins.items["1"] == -3.0
    assert found.change.estimate == pytest.approx(-1 / 7)
    # Bonett and Price: p = 2/9, q = 3/9, half = 1.96 sqrt((p + q - (p - q)^2) / 9)
    assert found.change.low == pytest.approx(-1 / 9 - 0.4816, abs=1e-3)


def test_many_flips_one_way_are_significant():
    (found,) = compare_verdicts(verdicts("-" * 10), verdicts("+" * 10), seed=0)
    assert found.test.p == pytest.approx(2 / 2**10)
    assert found.change.estimate == 1.0


def test_only_predictions_of_both_are_compared():
    other = [dataclasses.replace(each, prediction=1) for each in verdicts("++")]
    assert compare_verdicts(verdicts("++"), other, seed=0) == []
    (none,) = compare_verdicts(verdicts("??"), verdicts("++"), seed=0)
    assert (none.n, none.first, none.test.p) == (0, None, None)
    assert none.test.reason == "nothing was scored"


def test_paired_numbers_are_those_of_scipy():
    # scipy 1.17: stats.ttest_rel([2, 4, 5, 9, 4], [1, 1, 4, 5, 3])
    values = {str(k): pair for k, pair in enumerate([(1, 2), (1, 4), (4, 5), (5, 9), (3, 4)])}
    found = paired("x", {**values, "9": (None, 3.0)}, seed=0)
    assert found.n == 5
    assert (found.first, found.second) == (2.8, 4.8)
    assert found.change.statistic == pytest.approx(3.1622776602)
    assert found.change.p == pytest.approx(0.0341094232)
    nothing = paired("x", {"1": (None, None)}, seed=0)
    assert (nothing.first, nothing.reason) == (None, NO_SHARED_ITEM)
    assert paired("x", {"1": (1.0, 2.0)}, seed=0).change.p is None


def test_change_and_test_have_one_sign_where_clusters_are_unequal():
    # 40 items of one cluster fall by 1, and 9 that stand alone rise by 1.
    values = {str(k): (0.0, -1.0 if k < 40 else 1.0) for k in range(49)}
    clusters = {str(k): "big" if k < 40 else str(k) for k in range(49)}
    found = paired("x", values, seed=0, clusters=clusters)
    assert found.change.value == pytest.approx(-31 / 49)
    assert found.change.statistic < 0
    assert found.effect.value < 0
    assert found.change.p > 0.05


def run_of(costs, folder, *, suite=SUITE, name="finto"):
    scorer = FakeScorer(
        lambda tokens, index: -costs.get(tokens[index], 2.0) * 0.6931471805599453, name=name
    )
    return evaluate(suite, scorer, judging=Judging(predictions=FORMULAS), output=folder)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    first = run_of({"longisland": 9.0, "1": 3.0}, folder / "a")
    second = run_of({"longisland": 5.0, "2": 4.0}, folder / "b")
    return first, second


def test_scores_and_dd_of_two_runs(runs):
    found = compare(*runs)
    assert (found.measure, found.unit, found.shared) == ("surprisal-bits", "bits", 4)
    # DD is what the last condition costs more: 7 bits, then 3
    assert {each.name: (each.first, each.second) for each in found.dds} == {
        "se: DD": (pytest.approx(7.0), pytest.approx(3.0)),
        "np: DD": (pytest.approx(7.0), pytest.approx(3.0)),
    }
    # all items change alike, but for rounding; of one item no test can be made
    assert found.dds[0].change.p is None
    assert found.dds[1].change.p is None
    island = next(each for each in found.scores if each.name == "long_island")
    # items 3 and 4 cost 4 bits less, item 1 five, item 2 two
    assert island.items == {
        "1": pytest.approx(5.0),
        "2": pytest.approx(2.0),
        "3": pytest.approx(4.0),
        "4": pytest.approx(4.0),
    }
    assert [each.prediction for each in found.flips] == [0, 1, 2, 3, None]
    nats = compare(*runs, measure="lp")
    assert nats.unit == "nats"
    assert nats.dds[0].first == pytest.approx(7.0 * 0.6931471805599453)


def test_items_of_only_one_run_are_named(runs, tmp_path):
    fewer = island_suite({"se": ["3", "4", "5"]})
    found = compare(runs[0], run_of({}, tmp_path, suite=fewer))
    assert found.shared == 2
    assert found.only_first == ("1", "2")
    assert found.only_second == ("5",)
    other = run_of({}, tmp_path / "other", suite=island_suite({"x": ["8", "9"]}))
    with pytest.raises(UsageError, match="share no item"):
        compare(runs[0], other)


def test_runs_are_matched_by_model(runs, tmp_path):
    other = run_of({}, tmp_path, name="altro")
    assert pair_runs([runs[0]], [other]) == [(runs[0], other)]
    assert pair_runs([runs[0], other], [runs[1]]) == [(runs[0], runs[1])]
    with pytest.raises(UsageError, match="no model in common"):
        pair_runs([runs[0], other], [evaluate(SUITE, uniform_scorer(3))])
    with pytest.raises(UsageError, match="several runs"):
        pair_runs([runs[0], runs[1]], [other])


def test_the_command_prints_tables_and_json(runs, capsys):
    command = ["compare", *(str(run.folder) for run in runs)]
    assert invoke([*command, "--items"]) == 0
    told = capsys.readouterr().out
    assert "DD of surprisal-bits in bits, before and after." in told
    assert "4 shared items" in told
    assert "Change of every item" in told
    assert invoke([*command, "--json", "--measure", "lp"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert found["measure"] == "lp"
    assert found["flips"][0]["test"]["p"] is None
    assert found["flips"][0]["test"]["reason"] == "4 values: an interval needs 5 or more"
    tables = runs[0].folder.parent / "tables"
    assert invoke([*command, "--json", "-o", str(tables)]) == 0
    json.loads(capsys.readouterr().out)
    assert {path.suffix for path in tables.iterdir()} == {".txt", ".csv", ".md", ".tex", ".json"}
    assert invoke(["compare", str(runs[0].folder), str(runs[0].folder.parent / "no")]) == 2
    assert "no finished run" in capsys.readouterr().err
