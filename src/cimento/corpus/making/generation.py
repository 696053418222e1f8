"""Items generated from a grammar, drawn by seed, balanced over features, without duplicates."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from cimento.corpus.making.grammar import FeatureBundle, Grammar, GrammarTemplate, LexiconWord, Slot
from cimento.errors import InputError
from cimento.suites.design import with_design
from cimento.suites.formats.items import write_regions
from cimento.suites.model import Condition, Item, Meta, Prediction, Region, Suite

TARGET = "match"
WRONG = "mismatch_"
TWIN = "-adversarial"

_TRIES_PER_ITEM = 300
_SLOT = re.compile(r"\{(\w+)\}")
_OPTIONAL = re.compile(r"^\[(.*)\]$")


@dataclass(frozen=True, slots=True)
class Filled:
    """A slot with its word.

    Attributes:
        word: a word of the lexicon.
        bundle: its features in the slot, including inherent ones.
        form: its form in the sentence.
    """

    word: LexiconWord
    bundle: FeatureBundle
    form: str


def generate_suites(grammar: Grammar, *, n: int, seed: int) -> tuple[Suite, Suite | None]:
    """A suite of `n` items, and its adversarial twin if templates have an attractor.

    Items use templates in turn, and within a template the values of the features that vary. Both
    suites have the same items, but those of the twin also contain the attractor.

    Args:
        grammar: the grammar.
        n: number of items.
        seed: seed of the draw of words.

    Raises:
        InputError: the grammar cannot make that many different items.
    """
    generator = random.Random(seed)  # noqa: S311  # a draw of words, not of secrets
    turns = _turns(grammar)
    seen: set[str] = set()
    plain: list[Item] = []
    adversarial: list[Item] = []
    for number in range(1, n + 1):
        template, values = turns[(number - 1) % len(turns)]
        filled = _fresh(grammar, template, values, generator, seen)
        if filled is None:
            raise InputError(
                where=f"grammar {grammar.name!r}, template {template.name!r}",
                seen=f"no further item can be made after {len(plain)} of {n}",
                todo="Ask for fewer items, or add words.",
            )
        plain.append(_item(grammar, template, filled, number, adversarial=False))
        adversarial.append(_item(grammar, template, filled, number, adversarial=True))
    suite = _suite(grammar, plain, grammar.name)
    texts = [text for template in grammar.templates for text in template.every_text]
    has_twin = any("[" in text for text in texts)
    twin = _suite(grammar, adversarial, grammar.name + TWIN) if has_twin else None
    return suite, twin


def _turns(grammar: Grammar) -> list[tuple[GrammarTemplate, dict[tuple[str, str], str]]]:
    """Every template with every combination of the varying values, with templates in turn."""
    by_template = []
    for template in grammar.templates:
        keys = [(slot.name, feature) for slot in template.slots for feature in slot.vary]
        values = product(*(grammar.features[feature] for _, feature in keys))
        by_template.append([(template, dict(zip(keys, value, strict=True))) for value in values])
    longest = max(map(len, by_template))
    return [turns[i % len(turns)] for i in range(longest) for turns in by_template]


def _fresh(
    grammar: Grammar,
    template: GrammarTemplate,
    values: Mapping[tuple[str, str], str],
    generator: random.Random,
    seen: set[str],
) -> dict[str, Filled] | None:
    """Words for all slots that make a new sentence; None if none is found."""
    for _ in range(_TRIES_PER_ITEM):
        filled = _fill(grammar, template, values, generator)
        if filled is None or not _is_telling(grammar, template, filled):
            continue
        # Sentences that differ only in the attractor are the same plain item, so they are compared
        # without it.
        text = " ".join(
            part
            for text in template.every_text
            for part in _regions(text, filled, adversarial=False)
        ).casefold()
        if text not in seen:
            seen.add(text)
            return filled
    return None


def _fill(
    grammar: Grammar,
    template: GrammarTemplate,
    values: Mapping[tuple[str, str], str],
    generator: random.Random,
) -> dict[str, Filled] | None:
    filled: dict[str, Filled] = {}
    for slot in template.slots:
        taken = {(choice.word.pos, choice.word.lemma) for choice in filled.values()}
        words = [
            word
            for word in grammar.lexicon
            if word.pos == slot.pos
            and (word.pos, word.lemma) not in taken
            and all(word.inherent.get(feature) == value for feature, value in slot.where.items())
        ]
        generator.shuffle(words)
        fitting = next(_fitting(grammar, slot, words, values, filled, generator), None)
        if fitting is None:
            return None
        filled[slot.name] = fitting
    return filled


def _fitting(
    grammar: Grammar,
    slot: Slot,
    words: Sequence[LexiconWord],
    values: Mapping[tuple[str, str], str],
    filled: Mapping[str, Filled],
    generator: random.Random,
) -> Iterator[Filled]:
    """The words that fit a slot, with their forms."""
    part = grammar.parts[slot.pos]
    for word in words:
        bundle = {**word.inherent, **slot.fixed}
        bundle |= {f: values[slot.name, f] for f in slot.vary if f not in word.inherent}
        if any(bundle.get(f) != values[slot.name, f] for f in slot.vary):
            continue
        if slot.agrees_with:
            bundle |= {f: filled[slot.agrees_with].bundle[f] for f in slot.features}
        if slot.differs_from:
            other = filled[slot.differs_from].bundle
            if any(f in word.inherent and word.inherent[f] == other[f] for f in slot.features):
                continue
            for feature in slot.features:
                if feature not in word.inherent:
                    choices = [v for v in grammar.features[feature] if v != other[feature]]
                    bundle[feature] = generator.choice(choices)
        form = word.forms.get(part.form_name(bundle), "")
        if form:
            yield Filled(word, bundle, form)


def _is_telling(grammar: Grammar, template: GrammarTemplate, filled: Mapping[str, Filled]) -> bool:
    """Whether the target's wrong forms exist and differ from its right form."""
    if template.texts:
        return True
    target = filled[template.target.name]
    wrong = [form for _, form in _wrong_forms(grammar, template.target, target)]
    return all(wrong) and target.form not in wrong


def _wrong_forms(grammar: Grammar, slot: Slot, target: Filled) -> Iterator[tuple[str, str]]:
    """The wrong forms of a target, each with the name of its condition."""
    part = grammar.parts[slot.pos]
    for wrong in grammar.wrong_combinations(slot):
        bundle = dict(target.bundle)
        for feature in wrong:
            values = grammar.features[feature]
            bundle[feature] = values[(values.index(bundle[feature]) + 1) % len(values)]
        yield WRONG + "_".join(wrong), target.word.forms.get(part.form_name(bundle), "")


def _regions(whole: str, filled: Mapping[str, Filled], *, adversarial: bool) -> tuple[str, ...]:
    """The regions of a sentence; the first non-empty one begins with a capital."""
    regions = []
    for region in whole.split("|"):
        optional = _OPTIONAL.match(region.strip())
        text = optional[1] if optional else region.strip()
        shown = "" if optional and not adversarial else text
        regions.append(_SLOT.sub(lambda match: filled[match[1]].form, shown))
    first = next(index for index, text in enumerate(regions) if text)
    regions[first] = regions[first][:1].upper() + regions[first][1:]
    return tuple(regions)


def _item(
    grammar: Grammar,
    template: GrammarTemplate,
    filled: Mapping[str, Filled],
    number: int,
    *,
    adversarial: bool,
) -> Item:
    if template.texts:
        return _factorial_item(grammar, template, filled, number, adversarial=adversarial)
    slot = template.target
    target = filled[slot.name]
    forms = [(TARGET, target.form), *_wrong_forms(grammar, slot, target)]
    columns = _columns(template, filled, adversarial=adversarial)
    twins = dict(_twins(grammar, template, filled))
    conditions = []
    for name, form in forms:
        word = {slot.name: Filled(target.word, target.bundle, form)}
        texts = _regions(template.text, {**filled, **word}, adversarial=adversarial)
        cells = {
            column: write_regions(
                (text, False)
                for text in _regions(template.text, {**twin, **word}, adversarial=adversarial)
            )
            for column, twin in twins.items()
        }
        conditions.append(Condition(name, tuple(map(Region, texts)), {**columns, **cells}))
    return Item(str(number), tuple(conditions))


def _twins(
    grammar: Grammar, template: GrammarTemplate, filled: Mapping[str, Filled]
) -> Iterator[tuple[str, dict[str, Filled]]]:
    """The slots after a controller with the value that each wrong form of the target has.

    Twins are for interchanges (docs/explain.md); each comes with the name of its column. There is
    none where the controller has a feature in all of its forms, such as the gender of most nouns.
    """
    target = template.target
    if not target.agrees_with:
        return
    controller = filled[target.agrees_with]
    for wrong in grammar.wrong_combinations(target):
        other = {}
        for feature in wrong:
            values = grammar.features[feature]
            place = values.index(filled[target.name].bundle[feature])
            other[feature] = values[(place + 1) % len(values)]
        if any(feature in controller.word.inherent for feature in wrong):
            continue
        changed = {target.agrees_with: _inflected(grammar, controller, other)}
        for slot in template.slots:
            if slot.agrees_with == target.agrees_with and not slot.target:
                shared = {feature: other[feature] for feature in wrong if feature in slot.features}
                changed[slot.name] = _inflected(grammar, filled[slot.name], shared)
        if all(word.form for word in changed.values()):
            yield "_".join(("twin", *wrong)), {**filled, **changed}


def _inflected(grammar: Grammar, filled: Filled, values: FeatureBundle) -> Filled:
    """A word with other values of some features; its form is empty if it has none."""
    bundle = {**filled.bundle, **values}
    name = grammar.parts[filled.word.pos].form_name(bundle)
    return Filled(filled.word, bundle, filled.word.forms.get(name, ""))


def _factorial_item(
    grammar: Grammar,
    template: GrammarTemplate,
    filled: Mapping[str, Filled],
    number: int,
    *,
    adversarial: bool,
) -> Item:
    """An item with a condition for each combination of levels, all with the same words."""
    conditions = []
    for name, levels in grammar.conditions.items():
        texts = _regions(template.texts[name], filled, adversarial=adversarial)
        columns = {"phenomenon": template.name, **levels}
        conditions.append(Condition(name, tuple(map(Region, texts)), columns))
    return Item(f"{template.name}-{number:02}", tuple(conditions))


def _columns(
    template: GrammarTemplate, filled: Mapping[str, Filled], *, adversarial: bool
) -> dict[str, str]:
    """The columns with features of the target, and of the attractor if there is one."""
    slot = template.target
    target = filled[slot.name]
    columns = {"template": template.name, "lemma": target.word.lemma}
    columns |= {feature: target.bundle[feature] for feature in slot.features}
    attractors = [slot for slot in template.slots if slot.differs_from]
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
        status="generated, not yet reviewed",
    )
    if grammar.factors:
        suite = Suite(
            meta, region_names=grammar.regions, predictions=(), items=tuple(items),
            factors=dict(grammar.factors),
        )  # fmt: skip
        return with_design(suite)
    number = 1 + next(
        index
        for index, region in enumerate(grammar.templates[0].text.split("|"))
        if "{" + grammar.templates[0].target.name + "}" in region
    )
    return Suite(
        meta=meta,
        region_names=grammar.regions,
        predictions=tuple(
            Prediction(f"({number};%{TARGET}%) < ({number};%{condition.name}%)")
            for condition in items[0].conditions[1:]
        ),
        items=tuple(items),
    )
