"""How long a site of 200 runs takes, how large it is, and how soon Chromium paints its first page.

    python benchmarks/site.py [--models 40] [--runs FOLDER] [--times 5]

Five suites of 24 to 500 items are answered by functions in place of models, eight of which are
checkpoints of one model. The time is that of the processor over all threads. Then one more run is
added and the site is built again. The board is opened from its file, offline, in a fresh context
each time; first paint is the browser's own ``first-contentful-paint`` since navigation began.
"""

from __future__ import annotations

import hashlib
import math
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from report_page import suite_of

from cimento.api import evaluate_all
from cimento.paradigms.registry import SuiteLike
from cimento.suites.model import Meta, Suite
from cimento.testing.models import FakeScorer, TokenScore

CHECKPOINTS = 8
BUILT_IN = ("it-islands", "it-acceptability", "it-subject-verb")
COUNTS = {"it-pairs": 500, "it-more-pairs": 250}
BAD = frozenset({"aspettano", "era", "erano", "accende", "accendono"})


def skilled(name: str, skill: float) -> TokenScore:
    """Log-probabilities by hashing, in which some wrong forms are less likely the more skilled."""

    def score(tokens: Sequence[str], index: int) -> float:
        text = " ".join((name, *tokens[: index + 1]))
        digest = hashlib.sha256(text.encode()).digest()
        noise = int.from_bytes(digest[:2]) / 65535
        return -math.log(2) * (12 * noise + skill * (tokens[index] in BAD))

    return score


def models_of(count: int) -> list[FakeScorer]:
    """So many models, the first of them checkpoints of one."""
    steps = [f"lab/grower-step{1000 * 2**k:06d}" for k in range(min(CHECKPOINTS, count))]
    others = [f"lab{k % 7}/model-{k:02d}" for k in range(count - len(steps))]
    return [
        FakeScorer(skilled(name, 0.35 * place), name=name)
        for place, name in enumerate([*steps, *others])
    ]


def suites() -> list[SuiteLike]:
    """The suites: two of pairs, one of a factorial design, one with ratings, one of agreement."""
    pairs = []
    for name, count in COUNTS.items():
        made = suite_of(count)
        meta = Meta(name=name, language="it", phenomenon="subject-verb agreement")
        pairs.append(Suite(meta=meta, region_names=made.region_names, predictions=made.predictions,
                           items=made.items))  # fmt: skip
    return [*pairs, *BUILT_IN]


def paints(page: Path, times: int) -> list[float]:
    """First paint in milliseconds, of each opening."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for _ in range(times):
            context = browser.new_context(offline=True)
            tab = context.new_page()
            tab.goto(page.as_uri())
            tab.wait_for_timeout(200)
            entry = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
            found.append(tab.evaluate(entry))
            context.close()
        browser.close()
    return found


def make_runs(folder: Path, models: Sequence[FakeScorer]) -> None:
    """Every suite answered by every model."""
    for end in evaluate_all(suites(), models, output=folder):
        print(f"\r{end!r}"[:100], end="", file=sys.stderr)


if __name__ == "__main__":
    make_runs(Path(sys.argv[1]), models_of(40))
