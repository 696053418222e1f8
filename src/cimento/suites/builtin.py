"""Suites by name: published datasets with their terms and addresses, and the built-in suites.

Listing them needs nothing but the standard library.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory

from cimento.errors import InputError, UsageError, did_you_mean, need_known
from cimento.io.files import expanded, folder_atomically, refuse_existing, write_bytes
from cimento.io.parsing import parse_toml

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
    need_known(plain, entries, where=name, seen="no dataset has this name")
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


DEFAULT_KIND = "regions"
"""The kind of suites that state none."""

RATED = "acceptability"
"""The ``kind`` in ``suite.toml`` of a suite whose columns hold ratings of people."""


def kind_of(path: Path) -> str:
    """The ``kind`` at the top of a folder's ``suite.toml``; else `DEFAULT_KIND`.

    Args:
        path: a suite folder, its ``suite.toml``, or a file of any other format.

    Raises:
        InputError: the kind is not text.
    """
    toml = path / "suite.toml" if path.is_dir() else path
    settings: Mapping[str, object] = {}
    if toml.name == "suite.toml" and toml.is_file():
        # Its faults are reported later, when the whole suite is read.
        with suppress(OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            settings = parse_toml(toml.read_text(encoding="utf-8-sig"))
    kind = settings.get("kind")
    if kind is None:
        return DEFAULT_KIND
    if not isinstance(kind, str):
        raise InputError(
            where=str(toml), seen=f"kind is {kind!r}", todo='Write kind = "..." as a text.'
        )
    return kind


_FOLDER = Path(__file__).parents[1] / "data" / "suites"


@dataclass(frozen=True, slots=True)
class BuiltinSuite:
    """A built-in suite, as ``cimento suites list`` shows it.

    Attributes:
        name: name for ``cimento run``.
        kind: name of its paradigm, such as ``regions``.
        language: ISO 639-1 code.
        phenomenon: its phenomenon; empty where a column gives it item by item.
        items: number of items.
        status: state of review, such as ``draft, not yet reviewed by native speakers``.
        path: its folder.
    """

    name: str
    kind: str
    language: str
    phenomenon: str
    items: int
    status: str
    path: Path


def builtin_names(*, kind: str = "") -> list[str]:
    """The sorted names of all built-in suites, or of those of one kind."""
    names = sorted(path.parent.name for path in _FOLDER.glob("*/suite.toml"))
    return [name for name in names if not kind or kind_of(_FOLDER / name) == kind]


def list_builtin(*, kind: str = "") -> list[BuiltinSuite]:
    """All built-in suites, or those of one kind, sorted by name."""
    return [_describe(_FOLDER / name) for name in builtin_names(kind=kind)]


def name_or_path(suite: object) -> str:
    """The name or path of a suite as text.

    Raises:
        UsageError: the object is neither a name nor a path.
    """
    if isinstance(suite, str | Path):
        return str(suite)
    raise UsageError(
        where="suite",
        seen=f"{suite!r} is neither a name, a path nor a suite",
        todo="For several suites use evaluate_all.",
    )


def find_suite(name_or_path: str | Path) -> Path:
    """The path of a suite: a built-in one by its name, any other by its path.

    A built-in name means the built-in suite in every working directory; write ``./name`` for a file
    or folder of the same name.

    Raises:
        InputError: there is no built-in suite and no path of this name.
    """
    if isinstance(name_or_path, str) and name_or_path in builtin_names():
        return _FOLDER / name_or_path
    from cimento.suites.formats.blimp import blimp_datasets

    name = str(name_or_path)
    if not name.strip():
        raise InputError(
            where="suite",
            seen="its name is empty",
            todo="Give a built-in name or a path; . is the current folder.",
        )
    path = expanded(name_or_path)
    if path.exists():
        return path
    dataset = name.lower().removeprefix("blimp_")
    if is_published(name):
        todo = f"It is a published dataset: `cimento suites get {name}` fetches it."
    elif dataset in blimp_datasets():
        todo = (
            "It is a dataset of BLiMP: `cimento suites get blimp` fetches BLiMP; then give"
            f" DIRECTORY/{dataset}.jsonl."
        )
    elif path.suffix or len(path.parts) > 1:
        todo = _nearby(path)
    else:
        todo = did_you_mean(name, [*builtin_names(), *published()], listed=builtin_names())
    raise InputError(
        where=name, seen="there is no built-in suite and no file or folder of this name", todo=todo
    )


def _nearby(path: Path) -> str:
    """What to give instead of a path that leads nowhere."""
    if not path.parent.is_dir():
        return f"There is no folder {path.parent} either."
    names = [entry.name for entry in path.parent.iterdir() if not entry.name.startswith(".")]
    return did_you_mean(path.name, names, listed=()).replace(
        "There is none.", f"Nothing in {path.parent.resolve()} has a name like it."
    )


def _describe(folder: Path) -> BuiltinSuite:
    meta = tomllib.loads((folder / "suite.toml").read_text(encoding="utf-8"))["meta"]
    return BuiltinSuite(
        name=folder.name,
        kind=kind_of(folder),
        language=meta.get("language", ""),
        phenomenon=meta.get("phenomenon", ""),
        items=_count_items(folder),
        status=meta.get("status", ""),
        path=folder,
    )


def _count_items(folder: Path) -> int:
    """The number of items in ``items.tsv``, or of lines in ``items.jsonl``."""
    table = folder / "items.tsv"
    if not table.exists():
        lines = (folder / "items.jsonl").read_text(encoding="utf-8").split("\n")
        return sum(bool(line.strip()) for line in lines)
    header, *lines = table.read_text(encoding="utf-8").split("\n")
    column = header.split("\t").index("item")
    return len({line.split("\t")[column] for line in lines if line.strip()})


_LONGEST_EXAMPLE = 160
_EXAMPLE_COLUMNS = ("text", "good", "sentence")


def example_of(folder: Path) -> str:
    """The first sentence of a suite that comes with cimento, without marks; a story in part.

    Args:
        folder: the folder of a built-in suite, or of a suite made by `new_suite`.
    """
    table = folder / "items.tsv"
    if table.exists():
        header, first, *_ = table.read_text(encoding="utf-8").split("\n")
        row = dict(zip(header.split("\t"), first.split("\t"), strict=False))
        text = next((row[name] for name in _EXAMPLE_COLUMNS if row.get(name)), "")
        text = text.replace(" | ", " ").replace("|", "").translate({ord(mark): "" for mark in "{}"})
        text = " ".join(text.split())
    else:
        line = (folder / "items.jsonl").read_text(encoding="utf-8").partition("\n")[0]
        text = " ".join(json.loads(line)["sentences"])
    return text if len(text) <= _LONGEST_EXAMPLE else f"{text[:_LONGEST_EXAMPLE].rstrip()} ..."


_TEMPLATES = Path(__file__).parents[1] / "data" / "templates"
WORKBOOK = ".xlsx"
"""The suffix of a suite in the form of a single workbook."""
_NAME_LINE = 'name = "my-suite"\n'


_LANGUAGE_LINE = re.compile(r'^language = "(\w+)"', re.MULTILINE)
TEMPLATE_LANGUAGES = ("en", "it", "es", "pt", "ru")
"""Languages of the examples in every template, given by the first column or key of a table."""


def new_suite(kind: str, path: Path, *, language: str = "", canary: str = "") -> list[Path]:
    """Write a template of a suite, named after its folder or workbook.

    Args:
        kind: name of a template, for match and mismatch, two factors, good and bad, any conditions,
            blanks in written-out items or made with seeds, rated sentences, or stories.
        path: folder to write, which must be empty or not exist; with the suffix ``.xlsx``, a single
            workbook.
        language: language of the examples, one of `TEMPLATE_LANGUAGES`; empty for the template's
            default.
        canary: string by which the suite can be recognized in training data; see
            `cimento.suites.model`.

    Returns:
        The files written.

    Raises:
        UsageError: there is no such kind, or it has no examples in the language.
        StorageError: the path is not empty, or cannot be written.
    """
    from cimento.suites.suite_workbook import fold

    need_known(kind, template_kinds(), where=f"kind {kind!r}", seen="there is no such template")
    toml = (_TEMPLATES / kind / "suite.toml").read_text(encoding="utf-8")
    [usual] = _LANGUAGE_LINE.findall(toml)
    language = language or usual
    where, seen = f"--language {language}", "there are no examples in it"
    need_known(language, TEMPLATE_LANGUAGES, where=where, seen=seen)
    toml = _LANGUAGE_LINE.sub(f'language = "{language}"', toml)
    files = {"suite.toml": toml.replace(_NAME_LINE, _name_lines(path, canary)).encode()}
    for source in sorted((_TEMPLATES / kind).iterdir()):
        if source.name not in files:
            text = source.read_text(encoding="utf-8")
            records = source.suffix == ".jsonl"
            files[source.name] = (_records_in if records else _rows_in)(language, text).encode()

    def save(folder: Path) -> None:
        for name, data in files.items():
            write_bytes(data, folder / name)

    if path.suffix.lower() != WORKBOOK:
        folder_atomically(path, save)
        return [path / name for name in files]
    refuse_existing(path)
    with TemporaryDirectory(prefix="cimento-") as name:
        save(Path(name))
        return [fold(Path(name), path)]


def _rows_in(language: str, text: str) -> str:
    """The header and the rows of a language, without the column of languages."""
    rows = (line.partition("\t") for line in text.splitlines(keepends=True))
    return "".join(rest for name, _, rest in rows if name in ("language", language))


def _records_in(language: str, text: str) -> str:
    """The JSON lines of a language, without the key of the language, which comes first."""
    start = f'{{"language": "{language}", '
    lines = text.splitlines(keepends=True)
    return "".join("{" + line.removeprefix(start) for line in lines if line.startswith(start))


def template_kinds() -> tuple[str, ...]:
    """The kinds of suites that `new_suite` writes."""
    return tuple(sorted(path.name for path in _TEMPLATES.iterdir()))


def _name_lines(path: Path, canary: str) -> str:
    """The lines of suite.toml with the suite's name and canary, quoted for TOML."""
    import tomli_w

    place = path.resolve()
    name = {"name": (place.stem if path.suffix.lower() == WORKBOOK else place.name) or "my-suite"}
    return tomli_w.dumps(name | ({"canary": canary} if canary else {}))
