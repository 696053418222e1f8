"""Decisions on drawn sentences, made in a dialogue: stopped, gone on with, checked, finished."""

from __future__ import annotations

from pathlib import Path

import pytest

import cimento
from cimento import InputError, UsageError
from cimento.corpus.connectives.lexicons import open_inventory
from cimento.corpus.decisions import open_decisions, read_decisions
from cimento.corpus.treebanks import open_treebanks
from cimento.paradigms.cloze.files import load_cloze
from cimento.people.annotate.dialogue import DialogueState, RefusedError, step
from cimento.people.annotate.pairs import decide, fields_of, tasks_of
from tests.helpers.command_line import invoke
from tests.helpers.dialogues import lines_of
from tests.helpers.rated import load_rated

SAMPLE = Path(cimento.__file__).parent / "data" / "corpus" / "sample"
INVENTORY = open_inventory("it-connectives")
FILES = open_treebanks([SAMPLE])


@pytest.fixture
def table(tmp_path):
    def drawn(section="acceptability"):
        path = tmp_path / f"{section}.tsv"
        code = invoke([
            "corpus", "pairs", "it_sample", "--per", "1", "--seed", "7", "--section", section,
            "-o", str(path),
        ])  # fmt: skip
        assert code == 0
        return path

    return drawn


def ask(path, *typed, again=()):
    messages = []
    table = open_decisions(path, FILES, INVENTORY)
    done = decide(path, table, INVENTORY, read=lines_of(typed), show=messages.append, again=again)
    return done, messages


def cells(path):
    return {row["id"]: row for row in open_decisions(path, FILES, INVENTORY).rows}


def test_a_decision_is_in_the_table_before_the_next_is_asked(table):
    path = table()
    done, lines = ask(path, "tuttavia", "y", "1")
    assert done == 1
    first, second, *_ = cells(path).values()
    assert (first["replacement"], first["grammaticality"]) == ("tuttavia", "yes")
    assert second["replacement"] == ""
    assert any("[[tuttavia]]" in line for line in lines)


def test_it_goes_on_in_the_middle_of_a_row(table):
    path = table()
    ask(path, "tuttavia")
    (left,) = path.parent.glob(".*.unfinished.jsonl")
    done, _ = ask(path, "n")
    assert done == 1
    assert next(iter(cells(path).values()))["grammaticality"] == "no"
    assert not left.exists()


def test_a_number_is_a_candidate_in_its_order(table):
    path = table()
    task = tasks_of(open_decisions(path, FILES, INVENTORY), INVENTORY)[0]
    ask(path, "1", "yes")
    assert next(iter(cells(path).values()))["replacement"] == task.candidates[0].name


def test_a_dropped_row_has_a_reason(table):
    path = table()
    ask(path, "-", "  a fixed\texpression ")
    first = next(iter(cells(path).values()))
    assert (first["drop"], first["reason"]) == ("yes", "a fixed expression")
    assert first["replacement"] == ""


def test_a_decided_row_is_asked_again_on_request(table):
    path = table()
    ask(path, "tuttavia", "y")
    name = next(iter(cells(path)))
    assert ask(path, "-", "second thoughts", again=[name])[0] == 1
    assert cells(path)[name]["drop"] == "yes"
    assert cells(path)[name]["grammaticality"] == ""
    with pytest.raises(UsageError, match="no such id"):
        ask(path, again=["e 99"])


@pytest.mark.parametrize(
    ("typed", "seen"),
    [("99", "from 1 to 17"), ("e", "the connective itself"), ("pero", "no connective 'pero'")],
)
def test_what_cannot_be_chosen_is_refused_at_once(table, typed, seen):
    task = tasks_of(open_decisions(table(), FILES, INVENTORY), INVENTORY)[0]
    with pytest.raises(RefusedError, match=seen):
        step(fields_of(task), DialogueState(), typed)


@pytest.mark.parametrize("typed", ["se dove", "se, se, dove", "se | dove | ma", "perhaps"])
def test_three_implausible_ones_are_needed(table, typed):
    task = tasks_of(open_decisions(table("cloze"), FILES, INVENTORY), INVENTORY)[0]
    state = step(fields_of(task), DialogueState(), "ma")
    with pytest.raises(RefusedError):
        step(fields_of(task), state, typed)


def test_a_step_back_changes_what_was_chosen(table):
    path = table()
    ask(path, "tuttavia", ":back", "dove", "n")
    assert next(iter(cells(path).values()))["replacement"] == "dove"


@pytest.mark.parametrize("section", ["acceptability", "cloze"])
def test_the_whole_way_to_a_suite_that_runs(table, tmp_path, monkeypatch, capsys, section):
    path = table(section)
    typed = []
    for task in tasks_of(open_decisions(path, FILES, INVENTORY), INVENTORY)[:-1]:
        names = [candidate.name for candidate in task.candidates]
        typed += [names[0], "y"] if section == "acceptability" else [names[0], " ".join(names[1:4])]
    typed += ["-", "not clear"]
    lines = iter(typed)
    monkeypatch.setattr("builtins.input", lambda _prompt: next(lines))
    assert invoke(["annotate", "pairs", str(path), "it_sample"]) == 0
    said = capsys.readouterr()
    assert "0 of 18 left" in said.err
    assert "17 items" in said.err
    output = tmp_path / "suite"
    assert invoke(["corpus", "finish", str(path), "it_sample", "-o", str(output)]) == 0
    assert invoke(["suites", "check", str(output)]) == 0
    if section == "acceptability":
        assert len(load_rated(output).rated.sentences) == 34
    else:
        assert len(load_cloze(output).items) == 17


def test_the_end_of_input_keeps_everything(table, monkeypatch):
    path = table()

    def stop(_prompt):
        raise EOFError

    monkeypatch.setattr("builtins.input", stop)
    assert invoke(["annotate", "pairs", str(path), "it_sample"]) == 0
    with pytest.raises(InputError, match="no other connective is chosen"):
        read_decisions(path, FILES, INVENTORY)


def test_a_workbook_is_not_written_anew(tmp_path, capsys):
    assert invoke(["annotate", "pairs", str(tmp_path / "d.xlsx"), "it_sample"]) == 2
    assert "Save it as .tsv" in capsys.readouterr().err


def test_another_treebank_is_refused(table, tmp_path, capsys):
    path = table()
    other = tmp_path / "x_y-ud-test.conllu"
    other.write_text(
        "# sent_id = 1\n# text = Piove.\n1\tPiove\tpiovere\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No\n"
        "2\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n",
        encoding="utf-8",
    )
    assert invoke(["annotate", "pairs", str(path), str(other)]) == 2
    assert "give that very file" in capsys.readouterr().err


def test_a_replacement_that_was_only_proposed_is_asked_about_and_taken_with_an_empty_line(tmp_path):
    path = tmp_path / "proposed.tsv"
    command = ["corpus", "pairs", "it_sample", "--per", "1", "--propose", "--seed", "7"]
    assert invoke([*command, "-o", str(path)]) == 0
    proposed = next(iter(cells(path).values()))["replacement"]
    assert proposed
    assert all(task.is_open for task in tasks_of(open_decisions(path, FILES, INVENTORY), INVENTORY))
    assert ask(path, "", "n")[0] == 1
    first = next(iter(cells(path).values()))
    assert (first["replacement"], first["grammaticality"]) == (proposed, "no")


def test_half_a_decision_on_a_blank_is_asked_about(table):
    path = table("cloze")
    lines = path.read_text(encoding="utf-8").splitlines()
    header, first = (line.split("\t") for line in lines[:2])
    first[header.index("plausible")] = "ma"
    path.write_text("\n".join([lines[0], "\t".join(first), *lines[2:]]) + "\n", encoding="utf-8")
    assert ask(path, "", "se dove perché")[0] == 1
    row = next(iter(cells(path).values()))
    assert (row["plausible"], row["implausible"]) == ("ma", "se | dove | perché")
