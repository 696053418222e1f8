"""Sensitivity: how many verdicts change where a choice of method is made in another way.

Each variant changes one choice of scoring or judging, and leaves all else as it was asked for: a
one-at-a-time multiverse (Steegen, Tuerlinckx, Gelman and Vanpaemel 2016,
doi:10.1177/1745691616658637). Choices that a kind of model does not have are left out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cimento.designs import compares_sentences
from cimento.engine.cache import AnswerCache
from cimento.errors import CimentoError
from cimento.regions_api import Evaluation, SuiteLike, evaluate, read_suites
from cimento.results import Run
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, share_interval
from cimento.verdicts.accuracy import clusters_of

CAUSAL, MASKED = "causal", "masked"
ANY = "any variant"
"""Of the last row of a suite and model: items whose verdict some variant changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One choice made in another way.

    Attributes:
        name: as the command line says it.
        policy: fields of the policy of scoring.
        judging: fields of the judging.
        kinds: of the models that have this choice.
        sentences: whether it is for suites whose predictions are all about whole sentences, or
            for the others; None for both.
    """

    name: str
    policy: Mapping[str, str] = dataclasses.field(default_factory=dict)
    judging: Mapping[str, str] = dataclasses.field(default_factory=dict)
    kinds: tuple[str, ...] = (CAUSAL, MASKED, "seq2seq")
    sentences: bool | None = None

    @property
    def changes(self) -> dict[str, str]:
        """What it changes, of policy and judging."""
        return {**self.policy, **self.judging}


VARIANTS = (
    Variant(
        name="--bos none --unscored-first drop",
        policy={"bos": "none"},
        judging={"unscored_first": "drop"},
        kinds=(CAUSAL,),
    ),
    Variant(name="--boundary auto", policy={"boundary": "auto"}, kinds=(CAUSAL,)),
    Variant(name="--pll original", policy={"pll": "original"}, kinds=(MASKED,)),
    Variant(name="--pll whole-word", policy={"pll": "whole-word"}, kinds=(MASKED,)),
    Variant(name="--dtype bfloat16", policy={"dtype": "bfloat16"}),
    Variant(name="--metric mean", judging={"metric": "mean"}, sentences=False),
    Variant(name="--measure meanlp", judging={"measure": "meanlp"}, sentences=True),
    Variant(name="--measure penlp", judging={"measure": "penlp"}, sentences=True),
)


NO_INTERVAL = Interval(None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """What one variant changes in the verdicts of a suite and a model.

    Attributes:
        suite: its name.
        model: label of the model.
        variant: what was changed; `ANY` for all variants together.
        n: items with a verdict in both.
        gained: items that pass only in the variant.
        lost: items that pass only as it was asked for.
        interval: of the share of items that change.
        accuracy: of the variant over these items; None for all variants together.
        reason: why there is no variant.
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
        """Items that pass in one and not in the other."""
        return len(self.gained) + len(self.lost)


def sensitivities(
    suites: Sequence[SuiteLike],
    models: Sequence[str],
    evaluation: Evaluation,
    *,
    cache: AnswerCache | None = None,
) -> list[Sensitivity]:
    """How many verdicts each variant changes, for every suite and model.

    An item passes where all its predictions hold; ties count as the evaluation says. Nothing is
    stored, but answers are kept in the cache.

    Args:
        suites: judged by formulas.
        models: names as for ``cimento run -m``.
        evaluation: how they are asked and judged as the user wants it.
        cache: where answers are kept; None forgets them afterwards.

    Raises:
        CimentoError: a suite or a model cannot be used as it was asked for.
    """
    loaded = read_suites(suites)
    found: list[Sensitivity] = []
    for model in models:
        for suite in loaded:

            def made(variant: Variant | None, suite: SuiteLike = suite, model: str = model) -> Run:
                changed = _changed(evaluation, variant)
                return evaluate(
                    suite, model, asking=changed.asking, judging=changed.judging, cache=cache
                )

            found += _rows(made(None), made)
    return found


def _changed(evaluation: Evaluation, variant: Variant | None) -> Evaluation:
    if variant is None:
        return evaluation
    asking, judging = evaluation.asking, evaluation.judging
    policy = dataclasses.replace(asking.policy, **variant.policy)  # type: ignore[arg-type]  # of VARIANTS
    return dataclasses.replace(
        evaluation,
        asking=dataclasses.replace(asking, policy=policy),
        judging=dataclasses.replace(judging, **variant.judging),  # type: ignore[arg-type]  # of VARIANTS
    )


def _rows(base: Run, made: Callable[[Variant], Run]) -> Iterator[Sensitivity]:
    """The row of each variant that differs from a run, and that of all together."""
    before = _passed(base)
    clusters = clusters_of(base.suite)
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


def _applies(variant: Variant, base: Run) -> bool:
    """Whether a variant is another choice than the one that was asked for, and one to be had."""
    if base.model_kind not in variant.kinds:
        return False
    if variant.sentences is not None and variant.sentences != compares_sentences(base):
        return False
    asking = base.manifest.get("asking")
    policy = asking.get("policy") if isinstance(asking, dict) else None
    asked = {
        **(policy if isinstance(policy, dict) else {}),
        **dataclasses.asdict(base.judging),
        "metric": base.judging.metric or base.suite.metric,
    }
    return any(asked.get(name) != value for name, value in variant.changes.items())


def _passed(run: Run) -> dict[str, bool]:
    """Item to whether all its predictions hold; without items that are unscored."""
    passes = {"pass", "tie"} if run.judging.ties == "pass" else {"pass"}
    return {
        verdict.item: verdict.verdict in passes
        for verdict in run.summary(with_verdicts=True).verdicts
        if verdict.verdict != "unscored" and verdict.prediction is None
    }


def _interval(
    items: Sequence[str], changed: set[str], clusters: Mapping[str, Hashable]
) -> Interval:
    return share_interval([item in changed for item in items], Design.of(items, clusters))
