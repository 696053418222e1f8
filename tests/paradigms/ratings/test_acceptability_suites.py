"""What the starter suites of the kind acceptability must be."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

import cimento
from cimento.suites.formats.native import read_native
from cimento.suites.ratings import rated_of
from tests.helpers.command_line import invoke
from tests.helpers.rated import load_rated

SUITES = Path(cimento.__file__).parent / "data" / "suites"
NAMES = sorted(
    path.parent.name
    for path in SUITES.glob("*/suite.toml")
    if tomllib.loads(path.read_text(encoding="utf-8")).get("kind") == "acceptability"
)
STATUS = "draft, not yet reviewed by native speakers"
FIRST_OF_TWO = re.compile(r"\.(?= [A-ZÈÀ])")


def test_the_suites_promised_are_there():
    assert {"it-acceptability", "it-connectives"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
class TestEverySuite:
    def test_it_has_no_fault(self, name):
        assert cimento.load_suite(name).reading.faults == ()

    def test_it_says_what_it_is(self, name):
        meta = load_rated(SUITES / name).suite.meta
        assert (meta.name, meta.license, meta.status) == (name, "CC-BY-4.0", STATUS)
        readme = " ".join((SUITES / name / "README.md").read_text(encoding="utf-8").split())
        assert readme.startswith(f"# {name} ")
        assert f"Status: {STATUS}" in readme
        assert "License: CC BY 4.0" in readme

    def test_sentences_are_clean_and_there_once(self, name):
        sentences = [sentence.text for sentence in load_rated(SUITES / name).rated.sentences]
        assert len(set(sentences)) == len(sentences)
        for text in sentences:
            assert text == " ".join(text.split())
            assert text[0].isupper(), text
            assert text[-1] in ".?!", text
            assert not set(FIRST_OF_TWO.sub("", text)[:-1]) & set(".?!|’"), text
            assert " ," not in text
            assert unicodedata.is_normalized("NFC", text)


class TestConnectives:
    SUITE = load_rated(SUITES / "it-connectives").suite
    CONNECTIVES = frozenset(item.column("connective") for item in SUITE.items)

    def test_259_pairs_as_in_the_study_of_the_eighteen(self):
        counts = Counter(item.column("connective") for item in self.SUITE.items)
        assert (len(counts), sum(counts.values())) == (18, 259)
        assert set(counts.values()) == {14, 15}

    def test_the_pairs_of_version_0_1_come_first(self):
        first = Counter(item.column("connective") for item in self.SUITE.items[:90])
        assert set(first.values()) == {5}

    def test_the_connective_alone_is_replaced_by_another_of_them(self):
        for item in self.SUITE.items:
            good, bad = (item.condition(name) for name in ("acceptable", "unacceptable"))
            assert good.regions[0] == bad.regions[0], item.id
            assert good.regions[2] == bad.regions[2], item.id
            assert good.regions[1].text.lower() == item.column("connective"), item.id
            assert bad.regions[1].text.lower() == item.column("replacement"), item.id
            assert item.column("replacement") in self.CONNECTIVES, item.id
            assert item.column("replacement") != item.column("connective"), item.id

    def test_grammaticality_is_marked(self):
        for item in self.SUITE.items:
            assert item.condition("acceptable").columns["grammaticality"] == "yes"
        marked = Counter(
            item.condition("unacceptable").columns["grammaticality"] for item in self.SUITE.items
        )
        readme = (SUITES / "it-connectives" / "README.md").read_text(encoding="utf-8")
        assert f"({marked['no']} of 259; in the study 98)" in readme
        assert set(marked) == {"yes", "no"}


class TestGraded:
    FOUND = load_rated(SUITES / "it-acceptability")

    def test_each_phenomenon_has_two_sentences_of_each_degree(self):
        counts = Counter(
            (sentence.columns["phenomenon"], sentence.mean)
            for sentence in self.FOUND.rated.sentences
        )
        assert len(self.FOUND.rated.sentences) == 120
        assert len(counts) == 12 * 5
        assert set(counts.values()) == {2}

    def test_the_degrees_are_said_to_be_the_authors(self):
        assert self.FOUND.suite.extra["ratings"]["by"] == "author"


def test_what_is_wrong_with_a_table_is_said(tmp_path, capsys):
    (tmp_path / "suite.toml").write_text(
        'kind = "acceptability"\nregions = ["sentence"]\n[meta]\nname = "mine"\nlanguage = "it"\n'
        "[ratings]\nlow = 1\nhigh = 5\n",
        encoding="utf-8",
    )
    (tmp_path / "items.tsv").write_text(
        "item\tcondition\twording\trating\n1\tsentence\tIl gatto dorme.\t5\n", encoding="utf-8"
    )
    assert invoke(["run", str(tmp_path), "-m", "demo-causal"]) == 2
    printed = capsys.readouterr().err
    assert "CIM-S004 items.tsv: The column text is missing" in printed
    assert "of kind" not in printed


def rated_folder(folder, header, cells):
    """A suite whose ratings are under a header of its author's."""
    (folder / "suite.toml").write_text(
        'kind = "acceptability"\nregions = ["text"]\n[meta]\nname = "mia"\nlanguage = "it"\n'
        "[ratings]\nlow = 1\nhigh = 7\n",
        encoding="utf-8",
    )
    sentences = ("La ragazza dorme.", "I ragazzi dorme.", "Il cane abbaia.")
    rows = [f"{text}\t{cell}\n" for text, cell in zip(sentences, cells, strict=True)]
    (folder / "items.tsv").write_text("".join([f"frase\t{header}\n", *rows]), encoding="utf-8")
    return folder


@pytest.mark.parametrize("header", ["rating", "giudizio", "Voto", "juicio", "nota", "оценка"])
def test_ratings_may_stand_under_a_header_in_the_language_of_the_author(tmp_path, header):
    rated = rated_of(read_native(rated_folder(tmp_path, header, ("6,5", "2", "5.5"))).suite)
    assert [sentence.mean for sentence in rated.sentences] == [6.5, 2, 5.5]
    assert not any(sentence.columns for sentence in rated.sentences)


def test_single_ratings_may_stand_under_a_header_in_the_language_of_the_author(tmp_path):
    rated = rated_of(
        read_native(rated_folder(tmp_path, "giudizi", ("6; 7", "2;1", "5,5; 4"))).suite
    )
    assert [sentence.mean for sentence in rated.sentences] == [6.5, 1.5, 4.75]


@pytest.mark.parametrize(
    ("cells", "doubted"), [(("6,5", "2,1", "5,5"), True), (("6,5,7", "2", "5"), False)]
)
def test_single_ratings_that_may_be_decimals_are_pointed_at(tmp_path, cells, doubted, capsys):
    folder = rated_folder(tmp_path, "ratings", cells)
    assert invoke(["run", str(folder), "-m", "demo-causal", "-o", str(tmp_path / "runs")]) == 0
    assert ("decimal comma" in capsys.readouterr().out) is doubted


def test_a_decimal_that_is_off_the_scale_as_two_ratings_is_told_how_to_be_one(tmp_path, capsys):
    folder = rated_folder(tmp_path, "ratings", ("6,5", "2,0", "5,5"))
    assert invoke(["run", str(folder), "-m", "demo-causal"]) == 2
    assert "call the column rating" in capsys.readouterr().err
