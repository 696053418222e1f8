"""The outcomes of a run: what became of every story at every tier, and of every question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from cimento.errors import TableError, counted
from cimento.paradigms.stories.answers import (
    AnswerOptions,
    asked_suite,
    compared_values,
    raw_answers,
    read_answer,
    tier_answers,
)
from cimento.paradigms.stories.metrics import kinds_of
from cimento.paradigms.stories.options import (
    Grouping,
    StoryOptions,
    applicable,
    by_corrected,
    by_paper_code,
    by_type,
    refuse_norm,
)
from cimento.paradigms.stories.outcomes import (
    NO_GOLD,
    NOT_ANSWERED,
    Chain,
    TierOutcome,
    at,
    chain,
    judge,
    judge_all,
)
from cimento.paradigms.stories.requests import WITHOUT_STORY
from cimento.paradigms.stories.rounds import PAIR_TASK, Question, questions_of
from cimento.records.outcomes import Outcome, VerdictName
from cimento.suites.stories import (
    CONFLICT,
    STATE,
    STORY,
    TIERS,
    Story,
    StorySuite,
    Tier,
    TierAnswer,
)

if TYPE_CHECKING:
    from cimento.kinds.run import Run


CHAINED: Mapping[Tier, str] = {CONFLICT: "consistency", STATE: "verifiability"}
"""Later tiers to the question whether a story is right there and at all tiers before."""

BOTH_ORDERS = "right in both orders"
ALL_RIGHT = "all questions right"
_BITS = "bits"
_NO_DECISION = "an answer that decides it could not be scored"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAnswers:
    """The answers of one model with what came of them.

    Attributes:
        stories: what was asked about.
        outcomes: outcomes, one for each answer.
        chained: the three tiers chained.
        groupings: the divisions of stories that are reported, the default one first.
    """

    stories: tuple[Story, ...]
    outcomes: tuple[TierOutcome, ...]
    chained: Chain
    groupings: tuple[Grouping, ...]

    def wanted(self, tier: Tier) -> list[Story]:
        """The stories that a tier is about: all at the first, implausible ones at the others."""
        return [story for story in self.stories if tier == STORY or not story.plausible]


def judge_stories(
    stories: Sequence[Story], answers: Sequence[TierAnswer], *, first_of_ties: bool = False
) -> JudgedAnswers:
    """Judge and chain the answers of one model.

    Where corrections are known for the file, the default grouping is ``corrected``, else
    ``type``; the others are there too.

    Args:
        stories: what was asked about.
        answers: answers of the model.
        first_of_ties: the first of tied options is chosen, as the study did; else a tie is wrong.
    """
    outcomes = judge_all(answers, stories, first_of_ties=first_of_ties)
    corrections = applicable(stories)
    groupings = [by_type(stories), by_paper_code(stories)]
    if corrections is not None:
        groupings.insert(0, by_corrected(stories, corrections))
    return JudgedAnswers(
        stories=tuple(stories),
        outcomes=outcomes,
        chained=chain(stories, outcomes),
        groupings=tuple(groupings),
    )


def judged_run(run: Run) -> JudgedAnswers:
    """The answers of a run to the three tiers, judged and chained.

    Raises:
        UsageError: the norm needs what was not asked.
        TableError: the tables are not those of the suite.
    """
    suite, options = asked_of(run)
    raw = raw_answers(run.tables)
    rows: dict[str, list[tuple[int, int]]] = {}
    known: dict[str | None, int] = {str(story.row): story.row for story in suite.asked}
    known[None] = WITHOUT_STORY
    places = run.table("requests").select("request", "item", "condition")
    for number, item, condition in places.iter_rows():
        if item not in known:
            raise TableError(
                where="requests",
                seen=f"it names a story {item!r}, which is not among those that were asked about",
                todo="Run again: the suite is not the one that was asked.",
            )
        rows.setdefault(condition, []).append((number, known[item]))
    answers: list[TierAnswer] = []
    for tier in TIERS:
        asked = rows.get(tier, [])
        answers += tier_answers(
            tier, asked, raw, suite=suite, options=options,
            is_recorded=run.model_kind == "replay",
        )  # fmt: skip
    return judge_stories(suite.asked, answers)


AnsweredQuestion: TypeAlias = tuple[Question, TierOutcome]


def answered_questions(run: Run) -> list[AnsweredQuestion]:
    """The additional questions of a run that have an answer, with what became of each.

    Raises:
        UsageError: the norm is for the three tiers.
        TableError: the tables are not those of the suite.
    """
    suite, options = asked_of(run)
    refuse_norm(options)
    questions = questions_of(suite.asked, suite, options)
    numbers = run.table("requests")["request"].to_list()
    if len(numbers) != len(questions):
        raise TableError(
            where="requests",
            seen=f"{len(numbers)} questions were asked, and the suite has {len(questions)}",
            todo="Run again: the suite is not the one that was asked.",
        )
    raw, answered = raw_answers(run.tables), []
    for question, number in zip(questions, numbers, strict=True):
        if number in raw:
            known = AnswerOptions(question.labels, question.words)
            like = TierAnswer(row=question.story.row, tier=question.task, options=known.labels)
            values = compared_values(raw[number], known, options)
            answer = read_answer(like, raw[number], known, values, options)
            answered.append((question, judge(answer, question.gold)))
    return answered


def asked_of(run: Run) -> tuple[StorySuite, StoryOptions]:
    """The suite of a run as it was asked about, and its options."""
    options = cast("StoryOptions", run.options)
    return asked_suite(cast("StorySuite", run.suite), options), options


def tier_outcomes(judged: JudgedAnswers) -> Iterator[Outcome]:
    """Each tier by itself, then right at a later tier and at all before."""
    groups = {story.row: _groups(story, judged.groupings) for story in judged.stories}
    for tier in TIERS:
        by_row = at(judged.outcomes, tier)
        for story in judged.wanted(tier):
            outcome = by_row.get(story.row)
            verdict = "unscored" if outcome is None else outcome.verdict
            unasked = NO_GOLD if story.gold(tier) is None else NOT_ANSWERED
            yield Outcome(
                item=str(story.row),
                question=tier,
                verdict=verdict,
                right=None if verdict == "unscored" else verdict == "pass",
                value=None if outcome is None else outcome.margin_bits,
                unit=_BITS,
                reason=unasked if outcome is None else outcome.reason,
                cluster=story.cluster_cell,
                groups=groups[story.row],
            )
    for tier, question in CHAINED.items():
        for story in judged.wanted(tier):
            yield _chained(story, tier, question, judged, groups[story.row])


def _chained(
    story: Story, tier: Tier, question: str, judged: JudgedAnswers, groups: Mapping[str, str]
) -> Outcome:
    chained: Chain = judged.chained
    right = chained.passed[tier][story.row] if chained.known(tier) else None
    before = TIERS[: TIERS.index(tier) + 1]
    # What a story is not right for is the first tier at which it is not.
    first = next((t for t in before if chained.passed[t].get(story.row) is not True), tier)
    reason = "" if right is not None else chained.reasons.get(tier, _NO_DECISION)
    verdict: VerdictName = "tie" if story.row in chained.tied[first] else "fail"
    if right is not False:
        verdict = "pass" if right else "unscored"
    return Outcome(
        item=str(story.row),
        question=question,
        verdict=verdict,
        right=right,
        reason=reason,
        cluster=story.cluster_cell,
        groups=groups,
    )


def _groups(story: Story, groupings: tuple[Grouping, ...]) -> dict[str, str]:
    """The columns by which results are broken down; those of conflicts if the story has one."""
    grouped = {grouping.label: grouping.groups.get(story.row, "") for grouping in groupings}
    return {name: value for name, value in grouped.items() if value} | kinds_of(story)


def question_outcomes(answers: Sequence[AnsweredQuestion], suite: StorySuite) -> Iterator[Outcome]:
    """Each additional question, then the stories for which all are right."""
    clusters = {story.row: story.cluster_cell for story in suite.stories}
    seen: Counter[tuple[int, str]] = Counter()
    by_story: dict[int, list[VerdictName]] = {}
    for question, outcome in answers:
        row, about, verdict = outcome.row, question.about, outcome.verdict
        seen[row, about] += 1
        again = f" ({seen[row, about]})" if seen[row, about] > 1 else ""
        by_story.setdefault(row, []).append(verdict)
        yield Outcome(
            item=str(row),
            question=about + again,
            verdict=verdict,
            right=None if verdict == "unscored" else verdict == "pass",
            value=outcome.margin_bits,
            unit=_BITS,
            reason=outcome.reason,
            cluster=clusters[row],
        )
    is_pair = any(question.task == PAIR_TASK for question, _ in answers)
    worst: tuple[VerdictName, ...] = ("unscored", "fail", "tie", "pass")
    for row, verdicts in by_story.items():
        whole = next(verdict for verdict in worst if verdict in verdicts)
        yield Outcome(
            item=str(row),
            question=BOTH_ORDERS if is_pair else ALL_RIGHT,
            verdict=whole,
            right=None if whole == "unscored" else whole == "pass",
            cluster=clusters[row],
        )


def tier_warnings(judged: JudgedAnswers) -> Iterator[str]:
    """Warnings about the answers at each tier, as sentences."""
    by_tier = {
        tier: [outcome for outcome in judged.outcomes if outcome.tier == tier] for tier in TIERS
    }
    never = []
    for tier, outcomes in by_tier.items():
        greedy = [any(outcome.answer.greedy) for outcome in outcomes if outcome.answer.greedy]
        if greedy and not any(greedy):
            never.append(tier)
    if never:
        yield (
            f"at {', '.join(never)} no option is ever what the model would write itself: does the"
            " prompt end where answers begin, with the right blank between?"
        )
    for tier, outcomes in by_tier.items():
        invalid = sum(outcome.invalid for outcome in outcomes)
        if invalid:
            yield (
                f"at {tier} no answer could be read from {invalid} of"
                f" {counted(len(outcomes), 'reply', 'replies')}; they count as wrong"
            )
