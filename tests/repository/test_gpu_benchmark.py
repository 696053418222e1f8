"""The benchmark for GPUs runs on any machine, in a tiny form."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "gpu.py"


def measured(folder, *options):
    command = [sys.executable, str(SCRIPT), "--tiny", "--device", "cpu", *options]
    done = subprocess.run(  # noqa: S603  # our own script
        [*command, "--json", str(folder / "gpu.json")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, folder / "gpu.json"


@pytest.mark.slow
def test_each_step_has_rows_and_a_suite_has_the_same_scores_in_company(tmp_path):
    said, path = measured(tmp_path)
    stored = json.loads(path.read_text(encoding="utf-8"))
    steps = {row["step"] for row in stored["rows"]}
    assert {"gpt2 float32", "gpt2 bfloat16", "attention", "large"} < steps
    assert [row["value"] for row in stored["rows"] if row["step"].startswith("company")] == [0, 0]
    assert all(f"| {row['step']}: {row['what']} |" in said for row in stored["rows"])


@pytest.mark.slow
def test_steps_are_named_for_which_there_was_no_time(tmp_path):
    said, path = measured(tmp_path, "--seconds", "-1")
    assert said.count("left out, the time is over") == 5
    assert not path.exists()
