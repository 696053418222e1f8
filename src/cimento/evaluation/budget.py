"""Parts of a language's sets for a budget of time: how fast models are, and which items are asked.

What is asked is a random part of each suite (`cimento.statistics.subsample`), so that a quick
answer and the whole one agree in expectation. A number of items in place of a time draws the same
part on every machine.
"""

from __future__ import annotations

import math
import os
import re
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cimento.engine.cache import MemoryCache
from cimento.errors import UsageError, counted
from cimento.evaluation import Failure, run_all
from cimento.evaluation.language_suites import LanguageSuites
from cimento.statistics.subsample import equal_parts, systematic_sample
from cimento.suites.derived import PHENOMENON

if TYPE_CHECKING:
    from cimento.kinds.registry import LoadedSuite
    from cimento.models.registry import AnyScorer
    from cimento.options import RunOptions

_TIME = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>s|m|min|h)")
_SECONDS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_WARMING, _TIMED = 8, 48
"""Items asked before and during the timing."""
_MOST_SUITES = 3
"""Most suites that the timed items come from: judging a suite costs time whatever its size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much is asked.

    Attributes:
        seconds: time for all models together; None where items are given.
        items: number of items of each model; None where a time is given.
    """

    seconds: float | None = None
    items: int | None = None


def parse_budget(text: str) -> Budget | None:
    """A budget as people write it: ``10m``, ``90s``, ``1.5h``, or a number of items.

    Returns:
        None for an empty text: everything is asked.

    Raises:
        UsageError: it is neither.
    """
    if not text:
        return None
    plain = text.strip()
    if plain.isdecimal() and int(plain):
        return Budget(items=int(plain))
    match = _TIME.fullmatch(plain)
    if match is None or not float(match["number"]):
        raise UsageError(
            where=f"--budget={text}",
            seen="it is neither a time nor a number of items",
            todo="Write 90s, 10m or 2h, or a number of items.",
        )
    return Budget(seconds=float(match["number"]) * _SECONDS[match["unit"]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The random part of all sets that was asked about.

    Attributes:
        items: number of items of the sample.
        of_items: items of all sets.
        seed: seed of the draw.
        seconds: the time that was given for all models together; None if a number of items was.
        per_second: items that all models together answer in a second, by which the size was
            chosen; None if a number of items was given.
        undrawn: phenomena of which no item was drawn, with the number of their items.
        items_for_all: number of items with which some of every phenomenon are drawn.
        without_own: whether suites of cimento itself were left out of it.
    """

    items: int
    of_items: int
    seed: int
    seconds: float | None = None
    per_second: float | None = None
    undrawn: Mapping[str, int] = field(default_factory=dict)
    items_for_all: int = 0
    without_own: bool = False

    def sentences(self) -> Iterator[str]:
        """Its size and seed, how to draw it again, and what is not in it."""
        share = 100 * self.items / self.of_items
        rate = "" if self.per_second is None else f" ({self.per_second:,.0f} items a second)"
        yield (
            f"A random {self.items:,} of {self.of_items:,} items{rate}, seed {self.seed};"
            f" --budget {self.items} --seed {self.seed} draws them again. They are"
            f" {share:{'.0f' if share >= _WHOLE_PERCENT else '.2g'}}% of all, equally many of each"
            " paradigm as far as there are as many."
        )
        if self.undrawn:
            n = len(self.undrawn)
            shown = [f"{name} ({counted(items, 'item')})" for name, items in self.undrawn.items()]
            if n > _MOST_UNDRAWN:
                shown = [*shown[:_MOST_UNDRAWN], f"{n - _MOST_UNDRAWN} others"]
            yield (
                f"No item was drawn of {counted(n, 'small phenomenon', 'small phenomena')}, so"
                f" {'it has' if n == 1 else 'they have'} no row in the tables: {', '.join(shown)}."
                f" --budget {self.items_for_all} has items of every phenomenon."
            )
        if self.without_own:
            yield "Suites of cimento itself are not in it: they are asked without a budget."


_WHOLE_PERCENT = 10
"""The least share that is said in whole percent."""
_MOST_UNDRAWN = 5
"""Most phenomena that are named as not drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedPart:
    """The part of a language's sets that is asked.

    Attributes:
        asked: the suites, reduced to the part.
        items: items in it.
        of_items: items of the whole sets.
        by_set: items of each whole set.
        sample: the random part; None where all items are asked.
    """

    asked: LanguageSuites
    items: int
    of_items: int
    by_set: Mapping[str, int] = field(default_factory=dict)
    sample: Sample | None = None


def items_of(loaded: LoadedSuite) -> Sequence[str]:
    """The ids of a suite's items, in its order.

    Args:
        loaded: a suite of pairs or of rated sentences.
    """
    sentences = loaded.sentences
    return () if sentences is None else sentences.columns.ids


def drawn_part(asked: LanguageSuites, items: int | None, *, seed: int) -> AskedPart:
    """The random part of a language's published sets with some number of items.

    The items are divided equally among the paradigms of all sets, as far as they have as many, and
    each suite keeps the proportions of its phenomena.

    Args:
        asked: all suites.
        items: items in all, at least one of each paradigm; None for all items, and also those of
            the suites of cimento itself.
        seed: of the draw; the draw of a suite depends on no other suite.
    """
    by_set = {one.name: sum(len(items_of(s)) for s in one.suites) for one in asked.sets}
    if items is None:
        total = sum(by_set.values())
        return AskedPart(asked=asked, items=total, of_items=total, by_set=by_set)
    published = [one for one in asked.sets if one.set is not None]
    sizes = [_sizes(suite) for one in published for suite in one.suites]
    parts = iter(equal_parts([size for some in sizes for size in some], items))
    wanted = iter([sum(next(parts) for _ in some) for some in sizes])
    sets = tuple(
        replace(one, suites=tuple(_reduced(suite, next(wanted), seed=seed) for suite in one.suites))
        for one in published
    )
    part = replace(asked, sets=sets)
    drawn, of_items = sum(len(items_of(suite)) for suite in part.suites), sum(map(sum, sizes))
    whole = [suite for one in published for suite in one.suites]
    sample = Sample(
        items=drawn,
        of_items=of_items,
        seed=seed,
        undrawn=_undrawn(whole, part.suites),
        items_for_all=_items_for_all(sizes),
        without_own=len(published) < len(asked.sets),
    )
    return AskedPart(
        asked=part,
        items=drawn,
        of_items=of_items,
        by_set=by_set,
        sample=sample if drawn < of_items else None,
    )


def _undrawn(whole: Sequence[LoadedSuite], drawn: Sequence[LoadedSuite]) -> dict[str, int]:
    """The items of the phenomena of whole suites of which the drawn parts have none."""
    kept = {name for suite in drawn for name in _strata(suite)}
    items = Counter(name for suite in whole for name in _strata(suite) if name)
    return {name: n for name, n in items.items() if name not in kept}


def _items_for_all(sizes: Sequence[Sequence[int]]) -> int:
    """The fewest items with which each draw has some of each phenomenon.

    A phenomenon has some if the step of `systematic_sample` is no longer than the phenomenon.

    Args:
        sizes: items of each phenomenon, by suite.
    """
    needed = [math.ceil(sum(some) / min(some)) if some else 0 for some in sizes]

    def is_enough(items: int) -> bool:
        parts = iter(equal_parts([size for some in sizes for size in some], items))
        return all(
            sum(next(parts) for _ in some) >= least
            for some, least in zip(sizes, needed, strict=True)
        )

    return bisect_left(range(sum(map(sum, sizes))), True, key=is_enough)  # noqa: FBT003  # what is looked for


def _sizes(loaded: LoadedSuite) -> list[int]:
    """The number of items of each phenomenon of a suite."""
    return [*Counter(_strata(loaded)).values()]


def _strata(loaded: LoadedSuite) -> list[str]:
    """The phenomenon of each item of a suite; the same for all where it names none."""
    sentences = loaded.sentences
    if sentences is None:
        return []
    return [cell or "" for cell in sentences.item_cells(PHENOMENON)]


def _reduced(loaded: LoadedSuite, n: int, *, seed: int) -> LoadedSuite:
    """A suite with some of its items; its content is then that of the part."""
    ids, strata = items_of(loaded), _strata(loaded)
    if n >= len(strata):
        return loaded
    drawn = systematic_sample(strata, n, seed=[seed, *loaded.content.encode()])
    part = loaded.paradigm.reader.selected(loaded.suite, {ids[place] for place in drawn})
    return replace(loaded, reading=replace(loaded.reading, suite=part, content=""))


def asked_part(
    asked: LanguageSuites,
    models: Sequence[str | AnyScorer],
    run_options: RunOptions,
    *,
    budget: Budget | None,
    speed: float | None = None,
    seed: int = 0,
) -> AskedPart:
    """The part of a language's sets that a budget is enough for.

    Args:
        asked: all suites.
        models: names, or loaded models.
        run_options: the options of the runs.
        budget: for all models together; None to ask everything.
        speed: items that a model answers in a second; None to time each model on a few items.
        seed: of the draw, and of the items that are timed.

    Raises:
        UsageError: only suites of cimento itself are asked, of which no part is drawn.
        CimentoError: a model cannot be asked.
    """
    if budget is not None and asked.is_own:
        raise UsageError(
            where="--budget",
            seen="the suites of cimento itself are asked whole or not at all",
            todo="Leave it out, or name published sets: --sets.",
        )
    if budget is None or not asked.suites:
        return drawn_part(asked, None, seed=seed)
    if budget.seconds is None:
        return drawn_part(asked, budget.items, seed=seed)
    timed = [speed or items_per_second(asked.suites, one, run_options, seed=seed) for one in models]
    together = 1 / sum(1 / one for one in timed)
    part = drawn_part(asked, max(1, int(budget.seconds * together)), seed=seed)
    if part.sample is None:
        return part
    sample = replace(part.sample, seconds=budget.seconds, per_second=together)
    return replace(part, sample=sample)


def items_per_second(
    suites: Sequence[LoadedSuite],
    model: str | AnyScorer,
    run_options: RunOptions,
    *,
    seed: int,
) -> float:
    """The items that a model answers in a second, timed on a few drawn at random.

    Loading it is not timed, and no answer is taken from the cache.

    Raises:
        CimentoError: the model cannot be asked about them.
    """
    import numpy as np

    from cimento.models.in_memory import as_scorers, loaded_model

    random = np.random.default_rng(seed)
    sizes = np.array([len(items_of(suite)) for suite in suites], dtype=float)
    some = random.choice(
        len(suites), size=min(_MOST_SUITES, int((sizes > 0).sum())), replace=False,
        p=sizes / sizes.sum(),
    )  # fmt: skip
    # Loaded once, so that the second time is that of answering alone.
    held = loaded_model(model, run_options.scoring)
    [scorer] = as_scorers([held], run_options.scoring, keeps=False)
    here = run_options.model_copy(update={"output": None, "limit": None, "adaptive": False})
    seconds, asked = 0.0, 0
    for n in (_WARMING, _TIMED):
        parts = equal_parts([int(sizes[place]) for place in some], n)
        part = [
            _reduced(suites[place], size, seed=seed + n)
            for place, size in zip(some, parts, strict=True)
        ]
        begin = time.perf_counter()
        for end in run_all(part, [scorer], here, cache=MemoryCache()):
            if isinstance(end, Failure):
                raise end.error
        seconds, asked = time.perf_counter() - begin, sum(parts)
    return asked / max(seconds, 1e-6)


def is_offline() -> bool:
    """Whether the environment says that there is no network (``HF_HUB_OFFLINE``)."""
    return os.environ.get("HF_HUB_OFFLINE", "").lower() in {"1", "true", "yes", "on"}
