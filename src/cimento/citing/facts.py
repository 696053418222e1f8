"""What must be known of a run to say how it was made: from its folder, or from memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cimento.answers import SCORES, VERDICTS, find_table, read_table
from cimento.errors import TableError
from cimento.judging import Judging
from cimento.runs.run import open_run
from cimento.runs.store import Manifest, RunFolder
from cimento.suites.kinds import ACCEPTABILITY, REGIONS, kind_of
from cimento.suites.load import load_suite
from cimento.suites.model import JsonValue, Meta, Suite

STORIES = "stories"
STORIES_FILE = "stories.jsonl"
_SUMMARY = "summary.json"
CHOICE = "choice:"
"""Begins the condition of verdicts on forced choices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What a methods paragraph is made of.

    Attributes:
        manifest: what the run was made of and with.
        kind: of the suite: ``regions``, ``acceptability``, ``cloze``, ``templates``, ``stories``.
        meta: who made the suite.
        n_items: items that were asked.
        n_conditions: conditions of an item; 0 where that means nothing.
        metric: how the surprisals of a region's tokens became one value.
        predictions: formulas that were judged.
        cluster: the column that says which items belong together.
        factors: of a factorial design, with their levels.
        measures: names of measures of sentences that the run was judged or described on.
        sentences: how the suite was asked and judged, where its paradigm says it.
        outcomes: how many verdicts of each kind single predictions got.
        rates: what ``summary.json`` says of the run; empty where that is not known.
    """

    manifest: Manifest
    kind: str
    meta: Meta
    n_items: int
    n_conditions: int = 0
    metric: str = ""
    predictions: tuple[str, ...] = ()
    cluster: str = ""
    factors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    measures: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    outcomes: Mapping[str, int] = field(default_factory=dict)
    rates: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def model(self) -> Mapping[str, JsonValue]:
        """The model's card."""
        return part(self.manifest, "model")

    @property
    def asking(self) -> Mapping[str, JsonValue]:
        """How the model was asked."""
        return part(self.manifest, "asking")

    @property
    def policy(self) -> Mapping[str, JsonValue]:
        """How texts were scored; empty for a recording, which was scored by somebody else."""
        return {} if self.model.get("kind") == "replay" else part(self.asking, "policy")

    @property
    def judging(self) -> Judging:
        """How the answers were judged."""
        return Judging.from_plain(part(self.manifest, "judging"))

    @property
    def label(self) -> str:
        """The model, by name and revision."""
        return str(self.manifest.get("label", ""))


def part(manifest: Mapping[str, JsonValue], name: str) -> Mapping[str, JsonValue]:
    """An object inside a manifest; empty where there is none."""
    found = manifest.get(name)
    return found if isinstance(found, dict) else {}


def facts_of(
    manifest: Manifest,
    suite: Suite,
    *,
    kind: str = REGIONS,
    verdicts: Iterable[tuple[int | None, str]] = (),
    measures: Iterable[str] = (),
    rates: Mapping[str, JsonValue] | None = None,
) -> RunFacts:
    """The facts of a run of a suite of regions or of acceptability.

    Args:
        manifest: of the run.
        suite: that was asked.
        kind: of the suite.
        verdicts: number of the prediction (None for the conjunction) and verdict, of every item.
        measures: that the run was described on, beside the one that it was judged on.
        rates: what ``summary.json`` says of it.
    """
    judging = Judging.from_plain(part(manifest, "judging"))
    judged = judging.applied(suite)
    return RunFacts(
        manifest=manifest,
        kind=kind,
        meta=suite.meta,
        n_items=len(suite.items),
        n_conditions=len(suite.condition_names),
        metric=judged.metric,
        predictions=tuple(each.formula for each in judged.predictions),
        cluster=suite.cluster,
        factors=suite.factors,
        measures=tuple(dict.fromkeys(filter(None, (judging.measure, *measures)))),
        outcomes=Counter(verdict for number, verdict in verdicts if number is not None),
        rates=rates or {},
    )


def read_facts(folder: RunFolder, manifest: Manifest | None = None) -> RunFacts:
    """The facts of a stored run of any kind.

    Args:
        folder: where.
        manifest: of the run, where it was read before; None reads it.

    Raises:
        TableError: there is no finished run in the folder, or a part of it cannot be read.
    """
    manifest = folder.manifest() if manifest is None else manifest
    if manifest.get("kind") == STORIES:
        return _stories(folder, manifest)
    kind = str(manifest.get("kind") or kind_of(folder.suite_folder))
    if kind in {REGIONS, ACCEPTABILITY}:
        table = read_table(VERDICTS, folder.path)
        return facts_of(
            manifest,
            load_suite(folder.suite_folder).suite,
            kind=kind,
            verdicts=table.select("prediction", "verdict").iter_rows(),
            measures=_measures(folder.path) if kind == ACCEPTABILITY else (),
            rates=_rates(folder),
        )
    return _on_the_road(folder, manifest)


def _rates(folder: RunFolder) -> Mapping[str, JsonValue]:
    """What was stored of the rates; empty where nothing was."""
    if not (folder.path / _SUMMARY).is_file():
        return {}
    whole = folder.read_json(_SUMMARY)
    runs = whole.get("runs") if isinstance(whole, dict) else None
    first = runs[0] if isinstance(runs, list) and runs else None
    return first if isinstance(first, dict) else {}


def _on_the_road(folder: RunFolder, manifest: Manifest) -> RunFacts:
    """Of a run whose paradigm says itself how it was made."""
    run = open_run(folder.path)
    return RunFacts(
        manifest=manifest,
        kind=kind_of(folder.suite_folder),
        meta=run.suite.meta,
        n_items=run.n_items,
        sentences=run.paradigm.methods(run).sentences,
    )


def _stories(folder: RunFolder, manifest: Manifest) -> RunFacts:
    path = folder.path / STORIES_FILE
    try:
        n_items = sum(bool(line.strip()) for line in path.read_text("utf-8").split("\n"))
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(where=str(path), seen=f"cannot be read ({error})") from error
    suite = part(manifest, "suite")
    return RunFacts(
        manifest=manifest,
        kind=STORIES,
        meta=_meta({"name": suite.get("name"), **part(suite, "meta")}),
        n_items=n_items,
        outcomes=_outcomes(folder.path),
    )


def _meta(plain: Mapping[str, JsonValue]) -> Meta:
    """Who made a suite, from a manifest or a ``suite.toml``."""

    def text(name: str) -> str:
        return str(plain.get(name) or "")

    return Meta(
        name=text("name"),
        version=text("version"),
        language=text("language"),
        licence=text("licence"),
        citation=text("citation"),
        author=text("author"),
        reference=text("reference"),
    )


def _outcomes(path: Path) -> Mapping[str, int]:
    """How many verdicts of each kind; empty where nothing was judged."""
    table = find_table(VERDICTS, path)
    return {} if table is None else Counter(table["verdict"].to_list())


def _measures(path: Path) -> list[str]:
    """The measures that a run of acceptability was described on; empty where it was on none."""
    table = find_table(SCORES, path)
    return [] if table is None else [*map(str, table["measure"].unique(maintain_order=True))]
