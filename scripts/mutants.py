"""Mutants: small changes of the code that tests should notice.

Usage: python scripts/mutants.py [--seed 20261129] [--number 60] [--out build/mutants.jsonl]

Lines of src/cimento are drawn at random, and on each a change of a usual kind
(`scripts/mutations.py`). Each is made in a copy of the repository, never here, and the tests that
`scripts/tests_for.py` names for the module are run there. A change is killed when one fails, and
survives when none does; tests that need more than `--limit` seconds say neither.
At the end the tests that killed are run without any change: what fails then has killed nothing.
A run that is interrupted goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

from mutations import ROOT, Mutant, drawn
from tests_for import closest

SHORT = "not slow and not servers and not downloads"
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?\.py(?:::.*?)?)(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Result:
    """What became of a mutant, which test saw it, and after how long."""

    mutant: Mutant
    old: str
    outcome: str
    test: str
    seconds: float


def copied(folder: Path) -> Path:
    """A copy of the repository as it is now, compiled once."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True)  # noqa: S603  # ours
    for name in filter(None, done.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    compiling = [sys.executable, "-m", "compileall", "-q", "src", "tests"]
    subprocess.run(compiling, cwd=folder, check=True)  # noqa: S603  # of this file
    return folder


def tested(folder: Path, tests: list[str], limit: float | None) -> tuple[str, str]:
    """How the tests end in a copy, "passed", "failed" or "timed out", and the one that failed."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", SHORT]
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",  # else a change within a second could go unseen
        "CIMENTO_CACHE_DIR": str(folder / "cache"),
    }
    process = subprocess.Popen([*command, *tests], cwd=folder, env=environment, text=True,  # noqa: S603  # of this file
                               stdout=subprocess.PIPE, start_new_session=True)  # fmt: skip
    try:
        said, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        return "timed out", ""
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)  # with the workers and servers of its tests
            process.communicate()
    failed = _FAILED.search(said)
    return ("failed" if process.returncode else "passed"), failed[1] if failed else ""


def results(mutants: list[Mutant], folder: Path, limit: float) -> Iterator[Result]:
    """What becomes of each mutant, one after the other."""
    for mutant in mutants:
        path = folder / mutant.path
        text = path.read_text(encoding="utf-8")
        tests = [str(test.relative_to(ROOT)) for test in closest([ROOT / mutant.path])]
        began = time.monotonic()
        path.write_text(mutant.applied(text), encoding="utf-8")
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
            compiled.unlink()
        try:
            end, failed = tested(folder, tests, limit)
        finally:
            path.write_text(text, encoding="utf-8")
        seconds = round(time.monotonic() - began, 1)
        outcome = {"passed": "survived", "failed": "killed"}.get(end, end)
        yield Result(mutant, mutant.old(text), outcome, failed, seconds)


def stored(path: Path) -> list[Result]:
    """The results that an earlier run has written."""
    if not path.is_file():
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [Result(**{**row, "mutant": _mutant(row["mutant"])}) for row in rows]


def _mutant(row: dict[str, Any]) -> Mutant:
    return Mutant(**{**row, "start": tuple(row["start"]), "end": tuple(row["end"])})


def table(found: list[Result]) -> str:
    """The results, one a line, and how many there are of each."""
    lines = [
        f"{result.outcome:9} {result.seconds:6.1f} s  {result.mutant.path}:{result.mutant.start[0]}"
        f"  {result.mutant.kind}: {_short(result.old)} -> {_short(result.mutant.new)}"
        + (f"  [{result.test}]" if result.test else "")
        for result in found
    ]
    counts = Counter(result.outcome for result in found)
    return "\n".join([*lines, ", ".join(f"{n} {outcome}" for outcome, n in counts.items())])


def _short(code: str) -> str:
    return shorten(" ".join(code.split()), 90)


def main() -> int:
    """Draw, run, write and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=20261129)
    parser.add_argument("--number", type=int, default=60)
    parser.add_argument("--limit", type=float, default=240, help="seconds for one mutant's tests")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "mutants.jsonl")
    arguments = parser.parse_args()
    mutants = drawn(arguments.seed, arguments.number)
    found = [result for result in stored(arguments.out) if result.mutant in mutants]
    left = [mutant for mutant in mutants if mutant not in {result.mutant for result in found}]
    print(f"seed {arguments.seed}: {len(mutants)} mutants, {len(left)} to try", flush=True)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy_of_all = copied(Path(folder))
        for result in results(left, copy_of_all, arguments.limit):
            with arguments.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(result)) + "\n")
            print(table([result]).splitlines()[0], flush=True)
            found.append(result)
        print(table(found))
        # Without the values of parameters, which pytest takes only as it prints them.
        killers = sorted({result.test.partition("[")[0] for result in found if result.test})
        end, failed = tested(copy_of_all, killers, None) if killers else ("passed", "")
        if end != "passed":
            print(f"fails without any change: {failed}")
    return int(end != "passed")


if __name__ == "__main__":
    sys.exit(main())
