"""Surveys built from a suite: list assignment, checks, orders, and questions about participants.

The list assignment is a Latin square where there can be one, and balanced as far as possible.
"""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cimento.errors import InputError, UsageError, need_known
from cimento.intake.decoding import open_text
from cimento.intake.table import Row, Table
from cimento.intake.tables import open_table
from cimento.intake.words import HEADERS
from cimento.judgments import COMPREHENSION, FILLER, PRACTICE
from cimento.kinds.base import TIMED_TASKS, SurveyTask
from cimento.people.surveys import (
    PARTICIPANT_COLUMNS,
    AnswerChoice,
    BackgroundQuestion,
    QuestionKind,
    Survey,
    SurveyDesign,
    SurveyField,
    SurveyQuestion,
)
from cimento.people.surveys.material import (
    SurveyMaterial,
    Words,
    comprehension_of,
    fields_for,
    guidelines,
    read_material,
    words,
)
from cimento.people.surveys.maze import read_sheet, with_foils
from cimento.people.surveys.orders import order_questions
from cimento.people.surveys.plan import SurveyPlan


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A set of questions of which nobody may see two, such as the conditions of an item.

    Attributes:
        size: number of members.
        times: total of askings of members over all surveys; ``2 * size`` asks each twice.
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
        surveys: number of surveys.

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
USUAL_SCALE = 5
CONTACT_MISSING = "the consent text names nobody who is responsible"


def build_design(path: Path, plan: SurveyPlan) -> SurveyDesign:
    """Make a design; the same suite and plan give the same design.

    Raises:
        InputError: the suite or another file cannot be used.
        UsageError: the plan cannot be carried out for this suite.
    """
    _refuse_values(plan)
    material = read_material(path, plan)
    _refuse_scale(plan, material.task)
    _refuse_sheet(plan, material.task)
    texts = words(material.language)
    points = plan.scale or min(material.points or USUAL_SCALE, LONGEST_SCALE)
    fields = fields_for(material.task, texts, scale=points, length=material.longest)
    chance = random.Random(plan.seed)  # noqa: S311  # no secret
    more = (
        *_checks(plan, material, fields[0], texts, chance),
        *_more_questions(plan, fields[0], material.task, texts, chance),
        *material.fillers,
    )
    if plan.distractors is not None:
        sheet = read_sheet(plan.distractors)
        sets = (tuple(with_foils(members, sheet)) for members in material.sets)
        material, more = replace(material, sets=tuple(sets)), tuple(with_foils(more, sheet))
    asks = any(question.comprehension for question in itertools.chain(more, *material.sets))
    whole = SurveyDesign(
        title=plan.title or texts["pages"]["title"],
        language=material.language,
        task=material.task,
        source=material.source,
        seed=plan.seed,
        consent=_consent(plan, texts, material.task),
        guidelines=(
            *guidelines(material.task, texts, fields, none=material.none),
            *([texts["timed"][COMPREHENSION]] if asks else []),
        ),
        fields=fields,
        remarks=material.task == "candidate",
        background=_background(plan.background, plan.background_file, texts),
        break_every=plan.break_every,
        completion=plan.completion,
        after_error=plan.after_error,
        questions=(*(member for members in material.sets for member in members), *more),
        surveys=_surveys(material, plan, more, chance),
    )
    asked = {question for survey in whole.surveys for question in survey.questions}
    return replace(whole, questions=tuple(one for one in whole.questions if one.id in asked))


def _surveys(
    material: SurveyMaterial,
    plan: SurveyPlan,
    more: Sequence[SurveyQuestion],
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
            where=f"--surveys={count}",
            seen="there are more surveys than questions",
            todo="Ask for fewer.",
        )
    surveys = []
    for number, places in enumerate(dealt, start=1):
        questions = [sets[place][member] for place, member in places]
        order = order_questions([*questions, *more], chance)
        surveys.append(Survey(str(number), tuple(question.id for question in order)))
    return tuple(surveys)


def _checks(
    plan: SurveyPlan,
    material: SurveyMaterial,
    asked: SurveyField,
    texts: Words,
    chance: random.Random,
) -> tuple[SurveyQuestion, ...]:
    if material.task in TIMED_TASKS:
        return ()
    choices = asked.choices
    wordings = [texts[material.task]["check"], *texts["checks"]["more"].split("\n")]
    made: list[SurveyQuestion] = []
    for number in range(1, plan.checks + 1):
        answers = choices or _sample_choices(material, texts, chance)
        # No answer is asked for again before all others were.
        earlier = Counter(check.expected for check in made)
        rarest = min(earlier[answer.value] for answer in answers)
        right = chance.choice([answer for answer in answers if earlier[answer.value] == rarest])
        quoted = texts["answers"]["quoted"].format(text=right.label)
        shown = right.label if material.task == "likert" else quoted
        made.append(
            SurveyQuestion(
                id=f"check-{number}",
                item=f"check-{number}",
                lines=(wordings[(number - 1) % len(wordings)].format(answer=shown),),
                choices=() if choices else tuple(answers),
                expected=right.value,
            )
        )
    own = _read_questions(plan.check_file, "own-check") if plan.check_file else ()
    for check in (from_file := [check for _, check in own]):
        if not check.expected:
            raise InputError(
                where=f"{plan.check_file}, {check.lines[0]!r}",
                seen="a check needs a text and the expected answer",
                todo="Fill the columns text and expected.",
            )
        if not check.choices and check.expected not in {choice.value for choice in choices}:
            raise InputError(
                where=f"{plan.check_file}, {check.lines[0]!r}",
                seen=f"{check.expected!r} is none of the answers",
                todo="Write one of the answers, or give them in the column choices.",
            )
    return (*made, *from_file)


def _refuse_values(plan: SurveyPlan) -> None:
    """Refuse a scale and a completion that no survey can have, whatever its suite."""
    if plan.scale is not None and not SHORTEST_SCALE <= plan.scale <= LONGEST_SCALE:
        raise UsageError(
            where=f"--scale {plan.scale}",
            seen="a scale cannot have that many points",
            todo=f"Give {SHORTEST_SCALE} to {LONGEST_SCALE}.",
        )
    if "://" in plan.completion and not plan.completion.startswith("https://"):
        raise UsageError(
            where=f"--completion={plan.completion}",
            seen="is neither a code nor an address that begins with https://",
            todo="Copy the completion link of the platform.",
        )


def _refuse_scale(plan: SurveyPlan, task: str) -> None:
    if plan.scale is not None and task != "likert":
        raise UsageError(
            where=f"--scale {plan.scale}",
            seen=f"people rate nothing on a scale in the task {task}",
            todo="Leave it out, or give --task likert.",
        )


def _refuse_sheet(plan: SurveyPlan, task: SurveyTask) -> None:
    """Refuse a maze without distractors, distractors without a maze, and checks in timed tasks."""
    if task == "maze" and plan.distractors is None:
        raise UsageError(
            where="--task maze",
            seen="there are no distractors",
            todo="Have them proposed (cimento annotate survey distractors SUITE -m MODEL), check"
            " them, and give the sheet as --distractors.",
        )
    if task != "maze" and plan.distractors is not None:
        raise UsageError(
            where=f"--distractors {plan.distractors}",
            seen=f"there are none in the task {task}",
            todo="Leave it out, or give --task maze.",
        )
    if task != "maze" and plan.after_error != "stop":
        raise UsageError(
            where=f"--after-error {plan.after_error}",
            seen=f"nothing is chosen wrongly in the task {task}",
            todo="Leave it out, or give --task maze.",
        )
    if task in TIMED_TASKS and plan.check_file is not None:
        raise UsageError(
            where=f"--check-file {plan.check_file}",
            seen=f"sentences of the task {task} are checked by comprehension questions",
            todo="Write them into the columns comprehension and comprehension_answer.",
        )


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


def _more_questions(
    plan: SurveyPlan, first: SurveyField, task: SurveyTask, texts: Words, chance: random.Random
) -> Iterator[SurveyQuestion]:
    """Practice and fillers, from the tables that hold them."""
    kinds: tuple[tuple[Path | None, QuestionKind], ...] = (
        (plan.practice, PRACTICE),
        (plan.fillers, FILLER),
    )
    for path, kind in kinds:
        if path and task in TIMED_TASKS:
            yield from (replace(each, kind=kind) for each in read_sentences(path, kind, texts))
            continue
        for where, question in _read_questions(path, kind, task) if path else ():
            if question.expected:
                raise InputError(
                    where=where,
                    seen=f"an answer is expected, and to a {kind} question none is",
                    todo="Leave the column expected out, or give the question with --check-file.",
                )
            if not (question.choices or first.choices):
                raise InputError(
                    where=where,
                    seen="there are no answers to choose from",
                    todo="Give them in the column choices, with | between them.",
                )
            answers = question.choices
            if task in {"choice", "cloze"}:  # as the options of the suite, which give no hint
                answers = tuple(chance.sample(answers, len(answers)))
            yield replace(question, kind=kind, choices=answers)


def _texts_of(
    table: Table, name: str, *, may_lack: bool = False
) -> Iterator[tuple[Row, SurveyQuestion]]:
    """The rows of a table, each with its text, which it may lack, as a question.

    The column of texts may be headed as in suites: *testo*, *frase*, *sentence* ...
    """
    headed = {"text", "sentence", *HEADERS["text"], *HEADERS["sentence"]}
    column = next((name for name in table.columns if name.casefold() in headed), "text")
    for number, row in enumerate(table.rows, start=1):
        text = row.cells.get(column, "").strip()
        if not text and not may_lack:
            raise InputError(
                where=table.where(row), seen="there is no text", todo=f"Fill the column {column}."
            )
        id_ = f"{name}-{number}"
        yield row, SurveyQuestion(id=id_, item=id_, lines=(text,) if text else ())


def read_sentences(path: Path, name: str, texts: Words) -> list[SurveyQuestion]:
    """Sentences that are read word by word, from a table: ``text``, and its comprehension question.

    Args:
        path: of the table; its columns are those of `comprehension_of`.
        name: the beginning of ids, such as ``practice``.
        texts: words of the survey's language.

    Raises:
        InputError: a text is missing, or a question has no such answer.
    """
    table = open_table(path)
    sentences = []
    for row, sentence in _texts_of(table, name):
        asked, choices, correct = comprehension_of(row.cells, texts, where=table.where(row))
        sentences.append(replace(sentence, comprehension=asked, choices=choices, correct=correct))
    return sentences


def _read_questions(
    path: Path, name: str, task: SurveyTask | None = None
) -> Iterator[tuple[str, SurveyQuestion]]:
    """Questions from a table, by place: ``text``, ``expected``, ``choices`` with bars between.

    Of a choice, a text and one more are the two options, and so are two choices without a text.
    """
    table = open_table(path)
    for row, read in _texts_of(table, name, may_lack=task == "choice"):
        question, where, choices = read, table.where(row), _choices(table, row)
        expected = row.cells.get("expected", "").strip()
        if task == "choice" and len(choices) == 1:
            question, choices = replace(read, lines=()), (*read.lines, *choices)
        if choices and len({*choices}) < 2:  # noqa: PLR2004  # what one chooses between
            raise InputError(
                where=where,
                seen="there are not two different answers to choose from",
                todo="Give them in the column choices, with | between them.",
            )
        if choices and expected and expected not in choices:
            raise InputError(
                where=where,
                seen=f"{expected!r} is none of the choices",
                todo="Write one of them as the expected answer.",
            )
        answers = tuple(AnswerChoice(choice, choice) for choice in choices)
        yield where, replace(question, choices=answers, expected=expected)


def _choices(table: Table, row: Row) -> tuple[str, ...]:
    """The answers in the column ``choices``, with bars between them."""
    cell = row.cells.get("choices", "")
    choices = tuple(part.strip() for part in cell.split("|") if part.strip())
    if len({*choices}) != len(choices):
        raise InputError(
            where=table.where(row),
            seen=f"a choice is there twice in {cell!r}",
            todo="Give different answers, with | between them.",
        )
    return choices


def _consent(plan: SurveyPlan, texts: Words, task: SurveyTask) -> tuple[str, ...]:
    """The consent text in paragraphs: a file's, or cimento's own; then who is responsible.

    Our own says what is stored, which is more where words are timed.
    """
    contact = [texts["consent"]["contact"].format(contact=plan.contact)] if plan.contact else []
    if plan.consent is None:
        timed = [texts["timed"]["consent"]] if task in TIMED_TASKS else []
        return (*texts["consent"]["paragraphs"].split("\n"), *timed, *contact)
    parts = re.split(r"\n\s*\n", open_text(plan.consent))
    paragraphs = tuple(" ".join(text.split()) for text in parts if text.strip())
    if not paragraphs:
        raise InputError(where=str(plan.consent), seen="is empty", todo="Write the consent text.")
    named = any(" ".join(plan.contact.split()) in paragraph for paragraph in paragraphs)
    return paragraphs if named else (*paragraphs, *contact)


USUAL = ("first-language", "region", "age", "dialect")
"""Names of the questions about participants that there are words for in all languages."""

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


def _background(
    usual: Iterable[str], path: Path | None, texts: Words
) -> tuple[BackgroundQuestion, ...]:
    """The usual questions about the participant by their names, then those of a table."""
    words = texts["background"]
    questions = []
    for name in usual:
        need_known(name, USUAL, where=f"--background={name}", seen="there is no such question")
        choices = tuple(words.get(f"{name}-choices", "").splitlines())
        questions.append(BackgroundQuestion(name, words[name], choices))
    if path is not None:
        questions += _own_background(path)
    counts = Counter(question.name for question in questions)
    twice = next((name for name, count in counts.items() if count > 1), None)
    if twice is not None:
        raise UsageError(where=f"--background={twice}", seen="is asked twice", todo="Ask it once.")
    return tuple(_refusable(question, texts["pages"]["no_answer"]) for question in questions)


def _own_background(path: Path) -> Iterator[BackgroundQuestion]:
    """Questions from a table: ``name``, ``text``, and ``choices`` with bars between."""
    table = open_table(path)
    for row in table.rows:
        name, text = (row.cells.get(column, "").strip() for column in ("name", "text"))
        if not _NAME.fullmatch(name) or name in PARTICIPANT_COLUMNS or not text:
            raise InputError(
                where=table.where(row),
                seen=f"the name is {name!r} and the text is {text!r}",
                todo="Fill the columns name (small letters, digits and -, and no name of a column"
                " of participants.csv) and text.",
            )
        yield BackgroundQuestion(name, text, _choices(table, row))


def _refusable(question: BackgroundQuestion, no_answer: str) -> BackgroundQuestion:
    """The question, with the choice that one would rather not say where there are choices."""
    if not question.choices or no_answer in question.choices:
        return question
    return replace(question, choices=(*question.choices, no_answer))
