"""What models know of a language: the answer over all of its sets, and the call that asks for it."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from cimento._version import __version__
from cimento.compare.phenomena import (
    Disagreement,
    PhenomenonChange,
    PhenomenonRate,
    disagreements,
    paradigms_of,
    phenomenon_changes,
    phenomenon_rates,
)
from cimento.compare.set_results import AuthorsNumber, Example, SetResult, examples_of, set_results
from cimento.engine.cache import MemoryCache
from cimento.evaluation import Failure, run_all
from cimento.evaluation.budget import AskedPart, asked_part, is_offline, parse_budget
from cimento.evaluation.language_suites import (
    STARTER,
    MissingSet,
    SetSettings,
    language_suites,
)
from cimento.io.option_types import EvaluationKeywords
from cimento.kinds.run import Run
from cimento.models.in_memory import as_scorers, split_tokenizer
from cimento.options import from_names
from cimento.records.store import manifest_part
from cimento.records.summary import JsonSchema, described_schema
from cimento.suites.language_sets import (
    accept_licenses,
    accepted_licenses,
    folders_of_sets,
    refuse_no_sets,
    sets_of,
)
from cimento.suites.lock import LOCK
from cimento.suites.registry_file import read_registry

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from cimento.models.in_memory import ModelLike
    from cimento.suites.published import PublishedDataset

ANSWER_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedSet:
    """A set of the answer, as it was used.

    Attributes:
        set: name of the dataset.
        title: what it is.
        license: its license, or what is said of it.
        citation: how to cite it.
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
        suite: its name.
        model: label of the model.
        message: why, and what to do.
    """

    suite: str
    model: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The random part of all sets that was asked about.

    Attributes:
        items: its size.
        of_items: items of all sets.
        seed: of the draw.
    """

    items: int
    of_items: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageAnswer:
    """What some models know of a language.

    Attributes:
        language: its code.
        models: labels of the models.
        phenomena: the rate of each model on each phenomenon, the surest of the first model first.
        changes: paired differences of models on each phenomenon.
        disagreements: pairs of sets that disagree about a phenomenon.
        sets: the results on each set.
        starter: the rates on the suites that come with cimento, which are in nothing above.
        examples: three items of each phenomenon for each model.
        used: the sets that were asked about.
        missing: sets that could not be had.
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
    starter: tuple[PhenomenonRate, ...] = ()
    examples: tuple[Example, ...] = ()
    used: tuple[UsedSet, ...] = ()
    missing: tuple[MissingSet, ...] = ()
    not_run: tuple[NotRun, ...] = ()
    sample: Sample | None = None
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


@functools.cache
def _adapter() -> TypeAdapter[LanguageAnswer]:
    from pydantic import TypeAdapter

    return TypeAdapter(LanguageAnswer)


def answer_schema() -> JsonSchema:
    """The JSON schema (draft 2020-12) of answers, described by the docstrings of the records."""
    schema: JsonSchema = _adapter().json_schema(mode="serialization")
    return described_schema(schema, LanguageAnswer, _RECORDS, name=f"language:{ANSWER_VERSION}")


_RECORDS = (
    PhenomenonRate, PhenomenonChange, Disagreement, SetResult, AuthorsNumber, Example, UsedSet,
    MissingSet, NotRun, Sample,
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
        runs: of the suites of a language, by one model or several.
        part: the suites, or the random part of them that was asked.
        failures: runs that could not be made.
        seed: of bootstraps.
    """
    asked, set_of = part.asked, part.asked.set_of
    published = [run for run in runs if set_of.get(run.suite_name) != STARTER]
    starters = [run for run in runs if set_of.get(run.suite_name) == STARTER]
    paradigms = paradigms_of(published, set_of, mapped_phenomenon)
    models = tuple(dict.fromkeys(run.model for run in runs))
    return LanguageAnswer(
        language=asked.language,
        models=models,
        phenomena=tuple(phenomenon_rates(paradigms, seed=seed)),
        changes=phenomenon_changes(paradigms, seed=seed),
        disagreements=disagreements(paradigms, seed=seed),
        sets=tuple(set_results(paradigms, published, set_of)),
        starter=tuple(
            phenomenon_rates(paradigms_of(starters, set_of, mapped_phenomenon), seed=seed)
        ),
        examples=tuple(
            example for model in models for example in examples_of(paradigms, published, model)
        ),
        used=tuple(_used(part, published)),
        missing=asked.missing,
        not_run=tuple(
            NotRun(suite=one.suite, model=one.model, message=str(one.error)) for one in failures
        ),
        sample=None
        if part.is_whole
        else Sample(items=part.items, of_items=part.of_items, seed=part.seed),
    )


def mapped_phenomenon(name: str, label: str) -> str | None:
    """The phenomenon that a label of a set stands for; None where the map does not have it."""
    from cimento.suites.phenomena import phenomenon_of

    return phenomenon_of(suite=name, label=label)


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
        used.append(
            UsedSet(
                set=one.name, title=dataset.title, license=dataset.license,
                citation=dataset.citation, address=dataset.address,
                revision=", ".join(sorted(revisions)), n_items=n, of_items=part.by_set.get(one.name, n),
            )
        )  # fmt: skip
    return used


def evaluate_language(
    language: str,
    models: ModelLike | Sequence[ModelLike],
    *,
    sets: Sequence[str] = (),
    without: Sequence[str] = (),
    budget: str = "",
    accept_license: bool = False,
    sets_folder: str | Path | None = None,
    registry: str | Path | None = None,
    lock: str | Path = LOCK,
    output: str | Path | None = None,
    force: bool = False,
    seed: int = 0,
    **options: Unpack[EvaluationKeywords],
) -> LanguageAnswer:
    """Ask one model or several about every published set of a language that can be had.

    Args:
        language: ISO 639-1 code, or 639-3 if there is none.
        models: one or several, each as for `evaluate`.
        sets: names of datasets; empty for all.
        without: names of datasets to leave out.
        budget: a time such as ``10m``, or a number of items: a random part of the sets is asked.
        accept_license: whether sets for which no license is stated are used; this is remembered.
        sets_folder: a folder of fetched sets; None for the working folder and that of the cache.
        registry: another list of sets in the form of our own; None for ours.
        lock: the lock file of sets that no registry pins.
        output: folder in which runs are stored, by language; None keeps them in memory.
        force: whether runs that are already stored are made again.
        seed: of the random part and of bootstraps.
        options: as for `evaluate`.

    Returns:
        What the models know, by phenomenon and set; as text, what the command prints.

    Raises:
        CimentoError: there is no set of the language, or an option or a model cannot be used.
    """
    several = list(models) if isinstance(models, list | tuple) else [models]
    entries = read_registry(None if registry is None else Path(registry))
    chosen = sets_of(language, entries.values(), only=sets, without=without)
    refuse_no_sets(language, chosen)
    if accept_license:
        accept_licenses(chosen)
    settings = SetSettings(
        folders=folders_of_sets(None if sets_folder is None else Path(sets_folder)),
        lock=Path(lock),
        accepted=accepted_licenses(),
        offline=is_offline(),
    )
    named, tokenizer = split_tokenizer(options)
    store = None if output is None else Path(output) / language
    run_options = from_names({"output": store, "force": force, **named})
    ready = as_scorers(several, run_options.scoring, tokenizer, keeps=store is not None)
    part = asked_part(
        language_suites(chosen, settings, language=language),
        ready,
        run_options,
        budget=parse_budget(budget),
        seed=seed,
    )
    cache = None if store is not None else MemoryCache()
    ends = list(run_all(part.asked.suites, ready, run_options, cache=cache))
    return language_answer(
        [end for end in ends if isinstance(end, Run)],
        part,
        failures=[end for end in ends if isinstance(end, Failure)],
        seed=seed,
    )
