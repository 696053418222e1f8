"""What can be wrong with a cloze suite, found before any model is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from cimento.cloze.faults import fault
from cimento.cloze.judging.expected import EXPECTED, parse_expectation
from cimento.cloze.records import ClozeItem, ClozeSuite, MultiwordItem, Template
from cimento.cloze.templates import Expansion, expand_suite
from cimento.errors import Fault, InputError
from cimento.io.parsing import filled

_SHOWN = 5


def check_cloze(suite: ClozeSuite) -> tuple[Fault, ...]:
    """Every fault of a suite, errors and warnings, in the order of their codes."""
    expansion = expand_suite(suite)
    found = [
        *_check_templates(suite.templates),
        *_check_multiwords(suite.multiwords),
        *_check_ids(expansion),
        *_check_options(expansion.items),
        *_check_shared(expansion),
        *_check_expectations(expansion.items),
        *_check_texts(expansion.items),
        *_check_clusters(suite, expansion.items),
    ]
    if not expansion.items:
        found.append(fault("CIM-C009", where=suite.name, seen="The suite has no items."))
    if not suite.meta.language:
        found.append(
            fault("CIM-C010", where=suite.name, seen="The suite does not name a language.")
        )
    return tuple(sorted(found, key=lambda each: each.code))


def _check_templates(templates: Iterable[Template]) -> Iterator[Fault]:
    for template in templates:
        where = f"template {template.id!r}"
        marked = [sentence for sentence in template.sentences if sentence.has_seed]
        forms = [form for each in template.seeds for form in each.forms]
        said = [form for form in forms if form]
        if marked and not forms:
            seen = f"There is a <SEED> in {marked[0].text!r} and no forms to put there."
            yield fault("CIM-C002", where=where, seen=seen)
        if said and not marked:
            seen = f"There are {len(said)} forms and no sentence with a <SEED>."
            yield fault("CIM-C003", where=where, seen=seen)
        for each in template.seeds:
            for form, times in Counter(each.forms).items():
                if times > 1:
                    seen = f"The form {form!r} is {times} times in the category {each.category!r}."
                    yield fault("CIM-C011", where=where, seen=seen)


def _check_multiwords(items: Iterable[MultiwordItem]) -> Iterator[Fault]:
    for item in items:
        where = f"item {item.id!r}"
        braces = item.text.count("{"), item.text.count("}")
        if len(item.words) != braces[0] or braces[0] != braces[1]:
            seen = f"The braces in {item.text!r} do not pair up."
            yield fault("CIM-C006", where=where, seen=seen)
        elif len(item.words) == 1:
            seen = f"Only one word is marked in {item.text!r}."
            yield fault("CIM-C006", where=where, seen=seen)
        elif not all(word.strip() for word in item.words):
            seen = f"There are braces with no word in {item.text!r}."
            yield fault("CIM-C006", where=where, seen=seen)


def _check_ids(expansion: Expansion) -> Iterator[Fault]:
    for name, times in Counter(item.id for item in expansion.items).items():
        if times > 1:
            seen = f"The id is there {times} times."
            yield fault("CIM-C004", where=f"item {name!r}", seen=seen)


def _check_options(items: Iterable[ClozeItem]) -> Iterator[Fault]:
    for item in items:
        texts = Counter(text for option in item.options for text in set(option.spellings))
        for text, times in texts.items():
            if times > 1:
                seen = f"{text!r} is {times} of its options."
                yield fault("CIM-C007", where=f"item {item.id!r}", seen=seen)


def _check_shared(expansion: Expansion) -> Iterator[Fault]:
    forms: dict[str, list[str]] = {}
    for each in expansion.shared:
        told = f"{each.form} ({', '.join(each.categories)})"
        forms.setdefault(each.template, []).append(told)
    for template, shared in forms.items():
        seen = f"{len(shared)} of its forms are in several categories: {'; '.join(shared)}."
        yield fault("CIM-C012", where=f"template {template!r}", seen=seen)


def _check_expectations(items: Iterable[ClozeItem]) -> Iterator[Fault]:
    for item in items:
        text = item.columns.get(EXPECTED, "")
        if not text:
            continue
        try:
            parse_expectation(filled(text, item.columns))
        except (InputError, KeyError, ValueError) as error:
            told = f"{error.seen}." if isinstance(error, InputError) else ""
            seen = told or f"{text!r} names no column."
            yield fault("CIM-C013", where=f"item {item.id!r}", seen=seen)


def _check_texts(items: Iterable[ClozeItem]) -> Iterator[Fault]:
    seen_before: dict[tuple[str, str], str] = {}
    for item in items:
        if "  " in item.text:
            seen = f"There are several blanks in a row in {item.text!r}."
            yield fault("CIM-C015", where=f"item {item.id!r}", seen=seen)
        first = seen_before.setdefault((item.before, item.after), item.id)
        if first != item.id:
            seen = f"Its text is that of item {first!r}: {item.text!r}."
            yield fault("CIM-C016", where=f"item {item.id!r}", seen=seen)


def _check_clusters(suite: ClozeSuite, items: Iterable[ClozeItem]) -> Iterator[Fault]:
    if not suite.cluster:
        return
    without = [item.id for item in items if suite.cluster not in item.columns]
    if without:
        shown = ", ".join(map(repr, without[:_SHOWN]))
        seen = f"The column {suite.cluster!r} is missing in {len(without)} items: {shown}."
        yield fault("CIM-C014", where="suite.toml [options] cluster", seen=seen)
