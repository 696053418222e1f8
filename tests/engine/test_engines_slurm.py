"""A job array on a real Slurm, of which a job is lost: the tables of one process."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.helpers import engines
from tests.helpers.engines import cimento
from tests.helpers.processes import processes
from tests.helpers.slurm import missing, slurm

RUN = """\
suites = ["lamps", "more"]
models = ["counted:slow", "counted:a"]
device = "cpu"
output = "runs 1"
"""


def job(number: int, folder: Path) -> int | None:
    """The process of a job of the array, once it runs."""
    for process in processes("cimento", f"--share {number}/2"):
        with suppress(OSError):
            if Path(f"/proc/{process}/cwd").readlink() == folder:
                return process
    return None


@pytest.mark.slow
@pytest.mark.skipif(bool(missing()), reason=f"Slurm is not installed: no {', '.join(missing())}")
def test_an_array_that_lost_a_job_ends_in_the_tables_of_one_process(tmp_path):
    here = tmp_path / "l'ultima notte, 100% A"
    here.mkdir()
    engines.install(here / "plugin")
    engines.write_suite(here / "lamps", items=150)
    engines.write_suite(here / "more", items=150, start=100)
    (here / "run.toml").write_text(RUN)
    cimento(here, "cache-1", "run", "run.toml", "-o", "alone")
    cimento(here, "cache-2", "cluster", "slurm", "run.toml", "--jobs", "2", "--gpus", "0")
    script = here / "runs 1" / "slurm" / "array.sh"

    # The path of a socket may have 107 characters.
    with tempfile.TemporaryDirectory(prefix="slurm-") as short, slurm(Path(short) / "s") as found:
        # From another folder, and with nothing of the environment of this shell.
        command = ["sbatch", "--wait", "--export=NONE", str(script)]
        array = subprocess.Popen(command, env=found, cwd="/")  # noqa: S603  # Slurm's own commands
        end = time.monotonic() + 120
        while (lost := job(1, here)) is None:
            assert array.poll() is None, "the array ended before a job was lost"
            assert time.monotonic() < end, "no job of the array began"
            time.sleep(0.1)
        os.kill(lost, signal.SIGKILL)
        assert array.wait(120) != 0
        logs = {path.name: path.read_text() for path in script.parent.glob("*.log")}
        assert len(logs) == 2, logs
        said = cimento(
            here, "cache-2", "cluster", "collect", "runs 1/slurm/run.toml", "--check", ends=3
        )
        assert said == ""
        subprocess.run(command, env=found, cwd="/", check=True, timeout=240)  # noqa: S603  # likewise

    cimento(here, "cache-2", "cluster", "collect", "runs 1/slurm/run.toml")
    assert engines.tables(here / "runs 1") == engines.tables(here / "alone")
