"""The methods of surprisals joined to reading times, in a paragraph."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from cimento.cite.brief import PLL_IN_BRIEF, model_in_brief
from cimento.cite.methods import cited_text
from cimento.cite.sentences import names_in_row
from cimento.errors import counted
from cimento.people.reading_times import ENTROPY, REASON
from cimento.people.word_positions import WordColumns, word_positions

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from cimento.models.base import ModelCard
    from cimento.models.settings import Policy


A_WORD = (
    "A word is what is between blanks, with the marks that touch it; a token belongs to the word in"
    " which it begins, the blank before it aside."
)
"""The sentence on what a word is."""


@dataclass(frozen=True, slots=True)
class JoinFacts:
    """How surprisals were joined to observations.

    Attributes:
        card: the card of the language model.
        policy: the settings of scoring.
        names: the columns that say which word an observation is of.
        before: number of earlier words whose values are in a row.
        frequency: language of the frequencies of words; empty where there are none.
    """

    card: ModelCard
    policy: Policy
    names: WordColumns
    before: int
    frequency: str = ""


def joined_methods(joined: pl.DataFrame, facts: JoinFacts) -> str:
    """The methods of a joined table; every sentence is made from it and from its facts.

    Args:
        joined: as `join_surprisals` makes it.
        facts: what it is made of.

    Returns:
        A paragraph with works in parentheses.
    """
    scored = scored_words(facts.card, facts.policy)
    return cited_text(" ".join([*_of_rows(joined, facts), *scored, *_of_columns(joined, facts)]))


def _of_rows(joined: pl.DataFrame, facts: JoinFacts) -> Iterator[str]:
    """Sentences on how much was joined, and on what has no surprisal."""
    texts = word_positions(joined, facts.names).words
    words = sum(map(len, texts.values()))
    yield (
        f"With cimento [@cimento] we joined {counted(len(joined), 'observation')} of"
        f" {counted(words, 'word')} in {counted(len(texts), 'text')} to the surprisals, in bits, of"
        f" these words from {model_in_brief(asdict(facts.card), label=facts.card.label)}."
        f" {A_WORD}"
    )
    reasons = Counter(filter(None, joined[REASON].to_list()))
    if reasons:
        listed = "; ".join(f"{reason}: {count:,}" for reason, count in reasons.items())
        of = counted(reasons.total(), "observation has", "observations have")
        yield f"{of} no surprisal ({listed})."


def scored_words(card: ModelCard, policy: Policy, *, whose: str = "") -> Iterator[str]:
    """Sentences on how a model scored words.

    Args:
        card: the card of the model.
        policy: the settings of scoring.
        whose: which scores these are, such as `` of gpt2``; empty where there are no others.
    """
    ways = [f"in {card.dtype}"] if card.dtype else []
    if card.kind == "causal":
        ways.append(f"with {card.bos or 'nothing'} before the first token")
    if ways:
        yield f"Scores{whose} were computed {', '.join(ways)}."
    if card.kind == "masked":
        yield f"Surprisals{whose} are of pseudo-log-likelihoods, {PLL_IN_BRIEF[policy.pll]}."
    elif card.boundary:
        yield (
            f"Surprisals{whose} are of whole words, corrected for where words may end,"
            f" by {card.boundary} marks [@pimentel2024]."
        )
    else:
        yield (
            f"Surprisals{whose} are sums over the tokens of a word, not corrected for where words"
            " may end."
        )
    if policy.window == "sliding":
        yield f"Texts longer than the window{whose} were scored in sliding windows."


def _of_columns(joined: pl.DataFrame, facts: JoinFacts) -> Iterator[str]:
    """A sentence on the other values in a row."""
    values = [
        "the number of characters of the word without marks at its ends",
        *([f"its Zipf frequency (wordfreq, {facts.frequency})"] if facts.frequency else []),
        *(["the entropy before its first token, in nats"] if ENTROPY in joined.columns else []),
    ]
    earlier = (
        f"; the same of {counted(facts.before, 'earlier word')}, since difficulty spills over"
        " [@smith2013]"
        if facts.before
        else ""
    )
    yield f"Rows also have {names_in_row(values)}{earlier}."
