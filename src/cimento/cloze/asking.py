"""Cloze items asked of a model: the fills table, whichever kind of model answers.

A model of transformers finds candidates itself. Options are scored by every model that scores
texts, through the requests, the engine and the cache that any other text goes through.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cimento.answers import FILLS, REQUESTS
from cimento.cloze.records import BLANK, ClozeItem
from cimento.engine.cache import AnswerCache
from cimento.errors import UsageError
from cimento.models.base import ModelCard
from cimento.models.fill import CHOICE, ChoiceRule, Fill, FillKind, FillPolicy, FillRequest
from cimento.models.fill_opening import has_filler, open_filler
from cimento.requests import Plan, ScoreRequest, Span
from cimento.sources import AnyScorer, Asking, ScorerSource, ask, name_of, open_source

if TYPE_CHECKING:
    import polars as pl

    from cimento.models.fill import Filler
    from cimento.suites.model import JsonValue

DEFAULT_CHOICES: Mapping[str, tuple[ChoiceRule, ...]] = {
    "masked": ("mask", "left-to-right"),
    "seq2seq": ("sentinel",),
}
"""Kind of a model to how it chooses among options where nothing else is said."""

OTHER_CHOICES: tuple[ChoiceRule, ...] = ("sentence", "left", "continuation")
"""The same for all others: one scoring of the filled text gives the three."""


@dataclass(frozen=True, slots=True)
class FillPlan:
    """What a suite asks: distinct blanks, and which items each is for.

    Attributes:
        requests: one for each distinct text, with the options of all its items.
        items: the items, in order.
        request_of: id of an item to the id of its request.
    """

    requests: tuple[FillRequest, ...]
    items: tuple[ClozeItem, ...]
    request_of: Mapping[str, int]


class FillSource(Protocol):
    """Something that fills blanks: a model, or a recording."""

    @property
    def label(self) -> str:
        """Name and revision, known before anything is loaded."""

    @property
    def inputs(self) -> dict[str, JsonValue]:
        """What makes its answers what they are, for the manifest."""

    def card(self) -> ModelCard:
        """What is known about it; a model is loaded for that."""

    def fill(
        self, plan: FillPlan, numbers: Sequence[int], *, cache: AnswerCache
    ) -> list[list[Fill]]:
        """Candidates and scored options for some requests of a plan, by their numbers."""


def plan_fills(items: Iterable[ClozeItem]) -> FillPlan:
    """One request for each distinct text with a blank."""
    kept = tuple(items)
    options: dict[tuple[str, str], dict[str, None]] = {}
    for item in kept:
        own = options.setdefault((item.before, item.after), {})
        own.update(dict.fromkeys(text for option in item.options for text in option.spellings))
    numbers = {text: number for number, text in enumerate(options)}
    requests = tuple(FillRequest(numbers[text], *text, tuple(own)) for text, own in options.items())
    places = {item.id: numbers[item.before, item.after] for item in kept}
    return FillPlan(requests, kept, places)


class ModelFills:
    """A language model that fills blanks, loaded when it is first needed.

    Args:
        source: of the model.
        asking: how texts are scored.
        policy: how blanks are asked for.

    Raises:
        UsageError: a recording of surprisals is given, which answers for no blanks.
    """

    def __init__(self, source: ScorerSource, *, asking: Asking, policy: FillPolicy) -> None:
        self._source = source
        self._asking = asking
        self._policy = policy
        self._filler: Filler | None = None

    @property
    def label(self) -> str:
        """Name and revision."""
        return self._source.label

    @property
    def named(self) -> str:
        """How the model can be named again."""
        return name_of(self._source)

    @property
    def inputs(self) -> dict[str, JsonValue]:
        """What makes its answers what they are."""
        return self._source.inputs

    def card(self) -> ModelCard:
        """What is known about the model."""
        return self._source.load().card

    def fill(
        self, plan: FillPlan, numbers: Sequence[int], *, cache: AnswerCache
    ) -> list[list[Fill]]:
        """Candidates for each blank, then its options under each rule.

        Raises:
            UsageError: a rule is not for this kind of model, or nothing can be asked of it.
            ModelError: a text cannot be asked.
        """
        requests = [plan.requests[number] for number in numbers]
        scorer = self._source.load()
        filler = self._filler_of(scorer)
        rules = _rules(self._policy, scorer.card, () if filler is None else filler.choices)
        if filler is None:
            _refuse_no_options(requests, scorer.card)
            own: list[ChoiceRule] = []
            found: list[list[Fill]] = [[] for _ in requests]
        else:
            own = [rule for rule in rules if rule in filler.choices]
            found = filler.fill(requests, self._policy, choice=own)
        others = [rule for rule in rules if rule not in own]
        scored = score_options(requests, scorer, others, asking=self._asking, cache=cache)
        return [[*one, *other] for one, other in zip(found, scored, strict=True)]

    def _filler_of(self, scorer: AnyScorer) -> Filler | None:
        """What finds candidates with the model; None where it only scores texts."""
        if self._filler is None and has_filler(scorer):
            self._filler = open_filler(
                scorer, policy=self._asking.policy, limits=self._asking.limits
            )
        return self._filler


def open_fills(model: str | AnyScorer, *, asking: Asking, policy: FillPolicy) -> FillSource:
    """What fills blanks, by its name: a model, or ``replay:FILE`` for recorded candidates.

    Raises:
        CimentoError: there is no such file or model.
    """
    if isinstance(model, str) and model.startswith("replay:"):
        from cimento.cloze.replaying import open_recording

        return open_recording(model.removeprefix("replay:"))
    source = open_source(model, asking)
    if not isinstance(source, ScorerSource):
        raise UsageError(
            where=f"model {source.label!r}",
            seen="it answers for suites that were recorded, not for blanks",
            todo="Give a model, or replay:FILE with recorded candidates.",
        )
    return ModelFills(source, asking=asking, policy=policy)


def score_options(
    requests: Sequence[FillRequest],
    scorer: AnyScorer,
    rules: Sequence[ChoiceRule],
    *,
    asking: Asking,
    cache: AnswerCache,
) -> list[list[Fill]]:
    """The options of each blank, scored in their texts under some rules.

    Args:
        requests: with options.
        scorer: any model that scores texts.
        rules: of ``sentence``, ``left``, ``continuation`` and ``sentinel``.
        asking: how texts are scored.
        cache: where answers are kept.
    """
    found: list[list[Fill]] = [[] for _ in requests]
    for written, own in ((_in_sentence, _SENTENCE_RULES), (_at_sentinel, ("sentinel",))):
        wanted = [rule for rule in rules if rule in own]
        if not wanted or not any(request.options for request in requests):
            continue
        texts = [
            written(request, option, scorer) for request in requests for option in request.options
        ]
        tokens = iter(_tokens(texts, scorer, asking=asking, cache=cache))
        for request, fills in zip(requests, found, strict=True):
            scored = [(option, next(tokens)) for option in request.options]
            fills += [_choice(option, each, rule) for rule in wanted for option, each in scored]
    return found


_SENTENCE_RULES = ("sentence", "left", "continuation")


@dataclass(frozen=True, slots=True)
class _Written:
    """An option in its text."""

    text: str
    context: str
    place: Span


@dataclass(frozen=True, slots=True)
class _Scored:
    """The scores of a text with an option in it: before, in and after the option."""

    before: tuple[float | None, ...]
    inside: tuple[float | None, ...]
    after: tuple[float | None, ...]


def _in_sentence(request: FillRequest, option: str, _scorer: AnyScorer) -> _Written:
    start = len(request.before)
    text = f"{request.before}{option}{request.after}"
    return _Written(text, "", (start, start + len(option)))


def _at_sentinel(request: FillRequest, option: str, scorer: AnyScorer) -> _Written:
    from cimento.models.fill_seq2seq import sentinels_of

    first, second = sentinels_of(scorer)
    text = f"{first} {option} {second}"
    start = len(first) + 1
    # The next sentinel says that nothing more belongs in the blank.
    return _Written(text, f"{request.before}{first}{request.after}", (start, len(text)))


def _tokens(
    texts: Sequence[_Written], scorer: AnyScorer, *, asking: Asking, cache: AnswerCache
) -> list[_Scored]:
    distinct = {(each.text, each.context): each for each in texts}
    numbers = {key: number for number, key in enumerate(distinct)}
    plan = Plan(
        suite="options",
        requests=tuple(ScoreRequest(numbers[key], *key) for key in distinct),
        places=(),
    )
    table = ask(plan, scorer, policy=asking.policy, cache=cache)
    rows: dict[int, list[tuple[int, float | None]]] = {}
    for number, start, value in table.select("request", "start", "logprob_nats").iter_rows():
        rows.setdefault(number, []).append((start, value))
    return [_parted(rows.get(numbers[each.text, each.context], []), each.place) for each in texts]


def _parted(tokens: Sequence[tuple[int, float | None]], place: Span) -> _Scored:
    low, high = place
    return _Scored(
        before=tuple(value for start, value in tokens if start < low),
        inside=tuple(value for start, value in tokens if low <= start < high),
        after=tuple(value for start, value in tokens if start >= high),
    )


def _choice(option: str, scored: _Scored, rule: ChoiceRule) -> Fill:
    parts = {
        "sentence": (*scored.before, *scored.inside, *scored.after),
        "continuation": scored.after,
    }
    values = parts.get(rule, scored.inside)
    return Fill(
        option, _sum(values), len(scored.inside) or None, kind_of_text(option), CHOICE + rule
    )


def _sum(values: Sequence[float | None]) -> float | None:
    """The sum; None where a token has no score, or there is none."""
    known = [value for value in values if value is not None]
    return math.fsum(known) if known and len(known) == len(values) else None


def kind_of_text(text: str) -> FillKind:
    """What an option is, by its spelling."""
    if not any(character.isalnum() for character in text):
        return "punctuation"
    return "words" if len(text.split()) > 1 else "word"


def _rules(
    policy: FillPolicy, card: ModelCard, own: Sequence[ChoiceRule]
) -> tuple[ChoiceRule, ...]:
    """The rules by which a model's options are scored.

    Args:
        policy: says which, or leaves it to the kind of model.
        card: of the model.
        own: rules of the model's own, besides those that any score will do for.

    Raises:
        UsageError: a rule that is asked for is not for this model.
    """
    by_scoring: dict[str, tuple[ChoiceRule, ...]] = {
        "masked": ("sentence",),
        "seq2seq": ("sentinel",),
    }
    known = (*own, *by_scoring.get(card.kind, OTHER_CHOICES))
    usual = DEFAULT_CHOICES.get(card.kind, OTHER_CHOICES)
    for rule in policy.choice:
        if rule not in known:
            raise UsageError(
                where=f"choice={rule}",
                seen=f"{card.name!r} is a {card.kind} model",
                todo=f"Give some of: {', '.join(known)}.",
            )
    return policy.choice or tuple(rule for rule in usual if rule in known) or known


def _refuse_no_options(requests: Sequence[FillRequest], card: ModelCard) -> None:
    if not any(request.options for request in requests):
        raise UsageError(
            where=f"model {card.name!r}",
            seen="it only scores texts, and no blank has options to choose among",
            todo="Give options, or a model of transformers.",
        )


# --- Tables


def fills_table(answers: Sequence[tuple[int, Sequence[Fill]]]) -> pl.DataFrame:
    """The fills table; see docs/tables.md.

    Candidates are ranked within a blank and a method, unscored ones last in the order given.

    Args:
        answers: ids of requests with their fills.
    """
    import polars as pl

    rows = [
        (number, rank, fill.candidate, fill.logprob_nats, fill.n_pieces, fill.kind, method)
        for number, fills in answers
        for method in dict.fromkeys(fill.method for fill in fills)
        for rank, fill in enumerate(_by_score([f for f in fills if f.method == method]), start=1)
    ]
    return pl.DataFrame(rows, schema=FILLS.polars(present=["method"]), orient="row")


def _by_score(fills: Sequence[Fill]) -> list[Fill]:
    """The most probable first; where nothing is known of that, as they are."""
    return sorted(
        fills,
        key=lambda fill: -fill.logprob_nats if fill.logprob_nats is not None else math.inf,
    )


def requests_table(plan: FillPlan, *, suite: str) -> pl.DataFrame:
    """The requests table: one row for each item, its blank as a region; see docs/tables.md."""
    import polars as pl

    rows = [
        (
            plan.request_of[item.id],
            suite,
            item.id,
            "",
            1,
            item.text,
            "",
            len(item.before),
            len(item.before) + len(BLANK),
            True,
        )
        for item in plan.items
    ]
    return pl.DataFrame(rows, schema=REQUESTS.polars(), orient="row")
