"""The script for R that an export has, as R runs it."""

import shutil
import subprocess
from pathlib import Path

import pytest


def printed_by_r(folder: Path) -> str:
    """What the exported script prints; the test is skipped where R or lme4 is absent."""
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    done = subprocess.run(
        ["Rscript", "analysis.R"],  # noqa: S607  # the program is on the path
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if "lme4" in done.stderr and done.returncode:
        pytest.skip("lme4 is not installed")
    assert done.returncode == 0, done.stderr
    return done.stdout
