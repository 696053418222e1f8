"""A conformance kit for paradigms: whether a kind of test has all that every kind has.

Anyone who writes a `Paradigm` can run it::

    for finding in check_paradigm("my-suite", "demo-causal"):
        print(finding)
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from cimento.engine.cache import FileCache, MemoryCache
from cimento.errors import CimentoError, ModelError, PluginError, UsageError
from cimento.evaluation import evaluate
from cimento.io.files import read_bytes
from cimento.io.tables import validate_table
from cimento.kinds.paradigm import surveyor_of
from cimento.kinds.registry import LoadedSuite, SuiteLike, load_suites
from cimento.kinds.run import Run, open_run, open_runs
from cimento.kinds.run_line import place_of
from cimento.models.registry import AnyScorer
from cimento.records.outcomes import ESTIMATES, OUTCOMES, rate
from cimento.records.summary import Summary
from cimento.suites.reading import sha256_of
from cimento.testing.models import Finding

_ASKED = frozenset({"score", "score_columns", "score_options", "reply", "read", "fill"})
"""What models are asked by, as the protocols in `cimento.models` name it."""

_UNHEARD_OF = "an_option_that_nobody_declared"


@dataclass
class _ParadigmTrial:
    """A paradigm being tried out.

    Attributes:
        loaded: a suite of it.
        model: who answers.
        folder: where runs may be stored.
        options: of the paradigm.
    """

    loaded: LoadedSuite
    model: str | AnyScorer
    folder: Path
    options: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def run(self) -> Run:
        """The run as it is stored."""
        return self.again("runs")

    def again(self, name: str, **options: Any) -> Run:  # noqa: ANN401  # each paradigm has its own
        """The run in a folder of its own, or the one that is there."""
        chosen = {**self.options, **options}
        return evaluate(self.loaded, self.model, output=self.folder / name, **chosen)


_Check: TypeAlias = Callable[[_ParadigmTrial], Iterator[Finding]]


def check_paradigm(
    suite: SuiteLike, model: str | AnyScorer, *, options: dict[str, Any] | None = None
) -> list[Finding]:
    """Run every check on the paradigm of a suite.

    Args:
        suite: a small one, by name, path or made in Python; it is asked several times.
        model: who answers, as for `evaluate`; its answers must be the same each time.
        options: options of the paradigm.

    Returns:
        What each check found; the paradigm conforms where all passed.

    Raises:
        CimentoError: the suite cannot be read.
    """
    [loaded] = load_suites(suite)
    findings: list[Finding] = []
    with tempfile.TemporaryDirectory() as folder:
        tried = _ParadigmTrial(loaded, model, Path(folder), dict(options or {}))
        for check in CHECKS:
            name = check.__name__.strip("_").replace("_", " ")
            try:
                findings += check(tried)
            # A paradigm of somebody else may fail in any way; the others are still tried.
            except Exception as error:  # noqa: BLE001
                findings.append(
                    Finding(name, passed=False, detail=f"{type(error).__name__}: {error}")
                )
    return findings


def _is_stored_once(tried: _ParadigmTrial) -> Iterator[Finding]:
    run = tried.run
    before = _content(run)
    again = tried.again("runs")
    opened = open_run(_path(run))
    yield Finding(
        "a stored run is opened and not asked again",
        passed=again.folder == run.folder and _content(run) == before,
        detail=f"{len(before)} files",
    )
    yield Finding(
        "a run is opened as it was stored",
        passed=opened.outcomes().equals(run.outcomes()) and opened.estimates() == run.estimates(),
        detail=repr(opened),
    )
    opened.summary(with_outcomes=True)
    opened.paradigm.presenter.text([opened])
    yield Finding("showing a run changes no byte of it", passed=_content(run) == before, detail="")
    manifest = json.loads((_path(run) / "manifest.json").read_text(encoding="utf-8"))
    unlisted = sorted(before.keys() - manifest["files"].keys() - {"manifest.json"})
    yield Finding(
        "every file is under its checksum", passed=not unlisted, detail=", ".join(unlisted)
    )


def _is_known_by_its_bytes(tried: _ParadigmTrial) -> Iterator[Finding]:
    reading = tried.loaded.reading
    files = tried.loaded.paradigm.reader.files(reading.path)
    yield Finding(
        "the files that decide what a suite is have its sha256",
        passed=not files or sha256_of(*map(read_bytes, files)) == reading.sha256,
        detail=", ".join(file.name for file in files),
    )


def _is_the_same_in_memory(tried: _ParadigmTrial) -> Iterator[Finding]:
    held = evaluate(tried.loaded, tried.model, **tried.options)
    yield Finding(
        "a run that is not stored says the same",
        passed=_same_numbers(held, tried.run),
        detail=repr(held),
    )


def _has_outcomes(tried: _ParadigmTrial) -> Iterator[Finding]:
    table = tried.run.outcomes()
    validate_table(table, OUTCOMES, where="outcomes")
    keys = table.select("item", "question", "method")
    judged = table.filter(table["verdict"].is_not_null())
    lacking = judged.filter((judged["verdict"] == "unscored") != judged["right"].is_null())
    unexplained = table.filter((table["verdict"] == "unscored") & table["reason"].is_null())
    yield Finding(
        "each item has one outcome for a question",
        passed=not keys.is_duplicated().any() and table.height > 0,
        detail=f"{table.height} outcomes",
    )
    yield Finding(
        "all but unscored outcomes count as right or not",
        passed=lacking.is_empty(),
        detail=f"{lacking.height} do not",
    )
    yield Finding(
        "unscored outcomes say why",
        passed=unexplained.is_empty(),
        detail=f"{unexplained.height} do not",
    )


def _has_estimates(tried: _ParadigmTrial) -> Iterator[Finding]:
    run = tried.run
    validate_table(run.table("estimates"), ESTIMATES, where="estimates")
    estimates = run.estimates()
    heads = [estimate for estimate in estimates if estimate.role == "headline"]
    yield Finding("there is one headline", passed=len(heads) == 1, detail=str(len(heads)))
    flat = [
        estimate.question
        for estimate in estimates
        if estimate.low is not None and estimate.low == estimate.high
    ]
    yield Finding(
        "no interval has a width of zero", passed=not flat, detail=", ".join(sorted(set(flat)))
    )
    silent = [
        estimate.question
        for estimate in estimates
        if (estimate.value is None or estimate.low is None) and not estimate.reason
    ]
    yield Finding(
        "what is undefined says why", passed=not silent, detail=", ".join(sorted(set(silent)))
    )
    off = [
        estimate.question
        for estimate in estimates
        if estimate.is_share
        and not estimate.group
        and _counted(run, estimate.question, estimate.method)
        not in (None, (estimate.right, estimate.n))
    ]
    yield Finding(
        "rates are counts of outcomes", passed=not off, detail=", ".join(sorted(set(off)))
    )


def _counted(run: Run, question: str, method: str) -> tuple[int | None, int] | None:
    """Right and scored outcomes of a question; None where no outcome is of it."""
    table = run.outcomes()
    rows = table.filter((table["question"] == question) & (table["method"] == method))
    if rows.is_empty():
        return None
    like = run.estimates()[0]
    counted = rate(rows, like)
    return counted.right, counted.n


def _has_a_summary(tried: _ParadigmTrial) -> Iterator[Finding]:
    summary = Summary(runs=(tried.run.summary(with_outcomes=True),))
    text = summary.to_json()
    yield Finding(
        "the summary is read back from its JSON",
        passed=Summary.from_json(text).to_json() == text,
        detail=f"{len(text)} characters",
    )
    yield Finding(
        "the run is one line for Python", passed="\n" not in repr(tried.run), detail=repr(tried.run)
    )


def _keeps_answers(tried: _ParadigmTrial) -> Iterator[Finding]:
    if isinstance(tried.model, str):
        return
    cache = FileCache(tried.folder / "cache")
    try:
        first = evaluate(tried.loaded, tried.model, cache=cache, **tried.options)
        mute: Any = _Mute(tried.model)
        second = evaluate(tried.loaded, mute, cache=cache, **tried.options)
    finally:
        cache.close()
    yield Finding(
        "answers are kept and not asked for twice",
        passed=_same_numbers(first, second),
        detail=f"{mute.asked} asked again",
    )


class _Mute:
    """A model that encodes and never answers.

    Args:
        model: whose questions it takes.
    """

    def __init__(self, model: AnyScorer) -> None:
        self._model = model
        self.asked = 0
        # Since Python 3.12, protocols look for attributes without asking __getattr__.
        for name in dir(model):
            if not name.startswith("_"):
                known = getattr(model, name)
                setattr(self, name, self._refuse if name in _ASKED else known)

    def _refuse(self, *_arguments: object, **_options: object) -> object:
        self.asked += 1
        raise ModelError(where=repr(self._model), seen="is asked what it had answered already")


def _refuses_what_it_does_not_honor(tried: _ParadigmTrial) -> Iterator[Finding]:
    unheard_of: dict[str, Any] = {_UNHEARD_OF: 1}
    try:
        evaluate(tried.loaded, tried.model, cache=MemoryCache(), **unheard_of)
    except UsageError as error:
        yield Finding("an unknown option is refused", passed=True, detail=str(error))
    else:
        yield Finding("an unknown option is refused", passed=False, detail="it was taken")


def _takes_some_items(tried: _ParadigmTrial) -> Iterator[Finding]:
    name = "a limit asks some of the items, or it is refused"
    try:
        few = evaluate(tried.loaded, tried.model, limit=1, **tried.options)
    except UsageError as error:
        yield _refused(name, "--limit", error)
        return
    asked = few.outcomes()["item"].n_unique()
    whole = tried.run.outcomes()["item"].n_unique()
    yield Finding(name, passed=asked < whole or whole == 1, detail=str(asked))


def _refused(name: str, flag: str, error: UsageError) -> Finding:
    """The finding that an option is refused, as it may be; another error is a fault."""
    allowed = flag in error.where
    return Finding(name, passed=allowed, detail=f"{'not supported: ' * allowed}{error}")


def _asks_adaptively(tried: _ParadigmTrial) -> Iterator[Finding]:
    name = "items of an adaptive run are judged as in the whole, or it is refused"
    keys = ["item", "question", "method"]
    # Other texts in a batch change the last bits of values, which are not compared.
    whole = tried.run.outcomes().sort(keys).select(*keys, "verdict", "right")
    for precision in (_EXACT, _COARSE):
        chosen: dict[str, Any] = {**tried.options, "adaptive": True, "precision": precision}
        try:
            run = evaluate(tried.loaded, tried.model, **chosen)
        except UsageError as error:
            yield _refused(name, "--adaptive", error)
            return
        outcomes = run.outcomes().sort(keys).select(*keys, "verdict", "right")
        asked = whole.filter(whole["item"].is_in(outcomes["item"].implode()))
        if not outcomes.equals(asked if precision == _COARSE else whole):
            yield Finding(
                name, passed=False, detail=f"precision {precision:g}: {run.n_items} items"
            )
            return
    yield Finding(name, passed=True, detail=f"{run.n_items} of {tried.run.n_items} items")


_EXACT, _COARSE = 0.001, 0.45
"""A precision that is reached with all items only, and one that a few items reach."""


def _asks_repeats(tried: _ParadigmTrial) -> Iterator[Finding]:
    name = "two items that ask the same are judged alike"
    loaded, twin = tried.loaded, "the same once more"
    held = _with_a_twin(loaded.suite, loaded.paradigm.reader.groups(loaded.suite).ids, twin)
    if held is None:
        yield Finding(name, passed=True, detail="not tried: no tuple of records with ids")
        return
    suite, item = held
    reading = replace(loaded.reading, suite=suite)
    try:
        run = evaluate(replace(loaded, reading=reading), tried.model, **tried.options)
        first, second = (_judged_of(run, id_) for id_ in (item, twin))
    except PluginError:
        raise
    except CimentoError as error:
        yield Finding(name, passed=True, detail=f"not supported: {error}")
        return
    yield Finding(name, passed=first == second, detail=f"{len(first)} and {len(second)} outcomes")


def _with_a_twin(suite: Any, ids: Sequence[str], twin: str) -> tuple[Any, str] | None:  # noqa: ANN401
    """A suite with its first item once more, under another id, and the id of this item.

    None where its items are not a field of records with these ids.
    """
    for part in fields(suite) if is_dataclass(suite) else ():
        items: Any = getattr(suite, part.name)
        if not items or not isinstance(items, tuple) or not is_dataclass(items[0]):
            continue
        if [getattr(item, "id", None) for item in items] == [*ids]:
            first: Any = items[0]
            again = replace(first, id=twin)
            return replace(suite, **{part.name: (*items, again)}), first.id
    return None


def _judged_of(run: Run, item: str) -> list[tuple[object, ...]]:
    table = run.outcomes()
    return table.filter(table["item"] == item).select("question", "verdict", "right").rows()


def _is_read_and_written(tried: _ParadigmTrial) -> Iterator[Finding]:
    paradigm, folder = tried.loaded.paradigm, tried.folder / "written"
    paradigm.reader.write(tried.loaded.suite, folder)
    read = paradigm.reader.read(folder)
    yield Finding(
        "a suite that is written is read as it was",
        passed=read.suite == tried.loaded.suite,
        detail=f"{len(read.faults)} faults",
    )


def _is_described(tried: _ParadigmTrial) -> Iterator[Finding]:
    loaded = tried.loaded
    shown = loaded.paradigm.presenter.describe(loaded.suite, 1)
    audited = loaded.paradigm.reader.audit(loaded.reading)
    yield Finding(
        "a suite is described by its name", passed=loaded.suite.name in shown, detail=shown[:80]
    )
    yield Finding(
        "an audit of a suite is JSON",
        passed=bool(json.dumps(audited.record)),
        detail=f"{len(audited.faults)} faults",
    )


def _asks_people(tried: _ParadigmTrial) -> Iterator[Finding]:
    name = "people are asked about a suite, or a message says that they are not"
    try:
        surveyor = surveyor_of(tried.loaded.paradigm, tried.loaded.suite)
        asked = surveyor.survey_items(tried.loaded.suite, None)
    except UsageError as error:
        yield Finding(name, passed=True, detail=str(error))
        return
    bare = [item.item for item in asked.items if not item.lines and not item.options]
    yield Finding(name, passed=bool(asked.items) and not bare, detail=f"{len(asked.items)} items")


def _is_judged_again(tried: _ParadigmTrial) -> Iterator[Finding]:
    before = _content(tried.run)
    again = tried.run.judge(**tried.options)
    yield Finding(
        "a run is judged again from its tables, and not changed",
        passed=_same_numbers(again, tried.run) and _content(tried.run) == before,
        detail=repr(again),
    )


def _is_opened_among_others(tried: _ParadigmTrial) -> Iterator[Finding]:
    path = _path(tried.run)
    names = [run.suite.name for run in open_runs(str(path.parent.parent))]
    yield Finding(
        "a folder of runs is opened by its name", passed=tried.loaded.suite.name in names, detail=""
    )


CHECKS: tuple[_Check, ...] = (
    _is_read_and_written,
    _is_described,
    _asks_people,
    _is_stored_once,
    _is_judged_again,
    _is_known_by_its_bytes,
    _is_the_same_in_memory,
    _is_opened_among_others,
    _has_outcomes,
    _has_estimates,
    _has_a_summary,
    _keeps_answers,
    _takes_some_items,
    _asks_adaptively,
    _asks_repeats,
    _refuses_what_it_does_not_honor,
)


def _same_numbers(one: Run, other: Run) -> bool:
    return one.outcomes().equals(other.outcomes()) and one.estimates() == other.estimates()


def _path(run: Run) -> Path:
    """Folder of a run that is stored.

    Raises:
        CimentoError: it is not.
    """
    if run.folder is None:
        raise CimentoError(where=place_of(run), seen="it is not stored")
    return run.folder


def _content(run: Run) -> dict[str, str]:
    """Every file of a run with its sha256."""
    folder = _path(run)
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
