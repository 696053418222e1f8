"""Figures: the numbers that they hand out, their specs, and the files that are written."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import re
import shutil
import statistics

import pytest

from cimento import InputError, UsageError, evaluate
from cimento.cli.main import invoke
from cimento.measures.regions import RegionValues
from cimento.paradigms.regions.factorial import Factorial, factorial
from cimento.paradigms.regions.figures_conditions import (
    bar_half_widths,
    interaction_figure,
    rows_figure,
)
from cimento.paradigms.regions.figures_pairs import items_figure
from cimento.paradigms.regions.figures_regions import (
    differences_figure,
    paired_differences,
    sums_figure,
    sums_frame,
)
from cimento.paradigms.regions.judging import values_of
from cimento.paradigms.regions.sections import region_report
from cimento.paradigms.regions.two_by_two import effects_of
from cimento.report.figures_scores import (
    differences,
    item_frame,
    length_figure,
    length_frame,
    position_figure,
    position_frame,
    tokens_figure,
)
from cimento.studies.islands.human import people_result
from cimento.suites.builtin import find_suite
from cimento.suites.design import predictions_of, squares
from cimento.suites.load import open_suite
from cimento.testing import FakeScorer
from tests.helpers.designs import island_suite, scores
from tests.helpers.judging import make_suite
from tests.helpers.pages import parse_page
from tests.helpers.suites_on_disk import write

SUITE = island_suite({"se": ["1", "2"], "np": ["3", "4"]})
LN2 = 0.6931471805599453
UP = "higher: more acceptable"
ROWS = {
    "1": (-10.0, -11.0, -12.0, -20.0),
    "2": (-9.0, -14.0, -11.0, -13.0),
    "3": (-1.0, -1.0, -2.0, -2.0),
    "4": (-3.0, -2.0, -2.0, None),
}


def result(rows=ROWS, *, suite=SUITE, model="gpt") -> Factorial:
    return Factorial(
        suite="prova",
        model=model,
        measure="lp",
        unit="nats",
        phenomena=factorial(suite, scores(rows)),
    )


def run_of(folder, *, whole=True):
    costs = {"longisland": 9.0, "shortnonisland": 1.0}
    scorer = FakeScorer(lambda tokens, index: -costs.get(tokens[index], 2.0) * LN2, name="finto")
    formulas = tuple(prediction.formula for prediction in predictions_of(squares(SUITE)[0]))
    predictions = formulas if whole else formulas[1:2]
    return evaluate(SUITE, scorer, predictions=predictions, output=folder)


# --- interaction


def test_panels_hand_out_their_means_and_standard_errors():
    figure = interaction_figure(result(), "raw", {"se": 0.03}, bars="se")
    rows = figure.frame.to_dicts()
    assert len(rows) == 8
    last = rows[3]
    assert (last["phenomenon"], last["condition"], last["n"]) == ("se", "long_island", 2)
    assert (last["mean"], last["se"]) == pytest.approx((-16.5, 3.5))
    assert (last["low"], last["high"]) == pytest.approx((-20.0, -13.0))
    assert last["dd"] == pytest.approx(2.0)
    assert last["p"] == 0.03
    text = json.dumps(figure.spec)
    assert "DD 2.00, p .030, n 2, pairs 83%" in text
    assert '"description": "gpt on prova: interaction by phenomenon; ' in text
    assert "pairs: the bad cell is the lower one, compared with each of the other three" in text
    assert "DD: how much further the dashed line falls than the solid one" in text


def test_a_missing_cell_is_no_point_and_is_said():
    rows = {**ROWS, "3": (-1.0, -1.0, -2.0, None)}
    figure = interaction_figure(result(rows), "raw")
    missing = figure.frame.filter(figure.frame["mean"].is_null())
    assert missing["condition"].to_list() == ["long_island"]
    assert missing["reason"].to_list() == ["not asked"]
    assert "DD undefined: long_island: not asked" in json.dumps(figure.spec)


def test_bars_are_those_of_the_method_that_is_named():
    values = [(1.0, 2.0, 3.0, 4.0), (2.0, 3.0, 5.0, 4.0), (0.0, 2.0, 2.0, 1.0)] * 2
    rows = {str(number): row for number, row in enumerate(values)}
    suite = island_suite({"se": list(rows)})
    effects = factorial(suite, scores(rows))[0].effects["raw"]
    assert bar_half_widths(effects, "se")[0] == pytest.approx((4 / 5 / 6) ** 0.5)
    # By numpy and scipy: each item's mean off, sd with n - 1 below over the root of 6, times
    # the normal quantile of 0.975; and times the root of 4/3 and Student's with 5 degrees.
    removed = [0.10329917, 0.51649586, 0.37245046, 0.62834433]
    assert bar_half_widths(effects, "means-removed") == pytest.approx(removed)
    morey = [0.15644063, 0.78220314, 0.56405471, 0.95159119]
    assert bar_half_widths(effects, "cousineau-morey") == pytest.approx(morey)
    result = Factorial(
        suite="s", model="m", measure="lp", unit="", phenomena=factorial(suite, scores(rows))
    )
    frame = interaction_figure(result, "raw", bars="loftus-masson").frame
    widths = (frame["high"] - frame["mean"]).to_list()
    assert widths == pytest.approx([widths[0]] * 4)
    assert frame["bars"].unique().to_list() == ["loftus-masson"]
    assert bar_half_widths(effects_of(squares(suite)[0], {}, []), "loftus-masson") == [None] * 4


def test_plain_lines_are_solid_and_changed_ones_dashed():
    spec = interaction_figure(result(), "z").spec
    (dash,) = {
        json.dumps(layer["encoding"]["strokeDash"]["scale"], sort_keys=True)
        for panel in spec["concat"]
        for layer in panel["layer"]
        if "strokeDash" in layer["encoding"]
    }
    assert json.loads(dash) == {"domain": ["nonisland", "island"], "range": [[1, 0], [5, 4]]}
    x = spec["concat"][0]["layer"][0]["encoding"]["x"]
    assert x["sort"] == ["short", "long"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "scale", "axis", "up", "worst"),
    [
        ("surprisal-bits", "z", "log-probability, z-score", UP, "lower"),
        ("surprisal-nats", "raw", "surprisal, nats", "higher: less probable", "higher"),
        ("penlp", "likert-z", "penlp, z-score of 7 points", UP, "lower"),
        ("ppl", "z", "ppl with its sign reversed, z-score", UP, "lower"),
        ("rating", "raw", "rating, as given", UP, "lower"),
    ],
)
def test_the_axis_says_what_is_drawn_and_where_up_is(measure, scale, axis, up, worst):
    figure = interaction_figure(dataclasses.replace(result(), measure=measure), scale)
    titles = {
        tuple(layer["encoding"]["y"]["title"])
        for panel in figure.spec["concat"]
        for layer in panel["layer"]
    }
    assert f"pairs: the bad cell is the {worst} one" in figure.title
    assert titles == {(axis, up)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bars", "said"),
    [
        ("se", "error bars: ± 1 standard error of the mean over items"),
        ("loftus-masson", "error bars: 95% within items (Loftus-Masson)"),
    ],
)
def test_error_bars_are_named_in_the_figure_and_its_caption(bars, said):
    rows = {str(k): (1.0, 2.0 + k, 3.0, 4.0 + k % 2) for k in range(5)}
    suite = island_suite({"se": list(rows)})
    figure = interaction_figure(result(rows, suite=suite), "z", bars=bars)
    assert said in " ".join(figure.spec["title"]["subtitle"])
    assert said in figure.title
    drawn = parse_page(figure.svg()).words  # lines of a drawing have no blank between them
    assert "".join(said.split()) in "".join(drawn.split())


def test_rows_put_sources_beside_each_other_and_keep_empty_places():
    people = result(
        {"a": (1.0, 0.5, 0.5, -1.0)}, suite=island_suite({"wh_se": ["a"]}), model="people"
    )
    figure = rows_figure([("gpt", result(), {}), ("people", people, {})], "raw")
    titles = [panel["title"] for panel in figure.spec["concat"]]
    shown = [" ".join(title if isinstance(title, list) else title["text"]) for title in titles]
    assert shown == ["se: gpt", "se: people", "np: gpt", "np: people: none"]
    assert figure.spec["columns"] == 2
    assert figure.frame["model"].unique().sort().to_list() == ["gpt", "people"]


def rules_drawn(figure):
    """Rules among the marks of a drawing: error bars and their ends."""
    rules = r'<g class="mark-rule role-mark[^"]*"[^>]*>(.*?)</g>'
    groups = re.findall(rules, figure.svg(), re.DOTALL)
    return sum(group.count("<line") for group in groups)


@pytest.mark.parametrize("n", [1, 4, 5])
def test_no_error_bar_is_drawn_where_an_interval_has_too_few_items(n):
    rows = {str(k): (1.0, 2.0 + k, 3.0, 4.0 + k % 2) for k in range(n)}
    figure = interaction_figure(result(rows, suite=island_suite({"se": list(rows)})), "raw")
    has_bars = n >= 5
    assert figure.frame["low"].null_count() == (0 if has_bars else 4)
    assert (rules_drawn(figure) > 0) == has_bars
    assert ("no error bars: an interval needs 5 items or more" in figure.title) != has_bars


# --- tokens, positions, lengths, items


def test_the_locus_is_where_surprisals_differ_most():
    good = [("Le", 1.0), ("case", 3.0), ("sono", 1.0), ("belle", 4.0)]
    bad = [("Le", 1.0), ("case", 3.0), ("è", 9.0), ("belle", 8.0)]
    assert differences(bad, good) == ({2}, 2)
    assert differences(good, bad) == ({2}, 3)
    assert differences(good, good)[0] == set()
    assert differences([("Le", None)], good) == (set(), None)


def test_tokens_of_an_item(tmp_path):
    run = run_of(tmp_path)
    record = next(item for item in region_report(run).items if item.id == "1")
    frame = item_frame(record)
    assert frame["condition"].unique(maintain_order=True).to_list() == list(SUITE.condition_names)
    island = frame.filter(frame["condition"] == "long_island")
    assert island["token"].to_list() == ["Frase", "1", "longisland", "."]
    assert island["surprisal_bits"].to_list() == pytest.approx([2.0, 2.0, 9.0, 2.0])
    assert island["differs"].to_list() == [False, False, True, False]
    assert island["locus"].to_list() == [False, False, True, False]
    figure = tokens_figure(region_report(run), "1")
    assert len(figure.spec["vconcat"]) == 4


def test_tokens_that_cannot_be_drawn(tmp_path):
    report = region_report(run_of(tmp_path))
    with pytest.raises(UsageError, match="no such item"):
        tokens_figure(report, "11")


def test_mean_surprisal_by_position(tmp_path):
    reports = [region_report(run_of(tmp_path))]
    frame = position_frame(reports)
    # third token: 1, 2, 2 and 9 bits in each of four items
    third = frame.filter(frame["position"] == 3).to_dicts()[0]
    assert third["n"] == 16
    assert third["mean_bits"] == pytest.approx(3.5)
    assert third["se_bits"] == pytest.approx(
        (4 * 41 / 15) ** 0.5 / 4
    )  # squares 6.25 2.25 2.25 30.25
    assert position_figure(reports, length=4).frame.equals(frame)
    with pytest.raises(UsageError, match="so many tokens"):
        position_figure(reports, length=7)


def test_scores_against_length():
    rows = [
        {"model": "m", "item": "1", "condition": "good", "words": 3, "value": -4.0},
        {"model": "m", "item": "1", "condition": "bad", "words": 5, "value": None},
    ]
    figure = length_figure(length_frame(rows), measure="lp", unit="nats")
    assert figure.frame.height == 2
    assert "lp (nats)" in json.dumps(figure.spec)
    with pytest.raises(UsageError, match="no sentence has a value"):
        length_figure(length_frame(rows[1:]), measure="lp", unit="nats")


def test_dd_of_items():
    figure = items_figure(result())
    assert figure.frame["dd"].to_list() == [7.0, -3.0, 0.0, None]
    with pytest.raises(UsageError, match="no item has a DD"):
        items_figure(result(dict.fromkeys(ROWS, (None,) * 4)))


def test_surprisal_by_region_with_gaps_left_out():
    suite = open_suite(find_suite("it-filler-gap")).suite
    suite = dataclasses.replace(suite, items=suite.items[:4])
    run = evaluate(suite, FakeScorer(lambda tokens, index: -float(len(tokens[index])) * LN2))
    frame = sums_frame(run.suite, values_of(run))
    rows = {(row["region"], row["condition"]): row for row in frame.to_dicts()}
    # nothing is at the gap, so there is no mean and not a zero
    assert (rows["object", "cosa_gap"]["n"], rows["object", "cosa_gap"]["mean_bits"]) == (0, None)
    lengths = [
        float(sum(map(len, item.condition("cosa_nogap").regions[3].text.split())))
        for item in suite.items
    ]
    row = rows["object", "cosa_nogap"]
    assert row["mean_bits"] == pytest.approx(sum(lengths) / 4)
    assert row["high"] - row["mean_bits"] == pytest.approx(statistics.stdev(lengths) / 2)
    for make, wrong in (
        (sums_figure, "no region has a value"),
        (differences_figure, "no region has values in two conditions"),
    ):
        figure = make(run.suite, {"m": values_of(run)}, bars="cousineau-morey")
        assert figure.frame["bars"].unique().to_list() == ["cousineau-morey"]
        both = make(suite, {"m": values_of(run), "n": values_of(run)})
        assert both.frame["model"].unique(maintain_order=True).to_list() == ["m", "n"]
        assert "<svg" in both.svg()
        nothing = RegionValues("bits", "sum", {})
        with pytest.raises(UsageError, match=wrong):
            make(suite, {"m": nothing})


PAIRS = make_suite(
    ["(2;%good%) < (2;%bad%)"],
    [
        {"good": f"Il {noun} | va", "bad": f"Il {noun} | vanno"}
        for noun in ("cane", "gatto", "topo")
    ],
)
BITS = RegionValues(
    "bits",
    "sum",
    {
        "1": {"good": (9.0, 2.0), "bad": (9.0, 3.0)},
        "2": {"good": (1.0, 10.0), "bad": (1.0, 12.0)},
        "3": {"good": (5.0, 4.0), "bad": (5.0, 10.0)},
    },
)


def test_conditions_differ_by_region_within_items():
    """By hand: at the verb the differences are 1, 2 and 6, with mean 3 and variance 7.

    (4 + 1 + 9) / 2 = 7, so the standard error is sqrt(7 / 3) = 1.5275. Items differ much more
    from each other (2, 10, 4 and 3, 12, 10), which cancels out. Student's quantile for 2 degrees
    of freedom is 4.302653, and its interval reaches 6.5724 (scipy.stats.t.interval).
    """
    rows = {row[0]: row for row in paired_differences(PAIRS, BITS)}
    first, second = PAIRS.region_names
    assert rows[first][1:] == ("bad", "good", 3, 0.0, "se", 0.0, 0.0)
    assert rows[second][4] == 3.0
    assert rows[second][7] - 3 == pytest.approx(math.sqrt(7 / 3))
    assert 3 - rows[second][6] == pytest.approx(math.sqrt(7 / 3))
    for bars in ("cousineau-morey", "loftus-masson"):
        *_, wide = paired_differences(PAIRS, BITS, bars=bars)
        assert wide[7] - 3 == pytest.approx(4.302653 * math.sqrt(7 / 3), rel=1e-6)
    # Where an item lacks a condition there is no difference; one difference has no error.
    one = {"1": BITS.values["1"], "2": {"good": (1.0, 10.0)}}
    *_, alone = paired_differences(PAIRS, RegionValues("bits", "sum", one))
    assert alone[3:5] + alone[6:] == (1, 1.0, None, None)


def test_each_condition_is_named_once_where_it_differs_most():
    figure = differences_figure(PAIRS, {"m": BITS})
    named = [row for row in figure.spec["data"]["values"] if row["side"]]
    assert [(row["condition"], row["region"], row["side"]) for row in named] == [
        ("bad", PAIRS.region_names[1], "right")
    ]
    sizes = re.findall(r'font-size="([\d.]+)px"', figure.svg())
    assert sizes
    assert min(map(float, sizes)) >= 11


# --- people


def test_ratings_of_people_stand_as_scores(tmp_path):
    header = "phenomenon,item,condition,value\n"
    rows = [
        f"se,{item},{condition},{value}"
        for item, values in (("1", (6, 5, 4, 2)), ("2", (7, 5, 5, 1)))
        for condition, value in zip(SUITE.condition_names, values, strict=True)
    ]
    path = write(tmp_path / "voti.csv", header + "\n".join([*rows, "se,1,long_island,4"]) + "\n")
    (phenomenon,) = people_result(path).phenomena
    # item 1: its two ratings of the last condition are 3 on average
    assert phenomenon.effects["raw"].item_dds == (0.0, 2.0)
    # z-scores are drawn as they are, on whatever scale models are.
    standardized = header.replace("value", "z") + "\n".join(rows) + "\n"
    (phenomenon,) = people_result(write(tmp_path / "z.csv", standardized)).phenomena
    assert {effects.dd for effects in phenomenon.effects.values()} == {1.5}
    with pytest.raises(InputError, match="row 2"):
        people_result(write(tmp_path / "x.csv", header + "se,1,bad,3\n"))
    with pytest.raises(InputError, match="one of value, z"):
        people_result(write(tmp_path / "w.csv", "item,condition,value\n1,long_island,3\n"))
    with pytest.raises(InputError, match="there is no rating"):
        people_result(write(tmp_path / "y.csv", "phenomenon,item,condition\nse,1,long_island\n"))


@pytest.mark.parametrize("column", ["z", "mean_z"])
def test_z_scores_of_people_are_drawn_as_they_are(tmp_path, column):
    values = {"se": (1.0, 0.8, 0.8, -0.5), "np": (0.9, 0.2, 1.0, -0.8)}
    rows = [
        f"{phenomenon},1,{condition},{value}"
        for phenomenon, four in values.items()
        for condition, value in zip(SUITE.condition_names, four, strict=True)
    ]
    header = f"phenomenon,item,condition,{column}\n"
    people = people_result(write(tmp_path / "z.csv", header + "\n".join(rows) + "\n"))
    # (b - d) - (a - c) of the numbers above, by hand
    for scale in ("raw", "z", "likert-z"):
        figure = rows_figure([("people", people, {})], scale)
        drawn = dict(zip(figure.frame["phenomenon"], figure.frame["dd"], strict=True))
        assert drawn == pytest.approx({"se": 1.1, "np": 1.1})
        assert figure.frame["mean"].to_list()[:4] == pytest.approx(values["se"])
        # and the axis says no more of them than that
        assert "; rating, z-score (higher: more acceptable); " in figure.title


# --- files and commands


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return run_of(tmp_path_factory.mktemp("runs")).folder


FIGURES = ("interaction", "rows", "items", "tokens --item 3", "position", "regions", "region-sums")


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_the_command_writes_numbers_and_specs(folder, tmp_path, name):
    for ending in ("csv", "json"):
        path = tmp_path / f"figure.{ending}"
        assert invoke(["report", str(folder), "--figure", *name.split(), "-o", str(path)]) == 0
    with (tmp_path / "figure.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.DictReader(file))
    assert "vega-lite" in json.loads((tmp_path / "figure.json").read_text())["$schema"]


def test_a_token_may_be_a_name_of_the_language_of_charts(tmp_path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text(
        "good\tbad\nAsk if she in Rome sleeps if tired.\tAsk if she in Rome sleep if tired.\n",
        encoding="utf-8",
    )
    model = FakeScorer(lambda tokens, index: -float(len(tokens[index])))
    run = evaluate(pairs, model, output=tmp_path / "runs")
    path = tmp_path / "figure.svg"
    assert (
        invoke(["report", str(run.folder), "--figure", "tokens", "--item", "1", "-o", str(path)])
        == 0
    )
    # Both places of a token that appears twice are drawn, in either sentence.
    assert path.read_text(encoding="utf-8").replace("\u200b", "").count(">if<") == 4
    # No token is a part of an expression, where it could be more than a text.
    spec = path.with_suffix(".json")
    assert (
        invoke(["report", str(run.folder), "--figure", "tokens", "--item", "1", "-o", str(spec)])
        == 0
    )
    drawn = pytest.importorskip("vl_convert").vegalite_to_vega(spec.read_text(encoding="utf-8"))
    for element in drawn["data"]:
        element.pop("values", None)
    assert "Rome" not in json.dumps(drawn)


def test_the_command_draws(folder, tmp_path):
    for ending, beginning in (("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
        path = tmp_path / f"figure.{ending}"
        asked = ["--figure", "interaction", "--measure", "penlp", "--scale", "likert-z"]
        command = ["report", str(folder), *asked]
        assert invoke([*command, "-o", str(path)]) == 0
        assert path.read_bytes().startswith(beginning)
    assert "penlp, z-score of 7 points" in (tmp_path / "figure.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["interaction", "-o", "x.bmp"], ".svg"),
        (["tokens", "-o", "x.svg"], "no item is named"),
        (["interaction", "--measure", "lp-l", "-o", "x.svg"], "masked models"),
        (["interaction", "--measure", "lpp", "-o", "x.svg"], "no such measure"),
    ],
)
def test_the_command_refuses_what_it_cannot_draw(folder, tmp_path, capsys, arguments, message):
    *rest, path = arguments
    assert invoke(["report", str(folder), "--figure", *rest, str(tmp_path / path)]) == 2
    assert message in capsys.readouterr().err


def test_several_runs_are_drawn_in_rows_only(folder, tmp_path, capsys):
    again = shutil.copytree(folder, tmp_path / "again" / folder.name)
    both = [str(folder), str(again)]
    assert invoke(["report", *both, "--figure", "interaction", "-o", str(tmp_path / "x.svg")]) == 2
    assert "there are 2 runs" in capsys.readouterr().err
    assert invoke(["report", *both, "--figure", "rows", "-o", str(tmp_path / "x.json")]) == 0


def test_the_page_shows_the_panels(folder, tmp_path):
    path = tmp_path / "page.html"
    assert invoke(["report", str(folder), "-o", str(path)]) == 0
    page = parse_page(path.read_text(encoding="utf-8"))
    [panels] = [e for e in page.all("svg.figure") if "interaction" in e.all("title")[0].text]
    assert "surprisal, bits" in panels.words
    assert "higher: less probable" in panels.words
    assert "structure: island" in panels.words
    [said] = [e.words for e in page.all("figcaption") if "interaction by phenomenon" in e.words]
    assert "surprisal, bits (higher: less probable)" in said
    assert "pairs: the bad cell is the higher one" in said
    assert "no error bars: an interval needs 5 items or more" in said
