"""What models say of a user's own copy: perplexities for Table 4, completions for Table 5."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass

from cimento.acceptability.estimates import TOKENS
from cimento.acceptability.records import RatedSet
from cimento.acceptability.suites import suite_of
from cimento.api import evaluate
from cimento.cloze.free import ask_texts
from cimento.cloze.records import BLANK
from cimento.errors import InputError
from cimento.measures.sentence import Missing, Value
from cimento.models.base import BosRule, Scorer
from cimento.models.fill import FillPolicy
from cimento.paradigms.ratings import perplexity_of
from cimento.runs.outcomes import each_outcome
from cimento.sources import Asking
from cimento.studies.connectives.cloze import ClozeItem


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
    run = evaluate(suite_of(rated), model, bos=bos, device=device, unscored_first="drop")
    measure = perplexity_of(run)
    names = {each.id: each.id for each in rated.sentences}
    names |= {f"{each.pair}/{each.label}": each.id for each in rated.sentences}
    values: dict[str, Value] = {}
    tokens: dict[str, int] = {}
    for outcome in each_outcome(run.outcomes()):
        if outcome.question == measure:
            known = outcome.value
            values[names[outcome.item]] = Missing(outcome.reason) if known is None else known
        elif outcome.question == TOKENS:
            tokens[names[outcome.item]] = int(outcome.value or 0)
    dropped = run.model_kind == "causal" and bos == "none"
    return Perplexities(
        model=run.model,
        measure=measure,
        values=values,
        tokens=tokens,
        first_token="not scored and not counted" if dropped else "scored and counted",
    )


def with_completions(
    items: Sequence[ClozeItem], model: str | Scorer, *, k: int = 10, device: str = "auto"
) -> tuple[ClozeItem, ...]:
    """The items with the k most probable tokens at one mask, as the paper asked BERT.

    Args:
        items: the blank of each is `` ... ``.
        model: a masked model, as for ``cimento run -m``.
        k: how many completions.
        device: as for ``cimento run --device``.

    Raises:
        InputError: a sentence has no blank, or more than one.
        CimentoError: the model cannot be used.
    """
    asking = Asking(device=device)
    texts = [_with_blank(item) for item in items]
    found = ask_texts(texts, model, policy=FillPolicy(k=k, protocol="mask"), asking=asking)
    options = [_options(item, text) for item, text in zip(items, texts, strict=True)]
    pieces = ask_texts(
        texts,
        model,
        options=[list(each) for each in options],
        policy=FillPolicy(choice=("left-to-right",)),
        asking=asking,
    )
    return tuple(
        dataclasses.replace(
            item,
            completions=tuple(fill.candidate for fill in fills),
            unreachable=frozenset(
                written[each.candidate]
                for each in scored
                if each.candidate in written and (each.n_pieces or 1) > 1
            ),
        )
        for item, fills, scored, written in zip(items, found, pieces, options, strict=True)
    )


_DOTS = re.compile(r"\.{3}|…")


def _with_blank(item: ClozeItem) -> str:
    """The sentence with the blank as texts to fill have it."""
    parts = _DOTS.split(item.sentence)
    if len(parts) != 2:  # noqa: PLR2004  # before and after
        raise InputError(
            where=f"cloze item {item.id!r}",
            seen=f"there are {len(parts) - 1} blanks in {item.sentence!r}",
            todo="Write one, as three dots.",
        )
    return BLANK.join(parts)


def _options(item: ClozeItem, text: str) -> dict[str, str]:
    """Target and plausible option as they stand in the text, to what they are in the item."""
    first = text.startswith(BLANK)
    return {
        (option.capitalize() if first else option): option
        for option in (item.target, item.plausible)
    }
