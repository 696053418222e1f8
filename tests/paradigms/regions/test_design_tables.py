"""Tables of factorial suites: the layout, its four forms, and the commands that make them."""

from __future__ import annotations

import csv
import dataclasses
import io
import math

import numpy as np
import pytest
from scipy import stats

from cimento import evaluate
from cimento.cli.main import invoke
from cimento.paradigms.regions.accuracy_tables import accuracy_grid
from cimento.paradigms.regions.condition_tables import means_grid
from cimento.paradigms.regions.estimates import MASKED_MODELS_REASON, factorial_of, factorials
from cimento.paradigms.regions.factorial import Factorial, dd_tests, factorial
from cimento.paradigms.regions.factorial_tables import (
    WHY_DRAWN,
    WHY_STUDENT,
    dd_grid,
    effects_grid,
    factorial_items_grid,
)
from cimento.paradigms.regions.paper_tables import dd_in_paper, effects_in_paper
from cimento.paradigms.regions.sections import region_report
from cimento.report.grid import Grid, as_csv, as_latex, as_markdown, grid_as_text
from cimento.statistics.intervals import wilson
from cimento.suites.design import predictions_of, squares
from cimento.testing import FakeScorer
from tests.helpers.designs import island_suite, scores

SUITE = island_suite({"se": ["1", "2"], "np": ["3"]})
ROWS = {
    "1": (-10.0, -11.0, -12.0, -20.0),
    "2": (-9.0, -14.0, -11.0, -13.0),
    "3": (-1.0, -1.0, -2.0, -2.0),
}


def result(model: str, measure: str, rows=ROWS, *, reason: str | None = None) -> Factorial:
    phenomena = () if reason else factorial(SUITE, scores(rows))
    return Factorial(
        suite="prova", model=model, measure=measure, unit="nats", phenomena=phenomena, reason=reason
    )


def four() -> list[Factorial]:
    worse = {**ROWS, "1": (-30.0, -31.0, -32.0, -20.0)}
    return [
        result("gpt", "lp"),
        result("gpt", "lp-l", reason=MASKED_MODELS_REASON),
        result("bert", "lp", worse),
        result("bert", "lp-l"),
    ]


def table(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_accuracies_stand_as_papers_set_them():
    grid = accuracy_grid(four())
    assert grid.header == ("phenomenon", "comparison", "n", "lp", "lp-l", "lp", "lp-l")
    assert [list(row) for row in grid.text] == [
        ["se", "short_nonisland over long_island", "2", "100.0", "", "50.0", "100.0"],
        ["", "long_nonisland over long_island", "2", "50.0", "", "0.0", "50.0"],
        ["", "short_island over long_island", "2", "100.0", "", "50.0", "100.0"],
        ["", "DD > 0", "2", "50.0", "", "0.0", "50.0"],
        ["np", "short_nonisland over long_island", "1", "100.0", "", "100.0", "100.0"],
        ["", "long_nonisland over long_island", "1", "100.0", "", "100.0", "100.0"],
        ["", "short_island over long_island", "1", "0.0", "", "0.0", "0.0"],
        ["", "DD > 0", "1", "0.0", "", "0.0", "0.0"],
        ["Average", "pairs", "3", "75.0", "", "50.0", "75.0"],
        ["", "DD > 0", "3", "25.0", "", "0.0", "25.0"],
    ]
    assert {(0, 3), (0, 6), (1, 3), (1, 6)} <= grid.bold
    assert (0, 5) not in grid.bold
    assert f"Blank: {MASKED_MODELS_REASON} (gpt lp-l)." in grid.notes


def larger(model: str = "m", *, n: int = 20) -> Factorial:
    """Two phenomena of n items: in the first, every fourth item fails the first pair."""
    suite = island_suite({"se": [str(k) for k in range(n)], "np": [str(k + n) for k in range(n)]})
    rows = {
        str(k): (-30.0 if k % 4 == 0 and k < n else -10.0, -11.0, -12.0, -20.0)
        for k in range(2 * n)
    }
    return Factorial(
        suite="prova",
        model=model,
        measure="lp",
        unit="nats",
        phenomena=factorial(suite, scores(rows)),
    )


def test_every_rate_and_mean_has_its_interval_and_n():
    grid = accuracy_grid([larger()])
    by_row = {row[:3]: row[3] for row in grid.text}
    low, high = wilson(0.75, 20)
    assert (
        by_row["se", "short_nonisland over long_island", "20"]
        == f"75.0 [{100 * low:.1f}, {100 * high:.1f}]"
    )
    average = by_row["Average", "pairs", "40"]
    # Five of six shares are 1 and one is 3/4; the interval is that of a stratified mean:
    # the standard error of the first phenomenon's mean / 2, times 2.0 to 2.5.
    assert average.startswith("95.8 [")
    low, high = (float(end) for end in average.removesuffix("]").split(" [")[1].split(", "))
    error = 100 * math.sqrt(0.75 * 0.25 / 19) / 3 / 2
    assert 2.0 * error < 95.83 - low < 2.5 * error
    assert 2.0 * error < high - 95.83 < 2.5 * error
    names, *rows = table(as_csv(grid))
    assert names[3:] == [f"m_lp_percent{end}" for end in ("", "_low", "_high", "_n", "_reason")]
    assert all(all(row[3:-1]) for row in rows if row[1] == "short_nonisland over long_island")


def test_an_average_counts_phenomena_alike_whatever_their_size():
    design = larger(n=40)
    cut = dataclasses.replace(design, phenomena=(design.phenomena[0], larger(n=8).phenomena[1]))
    pairs, _ = cut.averages()
    assert pairs.value == pytest.approx(sum(phenomenon.average for phenomenon in cut.phenomena) / 2)
    assert pairs.n == 48
    assert pairs.low < pairs.value < pairs.high


def test_several_suites_stand_under_each_other():
    other = [
        Factorial(suite="altra", model="gpt", measure="lp", unit="nats", phenomena=design.phenomena)
        for design in four()[:1]
    ]
    rows = table(as_csv(accuracy_grid([*four()[:1], *other])))
    assert rows[1][0] == "prova: se"
    assert rows[-2][0] == "altra: Average"


def test_means_of_conditions_have_the_intervals_within_items_and_n():
    values = np.array(
        [
            [-10, -11, -12, -20],
            [-9, -14, -11, -13],
            [-7, -9, -14, -18],
            [-12, -13, -11, -19],
            [-8, -10, -13, -16],
            [-11, -10, -15, -17],
        ],
        float,
    )
    suite = island_suite({"se": [str(k) for k in range(6)]})
    rows = {str(k): tuple(row) for k, row in enumerate(values)}
    made = Factorial(suite="s", model="m", measure="surprisal-bits", unit="bits",
                     phenomena=factorial(suite, scores(rows)))  # fmt: skip
    grid = means_grid([made])
    # Scores are turned, so that more is better: the table has surprisal itself.
    costs = -values
    # Morey 2008: items are centered, and the variance is corrected by k / (k - 1).
    centered = costs - costs.mean(axis=1, keepdims=True) + costs.mean()
    widths = stats.t.ppf(0.975, 5) * centered.std(axis=0, ddof=1) / np.sqrt(6) * np.sqrt(4 / 3)
    assert grid.header == ("model", "phenomenon", "condition", "n", "mean", "se")
    for row, cost, width in zip(grid.rows, costs.T, widths, strict=True):
        *_, n, mean, se = row
        assert str(n) == "6"
        assert mean.value == pytest.approx(cost.mean())
        assert (mean.low, mean.high) == pytest.approx((cost.mean() - width, cost.mean() + width))
        assert float(se) == pytest.approx(cost.std(ddof=1) / np.sqrt(6), abs=0.005)
    assert "surprisal, bits (higher: less probable)" in grid.title


def test_a_table_says_why_p_is_not_of_the_t_beside_it_only_where_items_are_drawn_again():
    drawn = dd_grid(dd_tests([larger(n=8)], seed=0))
    assert WHY_DRAWN not in drawn.notes  # all items agree: nothing is tested
    noisy = {str(k): (-10.0 - k, -11.0, -12.0, -20.0 + k * k / 9) for k in range(16)}
    suite = island_suite({"se": [*map(str, range(16))]})
    few = {name: noisy[name] for name in map(str, range(6))}
    small = island_suite({"se": [*few]})
    for made, rows, is_drawn in ((suite, noisy, True), (small, few, False)):
        phenomena = factorial(made, scores(rows))
        result = Factorial(suite="s", model="m", measure="lp", unit="nats", phenomena=phenomena)
        tests = dd_tests([result], seed=0)
        assert tests[0].dd.p is not None
        for grid in (dd_grid(tests), dd_in_paper(tests)):
            assert (WHY_DRAWN in grid.notes) == is_drawn
            assert (WHY_STUDENT in grid.notes) != is_drawn  # six items are too few to draw


def test_text_markdown_and_latex():
    grid = Grid(
        title="Two & more_things.",
        header=("what", "a", "b"),
        groups=("", "a long group name", "a long group name"),
        rows=(("first|one", "1.0", "20.5"), ("second", "", "3.0")),
        bold=frozenset({(0, 2)}),
        rules=frozenset({1}),
        notes=("A note.",),
    )
    lines = grid_as_text(grid).splitlines()
    assert lines[2].strip() == "a long group name"
    assert lines[3] == "what         a             b"
    assert lines[5] == "first|one  1.0          20.5"
    assert lines[6] == lines[4]
    assert lines[-1] == "A note."
    assert "| first\\|one | 1.0 | **20.5** |" in as_markdown(grid)
    latex = as_latex(grid)
    assert "\\caption{Two \\& more\\_things.}" in latex
    assert "first\\textbar{}one & 1.0 & \\textbf{20.5} \\\\" in latex
    assert "\\multicolumn{2}{c}{a long group name}" in latex
    assert "\\cmidrule(lr){2-3}" in latex
    assert latex.count("\\midrule") == 2


def test_what_steers_a_terminal_or_a_page_is_text():
    grid = Grid(title="a\x1b[2J", header=("b\n", "c"), rows=(("d\x07", "<img src=x>"),))
    for form in (grid_as_text(grid), as_markdown(grid)):
        assert not set(form) & {"\x1b", "\x07"}
        assert "b\n" not in form
    assert "| d  | &lt;img src=x> |" in as_markdown(grid)


def test_effects_are_called_by_their_factors():
    header = table(as_csv(effects_grid(four())))[0]
    first, second = four()[0].phenomena[0].square.factors
    assert header[15:18] == [f"{first}_effect", f"{second}_effect", "total_effect"]
    # All designs have the same conditions, so that the means go by their names.
    conditions = ["short_nonisland", "long_nonisland", "short_island", "long_island"]
    assert header[7:15:2] == conditions


def test_effects_and_items_are_all_there():
    rows = table(as_csv(effects_grid(four())))
    raw = next(row for row in rows if row[2:5] == ["lp", "se", "raw"])
    # plain -9.5 (se 0.5), long -12.5 (1.5), island -11.5 (0.5), both -16.5 (3.5)
    assert list(map(float, raw[7:19])) == pytest.approx(
        [-9.5, 0.5, -12.5, 1.5, -11.5, 0.5, -16.5, 3.5, 3.0, 2.0, 7.0, 2.0]
    )
    one = next(row for row in rows if row[2:5] == ["lp", "np", "raw"])
    assert one[8] == ""
    items = table(as_csv(factorial_items_grid(four()[:1])))
    assert [row[4] for row in items[1:]] == ["2", "1", "3"]
    assert items[1][9:11] == ["-3.0", "+-+"]
    assert items[3][10] == "++="


def test_dd_is_tested_over_items_and_corrected():
    tests = dd_tests(four(), seed=1)
    assert len(tests) == 6
    first = tests[0]
    # DD 7 and -3: mean 2, of two items without an interval or a test
    assert first.dd.value == pytest.approx(2.0)
    assert (first.dd.p, first.p_holm, first.dd.low) == (None,) * 3
    assert first.dd.reason == "2 values: an interval needs 5 or more"
    assert table(as_csv(dd_grid(tests)))[1][-1] == first.dd.reason
    assert dd_grid(()).rows == ()
    # tests that could not be made are not part of the family
    assert dd_grid(tests).notes == ()


def test_holm_is_over_the_tests_of_a_model_whatever_stands_beside():
    rows = {str(k): (0.0, -1.0, -1.0, -4.0 - k) for k in range(1, 9)}
    suite = island_suite({"se": list(rows)})
    one = Factorial(
        suite="p", model="m", measure="lp", unit="", phenomena=factorial(suite, scores(rows))
    )
    (test,) = dd_tests([one])
    # -1 to -8 less 2: nearly no draw is as far from its mean as -2 - 4.5 is from 0
    assert test.dd.p is not None
    assert test.dd.p < 0.02
    # two measures of a model are one family, and another model is another one
    measured = dataclasses.replace(one, measure="slor")
    two = dd_tests([one, measured])
    assert [test.p_holm for test in two] == pytest.approx([2 * test.dd.p] * 2)
    beside = dd_tests([one, dataclasses.replace(one, model="other"), measured])
    assert [test.p_holm for test in beside] == pytest.approx(
        [2 * test.dd.p, test.dd.p, two[1].p_holm]
    )
    assert dd_grid(beside).notes[0] == (
        "Holm: over the phenomena and measures of a model on the suite."
    )


# --- from runs


def run_of(tmp_path, *, measure=""):
    costs = {"longisland": -9.0, "shortnonisland": -1.0}
    scorer = FakeScorer(lambda tokens, index: costs.get(tokens[index], -2.0))
    return evaluate(SUITE, scorer, measures=measure, predictions=PREDICTION, output=tmp_path)


PREDICTION = tuple(prediction.formula for prediction in predictions_of(squares(SUITE)[0]))


def test_a_run_is_measured_as_it_was_judged_or_as_asked(tmp_path):
    run = run_of(tmp_path)
    bits = factorial_of(run)
    nats = factorial_of(run, "lp")
    assert bits.unit == "bits"
    assert bits.phenomena[0].effects["raw"].dd == pytest.approx(
        nats.phenomena[0].effects["raw"].dd / 0.6931471805599453
    )
    logistic = factorial_of(run, "lp-l")
    assert (logistic.phenomena, logistic.reason) == ((), MASKED_MODELS_REASON)
    assert [design.measure for design in factorials([run], ["lp,penlp"])] == ["lp", "penlp"]
    assert factorials([run_of(tmp_path, measure="lp")])[0].measure == "lp"


def test_the_report_command_writes_each_table_in_each_form(tmp_path, capsys):
    run = run_of(tmp_path / "runs")
    for name in ("accuracy", "effects", "tests", "mixed", "items"):
        for ending in ("txt", "csv", "md", "tex"):
            out = tmp_path / f"{name}.{ending}"
            command = ["report", str(run.folder), "--table", name, "--measure", "lp", "-o"]
            assert invoke([*command, str(out)]) == 0
            assert "lp" in out.read_text(encoding="utf-8")
    effects = ["report", str(run.folder), "--table", "effects"]
    assert invoke([*effects, "--format", "latex"]) == 0
    assert "\\begin{tabular}{llrr}" in capsys.readouterr().out
    assert invoke([*effects, "--scale", "z", "--format", "csv"]) == 0
    assert {row[4] for row in table(capsys.readouterr().out)} == {"scale", "z"}
    assert invoke(["report", str(run.folder), "--table", "tests", "--scale", "z"]) == 2
    assert "has no scale to choose" in capsys.readouterr().err
    assert invoke(["report", str(run.folder), "--format", "latex"]) == 0
    assert "\\label{tab:results}" in capsys.readouterr().out
    assert invoke(["report", str(run.folder), "--table", "accuracy"]) == 0
    assert "surprisal-bits" in capsys.readouterr().out


def test_the_report_command_refuses_what_is_no_table(tmp_path, capsys):
    run = run_of(tmp_path / "runs")
    command = ["report", str(run.folder), "--table", "accuracy"]
    assert invoke([*command, "-o", str(tmp_path / "x.pdf")]) == 2
    assert ".tex" in capsys.readouterr().err
    assert invoke([*command, "--measure", "lpp"]) == 2
    assert "no such measure" in capsys.readouterr().err


def test_show_and_report_give_the_table_that_run_names(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    command = ["run", "it-islands", "-m", "demo-causal", "-m", "demo-masked", "--limit", "8"]
    code = invoke([*command, "--measure", "lp,penlp,lp-l,penlp-l", "-o", str(tmp_path / "runs")])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    assert "demo-masked" in printed.out
    assert "--table accuracy" in printed.out
    runs, out = str(tmp_path / "runs"), tmp_path / "accuracy.csv"
    assert invoke(["show", runs]) == 0
    assert f"Blank: {MASKED_MODELS_REASON}" in capsys.readouterr().out
    assert invoke(["report", runs, "--table", "accuracy", "-o", str(out)]) == 0
    (header, first, *_) = table(out.read_text(encoding="utf-8"))
    names = [name.partition("_")[2] for name in header[3:]]
    ends = ("_percent", "_percent_low", "_percent_high", "_percent_n", "_percent_reason")
    four = [[f"{name}{end}" for end in ends] for name in ("lp", "penlp")]
    longer = [[name.replace("lp", "lp-l") for name in labels] for labels in four]
    assert names == [
        *four[0],
        *four[1],
        "lp-l",
        "penlp-l",
        *four[0],
        *four[1],
        *longer[0],
        *longer[1],
    ]
    assert first[:3] == ["whether", "short_nonisland over long_island", "2"]
    known = dict(zip(header, first, strict=True))
    assert [
        known[name] for name in header if name.startswith("demo-causal") and "lp-l" in name
    ] == [*("", "")]
    # Two items have a share and no interval, and the table says so.
    assert all(known[name] == "2" for name in header if name.endswith("_n"))
    assert not any(known[name] for name in header if name.endswith(("_low", "_high")))
    assert "No interval: fewer than 5 items." in printed.out
    latex = tmp_path / "accuracy.tex"
    assert invoke(["report", runs, "--table", "accuracy", "-o", str(latex)]) == 0
    # Of the causal model the two logistic measures are blank, and left out.
    assert "\\begin{tabular}{llrrrrrrr}" in latex.read_text(encoding="utf-8")


def test_a_paper_gets_effects_on_one_scale_with_models_in_columns():
    # Means of "se" over its two items, with their standard deviations over sqrt(2).
    grid = effects_in_paper(dd_tests([result("gpt@1", "lp"), result("bert@2", "lp")], seed=1))
    assert grid.header == ("phenomenon", "condition or effect", "n", "gpt", "bert")
    assert grid.title == "Condition means and effects (lp in nats); higher is more acceptable."
    first, second = four()[0].phenomena[0].square.factors
    assert [row[:4] for row in grid.text[:7]] == [
        ("se", "short_nonisland", "2", "-9.50 (0.50)"),
        ("", "long_nonisland", "", "-12.50 (1.50)"),
        ("", "short_island", "", "-11.50 (0.50)"),
        ("", "long_island", "", "-16.50 (3.50)"),
        ("", f"{first} effect", "", "3.00"),
        ("", f"{second} effect", "", "2.00"),
        ("", "DD", "", "2.00"),
    ]
    assert grid.text[7][:2] == ("np", "short_nonisland")
    assert grid.rules == frozenset({7})
    # Two items have no test, so no row is left blank for its p.
    assert "p (Holm)" not in {row[1] for row in grid.text}


def test_effects_of_two_measures_say_which_and_blank_what_a_model_lacks():
    grid = effects_in_paper(dd_tests(four(), normalization="z", seed=1))
    assert grid.groups == ("", "", "", "gpt", "bert", "bert")
    assert grid.header[3:] == ("lp", "lp", "lp-l")
    assert grid.title.startswith("Condition means and effects (lp; lp-l, z-score);")


def test_tested_effects_have_intervals_and_p():
    grid = effects_in_paper(dd_tests([larger()], seed=1))
    rows = {row[1]: row[3] for row in grid.text[:8]}
    test, same_for_all_items = dd_tests([larger()], seed=1)
    assert same_for_all_items.dd.p is None
    assert rows["DD"] == f"{test.dd.value:.2f} [{test.dd.low:.2f}, {test.dd.high:.2f}]"
    assert "p (Holm)" in rows
    said = "Holm: over the phenomena and measures of a model on the suite."
    assert any(note.endswith(said) for note in grid.notes)


def test_a_paper_gets_tests_with_two_models_side_by_side_and_more_below_each_other():
    few = dd_in_paper(dd_tests([larger("gpt@1"), larger("bert@2")], seed=1))
    assert few.header == ("phenomenon", "n", *("DD", "t", "p (Holm)") * 2)
    assert few.groups == ("", "", *["gpt"] * 3, *["bert"] * 3)
    tests = dd_tests([larger("gpt@1"), larger("bert@2")], seed=1)
    assert few.text[0][2] == (
        f"{tests[0].dd.value:.2f} [{tests[0].dd.low:.2f}, {tests[0].dd.high:.2f}]"
    )
    many = dd_in_paper(dd_tests([larger(f"m{k}@1") for k in range(3)], seed=1))
    assert many.header == ("phenomenon", "model", "n", "DD", "t", "p (Holm)")
    assert [row[:2] for row in many.text[:3]] == [("se", f"m{k}") for k in range(3)]
    assert not any("@" in cell for grid in (few, many) for row in grid.text for cell in row)


def test_the_terminal_leaves_out_what_is_blank_and_says_a_common_reason_once():
    grid = Grid(
        title="t",
        header=("suite", "n", "p", "reason"),
        rows=(("a", "3", "", "too few"), ("b", "4", "", "too few")),
        remarks=1,
    )
    said = grid_as_text(grid)
    assert said.count("too few") == 1
    assert "Not computed: p (too few)." in said
    assert "p" not in said.splitlines()[2].split()
    assert table(as_csv(grid))[1] == ["a", "3", "", "too few"]  # programs get every column
    differing = dataclasses.replace(grid, rows=(("a", "3", "", "x"), ("b", "4", "", "y")))
    assert grid_as_text(differing).splitlines()[2].split() == ["suite", "n", "note"]
    assert grid_as_text(dataclasses.replace(grid, rows=())).splitlines()[0] == "t"


def test_the_items_of_a_design_are_shown_by_their_dd(tmp_path):
    table = tmp_path / "isole.csv"
    table.write_text(
        "item,non_short,non_long,island_short,island_long\n"
        # DD = (7 - 4) - (4 - 3) = 2 nats, a word costing one.
        "1,La zia parte.,La zia parte oggi.,La zia canta oggi.,La zia parte domani con noi oggi.\n"
        # DD = (5 - 5) - (4 - 3) = -1 nat.
        "2,Il cane dorme.,Il cane dorme sempre qui.,Il cane mangia qui.,Il cane mangia poco qui.\n",
        encoding="utf-8",
    )
    run = evaluate(table, FakeScorer(lambda *_: -1.0), language="it")
    report = region_report(run)
    whole = {item.id: (item.outcome.question, item.outcome.verdict) for item in report.items}
    assert whole == {"2": ("DD", "fail"), "1": ("DD", "pass")}
    assert [item.outcome.value for item in report.items] == pytest.approx(
        [-1 / math.log(2), 2 / math.log(2)]
    )
    assert [part.question for part in report.items[0].parts][-1] == "all predictions"
