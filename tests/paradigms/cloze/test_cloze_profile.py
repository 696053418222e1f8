"""Profiles of models over the dimensions of a suite; expected numbers were counted by hand."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import pytest

from cimento import InputError, UsageError
from cimento.cli.main import invoke
from cimento.paradigms.cloze.people import compare_with_people, option_weights
from cimento.paradigms.cloze.profile import Profiling, choose_expressions, profile
from cimento.paradigms.cloze.requests import Candidate
from cimento.suites.cloze import ClozeItem, Option

TOML = 'kind = "cloze"\n[meta]\nname = "prova"\nlanguage = "it"\n[options]\ncluster = "origin"\n'
ITEMS = """item\ttext\ttarget\tplausible\timplausible\torigin\tphenomenon\texpression
c1\tPiove, ___ esco.\tma\te/ed\tse\tone\tconnectives\t
c2\tPiove, ___ resto.\tquindi\te/ed\tse\tone\tconnectives\t
m1\tUn {pesce} {grosso} è in fuga.\t\t\t\ttwo\tidioms\tpesce grosso
"""
FILLS = {
    "a": {"c1": ["ma", "e"], "c2": ["e", "ma"], "m1/W1": ["gatto", "Pesce"], "m1/W2": ["x", "y"]},
    "b": {"c1": ["e", "se"], "c2": ["quindi", "x"], "m1/W1": ["x", "y"], "m1/W2": ["raro", "y"]},
}
PROBABILITIES = [0.6, 0.2]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two recordings of one suite, run."""
    folder = tmp_path_factory.mktemp("profiled")
    suite = folder / "prova"
    suite.mkdir()
    (suite / "suite.toml").write_text(TOML, encoding="utf-8")
    (suite / "items.tsv").write_text(ITEMS, encoding="utf-8")
    for model, fills in FILLS.items():
        rows = ["item\trank\tcandidate\tprobability"]
        rows += [
            f"{item}\t{rank}\t{text}\t{PROBABILITIES[rank - 1]}"
            for item, texts in fills.items()
            for rank, text in enumerate(texts, start=1)
        ]
        (folder / f"{model}.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    models = [part for model in FILLS for part in ("-m", f"replay:{folder / model}.tsv")]
    output = folder / "runs"
    asked = ["run", str(suite), *models, "-o", str(output), "--set", "k=2"]
    assert invoke(asked) == 0
    return output


def profiles(runs, capsys, *arguments: str) -> list[dict]:
    assert invoke(["analyze", "profile", str(runs), "--top", "2", "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)["profiles"]


class TestCommand:
    def test_dimensions_have_hits_with_intervals_and_clusters(self, runs, capsys):
        first, second = profiles(runs, capsys, "--by", "phenomenon")
        assert [dimension["name"] for dimension in first["dimensions"]] == [
            "all",
            "connectives",
            "idioms",
        ]
        counts = [
            [(hit["correct"], hit["n"]) for hit in dimension["hits"]]
            for dimension in first["dimensions"]
        ]
        assert counts == [[(1, 4), (2, 4)], [(1, 2), (1, 2)], [(0, 2), (1, 2)]]
        whole = second["dimensions"][0]
        assert [hit["correct"] for hit in whole["hits"]] == [1, 1]
        assert (whole["items"], whole["clusters"], whole["in_largest_cluster"]) == (4, 2, 2)
        assert whole["hits"][0]["low"] is None
        assert whole["hits"][0]["reason"] == "2 clusters: an interval needs 5 or more"

    def test_dimensions_may_be_combinations(self, runs, capsys):
        first, _ = profiles(runs, capsys, "--by", "phenomenon,word")
        names = [dimension["name"] for dimension in first["dimensions"]]
        assert names == ["all", "idioms / 1", "idioms / 2"]

    def test_options_among_candidates(self, runs, capsys):
        first, second = profiles(runs, capsys)
        top = {name: share["correct"] for name, share in first["top_classes"].items()}
        assert top == {"target": 0, "plausible": 1, "both": 1, "other": 0}
        match = {name: share["correct"] for name, share in second["first_matches"].items()}
        assert match == {"plausible": 1, "target": 1}

    def test_expressions(self, runs, capsys):
        first, _ = profiles(runs, capsys)
        cells = {
            (cell["expression"], cell["word"]): (cell["first"]["correct"], cell["top"]["correct"])
            for cell in first["heat"]
        }
        assert cells == {("pesce grosso", "1"): (0, 1), ("pesce grosso", "2"): (0, 0)}

    def test_earlier_judgments_with_remarks(self, runs, capsys, tmp_path):
        table = tmp_path / "judged.tsv"
        table.write_text(
            "item\trank\tcandidate\tfits\tremarks\n"
            "c1\t1\tma\tyes\t\nc1\t2\te\tyes\tno contrast\nc2\t1\te\tno\t\n",
            encoding="utf-8",
        )
        asked = ("--judgments", str(table), "--not-expected", "no contrast", "--threshold", "0.1")
        first, second = profiles(runs, capsys, *asked)
        whole = first["dimensions"][0]
        assert [(share["correct"], share["n"]) for share in whole["fitting"]] == [(1, 2), (2, 3)]
        assert whole["confidence"]["fitting"]["value"] == pytest.approx((0.6 + 0.2) / 2)
        assert whole["confidence"]["unfitting"]["value"] == pytest.approx(0.6)
        assert whole["confidence"]["wrong_first"] == 1
        assert whole["not_expected"]["of_fitting"]["correct"] == 1
        assert whole["not_expected"]["above"] == 1
        # The other model's candidate e of c1 has been judged, though at another rank.
        assert [share["n"] for share in second["dimensions"][0]["fitting"]] == [1, 1]

    def test_what_is_not_judged_is_counted(self, runs, capsys, tmp_path):
        table = tmp_path / "judged.tsv"
        table.write_text("item\trank\tcandidate\tfits\nc1\t1\tma\tyes\n", encoding="utf-8")
        assert invoke(["analyze", "profile", str(runs), "--judgments", str(table)]) == 0
        err = capsys.readouterr().err
        assert "Earlier judgments used: 1; candidates that are new: 7." in err
        assert "7 candidates of 8 not judged, and left out of every share" in err

    def test_methods_name_what_was_done_and_nothing_else(self, runs, capsys, tmp_path):
        command = ["analyze", "profile", str(runs), "--top", "2", "--methods"]
        assert invoke([*command, "--by", "phenomenon"]) == 0
        said = capsys.readouterr().out
        assert said.startswith("We profiled ")
        assert "A hit is a target among the first 2 candidates, found by " in said
        assert re.search(r"Dimensions are the \d+ values of phenomenon\.", said)
        for other in ("frequency", "dictionary", "people", "together"):
            assert other not in said
        table = tmp_path / "judged.tsv"
        table.write_text("item\trank\tcandidate\tfits\nc1\t1\tma\tyes\n", encoding="utf-8")
        assert invoke([*command, "--judgments", str(table), "--top-p", "0.9"]) == 0
        said = capsys.readouterr().out
        assert "Candidates were judged by people (judged.tsv)" in said
        assert "candidates that reach 0.9 together (Holtzman et al. 2020)." in said

    def test_text_compares_models(self, runs, capsys):
        assert invoke(["analyze", "profile", str(runs), "--top", "2", "--by", "phenomenon"]) == 0
        out = capsys.readouterr().out
        assert "a hit is a target among the first 2 candidates" in out
        assert ": 2: c1, m1/W1" in out
        assert ": 1: c2" in out
        assert "expressions of which none hits any item: none" in out
        assert "at the effective number of items, no p (2 clusters: an interval" in out
        assert "pesce grosso  ▒ 0 / 1 of 1" in out

    def test_labels_of_candidates_that_are_no_option(self):
        """Only items that have neither option among their candidates count; here, with k = 1."""
        profiled = profile(
            [replace(CONNECTIVE, id="1"), replace(CONNECTIVE, id="2")],
            [
                Candidate("1", 1, "infatti", remarks=("dubious", "rare")),
                Candidate("1", 2, "ma", remarks=("plausible",)),
                Candidate("2", 1, "e", remarks=("same meaning",)),
            ],
            Profiling(k=1),
        )
        assert {label: share.correct for label, share in profiled.labels.items()} == {
            "same meaning": 0,
            "plausible": 0,
            "dubious": 1,
            "unacceptable": 0,
        }

    def test_people_and_the_scores_of_options(self):
        """Two items, people ma 3 se 1; the model gives ma 1/4 and se 3/4, then the reverse."""
        items = [replace(CONNECTIVE, id="1"), replace(CONNECTIVE, id="2")]
        choices = {"1": {"ma": 3, "se": 1, "none": 2}, "2": {"ma": 3, "se": 1}}
        scores = {
            "1": {"ma": math.log(0.1), "e": -math.inf, "ed": -math.inf, "se": math.log(0.3)},
            "2": {"ma": math.log(0.3), "e": None, "ed": math.log(1e-300), "se": math.log(0.1)},
        }
        report = compare_with_people(items, choices, scores)
        assert (report.same_mode.correct, report.same_mode.n) == (1, 2)
        # JSD of (.75, .25) and (.25, .75) is 1 - H(.25) = 0.18872 bits; of equal ones 0.
        assert report.divergence_bits.value == pytest.approx(0.18872187554086717 / 2)
        assert {name: share.correct for name, share in report.majorities.items()} == {"target": 2}

    def test_an_option_without_a_score_is_not_compared(self):
        assert option_weights(CONNECTIVE, {"ma": -1.0, "se": -2.0}) == {}
        report = compare_with_people([CONNECTIVE], {"c": {"ma": 1}}, {"c": {"ma": -1.0}})
        assert report.divergence_bits.value is None
        assert report.divergence_bits.reason

    def test_people_on_the_command_line(self, runs, capsys, tmp_path):
        table = tmp_path / "people.tsv"
        rows = "c1\tma\t3\nc1\te\t3\nc2\tnone\t2\nc2\tquindi\t1\n"
        table.write_text(f"item\toption\tcount\n{rows}", encoding="utf-8")
        first, _ = profiles(runs, capsys, "--people", str(table))
        majorities = {
            name: share["correct"] for name, share in first["people"]["majorities"].items()
        }
        assert majorities == {"target = plausible": 1, "none": 1}
        # A recording has no scores of options.
        assert first["people"]["divergence_bits"]["value"] is None
        assert invoke(["analyze", "profile", str(runs), "--people", str(table)]) == 0
        assert "most people chose: target = plausible 50.00 (1/2)" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("table", "seen"),
        [
            ("item\toption\tn\n", "there is no column 'count'"),
            ("item\toption\tcount\nc9\tma\t1\n", "there is no item 'c9'"),
            ("item\toption\tcount\nc1\tma\tmany\n", "the count is 'many'"),
            ("item\toption\tcount\nc1\tpoi\t1\n", "people chose 'poi', which is not an option"),
        ],
    )
    def test_choices_that_cannot_be_used(self, runs, capsys, tmp_path, table, seen):
        path = tmp_path / "people.tsv"
        path.write_text(table, encoding="utf-8")
        assert invoke(["analyze", "profile", str(runs), "--people", str(path)]) == 2
        assert seen in capsys.readouterr().err

    def test_dictionary_beside_people(self, tmp_path, capsys):
        suite = tmp_path / "prova"
        suite.mkdir()
        (suite / "suite.toml").write_text(TOML.partition("[options]")[0], encoding="utf-8")
        rows = "1\tAs casas ___.\tADJ Gender=Fem|Number=Plur\n"
        (suite / "items.tsv").write_text(f"item\ttext\texpected\n{rows}", encoding="utf-8")
        fills = "".join(f"1\t{rank}\t{text}\n" for rank, text in enumerate(FEMININE, start=1))
        (tmp_path / "r.tsv").write_text(f"item\trank\tcandidate\n{fills}", encoding="utf-8")
        judged = tmp_path / "judged.tsv"
        judged.write_text(
            "item\trank\tcandidate\tfits\n1\t1\tcansadas\tyes\n1\t2\tcansados\tno\n"
            "1\t3\tnovas\tno\n",
            encoding="utf-8",
        )
        output = str(tmp_path / "runs")
        recording = f"replay:{tmp_path / 'r.tsv'}"
        assert invoke(["run", str(suite), "-m", recording, "-o", output, "--set", "k=4"]) == 0
        capsys.readouterr()
        asked = ["--dictionary", "rules:pt", "--judgments", str(judged), "--json"]
        assert invoke(["analyze", "profile", output, *asked]) == 0
        (printed,) = json.loads(capsys.readouterr().out)["profiles"]
        beside = printed["dictionary_and_people"]
        assert (beside["both"], beside["dictionary_only"], beside["neither"]) == (1, 1, 1)
        # Expected by chance: 2/3 * 1/3 + 1/3 * 2/3 = 4/9; (6/9 - 4/9) / (1 - 4/9).
        assert beside["kappa"]["value"] == pytest.approx(0.4)
        assert beside["kappa"]["reason"]
        # People come first: of cansadas, cansados, novas (no), lindas two fit.
        fitting = printed["dimensions"][0]["fitting"][1]
        assert (fitting["correct"], fitting["n"]) == (2, 4)

    def test_frequency(self, runs, capsys):
        pytest.importorskip("wordfreq")
        first, _ = profiles(runs, capsys, "--frequency")
        assert first["frequency"]["spearman"]["n"] == 4
        assert first["frequency"]["unknown"] == 0

    def test_ratings_choose_expressions(self, runs, capsys, tmp_path):
        table = tmp_path / "ratings.tsv"
        table.write_text("expression\trating\npesce grosso\t1.5\n", encoding="utf-8")
        first, _ = profiles(runs, capsys, "--ratings", str(table))
        assert first["dimensions"][0]["items"] == 2
        first, _ = profiles(runs, capsys, "--ratings", str(table), "--at-most", "2")
        assert first["dimensions"][0]["items"] == 4

    def test_figures_show_the_same_numbers(self, runs, capsys, tmp_path):
        heat, dimensions = tmp_path / "heat.csv", tmp_path / "dimensions.csv"
        profiles(runs, capsys, "-o", str(heat))
        profiles(runs, capsys, "-o", str(dimensions), "--figure", "dimensions")
        rows = heat.read_text(encoding="utf-8").splitlines()
        assert len(rows) == 1 + 2 * 2 * 2
        assert rows[1].endswith(",pesce grosso,W1,@1,0,1,0.0,0/1")
        assert rows[2].endswith(",pesce grosso,W1,@2,1,1,1.0,1/1")
        rows = dimensions.read_text(encoding="utf-8").splitlines()
        assert len(rows) == 1 + 2 * 2
        assert ",all,hit@2,2,4,0.5," in rows[2]

    @pytest.mark.parametrize("figure", ["heat", "dimensions"])
    def test_figures_are_drawn(self, runs, capsys, tmp_path, figure):
        path = tmp_path / "figure.svg"
        profiles(runs, capsys, "--by", "phenomenon", "-o", str(path), "--figure", figure)
        drawn = path.read_text(encoding="utf-8")
        assert drawn.startswith("<svg")
        assert ("pesce grosso" if figure == "heat" else "connectives") in drawn

    @pytest.mark.parametrize(
        ("arguments", "seen"),
        [
            (["--by", "phenomena"], "Did you mean 'phenomenon'"),
            (["--method", "maks"], "has no such candidates"),
            (["--judgments", "nowhere.tsv"], "there is no such file"),
            (["--ratings", "nowhere.tsv"], "there is no such file"),
        ],
    )
    def test_what_cannot_be_done_is_said(self, runs, capsys, arguments, seen):
        assert invoke(["analyze", "profile", str(runs), *arguments]) == 2
        assert seen in capsys.readouterr().err

    def test_ratings_that_are_no_numbers(self, runs, capsys, tmp_path):
        table = tmp_path / "ratings.tsv"
        table.write_text("expression\trating\npesce grosso\tlow\n", encoding="utf-8")
        assert invoke(["analyze", "profile", str(runs), "--ratings", str(table)]) == 2
        assert "ratings.tsv row 2: no number" in capsys.readouterr().err


CONNECTIVE = ClozeItem(
    "c",
    "Piove, ",
    " esco.",
    (Option("ma"), Option("e", "plausible", ("ed",)), Option("se", "implausible")),
)
FEMININE = ("cansadas", "cansados", "novas", "lindas")
ITEM = ClozeItem("1", "", "", (Option("a"),), columns={"expression": "x y", "word": "1"})


class TestProfile:
    def test_undefined_is_null(self):
        profiled = profile([ITEM], [Candidate("1", 1, "b")], Profiling())
        whole = profiled.dimensions[0]
        assert whole.fitting == ()
        assert whole.confidence is None
        assert profiled.frequency is None
        assert profiled.top_classes == {}

    def test_items_without_targets_have_no_hits(self):
        item = ClozeItem("1", "", "")
        profiled = profile([item], [Candidate("1", 1, "b", fits=True)], Profiling())
        assert profiled.dimensions[0].hits == ()
        assert profiled.dimensions[0].fitting[0].share.correct == 1

    def test_frequent_targets_hit_more_often(self):
        """Zipf 3, 4, 5 and hits at none, 2, 1: in order, so that AUC and Spearman are 1."""
        items = [ClozeItem(str(n), "", "", (Option(text),)) for n, text in enumerate("abcd")]
        some = [Candidate("1", 2, "b"), Candidate("2", 1, "c"), Candidate("3", 1, "d")]
        zipf = {"a": 3.0, "b": 4.0, "c": 5.0, "d": 0.0}
        effect = profile(items, some, Profiling(frequency=zipf.__getitem__)).frequency
        assert effect is not None
        assert effect.auc.value == 1.0
        assert effect.spearman.r == pytest.approx(1.0)
        assert effect.unknown == 1

    def test_a_column_that_is_not_there(self):
        with pytest.raises(UsageError, match="Did you mean 'word'"):
            profile([ITEM], [], Profiling(by="words"))

    def test_expressions_need_ratings(self):
        assert choose_expressions([ITEM], {"x y": 0.5}, at_most=1) == [ITEM]
        assert choose_expressions([ITEM], {"x y": 1.5}, at_most=1) == []
        with pytest.raises(InputError, match="it has no rating"):
            choose_expressions([ITEM], {"x z": 1.0}, at_most=1)
