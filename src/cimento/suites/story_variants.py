"""Order and cloze variants of plausible stories, for a person to confirm.

What makes a variant implausible is proposed and never decided: in the published stories the
annotated pair is the two swapped sentences in 80 of 117 order variants only. A proposed story says
so under `PROPOSED` until somebody has confirmed it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from cimento.errors import InputError, UsageError
from cimento.suites import JsonValue
from cimento.suites.letters import one_spelling
from cimento.suites.stories import (
    PROPOSED,
    SentenceStates,
    Story,
    StoryType,
    base_of,
    by_triple,
    swapped,
)

_FIELDS: tuple[JsonValue, ...] = ("plausible", "breakpoint", "confl_sents", "confl_pairs", "states")
TYPE_LETTERS: Mapping[StoryType, str] = {"order": "O", "cloze": "C"}
_WORD = re.compile(r"\w+")
_STEM = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """A sentence to put into a story.

    Attributes:
        story_id: which story.
        position: of the sentence it replaces, from 0.
        sentence: the new one.
    """

    story_id: int
    position: int
    sentence: str


def order_variants(
    stories: Sequence[Story], *, per_story: int | None = None, seed: int = 0
) -> tuple[Story, ...]:
    """The variants with two sentences swapped that are not there yet.

    Args:
        stories: plausible ones, and the variants that exist.
        per_story: number of variants to draw for each story; None for all.
        seed: of the draw, which for a story does not depend on the others.

    Returns:
        Proposed stories; the pair proposed is the two swapped positions.

    Raises:
        UsageError: fewer than none are asked for.
    """
    if per_story is not None and per_story < 0:
        raise UsageError(where="variants per story", seen=f"{per_story}", todo="Give 0 or more.")
    variants: list[Story] = []
    for number, triple in by_triple(stories).items():
        base = base_of(triple)
        if base is None:
            continue
        taken = {story.sentences for story in triple}
        swaps = [
            (places, sentences)
            for places in combinations(range(len(base.sentences)), 2)
            if (sentences := swapped(base.sentences, *places)) not in taken
        ]
        if per_story is not None and per_story < len(swaps):
            # Two stories draw differently, and each as if it were alone.
            generator = random.Random(f"{seed}:{number}")  # noqa: S311  # keeps no secret
            swaps = sorted(generator.sample(swaps, per_story))
        for places, sentences in swaps:
            idx = _next_idx(triple, variants, number, "order")
            variants.append(_proposal(base, "order", idx, sentences, places))
    return _numbered(variants, start=len(stories))


def cloze_variants(
    stories: Sequence[Story], replacements: Iterable[Replacement]
) -> tuple[Story, ...]:
    """The variants with one sentence replaced.

    Args:
        stories: plausible ones, and the variants that exist.
        replacements: the new sentences.

    Returns:
        Proposed stories; the pair proposed is the new sentence and the nearest one after it, or
        else before it, that speaks of the same object.

    Raises:
        InputError: a replacement names no story, no sentence of it, changes nothing, or makes a
            variant that exists.
    """
    triples = by_triple(stories)
    variants: list[Story] = []
    for replacement in replacements:
        triple = triples.get(replacement.story_id, ())
        base = base_of(triple)
        where = f"replacement in story {replacement.story_id}"
        if base is None:
            raise InputError(
                where=where,
                seen="there is no plausible story of this number",
                todo="Write the number that is in story_id.",
            )
        if not 0 <= replacement.position < len(base.sentences):
            raise InputError(
                where=where,
                seen=f"position {replacement.position},"
                f" and there are {len(base.sentences)} sentences",
                todo="Count sentences from 0.",
            )
        sentences = tuple(
            replacement.sentence.strip() if place == replacement.position else sentence
            for place, sentence in enumerate(base.sentences)
        )
        if sentences in {story.sentences for story in (*triple, *variants)}:
            raise InputError(
                where=where,
                seen=f"with {replacement.sentence!r} it is a story that exists already",
                todo="Write another sentence.",
            )
        pair = proposed_pair(sentences, replacement.position, base.object_names)
        idx = _next_idx(triple, variants, replacement.story_id, "cloze")
        variants.append(_proposal(base, "cloze", idx, sentences, pair))
    return _numbered(variants, start=len(stories))


def proposed_pair(
    sentences: Sequence[str], changed: int, objects: Sequence[str]
) -> tuple[int, int]:
    """The two sentences that most likely conflict after one was replaced.

    Args:
        sentences: of the variant.
        changed: position of the new sentence.
        objects: names of the objects of the story.
    """
    named = _mentioned(sentences[changed], objects)
    for place in (*range(changed + 1, len(sentences)), *reversed(range(changed))):
        if named & _mentioned(sentences[place], objects):
            return min(changed, place), max(changed, place)
    return (changed, changed + 1) if changed + 1 < len(sentences) else (changed - 1, changed)


def _proposal(
    base: Story, type_: StoryType, idx: int, sentences: tuple[str, ...], pair: tuple[int, int]
) -> Story:
    return replace(
        base,
        type=type_,
        idx=idx,
        example_id=f"{base.story_id}-{TYPE_LETTERS[type_]}{idx}",
        key="",
        sentences=sentences,
        plausible=False,
        breakpoint=pair[1],
        confl_sents=(pair[0],),
        confl_pairs=pair,
        state="",
        sentence_states=_moved_states(base, sentences),
        extra={**base.extra, PROPOSED: list(_FIELDS)},
    )


def _moved_states(base: Story, sentences: Sequence[str]) -> tuple[SentenceStates, ...]:
    """The states of each sentence go where the sentence goes; a new one has none yet."""
    if not base.sentence_states:
        return ()
    known = dict(zip(base.sentences, base.sentence_states, strict=False))
    return tuple(known.get(sentence, SentenceStates()) for sentence in sentences)


def _next_idx(
    triple: Sequence[Story], variants: Sequence[Story], number: int, type_: StoryType
) -> int:
    """The first number that no variant of this type has, in its field or in its id."""
    alike = (s for s in (*triple, *variants) if s.story_id == number and s.type == type_)
    return max((story.idx for story in alike if story.idx is not None), default=-1) + 1


def _numbered(variants: Sequence[Story], *, start: int) -> tuple[Story, ...]:
    return tuple(replace(story, row=start + place) for place, story in enumerate(variants))


def _mentioned(sentence: str, objects: Sequence[str]) -> set[str]:
    """The objects that a sentence names, endings aside."""
    stems = _stems(sentence)
    return {name for name in objects if not stems.isdisjoint(_stems(name))}


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(one_spelling(text).lower())}
