"""Steps 1, 3 and 4 in headless Chromium: looks, two tabs, and a run that is killed midway."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from cimento.cli.main import invoke

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

WAIT_MS = 90_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A workspace with runs of two models."""
    folder = tmp_path_factory.mktemp("files")
    words = ["run", "it-subject-verb", "-m", "demo-causal", "-m", "demo-masked", "--limit", "6"]
    assert invoke([*words, "-o", str(folder / "runs")]) == 0
    return folder


def button(tab, name):
    return tab.get_by_role("button", name=name, exact=True)


def overflow(tab):
    """The pixels by which the page is wider than the window."""
    return tab.evaluate("document.documentElement.scrollWidth - window.innerWidth")


@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("step", ["start", "run", "read"])
def test_pages_fit_into_the_window_in_light_and_dark(opened, address, step, scheme, width):
    size = {"width": width, "height": 800}
    tab = opened(f"{address}en/{step}", viewport=size, color_scheme=scheme)
    assert overflow(tab) <= 0
    paper, ink = (tab.evaluate(f"getComputedStyle(document.body).{name}") for name in
                  ("backgroundColor", "color"))  # fmt: skip
    assert (sum_of(paper) < sum_of(ink)) == (scheme == "dark")


def sum_of(color):
    return sum(int(part) for part in color.removeprefix("rgb(").removesuffix(")").split(",")[:3])


def test_the_address_without_its_token_shows_nothing(browser, address):
    context = browser.new_context()
    tab = context.new_page()
    answer = tab.goto(address[: address.index("/", 8)] + "/en/start")
    assert answer is not None
    assert answer.status == 404
    context.close()


@pytest.fixture
def stranger(tmp_path) -> Iterator[str]:
    """The address of a page of somebody else, on this machine too."""
    (tmp_path / "index.html").write_text("<!doctype html><p>hello")
    serve = functools.partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


TRIES = {
    "read": "fetch(`${app}en/start`).then(() => 'done', () => 'refused')",
    "post": "fetch(`${app}en/start`, {method: 'POST', body: 'x'}).then(() => 'done',"
    " () => 'refused')",
    "socket": "new Promise(done => { const socket = new WebSocket("
    "`${app.replace('http', 'ws')}_nicegui_ws/socket.io/?EIO=4&transport=websocket`);"
    " socket.onopen = () => done('done'); socket.onerror = () => done('refused'); })",
}


@pytest.mark.parametrize("what", TRIES)
def test_a_page_of_a_stranger_can_not_use_the_app(browser, address, stranger, what):
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(stranger)
    late = "new Promise(done => setTimeout(() => done('nothing'), 20000))"
    assert tab.evaluate(f"app => Promise.race([{TRIES[what]}, {late}])", address) == "refused"
    context.close()


def test_a_sentence_is_tried_and_its_words_are_colored(opened, address):
    tab = opened(f"{address}it/start")
    tab.locator("textarea").first.fill("Il cane dorme in giardino.")
    tab.locator("section button").first.click()
    tab.wait_for_selector(".strip .word", timeout=WAIT_MS)
    assert tab.locator(".strip .word > span").all_inner_texts() == [
        "Il", "cane", "dorme", "in", "giardino", ".",
    ]  # fmt: skip


def test_the_report_works_in_its_frame_and_its_items_are_browsed(opened, address):
    tab = opened(f"{address}en/read?suite=it-subject-verb")
    button(tab, "Show the results").click()
    frame = tab.frame_locator("iframe.report")
    frame.get_by_role("link", name="Browse the items").click(timeout=WAIT_MS)
    frame.locator("#item-list .item").first.wait_for(timeout=WAIT_MS)
    tab.get_by_role("tab", name="Figures").click()
    with tab.expect_download(timeout=WAIT_MS) as download:
        tab.get_by_role("button", name="Download SVG").first.click(timeout=WAIT_MS)
    assert download.value.suggested_filename.endswith(".svg")


def test_an_error_goes_when_its_cause_is_mended(opened, address):
    tab = opened(f"{address}en/run")
    button(tab, "Run").click()
    notice = tab.locator(".q-notification.notice")
    notice.wait_for(timeout=WAIT_MS)
    assert "suite: none is chosen" in notice.inner_text()
    tab.get_by_role("combobox", name="Tests").fill("it-islands")
    tab.get_by_role("option", name="it-islands", exact=True).click()
    notice.wait_for(state="detached", timeout=WAIT_MS)


def test_a_tab_says_what_is_being_made(opened, address):
    tab = opened(f"{address}en/read?suite=it-subject-verb")
    button(tab, "Show the results").click()
    # What is quickly made is quickly gone, so that only the page itself can be sure to see it.
    tab.evaluate(
        """() => {
            window.said = [];
            const look = () => document.querySelectorAll(".q-tab-panel .waiting").forEach(
                (line) => window.said.push(line.innerText));
            new MutationObserver(look).observe(document.body, {childList: true, subtree: true});
        }"""
    )
    tab.get_by_role("tab", name="Compare").click(timeout=WAIT_MS)
    tab.locator(".q-tab-panel table.grid").first.wait_for(timeout=WAIT_MS)
    tab.get_by_role("tab", name="Figures").click()
    tab.locator("img.drawing").first.wait_for(timeout=WAIT_MS)
    said = " ".join(tab.evaluate("window.said"))
    assert "it-subject-verb (demo-causal" in said
    assert "being drawn" in said


def test_two_tabs_share_the_queue_and_nothing_else(opened, address):
    one = opened(f"{address}en/run?suite=it-islands")
    two = opened(f"{address}it/run?suite=it-subject-verb")
    button(one, "Run").click()
    two.wait_for_selector("text=cimento run it-islands", timeout=WAIT_MS)
    command = two.locator(".command code").first.text_content()
    assert "it-subject-verb" in command
    one.get_by_text("Read the results").wait_for(timeout=WAIT_MS)


@contextlib.contextmanager
def killable(folder) -> Iterator[tuple[subprocess.Popen, str]]:
    """The app as a process to be killed, and its address."""
    command = [sys.executable, "-m", "cimento", "app", str(folder), "--no-browser"]
    with subprocess.Popen(  # noqa: S603  # a fixed command
        command, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        yield process, process.stderr.readline().split()[-1]
        process.kill()
        process.communicate()


SUITES = ("it-subject-verb", "it-islands", "it-determiner-noun-adjective", "it-pronoun-antecedent")


def test_a_run_that_is_killed_with_the_app_goes_on_where_it_was(opened, tmp_path):
    job = tmp_path / "queue" / "0001.json"
    job.parent.mkdir()
    runs = {"suites": SUITES, "models": ["demo-causal"], "language": "", "limit": None}
    job.write_text(json.dumps({"number": 1, **runs, "state": "stopped", "process": 0}))
    with killable(tmp_path) as (process, address):
        tab = opened(f"{address}en/run")
        button(tab, "Go on: 1").click(timeout=WAIT_MS)
        kept = wait_for(lambda: units(tmp_path))
        running = json.loads(job.read_text())
        tab.context.close()
        process.send_signal(signal.SIGKILL)
        # Where the run was done before it could be killed, there is nothing to kill.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running["process"], signal.SIGKILL)
    with killable(tmp_path) as (process, address):
        tab = opened(f"{address}en/run")
        button(tab, "Go on: 1").click(timeout=WAIT_MS)
        tab.get_by_text("Read the results").wait_for(timeout=WAIT_MS)
    assert len(list((tmp_path / "runs").glob("*/*/manifest.json"))) == len(SUITES)
    # What was there was not computed again.
    assert {path: path.stat().st_mtime_ns for path in kept if path.exists()} == {
        path: time for path, time in kept.items() if path.exists()
    }


def units(folder):
    """The finished units and runs in a workspace, with their times."""
    runs = folder / "runs"
    files = [*runs.glob(".units/**/*"), *runs.glob("*/*/manifest.json")]
    return {path: path.stat().st_mtime_ns for path in files if path.is_file()}


def wait_for(what):
    """The first result of a function that is something."""
    end = time.monotonic() + WAIT_MS / 1000
    while not (result := what()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return result


def test_the_keyboard_passes_through_the_field_of_the_model_without_changing_it(opened):
    tab = opened("es/start")
    field = tab.locator("[role=combobox][aria-label=Modelo], input[aria-label=Modelo]").first
    field.wait_for(timeout=WAIT_MS)
    field.focus()
    before = field.input_value()
    assert before.startswith("demo-causal")
    for key in ("Tab", "Shift+Tab", "Tab"):
        tab.keyboard.press(key)
        tab.wait_for_timeout(300)
    assert field.input_value() == before
    # Another name may still be typed.
    field.fill("./modelo")
    tab.wait_for_timeout(1000)
    tab.keyboard.press("Tab")
    tab.wait_for_timeout(1000)
    assert field.input_value() == "./modelo"


def active(tab, what="textContent"):
    """What the element with the focus is."""
    return tab.evaluate(f"document.activeElement.{what}")


def test_keys_reach_the_menus_above_the_columns_and_leave_the_grid(opened, folder):
    rows = "good,seconda\nIl cane dorme.,Il cane dormono.\nLe zie ridono.,Le zie ride.\n"
    (folder / "coppie.csv").write_text(rows, encoding="utf-8")
    tab = opened("it/edit?suite=coppie.csv")
    tab.wait_for_selector(".ag-row", timeout=WAIT_MS)
    tab.wait_for_selector(".column-head select")
    tab.keyboard.press("Tab")
    assert active(tab) == "Vai al contenuto"
    tab.locator(".ag-header-cell").first.focus()
    for key in (*["ArrowRight"] * 3, "Enter"):  # past the numbers, the boxes of rows, and good
        tab.keyboard.press(key)
    assert active(tab, "tagName") == "SELECT"
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        tab.keyboard.press(key)
    tab.wait_for_selector(".column-head select.chosen", timeout=WAIT_MS)
    assert tab.locator(".column-head select.chosen").input_value() == "bad"
    tab.get_by_text("Letto come coppie").wait_for()
    tab.wait_for_function("document.activeElement.classList.contains('ag-header-cell')")
    tab.keyboard.press("ArrowDown")
    assert active(tab) == "Il cane dormono."
    tab.keyboard.press("Tab")
    assert not tab.evaluate("Boolean(document.activeElement.closest('.suite-grid'))")


def test_a_file_that_is_not_taken_is_said_where_the_next_key_begins(opened):
    tab = opened("it/start", viewport={"width": 1200, "height": 500})
    file = {"name": "note.doc", "mimeType": "text/plain", "buffer": b"note"}
    tab.set_input_files(".upload input[type=file]", file)
    tab.wait_for_function("document.activeElement.textContent.includes('note.doc non è stato')")
    assert 0 <= tab.evaluate("document.activeElement.getBoundingClientRect().top") < 500
