"""What the figures and the aligned strips of a page are made of, worked out by hand."""

from __future__ import annotations

import dataclasses
import itertools
import re

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import UsageError
from cimento.report.figure_room import room
from cimento.report.figures_rates import (
    bin_width,
    heat_figure,
    margin_bars,
    margins_figure,
    margins_frame,
    phenomena_frame,
)
from cimento.report.html import inline_svg
from cimento.report.items import script_safe
from cimento.report.strips import Piece, RegionStrip, Strip, aligned
from tests.helpers.reporting import constant, make_run, unknown


def frame_of(*margins):
    columns = {"model": "m", "unit": "bits"}
    return pl.DataFrame({"margin": list(margins)}).with_columns(
        **{name: pl.lit(text) for name, text in columns.items()}
    )


def test_bars_begin_at_zero_and_ties_have_their_own():
    # From -3 to 20: a width of 1 makes 23 bars.
    bars = margin_bars(frame_of(-3.0, -0.5, 0.0, 0.0, 0.5, 1.0, 20.0))
    counts = {(side, low, high): n for _, _, side, low, high, n in bars.iter_rows()}
    assert counts == {
        ("against", -4.0, -3.0): 1,
        ("against", -1.0, 0.0): 1,
        ("tie", -0.125, 0.125): 2,
        ("in favor", 0.0, 1.0): 1,
        ("in favor", 1.0, 2.0): 1,
        ("in favor", 20.0, 21.0): 1,
    }


finite = st.floats(-1e6, 1e6, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-6)


@settings(deadline=None)
@given(st.lists(finite, min_size=1, max_size=40))
def test_every_item_is_in_one_bar_on_its_own_side(margins):
    bars = margin_bars(frame_of(*margins))
    assert bars["items"].sum() == len(margins)
    counts = dict(bars.group_by("side").agg(pl.col("items").sum()).iter_rows())
    assert counts.get("tie", 0) == margins.count(0)
    assert counts.get("in favor", 0) == sum(margin > 0 for margin in margins)
    for low, high in bars.filter(pl.col("side") == "in favor").select("low", "high").iter_rows():
        assert 0 <= low < high
    for low, high in bars.filter(pl.col("side") == "against").select("low", "high").iter_rows():
        assert low < high <= 0


@pytest.mark.parametrize(
    ("values", "width"), [([], 1.0), ([0.0, 0.0], 1.0), ([-12.0, 12.0], 1.0), ([0.1, 5.0], 0.5)]
)
def test_widths_are_round_and_make_at_most_24_bars(values, width):
    assert bin_width(values) == width


def test_unscored_items_have_no_bar_and_stay_in_the_numbers():
    run = make_run(score=unknown)
    assert margins_frame([run])["margin"].null_count() == 8
    with pytest.raises(UsageError, match="no item has a margin"):
        margins_figure([run], suite="s")
    both = margins_figure([run, make_run(model="y")], suite="s")
    assert both.frame.height == 16


def test_all_ties_make_one_bar():
    bars = margin_bars(margins_frame([make_run(score=constant)]))
    assert bars.select("side", "items").rows() == [("tie", 8)]


def in_unit(unit, factor=1.0, *, model="m"):
    """A run whose margins are in another unit, and its items' verdicts as they were."""
    run = make_run(model=model)
    items = tuple(
        dataclasses.replace(
            item,
            outcome=dataclasses.replace(item.outcome, unit=unit, value=factor * item.outcome.value),
        )
        for item in run.items
    )
    return dataclasses.replace(run, items=items)


@pytest.mark.parametrize(
    ("unit", "axis", "said"),
    [
        ("bits", "margin, bits", "bits in favor of"),
        ("bits per token", "margin, bits per token", "bits per token in favor of"),
        ("", "margin", "in favor of"),
    ],
)
def test_margins_are_drawn_in_the_unit_that_they_have(unit, axis, said):
    figure = margins_figure([in_unit(unit)], suite="s")
    assert figure.title == f"Margins on s: {said} what is predicted, item by item"
    assert figure.spec["spec"]["layer"][0]["encoding"]["x"]["title"] == axis
    assert figure.frame["unit"].to_list() == [unit] * 8
    assert figure.frame["margin"].to_list() == [item.outcome.value for item in make_run().items]


def test_margins_in_several_units_have_scales_and_bars_of_their_own():
    bits, per_token = in_unit("bits"), in_unit("bits per token", 0.01, model="n")
    figure = margins_figure([bits, per_token], suite="s")
    assert figure.spec["resolve"]["scale"] == {"x": "independent", "y": "independent"}
    rows = figure.spec["data"]["values"]
    assert [*dict.fromkeys(row["model"] for row in rows)] == ["m, bits", "n, bits per token"]
    for unit in ("bits", "bits per token"):
        own = pl.DataFrame([row for row in rows if row["unit"] == unit])
        assert own["items"].sum() == 8
    widths = {row["unit"]: row["high"] - row["low"] for row in rows if row["side"] != "tie"}
    assert widths["bits"] == pytest.approx(100 * widths["bits per token"])


@pytest.mark.parametrize("unit", ["rank", "probability", "points"])
def test_a_value_that_is_no_margin_is_not_drawn(unit):
    assert margins_frame([in_unit(unit)]).is_empty()


def test_numbers_without_unit_whose_signs_are_not_those_of_the_verdicts_are_no_margins():
    assert {item.outcome.verdict for item in make_run().items} == {"pass", "fail"}
    assert margins_frame([in_unit("", -1.0)]).is_empty()
    assert len(margins_frame([in_unit("")])) == 8


def test_the_numbers_of_phenomena_are_those_of_the_summary():
    run = make_run()
    frame = phenomena_frame([run])
    assert frame.select("phenomenon", "n").rows() == [("tame", 6), ("wild", 2)]
    assert frame["accuracy"].to_list() == [estimate.value for _, estimate in run.rates[1].lines]


def test_items_are_counted_in_whole_numbers():
    # Two items at most in one bar: halves would be told as 0, 1, 1, 2, 2.
    margins = {"1": 5.0, "2": 5.0, "3": -7.0}
    record = make_run().items[0]
    assert record.outcome is not None
    items = tuple(
        dataclasses.replace(
            record, id=name, outcome=dataclasses.replace(record.outcome, value=bits)
        )
        for name, bits in margins.items()
    )
    run = dataclasses.replace(make_run(), items=items)
    svg = margins_figure([run], suite="s").svg()
    ticks = re.findall(r'text-anchor="end"[^>]*>([\d.]+)</text>', svg)
    assert ticks[-3:] == ["0", "1", "2"]


def test_numbers_in_a_drawing_stay_as_they_are():
    svg = inline_svg(margins_figure([make_run()], suite="s"), name="f1")
    assert svg.startswith('<svg class="figure" role="img" aria-labelledby="f1-title"')
    assert svg.count("<svg") == svg.count("</svg>") == 1
    assert " style=" not in svg
    assert "xmlns" not in svg


LONG_MODELS = (
    "sapienza/minerva-7b-instruct-italian-continued-pretraining-step-120000",
    "sapienza/minerva-7b-instruct-italian-continued-pretraining-step-240000",
)
LONG_NAMES = (
    "agreement of the subject and the verb across an intervening plural attractor",
    "agreement of the predicative adjective with a coordinated subject, masculine",
)


def long_map(models=LONG_MODELS):
    rows = [(model, name, 0.5) for model in models for name in LONG_NAMES]
    frame = pl.DataFrame(rows, schema=["model", "phenomenon", "accuracy"], orient="row")
    return heat_figure(frame, name="phenomena", title="t", x="model", y="phenomenon")


def test_long_names_are_whole_in_a_heat_map():
    texts = re.findall(r">([^<>]+)</t(?:ext|span)>", inline_svg(long_map(), name="f1"))
    assert not [text for text in texts if "…" in text]
    assert {*LONG_NAMES} <= {*texts}
    joined = "".join(texts)
    assert all(model in joined for model in LONG_MODELS)


def test_a_model_that_is_called_otherwise_has_its_name_in_a_heat_map():
    dressed = long_map().dressed(names={LONG_MODELS[0]: "Minerva"})
    assert ">Minerva</text>" in dressed.svg()


TURNED = (
    '<text text-anchor="end" font-size="10px" transform="translate({0},{0}) rotate({1})">'
    "abcdefghij</text>"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Ten letters of 10 px in a wide font take 62.
        ('<text text-anchor="end" font-size="10px">abcdefghij</text>', (22, 0, 0)),
        ('<text text-anchor="start" font-size="10px">abcdefghij</text>', (0, 2, 0)),
        ('<text text-anchor="middle" font-size="10px">abcdefghij</text>', (0, 0, 0)),
        # Turned by 30 degrees about its end: cos 0.866, so 53.7 to the left; sin 0.5, upward.
        (TURNED.format(0, 30), (14, 0, 0)),
        # To the lower left: 62 x 0.5 = 31 below 70.
        (TURNED.format(10, -30), (4, 0, 31)),
    ],
)  # fmt: skip
def test_labels_have_room_in_a_wide_font(text, expected):
    svg = f'<svg><g transform="translate(40,60)"><g>{text}</g></g></svg>'
    assert tuple(room(svg, width=100.0, height=70.0)) == expected


def sentence(condition, text, *, tail=""):
    pieces = [Piece(word, asked=True, surprisal_bits=1.0) for word in text.split()]
    spaced = [part for piece in pieces for part in (piece, Piece(" "))][:-1]
    regions = (RegionStrip(number=1, needed=True, pieces=tuple(spaced)),)
    if tail:
        last = Piece(tail, asked=True, surprisal_bits=2.0)
        regions += (RegionStrip(number=2, needed=True, pieces=(last,)),)
    return Strip(condition, regions)


def cut(strip):
    return [
        ("".join(piece.text for piece in region.pieces).strip(), region.needed)
        for region in strip.regions
    ]


def test_two_sentences_are_cut_where_they_differ():
    good, bad = aligned([
        sentence("good", "le donne che amo dormono bene"),
        sentence("bad", "le donne che amo dorme bene"),
    ])  # fmt: skip
    assert cut(good) == [("le donne che amo", False), ("dormono", True), ("bene", False)]
    assert cut(bad) == [("le donne che amo", False), ("dorme", True), ("bene", False)]


def test_a_word_that_is_only_in_one_leaves_a_gap_in_the_other():
    first, second = aligned([sentence("a", "non viene mai"), sentence("b", "viene mai")])
    assert cut(first) == [("non", True), ("viene mai", False)]
    assert cut(second) == [("", True), ("viene mai", False)]


def test_more_sentences_are_compared_from_both_ends():
    strips = aligned([
        sentence("a", "chi ha visto il film"),
        sentence("b", "chi non ha letto il film"),
        sentence("c", "chi ama il film"),
    ])  # fmt: skip
    assert [cut(strip)[1] for strip in strips] == [
        ("ha visto", True),
        ("non ha letto", True),
        ("ama", True),
    ]


def test_declared_regions_that_decide_are_left_alone():
    one = sentence("a", "il gatto", tail="dorme")
    decides = dataclasses.replace(one, regions=(
        dataclasses.replace(one.regions[0], needed=False), one.regions[1],
    ))  # fmt: skip
    other = dataclasses.replace(decides, condition="b")
    assert aligned([decides, other]) == (decides, other)
    assert aligned([one]) == (one,)
    assert aligned([one, dataclasses.replace(one, condition="b")])[0] == one


VOCABULARY = ("il", "la", "gatto", "dorme", "che", "non", "bene")
WORDS = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=8)


@settings(deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=4))
def test_aligning_loses_and_adds_no_word(texts):
    strips = [sentence(str(number), " ".join(words)) for number, words in enumerate(texts)]
    lined_up = aligned(strips)
    for words, strip in zip(texts, lined_up, strict=True):
        assert strip.text.split() == words
    if len({tuple(words) for words in texts}) > 1:
        common = {tuple(t for t, needed in cut(strip) if not needed and t) for strip in lined_up}
        assert len({len(strip.regions) for strip in lined_up}) == 1
        assert len(common) == 1


def test_long_texts_are_compared_in_no_time():
    words = list(itertools.islice(itertools.cycle("abcdefg"), 5000))
    first, second = aligned([
        sentence("a", " ".join([*words, "x", *words])),
        sentence("b", " ".join([*words, "y", *words])),
    ])  # fmt: skip
    assert cut(first)[1] == ("x", True)
    assert cut(second)[1] == ("y", True)


@given(st.text())
def test_the_block_cannot_end_its_element(text):
    safe = script_safe(text)
    assert not set(safe) & set("<>&\u2028\u2029")
