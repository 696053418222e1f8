"""One model being asked about one file of stories, tier by tier."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cimento.errors import UsageError
from cimento.models.answering import OptionScorer, Replier
from cimento.models.chatting import chat_template
from cimento.sources import AnyScorer, Asking
from cimento.stories.asking import (
    Record,
    TierAsk,
    Voice,
    constrained,
    find_voice,
    replied,
    scored,
    tier_asks,
)
from cimento.stories.chat import Render
from cimento.stories.journal import Journal
from cimento.stories.outcomes import judge
from cimento.stories.prompts import Prompt
from cimento.stories.question_answers import QuestionAnswer, question_answers
from cimento.stories.questions import attribute_questions, pair_questions, question_asks
from cimento.stories.recording import tier_answers, warnings_of
from cimento.stories.records import STORY, TIERS, Story, TierAnswer
from cimento.stories.settings import StorySettings

Told = Callable[[int, int], None]
"""Called with the number of prompts of a tier that are answered and the number in all."""


class Talk:
    """A model and how it is asked.

    Attributes:
        voice: how it is spoken to.

    Args:
        scorer: the model, loaded.
        asking: how texts are scored.
        settings: how stories are asked.
        journal: what it has answered already, and where answers are kept.
        told: how far a tier is.

    Raises:
        UsageError: the model cannot be asked so.
        ModelError: its chat template drops system turns.
    """

    def __init__(
        self,
        scorer: AnyScorer,
        asking: Asking,
        settings: StorySettings,
        journal: Journal,
        told: Told | None,
    ) -> None:
        from cimento.models.server import ServerScorer

        self._scorer = scorer
        self._policy = asking.policy
        self._settings = settings
        self._journal = journal
        self._told = told
        self.voice: Voice = find_voice(
            render_of(scorer),
            settings,
            name=scorer.card.name,
            remote=isinstance(scorer, ServerScorer),
        )
        self._answering = self._how()

    def all_tiers(
        self, stories: Sequence[Story], pool: Sequence[Story], prompt: Prompt
    ) -> tuple[tuple[TierAnswer, ...], list[Record], tuple[str, ...]]:
        """Answers, what they were made from, and warnings."""
        answers: list[TierAnswer] = []
        records: list[Record] = []
        warnings: list[str] = []
        by_row = {story.row: story for story in stories}
        items: Sequence[Story] = stories
        for tier in TIERS:
            if tier != STORY:
                items = [story for story in items if story.gold(tier) and not story.plausible]
            survivors = self._settings.protocol == "paper" and tier != STORY
            asks = tier_asks(
                tier,
                items,
                items if survivors else pool,
                prompt=prompt,
                settings=self._settings,
                voice=self.voice,
            )
            found = self._tier(asks)
            records += found
            here = tier_answers(asks, found, self._settings)
            answers += here
            warnings += warnings_of(tier, here)
            if self._settings.protocol == "paper":
                right = {each.row for each in here if judge(each, by_row[each.row]).correct}
                items = [story for story in items if story.row in right]
        return tuple(answers), records, (*warnings, *getattr(self._answering, "remarks", ()))

    def questions(
        self, stories: Sequence[Story], pool: Sequence[Story], language: str
    ) -> tuple[tuple[QuestionAnswer, ...], tuple[str, ...]]:
        """Answers to the questions beside the tiers, and warnings.

        Raises:
            UsageError: there is nothing to ask, or no such way of comparing options.
        """
        if self._settings.norm not in ("sum", "token", "char"):
            raise UsageError(
                where=f"--set norm={self._settings.norm}",
                seen="it is for the three tiers, whose options are the same for all stories",
                todo="Say sum, token or char.",
            )
        make = pair_questions if self._settings.task == "pair" else attribute_questions
        questions = make(stories, language)
        if not questions:
            raise UsageError(
                where=f"--set task={self._settings.task}",
                seen="no story has what is asked about",
                todo="Pairs need plausible stories with variants; attributes need the states of"
                " each sentence.",
            )
        asks = question_asks(
            questions,
            make(pool, language),
            language=language,
            settings=self._settings,
            voice=self.voice,
        )
        answers = question_answers(questions, asks, self._tier(asks), self._settings)
        return answers, getattr(self._answering, "remarks", ())

    def _tier(self, asks: Sequence[TierAsk]) -> list[Record]:
        todo = [ask for ask in asks if ask not in self._journal]
        done = len(asks) - len(todo)
        for number, _ in enumerate(self._journal.keep(self._ask(todo)), start=done + 1):
            if self._told is not None:
                self._told(number, len(asks))
        return [self._journal.of(ask) for ask in asks]

    def _how(self) -> object:
        from cimento.models.choosing import option_scorer
        from cimento.models.replying import replier

        writes = self._settings.answer == "generate" or self.voice.remote
        answering: Callable[..., object] = replier if writes else option_scorer
        return answering(self._scorer, policy=self._policy)

    def _ask(self, asks: Sequence[TierAsk]) -> Iterator[Record]:
        if not asks:
            return
        how = self._answering
        if isinstance(how, Replier):
            yield from replied(asks, how, settings=self._settings)
        elif isinstance(how, OptionScorer):
            ask = constrained if self._settings.answer == "constrained" else scored
            yield from ask(asks, how)


def render_of(scorer: AnyScorer) -> Render | None:
    """A model's chat template, as its tokenizer renders it; None where it has none."""
    template = chat_template(scorer)
    if template is None:
        return None
    return lambda turns: template([(turn["role"], turn["content"]) for turn in turns])
