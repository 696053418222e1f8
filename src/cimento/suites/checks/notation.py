"""Checks of sentences of any kind for what their authors did not mean as part of them.

The rules about one text are in `cimento.suites.checks.asides`; here all sentences of a suite decide
whether it has a fault. A hashtag, a list or an initial in natural texts is none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from cimento.errors import Fault, counted
from cimento.faults import fault
from cimento.intake.names import meaning
from cimento.suites import GOOD
from cimento.suites.checks.asides import (
    TICKS,
    Lead,
    alternatives,
    broken_words,
    judgment_marks,
    lead,
    optional_words,
    plain_letters,
    special_tokens,
    typed_marks,
)

MARKED, NUMBERED = "CIM-S061", "CIM-S071"
"""The codes of judgment marks and of example numbers."""
IN_EXCEL = "In Excel, replace ~"
"""How advice begins on deleting marks in a spreadsheet program."""
_SOUGHT = {"*": "~*", "??": "~?~?"}
"""Marks that can be replaced everywhere, as Excel searches for them; a single ? ends questions."""
_SOFT = frozenset("#%")
"""Marks that may begin any sentence, if they do so in several conditions."""
_FEW = 0.02
"""Proportion of sentences below which parentheses and slashes count as natural."""
_SHOWN_SWAPPED = 3
_TOGETHER = 1000


class Sentences(Protocol):
    """Sentences in order, each in a condition of an item."""

    @property
    def texts(self) -> Sequence[str]:
        """The sentences."""
        ...

    @property
    def conditions(self) -> Sequence[str]:
        """The name of the condition of each sentence."""
        ...

    def item(self, number: int) -> str:
        """The id of a sentence's item."""
        ...

    def where(self, number: int) -> str:
        """The place of a sentence."""
        ...


@dataclass(frozen=True, slots=True)
class Lines:
    """Sentences that are in no suite of regions, such as those of stories.

    Attributes:
        texts: the sentences.
        conditions: the name of the condition of each.
        items: the id of the item of each.
        places: the place of each.
    """

    texts: Sequence[str]
    conditions: Sequence[str]
    items: Sequence[str]
    places: Sequence[str]

    def item(self, number: int) -> str:
        """The id of a sentence's item."""
        return self.items[number]

    def where(self, number: int) -> str:
        """The place of a sentence."""
        return self.places[number]


def notation(sentences: Sentences, *, same: Sentences | None = None) -> list[Fault]:
    """All faults of this kind: codes CIM-S061 and CIM-S071 to CIM-S074.

    Args:
        sentences: the sentences.
        same: the sentences in conditions whose texts should be typed alike; None for the same ones.
    """
    checks = (judged, numbered, optional, special)
    found = [one for check in checks for one in check(sentences)]
    return [*found, *typed(sentences if same is None else same)]


def _with_hint(
    texts: Sequence[str], hint: re.Pattern[str], signs: Sequence[str] = ()
) -> Iterator[int]:
    """The numbers of the texts that a pattern is in; most suites need one look at many together.

    Args:
        texts: the texts.
        hint: the pattern.
        signs: characters of which every match has one, which are found sooner; none to do without.
    """
    for begin in range(0, len(texts), _TOGETHER):
        some = texts[begin : begin + _TOGETHER]
        lines = "\n".join(some)
        may_be = not signs or any(sign in lines for sign in signs)
        if may_be and hint.search(lines):
            yield from (n for n, text in enumerate(some, start=begin) if hint.search(text))


def _by_item(sentences: Sentences) -> dict[str, dict[str, list[int]]]:
    """The numbers of the sentences, by item and condition."""
    items: dict[str, dict[str, list[int]]] = {}
    for number, condition in enumerate(sentences.conditions):
        items.setdefault(sentences.item(number), {}).setdefault(condition, []).append(number)
    return items


# --- Judgment marks

_MARK_HINT = re.compile(r"[*?#%✓✔√]\)?[^\S\n]*[^\W\d_]|[*?#%✓✔√]\)?[^\S\n]*[_\"'«“‘¿¡(\[]")


def marks_of(sentences: Sentences) -> dict[int, tuple[str, ...]]:
    """The judgment marks of the sentences that have some.

    Hashtags within sentences are marks only if all sentences of a condition have a mark and those
    of the others have none like it.
    """
    texts, conditions = sentences.texts, sentences.conditions
    hinted = list(_with_hint(texts, _MARK_HINT, "*?#%✓✔√"))
    marks = {n: found for n in hinted if (found := judgment_marks(texts[n]))}
    soft = {n: found for n in hinted if (found := judgment_marks(texts[n], soft=True))}
    if soft != marks:
        n_marked = Counter(conditions[n] for n in soft)
        sizes = Counter(conditions)
        usual = {name for name, count in n_marked.items() if count == sizes[name]}
        elsewhere = {mark for n in soft if conditions[n] not in usual for mark in soft[n]}
        if len(usual) == 1 < len(sizes):
            marks |= {
                n: found
                for n, found in soft.items()
                if conditions[n] in usual and elsewhere.isdisjoint(found)
            }
    return dict(sorted(marks.items()))


def _telling(sentences: Sentences, marks: Mapping[int, tuple[str, ...]]) -> dict[str, list[int]]:
    """The sentences of each condition whose marks tell them from the others of their item."""
    conditions: dict[tuple[str, ...], set[str]] = {}
    for number, found in marks.items():
        conditions.setdefault(found, set()).add(sentences.conditions[number])
    items = _by_item(sentences) if marks else {}
    telling: dict[str, list[int]] = {}
    for number, found in marks.items():
        name, in_item = sentences.conditions[number], items[sentences.item(number)]
        alike = [any(marks.get(n) == found for n in numbers) for numbers in in_item.values()]
        is_judgment = len(conditions[found]) == 1 or not _SOFT.issuperset("".join(found))
        if is_judgment and not all(alike):
            telling.setdefault(name, []).append(number)
    return telling


def judged(sentences: Sentences) -> Iterator[Fault]:
    """Sentences with an asterisk or another judgment mark, before them or before a word in them.

    Marks that one condition of an item has and another has not are errors: models would tell the
    conditions apart by them alone.
    """
    marks = marks_of(sentences)
    telling = _telling(sentences, marks)
    for name, numbers in telling.items():
        first, count, total = numbers[0], len(numbers), sentences.conditions.count(name)
        seen = (
            f"Such marks decide the result: they are in {count} of {total} sentences of condition"
            f" {name!r}, and in no other condition."
            if len(telling) == 1
            else f"Such marks decide the result: they are in {count} of {total} sentences of"
            f" condition {name!r}."
        )
        seen = f"{_first_mark(sentences.texts[first], marks[first])} {seen}"
        todo = _deleting(sentences, numbers, [mark for n in numbers for mark in marks[n]])
        places = map(sentences.where, numbers)
        yield fault(MARKED, where=sentences.where(first), seen=seen, todo=todo, places=places)
    if marks and not telling:
        first = min(marks)
        seen, places = (
            _first_mark(sentences.texts[first], marks[first]),
            map(sentences.where, marks),
        )
        if len(marks) > 1:
            seen += f" {len(marks)} of {len(sentences.texts)} sentences have such a mark."
        places = map(sentences.where, marks)
        made = fault(MARKED, where=sentences.where(first), seen=seen, places=places)
        yield replace(made, severity="warning")


def _first_mark(text: str, marks: Sequence[str]) -> str:
    mark = marks[0]
    if text.startswith(mark):
        seen = f"{text!r} begins with {mark!r}, which the model would read too."
    else:
        begin = lead(text).end - len(mark) if lead(text).mark else 0
        word = text[text.index(mark, max(begin - 1, 0)) + len(mark) :].split(maxsplit=1)[0]
        seen = f"{text!r} has {mark!r} before {word!r}, which the model would read too."
    return seen


def _deleting(sentences: Sentences, numbers: Sequence[int], marks: Sequence[str]) -> str:
    """Advice on marks that tell one condition from the others, before some of its sentences."""
    todo = "Delete them from the sentences."
    condition = sentences.conditions[numbers[0]]
    if meaning(condition) == GOOD and not {*"".join(marks)} & {*TICKS}:
        where = "; ".join(map(sentences.where, numbers[:_SHOWN_SWAPPED]))
        todo = "They mark what is not acceptable: " + (
            f"are the good and the bad sentence swapped in {where}? If so, exchange the two there."
            if 2 * len(numbers) < sentences.conditions.count(condition)
            else "are the columns of the good and the bad sentences swapped? If so, exchange their"
            " names."
        )
        todo += " In either case, delete the marks."
    sought = ", ".join(
        text for mark, text in _SOUGHT.items() if any(mark in given for given in marks)
    )
    excel = f" In Excel, replace {sought} by nothing: without ~, any text is replaced."
    return f"{todo}{excel}" if sought else todo


# --- Example numbers

_LEAD = 24
"""Letters within which the number of an example begins."""
_LEAD_HINT = re.compile(
    r"[*?#%✓✔√]*\s*(?:[(\[\d]|[^\W\d_]{1,4}['′’]*[.)])|[EeBbПп]\w{1,7}\.?\s*\(?\d"
)


def example_numbers(sentences: Sentences) -> dict[int, Lead]:
    """The sentences that begin with the number of an example.

    Numbers that lists have too, such as ``12.`` and ``a.``, are those of examples where at least
    half of the sentences have a number, or where those of one item differ.
    """
    texts = sentences.texts
    # Few sentences begin differently in as many letters as the number of an example takes.
    begins = {begin for begin in {text[:_LEAD] for text in texts} if _LEAD_HINT.match(begin)}
    hinted = (n for n, text in enumerate(texts) if text[:_LEAD] in begins)
    leads = {n: found for n in hinted if (found := lead(texts[n])).number}
    is_usual = 2 * len(leads) >= len(texts)
    told = {
        n for n, found in leads.items() if found.is_clear or (not found.is_initial and is_usual)
    }
    for by_condition in _by_item(sentences).values() if leads.keys() - told else ():
        numbers = [n for several in by_condition.values() for n in several]
        labels = {leads[n].number for n in numbers if n in leads}
        initials = any(leads[n].is_initial for n in numbers if n in leads)
        if len(labels) > 1 and leads.keys() >= {*numbers} and (is_usual or not initials):
            told.update(numbers)
    return {n: leads[n] for n in sorted(told)}


def numbered(sentences: Sentences) -> Iterator[Fault]:
    """Sentences after an example number; an error where the conditions of an item differ in it."""
    leads = example_numbers(sentences)
    if not leads:
        return
    in_items = {sentences.item(n) for n in leads}
    differing = []
    for item, by_condition in _by_item(sentences).items():
        labels = {
            frozenset(leads[n].number if n in leads else "" for n in numbers)
            for numbers in by_condition.values()
        }
        if item in in_items and len(labels) > 1:
            differing += [n for several in by_condition.values() for n in several if n in leads]
    first = min(differing or leads)
    seen = (
        f"{sentences.texts[first]!r} begins with the example number {leads[first].number!r}, which"
        " the model would read too."
    )
    if differing:
        count = len({sentences.item(n) for n in differing})
        seen += f" The numbers differ between the conditions of {counted(count, 'item')}."
    elif len(leads) > 1:
        seen += f" {len(leads)} of {len(sentences.texts)} sentences begin with such a number."
    places = map(sentences.where, leads)
    made = fault(NUMBERED, where=sentences.where(first), seen=seen, places=places)
    yield made if differing else replace(made, severity="warning")


# --- Optional words and alternatives

_PARENTHESES = re.compile(r"\([^\W\d_]")
_SLASH = re.compile(r"/[^\W\d_]")


def optional(sentences: Sentences) -> Iterator[Fault]:
    """Words in parentheses that may be left out, and words with slashes to choose from."""
    if listed := _listed(sentences, optional_words, _PARENTHESES):
        first, words = next(iter(listed.items()))
        seen = f"{words[0]!r} in {sentences.texts[first]!r} looks like a word that may be left out."
        yield _of_several(sentences, "CIM-S072", listed, seen)
    if listed := _listed(sentences, alternatives, _SLASH):
        first, words = next(iter(listed.items()))
        seen = f"{words[0]!r} in {sentences.texts[first]!r} looks like words to choose from."
        yield _of_several(sentences, "CIM-S072", listed, seen)


def _listed(
    sentences: Sentences, find: Callable[[str], list[str]], hint: re.Pattern[str]
) -> dict[int, list[str]]:
    """What is found in the sentences; in few of many, only where conditions of an item differ."""
    texts = sentences.texts
    listed = {n: words for n in _with_hint(texts, hint) if (words := find(texts[n]))}
    if len(listed) >= _FEW * len(texts):
        return listed
    differing = set[int]()
    for by_condition in _by_item(sentences).values() if listed else ():
        numbers = [n for several in by_condition.values() for n in several]
        if len({tuple(listed.get(n, ())) for n in numbers}) > 1 and len(by_condition) > 1:
            differing.update(numbers)
    return {n: words for n, words in listed.items() if n in differing}


def _of_several(
    sentences: Sentences, code: str, numbers: Iterable[int], seen: str, todo: str | None = None
) -> Fault:
    """One fault about several sentences, which says how many they are."""
    numbers = list(numbers)
    if len(numbers) > 1:
        seen += f" {len(numbers)} of {len(sentences.texts)} sentences are like this."
    places = map(sentences.where, numbers)
    return fault(code, where=sentences.where(numbers[0]), seen=seen, todo=todo, places=places)


# --- Typography

_LIGATURE_HINT = re.compile("[ﬀ-ﬆĳǆǉǌ]")
_MOST_LISTED = 8
_BROKEN_HINT = re.compile(r"-\s")
_TYPED_HINT = re.compile("[“”„‟«»’–—−‐‑…]")
_TYPED = re.compile("[\"'“”„‟«»’–—−‐‑…-]")


def typed(sentences: Sentences) -> Iterator[Fault]:
    """Ligatures, words cut by a line's end, and marks typed differently within an item."""
    for find, hint in ((plain_letters, _LIGATURE_HINT), (broken_words, _BROKEN_HINT)):
        texts = sentences.texts
        asked = () if all(map(str.isascii, texts)) and hint is _LIGATURE_HINT else texts
        found = {n: words for n in _with_hint(asked, hint) if (words := find(texts[n]))}
        if found:
            words = {wrong: right for some in found.values() for wrong, right in some.items()}
            (wrong, right), *others = words.items()
            seen = (
                f"{wrong!r} has a ligature: models read other letters than in {right!r}."
                if find is plain_letters
                else f"{wrong!r} looks like a word that was cut at the end of a line."
            )
            if others:
                listed = ", ".join(repr(other) for other, _ in others[:_MOST_LISTED])
                seen += f" Also: {listed}."
                if len(others) > _MOST_LISTED:
                    seen += f" And {len(others) - _MOST_LISTED} more."
            yield _of_several(sentences, "CIM-S073", found, seen, f"Write {right!r}.")
    yield from _typed_differently(sentences)


def _typed_differently(sentences: Sentences) -> Iterator[Fault]:
    """Quotation marks, apostrophes, dashes and dots that differ within an item in form alone."""
    hinted = {*_with_hint(sentences.texts, _TYPED_HINT, _TYPED_HINT.pattern[1:-1])}
    differing: dict[tuple[str, str, str, str], list[int]] = {}
    for by_condition in _by_item(sentences).values() if hinted else ():
        groups = [[sentences.texts[n] for n in numbers] for numbers in by_condition.values()]
        if all(hinted.isdisjoint(numbers) for numbers in by_condition.values()) or (
            len({tuple(_TYPED.findall(" ".join(texts))) for texts in groups}) == 1
        ):
            continue  # most items of most suites
        (name, first), *others = (
            (condition, typed_marks(" ".join(sentences.texts[n] for n in numbers)))
            for condition, numbers in by_condition.items()
        )
        for condition, marks in others:
            for kind, forms in marks.items():
                alike = first.get(kind, ())
                if len(alike) == len(forms) and alike != forms:
                    key = (kind, " ".join(forms), name, " ".join(alike))
                    differing.setdefault(key, []).append(by_condition[condition][0])
    for (kind, here, name, there), numbers in differing.items():
        seen = (
            f"The {kind} are {here}, and in condition {name!r} {there}."
            " Models read these as different words."
        )
        yield _of_several(sentences, "CIM-S073", numbers, seen)


# --- Special tokens

_SPECIAL_HINT = re.compile(r"\[/?[A-Zg]|<[/|a-z]")


def special(sentences: Sentences) -> Iterator[Fault]:
    """What is spelled like a special token of a model."""
    texts = sentences.texts
    found = {
        n: tokens
        for n in _with_hint(texts, _SPECIAL_HINT, "[<")
        if (tokens := special_tokens(texts[n]))
    }
    if found:
        first, tokens = next(iter(found.items()))
        seen = f"{tokens[0]!r} in {texts[first]!r} is a special token of models, and no word."
        yield _of_several(sentences, "CIM-S074", found, seen)
