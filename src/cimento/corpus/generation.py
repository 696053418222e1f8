"""Items generated from a grammar, drawn by seed, balanced over features, without duplicates."""

from __future__ import annotations

import functools
import math
import random
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, product, zip_longest

from cimento.corpus.grammar import (
    SLOT,
    Grammar,
    GrammarTemplate,
    LexiconWord,
    Slot,
    SlotWord,
    twin_slots,
)
from cimento.errors import InputError
from cimento.suites import BAD, GOOD, Condition, Item, Meta, Prediction, Region, Suite
from cimento.suites.design import with_design
from cimento.suites.formats.items import write_regions
from cimento.suites.language_sets import GENERATED_STATUS
from cimento.suites.letters import one_spelling
from cimento.suites.stimuli import stimulus_text

TARGET = "match"
WRONG = "mismatch_"
TWIN = "-adversarial"
NORM = "norm"
"""The tag of a suite whose bad sentences some speakers say."""

_MOST_STEPS = 20_000
_OPTIONAL = re.compile(r"^\[(.*)\]$")

Values = Mapping[tuple[str, str], str]
"""The value of each feature that varies, by slot and feature."""

Wishes = tuple[tuple[str, frozenset[str], frozenset[str] | None], ...]
"""Features, each with the values that are refused and those of which there must be one, if any."""


def generate_suites(grammar: Grammar, *, n: int, seed: int) -> tuple[Suite, Suite | None]:
    """A suite of `n` items, and its adversarial twin if templates have an attractor.

    Items use templates in turn, and within a template the values of the features that vary. Both
    suites have the same items, but those of the twin also contain the attractor. A word of an open
    class is in at most ``cap * n`` items (rounded up), and words used least come first.

    Args:
        grammar: the grammar.
        n: number of items.
        seed: seed of the draw of words.

    Raises:
        InputError: the grammar cannot make that many different items.
    """
    draw = Draw(grammar, n=n, seed=seed)
    turns = _turns(grammar)
    texts = [text for template in grammar.templates for text in template.every_text]
    has_twin = any("[" in text for text in texts)
    plain: list[Item] = []
    adversarial: list[Item] = []
    for number in range(1, n + 1):
        turn = (number - 1) % len(turns)
        template, values = turns[turn]
        filled = draw.fresh(template, values, turn)
        if filled is None:
            raise InputError(
                where=f"grammar {grammar.name!r}, template {template.name!r}",
                seen=f"no further item can be made after {len(plain)} of {n}{draw.trouble()}",
                todo="Ask for fewer items, add words, or raise cap in the grammar.",
            )
        plain.append(_item(grammar, template, filled, number, adversarial=False))
        if has_twin:
            adversarial.append(_item(grammar, template, filled, number, adversarial=True))
    suite = _suite(grammar, plain, grammar.name)
    twin = _suite(grammar, adversarial, grammar.name + TWIN) if has_twin else None
    return suite, twin


def lengths(suite: Suite) -> str:
    """The difference in words between the first condition and the others, in words for people."""
    differences: Counter[int] = Counter()
    for item in suite.items:
        first, *others = (
            len(stimulus_text(condition, rule=suite.join).split()) for condition in item.conditions
        )
        differences.update(other - first for other in others)
    if set(differences) == {0}:
        return "all conditions of an item have the same number of words"
    name = suite.condition_names[0]
    shown = ", ".join(f"{d:+d} in {n}" for d, n in sorted(differences.items()))
    return f"words more or fewer than {name}: {shown}"


def _turns(grammar: Grammar) -> list[tuple[GrammarTemplate, dict[tuple[str, str], str]]]:
    """Every template with every combination of the varying values, with templates in turn."""
    by_template = []
    for template in grammar.templates:
        keys = [(slot.name, feature) for slot in template.slots for feature in slot.vary]
        values = product(*(grammar.features[feature] for _, feature in keys))
        by_template.append([(template, dict(zip(keys, value, strict=True))) for value in values])
    longest = max(map(len, by_template))
    return [turns[i % len(turns)] for i in range(longest) for turns in by_template]


@dataclass(slots=True)
class Draw:
    """The words drawn so far, and how often.

    Attributes:
        grammar: the grammar.
        n: number of items that are wanted.
        seed: seed of the draw.
        uses: number of items with each word, and with each word in each turn.
        sentences: sentences that are there already.
        lacking: number of times that a slot found no word, by slot.
    """

    grammar: Grammar
    n: int
    seed: int
    uses: Counter[tuple[object, ...]] = field(default_factory=Counter)
    sentences: set[str] = field(default_factory=set)
    lacking: Counter[str] = field(default_factory=Counter)
    _random: random.Random = field(init=False)
    _steps: int = 0
    _by_wishes: dict[tuple[str, Wishes], list[LexiconWord]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311  # a draw of words, not of secrets

    @property
    def most(self) -> int:
        """The largest number of items in which a word of an open class may be."""
        return math.ceil(round(self.grammar.cap * self.n, 9))

    def fresh(
        self, template: GrammarTemplate, values: Values, turn: int
    ) -> dict[str, SlotWord] | None:
        """Words for all slots that make new sentences; None if none are found."""
        self.lacking.clear()
        self._steps = 0
        for filled in self._fillings(template, values, turn, {}):
            texts = self._sentences(template, filled)
            if not self.sentences.isdisjoint(texts) or (template.is_pair and len(texts) == 1):
                continue
            self.sentences.update(texts)
            self.uses.update({choice.key for choice in filled.values()})
            self.uses.update((*choice.key, turn) for choice in filled.values())
            return dict(filled)
        return None

    def trouble(self) -> str:
        """The slot that most often found no word, in words; empty if sentences were repeated."""
        if not self.lacking:
            return "; the sentences that were tried are there already"
        name, _ = self.lacking.most_common(1)[0]
        return f"; slot {name!r} finds no word that fits and is in fewer than {self.most} items"

    def _sentences(self, template: GrammarTemplate, filled: Mapping[str, SlotWord]) -> set[str]:
        """The sentences that may not be repeated, without the attractor.

        Plain items are the same if they differ only in the attractor. In a factorial design some
        conditions lack some slots, so that only all conditions together are new or not.
        """
        texts = [
            " ".join(region.text for region in _regions(self.grammar, text, filled))
            for text in template.every_text
        ]
        folded = [one_spelling(text).casefold() for text in texts]
        return {"\n".join(folded)} if self.grammar.factors else set(folded)

    def _fillings(
        self, template: GrammarTemplate, values: Values, turn: int, filled: dict[str, SlotWord]
    ) -> Iterator[dict[str, SlotWord]]:
        """Every choice of words, best first, until too many were tried."""
        if len(filled) == len(template.slots):
            yield filled
            return
        slot = template.slots[len(filled)]
        lacks = True
        wanted = {wanted for name, wanted in template.used if name == slot.name}
        for choice in self._choices(slot, wanted, values, turn, filled):
            self._steps += 1
            if self._steps > _MOST_STEPS:
                return
            lacks = False
            filled[slot.name] = choice
            yield from self._fillings(template, values, turn, filled)
            del filled[slot.name]
        if lacks:
            self.lacking[slot.name] += 1

    def _choices(
        self,
        slot: Slot,
        wanted: Collection[str],
        values: Values,
        turn: int,
        filled: Mapping[str, SlotWord],
    ) -> Iterator[SlotWord]:
        """The words that fit a slot, those used least in this turn first."""
        closed = self.grammar.parts[slot.pos].closed
        taken = {choice.key for choice in filled.values()}
        most = self.most
        uses = self.uses.get  # a Counter looks up what it lacks by a slow function
        words = [
            word
            for word in self._selected(slot, filled)
            if closed or ((key := (word.pos, word.lemma)) not in taken and uses(key, 0) < most)
        ]
        self._random.shuffle(words)
        words.sort(key=lambda w: (uses((w.pos, w.lemma, turn), 0), uses((w.pos, w.lemma), 0)))
        for word in words:
            bundle = self._bundle(word, slot, values, filled)
            if bundle is None:
                continue
            names = {name: self.grammar.form_name(slot.pos, bundle, name) for name in wanted}
            choice = SlotWord(word, bundle, {n: word.forms.get(f, "") for n, f in names.items()})
            if all(choice.forms.values()) and (
                not slot.target or _is_telling(self.grammar, slot, choice)
            ):
                yield choice

    def _selected(self, slot: Slot, filled: Mapping[str, SlotWord]) -> Sequence[LexiconWord]:
        """The words with the features that a slot asks for, in the order of the lexicon."""
        wishes = slot.pos, _wishes(slot, filled)
        if wishes not in self._by_wishes:
            self._by_wishes[wishes] = [
                word
                for word in self.grammar.lexicon
                if word.pos == slot.pos and _fits(word, wishes[1])
            ]
        return self._by_wishes[wishes]

    def _bundle(
        self, word: LexiconWord, slot: Slot, values: Values, filled: Mapping[str, SlotWord]
    ) -> dict[str, str] | None:
        """The features of a word in a slot; None if it cannot have those that are wanted."""
        features = self.grammar.features
        inflects = self.grammar.parts[slot.pos].inflects
        wanted = {**slot.fixed, **{f: values[slot.name, f] for f in slot.vary}}
        if any(f not in inflects and f not in word.inherent for f in wanted):
            return None
        for feature in slot.features:
            if slot.agrees_with or slot.differs_from:
                known = self._related(word, slot, feature, filled)
                if not known:
                    return None
                wanted[feature] = self._one(known)
        for feature, known in word.inherent.items():
            if feature in features and wanted.setdefault(feature, self._one(known)) not in known:
                return None
        return {feature: features[feature][0] for feature in inflects} | wanted

    def _related(
        self, word: LexiconWord, slot: Slot, feature: str, filled: Mapping[str, SlotWord]
    ) -> Sequence[str]:
        """The values with which a word agrees with one slot and differs from another."""
        known: Sequence[str] = word.inherent.get(feature, self.grammar.features[feature])
        if slot.agrees_with:
            known = [v for v in known if v == filled[slot.agrees_with].bundle.get(feature)]
        if slot.differs_from:
            known = [v for v in known if v != filled[slot.differs_from].bundle.get(feature)]
        return known

    def _one(self, values: Sequence[str]) -> str:
        """One of some values; nothing is drawn if there is only one."""
        return values[0] if len(values) == 1 else self._random.choice(values)


def _wishes(slot: Slot, filled: Mapping[str, SlotWord]) -> Wishes:
    """What a slot asks for, with the features of the words that it refers to put in."""
    wishes = []
    for feature, wanted in slot.where.items():
        allowed: set[str] = set()
        refused = frozenset(value[1:] for value in wanted if value.startswith("!"))
        for value in wanted:
            other, _, of_other = value.partition(".")
            if value.startswith("!"):
                continue
            if of_other and other in filled:
                allowed.update(_values_of(filled[other], of_other))
            else:
                allowed.add(value)
        any_value = all(value.startswith("!") for value in wanted)
        wishes.append((feature, refused, None if any_value else frozenset(allowed)))
    return tuple(wishes)


def _fits(word: LexiconWord, wishes: Wishes) -> bool:
    """Whether a word has the inherent features that are wished for."""
    for feature, refused, allowed in wishes:
        known = word.inherent.get(feature, ())
        if not refused.isdisjoint(known) or (allowed is not None and allowed.isdisjoint(known)):
            return False
    return True


def _values_of(filled: SlotWord, feature: str) -> tuple[str, ...]:
    value = filled.bundle.get(feature)
    return (value,) if value is not None else filled.word.inherent.get(feature, ())


def _is_telling(grammar: Grammar, slot: Slot, target: SlotWord) -> bool:
    """Whether a target's wrong forms exist and differ from its right form."""
    if any(target.bundle.get(f) not in grammar.features[f] for f in slot.features):
        return False
    wrong = [form for _, form in _wrong_forms(grammar, slot, target)]
    return all(wrong) and target.form not in wrong


def _wrong_forms(grammar: Grammar, slot: Slot, target: SlotWord) -> Iterator[tuple[str, str]]:
    """The wrong forms of a target, each with the name of its condition."""
    for wrong in grammar.wrong_combinations(slot):
        changed = {f: grammar.next_value(f, target.bundle[f]) for f in wrong}
        name = grammar.form_name(slot.pos, {**target.bundle, **changed})
        yield WRONG + "_".join(wrong), target.word.forms.get(name, "")


@functools.lru_cache(maxsize=1024)
def _pieces(whole: str) -> tuple[tuple[bool, tuple[str, ...]], ...]:
    """The regions of a text: whether only the twin has it, and its parts.

    Parts are what comes before the first slot, the name of that slot, what follows the colon in
    it, and so on to what comes after the last slot.
    """
    pieces = []
    for piece in whole.split("|"):
        optional = _OPTIONAL.match(piece.strip())
        text = optional[1] if optional else piece.strip()
        pieces.append((optional is not None, tuple(part or "" for part in SLOT.split(text))))
    return tuple(pieces)


def _filled_in(parts: Sequence[str], filled: Mapping[str, SlotWord]) -> str:
    words = (filled[slot].forms[form] for slot, form in zip(parts[1::3], parts[2::3], strict=True))
    return "".join(chain.from_iterable(zip_longest(parts[::3], words, fillvalue="")))


@functools.lru_cache(maxsize=16_384)
def _spelled(text: str, spelling: tuple[tuple[re.Pattern[str], str], ...]) -> str:
    for pattern, replacement in spelling:
        text = pattern.sub(replacement, text)
    return text


def _regions(
    grammar: Grammar, whole: str, filled: Mapping[str, SlotWord], *, adversarial: bool = False
) -> tuple[Region, ...]:
    """The regions of a sentence; the first non-empty one begins with a capital."""
    texts = []
    for optional, parts in _pieces(whole):
        shown = "" if optional and not adversarial else _filled_in(parts, filled)
        texts.append(_spelled(shown, grammar.spelling))
    first = next((index for index, text in enumerate(texts) if text), 0)
    texts[first] = texts[first][:1].upper() + texts[first][1:]
    return tuple(map(Region, texts))


def _item(
    grammar: Grammar,
    template: GrammarTemplate,
    filled: Mapping[str, SlotWord],
    number: int,
    *,
    adversarial: bool,
) -> Item:
    make = _of_texts if template.texts else _of_forms
    is_numbered = template.is_pair or not template.texts
    return Item(
        str(number) if is_numbered else f"{template.name}-{number:02}",
        tuple(make(grammar, template, filled, adversarial=adversarial)),
    )


def _of_forms(
    grammar: Grammar,
    template: GrammarTemplate,
    filled: Mapping[str, SlotWord],
    *,
    adversarial: bool,
) -> Iterator[Condition]:
    """The conditions with the right form of the target and with its wrong ones."""
    slot = template.target
    target = filled[slot.name]
    columns = _columns(grammar, template, filled, adversarial=adversarial)
    other = dict(twin_slots(grammar, template, filled))
    regions = functools.partial(_regions, grammar, template.text, adversarial=adversarial)
    for name, form in ((TARGET, target.form), *_wrong_forms(grammar, slot, target)):
        word = {slot.name: SlotWord(target.word, target.bundle, {"": form})}
        cells = {
            column: write_regions((region.text, region.glued) for region in regions(twin | word))
            for column, twin in other.items()
        }
        yield Condition(name, regions({**filled, **word}), {**columns, **cells})


def _of_texts(
    grammar: Grammar,
    template: GrammarTemplate,
    filled: Mapping[str, SlotWord],
    *,
    adversarial: bool,
) -> Iterator[Condition]:
    """A condition for each text, all with the same words."""
    words = _lemmas(grammar, filled)
    varied = {
        f"{slot.name}_{feature}": filled[slot.name].bundle[feature]
        for slot in template.slots
        for feature in slot.vary
    }
    for name, text in template.texts.items():
        if template.is_pair:
            columns = {"template": template.name, "words": words, **varied}
        else:
            columns = {"phenomenon": template.name, "words": words, **grammar.conditions[name]}
        yield Condition(name, _regions(grammar, text, filled, adversarial=adversarial), columns)


def _lemmas(grammar: Grammar, filled: Mapping[str, SlotWord]) -> str:
    """The lemmas of open classes, in the order of the slots."""
    return "; ".join(
        choice.word.lemma for choice in filled.values() if not grammar.parts[choice.word.pos].closed
    )


def _columns(
    grammar: Grammar,
    template: GrammarTemplate,
    filled: Mapping[str, SlotWord],
    *,
    adversarial: bool,
) -> dict[str, str]:
    """The columns with features of the target, and of the attractor if there is one."""
    slot = template.target
    target = filled[slot.name]
    attractors = [slot for slot in template.slots if slot.differs_from]
    shown = {
        name: choice
        for name, choice in filled.items()
        if adversarial or "[" not in template.text or name not in {s.name for s in attractors}
    }
    columns = {
        "template": template.name,
        "lemma": target.word.lemma,
        "words": _lemmas(grammar, shown),
    }
    columns |= {feature: target.bundle[feature] for feature in slot.features}
    if adversarial and attractors:
        other = attractors[0]
        columns["attractor"] = "other " + " and ".join(other.features)
        columns |= {f"attractor_{f}": filled[other.name].bundle[f] for f in other.features}
    return columns


def _suite(grammar: Grammar, items: Sequence[Item], name: str) -> Suite:
    meta = Meta(
        name=name,
        version="0.1.0",
        language=grammar.language,
        phenomenon=grammar.phenomenon,
        status=GENERATED_STATUS,
        reference=grammar.source,
        comment=" ".join(filter(None, (grammar.description, grammar.norm))),
        tags=tuple(filter(None, (grammar.term, NORM if grammar.norm else ""))),
    )
    suite = Suite(
        meta=meta,
        region_names=grammar.regions,
        predictions=() if grammar.factors else tuple(_predictions(grammar, items[0])),
        items=tuple(items),
        factors=dict(grammar.factors),
    )
    return with_design(suite) if grammar.factors else suite


def _predictions(grammar: Grammar, item: Item) -> Iterator[Prediction]:
    """The predictions about the region of the target, or, of two texts, about what differs."""
    template = grammar.templates[0]
    if template.is_pair:
        where = grammar.regions.index(grammar.critical) + 1 if grammar.critical else "*"
        formula = f"({where};%{GOOD}%) < ({where};%{BAD}%)"
        yield Prediction(formula, comment=grammar.description, name="good over bad")
        return
    number = 1 + next(
        index
        for index, region in enumerate(template.text.split("|"))
        if template.target.name in {name for name, _ in SLOT.findall(region)}
    )
    for condition in item.conditions[1:]:
        formula = f"({number};%{TARGET}%) < ({number};%{condition.name}%)"
        yield Prediction(formula, name=condition.name.removeprefix(WRONG).replace("_", " and "))
