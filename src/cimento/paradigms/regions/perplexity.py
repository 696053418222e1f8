"""Perplexity by condition, and the sentences with the worst scores, each with its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.io.values import BITS_PER_NAT, NoValue, UndefinedValueError
from cimento.kinds.run import Run
from cimento.measures import find_measure
from cimento.measures.scores import ScoredSentence
from cimento.measures.sentence import Sentence, corpus_perplexity
from cimento.paradigms.regions.judging import (
    crosses_factors,
    scores_of,
    sentences_of,
    suite_of,
    tokens_of,
)
from cimento.paradigms.regions.two_by_two import items_by_phenomenon
from cimento.report.cells import Shown, count
from cimento.report.grid import BLANK, Grid
from cimento.suites import BAD, GOOD
from cimento.suites.design import squares

if TYPE_CHECKING:
    import polars as pl

RANKED_BY = "meanlp"
"""The default measure: a mean, since sentences of different lengths are ranked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Perplexity:
    """The perplexity of all sentences of one condition, or of two groups of them.

    Attributes:
        suite: name of the suite.
        model: label of the model.
        kind: ``PPPL`` of masked models (Salazar et al. 2020), else ``PPL``.
        phenomenon: name of the phenomenon.
        acceptable: perplexity of all acceptable sentences; None where undefined.
        unacceptable: perplexity of all unacceptable sentences; None where undefined.
        by_condition: perplexity of each condition; None where undefined.
        n: numbers of acceptable and unacceptable sentences.
        reason: reason why one is None.
    """

    suite: str
    model: str
    kind: str
    phenomenon: str
    acceptable: float | None
    unacceptable: float | None
    by_condition: dict[str, float | None]
    n: tuple[int, int]
    reason: str | None = None

    @property
    def ratio(self) -> float | None:
        """The unacceptable perplexity divided by the acceptable one; None if one is undefined."""
        if self.acceptable is None or self.unacceptable is None:
            return None
        return self.unacceptable / self.acceptable


def perplexities(run: Run) -> list[Perplexity]:
    """The perplexity of acceptable and unacceptable sentences, by phenomenon.

    It is exp of minus the sum of LP over the sum of tokens (Salazar et al. 2020, section 2.3,
    doi:10.18653/v1/2020.acl-main.240). A factorial design, or the name ``bad`` in a pair, says
    which conditions are unacceptable; for other suites, only the conditions have a perplexity.

    Args:
        run: run of any suite whose whole sentences were scored.
    """
    scored = list(sentences_of(run))
    of_parts = []
    for phenomenon, ids in items_by_phenomenon(suite_of(run)).items():
        items = set(ids)
        of_parts.append(_perplexity(run, phenomenon, [one for one in scored if one.item in items]))
    return of_parts


def _perplexity(run: Run, phenomenon: str, scored: Sequence[ScoredSentence]) -> Perplexity:
    bad = unacceptable_conditions(run)
    names = suite_of(run).condition_names
    by_condition = {name: _of_conditions(scored, {name}) for name in names}
    reasons = [reason for _, reason in by_condition.values() if reason]
    if not bad:
        reasons.append("the suite does not say what is unacceptable")
    is_bad = [one.condition in bad for one in scored if isinstance(one.sentence, Sentence)]
    return Perplexity(
        suite=run.suite.name,
        model=run.model,
        kind="PPPL" if run.model_kind == "masked" else "PPL",
        phenomenon=phenomenon,
        acceptable=_of_conditions(scored, set(names) - bad)[0] if bad else None,
        unacceptable=_of_conditions(scored, bad)[0],
        by_condition={name: value for name, (value, _) in by_condition.items()},
        n=(is_bad.count(False), is_bad.count(True)),
        reason=next(iter(reasons), None),
    )


def unacceptable_conditions(run: Run) -> set[str]:
    """The conditions that are unacceptable; empty if the suite does not say."""
    if crosses_factors(run):
        cells = (cell for square in squares(suite_of(run)) for cell in square.bad)
        return {cell.condition for cell in cells if cell.condition}
    return {BAD} if set(suite_of(run).condition_names) == {GOOD, BAD} else set()


def _of_conditions(
    scored: Sequence[ScoredSentence], conditions: set[str]
) -> tuple[float | None, str | None]:
    """The perplexity of some conditions over the sentences with a score, or why there is none."""
    sentences = [one.sentence for one in scored if one.condition in conditions]
    known = [sentence for sentence in sentences if isinstance(sentence, Sentence)]
    if not known:
        reasons = (missing.reason for missing in sentences if isinstance(missing, NoValue))
        return None, next(reasons, "there are no sentences")
    try:
        return corpus_perplexity(known), None
    except UndefinedValueError as reason:
        return None, str(reason)


def perplexity_grid(values: Sequence[Perplexity]) -> Grid:
    """A table of the perplexity of acceptable, unacceptable and each condition's sentences."""
    names = list(dict.fromkeys(name for value in values for name in value.by_condition))
    rows = tuple(
        (
            value.suite,
            value.model,
            value.phenomenon,
            value.kind,
            *map(count, value.n),
            *map(_number, (value.acceptable, value.unacceptable, value.ratio)),
            *(_number(value.by_condition.get(name)) for name in names),
            value.reason or BLANK,
        )
        for value in values
    )
    return Grid(
        title="Perplexity of a token over all sentences of a condition.",
        header=(
            "suite", "model", "phenomenon", "kind", "n acceptable", "n unacceptable", "acceptable",
            "unacceptable", "ratio", *names, "remark",
        ),
        rows=rows,
        labels=4,
        remarks=1,
        notes=(
            "PPPL: of pseudo-log-likelihoods; not comparable with PPL.",
            "n: sentences. One number over the tokens of them all: there is no interval.",
        ),
    )  # fmt: skip


def worst_items(run: Run, *, measure: str = "", count: int = 20) -> pl.DataFrame:
    """The sentences with the worst scores, which often contain typos and odd words.

    Args:
        run: run of any suite.
        measure: measure of the ranking; empty for the mean log-probability of a token.
        count: number of sentences.

    Returns:
        Columns: ``suite``, ``model``, ``item``, ``condition``, ``value``, ``token`` (the most
        surprising one; empty if unknown), ``token_bits`` (its surprisal) and ``text``.
    """
    import polars as pl

    chosen = find_measure(measure or RANKED_BY)
    places = ("item", "condition")
    texts = run.table("requests").select(*places, "request", "text").unique(places, keep="last")
    scored = scores_of(run, [chosen.name]).drop_nulls("value").select(*places, "value")
    worst = scored.sort("value", descending=not chosen.higher_is_better, maintain_order=True)
    return (
        worst.head(count)
        .join(texts, on=places, maintain_order="left")
        .join(_worst_tokens(run), on="request", how="left", maintain_order="left")
        .select(pl.lit(run.suite.name).alias("suite"), pl.lit(run.model).alias("model"), *places,
                "value", pl.col("token").fill_null(""), "token_bits", "text")
    )  # fmt: skip


def _worst_tokens(run: Run) -> pl.DataFrame:
    """The most surprising token of each text and its surprisal in bits."""
    import polars as pl

    texts = run.table("requests").select("request", "text").unique("request", keep="last")
    known = tokens_of(run).drop_nulls("logprob_nats").collect()
    worst = known.sort("logprob_nats", descending=True).unique("request", keep="last")
    # The characters of the sentence, not the tokenizer's own marks, are shown.
    start, end = (pl.col(name).clip(lower_bound=0) for name in ("start", "end"))
    shown = pl.col("text").fill_null("").str.slice(start, end - start).str.strip_chars()
    return worst.join(texts, on="request", how="left").select(
        "request",
        token=pl.when(shown == "").then(pl.col("token")).otherwise(shown),
        token_bits=(0.0 - pl.col("logprob_nats")) * BITS_PER_NAT,
    )


def worst_items_grid(worst: Sequence[pl.DataFrame], *, measure: str) -> Grid:
    """A table of the sentences with the worst scores of some runs, see `worst_items`."""
    return Grid(
        title=f"Sentences with the worst {measure}: look for typos and odd words among them.",
        header=(
            "suite", "model", "item", "condition", measure, "worst token", "its bits", "sentence",
        ),
        rows=tuple(
            (*place, _number(value), token, _number(bits), text)
            for table in worst
            for *place, value, token, bits, text in table.iter_rows()
        ),
        labels=4,
        remarks=1,
    )  # fmt: skip


def _number(value: float | None) -> str:
    return Shown(BLANK if value is None else f"{value:.4g}", value)
