"""Clusters that are chosen for a run, in the place of those that its suite declares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, SerializerFunctionWrapHandler, model_serializer

from cimento.errors import UsageError, did_you_mean
from cimento.io.clusters import columns_named
from cimento.kinds.base import ParadigmOptions, option_names
from cimento.records.outcomes import design_of
from cimento.suites import Suite
from cimento.suites.checks.designs import cluster_faults

if TYPE_CHECKING:
    from cimento.kinds.run import Run

_NAME = "cluster"


class ClusteredOptions(ParadigmOptions):
    """The options of kinds of suites whose items may belong together.

    Attributes:
        cluster: columns of the items whose values say which items belong together; two or more are
            crossed. Empty for what the suite declares.
    """

    cluster: Annotated[tuple[str, ...], BeforeValidator(option_names)] = Field(
        default=(), description="columns of items that belong together, not those of the suite"
    )

    @model_serializer(mode="wrap")
    def _unless_unset(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The options as stored, without `cluster` where the suite's own clusters hold."""
        plain: dict[str, Any] = write(self)
        if not self.cluster:
            plain.pop(_NAME, None)
        return plain


def chosen_clusters(options: ParadigmOptions) -> tuple[str, ...]:
    """The columns that options choose as clusters; empty for what the suite declares."""
    return options.cluster if isinstance(options, ClusteredOptions) else ()


def in_clusters(suite: Suite, columns: Sequence[str]) -> Suite:
    """A suite of sentences with other clusters than it declares.

    Args:
        suite: the suite.
        columns: columns of its items; two or more are crossed.

    Raises:
        UsageError: there are no such columns, or they do not give each item one cluster.
    """
    chosen = replace(suite, cluster=columns)
    known = [name for name in suite.column_names if name]
    faults = [one.seen for one in cluster_faults(chosen)] if {*columns} <= {*known} else []
    refuse_unusable(columns, faults, suite=suite.name, known=known)
    return chosen


def with_clusters(runs: Iterable[Run], columns: Sequence[str]) -> list[Run]:
    """Stored runs whose answers are judged again with other clusters than those of their suites.

    Args:
        runs: the runs.
        columns: of the items, as an option has them (``template,verb``); none leaves runs as they
            are.

    Raises:
        UsageError: a suite lacks one of the columns, or has no clusters.
    """
    chosen = ",".join(columns)
    return [run.judge(cluster=chosen) for run in runs] if chosen else list(runs)


def designs_said(runs: Iterable[Run]) -> list[str]:
    """What belongs together in the suites of some runs, and what intervals make of it."""
    return list(dict.fromkeys(filter(None, map(_design_said, runs))))


def cluster_columns(run: Run) -> tuple[str, ...]:
    """The columns by which the items of a run belong together; none where each stands alone."""
    return columns_named(getattr(run.suite, _NAME, ())) or run.paradigm.reader.together


def _design_said(run: Run) -> str:
    """A sentence on the clusters of a run's items; empty where each stands alone."""
    if not any(estimate.clustered for estimate in run.estimates()):
        return ""
    rows = run.outcomes().select("item", "cluster").unique(subset="item", maintain_order=True)
    cells = rows["cluster"].to_list()
    columns = cluster_columns(run)
    design = design_of(rows["item"].to_list(), cells)
    if not columns or not design.clustered:
        return ""
    by = " × ".join(columns)
    sizes = Counter(filter(None, cells))
    if not design.crossed and len(set(sizes.values())) > 1:
        [(largest, most)] = sizes.most_common(1)
        by += f"; the largest, {largest!r}, has {most}"
    alike = " or of one ".join(columns)
    return (
        f"{run.suite_name}: {design.described} ({by}). Intervals and tests take it that items of"
        f" one {alike} may behave alike."
    )


def refuse_unusable(
    columns: Sequence[str], faults: Sequence[str], *, suite: str, known: Collection[str]
) -> None:
    """Refuse chosen clusters that are not columns of a suite, or that leave items without one.

    Args:
        columns: those chosen.
        faults: what is wrong with columns that the suite has, as sentences.
        suite: name of the suite.
        known: the columns of its items.

    Raises:
        UsageError: a column is missing or named twice, or there are faults.
    """
    where = f"--cluster {','.join(columns)}"
    if missing := [name for name in columns if name not in known]:
        named = " and ".join(map(repr, missing))
        seen = f"the items of {suite!r} have no column {named}"
        raise UsageError(where=where, seen=seen, todo=did_you_mean(missing[0], known))
    if len(set(columns)) < len(columns):
        raise UsageError(where=where, seen="a column is named twice", todo="Name each once.")
    if faults:
        more = f" ({len(faults) - 1} more like this)" if len(faults) > 1 else ""
        raise UsageError(
            where=f"{where}, suite {suite!r}",
            seen=f"{faults[0]}{more}",
            todo="Choose a column that has one value for each item.",
        )
