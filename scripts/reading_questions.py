"""Questions about starter items and generated ones for readers who do not see the key.

A question shows sentences alone, in an order drawn at random, and asks one thing:

- ``pair``: which of two sentences is acceptable;
- ``sentence``: whether one sentence of a factorial design is acceptable. By design, the cell in
  which both factors are changed is not, and neither is a gap without a filler or a filler without a
  gap;
- ``degree``: how acceptable a rated sentence is, on the scale of its suite;
- ``fits``: which of the candidates fit into a blank;
- ``natural``: whether a sentence, or a frame with a blank that has no candidates, is natural;
- ``story``: whether a story is plausible; if not, which two sentences conflict, and in what state.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import Literal, TypeAlias

from cimento import load_suite
from cimento.corpus.generation import generate_suites
from cimento.corpus.grammar_files import find_grammar, grammar_names, read_grammar
from cimento.errors import CimentoError
from cimento.paradigms.regions.contrast import find_contrast
from cimento.suites import Item, Suite, sentence
from cimento.suites.builtin import BuiltinSuite
from cimento.suites.cloze import MARKED_WORD, ClozeItem, ClozeSuite, expand_suite
from cimento.suites.design import licensing_of, squares
from cimento.suites.ratings import Scale
from cimento.suites.stories import CONFLICT, STATE, STATES, STORY, Story, StorySuite

Ask: TypeAlias = Literal["pair", "sentence", "degree", "fits", "natural", "story"]

ACCEPTABLE, UNACCEPTABLE, UNSURE = "acceptable", "unacceptable", "unsure"
YES, NO, PLAUSIBLE, NONE = "yes", "no", "plausible", "none"
AGREES = "agrees"

INSTRUCTIONS: Mapping[Ask, str] = {
    "pair": "Which is acceptable? a, b, both or neither",
    "sentence": "Is it acceptable? acceptable, unacceptable or unsure",
    "degree": "How acceptable is it? {low} (not at all) to {high} (fully), or unsure",
    "fits": "Which fit into the blank? Letters, such as: a c; or none",
    "natural": "Is it natural? yes or no",
    "story": "Can it have happened? plausible, or the two sentences that conflict and the state"
    f" in which they do, such as: 0 3 wet. States: {', '.join(STATES)}",
}

GENERATED = 200
"""Items that each grammar generates, of which some are read."""

NEAR = 1
"""Degrees of a scale that a reader may differ from a rating and still agree with it."""


class AnswerError(ValueError):
    """An answer that is none of those a question has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to a reader.

    Attributes:
        id: opaque to readers; it changes with the seed and with every sentence that is shown.
        suite: the suite.
        item: id of the item.
        condition: the condition read; of a pair, the one that should be worse.
        ask: what is asked.
        instruction: what is asked in words, with the answers.
        text: the sentence, the story, or the text with a blank; empty for pairs.
        choices: the sentences of a pair, or the candidates for a blank, in random order.
        key: the correct answer; letters, or a pair and a state, with blanks between them.
    """

    id: str
    suite: BuiltinSuite
    item: str
    condition: str
    ask: Ask
    instruction: str
    text: str
    choices: tuple[str, ...]
    key: str

    @property
    def lettered(self) -> str:
        """The choices with their letters."""
        return " | ".join(
            f"{letter}: {choice}"
            for letter, choice in zip(ascii_lowercase, self.choices, strict=False)
        )


@dataclass(frozen=True, slots=True)
class Asker:
    """A suite and a seed, from which questions are made."""

    suite: BuiltinSuite
    seed: int

    def draw(self, item: str) -> random.Random:
        """A source of random choices for an item, the same whatever other items there are."""
        return random.Random(f"{self.seed}/{self.suite.name}/{item}")  # noqa: S311  # no secret

    def question(
        self,
        item: str,
        ask: Ask,
        *,
        key: str,
        condition: str,
        text: str = "",
        choices: Sequence[str] = (),
        scale: Scale | None = None,
    ) -> Question:
        """A question with its id."""
        ends = {} if scale is None else {"low": f"{scale.low:g}", "high": f"{scale.high:g}"}
        shown = (str(self.seed), self.suite.name, item, condition, text, *choices)
        return Question(
            id=hashlib.sha256("\t".join(shown).encode()).hexdigest()[:8],
            suite=self.suite,
            item=item,
            condition=condition,
            ask=ask,
            instruction=INSTRUCTIONS[ask].format(**ends),
            text=text,
            choices=tuple(choices),
            key=key,
        )


def questions_of(suite: BuiltinSuite, *, seed: int) -> Iterator[Question]:
    """The questions about a starter suite, in the order of its items.

    Args:
        suite: the suite, as `cimento.suites.builtin.list_builtin` describes it.
        seed: of the order of choices, and of the pair that is read where an item has several.
    """
    loaded, asker = load_suite(suite.name).suite, Asker(suite, seed)
    if isinstance(loaded, ClozeSuite):
        yield from _of_cloze(loaded, asker)
    elif isinstance(loaded, StorySuite):
        yield from (_of_story(story, asker) for story in loaded.stories)
    elif isinstance(loaded, Suite):
        yield from _of_sentences(loaded, asker)


def questions_of_grammars(language: str, *, items: int, seed: int) -> Iterator[Question]:
    """The questions about some items of what each built-in grammar of a language generates.

    The items are drawn from the 200 of seed 0. Each is called by its grammar and a digest of its
    sentences, so that a changed lexicon does not pass on what was said of other sentences.

    Args:
        language: ISO 639-1 code.
        items: number of items of each grammar.
        seed: of the draw, and of the order of choices.
    """
    for name in grammar_names(language):
        path = find_grammar(name)
        grammar = read_grammar(path)
        suite, _ = generate_suites(grammar, n=GENERATED, seed=0)
        place = BuiltinSuite(
            name=name,
            kind="regions",
            language=language,
            phenomenon=grammar.phenomenon,
            items=GENERATED,
            status="",
            path=path.parent,
        )
        asker = Asker(place, seed)
        drawn = set(asker.draw("").sample([item.id for item in suite.items], items))
        digests = {item.id: _digest(item, suite) for item in suite.items if item.id in drawn}
        for question in _of_sentences(suite, asker):
            if question.item in drawn:
                yield replace(question, item=f"{name}/{digests[question.item]}")


def _digest(item: Item, suite: Suite) -> str:
    texts = [_sentence(item, condition.name, suite) for condition in item.conditions]
    return hashlib.sha256("\t".join(texts).encode()).hexdigest()[:8]


def _of_sentences(suite: Suite, asker: Asker) -> Iterator[Question]:
    if "ratings" in suite.extra and not suite.predictions:
        return _rated(suite, asker)
    if suite.factors:
        return _cells(suite, asker)
    return _pairs(suite, asker)


def _pairs(suite: Suite, asker: Asker) -> Iterator[Question]:
    """One pair for each item, whichever conditions it compares."""
    contrast = find_contrast(suite, regions=(1,))
    for item in suite.items:
        draw = asker.draw(item.id)
        names = [name for name in contrast.alternatives if item.condition(name).regions]
        worse = draw.choice(names)
        good, bad = (_sentence(item, name, suite) for name in (contrast.target, worse))
        key = draw.choice("ab")
        choices = (good, bad) if key == "a" else (bad, good)
        yield asker.question(item.id, "pair", key=key, condition=worse, choices=choices)


def _cells(suite: Suite, asker: Asker) -> Iterator[Question]:
    """Each sentence of a factorial design alone."""
    unacceptable = _unacceptable(suite)
    for item in suite.items:
        for condition in item.conditions:
            key = UNACCEPTABLE if condition.name in unacceptable else ACCEPTABLE
            text = _sentence(item, condition.name, suite)
            yield asker.question(item.id, "sentence", key=key, condition=condition.name, text=text)


def _unacceptable(suite: Suite) -> frozenset[str]:
    """The conditions that a factorial design predicts to be unacceptable."""
    licensing = licensing_of(suite)
    if licensing is None:
        return frozenset(square.unacceptable.name for square in squares(suite))
    filler, gap = licensing.filler, licensing.gap
    with_filler, with_gap = (suite.factors[name][0] for name in (filler, gap))
    return frozenset(
        condition.name
        for item in suite.items
        for condition in item.conditions
        if (condition.columns[filler] == with_filler) != (condition.columns[gap] == with_gap)
    )


def _rated(suite: Suite, asker: Asker) -> Iterator[Question]:
    """Each rated sentence alone."""
    ratings = suite.extra["ratings"]
    if not isinstance(ratings, dict):
        raise CimentoError(
            where=suite.name, seen="[ratings] is not a table", todo="Write low, high."
        )
    scale = Scale(float(str(ratings["low"])), float(str(ratings["high"])))
    for item in suite.items:
        for condition in item.conditions:
            yield asker.question(
                item.id,
                "degree",
                key=condition.columns["rating"],
                condition=condition.name,
                text=_sentence(item, condition.name, suite),
                scale=scale,
            )


def _sentence(item: Item, name: str, suite: Suite) -> str:
    return sentence(item.condition(name), rule=suite.join)


def _of_cloze(suite: ClozeSuite, asker: Asker) -> Iterator[Question]:
    """Each blank with its candidates, each frame without any, each sentence with an expression."""
    whole = replace(suite, multiwords=())
    for item in expand_suite(whole).items:
        if item.options:
            yield _blank(item, asker)
        else:
            yield asker.question(item.id, "natural", key=YES, condition="frame", text=item.text)
    for multiword in suite.multiwords:
        text = MARKED_WORD.sub(r"\1", multiword.text)
        yield asker.question(multiword.id, "natural", key=YES, condition="sentence", text=text)


def _blank(item: ClozeItem, asker: Asker) -> Question:
    """A text with a blank, and its candidates in random order."""
    options = list(item.options)
    asker.draw(item.id).shuffle(options)
    letters = [
        letter
        for letter, option in zip(ascii_lowercase, options, strict=False)
        if option.role != "implausible"
    ]
    return asker.question(
        item.id,
        "fits",
        key=" ".join(letters),
        condition="options",
        text=item.text,
        choices=[" / ".join(option.spellings) for option in options],
    )


def _of_story(story: Story, asker: Asker) -> Question:
    """A story, its sentences numbered as its tiers count them."""
    numbered = (f"{number}. {text.strip()}" for number, text in enumerate(story.sentences))
    pair = story.pair
    key = PLAUSIBLE if pair is None else " ".join((*map(str, sorted(pair)), story.state))
    return asker.question(
        story.example_id, "story", key=key, condition=STORY, text=" ".join(numbered)
    )


def verdicts(question: Question, said: str) -> list[tuple[str, str]]:
    """What an answer means: each condition or tier that was read, with ``agrees`` or what was said.

    Raises:
        AnswerError: the answer is none of those that the question has.
    """
    said = " ".join(said.casefold().replace(",", " ").split())
    condition, key = question.condition, question.key
    match question.ask:
        case "pair":
            _need(said, ("a", "b", "both", "neither"))
            other = said if len(said) > 1 else "the other"
            return [(condition, AGREES if said == key else other)]
        case "sentence":
            _need(said, (ACCEPTABLE, UNACCEPTABLE, UNSURE))
        case "natural":
            _need(said, (YES, NO))
        case "degree":
            return [(condition, _degree(said, float(key)))]
        case "fits":
            return [(condition, _fitting(question, said))]
        case "story":
            return _tiers(said, key)
    return [(condition, AGREES if said == key else said)]


def _need(said: str, choices: Sequence[str]) -> None:
    if said not in choices:
        raise AnswerError(f"{said!r} is none of {', '.join(choices)}")


def _degree(said: str, rating: float) -> str:
    if said == UNSURE:
        return UNSURE
    try:
        degree = float(said)
    except ValueError:
        raise AnswerError(f"{said!r} is neither a number nor {UNSURE}") from None
    return AGREES if abs(degree - rating) <= NEAR else f"{said}, not {rating:g}"


def _fitting(question: Question, said: str) -> str:
    """Which candidates a reader found fitting that should not be, and the other way round."""
    by_letter = dict(zip(ascii_lowercase, question.choices, strict=False))
    letters = [] if said == NONE else said.split()
    unknown = [letter for letter in letters if letter not in by_letter]
    if unknown or not said:
        raise AnswerError(f"{said!r} is neither {NONE} nor letters of {', '.join(by_letter)}")
    right = question.key.split()
    also = [by_letter[letter] for letter in sorted(set(letters) - set(right))]
    without = [by_letter[letter] for letter in right if letter not in letters]
    parts = [f"also {text}" for text in also] + [f"not {text}" for text in without]
    return ", ".join(parts) or AGREES


_STORY_ANSWER = re.compile(r"(\d) (\d) ([a-z ]+)")


def _tiers(said: str, key: str) -> list[tuple[str, str]]:
    """One verdict for each tier that the answer reaches."""
    match = _STORY_ANSWER.fullmatch(said)
    if match is None:
        _need(said, (PLAUSIBLE,))
        return [(STORY, AGREES if key == PLAUSIBLE else PLAUSIBLE)]
    first, second, state = match.groups()
    _need(state, STATES)
    if key == PLAUSIBLE:
        return [(STORY, f"conflict of {first} and {second}, {state}")]
    pair = sorted((first, second))
    *right, right_state = key.split(" ", 2)
    return [
        (STORY, AGREES),
        (CONFLICT, AGREES if pair == right else " and ".join(pair)),
        (STATE, AGREES if state == right_state else state),
    ]
