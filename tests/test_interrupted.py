"""A run that is killed goes on where it was and ends in the same bytes."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("interrupted_run.py")
TABLES = ("tokens.parquet", "requests.parquet", "verdicts.parquet", "summary.json")


def start(output: Path, cache: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603  # our own interpreter and script
        [sys.executable, str(SCRIPT), str(output), str(cache)], cwd=SCRIPT.parents[1]
    )


def tables(output: Path) -> dict[str, bytes]:
    [folder] = [path.parent for path in output.rglob("manifest.json")]
    return {name: (folder / name).read_bytes() for name in TABLES}


@pytest.mark.slow
def test_a_run_killed_at_twenty_moments_ends_in_the_same_bytes(tmp_path):
    whole = start(tmp_path / "whole", tmp_path / "cache-whole")
    assert whole.wait(timeout=300) == 0
    output, cache = tmp_path / "out", tmp_path / "cache"
    rng = random.Random(7)  # noqa: S311  # moments, not secrets

    killed = 0
    for _ in range(20):
        process = start(output, cache)
        try:
            process.wait(timeout=rng.uniform(0.4, 1.4))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            killed += 1
    final = start(output, cache)

    assert final.wait(timeout=300) == 0
    assert killed >= 10
    found, expected = tables(output), tables(tmp_path / "whole")
    folder = str(output).encode()
    found["summary.json"] = found["summary.json"].replace(folder, str(tmp_path / "whole").encode())
    assert found == expected
