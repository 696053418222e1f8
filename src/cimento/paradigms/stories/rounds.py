"""The rounds of requests: one tier per round, or all additional questions in one.

Two questions go beyond the tiers. Which of two stories is plausible is the task of TRIP (Storks
et al. 2021, doi:10.18653/v1/2021.findings-emnlp.422). What is true of persons and things is its
verifiability: what the conflicting sentence makes true, and what the breakpoint needs to be true.
A story is verified where all of it is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cimento.engine.requests import Answers, Recording, Requests
from cimento.errors import UsageError
from cimento.io.values import group_by
from cimento.paradigms.stories.answers import asked_suite, raw_answers, tier_answers
from cimento.paradigms.stories.options import StoryOptions, prompt_for, refuse_norm
from cimento.paradigms.stories.outcomes import judge_all
from cimento.paradigms.stories.prompts import (
    choose_shots,
    fill_template,
    wordings,
    words_in_list,
)
from cimento.paradigms.stories.recordings import recorded_requests
from cimento.paradigms.stories.requests import (
    WITHOUT_STORY,
    StoryPrompt,
    numbered_requests,
    tier_prompts,
)
from cimento.suites.stories import (
    ATTRIBUTES,
    CONFLICT,
    STORY,
    TIERS,
    PhysicalAttribute,
    Side,
    Story,
    StorySuite,
    Task,
    Tier,
    Value,
    bases,
    is_default,
    side_value,
)

if TYPE_CHECKING:
    from cimento.kinds.base import AskedModel
from cimento.kinds.prompting import Dialogue, PromptFormat, find_format, rendered

FIRST, SECOND = "first", "second"
PAIR_TASK: Task = "story_pair"
ATTRIBUTE_TASK: Task = "attributes"
_LOCATIONS = ("h_location", "location")
_SIDES: tuple[Side, Side] = ("effect", "precondition")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question with its correct answer.

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
    """Each implausible story with its plausible one, once before it and once after it."""
    wording = wordings(language)["pair"]
    base_of = bases(stories)
    return [
        _pair(story, base, gold, wording)
        for story in stories
        if not story.plausible and (base := base_of.get(story.story_id)) is not None
        for gold in (FIRST, SECOND)
    ]


def attribute_questions(stories: Sequence[Story], language: str) -> list[Question]:
    """Questions about the conflict of each implausible story with states, attribute by attribute.

    Asked is what is not TRIP's default: the value after the conflicting sentence, where it has
    one, and the value that the breakpoint needs. Of locations it is asked what happens.
    """
    wording = wordings(language)
    questions = []
    for story in stories:
        if story.plausible or story.pair is None or not story.sentence_states:
            continue
        for number, side in zip(story.pair, _SIDES, strict=True):
            for name, entries in story.sentence_states[number].entries.items():
                questions += [
                    _asked(story, number, side, ATTRIBUTES[name], entity, value, wording)
                    for entity, code in entries
                    if not is_default(name, value := side_value(name, code, side))
                ]
    return questions


def question_prompts(
    questions: Sequence[Question],
    pool: Sequence[Question],
    *,
    language: str,
    options: StoryOptions,
    prompt_format: PromptFormat,
) -> list[StoryPrompt]:
    """Questions as prompts, with questions about other stories as worked examples.

    Args:
        questions: what is asked.
        pool: where examples come from; one for each story that is drawn.
        language: of the wording.
        options: how it is asked.
        prompt_format: how the model is prompted.

    Raises:
        UsageError: there are too few other stories.
        ModelError: the chat template cannot render a prompt.
    """
    by_row = group_by(pool, lambda question: question.story.row)
    chosen = choose_shots(
        CONFLICT,
        [question.story for question in questions],
        [examples[0].story for examples in by_row.values()],
        options.examples,
    )
    wording = wordings(language)
    prompts = []
    for question, shots in zip(questions, chosen, strict=True):
        # Every other example has its second question: the plausible story does not always come
        # first, and effects are not all that is shown.
        by_shot = [by_row[shot.row] for shot in shots]
        worked = [examples[place % len(examples)] for place, examples in enumerate(by_shot)]
        task, rows = question.task, tuple(shot.row for shot in shots)
        parts = Dialogue(
            wording["pair" if task == PAIR_TASK else "attributes"]["instruction"],
            gap="\n\n",
            shots=tuple((example.body, example.answer) for example in worked),
            body=question.body,
        )
        text = rendered(parts, options.prompting, prompt_format)
        row, labels, words = question.story.row, question.labels, question.words
        prompts.append(
            StoryPrompt(rendered=text, words=words, row=row, tier=task, labels=labels, shots=rows)
        )
    return prompts


def _pair(story: Story, base: Story, gold: str, wording: Mapping[str, Any]) -> Question:
    texts = [" ".join(shown.sentences) for shown in (base, story)]
    first, second = texts if gold == FIRST else texts[::-1]
    return Question(
        task=PAIR_TASK,
        story=story,
        about=f"plausible {gold}",
        body=f"{wording['before']}{first}{wording['middle']}{second}{wording['after']}",
        labels=(FIRST, SECOND),
        words=(wording["answers"][FIRST], wording["answers"][SECOND]),
        gold=gold,
    )


def _asked(
    story: Story, number: int, side: Side, attribute: PhysicalAttribute, entity: str, value: Value,
    wording: Mapping[str, Any],
) -> Question:  # fmt: skip
    """A question about one attribute of one entity."""
    asked = wording["attributes"]
    if attribute.name in _LOCATIONS:
        labels = tuple(str(code) for code in attribute.codes if code)
        meanings = asked.get("codes", {}).get(attribute.name)
        words = tuple(
            meanings[int(label)] if meanings else attribute.codes[int(label)] for label in labels
        )
        template, gold = asked["change"], str(value)
    else:
        named = asked.get("words", {}).get(attribute.name)
        words = (
            (named["negative"], named["positive"])
            if named
            else (attribute.negative, attribute.positive)
        )
        labels, template = ("negative", "positive"), asked[side]
        gold = labels[bool(value)]
    question = fill_template(
        template,
        sentence=story.sentences[number].strip(),
        entity=entity,
        negative=words[0],
        positive=words[-1],
        options=words_in_list(words, wording["language"]),
    )
    return Question(
        task=ATTRIBUTE_TASK,
        story=story,
        about=f"{number} {side} {attribute.name} {entity}",
        body=f"{asked['before']}{' '.join(story.sentences)}{question}",
        labels=labels,
        words=words,
        gold=gold,
    )


def questions_of(
    stories: Sequence[Story], suite: StorySuite, options: StoryOptions
) -> list[Question]:
    """The additional questions about some stories."""
    make = pair_questions if options.task == "pair" else attribute_questions
    return make(stories, prompt_for(options, suite).language)


def next_round(
    suite: StorySuite, options: StoryOptions, *, model: AskedModel, answers: Answers
) -> Requests | None:
    """The next round of requests; None where all has been asked.

    A round is a tier. After ``protocol=paper`` later tiers are asked of the stories that were
    right so far, and of a recording all that it holds is asked at once.

    Args:
        suite: of stories, not corrected yet.
        options: how they are asked.
        model: who is asked.
        answers: to the rounds so far.

    Raises:
        UsageError: the model cannot be asked so, there are too few stories for the examples, or
            no story has what is asked about.
        ModelError: its chat template cannot render a prompt.
    """
    suite = asked_suite(suite, options)
    if isinstance(model, Recording):
        return None if answers.n else recorded_requests(suite, options, model)
    if options.task != "tiers":
        return None if answers.n else _questions(suite, options, model)
    prompt_format = find_format(model, options.prompting)
    items: Sequence[Story] = suite.asked
    first = 0
    for tier in TIERS:
        if tier != STORY:
            items = [story for story in items if story.gold(tier) and not story.plausible]
        of_survivors = options.protocol == "paper" and tier != STORY
        asks = tier_prompts(
            tier,
            items,
            items if of_survivors else suite.stories,
            prompt=prompt_for(options, suite),
            options=options,
            prompt_format=prompt_format,
        )
        if asks and first == answers.n:
            about = [None if ask.row == WITHOUT_STORY else str(ask.row) for ask in asks]
            places = [(item, tier, ask.shown) for item, ask in zip(about, asks, strict=True)]
            return numbered_requests(
                suite, [ask.request(options.prompting) for ask in asks], places, first=first
            )
        if options.protocol == "paper":
            right = _right(tier, asks, suite, options, answers=answers, first=first)
            items = [story for story in items if story.row in right]
        first += len(asks)
    return None


def _right(
    tier: Tier,
    asks: Sequence[StoryPrompt],
    suite: StorySuite,
    options: StoryOptions,
    *,
    answers: Answers,
    first: int,
) -> set[int]:
    """The rows of the stories that were right at a tier, the first of tied options chosen.

    So the study counted its survivors; a run that counts ties as wrong has more answers than it
    needs.
    """
    asked = ((number, ask.row) for number, ask in enumerate(asks, start=first))
    raw = raw_answers(answers.tables)
    given = tier_answers(tier, asked, raw, suite=suite, options=options)
    outcomes = judge_all(given, suite.stories, first_of_ties=True)
    return {outcome.row for outcome in outcomes if outcome.correct}


def _questions(suite: StorySuite, options: StoryOptions, model: AskedModel) -> Requests:
    """The additional questions, all in one round."""
    refuse_norm(options)
    questions = questions_of(suite.asked, suite, options)
    if not questions:
        raise UsageError(
            where=f"--set task={options.task}",
            seen="no story has what is asked about",
            todo="Pairs need plausible stories with variants; attributes need the states of each"
            " sentence.",
        )
    asks = question_prompts(
        questions,
        questions_of(suite.stories, suite, options),
        language=prompt_for(options, suite).language,
        options=options,
        prompt_format=find_format(model, options.prompting),
    )
    places: list[tuple[str | None, str, str]] = [
        (str(question.story.row), question.about, ask.shown)
        for question, ask in zip(questions, asks, strict=True)
    ]
    asked = [ask.request(options.prompting) for ask in asks]
    return numbered_requests(suite, asked, places)
