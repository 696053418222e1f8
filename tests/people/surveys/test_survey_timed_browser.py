"""Sentences read word by word at the page of our server, with the keyboard and with a finger."""

from __future__ import annotations

import re
import signal
import time
from dataclasses import replace

import polars as pl
import pytest

from cimento.people.surveys import storage
from cimento.people.surveys.exports import write_survey
from tests.helpers.command_line import invoke
from tests.helpers.reading_help import maze_design, reading_design
from tests.helpers.survey_help import asked_of, serving

pytest.importorskip("uvicorn")


class Reader:
    """Somebody at the page of a survey, who has agreed and sees the first sentence."""

    def __init__(self, browser, address, token, **context):
        self.context = browser.new_context(**context)
        self.page = self.context.new_page()
        self.troubles = []
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.goto(f"{address}/p/{token}")
        self.page.locator("button.next").click()
        self.begin()

    def begin(self):
        """Go from the guidelines or from a pause to the next sentence."""
        self.page.locator("a.next").press("Enter")
        self.page.wait_for_selector("#sentence p")

    def press(self, key):
        self.page.keyboard.press(key)

    def go_on(self, act):
        """Do something after which another page comes."""
        before = self.page.url
        act()
        self.page.wait_for_url(lambda url: url != before)
        if "/pause/" in self.page.url:
            self.begin()

    def seen(self):
        """The words of a moving window that are seen."""
        return self.page.evaluate(
            "[...document.querySelectorAll('.window span span')]"
            ".filter((each) => getComputedStyle(each).visibility === 'visible')"
            ".map((each) => each.textContent)"
        )

    def pair(self):
        return self.page.locator(".maze .word").all_inner_texts()


@pytest.fixture
def database(tmp_path):
    return tmp_path / "survey" / "answers.sqlite"


@pytest.fixture
def reading(tmp_path):
    design = reading_design(tmp_path)
    write_survey(design, tmp_path / "survey")
    return design


@pytest.fixture
def read(browser, database):
    """Opens the survey of a design as its first participant."""
    opened, running = [], []

    def open_survey(design, **context):
        server = serving(design, database)
        address = server.__enter__()
        running.append(server)
        ((_, token),) = storage.invite_participants(database, design, 1)
        opened.append(Reader(browser, address, token, **context))
        return opened[-1]

    yield open_survey
    for reader in opened:
        assert reader.troubles == []
        reader.context.close()
    for server in running:
        server.__exit__(None, None, None)


def stored(database):
    return {(a.question, a.field): a.value for a in storage.answers(database)}


def read_sentence(reader, question, answer=None):
    """Read a sentence with the space bar; only one word is ever seen."""
    assert reader.seen() == []
    for word in question.words:
        reader.press("Space")
        assert reader.seen() == [word]
    if not question.comprehension:
        reader.go_on(lambda: reader.press("Space"))
        return
    reader.press("Space")
    reader.page.wait_for_selector("#asked:not([hidden])")
    reader.press(answer or ("1" if question.correct == "yes" else "2"))
    reader.go_on(lambda: reader.press("Enter"))


def test_sentences_are_read_with_the_keyboard_and_come_back_beside_a_model(
    read, reading, database, tmp_path
):
    reader = read(reading)
    asked = asked_of(database, reading)
    begun = time.monotonic()
    for question in asked:
        read_sentence(reader, question)
    took = 1000 * (time.monotonic() - begun)
    assert "/done" in reader.page.url
    values = stored(database)
    for question in asked:
        device, *times = values[question.id, "practice" if question.kind else "reading"].split()
        assert device == "key"
        assert len(times) == len(question.words)
        assert all(0 < float(ms) < took for ms in times)
    judgments, table, joined = (tmp_path / f"{name}.csv" for name in ("j", "times", "joined"))
    export = ["annotate", "serve", "export", str(tmp_path / "survey"), "-o", str(judgments)]
    assert invoke(export) == 0
    turned = ["annotate", "times", str(judgments), "--design", str(tmp_path / "survey")]
    assert invoke([*turned, "-o", str(table)]) == 0
    command = ["analyze", "reading-times", str(table), "-m", "demo-causal", "-o", str(joined)]
    assert invoke(command) == 0
    after = pl.read_csv(joined)
    assert after["word"].to_list() == [w for q in asked if not q.kind for w in q.words]
    measured = [values[q.id, "reading"].split()[1:] for q in asked if not q.kind]
    assert after["rt"].to_list() == [float(ms) for times in measured for ms in times]
    assert after["surprisal_bits"].null_count() == 0


def test_a_key_that_is_held_down_counts_once_and_others_not_at_all(read, reading, database):
    reader = read(reading)
    (first, *_) = asked_of(database, reading)
    for _ in range(3):  # Chromium repeats a key that is down already
        reader.page.keyboard.down("Space")
    reader.page.keyboard.up("Space")
    assert reader.seen() == [first.words[0]]
    for key in ("a", "Enter", "ArrowLeft", "Control+ "):
        reader.press(key)
    assert reader.seen() == [first.words[0]]


def test_a_sentence_is_read_with_a_finger_on_a_phone(read, reading, database):
    reader = read(reading, has_touch=True, is_mobile=True, viewport={"width": 390, "height": 700})
    first = asked_of(database, reading)[0]
    button = reader.page.locator("#sentence .tap")
    for word in first.words:
        button.tap()
        assert reader.seen() == [word]
    button.tap()
    reader.page.locator("#asked label").first.tap()
    reader.go_on(lambda: reader.page.locator("#asked .next").tap())
    assert stored(database)[first.id, "practice"].startswith("touch ")
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= 390


def choose(reader, question, *, wrong_at=None):
    """Choose the words of a maze with the arrow keys; one of them wrongly."""
    reader.press("Space")
    for index, word in enumerate(question.words):
        pair = reader.pair()
        assert sorted(pair) == sorted([word, question.foils[index]])
        is_left = (pair[0] == word) != (index == wrong_at)
        if index == wrong_at:
            reader.press("ArrowLeft" if is_left else "ArrowRight")
            return
        if index + 1 == len(question.words) and not question.comprehension:
            reader.go_on(lambda left=is_left: reader.press("ArrowLeft" if left else "ArrowRight"))
            return
        reader.press("ArrowLeft" if is_left else "ArrowRight")
    reader.page.wait_for_selector("#asked:not([hidden])")
    reader.press("1")
    reader.go_on(lambda: reader.press("Enter"))


def test_a_maze_ends_at_a_mistake_and_nothing_is_asked_about_it(read, tmp_path, database):
    design = maze_design(tmp_path)
    write_survey(design, tmp_path / "survey")
    reader = read(design)
    first, second, *_ = asked_of(database, design)
    choose(reader, first)
    choose(reader, second, wrong_at=2)
    assert "Non era la parola giusta" in reader.page.locator("[role=status]").inner_text()
    reader.go_on(lambda: reader.press("Space"))
    values = stored(database)
    assert re.fullmatch(r"key( [\d.]+[lr]){3}", values[first.id, "practice"])
    assert re.fullmatch(r"key( [\d.]+[lr]){3}!", values[second.id, "maze"])
    assert (second.id, "comprehension") not in values


def test_both_words_of_a_maze_fit_on_a_phone(read, tmp_path, database):
    design = maze_design(tmp_path)
    write_survey(design, tmp_path / "survey")
    reader = read(design, has_touch=True, is_mobile=True, viewport={"width": 360, "height": 640})
    first = asked_of(database, design)[0]
    reader.page.locator("#sentence .tap").tap()
    for word in first.words:
        boxes = [each.bounding_box() for each in reader.page.locator(".maze .word").all()]
        assert all(box["x"] >= 0 and box["x"] + box["width"] <= 360 for box in boxes)
        assert boxes[0]["x"] + boxes[0]["width"] < boxes[1]["x"]
        reader.page.locator(".maze .word").nth(reader.pair().index(word)).tap()
    reader.page.locator("#asked label").first.tap()
    reader.go_on(lambda: reader.page.locator("#asked .next").tap())
    assert re.fullmatch(r"touch( [\d.]+[lr]){3}", stored(database)[first.id, "practice"])


def test_a_maze_can_go_on_after_a_mistake(read, tmp_path, database):
    design = maze_design(tmp_path, after_error="correct")
    write_survey(design, tmp_path / "survey")
    reader = read(design)
    first = asked_of(database, design)[0]
    choose(reader, first, wrong_at=1)
    assert "Scegli l'altra" in reader.page.locator("[role=status]").inner_text()
    for word in first.words[1:]:
        reader.press("ArrowLeft" if reader.pair()[0] == word else "ArrowRight")
    reader.page.wait_for_selector("#asked:not([hidden])")
    reader.press("2")
    reader.go_on(lambda: reader.press("Enter"))
    value = stored(database)[first.id, "practice"]
    assert re.fullmatch(r"key [\d.]+[lr] [\d.]+[lr]![\d.]+ [\d.]+[lr]", value)
    wrong, right = (float(ms) for ms in re.findall(r"([\d.]+)[lr]!([\d.]+)", value)[0])
    assert wrong < right


def test_hostile_words_are_shown_as_words(read, reading):
    hostile = "<img/src=x/onerror=window.hacked=1> </script><script>window.hacked=1</script> '\"&."
    questions = tuple(replace(q, lines=(hostile,), regions=()) for q in reading.questions)
    design = replace(reading, questions=questions)
    reader = read(design)
    shown = []
    for _ in hostile.split():
        reader.press("Space")
        shown += reader.seen()
    assert shown == hostile.split()
    assert reader.page.evaluate("window.hacked") is None


@pytest.mark.slow
def test_a_killed_server_has_the_sentences_that_were_read(browser, reading, database, tmp_path):
    load = pytest.importorskip("benchmarks.survey_load")
    storage.prepare(database, reading)
    ((_, token),) = storage.invite_participants(database, reading, 1)
    asked, port = asked_of(database, reading), load.free_port()
    process = load.start_server(tmp_path / "survey", port)
    reader = Reader(browser, f"http://127.0.0.1:{port}", token)
    try:
        read_sentence(reader, asked[0])
        reader.press("Space")
        reader.press("Space")
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = stored(database)
        assert {question for question, _ in before} == {asked[0].id}
        process = load.start_server(tmp_path / "survey", port)
        reader.page.goto(f"http://127.0.0.1:{port}/p/{token}")
        reader.begin()
        for question in asked[1:]:
            read_sentence(reader, question)
        after = stored(database)
        assert after.items() >= before.items()
        assert {question for question, _ in after} == {question.id for question in asked}
    finally:
        reader.context.close()
        process.kill()
        process.wait()
