"""The answers of surveys that are read word by word, as a table with a row for each word.

The table is what `cimento.people.reading_times` joins to surprisals. A time that rules leave out is
an empty cell with the reason beside it, so that each text stays whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.errors import InputError, counted
from cimento.judgments import COMPREHENSION, Judgment
from cimento.people.surveys import SurveyDesign, SurveyQuestion
from cimento.people.surveys.timed import ReadSentence, read_times

if TYPE_CHECKING:
    import polars as pl

MazeErrors: TypeAlias = Literal["rest", "word", "sentence", "keep"]
"""The words left out for a wrong choice in a maze: it and those after it, it alone, all, none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRules:
    """The rules by which times are left out.

    Attributes:
        shortest_ms: shorter times are; None for no limit.
        longest_ms: longer ones are; None for no limit.
        errors: the words of a maze that a wrong choice leaves out.
        correct_only: whether a sentence is whose comprehension question was answered wrongly.
    """

    shortest_ms: float | None = None
    longest_ms: float | None = None
    errors: MazeErrors = "rest"
    correct_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadWord:
    """One word as one participant read it; the attributes are the columns of the table.

    Attributes:
        text: id of the sentence: item and condition.
        position: number of the word, from 1.
        word: with the marks that touch it.
        rt: reading time in milliseconds; None where it was left out.
        participant: who read it.
        item: of the suite.
        condition: of the item.
        region: that the word begins in; empty where it is not known.
        trial: place of the sentence in the participant's order, from 1.
        survey: which of the lists.
        device: ``key``, or ``touch`` for a screen.
        comprehension: ``correct`` or ``incorrect``, the answer about the sentence; empty for none.
        distractor: of a maze.
        side: of the word in a maze, ``left`` or ``right``.
        choice: in a maze, ``correct`` or ``incorrect``, the first one.
        corrected_rt: milliseconds until the correct choice after a wrong one.
        excluded: why there is no time, with the time that was measured.
    """

    text: str
    position: int
    word: str
    rt: float | None
    participant: str
    item: str
    condition: str
    region: str
    trial: int | None
    survey: str
    device: str
    comprehension: str
    distractor: str
    side: str
    choice: str
    corrected_rt: float | None
    excluded: str


@dataclass(frozen=True, slots=True)
class WordTimes:
    """The times of words, and what was left out.

    Attributes:
        words: one for each word of each sentence that somebody read.
        comprehension: participant to correct answers and answers, of those who were asked.
    """

    words: tuple[ReadWord, ...]
    comprehension: Mapping[str, tuple[int, int]]

    def frame(self) -> pl.DataFrame:
        """The table, without columns in which no word has anything."""
        import polars as pl

        names = [field.name for field in fields(ReadWord)]
        numbers = {"position": pl.Int32(), "trial": pl.Int32(), "rt": pl.Float64()}
        numbers["corrected_rt"] = pl.Float64()
        columns = {
            name: [None if (cell := getattr(word, name)) == "" else cell for word in self.words]
            for name in names
        }
        return pl.DataFrame(
            {
                name: pl.Series(cells, dtype=numbers.get(name, pl.String()))
                for name, cells in columns.items()
                if name in _ALWAYS or any(cell is not None for cell in cells)
            }
        )

    def log(self) -> str:
        """What was left out: the number of words by reason, then each of them; and comprehension.

        Each line names participant, sentence and word.
        """
        people = {word.participant for word in self.words}
        read = {(word.participant, word.text) for word in self.words}
        whom = counted(len(people), "person", "people")
        total = f"{counted(len(self.words), 'word')} in {counted(len(read), 'sentence')}"
        lines = [f"{total} read by {whom}"]
        lines += [
            f"comprehension questions: {person} {correct} of {asked} correct"
            for person, (correct, asked) in self.comprehension.items()
        ]
        out = [word for word in self.words if word.excluded]
        for reason, number in Counter(map(_reason, out)).items():
            lines.append(f"left out, {reason}: {counted(number, 'word')}")
            lines += [
                f"  {word.participant}, sentence {word.text}, word {word.position}"
                f" {word.word!r}: {word.excluded}"
                for word in out
                if _reason(word) == reason
            ]
        return "\n".join(lines) + "\n"


_ALWAYS = ("text", "position", "word", "rt", "participant", "item", "excluded")


def _reason(word: ReadWord) -> str:
    return word.excluded.partition(" (")[0]


def word_times(
    judgments: Sequence[Judgment], design: SurveyDesign, rules: TimeRules | None = None
) -> WordTimes:
    """The times of words in some judgments, those of a sentence that was read twice once only.

    Args:
        judgments: of the survey, with its comprehension questions.
        design: of the survey.
        rules: by which times are left out.

    Raises:
        InputError: there are no times, or some are of no sentence of the design.
    """
    name = design.fields[0].name
    sentences = {(q.item, q.condition): q for q in design.questions if not q.kind}
    answered = {
        (judgment.annotator or "", judgment.item, judgment.condition): judgment.value
        == judgment.expected
        for judgment in reversed(judgments)  # so that the first answer counts
        if judgment.question == COMPREHENSION and judgment.expected is not None
    }
    conditions = {question.condition for question in sentences.values()}
    words: dict[tuple[str, str], list[ReadWord]] = {}
    for judgment in judgments:
        if judgment.question != name or not design.is_timed:
            continue
        key = (judgment.annotator or "", judgment.item, judgment.condition)
        is_correct = answered.get(key)
        question = sentences.get(key[1:])
        read = _read(judgment, question)
        if question is None or (key[0], question.id) in words:
            continue
        text = f"{key[1]}/{key[2]}" if len(conditions) > 1 else key[1]
        words[key[0], question.id] = [
            *_words(
                judgment, question, read, rules or TimeRules(), text=text, is_correct=is_correct
            )
        ]
    if not words:
        raise InputError(
            where="judgments",
            seen=f"they hold no times of words (question {name!r})",
            todo="Give the answers to the survey of --design.",
        )
    return WordTimes(tuple(word for each in words.values() for word in each), _shares(answered))


def _read(judgment: Judgment, question: SurveyQuestion | None) -> ReadSentence:
    """The times in a judgment.

    Raises:
        InputError: it is about no sentence of the survey, or they are not those of the sentence.
    """
    where = f"{judgment.annotator}, item {judgment.item} {judgment.condition}".rstrip()
    if question is None:
        raise InputError(
            where=where, seen="the survey has no such sentence", todo="Is it another survey's?"
        )
    try:
        return read_times(judgment.value or "", question)
    except ValueError as error:
        raise InputError(
            where=where, seen=str(error), todo="Was it edited? Take the file as it was collected."
        ) from error


def _words(
    judgment: Judgment,
    question: SurveyQuestion,
    read: ReadSentence,
    rules: TimeRules,
    *,
    text: str,
    is_correct: bool | None,
) -> Iterator[ReadWord]:
    """The words of one sentence that somebody read."""
    reasons = list(_reasons(read, question, rules, is_wrong=is_correct is False))
    for number, word in enumerate(question.words):
        time = read.times[number] if number < len(read.times) else None
        yield ReadWord(
            text=text,
            position=number + 1,
            word=word,
            rt=time.ms if time and not reasons[number] else None,
            participant=judgment.annotator or "",
            item=judgment.item,
            condition=judgment.condition,
            region=question.regions[number] if question.regions else "",
            trial=judgment.position,
            survey=judgment.survey or "",
            device=read.device,
            comprehension="" if is_correct is None else "correct" if is_correct else "incorrect",
            distractor=question.foils[number] if question.foils else "",
            side=time.side if time else "",
            choice="" if not (time and time.side) else "incorrect" if time.is_wrong else "correct",
            corrected_rt=time.corrected_ms if time else None,
            excluded=reasons[number],
        )


def _reasons(
    read: ReadSentence, question: SurveyQuestion, rules: TimeRules, *, is_wrong: bool
) -> Iterator[str]:
    """Why the time of each word is left out; empty where it is not."""
    first = next((n for n, time in enumerate(read.times) if time.is_wrong), None)
    for number in range(len(question.words)):
        if number >= len(read.times):
            yield "not read after a wrong choice"
            continue
        time = read.times[number]
        measured = f" ({time.ms:g} ms)"
        if is_wrong and rules.correct_only:
            yield "wrong answer to the comprehension question" + measured
        elif time.is_wrong and rules.errors != "keep":
            yield "wrong choice" + measured
        elif first is not None and (
            rules.errors == "sentence" or (rules.errors == "rest" and number > first)
        ):
            yield "wrong choice in the same sentence" + measured
        elif rules.shortest_ms is not None and time.ms < rules.shortest_ms:
            yield f"shorter than {rules.shortest_ms:g} ms" + measured
        elif rules.longest_ms is not None and time.ms > rules.longest_ms:
            yield f"longer than {rules.longest_ms:g} ms" + measured
        else:
            yield ""


def _shares(answered: Mapping[tuple[str, str, str], bool]) -> dict[str, tuple[int, int]]:
    """Participant to correct answers and answers."""
    people: dict[str, list[bool]] = {}
    for (person, _, _), is_correct in reversed([*answered.items()]):
        people.setdefault(person, []).append(is_correct)
    return {person: (sum(given), len(given)) for person, given in people.items()}
