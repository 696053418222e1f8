"""What models know of a language: the answer over its sets, and the call that asks for it."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, Unpack

from cimento._version import __version__
from cimento.compare.beside_published import beside_published
from cimento.compare.beside_sets import BesideSet, beside_sets, beside_whole_set
from cimento.compare.phenomena import (
    Disagreement,
    Paradigm,
    PhenomenonChange,
    PhenomenonRate,
    SuiteOrigin,
    disagreements,
    paradigms_of,
    phenomenon_changes,
    phenomenon_rates,
)
from cimento.compare.set_results import (
    AuthorsNumber,
    Example,
    ExampleSentence,
    SetResult,
    examples_of,
    set_results,
)
from cimento.documents.language_training import steps_of_models
from cimento.engine.cache import MemoryCache
from cimento.errors import InputError
from cimento.evaluation import Failure, run_all
from cimento.evaluation.budget import AskedPart, Sample, asked_part, is_offline, parse_budget
from cimento.evaluation.language_suites import (
    MissingSet,
    SetSettings,
    UnfitSuites,
    fitting,
    language_suites,
)
from cimento.evaluation.own_suites import Draft
from cimento.io.files import read_bytes
from cimento.io.values import grouped
from cimento.kinds.option_types import EvaluationKeywords
from cimento.kinds.run import Run
from cimento.models.in_memory import as_scorers, split_tokenizer
from cimento.options import from_names
from cimento.paired.item_outcomes import step_of
from cimento.records.outcomes import ACCURACY
from cimento.records.store import manifest_part
from cimento.records.summary import JsonSchema, described_schema
from cimento.suites import NOTHING
from cimento.suites.language_sets import (
    GENERATED,
    OWN,
    STARTER,
    LanguageSet,
    accept_licenses,
    accepted_licenses,
    folders_of_sets,
    own_parts,
    refuse_no_sets,
    sets_of,
)
from cimento.suites.lock import LOCK
from cimento.suites.registry_file import read_registry

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from cimento.evaluation.language_suites import LanguageSuites
    from cimento.models.in_memory import ModelLike
    from cimento.models.registry import AnyScorer
    from cimento.options import RunOptions

ANSWER_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedSet:
    """A set of the answer, as it was used.

    Attributes:
        set: name of the dataset.
        title: title of the set.
        license: license of the set, or what is said of it.
        citation: how to cite the set.
        address: where it comes from.
        revision: the commit or record that was used; empty for single files, which have addresses
            of their own.
        n_items: items that were asked about.
        of_items: items of the whole set.
    """

    set: str
    title: str
    license: str
    citation: str
    address: str
    revision: str
    n_items: int
    of_items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRun:
    """A suite that a model could not be asked about.

    Attributes:
        suite: name of the suite.
        model: label of the model.
        message: why, and what to do.
    """

    suite: str
    model: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageAnswer:
    """What some models know of a language.

    Attributes:
        language: code of the language.
        models: labels of the models.
        steps: their steps of training, if all are checkpoints of one model; otherwise empty.
        phenomena: the rate of each model on each phenomenon, what the best model surely knows
            first.
        changes: paired differences of models on each phenomenon, in the same order.
        disagreements: pairs of sets that disagree about a phenomenon.
        sets: the results on each set.
        published: the same models beside results that were released on the same files.
        starter: the rates on the suites that come with cimento, which are in nothing above.
        starter_states: the states of review that these suites give, each once.
        generated: the rates on suites that cimento's grammars make, by the class of the grammar;
            they are in nothing above either.
        drafts: what is known of each of these suites, which are drafts.
        examples: three items of each phenomenon for each model, in the same order.
        used: the sets that were asked about.
        missing: sets that were not available.
        unfit: suites that cannot be judged as the options say, by set.
        not_run: suites that a model could not be asked about.
        sample: the random part of the sets that was asked about; None for all of them.
        cimento: version of the program that wrote it.
        schema_version: version of the JSON.
    """

    language: str
    models: tuple[str, ...]
    phenomena: tuple[PhenomenonRate, ...]
    changes: tuple[PhenomenonChange, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    sets: tuple[SetResult, ...] = ()
    published: tuple[BesideSet, ...] = ()
    starter: tuple[PhenomenonRate, ...] = ()
    starter_states: tuple[str, ...] = ()
    generated: tuple[PhenomenonRate, ...] = ()
    drafts: tuple[Draft, ...] = ()
    examples: tuple[Example, ...] = ()
    used: tuple[UsedSet, ...] = ()
    missing: tuple[MissingSet, ...] = ()
    unfit: tuple[UnfitSuites, ...] = ()
    not_run: tuple[NotRun, ...] = ()
    sample: Sample | None = None
    steps: tuple[int, ...] = ()
    cimento: str = __version__
    schema_version: int = ANSWER_VERSION

    def __str__(self) -> str:
        """The answer in words and tables, as the command prints it."""
        from cimento.documents.language_page import answer_text

        return answer_text(self)

    def to_json(self) -> str:
        """The answer as JSON; ``language.schema.json`` is its schema."""
        plain = _adapter().dump_python(self, mode="json")
        return json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def read_answer(path: Path) -> LanguageAnswer:
    """An answer from its file of JSON.

    Args:
        path: of ``answer.json``.

    Raises:
        InputError: it is not one, or cannot be read.
    """
    try:
        answer = _adapter().validate_json(read_bytes(path))
    except ValueError as error:
        raise InputError(
            where=str(path), seen="it is not an answer about a language",
            todo="Make it again: cimento run --language CODE -m MODEL.",
        ) from error  # fmt: skip
    if answer.schema_version != ANSWER_VERSION:
        raise InputError(
            where=str(path), seen=f"it has version {answer.schema_version}, not {ANSWER_VERSION}",
            todo="Make it again with this version of cimento.",
        )  # fmt: skip
    return answer


@functools.cache
def _adapter() -> TypeAdapter[LanguageAnswer]:
    from pydantic import TypeAdapter

    return TypeAdapter(LanguageAnswer)


def json_schema() -> JsonSchema:
    """The JSON schema (draft 2020-12) of answers, described by the docstrings of the records."""
    schema: JsonSchema = _adapter().json_schema(mode="serialization")
    return described_schema(schema, LanguageAnswer, _RECORDS, name=f"language:{ANSWER_VERSION}")


_RECORDS = (
    PhenomenonRate, PhenomenonChange, Disagreement, SetResult, AuthorsNumber, BesideSet, Example,
    ExampleSentence, UsedSet, MissingSet, UnfitSuites, NotRun, Sample, Draft,
)  # fmt: skip


def language_answer(
    runs: Sequence[Run],
    part: AskedPart,
    *,
    failures: Sequence[Failure] = (),
    seed: int = 0,
) -> LanguageAnswer:
    """The answer that some runs give.

    Args:
        runs: of the suites of a language, by one model or several; checkpoints of one training are
            put in its order.
        part: the suites, or the random part of them that was asked.
        failures: runs that could not be made.
        seed: of bootstraps.
    """
    asked, runs = part.asked, _by_step(runs)
    origins = {suite: SuiteOrigin(set=of, name=name) for suite, (of, name) in asked.origins.items()}
    by_part = grouped((origins[run.suite_name].set, run) for run in runs)
    published = [run for run in runs if origins[run.suite_name].set not in OWN]
    drafts = _drafts(asked, by_part.get(GENERATED, ()))
    paradigms = paradigms_of(published, origins)
    models = tuple(dict.fromkeys(run.model for run in runs))
    results = tuple(set_results(paradigms, published, origins))
    rates = tuple(phenomenon_rates(paradigms, seed=seed))
    classes = {one.suite: one.phenomenon for one in drafts}
    examples = [one for model in models for one in examples_of(paradigms, published, model)]
    return LanguageAnswer(
        language=asked.language,
        models=models,
        phenomena=rates,
        changes=_in_order(phenomenon_changes(paradigms, seed=seed), rates),
        disagreements=disagreements(paradigms, seed=seed),
        sets=results,
        published=_beside(paradigms, published, results, origins, seed=seed),
        starter=_own_rates(by_part.get(STARTER, ()), origins, seed=seed),
        starter_states=_states(by_part.get(STARTER, ())),
        generated=_own_rates(by_part.get(GENERATED, ()), origins, seed=seed, classes=classes),
        drafts=drafts,
        examples=_in_order(examples, rates),
        used=tuple(_used(part, published)),
        missing=asked.missing,
        unfit=asked.unfit,
        not_run=_not_run(failures),
        sample=part.sample,
        steps=steps_of_models(runs, models),
    )


def _by_step(runs: Sequence[Run]) -> list[Run]:
    """The runs, those of one training together and in the order of its steps."""
    known = [step_of(str(run.manifest.get("named") or run.model)) for run in runs]
    place = {family: n for n, family in enumerate(dict.fromkeys(family for family, _ in known))}
    by_run = sorted(
        zip(known, runs, strict=True),
        key=lambda one: (place[one[0][0]], one[0][1] is None, one[0][1] or 0),
    )
    return [run for _, run in by_run]


_Of = TypeVar("_Of", PhenomenonChange, Example)


def _in_order(some: Sequence[_Of], rates: Sequence[PhenomenonRate]) -> tuple[_Of, ...]:
    """What is said of phenomena in the order of their rates."""
    place = {one.phenomenon: n for n, one in reversed([*enumerate(rates)])}
    return tuple(sorted(some, key=lambda one: place.get(one.phenomenon, len(rates))))


def _not_run(failures: Sequence[Failure]) -> tuple[NotRun, ...]:
    return tuple(
        NotRun(suite=one.suite, model=one.model, message=str(one.error)) for one in failures
    )


def _drafts(asked: LanguageSuites, runs: Sequence[Run]) -> tuple[Draft, ...]:
    """What is known of the generated suites that were asked, by the names that they have here."""
    here = {name: suite for suite, (of, name) in asked.origins.items() if of == GENERATED}
    known = (replace(one, suite=here.get(one.suite, "")) for one in asked.drafts)
    ran = {run.suite_name for run in runs}
    return tuple(one for one in known if one.suite in ran)


def _own_rates(
    runs: Sequence[Run],
    origins: Mapping[str, SuiteOrigin],
    *,
    seed: int,
    classes: Mapping[str, str] = NOTHING,
) -> tuple[PhenomenonRate, ...]:
    """The rates on suites of cimento itself, by what they say they test or by their classes."""
    paradigms = paradigms_of(runs, origins)
    if classes:
        paradigms = [replace(one, phenomenon=classes[one.suite]) for one in paradigms]
    return tuple(phenomenon_rates(paradigms, seed=seed))


def _states(runs: Sequence[Run]) -> tuple[str, ...]:
    """The states of review that the suites of some runs give, each once."""
    return tuple(dict.fromkeys(state for run in runs if (state := run.suite.meta.status)))


def _beside(
    paradigms: Sequence[Paradigm],
    runs: Sequence[Run],
    results: Sequence[SetResult],
    origins: Mapping[str, SuiteOrigin],
    *,
    seed: int,
) -> tuple[BesideSet, ...]:
    """The runs beside released results, with p over the phenomena that their suites test."""
    tested = grouped((one.suite, one.phenomenon) for one in paradigms)
    by_set = grouped(((origins[run.suite_name].set, run.model), run) for run in runs)
    whole = [
        one
        for ours in results
        if ours.statistic == ACCURACY
        for one in beside_whole_set(ours, by_set[ours.set, ours.model])
    ]
    beside = beside_published(runs, likewise=True, seed=seed)
    return beside_sets(beside, tested, whole=whole, seed=seed)


def _used(part: AskedPart, runs: Sequence[Run]) -> list[UsedSet]:
    used = []
    for one in part.asked.sets:
        if one.set is None:
            continue
        names = {suite.suite.name for suite in one.suites}
        by_suite = {run.suite_name: run for run in runs if run.suite_name in names}
        n = sum(run.n_items for run in by_suite.values())
        sources = [
            manifest_part(manifest_part(run.manifest, "suite"), "source")
            for run in by_suite.values()
        ]
        dataset = one.set.dataset
        revisions = {str(source.get("revision") or "") for source in sources} - {""}
        whole = part.by_set.get(one.name, n)
        used.append(
            UsedSet(
                set=one.name, title=dataset.title, license=dataset.license,
                citation=dataset.citation, address=dataset.address,
                revision=", ".join(sorted(revisions)), n_items=n, of_items=whole,
            )
        )  # fmt: skip
    return used


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSources:
    """Where the sets of a language come from.

    Attributes:
        accept_license: whether sets for which no license is stated are used; this is remembered.
        folder: a folder of fetched sets; None for the working folder and that of the cache.
        registry: another list of sets in the form of our own; None for ours.
        lock: the lock file of sets that no registry pins.
    """

    accept_license: bool = False
    folder: str | Path | None = None
    registry: str | Path | None = None
    lock: str | Path = LOCK

    def settings(self, sets: Sequence[LanguageSet]) -> SetSettings:
        """What fetching needs to know, after licenses were accepted.

        Args:
            sets: the sets that are asked for.

        Raises:
            StorageError: what was accepted cannot be stored.
        """
        if self.accept_license:
            accept_licenses(sets)
        return SetSettings(
            folders=folders_of_sets(None if self.folder is None else Path(self.folder)),
            lock=Path(self.lock),
            accepted=accepted_licenses(),
            offline=is_offline(),
        )


_USUAL = SetSources()


def evaluate_language(
    language: str,
    models: ModelLike | Sequence[ModelLike],
    /,
    *,
    sets: Sequence[str] = (),
    without: Sequence[str] = (),
    budget: str = "",
    sources: SetSources = _USUAL,
    output: str | Path | None = None,
    force: bool = False,
    **options: Unpack[EvaluationKeywords],
) -> LanguageAnswer:
    """Ask one model or several about every available published set of a language.

    Args:
        language: ISO 639-1 code, or 639-3 if there is none.
        models: one or several, each as for `evaluate`.
        sets: names of datasets, or ``starter`` and ``generated`` for our own; empty for all.
        without: names of datasets to leave out.
        budget: a time (``10m``) or a number of items, to ask a random part, drawn with ``seed``.
        sources: where sets come from.
        output: folder in which runs are stored, by language; None keeps them in memory.
        force: whether runs that are already stored are made again.
        options: as for `evaluate`.

    Returns:
        The results of the models on the language; `str` of it is what the command prints.

    Raises:
        CimentoError: there is no set of the language, or an option or a model cannot be used.

    Example:
        >>> evaluate_language("en", "demo-causal", sets=["starter"]).starter[0].phenomenon
        'subject-verb agreement'
    """
    several = [models] if isinstance(models, str) or not isinstance(models, Sequence) else models
    registry = None if sources.registry is None else Path(sources.registry)
    chosen = sets_of(language, read_registry(registry).values(), only=sets, without=without)
    refuse_no_sets(language, chosen, but=bool({*OWN} & {*sets}))
    parse_budget(budget)  # a wrong one is refused before anything is fetched
    store = None if output is None else Path(output) / language
    named, tokenizer = split_tokenizer(options)
    run_options = from_names({"output": store, "force": force, **named})
    asked = language_suites(
        chosen, sources.settings(chosen),
        language=language, own=own_parts(sets, without), seed=run_options.seed or 0,
    )  # fmt: skip
    ready = as_scorers(several, run_options.scoring, tokenizer, keeps=store is not None)
    return _asked(asked, ready, run_options, budget)


def _asked(
    asked: LanguageSuites, models: Sequence[str | AnyScorer], run_options: RunOptions, budget: str
) -> LanguageAnswer:
    """The answer of models that are asked now."""
    seed = run_options.seed or 0
    asked = fitting(asked, run_options)
    part = asked_part(asked, models, run_options, budget=parse_budget(budget), seed=seed)
    cache = None if run_options.output is not None else MemoryCache()
    ends = list(run_all(part.asked.suites, models, run_options, cache=cache))
    runs = [end for end in ends if isinstance(end, Run)]
    failures = [end for end in ends if isinstance(end, Failure)]
    if failures and not runs:  # nothing was asked: there is nothing to answer
        raise failures[0].error
    return language_answer(runs, part, failures=failures, seed=seed)
