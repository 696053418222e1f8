"""Options with roles: what people choose, where a model's candidates have them, and agreement.

The tables of Albertin, Miaschi and Brunato 2021 (ceur-ws.org/Vol-3033): by item the option that
most people choose, and whether the target, the plausible alternative, both or neither is among a
model's ten candidates; the first candidate alone; and labels for candidates that are no option.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from cimento.cloze.judging.candidates import Candidate
from cimento.cloze.judging.expected import PIECE
from cimento.cloze.judging.precision import Share
from cimento.cloze.records import ClozeItem
from cimento.errors import InputError, did_you_mean
from cimento.statistics.values import Value

NONE = "none"
"""How people say that no option is suitable."""

UNANSWERED = "unanswered"
_TIE = " = "

TopClass: TypeAlias = Literal["target", "plausible", "both", "other"]
TOP_CLASSES: tuple[TopClass, ...] = get_args(TopClass)

Label: TypeAlias = Literal["same meaning", "plausible", "dubious", "unacceptable"]
LABELS: tuple[Label, ...] = get_args(Label)
"""What can be said of a candidate that is none of the options."""

Choices = Mapping[str, int]
"""Text of an option, or `NONE`, to how many people chose it."""


@dataclass(frozen=True, slots=True)
class Majority:
    """What most people chose for an item.

    Attributes:
        options: the option chosen most often; several where they tie.
        votes: how many chose it.
        name: the roles of these options joined by `` = ``, such as ``target`` or
            ``target = plausible``; `NONE` and `UNANSWERED` stand for themselves.
    """

    options: tuple[str, ...]
    votes: int
    name: str


def majority(item: ClozeItem, choices: Choices) -> Majority:
    """The option that most people chose, all ties named.

    Options compete one by one: three implausible ones are not pooled.

    Raises:
        InputError: somebody chose what is no option of the item.
    """
    roles = {option.text: option.role for option in item.options}
    unknown = next((text for text in choices if text not in roles and text != NONE), None)
    if unknown is not None:
        raise InputError(
            where=f"item {item.id!r}",
            seen=f"people chose {unknown!r}, which is no option",
            todo=did_you_mean(unknown, [*roles, NONE]),
        )
    most = max(choices.values(), default=0)
    if not most:
        return Majority((), 0, UNANSWERED)
    texts = tuple(text for text in [*roles, NONE] if choices.get(text, 0) == most)
    name = _TIE.join(roles.get(text, NONE) for text in texts)
    return Majority(texts, most, name)


def count_majorities(
    items: Iterable[ClozeItem], choices: Mapping[str, Choices]
) -> dict[str, Share]:
    """How many items have each class of majority; every tie is a class of its own.

    Args:
        items: with options.
        choices: id of an item to what people chose.
    """
    names = Counter(majority(item, choices.get(item.id, {})).name for item in items)
    return {name: Share(count, names.total()) for name, count in names.most_common()}


def fold(text: str) -> str:
    """A text as it is compared with an option: NFC, small letters, no blanks at the ends."""
    return unicodedata.normalize("NFC", text).strip().casefold()


def top_class(item: ClozeItem, candidates: Iterable[Candidate], k: int = 10) -> TopClass:
    """Whether the target, the plausible alternative, both or neither is among k candidates.

    Spellings that count as equal do; pieces that continue a word are no candidates.
    """
    texts = {fold(each.text) for each in candidates if each.rank <= k and _whole(each)}
    target, plausible = (
        not texts.isdisjoint(map(fold, item.spellings(role))) for role in ("target", "plausible")
    )
    if target and plausible:
        return "both"
    return "target" if target else "plausible" if plausible else "other"


def first_match(item: ClozeItem, candidates: Iterable[Candidate]) -> str:
    """The role of the option that the first candidate is; ``other`` where it is none."""
    first = min(candidates, key=lambda each: each.rank, default=None)
    if first is None or not _whole(first):
        return "other"
    text = fold(first.text)
    return next(
        (option.role for option in item.options if text in map(fold, option.spellings)), "other"
    )


def count_top_classes(
    items: Sequence[ClozeItem], candidates: Mapping[str, Sequence[Candidate]], k: int = 10
) -> dict[TopClass, Share]:
    """How many items are of each class, see `top_class`.

    Args:
        items: with options.
        candidates: id of an item to its candidates.
        k: how many candidates count.
    """
    classes = Counter(top_class(item, candidates.get(item.id, ()), k) for item in items)
    return {name: Share(classes[name], len(items)) for name in TOP_CLASSES}


def count_first_matches(
    items: Sequence[ClozeItem], candidates: Mapping[str, Sequence[Candidate]]
) -> dict[str, Share]:
    """How many first candidates are an option of each role, see `first_match`."""
    roles = Counter(first_match(item, candidates.get(item.id, ())) for item in items)
    return {name: Share(count, len(items)) for name, count in roles.most_common()}


def count_labels(labels: Iterable[str]) -> dict[Label, Share]:
    """How often each label was given to candidates that are no option.

    Raises:
        InputError: there is no such label.
    """
    counts = Counter(labels)
    for label in counts:
        if label not in LABELS:
            raise InputError(
                where="labels", seen=f"there is no {label!r}", todo=did_you_mean(label, LABELS)
            )
    return {label: Share(counts[label], counts.total()) for label in LABELS}


@dataclass(frozen=True, slots=True)
class ItemAgreement:
    """A model and people on the options of one item.

    Attributes:
        item: id of the item.
        same_mode: whether the model's best option is one that most people chose; None where
            one of the sides is silent.
        divergence_bits: Jensen-Shannon divergence of the two distributions over the options.
    """

    item: str
    same_mode: bool | None
    divergence_bits: Value


def agreement(item: ClozeItem, choices: Choices, weights: Mapping[str, float]) -> ItemAgreement:
    """How far a model's weights on the options agree with what people chose.

    Answers of `NONE` are left out of the divergence, since a model cannot give them.

    Args:
        item: with options.
        choices: what people chose.
        weights: text of an option to its probability under the model, or its share of it.
    """
    from cimento.statistics.calibration import jensen_shannon

    options = [option.text for option in item.options]
    best = max((weights.get(text, 0.0) for text in options), default=0.0)
    modes = majority(item, choices).options
    preferred = [text for text in options if best and weights.get(text, 0.0) == best]
    same = not set(preferred).isdisjoint(modes) if preferred and modes else None
    divergence = jensen_shannon(
        {text: float(choices.get(text, 0)) for text in options},
        {text: weights.get(text, 0.0) for text in options},
    )
    return ItemAgreement(item.id, same, divergence)


def _whole(candidate: Candidate) -> bool:
    return not candidate.text.startswith(PIECE)
