"""Sensitivity of verdicts to choices of method.

Each variant changes one choice of scoring or judging and keeps all others: a one-at-a-time
multiverse (Steegen, Tuerlinckx, Gelman and Vanpaemel 2016, doi:10.1177/1745691616658637). Choices
that a kind of model does not have are left out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cimento.api import Failure, run_all
from cimento.engine.cache import AnswerCache, MemoryCache
from cimento.errors import CimentoError
from cimento.options import RunOptions
from cimento.paradigms.regions.judging import ALL, compares_sentences, options_of, suite_of
from cimento.paradigms.registry import LoadedSuite, SuiteLike, load_suites
from cimento.runs.run import Run
from cimento.runs.store import manifest_part
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, share_interval

CAUSAL, MASKED = "causal", "masked"
ANY = "any variant"
"""The name of the last row of a suite and model: items whose verdict some variant changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodVariant:
    """A variant, which changes one choice of method.

    Attributes:
        name: the variant as options of the command line.
        changes: the changed options of a run, by name.
        kinds: kinds of models that have this choice.
        sentences: True for suites whose predictions are all about whole sentences, False for the
            others, None for both.
    """

    name: str
    changes: Mapping[str, str | tuple[str, ...]]
    kinds: tuple[str, ...] = (CAUSAL, MASKED, "seq2seq")
    sentences: bool | None = None


VARIANTS = (
    MethodVariant(
        name="--bos none --unscored-first drop",
        changes={"bos": "none", "unscored_first": "drop"},
        kinds=(CAUSAL,),
    ),
    MethodVariant(name="--boundary auto", changes={"boundary": "auto"}, kinds=(CAUSAL,)),
    MethodVariant(name="--pll original", changes={"pll": "original"}, kinds=(MASKED,)),
    MethodVariant(name="--pll whole-word", changes={"pll": "whole-word"}, kinds=(MASKED,)),
    MethodVariant(name="--dtype bfloat16", changes={"dtype": "bfloat16"}),
    MethodVariant(name="--metric mean", changes={"metric": "mean"}, sentences=False),
    MethodVariant(name="--measure meanlp", changes={"measures": ("meanlp",)}, sentences=True),
    MethodVariant(name="--measure penlp", changes={"measures": ("penlp",)}, sentences=True),
)


NO_INTERVAL = Interval(None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """The effect of one variant on the verdicts of a suite and a model.

    Attributes:
        suite: name of the suite.
        model: label of the model.
        variant: name of the variant; `ANY` for all variants together.
        n: number of items with a verdict in both.
        gained: items that pass only in the variant.
        lost: items that pass only in the original.
        interval: interval of the share of items that change.
        accuracy: accuracy of the variant over these items; None for all variants together.
        reason: the reason why the variant has no result.
    """

    suite: str
    model: str
    variant: str
    n: int = 0
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    interval: Interval = NO_INTERVAL
    accuracy: float | None = None
    reason: str | None = None

    @property
    def changed(self) -> int:
        """The number of items that pass in one and not in the other."""
        return len(self.gained) + len(self.lost)


def sensitivities(
    suites: Sequence[SuiteLike],
    models: Sequence[str],
    options: RunOptions,
    *,
    cache: AnswerCache | None = None,
) -> list[Sensitivity]:
    """The effect of each variant on the verdicts of every suite and model.

    An item passes where all its predictions hold; ties count as the options say. Nothing is
    stored, but answers are kept in the cache.

    Args:
        suites: suites judged by formulas.
        models: names as for ``cimento run -m``.
        options: the options of the original.
        cache: the cache of answers; None forgets them afterwards.

    Raises:
        CimentoError: a suite or a model cannot be used with the original options.
    """
    loaded = list(load_suites(suites, language=options.language))
    kept = cache or MemoryCache()
    options = options.model_copy(update={"output": None})
    found: list[Sensitivity] = []
    for model in models:
        for suite in loaded:

            def made(
                variant: MethodVariant | None, suite: LoadedSuite = suite, model: str = model
            ) -> Run:
                changes = variant.changes if variant else {}
                [run] = run_all([suite], [model], options.model_copy(update=changes), cache=kept)
                if isinstance(run, Failure):
                    raise run.error
                return run

            found += _rows(made(None), made)
    return found


def _rows(base: Run, made: Callable[[MethodVariant], Run]) -> Iterator[Sensitivity]:
    """The row of each variant that differs from a run, and the row of all together."""
    before = _passed(base)
    clusters = suite_of(base).clusters()
    touched: dict[str, None] = {}
    judged = list(before)
    for variant in VARIANTS:
        if not _applies(variant, base):
            continue
        nothing = Sensitivity(suite=base.suite.name, model=base.model, variant=variant.name)
        try:
            after = _passed(made(variant))
        except CimentoError as error:
            yield dataclasses.replace(nothing, reason=str(error))
            continue
        items = [item for item in before if item in after]
        gained = tuple(item for item in items if after[item] and not before[item])
        lost = tuple(item for item in items if before[item] and not after[item])
        touched |= dict.fromkeys((*gained, *lost))
        if not items:
            yield dataclasses.replace(nothing, reason="no item is scored in both")
            continue
        judged = [item for item in judged if item in after]
        yield dataclasses.replace(
            nothing,
            n=len(items),
            gained=gained,
            lost=lost,
            interval=_interval(items, {*gained, *lost}, clusters),
            accuracy=sum(after[item] for item in items) / len(items),
        )
    yield Sensitivity(
        suite=base.suite.name,
        model=base.model,
        variant=ANY,
        n=len(judged),
        gained=tuple(item for item in touched if item in judged and not before[item]),
        lost=tuple(item for item in touched if item in judged and before[item]),
        interval=_interval(judged, set(touched), clusters),
    )


def _applies(variant: MethodVariant, base: Run) -> bool:
    """Whether a variant exists for the run's model and suite and differs from its options."""
    if base.model_kind not in variant.kinds:
        return False
    if variant.sentences is not None and variant.sentences != compares_sentences(base):
        return False
    judged = options_of(base)
    asked = {
        **manifest_part(base.manifest, "asking", "policy"),
        **judged.model_dump(),
        "metric": judged.metric or suite_of(base).metric,
        "measures": (judged.measure,),
    }
    return any(asked.get(name) != value for name, value in variant.changes.items())


def _passed(run: Run) -> dict[str, bool]:
    """Whether all predictions hold, for each item that is scored."""
    outcomes = run.outcomes().filter(question=ALL).drop_nulls("right")
    return dict(outcomes.select("item", "right").iter_rows())


def _interval(
    items: Sequence[str], changed: set[str], clusters: Mapping[str, Hashable]
) -> Interval:
    return share_interval([item in changed for item in items], Design.of(items, clusters))
