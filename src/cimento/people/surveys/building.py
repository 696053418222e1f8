"""Surveys built from a suite: list assignment, attention checks, and an order for each survey.

The list assignment is a Latin square where there can be one, and balanced as far as possible.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from cimento.errors import InputError, UsageError
from cimento.people.surveys.design import AnswerChoice, Survey, SurveyDesign, SurveyQuestion
from cimento.people.surveys.material import MaterialOptions, SurveyMaterial, read_material
from cimento.people.surveys.tasks import Words, fields_for, guidelines, words
from cimento.suites.reading import open_text

Category = TypeVar("Category", bound=Hashable)


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A set of questions of which nobody may see two, such as the conditions of an item.

    Attributes:
        size: how many members there are.
        times: how often members are asked in all, over all surveys; ``2 * size`` asks each twice.
        group: what the surveys are balanced over.
    """

    size: int
    times: int
    group: str = ""


def assign_lists(sets: Sequence[QuestionSet], surveys: int) -> list[list[tuple[int, int]]]:
    """Deal the members of each set over the surveys.

    Sets are dealt one after the other, like cards, those of a group together: a set goes to
    consecutive surveys, so to different ones; all surveys, and the parts of a group in them, are
    equally large to within one. Which survey gets which member is chosen, by rotation, so that
    each position among the members is asked equally often everywhere (a Latin square where the
    number of surveys is that of the members).

    Args:
        sets: in an order that was drawn by chance.
        surveys: how many.

    Returns:
        For each survey, set and member as numbers from 0.

    Raises:
        UsageError: a set is to be asked more often than there are surveys.
    """
    largest = max((question_set.times for question_set in sets), default=0)
    if largest > surveys:
        raise UsageError(
            where="--surveys",
            seen=f"{surveys} surveys, and something that nobody may see twice is asked {largest}"
            " times",
            todo=f"Ask for {largest} surveys or more.",
        )
    dealt: list[list[tuple[int, int]]] = [[] for _ in range(surveys)]
    counts: Counter[tuple[Hashable, ...]] = Counter()
    groups = list(dict.fromkeys(question_set.group for question_set in sets))
    order = sorted(range(len(sets)), key=lambda number: groups.index(sets[number].group))
    start = 0
    for number in order:
        question_set = sets[number]
        places = [(start + step) % surveys for step in range(question_set.times)]
        shift = min(
            range(question_set.size),
            key=lambda shift: _crowding(question_set, places, shift, counts),
        )
        for step, survey in enumerate(places):
            member = (step + shift) % question_set.size
            dealt[survey].append((number, member))
            counts[(survey, question_set.size, member)] += 1
            counts[(survey, question_set.size, member, question_set.group)] += 1
        start = (start + question_set.times) % surveys
    return dealt


def spread(groups: Sequence[Category]) -> list[int]:
    """The order of things in which no two neighbours share a group, where possible.

    Of those that may come next, the earliest is taken, but a group that makes up half of what is
    left comes before all others.

    Args:
        groups: of each thing, in an order that was drawn by chance.

    Returns:
        The numbers of the things, from 0.
    """
    waiting = list(range(len(groups)))
    left = Counter(groups)
    order: list[int] = []
    while waiting:
        last = groups[order[-1]] if order else None
        most, count = left.most_common(1)[0]
        if 2 * count > len(waiting) and (not order or most != last):
            chosen = next(number for number in waiting if groups[number] == most)
        else:
            others = (number for number in waiting if not order or groups[number] != last)
            chosen = next(others, waiting[0])
        waiting.remove(chosen)
        left[groups[chosen]] -= 1
        order.append(chosen)
    return order


def _crowding(
    question_set: QuestionSet,
    places: Sequence[int],
    shift: int,
    counts: Counter[tuple[Hashable, ...]],
) -> tuple[int, int]:
    """The load of the places that a rotation would fill: in all, and in the group."""
    taken = [
        (place, question_set.size, (step + shift) % question_set.size)
        for step, place in enumerate(places)
    ]
    return (
        sum(counts[key] for key in taken),
        sum(counts[(*key, question_set.group)] for key in taken),
    )


LONGEST_SCALE = 11
SHORTEST_SCALE = 2
CONTACT_MISSING = "the consent text names nobody who is responsible"


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyPlan:
    """The plan of a survey.

    Attributes:
        wanted: which questions.
        surveys: how many; None for as few as the suite allows.
        times: in how many surveys each question is asked.
        scale: points of the scale, for ratings.
        checks: attention checks in each survey, in cimento's own words.
        check_file: a table with checks of one's own; None for none.
        consent: a text file with what people agree to; None for cimento's own words.
        contact: who is responsible, as the consent text names them.
        title: as people read it; empty for a neutral one.
        seed: of all that is left to chance.
    """

    wanted: MaterialOptions = field(default_factory=MaterialOptions)
    surveys: int | None = None
    times: int = 1
    scale: int = 5
    checks: int = 0
    check_file: Path | None = None
    consent: Path | None = None
    contact: str = ""
    title: str = ""
    seed: int = 0


def build_design(path: Path, plan: SurveyPlan) -> SurveyDesign:
    """Make a design; the same suite and plan give the same design.

    Raises:
        InputError: the suite or another file cannot be used.
        UsageError: the plan cannot be carried out for this suite.
    """
    if not SHORTEST_SCALE <= plan.scale <= LONGEST_SCALE:
        raise UsageError(
            where=f"--scale {plan.scale}",
            seen="a scale cannot have that many points",
            todo=f"Give {SHORTEST_SCALE} to {LONGEST_SCALE}.",
        )
    material = read_material(path, plan.wanted)
    texts = words(material.language)
    fields = fields_for(material.task, texts, scale=plan.scale, length=material.longest)
    chance = random.Random(plan.seed)  # noqa: S311  # no secret
    checks = _checks(plan, material, texts, chance)
    whole = SurveyDesign(
        title=plan.title or texts["pages"]["title"],
        language=material.language,
        task=material.task,
        source=material.source,
        seed=plan.seed,
        consent=_consent(plan, texts),
        guidelines=guidelines(material.task, texts, fields, none=material.none),
        fields=fields,
        remarks=material.task == "candidate",
        questions=(*(member for members in material.sets for member in members), *checks),
        surveys=_surveys(material, plan, checks, chance),
    )
    asked = {question for survey in whole.surveys for question in survey.questions}
    return replace(
        whole, questions=tuple(question for question in whole.questions if question.id in asked)
    )


def _surveys(
    material: SurveyMaterial,
    plan: SurveyPlan,
    checks: Sequence[SurveyQuestion],
    chance: random.Random,
) -> tuple[Survey, ...]:
    sets = list(material.sets)
    chance.shuffle(sets)
    members = [
        QuestionSet(
            size=len(question_set),
            times=plan.times * (len(question_set) if material.asks_all else 1),
            group=question_set[0].group,
        )
        for question_set in sets
    ]
    count = plan.surveys or max(member.times for member in members)
    dealt = assign_lists(members, count)
    if not all(dealt):
        raise UsageError(
            where=f"--surveys {count}",
            seen="there are more surveys than questions",
            todo="Ask for fewer.",
        )
    surveys = []
    for number, places in enumerate(dealt, start=1):
        questions = [sets[place][member] for place, member in places]
        chance.shuffle(questions)
        order = [questions[place] for place in spread([question.group for question in questions])]
        ids = tuple(question.id for question in _with_checks(order, checks))
        surveys.append(Survey(str(number), ids))
    return tuple(surveys)


def _with_checks(
    order: list[SurveyQuestion], checks: Sequence[SurveyQuestion]
) -> list[SurveyQuestion]:
    """The checks at equal distances; never first."""
    mixed = list(order)
    for number, check in enumerate(checks, start=1):
        mixed.insert(max(1, number * len(order) // (len(checks) + 1)) + number - 1, check)
    return mixed


def _checks(
    plan: SurveyPlan, material: SurveyMaterial, texts: Words, chance: random.Random
) -> tuple[SurveyQuestion, ...]:
    from_file = _own_checks(plan.check_file) if plan.check_file is not None else []
    choices = fields_for(material.task, texts, scale=plan.scale)[0].choices
    made = []
    for number in range(1, plan.checks + 1):
        answers = choices or _sample_choices(material, texts, chance)
        right = chance.choice(answers)
        quoted = texts["answers"]["quoted"].format(text=right.label)
        shown = right.label if material.task == "likert" else quoted
        made.append(
            SurveyQuestion(
                id=f"check-{number}",
                item=f"check-{number}",
                lines=(texts[material.task]["check"].format(answer=shown),),
                choices=() if choices else tuple(answers),
                expected=right.value,
            )
        )
    for check in from_file:
        if not check.choices and check.expected not in {choice.value for choice in choices}:
            raise InputError(
                where=f"{plan.check_file}, {check.lines[0]!r}",
                seen=f"{check.expected!r} is none of the answers",
                todo="Write one of the answers, or give them in the column choices.",
            )
    return (*made, *from_file)


def _sample_choices(
    material: SurveyMaterial, texts: Words, chance: random.Random
) -> Sequence[AnswerChoice]:
    """The answers of a check where questions have their own: letters, or words of a question."""
    question = chance.choice(chance.choice(material.sets))
    if material.task == "cloze":
        return question.choices
    letters = "AB"
    return [
        AnswerChoice(letter, texts["choice"]["option"].format(letter=letter)) for letter in letters
    ]


def _own_checks(path: Path) -> list[SurveyQuestion]:
    """Checks from a table: ``text``, ``expected``, and ``choices`` with bars between."""
    from cimento.suites.tables import open_table

    table = open_table(path)
    checks = []
    for number, row in enumerate(table.rows, start=1):
        text, expected = (row.cells.get(name, "").strip() for name in ("text", "expected"))
        if not text or not expected:
            raise InputError(
                where=table.where(row),
                seen="a check needs a text and the expected answer",
                todo="Fill the columns text and expected.",
            )
        parts = [part.strip() for part in row.cells.get("choices", "").split("|")]
        choices = tuple(AnswerChoice(part, part) for part in parts if part)
        if len(set(choices)) != len(choices):
            raise InputError(
                where=table.where(row),
                seen=f"a choice is there twice in {row.cells['choices']!r}",
                todo="Give different answers, with | between them.",
            )
        if choices and expected not in {choice.value for choice in choices}:
            raise InputError(
                where=table.where(row),
                seen=f"{expected!r} is none of the choices",
                todo="Write one of them as the expected answer.",
            )
        name = f"own-check-{number}"
        checks.append(
            SurveyQuestion(id=name, item=name, lines=(text,), choices=choices, expected=expected)
        )
    return checks


def _consent(plan: SurveyPlan, texts: Words) -> tuple[str, ...]:
    """The consent text in paragraphs: a file's, or cimento's own with the contact."""
    if plan.consent is None:
        usual = texts["consent"]["paragraphs"].split("\n")
        contact = [texts["consent"]["contact"].format(contact=plan.contact)] if plan.contact else []
        return (*usual, *contact)
    parts = re.split(r"\n\s*\n", open_text(plan.consent))
    paragraphs = tuple(" ".join(text.split()) for text in parts if text.strip())
    if not paragraphs:
        raise InputError(where=str(plan.consent), seen="is empty", todo="Write the consent text.")
    return paragraphs
