"""Rated sentences, and the suites that contain them (docs/ratings.md).

A suite of the kind ``acceptability`` is a native suite: its columns contain the ratings, and its
``[ratings]`` table the scale. Pairs have the conditions ``acceptable`` and ``unacceptable`` (or
``good`` and ``bad``) and are judged like all other pairs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from cimento.errors import Fault, InputError
from cimento.faults import fault
from cimento.intake.reading import TableReading, with_role
from cimento.intake.shapes import RATINGS
from cimento.io.clusters import cluster_cells
from cimento.io.values import group_by
from cimento.suites import Condition, Item, JsonValue, Meta, Prediction, Region, Suite
from cimento.suites.builtin import RATED
from cimento.suites.cells import Cells

AuthorLabel: TypeAlias = Literal["acceptable", "unacceptable", ""]
"""The label given to a sentence by the authors of a set; empty if they give none."""
NO_NUMBERS = "the numbers of people behind the standard deviations are not known"
"""Why there is no noise ceiling where means have standard deviations alone."""
NO_SPREAD = "there are neither single ratings nor standard deviations of the means"
"""Why there is no noise ceiling where means have at most numbers of people."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The ends of a rating scale, of which the low end is the worst.

    Attributes:
        low: lowest rating on the scale.
        high: highest rating on the scale.
    """

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether a rating is on the scale."""
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Rating:
    """One person's rating of one sentence.

    Attributes:
        value: rating on the set's scale.
        participant: name of the person; empty if unknown.
    """

    value: float
    participant: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedSentence:
    """A sentence with its ratings: single ratings, or their published mean.

    Attributes:
        id: id of the sentence, unique in its set.
        text: the sentence.
        ratings: single ratings; empty if only their mean was published.
        mean: mean of the ratings.
        sd: standard deviation of the ratings, with n - 1; None if there are fewer than two.
        n: number of people who rated it.
        label: label given by the authors of the set.
        pair: name of its minimal pair, shared by both members; empty if it is in none.
        cluster: cluster of the sentence, if the suite has a cluster column; otherwise empty.
        grammatical: whether it is grammatical, if the authors distinguish this from acceptable.
        columns: all other columns, as text.
    """

    id: str
    text: str
    ratings: tuple[Rating, ...] = ()
    mean: float | None = None
    sd: float | None = None
    n: int | None = None
    label: AuthorLabel = ""
    pair: str = ""
    cluster: str = ""
    grammatical: bool | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def given(self) -> tuple[float, ...]:
        """The single ratings and their mean, as far as there are any."""
        values = (*(rating.value for rating in self.ratings), self.mean)
        return tuple(value for value in values if value is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedSet:
    """Sentences rated on one scale.

    Attributes:
        name: name of the set, such as its file's.
        sentences: sentences in file order.
        scale: scale of the ratings; None if the sentences only have labels.
        language: ISO 639-1 code; empty if it is unknown.
        warnings: warnings from reading.
        read: what the table was read as; None where it was not a table.
    """

    name: str
    sentences: tuple[RatedSentence, ...]
    scale: Scale | None = None
    language: str = ""
    warnings: tuple[str, ...] = ()
    read: TableReading | None = None

    @property
    def means(self) -> list[float | None]:
        """The mean rating of each sentence."""
        return [sentence.mean for sentence in self.sentences]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedChoice:
    """One person's choice of the better of two sentences.

    Attributes:
        sheet: set of questions answered in one session.
        annotator: person who answered.
        paradigm: paradigm of the pair.
        good: the sentence that should be preferred.
        bad: the other sentence.
        chose_good: answer; None if there is none.
        attention: whether the question only checks the annotator's attention.
        seconds: time taken for the whole sheet.
    """

    sheet: str
    annotator: str
    paradigm: str
    good: str
    bad: str
    chose_good: bool | None
    attention: bool = False
    seconds: float | None = None


def with_ratings(
    sentence: RatedSentence, values: Sequence[float], participants: Sequence[str] = ()
) -> RatedSentence:
    """A sentence with single ratings, their mean, standard deviation (n - 1) and number.

    Args:
        sentence: the rated sentence.
        values: single ratings.
        participants: participant behind each rating; empty if unknown.
    """
    n = len(values)
    names = participants or [""] * n
    ratings = tuple(Rating(value, name) for value, name in zip(values, names, strict=True))
    mean = math.fsum(values) / n if n else None
    sd = None
    if mean is not None and n > 1:
        sd = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    return replace(sentence, ratings=ratings, mean=mean, sd=sd, n=n)


def rating_as_text(value: float) -> str:
    """A rating as people write it: ``3`` for 3.0, otherwise all digits."""
    return str(int(value)) if float(value).is_integer() else repr(value)


DECIMALS = (
    "Each cell of single ratings has two numbers with a comma between, such as 6,5. If it is one"
    " number with a decimal comma, call the column rating; if it is two ratings, write 6; 5."
)

_CORRECT = "Correct them, or say on which scale they are."

_SHOWN = 3
"""The number of wrong ratings named in a message."""


def refuse_off_scale(
    sentences: Iterable[RatedSentence],
    scale: Scale,
    *,
    where: str,
    todo: str = _CORRECT,
) -> None:
    """Refuse ratings and means off the scale.

    Raises:
        InputError: ratings are off the scale; the first ones are named.
    """
    wrong = [
        f"{sentence.id}: {value:g}"
        for sentence in sentences
        for value in sentence.given
        if not scale.holds(value)
    ]
    if wrong:
        shown = "; ".join(dict.fromkeys(wrong[:_SHOWN]))
        more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise InputError(
            where=where,
            seen=f"ratings are off the scale from {scale.low:g} to {scale.high:g} ({shown}{more})",
            todo=todo,
        )


_RATINGS = "ratings"
OWN_COLUMNS = (
    "rating", "rating_sd", "rating_n", _RATINGS, "participants", "label", "grammaticality",
)  # fmt: skip
"""Columns of a suite that contain ratings and labels; all others are free."""

_SENTENCE = "sentence"
_JOIN = "; "
"""Separator of single ratings; with a comma, two ratings could be read as one number."""
_DECIMALS = re.compile(r"[0-9]+,[0-9]+")

_PAIR = ("acceptable", "unacceptable")
PEOPLE, AUTHOR = "people", "author"

_LABELS: Mapping[str, AuthorLabel] = {
    "acceptable": "acceptable",
    "good": "acceptable",
    "unacceptable": "unacceptable",
    "bad": "unacceptable",
}


def looks_decimal(suite: Suite) -> bool:
    """Whether every cell of single ratings could also be one number with a decimal comma."""
    own = cells_of_ratings(suite)
    texts = [Cells("", own(condition)).text(_RATINGS) for _, condition in suite.stimuli()]
    given = list(filter(None, texts))
    return bool(given) and all(map(_DECIMALS.fullmatch, given))


def cells_of_ratings(suite: Suite) -> Callable[[Condition], Mapping[str, str]]:
    """What gives the cells of a condition in which ratings may be, by their columns.

    A column called as ratings are in some language, in which no cell of the suite has a digit, is
    one of labels, such as *Juicio esperado* with *bien* and *mal*. `OWN_COLUMNS` are of ratings
    whatever they contain.
    """
    cells: dict[str, list[str]] = {}
    for _, condition in suite.stimuli():
        for name, cell in condition.columns.items():
            cells.setdefault(name, []).append(cell)
    labels = {
        name
        for name, of_each in cells.items()
        if name not in OWN_COLUMNS
        and name in map(Cells("", {name: ""}).find, ("rating", _RATINGS))
        and not any(map(str.isdigit, "".join(of_each)))
    }
    return lambda one: {name: cell for name, cell in one.columns.items() if name not in labels}


def ratings_by(suite: Suite) -> str:
    """The source of a suite's ratings: ``people`` or ``author``.

    Raises:
        InputError: the stated source or the scale is invalid.
    """
    return _settings(suite)[1]


def scale_said(suite: Suite) -> str:
    """The ends of the scale of a suite's ratings in words; empty for labels, which are 0 and 1."""
    try:
        scale = _settings(suite)[0]
    except InputError:
        return ""  # the checks of ratings report it
    is_of_labels = scale is None or (scale.low, scale.high) == (0, 1)
    return "" if scale is None or is_of_labels else f"rated from {scale.low:g} to {scale.high:g}"


def suite_from_ratings(rated: RatedSet) -> Suite:
    """A suite of whole sentences, in pairs if every sentence belongs to one."""
    pairs = _pairs(rated)
    if pairs is not None:
        items = tuple(
            Item(pair, tuple(_condition(sentence, sentence.label) for sentence in both))
            for pair, both in pairs.items()
        )
    else:
        items = tuple(
            Item(sentence.id, (_condition(sentence, _SENTENCE),)) for sentence in rated.sentences
        )
    scale = rated.scale
    ratings: dict[str, JsonValue] = {"low": scale.low, "high": scale.high} if scale else {}
    prediction = Prediction(
        "(*;%acceptable%) < (*;%unacceptable%)",
        comment="The acceptable sentence is less surprising.",
        name="acceptable",
    )
    return Suite(
        meta=Meta(name=rated.name, language=rated.language),
        region_names=(_SENTENCE,),
        predictions=(prediction,) if pairs is not None else (),
        items=items,
        extra={"kind": RATED, _RATINGS: ratings},
    )


def rated_of(suite: Suite) -> RatedSet:
    """The sentences of a suite with the ratings in its columns.

    Raises:
        InputError: the scale or a rating is invalid, or a rating is off the scale.
    """
    scale, where = _settings(suite)[0], f"suite {suite.name!r}"
    own = cells_of_ratings(suite)
    sentences = [_sentence(suite, item, each, own(each)) for item, each in suite.stimuli()]
    if any(sentence.mean is not None for sentence in sentences):
        if scale is None:
            raise InputError(
                where=where,
                seen="there are ratings and no scale",
                todo="Write [ratings] with low = 1 and high = 5, say, in suite.toml.",
            )
        todo = DECIMALS if looks_decimal(suite) else _CORRECT
        refuse_off_scale(sentences, scale, where=where, todo=todo)
    return RatedSet(
        name=suite.name, sentences=tuple(sentences), scale=scale, language=suite.meta.language
    )


def with_rating_roles(reading: TableReading, suite: Suite | None) -> TableReading:
    """The reading of the table of a suite of ratings, whose columns of ratings have their roles.

    Args:
        reading: of the table.
        suite: with its cells; None where nothing could be made of them.
    """
    names = {*reading.unused}
    if suite is not None:
        own = cells_of_ratings(suite)
        names &= {name for _, condition in suite.stimuli() for name in own(condition)}
    cells = Cells("", dict.fromkeys(names, ""))
    for role in OWN_COLUMNS:
        reading = with_role(reading, role, [cells.find(role)])
    is_rated = {"rating", _RATINGS} & {*reading.roles}
    return replace(reading, shape=RATINGS.name) if is_rated else reading


def rating_faults(suite: Suite, *, places: Sequence[str] = ()) -> list[Fault]:
    """The faults of ratings and their scale, all with the code CIM-S037.

    Args:
        suite: a suite of ratings.
        places: place of each sentence, for messages; without places the item is named.
    """
    faults, read, off = list[Fault](), list[RatedSentence](), dict[str, list[float]]()
    scale, own = None, cells_of_ratings(suite)
    with suppress(InputError):  # `rated_of` reports a scale that is invalid
        scale = _settings(suite)[0]
    for number, (item, condition) in enumerate(suite.stimuli()):
        where = places[number] if places else f"item {item.id}, {condition.name}"
        try:
            read.append(_sentence(suite, item, condition, own(condition)))
        except InputError as error:
            faults.append(_as_fault(error, places[number] if places else error.where))
            continue
        if scale and (wrong := [value for value in read[-1].given if not scale.holds(value)]):
            off[where] = wrong
    if scale and off:
        faults.append(_off_scale(suite, scale, off))
    if not faults:
        try:
            rated_of(suite)
        except InputError as error:
            faults.append(_as_fault(error, error.where))
    return faults


def _off_scale(suite: Suite, scale: Scale, off: Mapping[str, Sequence[float]]) -> Fault:
    """The fault of ratings off the scale, by the place of their sentences."""
    values = [f"{value:g}" for wrong in off.values() for value in wrong]
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return fault(
        "CIM-S037",
        where=next(iter(off)),
        seen=f"Ratings are off the scale from {scale.low:g} to {scale.high:g}:"
        f" {'; '.join(values[:_SHOWN])}{more}.",
        todo=DECIMALS if looks_decimal(suite) else _CORRECT,
        places=[*off],
    )


def _as_fault(error: InputError, where: str) -> Fault:
    seen = f"{error.seen[0].upper()}{error.seen[1:]}."
    return fault("CIM-S037", where=where, seen=seen, todo=error.todo)


def _sentence(
    suite: Suite, item: Item, condition: Condition, cells: Mapping[str, str]
) -> RatedSentence:
    """A sentence with its ratings, which are in some of its cells.

    Raises:
        InputError: a cell cannot be read.
    """
    from cimento.suites.stimuli import stimulus_text

    single = len(item.conditions) == 1
    columns = Cells(f"{suite.name}, item {item.id}, {condition.name}", cells)
    values, people = columns.answers(_RATINGS, "participants")
    fixed = set(map(columns.find, OWN_COLUMNS))
    label = _LABELS.get(columns.text("label") if single else condition.name, "")
    sentence = RatedSentence(
        id=item.id if single else f"{item.id}/{condition.name}",
        text=stimulus_text(condition, rule=suite.join),
        mean=None if values else columns.number("rating"),
        sd=None if values else columns.number("rating_sd"),
        n=None if values else columns.whole("rating_n"),
        label=label,
        pair="" if single else item.id,
        cluster=cluster_cells([[item.column(name)] for name in suite.cluster], 1)[0] or "",
        grammatical=columns.flag("grammaticality"),
        columns={k: v for k, v in condition.columns.items() if k not in fixed},
    )
    return with_ratings(sentence, values, people) if values else sentence


def points_of(suite: Suite) -> int | None:
    """The points of the scale of a suite's ratings; None where it is not from 1 in whole steps.

    Raises:
        InputError: the scale is invalid.
    """
    scale, _ = _settings(suite)
    if scale is None or scale.low != 1 or scale.high != int(scale.high):
        return None
    return int(scale.high)


def _settings(suite: Suite) -> tuple[Scale | None, str]:
    """The scale and the source of the ratings, from ``[ratings]``."""
    table = suite.extra.get(_RATINGS, {})
    table = table if isinstance(table, dict) else {}
    by = table.get("by", PEOPLE)
    low, high = table.get("low"), table.get("high")
    if by not in {PEOPLE, AUTHOR}:
        raise InputError(
            where=f"suite {suite.name!r}",
            seen=f"[ratings] by is {by!r}",
            todo=f"Write {PEOPLE!r} or {AUTHOR!r}.",
        )
    if low is None and high is None:
        return None, str(by)
    if not isinstance(low, int | float) or not isinstance(high, int | float) or low >= high:
        raise InputError(
            where=f"suite {suite.name!r}",
            seen=f"[ratings] goes from {low!r} to {high!r}",
            todo="Write low and high as numbers, the worst first.",
        )
    return Scale(float(low), float(high)), str(by)


def _pairs(rated: RatedSet) -> dict[str, list[RatedSentence]] | None:
    """The acceptable and unacceptable sentence of each pair; None if a sentence is in no pair."""
    members = group_by(rated.sentences, lambda sentence: sentence.pair)
    for pair, both in members.items():
        both.sort(key=lambda sentence: sentence.label)
        if not pair or tuple(sentence.label for sentence in both) != _PAIR:
            return None
    return members


def _condition(sentence: RatedSentence, name: str) -> Condition:
    ratings = sentence.ratings
    named = any(rating.participant for rating in ratings)
    grammatical = {True: "yes", False: "no", None: ""}[sentence.grammatical]
    known = {
        "rating": "" if ratings or sentence.mean is None else repr(sentence.mean),
        "rating_sd": "" if ratings or sentence.sd is None else repr(sentence.sd),
        "rating_n": "" if ratings or sentence.n is None else str(sentence.n),
        _RATINGS: _JOIN.join(rating_as_text(rating.value) for rating in ratings),
        "participants": _JOIN.join(rating.participant for rating in ratings) if named else "",
        "label": sentence.label if name == _SENTENCE else "",
        "grammaticality": grammatical,
    }
    free = {key: value for key, value in sentence.columns.items() if key not in OWN_COLUMNS}
    columns = {key: value for key, value in {**free, **known}.items() if value}
    return Condition(name, (Region(sentence.text),), columns)
