"""Perplexities of the acceptability section by a model, as Table 4 has them."""

from __future__ import annotations

from dataclasses import dataclass

from cimento.acceptability.records import RatedSet
from cimento.acceptability.report import scored_in_order
from cimento.acceptability.suites import suite_of
from cimento.api import evaluate
from cimento.judging import Judging
from cimento.measures import Missing, find_measure
from cimento.measures.values import Value
from cimento.models.base import BosRule, Policy, Scorer
from cimento.sources import Asking


@dataclass(frozen=True, slots=True, kw_only=True)
class Perplexities:
    """What a model makes of the sentences.

    Attributes:
        model: name and revision.
        measure: ``ppl``, or ``pppl`` for a masked model.
        values: id of the sentence to its perplexity.
        tokens: id of the sentence to the number of tokens that were scored.
        first_token: what became of the first token.
    """

    model: str
    measure: str
    values: dict[str, Value]
    tokens: dict[str, int]
    first_token: str


def perplexities(
    rated: RatedSet, model: str | Scorer, *, bos: BosRule = "none", device: str = "auto"
) -> Perplexities:
    """The perplexity of each sentence: exp of the mean surprisal of its tokens.

    The paper does not say what stood before the first token. With ``none``, as transformers'
    ``loss`` has it, the first token is not scored and does not count; with any other rule the
    text begins after a special token and every token counts.

    Args:
        rated: the sentences.
        model: as for ``cimento run -m``, or anything that keeps the `Scorer` protocol.
        bos: what stands before a text.
        device: as for ``cimento run --device``.

    Raises:
        CimentoError: the model cannot be used.
    """
    run = evaluate(
        suite_of(rated),
        model,
        asking=Asking(policy=Policy(bos=bos), device=device, all_tokens=True),
        judging=Judging(unscored_first="drop"),
    )
    measure = find_measure("pppl" if run.model_kind == "masked" else "ppl")
    names = {each.id: each.id for each in rated.sentences}
    names |= {f"{each.pair}/{each.label}": each.id for each in rated.sentences}
    values: dict[str, Value] = {}
    tokens: dict[str, int] = {}
    for scored in scored_in_order(run):
        place = scored.stimulus
        name = names.get(f"{place.item}/{place.condition}") or names[place.item]
        values[name] = measure.of(scored.sentence)
        known = scored.sentence
        tokens[name] = 0 if isinstance(known, Missing) else known.n_tokens
    dropped = run.model_kind == "causal" and bos == "none"
    return Perplexities(
        model=run.model,
        measure=measure.name,
        values=values,
        tokens=tokens,
        first_token="not scored and not counted" if dropped else "scored and counted",
    )
