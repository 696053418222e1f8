"""Two models on one suite have one p, whichever command says it, for suites of every kind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cimento.compare.equivalence_tables import equivalence_words
from cimento.statistics.power import TOST_SHARES, Equivalence
from tests.helpers.command_line import invoke
from tests.helpers.some_slow import some_slow

MODELS = ("-m", "demo-causal", "-m", "demo-masked")
SUITES = {
    "cloze": ("it-idioms", "--limit", "24"),
    "clustered cloze": ("it-connectives-cloze", "--limit", "40"),
    "templates": ("es-agreement-templates", "--limit", "63"),
    "stories": ("pt-stories", "--set", "shots=0", "--limit", "4"),
    "pairs": ("es-subject-verb",),
    "factorial": ("it-islands", "--limit", "32"),
    "acceptability": ("it-connectives", "--limit", "30"),
}


def said(capsys, *arguments: str) -> dict:
    capsys.readouterr()
    assert invoke([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def folders(output: Path) -> list[str]:
    paths = sorted(path.parent for path in output.glob("*/*/manifest.json"))
    assert len(paths) == 2
    return [str(path) for path in paths]


def same(one: float | None, other: float | None) -> bool:
    return one == other or one == pytest.approx(other, rel=1e-9)


@pytest.mark.parametrize("kind", some_slow([*SUITES], quick=4))
def test_before_and_after_and_every_pair_have_the_same_p(kind, tmp_path, capsys):
    said(capsys, "run", *SUITES[kind], *MODELS, "-o", str(tmp_path))
    two = said(capsys, "compare", *folders(tmp_path))["rates"]
    rankings = said(capsys, "compare", str(tmp_path), "--every-question")["rankings"]

    pairs = {ranking["question"]: ranking["pairs"] for ranking in rankings}
    # Of so few stories there is none.
    assert any(duel["test"]["p"] is not None for duel in two) == (kind != "stories")
    for duel in two:
        (pair,) = pairs[duel["question"]]
        assert same(duel["test"]["p"], pair["test"]["p"]), duel["question"]
        assert duel["test"]["method"] == pair["test"]["method"]
        assert same(duel["change"]["estimate"], pair["change"]["estimate"])


def test_a_templates_suite_has_no_p_from_too_few_sentences(tmp_path, capsys):
    """124 items of nine sentences are nine observations; McNemar's test of items says 1e-7."""
    arguments = ["run", "es-agreement-templates", *MODELS, "-o", str(tmp_path / "runs")]
    capsys.readouterr()
    assert invoke(arguments) == 0
    capsys.readouterr()
    assert invoke(["compare", str(tmp_path / "runs")]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 100
    block = " ".join(printed.split())
    assert "124" in block
    assert "124 items in 9 clusters: Bonett-Price at the effective number of items" in block
    assert "Scores of causal and masked models are on different scales: only rates" in block
    assert "McNemar, exact binomial" not in block


def test_scores_of_two_kinds_of_model_are_not_compared(tmp_path, capsys):
    output = tmp_path / "runs"
    said(capsys, "run", *SUITES["factorial"], *MODELS, "-o", str(output))
    comparison = said(capsys, "compare", *folders(output))

    assert {rate["note"] for rate in comparison["rates"]} == {
        "Scores of causal and masked models are on different scales: only rates are compared."
    }
    untested = [*comparison["values"], *(rate["values"] for rate in comparison["rates"])]
    for values in untested:
        change = values["change"]
        assert (change["value"], change["low"], change["p"]) == (None, None, None)
        assert change["reason"] == "scores of causal and masked models are on different scales"
        assert values["first"] is not None
    # Rates are beside each other, and are tested.
    assert all(rate["test"]["p"] is not None for rate in comparison["rates"])
    assert invoke(["compare", *folders(output)]) == 0
    assert "only rates are compared" in capsys.readouterr().out
    assert invoke(["compare", str(output)]) == 0
    assert "only rates are compared" in capsys.readouterr().out


def test_equivalence_is_asked_for_by_a_margin(tmp_path, capsys):
    output = tmp_path / "runs"
    said(capsys, "run", *SUITES["factorial"], *MODELS, "-o", str(output))
    runs = folders(output)
    (narrow,) = said(capsys, "compare", *runs, "--equivalent", "0.05")["equivalence"]
    (wide,) = said(capsys, "compare", *runs, "--equivalent", "0.3")["equivalence"]
    # The test says yes exactly where the 90% interval lies within the margin.
    for equivalence in (narrow, wide):
        within = (
            -equivalence["margin"] < equivalence["low"]
            and equivalence["high"] < equivalence["margin"]
        )
        assert equivalence["equivalent"] == within == (equivalence["p"] < 0.05)
    assert (narrow["equivalent"], wide["equivalent"]) == (False, True)
    tables = tmp_path / "tables"
    assert invoke(["compare", *runs, "--equivalent", "0.3", "-o", str(tables)]) == 0
    assert "equivalent within ±0.3" in capsys.readouterr().out
    assert "equivalent within ±0.3" in (tables / "equivalence.md").read_text(encoding="utf-8")
    assert invoke(["compare", str(output), "--equivalent", "0.05"]) == 0
    assert "cannot tell" in capsys.readouterr().out
    assert said(capsys, "compare", str(output), "--equivalent", "0.3")["equivalence"][0]["p"] == (
        pytest.approx(wide["p"])
    )
    assert invoke(["compare", *runs, "--equivalent", "0"]) == 2
    assert "margin" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("low", "high", "words"),
    # Of a margin of 0.05: within it; beyond it on either side; across an end; both ends outside.
    [
        (-0.04, 0.03, "equivalent within ±0.05"),
        (-0.44, -0.10, "differs by more than 0.05"),
        (0.06, 0.20, "differs by more than 0.05"),
        (-0.18, 0.02, "cannot tell"),
        (-0.20, 0.20, "cannot tell"),
        (0.01, 0.20, "cannot tell"),
    ],
)
def test_equivalence_is_answered_by_where_the_interval_lies(low, high, words):
    within = low > -0.05 and high < 0.05
    test = Equivalence((low + high) / 2, 0.5, low, high, within, TOST_SHARES)
    assert equivalence_words(test, margin=0.05) == words


def test_without_an_interval_equivalence_cannot_be_told():
    none = Equivalence(0.5, None, None, None, None, TOST_SHARES, "fewer than five items")
    assert equivalence_words(none, margin=0.05) == "cannot tell (fewer than five items)"
