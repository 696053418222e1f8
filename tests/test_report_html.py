"""The HTML page: what it shows, and that nothing in it can run or load anything."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.report.build import items_shown
from cimento.report.html import html_page, shade
from cimento.report.summary import Missing, Summary
from cimento.suites.model import Condition, Region
from tests.judging import make_suite
from tests.pages import parse_page
from tests.reporting import (
    AGREEMENT,
    constant,
    first_items,
    make_run,
    named,
    summary_of,
    unknown,
    with_predictions,
)

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</td></table></style>",
    "{{ 7 * 7 }} {% raw %} &amp; &#60;",
    "\u202eright to left\u202c \u200f\u2067",
)


def page_of(*runs):
    return parse_page(html_page(summary_of(*runs), runs))


def hostile_suite(text):
    plain = text.replace("|", "").strip()
    suite = make_suite(
        ["(1;%a%) < (1;%b%)"],
        [{"a": f"{plain} dorme", "b": f"{plain} dormono"}],
        columns=[{"phenomenon": text}],
    )
    meta = dataclasses.replace(suite.meta, name=text, language=text, comment=text, licence=text)
    predictions = (dataclasses.replace(suite.predictions[0], comment=text),)
    return dataclasses.replace(suite, meta=meta, predictions=predictions, region_names=(text,))


def hostile_page(text):
    run = make_run(hostile_suite(text), model=text)
    summary = dataclasses.replace(run.summary, warnings=(text,))
    run = dataclasses.replace(run, summary=summary, provenance=((text, text),))
    missing = Missing(suite=text, model=text, message=text)
    return html_page(Summary(cimento=text, runs=(summary,), missing=(missing,)), [run])


def drawn(page, mark):
    """How often a mark is drawn in charts; the explanation under the overview is none."""
    return sum(len(chart.all(mark)) for chart in page.all("svg.draw"))


def test_nothing_is_loaded_and_nothing_runs():
    text = html_page(summary_of(make_run()), [make_run()])
    assert not re.search(r"https?:|//[a-z]|url\(|@import|javascript:|data:", text, re.IGNORECASE)
    page = parse_page(text)
    tags = {element.tag for element in page.walk()}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "form", "base"}
    names = {name for element in page.walk() for name in element.attributes}
    assert not {name for name in names if name.startswith("on")} | (names & {"src", "style"})
    assert {e.attributes["href"][0] for e in page.walk() if "href" in e.attributes} == {"#"}


def test_the_security_policy_allows_the_page_s_own_style_and_nothing_else():
    page = page_of(make_run())
    [policy] = [
        element.attributes["content"]
        for element in page.all("meta")
        if element.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    [style] = page.all("style")
    digest = base64.b64encode(hashlib.sha256(style.text.encode()).digest()).decode()
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{digest}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_as_text(text):
    harmless = parse_page(hostile_page("harmless"))
    page = parse_page(hostile_page(text))
    assert {e.tag for e in page.walk()} == {e.tag for e in harmless.walk()}
    assert {name for e in page.walk() for name in e.attributes} == {
        name for e in harmless.walk() for name in e.attributes
    }
    assert page.all("h2.")[1].words.startswith(" ".join(text.split()))
    strip = page.all("table.strips")[0].all("td")[0]
    shown = "".join(
        part if isinstance(part, str) else str(part.children[0]) for part in strip.children
    )
    assert shown == f"{text.strip()} dorme"


@settings(deadline=None, max_examples=15)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20))
def test_any_text_leaves_the_page_well_formed(text):
    assert parse_page(hostile_page(text)).all("main")


def test_the_overview_has_a_cell_for_each_suite_and_model():
    first, second = named(AGREEMENT, "uno"), named(AGREEMENT, "due")
    runs = (make_run(first, model="x"), make_run(first, constant, model="y"))
    page = page_of(*runs, make_run(second, model="y"))
    [matrix] = page.all("table.matrix")
    head, *rows = matrix.all("tr")
    assert [cell.words for cell in head.all("th")] == ["Suite", "Items", "x", "y"]
    assert [row.all("th")[0].words for row in rows] == ["uno", "due"]
    cells = [[cell.words for cell in row.all("td.cell")] for row in rows]
    assert cells[0][0] == "0.750 [0.409, 0.929] n 8 · 0 ties · 0 unscored · chance 0.500"
    assert cells[0][1] == "0.000 [0.000, 0.324] n 8 · 8 ties · 0 unscored · chance 0.500"
    assert cells[1][0] == "not run"


def test_links_lead_to_sections_and_no_id_comes_twice():
    suites = [named(AGREEMENT, name) for name in ("a", "b")]
    page = page_of(*(make_run(suite) for suite in suites))
    ids = [e.attributes["id"] for e in page.walk() if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    assert {e.attributes["href"][1:] for e in page.all("a")} <= set(ids)
    assert len(page.all("a")) == 2


def test_the_chart_has_prediction_and_phenomena_with_counts():
    [chart] = page_of(make_run()).all("table.forest")
    rows = [
        [cell.words for cell in row.all("") if cell.tag in {"th", "td"}] for row in chart.all("tr")
    ]
    tail = ["0.500", "8", "0", "0"]
    assert rows[1] == ["All items", "fake@0000000", "0.750", "[0.409, 0.929]", "", *tail]
    assert rows[2] == ["By phenomenon"]
    assert [(row[0], row[2], row[6]) for row in rows[3:]] == [
        ("tame", "0.667", "6"),
        ("wild", "1.000", "2"),
    ]


def test_marks_stand_where_the_numbers_say():
    [chart] = page_of(make_run()).all("table.forest")
    drawing = chart.all("svg.draw")[0]
    [span], [dot], [chance] = (drawing.all(name) for name in ("line.span", ".dot", ".chance"))
    assert (span.attributes["x1"], span.attributes["x2"]) == ("40.93%", "92.85%")
    assert dot.attributes["cx"] == "75.00%"
    assert chance.attributes["x1"] == chance.attributes["x2"] == "50.00%"


def test_no_mark_is_drawn_where_there_is_no_number():
    page = page_of(make_run(score=unknown))
    assert drawn(page, "line.span") == drawn(page, "circle.dot") == 0
    assert drawn(page, "line.chance") == drawn(page, "line.axis") > 0
    equal = with_predictions(AGREEMENT, "(1;%match%) = (1;%mismatch%)")
    page = page_of(make_run(equal))
    assert drawn(page, "line.chance") == 0
    assert drawn(page, "line.span") == drawn(page, "circle.dot") > 0


@pytest.mark.parametrize(
    ("suite", "score", "said"),
    [
        (AGREEMENT, unknown, "Nothing was scored (8 items unscored)"),
        (AGREEMENT, constant, "All 8 items judged are ties"),
        (first_items(AGREEMENT, 1), constant, "Only one item was judged"),
        (with_predictions(first_items(AGREEMENT, 0)), constant, "The suite has no items"),
        (with_predictions(AGREEMENT), constant, "The suite has no predictions"),
    ],
)
def test_what_cannot_be_told_is_said_plainly(suite, score, said):
    [notes] = page_of(make_run(suite, score)).all("ul.notes")
    assert said in notes.words


def test_a_page_of_nothing_says_so():
    missing = Missing(suite="it-x", model="none", message="there is no such model")
    page = parse_page(html_page(Summary(cimento="0", runs=(), missing=(missing,)), []))
    assert page.all("h1")[0].words == "Nothing was run"
    assert "it-x, none: there is no such model" in page.all("ul.notes")[0].words


def test_items_come_worst_first_with_verdict_margin_and_token_strips():
    items = page_of(make_run()).all("li.item")
    verdicts = [item.all(".outcome")[0].all(".verdict")[0].words for item in items]
    assert verdicts == ["fail"] * 2 + ["pass"] * 6
    margins = [float(item.all(".margin")[0].words.split()[0].replace("−", "-")) for item in items]
    assert margins == sorted(margins)
    strips = items[0].all("table.strips")[0]
    assert [row.all("th")[0].words for row in strips.all("tr")] == ["match", "mismatch"]
    tokens = [token.children[0] for token in strips.all("tr")[0].all("b")]
    assert tokens == ["Il", tokens[1], "dorme", "."]
    decides = [[t.children[0] for t in cell.all("b")] for cell in strips.all("td.decides")]
    assert decides == [["dorme", "."], ["dormono", "."]]


def test_a_token_says_its_surprisal_by_number_title_and_colour():
    run = make_run()
    page = page_of(run)
    piece = run.items[0].strips[0].regions[0].pieces[0]
    token = page.all("li.item")[0].all("b")[0]
    assert token.attributes["title"] == f"{piece.surprisal_bits:.2f} bits"
    assert token.all("i")[0].text == f"{piece.surprisal_bits:.1f}"
    assert token.classes == {f"t{shade(piece.surprisal_bits)}"}


def test_tokens_that_were_not_asked_for_or_have_no_score_look_so():
    plain = page_of(make_run(all_tokens=False)).all("li.item")[0].all("table.strips")[0]
    assert [cell.all("b") == [] for cell in plain.all("tr")[0].all("td")] == [True, False]
    assert plain.all("td")[0].words.startswith("Il ")
    none = page_of(make_run(score=unknown)).all("li.item")[0].all("b")[0]
    assert none.classes == {"none"}
    assert none.attributes["title"] == "recorded as NaN"


@pytest.mark.parametrize(
    ("bits", "colour"), [(-0.5, 0), (0.0, 0), (1.99, 0), (2.0, 1), (15.9, 7), (16.0, 8), (99.0, 8)]
)
def test_each_two_bits_have_a_colour(bits, colour):
    assert shade(bits) == colour


def test_stimuli_carry_their_language_and_direction():
    page = page_of(make_run(named(AGREEMENT, "it", language="it")))
    strips = page.all("li.item")[0].all("table.strips")[0]
    assert (strips.attributes["lang"], strips.attributes["dir"]) == ("it", "ltr")
    hebrew = make_suite(["(1;%a%) < (1;%b%)"], [{"a": "הילד ישן", "b": "הילד ישנה"}])
    strips = page_of(make_run(hebrew)).all("li.item")[0].all("table.strips")[0]
    assert strips.attributes["dir"] == "rtl"
    assert "lang" not in strips.attributes


def test_regions_that_touch_are_not_set_apart():
    condition = Condition("a", (Region("l'"), Region("uomo", glued=True), Region("dorme")))
    suite = make_suite(["(2;%a%) > 0"], [{"a": "x | y | z"}])
    item = dataclasses.replace(suite.items[0], conditions=(condition,))
    page = page_of(make_run(dataclasses.replace(suite, items=(item,))))
    cells = page.all("li.item")[0].all("td")
    assert ["glued" in cell.classes for cell in cells[:2]] == [True, False]


def test_a_region_of_a_suite_with_one_region_is_not_marked():
    whole = make_suite(["(*;%a%) < (*;%b%)"], [{"a": "Il gatto dorme.", "b": "Il gatto dormono."}])
    assert page_of(make_run(whole)).all("li.item")[0].all("td.decides") == []


def test_several_predictions_are_listed_by_their_numbers():
    suite = with_predictions(
        AGREEMENT, "(2;%match%) < (2;%mismatch%)", "(1;%match%) < (1;%mismatch%)"
    )
    run = make_run(suite)
    numbered = tuple(
        dataclasses.replace(result, index=number)
        for result, number in zip(run.summary.predictions, (4, 7), strict=True)
    )
    run = dataclasses.replace(run, summary=dataclasses.replace(run.summary, predictions=numbered))
    page = page_of(run)
    [listed] = page.all("ol.predictions")
    assert [line.attributes["value"] for line in listed.all("li")] == ["4", "7"]
    each = page.all("li.item")[0].all("ul.each")[0]
    assert [line.all(".number")[0].words for line in each.all("li")] == ["4", "7"]
    groups = [
        cell.words for cell in page.all("table.forest")[0].all("th") if "rowspan" in cell.attributes
    ]
    assert groups == ["Prediction 4", "Prediction 7", "All predictions", "tame", "wild"]


def test_the_filter_offers_what_there_is():
    page = page_of(make_run())
    [filters] = page.all("fieldset.filter")
    assert [label.words for label in filters.all("label")] == ["all", "fail 2", "pass 6"]
    assert len({button.attributes["name"] for button in filters.all("input")}) == 1
    assert page_of(make_run(score=constant)).all("fieldset.filter") == []


def test_the_same_suite_judged_by_other_predictions_has_its_own_section():
    other = with_predictions(AGREEMENT, "(2;%match%) > (2;%mismatch%)")
    assert len(page_of(make_run(), make_run(other)).all("section.suite")) == 2
    assert len(page_of(make_run(), make_run(model="y")).all("section.suite")) == 1


def test_provenance_says_once_what_all_runs_share():
    page = page_of(make_run(model="x"), make_run(model="y"))
    [section] = [e for e in page.all("section") if e.attributes.get("id") == "provenance"]
    facts = [
        [
            (label.words, text.words)
            for label, text in zip(each.all("dt"), each.all("dd"), strict=True)
        ]
        for each in section.all("dl")
    ]
    assert facts == [
        [("suite sha256", "0" * 64), ("seed", "0")],
        [("model name", "x")],
        [("model name", "y")],
    ]


def test_five_thousand_items_make_a_light_page_that_says_what_is_left_out():
    items = [
        {"match": f"Il gatto {n} | dorme sul tetto.", "mismatch": f"Il gatto {n} | dormono."}
        for n in range(5000)
    ]
    run = make_run(make_suite(["(2;%match%) < (2;%mismatch%)"], items), limit=items_shown(1))
    text = html_page(summary_of(run), [run])
    assert len(text) < 500_000
    page = parse_page(text)
    assert len(page.all("li.item")) == 100
    assert "The 100 items with the smallest margins are shown" in page.words
    assert run.summary.n_items == 5000


def test_an_item_of_ten_thousand_characters_is_shown_whole():
    long = "parola " * 1429
    suite = make_suite(["(1;%a%) < (1;%b%)"], [{"a": long, "b": f"{long} no"}])
    page = page_of(make_run(suite))
    assert page.all("li.item")[0].all("tr")[0].text.count("parola") == 1429


def test_the_same_runs_give_the_same_page():
    assert html_page(summary_of(make_run()), [make_run()]) == html_page(
        summary_of(make_run()), [make_run()]
    )


def luminance(colour):
    """Relative luminance (WCAG 2.2, https://www.w3.org/TR/WCAG22/#dfn-relative-luminance)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(("mode", "first_light"), [("light", 6), ("dark", 5)])
def test_text_can_be_read_on_every_colour(mode, first_light):
    [style] = page_of(make_run()).all("style")
    blocks = re.findall(r":root \{(.*?)\}", style.text, re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", blocks[0]))
    if mode == "dark":
        colours |= dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", blocks[1]))
    pairs = [("ink", "paper"), ("muted", "paper"), ("muted", "wash"), ("accent", "paper")]
    pairs += [(verdict, "paper") for verdict in ("pass", "fail", "tie", "unscored")]
    pairs += [("light-word" if n >= first_light else "dark-word", f"t{n}") for n in range(9)]
    too_close = {pair for pair in pairs if contrast(*(colours[name] for name in pair)) < 4.5}
    assert not too_close


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_token_colours_are_ordered_by_lightness_alone(mode):
    [style] = page_of(make_run()).all("style")
    block = re.findall(r":root \{(.*?)\}", style.text, re.DOTALL)[mode == "dark"]
    colours = dict(re.findall(r"--(t\d): (#[0-9a-f]{6})", block))
    lightness = [luminance(colours[f"t{number}"]) for number in range(9)]
    assert lightness == sorted(lightness, reverse=mode == "light")
    assert len(set(lightness)) == 9
