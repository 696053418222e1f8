"""What a grammar is: features, parts of speech, words with their forms, templates with slots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

Bundle = Mapping[str, str]
"""Feature to value, such as number to pl."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOfSpeech:
    """How words of one kind inflect.

    Attributes:
        name: as templates and the lexicon name it.
        inflects: features that its forms differ in, in the order of the form's name.
    """

    name: str
    inflects: tuple[str, ...]

    def form_name(self, bundle: Bundle) -> str:
        """The name of the form that has these values, such as ``f.pl``."""
        return ".".join(bundle[feature] for feature in self.inflects)


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """An entry of the lexicon.

    Attributes:
        pos: its part of speech.
        lemma: its name.
        inherent: features that all its forms have, such as gender to f, animate to yes.
        forms: name of a form to the form.
    """

    pos: str
    lemma: str
    inherent: Bundle
    forms: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A place for a word in a template.

    Attributes:
        name: as the template's text writes it in braces.
        pos: part of speech of the word.
        where: inherent features that the word must have.
        vary: features whose values are taken in turn, so that items are balanced over them.
        fixed: features with one value.
        agrees_with: slot whose features it takes; empty where it has its own.
        differs_from: slot whose values it must not have, in every feature of `features`.
        features: in which it agrees or differs.
        target: whether it is the place where the conditions differ.
    """

    name: str
    pos: str
    where: Bundle = field(default_factory=dict)
    vary: tuple[str, ...] = ()
    fixed: Bundle = field(default_factory=dict)
    agrees_with: str = ""
    differs_from: str = ""
    features: tuple[str, ...] = ()
    target: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A sentence with slots.

    Attributes:
        name: for the items' column ``template``.
        text: regions separated by `` | ``; slots in braces; what only the adversarial twin has in
            square brackets, which must be a region of its own.
        slots: in the order in which they are filled: one that agrees after the one it agrees with.
    """

    name: str
    text: str
    slots: tuple[Slot, ...]

    @property
    def target(self) -> Slot:
        """The slot where the conditions differ."""
        return next(slot for slot in self.slots if slot.target)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """Everything that suites of one phenomenon are made from.

    Attributes:
        name: of the suite that is made.
        language: ISO 639-1 code.
        phenomenon: what it is about.
        features: feature to its values.
        parts: by name.
        lexicon: all words.
        templates: at least one.
        regions: names of the regions of all templates.
        wrong: combinations of the target's features that are made wrong, one condition each;
            empty for all of them.
    """

    name: str
    language: str
    phenomenon: str
    features: Mapping[str, tuple[str, ...]]
    parts: Mapping[str, PartOfSpeech]
    lexicon: tuple[Word, ...]
    templates: tuple[Template, ...]
    regions: tuple[str, ...]
    wrong: tuple[tuple[str, ...], ...] = ()

    def wrong_combinations(self, slot: Slot) -> tuple[tuple[str, ...], ...]:
        """The combinations of features in which a target is made wrong."""
        if self.wrong:
            return self.wrong
        choices = product((False, True), repeat=len(slot.features))
        found = (
            tuple(f for f, chosen in zip(slot.features, each, strict=True) if chosen)
            for each in choices
        )
        return tuple(sorted((each for each in found if each), key=lambda each: (len(each), each)))
