"""Tables 2 to 6 of the connectives study: counted in treebanks, and for one's own models."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from cimento.cli.main import invoke
from cimento.kinds.run import open_runs
from cimento.studies import connectives as checks
from cimento.studies.connectives.cloze import read_cloze_section
from cimento.studies.connectives.text import count_table_6, table_6_section, treebanks_in
from cimento.suites.builtin import find_suite
from tests.helpers.tidy_tables import check_folder

FIRST = ("--limit", "40")
# Of so many pairs, of each connective in turn, so many unacceptable sentences are ungrammatical.
SIZES = ((40, 7), pytest.param((120, 33), marks=pytest.mark.slow))
OWN = Path(__file__).parents[1] / "data" / "connectives"


def table(folder: Path, name: str) -> list[list[str]]:
    return list(csv.reader((folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()))


@pytest.mark.golden
def test_the_treebanks_give_table_6(shared):
    """Counts by spec/connectives.md section 3, rule `paper`."""
    with (shared / "golden/connectives/connective_counts.tsv").open(encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file, delimiter="\t")
            if row["release"] == "r2.6" and row["connective"] in checks.TABLE_6["ISDT"]
        ]
    expected = {"ISDT": Counter(), "PoSTWITA+TWITTIRÒ": Counter()}
    for row in rows:
        if row["file"] == "it_isdt-ud-test.conllu":
            expected["ISDT"][row["connective"]] += int(row["paper"])
        elif row["treebank"].casefold().startswith("twittir"):
            expected["PoSTWITA+TWITTIRÒ"][row["connective"]] += int(row["paper"])
    counted = count_table_6(treebanks_in(shared / "data" / "treebanks"))
    assert {corpus.name: Counter(corpus.counts.hits) for corpus in counted} == expected
    section = table_6_section(counted)
    assert section.compared == 0
    assert "ISDT: 10,417 words" in section.source
    assert "without it_isdt-ud-train.conllu" in section.source


TREE = """# sent_id = 1
# text = Piove e tira vento.
1\tPiove\tpiovere\tVERB\t_\t_\t0\troot\t_\t_
2\te\te\tCCONJ\t_\t_\t3\tcc\t_\t_
3\ttira\ttirare\tVERB\t_\t_\t1\tconj\t_\t_
4\tvento\tvento\tNOUN\t_\t_\t3\tobj\t_\tSpaceAfter=No
5\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_

"""


class TestTreebanks:
    def write(self, folder: Path, *names: str) -> Path:
        for name in names:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(TREE, encoding="utf-8")
        return folder

    def test_a_whole_treebank_is_compared_and_a_part_is_not(self, tmp_path):
        parts = [f"UD_Italian-ISDT/it_isdt-ud-{split}.conllu" for split in ("train", "dev", "test")]
        folder = self.write(tmp_path, *parts, "it_twittiro-ud-test.conllu", "fr_gsd-ud-dev.conllu")
        isdt, tweets = count_table_6(treebanks_in(folder))
        assert (isdt.name, isdt.absent, isdt.counts.size.words) == ("ISDT", (), 15)
        assert (isdt.counts.hits["e"], tweets.counts.hits["e"]) == (3, 1)
        assert "it_postwita-ud-test.conllu" in tweets.absent
        cells = {cell.what: cell for cell in table_6_section([isdt, tweets]).cells}
        whole, part = cells["e, ISDT: occurrences"], cells["e, PoSTWITA+TWITTIRÒ: occurrences"]
        assert (whole.computed, whole.printed, whole.equal) == (3, "1906", False)
        assert (part.computed, part.printed, part.equal) == (1, "909", None)
        assert "not compared" in part.note
        assert cells["e, ISDT: %"].computed == pytest.approx(20)

    def test_two_releases_of_one_treebank_are_refused(self, tmp_path, capsys):
        folder = self.write(tmp_path, "a/it_isdt-ud-test.conllu", "b/it_isdt-ud-test.conllu")
        assert invoke(["study", "connectives", "--data", str(folder)]) == 2
        assert "the same part of one treebank" in capsys.readouterr().err

    def test_counts_of_a_folder_stand_in_table_6(self, tmp_path):
        folder = self.write(tmp_path / "data", "it_isdt-ud-test.conllu")
        out = tmp_path / "out"
        assert invoke(["study", "connectives", "--data", str(folder), "-o", str(out)]) == 0
        header, published, counted, *_ = table(out, "table-6")
        assert header == ["Conn", "source", "ISDT_n", "ISDT_percent", "PoSTWITA+TWITTIRÒ_n",
                          "PoSTWITA+TWITTIRÒ_percent"]  # fmt: skip
        assert published == ["e", "published", "1906", "0.639", "909", "0.59"]
        assert counted == ["e", "counted", "1", "20.0", "", ""]


@pytest.fixture(scope="module", params=SIZES, ids=lambda size: str(size[0]))
def size(request):
    """How many items are asked, and how many unacceptable sentences are ungrammatical."""
    return request.param


@pytest.fixture(scope="module")
def written(size, tmp_path_factory):
    """Both demo models, on the first of our own items; the tables, figures and runs."""
    folder = tmp_path_factory.mktemp("study")
    arguments = ["study", "connectives", "-m", "demo-causal", "-m", "demo-masked"]
    arguments += ["--limit", str(size[0]), "-o", str(folder)]
    assert invoke(arguments) == 0
    return folder, arguments


class TestModels:
    @pytest.mark.slow
    def test_tables_2_to_6_are_written_in_three_forms_and_figures_beside(self, written):
        folder, _ = written
        names = {path.name for path in folder.iterdir()}
        for name in (*(f"table-{number}" for number in range(2, 7)), "details"):
            assert {f"{name}{end}" for end in (".txt", ".csv", ".tex")} <= names
        assert check_folder(folder, labels=2) == 6
        assert {"margins.svg", "curve.svg", "runs"} <= names
        for number in (2, 3, 4, 5):
            text = (folder / f"table-{number}.txt").read_text(encoding="utf-8")
            assert "the others of our own (it-connectives, it-connectives-cloze)" in text
        assert "it_sample is our own" in (folder / "table-6.txt").read_text(encoding="utf-8")
        assert "\\toprule" in (folder / "table-5.tex").read_text(encoding="utf-8")

    @pytest.mark.slow
    def test_published_rows_stand_above_those_of_the_models(self, written, size):
        folder, _ = written
        header, *rows = table(folder, "table-4")
        assert header == ["AcceptabilityLabel", "model", "AvgPPL", "AvgPPL_low", "AvgPPL_high",
                          "AvgPPL_n", "AvgPPL_reason", "minPPL", "maxPPL"]  # fmt: skip
        assert list(dict.fromkeys(row[0] for row in rows)) == [
            "Acceptable", "NonAcceptable", "NonAccept+NonGr", "both unacceptable",
        ]  # fmt: skip
        assert rows[0][:3] == ["Acceptable", "GePpeTto (published)", "42.512"]
        assert [row[1].partition("@")[0] for row in rows[1:3]] == ["demo-causal", "demo-masked"]
        n, ungrammatical = size
        numbers = [int(row[5]) for row in rows if row[5]]
        assert numbers[::2] == numbers[1::2] == [n, n - ungrammatical, ungrammatical, n]
        assert all(float(low) < float(mean) < float(high)
                   for _, _, mean, low, high, n, *_ in rows if n)  # fmt: skip

    def test_the_classes_of_tables_3_and_5_are_all_items_asked(self, written, size):
        folder, _ = written
        _, *rows = table(folder, "table-3")
        assert rows[0][:4] == ["Target", "people (published)", "213", "78.89"]
        for model in ("demo-causal", "demo-masked"):
            assert sum(int(row[2]) for row in rows if row[1].startswith(model)) == size[0]
        _, *rows = table(folder, "table-5")
        published = [
            "bert-base-italian-xxl-cased (published)",
            "85",
            "31.48",
            "",
            "",
            "",
            "",
            "111",
        ]
        assert rows[0][1:9] == published
        for model in ("demo-causal", "demo-masked"):
            assert sum(int(row[2]) for row in rows if row[1].startswith(model)) == size[0]
        assert rows[-1][0] == "Target of several tokens"

    def test_table_4_is_that_of_the_run(self, written, size, tmp_path):
        folder, _ = written
        arguments = ["-m", "demo-causal", "--bos", "none", "--set", "unscored_first=drop"]
        arguments += ["--limit", str(size[0]), "-o", str(tmp_path)]
        assert invoke(["run", "it-connectives", *arguments]) == 0
        [run] = open_runs([tmp_path])
        good = [estimate for estimate in run.estimates()
                if (estimate.question, estimate.level) == ("ppl", "acceptable")]  # fmt: skip
        values = {estimate.statistic: estimate.value for estimate in good}
        row = table(folder, "table-4")[2]
        shown = [float(cell) for cell in (row[2], *row[7:])]
        assert shown == pytest.approx([values[name] for name in ("mean", "min", "max")])

    @pytest.mark.slow
    def test_asking_again_asks_nothing(self, written, capsys):
        folder, arguments = written
        stored = {path: path.stat().st_mtime_ns for path in (folder / "runs").rglob("*.parquet")}
        assert stored
        assert invoke([*arguments, "--json"]) == 0
        printed = json.loads(capsys.readouterr().out)
        assert set(printed["tables"]) == {f"table-{number}" for number in range(2, 7)}
        assert [section["name"] for section in printed["sections"]] == ["Pairs", "Pairs"]
        assert stored == {path: path.stat().st_mtime_ns for path in stored}

    @pytest.mark.slow
    def test_a_copy_is_asked_as_run_asks_it_punctuation_included(self, tmp_path):
        """Blanks beside commas, apostrophes and brackets stay as they are."""
        blanks = (
            "id\tsentence\ttarget\tplausible\timplausible\n"
            "e 1cl\tPiove, ..., tira vento.\tinfatti\tperò\tse, o, dove\n"
            "e 2cl\tVieni (... puoi)!\tse\tquando\to, ma, e\n"
            "e 3cl\tNon so ...’è.\tdov'\tcom'\to, ma, e\n"
        )
        folder = tmp_path / "own"
        folder.mkdir()
        (folder / "cloze.tsv").write_text(blanks, encoding="utf-8")
        texts = [item.text for item in read_cloze_section(folder / "cloze.tsv").items]
        assert texts == ["Piove, ___, tira vento.", "Vieni (___ puoi)!", "Non so ___’è."]
        (folder / "cloze.tsv").unlink()
        shutil.copytree(find_suite("it-connectives-cloze"), folder / "cloze")
        items = folder / "cloze" / "items.tsv"
        header, rows = items.read_text(encoding="utf-8").split("\n", 1)
        added = "271\tPiove (___, dico).\te\tma\tse | o | dove\tyes\te\tmedial"
        items.write_text("\n".join([header, added, rows]), encoding="utf-8")
        shutil.copytree(find_suite("it-connectives"), folder / "acceptability")
        out, plain = tmp_path / "out", tmp_path / "plain"
        arguments = ["study", "connectives", "--own", str(folder), "-m", "demo-masked", *FIRST]
        assert invoke([*arguments, "-o", str(out)]) == 0
        for name, tables in (("cloze", ("requests", "fills")),
                             ("acceptability", ("requests", "tokens"))):  # fmt: skip
            options = ["--bos", "none"] if name == "acceptability" else []
            arguments = ["run", str(folder / name), "-m", "demo-masked", *options, *FIRST]
            assert invoke([*arguments, "-o", str(plain / name)]) == 0
            [theirs] = open_runs([plain / name])
            [mine] = open_runs([out / "runs" / theirs.suite.name])
            assert all(
                mine.table(table_name).equals(theirs.table(table_name)) for table_name in tables
            )
        assert any(
            "(___, dico)" in item.text for item in read_cloze_section(folder / "cloze").items
        )

    def test_a_copy_without_blanks_and_a_part_of_the_sentences_are_said(self, tmp_path):
        folder, out = tmp_path / "own", tmp_path / "out"
        folder.mkdir()
        shutil.copy(OWN / "acceptability.tsv", folder)
        arguments = ["study", "connectives", "--own", str(folder), "-m", "demo-causal"]
        assert invoke([*arguments, "--limit", "2", "-o", str(out)]) == 0
        text = (out / "table-4.txt").read_text(encoding="utf-8")
        assert "only 4 of 8 sentences" in text
        text = (out / "table-3.txt").read_text(encoding="utf-8")
        assert "There are no blanks in your copy." in text

    @pytest.mark.slow
    def test_several_models_have_rho_with_interval_and_holm_and_say_how_they_masked(
        self, tmp_path, capsys
    ):
        """Pairs of nonsense ratings; Holm's p of two is twice the smaller, or the larger (1979)."""
        lines = ["id\tsentence\tgrammaticality\tratings"]
        for number in range(1, 8):
            lines += [
                f"e {number}A\tPiove{' e tira vento' * number}.\t\t5,{1 + number % 4}",
                f"e {number}NA\tPiove{' ma tira vento' * number}.\t\t1,{1 + number % 3}",
            ]
        (tmp_path / "acceptability.tsv").write_text("\n".join(lines), encoding="utf-8")
        told = ["study", "connectives", "--own", str(tmp_path), "--pll", "original", "--json"]
        assert invoke([*told, "-m", "demo-causal", "-m", "demo-masked"]) == 0
        printed = json.loads(capsys.readouterr().out)
        rows = [
            {cell["what"].rpartition(": ")[2]: cell for cell in section["cells"]}
            for section in printed["sections"]
            if section["name"] == "section 4" and "your copy" not in section["title"]
        ]
        assert len(rows) == 2
        assert all(row["rho"]["low"] < row["rho"]["computed"] < row["rho"]["high"] for row in rows)
        assert [row["rho"]["equal"] for row in rows] == [None, None]
        first, second = sorted(rows, key=lambda row: row["p"]["computed"])
        least = min(1.0, 2 * first["p"]["computed"])
        assert first["p, Holm"]["computed"] == pytest.approx(least)
        assert second["p, Holm"]["computed"] == pytest.approx(max(least, second["p"]["computed"]))
        notes = " ".join(printed["tables"]["table-4"]["notes"])
        assert "pppl by masking one token at a time (--pll original)" in notes

    @pytest.mark.slow
    def test_what_people_said_stands_between_published_and_models(self, tmp_path):
        out = tmp_path / "out"
        arguments = ["study", "connectives", "--own", str(OWN), "-m", "demo-masked"]
        assert invoke([*arguments, "-o", str(out)]) == 0
        rows = table(out, "table-2")
        assert rows[1][:3] == ["Acceptable", "people (published)", "4.286"]
        assert rows[2][:3] == ["Acceptable", "your copy", "4.5625"]
        assert [*rows[2][3:6], float(rows[2][-1])] == ["", "", "4", pytest.approx(0.375)]
        rows = table(out, "table-3")
        assert [row[1].partition("@")[0] for row in rows[1:4]] == [
            "people (published)", "your copy", "demo-masked",
        ]  # fmt: skip
        assert [rows[2][2], float(rows[2][3])] == ["2", pytest.approx(100 / 3)]
        rows = table(out, "table-5")
        assert rows[2][1:3] == ["completions file", "1"]
        assert float(rows[2][3]) == pytest.approx(100 / 6)
        assert "Nobody" not in (out / "table-3.txt").read_text(encoding="utf-8")
        details = (out / "details.txt").read_text(encoding="utf-8")
        assert "Human scores and perplexities, demo-masked@" in details


def surveys_of(folder: Path, section: str) -> list[set[tuple[str, ...]]]:
    """The sentences of each survey, without checks."""
    design = json.loads((folder / section / "design.json").read_text(encoding="utf-8"))
    lines = {q["id"]: tuple(q["lines"]) for q in design["questions"] if not q.get("expected")}
    return [{lines[id_] for id_ in one["questions"] if id_ in lines} for one in design["surveys"]]


def test_both_sections_are_put_out_as_surveys_in_one_command(tmp_path, capsys):
    """Of our items as many as of the study's: 518 sentences in five, 270 blanks in four."""
    command = ["study", "connectives", "--survey", str(tmp_path), "--contact", "Lia, l@example.org"]
    assert invoke(command) == 0
    assert "survey 5: 103 questions" in capsys.readouterr().err
    rated, filled = surveys_of(tmp_path, "acceptability"), surveys_of(tmp_path, "cloze")
    assert [len(rated), sum(map(len, rated))] == [5, 518]
    assert [len(filled), sum(map(len, filled))] == [4, 270]
    design = json.loads((tmp_path / "cloze" / "design.json").read_text(encoding="utf-8"))
    assert "Lia, l@example.org" in str(design["consent"])
    assert {len(q["choices"]) for q in design["questions"] if not q.get("expected")} == {6}


def test_the_surveys_of_a_copy_are_of_its_own_sentences(tmp_path):
    assert invoke(["study", "connectives", "--own", str(OWN), "--survey", str(tmp_path)]) == 0
    sentences = (OWN / "acceptability.tsv").read_text(encoding="utf-8")
    asked = set().union(*surveys_of(tmp_path, "acceptability"))
    assert asked
    assert all(line in sentences for (line,) in asked)


def test_a_copy_in_the_form_of_the_resource_may_be_in_another_language(tmp_path):
    """The form is that of the Italian resource, and a table does not say its language."""
    (tmp_path / "acceptability.tsv").write_text(
        "id\tsentence\tratings\nsi 1A\tSi terminas pronto, ven a verme.\t5 4\n"
        "si 1NA\tMientras terminas pronto, ven a verme.\t2 1\n",
        encoding="utf-8",
    )
    (tmp_path / "cloze.tsv").write_text(
        "id\tsentence\ttarget\tplausible\timplausible\n"
        "y 1cl\tCerré la puerta ... apagué la luz.\ty\tluego\tsi, porque, donde\n",
        encoding="utf-8",
    )
    for section in ("acceptability", "cloze"):
        suite, folder = str(tmp_path / f"{section}.tsv"), tmp_path / "copia" / section
        assert invoke(["suites", "convert", suite, "--language", "es", "-o", str(folder)]) == 0
        assert 'language = "es"' in (folder / "suite.toml").read_text(encoding="utf-8")
    own, out = str(tmp_path / "copia"), tmp_path / "out"
    assert invoke(["study", "connectives", "--own", own, "-o", str(out)]) == 0
    assert "4.5" in (out / "table-2.csv").read_text(encoding="utf-8")
