"""What people answered put into a copy of the suite that they were asked.

Ratings, and answers of yes or no, become the columns that suites of kind ``acceptability`` have,
choices between the two sentences of a pair a count for each, choices among the options of blanks a
table beside the suite.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.acceptability.suites import KIND, RATINGS
from cimento.errors import InputError, UsageError
from cimento.files import write_text
from cimento.judgments.figures import number
from cimento.judgments.records import ACCEPTABILITY, ACCEPTABLE, BETTER, WHICH_FITS, Judgment
from cimento.suites.kinds import kind_of
from cimento.suites.model import Condition, JsonValue, Suite
from cimento.verdicts.people import CHOSEN

CHOICES = "choices.tsv"
"""Beside a cloze suite: how many people chose each option."""

PEOPLE = "people"
PARTICIPANTS = "participants"

_EARLIER = ("rating", "rating_sd", "rating_n", RATINGS, PARTICIPANTS)
"""Columns with ratings that a suite may have already, of its author or of other people."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What was put into a copy.

    Attributes:
        used: answers that are in it.
        without: items of the suite that nobody answered.
        passed: why other answers are not, and how many.
    """

    used: int
    without: int
    passed: Mapping[str, int]


def apply_judgments(
    path: Path,
    judgments: Sequence[Judgment],
    output: Path,
    *,
    scale: tuple[float, float] | None = None,
) -> Applied:
    """Write a copy of a suite with what people said of it.

    Args:
        path: the suite: pairs, rated sentences or blanks.
        judgments: those of other suites, and checks of attention, are passed over and counted.
        output: folder of the copy.
        scale: ends of the scale of ratings, the worst first; None for those of the suite.

    Raises:
        InputError: nobody answered anything about the suite, or a rating is off the scale.
        UsageError: it is not known on which scale the ratings are.
        StorageError: the copy cannot be written.
    """
    if path.resolve() == output.resolve():
        raise UsageError(
            where="--output", seen="is the suite itself", todo="Name a folder for the copy."
        )
    if kind_of(path) in ("cloze", "templates"):
        applied = _blanks(path, judgments, output)
    else:
        applied = _sentences(path, judgments, output, scale)
    return applied


def _sentences(
    path: Path,
    judgments: Sequence[Judgment],
    output: Path,
    scale: tuple[float, float] | None,
) -> Applied:
    from cimento.acceptability.suites import is_rated_table, read_rated_suite
    from cimento.suites.load import load_suite
    from cimento.suites.writers.native import write_native

    suite = read_rated_suite(path) if is_rated_table(path) else load_suite(path).suite
    known = {(item.id, condition.name) for item, condition in suite.stimuli()}
    own, passed = _own(judgments, suite.name, (ACCEPTABILITY, ACCEPTABLE, BETTER))
    yes_no = not any(each.question == ACCEPTABILITY for each in own)
    ratings: dict[tuple[str, str], list[tuple[str, str]]] = {}
    chosen: Counter[tuple[str, str]] = Counter()
    for each in own:
        key = (each.item, each.condition)
        if key not in known:
            passed["the suite has no such item or condition"] += 1
        elif each.question == BETTER:
            chosen[key] += 1
        elif each.question == ACCEPTABLE and not yes_no:
            passed["yes or no, where others rated"] += 1
        elif (value := _rating(each)) is None:
            passed["a rating is no number"] += 1
        else:
            ratings.setdefault(key, []).append((value, each.annotator or ""))
    used = sum(map(len, ratings.values())) + sum(chosen.values())
    _refuse_nothing(used, suite.name, passed)
    items = tuple(
        dataclasses.replace(
            item,
            conditions=tuple(
                _answered(
                    each,
                    ratings.get((item.id, each.name), []) if ratings else None,
                    chosen[item.id, each.name] if chosen else None,
                )
                for each in item.conditions
            ),
        )
        for item in suite.items
    )
    extra = dict(suite.extra)
    if ratings:
        extra |= {"kind": KIND, RATINGS: _scale(suite, (0.0, 1.0) if yes_no else scale)}
    write_native(dataclasses.replace(suite, items=items, extra=extra), output)
    answered = {item for item, _ in (*ratings, *chosen)}
    return Applied(used, sum(item.id not in answered for item in suite.items), passed)


def _rating(judgment: Judgment) -> str | None:
    """A rating as it is written; yes is 1 and no is 0. None where it is none."""
    if judgment.question == ACCEPTABLE:
        return {"yes": "1", "no": "0"}.get(judgment.value or "")
    return judgment.value if number(judgment) is not None else None


def _answered(
    condition: Condition, ratings: Sequence[tuple[str, str]] | None, chosen: int | None
) -> Condition:
    """A condition with what people said; None where they were not asked that."""
    columns = dict(condition.columns)
    if ratings is not None:
        # Where nobody answered, what the author expects must not pass for an answer.
        columns = {name: cell for name, cell in columns.items() if name not in _EARLIER}
    if ratings:
        columns[RATINGS] = ",".join(value for value, _ in ratings)
        if all(name for _, name in ratings):
            columns[PARTICIPANTS] = ",".join(re.sub(r"[,;]+", " ", name) for _, name in ratings)
    if chosen is not None:
        columns[CHOSEN] = str(chosen)
    return dataclasses.replace(condition, columns=columns)


def _scale(suite: Suite, scale: tuple[float, float] | None) -> JsonValue:
    """The suite's ``[ratings]``, with the ends of the scale."""
    table = suite.extra.get(RATINGS)
    known = dict(table) if isinstance(table, dict) else {}
    if scale is not None:
        known |= {"low": scale[0], "high": scale[1]}
    if "low" not in known or "high" not in known:
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen="it is not known on which scale the ratings are",
            todo="Give --scale 1,5: the worst and the best.",
        )
    return {**known, "by": PEOPLE}


def _blanks(path: Path, judgments: Sequence[Judgment], output: Path) -> Applied:
    from cimento.cloze.load import load_cloze
    from cimento.cloze.notation import write_cell
    from cimento.cloze.templates import expand_suite
    from cimento.cloze.writers.native import write_folder

    suite = load_cloze(path).suite
    known = [item.id for item in expand_suite(suite).items]
    own, passed = _own(judgments, suite.name, (WHICH_FITS,))
    counts: dict[str, Counter[str]] = {item: Counter() for item in known}
    for each in own:
        if each.item in counts and each.value is not None:
            counts[each.item][each.value] += 1
        else:
            passed["the suite has no such item"] += 1
    used = sum(sum(own.values()) for own in counts.values())
    _refuse_nothing(used, suite.name, passed)
    write_folder(suite, output)
    rows = [("item", "option", "count")] + [
        (write_cell(item), write_cell(option), str(count))
        for item, own in counts.items()
        for option, count in own.most_common()
    ]
    write_text("".join("\t".join(row) + "\n" for row in rows), output / CHOICES)
    return Applied(used, sum(not own for own in counts.values()), passed)


def _own(
    judgments: Iterable[Judgment], suite: str, questions: Sequence[str]
) -> tuple[list[Judgment], Counter[str]]:
    """The answers about a suite to one of some questions, and why others are none of them."""
    own, passed = [], Counter[str]()
    for each in judgments:
        if each.is_check:
            passed["a check of attention"] += 1
        elif each.suite != suite:
            passed[f"about the suite {each.suite!r}"] += 1
        elif each.question not in questions:
            passed[f"the question {each.question!r} is none for this kind of suite"] += 1
        else:
            own.append(each)
    return own, passed


def _refuse_nothing(used: int, suite: str, passed: Mapping[str, int]) -> None:
    if not used:
        seen = "; ".join(f"{count}: {why}" for why, count in passed.items())
        raise InputError(
            where=f"suite {suite!r}",
            seen="there is no answer about it" + (f" ({seen})" if seen else ""),
            todo="Give the suite that was asked.",
        )
