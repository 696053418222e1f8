"""Ray workers: the same tables, also when one is killed, or the node that it is on."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.helpers import engines
from tests.helpers.engines import cimento
from tests.helpers.processes import processes
from tests.helpers.servers.programs import free_port

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


def raylets(marker: str) -> set[int]:
    return {pid for pid, command in processes(marker).items() if "/raylet " in command[:300]}


@contextmanager
def two_nodes(variables: dict[str, str]) -> Iterator[tuple[str, int]]:
    """A cluster of two nodes with one core each: its address, and the raylet of the second."""
    # The paths of Ray's sockets may have 107 characters.
    with tempfile.TemporaryDirectory(prefix="ray-") as short:

        def start(*options: str) -> None:
            command = [sys.executable, "-m", "ray.scripts.scripts", "start", *options]
            subprocess.run(  # noqa: S603  # our own interpreter
                [*command, "--num-cpus=1", "--disable-usage-stats"],
                env={**os.environ, **variables}, check=True, capture_output=True, timeout=120,
            )  # fmt: skip

        port = free_port()
        try:
            start("--head", f"--port={port}", "--include-dashboard=false", f"--temp-dir={short}")
            first = raylets(short)
            start(f"--address=127.0.0.1:{port}")
            [second] = raylets(short) - first
            yield f"127.0.0.1:{port}", second
        finally:
            for process in processes(short):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)


LOSING = """\
import os, signal
from cimento.engine import on_ray
from cimento.cli.main import main

give = on_ray.RayActors.give
lost = []

def losing(self, worker, task):
    while self._starting and not lost:
        for ref in self._ray.wait([*self._starting], num_returns=1)[0]:
            self._started(ref)
    give(self, worker, task)
    here = self._ray.get_runtime_context().get_node_id()
    if not lost and self._ready[worker].node != here:
        os.kill(int(os.environ["SECOND_NODE"]), signal.SIGKILL)
        lost.append(worker)

on_ray.RayActors.give = losing
main()
"""
"""Once all actors have started, the node of the second dies as soon as it has a unit."""


@pytest.mark.slow
def test_a_unit_whose_node_died_goes_to_a_live_actor_and_a_cluster_is_joined_or_refused(
    here, monkeypatch
):
    models = ["lamps", "more", "-m", "counted:slowest", "-m", "counted:a", "--device", "cpu"]
    cimento(here, "cache-1", "run", *models, "-o", "alone")
    on_nodes = {"PYTHONPATH": f"{here / 'plugin'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    on_nodes["CIMENTO_TEST_LOG"] = str(here / "log")
    with two_nodes(on_nodes) as (address, second):
        monkeypatch.setenv("RAY_ADDRESS", address)
        monkeypatch.setenv("SECOND_NODE", str(second))
        ray = ["--engine", "ray", "--workers", "2", "--no-cache"]
        said = cimento(here, "cache-2", "run", *models, "-o", "spread", *ray, code=LOSING)
        assert "joined the cluster at" in said
        assert "its unit goes to another" in said
        assert engines.tables(here / "spread") == engines.tables(here / "alone")

        # The same cluster, asked with another token.
        (here / "token").write_text("8" * 64)
        refused = cimento(here, "cache-3", "run", *models, "-o", "none", *ray, ends=2)
        assert f"RAY_ADDRESS={address}: this cluster of Ray cannot be joined: Auth" in refused
        assert "InvalidAuthToken" in refused
        assert not list((here / "none").rglob("*.parquet"))
