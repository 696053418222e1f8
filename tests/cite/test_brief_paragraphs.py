"""Paragraphs of at most 150 words on clusters, on designs, and on models that say little."""

from __future__ import annotations

import re

import cimento
from cimento.cite import methods_paragraph
from cimento.testing.models import uniform_scorer

CLUSTERS = (
    "with items of one verb clustered (Korn and Graubard 1998; Franco et al. 2019), by"
    " cimento's own weight and limits (The cimento developers 2026)."
)


VERBS = (
    ("dorme", "dormono"), ("canta", "cantano"), ("parte", "partono"), ("legge", "leggono"),
    ("scrive", "scrivono"),
)  # fmt: skip


def test_a_paragraph_on_clusters_is_as_short(tmp_path):
    rows = [
        f"{one} {verb}.,{one} {other}.,{verb}"
        for verb, other in VERBS
        for one in ("Il pilota", "La cugina", "Suo fratello")
    ]
    path = tmp_path / "verbi.csv"
    path.write_text("\n".join(["good,bad,verb", *rows]), encoding="utf-8")
    run = cimento.evaluate(path, "demo-causal", cluster="verb")
    assert "because items of one verb belong together" in methods_paragraph([run], appendix=True)
    said = methods_paragraph([run])
    assert len(said.split()) <= 150
    assert said.endswith(CLUSTERS)


def test_a_paragraph_on_a_design_says_what_was_tested():
    said = methods_paragraph([cimento.evaluate("it-islands", "demo-causal")])
    assert len(said.split()) <= 150
    # DD is what a design is reported by, so nothing is said of its accuracies and their chance.
    assert said.endswith("0 unscored.")
    assert "Chance" not in said
    way = "studentized bootstrap (Hall 1988), used for 8 to 200 of them"
    assert f"95% intervals over items ({way}) and Holm" in said
    small = methods_paragraph([cimento.evaluate("it-islands", "demo-causal", limit=24)])
    assert "95% intervals over items (Student's t, used for fewer than 8) and Holm" in small


def test_a_paragraph_on_a_design_without_a_test_names_none():
    for options in ({"limit": 3}, {"cluster": "phenomenon"}):
        run = cimento.evaluate("it-islands", "demo-causal", **options)
        for appendix in (False, True):
            said = methods_paragraph([run], appendix=appendix)
            assert "It has neither an interval nor a test (" in said
            assert "an interval needs 5 or more)" in said
            assert not re.search("Holm|Student|bootstrap|was tested", said)


def test_a_paragraph_on_a_model_of_unknown_format_says_what_came_first():
    pair = cimento.pairs([("Il cane dorme.", "Il cane dormono.")], language="it")
    run = cimento.evaluate(pair, uniform_scorer(4))
    assert " computed with nothing before the first token." in methods_paragraph([run])


def test_intervals_of_many_suites_are_said_once():
    runs = [
        cimento.evaluate(name, "demo-causal", limit=6) for name in ("it-subject-verb", "it-idioms")
    ]
    assert methods_paragraph(runs).count("95% Wilson intervals") == 1


def test_the_methods_paragraph_of_one_prediction_says_which_inequality(tmp_path):
    pairs = cimento.pairs([("The cat sleeps.", "The cat sleep."), ("I am.", "I is.")])
    options = {"output": tmp_path}
    run = cimento.evaluate(pairs, "demo-causal", **options)
    said = "An item is correct if the grammatical sentence has the lower surprisal."
    assert said in methods_paragraph([run])
    by_measure = cimento.evaluate(pairs, "demo-causal", measures="meanlp", **options)
    assert "the grammatical sentence has the better value." in methods_paragraph([by_measure])
    other = cimento.evaluate("es-subject-verb", "demo-causal", limit=5, **options)
    words = "holds (verb: match less surprising than mismatch_number)."
    assert words in methods_paragraph([other])
    assert "Status: draft, not yet reviewed by native speakers." in methods_paragraph([other])
