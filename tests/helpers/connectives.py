"""Three Italian sentences with a connective to fill in, and others that fit or do not."""

from __future__ import annotations

from cimento import Meta
from cimento.suites.cloze import ClozeItem, ClozeSuite, Option

CONNECTIVES = ClozeSuite(
    Meta("it-connectives-small", language="it"),
    items=(
        ClozeItem(
            "pioggia",
            "Siamo usciti ",
            " pioveva.",
            (
                Option("anche se"),
                Option("mentre", "plausible"),
                Option("quindi", "implausible"),
            ),
            columns={"relation": "concessive", "sentence": "a"},
        ),
        ClozeItem(
            "febbre",
            "Il bambino resta a casa ",
            " ha la febbre.",
            (Option("perché", variants=("perche'",)), Option("ma", "implausible")),
            columns={"relation": "causal", "sentence": "a"},
        ),
        ClozeItem("fame", "Ho fame, ", " mangio.", (Option("quindi"), Option("se", "implausible"))),
    ),
)
