"""The second annotation of stories, blind to all but their sentences, and its agreement."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from cimento.errors import InputError, did_you_mean
from cimento.io.files import read_utf8, write_text
from cimento.io.parsing import parse_json
from cimento.paradigms.stories.suite import (
    CONFLICT,
    STATE,
    STATES,
    STORY,
    TIERS,
    Story,
    Tier,
    pair_label,
)
from cimento.people.annotate.dialogue import DialogueField, RefusedError, Taken, Values
from cimento.statistics.agreement import Agreement, cohen_kappa, krippendorff_alpha
from cimento.statistics.design import Design

MIN_SENTENCES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryJudgment:
    """A second annotator's judgment of a story.

    Attributes:
        row: of the story.
        annotator: who said it.
        plausible: whether it can happen.
        pair: the two sentences that conflict; empty for a plausible story.
        state: the state that explains it; empty for a plausible story.
        seconds: that it took.
    """

    row: int
    annotator: str
    plausible: bool
    pair: str = ""
    state: str = ""
    seconds: float = 0.0

    def label(self, tier: Tier) -> str | None:
        """The answer at a tier; None where the tier does not apply."""
        if tier == STORY:
            return json.dumps(self.plausible)
        return (self.pair if tier == CONFLICT else self.state) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class TierAgreement:
    """The agreement of author and second annotator at one tier.

    Attributes:
        tier: which question.
        compared: stories that both answered.
        equal: those on which they agree.
        kappa: Cohen's, with its interval over triples.
        alpha: Krippendorff's, for nominal labels, with its interval over triples.
    """

    tier: Tier
    compared: int
    equal: int
    kappa: Agreement
    alpha: Agreement


def blind_fields(story: Story) -> tuple[DialogueField, ...]:
    """The fields that a second annotator fills in for a story."""
    n = len(story.sentences)
    return (
        DialogueField(name="plausible", question="plausible (y, n)", read=_read_yes),
        DialogueField(
            name="pair",
            question="conflicting sentences",
            read=lambda text, values: _read_pair(text, values, n),
            default=lambda values: "-" if values.get("plausible") else None,
        ),
        DialogueField(
            name="state",
            question="physical state",
            read=_read_state,
            default=lambda values: "-" if values.get("plausible") else None,
        ),
    )


def story_text(story: Story) -> str:
    """A story as the second annotator sees it: no id, no type, nothing but its sentences."""
    return "\n".join(f"{number}. {text}" for number, text in enumerate(story.sentences))


def blind_order(stories: Sequence[Story], *, seed: int) -> list[Story]:
    """The stories in mixed order, so that no variant is next to its plausible story."""
    mixed = list(stories)
    random.Random(seed).shuffle(mixed)  # noqa: S311  # keeps no secret
    return mixed


def judgment(values: Values, *, story: Story, annotator: str, seconds: float) -> StoryJudgment:
    """The record of a finished dialogue."""
    return StoryJudgment(
        row=story.row,
        annotator=annotator,
        plausible=bool(values.get("plausible")),
        pair=str(values.get("pair") or ""),
        state=str(values.get("state") or ""),
        seconds=round(seconds, 1),
    )


def write_story_judgments(judgments: Sequence[StoryJudgment], path: Path) -> Path:
    """Write judgments, one a line.

    Raises:
        StorageError: the file cannot be written.
    """
    lines = (json.dumps(asdict(judged), ensure_ascii=False) for judged in judgments)
    return write_text("".join(f"{line}\n" for line in lines), path)


def read_story_judgments(path: Path, *, stories: Sequence[Story]) -> list[StoryJudgment]:
    """Read judgments.

    Raises:
        InputError: a line is none, or is about a story that is not there.
    """
    judgments = []
    for number, text in enumerate(read_utf8(path).split("\n"), start=1):
        if not text.strip():
            continue
        try:
            judged = _typed(StoryJudgment(**parse_json(text)))
        except (ValueError, TypeError) as error:
            raise InputError(
                where=f"{path}, line {number}", seen=f"is no judgment ({error})"
            ) from error
        if not 0 <= judged.row < len(stories):
            raise InputError(
                where=f"{path}, line {number}",
                seen=f"there is no story in row {judged.row}",
                todo="Were these judgments made for another file?",
            )
        judgments.append(judged)
    return judgments


def story_agreement(
    stories: Sequence[Story], judgments: Sequence[StoryJudgment]
) -> list[TierAgreement]:
    """The agreement of the authors of stories with a second annotator, at each tier.

    At the later tiers only stories count that both hold to be implausible.
    """
    by_tier = []
    for tier in TIERS:
        pairs = [
            (gold, label, judged.row)
            for judged in judgments
            if (gold := _gold(stories[judged.row], tier)) and (label := judged.label(tier))
        ]
        first: list[Hashable] = [gold for gold, _, _ in pairs]
        second: list[Hashable] = [label for _, label, _ in pairs]
        rows = tuple(row for _, _, row in pairs)
        design = Design(rows, tuple(stories[row].story_id for row in rows))
        by_tier.append(
            TierAgreement(
                tier=tier,
                compared=len(pairs),
                equal=sum(gold == label for gold, label, _ in pairs),
                kappa=cohen_kappa(first, second, design=design),
                alpha=krippendorff_alpha(list(zip(first, second, strict=True)), design=design),
            )
        )
    return by_tier


def to_adjudicate(
    stories: Sequence[Story], judgments: Sequence[StoryJudgment]
) -> list[Mapping[str, object]]:
    """The disputed stories with both answers, for a third person to decide."""
    disputed: list[Mapping[str, object]] = []
    for judged in judgments:
        story = stories[judged.row]
        differing = {
            tier: {"author": _gold(story, tier), judged.annotator: judged.label(tier)}
            for tier in TIERS
            if _gold(story, tier) != judged.label(tier)
        }
        if differing:
            disputed.append(
                {
                    "row": judged.row,
                    "example_id": story.example_id,
                    "sentences": list(story.sentences),
                    "differing": differing,
                    "decision": None,
                }
            )
    return disputed


def _gold(story: Story, tier: Tier) -> str | None:
    """The author's label; the state that some files give a plausible story means nothing."""
    if tier == STATE and story.plausible:
        return None
    return story.gold(tier)


def _read_yes(typed: str, _values: Values) -> Taken:
    answers = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}
    if typed.lower() not in answers:
        raise RefusedError("Write y or n.")
    return Taken(answers[typed.lower()])


def _read_pair(typed: str, values: Values, n_sentences: int) -> Taken:
    if values.get("plausible"):
        return Taken("")
    numbers = sorted({int(part) for part in re.findall(r"\d+", typed)})
    if len(numbers) != MIN_SENTENCES or numbers[-1] >= n_sentences:
        raise RefusedError(f"Write two different numbers from 0 to {n_sentences - 1}.")
    return Taken(pair_label(*numbers))


def _read_state(typed: str, values: Values) -> Taken:
    if values.get("plausible"):
        return Taken("")
    if typed not in STATES:
        raise RefusedError(f"There is no state {typed!r}. {did_you_mean(typed, STATES)}")
    return Taken(typed)


def _typed(judgment: StoryJudgment) -> StoryJudgment:
    """The judgment, its values checked for their types.

    Raises:
        TypeError: one is not.
    """
    kinds: dict[str, tuple[type, ...]] = {
        "row": (int,), "annotator": (str,), "plausible": (bool,), "pair": (str,),
        "state": (str,), "seconds": (int, float),
    }  # fmt: skip
    for name, wanted in kinds.items():
        value = getattr(judgment, name)
        if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
            raise TypeError(f"{name} is {value!r}")
    return judgment
