"""Multiword items made from concordances."""

from __future__ import annotations

import pytest

from cimento import load_suite
from cimento.cli.main import invoke

LINES = """Reference;Left;KWIC;Right
d1;"<s>In famiglia lo considerano la ";"pecora nera";" perché non studia . </s> <s> Poi"
d2;"<s>Quei due sono le ";"Pecore nere";" del quartiere da anni . </s>"
d3;"<s>Ieri sera ho visto una ";"pecora";" nel prato della nonna . </s>"
d4;"manca l'inizio di una ";"pecora nera";" e la fine"
d5;"<s>Lo zio ha tagliato la ";"testa al toro";" e ha venduto la casa .</s>"
d6;"<s>La pecora nera disse a un'altra ";"pecora nera";" di andare via .</s>"
d7;"<s>Chi ha rotto il ";"guarda- roba";" {nuovo} della mamma ?</s>"
"""


def texts(folder):
    return {item.expression: item.text for item in load_suite(folder).suite.multiwords}


def test_words_of_a_keyword_are_marked_and_small_words_are_not(tmp_path, capsys):
    path = tmp_path / "pecora_nera.csv"
    path.write_text(LINES, encoding="utf-8")
    arguments = ["suites", "build", "expressions", str(path), "--language", "it"]
    assert invoke([*arguments, "-o", str(tmp_path / "a")]) == 0
    # By hand: d3 has one word, d4 no beginning and no end, d6 the keyword twice, d7 braces.
    assert texts(tmp_path / "a") == {
        "pecora nera": "In famiglia lo considerano la {pecora} {nera} perché non studia.",
        "pecore nere": "Quei due sono le {Pecore} {nere} del quartiere da anni.",
        "testa al toro": "Lo zio ha tagliato la {testa} al {toro} e ha venduto la casa.",
    }
    printed = capsys.readouterr().err
    assert "keyword with one word to hide, left out: 1" in printed
    assert "keyword not there once, left out: 2" in printed
    assert "3 sentences of 3 expressions" in printed
    assert invoke(["suites", "check", str(tmp_path / "a")]) == 0


def test_a_file_may_name_its_expression_and_limit_its_sentences(tmp_path):
    path = tmp_path / "pecora_nera.csv"
    path.write_text(LINES, encoding="utf-8")
    arguments = ["suites", "build", "expressions", str(path), "--language", "it"]
    arguments += ["--named-by", "file", "--per", "2", "--seed", "3"]
    for name in ("a", "b"):
        assert invoke([*arguments, "-o", str(tmp_path / name)]) == 0
    one, other = (load_suite(tmp_path / name).suite.multiwords for name in ("a", "b"))
    assert one == other
    assert [item.id for item in one] == ["pecora nera/1", "pecora nera/2"]


@pytest.mark.parametrize("kept", ["d3", "d4"])
def test_nothing_left_is_said(tmp_path, capsys, kept):
    head, *rows = LINES.splitlines()
    path = tmp_path / "k.csv"
    path.write_text("\n".join([head, *(row for row in rows if row.startswith(kept))]) + "\n")
    arguments = ["suites", "build", "expressions", str(path), "--language", "it"]
    assert invoke([*arguments, "-o", str(tmp_path / "a")]) == 2
    assert "no sentence is left" in capsys.readouterr().err


KINDS = "expression\tkind\npecora nera\tidiom\npecore nere\tidiom\ntesta al toro\tterm\n"


def test_expressions_have_kinds_by_which_results_are_broken_down(tmp_path, capsys):
    path, kinds = tmp_path / "k.csv", tmp_path / "kinds.tsv"
    path.write_text(LINES, encoding="utf-8")
    kinds.write_text(KINDS, encoding="utf-8")
    out = tmp_path / "a"
    arguments = ["suites", "build", "expressions", str(path), "--language", "it", "-o", str(out)]
    assert invoke([*arguments, "--kinds", str(kinds)]) == 0
    made = load_suite(out).suite.multiwords
    assert {item.expression: item.columns["kind"] for item in made} == {
        "pecora nera": "idiom", "pecore nere": "idiom", "testa al toro": "term",
    }  # fmt: skip
    asked = ["run", str(out), "-m", "demo-masked", "-o", str(tmp_path / "runs"), "--json"]
    assert invoke([*asked, "--set", "by=kind"]) == 0
    printed = capsys.readouterr().out
    assert "idiom" in printed
    assert "term" in printed


@pytest.mark.parametrize(
    ("table", "seen"),
    [
        (KINDS.replace("pecore nere\tidiom\n", ""), "'pecore nere': it has no kind"),
        (KINDS + "pecora nera\tterm\n", "'pecora nera' is 'term' here and 'idiom' above"),
        ("expression\tsort\na b\tterm\n", "kind"),
    ],
)
def test_an_expression_has_one_kind(tmp_path, capsys, table, seen):
    path, kinds = tmp_path / "k.csv", tmp_path / "kinds.tsv"
    path.write_text(LINES, encoding="utf-8")
    kinds.write_text(table, encoding="utf-8")
    arguments = ["suites", "build", "expressions", str(path), "--language", "it"]
    assert invoke([*arguments, "-o", str(tmp_path / "a"), "--kinds", str(kinds)]) == 2
    assert seen in capsys.readouterr().err
