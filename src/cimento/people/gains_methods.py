"""The methods of gains in log-likelihood of reading times, in a paragraph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.cite.methods import cited_text
from cimento.cite.sentences import names_in_row
from cimento.errors import counted
from cimento.io.values import grouped
from cimento.people.joined_methods import A_WORD, scored_words
from cimento.people.reading_gains import ITEMS, SUBJECTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cimento.models.base import ModelCard
    from cimento.models.settings import Policy
    from cimento.people.reading_gains import ReadingGains


def gains_methods(made: ReadingGains, cards: Mapping[str, ModelCard], policy: Policy) -> str:
    """The methods of some gains; every sentence is made from them and from the models' cards.

    Args:
        made: the gains.
        cards: of the language models, by the names that they have in the gains.
        policy: the settings of scoring.

    Returns:
        A paragraph with works in parentheses.
    """
    measured, *others = _sentences(made)
    return cited_text(" ".join([measured, *_of_words(made, cards, policy), *others]))


def _of_words(made: ReadingGains, cards: Mapping[str, ModelCard], policy: Policy) -> Iterator[str]:
    """Sentences on what a word is and how models scored it, of which models share some."""
    if not cards:
        return
    yield A_WORD
    models = {gain.model for gain in made.gains}
    ways = grouped((tuple(scored_words(card, policy)), name) for name, card in cards.items())
    for names in ways.values():
        whose = "" if {*names} == models else f" of {names_in_row(names)}"
        yield from scored_words(cards[names[0]], policy, whose=whose)


def _sentences(made: ReadingGains) -> Iterator[str]:
    rules, one = made.rules, made.gains[0]
    sizes = [(SUBJECTS, one.subjects), (ITEMS, one.items)]
    factors = [name for name, n in sizes if n]
    models = list(dict.fromkeys(gain.model for gain in made.gains))
    listed = names_in_row([f"{n:,} {name}" for name, n in sizes if n])
    response = "the natural logarithm of the time" if rules.transform == "log" else "the time"
    yield (
        f"With cimento [@cimento] we measured how much the surprisals of {names_in_row(models)} add"
        f" to a baseline of reading times, on {counted(made.n, 'observation')} ({listed})."
    )
    left = "; ".join(f"{reason}: {count:,}" for reason, count in made.left_out.items())
    if left:
        yield f"Left out were observations for these reasons: {left}."
    yield (
        f"Linear mixed models with random intercepts for {names_in_row(factors)} predict"
        f" {response}, by restricted likelihood; fixed effects are"
        f" {names_in_row(made.baseline) if made.baseline else 'none'} in the baseline, and"
        f" {names_in_row(made.surprisals)} besides in the full model."
    )
    if rules.before:
        yield (
            f"Predictors of {counted(rules.before, 'earlier word')} are among them, since"
            " difficulty spills over [@smith2013]."
        )
    if made.constant:
        yield f"Others determine {names_in_row(made.constant)}, which are left out."
    yield (
        "The gain is in log-likelihood per observation [@goodkind2018], in up to"
        f" {rules.folds} folds (seed {rules.seed}) whose {' or '.join(factors)} are not in the data"
        " that their model is fitted to."
    )
    if one.method:
        yield f"Intervals and tests are by {one.method}, with the folds as they are."
    tested = sum(pair.p is not None for pair in made.pairs)
    if tested:
        holm = f", with p corrected by Holm's method [@holm1979] over {tested} tests"
        yield (
            "Differences of two models are paired by observation"
            f"{holm if tested > 1 else ' and were tested once'}."
        )
