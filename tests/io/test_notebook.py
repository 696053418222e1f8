"""What notebooks show of suites and runs: short, and text whatever a suite says."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import (
    Condition,
    Item,
    Meta,
    Prediction,
    Region,
    Suite,
    compare,
    evaluate,
    load_suites,
)
from cimento.io.inline_markup import LONGEST_CELL, isolated, notebook_table
from cimento.testing.models import uniform_scorer

HOSTILE = (
    "<script>window.hit = 1</script>",
    '"><img src=x onerror="window.hit = 1">',
    "\u202emosso\u202c \u2067ab",
    "</td></table><h1>out</h1>",
    "a" * 10_000,
    "{{ 7 * 7 }} &lt;b&gt;",
)
KNOWN = {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "bdi"}


def suite(*texts: str, name: str = "doors") -> Suite:
    """A suite of pairs with these texts in them."""
    return Suite(
        meta=Meta(name, language="it", status="draft"),
        region_names=("sentence",),
        predictions=(Prediction("(*;%good%) < (*;%bad%)", comment=texts[0]),),
        items=tuple(
            Item(
                str(number),
                (
                    Condition("good", (Region(f"La porta resta chiusa {text}"),)),
                    Condition("bad", (Region(f"La porta restano chiusa {text}"),)),
                ),
            )
            for number, text in enumerate(texts, start=1)
        ),
    )


class Tags(HTMLParser):
    """The tags of a piece of HTML, their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text.append(data)


def html_of(thing) -> str:
    """What a notebook asks an object for."""
    return thing._repr_html_()


def test_a_suite_is_shown_in_short():
    text = Tags(html_of(suite("sempre", "oggi", "ora", "ieri", "domani"))).text
    assert "doors: 5 items, it, draft" in text
    assert "La porta resta chiusa sempre" in text
    assert "La porta resta chiusa ieri" not in text
    assert "... and 2 more items" in text
    assert "prediction 0: (*;%good%) < (*;%bad%) sempre" in text


def test_a_suite_that_predicts_nothing_says_so():
    bare = Suite(Meta("bare"), ("sentence",), (), suite("sempre").items)
    assert "It predicts nothing." in Tags(html_of(bare)).text


def test_a_run_is_shown_with_its_intervals():
    run = evaluate("it-subject-verb", "demo-causal")
    text = Tags(html_of(run)).text
    assert "it-subject-verb, demo-causal@91bca5d: 24 items" in text
    assert "[0.690, 0.957]" in text
    assert "0.875" in text


def test_a_cloze_suite_is_shown_with_its_blanks():
    [loaded] = load_suites("it-connectives-cloze")
    text = Tags(html_of(loaded.suite)).text
    assert text[0].startswith("it-connectives-cloze: 270 items, it")
    assert "... and 267 more items" in text


def test_a_run_of_any_paradigm_is_shown_with_its_main_estimates(probing):
    run = evaluate(probing, uniform_scorer(10))
    text = Tags(html_of(run)).text
    assert "it-probe, uniform@0000000: 7 items" in text
    [estimate] = run.estimates()
    assert f"{estimate.value:.3f}" in text
    assert f"{estimate.n}" in text


def test_why_there_is_no_interval_is_said(probing):
    run = evaluate(probing, uniform_scorer(10), limit=1)
    [estimate] = run.estimates()
    assert estimate.low is None
    assert f"Without value or interval: {estimate.reason}." in Tags(html_of(run)).text


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_text(text):
    html = html_of(suite(text, name=text[:50]))
    page = Tags(html)
    assert page.tags <= KNOWN
    assert page.attributes <= {"style"}
    assert len(html) < 3000
    assert not any(mark in html for mark in "\u202e\u2067")


@given(st.text(max_size=400))
@settings(deadline=None)
def test_any_text_is_shown_as_itself_and_nothing_else(text):
    page = Tags(isolated(text))
    assert page.tags == {"bdi"}
    said = "".join(page.text)
    plain = "".join(mark if mark.isprintable() else " " for mark in text)
    assert len(said) <= LONGEST_CELL
    assert said == plain or (said.endswith("…") and plain.startswith(said[:-1]))


@pytest.mark.slow
def test_nothing_happens_in_a_browser(browser):
    html = html_of(suite(*HOSTILE)) + notebook_table(HOSTILE[:2], [HOSTILE[2:4]], title=HOSTILE[0])
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_content(f"<body>{html}<p id=end>end</p></body>")
    page.wait_for_timeout(100)
    assert page.evaluate("window.hit") is None
    assert asked == []
    assert page.locator("h1, script, img").count() == 0
    assert "<script>window.hit = 1</script>" in page.inner_text("body")
    page.close()


def test_a_comparison_is_shown_with_its_runs():
    runs = [evaluate("it-subject-verb", f"demo-{kind}") for kind in ("causal", "masked")]
    page = Tags(html_of(compare(*runs)))
    assert "first: it-subject-verb, demo-causal@91bca5d" in "".join(page.text)
    assert "second: it-subject-verb, demo-masked@a5cbf25; 24 shared items" in "".join(page.text)
    assert {"0.875", "0.833"} <= set(page.text)
    assert page.tags <= {*KNOWN, "br"}


def test_a_comparison_of_hostile_names_is_text():
    runs = [
        evaluate(suite("sempre", name=HOSTILE[0]), scorer)
        for scorer in (uniform_scorer(10, name=HOSTILE[1]), uniform_scorer(20))
    ]
    page = Tags(html_of(compare(*runs)))
    assert page.tags <= {*KNOWN, "br"}
    assert page.attributes <= {"style"}
