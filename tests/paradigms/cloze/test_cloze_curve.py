"""The curve of hit@k: its numbers, counted by hand, and its spec."""

from __future__ import annotations

import json

import pytest

from cimento import Meta, UsageError, evaluate
from cimento.cli.main import invoke
from cimento.paradigms.cloze.figures import curve_figure, curve_frame
from cimento.paradigms.cloze.files import write_cloze
from cimento.suites.cloze import ClozeItem, ClozeSuite, MultiwordItem

pytest.importorskip("altair")

MULTIWORDS = (
    MultiwordItem("1", "sangue freddo", "Ha mantenuto il {sangue} {freddo}."),
    MultiwordItem("2", "sangue freddo", "Ci vuole {sangue} {freddo}."),
    MultiwordItem("3", "mano morta", "La {mano} {morta} del mercato."),
)
ANSWERS = {
    "1/W1": ("sangue", "ritmo"), "1/W2": ("freddo", "caldo"), "2/W1": ("tempo", "sangue"),
    "2/W2": ("caldo", "puro"), "3/W1": ("parte", "faccia"), "3/W2": ("destra", "Morta"),
}  # fmt: skip


def run_of(tmp_path, suite, answers):
    rows = ["item\trank\tcandidate"]
    rows += [
        f"{item}\t{rank}\t{text}"
        for item, texts in answers.items()
        for rank, text in enumerate(texts, start=1)
    ]
    (tmp_path / "answers.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    folder = write_cloze(suite, tmp_path / "suite")
    recording = f"replay:{tmp_path / 'answers.tsv'}"
    return evaluate(folder, recording, output=tmp_path / "runs", k=2)


@pytest.fixture
def run(tmp_path):
    suite = ClozeSuite(Meta("it-small-idioms", language="it"), multiwords=MULTIWORDS)
    return run_of(tmp_path, suite, ANSWERS)


def test_the_curve_is_acc_at_each_rank(run):
    assert curve_frame([run]).select("k", "correct", "n").rows() == [(1, 2, 6), (2, 4, 6)]


def test_the_curve_is_written_as_numbers_and_as_a_spec(run, tmp_path):
    name = "curve"
    for ending in ("csv", "json"):
        path = tmp_path / f"{name}.{ending}"
        assert invoke(["report", str(run.folder), "--figure", name, "-o", str(path)]) == 0
    spec = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
    assert "vega-lite" in spec["$schema"]
    assert "correct" in (tmp_path / f"{name}.csv").read_text(encoding="utf-8")


def test_a_run_without_targets_has_no_curve(tmp_path):
    suite = ClozeSuite(Meta("it-none", language="it"), items=(ClozeItem("a", "La ", "."),))
    with pytest.raises(UsageError, match="figure curve"):
        curve_figure([run_of(tmp_path, suite, {"a": ("casa", "mela")})])
