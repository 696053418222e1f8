"""Distractors of a maze that a language model proposes, for a person to check.

As in the A-maze (Boyce, Futrell and Levy 2020, doi:10.1016/j.jml.2019.104082) a distractor is a
word that the model does not expect where it stands. It is like the word beside it in length and
frequency, has its capitals and marks, and is the same in all conditions of an item that have the
same words there, so that conditions do not differ in it.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path

from cimento.engine.cache import MemoryCache
from cimento.engine.handle import ModelHandle
from cimento.engine.scores import ask
from cimento.evaluation.freetext import surprisals_of_words
from cimento.judgments import FILLER, PRACTICE
from cimento.models.base import Score
from cimento.models.in_memory import ModelLike, as_scorers
from cimento.models.settings import Asking
from cimento.people.reading_times import without_marks
from cimento.people.surveys import SurveyQuestion
from cimento.people.surveys.building import read_sentences
from cimento.people.surveys.lexicon import Lexicon
from cimento.people.surveys.material import read_material, words
from cimento.people.surveys.maze import COLUMNS, FIRST_FOIL
from cimento.people.surveys.plan import SurveyPlan

HEADER = (*COLUMNS, "word_bits", "distractor_bits", "word_zipf", "distractor_zipf", "note")
"""The columns of a sheet: surprisals in context in bits, Zipf frequencies, and what to look at."""

NO_CANDIDATE = "no word was found: write one"
TOO_LIKELY = "less surprising than wanted: check it first"

_ELIDED = re.compile(r"(?P<clitic>\w+['’])(?P<rest>\w{3,})")
"""A word with a shorter one before it, as Italian and French write it: *l'amica*."""
_VOWELS = frozenset("aeiouhàáâèéêìíòóùú")


@dataclass(frozen=True, slots=True, kw_only=True)
class DistractorRules:
    """The rules by which distractors are chosen.

    Attributes:
        above_bits: by which the surprisal of a distractor exceeds that of its word.
        candidates: number of words that are tried for a place, those most like the word.
        seed: of the order of words that are equally like it.
    """

    above_bits: float = 8.0
    candidates: int = 24
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Proposal:
    """The distractor of one word of a sentence; the columns of the sheet are made of it."""

    question: SurveyQuestion
    position: int
    distractor: str
    word_bits: float | None = None
    distractor_bits: float | None = None
    word_zipf: float | None = None
    distractor_zipf: float | None = None
    note: str = ""

    def cells(self) -> list[str]:
        """The cells of its row, as in `HEADER`."""
        question = self.question
        numbers = (self.word_bits, self.distractor_bits, self.word_zipf, self.distractor_zipf)
        return [
            question.item, question.condition, str(self.position),
            question.words[self.position - 1], self.distractor,
            *("" if number is None else f"{number:.2f}" for number in numbers), self.note,
        ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Place:
    """A word in its sentence."""

    question: SurveyQuestion
    index: int

    @property
    def word(self) -> str:
        return self.question.words[self.index]

    @property
    def before(self) -> str:
        return " ".join(self.question.words[: self.index])


def sentences_of(path: Path, plan: SurveyPlan) -> list[SurveyQuestion]:
    """The sentences that a maze needs distractors for: those of the suite, practice and fillers.

    Args:
        path: a suite, or a list of sentences.
        plan: of the maze, which still lacks them.

    Raises:
        CimentoError: the suite, or a table of sentences, cannot be used.
    """
    material = read_material(path, plan)
    questions = [question for members in material.sets for question in members]
    texts = words(material.language)
    for table, kind in ((plan.practice, PRACTICE), (plan.fillers, FILLER)):
        questions += read_sentences(table, kind, texts) if table else []
    return questions


def propose_distractors(
    questions: Iterable[SurveyQuestion],
    model: ModelLike,
    lexicon: Lexicon,
    *,
    asking: Asking,
    rules: DistractorRules | None = None,
) -> list[Proposal]:
    """Propose a distractor for every word; the same arguments give the same ones.

    Args:
        questions: the sentences, with the conditions of an item one after the other.
        model: a name as for ``cimento run -m``, or anything that keeps the `Scorer` protocol.
        lexicon: the words to take them from.
        asking: how the model is asked.
        rules: by which they are chosen.

    Returns:
        The words of all sentences in order.

    Raises:
        CimentoError: the model cannot be used.
    """
    rules = rules or DistractorRules()
    chance = random.Random(rules.seed)  # noqa: S311  # no secret
    items = [list(members) for _, members in groupby(questions, key=lambda each: each.item)]
    slots = [
        (slot, _candidates(slot, members, lexicon, rules, chance))
        for members in items
        for slot in _slots(members)
    ]
    bits = _Surprisals(model, asking)
    bits.ask(
        (place, word)
        for slot, candidates in slots
        for place in slot
        for word in (None, *candidates)
    )
    chosen = _chosen(slots, bits, rules)
    return [
        _proposal(_Place(question, index), chosen, bits, lexicon)
        for members in items
        for question in members
        for index in range(len(question.words))
    ]


def _slots(members: Sequence[SurveyQuestion]) -> list[list[_Place]]:
    """The words of an item's sentences, those together that are in the same place of several.

    Sentences are aligned with the first one (`difflib`): equal words, and as many other words in
    their stead, are in the same places. First words have no distractor that a model proposes.
    """
    first = members[0]
    slots: dict[int, list[_Place]] = {
        index: [_Place(first, index)] for index in range(len(first.words))
    }
    free = len(first.words)
    for question in members[1:]:
        matcher = SequenceMatcher(None, first.words, question.words, autojunk=False)
        for _, begin, end, start, stop in matcher.get_opcodes():
            for offset, index in enumerate(range(start, stop)):
                place = _Place(question, index)
                if end - begin == stop - start:
                    slots[begin + offset].append(place)
                else:
                    slots[free] = [place]
                    free += 1
    kept = ([place for place in slot if place.index] for slot in slots.values())
    return [slot for slot in kept if slot]


def _candidates(
    slot: Sequence[_Place],
    members: Sequence[SurveyQuestion],
    lexicon: Lexicon,
    rules: DistractorRules,
    chance: random.Random,
) -> list[str]:
    """The words that are most like those of a slot, the likest first; none of the item's words."""
    taken = {
        without_marks(_core(word)).casefold() for question in members for word in question.words
    }
    cores = [_core(place.word) for place in slot]
    length = sum(map(len, cores)) / len(cores)
    frequencies = [zipf for core in cores if (zipf := lexicon.zipf(core)) is not None]
    if not all(core.isalpha() for core in cores):
        return []
    elided = [core for place, core in zip(slot, cores, strict=True) if _is_elided(place.word)]

    def unlike(word: str) -> float:
        zipf = lexicon.zipf(word)
        apart = 0.0 if zipf is None else abs(zipf - sum(frequencies) / len(frequencies))
        return abs(len(word) - length) + apart

    words = [
        word
        for word in lexicon.counts
        if word not in taken
        and abs(len(word) - length) <= _MOST_LETTERS
        and all((word[0] in _VOWELS) == (core[0].casefold() in _VOWELS) for core in elided)
    ]
    chance.shuffle(words)
    return sorted(words, key=unlike)[: rules.candidates]


_MOST_LETTERS = 2
"""By which a distractor may be longer or shorter than its word."""


def _is_elided(word: str) -> bool:
    return _ELIDED.fullmatch(without_marks(word)) is not None


def _core(word: str) -> str:
    """A word without marks at its ends and without an elided one before it."""
    plain = without_marks(word)
    match = _ELIDED.fullmatch(plain)
    return match["rest"] if match else plain


def dressed(distractor: str, word: str) -> str:
    """A distractor with the capitals, the marks and the elided article of the word beside it."""
    core = _core(word)
    before, _, after = word.partition(core) if core else (word, "", "")
    if len(core) > 1 and core.isupper():
        distractor = distractor.upper()
    elif core[:1].isupper():
        distractor = distractor[:1].upper() + distractor[1:]
    return f"{before}{distractor}{after}"


class _Surprisals:
    """The surprisals in bits of words after the words before them, without marks after them."""

    def __init__(self, model: ModelLike, asking: Asking) -> None:
        self._handle = ModelHandle(as_scorers([model], asking)[0], asking)
        self._bits: dict[Score, float | None] = {}

    def ask(self, wanted: Iterable[tuple[_Place, str | None]]) -> None:
        """Ask the model about distractors in their places, and about the words there (None)."""
        requests = list(dict.fromkeys(_request(place, word) for place, word in wanted))
        if not requests:
            return
        table = ask(
            requests, self._handle.scorer, policy=self._handle.scoring.policy, cache=MemoryCache()
        )
        parts = table.partition_by("request", as_dict=True, maintain_order=True)
        for number, request in enumerate(requests):
            # With the words before it, as a correction for where words may end needs them.
            last = request.text.rindex(" ")
            spans = [(0, last), (last + 1, len(request.text))]
            self._bits[request] = surprisals_of_words(parts[(number,)], spans)[1][0]

    def of(self, place: _Place, word: str | None = None) -> float | None:
        """The surprisal of a distractor in a place; of the word itself without one."""
        return self._bits.get(_request(place, word))

    def gap(self, slot: Iterable[_Place], word: str) -> float | None:
        """By how much a distractor is more surprising than the words of a slot, at least."""
        gaps = []
        for place in slot:
            one, other = self.of(place, word), self.of(place)
            if one is None or other is None:
                return None
            gaps.append(one - other)
        return min(gaps)


def _request(place: _Place, word: str | None) -> Score:
    shown = place.word if word is None else dressed(word, place.word)
    plain = without_marks(shown)
    ended = shown[: shown.index(plain) + len(plain)] if plain else shown
    return Score(f"{place.before} {ended}")


def _chosen(
    slots: Iterable[tuple[list[_Place], list[str]]], bits: _Surprisals, rules: DistractorRules
) -> dict[tuple[str, str, int], tuple[str, str]]:
    """The distractor and the note of each word, by item, condition and index.

    Of the candidates that are surprising enough, the one used least so far, then the likest; else
    the most surprising. None is twice in a sentence.
    """
    used = Counter[str]()
    in_item: dict[str, set[str]] = {}
    chosen = {}
    for slot, candidates in slots:
        seen = in_item.setdefault(slot[0].question.item, set())
        gaps: Mapping[str, float] = {
            word: gap
            for word in candidates
            if word not in seen and (gap := bits.gap(slot, word)) is not None
        }
        enough = [word for word, gap in gaps.items() if gap >= rules.above_bits]
        word, note = "", NO_CANDIDATE
        if enough:
            word, note = min(enough, key=used.__getitem__), ""
        elif gaps:
            word, note = max(gaps, key=gaps.__getitem__), TOO_LIKELY
        seen.add(word)
        used[word] += 1
        for place in slot:
            key = (place.question.item, place.question.condition, place.index)
            chosen[key] = (word, note)
    return chosen


def _proposal(
    place: _Place,
    chosen: Mapping[tuple[str, str, int], tuple[str, str]],
    bits: _Surprisals,
    lexicon: Lexicon,
) -> Proposal:
    """The row of a word."""
    if not place.index:
        return Proposal(place.question, 1, FIRST_FOIL)
    word, note = chosen[place.question.item, place.question.condition, place.index]
    zipf = lexicon.zipf(_core(place.word))
    if not word:
        return Proposal(place.question, place.index + 1, "", bits.of(place), None, zipf, None, note)
    return Proposal(
        question=place.question,
        position=place.index + 1,
        distractor=dressed(word, place.word),
        word_bits=bits.of(place),
        distractor_bits=bits.of(place, word),
        word_zipf=zipf,
        distractor_zipf=lexicon.zipf(word),
        note=note,
    )


def sheet_rows(proposals: Iterable[Proposal]) -> Iterator[list[str]]:
    """The header and the rows of a sheet."""
    yield list(HEADER)
    yield from (proposal.cells() for proposal in proposals)
