"""The models that R fits to an exported run, beside our own fits."""

import csv
import io
import shutil

import pytest

from cimento.cli.main import invoke
from cimento.paradigms.regions.factorial import INTERCEPTS
from cimento.statistics.mixed import mixed_model
from tests.helpers.r_script import printed_by_r


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A run of three items of each of the five types of islands, which have a model each."""
    folder = tmp_path_factory.mktemp("islands")
    runs = str(folder / "runs")
    assert invoke(["run", "it-islands", "-m", "demo-causal", "--limit", "15", "-o", runs]) == 0
    assert invoke(["export", runs, "--to", "r", "-o", str(folder / "r")]) == 0
    return folder / "r"


def rows_of_two(right):
    """Verdicts on two models, from pairs of ones and zeros."""
    head = "suite,model,kind,item,cluster,question,verdict,right,value,unit,reference,phenomenon"
    lines = [
        f"s,{model},causal,{item},,all predictions,,{one},,,,"
        for item, both in enumerate(right)
        for model, one in zip("ab", both, strict=True)
    ]
    return "\n".join([head, *lines]) + "\n"


@pytest.mark.slow
def test_r_gives_no_p_value_of_a_degenerate_fit(exported, tmp_path):
    shutil.copytree(exported, tmp_path, dirs_exist_ok=True)
    right = [(1, 1)] + [(0, 0)] * 8 + [(0, 1)] * 3
    (tmp_path / "outcomes.csv").write_text(rows_of_two(right))
    verdicts = printed_by_r(tmp_path).partition("s - all predictions")[2].partition("it-islands")[0]
    assert "No p-values, since the fit is degenerate: random effects vary by" in verdicts
    assert "Pr(>|z|)" not in verdicts
    # binom.test(0, 3): 2 / 2^3
    assert "on 12 items: only a right 0, only b right 3, p = 0.25" in verdicts


@pytest.mark.slow
def test_r_fits_what_we_fit(exported):
    printed = printed_by_r(exported)
    rows = list(csv.DictReader(io.StringIO((exported / "scores.csv").read_text("utf-8"))))
    names = {"score": "oriented", "first": "distance_code", "second": "structure_code"}
    for kind in {row["phenomenon"] for row in rows}:
        of_kind = [row for row in rows if row["phenomenon"] == kind]
        columns = {name: [float(row[column]) for row in of_kind] for name, column in names.items()}
        model = mixed_model(INTERCEPTS, {**columns, "item": [row["item"] for row in of_kind]})
        effect = model.effect("second:first")
        fitted = printed.partition(f"- {kind}")[2].splitlines()
        line = next(row for row in fitted if row.startswith("structure_code:distance_code"))
        estimate, error = map(float, line.split()[1:3])
        assert estimate == pytest.approx(effect.estimate, rel=1e-3)
        assert error == pytest.approx(effect.se, rel=1e-3)
