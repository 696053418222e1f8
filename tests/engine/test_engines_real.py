"""Models of torch asked by one process, by four and by an array: the same bytes, whoever begins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers import engines

ASKED = ("lamps", "more", "-m", "gpt2", "-m", "bert", "-m", "counted:a", "--device", "cpu")


@pytest.fixture(scope="module")
def here(tmp_path_factory, zoo_folder) -> Path:
    folder = tmp_path_factory.mktemp("engines")
    engines.install(folder / "plugin")
    engines.write_suite(folder / "lamps", items=150)
    engines.write_suite(folder / "more", items=150, start=100)
    (folder / "gpt2").symlink_to(zoo_folder("gpt2"))
    (folder / "bert").symlink_to(zoo_folder("bert"))
    return folder


def run(here: Path, output: str, *options: str) -> str:
    return engines.cimento(here, "cache-" + output, "run", *ASKED, "-o", output, *options)


@pytest.fixture(scope="module")
def alone(here) -> dict[str, bytes]:
    run(here, "alone")
    tables = engines.tables(here / "alone")
    assert len(tables) == 3 * 2 * 5
    return tables


@pytest.mark.slow
def test_four_processes_give_the_tables_of_one_and_finish_what_an_array_began(here, alone):
    run(here, "four", "--workers", "4")
    assert engines.tables(here / "four") == alone

    run(here, "begun", "--share", "1/3")
    assert engines.tables(here / "begun") == {}
    begun = {path: path.read_bytes() for path in (here / "begun" / ".units").rglob("*.unit")}
    assert begun
    run(here, "begun", "--workers", "4")
    assert engines.tables(here / "begun") == alone
    assert {path: path.read_bytes() for path in begun} == begun


@pytest.mark.slow
def test_an_array_gives_the_tables_of_one_process_and_finishes_what_four_began(here, alone):
    run(here, "array", "--no-cache", "--workers", "4", "--share", "2/3")
    for number in (0, 1):
        run(here, "array", "--no-cache", "--share", f"{number}/3")
    engines.cimento(here, "cache-array", "cluster", "collect", *ASKED, "-o", "array")
    assert engines.tables(here / "array") == alone

    run(here, "both", "--no-cache", "--share", "0/2")
    run(here, "both")
    assert engines.tables(here / "both") == alone
    manifests = [json.loads(path.read_text()) for path in (here / "both").rglob("manifest.json")]
    assert len(manifests) == 3 * 2
