"""Fixtures that every test may use."""

from __future__ import annotations

import functools
import gc
import hashlib
import itertools
import logging
import os
import pickle
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

import cimento
from cimento.cli import groups, main
from cimento.models.hf import loading, steady_arithmetic
from tests.helpers.exit_codes import ending_as_documented
from tests.helpers.json_output import checking

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from cimento.models.base import Scorer
    from cimento.models.hf.files import LocatedModel

# Of what is imported and collected nothing is garbage: it is not looked for until the tests begin.
gc.disable()
# Some tests compute with torch before cimento does, when its order of sums comes too late.
steady_arithmetic()
# Threads of small products mostly wait for each other, and workers of the tests share the cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
main.invoke = ending_as_documented(checking(main.invoke))
# A process of a user builds one command, that of the tests the same ones thousands of times.
groups._leaf = functools.cache(groups._leaf)


def _write_to_memory() -> None:
    """Temporary files are in memory where there is much of it: a disk makes the tests wait."""
    memory = Path("/dev/shm")  # noqa: S108  # each run of the tests makes a folder of its own there
    is_usable = "TMPDIR" not in os.environ and os.access(memory, os.W_OK | os.X_OK)
    if is_usable and shutil.disk_usage(memory).free > _MUCH:
        os.environ["TMPDIR"] = str(memory)
        tempfile.tempdir = None


_MUCH = 4 * 2**30
"""Many times what the tests write; of a container `/dev/shm` is often small."""
_write_to_memory()
# What tests write need not survive a loss of power.
os.fsync = lambda _handle: None


class _Hasty(sqlite3.Connection):
    """A connection that does not wait for the disk either, whatever it is told."""

    def execute(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
        if sql.replace(" ", "").startswith("PRAGMAsynchronous="):
            sql = "PRAGMA synchronous = OFF"
        return super().execute(sql, *arguments)


sqlite3.connect = functools.partial(sqlite3.connect, factory=_Hasty)

# A commit has one verdict: the gate draws the same examples every day, and `make fuzz` new ones.
hypothesis.settings.register_profile("quick", max_examples=12, deadline=None, derandomize=True)
hypothesis.settings.register_profile("thorough", max_examples=200, deadline=None, derandomize=True)
hypothesis.settings.register_profile("search", max_examples=1_000, deadline=None)
hypothesis.settings.load_profile("quick")

SHARED = Path(os.environ.get("CIMENTO_SHARED", Path(__file__).parents[2] / "shared"))


def _keeping(load: Callable[..., Scorer]) -> Callable[..., Scorer]:
    """`load`, which takes longer than most runs of the tests, once for each demo model."""
    kept: dict[str, Scorer] = {}

    def loaded(located: LocatedModel, **options: object) -> Scorer:
        import torch

        # Models of the tests are so small that threads would only wait for each other.
        torch.set_num_threads(1)
        if not located.name.startswith("demo-"):
            return load(located, **options)
        key = repr((located, sorted(options.items())))
        if key not in kept:
            kept[key] = load(located, **options)
        return kept[key]

    return loaded


loading.load = _keeping(loading.load)

_DATA = Path(cimento.__file__).parent / "data"
_BUILT_IN = _DATA / "suites"


def _reading_once(read: Callable[..., Any]) -> Callable[..., Any]:
    """`read` of a paradigm, which most commands begin with, once for each content of a folder.

    These are the starter suites, and the copies in folders of runs, of which the last are kept.
    """
    starters: dict[tuple[object, ...], Any] = {}
    copies: dict[tuple[object, ...], Any] = {}

    def reading(paradigm: object, path: Path) -> Any:
        is_copy = path.name == "suite" and (path.parent / "manifest.json").is_file()
        if path.parent != _BUILT_IN and not is_copy:
            return read(paradigm, path)
        kept = copies if is_copy else starters
        key = type(paradigm), path, _contents(path) if is_copy else b""
        if key not in kept:
            kept[key] = read(paradigm, path)
        if len(copies) > _COPIES:
            del copies[next(iter(copies))]
        return kept[key]

    return reading


_COPIES = 20


def _contents(folder: Path) -> bytes:
    """A digest of the files in a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        digest.update(repr((path, path.read_bytes() if path.is_file() else None)).encode())
    return digest.digest()


def _computing_once(compute: Callable[..., Any]) -> Callable[..., Any]:
    """`compute`, once for arguments whose pickled bytes are the same."""
    kept: dict[bytes, Any] = {}

    def computed(*arguments: object, **options: object) -> Any:
        key = hashlib.sha256(pickle.dumps((arguments, sorted(options.items())))).digest()
        if key not in kept:
            kept[key] = compute(*arguments, **options)
        return kept[key]

    return computed


def _hashing_once(digest: Callable[..., str]) -> Callable[..., str]:
    """`digest` of the files of a model, once for each demo model: they have some megabytes."""
    kept = functools.cache(digest)

    def hashed(folder: Path, *patterns: Sequence[str]) -> str:
        if folder.parent == _DATA / "models" and not patterns:
            return kept(folder)
        return digest(folder, *patterns)

    return hashed


def _keep_what_is_asked_often() -> None:
    """Suites are read once, each table is fitted once, and all objects are left alone."""
    from cimento.compare import analysis
    from cimento.engine import handle
    from cimento.kinds.registry import own_paradigms
    from cimento.models.hf import files

    # The weights that are given back are those of the demo models, which are kept here.
    handle.gc = SimpleNamespace(collect=functools.partial(gc.collect, 1))
    analysis.item_response = _computing_once(analysis.item_response)
    files._digest = _hashing_once(files._digest)
    for reader in {type(paradigm.reader) for paradigm in own_paradigms()}:
        reader.read = _reading_once(reader.read)


_LIBRARIES = {"torch", "transformers", "polars", "cimento"}
_TESTS_BETWEEN = 300
gc.set_threshold(50_000, 20, 50)
_tests = itertools.count()
_frozen: set[str] = set()


def pytest_runtest_setup() -> None:
    """What stays as long as the process is not looked through again for garbage.

    Each model that is given back has all objects looked through. Of libraries and tests there are
    millions, which takes longer than the rest of a small run.
    """
    loaded = _LIBRARIES & sys.modules.keys()
    if next(_tests) % _TESTS_BETWEEN == 0 or loaded - _frozen:
        _frozen.update(loaded)
        _hand_on_what_torch_logs()
        gc.collect()
        gc.freeze()


def _hand_on_what_torch_logs() -> None:
    """Torch's loggers hand on to those above them.

    It has sixty that do not, and pytest listens to each of these anew in each phase of a test.
    """
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if name.partition(".")[0] == "torch" and isinstance(logger, logging.Logger):
            logger.propagate = True


_LONGEST = ("test_conformance.py", "test_frozen.py", "test_fuzzing.py", "test_grammars.py",
            "test_study_agreement_written.py", "test_study_portuguese_models.py")  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files come first, so that at the end no worker waits for another."""
    items.sort(key=lambda item: item.path.name not in _LONGEST)
    _keep_what_is_asked_often()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of expected values and real inputs; the test is skipped where it is absent."""
    if not (SHARED / "golden").is_dir():
        pytest.skip(f"the folder of golden values is absent ({SHARED.name}); set CIMENTO_SHARED")
    return SHARED


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory) -> Iterator[None]:
    """No test reads what was kept before, and none leaves anything to the user."""
    place = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = place.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CIMENTO_CACHE_DIR", str(place / "answers"))
        yield


@pytest.fixture
def fresh_cache(tmp_path_factory, monkeypatch) -> Path:
    """An empty folder for what is kept between runs: ports of servers are used again."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(folder))
    return folder


@pytest.fixture(scope="session")
def zoo_folder(tmp_path_factory) -> Callable[[str], Path]:
    """From the name of a tiny random model in tests/helpers/zoo.py to its folder, written once."""
    from tests.helpers import zoo

    root = tmp_path_factory.mktemp("zoo")
    return functools.cache(lambda name: zoo.save(name, root / name))


@pytest.fixture(scope="session")
def runs_of_every_kind(tmp_path_factory) -> Path:
    """A folder with a small run of every kind of suite, each of three items."""
    from cimento.cli.main import invoke

    out = tmp_path_factory.mktemp("runs-of-every-kind")
    suites = ("it-islands", "it-acceptability", "it-connectives-cloze", "es-agreement-templates",
              "es-stories")  # fmt: skip
    # With a cache of their own: what other tests asked in other batches may differ in a last bit.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CIMENTO_CACHE_DIR", str(out / "cache"))
        asked = ["run", *suites, "-m", "demo-causal", "--limit", "3"]
        assert invoke([*asked, "-o", str(out / "runs")]) == 0
    return out / "runs"


# As long as playwright is open, an event loop runs, and tests of other modules cannot run theirs.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Headless Chromium of the system; the test is skipped where there is none."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("Chromium is not installed")
    from playwright.sync_api import sync_playwright

    # --no-sandbox: Chromium refuses to run as root, as it does in containers, with its sandbox on.
    options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking",
               "--disable-component-update", "--disable-sync", "--no-first-run"]  # fmt: skip
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=options)
        yield started
        started.close()


@pytest.fixture
def probing(tmp_path, monkeypatch) -> Iterator[Path]:
    """A suite of the paradigm of tests/sample_plugin, which is as if it were installed."""
    from cimento.kinds.registry import find_paradigm
    from tests.helpers import probes

    monkeypatch.syspath_prepend(str(probes.PLUGINS))
    find_paradigm.cache_clear()
    yield probes.write_suite(tmp_path / "it-probe")
    find_paradigm.cache_clear()
