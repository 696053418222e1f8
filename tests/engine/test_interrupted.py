"""A run that is killed goes on where it was and ends in the same bytes."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cimento.engine.units import facts_of
from tests.helpers.interrupted_run import N_ITEMS

SCRIPT = Path(__file__).parents[1] / "helpers" / "interrupted_run.py"
NAMES = ("tokens", "requests", "outcomes", "estimates")
TABLES = (*(f"{name}.parquet" for name in NAMES), "summary.json")


def start(output: Path, cache: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(SCRIPT), str(output), str(cache)]
    return subprocess.Popen(command, cwd=SCRIPT.parents[1], stdout=subprocess.PIPE)  # noqa: S603  # our own interpreter and script


def asked(process: subprocess.Popen[bytes]) -> int:
    """How many texts a process that ends by itself asked."""
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return int(said.split()[-1])


def count(output: Path) -> int:
    """How many texts are answered in the units of a folder of runs that are whole."""
    facts = [facts_of(path) for path in output.rglob("*.unit")]
    return sum(fact.n for fact in facts if fact is not None)


def tables(output: Path) -> dict[str, bytes]:
    [folder] = [path.parent for path in output.rglob("manifest.json")]
    return {name: (folder / name).read_bytes() for name in TABLES}


@pytest.mark.slow
def test_a_run_killed_at_twenty_moments_ends_in_the_same_bytes(tmp_path):
    assert asked(start(tmp_path / "whole", tmp_path / "cache-whole")) == 2 * N_ITEMS
    output, cache = tmp_path / "out", tmp_path / "cache"
    rng = random.Random(7)  # noqa: S311  # moments, not secrets

    for number in range(20):
        process = start(output, cache)
        assert process.stdout is not None
        # Every other time while it starts, else after a batch or two: by progress rather than by
        # the clock, so that no machine is quick enough to end the run before the last of them.
        if number % 2:
            for _ in range(rng.randint(1, 2)):
                process.stdout.readline()
        time.sleep(rng.uniform(0.0, 0.6))
        assert process.poll() is None, "ended before it was killed"
        process.kill()
        process.communicate()
    known = count(output)

    # It goes on where it was: what is kept is not asked again.
    assert asked(start(output, cache)) == 2 * N_ITEMS - known
    assert known > 0
    stored, expected = tables(output), tables(tmp_path / "whole")
    folder = str(output).encode()
    stored["summary.json"] = stored["summary.json"].replace(
        folder, str(tmp_path / "whole").encode()
    )
    assert stored == expected
