"""SyntaxGym's circuits and SG score: published verdicts, printed scores, models of one's own."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

from cimento import InputError
from cimento.cli.main import invoke
from cimento.studies.agreement.syntaxgym import (
    CIRCUITS,
    IN_NO_SCORE,
    SCORED,
    published_scores,
    read_verdicts,
    shipped_verdicts,
    syntaxgym_scores,
)

HEADER = "model,suite,item,correct\n"


def verdicts_file(folder: Path, name: str, *rows: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"syntaxgym_results_{name}.csv"
    path.write_text(HEADER + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def test_six_circuits_hold_the_31_suites_of_the_score():
    assert len(CIRCUITS) == 6
    assert len(SCORED) == len(set(SCORED)) == 31
    assert set(next(iter(shipped_verdicts().values()))) == {*SCORED, *IN_NO_SCORE}


def test_a_score_needs_all_of_its_suites():
    accuracies = {"cleft": 1.0, "center_embed": 0.5, "center_embed_mod": 1.0}
    scores = syntaxgym_scores("m", accuracies)
    assert scores.circuits["Center Embedding"] == 0.75
    assert scores.circuits["Long-Distance Dependencies"] is None
    assert scores.sg_score is None
    assert scores.reason == "28 of 31 suites are missing"
    whole = syntaxgym_scores("m", dict.fromkeys(SCORED, 0.5))
    assert (whole.sg_score, whole.reason) == (0.5, "")


def test_seeds_of_an_ngram_model_vote_on_each_item_and_others_are_averaged(tmp_path):
    """Ties are broken by chance in n-gram models; a half is not a majority."""
    votes = [(1, "True"), (2, "True"), (3, "False")]
    rows = [f"ngram_bllip-xs_{seed},mvrr,0,{said}" for seed, said in votes]
    rows += [f"ngram_bllip-xs_{seed},mvrr,1,{seed == 1}" for seed in (1, 2)]
    rows += [f"rnng_bllip-sm_{seed},mvrr,0,{seed == 1}" for seed in (1, 2, 3, 4)]
    verdicts = read_verdicts([verdicts_file(tmp_path, "some", *rows)])
    assert verdicts["ngram_bllip-xs_0"]["mvrr"] == (1, 2)
    scores = {row.model: row.accuracies for row in published_scores(verdicts)}
    assert scores["n-gram BLLIP-XS"] == {"mvrr": 0.5}
    assert scores["RNNG BLLIP-SM, 4 seeds"] == {"mvrr": 0.25}


@pytest.mark.parametrize(
    ("rows", "seen"),
    [
        (["m__0,mvrr,0,yes"], "correct is 'yes', and neither True nor False"),
        (["m__0,mvrr,0,True", "m__0,mvrr,0,False"], "is right here and wrong elsewhere"),
    ],
)
def test_damaged_verdicts_say_what_is_wrong(tmp_path, rows, seen):
    with pytest.raises(InputError, match=seen):
        read_verdicts([verdicts_file(tmp_path, "x", *rows)])


def rows_of(path: Path) -> list[list[str]]:
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))


def test_without_data_the_published_scores_are_shown_and_what_the_study_reads(capsys):
    assert invoke(["study", "agreement"]) == 0
    captured = capsys.readouterr()
    assert "5 of 6 compared numbers equal the printed ones." in captured.out
    assert "GPT-2-XL pretrained (published)" in captured.out
    assert "suites get syntactic-agreement" in captured.err
    assert invoke(["study", "agreement", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    (section,) = shown["sections"]
    assert (section["name"], section["compared"], section["equal"]) == ("printed", 6, 5)
    (differs,) = [cell for cell in section["cells"] if not cell["equal"]]
    assert differs["what"] == "distilgpt2: mean of 31 suites"
    assert len(shown["published"]) == 12


@pytest.mark.parametrize(
    ("name", "content"), [("notes.csv", "a,b\n1,2\n"), ("package.json", "{}"), ("a.md", "")]
)
def test_a_folder_with_none_of_the_files_is_answered_with_what_the_study_reads(
    name, content, tmp_path, capsys
):
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert invoke(["study", "agreement", "--data", str(tmp_path)]) == 2
    printed = capsys.readouterr().err
    assert "nothing that the study reads is there or below" in printed
    for file in ("*.zip", "mvrr.json", "syntaxgym_results_*.csv", "surprisals_fgd_hierarchy.txt"):
        assert file in printed
    assert "https://huggingface.co/datasets/albalbalba/SyntacticAgreement" in printed
    assert "-m MODEL asks a model our own suites" in printed


def test_verdicts_in_a_repository_are_found_and_shown_below_the_shipped_ones(tmp_path, capsys):
    rows = [f"new_corpus_0,{suite},0,True" for suite in SCORED]
    verdicts_file(tmp_path / "data" / "raw" / "sg_results", "new_corpus", *rows)
    out = tmp_path / "out"
    command = ["study", "agreement", "--data", str(tmp_path / "data"), "-o", str(out)]
    assert invoke(command) == 0
    shown = capsys.readouterr().out
    assert "new CORPUS (published)" in shown
    assert rows_of(out / "syntaxgym.csv")[1][:3] == [
        "new CORPUS (published)",
        "1.0",
        "1.0",
    ]
    assert (out / "syntaxgym-suites.tex").is_file()


@pytest.mark.golden
def test_published_verdicts_give_the_recomputed_scores(shared):
    """Aggregates that were computed from the released files in another way."""
    golden = shared / "golden/syntaxgym/sg_results"
    wanted = json.loads((golden / "expected_aggregates.json").read_text(encoding="utf-8"))
    paths = sorted(golden.glob("syntaxgym_results_*.csv"))
    verdicts, shipped = read_verdicts(paths), shipped_verdicts()
    tried = 0
    for models in wanted["files"].values():
        for model, expected in models.items():
            suites = verdicts[model]
            assert {name: right / n for name, (right, n) in suites.items()} == {
                name: suite["accuracy"] for name, suite in expected["suites"].items()
            }
            scores = syntaxgym_scores(
                model, {name: right / n for name, (right, n) in suites.items()}
            )
            assert scores.sg_score == pytest.approx(expected["sg_score_31_suites"], abs=1e-12)
            assert scores.circuits == pytest.approx(expected["circuit_scores"], abs=1e-12)
            tried += 1
    assert tried == 17
    assert set(verdicts) - set(shipped) == {"1gram_bllip-lg_0", "ngram_bllip-sm_0"}
    assert all(verdicts[model] == suites for model, suites in shipped.items())


@pytest.mark.golden
def test_fifty_seeds_of_an_ngram_model_vote_as_in_the_study(shared):
    golden = shared / "golden/syntaxgym/sg_results"
    wanted = json.loads((golden / "ngram_majority_vote.expected.json").read_text(encoding="utf-8"))
    verdicts = read_verdicts([golden / "ngram_bllip-xs_3suites_all_seeds.csv"])
    (suites,) = verdicts.values()
    assert {name: right / n for name, (right, n) in suites.items()} == wanted["suite_accuracy"]


@pytest.mark.slow
@pytest.mark.golden
def test_released_suites_and_surprisals_are_compared_with_what_was_printed(shared, capsys):
    golden = shared / "golden/syntaxgym"
    data = ["--data", str(golden / "suites"), "--data", str(golden / "sg_eval_fgd_hierarchy")]
    code = invoke(["study", "agreement", *data[:2], "--json"])
    assert code == 0
    sections = {s["name"]: s for s in json.loads(capsys.readouterr().out)["sections"]}
    materials = sections["syntaxgym-materials"]
    assert (materials["compared"], materials["equal"]) == (34, 34)
    assert sum(cell["computed"] for cell in materials["cells"]) == 842
    assert invoke(["study", "agreement", *data[2:], "--json"]) == 0
    sections = {s["name"]: s for s in json.loads(capsys.readouterr().out)["sections"]}
    (cell,) = sections["sg-eval"]["cells"]
    assert (cell["computed"], cell["equal"]) == (17 / 24, True)


@pytest.mark.slow
@pytest.mark.golden
def test_ones_own_models_stand_below_the_published_rows(shared, tmp_path, capsys):
    """Both dialects of the suites: square brackets as first released, and parentheses."""
    golden = shared / "golden/syntaxgym/suites"
    data = tmp_path / "syntactic-generalization" / "test_suites" / "json"
    data.mkdir(parents=True)
    for name in ("number_orc", "number_prep", "number_src"):
        shutil.copy(golden / "bracket" / f"{name}.json", data)
    command = ["study", "agreement", "--data", str(tmp_path / "syntactic-generalization")]
    command += ["-m", "demo-causal", "-m", "demo-masked", "--limit", "6", "-o", str(tmp_path / "o")]
    assert invoke(command) == 0
    shown = capsys.readouterr().out
    assert "28 of 31 suites are missing" in shown
    assert "Own rows: only 6 items of each suite." in shown
    header, *rows = rows_of(tmp_path / "o" / "syntaxgym.csv")
    assert header == ["model", "SG_score", *(name.replace(" ", "_") for name in CIRCUITS)]
    names = [row[0] for row in rows]
    assert all(name.endswith("(published)") for name in names[:12])
    assert [name.partition("@")[0] for name in names[12:]] == ["demo-causal", "demo-masked"]
    names, *cells = rows_of(tmp_path / "o" / "syntaxgym-suites.csv")
    suites = [dict(zip(names, row, strict=True)) for row in cells]
    for suite_row, row in zip(suites[12:], rows[12:], strict=True):
        accuracies = [
            float(suite_row[f"Agreement_number_{place}"]) for place in ("orc", "prep", "src")
        ]
        assert sum(accuracies) / 3 == pytest.approx(
            float(row[header.index("Agreement")]), abs=1e-12
        )
        # six items each
        assert all(round(6 * value) == pytest.approx(6 * value, abs=0.004) for value in accuracies)
        assert suite_row["Licensing_npi_orc_any"] == ""
    assert (tmp_path / "o" / "syntaxgym.svg").is_file()
    assert (tmp_path / "o" / "runs" / "en" / "number_orc").is_dir()
