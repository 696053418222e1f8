"""Files of rated sentences are read as they were meant, and what is wrong in them is named."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import CimentoError, InputError, UsageError, load_suite
from cimento.io.tables import JUDGMENTS, validate_table
from cimento.judgments.rated import judgments_table
from cimento.kinds.registry import paradigm_of
from cimento.paradigms.ratings.people import read_forced_choices
from cimento.suites.formats.ratings import (
    CONNECTIVES,
    ConnectiveId,
    is_rated_table,
    parse_id,
    read_rated,
    replacement_in,
)
from cimento.suites.ratings import Rating, Scale
from tests.helpers.rated import mturk

ACCOMPLIT = "id\tN\tmean\tsd\tse\tsentence\ttask\treference\n"
LAU = "ID,translated,source-language,sentence,context,full-ratings,mean-ratings\n"
PLAYERS = (
    "UniqueIndexID_ItaCoLA\tSentence\tExpertAcceptability\tPlayersAcceptability\t"
    "NumAnnotations\tDisaggragatedAnnotations\tPlayersID\n"
)
CONNECTIVE = "id\tsentence\tgrammaticality\tratings\n"


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_quotation_marks_in_tsv_are_part_of_the_sentence(tmp_path):
    rows = (
        'a1\t10\t4.5\t1.0\t0.3162\t"Torno presto\tacceptability\tx\n'
        'a2\t12\t6.0\t1.0\t0.2887\tDisse: "Ciao" e uscì.\tacceptability\tx\n'
    )
    rated = read_rated(written(tmp_path, "set.tsv", ACCOMPLIT + rows))
    assert [sentence.text for sentence in rated.sentences] == [
        '"Torno presto',
        'Disse: "Ciao" e uscì.',
    ]
    assert [sentence.mean for sentence in rated.sentences] == [4.5, 6.0]
    assert rated.sentences[0].n == 10
    assert (rated.scale, rated.language) == (Scale(1, 7), "it")


def test_three_and_three_point_zero_are_the_same_and_csv_is_quoted(tmp_path):
    row = '7,1,de,"so, it ""works"".",,"3,3.0,4",3.3333\n'
    (sentence,) = read_rated(written(tmp_path, "lau.csv", LAU + row)).sentences
    assert sentence.text == 'so, it "works".'
    assert sentence.ratings == (Rating(3), Rating(3), Rating(4))
    assert sentence.mean == pytest.approx(10 / 3, abs=1e-12)
    # python -c "import statistics; print(statistics.stdev([3, 3, 4]))"
    assert sentence.sd == pytest.approx(0.5773502691896257, abs=1e-12)


def test_accents_written_apart_are_put_together_and_said(tmp_path):
    text = unicodedata.normalize("NFD", "d1\tPerché è così.\t3.5\n")
    rated = read_rated(written(tmp_path, "d.tsv", "ID\tTEXT\tSCORE\n" + text))
    assert rated.sentences[0].text == "Perché è così."
    assert "not NFC" in rated.warnings[0]


def test_a_file_may_lack_its_last_line_end(tmp_path):
    row = "12\tMarco dorme.\t1\t1\t2\t1,0\tanna,bruno"
    (sentence,) = read_rated(written(tmp_path, "p.tsv", PLAYERS + row)).sentences
    assert sentence.ratings == (Rating(1, "anna"), Rating(0, "bruno"))
    assert (sentence.label, sentence.mean, sentence.n) == ("acceptable", 0.5, 2)


def test_itacola_corpus_and_phenomena_are_told_apart(tmp_path):
    head = "UniqueIndexID\tSource\tAcceptability\tSentence\t"
    corpus = written(tmp_path, "c.tsv", head + "Split\n1\tX_1999\t0\tMarco dormono.\tdev\n")
    marked = written(
        tmp_path, "f.tsv", head + "Simple\tQuestion\n1\tX_1999\t1\tMarco dorme.\t1\t0\n"
    )
    assert read_rated(corpus).sentences[0].columns["split"] == "dev"
    assert read_rated(corpus).sentences[0].label == "unacceptable"
    assert read_rated(marked).sentences[0].columns["simple"] == "1"


def test_escola_keeps_source_label_and_annotators(tmp_path):
    head = (
        "ID\tSource\tLabel\tSource_annotation\tAnnotator_1\tAnnotator_2\tAnnotator_3\t"
        "Human_annotation_median\tSentence\tCategory\tSplit\n"
    )
    row = "EsCoLA_1\tX\t0\t*\t0\t1\t\t0.5\tEl niño duermen.\t3\ttrain\n"
    (sentence,) = read_rated(written(tmp_path, "EsCoLA.tsv", head + row)).sentences
    assert sentence.label == "unacceptable"
    assert sentence.ratings == (Rating(0, "Annotator_1"), Rating(1, "Annotator_2"))
    assert sentence.columns["category"] == "3"


def test_workbooks_are_read_too(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["ID", "Label", "Annotator_1", "Human_annotation_median", "Sentence"])
    book.active.append(["CatCoLA_1", 1, 1.0, 1, "La nena canta."])
    book.save(tmp_path / "CatCoLA.xlsx")
    rated = read_rated(tmp_path / "CatCoLA.xlsx")
    assert rated.language == "ca"
    assert rated.sentences[0].ratings == (Rating(1, "Annotator_1"),)
    assert rated.sentences[0].label == "acceptable"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (ACCOMPLIT + "a\t10\tmolto\t1\t1\tCiao.\tt\tr\n", "the mean is 'molto', not a number"),
        (ACCOMPLIT + "a\t10\t7.5\t1\t1\tCiao.\tt\tr\n", "off the scale from 1 to 7 (a: 7.5)"),
        (ACCOMPLIT + "a\t10.5\t5\t1\t1\tCiao.\tt\tr\n", "not a whole number"),
        (ACCOMPLIT + "a\t9\t5\t1\t1\tSì.\tt\tr\n" * 2, "ids are there twice: a"),
        (PLAYERS + "1\tCiao.\t1\t1\t2\t1,0\tanna\n", "2 ratings and 1 participants"),
        (PLAYERS + "1\tCiao.\tforse\t1\t1\t1\tanna\n", "not yes or no"),
        (CONNECTIVE + "e 1A\tSì.\tyes\t5\ne 11\tCiao.\tyes\t5\n", "the id is 'e 11'"),
        (CONNECTIVE + "e 11A\tCiao.\tyes\t5,6\n", "off the scale from 1 to 5"),
        (CONNECTIVE + "e 11A\tCiao.\tyes\t5\n", "have one sentence only"),
        ("a\tb\n1\t2\n", "is a table with the columns a, b"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, seen):
    with pytest.raises(InputError) as caught:
        read_rated(written(tmp_path, "file.tsv", text))
    assert seen in str(caught.value)
    assert "file.tsv" in str(caught.value)


def test_other_tables_with_ids_and_sentences_are_left_alone(tmp_path):
    other = written(tmp_path, "other.tsv", "id\tsentence\n1\tPiove.\n")
    assert not is_rated_table(other)
    assert is_rated_table(written(tmp_path, "own.tsv", CONNECTIVE + "e 3A\tPiove.\tyes\t5\n"))
    with pytest.raises(InputError, match="columns id, sentence"):
        read_rated(other)
    with pytest.raises(InputError, match="the id is '1'"):
        read_rated(other, "connectives")


def test_a_suffix_that_is_no_table_is_refused(tmp_path):
    with pytest.raises(InputError, match="suffix"):
        read_rated(written(tmp_path, "file.pdf", "x"))
    with pytest.raises(UsageError, match="accomplit"):
        read_rated(written(tmp_path, "file.tsv", ACCOMPLIT), "acomplit")


class TestConnectives:
    def test_pairs_and_replacements_are_found(self, tmp_path):
        rows = (
            "acc e 3A\tPiove e tira vento.\tyes\t5,4\nacc e 3NA\tPiove prima tira vento\tno\t1,2\n"
        )
        good, bad = read_rated(written(tmp_path, "a.tsv", CONNECTIVE + rows)).sentences
        assert (good.label, bad.label) == ("acceptable", "unacceptable")
        assert good.pair == bad.pair == "e 3"
        assert good.columns["connective"] == "e"
        assert bad.columns["replacement"] == "prima"
        assert (good.grammatical, bad.grammatical) == (True, False)

    def test_what_stands_in_the_place_of_the_connective(self):
        assert replacement_in("Va bene, ma è tardi.", "Va bene, perché è tardi") == "perché"
        assert replacement_in("Se piove, resto.", "Dove piove, resto.") == "dove"
        assert replacement_in("Mangia e dorme.", "Mangia dorme.") == ""

    @given(st.sampled_from(CONNECTIVES), st.integers(1, 999), st.sampled_from(["A", "NA", "cl"]))
    @settings(deadline=None)
    def test_ids_come_back_whatever_stands_before_them(self, connective, number, kind):
        made = ConnectiveId(connective, number, kind)
        assert parse_id(str(made)) == made
        assert parse_id(unicodedata.normalize("NFD", f"acc_{number} {made} ")) == made


def test_forced_choices_know_the_sentence_and_not_the_place(tmp_path):
    sheets = (
        ("ann", "75", [("p_2ans1", "Good.", "Bad.", "1. Good.")]),
        ("bob", "20", [("p_2ans2", "Bad.", "Good.", "1. Bad."),
                       ("attnchkans1", "This.", "Not this.", "1. This.")]),
        ("carl", "NA", [("p_2ans1", "Good.", "Bad.", "{}")]),
    )  # fmt: skip
    choices = read_forced_choices(written(tmp_path, "b.csv", mturk(*sheets)))
    assert len(choices) == 15
    asked = [choice for choice in choices if choice.good != "Choose this."]
    assert [choice.good for choice in asked] == ["Good.", "Good.", "This.", "Good."]
    assert [choice.chose_good for choice in asked] == [True, False, True, None]
    assert [choice.seconds for choice in asked] == [75, 20, 20, None]
    assert [choice.attention for choice in asked] == [False, False, True, False]
    assert {choice.paradigm for choice in asked} == {"p_2", "attnchk"}
    assert len({choice.sheet for choice in choices}) == 3
    wrong = mturk(("ann", "75", [("p_2", "Good.", "Bad.", "1. Good.")]))
    with pytest.raises(InputError, match="does not end in ans1 or ans2"):
        read_forced_choices(written(tmp_path, "c.csv", wrong))


def test_single_ratings_are_a_table_of_judgments(tmp_path):
    rows = "e 3A\tPiove e tira vento.\tyes\t5,4\ne 3NA\tPiove prima tira vento.\tno\t1,2.5\n"
    table = judgments_table(read_rated(written(tmp_path, "a.tsv", CONNECTIVE + rows)))
    validate_table(table, JUDGMENTS, where="test")
    assert table["item"].to_list() == ["e 3"] * 4
    assert table["condition"].to_list() == ["acceptable"] * 2 + ["unacceptable"] * 2
    assert table["value"].to_list() == ["5", "4", "1", "2.5"]


@pytest.mark.golden
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        # wc -l of the files, less the header line
        ("accomplit_COMPL-Corpus-training.tsv", 2012),
        ("accomplit_complexity-set-test.tsv", 518),
        ("discotex_2_train_clean_release.tsv", 864),
        ("lau2020_context-none-ratings.csv", 250),
        ("sample_ItaCoLA_dataset.tsv", 25),
        ("sample_ItaCoLA_dataset_phenomenon.tsv", 15),
        ("sample_ItaCoLA_dataset_non-expertannotations.tsv", 40),
    ],
)
def test_no_row_of_a_published_file_is_lost(shared, name, rows):
    assert len(read_rated(shared / "data" / "connectives" / name).sentences) == rows


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CimentoError, match="no such file"):
        read_rated(tmp_path / "nowhere.tsv")


def test_the_cloze_section_of_a_copy_is_no_table_of_ratings(tmp_path):
    path = tmp_path / "own.tsv"
    path.write_text(
        "id\tsentence\ttarget\tplausible\timplausible\n"
        "e 1cl\tPiove ... resto a casa.\te\tquindi\tma, o, se\n",
        encoding="utf-8",
    )
    assert not is_rated_table(path)
    assert paradigm_of(path).name == "cloze"


def test_a_published_set_of_ratings_says_what_it_was_read_as(tmp_path):
    path = tmp_path / "cola.tsv"
    rows = "1\tLibro_2001\t1\tNoi dormiamo qui.\ttrain\n2\tLibro_2001\t0\tNoi dormite qui.\ttrain\n"
    path.write_text(f"UniqueIndexID\tSource\tAcceptability\tSentence\tSplit\n{rows}", "utf-8")
    said = load_suite(path).reading.table.said()
    assert said == (
        'Read as labeled sentences in the form of ItaCoLA: sentence = "Sentence",'
        ' label = "Acceptability", item = "UniqueIndexID"; 2 items;'
        ' kept, not scored: "Source", "Split".'
    )
