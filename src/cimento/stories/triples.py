"""Stories that belong together: a plausible one and the variants made from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cimento.stories.records import SentenceStates, Story, StoryType, TripleKey


def by_triple(stories: Sequence[Story]) -> dict[TripleKey, tuple[Story, ...]]:
    """The stories of each number, in file order."""
    found: dict[TripleKey, list[Story]] = {}
    for story in stories:
        found.setdefault(story.story_id, []).append(story)
    return {key: tuple(group) for key, group in found.items()}


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
    first, second = places
    return (story.sentences[first], story.sentences[second]) == (
        base.sentences[second],
        base.sentences[first],
    )


def is_replacement(story: Story, base: Story) -> bool:
    """Whether a story is its base with exactly one sentence replaced."""
    places = changed(story, base)
    return places is not None and len(places) == 1


def made_as(story: Story, base: Story | None) -> StoryType | None:
    """How a variant says it was made, or looks made where it does not say; None for no variant.

    A story with a conflict and without a type is an order variant where it has the sentences of
    its base in another order.
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
    for other in others:
        if len(other.sentence_states) == len(other.sentences):
            found = known.setdefault(_told(other), [])
            if other.sentence_states not in found:
                found.append(other.sentence_states)
    return tuple(
        replace(story, sentence_states=found[0])
        if len(found := known.get(_told(story), [])) == 1
        else story
        for story in stories
    )


def _told(story: Story) -> tuple[str, ...]:
    return tuple(sentence.strip() for sentence in story.sentences)
