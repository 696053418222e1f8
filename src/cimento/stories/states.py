"""The twenty attributes of GITA v1, their codes, and the fourteen states of GITA4CALAMITA.

Attributes and codes: Storks et al. 2021 (TRIP, doi:10.18653/v1/2021.findings-emnlp.422), as used
by Pensa, Altuna and Gonzalez-Dios 2024 (LREC-COLING).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Bearer: TypeAlias = Literal["actor", "object"]
Known: TypeAlias = "bool | None"


@dataclass(frozen=True, slots=True)
class Attribute:
    """One physical attribute.

    Attributes:
        name: as files write it.
        bearer: whether actors or objects have it.
        state: which of the fourteen states it belongs to; None for the two that belong to none.
        default: the code of an entity about which a sentence says nothing (TRIP).
        negative: what false means.
        positive: what true means.
    """

    name: str
    bearer: Bearer
    state: str | None
    default: int
    negative: str
    positive: str

    @property
    def codes(self) -> Mapping[int, str]:
        """The codes that the attribute may have, with their meaning."""
        if self.name == "h_location":
            return HUMAN_LOCATION_CODES
        if self.name == "location":
            return OBJECT_LOCATION_CODES
        return {code: self._meaning(before, after) for code, (before, after) in CHANGES.items()}

    def _meaning(self, before: Known, after: Known) -> str:
        if before is None and after is None:
            return "not concerned"
        return f"{self._side(before)} -> {self._side(after)}"

    def _side(self, value: Known) -> str:
        if value is None:
            return "?"
        return self.positive if value else self.negative


CHANGES: Mapping[int, tuple[Known, Known]] = {
    0: (None, None),
    1: (False, False),
    2: (True, True),
    3: (True, False),
    4: (False, True),
    5: (None, False),
    6: (None, True),
    7: (False, None),
    8: (True, None),
}
"""Code to the value before and after the sentence; None is unknown."""

HUMAN_LOCATION_CODES: Mapping[int, str] = {0: "not concerned", 1: "disappears", 2: "moves"}
OBJECT_LOCATION_CODES: Mapping[int, str] = {
    0: "not concerned",
    1: "disappears",
    2: "is picked up",
    3: "is put down",
    4: "is put on",
    5: "is removed",
    6: "is put into a container",
    7: "is taken out of a container",
    8: "is moved",
}

_ALL = (
    Attribute("h_location", "actor", "location", 0, "gone", "there"),
    Attribute("conscious", "actor", "conscious", 2, "unconscious", "conscious"),
    Attribute("wearing", "actor", "wearing", 0, "undressed", "dressed"),
    Attribute("h_wet", "actor", "wet", 0, "dry", "wet"),
    Attribute("hygiene", "actor", "clean", 0, "dirty", "clean"),
    Attribute("location", "object", "location", 0, "gone", "there"),
    Attribute("exist", "object", "exist", 2, "nonexistent", "existent"),
    Attribute("clean", "object", "clean", 0, "dirty", "clean"),
    Attribute("power", "object", "power", 0, "unpowered", "powered"),
    Attribute("functional", "object", "functional", 2, "broken", "functional"),
    Attribute("pieces", "object", "in pieces", 0, "whole", "in pieces"),
    Attribute("wet", "object", "wet", 0, "dry", "wet"),
    Attribute("open", "object", "open", 0, "closed", "open"),
    Attribute("temperature", "object", "temperature", 0, "cold", "hot"),
    Attribute("solid", "object", "solid", 0, "fluid", "solid"),
    Attribute("contain", "object", "occupied", 0, "empty", "occupied"),
    Attribute("running", "object", "power", 0, "off", "on"),
    Attribute("moveable", "object", None, 2, "stuck", "moveable"),
    Attribute("mixed", "object", None, 0, "separated", "mixed"),
    Attribute("edible", "object", "edible", 0, "inedible", "edible"),
)

ATTRIBUTES: Mapping[str, Attribute] = {each.name: each for each in _ALL}
"""The twenty attributes in the order of the files: five of actors, fifteen of objects."""


def bearers(bearer: Bearer) -> tuple[Attribute, ...]:
    """The attributes of actors, or those of objects."""
    return tuple(each for each in ATTRIBUTES.values() if each.bearer == bearer)


Side: TypeAlias = Literal["precondition", "effect"]


Value: TypeAlias = "bool | int | None"


_PLACES = ("h_location", "location")


def side_value(attribute: str, code: int, side: Side) -> Value:
    """What a code says of an attribute before or after a sentence.

    Args:
        attribute: one of the twenty.
        code: see `CHANGES`; of the two attributes of location, whose codes are
            kinds of movement, the code itself is the value, 0 being none.
        side: before (what the sentence needs) or after (what it causes).

    Returns:
        None where the code says nothing.
    """
    if attribute in _PLACES:
        return code or None
    before, after = CHANGES[code]
    return before if side == "precondition" else after


def is_default(attribute: str, value: Value) -> bool:
    """Whether a value is what holds of an attribute anyway, so that saying it is no knowledge."""
    if value is None:
        return True
    if attribute in _PLACES:
        return False
    default = CHANGES[ATTRIBUTES[attribute].default][1]
    return default is not None and value == default
