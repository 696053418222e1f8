"""The suites and paradigms there are: by name, by path, or as Python objects, and checked."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias, TypeGuard, cast

from cimento.errors import InputError, SuiteError, UsageError, did_you_mean
from cimento.faults import changed
from cimento.faults import errors as errors_among
from cimento.intake.decoding import reading_language
from cimento.intake.read_once import reading_once
from cimento.intake.roles import parse_choice, refuse_unknown
from cimento.io.files import file_digest, folder_atomically, refuse_existing
from cimento.io.plugins import PluginGroup, blaming, find_plugin, plugin_names, why_skipped
from cimento.kinds.base import ParadigmOptions, SuiteAudit, SuiteReading, TestSuite
from cimento.kinds.languages import in_language
from cimento.kinds.paradigm import AnyParadigm, Paradigm, with_form
from cimento.suites import JsonValue, Suite
from cimento.suites.builtin import DEFAULT_KIND, WORKBOOK, find_suite, kind_of, name_or_path
from cimento.suites.digest import content_digest, digest_of_values
from cimento.suites.formats import SUITE_SUFFIXES
from cimento.suites.load import (
    StimulusCount,
    in_terms_of,
    opened,
    refuse_faulty,
    suite_paths,
    unfolded,
)
from cimento.suites.suite_workbook import fold
from cimento.suites.workbook_words import ENGLISH

PARADIGMS: Mapping[str, str] = {
    "regions": "cimento.paradigms.regions:REGIONS",
    "ratings": "cimento.paradigms.ratings:RATINGS",
    "cloze": "cimento.paradigms.cloze:CLOZE",
    "stories": "cimento.paradigms.stories:STORIES",
    "prompted": "cimento.paradigms.prompted:PROMPTED",
}
"""The paradigms' names and places, as ``module:object``; they are imported when needed."""

_DETECTORS: Mapping[str, str] = {
    "ratings": "cimento.paradigms.ratings.reading:is_ratings",
    "cloze": "cimento.paradigms.cloze.detecting:is_cloze",
    "stories": "cimento.suites.formats.stories:is_stories",
}
"""What these paradigms detect files by, so that none is loaded for the files of others."""

_GROUP: PluginGroup = "cimento.paradigms"

DEFAULT = DEFAULT_KIND
"""The paradigm of suites that do not state theirs."""


def _named(place: str) -> Any:  # noqa: ANN401  # anything has a place
    """What is at a place, ``module:object``."""
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)


@functools.cache
def find_paradigm(name: str) -> AnyParadigm:
    """The paradigm with a name.

    Raises:
        UsageError: no paradigm has this name.
    """
    if name in PARADIGMS:
        return cast("AnyParadigm", _named(PARADIGMS[name]))
    plugged = _find_plugged(name)
    if plugged is None:
        raise UsageError(
            where=f"paradigm {name!r}",
            seen=why_skipped(_GROUP, name) or "there is none of that name",
            todo=did_you_mean(name, [*PARADIGMS, *(one.name for one in plugged_paradigms())]),
        )
    return plugged


def own_paradigms() -> list[AnyParadigm]:
    """The paradigms that come with cimento."""
    return list(map(find_paradigm, PARADIGMS))


def plugged_paradigms() -> list[AnyParadigm]:
    """The paradigms of other packages; unusable ones are skipped with a warning."""
    names = sorted(plugin_names(_GROUP) - PARADIGMS.keys())
    return [paradigm for name in names if (paradigm := _find_plugged(name)) is not None]


@functools.cache
def has_regions(kind: str | None) -> bool:
    """Whether bars cut the sentences of a kind of suites into regions; a suite may state none."""
    paradigms = [*own_paradigms(), *plugged_paradigms()]
    return any(
        (kind or DEFAULT) in paradigm.kinds for paradigm in paradigms if paradigm.reader.has_regions
    )


def _find_plugged(name: str) -> AnyParadigm | None:
    found = find_plugin(_GROUP, name, expected="a paradigm", is_right=_is_paradigm)
    return None if found is None else _blaming(found, name)


# Those who group runs by their paradigm expect the same object for the same plug-in.
@functools.cache
def _blaming(paradigm: AnyParadigm, name: str) -> AnyParadigm:
    """A plugged-in paradigm whose parts name the plug-in if they fail."""
    parts = {
        part: blaming(getattr(paradigm, part), _GROUP, name)
        for part in ("asker", "judge", "presenter", "surveyor")
        if getattr(paradigm, part) is not None
    }
    # A full disk is not a fault of the plug-in.
    reader = blaming(paradigm.reader, _GROUP, name, but={"write": OSError})
    return replace(paradigm, reader=reader, **parts)


def paradigm_of(path: Path) -> AnyParadigm:
    """The paradigm of a suite: as stated in its suite.toml, or else recognized from the file.

    Args:
        path: suite folder, or file in a format of any kind.

    Raises:
        InputError: no paradigm knows the kind of the suite.
    """
    kind = kind_of(path)
    if kind != DEFAULT:
        return _of_kind(kind, path)
    detected = None
    if not (path.is_dir() and (path / "suite.toml").is_file()):
        named = next((name for name, place in _DETECTORS.items() if _named(place)(path)), None)
        detected = named and find_paradigm(named)
        # Other packages are looked for only if none of cimento's own paradigms fits.
        if detected is None and not (path.is_dir() or path.suffix.lower() in SUITE_SUFFIXES):
            detected = _detecting(plugged_paradigms(), path)
    return detected or find_paradigm(DEFAULT)


def _detecting(paradigms: Iterable[AnyParadigm], path: Path) -> AnyParadigm | None:
    """The first paradigm that recognizes a suite of its own at a path that states no kind."""
    others = (paradigm for paradigm in paradigms if paradigm.name != DEFAULT)
    return next((paradigm for paradigm in others if paradigm.reader.detect(path)), None)


def _of_kind(kind: str, path: Path) -> AnyParadigm:
    """The paradigm of suites with a stated kind; plug-ins are asked last."""
    if kind in PARADIGMS and kind in (named := find_paradigm(kind)).kinds:
        return named
    kinds: dict[str, AnyParadigm] = {}
    for paradigms in (own_paradigms, plugged_paradigms):
        for paradigm in paradigms():
            kinds = {**dict.fromkeys(paradigm.kinds, paradigm), **kinds}
        if kind in kinds:
            return kinds[kind]
    skipped = why_skipped(_GROUP, kind)
    seen = f"kind is {kind!r}, and {skipped}" if skipped else f"kind is {kind!r}"
    raise InputError(where=str(path), seen=seen, todo=did_you_mean(kind, kinds))


def read_all(
    path: Path, language: str, columns: Mapping[str, str], *, without: str = ""
) -> list[LoadedSuite]:
    """The suites at a path, possibly a folder or an archive of several.

    Args:
        path: path of the suites.
        language: language of suites that do not state theirs, as for `in_language`.
        columns: the columns of a table by their roles, as for `load_suite`.
        without: the code of faults that do not count.

    Raises:
        CimentoError: there is none, or one has faults; the error contains the faults of all.
    """
    suites: list[LoadedSuite] = []
    faulty: list[SuiteError] = []
    count = StimulusCount(path)
    with opened(path) as folder:
        for place in suite_paths(folder):
            # People know the archive, not the temporary folder that it was unpacked into.
            shown = place if folder == path else path / place.relative_to(folder)
            with unfolded(place) as inner, reading_language(language, columns), reading_once():
                paradigm = paradigm_of(inner)
                reading = paradigm.reader.read(inner)
            faults = changed(reading.faults, partial(in_terms_of, shown))
            reading = replace(reading, path=shown, faults=faults, columns=columns)
            reading = with_form(paradigm, in_language(reading, language))
            try:
                suites.append(usable(paradigm, reading, without))
                count.add(suites[-1].sentences)
            except SuiteError as error:
                faulty.append(error)
    refuse_faulty(path, faulty)
    return suites


def parse_options(paradigm: AnyParadigm, given: Mapping[str, object]) -> ParadigmOptions:
    """The options of a paradigm, from values or from the texts of ``--set KEY=VALUE``.

    Args:
        paradigm: paradigm that declares the options.
        given: values of options by name.

    Raises:
        UsageError: the paradigm does not support an option, or not this value of it.
    """
    from pydantic import ValidationError

    from cimento.io.parsing import fault_in_words

    known = paradigm.options.model_fields
    for name in given:
        if name not in known:
            raise UsageError(
                where=f"option {name}",
                seen=f"suites of the kind {paradigm.name!r} have no such option",
                todo=did_you_mean(name, known),
            )
    try:
        options: ParadigmOptions = paradigm.options.model_validate(dict(given))
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"])) or "options"
        raise UsageError(
            where=f"option {where}",
            seen=f"got {fault.get('input')!r}",
            todo=fault_in_words(fault),
        ) from error
    return options


def _is_paradigm(value: object) -> TypeGuard[AnyParadigm]:
    return isinstance(value, Paradigm)


def sentence_suite(loaded: LoadedSuite) -> Suite:
    """A suite whose items are sentences in regions, as required by many commands on suites.

    Raises:
        InputError: its items are of another kind.
    """
    suite = loaded.sentences
    if suite is None:
        raise InputError(
            where=str(loaded.reading.path),
            seen=f"is a suite of the kind {loaded.paradigm.name!r}, and one of sentences in"
            " regions is needed here",
            todo="`cimento run`, `suites check` and `suites show` take suites of every kind.",
        )
    return suite


def audit_suite(
    path: Path, *, language: str = "", columns: Mapping[str, str] | None = None
) -> SuiteAudit:
    """The content and the faults of a suite of any kind.

    Args:
        path: path of the suite, as for `paradigm_of`.
        language: language of the suite, as for `in_language`.
        columns: the columns of a table by their roles, as for `load_suite`.

    Raises:
        InputError: the suite cannot be read, or no paradigm knows its kind.
    """
    paradigm = find_paradigm(DEFAULT)
    try:
        with unfolded(path) as folder:
            with reading_language(language, columns), reading_once():
                paradigm = paradigm_of(folder)
                reading = paradigm.reader.read(folder)
            reading = replace(reading, faults=in_terms_of(path, reading.faults))
            reading = with_form(paradigm, in_language(reading, language))
    except SuiteError as error:
        reading = SuiteReading(suite=None, faults=tuple(error.faults), sha256="", path=path)
    return paradigm.reader.audit(reading).with_table(reading.table)


_MADE = "python"  # the format of suites made in Python

SuiteLike: TypeAlias = "str | Path | TestSuite | LoadedSuite"
"""A built-in name, the path of a suite, or a suite made or loaded in Python."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSuite:
    """A suite that can be run, of any kind.

    Attributes:
        paradigm: paradigm of the suite.
        reading: result of reading the suite, without faults that make it unusable.
    """

    paradigm: AnyParadigm
    reading: SuiteReading[Any]

    def __repr__(self) -> str:
        return f"<LoadedSuite {self.suite.name!r} ({self.paradigm.name})>"

    @property
    def suite(self) -> TestSuite:
        """The suite itself.

        Raises:
            SuiteError: the source could not be read as a suite.
        """
        suite = self.reading.suite
        if suite is None:
            raise SuiteError(where=str(self.reading.path), faults=self.reading.faults)
        return cast("TestSuite", suite)

    @property
    def sentences(self) -> Suite | None:
        """The suite as one of sentences in regions; None if its items are of another kind."""
        sentences: Suite | None = self.paradigm.reader.sentences(self.suite)
        return sentences

    @property
    def is_made(self) -> bool:
        """Whether the suite was made in Python and has no file."""
        return self.reading.format == _MADE

    @property
    def content(self) -> str:
        """The digest of the whole suite's content; where it is unknown, that of the bytes read."""
        reading = self.reading
        return reading.content or content_digest(reading.suite) or reading.sha256


def load_suite(
    suite: SuiteLike, *, language: str = "", columns: Mapping[str, str] | str | None = None
) -> LoadedSuite:
    """Load a suite of any kind and check it.

    Args:
        suite: built-in name, path, or suite made in Python.
        language: ISO 639-1 code, if the suite does not state it, as a bare table cannot.
        columns: the columns of a table by their roles, such as ``{"good": "A", "bad": "B"}``;
            an exclamation mark after a name (``A!``) forces this reading, whatever the cells are.

    Returns:
        The suite with its paradigm and the warnings of its checks.

    Raises:
        CimentoError: the suite does not exist, has faults, or is one of several.

    Example:
        >>> load_suite("it-islands").suite.meta.language
        'it'
    """
    loaded = list(load_suites([suite], language=language, columns=columns))
    if len(loaded) != 1:
        seen = f"there are {len(loaded)} suites: {', '.join(one.suite.name for one in loaded)}"
        raise UsageError(where=str(suite), seen=seen, todo="Give one of them.")
    return loaded[0]


def load_suites(
    suites: SuiteLike | Iterable[SuiteLike],
    *,
    language: str = "",
    columns: Mapping[str, str] | str | None = None,
) -> Iterator[LoadedSuite]:
    """Load suites of any kind, given by built-in name, by path or as they are.

    Args:
        suites: one or several suites; a folder of suites yields all of them.
        language: language of suites that do not state theirs, as for `load_suite`.
        columns: the columns of tables by their roles, as for `load_suite`.

    Returns:
        The suites, each read and checked when its turn comes.

    Raises:
        CimentoError: a suite does not exist or has faults.

    Example:
        >>> len(list(load_suites(["it-islands", "it-subject-verb"])))
        2
    """
    columns = parse_choice(columns) if isinstance(columns, str) else columns or {}
    refuse_unknown(columns)
    for suite in one_by_one(suites):
        if isinstance(suite, str | Path):
            yield from read_all(find_suite(name_or_path(suite)), language, columns)
            continue
        made = suite if isinstance(suite, LoadedSuite) else _made_here(suite)
        yield replace(made, reading=in_language(made.reading, language)) if language else made


def one_by_one(suites: SuiteLike | Iterable[SuiteLike]) -> list[SuiteLike]:
    """The suites of a call, each as it was given."""
    # A name is iterable too, and so may be a suite of a plugged-in paradigm.
    is_one = isinstance(suites, str) or hasattr(suites, "meta") or _is_frame(suites)
    return [*suites] if isinstance(suites, Iterable) and not is_one else [cast("SuiteLike", suites)]


def usable(paradigm: AnyParadigm, reading: SuiteReading[Any], without: str = "") -> LoadedSuite:
    """A suite that was read, if it has no fault that makes it unusable, or only of one code.

    Raises:
        SuiteError: the suite has such faults; the error contains all of them.
    """
    if reading.suite is None or any(one.code != without for one in errors_among(reading.faults)):
        raise SuiteError(where=str(reading.path), faults=reading.faults)
    return LoadedSuite(paradigm=paradigm, reading=reading)


def save_suite(loaded: LoadedSuite, path: Path, *, words: str = ENGLISH) -> Path:
    """Write a suite as a folder, or as one workbook, in the language of `words`, for .xlsx.

    Raises:
        InputError: a workbook cannot contain the suite.
        StorageError: the path exists already, or cannot be written.
    """
    if path.suffix.lower() != WORKBOOK:
        write = loaded.paradigm.reader.write
        return folder_atomically(path, lambda folder: write(loaded.suite, folder))
    refuse_existing(path)
    with TemporaryDirectory(prefix="cimento-") as name:
        loaded.paradigm.reader.write(loaded.suite, Path(name))
        return fold(Path(name), path, language=words)


def _is_frame(value: object) -> bool:
    """Whether a value is a data frame of polars or pandas."""
    return hasattr(value, "columns") and hasattr(value, "shape")


def owner_of(suite: TestSuite) -> AnyParadigm:
    """The paradigm of a suite made in Python.

    Raises:
        UsageError: no paradigm knows it.
    """
    # Suites of ratings are also suites of regions, so the more general paradigm is asked last.
    paradigms = [*plugged_paradigms(), *reversed(own_paradigms())]
    paradigm = next((paradigm for paradigm in paradigms if paradigm.reader.owns(suite)), None)
    if paradigm is None:
        raise UsageError(
            where="suite",
            seen=f"{type(suite).__name__} is neither a name, a path nor a suite",
            todo="cimento.pairs(rows) makes a suite of good and bad sentences, cimento.ratings of"
            " rated ones, cimento.cloze of blanks and cimento.stories of stories;"
            " cimento.evaluate_all takes several suites."
            if _is_frame(suite) or isinstance(suite, list | tuple)
            else "Give a built-in name, a path, or a suite made in Python.",
        )
    return paradigm


def _made_here(suite: TestSuite) -> LoadedSuite:
    """A suite made in Python, checked in the same way as one that was read."""
    paradigm = owner_of(suite)
    reading = SuiteReading(
        suite=suite,
        faults=tuple(paradigm.reader.check(suite)),
        sha256=content_digest(suite) or digest_of_values(suite),
        path=Path(suite.name),
        format=_MADE,
    )
    return usable(paradigm, reading)


def suite_record(loaded: LoadedSuite, items: int) -> dict[str, object]:
    """The metadata of a suite, its facts and its first items, as ``suites show --json`` prints.

    Args:
        loaded: the suite.
        items: number of items.
    """
    suite = loaded.suite
    names = ("version", "language", "phenomenon", "license", "status", "author", "citation")
    about = {name: getattr(suite.meta, name) for name in names}
    facts = loaded.paradigm.presenter.record(suite, items)
    return {"name": suite.name, "paradigm": loaded.paradigm.name, **about, **facts}


def suite_digest(paradigm: AnyParadigm, path: Path) -> tuple[list[JsonValue], str]:
    """The files that alone determine a suite, and the sha256 of their bytes.

    Args:
        paradigm: the paradigm of the suite.
        path: path of the suite.

    Returns:
        Their names relative to the suite's folder, and the digest. Where other files may matter
        too, there are no names, and the digest matches no suite.
    """
    files = paradigm.reader.files(path)
    names: list[JsonValue] = [file.relative_to(path.parent).as_posix() for file in files]
    return names, file_digest(*files)
