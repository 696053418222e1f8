"""The suites of a language: its sets, fetched where that is allowed, and read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from cimento.errors import CimentoError, StorageError, counted
from cimento.evaluation.honored import honored
from cimento.evaluation.own_suites import (
    PAIRS_AND_RATINGS,
    Draft,
    generated_suites,
    starter_suites,
)
from cimento.io.values import NOT_STATED, grouped
from cimento.kinds.registry import LoadedSuite, load_suites
from cimento.suites.download_sizes import download_bytes
from cimento.suites.fetching import fetch
from cimento.suites.language_sets import GENERATED, OWN, STARTER, LanguageSet
from cimento.suites.lock import check_locked, locked_dataset
from cimento.suites.sources import recorded_source

if TYPE_CHECKING:
    from cimento.options import RunOptions
    from cimento.suites import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSettings:
    """Where sets come from.

    Attributes:
        folders: folders of sets; those that are in none are fetched into the last.
        lock: the lock file.
        accepted: names of sets that may be used although no license is stated.
        offline: whether nothing may be fetched.
        endpoint: address of another hub than huggingface.co.
    """

    folders: tuple[Path, ...]
    lock: Path
    accepted: frozenset[str] = frozenset()
    offline: bool = False
    endpoint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingSet:
    """A set that is not available.

    Attributes:
        name: name of the dataset.
        language: code of the language.
        reason: why the set is missing.
        todo: what to do about it.
    """

    name: str
    language: str
    reason: str
    todo: str


def lacks_said(lacks: Iterable[tuple[str, str, str]]) -> list[str]:
    """What is not available, in lines; sets of which the same is said are in one.

    Args:
        lacks: the name of each set, why it is not available, and what to do.
    """
    alike = grouped(((reason, todo), name) for name, reason, todo in lacks)
    return [
        f"{', '.join(names)}{', each' * (len(names) > 1)}: {reason}. {todo}"
        for (reason, todo), names in alike.items()
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSuites:
    """The suites of one set.

    Attributes:
        set: the set; None for suites of cimento itself.
        suites: its suites; names are different within a language.
        names: the names that they have in the set.
        own: the part of cimento's own suites, ``starter`` or ``generated``; empty for a set.
    """

    set: LanguageSet | None
    suites: tuple[LoadedSuite, ...]
    names: tuple[str, ...]
    own: str = ""

    @property
    def name(self) -> str:
        """The name of the dataset, or of the part of cimento's own suites."""
        return self.set.name if self.set else self.own


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfitSuites:
    """Suites of one set that cannot be judged as the options say, and are not asked.

    Attributes:
        set: name of the dataset, or of the part of cimento's own suites.
        suites: names of the suites.
        of_suites: number of suites that the set has.
        reason: why, of the first of them.
        todo: what to do about it.
    """

    set: str
    suites: tuple[str, ...]
    of_suites: int
    reason: str
    todo: str

    def __str__(self) -> str:
        """What is not asked, and why, in one line."""
        return f"{self.what} {_ARE[len(self.suites) == 1]} not asked. {self.reason}. {self.todo}"

    @property
    def what(self) -> str:
        """How many suites of which set."""
        return f"{self.set}: {len(self.suites)} of {counted(self.of_suites, 'suite')}"


_ARE = {True: "is", False: "are"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageSuites:
    """Everything that can be asked in a language.

    Attributes:
        language: its code.
        sets: sets with their suites, those of cimento itself last.
        missing: sets that are not available.
        unfit: suites that cannot be judged as the options say, or not be made, by set.
        drafts: what is known of the generated suites.
    """

    language: str
    sets: tuple[SetSuites, ...]
    missing: tuple[MissingSet, ...] = field(default=())
    unfit: tuple[UnfitSuites, ...] = field(default=())
    drafts: tuple[Draft, ...] = field(default=())

    @property
    def suites(self) -> tuple[LoadedSuite, ...]:
        """The suites of all sets."""
        return tuple(suite for one in self.sets for suite in one.suites)

    @property
    def is_own(self) -> bool:
        """Whether only suites of cimento itself are asked for."""
        return bool(self.sets) and not self.missing and all(one.set is None for one in self.sets)

    @property
    def origins(self) -> dict[str, tuple[str, str]]:
        """The name of each suite, mapped to that of its set and to the name that it has there."""
        return {
            suite.suite.name: (one.name, name)
            for one in self.sets
            for suite, name in zip(one.suites, one.names, strict=True)
        }


def obstacle(one: LanguageSet, settings: SetSettings) -> MissingSet | None:
    """What keeps a set from being had, as far as that is known before anything is fetched.

    Args:
        one: the set.
        settings: where sets come from.
    """

    def missing(reason: str, todo: str) -> MissingSet:
        return MissingSet(name=one.name, language=one.language, reason=reason, todo=todo)

    is_here = one.here(settings.folders) is not None
    if one.dataset.by_hand and not is_here:
        return missing("it cannot be fetched from here", one.dataset.by_hand)
    if not one.dataset.states_license and one.name not in settings.accepted:
        terms = "" if one.dataset.license == NOT_STATED else f" ({one.dataset.license})"
        return missing(
            f"no license is stated{terms}",
            "--accept-license uses it all the same, and is remembered.",
        )
    if settings.offline and not is_here:
        return missing(
            "it is not on this machine, and nothing is fetched offline",
            "Run `cimento cluster prefetch` with the same options where there is a network.",
        )
    return None


def planned_set(one: LanguageSet, settings: SetSettings) -> dict[str, JsonValue]:
    """What a run would do about one set; of files that are not here, the size is asked for.

    Args:
        one: the set.
        settings: where sets come from.
    """
    lack = obstacle(one, settings)
    is_here = one.here(settings.folders) is not None
    fetched = lack is None and not is_here
    return {
        "set": one.name,
        "license": one.dataset.license,
        "size": one.dataset.size_in(one.language),
        "is_here": is_here,
        "is_fetched": fetched,
        "download_bytes": download_bytes(one) if fetched else None,
        "is_locked_at_first_use": bool(one.dataset.hub and not one.dataset.revision),
        "reason": lack.reason if lack else "",
        "todo": lack.todo if lack else "",
    }


def bring(one: LanguageSet, settings: SetSettings) -> Path:
    """The folder with the files of a set, which are fetched unless they are there.

    Args:
        one: a set without an `obstacle`.
        settings: where sets come from.

    Raises:
        CimentoError: it cannot be fetched, or what is there is not what was recorded or locked.
    """
    folder = one.here(settings.folders)
    recorded = recorded_source(one.place(folder)) if folder else {}
    dataset = locked_dataset(
        one.dataset,
        settings.lock,
        here=str(recorded.get("revision") or ""),
        endpoint=settings.endpoint,
    )
    if dataset is not one.dataset and folder is not None:
        check_locked(dataset, one.place(folder), settings.lock, part=one.part)
    place = fetch(
        dataset,
        (folder or settings.folders[-1]) / dataset.folder,
        language=one.part,
        endpoint=settings.endpoint,
    )
    if dataset is not one.dataset:
        check_locked(dataset, place, settings.lock, part=one.part)
    return place


def language_suites(
    sets: Sequence[LanguageSet],
    settings: SetSettings,
    *,
    language: str,
    own: Collection[str] = OWN,
    seed: int = 0,
    note: Callable[[str], object] = lambda _: None,
) -> LanguageSuites:
    """The suites of the sets of a language, and those of cimento itself.

    Args:
        sets: the sets.
        settings: where they come from.
        language: its code.
        own: the parts of cimento's own suites that are added, of `OWN`.
        seed: of the draw of words of generated suites.
        note: called with what is being done, as sentences.

    Raises:
        StorageError: a folder cannot be written.
    """
    had: list[SetSuites] = []
    missing: list[MissingSet] = []
    for one in sets:
        lack = obstacle(one, settings)
        if lack is None:
            if one.here(settings.folders) is None:
                note(f"Fetching {one.name} ({one.dataset.license})")
            try:
                had.append(_read(one, bring(one, settings)))
                continue
            except StorageError:
                raise
            except CimentoError as error:
                lack = MissingSet(
                    name=one.name, language=language, reason=error.seen, todo=error.todo
                )
        missing.append(lack)
    asked = LanguageSuites(language=language, sets=tuple(had), missing=tuple(missing))
    return _with_own_suites(asked, own, seed=seed)


def _with_own_suites(asked: LanguageSuites, own: Collection[str], *, seed: int) -> LanguageSuites:
    """The suites of published sets, and after them parts of cimento's own."""
    made = generated_suites(asked.language, seed=seed) if GENERATED in own else None
    parts = {
        STARTER: starter_suites(asked.language) if STARTER in own else (),
        GENERATED: made.suites if made else (),
    }
    sets = [
        SetSuites(set=None, suites=suites, names=tuple(s.suite.name for s in suites), own=name)
        for name, suites in parts.items()
        if suites
    ]
    unfit: tuple[UnfitSuites, ...] = ()
    if made and made.failed:
        first, error = next(iter(made.failed.items()))
        unfit = (
            UnfitSuites(
                set=GENERATED, suites=tuple(made.failed),
                of_suites=len(made.suites) + len(made.failed),
                reason=f"Of {first}: {error.seen}", todo="Another --seed may do.",
            ),
        )  # fmt: skip
    named = _with_own_names([*asked.sets, *sets])
    drafts = made.drafts if made else ()
    return replace(asked, sets=tuple(named), unfit=unfit, drafts=drafts)


def fitting(asked: LanguageSuites, run_options: RunOptions) -> LanguageSuites:
    """Everything that can be judged as the options of a run say, such as by its measure.

    Args:
        asked: all suites of a language.
        run_options: the options.

    Returns:
        The suites, without those that are then `unfit`; sets of which no suite is left are left
        out.

    Raises:
        CimentoError: an option cannot be used for a paradigm at all.
    """
    sets: list[SetSuites] = []
    unfit: list[UnfitSuites] = []
    for one in asked.sets:
        errors = {suite.suite.name: _misfit(suite, run_options) for suite in one.suites}
        wrong = {name: error for name, error in errors.items() if error is not None}
        if wrong:
            first, error = next(iter(wrong.items()))
            unfit.append(
                UnfitSuites(
                    set=one.name, suites=tuple(wrong), of_suites=len(one.suites),
                    reason=f"Of {first}: {error.seen}", todo=_BY_ITSELF,
                )
            )  # fmt: skip
        both = zip(one.suites, one.names, strict=True)
        kept = [(suite, name) for suite, name in both if suite.suite.name not in wrong]
        if kept:
            suites, names = zip(*kept, strict=True)
            sets.append(replace(one, suites=suites, names=names))
    return replace(asked, sets=tuple(sets), unfit=(*asked.unfit, *unfit))


_BY_ITSELF = "Leave the option out, or run them by themselves."


def _misfit(loaded: LoadedSuite, run_options: RunOptions) -> CimentoError | None:
    """Why a suite cannot be judged as the options say; None if it can."""
    options = honored(loaded.paradigm, run_options, None).options
    try:
        options.refuse_unfit(loaded.suite)
    except CimentoError as error:
        return error
    return None


def _read(one: LanguageSet, folder: Path) -> SetSuites:
    """The suites of a set that are pairs or rated sentences.

    Raises:
        CimentoError: they have faults, or there are none.
    """
    loaded = [
        suite
        for suite in load_suites(folder, language=one.language)
        if suite.paradigm.name in PAIRS_AND_RATINGS
    ]
    if not loaded:
        raise CimentoError(
            where=one.name,
            seen="its suites are neither pairs nor rated sentences",
            todo=f"Run it by itself: cimento run {folder} -m MODEL",
        )
    names = tuple(suite.suite.name for suite in loaded)
    if len(loaded) == 1:
        # Files are often called data or test; the set has the name by which people know it.
        loaded = [_renamed(loaded[0], one.name)]
    return SetSuites(set=one, suites=tuple(loaded), names=names)


def _with_own_names(sets: Sequence[SetSuites]) -> list[SetSuites]:
    """The sets, in which suites that share a name have that of their set before it."""
    times = Counter(suite.suite.name for one in sets for suite in one.suites)
    return [
        replace(
            one,
            suites=tuple(
                _renamed(suite, f"{one.name}-{suite.suite.name}")
                if times[suite.suite.name] > 1
                else suite
                for suite in one.suites
            ),
        )
        for one in sets
    ]


def _renamed(loaded: LoadedSuite, name: str) -> LoadedSuite:
    """A suite under another name; its content stays."""
    suite = cast("Any", loaded.suite)  # suites of all paradigms are dataclasses
    meta = replace(suite.meta, name=name)
    return replace(loaded, reading=replace(loaded.reading, suite=replace(suite, meta=meta)))
