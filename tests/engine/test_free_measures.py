"""Measures of free texts are those of a suite's sentences, and of the formulas."""

from __future__ import annotations

import csv
import math

import pytest

from cimento import score
from cimento.cli.main import invoke
from cimento.evaluation.free_measures import measure_texts

TEXTS = ["Le lampade erano accese.", "Il gatto dorme.", "Il gatto dorme."]


def test_lp_penlp_and_perplexity_are_their_formulas():
    """PenLP is LP / ((5 + n) / 6) ** alpha (Lau et al. 2020); ppl is exp(-LP / n)."""
    table = measure_texts(TEXTS, "demo-causal", measures=["lp", "penlp:0.6", "ppl", "pppl"])
    tokens = score(TEXTS, "demo-causal", level="sentence")
    values = {(row["text"], row["measure"]): row for row in table.iter_rows(named=True)}
    for number, bits, n in tokens.select("text", "surprisal_bits", "n_tokens").iter_rows():
        lp = -bits * math.log(2)
        assert values[number, "lp"]["value"] == pytest.approx(lp, rel=1e-12)
        penalized = lp / ((5 + n) / 6) ** 0.6
        assert values[number, "penlp:0.6"]["value"] == pytest.approx(penalized, rel=1e-12)
        assert values[number, "ppl"]["value"] == pytest.approx(math.exp(-lp / n), rel=1e-12)
        absent = values[number, "pppl"]
        assert (absent["value"], "only a masked model" in absent["unscored_reason"]) == (None, True)
    assert [row["text"] for row in table.iter_rows(named=True)] == sorted([1, 2, 3] * 4)


def test_the_command_writes_one_row_for_each_text_and_measure(tmp_path, capsys):
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS[:2]), encoding="utf-8")
    told = ["score", str(tmp_path / "texts.txt"), "-m", "demo-causal"]
    assert invoke([*told, "--measure", "lp,slor", "--unigrams", "model"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines(), delimiter="\t"))
    assert [(row["text"], row["measure"]) for row in rows] == [
        ("1", "lp"), ("1", "slor"), ("2", "lp"), ("2", "slor"),
    ]  # fmt: skip
    assert all(float(row["value"]) for row in rows)
    for more, seen in (
        (["--measure", "lpp"], "there is no such measure"),
        (["--measure", "lp", "--words"], "--measure is about whole texts"),
        (["--measure", "lp", "--end-marks", "?"], "--measure is given too"),
    ):
        assert invoke([*told, *more]) == 2
        assert seen in capsys.readouterr().err
