"""DELAF and UniMorph files as dictionaries."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from cimento.errors import InputError
from cimento.morphology.delaf_tags import from_delaf
from cimento.morphology.entries import Entry, LineFault, ParseLine, parse_delaf, parse_unimorph
from cimento.morphology.index import Index, build
from cimento.morphology.model import Features, Reading, chosen, format_features
from cimento.morphology.unimorph_tags import from_unimorph

FileFormat = Literal["delaf", "unimorph"]
_SHOWN = 3
_PARSERS: dict[FileFormat, ParseLine] = {"delaf": parse_delaf, "unimorph": parse_unimorph}


class FileMorphology:
    """A dictionary file behind its index.

    Args:
        index: the open index.
        format: of the file, which says how its tags are read.
        language: ISO 639-1 code; UniMorph's past tenses are read by it.
        name: for messages and manifests.
    """

    def __init__(self, index: Index, *, format: FileFormat, language: str, name: str) -> None:  # noqa: A002  # the field's word
        self._index = index
        self._format = format
        self._language = language
        self._name = name

    @property
    def name(self) -> str:
        """Format and file name."""
        return self._name

    @property
    def faults(self) -> tuple[LineFault, ...]:
        """Lines of the file that could not be read: the first hundred."""
        return self._index.faults

    @property
    def faulty_lines(self) -> int:
        """How many lines could not be read."""
        return int(self._index.facts["faulty_lines"])

    @property
    def faults_text(self) -> str:
        """Which lines could not be read, as one sentence; empty where all could."""
        count = self.faulty_lines
        more = [f"{count - _SHOWN} more"] if count > _SHOWN else []
        shown = "; ".join([*map(str, self.faults[:_SHOWN]), *more])
        told = f"{self.name}: lines that cannot be read, left out ({count}): {shown}"
        return told if count else ""

    @property
    def entries(self) -> int:
        """How many lines could."""
        return int(self._index.facts["entries"])

    def analyse(self, form: str) -> tuple[Reading, ...]:
        """All readings of a form; see `Morphology`."""
        return chosen(self._readings(self._index.find("form", form)), None)

    def inflect(
        self, lemma: str, features: Features | None = None, *, pos: str = ""
    ) -> tuple[Reading, ...]:
        """All forms of a lemma with these features; see `Morphology`."""
        return chosen(self._readings(self._index.find("lemma", lemma)), features, pos=pos)

    def close(self) -> None:
        """Close the index."""
        self._index.close()

    def _readings(self, entries: list[Entry]) -> Iterator[Reading]:
        for entry in entries:
            if self._format == "unimorph":
                for pos, features in from_unimorph(entry.tags, language=self._language):
                    yield _reading(entry, pos, features, entry.tags)
                continue
            for tag in split_tags(entry.tags):
                yield _reading(entry, *from_delaf(tag), tag)


def open_dictionary(
    path: Path,
    *,
    format: FileFormat,  # noqa: A002  # the field's word
    language: str = "",
    index_folder: Path | None = None,
) -> FileMorphology:
    """Open a dictionary file; its index is made first where there is none, or the file changed.

    Args:
        path: the dictionary.
        format: ``delaf`` or ``unimorph``.
        language: ISO 639-1 code; UniMorph's past tenses are read by it.
        index_folder: where the index is; None for the folder of the dictionary.

    Raises:
        InputError: the file cannot be read, or no line of it can.
        StorageError: the index cannot be written.
    """
    facts = _facts(path, format)
    folder = index_folder if index_folder is not None else path.parent
    place = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    indexed = folder / f"{path.name}.{place}.index"
    index = _up_to_date(indexed, facts)
    if index is None:
        build(path, indexed, parse=_PARSERS[format], facts=facts)
        index = Index(indexed)
    return FileMorphology(index, format=format, language=language, name=f"{format}:{path.name}")


def split_tags(tags: str) -> list[str]:
    """The tags of a DELAF line, each with one code: ``A:ms:fs`` is ``A:ms`` and ``A:fs``."""
    category, *codes = tags.split(":")
    return [f"{category}:{code}" for code in codes] or [category]


def _up_to_date(indexed: Path, facts: dict[str, str]) -> Index | None:
    """The index, where there is one of the dictionary as it is now."""
    if not indexed.is_file():
        return None
    try:
        index = Index(indexed)
    except InputError:
        return None
    if facts.items() <= index.facts.items():
        return index
    index.close()
    return None


def _facts(path: Path, format: FileFormat) -> dict[str, str]:  # noqa: A002
    """What tells a changed file from the one that was indexed."""
    try:
        known = path.stat()
    except OSError as error:
        raise InputError(
            where=str(path),
            seen=f"cannot be read ({error.strerror or error})",
            todo="Check the path.",
        ) from error
    if path.is_dir():
        raise InputError(
            where=str(path), seen="is a folder where a file is needed", todo="Name a file in it."
        )
    return {"format": format, "bytes": str(known.st_size), "changed_ns": str(known.st_mtime_ns)}


def _reading(entry: Entry, pos: str, features: Features, tag: str) -> Reading:
    return Reading(entry.form, entry.lemma, pos, format_features(features), tag)
