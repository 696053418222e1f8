"""Published datasets: the registry, and fetching from loopback servers of the tests' own."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import re
import socket
import time
from collections.abc import Callable
from functools import partial
from http.client import HTTPResponse
from pathlib import Path
from urllib.error import HTTPError, URLError

import pytest

from cimento import InputError, UsageError, load_suite
from cimento.cli.main import invoke
from cimento.errors import StorageError
from cimento.io import deadline
from cimento.suites import fetching
from cimento.suites.fetching import download, fetch, unpinned, wanted_files
from cimento.suites.language_sets import languages_of, sets_of
from cimento.suites.published import PublishedDataset, find_published, https_only, published
from tests.helpers.servers import loopback as loopback_server
from tests.helpers.serving import PAIRS, REVISION, Site, archive_of, hub_site, serve
from tests.helpers.site_pages import site_module

__all__ = ["serve"]


@pytest.fixture(autouse=True)
def loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """The servers of the tests speak plain HTTP."""
    monkeypatch.setattr(fetching, "https_only", lambda address: address)


def single(site: Site) -> PublishedDataset:
    return PublishedDataset(
        name="pairs",
        title="Pairs",
        languages=("it",),
        license="CC0",
        citation="nobody",
        size="one pair",
        format="a table",
        files={"it": (f"{site.address}/it/pairs.tsv",)},
    )


def test_the_registry_is_whole() -> None:
    entries = published()
    assert {"blimp", "multiblimp", "syntactic-agreement", "rublimp", "gita"} <= entries.keys()
    for entry in entries.values():
        ways = [entry.hub, entry.archive, entry.files, entry.by_hand]
        assert sum(map(bool, ways)) == 1, entry.name
        assert entry.license
        assert entry.citation
        for address in [entry.archive, *(a for file in entry.files.values() for a in file)]:
            if address:
                assert https_only(address)
                assert any(len(part.removesuffix(".zip")) == 40 for part in address.split("/"))
        assert not entry.revision or re.fullmatch("[0-9a-f]{40}", entry.revision)
        # What is pinned says when that was looked at and how, and nothing else does.
        is_pinned = bool(entry.revision or entry.archive or entry.files)
        assert bool(re.match(r"20\d\d-\d\d-\d\d: .", entry.verified)) == is_pinned, entry.name


def test_the_documentation_says_when_and_how_each_pin_was_verified() -> None:
    page = site_module("sets").sets_page()
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| .* \| (.*) \|$", page, re.MULTILINE)
    assert dict(rows) == {
        name: "by hand" if entry.by_hand else entry.verified or "no commit"
        for name, entry in published().items()
    }


def test_only_https_is_fetched() -> None:
    with pytest.raises(InputError, match="not https"):
        https_only("http://example.org/x.zip")


def test_a_file_is_fetched_once_and_checked_afterwards(
    serve: Callable[[dict[str, bytes]], Site], tmp_path: Path
) -> None:
    site = serve({"/it/pairs.tsv": PAIRS})
    folder = fetch(single(site), tmp_path / "pairs", language="it")
    assert (folder / "pairs.tsv").read_bytes() == PAIRS
    source = json.loads((folder / "source.json").read_text(encoding="utf-8"))
    assert source["files"] == {"pairs.tsv": hashlib.sha256(PAIRS).hexdigest()}
    assert len(load_suite(folder / "pairs.tsv").suite.items) == 1
    asked = len(site.asked)
    fetch(single(site), tmp_path / "pairs", language="it")
    assert len(site.asked) == asked
    (folder / "pairs.tsv").write_bytes(PAIRS + b"x\ty\n")
    with pytest.raises(StorageError, match="its sha256 is another"):
        fetch(single(site), tmp_path / "pairs", language="it")


def test_a_download_goes_on_where_it_was(
    serve: Callable[[dict[str, bytes]], Site], tmp_path: Path
) -> None:
    site = serve({"/pairs.tsv": PAIRS})
    (tmp_path / "pairs.tsv.part").write_bytes(PAIRS[:10])
    download(f"{site.address}/pairs.tsv", tmp_path / "pairs.tsv")
    assert site.asked == [("/pairs.tsv", "bytes=10-")]
    assert (tmp_path / "pairs.tsv").read_bytes() == PAIRS


def test_a_download_that_is_cut_off_goes_on_by_itself(
    serve: Callable[[dict[str, bytes]], Site], tmp_path: Path
) -> None:
    site = serve({"/pairs.tsv": PAIRS})
    site.cut_after = 20
    waits: list[float] = []
    download(f"{site.address}/pairs.tsv", tmp_path / "pairs.tsv", wait=waits.append)
    assert (tmp_path / "pairs.tsv").read_bytes() == PAIRS
    assert [span for _, span in site.asked] == ["", "bytes=20-", "bytes=40-"]
    assert waits[0] < waits[1]


@pytest.mark.parametrize("body", [b"Content-Length: 99\r\n\r\nx", b"X-Slow:"])
def test_a_download_that_drips_is_given_up(
    body: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "_TIMEOUT_S", 0.3)
    head = b"HTTP/1.1 200 OK\r\n"
    with loopback_server.serve() as server:
        monkeypatch.setattr(loopback_server.Handler, "do_GET", loopback_server.drip(head + body))
        with pytest.raises(OSError, match="fewer than 1,000 bytes a second"):
            download(f"{server.url}/pairs.tsv", tmp_path / "pairs.tsv")
    assert not (tmp_path / "pairs.tsv").exists()


def test_a_slow_download_has_a_second_for_each_thousand_bytes() -> None:
    class Slow(io.RawIOBase):
        def readinto(self, buffer: bytearray) -> int:
            now[0] += 2.0
            buffer[:2500] = b"x" * 2500
            return 2500

    now = [0.0]
    with pytest.MonkeyPatch.context() as patch, socket.socket() as connection:
        patch.setattr(deadline.time, "monotonic", lambda: now[0])
        reading = deadline._Reading(Slow(), connection, 60.0, 1000)
        for _ in range(1000):
            assert reading.readinto(bytearray(4000)) == 2500
        fixed = deadline._Reading(Slow(), connection, now[0] + 60.0)
        now[0] += 60.0
        with pytest.raises(deadline.TooSlowError):
            fixed.readinto(bytearray(4000))


def test_a_connection_that_breaks_is_made_again(
    serve: Callable[[dict[str, bytes]], Site], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = serve({"/pairs.tsv": PAIRS})
    read, broken = HTTPResponse.read, [ConnectionResetError("reset")]

    def reading(response: HTTPResponse, amount: int | None = None) -> bytes:
        if broken:
            response.close()
            raise broken.pop()
        return read(response, amount)

    monkeypatch.setattr(HTTPResponse, "read", reading)
    download(f"{site.address}/pairs.tsv", tmp_path / "pairs.tsv", wait=lambda _: None)
    assert (tmp_path / "pairs.tsv").read_bytes() == PAIRS
    assert len(site.asked) == 2


@pytest.mark.parametrize("status", [429, 503])
def test_a_site_that_asks_to_come_back_is_asked_again(
    serve: Callable[[dict[str, bytes]], Site], tmp_path: Path, status: int
) -> None:
    site = serve({"/pairs.tsv": PAIRS})
    site.refusals = [(status, "7"), (status, "")]
    waits: list[float] = []
    download(f"{site.address}/pairs.tsv", tmp_path / "pairs.tsv", wait=waits.append)
    assert (tmp_path / "pairs.tsv").read_bytes() == PAIRS
    assert waits[0] == 7
    assert 0 < waits[1] <= 1
    site.refusals = [(status, "")] * 9
    with pytest.raises(HTTPError, match=str(status)):
        download(f"{site.address}/pairs.tsv", tmp_path / "again.tsv", wait=waits.append)
    assert len(site.refusals) == 9 - 4


def test_what_is_not_there_or_does_not_answer_is_asked_for_once(
    serve: Callable[[dict[str, bytes]], Site], tmp_path: Path
) -> None:
    site = serve({})
    waits: list[float] = []
    with pytest.raises(HTTPError, match="404"):
        download(f"{site.address}/pairs.tsv", tmp_path / "pairs.tsv", wait=waits.append)
    assert len(site.asked) == 1
    with pytest.raises(URLError):
        download("http://127.0.0.1:1/pairs.tsv", tmp_path / "pairs.tsv", wait=waits.append)
    assert waits == []


def test_a_download_that_was_cut_off_is_not_taken_for_whole(
    serve: Callable[[dict[str, bytes]], Site], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "_ATTEMPTS", 1)
    site = serve({"/it/pairs.tsv": PAIRS})
    site.cut_after = 20
    with pytest.raises(InputError, match=rf"cut off after 20 of {len(PAIRS)} bytes"):
        fetch(single(site), tmp_path / "pairs")
    assert not (tmp_path / "pairs" / "pairs.tsv").exists()

    # Asked again it goes on, and is noticed again, until all is there.
    site.cut_after = 10
    with pytest.raises(InputError, match=rf"cut off after 30 of {len(PAIRS)} bytes"):
        fetch(single(site), tmp_path / "pairs")
    site.cut_after = None
    fetch(single(site), tmp_path / "pairs")
    assert (tmp_path / "pairs" / "pairs.tsv").read_bytes() == PAIRS


def test_without_a_length_the_published_hash_tells(
    serve: Callable[[dict[str, bytes]], Site], tmp_path: Path
) -> None:
    site = serve({"/it/pairs.tsv": PAIRS})
    site.cut_after, site.length = 20, False
    published_as = {"pairs.tsv": hashlib.sha256(PAIRS).hexdigest()}
    pinned = dataclasses.replace(single(site), sha256=published_as)
    for _ in range(2):
        with pytest.raises(StorageError, match="not the file that was published"):
            fetch(pinned, tmp_path / "pairs")
    (tmp_path / "pairs" / "pairs.tsv").unlink()
    site.cut_after = None
    assert unpinned(pinned, fetch(pinned, tmp_path / "pairs")) == 0
    missing = dataclasses.replace(single(site), sha256={**published_as, "more.tsv": "0" * 64})
    with pytest.raises(StorageError, match=r"more\.tsv is not .* or it is missing"):
        fetch(missing, tmp_path / "other")


def test_hashes_that_nobody_published_are_recorded_and_that_is_said(
    serve: Callable[[dict[str, bytes]], Site],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    site = serve({"/it/pairs.tsv": PAIRS})
    monkeypatch.setattr("cimento.suites.published.find_published", lambda _: single(site))
    assert invoke(["suites", "get", "pairs", "-o", str(tmp_path / "pairs")]) == 0
    said = capsys.readouterr().err
    assert "sha256 of 1 file could not be compared" in said
    assert str(tmp_path / "pairs" / "source.json") in said


def test_hashes_in_the_registry_are_hashes() -> None:
    pinned = {name: entry.sha256 for name, entry in published().items() if entry.sha256}
    assert pinned.keys() == {
        name for name, one in published().items() if re.search(r": checked\b", one.verified)
    }
    digests = [digest for files in pinned.values() for digest in files.values()]
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in digests)
    assert len(set(digests)) == len(digests)


COPIES = {
    "blimp": (12, "data", "blimp"),
    "portuguese": (4, "data", "authors", "portuguese"),
    "sprouse-it": (11, "data", "authors", "islands-master", "outputs", "sprouse"),
}
"""Datasets with pinned hashes: how many files have an unchanged copy, and where these lie."""


@pytest.mark.golden
@pytest.mark.parametrize("name", COPIES)
def test_pinned_hashes_are_those_of_the_released_files(name: str, shared: Path) -> None:
    entry = find_published(name)
    number, *place = COPIES[name]
    folder = shared.joinpath(*map(str, place))
    copies = {path: one for path, one in entry.sha256.items() if (folder / path).is_file()}
    assert len(copies) == number
    for path, digest in copies.items():
        assert hashlib.sha256((folder / path).read_bytes()).hexdigest() == digest, path
    named = {address.rsplit("/", 1)[1] for file in entry.files.values() for address in file}
    assert named <= entry.sha256.keys()


@pytest.mark.downloads
@pytest.mark.parametrize("name", [name for name, entry in published().items() if entry.verified])
def test_every_address_of_the_registry_holds_what_it_says(name: str, tmp_path: Path) -> None:
    """Downloads: a pinned hash that differs, or a folder without files, fails."""
    entry = find_published(name)
    language = entry.languages[0] if "{language}" in entry.inside else ""
    folder = fetch(entry, tmp_path / name, language=language)
    source = json.loads((folder / "source.json").read_text(encoding="utf-8"))
    assert source["files"]
    assert all((folder / path).stat().st_size for path in source["files"])


def test_what_cannot_be_reached_is_explained(
    serve: Callable[[dict[str, bytes]], Site], tmp_path: Path
) -> None:
    site = serve({})
    with pytest.raises(InputError, match="copy its files into") as caught:
        fetch(single(site), tmp_path / "pairs")
    assert "404" in str(caught.value)
    assert not (tmp_path / "pairs").exists()


def test_a_dataset_that_was_never_fetched_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["run", "blimp", "-m", "demo-causal"]) == 2
    assert "`cimento suites get blimp` fetches it" in capsys.readouterr().err
    for name, code, short in (("multiblimp-eus", "eus", "eu"), ("multiblimp_ita", "ita", "it")):
        assert invoke(["run", name, "-m", "demo-causal"]) == 2
        said = capsys.readouterr().err
        assert f"`cimento suites get multiblimp --language {code}` fetches" in said
        run = f"cimento run --language {short} --sets multiblimp --compat lm-eval"
        assert f"`{run}` also runs it" in said


def test_the_suites_of_a_repository_are_taken_out(
    serve: Callable[[dict[str, bytes]], Site], tmp_path: Path
) -> None:
    site = serve({f"/{REVISION}.zip": archive_of("it_set")})
    dataset = PublishedDataset(
        name="repo",
        title="Repository",
        languages=("it",),
        license="MIT",
        citation="nobody",
        size="one pair",
        format="a table",
        archive=f"{site.address}/{REVISION}.zip",
        inside="{language}_set",
    )
    one = fetch(dataset, tmp_path / "one", language="it")
    assert sorted(path.name for path in one.iterdir()) == ["a.tsv", "source.json"]
    assert json.loads((one / "source.json").read_text(encoding="utf-8"))["revision"] == REVISION
    every = fetch(dataset, tmp_path / "every")
    assert (every / "it" / "a.tsv").read_bytes() == PAIRS


HUB = PublishedDataset(
    name="suites",
    title="Suites",
    languages=("es", "it"),
    license="MIT",
    citation="nobody",
    size="two",
    format="zip archives",
    hub="someone/suites",
    revision=REVISION,
    suffixes=(".zip",),
)


def test_one_language_of_a_hub_dataset(
    serve: Callable[[dict[str, bytes]], Site], tmp_path: Path
) -> None:
    site = hub_site(serve)
    folder = fetch(HUB, tmp_path / "hub", language="it", endpoint=site.address)
    assert (folder / "suites" / "italian.zip").read_bytes() == b"suites/italian.zip"
    assert not (folder / "suites" / "spanish.zip").exists()
    source = json.loads((folder / "source.json").read_text(encoding="utf-8"))
    assert source["revision"] == REVISION
    assert list(source["files"]) == ["suites/italian.zip"]


@pytest.mark.parametrize("language", ["eu", "eus"])
def test_a_language_has_its_code_of_two_letters_or_of_three(
    language: str, serve: Callable[[dict[str, bytes]], Site], tmp_path: Path
) -> None:
    site = hub_site(serve, ["eus/data.tsv", "ita/data.tsv"])
    dataset = dataclasses.replace(HUB, languages=("it", "and 1 more"), suffixes=(".tsv",))
    folder = fetch(dataset, tmp_path / "hub", language=language, endpoint=site.address)
    source = json.loads((folder / "source.json").read_text(encoding="utf-8"))
    assert list(source["files"]) == ["eus/data.tsv"]


def test_a_hub_dataset_without_a_commit_is_fetched_at_the_newest_which_is_recorded(
    serve: Callable[[dict[str, bytes]], Site], tmp_path: Path
) -> None:
    site = hub_site(serve)
    loose = dataclasses.replace(HUB, revision="")
    folder = fetch(loose, tmp_path / "hub", endpoint=site.address)
    source = json.loads((folder / "source.json").read_text(encoding="utf-8"))
    assert source["revision"] == REVISION
    assert (folder / "suites" / "italian.zip").is_file()
    # Repeating the command asks for no newer one, and another commit is not mixed with it.
    asked = list(site.asked)
    fetch(loose, tmp_path / "hub", endpoint=site.address)
    assert site.asked == asked
    with pytest.raises(StorageError, match=f"at the commit {REVISION}, not {'f' * 40}"):
        fetch(dataclasses.replace(HUB, revision="f" * 40), tmp_path / "hub")


def test_the_commit_of_a_data_set_without_a_pin_is_said(
    serve: Callable[[dict[str, bytes]], Site],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site = hub_site(serve)
    loose = dataclasses.replace(HUB, name="gita", revision="")
    monkeypatch.setattr("cimento.suites.published.published", lambda: {"gita": loose})
    at_site = partial(fetch, endpoint=site.address)
    monkeypatch.setattr("cimento.suites.fetching.fetch", at_site)
    assert invoke(["suites", "get", "gita", "-o", str(tmp_path / "gita")]) == 0
    assert f"cimento suites get gita@{REVISION}" in capsys.readouterr().err


def test_a_user_may_name_the_commit_of_a_hub_dataset() -> None:
    loose = [name for name, one in published().items() if one.hub and not one.revision]
    assert loose == ["syntactic-agreement", "blimp-it", "gita"]
    for name in loose:
        assert find_published(f"{name}@{REVISION}").revision == REVISION
    with pytest.raises(UsageError, match="branches and tags can change"):
        find_published("gita@main")
    with pytest.raises(UsageError, match="fixed source"):
        find_published(f"blimp@{REVISION}")


def test_a_hub_that_cannot_be_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The hub's own library asks five times more, with longer and longer pauses.
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
    with pytest.raises(InputError, match="Without a network"):
        fetch(HUB, tmp_path / "hub", endpoint="http://127.0.0.1:9")


def test_a_hub_without_a_network_is_not_asked_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("urllib.request.getproxies", dict)
    monkeypatch.setattr(time, "sleep", lambda _seconds: pytest.fail("it was asked again"))

    def unknown(*_args: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(InputError, match="Without a network"):
        fetch(HUB, tmp_path / "hub")
    # A proxy may know a host that this machine does not.
    monkeypatch.setattr("urllib.request.getproxies", lambda: {"https": "http://127.0.0.1:9"})
    monkeypatch.setattr("huggingface_hub.HfApi.list_repo_files", lambda *_a, **_k: ["it.zip"])
    monkeypatch.setattr("huggingface_hub.hf_hub_download", lambda *_a, **_k: "")
    assert fetch(HUB, tmp_path / "hub") == tmp_path / "hub"


def test_a_language_there_is_not() -> None:
    with pytest.raises(UsageError, match="not in this language"):
        find_published("blimp").check_language("it")


@pytest.mark.parametrize(("code", "folder"), [("fi", "fin"), ("ar", "arb"), ("fro", "fro")])
def test_a_language_has_the_files_of_its_code_of_three_letters(code: str, folder: str) -> None:
    """Finnish, Arabic and Old French, as MultiBLiMP names its folders."""
    entry = find_published("multiblimp")
    entry.check_language(code)
    names = [f"{one}/data.tsv" for one in ("eng", "fin", "arb", "fro", "frm")]
    assert wanted_files(entry, names, code) == [f"{folder}/data.tsv"]


def test_all_languages_are_those_of_all_sets() -> None:
    """MultiBLiMP alone is in 101."""
    named = languages_of("", published().values())
    assert len(find_published("multiblimp").languages) == 101
    assert {"fi", "pl", "fro", "id", "ja"} <= {*named}
    assert all(sets_of(code, published().values()) for code in named)


def test_what_must_be_fetched_by_hand_says_how(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["suites", "get", "connectives", "-o", str(tmp_path)]) == 2
    assert "Ask its authors" in capsys.readouterr().err
