"""Slots of a grammar with their words, also after a controller with other features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cimento.corpus.making.grammar import FeatureBundle, Grammar, GrammarTemplate, LexiconWord


@dataclass(frozen=True, slots=True)
class Filled:
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


def twins(
    grammar: Grammar, template: GrammarTemplate, filled: Mapping[str, Filled]
) -> Iterator[tuple[str, dict[str, Filled]]]:
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


def _inflected(grammar: Grammar, filled: Filled, values: FeatureBundle) -> Filled:
    """A word with other values of some features; a form that it lacks is empty."""
    word, bundle = filled.word, {**filled.bundle, **values}
    inflects = grammar.parts[word.pos].inflects
    lacks = any(
        value not in word.inherent.get(feature, (value,) if feature in inflects else ())
        for feature, value in values.items()
    )
    names = {name: grammar.form_name(word.pos, bundle, name) for name in filled.forms}
    forms = {n: "" if lacks else word.forms.get(form, "") for n, form in names.items()}
    return Filled(word, bundle, forms)
