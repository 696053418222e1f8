"""The page in headless Chromium: nothing leaves it, nothing runs in it but its own script."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cimento.report import AnswerList, GivenAnswer, NamedGrid, RunReport, SuiteReport
from cimento.report.figures import frame_of
from cimento.report.figures_rates import heat_figure, margins_figure, phenomena_figure
from cimento.report.grid import Grid
from cimento.report.html import Page, html_page
from tests.helpers.judging import make_suite
from tests.helpers.reporting import (
    AGREEMENT,
    constant,
    first_items,
    make_run,
    named,
    suites_of,
    unknown,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Tab

Opener = Callable[..., "Tab"]

SCRIPT = "<script>alert(1)</script>"
IMAGE = '"><img src=x onerror=alert(1)>'
RIGHT_TO_LEFT = "\u202eabc\u202c \u200fdef"


@pytest.fixture(scope="module")
def common_tab(browser: Browser) -> Iterator[Tab]:
    """The tab of pages that need no other window: a process of its own for each takes longer."""
    context = browser.new_context(offline=True)
    yield context.new_page()
    context.close()


@pytest.fixture
def opened(browser: Browser, common_tab: Tab, tmp_path: Path) -> Iterator[Opener]:
    """Opens a page of some runs, offline; the test fails on any request, error or dialogue.

    With options of a browser context the page has a window of its own.
    """
    troubles: list[str] = []
    contexts = []
    url = (tmp_path / "report.html").as_uri()
    notes = {
        "request": lambda request: request.url.startswith(url) or troubles.append(request.url),
        "console": lambda message: troubles.append(message.text),
        "pageerror": lambda error: troubles.append(str(error)),
        "dialog": lambda dialog: (troubles.append("dialog"), dialog.dismiss()),
    }

    def open_page(*runs: RunReport | SuiteReport, **options: object) -> Tab:
        path = tmp_path / "report.html"
        alone = suites_of(run for run in runs if isinstance(run, RunReport))
        suites = (*alone, *(run for run in runs if isinstance(run, SuiteReport)))
        path.write_text(html_page(Page(cimento="0", suites=suites)), encoding="utf-8")
        if options:
            context = browser.new_context(offline=True, **options)  # type: ignore[arg-type]
            contexts.append(context)
            tab = context.new_page()
        else:
            tab = common_tab
        for event, note in notes.items():
            tab.on(event, note)
        tab.goto(url)
        return tab

    yield open_page
    for context in contexts:
        context.close()
    if common_tab.url != "about:blank":
        for event, note in notes.items():
            common_tab.remove_listener(event, note)
        common_tab.goto("about:blank")
    assert not troubles


def ids(tab: Tab) -> list[str]:
    return tab.locator("#item-list .id").all_text_contents()


def counted(tab: Tab) -> str:
    return tab.locator("#item-count").inner_text()


def words(tab: Tab, selector: str) -> list[str]:
    # Not what is painted: rows out of sight are not.
    return [" ".join(text.split()) for text in tab.locator(selector).all_text_contents()]


def many(count: int) -> RunReport:
    items = [{"match": f"Il gatto {n} | dorme.", "mismatch": f"Il gatto {n} | dormono."}
             for n in range(count)]  # fmt: skip
    return make_run(make_suite(["(2;%match%) < (2;%mismatch%)"], items))


@pytest.mark.parametrize(
    ("match", "mismatch", "sign"),
    [
        ("הילדות | משחקות | בגן.", "הילדות | משחקים | בגן.", -1),
        pytest.param(
            "البنات | يلعبن | في الحديقة.",
            "البنات | يلعب | في الحديقة.",
            -1,
            marks=pytest.mark.slow,
        ),
        ("Le bambine | giocano | in giardino.", "Le bambine | gioca | in giardino.", 1),
    ],
)
def test_strips_run_the_way_their_script_does(
    opened: Opener, match: str, mismatch: str, sign: int
) -> None:
    suite = make_suite(["(2;%match%) < (2;%mismatch%)"], [{"match": match, "mismatch": mismatch}])
    tab = opened(make_run(suite))

    cells = tab.locator(".strips tr").first.locator("th, td")
    places = [cells.nth(n).bounding_box() for n in range(cells.count())]
    lefts = [place["x"] for place in places if place]
    assert len(lefts) == 4
    assert lefts == sorted(lefts, reverse=sign < 0)


@pytest.mark.parametrize(
    "text",
    [SCRIPT, *(pytest.param(text, marks=pytest.mark.slow)
               for text in (IMAGE, RIGHT_TO_LEFT)), "</script>\u2028\u2029 &lt;b&gt;"],
)  # fmt: skip
def test_hostile_texts_appear_as_text(opened: Opener, text: str) -> None:
    suite = make_suite(
        ["(1;%a%) < (1;%b%)"],
        [{"a": f"{text} dorme", "b": f"{text} dormono"}],
        columns=[{"phenomenon": text}],
    )
    run = make_run(named(suite, text, language="it"), model=text)
    item = dataclasses.replace(
        run.items[0],
        id=text,
        answers=(AnswerList(text, (GivenAnswer(text, 0.5, text),)),),
        remarks=((text, text),),
    )
    run = dataclasses.replace(run, items=(item,))
    figures = (margins_figure([run], suite=text), phenomena_figure([run], suite=text))
    table = NamedGrid("x", Grid(title=text, header=(text,), rows=((text,),)))
    tab = opened(SuiteReport((run,), figures=figures, tables=(table,)))
    assert ids(tab) == [text]
    # Vega writes no characters that SVG cannot hold.
    label = tab.locator("svg.figure text").all_text_contents()
    assert any("".join(text.split()) in "".join(shown.split()) for shown in label)
    tokens = tab.locator("#item-list tr").first.locator("b").all()
    shown = "".join(token.evaluate("b => b.firstChild.data") for token in tokens)
    assert "".join(shown.split()) == "".join(f"{text} dorme".split())
    assert tab.locator("#item-list .answers bdi").text_content() == text
    assert tab.locator("#item-list .remarks dd").text_content() == text
    assert tab.locator("img").count() == 0


def test_an_item_of_ten_thousand_characters_is_shown_whole_and_the_page_stays_as_wide_as_it_is(
    opened: Opener,
) -> None:
    long = "parola " * 1429
    suite = make_suite(["(1;%a%) < (1;%b%)"], [{"a": long, "b": f"{long} no"}])
    tab = opened(make_run(suite))
    row = tab.locator("#item-list tr").first.text_content() or ""
    assert row.count("parola") == 1429
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_one_long_word_does_not_widen_a_narrow_page(opened: Opener) -> None:
    word = "x" * 10_000
    suite = make_suite(["(1;%a%) < (1;%b%)"], [{"a": word, "b": f"{word} no"}])
    tab = opened(make_run(suite), viewport={"width": 390, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_phone_shows_the_mark_that_folds_a_suite_and_where_a_figure_goes_on(
    opened: Opener,
) -> None:
    rows = [("m" * 60, name, 0.5) for name in ("agreement", "islands")]
    frame = frame_of(rows, model=str, phenomenon=str, accuracy=float)
    figure = heat_figure(frame, name="phenomena", title="t", x="phenomenon", y="model")
    section = SuiteReport(runs=(make_run(),), figures=(figure,))
    tab = opened(section, viewport={"width": 390, "height": 800})
    style = "element => getComputedStyle(element)"
    marks = tab.locator(".folded > summary").first.evaluate(f"{style}.listStylePosition")
    # Outside, it would be left of the window.
    assert marks == "inside"
    drawn = tab.locator("figure").first
    assert drawn.evaluate("figure => figure.scrollWidth > figure.clientWidth")
    assert "gradient" in drawn.evaluate(f"{style}.backgroundImage")


def test_rows_are_drawn_when_they_are_needed(opened: Opener) -> None:
    from playwright.sync_api import expect

    tab = opened(many(300))
    assert counted(tab) == "300 items"
    drawn = tab.locator("#item-list > li").count()
    assert 0 < drawn <= 80
    tab.locator("#item-more").scroll_into_view_if_needed()
    expect(tab.locator("#item-list > li")).not_to_have_count(drawn)


def test_search_looks_at_ids_and_texts_without_case_and_accents(opened: Opener) -> None:
    from playwright.sync_api import expect

    items = [
        {"a": "Perché dorme | qui.", "b": "Perché dormono | qui."},
        {"a": "Il gatto | miagola.", "b": "Il gatto | miagolano."},
    ]
    tab = opened(make_run(make_suite(["(1;%a%) < (1;%b%)"], items)))
    field = tab.locator("#find")
    field.fill("PERCHE qui")
    expect(tab.locator("#item-count")).to_have_text("1 of 2 items")
    assert "Perché" in words(tab, "#item-list .strips")[0]
    field.fill("non c'è")
    expect(tab.locator("#item-list > li")).to_have_count(0)
    assert counted(tab).startswith("None of the 2 items matches")
    field.press("Escape")
    assert counted(tab) == "2 items"
    assert field.input_value() == ""


def test_filters_go_by_verdict_suite_model_phenomenon_and_condition(opened: Opener) -> None:
    runs = (
        make_run(named(AGREEMENT, "uno"), model="x"),
        make_run(named(AGREEMENT, "uno"), constant, model="y"),
        make_run(named(first_items(AGREEMENT, 2), "due"), model="x"),
    )
    tab = opened(*runs)
    assert counted(tab) == "18 items"
    tab.select_option("#by-verdict", "tie")
    assert counted(tab) == "8 of 18 items"
    assert set(words(tab, "#item-list .verdict")) == {"tie"}
    tab.select_option("#by-verdict", "")
    tab.select_option("#by-suite", "due")
    assert counted(tab) == "2 of 18 items"
    tab.select_option("#by-suite", "uno")
    tab.select_option("#by-model", "x")
    tab.select_option("#by-phenomenon", "wild")
    assert counted(tab) == "2 of 18 items"
    tab.select_option("#by-condition", "mismatch")
    assert set(words(tab, "#item-list .strips th")) == {"mismatch"}


def test_a_language_chooses_suites_and_items(opened: Opener) -> None:
    in_italian = dataclasses.replace(make_run(named(AGREEMENT, "uno")), language="it")
    in_spanish = dataclasses.replace(
        make_run(named(first_items(AGREEMENT, 2), "dos")), language="es"
    )
    unstated = dataclasses.replace(make_run(named(first_items(AGREEMENT, 3), "x")), language="")
    tab = opened(in_italian, in_spanish, unstated)
    suites = "section.suite:not([hidden]) > details > summary > h2 > bdi"
    assert words(tab, suites) == ["uno", "dos", "x"]
    tab.select_option("#page-language", "es")
    assert words(tab, suites) == ["dos"]
    assert tab.locator(".matrix tbody tr:visible").count() == 2  # with the heading
    assert counted(tab) == "2 of 13 items"
    tab.select_option("#page-language", "")
    assert words(tab, suites) == ["x"]
    tab.select_option("#page-language", "*")
    assert tab.locator(".matrix tbody tr:visible").count() == 4
    assert counted(tab) == "13 items"


def test_one_language_needs_no_choice(opened: Opener) -> None:
    assert opened(make_run()).locator("#page-language").count() == 0


def test_items_are_sorted_by_margin_both_ways(opened: Opener) -> None:
    tab = opened(make_run())

    def margins() -> list[float]:
        texts = words(tab, "#item-list .margin")
        return [float(text.split()[0].replace("−", "-")) for text in texts]

    tab.select_option("#by-order", "low")
    assert margins() == sorted(margins())
    tab.select_option("#by-order", "high")
    assert margins() == sorted(margins(), reverse=True)
    tab.select_option("#by-order", "close")
    assert [abs(margin) for margin in margins()] == sorted(map(abs, margins()))


def test_items_without_a_margin_come_last_both_ways(opened: Opener) -> None:
    tab = opened(make_run(model="x"), make_run(score=unknown, model="y"))
    for order in ("low", "high", "close"):
        tab.select_option("#by-order", order)
        assert words(tab, "#item-list .verdict")[8:] == ["unscored"] * 8


def focused(tab: Tab) -> str:
    return str(tab.evaluate("document.activeElement.getAttribute('aria-label')"))


def test_the_browser_can_be_used_by_keys_alone(opened: Opener) -> None:
    tab = opened(make_run())
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Skip to the results"
    labels = [str(item.get_attribute("aria-label")) for item in tab.locator("li.item").all()]
    tab.locator("#find").focus()
    tab.keyboard.press("ArrowDown")
    assert focused(tab) == labels[0]
    tab.keyboard.press("ArrowDown")
    assert focused(tab) == labels[1]
    assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    tab.keyboard.press("End")
    assert focused(tab) == labels[-1]
    tab.keyboard.press("ArrowUp")
    assert focused(tab) == labels[-2]
    tab.keyboard.press("Enter")
    assert tab.locator("li.item details[open]").count() == 1
    # What is in it is drawn a moment later.
    tab.locator("li.item details[open]", has_text="Summed surprisal").wait_for()
    tab.keyboard.press("Escape")
    assert tab.locator("li.item details[open]").count() == 0
    assert focused(tab) == labels[-2]
    tab.keyboard.press("Escape")
    assert tab.evaluate("document.activeElement.id") == "find"


def test_tab_reaches_one_item_and_goes_on(opened: Opener) -> None:
    tab = opened(make_run())
    assert tab.locator('#item-list > li[tabindex="0"]').count() == 1
    tab.locator("#item-list > li").nth(3).focus()
    assert tab.locator('#item-list > li[tabindex="0"]').count() == 1


def test_the_numbers_of_an_item_are_those_of_its_regions(opened: Opener) -> None:
    run = make_run()
    tab = opened(run)
    tab.locator("li.item summary").first.click()
    shown = words(tab, "li.item:first-child .sums tbody .num")
    strip = run.items[0].strips[0]
    sums = [
        sum(round(100 * piece.surprisal_bits) / 100 for piece in region.pieces
            if piece.surprisal_bits is not None)
        for region in strip.regions
    ]  # fmt: skip
    assert list(map(float, shown[:2])) == pytest.approx(sums, abs=0.011)


def test_a_section_leads_to_its_items(opened: Opener) -> None:
    tab = opened(make_run(named(AGREEMENT, "uno")), make_run(named(AGREEMENT, "due")))
    tab.locator("button.browse").nth(1).click()
    assert tab.locator("#by-suite").input_value() == "due"
    assert counted(tab) == "8 of 16 items"


def test_fillers_and_judgments_stand_at_their_item(opened: Opener) -> None:
    run = make_run(first_items(AGREEMENT, 1))
    fillers = (
        GivenAnswer("dorme", 0.25, "target"),
        GivenAnswer("corre", 0.125, ""),
        GivenAnswer("##a", None, ""),
    )
    item = dataclasses.replace(
        run.items[0],
        answers=(AnswerList("mask", fillers),),
        remarks=(("rated by 12", "5.20 (match)"),),
    )
    tab = opened(dataclasses.replace(run, items=(item,)))
    assert words(tab, ".answers li") == ["dorme 0.250 target", "corre 0.125", "##a"]
    assert words(tab, ".remarks :is(dt, dd)") == ["rated by 12", "5.20 (match)"]


def test_the_differing_words_of_whole_sentences_are_marked(opened: Opener) -> None:
    suite = make_suite(
        ["(*;%a%) < (*;%b%)"], [{"a": "Il gatto nero dorme.", "b": "Il gatto nero dormono."}]
    )
    tab = opened(make_run(suite))
    marked = tab.locator("#item-list td.decides")
    assert [
        cell.locator("b").first.evaluate("b => b.firstChild.data") for cell in marked.all()
    ] == [
        "dorme",
        "dormono",
    ]
    lefts = [cell.bounding_box()["x"] for cell in marked.all()]
    assert lefts[0] == lefts[1]


def test_headings_go_down_one_by_one_and_every_control_has_a_name(opened: Opener) -> None:
    tab = opened(make_run())
    levels = tab.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(e => +e.tagName[1])")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    unnamed = tab.evaluate(
        "[...document.querySelectorAll('select,input')].filter(e => !e.labels.length).length"
    )
    assert unnamed == 0
    assert tab.locator("main").count() == 1
    assert tab.locator("html").get_attribute("lang") == "en"
    assert tab.locator("table:not(:has(caption))").count() == 0
    assert tab.locator('[role="status"][aria-live="polite"]').count() == 1
    boxes = tab.locator('.scroll[tabindex="0"]')
    assert all(box.get_attribute("aria-label") for box in boxes.all())


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (390, "light"),
        *(pytest.param(*one, marks=pytest.mark.slow)
          for one in ((390, "dark"), (1280, "light"), (1280, "dark"))),
    ],
)  # fmt: skip
def test_the_page_is_as_wide_as_the_window(opened: Opener, scheme: str, width: int) -> None:
    tab = opened(
        make_run(named(AGREEMENT, "a-suite-with-a-long-name-" * 4)),
        color_scheme=scheme,
        viewport={"width": width, "height": 800},
    )
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_without_scripts_the_first_items_can_be_read(opened: Opener) -> None:
    tab = opened(make_run(), java_script_enabled=False)
    assert tab.locator("#controls").is_hidden()
    shown = tab.locator("noscript table").inner_text()
    assert "Il gatto dormono." in shown


def test_the_page_prints_with_all_that_was_run(opened: Opener) -> None:
    tab = opened(make_run(model="x"), make_run(model="y"), color_scheme="light")
    values = tab.locator("#provenance details dd")
    assert values.count() == 2
    visible = "e => e.checkVisibility({contentVisibilityAuto: true})"
    assert not values.first.evaluate(visible)
    tab.emulate_media(media="print")
    assert tab.locator("#controls").is_hidden()
    assert values.first.evaluate(visible)
    assert values.first.inner_text() == "x"
    assert tab.pdf()[:5] == b"%PDF-"


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (make_run(score=unknown), "Nothing was scored (8 items unscored)"),
        (make_run(first_items(AGREEMENT, 1)), "Only one item was judged"),
        (make_run(score=constant), "All 8 items judged are ties"),
    ],
    ids=["nothing", "one", "ties"],
)
def test_what_cannot_be_told_is_said_and_has_no_interval(
    opened: Opener, run: RunReport, said: str
) -> None:
    tab = opened(run)
    assert said in words(tab, "ul.notes")[0]
    undefined = run.headline is not None and run.headline.low is None
    assert (tab.locator(".cell line.span").count() == 0) == undefined


def test_long_labels_of_a_heat_map_are_inside_the_part_that_is_shown(opened):
    """The figure cuts off what leaves it, whatever font the browser has."""
    models = [f"organization/italian-model-7b-instruct-continued-step-{n}000" for n in (10, 20)]
    names = [f"agreement across an intervening plural attractor, number {n}" for n in (1, 2)]
    rows = [(model, name, 0.5) for model in models for name in names]
    frame = frame_of(rows, model=str, phenomenon=str, accuracy=float)
    figure = heat_figure(frame, name="phenomena", title="t", x="model", y="phenomenon")
    page = opened(SuiteReport(runs=(make_run(),), figures=(figure,)))
    outside = page.evaluate(
        """() => [...document.querySelectorAll("figure")].flatMap(figure => {
            const box = figure.getBoundingClientRect();
            const caption = figure.querySelector("figcaption").getBoundingClientRect();
            return [...figure.querySelectorAll("svg text")].filter(text => {
                const at = text.getBoundingClientRect();
                return at.left < box.left - 1 || at.right > box.right + 1
                    || at.bottom > caption.top + 1;
            }).map(text => text.textContent);
        })"""
    )
    assert outside == []
