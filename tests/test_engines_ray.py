"""Two Ray workers on this machine: the same tables, and what happens when one is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import engines

pytest.importorskip("ray")

RUN = """\
import sys
from cimento.cli.main import main
main()
"""

KILLING = """\
import os, signal, sys, threading, time
from cimento.scheduling import on_ray
from cimento.cli.main import main

give = on_ray.RayActors.give
killed = []

def killing(self, worker, task):
    give(self, worker, task)
    if not killed:
        killed.append(self.process_ids()[0])
        os.kill(killed[0], signal.SIGKILL)

on_ray.RayActors.give = killing
main()
"""


def cimento(folder: Path, cache: str, *arguments: str, code: str = RUN) -> str:
    """The command in a process of its own, in which every warning is an error."""
    variables = {
        **os.environ,
        "PYTHONPATH": str(folder / "plugin"),
        "CIMENTO_CACHE_DIR": str(folder / cache),
        "CIMENTO_TEST_LOG": str(folder / "log"),
    }
    done = subprocess.run(  # noqa: S603  # our own interpreter and code
        [sys.executable, "-W", "error", "-c", code, *arguments],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.fixture
def here(tmp_path, zoo_folder) -> Path:
    engines.install(tmp_path / "plugin")
    engines.write_suite(tmp_path / "lamps", items=150)
    engines.write_suite(tmp_path / "more", items=150, start=100)
    (tmp_path / "gpt2").symlink_to(zoo_folder("gpt2"))
    (tmp_path / "bert").symlink_to(zoo_folder("bert"))
    return tmp_path


@pytest.mark.slow
def test_two_ray_workers_give_the_tables_of_one_process(here):
    models = ["lamps", "more", "-m", "gpt2", "-m", "bert", "-m", "counted:a", "--device", "cpu"]
    cimento(here, "cache-1", "run", *models, "-o", "alone")
    # What a share began, Ray finishes.
    cimento(here, "cache-2", "run", *models, "-o", "spread", "--no-cache", "--share", "0/5")
    told = cimento(
        here, "cache-2", "run", *models, "-o", "spread", "--engine", "ray", "--workers", "2"
    )

    alone = engines.tables(here / "alone")
    assert len(alone) == 3 * 2 * 4
    assert engines.tables(here / "spread") == alone
    assert "Traceback" not in told
    loads = [(name, process) for name, what, _, process in engines.logged(here / "log")
             if what == "load"]  # fmt: skip
    assert len(loads) == len(set(loads))


@pytest.mark.slow
def test_an_actor_that_is_killed_is_started_again(here):
    models = ["lamps", "more", "-m", "counted:slow", "--device", "cpu"]
    cimento(here, "cache-1", "run", *models, "-o", "alone")
    cimento(
        here, "cache-2", "run", *models, "-o", "spread", "--engine", "ray", "--workers", "2",
        code=KILLING,
    )  # fmt: skip

    assert engines.tables(here / "spread") == engines.tables(here / "alone")
