"""Suites by name or path: the built-in suites, templates of new ones, and where a suite is.

Listing them needs nothing but the standard library.
"""

from __future__ import annotations

import functools
import json
import os
import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory

from cimento.errors import SHORTEST_PART, InputError, UsageError, did_you_mean, need_known
from cimento.io.files import (
    default_cache_folder,
    expanded,
    folder_atomically,
    refuse_existing,
    write_bytes,
)
from cimento.io.parsing import parse_toml
from cimento.suites import Meta
from cimento.suites.kinds import paradigm_named
from cimento.suites.languages import language_code
from cimento.suites.published import (
    PublishedDataset,
    find_published,
    is_address,
    is_published,
    part_in_language,
    published,
)

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
        kind: kind of test, such as ``regions``.
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


def is_builtin(name: str) -> bool:
    """Whether a built-in suite has this name."""
    return (
        re.fullmatch(r"[\w-]{1,100}", name) is not None
        and (_FOLDER / name / "suite.toml").is_file()
    )


def comes_with_cimento(meta: Meta) -> bool:
    """Whether metadata are those of a built-in suite, not of another one of its name."""
    if not is_builtin(meta.name):
        return False
    toml = (_FOLDER / meta.name / "suite.toml").read_text(encoding="utf-8")
    fields = tomllib.loads(toml)["meta"]
    return all(fields.get(one, "") == getattr(meta, one) for one in ("version", "status"))


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


def _badly_written(name: str) -> str:
    """Advice on a name that is several, a pattern or a path of another system; empty for none."""
    parts = re.split(r"\s*,\s*|\s+", name.strip())
    if len(parts) > 1 and all(is_builtin(part) or Path(part).exists() for part in parts):
        return f"Give them one by one: {' '.join(parts)}."
    if set(name) & set("*?"):
        return "No file or folder matches the pattern."
    if "\\" in name and os.sep == "/":
        there = name.replace("\\", "/")
        return f"Folders are separated by / on this system: {there}."
    return ""


def find_suite(name_or_path: str | Path) -> Path:
    """The path of a suite: a built-in one by its name, any other by its path.

    A built-in name means the built-in suite in every working directory; write ``./name`` for a file
    or folder of the same name. A dataset given by its address (``hf:ORG/NAME@COMMIT``; see
    `cimento.suites.published`) is fetched once into the folder of the cache.

    Raises:
        InputError: there is no built-in suite and no path of this name, or an address cannot be
            reached.
        UsageError: an address does not pin what is behind it.
        StorageError: what was fetched has been changed since, or cannot be stored.
    """
    if isinstance(name_or_path, str) and is_builtin(name_or_path):
        return _FOLDER / name_or_path
    if isinstance(name_or_path, str) and is_address(name_or_path):
        return _fetched(find_published(name_or_path))
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
    raise InputError(
        where=name,
        seen="there is no built-in suite and no file or folder of this name",
        todo=_advice_on(name, path),
    )


def _advice_on(name: str, path: Path) -> str:
    """What to do about a name of no suite: fetch what it may mean, or write it otherwise."""
    from cimento.suites.published_results import blimp_datasets

    dataset = name.lower().removeprefix("blimp_")
    if is_published(name):
        todo = f"It is a published dataset: `cimento suites get {name}` fetches it."
    elif part := part_in_language(name):
        plain, language = part
        todo = (
            f"{plain} is a published dataset: `cimento suites get {plain} --language {language}`"
            f" fetches it in this language; `cimento run --language {language_code(language)}"
            f" --sets {plain} --compat lm-eval` also runs it, with the numbers of lm-eval."
        )
    elif dataset in blimp_datasets():
        todo = (
            "It is a dataset of BLiMP: `cimento suites get blimp` fetches BLiMP; then give"
            f" DIRECTORY/{dataset}.jsonl."
        )
    elif advice := _badly_written(name):
        todo = advice
    elif path.suffix or len(path.parts) > 1:
        todo = _nearby(path)
    else:
        near = did_you_mean(name, [*builtin_names(), *published()], listed=())
        todo = f"{near} " if near else ""
        todo += (
            "The command `cimento suites list` lists the suites that come with cimento, and"
            " `cimento suites list --remote` published ones."
        )
    return todo


def _fetched(dataset: PublishedDataset) -> Path:
    """The files of a dataset given by its address, fetched unless they are there."""
    from cimento.suites.fetching import fetch

    return fetch(dataset, default_cache_folder() / "suites" / dataset.folder)


_MOST_NEARBY = 3
"""Most names, without their suffix, that a path which leads nowhere is compared with in full."""


def _nearby(path: Path) -> str:
    """What to give instead of a path that leads nowhere."""
    if not path.parent.is_dir():
        return f"There is no folder {path.parent} either."
    # A common suffix would make unlike names close: nosuch.xlsx and ru.xlsx.
    stems: dict[str, list[str]] = {}
    for entry in path.parent.iterdir():
        if not entry.name.startswith("."):
            stems.setdefault(entry.stem, []).append(entry.name)
    close = get_close_matches(path.stem, stems, n=_MOST_NEARBY)
    if len(path.stem) >= SHORTEST_PART:
        close += [stem for stem in stems if path.stem.casefold() in stem.casefold()]
    names = [name for stem in close for name in stems[stem]]
    nothing = f"Nothing in {path.parent.resolve()} has a name like it."
    return did_you_mean(path.name, names, listed=()) or nothing


READINGS = "readings.tsv"
"""The file beside a suite with what its readers said of each item, without seeing the key."""


def readers_of(folder: Path) -> dict[str, set[tuple[str, bool]]]:
    """Who read each item of a folder, and whether they are native speakers; empty if nobody did."""
    review = folder / READINGS
    readers: dict[str, set[tuple[str, bool]]] = {}
    for row in _rows(review) if review.is_file() else ():
        reader, native, item, *_ = row.values()
        readers.setdefault(item, set()).add((reader, native == "yes"))
    return readers


@functools.cache
def language_models() -> frozenset[str]:
    """The names of the readers that are language models and not people (``data/readers.tsv``)."""
    rows = _rows(Path(__file__).parents[1] / "data" / "readers.tsv")
    return frozenset(row["reader"] for row in rows if row["who"] == "language model")


def _status(folder: Path, stated: str, items: int) -> str:
    """The state of review: who read each item, and how much if not all; else as stated."""
    readers = readers_of(folder)
    if not readers:
        return stated
    several = [
        (
            sum(name not in language_models() for name, _ in names),
            sum(native for _, native in names),
            sum(name in language_models() for name, _ in names),
        )
        for names in readers.values()
    ]
    people, natives, models = map(min, zip(*several, strict=True))
    said = [f"{models} language model{'s' * (models > 1)}"] if models else []
    if people:
        said.insert(0, f"{'1 person' if people == 1 else f'{people} people'} ({natives} native)")
    status = f"read by {' and '.join(said) or 'various readers'}"
    if not people:
        status += ", by no native speaker"
    return status if len(readers) >= items else f"{status}, {len(readers)} of {items} items"


def _describe(folder: Path) -> BuiltinSuite:
    meta = tomllib.loads((folder / "suite.toml").read_text(encoding="utf-8"))["meta"]
    items = _count_items(folder)
    return BuiltinSuite(
        name=folder.name,
        kind=paradigm_named(kind_of(folder)),
        language=meta.get("language", ""),
        phenomenon=meta.get("phenomenon", ""),
        items=items,
        status=_status(folder, meta.get("status", ""), items),
        path=folder,
    )


def _count_items(folder: Path) -> int:
    """The number of items in ``items.tsv``, or of lines in ``items.jsonl``."""
    table = folder / "items.tsv"
    if not table.exists():
        lines = (folder / "items.jsonl").read_text(encoding="utf-8").split("\n")
        return sum(bool(line.strip()) for line in lines)
    return len({row["item"] for row in _rows(table)})


def _rows(table: Path) -> list[dict[str, str]]:
    """The rows of a table that comes with cimento, by the names of its columns."""
    header, *lines = table.read_text(encoding="utf-8").split("\n")
    names, filled = header.split("\t"), filter(str.strip, lines)
    return [dict(zip(names, line.split("\t"), strict=False)) for line in filled]


_LONGEST_EXAMPLE = 160
_EXAMPLE_COLUMNS = ("text", "good", "sentence")


def example_of(folder: Path) -> str:
    """The first sentence of a suite that comes with cimento, without marks; a story in part.

    Args:
        folder: the folder of a built-in suite, or of a suite made by `new_suite`.
    """
    table = folder / "items.tsv"
    if table.exists():
        row = _rows(table)[0]
        seeds = folder / "seeds.tsv"
        text = next((row[name] for name in _EXAMPLE_COLUMNS if row.get(name)), "")
        text = text.replace(" | ", " ").replace("|", "").translate({ord(mark): "" for mark in "{}"})
        text = " ".join(text.split())
        if _SEED in text and seeds.exists():
            text = text.replace(_SEED, _rows(seeds)[0].get("form", _SEED))
    else:
        line = (folder / "items.jsonl").read_text(encoding="utf-8").partition("\n")[0]
        text = " ".join(json.loads(line)["sentences"])
    return text if len(text) <= _LONGEST_EXAMPLE else f"{text[:_LONGEST_EXAMPLE].rstrip()} ..."


_SEED = "<SEED>"


_TEMPLATES = Path(__file__).parents[1] / "data" / "templates"
WORKBOOK = ".xlsx"
"""The suffix of a suite in the form of a single workbook."""
_NAME_LINE = 'name = "my-suite"\n'


_LANGUAGE_LINE = re.compile(r'^language = "(\w+)"', re.MULTILINE)
TEMPLATE_LANGUAGES = ("en", "it", "es", "pt", "ru")
"""Languages of the examples in every template, given by the first column or key of a table.

The first is that of every template where none is asked for.
"""


def new_suite(
    kind: str, path: Path, *, language: str = "", canary: str = "", words: str = "en"
) -> list[Path]:
    """Write a template of a suite, named after its folder or workbook.

    Args:
        kind: name of a template, for match and mismatch, two factors, good and bad, any conditions,
            blanks in written-out items or made with seeds, rated sentences, or stories.
        path: folder to write, which must be empty or not exist; with the suffix ``.xlsx``, a single
            workbook.
        language: language of the examples, one of `TEMPLATE_LANGUAGES`; empty for the first.
        canary: string by which the suite can be recognized in training data; see
            `cimento.suites`.
        words: language of what is said of the examples, and of the names of sheets, settings and
            columns of a workbook.

    Returns:
        The files written.

    Raises:
        UsageError: there is no such kind, or it has no examples in the language.
        StorageError: the path is not empty, or cannot be written.
    """
    from cimento.suites.suite_workbook import fold
    from cimento.suites.workbook_words import of_examples

    need_known(kind, template_kinds(), where=f"kind {kind!r}", seen="there is no such template")
    toml = (_TEMPLATES / kind / "suite.toml").read_text(encoding="utf-8")
    language = language or TEMPLATE_LANGUAGES[0]
    where, seen = f"--language={language}", "there are no examples in it"
    need_known(language, TEMPLATE_LANGUAGES, where=where, seen=seen)
    toml = of_examples(_LANGUAGE_LINE.sub(f'language = "{language}"', toml), words)
    files = {"suite.toml": toml.replace(_NAME_LINE, _name_lines(path, canary)).encode()}
    for source in sorted((_TEMPLATES / kind).iterdir()):
        if source.name not in files:
            files[source.name] = _examples_in(source, language, words).encode()

    def save(folder: Path) -> None:
        for name, data in files.items():
            write_bytes(data, folder / name)

    if path.suffix.lower() != WORKBOOK:
        folder_atomically(path, save)
        return [path / name for name in files]
    refuse_existing(path)
    with TemporaryDirectory(prefix="cimento-") as name:
        save(Path(name))
        return [fold(Path(name), path, language=words)]


def _examples_in(source: Path, language: str, words: str) -> str:
    """The examples of a template in a language, with names of conditions in that of the words."""
    from cimento.suites.workbook_words import rows_of_examples

    text = source.read_text(encoding="utf-8")
    if source.suffix == ".jsonl":
        return _records_in(language, text)
    return rows_of_examples(_rows_in(language, text), words)


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
