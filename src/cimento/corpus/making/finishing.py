"""Suites made from decisions: pairs of sentences, or texts with a blank and options."""

from __future__ import annotations

import random
from collections.abc import Sequence

from cimento.corpus.connectives.inventories import Inventory
from cimento.corpus.connectives.passages import regions_of, replaced, spelt
from cimento.corpus.making.decisions import PairDecision
from cimento.errors import InputError
from cimento.paradigms.cloze.suite import ClozeItem, ClozeSuite, Option, OptionRole
from cimento.suites.model import Condition, Item, JsonValue, Meta, Prediction, Suite

KIND = "acceptability"
ACCEPTABLE, UNACCEPTABLE = "acceptable", "unacceptable"
REGIONS = ("before", "connective", "after")


def pair_suite(decisions: Sequence[PairDecision], inventory: Inventory, *, meta: Meta) -> Suite:
    """The acceptability section: each sentence, and the same with another connective.

    Args:
        decisions: of the section; those that are dropped become no item.
        inventory: that the connectives are of.
        meta: of the suite.

    Raises:
        InputError: all are dropped.
    """
    items = tuple(_pair(decision, inventory) for decision in decisions if not decision.dropped)
    if not items:
        raise InputError(where=meta.name, seen="every item is dropped", todo="Keep some.")
    extra: dict[str, JsonValue] = {"kind": KIND, "ratings": {}, "sources": sources(decisions)}
    prediction = Prediction(
        f"(*;%{ACCEPTABLE}%) < (*;%{UNACCEPTABLE}%)",
        comment="The sentence with its own connective is less surprising.",
    )
    return Suite(meta, REGIONS, (prediction,), items, extra=extra)


def cloze_suite(
    decisions: Sequence[PairDecision], inventory: Inventory, *, meta: Meta, seed: int
) -> ClozeSuite:
    """The cloze section; the order of the options is drawn by seed.

    Args:
        decisions: of the section; those that are dropped become no item.
        inventory: that the connectives are of.
        meta: of the suite.
        seed: of the order of options.
    """
    items = tuple(
        _cloze(decision, inventory, seed) for decision in decisions if not decision.dropped
    )
    return ClozeSuite(meta, items, cluster="connective", extra={"sources": sources(decisions)})


def sources(decisions: Sequence[PairDecision]) -> list[JsonValue]:
    """The files that items were taken from, with licence and sha256."""
    found: dict[str, JsonValue] = {
        decision.source["sha256"]: {
            "corpus": decision.source["corpus"],
            "file": decision.source["file"],
            "licence": decision.source["licence"],
            "sha256": decision.source["sha256"],
        }
        for decision in decisions
        if not decision.dropped
    }
    return list(found.values())


def licence_of(decisions: Sequence[PairDecision]) -> str:
    """The licences of all sources, with ``AND`` between them as SPDX has it."""
    return " AND ".join(dict.fromkeys(decision.source["licence"] for decision in decisions))


def _pair(decision: PairDecision, inventory: Inventory) -> Item:
    columns = {
        "connective": decision.connective,
        "replacement": decision.replacement,
        "grammaticality": "yes" if decision.grammatical else "no",
        "source": f"{decision.source['file']}#{decision.source['sent_id']}",
    }
    other = replaced(decision.passage, inventory[decision.replacement])
    both = ((ACCEPTABLE, decision.passage, "A"), (UNACCEPTABLE, other, "NA"))
    return Item(
        decision.id,
        tuple(
            Condition(
                name, regions_of(passage), {"sentence_id": f"{decision.id}{label}", **columns}
            )
            for name, passage, label in both
        ),
    )


def _cloze(decision: PairDecision, inventory: Inventory, seed: int) -> ClozeItem:
    passage = decision.passage
    names = (decision.connective, decision.plausible, *decision.implausible)
    forms = [passage.form, *(spelt(inventory[name], passage, elide=False) for name in names[1:])]
    roles: list[OptionRole] = ["target", "plausible"]
    roles += ["implausible"] * len(decision.implausible)
    variants = _variants(names, forms, inventory)
    order = [*forms]
    random.Random(f"{seed}/{decision.id}").shuffle(order)  # noqa: S311  # a draw, not a secret
    return ClozeItem(
        decision.id,
        passage.before,
        passage.after,
        tuple(
            Option(form, role, (variants[form],) if form in variants else ())
            for form, role in zip(forms, roles, strict=True)
        ),
        none_option=True,
        columns={
            "connective": decision.connective,
            "source": f"{decision.source['file']}#{decision.source['sent_id']}",
            "order": " ; ".join(order),
        },
    )


def _variants(names: Sequence[str], forms: Sequence[str], inventory: Inventory) -> dict[str, str]:
    """Each form of a connective with a euphonic one to the other form, in the same case."""
    found = {}
    for name, form in zip(names, forms, strict=True):
        connective = inventory[name]
        both = {connective.name, connective.euphonic}
        if connective.euphonic and connective.euphonic_before and form.lower() in both:
            (other,) = both - {form.lower()}
            found[form] = other[:1].upper() + other[1:] if form[:1].isupper() else other
    return found
