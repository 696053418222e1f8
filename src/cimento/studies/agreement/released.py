"""What the authors of agreement and SyntaxGym suites released, found under its own names.

Also: what is in the suites as they were released, namely items, twins, and what a model sees in
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from cimento.errors import InputError, UsageError
from cimento.faults import CHECKS, NO_LANGUAGE
from cimento.io.below import files_below
from cimento.io.files import read_bytes
from cimento.io.values import group_by
from cimento.kinds.registry import LoadedSuite, load_suites
from cimento.paradigms.regions.contrast import find_contrast, items_with_other_contexts
from cimento.studies import AbsentError, Cell, beside, printed_tables, section_of
from cimento.studies.agreement.syntaxgym import LANGUAGE, SUITES
from cimento.studies.agreement.twins import paired_items, twins
from cimento.suites.builtin import builtin_names
from cimento.suites.languages import NAMES, language_code
from cimento.suites.load import is_archive
from cimento.suites.published import find_published
from cimento.suites.reading import TOML

if TYPE_CHECKING:
    from cimento.suites import Suite


LanguageSuite: TypeAlias = tuple[str, LoadedSuite]
"""ISO 639-1 code of a language, and a suite in it."""

RESULTS = "syntaxgym_results_*.csv"
SURPRISALS, SPEC, EXAMPLE = (
    "surprisals_fgd_hierarchy.txt",
    "spec.template.json",
    "fgd_hierarchy.json",
)
STARTER_LANGUAGES = ("es", "it", "pt", "ru")
_TWIN = "-adversarial"

_GYM = "github.com/cpllab/syntactic-generalization"
LOOKED_FOR: Mapping[str, str] = {
    "*.zip": "agreement suites, an archive for each language, {agreement} (`cimento suites get"
    " syntactic-agreement`)",
    f"mvrr.json, npz_ambig.json and {len(SUITES) - 2} others": "SyntaxGym's suites,"
    f" test_suites/json of {_GYM} (`cimento suites get syntaxgym-2020`)",
    RESULTS: f"verdicts of Hu et al. 2020, data/raw/sg_results of {_GYM}",
    f"{SURPRISALS}, {SPEC}, {EXAMPLE}": "the example of github.com/pqian11/sg-eval",
}
"""Names of released files to what they are and where they are released."""

WITHOUT = (
    "Without any, `cimento study agreement` shows the published scores of SyntaxGym, and -m MODEL"
    " asks a model our own suites, in four languages."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedFiles:
    """The released files that a user gave.

    Attributes:
        languages: agreement suites with their languages, language by language.
        syntaxgym: SyntaxGym's suites of 2020.
        results: files of verdicts.
        example: suite, surprisals and spec of sg-eval's example, where all three are there.
    """

    languages: tuple[LanguageSuite, ...] = ()
    syntaxgym: tuple[LanguageSuite, ...] = ()
    results: tuple[Path, ...] = ()
    example: tuple[Path, Path, Path] | None = None


def looked_for() -> str:
    """What the study reads, where it is released, and what can be done without."""
    address = find_published("syntactic-agreement").address
    files = "; ".join(f"{name}: {what}" for name, what in LOOKED_FOR.items())
    return f"{files.format(agreement=address)}. {WITHOUT}"


def find_released(paths: Sequence[Path]) -> ReleasedFiles:
    """The released files at some paths, folders searched to their ends.

    Args:
        paths: folders, archives, suites or files of verdicts.

    Raises:
        AbsentError: a folder holds nothing that the study reads.
        UsageError: two suites of one language have the same name, so that their runs would be one.
        CimentoError: a suite cannot be read.
    """
    places: list[Path] = []
    results: dict[str, Path] = {}
    examples: list[tuple[Path, Path, Path]] = []
    for path in paths:
        inside = [path] if path.is_file() else _below(path)
        verdicts = [path for path in inside if path.match(RESULTS)]
        # Of several copies of a file the first by path counts.
        results = {path.name: path for path in reversed(verdicts)} | results
        example = _example(inside)
        examples += [example] if example else []
        archives = [path for path in inside if is_archive(path)]
        suites = [] if path.is_file() else [*archives, *_gym_suites(inside)]
        places += suites or ([] if verdicts or example else [path])
    by_kind = group_by(_read_languages(places), _is_gym)
    return ReleasedFiles(
        languages=tuple(by_kind.get(False, ())),
        syntaxgym=tuple(by_kind.get(True, ())),
        results=tuple(sorted(results.values())),
        example=examples[0] if examples else None,
    )


def starter_suites() -> tuple[LanguageSuite, ...]:
    """Our own agreement suites, each beside its adversarial twin."""
    names = builtin_names()
    pairs = [
        name
        for name in names
        if name.removesuffix(_TWIN) + _TWIN in names and name[:2] in STARTER_LANGUAGES
    ]
    return tuple(_read_languages([Path(name) for name in pairs]))


def _below(folder: Path) -> list[Path]:
    """Every file in a folder and below it that is not hidden, by path."""
    return [
        path
        for path in files_below(folder)
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]


def _gym_suites(inside: Sequence[Path]) -> list[Path]:
    """The suites of the folder that has most files named like SyntaxGym's, if any has."""
    files = (path for path in inside if path.suffix == ".json")
    folders = group_by(files, lambda path: path.parent)
    named = {
        folder: sum(path.stem in SUITES for path in paths) for folder, paths in folders.items()
    }
    best = max(named, key=named.__getitem__, default=None)
    if best is None or not named[best]:
        return []
    return [path for path in folders[best] if path.stem in SUITES or _is_suite(path)]


def _is_suite(path: Path) -> bool:
    """Whether a JSON file has what only SyntaxGym's suites have."""
    return b'"region_meta"' in read_bytes(path)


def _example(inside: Sequence[Path]) -> tuple[Path, Path, Path] | None:
    """The files of sg-eval's example: the suite and the spec nearest to the surprisals."""
    surprisals = next((path for path in inside if path.name == SURPRISALS), None)
    if surprisals is None:
        return None
    above = set(surprisals.parents)
    near = sorted(inside, key=lambda path: -len(above & set(path.parents)))
    suite, spec = (
        next((path for path in near if path.name == name), None) for name in (EXAMPLE, SPEC)
    )
    return (suite, surprisals, spec) if suite and spec else None


def _is_gym(language_suite: LanguageSuite) -> bool:
    language, loaded = language_suite
    return language == LANGUAGE and loaded.suite.name in SUITES


def _read_languages(places: Sequence[Path]) -> list[LanguageSuite]:
    """Suites with their languages; where a suite does not name one, its archive or folder does."""
    loaded_suites: dict[tuple[str, str], LoadedSuite] = {}
    for place in places:
        alone = place.is_file() and not is_archive(place)
        around = place.resolve().parent.name if alone else place.stem
        for loaded in _loaded(place):
            meta = loaded.suite.meta
            language = language_code(meta.language or around)
            if meta.name in SUITES and language not in NAMES:
                language = LANGUAGE
            other = loaded_suites.get((language, meta.name))
            if other is not None:
                raise UsageError(
                    where=f"suite {meta.name!r}",
                    seen=f"two suites of one language have this name:"
                    f" {other.reading.path} and {loaded.reading.path}",
                    todo="Give one of them another name, or leave one out.",
                )
            named = replace(cast("Suite", loaded.suite), meta=replace(meta, language=language))
            reading = replace(loaded.reading, suite=named)
            loaded_suites[language, named.name] = replace(loaded, reading=reading)
    order = list(dict.fromkeys(language for language, _ in loaded_suites))
    pairs = [(language, loaded) for (language, _), loaded in loaded_suites.items()]
    return sorted(pairs, key=lambda pair: order.index(pair[0]))


def _loaded(place: Path) -> list[LoadedSuite]:
    """The suites at a path; a folder without any is answered with what the study reads."""
    try:
        return list(load_suites(place))
    except InputError as error:
        if not place.is_dir() or _holds_suites(place):
            raise
        raise AbsentError(
            where=str(place),
            seen="nothing that the study reads is there or below",
            todo=f"It reads these files, each as released. {looked_for()}",
        ) from error


def _holds_suites(folder: Path) -> bool:
    tables = (folder / TOML).is_file() or any(folder.glob(f"*/{TOML}"))
    return tables or any(map(_is_suite, folder.glob("*.json")))


_ABSTRACT = "Táboas García and Wanner 2025, abstract"


@section_of(
    "materials",
    title="Agreement suites: items, what is compared, twins, faults",
    source="Táboas García and Wanner 2025, aclanthology.org/2025.depling-1.4, abstract",
)
def agreement_materials(language_suites: Sequence[LanguageSuite]) -> Iterator[Cell]:
    """Every agreement suite: items, what is compared, its twin, and faults.

    Args:
        language_suites: the suites, language by language.
    """
    languages = group_by(language_suites, lambda language_suite: language_suite[0])
    yield _total(languages)
    for language, group in languages.items():
        suites = {loaded.suite.name: cast("Suite", loaded.suite) for _, loaded in group}
        pairs = twins(suites)
        items, sentences = _counts(suites.values())
        note = f"{sentences:,} sentences in {len(suites)} suites, {len(pairs)} with a twin"
        yield Cell(what=f"{language}: items", computed=items, note=note)
        for _, loaded in group:
            suite = suites[loaded.suite.name]
            # The language is that of the archive, where a suite does not name it by its code.
            codes = (fault.code for fault in loaded.reading.faults)
            counts = Counter(code for code in codes if code != NO_LANGUAGE)
            faults = [f"{CHECKS[code].title} ({n})" for code, n in sorted(counts.items())]
            twin = pairs.get(suite.name)
            parts = [
                *_compared(suite),
                *([_twin(suite, suites[twin])] if twin is not None else []),
                *faults,
            ]
            what = f"{language}, {suite.name}: items"
            yield Cell(what=what, computed=len(suite.items), note="; ".join(parts))


@section_of(
    "syntaxgym-materials",
    title="SyntaxGym's suites: items, beside the items with a published verdict",
    source="Hu et al. 2020, test_suites/json and data/raw/sg_results",
)
def gym_materials(language_suites: Sequence[LanguageSuite]) -> Iterator[Cell]:
    """Items of SyntaxGym's suites beside those that have a published verdict.

    Args:
        language_suites: the suites.
    """
    printed = printed_tables("agreement")["Hu et al. 2020, items of each suite"]["suites"]
    for suite in (cast("Suite", loaded.suite) for _, loaded in language_suites):
        yield beside(f"{suite.name}: items", len(suite.items), str(printed[suite.name]))


def _total(languages: Mapping[str, Sequence[LanguageSuite]]) -> Cell:
    """All items, beside what the authors say, where all of their languages are there."""
    said = printed_tables("agreement")[_ABSTRACT]
    missing = [language for language in said["languages"] if language not in languages]
    items, sentences = _counts(
        cast("Suite", loaded.suite)
        for language in said["languages"]
        for _, loaded in languages.get(language, ())
    )
    least = int(said["test examples, more than"])
    drafts = {loaded.suite.meta.status for group in languages.values() for _, loaded in group}
    why = f"no suites in {', '.join(missing)}" if missing else ""
    if drafts := drafts - {""}:  # the authors' suites have no such field
        why = f"the suites are others than the authors' ({', '.join(sorted(drafts))})"
    return Cell(
        what="all items",
        computed=items,
        printed=f"more than {least:,}",
        equal=None if why else items > least,
        note=f"not compared: {why}" if why else f"{sentences:,} sentences",
    )


def _counts(suites: Iterable[Suite]) -> tuple[int, int]:
    """How many items and sentences there are."""
    counts = [(len(suite.items), len(suite.condition_names)) for suite in suites]
    return sum(n for n, _ in counts), sum(n * conditions for n, conditions in counts)


def _compared(suite: Suite) -> list[str]:
    """What the predictions compare, and in how many items something else differs too."""
    try:
        contrast = find_contrast(suite)
    except UsageError as error:
        return [error.seen]
    others = len(items_with_other_contexts(suite, contrast))
    wrong = len(contrast.alternatives)
    chance = 1 / (1 + wrong)
    sentences = [f"{contrast.target} against {wrong}, chance {chance:.3f}"]
    return sentences + ([f"in {others} items the contexts differ too"] if others else [])


def _twin(suite: Suite, twin: Suite) -> str:
    pairs = len(paired_items(suite, twin))
    alone = len(suite.items) + len(twin.items) - 2 * pairs
    return f"twin {twin.name}: {pairs} items paired" + (f", {alone} unpaired" if alone else "")
