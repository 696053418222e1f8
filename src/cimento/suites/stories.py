"""Stories with their tiers, their physical states, and the variants made from them.

A plausible story and the variants made from it (two sentences swapped: ``order``; one sentence
replaced: ``cloze``) share a number, `Story.story_id`. The format and the tiers are those of
GITA4CALAMITA (Pensa et al. 2024, CEUR-WS Vol-3878, paper 127). The twenty attributes and their
codes are those of TRIP (Storks et al. 2021, doi:10.18653/v1/2021.findings-emnlp.422), as used in
GITA v1 (Pensa, Altuna and Gonzalez-Dios 2024, LREC-COLING).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

from cimento.io.clusters import cluster_label
from cimento.io.values import group_by
from cimento.suites import JsonValue, Meta

Tier: TypeAlias = Literal["story_class", "conflict_detec", "physical_state"]
"""A tier, by its name in published files."""
Task: TypeAlias = Tier | Literal["story_pair", "attributes"]
"""A tier, or one of the additional questions."""
StoryType: TypeAlias = Literal["order", "cloze"]
"""How an implausible story was made: two sentences exchanged, or one replaced."""
Nested: TypeAlias = "int | tuple[Nested, ...]"
"""Integers in lists of any depth, as in the published files."""
TripleKey: TypeAlias = int
"""What a plausible story and its variants share; intervals are clustered on it."""
STORY: Tier = "story_class"
"""The first tier: is the story plausible?"""
CONFLICT: Tier = "conflict_detec"
"""The second tier: which two sentences conflict?"""
STATE: Tier = "physical_state"
"""The third tier: which physical state explains the conflict?"""
TIERS: tuple[Tier, ...] = (STORY, CONFLICT, STATE)
"""The three tiers, in the order in which they are asked."""
FALSE = "false"
TRUE = "true"
"""The label of a plausible story."""
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
        idx: number of the variant within its type; None for a plausible story.
        aug: made by augmentation.
        actor: names of those who act, comma separated.
        location: room or place of the story.
        objects: inanimate entities, comma separated.
        sentences: sentences as written, blanks included.
        length: number of sentences, as the file says.
        example_id: id of the story (``12``, ``12-O0``, ``12-C0``); not unique in published files.
        plausible: gold of the first tier.
        breakpoint: sentence where the conflict shows, from 0; -1 where there is none.
        confl_sents: the sentences it conflicts with, as nested as in the file.
        confl_pairs: pair or pairs, as nested as in the file.
        state: gold of the third tier, one of `STATES`; empty where the file has none.
        sentence_states: one block per sentence; empty where the file has none.
        worker_id: id of the person who wrote the story.
        domain: domain of the story, such as ``household``; empty where the file does not say.
        key: key of the record, for formats that have one.
        extra: keys of the record that cimento does not use, kept for writing.
        cluster: cell of the story in the suite's clusters; empty if only variants belong together.
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
    cluster: str = field(default="", compare=False)

    @property
    def cluster_cell(self) -> str:
        """What the story belongs to in one cell: its clusters, or else its number."""
        return self.cluster or str(self.story_id)

    @property
    def belongs_to(self) -> Hashable:
        """What the story belongs to, as a design has it."""
        return cluster_label(str(self.row), self.cluster_cell)

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
        """The number of sentences from the conflicting one to the breakpoint."""
        return None if self.pair is None else self.pair[1] - self.pair[0]

    @property
    def actor_names(self) -> tuple[str, ...]:
        """The actors, each without blanks around."""
        return split_names(self.actor)

    @property
    def object_names(self) -> tuple[str, ...]:
        """The objects, each without blanks around."""
        return split_names(self.objects)

    def gold(self, tier: Task) -> str | None:
        """The right label at a tier; None where the story has none."""
        if tier == STORY:
            return TRUE if self.plausible else FALSE
        if tier == CONFLICT:
            return None if self.pair is None else pair_label(*self.pair)
        return (self.state or None) if tier == STATE else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TierAnswer:
    """The answer of a model about one story at one tier.

    One of three is filled in: the log-probabilities of the options, the label read from a reply
    (None where it could not be read, with `reason`), or only whether it was right.

    Attributes:
        row: row of the story.
        tier: tier whose question was answered.
        logprobs_nats: log-probability in nats of each option, as in `options`; None if not known.
        options: labels in the order in which they were given; ties go to the first.
        nats_per_character: log-probability of each option as the model gave it, divided by the
            number of characters of its words in the prompt; empty where the labels are the words.
        greedy: whether each option is what greedy decoding would write; empty where not known.
        label: read from a reply; None where none could be read or options were scored.
        reply: the text that was generated; None where options were scored.
        reason: why there is no label.
        correct: whether the answer is correct, where only this is known.
        shots: rows of the worked examples, in the order of the prompt.
        prompt_sha256: sha256 of the prompt (UTF-8), hexadecimal.
    """

    row: int
    tier: Task
    logprobs_nats: tuple[float, ...] | None = None
    options: tuple[str, ...] = ()
    nats_per_character: tuple[float, ...] = ()
    greedy: tuple[bool, ...] = ()
    label: str | None = None
    reply: str | None = None
    reason: str = ""
    correct: bool | None = None
    shots: tuple[int, ...] = ()
    prompt_sha256: str = ""


def flatten(nested: Sequence[Nested]) -> tuple[int, ...]:
    """The numbers in nested tuples, in order."""
    numbers: list[int] = []
    for part in nested:
        numbers += [part] if isinstance(part, int) else flatten(part)
    return tuple(numbers)


def split_names(text: str) -> tuple[str, ...]:
    """The names of a comma-separated field."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


StoryFormat: TypeAlias = Literal["gita4calamita", "gita-v1", "native"]
"""The published form that a suite of stories has, or our own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorySuite:
    """A suite of stories.

    Attributes:
        meta: author, content and license.
        stories: stories in the order of the file; ``stories[n].row == n``.
        only: rows of the stories that are asked about, as text; None for all. The others stay,
            for worked examples come from all stories.
        format: format of the file that was read.
        path: path of the file or folder.
        sha256: sha256 of the bytes read, hexadecimal; empty where it was made in Python.
        places: where each story stands, such as ``line 12``.
        corrections: the names of the corrections that were applied.
        cluster: columns by which stories belong together (`in_story_clusters`).
    """

    meta: Meta
    stories: tuple[Story, ...]
    only: frozenset[str] | None = None
    format: StoryFormat = field(default="native", compare=False)
    path: Path = field(default=Path(), compare=False)
    sha256: str = field(default="", compare=False)
    places: tuple[str, ...] = field(default=(), compare=False)
    corrections: tuple[str, ...] = ()
    cluster: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The suite's name."""
        return self.meta.name

    def __repr__(self) -> str:
        return f"<StorySuite {self.name!r}: {len(self.asked)} stories>"

    @property
    def asked(self) -> tuple[Story, ...]:
        """The stories that are asked about."""
        if self.only is None:
            return self.stories
        return tuple(story for story in self.stories if str(story.row) in self.only)


Bearer: TypeAlias = Literal["actor", "object"]
Known: TypeAlias = "bool | None"


@dataclass(frozen=True, slots=True)
class PhysicalAttribute:
    """One physical attribute.

    Attributes:
        name: as files write it.
        bearer: whether actors or objects have it.
        state: which of the fourteen states it belongs to; None for the two that belong to none.
        default: the code of an entity about which a sentence says nothing (TRIP).
        negative: what false means.
        positive: what true means.
    """

    name: str
    bearer: Bearer
    state: str | None
    default: int
    negative: str
    positive: str

    @property
    def codes(self) -> Mapping[int, str]:
        """The codes that the attribute may have, with their meaning."""
        if self.name == "h_location":
            return HUMAN_LOCATION_CODES
        if self.name == "location":
            return OBJECT_LOCATION_CODES
        sides = {None: "?", True: self.positive, False: self.negative}
        meanings = {code: f"{sides[one]} -> {sides[two]}" for code, (one, two) in CHANGES.items()}
        return {**meanings, 0: "not concerned"}


CHANGES: Mapping[int, tuple[Known, Known]] = {
    0: (None, None),
    1: (False, False),
    2: (True, True),
    3: (True, False),
    4: (False, True),
    5: (None, False),
    6: (None, True),
    7: (False, None),
    8: (True, None),
}
"""Code to the value before and after the sentence; None is unknown."""

HUMAN_LOCATION_CODES: Mapping[int, str] = {0: "not concerned", 1: "disappears", 2: "moves"}
OBJECT_LOCATION_CODES: Mapping[int, str] = {
    0: "not concerned",
    1: "disappears",
    2: "is picked up",
    3: "is put down",
    4: "is put on",
    5: "is removed",
    6: "is put into a container",
    7: "is taken out of a container",
    8: "is moved",
}

_ALL = (
    PhysicalAttribute("h_location", "actor", "location", 0, "gone", "there"),
    PhysicalAttribute("conscious", "actor", "conscious", 2, "unconscious", "conscious"),
    PhysicalAttribute("wearing", "actor", "wearing", 0, "undressed", "dressed"),
    PhysicalAttribute("h_wet", "actor", "wet", 0, "dry", "wet"),
    PhysicalAttribute("hygiene", "actor", "clean", 0, "dirty", "clean"),
    PhysicalAttribute("location", "object", "location", 0, "gone", "there"),
    PhysicalAttribute("exist", "object", "exist", 2, "nonexistent", "existent"),
    PhysicalAttribute("clean", "object", "clean", 0, "dirty", "clean"),
    PhysicalAttribute("power", "object", "power", 0, "unpowered", "powered"),
    PhysicalAttribute("functional", "object", "functional", 2, "broken", "functional"),
    PhysicalAttribute("pieces", "object", "in pieces", 0, "whole", "in pieces"),
    PhysicalAttribute("wet", "object", "wet", 0, "dry", "wet"),
    PhysicalAttribute("open", "object", "open", 0, "closed", "open"),
    PhysicalAttribute("temperature", "object", "temperature", 0, "cold", "hot"),
    PhysicalAttribute("solid", "object", "solid", 0, "fluid", "solid"),
    PhysicalAttribute("contain", "object", "occupied", 0, "empty", "occupied"),
    PhysicalAttribute("running", "object", "power", 0, "off", "on"),
    PhysicalAttribute("moveable", "object", None, 2, "stuck", "moveable"),
    PhysicalAttribute("mixed", "object", None, 0, "separated", "mixed"),
    PhysicalAttribute("edible", "object", "edible", 0, "inedible", "edible"),
)

ATTRIBUTES: Mapping[str, PhysicalAttribute] = {attribute.name: attribute for attribute in _ALL}
"""The twenty attributes in the order of the files: five of actors, fifteen of objects."""


def bearers(bearer: Bearer) -> tuple[PhysicalAttribute, ...]:
    """The attributes of actors, or those of objects."""
    return tuple(attribute for attribute in ATTRIBUTES.values() if attribute.bearer == bearer)


Side: TypeAlias = Literal["precondition", "effect"]


Value: TypeAlias = "bool | int | None"


_PLACES = ("h_location", "location")


def side_value(attribute: str, code: int, side: Side) -> Value:
    """The value that a code gives an attribute before or after a sentence.

    Args:
        attribute: one of the twenty.
        code: see `CHANGES`; of the two attributes of location, whose codes are
            kinds of movement, the code itself is the value, 0 being none.
        side: before (what the sentence needs) or after (what it causes).

    Returns:
        None where the code says nothing.
    """
    if attribute in _PLACES:
        return code or None
    before, after = CHANGES[code]
    return before if side == "precondition" else after


def is_default(attribute: str, value: Value) -> bool:
    """Whether a value is what holds of an attribute anyway, so that saying it is no knowledge."""
    if value is None:
        return True
    if attribute in _PLACES:
        return False
    default = CHANGES[ATTRIBUTES[attribute].default][1]
    return default is not None and value == default


def by_row(stories: Sequence[Story]) -> dict[int, Story]:
    """The stories by their rows, which are not places if only some of a suite are asked about."""
    return {story.row: story for story in stories}


def by_triple(stories: Sequence[Story]) -> dict[TripleKey, tuple[Story, ...]]:
    """The stories of each number, in file order."""
    triples = group_by(stories, lambda story: story.story_id)
    return {key: tuple(group) for key, group in triples.items()}


def base_of(triple: Sequence[Story]) -> Story | None:
    """The plausible story that the variants were made from; None where that cannot be told.

    Of several plausible ones (a wrong gold label makes a second) it is the one whose id has no
    suffix.
    """
    plausible = [story for story in triple if story.plausible]
    if len(plausible) > 1:
        plausible = [story for story in plausible if story.example_id == str(story.story_id)]
    return plausible[0] if len(plausible) == 1 else None


def bases(stories: Sequence[Story]) -> Mapping[TripleKey, Story | None]:
    """The plausible story of each number."""
    return {key: base_of(triple) for key, triple in by_triple(stories).items()}


def changed(story: Story, base: Story) -> tuple[int, ...] | None:
    """The positions whose sentences differ; None where the two are not equally long."""
    if len(story.sentences) != len(base.sentences):
        return None
    pairs = zip(story.sentences, base.sentences, strict=True)
    return tuple(place for place, (one, other) in enumerate(pairs) if one != other)


def is_swap(story: Story, base: Story) -> bool:
    """Whether a story is its base with exactly two sentences exchanged."""
    places = changed(story, base)
    if places is None or len(places) != 2:  # noqa: PLR2004  # two sentences change places
        return False
    return story.sentences == swapped(base.sentences, *places)


def swapped(sentences: Sequence[str], first: int, second: int) -> tuple[str, ...]:
    """The sentences with two of them in each other's place."""
    changed = list(sentences)
    changed[first], changed[second] = changed[second], changed[first]
    return tuple(changed)


def is_replacement(story: Story, base: Story) -> bool:
    """Whether a story is its base with exactly one sentence replaced."""
    places = changed(story, base)
    return places is not None and len(places) == 1


def made_as(story: Story, base: Story | None) -> StoryType | None:
    """The way in which a variant was made, as stated or else as it looks; None for no variant.

    A story with a conflict and no type is an order variant if it only reorders its base.
    """
    if base is None or story.row == base.row:
        return None
    if story.type is not None or story.pair is None:
        return story.type
    return "order" if sorted(story.sentences) == sorted(base.sentences) else None


def with_states(stories: Sequence[Story], others: Sequence[Story]) -> tuple[Story, ...]:
    """Stories with the states per sentence that other files give for the same sentences.

    The published stories have a label in one file and states per sentence in another, under keys
    that do not always agree; their sentences tell which belong together, blanks around aside.

    Args:
        stories: which keep everything but their states per sentence.
        others: stories with states per sentence.

    Returns:
        Stories to which exactly one set of states belongs get it, the others stay as they are.
    """
    known: dict[tuple[str, ...], list[tuple[SentenceStates, ...]]] = {}
    for other in (one for one in others if len(one.sentence_states) == len(one.sentences)):
        if other.sentence_states not in known.setdefault(_told(other), []):
            known[_told(other)].append(other.sentence_states)
    found = (known.get(_told(story), []) for story in stories)
    return tuple(
        replace(story, sentence_states=states[0]) if len(states) == 1 else story
        for story, states in zip(stories, found, strict=True)
    )


def _told(story: Story) -> tuple[str, ...]:
    return tuple(sentence.strip() for sentence in story.sentences)


def most_frequent(values: Iterable[str]) -> dict[str, int]:
    """Counts, the most frequent first, equal ones in order of appearance."""
    return dict(Counter(values).most_common())
