"""Fills of blanks by a model: the candidates it proposes, and options scored in their texts.

Models of transformers propose candidates. Every model that scores texts can score options, through
the same engine and cache as any other text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from cimento.engine.cache import AnswerCache
from cimento.engine.handle import ModelHandle
from cimento.engine.requests import Fill
from cimento.engine.scores import ask
from cimento.errors import UsageError
from cimento.io.tables import FILLS
from cimento.models.answering import has_filler, open_filler
from cimento.models.base import ModelCard, Score
from cimento.models.questions import (
    CHOICE,
    ChoiceRule,
    FillCandidate,
    Filler,
    FillKind,
    FillPolicy,
)
from cimento.models.registry import AnyScorer
from cimento.models.settings import Asking
from cimento.suites import JsonValue
from cimento.suites.stimuli import Span

if TYPE_CHECKING:
    import polars as pl

SHARD = 128
"""Number of blanks that are asked together."""

DEFAULT_CHOICES: Mapping[str, tuple[ChoiceRule, ...]] = {
    "masked": ("mask", "left-to-right"),
    "seq2seq": ("sentinel",),
}
"""The default rules of choosing among options, by kind of model."""

OTHER_CHOICES: tuple[ChoiceRule, ...] = ("sentence", "left", "continuation")
"""The default rules for all other kinds; scoring the filled text once gives all three."""


def fills(
    requests: Sequence[Fill],
    model: ModelHandle,
    cache: AnswerCache,
    progress: Callable[[int, int], None] | None,
) -> tuple[str, pl.DataFrame, tuple[str, ...]]:
    """The candidates and the options under each rule, blank by blank, as `answers.Answered`.

    Raises:
        UsageError: a rule does not apply to this kind of model, or the model cannot be asked
            anything.
        ModelError: a text cannot be scored.
    """
    answers: dict[int, list[FillCandidate]] = {}
    for policy in dict.fromkeys(request.policy for request in requests):
        numbers = [n for n, request in enumerate(requests) if request.policy == policy]
        for start in range(0, len(numbers), SHARD):
            some = numbers[start : start + SHARD]
            answered = _fill_shard([requests[number] for number in some], policy, model, cache)
            answers.update(zip(some, answered, strict=True))
            if progress is not None:
                progress(len(answers), len(requests))
    return FILLS.name, fills_table(sorted(answers.items())), ()


def _fill_shard(
    requests: Sequence[Fill], policy: FillPolicy, model: ModelHandle, cache: AnswerCache
) -> list[list[FillCandidate]]:
    scorer, scoring = model.scorer, model.scoring
    filler = (
        open_filler(scorer, policy=scoring.policy, limits=scoring.limits)
        if has_filler(scorer)
        else None
    )
    rules = _rules(policy, scorer.card, () if filler is None else filler.choices)
    model_rules = [] if filler is None else [rule for rule in rules if rule in filler.choices]
    if filler is None:
        _refuse_no_options(requests, scorer.card)
        candidates: list[list[FillCandidate]] = [[] for _ in requests]
    else:
        filled = partial(_filled, filler, policy, model_rules)
        answers = model.known_or_asked(requests, FILLS.name, filled, cache=cache)
        candidates = [[FillCandidate(*fill) for fill in answer] for answer in answers]
    others = [rule for rule in rules if rule not in model_rules]
    scored = score_options(requests, scorer, others, asking=scoring, cache=cache)
    return [[*one, *other] for one, other in zip(candidates, scored, strict=True)]


_VALUES = attrgetter(*(field.name for field in fields(FillCandidate)))
"""The values of a candidate in order; `dataclasses.astuple` would copy each."""


def _filled(
    filler: Filler, policy: FillPolicy, rules: Sequence[ChoiceRule], asks: Sequence[Fill]
) -> Iterator[dict[int, JsonValue]]:
    """The candidates of a model and its scores of options, of all blanks at once."""
    filled = filler.fill(asks, policy, choice=rules)
    yield {number: [[*_VALUES(fill)] for fill in given] for number, given in enumerate(filled)}


def score_options(
    requests: Sequence[Fill],
    scorer: AnyScorer,
    rules: Sequence[ChoiceRule],
    *,
    asking: Asking,
    cache: AnswerCache,
) -> list[list[FillCandidate]]:
    """The options of each blank, scored in their texts under each rule.

    Args:
        requests: blanks with options.
        scorer: any model that scores texts.
        rules: rules among ``sentence``, ``left``, ``continuation`` and ``sentinel``.
        asking: the settings of scoring.
        cache: the cache of answers.
    """
    by_request: list[list[FillCandidate]] = [[] for _ in requests]
    for written, known_rules in ((_in_sentence, _SENTENCE_RULES), (_at_sentinel, ("sentinel",))):
        wanted = [rule for rule in rules if rule in known_rules]
        if not wanted or not any(request.options for request in requests):
            continue
        texts = [
            written(request, option, scorer) for request in requests for option in request.options
        ]
        tokens = iter(_tokens(texts, scorer, asking=asking, cache=cache))
        for request, fills in zip(requests, by_request, strict=True):
            scored = [(option, next(tokens)) for option in request.options]
            fills += [_choice(option, score, rule) for rule in wanted for option, score in scored]
    return by_request


_SENTENCE_RULES = ("sentence", "left", "continuation")


@dataclass(frozen=True, slots=True)
class _FilledText:
    """A text with an option filled in, its context, and the span of the option."""

    text: str
    context: str
    place: Span


@dataclass(frozen=True, slots=True)
class _FilledScores:
    """The token scores of a text with an option filled in: before, in and after the option."""

    before: tuple[float | None, ...]
    inside: tuple[float | None, ...]
    after: tuple[float | None, ...]


def _in_sentence(request: Fill, option: str, _scorer: AnyScorer) -> _FilledText:
    start = len(request.before)
    text = f"{request.before}{option}{request.after}"
    return _FilledText(text, "", (start, start + len(option)))


def _at_sentinel(request: Fill, option: str, scorer: AnyScorer) -> _FilledText:
    from cimento.models.hf.fill_causal import sentinels_of

    first, second = sentinels_of(scorer)
    text = f"{first} {option} {second}"
    start = len(first) + 1
    # The next sentinel ends the blank, so its score says that nothing more belongs there.
    return _FilledText(text, f"{request.before}{first}{request.after}", (start, len(text)))


def _tokens(
    texts: Sequence[_FilledText], scorer: AnyScorer, *, asking: Asking, cache: AnswerCache
) -> list[_FilledScores]:
    distinct = {(text.text, text.context): text for text in texts}
    numbers = {key: number for number, key in enumerate(distinct)}
    table = ask([Score(*key) for key in distinct], scorer, policy=asking.policy, cache=cache)
    rows: dict[int, list[tuple[int, float | None]]] = {}
    for number, start, value in table.select("request", "start", "logprob_nats").iter_rows():
        rows.setdefault(number, []).append((start, value))
    return [_parted(rows.get(numbers[text.text, text.context], []), text.place) for text in texts]


def _parted(tokens: Sequence[tuple[int, float | None]], place: Span) -> _FilledScores:
    low, high = place
    return _FilledScores(
        before=tuple(value for start, value in tokens if start < low),
        inside=tuple(value for start, value in tokens if low <= start < high),
        after=tuple(value for start, value in tokens if start >= high),
    )


def _choice(option: str, scored: _FilledScores, rule: ChoiceRule) -> FillCandidate:
    parts = {
        "sentence": (*scored.before, *scored.inside, *scored.after),
        "continuation": scored.after,
    }
    values = parts.get(rule, scored.inside)
    return FillCandidate(
        option, _sum(values), len(scored.inside) or None, kind_of_text(option), CHOICE + rule
    )


def _sum(values: Sequence[float | None]) -> float | None:
    """The sum of token scores; None where one is missing or there are no tokens."""
    known = [value for value in values if value is not None]
    return math.fsum(known) if known and len(known) == len(values) else None


def kind_of_text(text: str) -> FillKind:
    """The kind of an option, by its spelling."""
    if not any(character.isalnum() for character in text):
        return "punctuation"
    return "words" if len(text.split()) > 1 else "word"


def _rules(
    policy: FillPolicy, card: ModelCard, rules: Sequence[ChoiceRule]
) -> tuple[ChoiceRule, ...]:
    """The rules by which a model's options are scored.

    Args:
        policy: names the rules, or leaves them to the kind of model.
        card: the card of the model.
        rules: rules that need more of the model than scores of texts.

    Raises:
        UsageError: a requested rule does not apply to this model.
    """
    by_scoring: dict[str, tuple[ChoiceRule, ...]] = {
        "masked": ("sentence",),
        "diffusion": ("sentence",),
        "seq2seq": ("sentinel",),
    }
    known = (*rules, *by_scoring.get(card.kind, OTHER_CHOICES))
    usual = DEFAULT_CHOICES.get(card.kind, OTHER_CHOICES)
    for rule in policy.choice:
        if rule not in known:
            raise UsageError(
                where=f"choice={rule}",
                seen=f"{card.name!r} is a {card.kind} model",
                todo=f"Give some of: {', '.join(known)}.",
            )
    return policy.choice or tuple(rule for rule in usual if rule in known) or known


def _refuse_no_options(requests: Sequence[Fill], card: ModelCard) -> None:
    if not any(request.options for request in requests):
        raise UsageError(
            where=f"model {card.name!r}",
            seen="it only scores texts, and no blank has options to choose among",
            todo="Give options, or a model of transformers.",
        )


def fills_table(answers: Sequence[tuple[int, Sequence[FillCandidate]]]) -> pl.DataFrame:
    """The fills table of some answers; see docs/parts/tables.md.

    Candidates are ranked within a blank and a method, unscored ones last in the order given.

    Args:
        answers: the number of each request with its fills.
    """
    import polars as pl

    rows = [
        (number, rank, fill.candidate, fill.logprob_nats, fill.n_pieces, fill.kind, method)
        for number, fills in answers
        for method in dict.fromkeys(fill.method for fill in fills)
        for rank, fill in enumerate(_by_score([f for f in fills if f.method == method]), start=1)
    ]
    return pl.DataFrame(rows, schema=FILLS.polars(present=["method"]), orient="row")


def _by_score(fills: Sequence[FillCandidate]) -> list[FillCandidate]:
    """Fills with the most probable first; those without a score come last, in the order given."""
    return sorted(
        fills,
        key=lambda fill: -fill.logprob_nats if fill.logprob_nats is not None else math.inf,
    )
