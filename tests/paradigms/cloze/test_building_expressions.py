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


TEXT = """Le reti neurali imparano da esempi. Una rete neurale profonda ha molti strati di unità.
Durante l'addestramento si riduce la funzione di perdita. La rete elettrica è vecchia.
parte di una frase con rete neurale che non comincia.
Se il tasso di apprendimento è alto, la funzione di perdita oscilla.
"""
TERMS = """term\tforms\tkind
rete neurale\treti neurali\tmodel
rete
funzione di perdita
addestramento\t\tprocess
retropropagazione
"""


def test_a_list_of_terms_is_looked_for_in_texts(tmp_path, capsys):
    (tmp_path / "testo.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "termini.tsv").write_text(TERMS, encoding="utf-8")
    out = tmp_path / "terms"
    arguments = ["suites", "build", "expressions", str(tmp_path / "testo.txt"), "--language", "it"]
    assert invoke([*arguments, "--terms", str(tmp_path / "termini.tsv"), "-o", str(out)]) == 0
    # By hand: of nested terms the longer one; the third line does not begin a sentence.
    found = {(item.expression, item.text) for item in load_suite(out).suite.multiwords}
    assert found == {
        ("rete neurale", "Le {reti} {neurali} imparano da esempi."),
        ("rete neurale", "Una {rete} {neurale} profonda ha molti strati di unità."),
        ("rete", "La {rete} elettrica è vecchia."),
        ("funzione di perdita",
         "Durante l'addestramento si riduce la {funzione} di {perdita}."),
        ("funzione di perdita",
         "Se il tasso di apprendimento è alto, la {funzione} di {perdita} oscilla."),
        ("addestramento", "Durante l'{addestramento} si riduce la funzione di perdita."),
    }  # fmt: skip
    kinds = {item.expression: item.columns["kind"] for item in load_suite(out).suite.multiwords}
    assert kinds == {
        "rete neurale": "model", "rete": "term", "funzione di perdita": "term",
        "addestramento": "process",
    }  # fmt: skip
    assert "left of those with 'retropropagazione': 0" in capsys.readouterr().err
    assert invoke(["suites", "check", str(out)]) == 0


def test_terms_one_a_line_are_looked_for_in_treebanks(tmp_path):
    treebank = tmp_path / "a.conllu"
    words = ["qui", "la", "rete", "neurale", "impara", "bene"]
    rows = [f"{n}\t{w}\t{w}\tX\t_\t_\t{min(n - 1, 1)}\tdep\t_\t_" for n, w in enumerate(words, 1)]
    lines = ["# sent_id = 1", f"# text = {' '.join(words)}", *rows]
    treebank.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    (tmp_path / "terms.txt").write_text("Rete  neurale\n\n", encoding="utf-8")
    out = tmp_path / "terms"
    arguments = ["suites", "build", "expressions", str(treebank), "--language", "it"]
    assert invoke([*arguments, "--terms", str(tmp_path / "terms.txt"), "-o", str(out)]) == 0
    # A sentence of a treebank is whole, whatever its marks.
    assert list(texts(out).values()) == ["qui la {rete} {neurale} impara bene"]


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ("term\tforms\nrete\treti\nmaglia\treti\n", "'reti' is a form of 'rete' and of 'maglia'"),
        ("parola\tforms\nrete\treti\n", "term"),
        ("term\n", "there is no term"),
        ("\n", "is empty"),
    ],
)
def test_terms_that_cannot_be_used(tmp_path, capsys, terms, message):
    (tmp_path / "testo.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "termini.tsv").write_text(terms, encoding="utf-8")
    arguments = ["suites", "build", "expressions", str(tmp_path / "testo.txt"), "--language", "it"]
    arguments += ["--terms", str(tmp_path / "termini.tsv"), "-o", str(tmp_path / "out")]
    assert invoke(arguments) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
