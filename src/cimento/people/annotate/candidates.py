"""Candidates for blanks judged one by one in a terminal: does it fit?

The dialogue reads lines and writes lines, so that tests can play it from a script. Every decision
is in the journal before the next candidate is shown.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from cimento.errors import UsageError, counted, need_known
from cimento.io.files import write_text
from cimento.io.parsing import whole_number
from cimento.paradigms import cloze
from cimento.people.annotate import CandidateDecision, CandidateKey, Journal, YesOrNo

OTHER = "other"
REMARKS = "remarks.txt"
_SHOWN = ("template", "dimension", "expression", "seed", "category", "expected")
"""Columns of an item that are shown with its candidates."""

HELP = """\
  y         it fits                       y 1 3       ... with remarks 1 and 3
  n         it does not                   n too old   ... with a remark of your own
  u         undo the last decision        s           skip this one for now
  b         back to the one before        j           on to the next that is not judged
  j 120     jump to number 120            r           list the remarks
  + text    add a remark to the list      p           show or hide probabilities
  q         stop; everything is kept      ?           this help"""

ReadLine: TypeAlias = Callable[[str], "str | None"]
"""Shows a prompt and gives the line that was typed; None at the end of input."""

Write: TypeAlias = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class CandidateTask:
    """A candidate to be judged.

    Attributes:
        item: id of the item.
        candidate: as the model wrote it.
        before: what comes before the blank.
        after: what comes after it.
        details: what else is shown, name to value (template, seed ...).
        probability: None where it is not known.
    """

    item: str
    candidate: str
    before: str
    after: str
    details: Mapping[str, str]
    probability: float | None = None

    @property
    def pair(self) -> CandidateKey:
        """The item and the candidate."""
        return (self.item, self.candidate)

    @property
    def sentence(self) -> str:
        """The text with the candidate in it, marked."""
        return f"{self.before}[{self.candidate}]{self.after}"


class Remarks:
    """The list of remarks that can be chosen by number: a text file, one a line, made to be edited.

    Args:
        path: of the file; need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def texts(self) -> list[str]:
        """The remarks, read each time, since the file may have been edited."""
        if not self.path.exists():
            return []
        lines = self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        return [line.strip() for line in lines if line.strip()]

    def add(self, text: str) -> None:
        """Add a remark at the end, unless it is there."""
        texts = self.texts
        if text and text not in texts:
            write_text("\n".join([*texts, text]) + "\n", self.path)

    def chosen(self, words: str) -> tuple[str, ...]:
        """The remarks typed after a decision: numbers from the list, or a remark itself.

        Raises:
            ValueError: there is no remark of that number.
        """
        parts = words.replace(",", " ").split()
        if not parts:
            return ()
        numbers = [number for part in parts if (number := whole_number(part)) is not None]
        if len(numbers) < len(parts):
            return (words.strip(),)
        texts = self.texts
        wrong = [number for number in numbers if not 1 <= number <= len(texts)]
        if wrong:
            raise ValueError(f"There is no remark {wrong[0]}; r lists them.")
        return tuple(texts[number - 1] for number in numbers)


class CandidateDialogue:
    """One person judging candidates.

    Args:
        tasks: in the order in which they are shown.
        journal: of that person.
        remarks: to choose from.
        show_probability: whether it is shown at the beginning.
    """

    def __init__(
        self,
        tasks: Sequence[CandidateTask],
        journal: Journal,
        remarks: Remarks,
        *,
        show_probability: bool = False,
    ) -> None:
        self._tasks = tasks
        self._journal = journal
        self._remarks = remarks
        self._with_probability = show_probability
        self._place = 0
        self._said: list[tuple[int, CandidateDecision | None]] = []

    @property
    def judged(self) -> int:
        """The number of tasks already judged."""
        return sum(task.pair in self._journal.decisions for task in self._tasks)

    def run(self, read: ReadLine, write: Write) -> None:
        """Ask until all is judged, or the person stops.

        Raises:
            StorageError: a decision cannot be written.
        """
        self._go_to_unjudged()
        write(f"{self.judged} of {counted(len(self._tasks), 'candidate')} judged. ? for the keys.")
        while self._place < len(self._tasks):
            write(self._shown())
            line = read("fits? ")
            if line is None or line.strip() == "q":
                break
            write(self._answer(line.strip()))
        write(
            f"{self.judged} of {counted(len(self._tasks), 'candidate')} judged; everything is kept."
        )

    def _shown(self) -> str:
        task = self._tasks[self._place]
        known = self._journal.decisions.get(task.pair)
        details = ", ".join(f"{name}: {value}" for name, value in task.details.items() if value)
        lines = ["", f"{self._place + 1}/{len(self._tasks)}  {task.item}", f"  {task.sentence}"]
        if details:
            lines.append(f"  {details}")
        if self._with_probability and task.probability is not None:
            lines.append(f"  probability: {task.probability:.4f}")
        if known is not None:
            verdict = f"  judged: {known.fits}" + "".join(f"; {remark}" for remark in known.remarks)
            lines.append(verdict)
        return "\n".join(lines)

    def _answer(self, line: str) -> str:
        """Carry out a typed line and return the reply; an empty line does nothing."""
        key, _, rest = line.partition(" ")
        if key in ("y", "n"):
            return self._decide("yes" if key == "y" else "no", rest)
        if key == "j" and rest.strip():
            return self._jump(rest.strip())
        if key == "+":
            self._remarks.add(rest.strip())
            return self._listed()
        actions: Mapping[str, Callable[[], str]] = {
            "u": self._undo,
            "s": self._skip,
            "b": self._back,
            "j": self._go_to_unjudged,
            "r": self._listed,
            "p": self._toggle,
            "?": lambda: HELP,
        }
        action = actions.get(key)
        return action() if action else f"{line!r} is not a key.\n{HELP}" if line else ""

    def _decide(self, fits: YesOrNo, words: str) -> str:
        try:
            remarks = self._remarks.chosen(words)
        except ValueError as error:
            return str(error)
        task = self._tasks[self._place]
        self._said.append((self._place, self._journal.decisions.get(task.pair)))
        self._journal.add(CandidateDecision(task.item, task.candidate, fits, remarks))
        self._place += 1
        # What was skipped comes again at the end.
        return self._go_to_unjudged()

    def _undo(self) -> str:
        if not self._said:
            return "Nothing was decided in this session; b goes back to an earlier one."
        place, before = self._said.pop()
        task = self._tasks[place]
        self._journal.add(before or CandidateDecision(task.item, task.candidate, None))
        self._place = place
        return "Taken back."

    def _jump(self, number: str) -> str:
        place = whole_number(number)
        if place is None or not 1 <= place <= len(self._tasks):
            return f"There is no number {number}: they go from 1 to {len(self._tasks)}."
        self._place = place - 1
        return ""

    def _skip(self) -> str:
        self._place = (self._place + 1) % len(self._tasks)
        return ""

    def _back(self) -> str:
        self._place = max(0, self._place - 1)
        return ""

    def _go_to_unjudged(self) -> str:
        """To the next that is not judged, from here on and then from the beginning."""
        count = len(self._tasks)
        order = [*range(self._place, count), *range(min(self._place, count))]
        self._place = next((place for place in order if not self._is_judged(place)), count)
        return ""

    def _listed(self) -> str:
        texts = self._remarks.texts
        if not texts:
            return f"There is no remark yet. Write + and one, or edit {self._remarks.path}."
        return "\n".join(f"  {number:>2} {text}" for number, text in enumerate(texts, start=1))

    def _toggle(self) -> str:
        self._with_probability = not self._with_probability
        return "Probabilities are shown." if self._with_probability else "They are hidden."

    def _is_judged(self, place: int) -> bool:
        return self._tasks[place].pair in self._journal.decisions


def part_of(
    tasks: Iterable[CandidateTask], part: int, parts: int, *, overlap: int = 0
) -> list[CandidateTask]:
    """The tasks of one annotator: every `parts`-th item, and some items for all.

    Args:
        tasks: all.
        part: whose, from 1.
        parts: among how many the items are shared out.
        overlap: the first items that everybody judges, for agreement.
    """
    kept = list(tasks)
    items = {item: number for number, item in enumerate(dict.fromkeys(t.item for t in kept))}
    return [
        task for task in kept if items[task.item] < overlap or items[task.item] % parts == part - 1
    ]


def candidate_tasks(
    answers: cloze.ClozeAnswers, method: str = "", *, only_other: bool = False
) -> list[CandidateTask]:
    """Each candidate of each item once, in the order of items and ranks.

    Two tokens may be one text: it has the probability of its best rank.

    Args:
        answers: of a run.
        method: the protocol by which candidates were asked for; empty for the first.
        only_other: only of items that have options, and neither a target nor a plausible one among
            the candidates: the class *Other* of Albertin, Miaschi and Brunato 2021.

    Raises:
        UsageError: the run has no such method.
    """
    if method:
        seen = "the run has no candidates that were asked for so"
        need_known(method, answers.methods, where=f"--method={method}", seen=seen)
    method = method or next(iter(answers.methods), "")
    fills, candidates = answers.by_method(method), cloze.by_item(answers.candidates(method))
    tasks = []
    for item in answers.items:
        item_candidates = candidates.get(item.id, ())
        if only_other and not (
            item.options and cloze.top_class(item, item_candidates, answers.options.k) == OTHER
        ):
            continue
        details = {name: item.columns.get(name, "") for name in _SHOWN}
        best: dict[str, float | None] = {}
        for answer in fills.get(item.id, []):
            best.setdefault(answer.text, answer.probability)
        tasks += [
            CandidateTask(item.id, text, item.before, item.after, details, probability)
            for text, probability in best.items()
        ]
    return tasks


def shuffled(tasks: Iterable[CandidateTask], seed: int) -> list[CandidateTask]:
    """The candidates of each item in an order that says nothing of their ranks."""
    chance = random.Random(seed)  # noqa: S311  # no secret
    by_item: dict[str, list[CandidateTask]] = {}
    for task in tasks:
        by_item.setdefault(task.item, []).append(task)
    for candidates in by_item.values():
        chance.shuffle(candidates)
    return [task for candidates in by_item.values() for task in candidates]


def read_part(text: str) -> tuple[int, int]:
    """The proportion of the items and the number of shares, from a text such as ``1/3``.

    Raises:
        UsageError: it is written in another way.
    """
    number, slash, parts = text.partition("/")
    one, several = whole_number(number), whole_number(parts)
    if not slash or one is None or several is None or not 1 <= one <= several:
        raise UsageError(where="--part", seen=f"got {text!r}", todo="Write it as in 1/3.")
    return one, several
