"""Blanks of templates and verbs: clusters of two columns, from suite.toml to every interval."""

from __future__ import annotations

import tomllib
from itertools import product

from cimento.cli.main import invoke
from cimento.evaluation import evaluate
from cimento.kinds.run import open_runs
from cimento.paradigms.cloze.files import write_cloze
from cimento.paradigms.cloze.own_tables import read_own_folder
from cimento.records.outcomes import design_of
from cimento.statistics.intervals import share_interval
from cimento.suites import Meta
from cimento.suites.cloze import ClozeItem, ClozeSuite, Option

VERBS = ["vede", "sente", "trova", "lava", "porta"]
ITEMS = tuple(
    ClozeItem(
        id=f"{template}{verb}",
        before=f"Nella storia {template} lui {VERBS[verb]} il ",
        after=".",
        options=(Option("cane"),),
        columns={"template": f"t{template}", "verb": VERBS[verb]},
    )
    for template, verb in product(range(6), range(5))
)
SUITE = ClozeSuite(Meta("prova", language="it"), items=ITEMS, cluster=["template", "verb"])
HIT = [verb < 2 or (template + verb) % 4 == 0 for template, verb in product(range(6), range(5))]


def recorded(path):
    """A recording in which the verb decides more than the template."""
    lines = ["item\trank\tcandidate\tprobability"]
    for item, hit in zip(ITEMS, HIT, strict=True):
        lines.append(f"{item.id}\t1\t{'cane' if hit else 'gatto'}\t0.5")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_folder_keeps_both_columns(tmp_path):
    folder = write_cloze(SUITE, tmp_path / "suite")
    settings = tomllib.loads((folder / "suite.toml").read_text(encoding="utf-8"))
    assert settings["options"]["cluster"] == ["template", "verb"]
    assert read_own_folder(folder).suite.cluster == ("template", "verb")


def test_the_interval_of_hits_is_over_both_factors(tmp_path):
    folder = write_cloze(SUITE, tmp_path / "suite")
    evaluate(str(folder), f"replay:{recorded(tmp_path / 'a.tsv')}", output=tmp_path / "runs")
    (run,) = open_runs(tmp_path / "runs")
    table = run.outcomes()
    outcomes = table.filter(table["question"].str.starts_with("hit@1"))
    outcomes = outcomes.filter(outcomes["question"] == outcomes["question"][0])
    design = design_of(outcomes["item"].to_list(), outcomes["cluster"].to_list())
    assert [factor.m for factor in design.factors()] == [6, 5]
    expected = share_interval(HIT, design)
    rate = next(one for one in run.estimates() if one.question == "hit@1")
    assert (rate.low, rate.high) == (expected.low, expected.high)


def test_the_profile_counts_clusters_of_the_smaller_factor(tmp_path, capsys):
    folder = write_cloze(SUITE, tmp_path / "suite")
    path = recorded(tmp_path / "a.tsv")
    assert invoke(["run", str(folder), "-m", f"replay:{path}", "-o", str(tmp_path / "runs")]) == 0
    capsys.readouterr()
    assert invoke(["analyze", "profile", str(tmp_path / "runs")]) == 0
    assert "30     5         vede (6)" in capsys.readouterr().out
