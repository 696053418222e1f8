"""The tables of the study of Brazilian Portuguese for one's own models."""

from __future__ import annotations

import csv
import json
import re
import shutil
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import load_suite
from cimento.cli.main import invoke
from cimento.corpus.morphology import WordReading
from cimento.corpus.morphology.rules import Rules
from cimento.paradigms.cloze.requests import Candidate
from cimento.report.grid import BLANK
from cimento.studies.portuguese.asked import GRAMMAR_STARTER, starter_instance
from cimento.studies.portuguese.coverage import covered
from cimento.studies.portuguese.data import JudgedCandidate
from cimento.studies.portuguese.grammar import TABLES, rows_by_case
from cimento.suites.cloze import expand_suite
from tests.helpers.tidy_tables import check_folder


@pytest.fixture(scope="module", autouse=True)
def words_read_once():
    """What the rules say of a word is kept from one command to the next."""
    read: dict[tuple[str, str], tuple[WordReading, ...]] = {}
    analyze = Rules.analyze

    def kept(self, form):
        if (self.name, form) not in read:
            read[self.name, form] = analyze(self, form)
        return read[self.name, form]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rules, "analyze", kept)
        yield


BOTH = pytest.param(("demo-causal", "demo-masked"), marks=pytest.mark.slow)


@pytest.fixture(scope="module", params=(("demo-masked",), BOTH), ids="-".join)
def models(request):
    """One demo model, which takes half as long, or both."""
    return list(request.param)


@pytest.fixture(scope="module")
def written(models, tmp_path_factory):
    """Demo models, on our own sentences; the tables, figures and runs."""
    folder = tmp_path_factory.mktemp("study")
    arguments = ["study", "portuguese", *(part for model in models for part in ("-m", model))]
    assert invoke([*arguments, "-o", str(folder)]) == 0
    return folder, arguments


def rows_of(folder, name):
    return list(csv.reader((folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()))


@pytest.mark.slow
def test_every_table_is_written_in_three_forms_and_figures_beside(written):
    folder, _ = written
    names = {path.name for path in folder.iterdir()}
    for number in range(1, 14):
        assert {f"table-{number}{end}" for end in (".txt", ".csv", ".tex")} <= names
    assert check_folder(folder, labels=3) >= 13
    assert {"curve.svg", "heat.svg", "dimensions.svg", "runs"} <= names
    assert "\\toprule" in (folder / "table-13.tex").read_text(encoding="utf-8")
    text = (folder / "table-5.txt").read_text(encoding="utf-8")
    assert "the others about our own" in text


def test_published_rows_stand_above_those_of_the_models(written, models):
    folder, _ = written
    header, *rows = rows_of(folder, "table-1")
    assert header == [
        "Model",
        "Word",
        *(f"{name}_percent{end}" for name in ("ACC", "ACC@10")
          for end in ("", "_low", "_high", "_n", "_reason")),
    ]  # fmt: skip
    assert rows[0][:3] == ["bertimbau-base (published)", "1", "40.0"]
    assert [row[0].partition("@")[0] for row in rows[6:]] == sorted([*models, *models])
    assert {row[5] for row in rows[6:]} == {"50"}
    _, *rows = rows_of(folder, "table-13")
    size = 1 + 2 * len(models)
    nominal = [row[1].partition("@")[0] for row in rows[:size]]
    assert nominal == ["bertimbau-large (published)", *[m for m in models for _ in range(2)]]
    assert [row[2] for row in rows[1:size]] == ["dictionary", "estimate"] * len(models)
    assert rows[0][3] == "77.53"
    # 92 sentences of nominal agreement, ten candidates each, of which the dictionary decides most
    estimates = [row for row in rows[1:size] if row[2] == "estimate"]
    assert [(row[6], row[11]) for row in estimates] == [("92", "920")] * len(models)


def test_what_a_dictionary_cannot_judge_has_bounds_and_is_said(written, models):
    folder, _ = written
    table = json.loads((folder / "table-13.json").read_text(encoding="utf-8"))
    of_models = [row for row in table["rows"] if row["judged_by"] in ("dictionary", "estimate")]
    assert len(of_models) == 6 * 2 * len(models)
    for row in of_models:
        for k in (1, 10):
            decided, of = row[f"judged@{k}"], row[f"judged@{k}_of"]
            low, high = row[f"bounds@{k}_percent_low"], row[f"bounds@{k}_percent_high"]
            assert 0 < decided <= of
            assert (low is None) == (decided == of)
            if low is not None:
                assert 0 <= low < high <= 100
            if row["judged_by"] == "estimate" and decided < 0.9 * of:
                assert row[f"P@{k}_percent"] is None
                assert "more than 10%" in row[f"P@{k}_percent_reason"]
    # Of connectors only the original is known to fit: three sentences for each of six.
    connectors = [row for row in of_models if row["Case_name"] == "Connectors"]
    assert all(row["judged@10"] < 60 and row["judged@10_of"] == 180 for row in connectors)
    assert any("Rogan and Gladen 1978" in note for note in table["notes"])


def test_earlier_judgments_are_used_and_their_coverage_is_said(written, tmp_path, capsys):
    folder, arguments = written
    earlier = tmp_path / "judged.tsv"
    item = expand_suite(load_suite(GRAMMAR_STARTER).suite).items[0].id
    fills = next((folder / "runs" / GRAMMAR_STARTER).glob("demo-masked*"))
    import polars as pl

    first = pl.read_parquet(fills / "fills.parquet").filter(request=0, rank=1)["candidate"][0]
    earlier.write_text(f"item\tcandidate\tfits\n{item}\t{first}\tyes\n", encoding="utf-8")
    reuse = ["-o", str(folder), "--table", "8", "--reuse", str(earlier), "--json"]
    assert invoke([*arguments[:2], "-m", "demo-masked", *reuse]) == 0
    out, err = capsys.readouterr()
    assert "1 of 4190 candidates are judged by people; 4189 are new" in err
    table = json.loads(out)["tables"]["table-8"]
    row = next(
        row for row in table["rows"] if row["judged_by"] == "people" and row["P@1_percent_n"] == 1
    )
    # The first candidate of one sentence was judged, of this many sentences and ten times as many
    # candidates: no rate, and between all others wrong and all others right.
    of = row["judged@1_of"]
    assert (row["judged@1"], row["judged@10"], row["judged@10_of"]) == (1, 1, 10 * of)
    assert (row["P@1_percent"], row["P@10_percent"]) == (None, None)
    assert "fewer than 90%" in row["P@1_percent_reason"]
    for name, n in (("bounds@1", of), ("bounds@10", 10 * of)):
        assert row[f"{name}_percent_low"] == pytest.approx(100 / n, abs=0.005)
        assert row[f"{name}_percent_high"] == 100
    assert any("if all candidates without a judgment were wrong" in note for note in table["notes"])


def some_rows(*judgments: str, template: str = "t") -> list[JudgedCandidate]:
    """Sentences with two candidates each: y, n or - (not judged) for the first and the second."""
    items = expand_suite(load_suite(GRAMMAR_STARTER).suite).items
    fits = {"y": True, "n": False, "-": None}
    return [
        JudgedCandidate(
            starter_instance(replace(item, columns={**item.columns, "template": template})),
            Candidate(item.id, rank, f"w{rank}", fits=fits[mark]),
            rank == 1,
        )
        for item, marks in zip(items, judgments, strict=False)
        for rank, mark in enumerate(marks, start=1)
    ]


def test_a_rate_by_people_needs_nine_in_ten_candidates_to_be_judged():
    """By hand: 9 of 10 first candidates judged, 8 fit: 8/9. 9 of 20 in all: 8/20 to 19/20."""
    rows = some_rows(*["y-"] * 8, "n-", "--")
    first, among_ten = covered(rows, "micro", by_people=True).values()
    assert (first.cell.value, first.n, first.bounds) == (88.89, "9 of 10", BLANK)
    assert (among_ten.cell.value, among_ten.n) == (None, "9 of 20")
    assert among_ten.bounds == "40.00 to 95.00"
    first, _ = covered(some_rows(*["y-"] * 8, "--", "--"), "micro", by_people=True).values()
    assert (first.cell.value, first.n, first.bounds) == (None, "8 of 10", "80.00 to 100.00")
    # A dictionary leaves out what it cannot decide, whichever model gave it; bounds are beside.
    first, _ = covered(some_rows(*["y-"] * 8, "--", "--"), "micro", by_people=False).values()
    assert (first.cell.value, first.n, first.bounds) == (100.0, "8 of 10", "80.00 to 100.00")


@given(st.lists(st.sampled_from(["y-", "n-", "--", "yy", "ny", "nn"]), min_size=1, max_size=12))
@settings(deadline=None, max_examples=50)
def test_the_rate_that_all_judgments_would_give_is_within_the_bounds(judgments):
    rows = some_rows(*judgments)
    for name, one in covered(rows, "micro", by_people=True).items():
        n, of = map(int, one.n.split(" of "))
        assert (one.cell.value is not None) == (n >= 0.9 * of)
        if one.bounds != BLANK:
            low, high = map(float, one.bounds.split(" to "))
            yes = sum(row.candidate.fits is True for row in rows if row.first or name == "p10")
            assert (low, high) == pytest.approx(
                (100 * yes / of, 100 * (yes + of - n) / of), abs=0.005 + 1e-9
            )


@pytest.mark.parametrize("ending", [".txt", ".tex"])
def test_how_many_are_judged_is_in_every_printed_form(written, models, ending):
    folder, _ = written
    table = (folder / f"table-13{ending}").read_text(encoding="utf-8")
    # 92 sentences of nominal agreement, ten candidates each, judged by dictionary and in all
    assert len(re.findall(r"\d+ of 92\b", table)) == 2 * len(models)
    assert len(re.findall(r"\d+ of 920\b", table)) == 2 * len(models)


def test_what_annotators_of_the_run_said_counts(written, tmp_path, capsys, monkeypatch):
    folder, _ = written
    copy = tmp_path / "study"
    shutil.copytree(folder, copy)
    [run] = (copy / "runs" / GRAMMAR_STARTER).glob("demo-masked*")
    answers = iter(["y", "n", "q"])
    monkeypatch.setattr("builtins.input", lambda *_: next(answers))
    assert invoke(["annotate", "candidates", str(run), "--annotator", "a"]) == 0
    capsys.readouterr()
    arguments = ["study", "portuguese", "-m", "demo-masked", "-o", str(copy), "--table", "13"]
    assert invoke(arguments) == 0
    assert "2 of 4190 candidates are judged by people; 4188 are new" in capsys.readouterr().err


def test_answers_to_what_is_open_come_back_and_close_the_bounds(written, tmp_path, capsys):
    """Only what decides P@1 is asked, most of all first, and answers are in the estimates."""
    folder, _ = written
    copy = tmp_path / "study"
    shutil.copytree(folder, copy)
    [run] = (copy / "runs" / GRAMMAR_STARTER).glob("demo-masked*")
    study = ["study", "portuguese", "-m", "demo-masked", "-o", str(copy), "--table", "13", "--json"]

    def estimates():
        assert invoke(study) == 0
        out, err = capsys.readouterr()
        rows = json.loads(out)["tables"]["table-13"]["rows"]
        return [row for row in rows if row["judged_by"] == "estimate"], err

    (before, said), sheet = estimates(), tmp_path / "open.tsv"
    asked = ["annotate", "candidates", str(run), "--only-open"]
    assert invoke([*asked, "--export", str(sheet)]) == 0
    header, *lines = sheet.read_text(encoding="utf-8").splitlines()
    waiting = sum(row["judged@1_of"] - row["judged@1"] for row in before)
    assert f"{waiting} first candidates are open" in said
    assert len(lines) == waiting > 100
    # A connector counts most: there are three sentences in each of Table 11, and 18 in Table 13.
    assert lines[0].startswith("connector-")
    cells = [line.split("\t") for line in lines]
    assert header.split("\t")[3] == "fits"
    answered = [[*row[:3], "no", row[4]] for row in cells[: len(cells) // 2]]
    sheet.write_text("\n".join(map("\t".join, [header.split("\t"), *answered])), encoding="utf-8")
    assert invoke([*asked, "--import", str(sheet)]) == 0
    capsys.readouterr()
    after, _ = estimates()
    widths = [
        sum(
            (row["bounds@1_percent_high"] or 0) - (row["bounds@1_percent_low"] or 0) for row in rows
        )
        for rows in (before, after)
    ]
    # The first half of the answers narrows the bounds by more than half.
    assert widths[1] < widths[0] / 2
    assert sum(row["judged@1_of"] - row["judged@1"] for row in after) == waiting - len(answered)
    assert invoke([*asked, "--export", str(tmp_path / "rest.tsv")]) == 0
    [idioms] = (copy / "runs" / "pt-idioms").glob("demo-masked*")
    assert invoke(["annotate", "candidates", str(idioms), "--only-open"]) == 2
    assert "the run is of pt-idioms" in capsys.readouterr().err
    rest = (tmp_path / "rest.tsv").read_text(encoding="utf-8").splitlines()
    assert rest[1:] == lines[len(answered) :]


def test_parts_of_speech_of_candidates_are_counted_and_ambiguous_ones_say_so(written, capsys):
    folder, _ = written
    arguments = ["study", "portuguese", "-m", "demo-masked", "-o", str(folder)]
    assert invoke([*arguments, "--what", "profiles", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["tables"]["profiles"]["rows"]
    # 419 sentences with ten candidates each
    assert sum(row["first"] for row in rows) == 419
    assert sum(row["among_ten"] for row in rows) == 4190
    assert {row["ambiguous"] for row in rows if " or " in row["part_of_speech"]} == {"yes"}
    assert {row["ambiguous"] for row in rows if " or " not in row["part_of_speech"]} == {"no"}
    assert {"ADV", "PUNCT", "no whole word"} <= {row["part_of_speech"] for row in rows}
    assert (folder / "profiles.csv").is_file()


def test_asking_again_asks_nothing(written, capsys):
    folder, arguments = written
    stored = {path: path.stat().st_mtime_ns for path in (folder / "runs").rglob("*.parquet")}
    assert invoke([*arguments, "-o", str(folder), "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["tables"]) >= {"table-1", "table-13"}
    assert stored == {path: path.stat().st_mtime_ns for path in stored}


def test_starter_sentences_have_the_labels_of_the_tables():
    items = expand_suite(load_suite(GRAMMAR_STARTER).suite).items
    rows = [
        JudgedCandidate(starter_instance(item), Candidate(item.id, 1, "x"), first=True)
        for item in items
    ]
    sizes = {number: {case: len(some) for case, some in rows_by_case(table, rows).items()}
             for number, table in TABLES.items()}  # fmt: skip
    assert sum(sizes[13].values()) == len(items) == 419
    assert sizes[12] == dict.fromkeys(sizes[12], 18)
    assert sum(sizes[8].values()) == 92
    assert sum(sizes[9].values()) == 108
    assert sum(sizes[4].values()) == 43
    assert sizes[4]["Existential Verbs"] == 17
    assert sizes[11]["Porque"] == 3
    assert all(sizes[6][f"{person} Person Singular"] for person in ("First", "Third"))
    assert sizes[10]["Eu"] == 6


@pytest.mark.parametrize(
    ("arguments", "seen"),
    [
        ([], "there is neither --data nor -m"),
        (["-m", "demo-masked", "--what", "claims"], "it is about the authors' files"),
        (["-m", "demo-masked", "--what", "dictionary"], "it is about the authors' files"),
        (["-m", "demo-masked", "--state", "release"], "it is about the authors' files"),
    ],
)
def test_what_does_not_go_together_is_said(arguments, seen, capsys):
    assert invoke(["study", "portuguese", *arguments]) == 2
    assert seen in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.golden
def test_the_released_candidates_as_a_model_give_the_tables_of_the_release(
    shared, tmp_path, capsys
):
    """Replayed, and judged by the released judgments: spec/portuguese.md section 3, release.

    A dictionary judges them too; here it is one of a single word.
    """
    folder = shared / "data/authors/portuguese"
    model = f"replay:{folder / 'all-eval.tsv'}"
    dictionary = tmp_path / "d.dic"
    dictionary.write_text("feliz,feliz.A:ms:fs\n", encoding="utf-8")
    arguments = ["study", "portuguese", "--data", str(folder), "-m", model]
    arguments += ["--dictionary", f"delaf:{dictionary}"]
    assert invoke([*arguments, "-o", str(tmp_path)]) == 3  # it has no multiword candidates
    assert "12319 of 12320 candidates are judged by people; 1 are new" in capsys.readouterr().err
    expected = {
        "table-13": {"Subject Agreement": ("87.74", "81.41"), "Verb Agreement": ("79.29", "59.30")},
        "table-6": {"Third Person Plural": ("97.50", "94.25")},
        "table-12": {"Feminine Singular": ("17.86", "50.71")},
    }
    for name, cases in expected.items():
        rows = rows_of(tmp_path, name)
        for case, numbers in cases.items():
            start = next(k for k, row in enumerate(rows) if row[0] == case)
            people = next(row for row in rows[start + 1 : start + 3] if row[2] == "people")
            assert tuple(f"{float(people[place]):.2f}" for place in (3, 8)) == numbers


@pytest.mark.slow
@pytest.mark.golden
def test_the_released_multiword_candidates_as_models_give_table_1(shared, tmp_path, capsys):
    notebook = shared / "data/authors/portuguese/BertMaskMWE.ipynb"
    arguments = ["study", "portuguese", "--data", str(notebook), "-o", str(tmp_path)]
    for model in ("bertimbau-base", "bertimbau-large", "mbert"):
        arguments += ["-m", f"replay:{notebook}#{model}"]
    assert invoke(arguments) == 0
    capsys.readouterr()
    _, *rows = rows_of(tmp_path, "table-1")
    published, computed = rows[:6], rows[6:]
    shown = [[f"{float(row[place]):.2f}" for place in (2, 7)] for row in rows]
    assert shown[6:] == shown[:6]
    assert len(published) == len(computed)
    _, *rows = rows_of(tmp_path, "footnote-11")
    corrected = {tuple(row[:3]): row[7] for row in rows}
    [p] = [p for (models, word, k), p in corrected.items()
           if "base" in models and "large" in models and (word, k) == ("W2", "1")]  # fmt: skip
    assert float(p) == pytest.approx(0.03389, abs=5e-6)
