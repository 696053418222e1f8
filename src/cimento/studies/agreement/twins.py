"""Items of agreement suites beside those of their adversarial twins: ratios, drops, attractors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cimento.measures.regions import FinalMarkRule
from cimento.paradigms.regions.contrast import (
    Contrast,
    find_contrast,
    items_with_other_contexts,
    probability_ratios,
)
from cimento.paradigms.regions.judging import judged_suite, tokens_of, values_of, whole_items
from cimento.statistics.design import Design
from cimento.statistics.means import mean_of
from cimento.statistics.regression import Regression, regress
from cimento.suites.languages import language_code

if TYPE_CHECKING:
    import polars as pl

    from cimento.kinds.run import Run
    from cimento.paradigms.regions.contrast import ItemRatio
    from cimento.suites import Condition, Item, JsonValue, Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementRun:
    """One agreement suite with one model.

    Attributes:
        model: its label.
        language: ISO 639-1 code.
        suite: as it was judged.
        contrast: what its predictions compare.
        ratios: of every item.
        passed: item to whether all predictions hold; None where that is not known.
        n_tokens: item to condition to the number of tokens in the target.
        other_contexts: items whose conditions differ elsewhere than in the target.
        details: what the run recorded of its model.
        kind: of the model, such as ``causal``; empty where it is not known.
    """

    model: str
    language: str
    suite: Suite
    contrast: Contrast
    ratios: Sequence[ItemRatio]
    passed: Mapping[str, bool | None]
    n_tokens: Mapping[str, Mapping[str, int]]
    other_contexts: Sequence[str]
    details: Mapping[str, str] = field(default_factory=dict)
    kind: str = ""

    @property
    def chance(self) -> float:
        """How often the target would be the least surprising of all forms by chance."""
        return 1 / (1 + len(self.contrast.alternatives))


def agreement_run(
    run: Run, *, regions: Sequence[int] = (), final_marks: FinalMarkRule = "keep"
) -> AgreementRun:
    """What a run says of every item.

    Args:
        run: of a suite whose predictions compare one region of a grammatical condition with the
            same region of others.
        regions: the target's, where the predictions leave it open.
        final_marks: whether punctuation at the end of the target counts.

    Raises:
        UsageError: the predictions do not say what is compared.
    """
    suite = judged_suite(run)
    contrast = find_contrast(suite, regions=regions)
    values = values_of(run, final_marks=final_marks)
    verdicts = whole_items(run).select("item", "verdict")
    return AgreementRun(
        model=run.model,
        language=language_code(suite.meta.language),
        suite=suite,
        contrast=contrast,
        ratios=probability_ratios(values, contrast),
        passed={
            item: None if verdict == "unscored" else verdict == "pass"
            for item, verdict in verdicts.iter_rows()
        },
        n_tokens=target_tokens(tokens_of(run).collect(), run.table("requests"), contrast.regions),
        other_contexts=items_with_other_contexts(suite, contrast),
        details=_details(run.manifest.get("model")),
        kind=run.model_kind,
    )


def _details(model: JsonValue) -> dict[str, str]:
    """What a manifest says of a model, as text."""
    details = model.get("details") if isinstance(model, dict) else None
    texts = details if isinstance(details, dict) else {}
    return {key: value for key, value in texts.items() if isinstance(value, str)}


def target_tokens(
    tokens: pl.DataFrame, requests: pl.DataFrame, regions: Sequence[int]
) -> dict[str, dict[str, int]]:
    """How many tokens begin in some regions.

    Args:
        tokens: a table of the schema ``answers.TOKENS``.
        requests: a table of the schema ``answers.REQUESTS``.
        regions: their numbers, from 1.

    Returns:
        Item to condition to the number.
    """
    import polars as pl

    wanted = requests.filter(pl.col("region").is_in(list(regions)))
    inside = wanted.join(tokens, on="request", suffix="_token").filter(
        pl.col("end_token") > pl.col("start"), pl.col("start_token") < pl.col("end")
    )
    counted = inside.group_by("item", "condition").agg(pl.col("position").n_unique().alias("n"))
    by_item: dict[str, dict[str, int]] = {}
    for item, condition, n in counted.iter_rows():
        by_item.setdefault(item, {})[condition] = n
    return by_item


_MARK = re.compile(
    r"(?:^|[-_ ])(?:adversarial|adversary|advers|adv|attractors?)(?=$|[-_ ])", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Intervening:
    """What the adversarial version of an item has that the plain one has not.

    Attributes:
        words: as text; empty where the two do not differ by an insertion.
        n_words: how many.
    """

    words: str
    n_words: int


def plain_name(name: str) -> str | None:
    """The name of the suite that an adversarial suite is the twin of; None for a plain suite."""
    rest = _MARK.sub("", name, count=1)
    return rest.strip("-_ ") if rest != name else None


def twins(names: Iterable[str]) -> dict[str, str]:
    """Plain suite to its adversarial twin, among suites of one language.

    Args:
        names: of suites, such as ``attribute`` and ``attribute_adversarial``.
    """
    known = {_folded(name): name for name in names if plain_name(name) is None}
    twin_of = {}
    for name in names:
        plain = plain_name(name)
        if plain is not None and _folded(plain) in known:
            twin_of[known[_folded(plain)]] = name
    return twin_of


def paired_items(plain: Suite, adversarial: Suite) -> list[tuple[Item, Item]]:
    """The items that both have, by their ids."""
    others = {item.id: item for item in adversarial.items}
    return [(item, others[item.id]) for item in plain.items if item.id in others]


def intervening(plain: Condition, adversarial: Condition) -> Intervening:
    """The words that the adversarial version puts in: the longest gap between what both share.

    The plain sentence must be left when the inserted words are taken out; else nothing is said.
    """
    short, long = _words(plain), _words(adversarial)
    extra = len(long) - len(short)
    if extra <= 0:
        return Intervening("", 0)
    start = _shared(short, long)
    if long[start + extra :] != short[start:]:
        return Intervening("", 0)
    return Intervening(" ".join(long[start : start + extra]), extra)


def attractor_columns(adversarial: Suite) -> Mapping[str, Sequence[str]]:
    """The free columns of a suite that say what its attractors are like, with their values.

    These are the columns whose names begin with ``attractor``, and ``distance``.
    """
    names = [
        name
        for name in adversarial.column_names
        if name.startswith("attractor") or name == "distance"
    ]
    return {
        name: tuple(
            dict.fromkeys(value for item in adversarial.items if (value := item.column(name)))
        )
        for name in names
    }


def _shared(short: Sequence[str], long: Sequence[str]) -> int:
    """How many words both begin with."""
    pairs = zip(short, long, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), len(short))


def _words(condition: Condition) -> list[str]:
    return " ".join(region.text for region in condition.regions if region.text).split()


def _folded(name: str) -> str:
    return re.sub(r"[-_ ]+", "-", name).strip("-").casefold()


WORDS_BETWEEN = "words between"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttractorRow:
    """Items whose attractors have one property in common.

    Attributes:
        model: its label.
        language: ISO 639-1 code.
        suite: the plain one.
        column: name of the property; ``words between`` for the length of what was put in.
        value: of the property.
        n_pairs: items with a ratio in both suites.
        drop: mean of the plain ratio minus the adversarial one.
        low: lower end of its interval.
        high: upper end.
        reason: why there is no interval.
    """

    model: str
    language: str
    suite: str
    column: str
    value: str
    n_pairs: int
    drop: float | None
    low: float | None
    high: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class _Drop:
    item: str
    value: float
    n_words: int


def attractor_rows(plain: AgreementRun, twin: AgreementRun, *, seed: int) -> list[AttractorRow]:
    """The drop by each property of the attractors, as the twin's free columns give them.

    Args:
        plain: the plain suite.
        twin: its adversarial twin, with the same model.
        seed: of the bootstrap.
    """
    drops = list(_drops(plain, twin))
    items = {item.id: item for item in twin.suite.items}
    rows = []
    for column, values in attractor_columns(twin.suite).items():
        for value in values:
            group = [drop for drop in drops if items[drop.item].column(column) == value]
            rows.append(_row(plain, column, value, group, seed=seed))
    lengths = sorted({drop.n_words for drop in drops if drop.n_words})
    for length in lengths if len(lengths) > 1 else ():
        group = [drop for drop in drops if drop.n_words == length]
        rows.append(_row(plain, WORDS_BETWEEN, str(length), group, seed=seed))
    return rows


def drop_by_length(plain: AgreementRun, twin: AgreementRun) -> Regression:
    """A regression of the drop on the number of words between, one observation an item."""
    return _regressed(plain, [drop for drop in _drops(plain, twin) if drop.n_words], {})


def drops_by_property(plain: AgreementRun, twin: AgreementRun) -> dict[str, Regression]:
    """A regression of the drop on each property of the attractors, at equal words between.

    A property has a coefficient for each of its values but the most frequent one, which the
    others are compared with. Properties that do not vary are left out.

    Returns:
        Column to regression.
    """
    drops = list(_drops(plain, twin))
    items = {item.id: item for item in twin.suite.items}
    regressions = {}
    for column in attractor_columns(twin.suite):
        known = [
            (drop, value)
            for drop in drops
            if drop.n_words and (value := items[drop.item].column(column))
        ]
        values = [value for value, _ in Counter(value for _, value in known).most_common()]
        if len(values) > 1:
            levels = {
                f"{column} = {level}": [float(value == level) for _, value in known]
                for level in values[1:]
            }
            regressions[column] = _regressed(plain, [item_drop for item_drop, _ in known], levels)
    return regressions


def _regressed(
    plain: AgreementRun, drops: Sequence[_Drop], more: Mapping[str, Sequence[float]]
) -> Regression:
    """The drop on the words between, where they vary, and on other predictors."""
    clusters = plain.suite.clusters()
    lengths = [drop.n_words for drop in drops]
    predictors = {WORDS_BETWEEN: lengths} if not more or len(set(lengths)) > 1 else {}
    return regress(
        [drop.value for drop in drops],
        {**predictors, **more},
        Design.of((drop.item for drop in drops), clusters),
    )


def ratio_drops(plain: AgreementRun, twin: AgreementRun) -> dict[str, float]:
    """The plain ratio minus the adversarial one, of each item that has both."""
    second = {ratio.item: ratio.mean for ratio in twin.ratios}
    return {
        ratio.item: ratio.mean - other
        for ratio in plain.ratios
        if ratio.mean is not None and (other := second.get(ratio.item)) is not None
    }


def _drops(plain: AgreementRun, twin: AgreementRun) -> Iterator[_Drop]:
    drops = ratio_drops(plain, twin)
    target, other = plain.contrast.target, twin.contrast.target
    for item, adversarial in paired_items(plain.suite, twin.suite):
        if item.id in drops:
            between = intervening(item.condition(target), adversarial.condition(other))
            yield _Drop(item.id, drops[item.id], between.n_words)


def _row(
    plain: AgreementRun, column: str, value: str, group: Sequence[_Drop], *, seed: int
) -> AttractorRow:
    design = Design.of((item_drop.item for item_drop in group), plain.suite.clusters())
    drop = mean_of([item_drop.value for item_drop in group], design, seed=seed)
    return AttractorRow(
        model=plain.model,
        language=plain.language,
        suite=plain.suite.name,
        column=column,
        value=value,
        n_pairs=len(group),
        drop=drop.value,
        low=drop.low,
        high=drop.high,
        reason=drop.reason,
    )
