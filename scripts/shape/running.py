"""What commands of cimento cost and enter, each run in a process of its own.

Nothing of cimento is imported here: commands are called as a user calls them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

CHILD = Path(__file__).with_name("child.py")
MODEL = "demo-causal"
SENTENCE = "Le lampade {number} del corridoio {verb} accese tutta la notte."
START_UP_PAIRS = 10
"""A run of so few pairs costs what starting costs."""


@dataclass(frozen=True)
class Spent:
    """What one command did.

    Attributes:
        cpu_seconds: user and system time of the process and of those that it started.
        peak_bytes: largest resident memory of one of them.
        torch: whether PyTorch was imported.
        functions: those of the package that were entered, as file, name and line; only where
            the run was watched.
        made: the stack, as file and name of each frame from the outermost on, where a network of
            PyTorch is first touched.
        called: the same, where one is first called.
    """

    cpu_seconds: float
    peak_bytes: int
    torch: bool
    functions: list[tuple[str, str, int]]
    made: list[tuple[str, str]]
    called: list[tuple[str, str]]


class CommandError(RuntimeError):
    """A command ended with an error: there is nothing to measure."""


class Workshop:
    """Runs commands of one working tree.

    Args:
        root: of the working tree.
        folder: empty, for suites, runs and caches.

    Raises:
        FileNotFoundError: the tree has no pyproject.toml or no package.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        self.entry: str = project["project"]["scripts"]["cimento"]
        self.source = root / "src" / "cimento"
        if not self.source.is_dir():
            raise FileNotFoundError(
                f"{self.source} is not a folder: give the root of a working tree"
            )
        self.folder = folder
        self._number = 0
        self.trace = cache(self._trace)
        self.warm = cache(self._warm)

    def run(self, name: str, *arguments: str, mode: Literal["plain", "watch"] = "plain") -> Spent:
        """Run ``cimento run`` in a folder.

        Args:
            name: of the folder; runs and the cache of answers are kept in it.
            *arguments: of the command.
            mode: ``watch`` has functions and stacks noted, which takes much longer.

        Raises:
            CommandError: the command failed.
        """
        place = self.folder / name
        place.mkdir(exist_ok=True)
        self._number += 1
        report, printed = (self.folder / f"{self._number}.{end}" for end in ("json", "txt"))
        command = [sys.executable, str(CHILD), self.entry, str(report), str(self.source), mode]
        variables = {
            **os.environ,
            "PYTHONPATH": str(self.source.parent),
            "CIMENTO_CACHE_DIR": str(place / "cache"),
            "OMP_NUM_THREADS": "1",
        }
        with printed.open("wb") as output:
            process = subprocess.Popen(  # noqa: S603  # our own command, without a shell
                [*command, "run", *arguments], cwd=place, env=variables, stdout=output,
                stderr=subprocess.STDOUT,
            )  # fmt: skip
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            last = printed.read_text(encoding="utf-8", errors="replace")[-500:]
            raise CommandError(f"cimento run {' '.join(arguments)}: {last}")
        unit = 1 if sys.platform == "darwin" else 1024
        seen = json.loads(report.read_text(encoding="utf-8"))
        return Spent(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit, **seen)

    def _trace(self, suite: str) -> Spent:
        """What a first run of a built-in suite enters, without stored runs and answers."""
        return self.run(f"trace-{suite}", suite, "-m", MODEL, mode="watch")

    def _warm(self, pairs: int) -> str:
        """The folder where so many pairs are stored, with every answer in the cache."""
        name = f"warm-{pairs}"
        self.run(name, str(self.pairs(pairs)), "-m", MODEL)
        return name

    def pairs(self, number: int) -> Path:
        """A file of minimal pairs of which no two sentences are equal, in the format of BLiMP."""
        path = self.folder / f"pairs-{number}.jsonl"
        if not path.exists():
            with path.open("w", encoding="utf-8") as file:
                for pair in range(number):
                    good, bad = (SENTENCE.format(number=pair, verb=v) for v in ("erano", "era"))
                    row = {"sentence_good": good, "sentence_bad": bad, "UID": "agreement"}
                    file.write(json.dumps({**row, "pairID": str(pair)}) + "\n")
        return path

    def again(self, pairs: int) -> Spent:
        """Showing a run of this many pairs that is stored."""
        return self.run(self.warm(pairs), str(self.pairs(pairs)), "-m", MODEL)

    def forced(self, pairs: int) -> Spent:
        """Judging and storing so many pairs anew, with every answer in the cache."""
        return self.run(self.warm(pairs), str(self.pairs(pairs)), "-m", MODEL, "--force")

    def sentence_seconds(self, pairs: int) -> tuple[float, float, float]:
        """CPU seconds of a sentence beside the model, of the whole run, and of starting up."""
        start_up, whole = self.forced(START_UP_PAIRS), self.forced(pairs)
        sentences = 2 * (pairs - START_UP_PAIRS)
        seconds = (whole.cpu_seconds - start_up.cpu_seconds) / sentences
        return seconds, whole.cpu_seconds, start_up.cpu_seconds

    def peak(self, pairs: int) -> int:
        """The largest memory of a run of this many pairs, asked of the model, in bytes."""
        name = f"peak-{pairs}"
        return self.run(name, str(self.pairs(pairs)), "-m", MODEL, "--no-cache").peak_bytes


def frames(stack: list[tuple[str, str]], source: Path) -> tuple[int, int]:
    """How many frames of a stack are in the package, and how many from the first of these on."""
    inside = [Path(file).is_relative_to(source) for file, _ in stack]
    return sum(inside), len(stack) - inside.index(True) if any(inside) else 0
