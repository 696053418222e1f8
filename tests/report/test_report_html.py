"""The HTML page as text: what it shows, and that nothing in it can load anything."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.errors import MissingDependencyError
from cimento.report import NamedGrid, SuiteReport, figures
from cimento.report.figures_rates import margins_figure, phenomena_figure
from cimento.report.findings import Headline, findings
from cimento.report.findings_pairs import PairTest
from cimento.report.grid import Grid
from cimento.report.html import Page, html_page
from cimento.report.items import BLOCK_VERDICTS, encode_items
from tests.helpers.judging import make_suite
from tests.helpers.pages import parse_page
from tests.helpers.reporting import (
    AGREEMENT,
    constant,
    first_items,
    make_run,
    named,
    suites_of,
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


def text_of(*runs, **more):
    return html_page(Page(cimento="0.1.0", suites=suites_of(runs), **more))


def page_of(*runs, **more):
    return parse_page(text_of(*runs, **more))


def items_of(*runs):
    """The data block of the page, as the script reads it."""
    [block] = [e for e in page_of(*runs).all("script") if e.attributes.get("id") == "item-data"]
    return json.loads(block.text)


def hostile_suite(text):
    plain = text.replace("|", "").strip()
    suite = make_suite(
        ["(1;%a%) < (1;%b%)"],
        [{"a": f"{plain} dorme", "b": f"{plain} dormono"}],
        columns=[{"phenomenon": text}],
    )
    meta = dataclasses.replace(suite.meta, name=text, language=text, comment=text, license=text)
    predictions = (dataclasses.replace(suite.predictions[0], comment=text),)
    return dataclasses.replace(suite, meta=meta, predictions=predictions, region_names=(text,))


def hostile_page(text):
    run = make_run(hostile_suite(text), model=text)
    table = NamedGrid("x", Grid(title=text, header=(text,), rows=((text,),), notes=(text,)))
    run = dataclasses.replace(run, notes=(text,), provenance=((text, text),))
    suites = tuple(dataclasses.replace(suite, tables=(table,)) for suite in suites_of([run]))
    return html_page(Page(cimento=text, suites=suites, methods=text, references=(text,)))


def drawn(page, mark):
    """How often a mark is drawn in charts; the explanation under the overview is none."""
    return sum(len(chart.all(mark)) for chart in page.all("svg.draw"))


def test_nothing_is_loaded():
    text = text_of(make_run())
    assert not re.search(
        r"https?:|//[a-z]|url\((?!#)|@import|javascript:|data:", text, re.IGNORECASE
    )
    page = parse_page(text)
    tags = {element.tag for element in page.walk()}
    assert not tags & {"link", "img", "iframe", "object", "embed", "form", "base"}
    names = {name for element in page.walk() for name in element.attributes}
    assert not {name for name in names if name.startswith("on")} | (names & {"src", "style"})
    assert {e.attributes["href"][0] for e in page.walk() if "href" in e.attributes} == {"#"}


def hash_of(element):
    digest = base64.b64encode(hashlib.sha256(element.text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def test_the_security_policy_allows_the_page_s_own_style_and_script_and_nothing_else():
    page = page_of(make_run())
    [policy] = [
        element.attributes["content"]
        for element in page.all("meta")
        if element.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    [style] = page.all("style")
    [data, script] = page.all("script")
    assert data.attributes["type"] == "application/json"
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src {hash_of(style)}",
        f"script-src {hash_of(script)}",
        "base-uri 'none'",
        "form-action 'none'",
    ]


def test_the_script_evaluates_nothing_and_sets_text_only():
    [_, script] = page_of(make_run()).all("script")
    for word in (
        "eval(",
        "Function(",
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
    ):
        assert word not in script.text
    assert len(script.text.splitlines()) < 300


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_as_text(text):
    harmless = parse_page(hostile_page("harmless"))
    page = parse_page(hostile_page(text))
    assert {e.tag for e in page.walk()} == {e.tag for e in harmless.walk()}
    assert {name for e in page.walk() for name in e.attributes} == {
        name for e in harmless.walk() for name in e.attributes
    }
    assert page.all("h2.")[1].words.startswith(" ".join(text.split()))
    [block] = [e for e in page.all("script") if e.attributes.get("id") == "item-data"]
    assert "<" not in block.text
    assert json.loads(block.text)["runs"][0]["suite"] == text


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
    heading, *names = [row.all("th")[0].words for row in rows]
    assert heading.startswith("Accuracy The proportion of items")
    assert names == ["unochance 0.500", "duechance 0.500"]
    cells = [[cell.words for cell in row.all("td.cell")] for row in rows[1:]]
    # Ties are said where there are any, and nothing else is zero in every cell.
    assert cells[0] == ["0.750 [0.409, 0.929] 6/8", "0.000 [0.000, 0.324] 0/8 8 ties"]
    assert cells[1][0] == "not run"


def test_a_model_has_one_column_whatever_its_suites_are_judged_on():
    one, other = named(AGREEMENT, "uno"), named(AGREEMENT, "due")
    runs = [make_run(one, model=f"{name}@1") for name in "xy"]
    runs += [make_run(other, model=f"{name}@1 [lp]") for name in "xy"]
    page = page_of(*runs)
    [title] = page.all("title")
    assert title.words.startswith("2 models on 2 suites")
    [matrix] = page.all("table.matrix")
    assert [cell.words for cell in matrix.all("tr")[0].all("th")][2:] == ["x@1", "y@1"]
    assert not [cell for cell in matrix.all("td.cell") if "not run" in cell.words]
    # On one suite, measures are what differs.
    both = page_of(*(make_run(one, model=f"x@1 [{measure}]") for measure in ("lp", "penlp")))
    [matrix] = both.all("table.matrix")
    assert [cell.words for cell in matrix.all("tr")[0].all("th")][2:] == ["x@1 [lp]", "x@1 [penlp]"]
    assert both.all("title")[0].words.startswith("x on uno")


def test_the_page_begins_with_what_its_runs_show():
    runs = (make_run(AGREEMENT, model="x"), make_run(AGREEMENT, constant, model="y"))
    tests = [PairTest(runs[0].suite, "x", "y", 0.75, 0.03125)]
    shown = findings([Headline(run.model, run.headline) for run in runs], tests)
    [said] = page_of(*runs, findings=shown).all("div.findings")
    assert said.all("dd")[0].words == (
        "x gets 6 of 8 items right (0.750 [0.409, 0.929]), which is not distinguishable from chance"
        " (0.500). y gets 0 of 8 items right (0.000 [0.000, 0.324]), below chance (0.500), the"
        " opposite of what is expected."
        " x is above y (by 0.750, p .031)."
    )


def test_of_many_suites_the_first_is_open_and_links_open_the_others():
    page = page_of(*(make_run(named(AGREEMENT, name)) for name in "abcd"))
    folded = page.all("details.folded")
    assert ["open" in each.attributes for each in folded] == [True, False, False, False]
    # A browser opens the details that hold the place that an address names.
    ids = [e.attributes.get("id") for each in folded for e in each.all("div.unfolded")]
    assert ids == [f"suite-{nth}" for nth in range(1, 5)]
    [contents] = page.all("nav.contents")
    links = [e.attributes["href"] for e in contents.all("a")]
    assert links == ["#overview", *(f"#{name}" for name in ids), "#items", "#provenance"]
    assert "details.folded)::details-content { content-visibility: visible; }" in text_of(
        make_run()
    )


def test_links_lead_to_sections_and_no_id_comes_twice():
    suites = [named(AGREEMENT, name) for name in ("a", "b")]
    page = page_of(*(make_run(suite) for suite in suites))
    ids = [e.attributes["id"] for e in page.walk() if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    assert {e.attributes["href"][1:] for e in page.all("a")} <= set(ids)
    assert [e.words for e in page.all("a.skip")] == ["Skip to the results", "Skip to the items"]
    # Two skip links, the five parts of the page, two suites in the overview, and the items.
    assert len(page.all("a")) == 10


def test_the_chart_has_prediction_and_phenomena_with_counts():
    [chart] = page_of(make_run()).all("table.forest")
    rows = [
        [cell.words for cell in row.all("") if cell.tag in {"th", "td"}] for row in chart.all("tr")
    ]
    tail = ["0.500", "8"]
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
    assert drawn(page, "line.span") == drawn(page, "circle.dot") - 1 > 0  # three items have none


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
    page = page_of()
    assert page.all("h1")[0].words == "Nothing was run"
    assert page.all("script") == []


def test_items_come_worst_first():
    data = items_of(make_run())
    verdicts = [BLOCK_VERDICTS[item[3]] for item in data["items"]]
    assert verdicts == ["fail"] * 2 + ["pass"] * 6
    margins = [item[4] for item in data["items"]]
    assert margins == sorted(margins)


def test_without_scripts_the_first_items_stand_in_a_table():
    [plain] = page_of(make_run()).all("noscript")
    [head, *rows] = plain.all("tr")
    assert [cell.words for cell in head.all("th")][2:5] == ["Item", "Verdict", "Margin"]
    assert len(rows) == 8
    assert rows[0].all("td")[2].words == "fail"
    assert "mismatch: Il " in rows[0].words


def test_several_predictions_are_listed_by_the_names_of_their_verdicts():
    suite = with_predictions(
        AGREEMENT, "(2;%match%) < (2;%mismatch%)", "(1;%match%) < (1;%mismatch%)"
    )
    run = make_run(suite)
    page = page_of(run)
    [listed] = page.all("ul.predictions")
    assert [line.all("b")[0].words for line in listed.all("li")] == ["prediction 0", "prediction 1"]
    block = items_of(run)
    parts = [block["words"][part[0]] for part in block["items"][0][8]]
    assert parts == ["prediction 0", "prediction 1"]


def test_the_same_suite_judged_by_other_predictions_has_its_own_section():
    other = with_predictions(AGREEMENT, "(2;%match%) > (2;%mismatch%)")
    assert len(page_of(make_run(), make_run(other)).all("section.suite")) == 2
    assert len(page_of(make_run(), make_run(model="y")).all("section.suite")) == 1


def test_figures_stand_in_the_page_with_titles_and_ids_of_their_own():
    run = make_run()
    two = (margins_figure([run], suite="a<b>"), phenomena_figure([run], suite="a<b>"))
    suites = (SuiteReport((run,), figures=two), SuiteReport((run,), figures=two))
    page = parse_page(html_page(Page(cimento="0", suites=suites)))
    drawings = page.all("svg.figure")
    assert len(drawings) == 4
    for drawing in drawings:
        [title] = drawing.all("title")
        assert drawing.attributes["role"] == "img"
        assert drawing.attributes["aria-labelledby"] == title.attributes["id"]
        assert "a<b>" in title.text
        assert not [e for e in drawing.walk() if "style" in e.attributes or "xmlns" in e.attributes]
    ids = [e.attributes["id"] for e in page.walk() if "id" in e.attributes]
    assert len(ids) == len(set(ids))


def test_where_figures_cannot_be_drawn_the_page_says_so_and_has_the_rest(monkeypatch):
    run = make_run()
    suite = SuiteReport((run,), figures=(margins_figure([run], suite="s"),))

    def absent():
        raise MissingDependencyError(package="altair", extra="report", purpose="figures")

    monkeypatch.setattr(figures, "load_altair", absent)
    assert list(figures.drawable(lambda: margins_figure([run], suite="s"))) == []
    page = parse_page(html_page(Page(cimento="0", suites=(suite,))))
    assert page.all("svg.figure") == []
    assert "Figures are left out." in page.words
    assert "altair" in page.words
    assert page.all("table.forest")


def test_a_figure_that_cannot_be_drawn_costs_only_itself():
    run = make_run()
    broken = dataclasses.replace(margins_figure([run], suite="s"), spec={"mark": "no such mark"})
    suite = SuiteReport((run,), figures=(broken,))
    page = parse_page(html_page(Page(cimento="0", suites=(suite,))))
    assert page.all("svg.figure") == []
    assert "it cannot be drawn" in page.all("figcaption")[0].words


def test_tables_have_captions_and_headers():
    grid = Grid(
        title="What it shows.", header=("a", "b"), groups=("", "g"), rows=(("x", "1"), ("y", "2")),
        bold=frozenset({(1, 1)}), notes=("A note.",),
    )  # fmt: skip
    suites = (SuiteReport((make_run(),), tables=(NamedGrid("mine", grid),)),)
    page = parse_page(html_page(Page(cimento="0", suites=suites)))
    table = next(e for e in page.all("table.grid") if "What it shows." in e.words)
    assert "--table mine" in table.all("caption")[0].words
    assert [e.attributes["scope"] for e in table.all("thead")[0].all("th")] == [
        "colgroup", "colgroup", "col", "col",
    ]  # fmt: skip
    assert [e.words for e in table.all("strong")] == ["2"]
    assert "A note." in page.words


def test_methods_and_references_end_the_page():
    page = page_of(make_run(), methods="Models were asked.", references=("A. Author (2020).",))
    [section] = [e for e in page.all("section") if e.attributes.get("id") == "methods"]
    assert "Models were asked." in section.words
    assert "A. Author (2020)." in section.words
    assert page_of(make_run()).all("p.methods") == []


def test_provenance_says_once_what_all_runs_share():
    page = page_of(make_run(model="x"), make_run(model="y"))
    [section] = [e for e in page.all("section") if e.attributes.get("id") == "provenance"]
    facts = [
        [
            (label.words, text.words)
            for label, text in zip(part.all("dt"), part.all("dd"), strict=True)
        ]
        for part in section.all("dl")
    ]
    assert facts == [
        [
            ("model kind", "causal"),
            ("suite sha256", "0" * 64),
            ("options unit", "bits"),
            ("options seed", "0"),
            ("options unscored first", "missing"),
            ("options ties", "tie"),
            ("seed", "0"),
        ],
        [("model name", "x")],
        [("model name", "y")],
    ]


@pytest.mark.parametrize("count", [1000, pytest.param(5000, marks=pytest.mark.slow)])
def test_five_thousand_items_are_all_there_in_three_megabytes(count):
    items = [
        {"match": f"Il gatto {n} di mia zia | dorme sul tetto di casa.",
         "mismatch": f"Il gatto {n} di mia zia | dormono sul tetto di casa."}
        for n in range(count)
    ]  # fmt: skip
    text = text_of(make_run(make_suite(["(2;%match%) < (2;%mismatch%)"], items)))
    assert len(text.encode()) <= 3_000_000
    assert f"of {count:,} items are here" not in text


@pytest.mark.slow
def test_of_items_that_are_too_long_the_worst_are_kept_and_the_page_says_so():
    long = "parola " * 1429
    items = [{"a": f"{long}{n}", "b": f"{long}{n} no"} for n in range(12)]
    run = make_run(make_suite(["(1;%a%) < (1;%b%)"], items))
    block = encode_items([run], budget=500_000)
    assert 0 < block.kept[0] < 12
    whole = json.loads(encode_items([run]).json)
    worst = [item[1] for item in whole["items"][: block.kept[0]]]
    assert [item[1] for item in json.loads(block.json)["items"]] == worst


def test_what_short_runs_leave_goes_to_the_others():
    short, long = make_run(first_items(AGREEMENT, 1)), make_run()
    size = len(encode_items([long]).json)
    assert encode_items([long, short], budget=size + 500).kept == (8, 1)


def test_the_same_runs_give_the_same_page():
    assert text_of(make_run()) == text_of(make_run())


def test_the_page_says_that_all_predictions_of_an_item_must_hold():
    both = with_predictions(AGREEMENT, "(2;%match%) < (2;%mismatch%)", "(2;%mismatch%) > 0")
    note = "An item with several predictions passes only if all of them hold."

    assert "2 predictions" in text_of(make_run(both, constant))
    assert note in text_of(make_run(both, constant))
    assert note not in text_of(make_run(AGREEMENT, constant))
