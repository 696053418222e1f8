"""The pages of the survey server in a browser: with keys, without scripts, on a phone."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import pytest

from cimento.people.surveys import AnswerChoice, SurveyQuestion, administration, storage
from tests.helpers.survey_help import SECRET, asked_of, serving, small

pytest.importorskip("uvicorn")

HOSTILE = "<script>window.hacked=1</script><img src=x onerror='window.hacked=1'>\"'></p></form>"
PHONE = {"width": 360, "height": 640}


@contextmanager
def opened(browser, address, **options):
    """A page on which nothing may be loaded from elsewhere and nothing may be refused or fail."""
    context = browser.new_context(**options)
    page = context.new_page()
    troubles = []

    def note(trouble):
        troubles.append(str(trouble))

    def note_console(message):
        if message.type == "error" and "favicon" not in message.location.get("url", ""):
            troubles.append(message.text)

    def note_foreign(request):
        if not request.url.startswith(address):
            troubles.append(request.url)

    page.on("pageerror", note)
    page.on("console", note_console)
    page.on("request", note_foreign)
    try:
        yield page
        assert troubles == []
    finally:
        context.close()


@pytest.fixture
def database(tmp_path):
    return tmp_path / "answers.sqlite"


def link(database, design, address):
    storage.prepare(database, design)
    ((_, token),) = storage.invite_participants(database, design, 1)
    return f"{address}/p/{token}"


def values(database):
    return [judgment.value for judgment in administration.judgments_in(database)]


@pytest.mark.slow
def test_a_survey_is_answered_with_the_keyboard_alone(browser, database):
    design = small()
    with serving(design, database) as address, opened(browser, address) as page:
        page.goto(link(database, design, address))
        page.get_by_role("button", name="Acconsento, inizia").focus()
        page.keyboard.press("Enter")
        page.get_by_text("tasti numerici").wait_for(state="visible")
        page.get_by_role("link", name="Comincia").focus()
        page.keyboard.press("Enter")
        for position in range(1, 6):
            page.wait_for_url(f"**/{position}")
            page.keyboard.press(str(position))
            page.keyboard.press("Enter")
        page.wait_for_url("**/done")
        assert storage.participants(database)[0].id in page.inner_text("main")
    assert values(database) == ["1", "2", "3", "4", "5"]


@pytest.mark.slow
def test_a_survey_is_answered_without_scripts(browser, database):
    design = small("it-connectives-cloze", checks=0)
    with (
        serving(design, database) as address,
        opened(browser, address, java_script_enabled=False) as page,
    ):
        page.goto(link(database, design, address))
        page.get_by_role("button", name="Acconsento, inizia").click()
        assert page.get_by_text("tasti numerici").count() == 1
        assert not page.get_by_text("tasti numerici").is_visible()
        page.get_by_role("link", name="Comincia").click()
        page.get_by_role("button", name="Avanti").click()
        assert page.url.endswith("/1")
        for _ in range(4):
            page.get_by_label("nessuna di queste").check()
            page.get_by_role("button", name="Avanti").click()
        page.get_by_role("link", name="Rivedi").click()
        page.get_by_role("link", name="Indietro").click()
        assert page.url.endswith("/3")
        assert page.get_by_label("nessuna di queste").is_checked()
        page.locator("label").first.click()
        page.get_by_role("button", name="Avanti").click()
    first = asked_of(database, design)[2].choices[0].value
    assert values(database) == ["none", "none", first, "none"]


@pytest.mark.parametrize("scripts", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_the_conflict_of_a_story_appears_when_the_story_is_not_possible(browser, database, scripts):
    design = small("it-stories", limit=9, checks=0)
    with (
        serving(design, database) as address,
        opened(browser, address, java_script_enabled=scripts, viewport=PHONE) as page,
    ):
        page.goto(link(database, design, address))
        page.get_by_role("button", name="Acconsento, inizia").click()
        page.get_by_role("link", name="Comincia").click()
        conflict = page.get_by_label("1 e 4")
        assert not conflict.is_visible()
        page.get_by_label("no", exact=True).check()
        conflict.check()
        page.get_by_label("aperto o chiuso").check()
        page.get_by_role("button", name="Avanti").click()
        page.wait_for_url("**/2")
        page.get_by_label("sì", exact=True).check()
        assert not conflict.is_visible()
        page.get_by_role("button", name="Avanti").click()
        page.wait_for_url("**/3")
    assert values(database) == ["false", "0 and 3", "open", "true"]


def test_a_page_of_several_questions_is_answered_by_one_number_after_the_other(browser, database):
    design = small("it-stories", limit=9, checks=0)
    with serving(design, database) as address, opened(browser, address, viewport=PHONE) as page:
        page.goto(link(database, design, address))
        page.get_by_role("button", name="Acconsento, inizia").click()
        page.get_by_role("link", name="Comincia").click()
        page.wait_for_url("**/1")
        for key in ("2", "0", "5", "1"):
            page.keyboard.press(key)
        page.keyboard.press("Enter")
        page.wait_for_url("**/2")
    assert values(database) == ["false", "3 and 4", "power"]


@pytest.mark.slow
def test_one_goes_on_at_another_device(browser, database):
    design = small()
    with serving(design, database) as address:
        url = link(database, design, address)
        with opened(browser, address) as page:
            page.goto(url)
            page.get_by_role("button", name="Acconsento, inizia").click()
            page.get_by_role("link", name="Comincia").click()
            page.get_by_label("4").check()
            page.get_by_role("button", name="Avanti").click()
            page.wait_for_url("**/2")
        with opened(browser, address, viewport=PHONE) as page:
            page.goto(url)
            page.get_by_role("link", name="Comincia").click()
            page.wait_for_url("**/2")
            page.get_by_role("link", name="Indietro").click()
            assert page.get_by_label("4").is_checked()


@pytest.mark.parametrize(
    "suite",
    [*(pytest.param(f"it-connectives{end}", marks=pytest.mark.slow) for end in ("", "-cloze")),
     "it-stories"],
)  # fmt: skip
def test_no_page_is_wider_than_a_phone(browser, database, suite):
    design = small(suite, checks=0)
    with serving(design, database) as address, opened(browser, address, viewport=PHONE) as page:
        page.goto(link(database, design, address))
        widths = []
        for step in (None, ("button", "Acconsento, inizia"), ("link", "Comincia")):
            if step:
                page.get_by_role(step[0], name=step[1]).click()
            page.locator("main").wait_for()
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                widths.append(page.evaluate("document.documentElement.scrollWidth"))
        assert max(widths) <= PHONE["width"]


def hostile():
    """A design with markup in every text."""
    design = small(task="choice", checks=0)
    choices = (AnswerChoice(HOSTILE, HOSTILE, HOSTILE), AnswerChoice("b" + HOSTILE, HOSTILE))
    question = SurveyQuestion(
        id=HOSTILE, item=HOSTILE, lines=(HOSTILE,), mark=(3, 40), choices=choices
    )
    survey = replace(design.surveys[0], questions=(HOSTILE,))
    return replace(
        design, title=HOSTILE, consent=(HOSTILE,), guidelines=(HOSTILE,), remarks=True,
        fields=(replace(design.fields[0], prompt=HOSTILE),), questions=(question,),
        surveys=(survey,), source=replace(design.source, suite=HOSTILE),
    )  # fmt: skip


@pytest.mark.slow
def test_hostile_text_does_nothing(browser, database):
    design = hostile()
    with serving(design, database) as address, opened(browser, address) as page:
        page.goto(link(database, design, address))
        assert HOSTILE in page.inner_text("main")
        page.get_by_role("button", name="Acconsento, inizia").click()
        assert HOSTILE in page.inner_text("main")
        page.get_by_role("link", name="Comincia").click()
        assert page.inner_text("#shown") == HOSTILE
        page.locator("label").nth(1).click()
        page.locator("textarea").fill(HOSTILE + "</textarea>")
        page.get_by_role("button", name="Avanti").click()
        page.wait_for_url("**/done")
        page.goto(page.url.replace("/done", "/1"))
        assert page.locator("textarea").input_value() == HOSTILE + "</textarea>"
        page.goto(f"{address}/admin")
        page.get_by_label("Password").fill(SECRET)
        page.get_by_role("button", name="Entra").click()
        assert HOSTILE in page.inner_text("h1")
        page.goto(f"{address}/admin/delete?participant={HOSTILE}")
        assert page.locator("h1 bdi").inner_text() == HOSTILE
        assert page.evaluate("window.hacked") is None
        assert page.locator("img").count() == 0
    (judgment,) = administration.judgments_in(database)
    # The order of the two is drawn for each participant.
    assert judgment.value in (HOSTILE, "b" + HOSTILE)
    assert judgment.remark == HOSTILE + "</textarea>"


@pytest.mark.slow
def test_the_administrator_makes_a_link_and_deletes_its_participant(browser, database):
    design = small()
    with (
        serving(design, database) as address,
        opened(browser, address, java_script_enabled=False) as page,
    ):
        page.goto(f"{address}/admin")
        page.get_by_label("Password").fill(SECRET)
        page.get_by_role("button", name="Entra").click()
        page.get_by_label("Numero di link").fill("1")
        page.get_by_role("button", name="Crea i link").click()
        url = page.locator("td.code").last.inner_text()
        assert url.startswith(f"{address}/p/")
        page.get_by_role("link", name="Indietro").click()
        page.get_by_role("link", name="Elimina").click()
        page.get_by_role("button", name="Elimina").click()
        assert page.url == f"{address}/admin"
        assert "Partecipanti: 0" in page.inner_text("main")
    assert storage.participants(database) == []
