"""How exact are the times of words that `cimento annotate serve` stores in a browser?

    python benchmarks/reading_frames.py --sentences 20

reads sentences in headless Chromium with the space bar, at intervals drawn by chance, and prints:

- the step of `performance.now()`: the smallest difference that is not 0;
- the time from one frame to the next (`requestAnimationFrame`);
- the time from a press, as the script takes it, to the frame that shows the word;
- the stored time of a word minus that between the two presses as the browser stamped them
  (`event.timeStamp`): what the wait for the script adds to a time, or takes from it.

A screen and a keyboard add times of their own, which no script can see.
"""

from __future__ import annotations

import argparse
import itertools
import random
import shutil
import statistics
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.people.surveys import SurveyDesign, storage
from cimento.people.surveys.building import build_design
from cimento.people.surveys.material import SurveyPlan
from cimento.people.surveys.server import Serving

if TYPE_CHECKING:
    from playwright.sync_api import Page

WORDS = (
    "il", "gatto", "della", "vicina", "dorme", "ogni", "giorno", "sul", "divano", "verde",
    "vicino", "alla", "finestra",
)  # fmt: skip
SHORTEST_MS, LONGEST_MS = 150, 450

WATCH = """
window.stamps = [];
window.shown = [];
window.frames = [];
window.step = Infinity;
document.addEventListener("keydown", (event) => {
  if (event.key !== " ") return;
  const at = performance.now();
  window.stamps.push(event.timeStamp);
  requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => window.shown.push(performance.now() - at);
    channel.port2.postMessage(0);
  });
}, true);
let before = 0;
const next = (at) => {
  if (before) window.frames.push(at - before);
  before = at;
  requestAnimationFrame(next);
};
requestAnimationFrame(next);
for (let n = 0, last = performance.now(); n < 200000; n += 1) {
  const now = performance.now();
  if (now > last) window.step = Math.min(window.step, now - last);
  last = now;
}
"""


def made(folder: Path, sentences: int, seed: int) -> SurveyDesign:
    """A design of sentences that are words in an order drawn by chance."""
    chance = random.Random(seed)  # noqa: S311  # no secret
    lines = [" ".join(chance.sample(WORDS, len(WORDS))) for _ in range(sentences)]
    (folder / "list.txt").write_text("sentence\n" + "\n".join(lines) + "\n", encoding="utf-8")
    plan = SurveyPlan(task="reading", language="it", seed=seed)
    return build_design(folder / "list.txt", plan)


def read(page: Page, chance: random.Random) -> dict[str, list[float]]:
    """Read the sentence of a page; what the page saw before the last press."""
    page.wait_for_selector("#sentence p")
    url = page.url
    for _ in range(len(WORDS)):
        page.keyboard.press("Space")
        page.wait_for_timeout(chance.uniform(SHORTEST_MS, LONGEST_MS))
    seen: dict[str, list[float]] = page.evaluate("({stamps, shown, frames, step: [step]})")
    page.keyboard.press("Space")
    page.wait_for_url(lambda now: now != url)
    return seen


def described(name: str, values: Sequence[float]) -> str:
    """A row of the table: median, standard deviation, 95% and largest, in milliseconds."""
    ordered = sorted(values)
    at_95 = ordered[int(0.95 * (len(ordered) - 1))]
    numbers = (statistics.median(values), statistics.pstdev(values), at_95, ordered[-1])
    cells = " | ".join(f"{number:.2f}" for number in numbers)
    return f"| {name} | {len(values):,} | {cells} |"


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sentences", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    chance = random.Random(options.seed)  # noqa: S311  # no secret
    frames, shown, steps, differences = [], [], [], []
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        design, database = made(folder, options.sentences, options.seed), folder / "answers.sqlite"
        served = Serving(design, database, host="127.0.0.1", port=0, shown="", room=0)
        ((person, token),) = storage.invite_participants(database, design, 1)
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"{served.address}/p/{token}")
        page.locator("button.next").click()
        page.add_init_script(WATCH)
        page.locator("a.next").click()
        for question in person.questions:
            seen = read(page, chance)
            frames += seen["frames"]
            shown += seen["shown"]
            steps += seen["step"]
            by_question = {answer.question: answer.value for answer in storage.answers(database)}
            times = [float(ms) for ms in by_question[question].split()[1:]]
            stamps = seen["stamps"]
            # The last press sends the page away, and its stamp with it.
            between = [later - earlier for earlier, later in itertools.pairwise(stamps)]
            differences += [ms - gap for ms, gap in zip(times, between, strict=False)]
        version = browser.version
        browser.close()
        served.stop()
    print(f"Chromium {version}, headless, {datetime.now(UTC):%d %B %Y}, step {min(steps):.3f} ms\n")
    print("| | n | median | sd | 95% | largest |\n|---|---|---|---|---|---|")
    print(described("from frame to frame, ms", frames))
    print(described("from press to frame, ms", shown))
    print(described("stored time minus time between presses, ms", differences))
    print(described("the same, without its sign, ms", [abs(each) for each in differences]))


if __name__ == "__main__":
    main()
