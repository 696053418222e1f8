"""The methods of runs whose options differ: it is said which runs have which options."""

from __future__ import annotations

import pytest

import cimento
from cimento import open_runs
from cimento.cite import methods_paragraph
from cimento.kinds.run import Run


def run_of(model: str, **options) -> Run:
    """A run of three pairs, on their measure of whole sentences."""
    pairs = [("Le case sono alte.", "Le case è alte.")] * 3
    suite = cimento.pairs(pairs, language="it", name="houses")
    return cimento.evaluate(suite, model, **options)


def beginnings(text: str) -> list[str]:
    """What each paragraph says before its first sentence."""
    return [line.partition("We ")[0] for line in text.split("\n\n")]


@pytest.mark.parametrize("appendix", [False, True])
def test_a_model_judged_by_two_measures_has_a_paragraph_for_each(appendix):
    run = run_of("demo-causal")
    both = [run.judge(measures=measure) for measure in ("lp", "meanlp")]
    said = methods_paragraph(both, appendix=appendix)
    assert beginnings(said) == ["The run with measure = lp: ", "The run with measure = meanlp: "]
    for paragraph, one in zip(said.split("\n\n"), both, strict=True):
        assert paragraph.endswith(methods_paragraph([one], appendix=appendix))


def test_the_values_of_regions_and_a_missing_option_have_a_name():
    run = run_of("demo-causal")
    said = methods_paragraph([run, run_of("demo-causal", context="Ieri, ", measures="lp")])
    assert beginnings(said) == [
        "The run with no context and measure = regions: ",
        'The run with context = "Ieri, " and measure = lp: ',
    ]


def test_runs_of_other_suites_and_models_are_in_the_paragraph_of_their_way(runs_of_every_kind):
    [stories] = [run for run in open_runs(runs_of_every_kind) if run.suite_name == "es-stories"]
    mean = stories.judge(norm="token")
    others = [run for run in open_runs(runs_of_every_kind) if run.suite_name == "it-islands"]
    said = methods_paragraph([stories, mean, *others])
    assert beginnings(said) == ["The run with norm = sum: ", "The run with norm = token: ", ""]
    assert "it-islands" in said.split("\n\n")[2]
    assert "it-islands" not in "".join(said.split("\n\n")[:2])


def test_one_way_is_told_once_however_often_it_was_run():
    run = run_of("demo-causal")
    twice = methods_paragraph([run, run_of("demo-causal")])
    assert twice == methods_paragraph([run]).replace("Of 3", "Of 6")
    # What changes no number sets nothing apart.
    again = run_of("demo-causal", all_tokens=True, batch_size=1, store="rank")
    assert beginnings(methods_paragraph([run, again])) == [""]


def test_models_that_were_asked_in_different_ways_are_told_apart_in_one_paragraph():
    plain, after = run_of("demo-causal"), run_of("demo-masked", context="Ieri,")
    said = methods_paragraph([plain, after])
    assert "\n" not in said
    assert (
        f"The runs differ in their options: {plain.model} ran with no context; {after.model} ran"
        ' with context = "Ieri,".' in said
    )
    # The rule of masked models is not a difference from a causal one.
    other = run_of("demo-masked", pll="original")
    assert "differ in their options" not in methods_paragraph([plain, other])
    said = methods_paragraph([plain, other, run_of("demo-masked")])
    assert beginnings(said) == [
        "",
        "The run with pll = original: ",
        "The run with pll = within-word-l2r: ",
    ]


def test_the_verdicts_of_a_run_that_is_named_twice_count_once(tmp_path):
    run_of("demo-causal", output=tmp_path / "runs")
    [run] = open_runs(tmp_path / "runs")
    assert methods_paragraph([run, run]) == methods_paragraph([run])
