"""A run of a cloze suite: what a model put into the blanks, stored so that it goes on where it was.

The folder holds ``manifest.json``, ``requests.parquet``, ``fills.parquet``, ``verdicts.parquet``,
``summary.json`` and a copy of the suite. While the model is asked, answers wait in ``parts``.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.answers import FILLS, REQUESTS, read_table, write_table
from cimento.cloze.asking import FillPlan, FillSource, fills_table, plan_fills, requests_table
from cimento.cloze.judging.candidates import Candidate
from cimento.cloze.load import LoadedCloze, load_cloze
from cimento.cloze.records import ClozeItem, ClozeSuite
from cimento.cloze.templates import SharedForm, expand_suite
from cimento.cloze.writers.native import write_folder
from cimento.engine.cache import AnswerCache
from cimento.engine.scores import SCORING_VERSION, Progress
from cimento.errors import InputError, TableError
from cimento.files import write_text
from cimento.models.fill import CHOICE, FillPolicy
from cimento.runs.manifest import describe
from cimento.runs.store import RunFolder, find_runs
from cimento.sources import Asking, name_of

if TYPE_CHECKING:
    import polars as pl

    from cimento.runs.store import Manifest
    from cimento.suites.model import JsonValue

SHARD = 128
"""Texts that are asked and stored together."""

PARTS = "parts"
KIND = "cloze"
_PART_INPUTS = "inputs.json"


@dataclass(frozen=True, kw_only=True)
class ClozeRun:
    """One cloze suite answered by one model.

    Attributes:
        suite: as its author wrote it.
        items: what was asked, in order.
        shared: seeds of templates that belong to two categories.
        model: label of the model, ``name@revision``.
        model_kind: ``masked``, ``causal``, ``seq2seq`` or ``replay``.
        manifest: what the run was made of and with.
        requests: the requests table.
        fills: the fills table.
        warnings: what was noticed on the way.
        folder: where it is stored; None where it is not.
    """

    suite: ClozeSuite
    items: tuple[ClozeItem, ...]
    shared: tuple[SharedForm, ...]
    model: str
    model_kind: str
    manifest: Manifest
    requests: pl.DataFrame
    fills: pl.DataFrame
    warnings: tuple[str, ...] = ()
    folder: Path | None = None

    @property
    def methods(self) -> tuple[str, ...]:
        """How candidates were found, in the order in which they were."""
        return tuple(name for name in self._all_methods if not name.startswith(CHOICE))

    @property
    def choices(self) -> tuple[str, ...]:
        """The rules by which options were scored."""
        return tuple(
            name.removeprefix(CHOICE) for name in self._all_methods if name.startswith(CHOICE)
        )

    @property
    def _all_methods(self) -> list[str]:
        return self.fills["method"].unique(maintain_order=True).to_list()

    def answers(self, method: str) -> dict[str, list[Answer]]:
        """What was found by one method, for each item, by rank."""
        import polars as pl

        rows = self.fills.filter(pl.col("method") == method).sort("request", "rank")
        columns = ("request", "rank", "candidate", "logprob_nats", "n_pieces", "kind")
        by_request: dict[int, list[Answer]] = {}
        for request, *cells in rows.select(columns).iter_rows():
            by_request.setdefault(request, []).append(Answer(*cells))
        return {
            item: by_request.get(request, [])
            for item, request in self.requests.select("item", "request").iter_rows()
        }

    def candidates(self, method: str) -> list[Candidate]:
        """The same as candidates to be judged."""
        return [
            Candidate(item, each.rank, each.text, each.probability)
            for item, answers in self.answers(method).items()
            for each in answers
        ]


@dataclass(frozen=True, slots=True)
class Answer:
    """A row of the fills table.

    Attributes:
        rank: from 1.
        text: the candidate.
        logprob_nats: None where it was not scored.
        n_pieces: tokens it takes; None where that is not known.
        kind: see `cimento.models.fill.Fill`.
    """

    rank: int
    text: str
    logprob_nats: float | None
    n_pieces: int | None
    kind: str

    @property
    def probability(self) -> float | None:
        """At the blank; None where it was not scored."""
        return None if self.logprob_nats is None else math.exp(self.logprob_nats)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClozeEvaluation:
    """How cloze suites are asked.

    Attributes:
        asking: how models score texts.
        policy: how blanks are asked for.
        output: folder of runs; None keeps runs in memory.
        force: run again what is already stored.
    """

    asking: Asking = field(default_factory=Asking)
    policy: FillPolicy = field(default_factory=FillPolicy)
    output: Path | None = None
    force: bool = False

    def run(
        self,
        loaded: LoadedCloze,
        source: FillSource,
        *,
        cache: AnswerCache,
        progress: Progress | None = None,
    ) -> ClozeRun:
        """One suite and one model to a run; a run that is stored already is opened.

        Raises:
            CimentoError: the suite cannot be asked, or the model cannot answer.
        """
        expansion = expand_suite(loaded.suite)
        items = expansion.items[: self.asking.limit]
        plan = plan_fills(items)
        inputs = self._inputs(loaded, source)
        folder = self._folder(loaded, source)
        if folder is not None and self.is_stored(loaded, source):
            return open_run(folder)
        if folder is not None:
            folder.prepare()
            folder.reopen()
        fills = _answered(plan, source, folder, inputs, cache=cache, progress=progress)
        made = ClozeRun(
            suite=loaded.suite,
            items=items,
            shared=expansion.shared,
            model=source.label,
            model_kind=source.card().kind,
            manifest=self._manifest(loaded, source, inputs),
            requests=requests_table(plan, suite=loaded.suite.name),
            fills=fills,
            warnings=tuple(map(str, loaded.warnings)),
        )
        return made if folder is None else _stored(made, folder)

    def is_stored(self, loaded: LoadedCloze, source: FillSource) -> bool:
        """Whether the run is stored already, and may be taken as it is."""
        folder = self._folder(loaded, source)
        there = folder is not None and folder.is_done(self._inputs(loaded, source))
        return there and not self.force

    def _folder(self, loaded: LoadedCloze, source: FillSource) -> RunFolder | None:
        if self.output is None:
            return None
        both = f"{self.asking.digest()} {self.policy.digest()}"
        policy = hashlib.sha256(both.encode()).hexdigest()[:8]
        return RunFolder.named(
            self.output,
            suite=loaded.suite.name,
            sha256=loaded.sha256,
            model=source.label,
            policy=policy,
        )

    def _inputs(self, loaded: LoadedCloze, source: FillSource) -> dict[str, JsonValue]:
        """What decides whether a stored run answers the same question."""
        policy = dataclasses.asdict(self.policy)
        return {
            **source.inputs,
            "suite": loaded.sha256,
            "limit": self.asking.limit,
            "fill": {**policy, "choice": list(self.policy.choice)},
            "scoring_version": SCORING_VERSION,
        }

    def _manifest(
        self, loaded: LoadedCloze, source: FillSource, inputs: dict[str, JsonValue]
    ) -> dict[str, JsonValue]:
        suite = loaded.suite
        return describe(
            kind=KIND,
            label=source.label,
            model=source.card(),
            suite={"name": suite.name, "version": suite.meta.version, "sha256": loaded.sha256},
            asking=self.asking,
            fill=self.policy,
            named=name_of(source),
            inputs=inputs,
            warnings=list(map(str, loaded.warnings)),
        )


def open_run(folder: RunFolder, manifest: Manifest | None = None) -> ClozeRun:
    """A run as it was stored.

    Args:
        folder: where.
        manifest: of the run, where it was read before; None reads it.

    Raises:
        TableError: there is no finished run of a cloze suite, or a part of it cannot be read.
    """
    manifest = folder.manifest() if manifest is None else manifest
    folder.verify(manifest)
    model, label = manifest.get("model"), manifest.get("label")
    if manifest.get("kind") != KIND or not isinstance(model, dict) or not isinstance(label, str):
        raise TableError(
            where=str(folder.path),
            seen="this is not the run of a cloze suite",
            todo="Give a folder that `cimento run` made from a suite of kind cloze or templates.",
        )
    loaded = load_cloze(folder.suite_folder)
    expansion = expand_suite(loaded.suite)
    requests = read_table(REQUESTS, folder.path)
    asked = set(requests["item"].to_list())
    warnings = manifest.get("warnings")
    return ClozeRun(
        suite=loaded.suite,
        items=tuple(item for item in expansion.items if item.id in asked),
        shared=expansion.shared,
        model=label,
        model_kind=str(model.get("kind", "")),
        manifest=manifest,
        requests=requests,
        fills=read_table(FILLS, folder.path),
        warnings=tuple(map(str, warnings)) if isinstance(warnings, list) else (),
        folder=folder.path,
    )


def open_runs(paths: Iterable[Path]) -> list[ClozeRun]:
    """The runs of cloze suites in some folders; runs of other suites are passed over.

    Raises:
        TableError: a folder holds no such run.
    """
    found: list[ClozeRun] = []
    for path in paths:
        own = [each for each in find_runs(path) if each.manifest().get("kind") == KIND]
        if not own:
            raise TableError(
                where=str(path),
                seen="there is no run of a cloze suite here",
                todo="Give a folder that `cimento run` made from a suite of kind cloze.",
            )
        found += map(open_run, own)
    return found


def _stored(made: ClozeRun, folder: RunFolder) -> ClozeRun:
    """Write the run, its manifest last."""
    write_folder(made.suite, folder.suite_folder)
    write_table(made.requests, REQUESTS, folder.path)
    write_table(made.fills, FILLS, folder.path)
    # Before the manifest, which holds the checksum of every file.
    shutil.rmtree(folder.path / PARTS, ignore_errors=True)
    folder.finish(made.manifest)
    return dataclasses.replace(made, folder=folder.path)


def _answered(
    plan: FillPlan,
    source: FillSource,
    folder: RunFolder | None,
    inputs: dict[str, JsonValue],
    *,
    cache: AnswerCache,
    progress: Progress | None,
) -> pl.DataFrame:
    """The fills table, shard by shard; a shard that is stored already is read."""
    import polars as pl

    if not plan.requests:
        raise InputError(where="suite", seen="there is no item to ask", todo="Add one.")
    parts = _parts(folder, inputs) if folder is not None else None
    tables = []
    numbers = range(len(plan.requests))
    for start in range(0, len(numbers), SHARD):
        some = numbers[start : start + SHARD]
        tables.append(_shard(plan, some, source, parts, cache=cache))
        if progress is not None:
            progress(min(start + SHARD, len(numbers)), len(numbers))
    return pl.concat(tables)


def _shard(
    plan: FillPlan,
    numbers: Sequence[int],
    source: FillSource,
    parts: Path | None,
    *,
    cache: AnswerCache,
) -> pl.DataFrame:
    place = parts / f"{numbers[0]:08d}" if parts is not None else None
    if place is not None and place.is_dir():
        try:
            return read_table(FILLS, place)
        except TableError:
            shutil.rmtree(place)
    fills = source.fill(plan, numbers, cache=cache)
    table = fills_table(list(zip(numbers, fills, strict=True)))
    if place is not None:
        write_table(table, FILLS, place)
    return table


def _parts(folder: RunFolder, inputs: dict[str, JsonValue]) -> Path:
    """Where shards wait; those that answer another question are thrown away."""
    parts = folder.path / PARTS
    wanted = json.dumps(inputs, sort_keys=True)
    try:
        same = (parts / _PART_INPUTS).read_text(encoding="utf-8") == wanted
    except OSError:
        same = False
    if not same:
        shutil.rmtree(parts, ignore_errors=True)
        write_text(wanted, parts / _PART_INPUTS)
    return parts
