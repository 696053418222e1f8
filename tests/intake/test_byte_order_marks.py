"""Byte order marks inside files, as ``cat`` leaves them; oracle: the files without these marks."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento import InputError
from cimento.cli.main import invoke
from cimento.corpus.conllu import read_sentences
from cimento.intake.decoding import decode, open_text
from cimento.io.lines import read_contexts, read_lines
from cimento.paradigms.cloze.files import read_cloze
from cimento.paradigms.stories import STORIES
from cimento.suites.load import read_suite
from tests.helpers.stories import TRIPLES_FILE

MARK = "\ufeff"
PAIRS = [
    {"sentence_good": "Il gatto dorme.", "sentence_bad": "Il gatto dormono."},
    {"sentence_good": "I cani corrono.", "sentence_bad": "I cani corre."},
]
ROWS = [
    {"item": number, "conditions": [
        {"condition_name": "a", "regions": [{"region_number": 1, "content": text}]},
        {"condition_name": "b", "regions": [{"region_number": 1, "content": f"{text} bene"}]},
    ], "name": "marks", "predictions": ["(1;%a%) < (1;%b%)"]}
    for number, text in enumerate(["Lui canta", "Lei ride"], start=1)
]  # fmt: skip
FILES = {
    "pairs.jsonl": [json.dumps(pair) for pair in PAIRS],
    "pairs.tsv": ["sentence_good\tsentence_bad", *("\t".join(pair.values()) for pair in PAIRS)],
    "pairs.csv": ["good,bad", *(",".join(f'"{c}"' for c in pair.values()) for pair in PAIRS)],
    "labels.txt": ["True\tLui ride.", "False\tLui ridono.", "True\tIo rido.", "False\tIo ride."],
    "rows.jsonl": [json.dumps(row) for row in ROWS],
}


@pytest.mark.parametrize("name", FILES)
def test_a_mark_at_the_beginning_of_a_line_is_left_out_with_a_warning(name, tmp_path):
    lines = FILES[name]
    plain, marked = tmp_path / "plain" / name, tmp_path / "marked" / name
    for path, texts in ((plain, lines), (marked, [*lines[:-1], MARK + lines[-1]])):
        path.parent.mkdir()
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    expected, before = read_suite(plain)
    suite, faults = read_suite(marked)
    assert suite.suite.items == expected.suite.items
    [said] = [fault for fault in faults if fault not in before]
    assert said.code == "CIM-S092"
    assert said.where == f"{name} row {len(lines)}"


@given(st.lists(st.text(alphabet="ab è\ufeff", max_size=6), min_size=1, max_size=5))
def test_only_marks_at_the_beginning_of_lines_are_left_out(lines):
    text, faults = decode("\n".join(["x", *lines]).encode(), name="t")
    assert text == "\n".join(["x", *(line.lstrip(MARK) for line in lines)])
    marked = [number for number, line in enumerate(lines, start=2) if line.startswith(MARK)]
    assert [place for fault in faults for place in fault.places] == [f"t row {n}" for n in marked]


def test_a_mark_inside_a_sentence_is_an_unseen_character(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(f"good\tbad\nIl{MARK} re va.\tIl re vanno.\n", encoding="utf-8")
    [fault] = [fault for fault in read_suite(path)[1] if fault.code == "CIM-S043"]
    assert "U+FEFF" in fault.seen


def test_a_second_file_of_blanks_has_no_mark_in_its_first_id(tmp_path):
    (tmp_path / "suite.toml").write_text('kind = "cloze"\n[meta]\nname = "a"\nlanguage = "it"\n')
    rows = f"item\ttext\ttarget\n1\tLui ___.\tride\n{MARK}2\tLei ___.\tcanta\n"
    (tmp_path / "items.tsv").write_text(rows, encoding="utf-8")
    reading = read_cloze(tmp_path)
    assert [item.id for item in reading.suite.items] == ["1", "2"]
    assert [fault.code for fault in reading.faults] == ["CIM-S092"]


def test_texts_to_score_and_their_contexts_lose_marks_before_them_and_a_remark_says_so(tmp_path):
    path, said = tmp_path / "texts.txt", []
    path.write_text(f"{MARK}Uno.\n{MARK}{MARK} Due.\n", encoding="utf-8")
    assert read_lines(path, remark=said.append) == ["Uno.", "Due."]
    assert read_contexts(path, ["a", "b"], remark=said.append) == ["Uno.", "Due."]
    assert len(said) == 2
    assert all("line 2: the byte order mark" in remark for remark in said)
    path.write_text(f"Uno.\nDue.{MARK}Tre.\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2 has a byte order mark"):
        read_lines(path, remark=said.append)


def test_a_text_is_scored_as_without_the_mark(tmp_path, capsys):
    plain, marked = tmp_path / "plain.txt", tmp_path / "marked.txt"
    plain.write_text("Il gatto dorme.\nIl cane dorme.\n", encoding="utf-8")
    marked.write_text(f"Il gatto dorme.\n{MARK}Il cane dorme.\n", encoding="utf-8")
    printed = []
    for path in (plain, marked):
        assert invoke(["score", str(path), "-m", "demo-causal"]) == 0
        printed.append(capsys.readouterr())
    assert printed[1].out == printed[0].out
    assert "line 2: the byte order mark" in printed[1].err


def test_corpora_have_no_marks_at_the_beginning_of_lines(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text(f"Uno.\n{MARK}Due.\n", encoding="utf-8")
    assert open_text(path) == "Uno.\nDue.\n"
    word = "1\tRide\tridere\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    treebank = tmp_path / "two.conllu"
    texts = (f"# sent_id = {n}\n# text = Ride\n{word}" for n in (1, 2))
    treebank.write_text(MARK.join(texts), encoding="utf-8")
    assert [sentence.id for sentence in read_sentences(treebank)] == ["1", "2"]


def test_separate_accents_are_reported_in_stories():
    from dataclasses import replace

    suite = STORIES.reader.read(TRIPLES_FILE).suite
    first = suite.stories[0]
    sentences = ("Perche\u0301 no?", *first.sentences[1:])
    changed = replace(suite, stories=(replace(first, sentences=sentences), *suite.stories[1:]))
    new = [fault for fault in STORIES.reader.check(changed) if fault.code.startswith("CIM-S")]
    assert [fault.code for fault in new] == ["CIM-S045"]
    assert not [fault for fault in STORIES.reader.check(suite) if fault.code.startswith("CIM-S")]
