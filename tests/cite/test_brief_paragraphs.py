"""Paragraphs of at most 150 words on clusters, on designs, and on models that say little."""

from __future__ import annotations

import pytest

import cimento
from cimento.cite import methods_paragraph
from cimento.testing.models import uniform_scorer

CLUSTERS = (
    "with items of one number clustered (Korn and Graubard 1998; Franco et al. 2019), by"
    " cimento's own weight and limits (The cimento developers 2026)."
)


@pytest.mark.parametrize(
    ("suite", "column", "tail"),
    [
        ("it-subject-verb", "number", CLUSTERS),
        # DD is what a design is reported by, so nothing is said of intervals of its accuracies.
        ("it-islands", "phenomenon", "lengths alone give 0.000 to 0.111."),
    ],
)
def test_a_paragraph_on_clusters_is_as_short(suite, column, tail):
    said = methods_paragraph([cimento.evaluate(suite, "demo-causal", cluster=column)])
    assert len(said.split()) <= 150
    assert said.endswith(tail)
    over = "95% intervals over clusters (t with CR2 errors (Bell and McCaffrey 2002)) and Holm"
    assert (over in said) == (suite == "it-islands")


def test_a_paragraph_on_a_model_of_unknown_format_says_what_came_first():
    pair = cimento.pairs([("Il cane dorme.", "Il cane dormono.")], language="it")
    run = cimento.evaluate(pair, uniform_scorer(4))
    assert " computed with nothing before the first token." in methods_paragraph([run])
