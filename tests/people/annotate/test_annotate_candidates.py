"""Candidates judged in the terminal, by scripts of what is typed; tables out and in; agreement."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook

from cimento import InputError, Meta, UsageError, evaluate
from cimento.cli import annotate_candidates
from cimento.io.tables import JUDGMENTS, read_table
from cimento.people.annotate import CandidateDecision, Journal, journals, store_judgments
from cimento.people.annotate.candidates import CandidateDialogue, CandidateTask, Remarks, part_of
from cimento.people.annotate.spreadsheets import read_candidates, write_candidates
from cimento.suites.cloze import ClozeItem, ClozeSuite, Option
from tests.helpers.command_line import invoke

TASKS = tuple(
    CandidateTask(item, candidate, "La casa è ", ".", {"template": "casa"}, probability)
    for item, candidate, probability in (
        ("a", "rossa", 0.5), ("a", "rosso", 0.2), ("b", '"', 0.1), ("b", "=1+1", None),
    )
)  # fmt: skip


class Script:
    """What a person types, line by line, and what was shown."""

    def __init__(self, *lines: str) -> None:
        self.lines = list(lines)
        self.shown: list[str] = []

    def read(self, prompt: str) -> str | None:
        self.shown.append(prompt)
        return self.lines.pop(0) if self.lines else None

    @property
    def text(self) -> str:
        return "\n".join(self.shown)


def play(folder, *lines, tasks=TASKS, annotator="ana", **options):
    script = Script(*lines)
    journal = Journal(folder, annotator)
    remarks = Remarks(folder / "remarks.txt")
    CandidateDialogue(tasks, journal, remarks, **options).run(script.read, script.shown.append)
    return script, Journal(folder, annotator).decisions


def said(decisions):
    return {pair: decision.fits for pair, decision in decisions.items()}


def test_one_decision_a_candidate(tmp_path):
    script, decisions = play(tmp_path, "y", "n", "n", "y")
    assert said(decisions) == {
        ("a", "rossa"): "yes", ("a", "rosso"): "no", ("b", '"'): "no", ("b", "=1+1"): "yes",
    }  # fmt: skip
    assert "La casa è [rossa]." in script.text
    assert "template: casa" in script.text
    assert "4 of 4 candidates judged" in script.shown[-1]
    assert all(decision.at.endswith("+00:00") for decision in decisions.values())


def test_probabilities_are_hidden_until_they_are_asked_for(tmp_path):
    script, _ = play(tmp_path, "q")
    assert "0.5" not in script.text
    assert "probability: 0.5000" in play(tmp_path, "p", "q")[0].text
    assert "probability: 0.5000" in play(tmp_path, "q", show_probability=True)[0].text


def test_it_goes_on_where_it_was_after_any_interruption(tmp_path):
    class CutError(Exception):
        pass

    def cut(_prompt: str) -> str:
        if lines:
            return lines.pop(0)
        raise CutError

    lines = ["y", "n"]
    journal = Journal(tmp_path, "ana")
    with pytest.raises(CutError):
        CandidateDialogue(TASKS, journal, Remarks(tmp_path / "r.txt")).run(cut, lambda _text: None)
    script, decisions = play(tmp_path, "y")
    assert "2 of 4 candidates judged" in script.shown[0]
    assert "3/4  b" in script.shown[1]
    assert len(decisions) == 3


def test_a_line_that_was_cut_off_is_passed_over_and_overwritten(tmp_path):
    play(tmp_path, "y", "n")
    path = Journal(tmp_path, "ana").path
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"item": "b", "cand')
    assert len(Journal(tmp_path, "ana").decisions) == 2
    _, decisions = play(tmp_path, "y")
    assert said(decisions)["b", '"'] == "yes"
    assert [json.loads(line)["item"] for line in path.read_text().splitlines()] == ["a", "a", "b"]


def test_a_journal_that_is_none_is_refused(tmp_path):
    path = Journal(tmp_path, "ana").path
    path.parent.mkdir()
    path.write_text('{"item": "a"}\n')
    with pytest.raises(InputError, match="line 1"):
        Journal(tmp_path, "ana")
    with pytest.raises(UsageError, match="annotator"):
        Journal(tmp_path, "../ana")


def test_undo_takes_back_and_restores_what_was_there(tmp_path):
    script, decisions = play(tmp_path, "y", "u", "n", "q")
    assert said(decisions) == {("a", "rossa"): "no"}
    assert "Taken back." in script.text
    _, decisions = play(tmp_path, "j 1", "y", "u", "q")
    assert said(decisions) == {("a", "rossa"): "no"}
    script, _ = play(tmp_path, "u", "q")
    assert "Nothing was decided in this session" in script.text


def test_skip_back_and_jump(tmp_path):
    script, decisions = play(tmp_path, "s", "y", "b", "b", "n", "j 4", "y", "j", "n")
    assert said(decisions) == {
        ("a", "rosso"): "yes", ("a", "rossa"): "no", ("b", "=1+1"): "yes", ("b", '"'): "no",
    }  # fmt: skip
    script, _ = play(tmp_path, "j 9", tasks=[*TASKS, CandidateTask("c", "x", "", "", {})])
    assert "from 1 to 5" in script.text


def test_remarks_come_from_a_list_that_can_be_edited(tmp_path):
    remarks = tmp_path / "remarks.txt"
    remarks.write_text("not an adjective\n\nno gender\n", encoding="utf-8")
    script, decisions = play(tmp_path, "r", "y 1 2", "n too old", "+ spelling", "n 3", "n 7", "q")
    assert [decision.remarks for decision in decisions.values()] == [
        ("not an adjective", "no gender"), ("too old",), ("spelling",),
    ]  # fmt: skip
    assert "There is no remark 7" in script.text
    assert remarks.read_text(encoding="utf-8").splitlines()[-1] == "spelling"


def test_what_is_no_key_does_nothing(tmp_path):
    script, decisions = play(tmp_path, "x", "", "?", "q")
    assert not decisions
    assert "'x' is not a key" in script.text


@given(st.lists(st.sampled_from(["y", "n", "u", "s", "b", "j", "p", "j 2", "j 3"]), max_size=25))
@settings(deadline=None)
def test_no_script_loses_or_invents_a_decision(tmp_path_factory, lines):
    """The last word about each candidate, kept by hand beside the dialogue."""
    folder = tmp_path_factory.mktemp("run")
    script = Script(*lines)
    journal = Journal(folder, "ana")
    dialogue = CandidateDialogue(TASKS, journal, Remarks(folder / "remarks.txt"))
    dialogue.run(script.read, script.shown.append)
    kept = Journal(folder, "ana")
    assert kept.decisions == journal.decisions
    assert set(kept.decisions) <= {task.pair for task in TASKS}
    typed = [line for line in lines[: len(lines) - len(script.lines)] if line in ("y", "n")]
    assert len(kept.decisions) <= len(typed)
    assert dialogue.judged == len(kept.decisions)


@pytest.mark.parametrize("suffix", [".tsv", ".xlsx"])
def test_tables_go_out_and_come_in_again(suffix, tmp_path):
    tokens = ['"', "'", "\t", "10", "null", "NA", "", "[UNK]", "##s", "=1+1", "\\", " a", "a\nb"]
    tasks = [CandidateTask(f"i{n}", token, "Una ", ".", {}) for n, token in enumerate(tokens)]
    decisions = {
        task.pair: CandidateDecision(*task.pair, "yes", ("uno", "due")) for task in tasks[::2]
    }
    path = write_candidates(tasks, decisions, tmp_path / f"out{suffix}")
    back = read_candidates(path, tasks)
    assert {decision.pair: decision for decision in back} == decisions
    if suffix == ".xlsx":
        sheet = load_workbook(path).active
        assert {cell.data_type for row in sheet.iter_rows() for cell in row if cell.value} == {"s"}


def test_tables_that_cannot_be_used_are_refused(tmp_path):
    path = tmp_path / "in.tsv"
    for content, said_so in (
        ("item\tcandidate\n", "no column 'fits'"),
        ("item\tcandidate\tfits\nz\trossa\tyes\n", "no candidate 'rossa' for the item 'z'"),
        ("item\tcandidate\tfits\na\trossa\tmaybe\n", "fits is 'maybe'"),
    ):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=said_so):
            read_candidates(path, TASKS)
    with pytest.raises(UsageError, match="neither"):
        write_candidates(TASKS, {}, tmp_path / "out.csv")


def test_items_are_shared_out_with_some_for_all():
    tasks = [CandidateTask(f"i{n}", c, "", "", {}) for n in range(7) for c in "xy"]
    shares = [part_of(tasks, part, 3, overlap=1) for part in (1, 2, 3)]
    assert {task.item for share in shares for task in share} == {f"i{n}" for n in range(7)}
    for share in shares:
        assert {task.pair for task in share} >= {("i0", "x"), ("i0", "y")}
    unshared = [{task.item for task in share} - {"i0"} for share in shares]
    assert not unshared[0] & unshared[1] | unshared[1] & unshared[2]


@pytest.fixture
def run_folder(tmp_path):
    items = tuple(ClozeItem(name, f"{name} è ", ".") for name in ("casa", "strada"))
    suite = ClozeSuite(Meta("it-small", language="it"), items=items)
    recorded = tmp_path / "answers.tsv"
    rows = ["item\trank\tcandidate\tprobability"]
    rows += [f"{item}\t{rank}\t{text}\t0.{5 - rank}" for item in ("casa", "strada")
             for rank, text in enumerate(("rossa", "rosso", "##i"), start=1)]  # fmt: skip
    recorded.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return evaluate(suite, f"replay:{recorded}", output=tmp_path / "runs").folder


def typed(monkeypatch, *lines):
    waiting = list(lines)
    monkeypatch.setattr(
        annotate_candidates, "_typed", lambda _prompt: waiting.pop(0) if waiting else None
    )


def test_a_run_is_judged_exported_imported_and_compared(run_folder, tmp_path, monkeypatch, capsys):
    typed(monkeypatch, "y", "n", "n", "y", "n", "n")
    assert invoke(["annotate", "candidates", str(run_folder), "--annotator", "ana"]) == 0
    assert "[rossa]" in capsys.readouterr().out
    table = tmp_path / "bob.xlsx"
    bob = ["annotate", "candidates", str(run_folder), "--annotator", "bob"]
    assert invoke([*bob, "--export", str(table)]) == 0
    book = load_workbook(table)
    for row, value in enumerate(["yes", "no", "no", "yes", "yes", ""], start=2):
        book.active.cell(row, 4).value = value
    book.save(table)
    assert invoke([*bob, "--import", str(table)]) == 0
    assert "5 decisions" in capsys.readouterr().err
    assert invoke([*bob, "--export", str(table)]) == 2
    assert "may hold decisions" in capsys.readouterr().err
    judgments = read_table(JUDGMENTS, run_folder)
    assert judgments["annotator"].value_counts(sort=True)["count"].to_list() == [6, 5]

    assert invoke([*bob, "--agreement", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    [pair] = printed["pairs"]
    assert (pair["n"], pair["equal"]) == (5, 4)
    # sklearn.metrics.cohen_kappa_score("ynnyn", "ynnyy") = 0.6153846 as lists of labels
    assert pair["cohen_kappa"]["value"] == pytest.approx(0.6153846, abs=1e-6)
    assert [(d["item"], d["candidate"]) for d in printed["divided"]] == [("strada", "rosso")]
    assert invoke([*bob, "--agreement"]) == 0
    assert "ana no, bob yes" in capsys.readouterr().out


def test_earlier_judgments_are_taken_over_and_only_new_candidates_are_asked(
    run_folder, tmp_path, monkeypatch, capsys
):
    typed(monkeypatch, "y", "n", "q")
    invoke(["annotate", "candidates", str(run_folder), "--annotator", "ana"])
    earlier = tmp_path / "earlier"
    earlier.mkdir()
    store_judgments(run_folder, suite="it-small")
    (run_folder / "judgments.parquet").rename(earlier / "judgments.parquet")
    (run_folder / "annotations" / "ana.jsonl").unlink()
    typed(monkeypatch, "y", "q")
    arguments = ["annotate", "candidates", str(run_folder), "--annotator", "bob"]
    assert invoke([*arguments, "--reuse", str(earlier)]) == 0
    assert "casa è [##i]" in capsys.readouterr().out
    kept = read_table(JUDGMENTS, run_folder).sort("annotator")
    assert kept["annotator"].to_list() == ["ana", "ana", "bob"]
    assert [journal.annotator for journal in journals(run_folder)] == ["bob"]


def test_only_items_with_no_option_among_the_candidates_are_labeled(tmp_path, monkeypatch, capsys):
    pairs = {"a": ("ma", "e"), "b": ("però", "mentre"), "c": ("quindi", "o")}
    items = tuple(
        ClozeItem(name, f"Prova {name}: piove, ", " esco.",
                  (Option(target, "target"), Option(plausible, "plausible")))
        for name, (target, plausible) in pairs.items()
    )  # fmt: skip
    recorded = tmp_path / "answers.tsv"
    rows = ["item\trank\tcandidate"]
    rows += [f"{item}\t{rank}\t{text}" for item, texts in (
        ("a", ("Ma", "poi")), ("b", ("allora", "così")), ("c", ("poi", "o")))
        for rank, text in enumerate(texts, start=1)]  # fmt: skip
    recorded.write_text("\n".join(rows) + "\n", encoding="utf-8")
    suite = ClozeSuite(Meta("it-small", language="it"), items=items)
    folder = evaluate(suite, f"replay:{recorded}", output=tmp_path / "runs").folder
    typed(monkeypatch, "y 1", "n 4")
    assert invoke(["annotate", "candidates", str(folder), "--only-other"]) == 0
    # By hand: a has its target, whatever its capitals, c the plausible option; b has neither.
    printed = capsys.readouterr().out
    assert "2 of 2 candidates judged" in printed
    kept = read_table(JUDGMENTS, folder)
    remarks = kept.filter(kept["item"] == "b").sort("value")["remark"].to_list()
    assert remarks == ["unacceptable", "same meaning"]
    assert invoke(["analyze", "profile", str(folder)]) == 0
    assert "where it is neither: same meaning 50.00 (1/2)" in capsys.readouterr().out


def test_what_is_asked_wrongly_is_said(run_folder, tmp_path, capsys):
    for arguments, message in (
        (["--part", "3/2"], "--part"),
        (["--method", "mask"], "recorded"),
        (["--annotator", "a/b"], "--annotator"),
        (["--agreement"], "nobody has judged"),
        (["--agreement", "--export", "x.tsv"], "one at a time"),
    ):
        assert invoke(["annotate", "candidates", str(run_folder), *arguments]) == 2
        assert message in capsys.readouterr().err
    assert invoke(["annotate", "candidates", str(tmp_path)]) == 2
    assert "not the folder of a finished run" in capsys.readouterr().err
