"""Two runs compared, before and after; oracles: hand calculation and scipy."""

from __future__ import annotations

import json
import math
import shutil

import polars as pl
import pytest

from cimento import Estimate, Outcome, UsageError, compare
from tests.helpers.command_line import invoke
from tests.helpers.made_runs import made_run, outcomes_of

MARGINS = {"+": 2.0, "-": -1.0, "=": 0.0, "?": None}


def judged(marks: str, model: str = "m@1", **more):
    """A run of one prediction, with margins in bits."""
    margins = {str(k): MARGINS[mark] for k, mark in enumerate(marks)}
    return made_run(model, outcomes_of(marks, value=margins, unit="bits"), **more)


def test_what_flips_by_hand():
    (rate,) = compare(judged("+++--=?+"), judged("+--+--++")).rates
    # item 6 is unscored before; of the other seven, 1 and 2 are lost, 3 is gained
    assert rate.n == 7
    assert (rate.first_share, rate.second_share) == (4 / 7, 3 / 7)
    assert (rate.gained, rate.lost) == (("3",), ("1", "2"))
    # exact binomial, 1 of 3 at 1/2, two-sided: 2 * (1 + 3) / 8
    assert rate.test.p == pytest.approx(1.0)
    assert rate.values.first == pytest.approx((4 * 2 - 2 + 0) / 7)
    assert rate.values.items["1"] == -3.0
    assert rate.change.estimate == pytest.approx(-1 / 7)
    # Bonett and Price: p = 2/9, q = 3/9, half = 1.96 sqrt((p + q - (p - q)^2) / 9)
    assert rate.change.low == pytest.approx(-1 / 9 - 0.4816, abs=1e-3)


def test_many_flips_one_way_are_significant():
    (rate,) = compare(judged("-" * 10), judged("+" * 10)).rates
    assert rate.test.p == pytest.approx(2 / 2**10)
    assert rate.change.estimate == 1.0
    assert rate.odds.reason == "no item that only the first gets right"


def test_a_tie_is_what_its_run_says():
    one = made_run("m@1", [Outcome(item="1", question="all", verdict="tie", right=True)])
    other = made_run("m@1", [Outcome(item="1", question="all", verdict="tie", right=False)])

    assert compare(one, other).rates[0].lost == ("1",)


def test_only_questions_of_both_are_compared():
    other = made_run("m@1", outcomes_of("++", "another"))
    assert compare(judged("++"), other).rates == ()
    (none,) = compare(judged("??"), judged("++")).rates
    assert (none.n, none.first_share, none.test.p) == (0, None, None)
    assert none.test.reason == "nothing was scored"


def test_margins_of_models_of_two_kinds_are_not_compared():
    (rate,) = compare(judged("+-+-+-"), judged("-+-+-+", kind="masked")).rates

    assert rate.values.change.value is None
    assert "different scales" in rate.values.change.reason
    assert "only rates are compared" in rate.note
    assert rate.change.estimate == 0.0


def valued(values: dict[str, float | None], clusters: dict[str, str] | None = None):
    """A run of values without right and wrong."""
    made = [
        Outcome(item=item, question="x", value=value, cluster=(clusters or {}).get(item, ""))
        for item, value in values.items()
    ]
    return made_run("m@1", made, more=[Estimate(suite="s", model="m@1", question="x")])


def paired(values: dict[str, tuple[float | None, float | None]], clusters=None):
    """What changes from the first of two numbers of each item to the second."""
    before, after = ({item: pair[k] for item, pair in values.items()} for k in (0, 1))
    (value,) = compare(valued(before, clusters), valued(after, clusters)).values
    return value


def test_paired_numbers_are_those_of_scipy():
    # scipy 1.17: stats.ttest_rel([2, 4, 5, 9, 4], [1, 1, 4, 5, 3])
    values = {str(k): pair for k, pair in enumerate([(1, 2), (1, 4), (4, 5), (5, 9), (3, 4)])}
    compared = paired({**values, "9": (None, 3.0)})
    assert compared.n == 5
    assert (compared.first, compared.second) == (2.8, 4.8)
    assert compared.change.statistic == pytest.approx(3.1622776602)
    assert compared.change.p == pytest.approx(0.0341094232)
    nothing = paired({"1": (1.0, None), "2": (None, 1.0)})
    assert (nothing.first, nothing.reason) == (None, "no item is scored in both")
    assert paired({"1": (1.0, 2.0)}).change.p is None


def test_change_and_test_have_one_sign_where_clusters_are_unequal():
    # 40 items of one cluster fall by 1, and 9 that stand alone rise by 1.
    values = {str(k): (0.0, -1.0 if k < 40 else 1.0) for k in range(49)}
    compared = paired(values, {str(k): "big" for k in range(40)})
    assert compared.change.value == pytest.approx(-31 / 49)
    assert compared.change.statistic < 0
    assert compared.effect.value < 0
    assert compared.change.p > 0.05


CELLS = (("plain", -0.5, 0.5), ("long", 0.5, 0.5), ("island", -0.5, -0.5), ("both", 0.5, -0.5))


def crossed(costs: dict[str, float], *, items: int = 6, **columns) -> pl.DataFrame:
    """A table of scores in which a condition costs every item so much, and item 0 one more."""
    rows = [
        {"item": str(k), "condition": name, "measure": "lp", "unit": "nats",
         "value": -costs.get(name, 0.0) - (k == 0),
         "oriented": -costs.get(name, 0.0) - (k == 0), "phenomenon": "wh", "first": first,
         "second": second, "first_factor": "length", "second_factor": "structure"} | columns
        for k in range(items)
        for name, first, second in CELLS
    ]  # fmt: skip
    return pl.DataFrame(rows)


def test_scores_of_conditions_and_the_interaction_are_paired_by_item():
    first = judged("++++++", table=crossed({"both": 7.0}))
    second = judged("++++++", table=crossed({"both": 3.0, "long": 1.0}))
    by_name = {value.name: value for value in compare(first, second).values}

    # (long - both) - (plain - island): 7, then 3 - 1
    assert (by_name["wh: DD"].first, by_name["wh: DD"].second) == (
        pytest.approx(7),
        pytest.approx(2),
    )
    assert by_name["wh: DD"].unit == "nats"
    assert by_name["both: lp"].items == {str(k): pytest.approx(4.0) for k in range(6)}
    assert by_name["long: lp"].change.value == pytest.approx(-1.0)
    assert set(by_name) == {"wh: DD", *(f"{name}: lp" for name, _, _ in CELLS)}


def test_an_item_without_one_of_four_scores_has_no_interaction():
    table = crossed({"both": 7.0})
    lacking = table.with_columns(
        pl.when((pl.col("item") == "2") & (pl.col("condition") == "long"))
        .then(None)
        .otherwise(pl.col("value", "oriented"))
        .name.keep()
    )
    compared = compare(judged("++++++", table=table), judged("++++++", table=lacking)).values

    assert {value.name: value.n for value in compared}["wh: DD"] == 5
    assert {value.name: value.n for value in compared}["long: lp"] == 5
    other = judged("++++++", table=crossed({}, measure="penlp"))
    assert compare(judged("++++++", table=table), other).values == ()


RATINGS = [1.0, 2.0, 4.0, 3.0, 6.0, 5.0, 7.0, 6.5]


def rated(model: str, values: list[float], **more):
    """A run of sentences with a value beside a rating each; pairs of sentences are clusters."""
    made = [
        Outcome(
            item=str(k), question="penlp", value=value, unit="nats", reference=RATINGS[k], **more
        )
        for k, value in enumerate(values)
    ]
    estimate = Estimate(suite="s", model=model, question="penlp", statistic="spearman", value=0.5)
    headline = Estimate(suite="s", model=model, question="another")
    return made_run(model, made, more=[headline, estimate])


def test_correlations_with_ratings_are_compared():
    better = [-6.0, -7.0, -4.0, -5.0, -2.0, -3.0, -1.5, -1.0]
    worse = [-4.0, -6.0, -7.0, -5.0, -2.0, -1.0, -1.5, -3.0]
    comparison = compare(rated("m@1", worse), rated("n@1", better))
    (correlation,) = comparison.correlations

    assert comparison.rates == ()
    assert (correlation.question, correlation.coefficient, correlation.change.n) == (
        "penlp",
        "spearman",
        8,
    )
    # Two pairs of neighbors in the wrong order: 1 - 6 * 4 / (8 * 63).
    second = 1 - 24 / 504
    assert correlation.change.second == pytest.approx(second)
    assert 0 < correlation.change.estimate == pytest.approx(second - correlation.change.first)
    assert correlation.change.low < correlation.change.estimate < correlation.change.high
    assert (correlation.corrected, correlation.family) == (correlation.change.p, 1)
    # the values themselves are compared too
    assert [value.name for value in comparison.values] == ["penlp"]
    ranked = compare([rated("m@1", worse), rated("n@1", better)])
    assert ranked.rankings == ()
    assert ranked.correlations == comparison.correlations


def test_items_of_only_one_run_are_named():
    comparison = compare(judged("++++"), judged("++"))
    assert comparison.runs[0].shared == 2
    assert comparison.runs[0].only_first == ("2", "3")
    assert comparison.runs[0].only_second == ()
    other = made_run("m@1", [Outcome(item="x", question="all", verdict="pass", right=True)])
    with pytest.raises(UsageError, match="share no item"):
        compare(judged("++"), other)


def names(comparison) -> list[tuple[str, str]]:
    return [(pair.first, pair.second) for pair in comparison.runs]


def test_runs_are_matched_by_suite_and_model():
    one, other, third = judged("+"), judged("-", "n@1"), judged("-")
    assert names(compare([one], [other])) == [("s, m@1", "s, n@1")]
    assert names(compare([one, other], [third])) == [("s, m@1", "s, m@1")]
    with pytest.raises(UsageError, match="no model in common"):
        compare([one, other], [judged("+", "o@1", suite="t")])
    with pytest.raises(UsageError, match="several runs"):
        compare([one, third], [other])
    # of two under different options each is found again
    deep = judged("-", depth=2)
    with pytest.raises(UsageError, match="several runs of s by m@1, with other options"):
        compare([one, other, deep], [third])
    rates = compare([one, deep], [judged("+", depth=2), third]).rates
    assert [(rate.lost, rate.gained) for rate in rates] == [(("0",), ()), ((), ("0",))]


def test_a_notebook_shows_rates_and_correlations():
    html = compare(judged("+-+-"), judged("++--"))._repr_html_()

    assert "Proportion of correct items before and after" in html
    assert "4 shared items" in html


@pytest.mark.parametrize("other", ["m@2", "m@step2000"])
def test_one_model_is_compared_before_and_after(other):
    comparison = compare(judged("+-+-", "m@1"), judged("++--", other))

    assert comparison.models is None
    rates = comparison.grids()["rates"]
    assert rates.title.startswith(f"Proportion of correct items before (m@1) and after ({other})")
    assert {"m@1", other, "change", "gained"} <= set(rates.header)
    assert f"change: {other} minus m@1; above 0, more items are correct after." in rates.notes


def test_of_two_models_both_are_named():
    comparison = compare(judged("+-+-", "tall@1"), judged("++--", "small@7"))
    grids = comparison.grids(with_items=True)

    assert comparison.models == ("tall@1", "small@7")
    assert grids["rates"].title.startswith(
        "Proportion of correct items with tall@1 and with small@7"
    )
    assert {"tall@1", "small@7", "only tall@1", "difference"} <= set(grids["rates"].header)
    assert "s, all, only small@7: 1." in grids["rates"].notes
    assert any("small@7 minus tall@1; above 0" in note for note in grids["rates"].notes)
    assert "odds: items right only with small@7" in " ".join(grids["sizes"].notes)
    assert grids["items"].title == "Difference of every item, small@7 minus tall@1."
    assert not any("before" in grid.title or "gained" in grid.header for grid in grids.values())


def test_the_command_prints_tables_and_json(runs_of_every_kind, tmp_path, capsys):
    islands = str(runs_of_every_kind / "it-islands")
    capsys.readouterr()

    assert invoke(["compare", islands, islands, "--items"]) == 0
    out = capsys.readouterr().out
    assert "3 shared items" in out
    assert f"before: it-islands, demo-causal@91bca5d in {islands}" in out
    assert "DD, paired by item: after minus before." in out
    assert "Change of every item" in out
    assert (
        "detectable: the smallest" not in out
    )  # three items in one cell have none: no column, no explanation
    assert invoke(["compare", islands, islands, "--json", "--measure", "lp"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["rates"][0]["test"]["p"] is None
    assert {value["unit"] for value in printed["values"]} == {"nats"}
    assert math.isclose(printed["values"][0]["change"]["value"], 0.0)
    assert invoke(["compare", islands, islands, "--json", "-o", str(tmp_path / "tables")]) == 0
    json.loads(capsys.readouterr().out)
    forms = {path.suffix for path in (tmp_path / "tables").iterdir()}
    assert forms == {".txt", ".csv", ".md", ".tex", ".json"}
    assert invoke(["compare", islands, str(tmp_path / "no")]) == 2
    assert "no finished run" in capsys.readouterr().err


def test_ratings_are_compared_by_their_correlations(runs_of_every_kind, tmp_path, capsys):
    ratings = str(runs_of_every_kind / "it-acceptability")
    capsys.readouterr()

    assert invoke(["compare", ratings, ratings]) == 0
    out = capsys.readouterr().out
    assert "Correlations with the same reference" in out
    assert "spearman" in out
    assert invoke(["compare", ratings, ratings, "--fail-if-worse", "0"]) == 2
    assert "a run is on both sides" in capsys.readouterr().err
    copy = str(shutil.copytree(ratings, tmp_path / "copy"))
    assert invoke(["compare", ratings, copy, "--fail-if-worse", "0"]) == 2
    assert "nothing was judged" in capsys.readouterr().err


def test_what_has_no_numbers_has_a_reason(tmp_path, capsys):
    models = ("-m", "demo-causal", "-m", "demo-masked")
    assert invoke(["run", "en-subject-verb", *models, "-o", str(tmp_path)]) == 0
    folders = sorted(map(str, (tmp_path / "en-subject-verb").iterdir()))
    capsys.readouterr()
    assert invoke(["compare", *folders, "--items"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "There are none: scores of causal and masked models are on different scales." in printed
    assert "detectable: the two differ on 5 items of 24, too few for a power of 0.8" in printed
