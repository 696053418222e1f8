"""The lock file: what is used first is used ever after."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cimento import InputError
from cimento.errors import StorageError
from cimento.evaluation.language_suites import SetSettings, bring
from cimento.suites.language_sets import LanguageSet
from cimento.suites.published import PublishedDataset
from tests.helpers.serving import PAIRS, REVISION, Site, hub_site, serve

__all__ = ["serve"]

UNPINNED = PublishedDataset(
    name="ours", title="Ours", languages=("it",), license="MIT", citation="nobody", size="1 pair",
    format="a table", hub="someone/suites", suffixes=(".tsv",),
)  # fmt: skip


def of_site(site: Site, tmp_path: Path) -> SetSettings:
    return SetSettings(
        folders=(tmp_path / "sets",), lock=tmp_path / "cimento.lock", endpoint=site.address
    )


def hub_with(serve: Callable[[dict[str, bytes]], Site], content: bytes) -> Site:
    site = hub_site(serve, ["pairs.tsv"])
    site.files[f"/datasets/someone/suites/resolve/{REVISION}/pairs.tsv"] = content
    return site


def test_the_newest_commit_is_locked_at_first_use(
    serve: Callable[[dict[str, bytes]], Site], tmp_path: Path
) -> None:
    site = hub_with(serve, PAIRS)
    settings, one = of_site(site, tmp_path), LanguageSet(UNPINNED, "it")
    folder = bring(one, settings)
    assert (folder / "pairs.tsv").read_bytes() == PAIRS
    lock = tomllib.loads(settings.lock.read_text(encoding="utf-8"))
    assert lock["ours"]["revision"] == REVISION
    assert list(lock["ours"]["sha256"]) == ["pairs.tsv"]
    written, asked = settings.lock.read_bytes(), len(site.asked)
    bring(one, settings)
    assert (settings.lock.read_bytes(), len(site.asked)) == (written, asked)


def test_the_lock_file_may_be_anywhere_and_has_each_language_of_a_set(
    serve: Callable[[dict[str, bytes]], Site], tmp_path: Path
) -> None:
    """As with ``--lock paper/sets.lock``, whose folder is made; nothing is written here."""
    both = replace(UNPINNED, languages=("it", "es"))
    site = hub_site(serve, ["it/pairs.tsv", "es/pairs.tsv"])
    for language in both.languages:
        path = f"/datasets/someone/suites/resolve/{REVISION}/{language}/pairs.tsv"
        site.files[path] = PAIRS
    settings = replace(of_site(site, tmp_path), lock=tmp_path / "paper" / "sets.lock")
    for language in both.languages:
        bring(LanguageSet(both, language), settings)
    assert not (tmp_path / "cimento.lock").exists()
    locked = tomllib.loads(settings.lock.read_text(encoding="utf-8"))["ours"]
    assert {name.partition("/")[0] for name in locked["sha256"]} == {"it", "es"}
    assert locked["revision"] == REVISION


def test_files_on_this_machine_are_locked_without_a_network(
    serve: Callable[[dict[str, bytes]], Site], tmp_path: Path
) -> None:
    site = hub_with(serve, PAIRS)
    settings, one = of_site(site, tmp_path), LanguageSet(UNPINNED, "it")
    bring(one, settings)
    locked = settings.lock.read_bytes()
    settings.lock.unlink()
    asked = len(site.asked)
    bring(one, replace(settings, endpoint="http://127.0.0.1:9"))
    assert settings.lock.read_bytes() == locked
    assert len(site.asked) == asked


def test_another_commit_is_refused(
    serve: Callable[[dict[str, bytes]], Site], tmp_path: Path
) -> None:
    settings, one = of_site(hub_with(serve, PAIRS), tmp_path), LanguageSet(UNPINNED, "it")
    bring(one, settings)
    text = settings.lock.read_text(encoding="utf-8").replace(REVISION, "f" * 40)
    settings.lock.write_text(text, encoding="utf-8")
    with pytest.raises(
        StorageError, match=rf"not those of .*cimento\.lock, which has .*{'f' * 40}"
    ):
        bring(one, settings)


def test_other_files_at_the_same_commit_are_refused(
    serve: Callable[[dict[str, bytes]], Site], tmp_path: Path
) -> None:
    settings, one = of_site(hub_with(serve, PAIRS), tmp_path), LanguageSet(UNPINNED, "it")
    bring(one, settings)
    other = hub_with(serve, PAIRS + b"Il mare luccica.\tIl mare luccicano.\n")
    elsewhere = replace(settings, folders=(tmp_path / "others",), endpoint=other.address)
    with pytest.raises(StorageError, match="not those of"):
        bring(one, elsewhere)


@pytest.mark.parametrize(
    "text",
    ["[ours]\nhub = 1", "ours = 3", "[ours", '[ours]\nhub="a"\nrevision="main"\nresolved=""'],
)
def test_a_damaged_lock_file_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "cimento.lock").write_text(text, encoding="utf-8")
    settings = SetSettings(folders=(tmp_path,), lock=tmp_path / "cimento.lock")
    with pytest.raises(InputError, match=r"cimento\.lock"):
        bring(LanguageSet(UNPINNED, "it"), settings)
