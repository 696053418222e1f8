"""Distractors of mazes: what a model proposes, the words they come from, and the sheet."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest

import cimento
from cimento import InputError
from cimento.people.surveys import SurveyQuestion
from cimento.people.surveys.distractors import dressed
from cimento.people.surveys.lexicon import lexicon_of, read_lexicon
from cimento.people.surveys.maze import FIRST_FOIL, read_sheet, with_foils
from tests.helpers.command_line import invoke
from tests.helpers.reading_help import MARKS, distractors, written


def rows_of(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines(), delimiter="\t"))


def test_distractors_keep_the_rules(tmp_path):
    sheet = distractors(tmp_path, "--words", "it_sample")
    rows = rows_of(sheet)
    sentences = {}
    for row in rows:
        sentences.setdefault((row["item"], row["condition"]), []).append(row)
    assert len(sentences) == 7
    lexicon = read_lexicon(Path("it_sample"))
    for words_of in sentences.values():
        foils = [MARKS.sub("", row["distractor"]).casefold() for row in words_of]
        assert len({*foils}) == len(foils)
        assert foils[0] == FIRST_FOIL
        shown = {MARKS.sub("", row["word"]).casefold() for row in words_of}
        for row, foil in list(zip(words_of, foils, strict=True))[1:]:
            assert foil not in shown
            assert foil in lexicon.counts
            assert row["word"][0].isupper() == row["distractor"][0].isupper()
            assert (
                row["word"][len(row["word"].rstrip(".")) :]
                == row["distractor"][len(row["distractor"].rstrip(".")) :]
            )
            assert abs(len(MARKS.sub("", row["word"])) - len(foil)) <= 2
            more = float(row["distractor_bits"]) - float(row["word_bits"])
            assert more >= 8 - 0.01 or row["note"].startswith("less surprising")


def test_conditions_with_the_same_words_have_the_same_distractors(tmp_path):
    rows = rows_of(distractors(tmp_path, "--words", "it_sample"))
    by_item = {}
    for row in rows:
        foils = by_item.setdefault(row["item"], {}).setdefault(row["condition"], [])
        foils.append(MARKS.sub("", row["distractor"]))
    for item in "123":
        assert by_item[item]["good"] == by_item[item]["bad"]


def test_the_bits_of_the_sheet_are_surprisals_in_context(tmp_path):
    rows = rows_of(distractors(tmp_path, "--words", "it_sample"))
    sentence = [row for row in rows if (row["item"], row["condition"]) == ("3", "good")]
    policy = cimento.Policy(punctuation="keep", boundary="auto")
    for index in (1, 3):
        before = [row["word"] for row in sentence[:index]]
        for column, bits in (("word", "word_bits"), ("distractor", "distractor_bits")):
            shown = [*before, MARKS.sub("", sentence[index][column])]
            table = {"text": 1, "position": range(1, len(shown) + 1), "word": shown}
            joined = cimento.join_surprisals(
                pl.DataFrame(table), "demo-causal", asking=cimento.Asking(policy=policy)
            )
            there = joined["surprisal_bits"][-1]
            assert float(sentence[index][bits]) == pytest.approx(there, abs=0.006)


def test_the_same_seed_gives_the_same_sheet_and_another_one_another(tmp_path):
    sheets = []
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        (tmp_path / name).mkdir()
        sheets.append(distractors(tmp_path / name, "--seed", seed).read_text())
    assert sheets[0] == sheets[1]
    assert sheets[0] != sheets[2]


def test_without_frequencies_the_command_says_so_and_keeps_corrections(tmp_path, capsys):
    sheet = distractors(tmp_path)
    assert "in length only" in capsys.readouterr().err
    sheet.write_text("corrected")
    again = ["annotate", "survey", "distractors", str(written(tmp_path)), "-m", "demo-causal"]
    assert invoke([*again, "--language", "it", "-o", str(sheet)]) == 2
    assert "perhaps with corrections" in capsys.readouterr().err
    assert sheet.read_text() == "corrected"


@pytest.mark.parametrize(
    ("distractor", "word", "shown"),
    [("tavolo", "Maria", "Tavolo"), ("pane", "«bello»,", "«pane»,"), ("ora", "NATO", "ORA"),
     ("erba", "l'amica.", "l'erba."), ("uva", "dell’Etna", "dell’Uva"), ("so", "è", "so")],
)  # fmt: skip
def test_a_distractor_has_the_capitals_and_the_marks_of_its_word(distractor, word, shown):
    assert dressed(distractor, word) == shown


def test_a_lexicon_counts_words_without_marks_and_leaves_names_out(tmp_path):
    text = tmp_path / "corpus.txt"
    text.write_text("La casa, la CASA e Maria. Maria dorme: casa!")
    lexicon = read_lexicon(text)
    assert dict(lexicon.counts) == {"la": 2, "casa": 3, "e": 1, "dorme": 1}
    assert lexicon.has_frequencies
    # 4 words of 7 occurrences: (3 + 1) / (7 + 4) of a billion, and log10 of that by hand
    assert lexicon.zipf("Casa") == pytest.approx(8.5607, abs=1e-4)
    table = tmp_path / "list.tsv"
    table.write_text("word\tcount\ncasa\t10\nRoma\t99\n")
    assert dict(read_lexicon(table).counts) == {"casa": 10}
    assert lexicon_of(["Il gatto dorme."]).zipf("gatto") is None


def test_a_sheet_is_held_against_the_sentences(tmp_path):
    sheet = tmp_path / "sheet.tsv"
    header = "item\tcondition\tposition\tword\tdistractor\n"
    question = SurveyQuestion(id="q", item="1", condition="a", lines=("Il gatto dorme.",))
    right = "1\ta\t1\tIl\tx-x-x\n1\ta\t2\tgatto\tpoco\n1\ta\t3\tdorme.\tsedia.\n"
    sheet.write_text(header + right)
    (done,) = with_foils([question], read_sheet(sheet))
    assert done.foils == ("x-x-x", "poco", "sedia.")
    for wrong, said in (
        (right.replace("poco", "gatto"), "should be one other word"),
        (right.replace("poco", ""), "should be one other word"),
        (right.replace("poco", "due parole"), "should be one other word"),
        (right.replace("poco", "sedia."), "is in this sentence already"),
        (right.replace("\tgatto", "\tcane"), "word 2 is 'gatto'"),
        (right.replace("1\ta\t2\tgatto\tpoco\n", ""), "word 2 is 'gatto'"),
        (right.replace("\t2\t", "\t0\t"), "whole number from 1"),
        (right.replace("\t3\t", "\t2\t"), "is there already"),
        (right.replace("1\ta", "2\ta"), "not in the sheet"),
    ):
        sheet.write_text(header + wrong)
        with pytest.raises(InputError, match=said):
            list(with_foils([question], read_sheet(sheet)))
