"""``cimento corpus query``, ``corpus queries`` and ``suites build query``, as people call them."""

from __future__ import annotations

import json

import pytest

from cimento.suites.load import open_suite
from cimento.suites.stimuli import stimulus_text
from tests.helpers.command_line import invoke

SUBJECTS = "pattern { V [upos=VERB]; V -[nsubj]-> S }"
BUILD = ["suites", "build", "query"]
SAMPLE = ["--treebank", "it_sample", "--language", "it"]


def test_a_row_for_each_match_names_file_sentence_and_words(capsys):
    assert invoke(["corpus", "query", SUBJECTS, "it_sample"]) == 0
    shown = capsys.readouterr()
    header, first, *rest = shown.out.splitlines()
    assert header.split("\t") == ["file", "sha256", "sent_id", "V", "S", "text"]
    cells = first.split("\t")
    assert (cells[0], cells[2:5]) == ("it_sample-ud-test.conllu", ["mercato-1", "4:va", "3:Lia"])
    assert f"{len(rest) + 1} matches in " in shown.err


def test_matches_are_counted_by_a_feature(capsys):
    assert invoke(["corpus", "query", SUBJECTS, "it_sample", "--by", "V.Number", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert set(result["counts"]) == {"Sing", "Plur"}
    assert sum(result["counts"].values()) == result["matches"]
    assert invoke(["corpus", "query", SUBJECTS, "it_sample", "--by", "lemma"]) == 2
    assert "--by: got 'lemma'. Write V.lemma" in capsys.readouterr().err


def test_without_a_license_there_are_ids_only(tmp_path, capsys):
    table = tmp_path / "hits.tsv"
    arguments = ["corpus", "query", SUBJECTS, "it_sample", "--license", "CC BY-NC 4.0"]
    assert invoke([*arguments, "-o", str(table)]) == 0
    header, first, *_ = table.read_text(encoding="utf-8").splitlines()
    assert header.split("\t") == ["file", "sha256", "sent_id", "V", "S"]
    assert first.split("\t")[3:] == ["4", "3"]
    assert "Ids only" in capsys.readouterr().err


def test_malformed_sentences_are_refused_or_skipped_and_said(tmp_path, capsys):
    rows = ["1\tLia\tLia\tPROPN\t_\t_\t2\tnsubj\t_\t_", "2\tva\tandare\tVERB\t_\t_\t0\troot\t_\t_"]
    text = "\n".join(
        ["# sent_id = x", "1\tLia", "", "# sent_id = y", "# text = Lia va", *rows, "", ""]
    )
    path = tmp_path / "it_own-ud-test.conllu"
    path.write_text(text, encoding="utf-8")
    command = ["corpus", "query", SUBJECTS, str(path)]
    assert invoke(command) == 2
    assert "sentence x" in capsys.readouterr().err
    assert invoke([*command, "--malformed", "skip"]) == 0
    shown = capsys.readouterr()
    assert "1 malformed sentences were skipped:\n  " in shown.err
    assert [line.split("\t")[2] for line in shown.out.splitlines()] == ["sent_id", "y"]


def test_a_misspelled_feature_is_named_and_a_bad_pattern_shown_with_its_place(capsys):
    assert invoke(["corpus", "query", "pattern { V [Nmber=Sing] }", "it_sample"]) == 0
    assert "No word of the treebanks has: Nmber." in capsys.readouterr().err
    assert invoke(["corpus", "query", "pattern { V [Number Sing] }", "it_sample"]) == 2
    error = capsys.readouterr().err
    assert "pattern, line 1, column 21: there is 'Sing', but expected was , or ]." in error
    assert error.splitlines()[-1].index("^") == 4 + 20
    assert invoke(["corpus", "query", "subject-verb", "it_sample"]) == 2
    assert "is not a stored query, a file .req, or a pattern" in capsys.readouterr().err


def test_the_stored_queries_are_listed_with_what_they_find(capsys):
    assert invoke(["corpus", "queries", "--language", "ru"]) == 0
    listed = capsys.readouterr().out
    assert "phase-verb-aspect" in listed
    assert "clitic-cluster" not in listed
    arguments = ["corpus", "queries", "it_sample", "--language", "it", "--json"]
    assert invoke(arguments) == 0
    records = {query["name"]: query for query in json.loads(capsys.readouterr().out)["queries"]}
    assert records["negation-order"]["matches"] > 0
    assert records["negation-order"]["patterns"][0].startswith("pattern {")
    assert records["negation-order"]["twins"] is None
    assert records["extraction-from-adjunct"]["pairs"] is None
    assert records["subject-verb-number"]["pairs"] <= records["subject-verb-number"]["matches"]


def test_a_treebank_of_another_language_by_its_name_is_told(tmp_path, capsys):
    arguments = [*BUILD, "subject-verb-number", *SAMPLE, "--dictionary", "rules:es"]
    assert invoke([*arguments, "--language", "es", "-o", str(tmp_path / "mine")]) == 0
    assert "it_sample is Italian by its name, and --language says es." in capsys.readouterr().err


def test_a_query_becomes_a_suite_that_loads_with_its_sheet_and_its_trees(tmp_path, capsys):
    out = tmp_path / "mine"
    arguments = [*BUILD, "subject-verb-number", *SAMPLE, "--dictionary", "rules:it"]
    assert invoke([*arguments, "--items", "8", "--seed", "1", "-o", str(out)]) == 0
    error = capsys.readouterr().err
    assert "2 left out: no dictionary has the form with these features" in error
    assert "8 pairs of 48 matches" in error
    assert "an accuracy of 97% or more is distinguishable from chance (power 0.8)." in error
    assert sorted(path.name for path in out.iterdir()) == [
        "items.tsv", "query.json", "review.tsv", "sources.tsv", "suite.toml", "trees.conllu",
    ]  # fmt: skip
    suite = open_suite(out).suite
    assert (len(suite.items), suite.meta.license, suite.cluster) == (8, "CC BY 4.0", ("lemma",))
    assert suite.items[0].column("source") == "it_sample-ud-test.conllu#giardino-6"
    record = json.loads((out / "query.json").read_text(encoding="utf-8"))
    assert record["matches"] == record["usable"] + sum(record["left_out"].values())
    assert record["usable"] == record["items"] + sum(record["not_drawn"].values())
    once = record["not_drawn"]["a sentence is used only once"]
    assert f"{once} left out: a sentence is used only once" in error
    assert invoke(["suites", "check", str(out)]) == 0
    assert invoke(["suites", "audit", str(out)]) == 0
    closed = [*arguments, "--license", "CC BY-NC 4.0", "-o", str(tmp_path / "ids")]
    assert invoke(closed) == 0
    names = sorted(path.name for path in (tmp_path / "ids").iterdir())
    assert names == ["query.json", "sources.tsv"]


def test_a_pattern_of_ones_own_needs_a_change_and_takes_any_word(tmp_path, capsys):
    arguments = [*BUILD, SUBJECTS, *SAMPLE, "-o", str(tmp_path / "mine")]
    assert invoke(arguments) == 2
    assert "--change: nothing says what makes the bad sentence" in capsys.readouterr().err
    assert invoke([*arguments, "--change", "T.Number"]) == 2
    assert "names 'T', which the pattern does not have" in capsys.readouterr().err
    assert invoke([*arguments, "--change", "swap S V", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["query"], result["change"]) == (None, "swap S V")
    suite = open_suite(tmp_path / "mine").suite
    first = suite.items[0]
    good, bad = (stimulus_text(c, rule=suite.join).lower() for c in first.conditions)
    assert sorted(good.strip(".").split()) == sorted(bad.strip(".").split())
    assert good != bad


def test_fewer_pairs_than_items_are_taken_and_counted(tmp_path, capsys):
    out = tmp_path / "few"
    arguments = ["--dictionary", "rules:it", "--items", "900", "-o", str(out)]
    assert invoke([*BUILD, "subject-verb-number", *SAMPLE, *arguments]) == 0
    [said] = [line for line in capsys.readouterr().err.splitlines() if line.endswith(str(out))]
    found = json.loads((out / "query.json").read_text(encoding="utf-8"))["items"]
    assert said.startswith(f"{found} pairs of ")
    assert ", fewer than --items 900: " in said


def test_a_query_that_finds_nothing_writes_nothing(tmp_path, capsys):
    out = tmp_path / "none"
    assert invoke([*BUILD, "whether-island", *SAMPLE, "-o", str(out)]) == 0
    assert "No pairs of 0 matches: nothing is written." in capsys.readouterr().err
    assert not out.exists()


def test_a_copy_has_forms_that_are_about_equally_frequent(tmp_path, capsys):
    pytest.importorskip("wordfreq")
    out = tmp_path / "mine"
    arguments = [*BUILD, "subject-verb-number", *SAMPLE, "--dictionary", "rules:it"]
    assert invoke([*arguments, "--frequency", "0.5", "-o", str(out)]) == 0
    assert "Zipf frequency of good forms less that of bad ones" in capsys.readouterr().err
    whole, matched = (open_suite(path).suite for path in (out, tmp_path / "mine-matched"))
    assert {item.id for item in matched.items} < {item.id for item in whole.items}
