"""Joining Ray, and what becomes of units when actors die: with a stand-in for Ray.

`test_engines_ray.py` does the same with Ray itself.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from cimento.cli.main import invoke
from cimento.engine import on_ray
from tests.helpers import engines
from tests.helpers.servers.programs import free_port


class RayError(Exception):
    """The base class of Ray's errors."""


class FakeRay(ModuleType):
    """Ray with actors in this process; `deaths` says for each call of one whether it dies of it.

    Attributes:
        joined: the addresses with which Ray was initialized.
        refuses: the error of joining a cluster.
        deaths: for each unit that is given, in order, what Ray says of the death of its actor.
        most: the number of actors that can be started.
    """

    def __init__(self) -> None:
        super().__init__("ray")
        self.joined: list[str] = []
        self.refuses: Exception | None = None
        self.deaths: list[str] = []
        self.most = 99
        self.exceptions = SimpleNamespace(RayError=RayError)
        self.is_initialized = lambda: False
        self.cluster_resources = lambda: {"CPU": 2.0}
        self.nodes = lambda: [{"Resources": {"CPU": 2}, "Alive": True, "NodeID": "one"}]
        self.kill = self.shutdown = lambda *_: None
        self.get_runtime_context = lambda: SimpleNamespace(get_node_id=lambda: "one")

    def init(self, *, address: str, **_options: object) -> None:
        self.joined.append(address)
        if self.refuses is not None:
            raise self.refuses

    def remote(self, **_options: object):
        return lambda kind: SimpleNamespace(remote=lambda *given: self._make(kind(*given)))

    def _make(self, actor: on_ray.Actor) -> SimpleNamespace:
        self.most -= 1
        is_up = self.most >= 0

        def do(task):
            death = self.deaths.pop(0) if self.deaths else ""
            return [RayError(death) if death else actor.do(task)]

        return SimpleNamespace(
            do=SimpleNamespace(remote=lambda task: Ref(do(task))),
            place=SimpleNamespace(remote=lambda: Ref([actor.place()] if is_up else [])),
        )

    def wait(self, refs, *, num_returns: int, timeout: float | None = None):
        done = [ref for ref in refs if ref.value][:num_returns]
        assert done or timeout is not None, "a run that waits for nothing"
        return done, []

    def get(self, ref):
        if isinstance(ref.value[0], RayError):
            raise ref.value[0]
        return ref.value[0]


class Ref:
    """What will be; empty for what never is."""

    def __init__(self, value: list[object]) -> None:
        self.value = value


@pytest.fixture
def ray(tmp_path, monkeypatch) -> FakeRay:
    fake = FakeRay()

    def canonicalize(_address: str) -> str | None:
        given = os.environ.get("RAY_ADDRESS")
        if not given:
            raise ConnectionError("Could not find any running Ray instance")
        return None if given == "local" else given

    services = ModuleType("ray._private.services")
    services.canonicalize_bootstrap_address = canonicalize
    for name, module in (("ray", fake), ("ray._private", ModuleType("ray._private")),
                         ("ray._private.services", services)):  # fmt: skip
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(on_ray, "_REACHED_S", 0.0)
    monkeypatch.setattr(on_ray, "_REPLACED_S", 0.05)
    monkeypatch.syspath_prepend(str(engines.install(tmp_path / "plugin")))
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("CIMENTO_TEST_LOG", str(tmp_path / "log"))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.chdir(tmp_path)
    engines.write_suite(tmp_path / "lamps", items=300)
    return fake


def run(output: str = "runs") -> int:
    return invoke(["run", "lamps", "-m", "counted:a", "-o", output, "--engine", "ray",
                   "--device", "cpu"])  # fmt: skip


def test_an_address_at_which_nothing_answers_is_refused_and_nothing_is_started(
    ray, monkeypatch, capsys
):
    monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{free_port()}")
    assert run() == 2
    said = capsys.readouterr().err
    assert f"RAY_ADDRESS={os.environ['RAY_ADDRESS']}: this cluster of Ray cannot be joined" in said
    assert "nothing answers there" in said
    assert ray.joined == []


def test_what_ray_says_of_a_cluster_that_it_cannot_join_is_the_message(ray, monkeypatch, capsys):
    monkeypatch.setattr(on_ray, "_reach", lambda *_: None)
    monkeypatch.setenv("RAY_ADDRESS", "head:6379")
    ray.refuses = RuntimeError("Version mismatch: the cluster has Ray: 9.1\n    this one 9.0")
    assert run() == 2
    said = capsys.readouterr().err
    assert "cannot be joined: Version mismatch: the cluster has Ray: 9.1 this one 9.0." in said
    assert "report it" not in said
    assert ray.joined == ["head:6379"]


@pytest.mark.parametrize("given", ["", "local"])
def test_where_no_cluster_is_given_or_runs_ray_is_started_here_and_says_so(
    given, ray, monkeypatch, capsys
):
    monkeypatch.setenv("RAY_ADDRESS", given)
    assert run() == 0
    assert ray.joined == ["local"]
    assert "Ray: started on this machine, and joined no cluster." in capsys.readouterr().err


def test_a_unit_whose_actor_died_goes_to_another_and_the_tables_are_the_same(ray, capsys):
    assert invoke(["run", "lamps", "-m", "counted:a", "-o", "alone", "--device", "cpu"]) == 0
    ray.deaths = ["", "The actor died.\n\tpid: 7\nIts worker ran out of memory.", "Socket closed"]
    os.environ["CIMENTO_CACHE_DIR"] += "-2"
    assert run() == 0
    assert "ended, and its unit goes to another: The actor died. Its" in capsys.readouterr().err
    alone = engines.tables(Path("alone"))
    assert engines.tables(Path("runs")) == alone
    assert len(alone) == 5


def test_what_fails_in_the_end_says_why_and_what_is_kept(ray, capsys):
    ray.deaths = ["", *["Its worker ran out of memory."] * 3]
    assert run() == 1
    said = capsys.readouterr().err
    assert "3 workers ended over the same texts: Its worker ran out of memory." in said
    assert "1 of 3 units of this run are kept; run again to go on. Too little memory?" in said

    # And where no worker is left, that is the reason, and nobody waits.
    ray.deaths, ray.most = ["Its node was preempted."], 1
    assert run() == 1
    said = capsys.readouterr().err
    assert "no worker is left: Its node was preempted." in said
    assert "memory" not in said

    # The next run has them all.
    ray.most = 99
    assert run() == 0
