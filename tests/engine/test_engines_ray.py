"""Ray workers: the same tables, also when one is killed, or the node that it is on."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.helpers import engines
from tests.helpers.engines import cimento

if importlib.util.find_spec("ray") is None:
    pytest.skip("Ray is not installed", allow_module_level=True)

KILLING = """\
import os, signal, sys, threading, time
from cimento.engine import on_ray
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


@pytest.fixture
def here(tmp_path, zoo_folder, monkeypatch) -> Path:
    # No other cluster of this machine is joined, and no token is left in the home folder.
    monkeypatch.setenv("RAY_ADDRESS", "local")
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "token"))
    (tmp_path / "token").write_text("7" * 64)
    engines.install(tmp_path / "plugin")
    engines.write_suite(tmp_path / "lamps", items=150)
    engines.write_suite(tmp_path / "more", items=150, start=100)
    (tmp_path / "gpt2").symlink_to(zoo_folder("gpt2"))
    (tmp_path / "bert").symlink_to(zoo_folder("bert"))
    return tmp_path


@pytest.mark.slow
def test_two_ray_workers_give_the_tables_of_one_process(here):
    models = ["lamps", "more", "-m", "gpt2", "-m", "bert", "-m", "counted:a", "--device", "cpu"]
    ray = ["--engine", "ray", "--workers", "2"]
    cimento(here, "cache-1", "run", *models, "-o", "alone")
    # What a share began, Ray finishes.
    cimento(here, "cache-2", "run", *models, "-o", "spread", "--no-cache", "--share", "0/5")
    output = cimento(here, "cache-2", "run", *models, "-o", "spread", *ray)

    alone = engines.tables(here / "alone")
    assert len(alone) == 3 * 2 * 5
    assert engines.tables(here / "spread") == alone
    assert "Traceback" not in output
    loads = [(name, process) for name, what, _, process in engines.logged(here / "log")
             if what == "load"]  # fmt: skip
    assert len(loads) == len(set(loads))

    # And what Ray began, four processes finish.
    one = ["lamps", "more", "-m", "counted:a", "--device", "cpu", "-o", "begun"]
    cimento(here, "cache-3", "run", *one, *ray, "--share", "1/2")
    assert engines.tables(here / "begun") == {}
    cimento(here, "cache-3", "run", *one, "--workers", "4")
    expected = {name: table for name, table in alone.items() if "/a@" in name}
    assert len(expected) == 2 * 5
    assert engines.tables(here / "begun") == expected


@pytest.mark.slow
def test_an_actor_that_is_killed_is_started_again(here):
    models = ["lamps", "more", "-m", "counted:slow", "-m", "counted:telling", "--device", "cpu"]
    models += ["--model-args", 'more={"deep": [1, 2.5, null, true]}', "--dtype", "float64"]
    cimento(here, "cache-1", "run", *models, "-o", "alone")
    cimento(
        here, "cache-2", "run", *models, "-o", "spread", "--engine", "ray", "--workers", "2",
        code=KILLING,
    )  # fmt: skip

    assert engines.tables(here / "spread") == engines.tables(here / "alone")
    # And actors are told what the user said, with its types.
    [text] = {t for name, what, t, _ in engines.logged(here / "log") if what == "asking"}
    assert "'more': {'deep': [1, 2.5, None, True]}" in text
    assert "dtype='float64'" in text


@contextmanager
def two_nodes(folder: Path) -> Iterator[tuple[str, int]]:
    """A cluster of two nodes with one core each: its address, and the process of the second."""
    # The paths of Ray's sockets may have 107 characters.
    with tempfile.TemporaryDirectory(prefix="ray-") as short:
        started: list[psutil.Process] = []

        def start(*options: str) -> psutil.Process:
            before = set(psutil.pids())
            command = [sys.executable, "-m", "ray.scripts.scripts", "start", *options]
            more = ["--num-cpus=1", "--disable-usage-stats"]
            subprocess.run([*command, *more], check=True, capture_output=True, timeout=120)  # noqa: S603
            new = [p for p in psutil.process_iter(["name"]) if p.pid not in before]
            ours = [p for p in new if short in " ".join(p.cmdline())]
            started.extend(ours)
            return next(p for p in ours if p.info["name"] == "raylet")

        try:
            port = free_port()
            start("--head", f"--port={port}", "--include-dashboard=false", f"--temp-dir={short}")
            second = start(f"--address=127.0.0.1:{port}")
            yield f"127.0.0.1:{port}", second.pid
        finally:
            for process in started:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            psutil.wait_procs(started, timeout=10)
