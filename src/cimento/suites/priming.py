"""Primed copies of suites: sentences of other items come before each sentence or blank.

People accept islands more readily after having read some (Snyder 2000,
doi:10.1162/002438900554479); a model may profit from a few examples of the same phenomenon in a
related language.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from cimento.errors import UsageError, need_known
from cimento.suites import Item, Suite, sentence
from cimento.suites.cloze import ROLES, ClozeItem, ClozeSuite, cluster_of, expand_suite
from cimento.suites.derived import PHENOMENON, PROVENANCE, origin_of, remade

COLUMN = "context"
"""The column of the earlier sentences."""


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence that may come before another one.

    Attributes:
        text: the sentence.
        phenomenon: what its item is about; empty where that is not said.
        group: its item, or the cluster of items that say the same.
    """

    text: str
    phenomenon: str
    group: Hashable


def sentence_examples(suite: Suite, condition: str) -> list[Example]:
    """The sentences of one condition, an example per item.

    Raises:
        UsageError: there is no such condition.
    """
    need_known(
        condition,
        suite.condition_names,
        where=f"condition {condition!r}",
        seen=f"the suite {suite.name!r} has no such condition",
    )
    return [
        Example(
            sentence(item.condition(condition), rule=suite.join),
            item.column(PHENOMENON) or "",
            item.id,
        )
        for item in suite.items
    ]


def filled_examples(suite: ClozeSuite, role: str) -> list[Example]:
    """The different texts of a suite of blanks with an option of one role filled in.

    Args:
        suite: the suite; items without such an option are left out.
        role: ``target``, ``plausible`` or ``implausible``.

    Raises:
        UsageError: there is no such role, or no item has such an option.
    """
    need_known(role, ROLES, where=f"condition {role!r}", seen="options have no such role")
    [asked] = [known for known in ROLES if known == role]
    examples = {
        item.filled(options[0]): Example(
            item.filled(options[0]),
            item.columns.get(PHENOMENON, ""),
            cluster_of(item, suite.cluster),
        )
        for item in expand_suite(suite).items
        if (options := item.spellings(asked))
    }
    if not examples:
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen=f"none of its blanks has a {role} that could be filled in",
            todo="Give another --condition, or a suite with expected answers by --from.",
        )
    return list(examples.values())


def prime(
    suite: Suite | ClozeSuite,
    condition: str,
    n: int,
    *,
    seed: int,
    sha256: str = "",
    source: Suite | ClozeSuite | None = None,
) -> Suite | ClozeSuite:
    """A suite in which `n` sentences of other items precede every sentence or blank.

    They are of the same phenomenon if it has enough, and never of the item's own cluster. All
    sentences of an item have the same in the column ``context``, for ``--context-column context``,
    so that compared sentences differ in nothing else. With blanks they are a part of the text that
    is asked; templates and expressions are written out.

    Args:
        suite: the suite.
        condition: condition of the preceding sentences, such as ``long_island``; of blanks, the
            role of the option that is filled in.
        n: number of preceding sentences.
        seed: seed of their random choice.
        sha256: digest of the suite, for the provenance.
        source: the suite of the preceding sentences; None for the suite itself.

    Raises:
        UsageError: there is no such condition, or there are too few other items.
    """
    others = suite if source is None else source
    examples = (
        sentence_examples(others, condition)
        if isinstance(others, Suite)
        else filled_examples(others, condition)
    )
    draw = _Draw(examples, n, random.Random(seed), is_own=source is None)  # noqa: S311 - stimuli
    said = {**origin_of(suite.meta, sha256), "condition": condition, "n": n, "seed": seed}
    said |= {} if source is None else {"source": source.name}
    name = f"after-{n}-{condition}" if source is None else f"after-{n}-{source.name}-{condition}"
    if isinstance(suite, Suite):
        items = [_sentences_after(item, draw) for item in suite.items]
        return remade(suite, items, name=name, said=said)
    return dataclasses.replace(
        suite,
        meta=dataclasses.replace(suite.meta, name=f"{suite.name}-{name}"),
        items=tuple(_blank_after(item, suite.cluster, draw) for item in expand_suite(suite).items),
        templates=(),
        multiwords=(),
        extra={**suite.extra, PROVENANCE: said},
    )


@dataclass(frozen=True, slots=True)
class _Draw:
    """The choice of the sentences that come before an item."""

    examples: Sequence[Example]
    n: int
    generator: random.Random
    is_own: bool

    def context(self, phenomenon: str, group: Hashable) -> str:
        """Sentences of other groups, of the phenomenon where it has enough.

        Raises:
            UsageError: there are too few.
        """
        pool = [one for one in self.examples if not (self.is_own and one.group == group)]
        if not 1 <= self.n <= len(pool):
            has = "each item has {} others" if self.is_own else "there are {} for each item"
            raise UsageError(
                where=f"{self.n} earlier sentences",
                seen=has.format(len(pool)),
                todo="Choose a number from 1 to that.",
            )
        alike = [one for one in pool if one.phenomenon == phenomenon]
        chosen = self.generator.sample(alike if len(alike) >= self.n else pool, self.n)
        return " ".join(one.text for one in chosen)


def _sentences_after(item: Item, draw: _Draw) -> Item:
    context = draw.context(item.column(PHENOMENON) or "", item.id)
    conditions = tuple(
        dataclasses.replace(condition, columns={**condition.columns, COLUMN: context})
        for condition in item.conditions
    )
    return dataclasses.replace(item, conditions=conditions)


def _blank_after(item: ClozeItem, clusters: Sequence[str], draw: _Draw) -> ClozeItem:
    context = draw.context(item.columns.get(PHENOMENON, ""), cluster_of(item, clusters))
    columns = {**item.columns, COLUMN: context}
    return dataclasses.replace(item, before=f"{context} {item.before}", columns=columns)
