"""How long a site of 200 runs takes, how large it is, and how soon Chromium paints its first page.

    python benchmarks/site.py [--models 40] [--runs FOLDER] [--times 5]

Five suites of 24 to 500 items are answered by functions in place of models, eight of which are
checkpoints of one model. The time is that of the processor over all threads, start-up among it.
The site is built again as it is, and with one run more. The board is opened from its file, offline,
in a fresh context each time; first paint is the browser's own ``first-contentful-paint`` since
navigation began.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from report_page import paints, suite_of

from cimento.evaluation import evaluate, evaluate_all
from cimento.kinds.registry import SuiteLike
from cimento.suites import Meta, Suite
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


def make_runs(folder: Path, models: Sequence[FakeScorer]) -> None:
    """Store the answers of every model to every suite."""
    for _ in evaluate_all(suites(), models, output=folder):
        pass


def built(runs: Sequence[Path], folder: Path) -> str:
    """Build the site in a process of its own: its CPU seconds, and what it says."""
    command = [sys.executable, "-m", "cimento", "report", *map(str, runs)]
    command += ["--site", str(folder)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603  # of a test, on this machine
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"{seconds:.1f} CPU s; {done.stderr.splitlines()[0]}"


def main() -> None:
    """Make the runs, build the site three times, open it, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--runs", type=Path, help="A folder of runs from an earlier call.")
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = given.runs or folder / "runs"
        if not runs.is_dir():
            make_runs(runs, models_of(given.models))
        site = folder / "site"
        print(f"new:          {built([runs], site)}")
        sizes = [path.stat().st_size for path in site.rglob("*") if path.is_file()]
        print(f"size:         {sum(sizes) / 1e6:.1f} MB in {len(sizes)} files")
        print(f"again:        {built([runs], site)}")
        one = FakeScorer(skilled("new/model", 2.0), name="new/model")
        evaluate("it-subject-verb", one, output=folder / "more")
        print(f"one run more: {built([runs, folder / 'more'], site)}")
        values = [paint for (paint,) in paints(site / "index.html", given.times)]
    print(f"first paint:  median {statistics.median(values):.0f} ms, slowest {max(values):.0f} ms")


if __name__ == "__main__":
    main()
