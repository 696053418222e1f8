"""What goes wrong around a run: it resumes or stops with one message, and nothing is lost.

docs/reliability.md has a table of these faults. Killed runs are in test_interrupted.py, servers
that fail in test_server_faults.py, memory that runs out in test_memory.py.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cimento import CimentoError, TableError, evaluate, load_suite, open_runs
from cimento.cli.main import invoke
from cimento.engine.cache import FileCache
from cimento.errors import StorageError
from cimento.paradigms.regions.requests import region_requests
from cimento.records import store
from cimento.testing import FakeScorer
from tests.helpers.servers.loopback import drop, serve
from tests.helpers.suites_on_disk import write_folder

pytestmark = pytest.mark.usefixtures("fresh_cache")

TABLES = ("tokens.parquet", "requests.parquet", "outcomes.parquet")
ROOT = Path(__file__).parents[2]


class Counting:
    """A score for every token, and how often one was computed."""

    def __init__(self) -> None:
        self.computed = 0

    def __call__(self, tokens, index):
        self.computed += 1
        return -1.0 - len(tokens[index]) / 7


@pytest.fixture
def suite(tmp_path):
    return load_suite(write_folder(tmp_path / "suite")).suite


def run(suite, folder, counting=None):
    """One run with a cache, both in a folder."""
    with closing(FileCache(folder / "cache")) as cache:
        scorer = FakeScorer(counting or Counting())
        return evaluate(suite, scorer, output=folder / "out", cache=cache)


def tables(folder):
    [manifest] = (folder / "out").rglob("manifest.json")
    return {name: (manifest.parent / name).read_bytes() for name in TABLES}


def run_folder(folder):
    [manifest] = (folder / "out").rglob("manifest.json")
    return manifest.parent


# --- Disks


def _succeeds(command):
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603  # the system's own
    return done.returncode == 0


@contextmanager
def mounted(options):
    """A file system in memory; the test is skipped where none can be mounted."""
    folder = Path(tempfile.mkdtemp(prefix="cimento-disk-"))
    mount, umount = shutil.which("mount"), shutil.which("umount")
    command = [mount or "", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if not (mount and umount) or not _succeeds(command):
        folder.rmdir()
        pytest.skip("no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run([umount, str(folder)], check=True)  # noqa: S603  # the system's own
        folder.rmdir()


@pytest.fixture
def small_disk():
    with mounted("size=200k") as folder:
        yield folder


@pytest.fixture
def closed_folder(tmp_path):
    """A folder that nobody may write, not even root."""
    if os.geteuid() != 0:
        (tmp_path / "closed").mkdir(mode=0o555)
        yield tmp_path / "closed"
        return
    with mounted("ro") as folder:
        yield folder


def test_a_full_disk_ends_the_run_with_a_message_and_the_next_one_goes_on(
    suite, tmp_path, small_disk
):
    whole = run(suite, tmp_path / "whole") and tables(tmp_path / "whole")
    ballast = small_disk / "ballast"
    with pytest.raises(OSError, match="No space left"):
        ballast.write_bytes(bytes(400_000))
    with pytest.raises(StorageError, match=r"cannot be (written|used)"):
        run(suite, small_disk)
    assert not list(small_disk.rglob("manifest.json"))

    ballast.unlink()
    run(suite, small_disk)

    assert tables(small_disk) == whole


def test_a_disk_that_fills_while_tables_are_written_leaves_no_half_of_one(
    suite, tmp_path, small_disk
):
    with closing(FileCache(tmp_path / "cache")) as cache:
        counting = Counting()
        with pytest.raises(OSError, match="No space left"):
            (small_disk / "ballast").write_bytes(bytes(400_000))
        with (small_disk / "ballast").open("r+b") as file:
            file.truncate(180_000)
        with pytest.raises(StorageError):
            evaluate(suite, FakeScorer(counting), output=small_disk / "out", cache=cache)
        assert not list(small_disk.rglob("manifest.json"))
        assert all(path.suffix != ".tmp" for path in small_disk.rglob("*"))
        scored = counting.computed

        (small_disk / "ballast").unlink()
        evaluate(suite, FakeScorer(counting), output=small_disk / "out", cache=cache)

    assert counting.computed == scored  # nothing was asked twice


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))
from cimento.cli.main import main
main(sys.argv[1:])
"""


def in_child(script, *arguments, **environment):
    return subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **{name: str(value) for name, value in environment.items()}},
    )


def test_a_file_that_may_not_grow_ends_the_command_with_a_message(tmp_path):
    suite = write_folder(tmp_path / "suite")
    arguments = ("run", suite, "-m", "demo-causal", "-o", tmp_path / "out")

    done = in_child(LIMITED, *arguments, CIMENTO_CACHE_DIR=tmp_path / "cache")

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.count("cimento: ") == 1
    assert not list((tmp_path / "out").rglob("manifest.json"))


@pytest.mark.parametrize("closed", ["output", "cache"])
def test_a_folder_without_write_permission_ends_the_command_with_a_message(
    closed, closed_folder, tmp_path, capsys, monkeypatch
):
    suite = write_folder(tmp_path / "suite")
    cache = closed_folder if closed == "cache" else tmp_path / "cache"
    output = closed_folder if closed == "output" else tmp_path / "out"
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(cache))

    code = invoke(["run", str(suite), "-m", "demo-causal", "-o", str(output)])

    said = capsys.readouterr().err
    assert code == 1
    assert said.count("cimento: ") == 1
    assert str(closed_folder) in said
    assert "cannot be" in said


# --- Damage


def test_a_table_that_was_cut_short_is_told_and_the_run_is_done_again(suite, tmp_path):
    run(suite, tmp_path)
    whole, folder = tables(tmp_path), run_folder(tmp_path)
    for name in TABLES[:2]:
        (folder / name).write_bytes(whole[name][: len(whole[name]) // 2])
        with pytest.raises(TableError, match=rf"{name} is not what the run stored.*Run again"):
            open_runs([folder])

        counting = Counting()
        run(suite, tmp_path, counting)

        assert tables(tmp_path) == whole
        assert counting.computed == 0


def test_a_byte_that_changed_in_a_table_is_noticed(suite, tmp_path):
    run(suite, tmp_path)
    path = run_folder(tmp_path) / "tokens.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 0x10
    path.write_bytes(content)

    with pytest.raises(TableError, match="is not what the run stored"):
        open_runs([path.parent])


def test_a_manifest_that_was_cut_short_is_told_and_the_run_is_done_again(suite, tmp_path):
    run(suite, tmp_path)
    whole, path = tables(tmp_path), run_folder(tmp_path) / "manifest.json"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(TableError, match=r"manifest\.json cannot be read"):
        open_runs([path.parent])

    run(suite, tmp_path)

    assert tables(tmp_path) == whole


@pytest.mark.parametrize("at", [0.05, 0.3, 0.5, 0.7, 0.95])
def test_a_damaged_cache_gives_the_same_numbers_or_a_message(suite, tmp_path, at):
    run(suite, tmp_path)
    whole = tables(tmp_path)
    path = tmp_path / "cache" / "answers.sqlite3"
    content = bytearray(path.read_bytes())
    start = int(len(content) * at)
    content[start : start + 64] = bytes(byte ^ 0x55 for byte in content[start : start + 64])
    path.write_bytes(content)
    shutil.rmtree(tmp_path / "out")

    try:
        run(suite, tmp_path)
    except CimentoError as error:
        said = str(error)
    else:
        said = ""
    if said:
        assert "the cache of answers cannot be used" in said
        assert "Delete it" in said
        shutil.rmtree(tmp_path / "cache")
        run(suite, tmp_path)

    assert tables(tmp_path) == whole


def test_a_cache_whose_journal_is_gone_gives_the_same_numbers(suite, tmp_path):
    whole = run(suite, tmp_path / "whole") and tables(tmp_path / "whole")
    cache = FileCache(tmp_path / "broken" / "cache")
    evaluate(suite, FakeScorer(Counting()), output=tmp_path / "first", cache=cache)
    # As a copy of the file without its journal, while a run is under way.
    copy = tmp_path / "copy" / "cache"
    copy.mkdir(parents=True)
    shutil.copy(cache.path, copy / cache.path.name)
    cache.close()

    run(suite, tmp_path / "copy")

    assert tables(tmp_path / "copy") == whole


# --- Clock


@pytest.mark.parametrize("year", [1980, 2100])
def test_a_clock_that_jumps_changes_nothing(suite, tmp_path, monkeypatch, year):
    class Jumped(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime(year, 1, 1, tzinfo=tz or UTC)

    run(suite, tmp_path)
    whole = tables(tmp_path)
    monkeypatch.setattr(store, "datetime", Jumped)
    counting = Counting()

    run(suite, tmp_path, counting)  # not done again
    assert counting.computed == 0
    shutil.rmtree(tmp_path / "out")
    run(suite, tmp_path, counting)

    assert counting.computed == 0
    assert tables(tmp_path) == whole
    assert json.loads((run_folder(tmp_path) / "manifest.json").read_text())["created"] >= str(year)


# --- Servers and models


def test_a_server_that_goes_away_is_gone_on_with_where_it_went(suite, tmp_path):
    calm = {"concurrency": 1, "timeout": 5.0}
    with serve() as server, closing(FileCache(tmp_path / "cache")) as cache:
        server.faults[:] = [None, *[drop] * 100]
        server.models = 404
        address = server.address
        with pytest.raises(CimentoError, match="run again to go on"):
            _patiently(suite, address, cache=cache, **calm, output=tmp_path / "out")
        sentences = {text for *_, text in suite_texts(suite)}
        answered = sentences & set(server.prompts[:1])
        assert len(answered) == 1
        server.faults.clear()
        server.prompts.clear()

        _patiently(suite, address, cache=cache, **calm, output=tmp_path / "out")

        assert sorted(sentences & set(server.prompts)) == sorted(sentences - answered)
        assert len(server.prompts) == len(set(server.prompts))


def suite_texts(suite):
    return [(request.text,) for request in region_requests(suite).asked]


def _patiently(suite, address, **more):
    """Evaluate without waiting between attempts."""
    from cimento.io.transport import Patience

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Patience, "wait_s", lambda *_, **__: 0.0)
        return evaluate(suite, address, **more)


def broken_model(zoo_folder, tmp_path):
    """A model all of whose weights are NaN."""
    import torch
    from safetensors.torch import load_file, save_file

    folder = Path(shutil.copytree(zoo_folder("gpt2"), tmp_path / "nan"))
    weights = load_file(folder / "model.safetensors")
    broken = {name: torch.full_like(weight, float("nan")) for name, weight in weights.items()}
    save_file(broken, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def test_a_model_that_fails_fails_alone_and_what_is_missing_is_listed(
    zoo_folder, tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    nan = broken_model(zoo_folder, tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "config.json").write_text(
        '{"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2"}'
    )
    suite = write_folder(tmp_path / "suite")
    command = ["run", str(suite), "-o", str(tmp_path / "out"), "-m"]

    assert invoke([*command, str(nan), "-m", "demo-causal", "-m", str(empty)]) == 3
    said = capsys.readouterr()
    assert "demo-causal" in said.out
    assert "NaN" in said.err or "nan" in said.err
    [missing] = [line for line in said.err.splitlines() if line.startswith("cimento: not run:")]
    assert "nan" in missing
    assert "empty" in missing
    assert "demo-causal" not in missing
    assert len(list((tmp_path / "out").rglob("manifest.json"))) == 1

    assert invoke([*command, str(nan), "-m", str(empty)]) == 1
