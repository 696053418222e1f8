"""The published sets of a language: which there are, where they are, and what prevents their use.

A set is a dataset of a registry in one language. It is available if its files are on this machine,
or if they are pinned and its license is stated or was accepted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import UsageError, need_known
from cimento.io.files import default_cache_folder, write_text
from cimento.io.parsing import parse_json
from cimento.suites.languages import ENGLISH, language_code
from cimento.suites.published import PublishedDataset
from cimento.suites.sources import recorded_source

ACCEPTED = "accepted-licenses.json"
"""The file, in the folder of the cache, with the sets whose use without a license was accepted."""


STARTER, GENERATED = "starter", "generated"
"""The parts of cimento's own suites: those that come with it, and drafts that its grammars make."""
OWN = (STARTER, GENERATED)
GENERATED_STATUS = "generated, not yet reviewed"
"""The state of review of a suite that a grammar made, until a person states another."""


@dataclass(frozen=True, slots=True)
class LanguageSet:
    """A published dataset in one language.

    Attributes:
        dataset: the entry of the registry.
        language: ISO 639-1 code, or 639-3 where there is none.
    """

    dataset: PublishedDataset
    language: str

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return self.dataset.name

    @property
    def part(self) -> str:
        """The language to fetch; empty where the dataset has only one, and is fetched whole."""
        d = self.dataset
        return self.language if len(d.languages) > 1 or d.has_more_languages else ""

    def place(self, folder: Path) -> Path:
        """Where its files are, or go, below a folder of sets."""
        return folder / self.dataset.folder / self.part

    def here(self, folders: Iterable[Path]) -> Path | None:
        """The folder of sets that has its files, whole and as recorded; None if none has.

        Args:
            folders: folders of sets, the first of them first.
        """
        for folder in folders:
            recorded = recorded_source(self.place(folder))
            if recorded.get("complete") and recorded.get("name") == self.name:
                return folder
        return None


def language_name(code: str) -> str:
    """The English name of a language, or its code where we have no name."""
    return ENGLISH.get(code, code)


def languages_of(given: str, registry: Iterable[PublishedDataset]) -> tuple[str, ...]:
    """The languages that a text such as ``it,es`` names, each once; all of the registry for none.

    Args:
        given: codes or English names, with commas between them; empty for all.
        registry: the published datasets.

    Raises:
        UsageError: a name is not a code.
    """
    every = {code for entry in registry for code in entry.languages if re.fullmatch(_CODE, code)}
    if not given:
        return tuple(sorted(every))
    codes = [language_code(name) for name in given.split(",") if name.strip()]
    for code in codes:
        if not re.fullmatch(_CODE, code):
            need_known(
                code, every, where=f"--language={code}", seen="it is not the code of a language"
            )
    return tuple(dict.fromkeys(codes))


_CODE = r"[a-z]{2,3}"


def sets_of(
    language: str,
    registry: Iterable[PublishedDataset],
    *,
    only: Collection[str] = (),
    without: Collection[str] = (),
) -> tuple[LanguageSet, ...]:
    """The sets of a language that a registry names, in its order.

    A dataset with more languages than it names is one of them only where it names the language, or
    where it is asked for.

    Args:
        language: ISO 639-1 code, or 639-3.
        registry: the published datasets.
        only: names of datasets; empty for all.
        without: names of datasets to leave out.

    Raises:
        UsageError: no dataset has one of the names.
    """
    entries = {entry.name: entry for entry in registry}
    known = [*entries, *OWN]
    for flag, names in (("--sets", only), ("--except", without)):
        for name in names:
            need_known(name, known, where=f"{flag}={name}", seen="no dataset has this name")
    return tuple(
        LanguageSet(entry, language)
        for name, entry in entries.items()
        if name not in without
        and (name in only if only else True)
        and (language in entry.languages or entry.has_more_languages)
    )


def own_parts(only: Collection[str], without: Collection[str]) -> tuple[str, ...]:
    """The parts of cimento's own suites that are asked too: all, unless names leave them out.

    Args:
        only: as for `sets_of`.
        without: likewise.
    """
    return tuple(name for name in OWN if name not in without and (not only or name in only))


def folders_of_sets(given: Path | None) -> tuple[Path, ...]:
    """The folders in which sets are looked for; those that are missing are fetched into the last.

    Args:
        given: a folder of sets; None for the working folder, where ``cimento suites get`` puts
            them, and the folder of the cache.

    Raises:
        StorageError: there is no folder for the cache.
    """
    return (given,) if given else (Path(), default_cache_folder() / "suites")


def accepted_licenses() -> frozenset[str]:
    """The names of the sets whose use without a stated license was accepted on this machine."""
    path = default_cache_folder() / ACCEPTED
    if not path.is_file():
        return frozenset()
    content = parse_json(path.read_text(encoding="utf-8"))
    return frozenset(map(str, content)) if isinstance(content, list) else frozenset()


def accept_licenses(sets: Sequence[LanguageSet]) -> tuple[str, ...]:
    """Remember that some sets may be used although no license is stated.

    Returns:
        The names of those that were not accepted before.

    Raises:
        StorageError: it cannot be stored.
    """
    before = accepted_licenses()
    new = dict.fromkeys(
        s.name for s in sets if not s.dataset.states_license and s.name not in before
    )
    if new:
        text = json.dumps(sorted(before | new.keys()), indent=1) + "\n"
        write_text(text, default_cache_folder() / ACCEPTED)
    return tuple(new)


def refuse_no_sets(language: str, sets: Sequence[LanguageSet], *, but: bool = False) -> None:
    """Refuse a language of which there is no set.

    Args:
        language: its code.
        sets: its sets.
        but: whether suites of cimento itself are asked for by name.

    Raises:
        UsageError: there is none.
    """
    if not (sets or but):
        raise UsageError(
            where=f"--language={language}",
            seen=f"no published set of {language_name(language)} is registered",
            todo="`cimento suites list --remote` lists all sets with their languages.",
        )
