"""The connectives study: what does not add up is found, statistics and tables are right."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import CimentoError, InputError
from cimento.cli.main import invoke
from cimento.judgments import NONE
from cimento.paradigms.cloze.requests import Candidate
from cimento.statistics.correlation import Correlation
from cimento.studies import connectives as checks
from cimento.studies.connectives import (
    check_published,
    fits_percentage,
    p_of_rho,
    rounded_percent,
    swapped_digits,
)
from cimento.studies.connectives.cloze import (
    ClozeSection,
    choice_counts,
    chosen_by_people,
    read_cloze_section,
    table_5,
)
from cimento.studies.connectives.released import (
    ACCEPTABILITY,
    BLIMP,
    BRITTON,
    COMPLEXITY,
    DISCOTEX,
    ITACOLA,
    LAU,
    PLAYERS,
    PUBLISHED_BLIMP,
    released,
)
from cimento.studies.connectives.text import compare_statistics, read_expected
from cimento.studies.connectives.user_copy import copy_tables, read_copy, rho_cells
from cimento.suites import Meta
from cimento.suites.cloze import ClozeItem, ClozeSuite, Option
from tests.helpers.rated import mturk

OWN = Path(__file__).parents[1] / "data" / "connectives"


class TestPublished:
    WRONG: ClassVar = {
        (check.where, check.what): check for check in check_published() if check.verdict != "right"
    }

    def test_swapped_digits_are_found(self):
        check = self.WRONG["section 2.1", "words of ISDT"]
        assert (check.printed, check.computed) == ("289,343", "298,343")
        assert "18 of 18" in check.note

    def test_impossible_cells_are_found(self):
        poi = self.WRONG["Table 6, PoSTWITA+TWITTIRÒ", "poi: occurrences"]
        assert poi.printed == "46"
        assert "però" in poi.note
        assert ("Table 6, PoSTWITA+TWITTIRÒ", "infatti: occurrences") in self.WRONG
        assert ("Table 6, PoSTWITA+TWITTIRÒ", "se: 477 of 154,050, %") in self.WRONG

    def test_pairs_and_nested_rows_are_found(self):
        assert "259 pairs" in self.WRONG["section 2.2.1", "number of sentence pairs"].note
        table = self.WRONG["Table 4", "largest perplexity of NonAcceptable"]
        # (161 * 78.280 + 98 * 98.992) / 259 = 86.117
        assert "161 grammatical" in table.note
        mean = self.WRONG["section 4", "mean perplexity of the unacceptable sentences"]
        assert "86.117" in mean.computed
        # (161 * 1.822 + 98 * 1.616) / 259 = 1.744
        assert "1.744" in self.WRONG["Table 2", "NonAcceptable against NonAccept+NonGr"].note

    def test_nothing_else_is_wrong(self):
        verdicts = [check.verdict for check in self.WRONG.values()]
        assert (verdicts.count("wrong"), verdicts.count("open")) == (7, 3)
        assert sum(check.verdict == "right" for check in check_published()) == 49

    def test_what_depends_on_a_reading_is_open_and_not_wrong(self, capsys):
        opened = {what for (_, what), check in self.WRONG.items() if check.verdict == "open"}
        assert opened == {
            "NonAcceptable against NonAccept+NonGr",
            "largest perplexity of NonAcceptable",
            "mean perplexity of the unacceptable sentences",
        }
        assert invoke(["study", "connectives"]) == 0
        printed = capsys.readouterr().out
        assert "49 of 59 figures follow from others, 7 do not, 3 can be read in two ways" in printed
        assert "two swapped digits would explain it" in printed

    def test_p_of_rho(self):
        # python -c "from scipy import stats; print(2 * stats.t.sf(.12 * (516/.9856)**.5, 516))"
        assert p_of_rho(-0.12, 518) == pytest.approx(0.00625, abs=5e-6)
        assert p_of_rho(-0.12, 259) == pytest.approx(0.0537, abs=5e-5)

    @given(st.integers(10, 10**6))
    @settings(deadline=None)
    def test_a_swap_can_be_undone(self, number):
        for other in swapped_digits(number):
            assert sorted(str(other)) == sorted(str(number))
            if "0" not in str(number)[0]:
                assert number in swapped_digits(other)

    def test_percentages_are_rounded_as_printed(self):
        assert rounded_percent(5, 270, "1.85") == "1.85"
        assert rounded_percent(1, 8, "12") == "13"
        assert fits_percentage(1906, 298_343, "0.639")
        assert not fits_percentage(1906, 289_343, "0.639")

    @pytest.mark.golden
    def test_the_tables_are_those_of_the_paper(self, shared):
        paper = json.loads((shared / "golden/connectives/paper_tables.json").read_text("utf-8"))
        for name, row in paper["table2_human_scores"].items():
            assert (row["mean"], row["sd"]) == (
                checks.TABLE_2[name].mean,
                checks.TABLE_2[name].sd,
            )
        for name, row in paper["table4_ppl"].items():
            mine = checks.TABLE_4[name]
            assert (row["avg"], row["min"], row["max"]) == (mine.mean, mine.low, mine.high)
        for name, (count, percent) in paper["table3_cloze_majority"].items():
            mine = checks.TABLE_3[name]
            assert (mine.count, float(mine.percent)) == (count, percent)
        for name, (count, percent) in paper["table5_bert"]["match10"].items():
            mine = checks.TABLE_5_TEN[name]
            assert (mine.count, float(mine.percent)) == (count, percent)
        for name, row in paper["table6_counts"].items():
            isdt, tweets = (checks.TABLE_6[c][name] for c in checks.WORDS)
            assert (isdt.count, float(isdt.percent)) == (row["isdt"], row["isdt_pct"])
            assert (tweets.count, float(tweets.percent)) == (
                row["postwita_twittiro"],
                row["pt_pct"],
            )


def as_released(shared: Path, folder: Path) -> Path:
    """The files of shared/data under the names of their releases, in folders of their own."""
    data, golden = shared / "data" / "connectives", shared / "golden" / "connectives"
    names = {
        **{f"accomplit_{name}": f"accompl-it/{name}"
           for name in (*ACCEPTABILITY, *COMPLEXITY)},
        **{name: f"DisCoTex/data/{name}" for name in DISCOTEX},
        **{f"lau2020_{name}": f"human-ratings/{name}" for name in LAU},
        "britton2024_italian_lm_surprisals.csv": f"dataset/{BRITTON}",
    }  # fmt: skip
    for ours, theirs in names.items():
        (folder / theirs).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(data / ours, folder / theirs)
    shutil.copy(golden / "blimp_human_validation_summary.csv", folder / PUBLISHED_BLIMP)
    (folder / BLIMP).write_text(as_sheets(data / "blimp_human_forced_choice.tsv"), encoding="utf-8")
    return folder


def as_sheets(path: Path) -> str:
    """BLiMP's answers, one a row, as the sheets that they were released as."""
    sheets: dict[str, tuple[str, str, list[tuple[str, str, str, str]]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            choices = sheets.setdefault(row["hit"], (row["annotator"], row["work_seconds"], []))[2]
            chosen = row["choice"]
            answer = "{}" if chosen == "NA" else f"{chosen}. {row[f'sentence_{chosen}'][:9]}"
            condition = f"{row['paradigm']}ans{row['correct_option']}"
            choices.append((condition, row["sentence_1"], row["sentence_2"], answer))
    return mturk(*sheets.values())


@pytest.fixture(scope="module")
def data(shared, tmp_path_factory):
    return as_released(shared, tmp_path_factory.mktemp("released"))


@pytest.mark.golden
class TestReleased:
    @pytest.mark.slow
    def test_every_statistic_that_has_an_input_is_as_expected(self, shared, data):
        golden = shared / "golden" / "connectives"
        compared = compare_statistics(
            released(data).values, read_expected(golden / "stats_expected.json")
        )
        # The hash is that of a file with one answer a row, the names are those of copies.
        differing = {row.where for row in compared if row.equal is False}
        assert differing == {"blimp_human.sha256", "lau2020_none.file", "lau2020_real.file"}
        without = {row.where.split(".")[0] for row in compared if row.equal is None}
        # Two entries have no input; "_pkg" are the values of another package for the same alphas.
        left = {row.where for row in compared if row.equal is None and "_pkg" not in row.where}
        assert {where.split(".")[0] for where in left} == {"itacola", "itacola_nonexpert"}
        assert without - {"itacola", "itacola_nonexpert"} == {"lau2020_none", "lau2020_real"}
        assert sum(row.equal is True for row in compared) == 241

    def test_tiny_p_values_are_right_too(self, shared, data):
        golden = read_expected(shared / "golden" / "connectives" / "stats_expected.json")
        values = released(data).values
        expected = golden["lau2020_none_vs_real"]
        for kind in ("spearman", "pearson", "kendall_b"):
            mine = values["lau2020_none_vs_real"][kind][1]
            assert mine == pytest.approx(expected[kind][1], rel=1e-6)

    @pytest.mark.slow
    def test_the_command_compares(self, shared, data, capsys):
        expected = shared / "golden" / "connectives" / "stats_expected.json"
        arguments = ["study", "connectives", "--data", str(data), "--expected", str(expected)]
        assert invoke([*arguments, "--json"]) == 1  # names and hash alone
        printed = json.loads(capsys.readouterr().out)
        assert printed["statistics"]["discotex_2_test_set_release.tsv"]["rows"] == 200
        contexts = printed["statistics"]["lau2020_none_vs_real"]
        assert contexts["p"] == "asymptotic, of rows taken as independent, not adjusted"
        assert set(printed["absent"]) == {ITACOLA, PLAYERS}


def test_a_folder_without_data_is_told_what_is_looked_for(tmp_path, capsys):
    assert invoke(["study", "connectives", "--data", str(tmp_path)]) == 2
    printed = capsys.readouterr().err
    for name in (BLIMP, BRITTON, ITACOLA, *LAU, *DISCOTEX,
                 *ACCEPTABILITY, "it_isdt-ud-*.conllu", "sites.google.com/view/accompl-it",
                 "-m MODEL asks our own items"):  # fmt: skip
        assert name in printed
    assert invoke(["study", "connectives", "--data", str(tmp_path / "none")]) == 2
    assert "is not a folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b",ita_surp_GePpeTto,ita_surp_GroNLP\n0,1.5,tanto\n", "are not numbers in every row"),
        (b",ita_surp_GePpeTto\n0,1.5\n", "are not numbers in every row"),
        (b"\xff\xfe\x00\xd8", "UTF-16"),
        (b",a\n0," + b"x" * 140_000 + b"\n", "is not CSV"),
    ],
)
def test_a_released_file_that_cannot_be_used_is_named(tmp_path, content, said):
    (tmp_path / "Italian_LM_data.csv").write_bytes(content)
    with pytest.raises(CimentoError, match=f"(?s)Italian_LM_data.*{said}"):
        released(tmp_path)


def test_a_number_that_differs_is_found(tmp_path, capsys):
    lau = "ID,translated,source-language,sentence,context,full-ratings,mean-ratings\n"
    rows = '1,0,en,a b c.,,"1,2,2",1.6667\n2,0,en,d e.,,"4,4,3",3.6667\n3,1,en,f.,,"2,3",2.5\n'
    (tmp_path / "context-none-ratings.csv").write_text(lau + rows, encoding="utf-8")
    expected = tmp_path / "expected.json"
    expected.write_text('{"lau2020_none": {"items": 3, "ratings": 8}}', encoding="utf-8")
    arguments = ["--data", str(tmp_path), "--expected", str(expected)]
    assert invoke(["study", "connectives", *arguments]) == 0
    expected.write_text('{"lau2020_none": {"items": 5}}', encoding="utf-8")
    assert invoke(["study", "connectives", *arguments]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "lau2020_none.items 3 5 NO" in shown


def test_blimps_answers_are_counted_by_hand_with_and_without_its_summary(tmp_path):
    """Of two pairs both choose the good sentence of the first, one that of the second: 3/4."""
    pairs = [("agreeans1", "Io dormo.", "Io dorme."), ("agreeans2", "Tu dorme.", "Tu dormi.")]
    chosen = {"Ada": "12", "Bea": "11"}
    sheets = [
        (name, "40", [(*pair, f"{choice}. {pair[int(choice)][:9]}")
                      for pair, choice in zip(pairs, choices, strict=True)])
        for name, choices in chosen.items()
    ]  # fmt: skip
    (tmp_path / BLIMP).write_text(mturk(*sheets), encoding="utf-8")
    values = released(tmp_path).values["blimp_human"]
    assert (values["hits"], values["judgements_kept"], values["items"]) == (2, 4, 2)
    assert (values["item_majority_correct"], values["item_ties"]) == (1, 1)
    beside = {"published_paradigms": 2, "exactly_reproduced": 1, "worst_difference": 0.0}
    assert not beside.keys() & values.keys()
    summary = "Condition,total_mean\nagree,0.75\nislands,0.5\n"
    (tmp_path / PUBLISHED_BLIMP).write_text(summary, encoding="utf-8")
    assert beside.items() <= released(tmp_path).values["blimp_human"].items()


def test_ratings_of_two_files_are_counted_together(tmp_path):
    for name, numbers in zip(ACCEPTABILITY, [(10, 20), (60,)], strict=True):
        rows = [f"{name[0]}{n}\t{n}\t5\t1\t1\tDorme {n} ore.\tt\tr\n" for n in numbers]
        header = "id\tN\tmean\tsd\tse\tsentence\ttask\treference\n"
        (tmp_path / name).write_text("".join([header, *rows]), encoding="utf-8")
    assert released(tmp_path).values["accomplit_acceptability"] == {
        "sentences": 3, "distinct_ids": 3, "total_judgements": 90, "mean_N": 30.0,
    }  # fmt: skip


class TestOwnCopy:
    """The numbers are worked out by hand from the files in tests/data/connectives."""

    CELLS: ClassVar = {
        (table.name, *cell.what.split(": ")): cell
        for table in copy_tables(read_copy(OWN))
        for cell in table.cells
    }

    @pytest.mark.parametrize(
        ("table", "row", "column", "value"),
        [
            ("Table 2", "acceptable", "mean", (4.75 + 4.25 + 5 + 4.25) / 4),
            ("Table 2", "unacceptable, grammatical", "mean", 2.0),
            ("Table 2", "unacceptable, ungrammatical", "mean", 1.5),
            ("Table 2", "unacceptable", "mean", 1.75),
            # python -c "import statistics as s; print(s.stdev([1.5, 2, 2, 1.5]))"
            ("Table 2", "unacceptable", "sd", 0.28867513459481287),
            ("Table 4", "acceptable", "mean", 23.25),
            ("Table 4", "unacceptable, grammatical", "high", 40.0),
            ("Table 4", "unacceptable, ungrammatical", "low", 90.0),
            # python -c "from scipy import stats; print(stats.spearmanr([4.75, 1.5, 4.25, 2, 5, 2,
            #   4.25, 1.5], [20, 90, 35.5, 30.25, 12.5, 40, 25, 150])[0])"
            ("section 4", "Spearman, scores and perplexities", "rho", -0.9334876415650786),
            ("Pairs", "all", "accuracy of 4", 0.75),
            ("Pairs", "unacceptable, grammatical", "accuracy of 2", 0.5),
            ("Pairs", "unacceptable, ungrammatical", "accuracy of 2", 1.0),
            ("Pairs", "connective se", "accuracy of 1", 0.0),
            ("Pairs", "replacement prima", "accuracy of 1", 1.0),
            ("Table 3", "target", "items", 2),
            ("Table 3", "implausible", "items", 1),
            ("Table 3", "target = plausible", "%", 100 / 6),
            ("Table 3", "no option", "items", 1),
            ("Table 5, ten", "target", "items", 1),
            ("Table 5, ten", "plausible", "items", 2),
            ("Table 5, ten", "target and plausible", "items", 2),
            ("Table 5, ten", "neither", "items", 1),
            ("Table 5, first", "target", "items", 3),
            ("Table 5, first", "plausible", "items", 1),
        ],
    )
    def test_tables_2_to_5(self, table, row, column, value):
        assert self.CELLS[table, row, column].computed == pytest.approx(value, abs=1e-12)

    def test_a_rate_of_few_pairs_has_no_interval_and_says_why(self):
        cell = self.CELLS["Pairs", "all", "accuracy of 4"]
        assert (cell.low, cell.high) == (None, None)
        assert cell.note == "4 values: an interval needs 5 or more"

    def test_printed_numbers_of_other_items_stand_beside_and_are_not_compared(self):
        cell = self.CELLS["Table 2", "acceptable", "mean"]
        assert (cell.printed, cell.equal) == ("4.286", None)
        assert self.CELLS["Table 4", "unacceptable", "mean"].printed is None
        assert {one.equal for one in self.CELLS.values()} == {None}
        here = {table.source.rpartition(": ")[2] for table in copy_tables(read_copy(OWN))}
        assert here >= {"8 sentences here, 518 there", "6 blanks here, 270 there"}

    def test_a_copy_without_perplexities_has_no_table_4(self, tmp_path):
        lines = (OWN / "acceptability.tsv").read_text("utf-8").splitlines()
        cut = "".join(line.rsplit("\t", 1)[0] + "\n" for line in lines)
        (tmp_path / "acceptability.tsv").write_text(cut, encoding="utf-8")
        [cells] = [
            table.cells for table in copy_tables(read_copy(tmp_path)) if table.name == "Table 4"
        ]
        assert cells
        assert all(cell.computed is None for cell in cells)
        assert all(cell.note for cell in cells)

    def test_the_command_prints_them(self, capsys):
        assert invoke(["study", "connectives", "--own", str(OWN)]) == 0
        out = capsys.readouterr().out
        assert "Table 5 of your copy: the first completion [Table 5, first]" in out
        assert "518" in out

    @pytest.mark.parametrize(
        ("name", "old", "new", "seen"),
        [
            ("cloze.tsv", "poi=8", "poi=x", "choices has 'poi=x'"),
            ("cloze.tsv", "se, dove, tuttavia", "e, dove, tuttavia", "the options are"),
            ("cloze.tsv", "clz se 16cl", "clz e 1cl", "is there twice"),
            ("cloze.tsv", "clz se 16cl", "clz se 16", "the id is 'clz se 16'"),
            ("completions.tsv", "clz e 1cl\t2\t", "clz e 1cl\t1\t", "the rank of a completion"),
            ("completions.tsv", "clz e 1cl\t10\t", "clz e 1cl\t11\t", "a rank is missing"),
            ("completions.tsv", "clz e 1cl\t10\t", "clz o 2cl\t1\t", "no cloze item 'clz o 2cl'"),
            ("acceptability.tsv", "20.0", "-3", "not a number above 0"),
        ],
    )
    def test_what_is_wrong_is_named(self, tmp_path, name, old, new, seen):
        folder = tmp_path / "own"
        shutil.copytree(OWN, folder)
        path = folder / name
        path.write_text(path.read_text("utf-8").replace(old, new, 1), encoding="utf-8")
        with pytest.raises(InputError) as caught:
            copy_tables(read_copy(folder))
        assert seen in str(caught.value)

    @pytest.mark.parametrize(
        "told",
        [
            ("suites", "check"),
            pytest.param(("annotate", "survey", "build"), marks=pytest.mark.slow),
            pytest.param(("run",), marks=pytest.mark.slow),
        ],
    )
    def test_the_cloze_section_is_taken_by_every_command_as_documented(
        self, told, tmp_path, capsys
    ):
        path = shutil.copy(OWN / "cloze.tsv", tmp_path / "blanks.tsv")
        more = [] if told[0] == "suites" else ["-o", str(tmp_path / "out")]
        more += ["-m", "demo-masked"] if told == ("run",) else []
        assert invoke([*told, str(path), *more]) == 0
        said = capsys.readouterr()
        assert told[0] == "annotate" or "form of the connectives resource" in said.out + said.err
        assert told != ("run",) or "6 items" in said.out
        path.write_text(path.read_text("utf-8").replace("clz se 16cl", "clz se 16"), "utf-8")
        assert invoke(["suites", "check", str(path)]) == 2
        assert "such as 'se 23cl'" in capsys.readouterr().err

    def test_p_of_section_4_is_there_and_other_models_are_not_compared(self):
        rho = Correlation("spearman", -0.3, 40, p=0.04, low=-0.6, high=-0.01, method="jackknife")
        cells = {
            cell.what.rpartition(": ")[2]: cell for cell in rho_cells(rho, p_holm=0.08, n_models=2)
        }
        assert (cells["rho"].printed, cells["rho"].equal) == ("-0.120", False)
        assert (cells["rho"].low, cells["rho"].high, cells["rho"].count) == (-0.6, -0.01, "40")
        assert (cells["p"].computed, cells["p"].printed) == (0.04, "< 0.01")
        assert (cells["p, Holm"].computed, cells["p, Holm"].note) == (0.08, "of 2 models")

    def test_a_sentence_without_a_blank_is_named(self, tmp_path):
        lines = (OWN / "cloze.tsv").read_text("utf-8").replace("... piove", "Piove")
        (tmp_path / "cloze.tsv").write_text(lines, encoding="utf-8")
        with pytest.raises(InputError, match="there are 0 blanks"):
            read_cloze_section(tmp_path / "cloze.tsv")

    def test_an_option_at_the_beginning_has_a_capital_and_all_have_their_spellings(self):
        items = {item.id: item for item in read_cloze_section(OWN / "cloze.tsv").items}
        assert [option.text for option in items["clz se 16cl"].options[:2]] == ["Se", "Quando"]
        assert items["clz e 1cl"].options[0].spellings == ("e", "ed")
        assert items["clz e 1cl"].filled("e") == "Ho comprato il pane e ho pagato in contanti."

    def test_columns_with_other_names_are_chosen_and_the_line_says_so(self, tmp_path, capsys):
        folder = shutil.copytree(OWN, tmp_path / "own")
        for name in ("acceptability.tsv", "cloze.tsv"):
            header, rows = (folder / name).read_text("utf-8").split("\n", 1)
            names = header.replace("sentence", "Frase").replace("target", "Bersaglio")
            (folder / name).write_text(f"{names}\n{rows}", encoding="utf-8")
        told = ["study", "connectives", "--own", str(folder), "--json"]
        assert invoke(told) == 2
        capsys.readouterr()
        assert invoke([*told, "--columns", "sentence=Frase,target=Bersaglio"]) == 0
        chosen = capsys.readouterr()
        assert 'text = "Frase", target = "Bersaglio"' in chosen.err
        assert 'sentence = "Frase"' in chosen.err
        assert invoke(["study", "connectives", "--own", str(OWN), "--json"]) == 0
        assert chosen.out == capsys.readouterr().out
        assert invoke([*told, "--columns", "sentence=Fraze"]) == 2
        assert "no column 'Fraze'" in capsys.readouterr().err

    def test_an_empty_folder_is_refused(self, tmp_path, capsys):
        assert invoke(["study", "connectives", "--own", str(tmp_path)]) == 2
        assert "neither acceptability.tsv nor cloze.tsv" in capsys.readouterr().err

    def test_too_few_completions_are_refused(self):
        section = read_cloze_section(OWN / "cloze.tsv", OWN / "completions.tsv")
        with pytest.raises(InputError, match="there are 10 of 11"):
            table_5(section.suite, section.completions, k=11)


class TestClozeItems:
    ITEM: ClassVar = ClozeItem(
        "se 1cl",
        "",
        " piove, resto.",
        (Option("se"), Option("quando", "plausible"),
         *(Option(word, "implausible") for word in ("o", "ma", "e"))),
    )  # fmt: skip
    SUITE: ClassVar = ClozeSuite(Meta("blanks"), items=(ITEM,))

    def people(self, **choices: int) -> set[str]:
        section = ClozeSection(self.SUITE, {"se 1cl": choices})
        classes = choice_counts(self.SUITE, chosen_by_people(section))
        return {counted.name for counted in classes if counted.count}

    def completed(self, *texts: str, unreachable: tuple[str, ...] = ()) -> tuple[set, set]:
        candidates = [Candidate("se 1cl", rank, text) for rank, text in enumerate(texts, start=1)]
        parts = table_5(self.SUITE, {"se 1cl": candidates}, k=len(texts), unreachable=unreachable)
        ten, first = ({counted.name for counted in part if counted.count} for part in parts)
        return ten, first

    def test_classes_of_what_people_chose(self):
        assert self.people(se=3, o=2) == {"target"}
        assert self.people(quando=3) == {"plausible"}
        # Implausible options compete one by one.
        assert self.people(se=3, o=2, ma=2) == {"target"}
        assert self.people(ma=3) == {"implausible"}
        assert self.people(se=3, quando=3) == {"target = plausible"}
        assert self.people(se=3, ma=3) == {"another tie"}
        assert self.people(ma=3, o=3) == {"another tie"}
        assert self.people(**{NONE: 4}) == {"no option"}
        assert self.people() == {"without answers"}

    def test_a_target_of_several_tokens_is_not_called_missed(self):
        cannot = ("se 1cl",)
        assert self.completed("dove", "o", "quando", unreachable=cannot) == (
            {"target of several tokens"}, set(),
        )  # fmt: skip
        assert self.completed("dove", "se", unreachable=cannot) == ({"target"}, set())

    def test_ranks_do_not_mind_capitals_and_pieces_do_not_count(self):
        assert self.completed("SE", "Quando") == ({"target and plausible"}, {"target"})
        assert self.completed("##se", "quando") == ({"plausible"}, set())
        assert self.completed("che") == ({"neither"}, set())
