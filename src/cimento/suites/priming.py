"""Earlier items as context: what stands before a sentence when others of its kind came first."""

from __future__ import annotations

import dataclasses
import random

from cimento.errors import UsageError, did_you_mean
from cimento.suites.model import Condition, Item, JsonValue, Suite
from cimento.suites.sentences import sentence

COLUMN = "context"
PROVENANCE = "provenance"


def prime(suite: Suite, condition: str, n: int, *, seed: int, sha256: str = "") -> Suite:
    """A suite whose every sentence has `n` sentences of other items before it.

    They are put into the column ``context``, for ``--context-column context``. All sentences of an
    item have the same ones, of the same phenomenon where there are enough: what is compared
    differs in nothing else. People accept islands more readily after having read some
    (Snyder 2000, doi:10.1162/002438900554479).

    Args:
        suite: the suite.
        condition: of the sentences that come first, such as ``long_island``.
        n: how many.
        seed: of the choice.
        sha256: of the suite, for the provenance.

    Raises:
        UsageError: there is no such condition, or there are too few other items.
    """
    if condition not in suite.condition_names:
        raise UsageError(
            where=f"condition {condition!r}",
            seen=f"the suite {suite.name!r} has no such condition",
            todo=did_you_mean(condition, suite.condition_names),
        )
    if n < 1 or n >= len(suite.items):
        raise UsageError(
            where=f"{n} earlier sentences",
            seen=f"each item has {len(suite.items) - 1} others",
            todo="Choose a number from 1 to that.",
        )
    generator = random.Random(seed)  # noqa: S311 - a choice of stimuli, no secret
    items = tuple(_primed(item, suite, condition, n, generator) for item in suite.items)
    meta = dataclasses.replace(suite.meta, name=f"{suite.name}-after-{n}-{condition}")
    said: dict[str, JsonValue] = {
        "suite": suite.name,
        "version": suite.meta.version,
        "sha256": sha256,
        "condition": condition,
        "n": n,
        "seed": seed,
    }
    return dataclasses.replace(
        suite, meta=meta, items=items, extra={**suite.extra, PROVENANCE: said}
    )


def _primed(item: Item, suite: Suite, condition: str, n: int, generator: random.Random) -> Item:
    others = [each for each in suite.items if each is not item]
    phenomenon = item.column("phenomenon")
    alike = [each for each in others if each.column("phenomenon") == phenomenon]
    pool = alike if len(alike) >= n else others
    chosen = generator.sample(pool, n)
    context = " ".join(sentence(each.condition(condition), rule=suite.join) for each in chosen)
    conditions = tuple(_with_context(each, context) for each in item.conditions)
    return dataclasses.replace(item, conditions=conditions)


def _with_context(condition: Condition, context: str) -> Condition:
    return dataclasses.replace(condition, columns={**condition.columns, COLUMN: context})
