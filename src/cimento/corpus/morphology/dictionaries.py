"""Dictionaries by name: DELAF and UniMorph files, treebanks, rules of a language, pymorphy3.

Russian is analyzed by pymorphy3 (Korobov 2015, "Morphological analyzer and generator for Russian
and Ukrainian languages", doi:10.1007/978-3-319-26123-2_31). All of its readings are kept, in its
order of estimated probability.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from cimento.corpus.morphology import (
    Features,
    Morphology,
    WordReading,
    chosen,
    format_features,
    from_delaf,
    from_opencorpora,
    from_unimorph,
)
from cimento.corpus.morphology.index import (
    DictionaryEntry,
    DictionaryIndex,
    LineFault,
    ParseLine,
    build_index,
    parse_delaf,
    parse_unimorph,
)
from cimento.corpus.morphology.rules import Rules
from cimento.errors import InputError, UsageError, did_you_mean, needing
from cimento.io.files import default_cache_folder, expanded, reading
from cimento.suites.letters import one_spelling


class _Tag(Protocol):
    @property
    def grammemes(self) -> frozenset[str]: ...


class _Parse(Protocol):
    """The used attributes of a reading from pymorphy3."""

    word: str
    normal_form: str
    tag: _Tag
    is_known: bool

    @property
    def lexeme(self) -> Iterable[_Parse]: ...


class Russian:
    """The dictionary of pymorphy3 as a `Morphology`.

    Raises:
        MissingDependencyError: pymorphy3 is not installed.
    """

    name = "pymorphy3"

    def __init__(self) -> None:
        with needing("pymorphy3", extra="morphology", purpose="Russian morphology"):
            import pymorphy3
        self._analyzer = pymorphy3.MorphAnalyzer(lang="ru")

    def analyze(self, form: str) -> tuple[WordReading, ...]:
        """All readings of a form; see `Morphology`. Those of unknown words are guesses."""
        readings = map(_pymorphy_reading, self._analyzer.parse(one_spelling(form)))
        return chosen(readings, None)

    def inflect(
        self, lemma: str, features: Features | None = None, *, pos: str = ""
    ) -> tuple[WordReading, ...]:
        """All forms of a lemma with these features; see `Morphology`."""
        # ё may be written е; pymorphy3 finds such words too, under their spelling with ё.
        spelled = one_spelling(lemma)
        wanted = spelled.lower().replace("ё", "е")
        forms = [
            _pymorphy_reading(form)
            for parse in self._analyzer.parse(spelled)
            if parse.normal_form.replace("ё", "е") == wanted
            for form in parse.lexeme
        ]
        return chosen(forms, features, pos=pos)


def _pymorphy_reading(parse: _Parse) -> WordReading:
    pos, features = from_opencorpora(frozenset(parse.tag.grammemes))
    return WordReading(
        form=parse.word,
        lemma=parse.normal_form,
        pos=pos,
        feats=format_features(features),
        tag=str(parse.tag),
        guessed=not parse.is_known,
    )


FileFormat = Literal["delaf", "unimorph"]
_SHOWN_FAULTS = 3
_PARSERS: dict[FileFormat, ParseLine] = {"delaf": parse_delaf, "unimorph": parse_unimorph}


@dataclass(frozen=True, kw_only=True)
class FileMorphology:
    """A dictionary file with its index, as a `Morphology`.

    Attributes:
        index: the open index.
        format: format of the file, which determines the reading of tags.
        language: ISO 639-1 code, on which the reading of UniMorph's past tenses depends.
        name: format and name of the file, for messages and manifests.
    """

    index: DictionaryIndex
    format: FileFormat
    language: str
    name: str

    @property
    def faults(self) -> tuple[LineFault, ...]:
        """The first hundred lines of the file that could not be read."""
        return self.index.faults

    @property
    def faulty_lines(self) -> int:
        """The number of lines that could not be read."""
        return int(self.index.facts["faulty_lines"])

    @property
    def faults_text(self) -> str:
        """The lines that could not be read, as one sentence; empty without any."""
        count = self.faulty_lines
        more = [f"{count - _SHOWN_FAULTS} more"] if count > _SHOWN_FAULTS else []
        shown = "; ".join([*map(str, self.faults[:_SHOWN_FAULTS]), *more])
        text = f"{self.name}: lines that cannot be read, left out ({count}): {shown}"
        return text if count else ""

    def analyze(self, form: str) -> tuple[WordReading, ...]:
        """All readings of a form; see `Morphology`."""
        return chosen(self._readings(self.index.find("form", form)), None)

    def inflect(
        self, lemma: str, features: Features | None = None, *, pos: str = ""
    ) -> tuple[WordReading, ...]:
        """All forms of a lemma with these features; see `Morphology`."""
        return chosen(self._readings(self.index.find("lemma", lemma)), features, pos=pos)

    def close(self) -> None:
        """Close the index."""
        self.index.close()

    def _readings(self, entries: list[DictionaryEntry]) -> Iterator[WordReading]:
        for entry in entries:
            if self.format == "unimorph":
                for pos, features in from_unimorph(entry.tags, language=self.language):
                    yield _reading(entry, pos, features, entry.tags)
                continue
            for tag in split_tags(entry.tags):
                yield _reading(entry, *from_delaf(tag), tag)


def open_dictionary_file(
    path: Path,
    *,
    format: FileFormat,  # noqa: A002  # the field's word
    language: str = "",
    index_folder: Path | None = None,
) -> FileMorphology:
    """Open a dictionary file; its index is made first if it is missing or the file has changed.

    Args:
        path: the dictionary.
        format: ``delaf`` or ``unimorph``.
        language: ISO 639-1 code, on which the reading of UniMorph's past tenses depends.
        index_folder: folder of the index; None for the folder of the dictionary.

    Raises:
        InputError: the file cannot be read, or none of its lines can.
        StorageError: the index cannot be written.
    """
    facts = _facts(path, format)
    folder = index_folder if index_folder is not None else path.parent
    place = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    indexed = folder / f"{path.name}.{place}.index"
    index = _up_to_date(indexed, facts)
    if index is None:
        build_index(path, indexed, parse=_PARSERS[format], facts=facts)
        index = DictionaryIndex(indexed)
    name = f"{format}:{path.name}"
    return FileMorphology(index=index, format=format, language=language, name=name)


def split_tags(tags: str) -> list[str]:
    """The tags of a DELAF line, each with one code: ``A:ms:fs`` is ``A:ms`` and ``A:fs``."""
    category, *codes = tags.split(":")
    return [f"{category}:{code}" for code in codes] or [category]


def _up_to_date(indexed: Path, facts: dict[str, str]) -> DictionaryIndex | None:
    """The index, if there is one of the dictionary's current content; else None."""
    if not indexed.is_file():
        return None
    try:
        index = DictionaryIndex(indexed)
    except InputError:
        return None
    if facts.items() <= index.facts.items():
        return index
    index.close()
    return None


def _facts(path: Path, format: FileFormat) -> dict[str, str]:  # noqa: A002
    """The facts by which a changed file differs from the one that was indexed."""
    with reading(path):
        known = path.stat()
    if path.is_dir():
        raise InputError(
            where=str(path), seen="is a folder where a file is needed", todo="Name a file in it."
        )
    return {"format": format, "bytes": str(known.st_size), "changed_ns": str(known.st_mtime_ns)}


def _reading(entry: DictionaryEntry, pos: str, features: Features, tag: str) -> WordReading:
    return WordReading(entry.form, entry.lemma, pos, format_features(features), tag)


KNOWN = ("delaf", "unimorph", "treebank", "rules", "pymorphy3")
_WRITTEN = "Write delaf:FILE, unimorph:FILE, treebank:FILE, rules:pt or pymorphy3."


def open_morphology(
    name: str,
    *,
    language: str = "",
    index_folder: str | Path | None = None,
    lemmas: Mapping[str, Collection[str]] | None = None,
) -> Morphology:
    """Open a dictionary of word forms, or rules in place of one.

    Args:
        name: ``delaf:FILE``, ``unimorph:FILE``, ``treebank:FILE``, ``rules:pt`` or ``pymorphy3``.
        language: ISO 639-1 code, for UniMorph files and for ``rules`` without one.
        index_folder: folder of the indices of files; None for the folder of the file.
        lemmas: for ``rules``, the existing lemmas by part of speech; None for any.

    Returns:
        The dictionary, which analyzes forms and inflects lemmas.

    Raises:
        CimentoError: there is no such dictionary, or it cannot be used.

    Example:
        >>> plural = open_morphology("rules:it").inflect("gatto", {"Number": "Plur"}, pos="NOUN")
        >>> [reading.form for reading in plural]
        ['gatti']
    """
    kind, _, rest = name.partition(":")
    if lemmas is not None and kind != "rules":
        raise UsageError(
            where=f"dictionary {name!r}",
            seen="lemmas are given, and only rules take some",
            todo="Leave them out, or open rules:LANGUAGE.",
        )
    if kind == "rules" and (rest or language):
        return Rules(rest or language, lemmas=lemmas)
    if kind == "pymorphy3" and not rest:
        return Russian()
    if kind == "treebank" and rest:
        return _forms_of(expanded(rest))
    if kind in ("delaf", "unimorph") and rest:
        return open_dictionary_file(
            expanded(rest),
            format="delaf" if kind == "delaf" else "unimorph",
            language=language,
            index_folder=None if index_folder is None else Path(index_folder),
        )
    todo = f"{did_you_mean(kind, KNOWN)} {_WRITTEN}"
    raise UsageError(where="dictionary", seen=f"got {name!r}", todo=todo)


def _forms_of(path: Path) -> Morphology:
    """The forms in a treebank, or in a folder of them."""
    # They are read for queries too, which themselves need dictionaries.
    from cimento.corpus.forms import TreebankMorphology
    from cimento.corpus.queries import TreebankIndex
    from cimento.corpus.treebanks import open_treebanks

    return TreebankMorphology(TreebankIndex(open_treebanks([path])), name=f"treebank:{path.name}")


@functools.lru_cache(maxsize=4)
def dictionary_for(name: str, language: str) -> Morphology:
    """A dictionary, its index in the cache folder; opened once for all methods and runs.

    Args:
        name: as `open_morphology` takes it.
        language: ISO 639-1 code of what it is for.

    Raises:
        CimentoError: there is no such dictionary, or it cannot be used.
    """
    folder = default_cache_folder() / "dictionaries"
    return open_morphology(name, language=language, index_folder=folder)


def faults_of(dictionary: Morphology | None) -> tuple[str, ...]:
    """The faults of a dictionary that is a file, in one sentence; none for other dictionaries."""
    text = dictionary.faults_text if isinstance(dictionary, FileMorphology) else ""
    return (text,) if text else ()
