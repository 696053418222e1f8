"""Explanations of runs: what is exchanged, the effects, their averages, table and command."""

from __future__ import annotations

import json

import polars as pl
import pytest

import cimento
from cimento import UsageError
from cimento.explain import explain
from cimento.io.explained import EXPLANATIONS
from cimento.paradigms.regions.chance import NearTies
from cimento.paradigms.regions.explanation_tables import explanation_grids
from cimento.paradigms.regions.explanations import NO_FULL, NOT_EXACT, SAME_WORDS, cell_means
from cimento.paradigms.regions.swaps import ExplainSettings, contrasts_of
from cimento.suites import Condition, Item, Meta, Prediction, Region, Suite
from tests.helpers import copying
from tests.helpers.command_line import invoke


@pytest.fixture(scope="module")
def filler_gap(tmp_path_factory):
    return cimento.evaluate(
        "en-filler-gap", "demo-causal", output=tmp_path_factory.mktemp("runs"), device="cpu"
    )


@pytest.fixture(scope="module")
def exact(filler_gap):
    return explain(filler_gap, ExplainSettings(align="exact", predictions=("gap",)), store=False)


# The numbers of the issue, from a prototype with hooks of its own.
EARLIER = {"complementizer": {0: 4.41, 1: 3.96, 4: 1.60}, "after": {1: 1.27, 4: 3.47}}


@pytest.mark.slow
def test_the_filler_carries_what_the_prototype_found(exact):
    means = {(mean.region_name, mean.layer): mean for mean in exact.means}
    full = means["everything", None]
    assert (round(full.effect_bits, 2), full.n) == (4.41, 12)
    for region, layers in EARLIER.items():
        for layer, bits in layers.items():
            mean = means[region, layer]
            assert round(mean.effect_bits, 2) == bits
            assert mean.share == pytest.approx(bits / 4.41, abs=0.003)
            assert (mean.n, mean.n_inexact) == (12, 0)


@pytest.mark.slow
def test_an_interchange_before_the_first_layer_is_the_other_word(exact):
    # In a causal model the filler alone differs, so its embedding carries all there is.
    first = exact.table.filter(region_name="complementizer", layer=0, reason="")
    assert (first["effect_bits"] - first["full_bits"]).abs().max() < 1e-4


def test_the_same_words_in_the_same_places_change_nothing_before_the_first_layer(exact):
    first = exact.table.filter(layer=0, reason="").filter(pl.col("region_name") != "complementizer")
    assert set(first["region_name"]) == {"before", "after"}
    assert first["effect_bits"].to_list() == [0.0] * len(first)
    later = exact.table.filter(layer=1, reason="", region_name="after")
    assert later["effect_bits"].abs().min() > 1e-4
    means = {mean.region_name: mean for mean in exact.means if mean.layer == 0}
    for name in ("before", "after"):
        assert (means[name].effect_bits, means[name].low, means[name].p) == (0.0, None, None)
        assert means[name].reason == SAME_WORDS
    assert means["complementizer"].reason != SAME_WORDS


def test_items_without_a_token_for_each_token_are_left_out_if_that_is_asked(exact):
    left_out = exact.table.filter(reason=NOT_EXACT)
    assert left_out["item"].n_unique() == 12
    assert left_out["effect_bits"].null_count() == len(left_out)


def test_the_margins_are_those_of_the_outcomes(filler_gap, exact):
    outcomes = filler_gap.outcomes().filter(question="gap")
    margins = exact.table.unique("item").join(outcomes, on="item")
    assert len(margins) == 24
    assert (margins["margin_bits"] - margins["value"]).abs().max() < 1e-4


def test_what_is_there_is_not_asked_again(filler_gap, monkeypatch):
    from cimento.models.hf.interchange import Interchange

    settings = ExplainSettings(items=("2",), regions=(2,))
    first = explain(filler_gap, settings)
    monkeypatch.setattr(Interchange, "patch", None)
    assert explain(filler_gap, settings).table.equals(first.table)


def test_tables_of_several_parts_are_kept_together(filler_gap):
    explain(filler_gap, ExplainSettings(items=("1", "2"), predictions=("gap",)))
    explain(filler_gap, ExplainSettings(items=("2",), part="mlp", predictions=("gap",)))
    stored = filler_gap.table("explanations")
    assert set(stored.filter(part="mlp")["item"]) == {"2"}
    assert {"1", "2"} <= set(stored.filter(part="residual")["item"])
    assert stored.schema == EXPLANATIONS.polars()
    reopened = cimento.open_run(filler_gap.folder)
    assert reopened.summary().estimates == filler_gap.summary().estimates


@pytest.mark.slow
def test_the_report_shows_an_explanation(filler_gap, tmp_path):
    explain(filler_gap, ExplainSettings(items=("1", "2"), predictions=("gap",)))
    page = cimento.report(filler_gap, tmp_path / "page.html").read_text("utf-8")
    assert "carries the predictions of en-filler-gap" in page
    assert "effect in bits of exchanging the residual stream" in page
    assert "by layer. complementizer" in page


# --- A model whose mechanism is known, and a suite with twins


def _item(number: int, more: str = "") -> Item:
    sentences = {
        "match": (copying.SINGULAR, "runs"),
        "mismatch": (copying.SINGULAR, "run"),
        "twin_match": (copying.PLURAL, "run"),
        "twin_mismatch": (copying.PLURAL, "runs"),
    }
    return Item(
        str(number),
        tuple(
            Condition(name, tuple(map(Region, ("the", noun, f"here {more}".strip(), verb, "fast"))))
            for name, (noun, verb) in sentences.items()
        ),
    )


SWAPS = {"match": "twin_mismatch", "mismatch": "twin_match"}


def agreement(**extra: object) -> Suite:
    return Suite(
        meta=Meta(name="twins", language="en", phenomenon="agreement"),
        region_names=("article", "subject", "adverb", "verb", "rest"),
        predictions=(Prediction("(4;%match%) < (4;%mismatch%)"),),
        items=[_item(number, "often " * number) for number in range(1, 7)],
        extra=extra,
    )


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    folder = tmp_path_factory.mktemp("copier")
    return cimento.evaluate(
        agreement(), str(copying.save(folder / "model")), output=folder / "runs", device="cpu"
    )


def test_a_twin_shows_where_agreement_is_carried(twins):
    explanation = explain(twins, ExplainSettings(swaps=SWAPS), store=False)
    shares = {(mean.region_name, mean.layer): mean for mean in explanation.means}
    full = shares["everything", None].effect_bits
    assert full > 10
    for region, layers in {"subject": (1, 1, 0), "adverb": (0, 0, 1)}.items():
        for layer, share in enumerate(layers):
            assert shares[region, layer].effect_bits == pytest.approx(share * full, abs=0.01 * full)
    heads = explain(twins, ExplainSettings(swaps=SWAPS, part="heads"), store=False)
    carrying = [mean for mean in heads.means if mean.layer and abs(mean.effect_bits) > 0.01 * full]
    assert [(m.region_name, m.layer, m.head) for m in carrying] == [
        ("adverb", copying.LAYER, copying.HEAD)
    ]


def test_a_suite_can_declare_its_twins(tmp_path):
    declared = agreement(explain={"swaps": SWAPS})
    run = cimento.evaluate(declared, str(copying.save(tmp_path / "model")), device="cpu")
    [contrast] = contrasts_of(run, ExplainSettings()).contrasts
    assert contrast.swaps == SWAPS


def test_a_pair_that_differs_only_in_what_is_measured_says_what_is_missing(twins):
    with pytest.raises(UsageError, match=r"in which feature.*swap=BASE=SOURCE"):
        explain(twins)


def test_a_design_without_factors_is_pointed_to_them():
    names = ("wh_gap", "that_gap", "wh_nogap", "that_nogap")
    regions = {name: (Region(name[:2]), Region("she saw"), Region("it")) for name in names}
    items = [Item(str(n), tuple(Condition(a, b) for a, b in regions.items())) for n in range(3)]
    formula = Prediction("(1;%wh_gap%) - (1;%that_gap%) < (1;%wh_nogap%) - (1;%that_nogap%)")
    suite = Suite(Meta("own"), ("filler", "before", "after"), (formula,), items)
    run = cimento.evaluate(suite, "demo-causal")
    with pytest.raises(UsageError, match=r"declare them in \[factors\].*swap=BASE=SOURCE"):
        explain(run)


def test_a_feature_of_three_values_is_told_the_name_of_the_column():
    run = cimento.evaluate("ru-past-tense-gender", "demo-causal", limit=12)
    with pytest.raises(UsageError, match="twin_gender"):
        explain(run)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"swaps": {"mach": "twin_match"}}, "has no such condition"),
        ({"swaps": SWAPS, "items": ("99",)}, "has no such item"),
        ({"swaps": SWAPS, "predictions": ("gap",)}, "has no such prediction"),
        ({"swaps": SWAPS, "regions": (5,)}, "no region before what is measured differs"),
    ],
)
def test_what_cannot_be_explained_is_said(twins, settings, said):
    with pytest.raises(UsageError, match=said):
        explain(twins, ExplainSettings(**settings), store=False)


def test_a_difference_of_differences_exchanges_one_factor():
    run = cimento.evaluate("it-filler-gap", "demo-causal", limit=2, device="cpu")
    contrasts = contrasts_of(run, ExplainSettings()).contrasts
    named = {contrast.question: contrast.swaps for contrast in contrasts}
    assert named == {
        "filled": {"cosa_nogap": "che_nogap"},
        "gap": {"che_gap": "cosa_gap"},
        "DD": {"che_gap": "cosa_gap", "che_nogap": "cosa_nogap"},
    }


@pytest.mark.slow
@pytest.mark.parametrize("model", ["demo-masked", "t5"])
def test_masked_models_and_encoder_decoders_are_explained(model, zoo_folder, tmp_path):
    name = model if model.startswith("demo") else str(zoo_folder(model))
    orders = {"plain": "La casa rossa", "turned": "La rossa casa"}
    items = [
        Item(more, tuple(Condition(name, (Region(f"{more} {order}"), Region("è chiusa.")))
                         for name, order in orders.items()))
        for more in ("Oggi", "Ieri", "Domani")
    ]  # fmt: skip
    prediction = Prediction("(2;%plain%) < (2;%turned%)")
    suite = Suite(
        Meta(name="orders", language="it"), ("subject", "predicate"), (prediction,), items
    )
    run = cimento.evaluate(suite, name, output=tmp_path, device="cpu")
    explanation = explain(run, store=False)
    table = explanation.table.filter(alignment="exact", layer=0, region=1)
    assert len(table) == 3
    assert table["full_bits"].abs().min() > 1e-3
    assert (table["effect_bits"] - table["full_bits"]).abs().max() < 1e-3


# --- Averages


def _rows(effects: list[float], *, full: float) -> pl.DataFrame:
    rows = [
        ("s", str(item), "prediction 0", "a into b", "residual", 2, "subject", 1, None, "exact",
         full, effect, full, "", "a", None)
        for item, effect in enumerate(effects, start=1)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=EXPLANATIONS.polars(), orient="row")


def test_means_are_over_items_with_shares_of_what_is_surely_there():
    suite = agreement()
    everything, mean = cell_means(suite, _rows([1.0, 2.0, 3.0, 2.0, 1.5, 2.5], full=4.0))
    assert everything.effect_bits == 4.0
    assert (mean.effect_bits, mean.n, mean.reason) == (2.0, 6, NO_FULL)  # no spread, no interval
    assert mean.low < 2.0 < mean.high
    assert mean.p_holm == mean.p  # the only cell


def test_effects_of_few_items_are_not_said_to_be_insignificant():
    few = cell_means(agreement(), _rows([1.0, 2.0], full=4.0))
    assert all(mean.p is None for mean in few)
    [grid] = explanation_grids(few)
    assert "from the margin of 2 items, which was not tested." in grid.notes[0]
    assert grid.notes[1] == "None of these effects was tested."
    [grid] = explanation_grids(cell_means(agreement(), _rows([1.0, 2.0, 3.0, 2.0, 1.5], full=4.0)))
    assert "significantly from 0" in grid.notes[1]


def test_the_printed_interval_of_the_full_effect_decides_of_shares():
    # Student's t excludes 0 here, and the bootstrap that is printed does not.
    fulls = [2.0, -0.6, 3.6, 0.5, 0.0, 0.8, 0.5, 4.3, 0.2, -0.4, -0.6, 2.7]
    rows = pl.concat(
        [
            _rows([0.5], full=full).with_columns(item=pl.lit(str(item)))
            for item, full in enumerate(fulls, start=1)
        ]
    )
    everything, mean = cell_means(Suite(Meta("s"), ("a",), (), []), rows)
    assert (everything.low > 0) == (everything.share is not None)
    assert (mean.share is None) == (everything.share is None)
    assert everything.share is None


def test_effects_that_differ_are_named():
    rows = pl.concat(
        [
            _rows([1.0, 2.0, 3.0, 2.0, 1.5, 2.5], full=4.0).with_columns(
                layer=pl.lit(layer, pl.Int32)
            )
            for layer in (0, 2)
        ]
    )
    [grid] = explanation_grids(cell_means(agreement(), rows))
    assert "over all cells): subject after layers 0, 2." in " ".join(grid.notes)


def test_effects_within_the_error_of_the_number_format_are_shown_and_not_tested():
    near = NearTies(1.3, "the error of bfloat16")
    effects = [0.5, 0.7, 0.4, 0.8, 0.6, 0.6]
    means = cell_means(agreement(), _rows(effects, full=4.0), near=near)
    mean = means[1]
    assert mean.effect_bits == pytest.approx(0.6)
    assert 0 < mean.low < 0.6 < mean.high
    assert (mean.p, mean.p_holm) == (None, None)
    assert mean.reason == (
        "no item's effect exceeds the error of a margin, 1.3 bits (the error of bfloat16)"
    )
    [grid] = explanation_grids(means)
    assert f"In 1 cell {mean.reason}; such means are shown and not tested." in grid.notes
    [_, tested] = cell_means(agreement(), _rows([*effects[:-1], 1.4], full=4.0), near=near)
    assert tested.p is not None


# --- The command


@pytest.mark.slow
def test_the_command_prints_layers_by_regions_and_writes_figures(filler_gap, tmp_path, capsys):
    asked = ["analyze", "attribution", str(filler_gap.folder), "1", "2", "--prediction", "gap"]
    assert invoke([*asked, "-o", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "after layer" in printed
    assert "complementizer" in printed
    assert "not parts of a sum" in printed
    assert {"residual-1.csv", "explanation.svg", "layers.svg"} <= {
        p.name for p in tmp_path.iterdir()
    }
    assert invoke([*asked, "--json", "--part", "heads"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["part"], record["swaps"]) == ("heads", ["wh_gap into that_gap"])
    assert {mean["head"] for mean in record["means"]} == {None, 0, 1, 2, 3}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--region", "nowhere"], "has no such region"),
        (["--swap", "a"], "Write BASE=SOURCE"),
        (["--part", "mind"], "mind"),
        (["-m", "demo-masked"], "is a run of demo-causal"),
    ],
)
def test_bad_input_is_one_message(filler_gap, capsys, arguments, said):
    assert invoke(["analyze", "attribution", str(filler_gap.folder), *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_run_of_another_kind_is_refused(runs_of_every_kind, capsys):
    [folder] = (runs_of_every_kind / "it-connectives-cloze").iterdir()
    assert invoke(["analyze", "attribution", str(folder)]) == 2
    assert "only runs of regions can be explained" in capsys.readouterr().err


def test_pairs_without_twins_are_pointed_to_what_each_word_contributes(tmp_path, capsys):
    suite = cimento.pairs([("Le case sono alte.", "Le case è alte.")], language="it")
    run = cimento.evaluate(suite, "demo-causal", output=tmp_path)
    assert invoke(["analyze", "attribution", str(run.folder)]) == 2
    assert "Give --by integrated, which says what" in " ".join(capsys.readouterr().err.split())
    assert invoke(["analyze", "attribution", str(run.folder), "--by", "integrated"]) == 0
