"""Workers and drivers that end, models that fail: the rest goes on, nothing is lost or doubled."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cimento.cli.main import invoke
from cimento.engine.added import put_added, write_added
from cimento.engine.cache import MemoryCache, get_scores, pack_scores
from tests.helpers import engines

MAIN = "from cimento.cli.main import main; main()"


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    plugin = engines.install(tmp_path / "plugin")
    monkeypatch.syspath_prepend(str(plugin))
    monkeypatch.setenv("PYTHONPATH", str(plugin), prepend=os.pathsep)
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("CIMENTO_TEST_LOG", str(tmp_path / "log"))
    monkeypatch.chdir(tmp_path)
    engines.write_suite(tmp_path / "lamps", items=300)
    engines.write_suite(tmp_path / "others", items=200, start=500)
    return tmp_path


def command(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603  # our own interpreter and code
        [sys.executable, "-c", MAIN, "run", *arguments], stderr=subprocess.PIPE, text=True
    )


def alone(here: Path, *arguments: str) -> dict[str, bytes]:
    """The tables of a run that nothing happened to, with a cache of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CIMENTO_CACHE_DIR", str(here / "cache-alone"))
        assert invoke(["run", *arguments, "-o", "alone"]) == 0
    return engines.tables(here / "alone")


def scored(here: Path) -> int:
    return sum(number for _, what, number, _ in engines.logged(here / "log") if what == "score")


def test_a_worker_that_is_killed_is_replaced_and_its_unit_done_again(here):
    Path(f"{here / 'log'}.dies").touch()
    expected = alone(here, "lamps", "others", "-m", "counted:dies")
    Path(f"{here / 'log'}.dies").unlink()

    # The first process that scores anything ends itself with SIGKILL's suddenness.
    arguments = ["run", "lamps", "others", "-m", "counted:dies", "--workers", "2", "-o", "runs"]
    assert invoke(arguments) == 0
    assert engines.tables(here / "runs") == expected


@pytest.mark.slow
def test_a_model_that_ends_every_worker_fails_alone(here, capsys):
    models = ["-m", "counted:deadly", "-m", "counted:a"]
    assert invoke(["run", "others", *models, "--workers", "2", "-o", "runs"]) == 3
    printed = capsys.readouterr().err
    assert "3 workers ended over the same texts: its process ended with code 9." in printed
    assert "memory" not in printed
    assert "not run: others on counted:deadly" in printed
    assert len(list((here / "runs").rglob("manifest.json"))) == 1


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_model_that_cannot_be_loaded_fails_alone(here, capsys, workers):
    models = ["-m", "counted:broken", "-m", "counted:a"]
    arguments = ["lamps", "others", *models, "--workers", workers, "-o", "runs"]
    assert invoke(["run", *arguments]) == 3
    printed = capsys.readouterr().err
    assert "its weights are not there" in printed
    assert "not run: lamps on counted:broken, others on counted:broken" in printed
    loads = [entry for entry in engines.logged(here / "log") if entry[:2] == ("broken", "load")]
    assert len(loads) <= int(workers)

    assert invoke(["run", "others", "-m", "counted:broken", "-o", "runs"]) == 1


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_model_that_gives_nan_fails_its_own_suite(here, capsys, workers):
    models = ["-m", "counted:nan", "-m", "counted:a"]
    arguments = ["lamps", "others", *models, "--workers", workers, "-o", "runs"]
    assert invoke(["run", *arguments]) == 3
    printed = capsys.readouterr().err
    assert "suite 'lamps', item '14', condition 'good'" in printed
    assert printed.rstrip().endswith("not run: lamps on counted:nan")
    assert len(list((here / "runs").rglob("manifest.json"))) == 3


@pytest.mark.slow
def test_a_driver_that_is_killed_leaves_what_is_done(here):
    arguments = ["lamps", "others", "-m", "counted:slow", "-m", "counted:slower"]
    expected = alone(here, *arguments)
    (here / "log").unlink()
    units = here / "runs" / ".units"

    driver = command(*arguments, "--workers", "2", "-o", "runs")
    deadline = time.monotonic() + 60
    while not list(units.glob("*/*.unit")) and time.monotonic() < deadline:
        time.sleep(0.01)
    driver.kill()
    driver.communicate()
    workers = {process for _, _, _, process in engines.logged(here / "log")}
    while any(map(_lives, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)

    assert workers
    assert not any(map(_lives, workers))
    done = {path: path.read_bytes() for path in units.glob("*/*.unit")}
    assert done
    assert not list((here / "runs").rglob("manifest.json"))
    begun = scored(here)
    assert invoke(["run", *arguments, "-o", "runs"]) == 0
    assert engines.tables(here / "runs") == expected
    # What was done is as it was; what was scored twice is at most what workers had begun.
    assert {path: path.read_bytes() for path in done} == done
    assert scored(here) <= begun + 2 * (600 + 400) - 200 * len(done) + 2 * 256


def _lives(process: int) -> bool:
    try:
        os.kill(process, signal.SIG_DFL)
    except ProcessLookupError:
        return False
    # A process that has ended stays in the table until its parent asks; ours has no parent here.
    return Path(f"/proc/{process}/cmdline").read_bytes() != b""


@pytest.mark.slow
def test_two_drivers_on_one_folder_end_in_the_same_tables(here):
    arguments = ["lamps", "others", "-m", "counted:slow"]
    expected = alone(here, *arguments)

    drivers = [command(*arguments, "-o", "runs"), command(*arguments, "-o", "runs")]
    errors = [driver.communicate()[1] for driver in drivers]
    assert [driver.returncode for driver in drivers] == [0, 0], errors
    assert engines.tables(here / "runs") == expected


@pytest.mark.parametrize("keep", [pytest.param(0, marks=pytest.mark.slow), 100])
def test_a_unit_that_is_cut_short_is_done_again(here, capsys, keep):
    expected = alone(here, "lamps", "-m", "counted:a")
    arguments = ["lamps", "-m", "counted:a", "-o", "runs", "--no-cache"]
    assert invoke(["run", *arguments, "--share", "0/1"]) == 0
    before = scored(here)
    unit = min((here / "runs" / ".units").glob("*/*.unit"))
    unit.write_bytes(unit.read_bytes()[:keep])

    assert invoke(["cluster", "collect", *arguments, "--check"]) == 1
    assert "1 of 3 units are missing" in capsys.readouterr().out
    assert invoke(["run", *arguments]) == 0
    assert engines.tables(here / "runs") == expected
    assert 0 < scored(here) - before <= 256


@pytest.mark.parametrize(
    "place", [0.5, *(pytest.param(p, marks=pytest.mark.slow) for p in (0, 0.02, 0.3, 0.7, 0.999))]
)
def test_a_bit_that_flips_in_a_unit_is_noticed_and_the_unit_done_again(here, capsys, place):
    expected = alone(here, "lamps", "others", "-m", "counted:a")
    arguments = ["lamps", "others", "-m", "counted:a", "-o", "runs", "--no-cache"]
    assert invoke(["run", *arguments, "--share", "0/1"]) == 0
    before = scored(here)
    unit = min((here / "runs" / ".units").glob("*/*.unit"))
    content = bytearray(unit.read_bytes())
    content[int(place * len(content))] ^= 4
    unit.write_bytes(content)

    # Whoever puts runs together notices it too, and says that the unit is not there.
    assert invoke(["cluster", "collect", *arguments]) == 3
    assert re.search("1 of [23] units are missing", capsys.readouterr().err)
    assert invoke(["run", *arguments]) == 0
    printed = capsys.readouterr().err
    assert f"{unit.name}: the result of a unit is damaged; it is done again" in printed
    assert engines.tables(here / "runs") == expected
    assert 0 < scored(here) - before <= 256


def packed(entries):
    return {key: pack_scores(scores) for key, scores in entries.items()}


def test_what_a_damaged_unit_would_add_to_the_cache_is_not_believed(tmp_path):
    path, cache = tmp_path / "one.added", MemoryCache()
    for flip in (0, 90, -20):
        write_added(packed({b"key": {0: -1.5, 1: -2.5}}), path)
        content = bytearray(path.read_bytes())
        content[flip] ^= 1
        path.write_bytes(content)
        put_added([path], cache)
        assert get_scores(cache, [b"key"]) == {}
        assert not path.exists()

    other = tmp_path / "other.added"
    write_added(packed({b"key": {0: -1.5, 1: -2.5}}), path)
    write_added(packed({b"key": {2: -0.5}, b"more": {0: -3.0}}), other)
    path.with_name("damaged.added").write_bytes(b"notes")
    put_added([path, path.with_name("damaged.added"), other], cache)
    assert get_scores(cache, [b"key", b"more"]) == {
        b"key": {0: -1.5, 1: -2.5, 2: -0.5},
        b"more": {0: -3.0},
    }
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("workers", ["1", "2"])
def test_where_units_cannot_be_written_the_run_stops(here, capsys, workers):
    arguments = ["lamps", "others", "-m", "counted:a", "-o", "runs", "--workers", workers]
    (here / "runs").mkdir()
    (here / "runs" / ".units").touch()
    assert invoke(["run", *arguments]) == 1
    printed = capsys.readouterr().err
    assert "cannot be written" in printed
    assert "Traceback" not in printed
    assert scored(here) == 0
