"""What the items of judgments belong to, as the suite that people judged says it."""

from __future__ import annotations

from collections.abc import Sequence

from cimento.errors import UsageError
from cimento.io.clusters import columns_named
from cimento.judgments import Judgment
from cimento.judgments.summaries import EACH_ALONE, ItemClusters
from cimento.kinds.registry import load_suite


def clusters_of_suite(
    judgments: Sequence[Judgment], suite: str, columns: Sequence[str]
) -> ItemClusters:
    """The clusters of the items that were judged.

    Args:
        judgments: of any suites; items of others than this one stand alone.
        suite: name or path of the suite; empty for none.
        columns: of its items, in the place of the clusters that it declares.

    Raises:
        UsageError: columns without a suite or that it lacks, or a suite of none of the judgments.
        CimentoError: the suite cannot be used.
    """
    chosen = [name for text in columns for name in text.split(",") if name]
    if not suite and chosen:
        raise UsageError(
            where=f"--cluster {','.join(columns)}",
            seen="judgments do not say which columns their items have",
            todo="Name the suite that was judged: --suite SUITE.",
        )
    if not suite:
        return EACH_ALONE
    loaded = load_suite(suite)
    judge, asked = loaded.paradigm.judge, loaded.suite
    if chosen:
        asked = judge.clustered(asked, chosen)
    elif not columns_named(getattr(asked, "cluster", ())):
        return EACH_ALONE
    clusters = judge.clusters(asked)
    judged = {(one.suite, one.item) for one in judgments}
    if not any(name == asked.name and item in clusters for name, item in judged):
        named = ", ".join(sorted({name for name, _ in judged}))
        raise UsageError(
            where=f"--suite {suite}",
            seen=f"no judgment is about an item of {asked.name!r}; they are about {named}",
            todo="Name the suite that people judged.",
        )
    return {(asked.name, item): label for item, label in clusters.items()}
