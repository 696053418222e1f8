"""The methods of comparisons name the tests and corrections that were made, and no others."""

from __future__ import annotations

import pytest

from cimento import analyze, compare
from cimento.compare.methods import analysis_methods, comparison_methods, ranking_methods
from tests.helpers.command_line import invoke
from tests.helpers.made_runs import made_run, outcomes_of


def judged(marks: str, model: str = "m@1", **more):
    """A run of one prediction; clusters as they are given."""
    return made_run(model, outcomes_of(marks, **more))


def test_independent_items_are_said_to_be_tested_by_mcnemar_and_one_test_is_not_corrected():
    said = comparison_methods(compare(judged("-" * 10), judged("+" * 10, "n@1")))
    assert "We compared m@1 with n@1 with cimento (" in said
    assert "on the same 10 items." in said
    assert "tested by McNemar, exact binomial (McNemar 1947)." in said
    assert "95% intervals by Bonett-Price (Bonett and Price 2012)." in said
    assert "One test was made, so that p is not corrected." in said
    for other in ("Holm", "CR2", "jackknife", "clusters"):
        assert other not in said


def test_clustered_items_are_said_with_their_test_and_the_number_of_clusters():
    clusters = {"cluster": {str(k): str(k // 2) for k in range(16)}}
    one = judged("+-++--++--+-++-+", **clusters)
    other = judged("--+-+-+---+--+--", "n@1", **clusters)
    said = comparison_methods(compare(one, other))
    assert "Items belong together in clusters: 8 in s." in said
    effective = "Bonett-Price at the effective number of items (Bonett and Price 2012)"
    assert f"tested by {effective}" in said
    assert f"95% intervals by {effective}" in said
    assert "McNemar" not in said


@pytest.mark.parametrize(
    ("correction", "work"), [("holm", "(Holm 1979)"), ("bh", "(Benjamini and Hochberg 1995)")]
)
def test_several_models_are_corrected_by_what_was_asked_for(correction, work):
    runs = [judged(marks, f"{name}@1") for marks, name in
            (("+++++-+++-", "a"), ("+-++--++--", "b"), ("-----+----", "c"))]  # fmt: skip
    ranked = compare(runs, correction=correction)
    said = ranking_methods(ranked, correction=correction)
    assert "a@1, b@1 and c@1 on s with cimento" in said
    assert f"{work} over 3 tests." in said
    assert "All models of a suite together were tested by Cochran's Q" in said
    assert "Ranks are those that the tests of all pairs leave open" in said


def test_an_analysis_says_its_model_its_answers_and_what_was_left_out():
    marks = ("+++++++-+=", "++++++---?", "+++-+-----", "++--------", "+-+++-+---")
    analysis = analyze([judged(row, f"m{k}") for k, row in enumerate(marks)], kind="rasch")
    said = analysis_methods(analysis)
    assert "49 answers to 10 items by 5 models were fitted by a Rasch model" in said
    assert "Not judged, and left out: 1 answer. Ties counted as they were judged: 1." in said
    assert "Models are taken to answer independently of each other." in said
    assert "likelihood ratio" not in said


def test_the_commands_print_the_paragraph_and_no_table(runs_of_every_kind, capsys):
    runs = [str(runs_of_every_kind / "it-islands")] * 2
    assert invoke(["compare", *runs, "--methods"]) == 0
    (paragraph,) = capsys.readouterr().out.splitlines()
    assert paragraph.startswith("We compared ")
    assert "without correction" in paragraph or "could not be tested" in paragraph


def test_an_analysis_says_its_families():
    marks = ("+++++++-+-", "++++++----", "+++-+-----", "++--------", "+-+++-+---")
    runs = [judged(row, f"x/step-{k}" if k < 3 else f"m{k}") for k, row in enumerate(marks)]
    said = analysis_methods(analyze(runs, kind="rasch"))
    assert "an effect on each item in common (Bradlow et al. 1999): x (3 models)." in said
    assert "independently" not in said
