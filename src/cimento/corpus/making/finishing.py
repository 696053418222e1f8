"""Items made from decisions: a suite of sentence pairs, and the options of blanks."""

from __future__ import annotations

import random
from collections.abc import Sequence

from cimento.corpus.connectives.inventories import Connective, Inventory
from cimento.corpus.connectives.passages import regions_of, replaced, spelt
from cimento.corpus.making.decisions import PairDecision
from cimento.errors import InputError
from cimento.suites.model import Condition, Item, JsonValue, Meta, Prediction, Suite

KIND = "acceptability"
ACCEPTABLE, UNACCEPTABLE = "acceptable", "unacceptable"
REGIONS = ("before", "connective", "after")


def pair_suite(decisions: Sequence[PairDecision], inventory: Inventory, *, meta: Meta) -> Suite:
    """The suite of the acceptability section: each sentence, and the same with another connective.

    Args:
        decisions: decisions of the section; dropped ones do not become items.
        inventory: the inventory of the connectives.
        meta: metadata of the suite.

    Raises:
        InputError: all decisions are dropped.
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


def options_of(
    decision: PairDecision, inventory: Inventory, *, seed: int
) -> tuple[list[tuple[str, str]], list[str]]:
    """The options of a text with a blank: the target, the plausible one, the implausible ones.

    Args:
        decision: a decision of the section with blanks.
        inventory: the inventory of the connectives.
        seed: seed of the order in which options are shown.

    Returns:
        Each option with another spelling that counts as equal (``e`` and ``ed``), or "" for none;
        and the options in the order in which they are shown.
    """
    passage = decision.passage
    names = (decision.connective, decision.plausible, *decision.implausible)
    forms = [passage.form, *(spelt(inventory[name], passage, elide=False) for name in names[1:])]
    others = [
        _other_spelling(inventory[name], form) for name, form in zip(names, forms, strict=True)
    ]
    order = [*forms]
    random.Random(f"{seed}/{decision.id}").shuffle(order)  # noqa: S311  # a draw, not a secret
    return list(zip(forms, others, strict=True)), order


def sources(decisions: Sequence[PairDecision]) -> list[JsonValue]:
    """The source files of items, with licence and sha256."""
    fields = ("corpus", "file", "licence", "sha256")
    by_digest: dict[str, JsonValue] = {
        decision.source["sha256"]: {name: decision.source[name] for name in fields}
        for decision in decisions
        if not decision.dropped
    }
    return list(by_digest.values())


def licence_of(decisions: Sequence[PairDecision]) -> str:
    """The licences of all sources, joined by ``AND`` as in SPDX."""
    return " AND ".join(dict.fromkeys(decision.source["licence"] for decision in decisions))


def _pair(decision: PairDecision, inventory: Inventory) -> Item:
    columns = {
        "connective": decision.connective,
        "replacement": decision.replacement,
        "grammaticality": "yes" if decision.grammatical else "no",
        "source": decision.sentence,
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


def _other_spelling(connective: Connective, form: str) -> str:
    """The other form of a connective with a euphonic form, in the same case; "" without one."""
    both = {connective.name, connective.euphonic}
    if not (connective.euphonic and connective.euphonic_before and form.lower() in both):
        return ""
    (other,) = both - {form.lower()}
    return other[:1].upper() + other[1:] if form[:1].isupper() else other
