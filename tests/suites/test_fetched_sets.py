"""Sets as they are fetched: in archives, in folders of folders, and as texts without a form."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from cimento.errors import InputError, StorageError, SuiteError
from cimento.suites import fetching, sources
from cimento.suites.fetching import fetch
from cimento.suites.load import open_suite, suite_paths
from cimento.suites.published import PublishedDataset
from cimento.suites.tarballs import unpack_tarball
from tests.helpers.serving import REVISION, Site, serve

__all__ = ["serve"]

Serve = Callable[[Mapping[str, bytes]], Site]
LINES = "".join(
    json.dumps({"sentence_good": good, "sentence_bad": bad}, ensure_ascii=False) + "\n"
    for good, bad in [("他买了一本书。", "他买了一只书。"), ("她养了一只猫。", "她养了一本猫。")]
).encode()
TEXT = b"the dog bark .\nthe dog barks .\nthe cats sleeps .\nthe cats sleep .\n"
"""Two pairs, the bad one first."""


@pytest.fixture(autouse=True)
def loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """The servers of the tests speak plain HTTP."""
    monkeypatch.setattr(fetching, "https_only", lambda address: address)


def tarball(files: Mapping[str, bytes], *, links: Mapping[str, str] | None = None) -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for name, to in (links or {}).items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, to
            archive.addfile(member)
    return sink.getvalue()


def dataset(site: Site, *names: str, **more: object) -> PublishedDataset:
    entry = PublishedDataset(
        name="pairs",
        title="Pairs",
        languages=("zh",),
        license="CC0",
        citation="nobody",
        size="two pairs",
        format="files",
        files={"zh": tuple(f"{site.address}/{REVISION}/{name}" for name in names)},
    )
    return replace(entry, **more)


def test_what_is_in_a_tarball_is_unpacked_and_compared(serve: Serve, tmp_path: Path) -> None:
    files = {"SET/classifiers.jsonl": LINES, "SET/._classifiers.jsonl": b"\x00\x05"}
    data = tarball(files, links={"SET/other.jsonl": "/etc/hostname"})
    site = serve({f"/{REVISION}/SET.tar.gz": data})
    digest = hashlib.sha256(data).hexdigest()
    folder = fetch(dataset(site, "SET.tar.gz", sha256={"SET.tar.gz": digest}), tmp_path / "a")
    assert suite_paths(folder) == [folder / "SET" / "classifiers.jsonl"]
    assert len(open_suite(*suite_paths(folder)).suite.items) == 2
    assert not (folder / "SET" / "other.jsonl").exists()
    with pytest.raises(StorageError, match="not the file that was published"):
        fetch(dataset(site, "SET.tar.gz", sha256={"SET.tar.gz": "0" * 64}), tmp_path / "b")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (tarball({"../outside.jsonl": LINES}), "leads out of it"),
        (tarball({"a.jsonl": LINES})[:90], "damaged"),
        (b"no archive", "damaged"),
    ],
    # Archives have the time in them: as a name of a test, each process would have another.
    ids=["outside", "truncated", "text"],
)
def test_archives_that_cannot_be_trusted_are_refused(
    content: bytes, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "inner" / "set.tar.gz"
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        unpack_tarball(path)
    assert not (tmp_path / "outside.jsonl").exists()


def test_texts_are_read_in_the_form_of_their_set(serve: Serve, tmp_path: Path) -> None:
    site = serve({f"/{REVISION}/agreement.txt": TEXT})
    folder = fetch(dataset(site, "agreement.txt", read_as="zorro"), tmp_path / "zorro")
    (path,) = suite_paths(folder)
    suite = open_suite(path).suite
    assert [{one.name: one.regions[0].text for one in item.conditions} for item in suite.items] == [
        {"good": "the dog barks .", "bad": "the dog bark ."},
        {"good": "the cats sleep .", "bad": "the cats sleeps ."},
    ]
    plain = fetch(dataset(site, "agreement.txt", name="others"), tmp_path / "plain")
    with pytest.raises(InputError):
        suite_paths(plain)
    with pytest.raises(InputError, match="one list of sentences"):
        open_suite(plain / "agreement.txt")


def test_single_files_of_the_registry_are_suites_even_if_they_are_texts(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NoCoLA is two texts in a folder, whose headings say what they are."""
    lists = "Ungrammatical:\nKatten sove på matten.\tF\nGrammatical:\nKatten sover på matten.\tF\n"
    site = serve({f"/{REVISION}/dev.txt": lists.encode()})
    entry = dataset(site, "dev.txt")
    folder = fetch(entry, tmp_path / "set")
    with pytest.raises(InputError, match="without suites"):
        suite_paths(folder)
    monkeypatch.setattr(sources, "published", lambda: {"pairs": entry})
    assert suite_paths(folder) == [folder / "dev.txt"]


def test_all_folders_of_a_registered_set_have_its_suites(serve: Serve, tmp_path: Path) -> None:
    inner = {"SET/a.jsonl": LINES, "SET/more/b.jsonl": LINES, "SET/README.md": b"# Read me"}
    site = serve({f"/{REVISION}/SET.tar.gz": tarball(inner)})
    folder = fetch(dataset(site, "SET.tar.gz"), tmp_path / "set")
    names = [path.relative_to(folder).as_posix() for path in suite_paths(folder)]
    assert names == ["SET/a.jsonl", "SET/more/b.jsonl"]
    assert suite_paths(folder / "SET" / "more") == [folder / "SET" / "more" / "b.jsonl"]
    (folder / "SET" / "mine.jsonl").write_bytes(LINES)  # what was put there later is not the set's
    assert len(suite_paths(folder)) == 2
    (folder / "source.json").unlink()  # any other folder has the suites beside each other
    assert suite_paths(folder / "SET") == [
        folder / "SET" / "a.jsonl",
        folder / "SET" / "mine.jsonl",
    ]


def test_a_letter_lost_in_a_pinned_file_is_a_warning(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = LINES.replace("书".encode(), "\ufffd".encode())
    digest = hashlib.sha256(lost).hexdigest()
    site = serve({f"/{REVISION}/a.jsonl": lost})
    pinned = dataset(site, "a.jsonl", sha256={"a.jsonl": digest})
    path = fetch(pinned, tmp_path / "set") / "a.jsonl"
    with pytest.raises(SuiteError, match="CIM-S042"):  # of a set that is not in the registry
        open_suite(path)
    monkeypatch.setattr(sources, "published", lambda: {"pairs": pinned})
    read = open_suite(path)
    assert [fault.severity for fault in read.faults if fault.code == "CIM-S042"] == ["warning"] * 2
    path.write_bytes(lost + LINES)
    with pytest.raises(SuiteError, match="CIM-S042"):  # and of a file that was changed
        open_suite(path)
