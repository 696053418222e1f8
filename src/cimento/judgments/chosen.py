"""Questions whose answers are sentences: which of two, or of a few, somebody chose.

Their headings may all be alike, so the cells tell what was asked. With a suite they are sentences
of one of its items, as written there or with a letter before them; a cell may also be the place of
a sentence that the heading has. Without a suite they are a few sentences that are alike and that no
other column has; which of them is which is then not known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from cimento.errors import InputError, counted
from cimento.intake.names import ends_sentence
from cimento.intake.words import pattern, with_unaccented, word_list
from cimento.io.values import grouped
from cimento.judgments import BETTER, BOTH, MISSING, NONE, Judgment
from cimento.judgments.asked import AskedItem, AskedItems, comparable_text, without_number
from cimento.judgments.yes_no import yes_or_no
from cimento.suites.letters import one_spelling

_MOST_OPTIONS = 4
_ALIKE = 0.5
"""Ratio of matching words (difflib's) that two sentences of one question exceed."""
_ALIKE_LETTERS = 0.7
"""Least ratio of matching letters of two sentences that share just half of their words."""
_PAIR = 2
_FEWEST_WORDS = 3
"""Words of a sentence that everybody chose, so that no other one shows that it is an option."""
_MOSTLY = 0.5
_SHOWN = 3
_AROUND = " \t.,;:!?…¿¡\"'«»“”‘’()[]"
_LABEL = re.compile(r"\(?(?:[A-Da-d]|[1-4])\s?[.):]\s+")
_LABELED = re.compile(r"(?<!\w)\(?([A-Da-d]|[1-4])\s?[.):]\s+")
_CODE = re.compile(rf"(?:(?:{pattern('nouns').pattern}|op\w+) )?([a-d]|[1-4])", re.IGNORECASE)
_TAIL = f"(?:{pattern('chosen').pattern})"
_NAMED: Mapping[str, re.Pattern[str]] = {
    value: re.compile(
        "(?:"
        + "|".join(map(re.escape, with_unaccented(word_list(f"choices.{name}"))))
        + f"){tail}",
        re.IGNORECASE,
    )
    for value, name, tail in ((BOTH, "both", _TAIL), (NONE, "neither", _TAIL), ("", "unsure", ""))
}
_ORDINALS = {
    word: place
    for place, name in enumerate(("first", "second"))
    for word in with_unaccented(word_list(f"choices.{name}"))
}

_Named = Callable[[str], str]
UNKNOWN_SIDES = "which sentence is which is not known"
GOOD_UNKNOWN = (
    "Which sentences are good is not known, so that each has the proportion of people who chose it."
)


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """A column whose answers are sentences.

    Attributes:
        item: of the suite; empty without one.
        options: the sentences that were chosen or that the suite has.
        values: each cell with what was chosen: a sentence, `BOTH`, `NONE`, or nothing by somebody
            who could not decide. A cell that names none of these stands for itself.
        is_coded: whether cells are places of sentences in the heading.
    """

    item: str
    options: tuple[str, ...]
    values: Mapping[str, str]
    is_coded: bool = False


def choices_in(
    columns: Mapping[str, Sequence[str]],
    headings: Mapping[str, str],
    places: AskedItems,
    *,
    values: Mapping[str, str],
    coded: str = "",
) -> dict[str, ChoiceQuestion]:
    """The columns of a table whose answers are sentences to choose from.

    Args:
        columns: the cells of those that may be.
        headings: what people read above each.
        places: what the suite asks; may be empty.
        values: answers that somebody has given a meaning.
        coded: the pattern of codes of the program that wrote the table; empty for none.

    Raises:
        InputError: sentences that were chosen are those of several items.
    """
    given = {
        name: Counter(cell for cell in cells if cell and cell not in MISSING)
        for name, cells in columns.items()
    }
    known = places.alternatives()
    if not known:
        return {} if places else _alone(given, headings, values, coded)
    index = _Index(known.values())
    of_codes = _codes(given, values, coded)
    plain = {
        item: sorted(((_plain(p.text).strip(_AROUND), p.text) for p in of_item), key=_length)
        for (_, item), of_item in (known.items() if of_codes else ())
    }
    found = dict[str, ChoiceQuestion]()
    for name, cells in given.items():
        if name in of_codes:
            question = _coded(_in_heading(headings[name], plain, where=name), of_codes[name])
        else:
            question = _of_suite(cells, headings[name], known, index, values, where=name)
        if question is not None:
            found[name] = question
    return found


def choices_said(questions: Mapping[str, ChoiceQuestion], headings: Mapping[str, str]) -> list[str]:
    """What is said of choices: which questions they answer, and what their codes mean."""
    if not questions:
        return []
    first = next(iter(questions))
    n = counted(len(questions), "question has", "questions have")
    lines = [f"{n} sentences to choose from, such as {headings[first]!r}: read as choices."]
    if not any(question.item for question in questions.values()):
        lines.append(f"{GOOD_UNKNOWN} `--suite PAIRS` says which is which.")
    codes = [question for question in questions.values() if question.is_coded]
    shown = [
        f"{cell!r} as {value!r}"
        for question in codes[:1]
        for cell, value in question.values.items()
        if value in question.options
    ]
    if shown:
        lines.append(
            f"Answers to {counted(len(codes), 'question')} are places of the sentences in the"
            f" heading: {', '.join(sorted(shown))}."
        )
    return lines


def is_of_no_suite(judgment: Judgment) -> bool:
    """Whether an answer is a sentence that somebody chose, of which no suite says what it is."""
    return judgment.question == BETTER and not judgment.suite and judgment.counts


def in_suite(judgments: Sequence[Judgment], places: AskedItems) -> list[Judgment]:
    """Answers with the choices that no suite was given for as choices of a suite's sentences.

    Args:
        judgments: the answers; those to questions whose sentences the suite lacks stay as they are.
        places: what the suite asks.

    Raises:
        InputError: sentences that were chosen are those of several items.
    """
    given = grouped((one.item, one.value or "") for one in judgments if is_of_no_suite(one))
    questions = choices_in(given, {name: name for name in given}, places, values={})
    sentences = {
        (item, place.text): place
        for (_, item), of_item in places.alternatives().items()
        for place in of_item
    }

    def placed(one: Judgment) -> Judgment:
        question = questions.get(one.item) if is_of_no_suite(one) else None
        value = "" if question is None else question.values.get(one.value or "", "")
        if question is None or not value:
            return one
        of_item = sentences[question.item, question.options[0]]
        place = sentences.get((question.item, value))
        condition = place.condition if place else ""
        return replace(
            one, suite=of_item.suite, item=question.item, condition=condition, value=value
        )

    return [*map(placed, judgments)]


def ties_said(given: Mapping[str, Counter[str]]) -> Iterator[str]:
    """What is said of answers that choose both sentences or neither.

    Args:
        given: `BOTH` and `NONE` to the words in which they were given.
    """
    for value, what in ((BOTH, "both sentences"), (NONE, "neither sentence")):
        words = given.get(value, Counter[str]())
        if words:
            shown = ", ".join(map(repr, list(words)[:_SHOWN]))
            n = counted(words.total(), "answer chooses", "answers choose")
            yield f"{n} {what} ({shown}): stored as {value!r}."


def preferred(judgment: Judgment) -> str | None:
    """The condition that was chosen, or the word for both or neither; None where it is unknown."""
    word = judgment.value or ""
    is_sentence = " " in word or ends_sentence(word)
    return judgment.condition or (None if is_sentence else word or None)


class _Index:
    """The sentences of a suite by what a cell may have for them, the more exact before."""

    def __init__(self, items: Collection[Sequence[AskedItem]]) -> None:
        self._known: list[tuple[_Named, dict[str, set[AskedItem]]]] = [
            (spelled, {}) for spelled in (comparable_text, _plain, _loose)
        ]
        for spelled, known in self._known:
            for place in (place for places in items for place in places):
                known.setdefault(spelled(place.text), set()).add(place)

    def find(self, cell: str) -> set[AskedItem]:
        """The places that show a sentence; several where the suite has it several times."""
        for spelled, known in self._known:
            if found := known.get(spelled(cell)):
                return found
        return set()


def _plain(text: str) -> str:
    return comparable_text(text).casefold()


def _loose(text: str) -> str:
    """A sentence without a letter before it, and without marks around it."""
    plain = comparable_text(text)
    return _LABEL.sub("", plain, count=1).strip(_AROUND).casefold()


def _word_for(cell: str) -> str | None:
    """`BOTH`, `NONE` or nothing, where a cell says so in words; None for any other cell."""
    plain = " ".join(one_spelling(cell).casefold().strip(_AROUND).split())
    if plain in (BOTH, NONE):
        return plain
    return next((value for value, words in _NAMED.items() if words.fullmatch(plain)), None)


def _of_suite(
    cells: Counter[str],
    heading: str,
    known: Mapping[tuple[str, str], Sequence[AskedItem]],
    index: _Index,
    values: Mapping[str, str],
    *,
    where: str,
) -> ChoiceQuestion | None:
    """The question that a column answers, by the item whose sentences are its cells."""
    meant = {cell: values.get(cell, cell) for cell in cells}
    found = {cell: places for cell, text in meant.items() if (places := index.find(text))}
    others = [cell for cell in cells if cell not in found]
    words = {cell: word for cell in others if (word := _word_for(meant[cell])) is not None}
    n_known = sum(cells[cell] for cell in (*found, *words))
    if not found or n_known < _MOSTLY * cells.total():
        return None
    items = set.intersection(*({(p.suite, p.item) for p in places} for places in found.values()))
    name = without_number(comparable_text(heading))
    items = {item for item in items if item[1] in (heading.strip(), name)} or items
    if len(items) > 1:
        shown = ", ".join(sorted(item for _, item in items)[:_SHOWN])
        raise InputError(
            where=f"column {where!r}",
            seen=f"the sentences that were chosen may be those of any of the items {shown}",
            todo="Write the item's id as the heading.",
        )
    if not items:
        return None
    options = known[items.pop()]
    by_cell = {
        cell: next(place.text for place in options if place in places)
        for cell, places in found.items()
        if sum(place in places for place in options) == 1
    }
    texts = tuple(place.text for place in options)
    joined = {cell: BOTH for cell in others if _has_all(meant[cell], texts)}
    return ChoiceQuestion(options[0].item, texts, {**words, **joined, **by_cell})


def _has_all(cell: str, texts: Sequence[str]) -> bool:
    """Whether a cell has each of the sentences and nothing else, as where all boxes are ticked."""
    rest = _plain(cell)
    for text in sorted(map(_plain, texts), key=len, reverse=True):
        if text not in rest:
            return False
        rest = rest.replace(text, "", 1)
    return not rest.strip(" ,;|")


def _codes(
    given: Mapping[str, Counter[str]], values: Mapping[str, str], coded: str
) -> dict[str, dict[str, int | str]]:
    """The columns that have nothing but places, each cell with its place from 0 or its word."""
    found = dict[str, dict[str, int | str]]()
    for name, cells in given.items():
        told = {cell: _place_or_word(values.get(cell, cell), coded) for cell in cells}
        if any(isinstance(one, int) for one in told.values()) and None not in told.values():
            found[name] = {cell: one for cell, one in told.items() if one is not None}
    return found


def _place_or_word(cell: str, coded: str) -> int | str | None:
    plain = cell.casefold().strip(_AROUND)
    if plain in _ORDINALS:
        return _ORDINALS[plain]
    if coded and (match := re.fullmatch(coded, cell)):
        return int(match[1]) - 1
    if match := _CODE.fullmatch(plain):
        return _place(match[1])
    return _word_for(cell)


def _place(label: str) -> int:
    return int(label) - 1 if label.isdecimal() else ord(label.casefold()) - ord("a")


def _length(sentence: tuple[str, str]) -> int:
    return -len(sentence[0])


def _in_heading(
    heading: str, known: Mapping[str, Sequence[tuple[str, str]]], *, where: str
) -> tuple[str, tuple[str, ...]]:
    """The item whose sentences a heading has, and these in their order there; empty for none.

    Args:
        heading: of a column.
        known: item to its sentences, the longest first: as they are compared, and as they are.
        where: name of the column, for messages.

    Raises:
        InputError: it has those of several items.
    """
    text = _plain(heading)
    found = dict[str, tuple[str, ...]]()
    for item, sentences in known.items():
        rest, at = text, dict[str, int]()
        for plain, sentence in sentences:
            if (begin := rest.find(plain)) < 0:
                break
            at[sentence] = begin
            rest = rest[:begin] + "\0" * len(plain) + rest[begin + len(plain) :]
        if len(at) == len(sentences):
            found[item] = _in_order(at, text)
    if len(found) > 1:
        raise InputError(
            where=f"column {where!r}",
            seen=f"its heading has the sentences of the items {', '.join(list(found)[:_SHOWN])}",
            todo="Write one pair into each heading.",
        )
    return next(iter(found.items()), ("", ()))


def _in_order(at: Mapping[str, int], heading: str) -> tuple[str, ...]:
    """Sentences in the order of the labels before them, or else in that of the heading."""
    labels = {
        text: match[1]
        for text, begin in at.items()
        if (match := re.search(_LABELED.pattern + r"[^\w\0]*$", heading[:begin]))
    }
    if {*map(_place, labels.values())} == {*range(len(at))}:
        return tuple(sorted(at, key=lambda text: _place(labels[text])))
    return tuple(sorted(at, key=lambda text: at[text]))


def _coded(
    options: tuple[str, tuple[str, ...]], places: Mapping[str, int | str]
) -> ChoiceQuestion | None:
    """The question whose answers are places of sentences; None where a place has no sentence."""
    item, texts = options
    if not texts or any(isinstance(one, int) and one >= len(texts) for one in places.values()):
        return None
    values = {cell: texts[one] if isinstance(one, int) else one for cell, one in places.items()}
    return ChoiceQuestion(item, texts, values, is_coded=True)


def _alone(
    given: Mapping[str, Counter[str]],
    headings: Mapping[str, str],
    values: Mapping[str, str],
    coded: str,
) -> dict[str, ChoiceQuestion]:
    """The columns of sentences to choose from, where no suite has them.

    What everybody chose is a sentence only if others were asked alike; so is what ends as none, and
    so are sentences that share few words.
    """
    times = Counter(cell for cells in given.values() for cell in cells)
    codes = _codes(given, values, coded)
    found = dict[str, ChoiceQuestion]()
    for name, cells in given.items():
        if name in codes:
            question = _coded(("", _labeled(headings[name])), codes[name])
        else:
            question = _of_texts(cells, times, values)
        if question is not None:
            found[name] = question
    asked = Counter(_question(headings[name]) for name in found)
    for name, cells in given.items():
        if name not in found and asked[_question(headings[name])] > 1:
            question = _of_texts(cells, times, values, must_share_words=False)
            found |= {name: question} if question is not None else {}
    chosen = {
        name: question
        for name, question in found.items()
        if question.is_coded
        or asked[_question(headings[name])] > 1
        or all(_loose(option) in _plain(headings[name]) for option in question.options)
        or (len(question.options) > 1 and all(map(ends_sentence, question.options)))
    }
    return chosen if any(len(one.options) > 1 for one in chosen.values()) else {}


def _of_texts(
    cells: Counter[str],
    times: Mapping[str, int],
    values: Mapping[str, str],
    *,
    must_share_words: bool = True,
) -> ChoiceQuestion | None:
    """The question of a column whose cells may be a few sentences that no other column has.

    Args:
        cells: with how often they are there.
        times: cell to the number of columns that have it.
        values: answers that somebody has given a meaning.
        must_share_words: whether the sentences are recognized by the words that they share.
    """
    words = {
        cell: word for cell in cells if (word := _word_for(values.get(cell, cell))) is not None
    }
    of_column = [cell for cell in cells if cell not in words and times[cell] == 1]
    options = _alike(of_column) if must_share_words else _long(of_column)
    n_known = sum(cells[cell] for cell in (*options, *words))
    is_alone = len(options) == 1 and len(options[0].split()) < _FEWEST_WORDS
    # Of a question such as whether somebody speaks another language, some just say no.
    is_yes_no = any(yes_or_no(cell) for cell in cells)
    if is_yes_no or is_alone or not 0 < len(options) <= _MOST_OPTIONS:
        return None
    if n_known < _MOSTLY * cells.total():
        return None
    return ChoiceQuestion("", tuple(options), words)


_AGAIN = re.compile(r" \([0-9]+\)$")


def _question(heading: str) -> str:
    """A heading without its number, by which questions asked of all pairs are known."""
    plain = _AGAIN.sub("", without_number(comparable_text(heading)))
    return re.sub(r"\d+|\[[^\]]*\]", "", plain).casefold().strip()


def _long(texts: Iterable[str]) -> list[str]:
    return [text for text in texts if len(_plain(text).split()) > 1]


def _alike(texts: Sequence[str]) -> list[str]:
    """The texts of two words or more that are like another one; the only one if it is alone."""
    words = {text: _plain(text).split() for text in texts}
    long = _long(texts)
    if len(long) == 1:
        return long
    return [
        text
        for text in long[: 2 * _MOST_OPTIONS]
        if any(
            _are_alike(words[text], words[other])
            for other in long[: 2 * _MOST_OPTIONS]
            if other != text
        )
    ]


def _are_alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether sentences share most words, or half of them and the others are much alike."""
    shared = SequenceMatcher(None, one, other).ratio()
    letters = SequenceMatcher(None, " ".join(one), " ".join(other)).ratio()
    return shared > _ALIKE or (shared == _ALIKE and letters >= _ALIKE_LETTERS)


def _labeled(heading: str) -> tuple[str, ...]:
    """The sentences behind labels A and B of a heading, or two that are alike around its slash."""
    labels = list(_LABELED.finditer(heading))
    if not labels:
        sides = [side.strip() for side in heading.split(" / ")]
        return tuple(sides) if len(_alike(sides)) == len(sides) == _PAIR else ()
    parts = {
        _place(label[1]): heading[label.end() : after.start() if after else len(heading)]
        for label, after in zip(labels, [*labels[1:], None], strict=True)
    }
    texts = [parts[place].strip(" ,;/|-–") for place in sorted(parts)]
    are_all = len(labels) == len(parts) > 1 and [*sorted(parts)] == [*range(len(parts))]
    return tuple(texts) if are_all and all(len(text.split()) > 1 for text in texts) else ()
