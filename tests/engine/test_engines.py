"""Engines: the same tables whoever does the units, and nothing done twice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cimento import Asking, Policy
from cimento.cli.main import invoke
from cimento.engine.engines import Engine
from cimento.engine.processes import Processes
from cimento.engine.workers import Worker
from tests.helpers import engines

MODELS = ("-m", "counted:a", "-m", "counted:b")


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """A folder with the plug-in and three suites, two of which share sentences."""
    monkeypatch.syspath_prepend(str(engines.install(tmp_path / "plugin")))
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("CIMENTO_TEST_LOG", str(tmp_path / "log"))
    monkeypatch.chdir(tmp_path)
    engines.write_suite(tmp_path / "lamps", items=300)
    engines.write_suite(tmp_path / "more", items=200, start=200)
    engines.write_suite(tmp_path / "others", items=40, start=900)
    return tmp_path


def run(*arguments: str, output: str, code: int = 0) -> dict[str, bytes]:
    assert invoke(["run", *arguments, "-o", output]) == code
    return engines.tables(Path(output).absolute())


def suite_files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def suites(output: Path) -> dict[str, dict[str, bytes]]:
    """The copies of suites in the folders of runs, by the names of suites."""
    return {path.parent.parent.name: suite_files(path) for path in output.glob("*/*/suite")}


def scored(log: Path) -> int:
    return sum(number for _, what, number, _ in engines.logged(log) if what == "score")


@pytest.mark.parametrize("workers", ["2", pytest.param("4", marks=pytest.mark.slow)])
def test_one_process_and_several_give_the_same_tables(here, capsys, workers):
    alone = run("lamps", "more", *MODELS, output="alone")
    done = scored(here / "log")
    os.environ["CIMENTO_CACHE_DIR"] = str(here / "cache-2")
    (here / "log").unlink()
    spread = run("lamps", "more", *MODELS, "--workers", workers, output="spread")

    assert len(alone) == 2 * 2 * 5
    assert spread == alone
    # Sentences that both suites hold are asked once: 400 different pairs, two models.
    assert done == 2 * 2 * 400
    assert scored(here / "log") == done
    # A worker loads each model once.
    loads = [(name, process) for name, what, _, process in engines.logged(here / "log")
             if what == "load"]  # fmt: skip
    assert len(loads) == len(set(loads)) > 0
    assert "lamps" in capsys.readouterr().out
    assert suites(here / "alone") == suites(here / "spread")
    assert suites(here / "alone")["lamps"] == suite_files(here / "lamps")


@pytest.mark.slow
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("options", [[], ["--workers", "2"], ["--share", "0/1"]])
def test_workers_are_told_what_the_user_said_with_its_types(options):
    arguments = ["lamps", "more", "-m", "counted:telling", "--no-cache", "--limit", "3"]
    arguments += ["--model-args", "level=3", "--model-args", 'name="3"']
    arguments += ["--model-args", 'more={"deep": [1, 2.5, null, true]}', "--batch-size", "77"]
    arguments += ["--device", "cpu", "--trust-remote-code", "--dtype", "float64", *options]
    assert invoke(["run", *arguments]) == 0
    [text] = {t for name, what, t, _ in engines.logged(Path("log")) if what == "asking"}
    model_args = {"level": 3, "name": "3", "more": {"deep": [1, 2.5, None, True]}}
    policy = Policy(dtype="float64", model_args={**model_args, "trust_remote_code": True})
    expected = Asking(policy=policy, device="cpu", batch_size=77, limit=3)
    assert text == repr(expected)


@pytest.mark.slow
def test_a_worker_loads_each_model_once(here):
    run("lamps", "more", "others", *MODELS, "--workers", "2", output="runs")

    loads = [(name, process) for name, what, _, process in engines.logged(here / "log")
             if what == "load"]  # fmt: skip
    assert len(loads) == len(set(loads))


def test_a_finished_run_is_not_done_again(here):
    first = run("lamps", *MODELS, output="runs")
    before = engines.logged(here / "log")
    assert run("lamps", *MODELS, "--workers", "2", output="runs") == first
    assert engines.logged(here / "log") == before


def test_a_model_or_a_suite_more_costs_only_its_own_units(here):
    run("lamps", "-m", "counted:a", output="runs")
    assert scored(here / "log") == 600

    run("lamps", "more", "-m", "counted:a", output="runs")
    assert scored(here / "log") == 600 + 200  # of 400 sentences 200 are those of lamps

    run("lamps", "more", *MODELS, output="runs")
    assert scored(here / "log") == 2 * (600 + 200)


@pytest.mark.slow
def test_shares_are_put_together_by_whoever_comes_last(here):
    alone = run("lamps", "more", *MODELS, output="alone")
    os.environ["CIMENTO_CACHE_DIR"] = str(here / "cache-2")
    for number in (2, 0, 1):
        assert run("lamps", "more", *MODELS, "--share", f"{number}/3", output="shares") == {}
    done = engines.logged(here / "log")

    assert run("lamps", "more", *MODELS, output="shares") == alone
    assert engines.logged(here / "log") == done


@pytest.mark.slow
def test_each_engine_finishes_what_another_began(here):
    alone = run("lamps", "more", *MODELS, output="alone")
    done = scored(here / "log")
    os.environ["CIMENTO_CACHE_DIR"] = str(here / "cache-2")
    run("lamps", "more", *MODELS, "--share", "0/2", output="runs")

    assert run("lamps", "more", *MODELS, "--workers", "2", output="runs") == alone
    assert scored(here / "log") == 2 * done


def test_answers_go_to_the_cache_when_the_run_is_over(here):
    run("lamps", "-m", "counted:a", output="runs")
    done = scored(here / "log")

    run("lamps", "-m", "counted:a", output="elsewhere")
    assert scored(here / "log") == done
    assert not list((here / "runs" / ".units").rglob("*.added"))


def test_without_a_cache_another_folder_is_done_anew(here):
    run("others", "-m", "counted:a", "--no-cache", output="runs")
    run("others", "-m", "counted:a", "--no-cache", output="elsewhere")
    assert scored(here / "log") == 2 * 80


def test_what_is_run_by_force_is_asked_again(here):
    first = run("others", "-m", "counted:a", "--no-cache", output="runs")
    assert run("others", "-m", "counted:a", "--no-cache", "--force", output="runs") == first
    assert scored(here / "log") == 2 * 80


@pytest.mark.slow
def test_suites_of_other_kinds_are_spread_too(here, monkeypatch):
    asked = ["it-collocations", "-m", "demo-masked", "--limit", "2", "--device", "cpu"]
    # In a process of its own, as `cimento` is: arithmetic is set before the first sum.
    code = "from cimento.cli.main import main; main()"
    subprocess.run(  # noqa: S603  # our own interpreter and code
        [sys.executable, "-c", code, "run", *asked, "-o", "alone"], check=True, capture_output=True
    )
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(here / "cache-2"))
    spread = run(*asked, "-m", "demo-causal", "--workers", "2", output="spread")

    assert len(spread) == 2 * 5
    alone = engines.tables(here / "alone")
    assert {name: data for name, data in spread.items() if "demo-masked" in name} == alone


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("text", ["3", "4/4", "a/b", "-1/2", "1/0"])
def test_a_share_is_a_number_of_so_many(text, capsys):
    assert invoke(["run", "others", "-m", "counted:a", "--share", text]) == 2
    assert "NUMBER/COUNT" in capsys.readouterr().err


@pytest.mark.usefixtures("here")
def test_an_unknown_engine_is_named(capsys):
    assert invoke(["run", "others", "-m", "counted:a", "--engine", "rey"]) == 2
    assert "got 'rey'. Did you mean 'ray'?" in capsys.readouterr().err


def variables(process: int) -> dict[str, str]:
    """The variables with which a worker began, once it has begun."""
    found: dict[str, str] = {}
    while "PYTHONSAFEPATH" not in found:
        content = Path(f"/proc/{process}/environ").read_text(encoding="utf-8")
        found = dict(line.partition("=")[::2] for line in content.split("\0") if line)
    return found


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes show no variables")
@pytest.mark.parametrize(
    ("named", "workers", "given"),
    [
        ("0,1", 3, ["0", "1", "0"]),
        pytest.param(None, 2, ["0", "1"], marks=pytest.mark.slow),
        pytest.param("1,GPU-5ebe9f43", None, ["1", "GPU-5ebe9f43"], marks=pytest.mark.slow),
        pytest.param("1", 2, ["1", "1"], marks=pytest.mark.slow),
    ],
)
def test_each_worker_has_a_gpu_of_its_own(monkeypatch, named, workers, given):
    monkeypatch.setattr("cimento.models.hf.devices.count_gpus", lambda: len(set(given)))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if named is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", named)
    with Engine(workers=workers).opened(9, device="auto", here=Worker()) as pool:
        assert isinstance(pool, Processes)
        seen = [variables(process)["CUDA_VISIBLE_DEVICES"] for process in pool.process_ids()]
    assert seen == given


def test_gpus_that_are_named_but_not_there_start_no_workers(monkeypatch):
    monkeypatch.setattr("cimento.models.hf.devices.count_gpus", lambda: 0)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2,3")
    assert Engine().devices() == []
    assert Engine().is_alone()
