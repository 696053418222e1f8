"""The tables of explanations: answers about the inside of a model, and what follows from them."""

from __future__ import annotations

from cimento.io.tables import TableSchema

PATCHES = TableSchema(
    name="patches",
    columns={
        "request": "Int32",
        # exact, shifted or last token; see docs/parts/tables.md.
        "alignment": "String",
        # 0 is the input of the first layer, n the n-th layer.
        "layer": "Int32",
        # From 0; null unless single heads are exchanged.
        "head": "Int32",
        "position": "Int32",
        "start": "Int32",
        "end": "Int32",
        "logprob_nats": "Float64",
    },
)

GRADIENTS = TableSchema(
    name="gradients",
    columns={
        "request": "Int32",
        "position": "Int32",
        "start": "Int32",
        "end": "Int32",
        "token": "String",
        # The token's contribution to the log-probability of what is measured.
        "contribution_nats": "Float64",
        # The same in all rows of a request: the scores of the text and of the baseline.
        "logprob_nats": "Float64",
        "baseline_nats": "Float64",
        # Number of measured tokens without a score, and of points at which gradients were taken.
        "unscored": "Int32",
        "steps": "Int32",
    },
)

EXPLANATIONS = TableSchema(
    name="explanations",
    columns={
        "suite": "String",
        "item": "String",
        # As in the outcomes; of a prediction with several comparisons, with the number of one.
        "question": "String",
        # Whose states are put into whom: "wh_gap into that_gap".
        "swap": "String",
        # residual, attention, mlp or heads.
        "part": "String",
        "region": "Int32",
        "region_name": "String",
        # 0 is the input of the first layer; null where nothing could be exchanged.
        "layer": "Int32",
        "head": "Int32",
        # exact, shifted or last token; see docs/parts/tables.md.
        "alignment": "String",
        # The margin of the prediction, and by how much the interchange lowers it.
        "margin_bits": "Float64",
        "effect_bits": "Float64",
        # The effect of exchanging everything: the margin less that with the source's own values.
        "full_bits": "Float64",
        # Why there is no effect.
        "reason": "String",
        # The sentence that states come from; of several bases, that of the first.
        "source_text": "String",
        # The item that the controller of a built twin comes from; null for no other.
        "donor": "String",
    },
)

ATTRIBUTIONS = TableSchema(
    name="attributions",
    columns={
        "suite": "String",
        "item": "String",
        # As in the explanations.
        "question": "String",
        # gradient or integrated.
        "rule": "String",
        # mean or zero.
        "baseline": "String",
        "condition": "String",
        "region": "Int32",
        "region_name": "String",
        "position": "Int32",
        "start": "Int32",
        "end": "Int32",
        "token": "String",
        # The contribution to the margin of the prediction; positive where it helps.
        "contribution_bits": "Float64",
        # The margin, and the margin with baselines in place of all words.
        "margin_bits": "Float64",
        "baseline_bits": "Float64",
        # By how much the contributions of the sentence miss its part in the difference of the two.
        "gap_bits": "Float64",
        "steps": "Int32",
        # Why there is no contribution.
        "reason": "String",
    },
)

EXPLAINED = (EXPLANATIONS, ATTRIBUTIONS)
"""The tables that explanations add to finished runs."""
