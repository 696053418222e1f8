"""Datasets given by their addresses: pinned, fetched once, named in the run's manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cimento import InputError, evaluate, load_suite
from cimento.cli.main import invoke
from cimento.errors import StorageError
from cimento.suites import fetching
from cimento.suites import published as registry
from cimento.suites.builtin import find_suite
from cimento.suites.fetching import fetch
from cimento.suites.published import find_published
from cimento.testing.models import uniform_scorer
from tests.helpers.serving import PAIRS, REVISION, Site, archive_of, hub_site, serve

__all__ = ["serve"]


@pytest.fixture(autouse=True)
def loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """The servers of the tests speak plain HTTP."""
    monkeypatch.setattr(fetching, "https_only", lambda address: address)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("hf:someone/suites", "names no commit"),
        ("hf:someone/suites@main", "'main' is not a commit"),
        ("hf:suites", "Write hf:ORG/NAME@COMMIT"),
        ("github:someone/suites@v1.0", "branches and tags can change"),
        (f"github:someone/suites@{REVISION}:../../etc", "leads out of the dataset"),
        ("zenodo:10.1000/182", "Write zenodo:10.5281/zenodo.NUMBER"),
    ],
)
def test_an_address_that_pins_nothing_is_refused(
    address: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["run", address, "-m", "demo-causal"]) == 2
    assert message in capsys.readouterr().err


def test_a_dataset_of_the_hub_by_its_address(
    serve: Callable[[dict[str, bytes]], Site], tmp_path: Path
) -> None:
    site = hub_site(serve)
    name = f"hf:someone/suites@{REVISION}:suites/italian.zip"
    folder = fetch(find_published(name), tmp_path / "hub", endpoint=site.address)
    assert list(json.loads((folder / "source.json").read_text())["files"]) == ["suites/italian.zip"]
    with pytest.raises(InputError, match=r"no file or folder 'nowhere' in it, but README.md"):
        fetch(
            find_published(f"hf:someone/suites@{REVISION}:nowhere"),
            tmp_path / "other",
            endpoint=site.address,
        )
    assert not (tmp_path / "other").exists()


@pytest.fixture
def repository(
    serve: Callable[[dict[str, bytes]], Site], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Site:
    """A repository, and a cache of its own."""
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    site = serve({f"/someone/suites/archive/{REVISION}.zip": archive_of("it")})
    monkeypatch.setattr(registry, "GITHUB", site.address)
    return site


@pytest.mark.parametrize("inside", ["it", "it/a.tsv"])
def test_a_run_of_a_repository_says_where_its_suite_is_from(inside: str, repository: Site) -> None:
    address = f"github:someone/suites@{REVISION}:{inside}"
    runs = [evaluate(address, uniform_scorer(10), language="it") for _ in range(2)]
    suite = runs[0].manifest["suite"]
    assert isinstance(suite, dict)
    assert suite["source"] == {
        "name": address,
        "address": f"{repository.address}/someone/suites/archive/{REVISION}.zip",
        "revision": REVISION,
    }
    assert suite["sha256"] == hashlib.sha256(PAIRS).hexdigest()
    assert len(repository.asked) == 1, "it is fetched once"


@pytest.mark.usefixtures("repository")
def test_a_suite_of_ones_own_in_a_fetched_folder_has_no_source() -> None:
    folder = find_suite(f"github:someone/suites@{REVISION}:it")
    (folder / "mine.tsv").write_bytes(PAIRS)
    suite = evaluate(folder / "mine.tsv", uniform_scorer(10)).manifest["suite"]
    assert isinstance(suite, dict)
    assert "source" not in suite
    (folder / "a.tsv").write_bytes(PAIRS * 2)
    with pytest.raises(StorageError, match="is not as it was fetched"):
        find_suite(f"github:someone/suites@{REVISION}:it")


def test_a_record_of_zenodo(
    serve: Callable[[dict[str, bytes]], Site], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path))
    digest = hashlib.md5(PAIRS, usedforsecurity=False).hexdigest()
    files = [
        {"key": name, "checksum": f"md5:{digest if name == 'a b.tsv' else '0' * 32}"}
        for name in ("a b.tsv", "paper.pdf", "other.tsv")
    ]
    record = json.dumps({"id": 42, "conceptrecid": "41", "files": files}).encode()
    site = serve(
        {
            "/42": record,
            "/41": record,
            "/42/files/a%20b.tsv/content": PAIRS,
            "/42/files/other.tsv/content": PAIRS,
        }
    )
    monkeypatch.setattr(fetching, "RECORDS", f"{site.address}/")
    folder = find_suite("zenodo:10.5281/zenodo.42:a b.tsv")
    assert (folder / "a b.tsv").read_bytes() == PAIRS
    assert load_suite("zenodo:42:a b.tsv", language="it").suite.name == "a b"
    with pytest.raises(StorageError, match="the record says md5:0000"):
        find_suite("zenodo:42:other.tsv")
    with pytest.raises(InputError, match=r"newest is 42.*\n?.*zenodo:10.5281/zenodo.42"):
        find_suite("zenodo:41")
