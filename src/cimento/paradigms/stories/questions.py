"""Two questions beside the tiers: which of two stories is plausible, and what is true of things.

The first is the task of TRIP (Storks et al. 2021, doi:10.18653/v1/2021.findings-emnlp.422). The
second is its verifiability: what the conflicting sentence makes true of persons and things, and
what the breakpoint needs to be true. A story is verified where all of it is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cimento.paradigms.stories.options import StoryOptions, prompt_for
from cimento.paradigms.stories.prompts import (
    Dialogue,
    ExtraWordings,
    choose_shots,
    extra_wordings,
    fill,
    listed,
)
from cimento.paradigms.stories.requests import PromptFormat, StoryPrompt, Task, rendered
from cimento.paradigms.stories.suite import (
    ATTRIBUTES,
    CONFLICT,
    Attribute,
    Side,
    Story,
    StorySuite,
    Value,
    bases,
    is_default,
    side_value,
)

FIRST, SECOND = "first", "second"
PAIR_TASK: Task = "story_pair"
ATTRIBUTE_TASK: Task = "attributes"
_LOCATIONS = ("h_location", "location")
_SIDES: tuple[Side, Side] = ("effect", "precondition")


@dataclass(frozen=True, slots=True)
class Held:
    """What a sentence says of an attribute: who or what has it, and which value."""

    attribute: Attribute
    entity: str
    value: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question with its right answer.

    Attributes:
        task: which kind.
        story: that it is about.
        about: what of it: where the plausible story stands, or sentence, side, attribute, entity.
        body: what is asked.
        labels: the options.
        words: what is answered for each.
        gold: the right label.
    """

    task: Task
    story: Story
    about: str
    body: str
    labels: tuple[str, ...]
    words: tuple[str, ...]
    gold: str

    @property
    def answer(self) -> str:
        """The right words."""
        return self.words[self.labels.index(self.gold)]


def pair_questions(stories: Sequence[Story], language: str) -> list[Question]:
    """Each implausible story beside its plausible one, once before it and once after it."""
    wording = extra_wordings(language)
    base_of = bases(stories)
    return [
        _pair(story, base, gold, wording)
        for story in stories
        if not story.plausible and (base := base_of.get(story.story_id)) is not None
        for gold in (FIRST, SECOND)
    ]


def attribute_questions(stories: Sequence[Story], language: str) -> list[Question]:
    """What conflicts in each implausible story whose sentences have states, attribute by attribute.

    Asked is what is not TRIP's default: the value after the conflicting sentence, where it has
    one, and the value that the breakpoint needs. Of locations it is asked what happens.
    """
    wording = extra_wordings(language)
    found = []
    for story in stories:
        if story.plausible or story.pair is None or not story.sentence_states:
            continue
        for number, side in zip(story.pair, _SIDES, strict=True):
            for name, entries in story.sentence_states[number].entries.items():
                found += [
                    _asked(story, number, side, Held(ATTRIBUTES[name], entity, value), wording)
                    for entity, code in entries
                    if not is_default(name, value := side_value(name, code, side))
                ]
    return found


def question_prompts(
    questions: Sequence[Question],
    pool: Sequence[Question],
    *,
    language: str,
    options: StoryOptions,
    voice: PromptFormat,
) -> list[StoryPrompt]:
    """Questions as prompts, with questions about other stories as worked examples.

    Args:
        questions: what is asked.
        pool: where examples come from; one for each story that is drawn.
        language: of the wording.
        options: how it is asked.
        voice: how the model is spoken to.

    Raises:
        UsageError: there are too few other stories.
        ModelError: the chat template cannot render a prompt.
    """
    by_row: dict[int, list[Question]] = {}
    for question in pool:
        by_row.setdefault(question.story.row, []).append(question)
    stories = [some[0].story for some in by_row.values()]
    chosen = choose_shots(CONFLICT, [each.story for each in questions], stories, options.examples)
    asks = []
    for question, shots in zip(questions, chosen, strict=True):
        # Every other example has its second question: the plausible story does not always come
        # first, and effects are not all that is shown.
        own = [by_row[shot.row] for shot in shots]
        worked = [some[place % len(some)] for place, some in enumerate(own)]
        parts = Dialogue(
            instruction=_instruction(question.task, language),
            gap="\n\n",
            shots=tuple((each.body, each.answer) for each in worked),
            body=question.body,
        )
        asks.append(
            StoryPrompt(
                row=question.story.row,
                tier=question.task,
                labels=question.labels,
                words=question.words,
                rendered=rendered(parts, options, voice),
                shots=tuple(shot.row for shot in shots),
            )
        )
    return asks


def _instruction(task: Task, language: str) -> str:
    wording = extra_wordings(language)
    return (wording.pair if task == PAIR_TASK else wording.attributes)["instruction"]


def _pair(story: Story, base: Story, gold: str, wording: ExtraWordings) -> Question:
    texts = [" ".join(each.sentences) for each in (base, story)]
    first, second = texts if gold == FIRST else texts[::-1]
    parts = wording.pair
    return Question(
        task=PAIR_TASK,
        story=story,
        about=f"plausible {gold}",
        body=f"{parts['before']}{first}{parts['middle']}{second}{parts['after']}",
        labels=(FIRST, SECOND),
        words=(wording.pair_answers[FIRST], wording.pair_answers[SECOND]),
        gold=gold,
    )


def _asked(story: Story, number: int, side: Side, held: Held, wording: ExtraWordings) -> Question:
    """A question about one attribute of one entity."""
    attribute, value = held.attribute, held.value
    if attribute.name in _LOCATIONS:
        labels = tuple(str(each) for each in attribute.codes if each)
        meanings = wording.codes.get(attribute.name)
        words = tuple(
            meanings[int(label)] if meanings else attribute.codes[int(label)] for label in labels
        )
        template, gold = wording.attributes["change"], str(value)
    else:
        own = wording.words.get(attribute.name)
        words = (
            (own["negative"], own["positive"]) if own else (attribute.negative, attribute.positive)
        )
        labels, template = ("negative", "positive"), wording.attributes[side]
        gold = labels[bool(value)]
    question = fill(
        template,
        sentence=story.sentences[number].strip(),
        entity=held.entity,
        negative=words[0],
        positive=words[-1],
        options=listed(words, wording.language),
    )
    return Question(
        task=ATTRIBUTE_TASK,
        story=story,
        about=f"{number} {side} {attribute.name} {held.entity}",
        body=f"{wording.attributes['before']}{' '.join(story.sentences)}{question}",
        labels=labels,
        words=words,
        gold=gold,
    )


def questions_of(
    stories: Sequence[Story], suite: StorySuite, options: StoryOptions
) -> list[Question]:
    """The questions beside the tiers about some stories."""
    make = pair_questions if options.task == "pair" else attribute_questions
    return make(stories, prompt_for(options, suite).language)
