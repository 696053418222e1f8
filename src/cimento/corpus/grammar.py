"""Grammars of features, words and templates, and slots filled with words (docs/generating.md)."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, product

from cimento.suites import BAD, GOOD

FeatureBundle = Mapping[str, str]
"""The value of each feature, such as ``pl`` for ``number``."""

SLOT = re.compile(r"\{(\w+)(?::([^{}]*))?\}")
"""A slot in a text: ``{V}``, or ``{V:ptcp}`` with values, a form, or ``!feature``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOfSpeech:
    """A part of speech with its inflection.

    Attributes:
        name: name in templates and in the lexicon.
        inflects: features in which its forms differ, in the order of names of forms.
        closed: whether its words are exempt from the cap, and may occur twice in a sentence.
    """

    name: str
    inflects: tuple[str, ...] = ()
    closed: bool = False

    def form_name(self, bundle: FeatureBundle) -> str:
        """The name of the form that has these values, such as ``f.pl``."""
        return ".".join(bundle[feature] for feature in self.inflects)


@dataclass(frozen=True, slots=True, kw_only=True)
class LexiconWord:
    """An entry of the lexicon.

    Attributes:
        pos: its part of speech.
        lemma: its name.
        inherent: values that all its forms have, such as ``f`` for ``gender``; one or several.
        forms: its forms by their names.
    """

    pos: str
    lemma: str
    inherent: Mapping[str, tuple[str, ...]]
    forms: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A place for a word in a template.

    Attributes:
        name: name in braces in the template's text.
        pos: part of speech of the word.
        where: for each inherent feature, values of which the word must have one; ``!value`` for one
            that it must not have, ``V.object`` for the values of another slot's word.
        vary: features whose values are taken in turn, so that items are balanced over them.
        fixed: features with one value.
        agrees_with: slot with which it agrees; empty if its features are independent.
        differs_from: slot from which its value must differ in every feature of `features`.
        features: features in which it agrees or differs, and in which a target is made wrong.
        target: whether the conditions differ in this slot.
    """

    name: str
    pos: str
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    vary: tuple[str, ...] = ()
    fixed: FeatureBundle = field(default_factory=dict)
    agrees_with: str = ""
    differs_from: str = ""
    features: tuple[str, ...] = ()
    target: bool = False


@functools.lru_cache(maxsize=1024)
def _slots_in(text: str) -> frozenset[tuple[str, str]]:
    return frozenset(SLOT.findall(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class GrammarTemplate:
    """A sentence with slots.

    Attributes:
        name: name in the items' column ``template``.
        text: regions separated by `` | ``, with slots in braces; square brackets enclose a whole
            region that only the adversarial twin has.
        texts: instead, each condition to its text: ``good`` and ``bad``, or, for a factorial
            design, levels joined by ``_``.
        slots: slots in the order of filling, so that a slot follows the one it agrees with.
    """

    name: str
    text: str
    slots: tuple[Slot, ...]
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def every_text(self) -> tuple[str, ...]:
        """The text, or those of all conditions."""
        return tuple(self.texts.values()) or (self.text,)

    @property
    def used(self) -> frozenset[tuple[str, str]]:
        """The slots in its texts, each with what follows the colon."""
        return _slots_in(" ".join(self.every_text))

    @property
    def is_pair(self) -> bool:
        """Whether the template is a good and a bad text."""
        return set(self.texts) == {GOOD, BAD}

    @property
    def target(self) -> Slot:
        """The slot in which the conditions differ."""
        return next(slot for slot in self.slots if slot.target)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """A grammar, from which suites of one phenomenon are generated.

    Attributes:
        name: name of the generated suite.
        language: ISO 639-1 code.
        phenomenon: name of the phenomenon.
        term: class of the phenomenon in the field, such as ``binding``; the key ``class``.
        description: what the pairs contrast, for people.
        norm: who says the sentences that are bad here, where only the norm rules them out.
        source: reference of the generalization.
        features: the values of each feature.
        parts: parts of speech by name.
        lexicon: all words.
        templates: at least one.
        regions: names of the regions, the same for all templates.
        wrong: combinations of the target's features that are made wrong, each in a condition; empty
            for all combinations.
        factors: the levels of each factor of a factorial design; its templates have `texts`.
        critical: the region that the prediction of a pair of texts compares; empty for the whole
            sentence.
        cap: the largest proportion of the items in which a word of an open class occurs.
        spelling: patterns and their replacements, applied to each region in this order.
    """

    name: str
    language: str
    features: Mapping[str, tuple[str, ...]]
    parts: Mapping[str, PartOfSpeech]
    lexicon: tuple[LexiconWord, ...]
    templates: tuple[GrammarTemplate, ...]
    regions: tuple[str, ...]
    phenomenon: str = ""
    term: str = ""
    description: str = ""
    norm: str = ""
    source: str = ""
    wrong: tuple[tuple[str, ...], ...] = ()
    factors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    critical: str = ""
    cap: float = 1.0
    spelling: tuple[tuple[re.Pattern[str], str], ...] = ()

    @property
    def conditions(self) -> dict[str, dict[str, str]]:
        """The conditions of a factorial design, each with its level of each factor."""
        levels = product(*self.factors.values()) if self.factors else ()
        return {"_".join(cell): dict(zip(self.factors, cell, strict=True)) for cell in levels}

    def wrong_combinations(self, slot: Slot) -> tuple[tuple[str, ...], ...]:
        """The combinations of features in which a target is made wrong."""
        if self.wrong:
            return self.wrong
        sizes = range(1, len(slot.features) + 1)
        return tuple(wrong for n in sizes for wrong in sorted(combinations(slot.features, n)))

    def next_value(self, feature: str, value: str) -> str:
        """The value after this one, and the first after the last: the wrong one of a feature."""
        values = self.features[feature]
        return values[(values.index(value) + 1) % len(values)]

    def form_name(self, pos: str, bundle: FeatureBundle, wanted: str = "") -> str:
        """The name of a form.

        Args:
            pos: the part of speech.
            bundle: the values of the word in its slot.
            wanted: what follows the colon in ``{V:ptcp}``: values that replace those of the
                bundle, ``!number`` for the next value of a feature, or the name of a form.
        """
        part = self.parts[pos]
        if not wanted:
            return part.form_name(bundle)
        changed = dict(bundle)
        for value in re.split(r"[\s,.]+", wanted.strip()):
            name = value.removeprefix("!")
            if value.startswith("!") and name in changed:
                changed[name] = self.next_value(name, changed[name])
                continue
            owners = [f for f in part.inflects if value in self.features[f]]
            if not owners:
                return wanted.strip()
            changed[owners[0]] = value
        return part.form_name(changed)


@dataclass(frozen=True, slots=True)
class SlotWord:
    """A slot with its word.

    Attributes:
        word: a word of the lexicon.
        bundle: its features in the slot, including inherent ones.
        forms: its forms in the texts, by what follows the colon; ``""`` for its form in the slot.
    """

    word: LexiconWord
    bundle: FeatureBundle
    forms: Mapping[str, str]

    @property
    def form(self) -> str:
        """The form that has the features of the slot."""
        return self.forms[""]

    @property
    def key(self) -> tuple[str, str]:
        """The part of speech and the lemma, by which a word is counted."""
        return self.word.pos, self.word.lemma


def twin_slots(
    grammar: Grammar, template: GrammarTemplate, filled: Mapping[str, SlotWord]
) -> Iterator[tuple[str, dict[str, SlotWord]]]:
    """The slots after a controller with the value that each wrong form of the target has.

    Twins are for interchanges (docs/explain.md); each comes with the name of its column. There is
    none where the controller lacks the form, as most nouns have one gender.
    """
    slots = {slot.name: slot for slot in template.slots}
    controller = template.target.agrees_with
    while controller and slots[controller].agrees_with:
        controller = slots[controller].agrees_with
    if not controller:
        return
    for wrong in grammar.wrong_combinations(template.target):
        bundle = filled[template.target.name].bundle
        other = {feature: grammar.next_value(feature, bundle[feature]) for feature in wrong}
        changed = {controller: _inflected(grammar, filled[controller], other)}
        for slot in template.slots:
            if slot.agrees_with in changed and not slot.target:
                shared = {feature: other[feature] for feature in wrong if feature in slot.features}
                changed[slot.name] = _inflected(grammar, filled[slot.name], shared)
        if all(all(choice.forms.values()) for choice in changed.values()):
            yield "_".join(("twin", *wrong)), {**filled, **changed}


def _inflected(grammar: Grammar, filled: SlotWord, values: FeatureBundle) -> SlotWord:
    """A word with other values of some features; a form that it lacks is empty."""
    word, bundle = filled.word, {**filled.bundle, **values}
    inflects = grammar.parts[word.pos].inflects
    lacks = any(
        value not in word.inherent.get(feature, (value,) if feature in inflects else ())
        for feature, value in values.items()
    )
    names = {name: grammar.form_name(word.pos, bundle, name) for name in filled.forms}
    forms = {n: "" if lacks else word.forms.get(form, "") for n, form in names.items()}
    return SlotWord(word, bundle, forms)
