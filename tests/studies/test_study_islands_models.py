"""Tables and figures of the island study for models of one's own, without and with its data."""

from __future__ import annotations

import csv
import json
import shutil

import numpy as np
import pytest

from cimento.cli.main import invoke
from cimento.errors import InputError
from cimento.kinds.run import open_runs
from cimento.paradigms.regions.estimates import factorial_of
from cimento.paradigms.regions.factorial import Factorial, factorial
from cimento.studies.islands import people_ratings
from cimento.studies.islands.human import known_people, people_result
from cimento.studies.islands.models import accuracy_table, island_suites
from cimento.studies.islands.tables import BLIMP_FILES
from tests.helpers.designs import island_suite, scores
from tests.helpers.tidy_tables import check_folder


def test_a_model_stands_below_the_published_rows_of_each_cell():
    rows = {str(n): (-1.0, -2.0, -3.0, -2.5) for n in range(5)} | {"6": (-4.0, -2.0, -2.0, -3.0)}
    suite = island_suite({"complex_np": [*rows]})
    phenomena = factorial(suite, scores(rows))
    lp = Factorial(suite="s", model="x/GePpeTto", measure="lp", unit="nats", phenomena=phenomena)
    blank = Factorial(suite="s", model=lp.model, measure="lp-l", unit="", phenomena=(), reason="no")
    grid = accuracy_table(1, {lp.model: {"lp": lp, "lp-l": blank}})
    first = next(k for k, row in enumerate(grid.rows) if row[0] == "Wh-complex np")
    row = grid.text[first + 3]
    assert grid.text[first][:5] == (
        "Wh-complex np", "Short-N.I.", "GePpeTto (published)", "90.0", "92.0"
    )  # fmt: skip
    # 5 of 6; 6 of 6; 1 of 6: Wilson's interval of the first is that of its closed form
    center, half = (5 + 1.96**2 / 2) / (6 + 1.96**2), 1.96 / (6 + 1.96**2)
    half *= (5 * 1 / 6 + 1.96**2 / 4) ** 0.5
    ends = f"[{100 * (center - half):.1f}, {100 * (center + half):.1f}]"
    assert row == ("", "", "x/GePpeTto", f"83.3 {ends}", "", "", "")
    assert [grid.text[first + k][3].split()[0] for k in (7, 11)] == ["100.0", "16.7"]
    # the average is that of twelve cells, or none
    assert grid.text[-1] == ("", "", "x/GePpeTto", "", "", "", "")
    assert (first, 3) not in grid.bold
    assert (first + 1, 3) in grid.bold
    assert not any("logistic" in note for note in accuracy_table(1, {}).notes)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A folder that the command made of two demo models, without any data of the study."""
    folder = tmp_path_factory.mktemp("mine")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CIMENTO_CACHE_DIR", str(folder / "cache"))
        models = ["-m", "demo-causal", "-m", "demo-masked"]
        assert invoke(["study", "islands", *models, "-o", str(folder / "study")]) == 0
    return folder / "study"


def times_of(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.parquet")}


def cells_of(folder, table):
    text = (folder / f"{table}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


@pytest.mark.slow
def test_tables_of_our_own_items_are_written_for_two_models(written, capsys, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(written.parent / "cache"))
    for number in (1, 2, 3, 4):
        for ending in ("txt", "csv", "tex"):
            assert (written / f"table-{number}.{ending}").stat().st_size
    assert check_folder(written, labels=3) == 6
    rows = cells_of(written, "table-1")
    # Programs read the labels in every row.
    assert all(row["Phenomenon"] and row["Sentence_form"] for row in rows)
    models = [row["Model"].partition("@")[0] for row in rows[:5]]
    published = ["GePpeTto (published)", "BERT-it-xxl-cased (published)", "GilBERTo (published)"]
    assert models == [*published, "demo-causal", "demo-masked"]
    assert [row["LP_percent"] for row in rows[:3]] == ["96.0", "94.0", "86.0"]
    assert len(rows) == 13 * 5
    # The same rates as of the runs themselves; a causal model has no logistic forms.
    runs = open_runs(sorted((written / "runs" / "it-islands").iterdir()))
    for row, run in zip(rows[3:5], sorted(runs, key=lambda run: run.model), strict=True):
        adjunct = next(p for p in factorial_of(run, "penlp").phenomena if p.name == "adjunct")
        assert float(row["PenLP_percent"]) == 100 * adjunct.pairs[0].accuracy
        assert row["PenLP_percent_n"] == "40"
        assert bool(row["LP-L_percent"]) == (run.model_kind == "masked")
        assert run.manifest["asking"]["policy"]["pll"] == "original"
    # The published items are not part of cimento: nothing stands for them, which is said.
    assert {row["Model"] for row in cells_of(written, "table-2")} == set(published)
    assert "suites get sprouse-it" in (written / "table-2.txt").read_text(encoding="utf-8")
    model_rows = cells_of(written, "table-3")[9:]
    assert [row["Model"].split(" ", 1)[1] for row in model_rows] == [
        "(LP), it-islands", "(PenLP), it-islands", "(PLL), it-islands", "(PenLP), it-islands",
        "(LP-L), it-islands", "(PenLP-L), it-islands",
    ]  # fmt: skip
    assert "suites get blimp" in (written / "table-3.txt").read_text(encoding="utf-8")
    pairs = cells_of(written, "table-4")
    assert len(pairs) == 6 * 3
    for row in pairs:
        one, other = (
            float(row[f"{name}_PenLP_nats"]) for name in ("Long-NonIsland", "Long-Island")
        )
        assert float(row["Diff_nats"]) == pytest.approx(one - other, abs=0.0101)
    # Asked again it asks nothing.
    stored = times_of(written / "runs")
    again = ["-m", "demo-causal", "-m", "demo-masked", "-o", str(written), "--json"]
    assert invoke(["study", "islands", *again]) == 0
    out, err = capsys.readouterr()
    assert list(json.loads(out)["tables"]) == [f"table-{number}" for number in (1, 2, 3, 4)]
    assert "cimento's own items" in err
    assert stored == times_of(written / "runs")


@pytest.mark.slow
def test_panels_and_tokens_are_drawn_for_each_model(written):
    panels = {path.name.partition("@")[0] for path in written.glob("figure-*.svg")}
    assert panels == {
        "figure-lp-demo-causal", "figure-penlp-demo-causal", "figure-lp-demo-masked",
        "figure-penlp-demo-masked", "figure-lp-l-demo-masked", "figure-penlp-l-demo-masked",
    }  # fmt: skip
    drawn = next(written.glob("figure-penlp-demo-causal*.svg")).read_text(encoding="utf-8")
    for title in ("people, English", "published items: none", "whether: it-islands"):
        assert title in drawn
    # The smallest and the largest DD of five phenomena, for two models.
    tokens = sorted(path.name for path in (written / "tokens").iterdir())
    assert len(tokens) == 20
    assert all(name.endswith(("smallest-dd.svg", "largest-dd.svg")) for name in tokens)


def test_the_known_ratings_of_people_give_effects_and_no_tests():
    """DD of whether by hand: (0.7959 + 0.5644) - (1.0601 - 0.8434)."""
    whether = next(p for p in known_people().phenomena if p.name == "wh_whether")
    for effects in whether.effects.values():
        assert effects.dd == pytest.approx(1.1436)
    assert whether.average is None


def test_the_first_panels_take_what_annotate_import_writes(tmp_path, capsys):
    """z within each of two people by hand; DD is that of its means."""
    ratings = {"short_nonisland": (6, 5), "long_nonisland": (5, 3), "short_island": (4, 4),
               "long_island": (1, 2)}  # fmt: skip
    lines = ["participant,item,condition,rating"]
    lines += [
        f"p{person},{item},{condition},{given[person]}"
        for item in ("whether-01", "whether-02")
        for condition, given in ratings.items()
        for person in (0, 1)
    ]
    (tmp_path / "answers.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    judgments = tmp_path / "judgments.csv"
    imported = ["annotate", "import", str(tmp_path / "answers.csv"), "--suite", "it-islands"]
    assert invoke([*imported, "--names", "keep", "-o", str(judgments)]) == 0
    title, people = people_ratings(None, judgments, island_suites(None))
    assert (title, people.unit) == ("people, judgments", "z")
    whether = next(one for one in people.phenomena if one.name == "whether")
    # (short island - long island) - (short nonisland - long nonisland), over the SD of a person.
    by_person = [(3 - 1) / np.std([6, 5, 4, 1] * 2, ddof=1), 0 / np.std([5, 3, 4, 2] * 2, ddof=1)]
    assert whether.effects["z"].dd == pytest.approx(np.mean(by_person))
    other = judgments.read_text(encoding="utf-8").replace("it-islands", "mine")
    judgments.write_text(other, encoding="utf-8")
    with pytest.raises(InputError, match="it is about mine"):
        people_ratings(None, judgments, island_suites(None))
    capsys.readouterr()


def test_what_is_asked_must_fit_together(tmp_path, capsys):
    assert invoke(["study", "islands"]) == 0
    out, err = capsys.readouterr()
    assert "Without --data, only printed tables are checked" in err
    assert "All sections: 26 of 30 compared numbers equal the printed ones." in out
    for arguments, message in (
        (["--section", "human"], "there is no --data"),
        (["-o", str(tmp_path / "x")], "none is given"),
        (["-m", "demo-causal", "--section", "human"], "-m asks a model"),
        (["-m", "demo-causal", "--data", str(tmp_path)], "custom-wh_complex_np_islands.jsonl"),
    ):
        assert invoke(["study", "islands", *arguments]) == 2
        assert message in capsys.readouterr().err


@pytest.mark.golden
def test_the_known_ratings_are_those_of_the_released_file(shared):
    released = people_result(shared / "data" / "islands" / "english" / "sprouse2016_en_ratings.csv")
    for known, phenomenon in zip(known_people().phenomena, released.phenomena, strict=True):
        assert known.name == phenomenon.name
        for cell, other in zip(
            known.effects["z"].cells, phenomenon.effects["z"].cells, strict=True
        ):
            assert (cell.mean, cell.se) == pytest.approx((other.mean, other.se), abs=5.1e-5)
            assert cell.n == other.n


@pytest.mark.golden
@pytest.mark.slow
def test_models_score_the_suites_of_the_study(shared, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    for name in BLIMP_FILES.values():
        shutil.copy(shared / "data" / "blimp" / name, tmp_path)
    shutil.copytree(shared / "data" / "authors" / "islands-master", tmp_path / "islands-master")
    new, published = island_suites(tmp_path).suites[:2]
    assert [len(suite.items) for suite in (new, published)] == [209, 32]
    assert island_suites(tmp_path).remarks == []
    command = ["study", "islands", "--data", str(tmp_path), "--limit", "8"]
    code = invoke([*command, "-m", "demo-masked", "-o", str(tmp_path / "mine")])
    assert code == 0, capsys.readouterr().err
    rows = [
        row for row in cells_of(tmp_path / "mine", "table-2") if "published" not in row["Model"]
    ]
    # Two items of each of the four phenomena, and so an average.
    assert [row["LP_percent_n"] for row in rows[:-1]] == ["2"] * 12
    assert rows[-1]["LP_percent"]
    blimp = cells_of(tmp_path / "mine", "table-3")[9:]
    assert [row["Model"].split(" ", 1)[1] for row in blimp] == [
        "(PLL)", "(PenLP)", "(LP-L)", "(PenLP-L)"
    ]  # fmt: skip
    assert {row["Wh_percent_n"] for row in blimp} == {"8"}
    assert "only 8 items were asked, of its phenomena in turn" in (
        tmp_path / "mine" / "table-3.txt"
    ).read_text("utf-8")
    panels = next((tmp_path / "mine").glob("figure-lp-demo*.svg")).read_text(encoding="utf-8")
    assert "adjunct: published items" in panels
    assert "adjunct: new items" in panels
