"""The registry of published datasets, with their terms and addresses."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources

from cimento.errors import InputError, UsageError, did_you_mean

NAMES = {
    "ca": "Catalan",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "he": "Hebrew",
    "it": "Italian",
    "nl": "Dutch",
    "pt": "Portuguese",
    "ru": "Russian",
    "zh": "Chinese",
}
"""English names of languages by ISO 639-1 code."""

_CODES = {name.casefold(): code for code, name in NAMES.items()}


LANGUAGE_CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9-]+)?")


def language_code(name: str) -> str:
    """The ISO 639-1 code of a language from its English name; an unknown name is unchanged."""
    return _CODES.get(name.strip().casefold(), name.strip())


_FILE = "published.toml"
_OPEN_END = "and "


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A published dataset in the registry.

    Attributes:
        name: name for ``cimento suites get``.
        title: short description.
        languages: ISO 639-1 codes; the last entry may say that there are more.
        licence: SPDX identifier if there is one.
        citation: how to cite it.
        size: its size, as text for people.
        format: the format of its files.
        hub: id of a dataset on the Hugging Face hub.
        revision: commit of that dataset, pinned here or named by the user; without one it is not
            fetched.
        suffixes: suffixes of the wanted files on the hub.
        codes: for each language, its name in the hub's files.
        archive: address of a repository's zip at one commit.
        inside: folder in the archive that holds the suites; ``{language}`` stands for a code.
        files: addresses of single files, by language.
        sha256: known sha256 of files, by their paths in the fetched folder.
        by_hand: instructions for datasets without any of these sources.
        verified: date on which the pin was last looked at, and how; empty without a pin.
    """

    name: str
    title: str
    languages: tuple[str, ...]
    licence: str
    citation: str
    size: str
    format: str
    hub: str = ""
    revision: str = ""
    suffixes: tuple[str, ...] = ()
    codes: Mapping[str, str] = field(default_factory=dict)
    archive: str = ""
    inside: str = ""
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sha256: Mapping[str, str] = field(default_factory=dict)
    by_hand: str = ""
    verified: str = ""

    @property
    def address(self) -> str:
        """The address of the dataset for people."""
        if self.hub:
            return f"https://huggingface.co/datasets/{self.hub}"
        single = [address for addresses in self.files.values() for address in addresses]
        return self.archive or (single[0] if single else self.by_hand)

    @property
    def commits(self) -> str:
        """The page of the hub that lists the dataset's commits."""
        return f"{self.address}/commits/main"

    def check_language(self, language: str) -> None:
        """Refuse a language that the dataset does not have.

        Raises:
            UsageError: the dataset does not have the language.
        """
        more = any(each.startswith(_OPEN_END) for each in self.languages)
        if language and language not in self.languages and not more:
            raise UsageError(
                where=f"--language {language}",
                seen=f"{self.name} is not in this language",
                todo=did_you_mean(language, self.languages),
            )


def published() -> dict[str, Published]:
    """All entries of the registry, by name."""
    text = (resources.files("cimento") / "data" / _FILE).read_text(encoding="utf-8")
    return {name: _entry(name, entry) for name, entry in tomllib.loads(text).items()}


def is_published(name: str) -> bool:
    """Whether a name, or ``NAME@COMMIT``, is that of an entry."""
    return name.partition("@")[0] in published()


def find_published(name: str) -> Published:
    """One entry, at the commit that its name may give.

    Args:
        name: of the dataset; of one on the hub also ``NAME@COMMIT``.

    Raises:
        UsageError: there is no dataset of this name, or the commit cannot be used.
    """
    entries = published()
    plain, at, commit = name.partition("@")
    if plain not in entries:
        raise UsageError(
            where=name, seen="no dataset has this name", todo=did_you_mean(plain, entries)
        )
    return _at(entries[plain], commit) if at else entries[plain]


COMMIT = re.compile("[0-9a-f]{40}")


def _at(entry: Published, commit: str) -> Published:
    """A dataset of the hub at a commit of the user's.

    Raises:
        UsageError: it is on no hub, or this is no commit.
    """
    where = f"{entry.name}@{commit}"
    if not entry.hub:
        raise UsageError(
            where=where,
            seen="only datasets of the hub are fetched at a commit of yours",
            todo=f"Leave it out: {entry.name} has a fixed source.",
        )
    if not COMMIT.fullmatch(commit):
        raise UsageError(
            where=where,
            seen=f"{commit!r} is no commit; branches and tags can change",
            todo=f"Give its 40 digits, from {entry.commits}",
        )
    return replace(entry, revision=commit)


def https_only(address: str) -> str:
    """The given address, which must begin with https.

    Raises:
        InputError: the address does not begin with https.
    """
    if not address.startswith("https://"):
        raise InputError(
            where=address, seen="the address is not https", todo="Nothing else is fetched."
        )
    return address


def _entry(name: str, entry: Mapping[str, object]) -> Published:
    files = entry.get("files", {})
    texts = {key: value for key, value in entry.items() if isinstance(value, str)}
    lists = {key: _texts(value) for key, value in entry.items() if key in ("languages", "suffixes")}
    return Published(
        name=name,
        **texts,  # type: ignore[arg-type]  # keys of the file are those of the record; tested
        **lists,  # type: ignore[arg-type]
        codes=_mapping(entry.get("codes")),
        sha256=_mapping(entry.get("sha256")),
        files={key: _texts(value) for key, value in files.items()}
        if isinstance(files, dict)
        else {},
    )


def _mapping(value: object) -> Mapping[str, str]:
    return value if isinstance(value, dict) else {}


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, Sequence) else ()
