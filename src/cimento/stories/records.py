"""Stories and the answers to their three tiers: frozen records, no reading or writing.

A plausible story and the variants made from it (two sentences swapped: ``order``; one sentence
replaced: ``cloze``) share a number, `Story.story_id`. The format and the tiers are those of
GITA4CALAMITA (Pensa et al. 2024, CEUR-WS Vol-3878, paper 127).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from cimento.suites.model import JsonValue, Meta

Tier: TypeAlias = Literal["story_class", "conflict_detec", "physical_state"]
StoryType: TypeAlias = Literal["order", "cloze"]
Nested: TypeAlias = "int | tuple[Nested, ...]"
TripleKey: TypeAlias = int
"""What a plausible story and its variants share; intervals are clustered on it."""

STORY: Tier = "story_class"
CONFLICT: Tier = "conflict_detec"
STATE: Tier = "physical_state"
TIERS: tuple[Tier, ...] = (STORY, CONFLICT, STATE)

FALSE, TRUE = "false", "true"
PAIRS = (
    "0 and 1", "2 and 4", "1 and 2", "0 and 4", "3 and 4",
    "0 and 3", "1 and 4", "2 and 3", "0 and 2", "1 and 3",
)  # fmt: skip
STATES = (
    "power", "location", "exist", "clean", "edible", "wet", "functional",
    "wearing", "open", "conscious", "temperature", "solid", "occupied", "in pieces",
)  # fmt: skip
OPTIONS: Mapping[Tier, tuple[str, ...]] = {STORY: (FALSE, TRUE), CONFLICT: PAIRS, STATE: STATES}
"""The labels of each tier in the order of the study; the first of tied options is chosen."""

NO_BREAKPOINT = -1

PROPOSED = "proposed"
"""Key of a record that lists what a builder proposed and nobody has confirmed yet."""


def pair_label(conflicting: int, breakpoint_: int) -> str:
    """The label of a conflict pair, such as ``0 and 1``; sentences are counted from 0."""
    return f"{conflicting} and {breakpoint_}"


@dataclass(frozen=True, slots=True)
class SentenceStates:
    """The physical states that one sentence changes or needs.

    Attributes:
        entries: attribute (see `ATTRIBUTES`) to (entity, code) pairs.
    """

    entries: Mapping[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """One story of a file; ``row`` tells it from all others, `example_id` may not.

    Attributes:
        row: position in the file, from 0; the identity.
        story_id: number shared with the variants of the same story.
        type: None for a plausible story.
        idx: which variant of its type; None for a plausible story.
        aug: made by augmentation.
        actor: who acts, comma separated.
        location: room or place.
        objects: inanimate entities, comma separated.
        sentences: as written, blanks included.
        length: number of sentences, as the file says.
        example_id: such as ``12``, ``12-O0`` or ``12-C0``; not unique in published files.
        plausible: gold of the first tier.
        breakpoint: sentence where the conflict shows, from 0; -1 where there is none.
        confl_sents: the sentences it conflicts with, as nested as in the file.
        confl_pairs: pair or pairs, as nested as in the file.
        state: gold of the third tier, one of `STATES`; empty where the file has none.
        sentence_states: one block per sentence; empty where the file has none.
        worker_id: who wrote it.
        domain: such as ``household``; empty where the file does not say.
        key: key of the record, for formats that have one.
        extra: keys of the record that cimento does not use, kept for writing.
    """

    row: int
    story_id: TripleKey
    type: StoryType | None
    example_id: str
    sentences: tuple[str, ...]
    plausible: bool
    breakpoint: int = NO_BREAKPOINT
    confl_sents: tuple[Nested, ...] = ()
    confl_pairs: tuple[Nested, ...] = ()
    state: str = ""
    sentence_states: tuple[SentenceStates, ...] = ()
    idx: int | None = None
    aug: bool = False
    actor: str = ""
    location: str = ""
    objects: str = ""
    length: int = 5
    worker_id: str = ""
    domain: str = ""
    key: str = ""
    extra: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def conflicting(self) -> tuple[int, ...]:
        """The conflicting sentences without nesting."""
        return flatten(self.confl_sents)

    @property
    def pair(self) -> tuple[int, int] | None:
        """Conflicting sentence and breakpoint; None where the story has no conflict."""
        conflicting = self.conflicting
        if self.breakpoint < 0 or not conflicting:
            return None
        return conflicting[0], self.breakpoint

    @property
    def distance(self) -> int | None:
        """How many sentences the breakpoint comes after the conflicting one."""
        return None if self.pair is None else self.pair[1] - self.pair[0]

    @property
    def actor_names(self) -> tuple[str, ...]:
        """The actors, each without blanks around."""
        return split_names(self.actor)

    @property
    def object_names(self) -> tuple[str, ...]:
        """The objects, each without blanks around."""
        return split_names(self.objects)

    def gold(self, tier: Tier) -> str | None:
        """The right label at a tier; None where the story has none."""
        if tier == STORY:
            return TRUE if self.plausible else FALSE
        if tier == CONFLICT:
            return None if self.pair is None else pair_label(*self.pair)
        return self.state or None


@dataclass(frozen=True, slots=True, kw_only=True)
class TierAnswer:
    """What a model answered about one story at one tier.

    One of three is filled in: the log-probabilities of the options, the label read from a reply
    (None where it could not be read, with `reason`), or only whether it was right.

    Attributes:
        row: of the story.
        tier: which question.
        logprobs_nats: of each option, in the order of `options`; None where they are not known.
        options: labels in the order in which they were given; ties go to the first.
        greedy: whether each option is what greedy decoding would write; empty where not known.
        label: read from a reply; None where none could be read or options were scored.
        reply: the text that was generated; None where options were scored.
        reason: why there is no label.
        correct: for answers of which only this is known.
        shots: rows of the worked examples, in the order of the prompt.
        prompt_sha256: of the prompt (UTF-8), hexadecimal.
    """

    row: int
    tier: Tier
    logprobs_nats: tuple[float, ...] | None = None
    options: tuple[str, ...] = ()
    greedy: tuple[bool, ...] = ()
    label: str | None = None
    reply: str | None = None
    reason: str = ""
    correct: bool | None = None
    shots: tuple[int, ...] = ()
    prompt_sha256: str = ""


def flatten(nested: Sequence[Nested]) -> tuple[int, ...]:
    """The numbers in nested tuples, in order."""
    found: list[int] = []
    for each in nested:
        found += [each] if isinstance(each, int) else flatten(each)
    return tuple(found)


def split_names(text: str) -> tuple[str, ...]:
    """The names of a comma-separated field."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


StoryFormat: TypeAlias = Literal["gita4calamita", "gita-v1", "native"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StorySuite:
    """A suite of stories.

    Attributes:
        meta: who made it, about what, and on which terms.
        stories: in file order; ``stories[n].row == n``.
        limit: only the first so many are asked about; None for all. The others stay, for worked
            examples come from all stories.
        format: what was read.
        path: file or folder.
        sha256: of the bytes read, hexadecimal; empty where it was made in Python.
        places: where each story stands, such as ``line 12``.
        corrections: the names of the corrections that were applied.
    """

    meta: Meta
    stories: tuple[Story, ...]
    limit: int | None = None
    format: StoryFormat = field(default="native", compare=False)
    path: Path = field(default=Path(), compare=False)
    sha256: str = field(default="", compare=False)
    places: tuple[str, ...] = field(default=(), compare=False)
    corrections: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The suite's name."""
        return self.meta.name

    @property
    def asked(self) -> tuple[Story, ...]:
        """The stories that are asked about."""
        return self.stories[: self.limit]
