"""The commands on suites take those of a paradigm that a package brings."""

from __future__ import annotations

import json

import pytest

from cimento import InputError, UsageError, load_suite
from cimento.cli.main import invoke
from cimento.judgments import Judgment
from cimento.kinds.registry import audit_suite, sentence_suite
from cimento.people.annotate.importing import apply_judgments, questions_by_name
from tests.helpers import probes


def test_it_is_shown(probing, capsys):
    assert invoke(["suites", "show", str(probing)]) == 0
    assert capsys.readouterr().out.split() == ["it-probe", "it"]


def test_it_is_checked(probing, capsys):
    assert invoke(["suites", "check", str(probing), "--json"]) == 0
    read = "Read as a suite of the kind probing."
    audit = {"suite": "it-probe", "faults": [], "read": read}
    assert json.loads(capsys.readouterr().out) == {"suites": [audit]}


def test_what_is_wrong_while_it_is_read_is_a_fault(probing, capsys):
    (probing / "items.tsv").write_text("id\tprompt\n1\tLa zia\n", encoding="utf-8")
    [fault] = audit_suite(probing).faults
    assert fault.code == "PROBE-1"
    assert invoke(["suites", "check", str(probing)]) == 2
    assert "PROBE-1 items.tsv: there is no column 'right'" in capsys.readouterr().out


def test_it_is_audited_with_its_faults(probing, capsys):
    assert invoke(["suites", "audit", str(probing), "it-filler-gap", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["suites"]
    assert first == {"suite": "it-probe", "faults": []}
    assert second["n_items"] == 20


@pytest.mark.parametrize("option", [["-m", "demo-causal"], ["--region", "1"]])
def test_it_is_not_audited_as_sentences_are(probing, capsys, option):
    assert invoke(["suites", "audit", str(probing), *option]) == 2
    said = capsys.readouterr().err
    assert "it-probe is a suite of the kind 'probing', and only sentences" in said
    assert said.count("\n") == 1


def test_where_sentences_are_needed_the_paradigm_is_named(probing, capsys, tmp_path):
    with pytest.raises(InputError, match="is a suite of the kind 'probing'"):
        sentence_suite(load_suite(probing))
    for command in (
        ["convert", "--to", "blimp"],
        ["merge", "--name", "all"],
        ["prime", "--condition", "good"],
    ):
        arguments = ["suites", command[0], str(probing), *command[1:]]
        assert invoke([*arguments, "-o", str(tmp_path / "out")]) == 2
        assert "one of sentences in regions is needed here" in capsys.readouterr().err


def test_people_are_not_asked_about_it(probing, capsys, tmp_path):
    refused = "people are not asked about suites of the kind 'probing'"
    assert invoke(["annotate", "survey", "build", str(probing), "-o", str(tmp_path / "s")]) == 2
    said = capsys.readouterr().err
    assert refused in said
    assert said.count("\n") == 1
    with pytest.raises(UsageError, match=refused):
        questions_by_name([probing])


def test_no_answers_of_people_are_put_into_it(probing, tmp_path):
    answers = [Judgment(suite="it-probe", item="1", value="5")]
    with pytest.raises(UsageError, match="people are not asked about suites of the kind 'probing'"):
        apply_judgments(probing, answers, tmp_path / "copy", scale=(1, 5))
    assert not (tmp_path / "copy").exists()


@pytest.mark.usefixtures("probing")
def test_several_suites_are_too_many_for_one(tmp_path):
    folder = tmp_path / "both"
    for name in ("one", "two"):
        probes.write_suite(folder / name)
    with pytest.raises(UsageError, match="there are 2 suites"):
        apply_judgments(folder, [], tmp_path / "copy")
