"""Published datasets with their terms and addresses, and the files with which a suite is published.

Datasets are those of the registry, and any others that are given by an address that pins them:
``hf:ORG/NAME@COMMIT``, ``github:OWNER/REPO@COMMIT`` or ``zenodo:10.5281/zenodo.N``, each with
``:PATH`` of a file or folder where not all is wanted.

A suite is published with a card, a citation, its license and a record. The card follows the Hugging
Face hub (https://huggingface.co/docs/hub/datasets-cards), the citation the Citation File Format
1.2.0 (doi:10.5281/zenodo.5171937), and ``.zenodo.json`` the fields that Zenodo reads from a
repository on GitHub.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

from cimento.errors import Fault, InputError, SuiteError, UsageError, did_you_mean, need_known
from cimento.io.files import write_text
from cimento.suites import Meta
from cimento.suites.languages import ENGLISH, ISO_639_3, LANGUAGE_CODE, language_code

_FILE = "published.toml"
_OPEN_END = "and "
_LICENSES = re.compile(r"(CC|Apache|MIT|BSD|L?GPL|AGPL|MPL|EUPL|ODbL|ODC|PDDL|Unlicense)\b")
"""What the identifiers of licenses (https://spdx.org/licenses) begin with, as far as sets use them.

What else the registry says of a license, such as ``see its authors``, states none.
"""


def hub_page(name: str) -> str:
    """The page of a dataset on the Hugging Face hub.

    Args:
        name: its id, ``owner/name``.
    """
    return f"https://huggingface.co/datasets/{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedDataset:
    """A published dataset in the registry.

    Attributes:
        name: name for ``cimento suites get``.
        title: short description.
        languages: ISO 639-1 codes; the last entry may say that there are more.
        license: SPDX identifier if there is one.
        citation: how to cite it.
        size: its size, as text for people.
        counts: number of pairs in each language, of a set in several; empty where it is not known.
        judged: whether people judged each sentence.
        format: the format of its files.
        read_as: name of that format, a key of `cimento.suites.formats.FORMATS`, where the files are
            texts that do not show what they are.
        hub: id of a dataset on the Hugging Face hub.
        revision: commit of that dataset, pinned here or named by the user; without one, the newest
            is fetched.
        suffixes: suffixes of the wanted files on the hub.
        archive: address of a repository's zip at one commit.
        inside: file or folder, in the archive or among the hub's or record's files, that holds the
            suites; ``{language}`` stands for a code.
        zenodo: number of a record of Zenodo, whose files never change.
        files: addresses of single files, by language.
        sha256: known sha256 of files, by their paths in the fetched folder.
        by_hand: instructions for datasets without any of these sources.
        verified: date on which the pin was last looked at, and how; empty without a pin.
    """

    name: str
    title: str
    languages: tuple[str, ...]
    license: str
    citation: str
    size: str
    format: str
    counts: Mapping[str, int] = field(default_factory=dict)
    judged: bool = False
    read_as: str = ""
    hub: str = ""
    revision: str = ""
    suffixes: tuple[str, ...] = ()
    archive: str = ""
    inside: str = ""
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sha256: Mapping[str, str] = field(default_factory=dict)
    by_hand: str = ""
    verified: str = ""
    zenodo: str = ""

    @property
    def address(self) -> str:
        """The address of the dataset for people."""
        if self.hub:
            return hub_page(self.hub)
        if self.zenodo:
            return f"https://doi.org/10.5281/zenodo.{self.zenodo}"
        single = [address for addresses in self.files.values() for address in addresses]
        return self.archive or (single[0] if single else self.by_hand)

    @property
    def folder(self) -> str:
        """The name of the folder it is fetched into: its own, or made from its address."""
        if not is_address(self.name):
            return self.name
        plain = re.sub(r"[^A-Za-z0-9.]+", "-", self.name.partition("@")[0].partition(":")[2])
        digest = hashlib.sha256(self.name.encode()).hexdigest()[:_DIGITS]
        return f"{plain.strip('-.')}-{digest}"

    @property
    def commits(self) -> str:
        """The page of the hub that lists the dataset's commits."""
        return f"{self.address}/commits/main"

    @property
    def has_more_languages(self) -> bool:
        """Whether the dataset has languages that the registry does not name."""
        return any(code.startswith(_OPEN_END) for code in self.languages)

    @property
    def states_license(self) -> bool:
        """Whether its entry names a license."""
        return _LICENSES.match(self.license) is not None

    def size_in(self, language: str) -> str:
        """Its size in a language, as text for people; where that is not known, its whole size.

        Args:
            language: ISO 639-1 code, or 639-3 if there is none; empty for all.
        """
        return f"{self.counts[language]:,} pairs" if language in self.counts else self.size

    def check_language(self, language: str) -> None:
        """Refuse a language that the dataset does not have.

        Raises:
            UsageError: the dataset does not have the language.
        """
        code = language_code(language)
        if language and code not in self.languages and not self.has_more_languages:
            raise UsageError(
                where=f"--language={language}",
                seen=f"{self.name} is not in this language",
                todo=did_you_mean(language, self.languages),
            )


@functools.cache
def published() -> Mapping[str, PublishedDataset]:
    """All entries of the registry, by name."""
    text = (resources.files("cimento") / "data" / _FILE).read_text(encoding="utf-8")
    # The keys of the file are those of the record.
    return {
        name: PublishedDataset(name=name, **frozen(e)) for name, e in tomllib.loads(text).items()
    }


def is_published(name: str) -> bool:
    """Whether a name, or ``NAME@COMMIT``, is that of an entry, or is the address of a dataset."""
    return is_address(name) or name.partition("@")[0] in published()


def part_in_language(name: str) -> tuple[str, str] | None:
    """The dataset and language of a name such as ``multiblimp-eus``; None for any other name.

    lm-eval calls it ``multiblimp_eus``.
    """
    plain, dash, language = name.replace("_", "-").rpartition("-")
    entry = published().get(plain)
    if not (entry and dash and LANGUAGE_CODE.fullmatch(language)):
        return None
    has = language_code(language) in entry.languages or entry.has_more_languages
    return (plain, language) if has else None


def find_published(name: str) -> PublishedDataset:
    """One entry, at the commit that its name may give.

    Args:
        name: of the dataset; of one on the hub also ``NAME@COMMIT``; or an address, see
            `is_address`.

    Raises:
        UsageError: there is no dataset of this name, or the commit cannot be used.
    """
    if is_address(name):
        return _at_address(name)
    entries = published()
    plain, at, commit = name.partition("@")
    need_known(plain, entries, where=name, seen="no dataset has this name")
    return _at(entries[plain], commit) if at else entries[plain]


COMMIT = re.compile("[0-9a-f]{40}")


def _at(entry: PublishedDataset, commit: str) -> PublishedDataset:
    """A dataset of the hub at a commit of the user's.

    Raises:
        UsageError: it is on no hub, or this is not a commit.
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
            seen=f"{commit!r} is not a commit; branches and tags can change",
            todo=f"Give its 40 digits, from {entry.commits}",
        )
    return replace(entry, revision=commit)


GITHUB = "https://github.com"
"""The address of GitHub's repositories."""
_DIGITS = 8
_SUITE_SUFFIXES = (
    *(".tsv", ".csv", ".tab", ".txt", ".xlsx", ".json", ".jsonl", ".ndjson", ".parquet"),
    *(".toml", ".zip", ".gz"),
)
"""Suffixes of files fetched from an address: suites in any format, and their descriptions."""

_REPOSITORY_NAME = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<commit>[^:]*))?(?::(?P<path>.*))?")
_FORMS: Mapping[str, tuple[str, re.Pattern[str]]] = {
    "hf": ("hf:ORG/NAME@COMMIT", _REPOSITORY_NAME),
    "github": ("github:OWNER/REPO@COMMIT", _REPOSITORY_NAME),
    "zenodo": (
        "zenodo:10.5281/zenodo.NUMBER",
        re.compile(r"(?:10\.5281/zenodo\.)?(?P<record>[0-9]+)(?::(?P<path>.*))?"),
    ),
}
"""Forms of addresses by their prefixes, as people write them and as they are read."""


def is_address(name: str) -> bool:
    """Whether a name is that of a dataset on the hub, GitHub or Zenodo, such as ``hf:ORG/NAME``."""
    return name.partition(":")[0] in _FORMS and ":" in name


def _at_address(name: str) -> PublishedDataset:
    """The dataset at an address that pins it.

    Raises:
        UsageError: the address has another form, no commit, or a path that leads elsewhere.
    """
    prefix, _, rest = name.partition(":")
    form, pattern = _FORMS[prefix]
    match = pattern.fullmatch(rest)
    if match is None:
        raise UsageError(
            where=name,
            seen="it is not an address of a dataset",
            todo=f"Write {form}, and :PATH after it where not all files are wanted.",
        )
    parts = match.groupdict(default="")
    path = parts["path"].strip("/")
    if ".." in path.split("/") or "\\" in path:
        raise UsageError(
            where=name, seen="the path leads out of the dataset", todo="Give one inside it."
        )
    entry = PublishedDataset(
        name=name,
        title=f"{prefix}: {parts.get('repo') or parts['record']}",
        languages=(f"{_OPEN_END}others",),
        license="see its page",
        citation="see its page",
        size="",
        format="suites in any format that is read",
        suffixes=_SUITE_SUFFIXES,
        inside=path,
    )
    if prefix == "zenodo":
        return replace(entry, zenodo=parts["record"])
    repo, commit = parts["repo"], parts["commit"]
    page = f"{GITHUB}/{repo}/commits"
    if prefix == "hf":
        entry = replace(entry, hub=repo, revision=commit)
        page = entry.commits
    if not COMMIT.fullmatch(commit):
        raise UsageError(
            where=name,
            seen=f"{commit!r} is not a commit; branches and tags can change"
            if commit
            else "it names no commit, so that you and others could get different files",
            todo=f"Write {prefix}:{repo}@COMMIT, with the 40 digits of a commit from {page}",
        )
    if prefix == "hf":
        return entry
    return replace(entry, archive=f"{GITHUB}/{repo}/archive/{commit}.zip")


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


def frozen(value: Any) -> Any:  # noqa: ANN401  # what TOML has
    """A value of the registry, with tuples in place of lists."""
    if isinstance(value, dict):
        return {key: frozen(child) for key, child in value.items()}
    return tuple(map(str, value)) if isinstance(value, list) else value


CARD, CITATION, LICENSE, RECORD = "README.md", "CITATION.cff", "LICENSE", ".zenodo.json"

_NEEDED: Mapping[str, str] = {
    "author": 'the names of the authors: author = "Ada Bianchi; Luis Sosa"',
    "license": 'the SPDX identifier of a license: license = "CC-BY-4.0"',
    "version": 'a version: version = "1.0.0"',
    "language": 'its ISO 639-1 code: language = "it"',
}
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))
_LARGEST = "100K<n<1M"
_BETWEEN_AUTHORS = re.compile(r"\s*;\s*|\s+and\s+")
_TITLE = re.compile(r"\A\s*# .*\n")


def refuse_incomplete(meta: Meta) -> None:
    """Refuse to publish a suite whose description lacks what every host asks for.

    Raises:
        SuiteError: a field is empty; the error names all of them.
    """
    faults = tuple(
        Fault("CIM-S003", "error", "suite.toml", f"[meta] has no {name}.", f"Write {advice}.")
        for name, advice in _NEEDED.items()
        if not getattr(meta, name)
    )
    if faults:
        raise SuiteError(where=f"suite {meta.name}", faults=faults)


def write_publication(folder: Path, meta: Meta, *, description: str, readme: str) -> list[Path]:
    """Write card, citation, license and record beside the files of a suite.

    Args:
        folder: the folder of the suite.
        meta: its metadata, complete.
        description: predictions and first items, as ``cimento suites show`` prints them.
        readme: what its authors wrote about it; empty for nothing.

    Returns:
        The files written.
    """
    table = next(path for path in sorted(folder.glob("items.*")))
    lines = table.read_text(encoding="utf-8").splitlines()
    rows = sum(map(bool, map(str.strip, lines))) - (table.suffix == ".tsv")
    texts = {
        CARD: card(meta, table=table.name, rows=rows, description=description, readme=readme),
        CITATION: citation(meta),
        LICENSE: f"{meta.name} is licensed under {meta.license}:\n"
        f"https://spdx.org/licenses/{meta.license}.html\n",
        RECORD: json.dumps(_zenodo_record(meta), ensure_ascii=False, indent=2) + "\n",
    }
    return [write_text(text, folder / name) for name, text in texts.items()]


def authors(meta: Meta) -> list[str]:
    """The names of the authors, which semicolons or *and* separate."""
    return [name for name in _BETWEEN_AUTHORS.split(meta.author) if name]


def title(meta: Meta) -> str:
    """The title of a suite: its name, and its phenomenon if it has one."""
    return f"{meta.name}: {meta.phenomenon}" if meta.phenomenon else meta.name


def card(meta: Meta, *, table: str, rows: int, description: str, readme: str) -> str:
    """The card of a suite: fields for the host, then a page for people.

    Args:
        meta: its metadata.
        table: name of the file with the items.
        rows: number of rows in it.
        description: as for `write_publication`.
        readme: as for `write_publication`.
    """
    size = next((name for most, name in _SIZES if rows < most), _LARGEST)
    text = _TITLE.sub("", readme, count=1).strip()
    tags = dict.fromkeys(("linguistics", "language-model-evaluation", "cimento", *meta.tags))
    separator = {"sep": "\t"} if table.endswith(".tsv") else {}
    fields = [
        ("language", [meta.language]),
        ("license", meta.license.lower()),
        ("pretty_name", title(meta)),
        ("size_categories", [size]),
        ("tags", list(tags)),
        # A field that contains a tab or a quotation mark is valid YAML as a JSON text.
        ("configs", [{"config_name": "default", "data_files": table, **separator}]),
    ]
    front = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in fields)
    facts = [
        ("language", ENGLISH.get(meta.language, meta.language)),
        ("version", meta.version),
        ("authors", ", ".join(authors(meta))),
        ("license", meta.license),
        ("review", meta.status),
        ("origin", meta.reference),
        ("cite as", meta.citation),
        ("remark", meta.comment),
    ]
    listed = "".join(f"| {name} | {value.replace('|', '/')} |\n" for name, value in facts if value)
    parts = [
        f"---\n{front}---\n\n# {title(meta)}\n\nA test suite for language models.\n",
        f"| | |\n|---|---|\n{listed}",
        f"## Predictions and items\n\n````text\n{description.strip()}\n````\n",
        (
            "## Running it\n\nWith cimento, from the commit of"
            " this page:\n\n```\ncimento run hf:ORG/NAME@COMMIT -m gpt2\n```\n"
        ),
        f"## From its authors\n\n{text}\n" if text else "",
    ]
    return "\n".join(part for part in parts if part)


def citation(meta: Meta) -> str:
    """The citation of a suite in the Citation File Format."""
    fields: list[tuple[str, object]] = [
        ("cff-version", "1.2.0"),
        ("message", meta.citation or "If you use this suite, please cite it."),
        ("type", "dataset"),
        ("title", title(meta)),
        ("version", meta.version),
        ("license", meta.license),
        ("authors", [{"name": name} for name in authors(meta)]),
        ("keywords", list(dict.fromkeys(("linguistics", *meta.tags)))),
    ]
    return "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in fields)


def _zenodo_record(meta: Meta) -> dict[str, object]:
    """The description of a suite for Zenodo."""
    about = " ".join(filter(None, (meta.comment, meta.reference)))
    return {
        "upload_type": "dataset",
        "title": title(meta),
        "description": about or f"A test suite for language models: {title(meta)}.",
        "creators": [{"name": name} for name in authors(meta)],
        "license": meta.license,
        "version": meta.version,
        "keywords": list(dict.fromkeys(("linguistics", "language models", *meta.tags))),
        **({"language": ISO_639_3[meta.language]} if meta.language in ISO_639_3 else {}),
    }
