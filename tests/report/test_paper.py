"""Tables and figures of a paper: names of one's own, LaTeX, Word; oracles: the runs themselves."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from dataclasses import replace
from xml.etree import ElementTree as ET

import openpyxl
import pytest

import cimento
from cimento import UsageError, evaluate, open_runs, report
from cimento.cli.main import invoke
from cimento.documents import REPORT_FORMS, sections_of
from cimento.documents.paper import dressed, names_standing, results_grid
from cimento.paradigms.regions.prediction_table import prediction_rates, predictions_grid
from cimento.report.formatting import PValue, p_number
from cimento.report.grid import EstimateCell, Grid, as_latex, grid_as_text
from cimento.report.word import docx
from tests.helpers.made_runs import made_run, outcomes_of

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def table_of(document: bytes) -> list[list[str]]:
    """The cells of the table of a Word document."""
    with zipfile.ZipFile(io.BytesIO(document)) as archive:
        assert archive.testzip() is None
        for name in archive.namelist():
            ET.fromstring(archive.read(name))  # noqa: S314  # our own
        root = ET.fromstring(archive.read("word/document.xml"))  # noqa: S314  # our own
    return [
        ["".join(cell.itertext()) for cell in row.iter(f"{WORD}tc")]
        for row in root.iter(f"{WORD}tr")
    ]


def test_every_kind_of_suite_stands_in_the_table_of_a_paper(runs_of_every_kind):
    runs = open_runs(runs_of_every_kind)
    grid = results_grid(runs)

    assert grid.header == ("suite", "n", "chance", "demo-causal")
    names = {row[0].partition(" (")[0] for row in grid.text}
    assert names == {run.suite.name for run in runs}
    headlines = {
        run.suite.name: estimate
        for run in runs
        for estimate in run.estimates()
        if estimate.role == "headline"
    }
    for row in grid.rows:
        estimate = headlines[str(row[0]).partition(" (")[0]]
        scale = 100 if estimate.is_share else 1
        assert row[3].value == (None if estimate.value is None else scale * estimate.value)
        assert row[1] == str(estimate.n)
        digits = 1 if estimate.is_share else 0
        chance = "" if estimate.chance is None else f"{scale * estimate.chance:.{digits}f}"
        assert row[2] == chance


def test_one_suite_has_its_chance_its_name_and_the_revision_beside_its_table(runs_of_every_kind):
    [islands] = open_runs(runs_of_every_kind / "it-islands")
    chance = islands.summary().headline.chance
    alone, latex = results_grid([islands]), REPORT_FORMS[".tex"]([islands])
    assert "chance" not in alone.header
    assert f"Chance: {100 * chance:.1f}." in alone.notes
    assert "Revisions: demo-causal " in latex
    markdown = REPORT_FORMS[".md"]([islands])
    assert markdown.startswith("- **DD, it-islands.** demo-causal ")
    assert "\n\nit-islands: shares in percent" in markdown
    assert "| demo-causal |" in markdown
    assert "Revisions: demo-causal " in markdown


def test_few_rated_sentences_come_with_a_caution(runs_of_every_kind):
    [rated] = open_runs(runs_of_every_kind / "it-acceptability")
    assert "With fewer than 10 sentences trust neither" in REPORT_FORMS[".txt"]([rated])
    [section] = sections_of([rated])
    [grid] = [table.grid for table in section.tables if table.name == "correlations"]
    assert "With fewer than 10 sentences" in grid.notes[-1]
    lines = REPORT_FORMS[".md"]([rated]).splitlines()
    assert f"it-acceptability: {grid.notes[-1]}" in lines


def test_models_stand_beside_each_other_by_names_without_revisions():
    runs = [
        made_run(model, outcomes_of("++-" * 4, ""), suite=suite)
        for suite in ("s", "t")
        for model in ("a@1", "b@2")
    ]
    grid = results_grid(runs)

    assert grid.header == ("suite", "n", "a", "b")
    assert [row[:3] for row in grid.text] == [
        ("s", "12", "66.7 [39.1, 86.2]"),
        ("t", "12", "66.7 [39.1, 86.2]"),
    ]
    assert results_grid(runs[:2]).header == ("model", "n", "s")
    same = [made_run(m, outcomes_of("++-" * 4, ""), suite=s) for s in "st" for m in ("a@1", "a@2")]
    assert results_grid(same).header[2:] == ("a@1", "a@2")


def test_many_suites_of_many_models_have_a_row_each():
    runs = [
        made_run(model, outcomes_of("++-"), suite=suite) for suite in "stuvw" for model in "abcde"
    ]

    assert len(results_grid(runs).rows) == 25
    assert results_grid(runs).header == ("suite", "model", "by", "n", "value")


def test_every_prediction_has_a_row_with_its_words_rate_margin_n_and_chance(
    runs_of_every_kind, capsys
):
    folder = runs_of_every_kind / "it-islands"
    [run] = open_runs(folder)
    other = replace(run, manifest={**run.manifest, "label": "other@2"})
    rates = [rate for one in (run, other) for rate in prediction_rates(one)]
    grid = predictions_grid(rates)

    assert grid.header[:4] == ("prediction", "in words", "n", "chance, %")
    assert grid.header[4:] == ("accuracy, %", "margin, bits") * 2
    assert grid.groups[4:] == ("demo-causal",) * 2 + ("other",) * 2
    results = run.summary().results
    assert [row[0] for row in grid.rows] == [result.question for result in results]
    values = run.outcomes()
    for row, result in zip(grid.rows, results, strict=True):
        margins = values.filter(values["question"] == result.question)["value"]
        assert row[2:4] == ("3", f"{100 * result.chance:.1f}")
        assert row[4].value == 100 * result.value
        assert row[5].value == pytest.approx(margins.mean())
        assert row[4:6] == row[6:8]
    words = dict(row[:2] for row in grid.rows)
    assert words["island"] == "whole sentence: long_nonisland less surprising than long_island"
    assert words["all predictions"] == "all of them in the same item"
    assert any("the smallest of each item" in note for note in grid.notes)

    names = [f"m{number}@1" for number in range(5)]
    many = predictions_grid([replace(rate, model=name) for name in names for rate in rates[:2]])
    assert many.header[2:] == ("model", "n", "chance, %", "accuracy, %", "margin, bits")
    assert len(many.rows) == 10

    for form, sign in (("latex", "p{0.3\\linewidth}"), ("csv", "margin_bits_low"),
                       ("markdown", "| prediction |"), ("json", '"prediction"')):  # fmt: skip
        command = ["report", str(folder), "--table", "predictions", "--format", form]
        assert invoke(command) == 0
        assert sign in capsys.readouterr().out
    stories = str(runs_of_every_kind / "es-stories")
    assert invoke(["report", stories, "--table", "predictions"]) == 2
    assert "none of the runs is of a suite with predictions" in capsys.readouterr().err


def test_margins_in_the_table_of_predictions_have_the_unit_of_their_measure():
    run = evaluate(
        "it-subject-verb", "demo-causal", limit=6, predictions="(*;%match%) < (*;%mismatch_number%)"
    )
    on = {name: prediction_rates(run.judge(measures=name)) for name in ("lp", "meanlp", "ppl")}
    beside = predictions_grid([*on["lp"], *on["meanlp"], *on["ppl"]])
    assert beside.header[5::2] == ("margin, bits", "margin, bits per token", "margin")
    alone = predictions_grid(on["meanlp"])
    assert "margin_bits_per_token_low" in alone.tidy.csv()
    assert any(note.startswith("n: items judged. Margin: by how much") for note in alone.notes)

    below = [replace(rate, model=f"m{number}@1") for number in range(4) for rate in on["lp"]]
    mixed = predictions_grid([*below, *on["meanlp"]])
    assert mixed.header[-2:] == ("accuracy, %", "margin")
    assert [row["margin_unit"] for row in mixed.tidy.rows] == ["bits"] * 4 + ["bits per token"]
    [note] = [note for note in mixed.notes if note.startswith("Margins are")]
    assert note == (
        "Margins are in bits for m0@1, m1@1, m2@1, m3@1; in bits per token for"
        f" {run.model} [meanlp]."
    )


def test_suites_cut_alike_share_a_note():
    def cut(model, suite, limit):
        run = made_run(model, outcomes_of("++-"), suite=suite)
        return replace(run, manifest={**run.manifest, "asking": {"limit": limit}})

    runs = [cut(model, suite, 3) for suite in "stuvw" for model in ("a@1", "b@1")]
    whole = "Not on the whole suite: all models on the first 3 items of s, t, u and 2 more suites."
    assert results_grid(runs).notes[-1] == whole
    runs[-1] = cut("b@1", "w", 2)
    assert results_grid(runs).notes[-1] == (
        "Not on the whole suite: all models on the first 3 items of s, t, u, v; a on the first 3"
        " items of w; b on the first 2 items of w."
    )


def test_the_table_says_by_what_it_was_judged_if_that_is_not_the_usual_way():
    suite = cimento.pairs([("Le case sono alte.", "Le case è alte.")] * 3, language="it")
    plain = evaluate(suite, "demo-causal")
    assert not any("Judged" in note for note in results_grid([plain]).notes)

    first = "Judged on log-probability (lp), the first of lp, meanlp."
    assert first in results_grid([plain.judge(measures="lp,meanlp")]).notes
    meanlp = evaluate(suite, "demo-masked", measures="meanlp", pll="original")
    one = "Judged on mean log-probability per token (meanlp)"
    masked = "Pseudo-log-likelihoods by masking one token at a time (original)"
    assert {f"{one}.", f"{masked}."} <= {*results_grid([meanlp]).notes}
    assert {f"{one}: demo-masked.", f"{masked}: demo-masked."} <= {
        *results_grid([plain, meanlp]).notes
    }
    means = evaluate("it-subject-verb", "demo-causal", limit=3).judge(metric="mean")
    assert "The value of a region is the mean of its tokens." in results_grid([means]).notes


def test_a_method_without_an_interval_is_not_named_below_the_table(tmp_path, capsys):
    for limit in (20, 45):  # four or nine items of each phenomenon
        evaluate("it-islands", "demo-causal", limit=limit, output=tmp_path)
    assert invoke(["report", str(tmp_path), "--table", "effects"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Interval (95%) and p of DD: studentized bootstrap." in printed


def test_the_table_names_the_measure_that_is_correlated_with_ratings(runs_of_every_kind):
    grid = results_grid(open_runs(runs_of_every_kind / "it-acceptability"))
    assert "Spearman's rho: log-probability (lp) beside the ratings." in grid.notes


def test_runs_in_which_nothing_is_judged_make_no_table():
    with pytest.raises(UsageError, match="nothing is judged"):
        results_grid([made_run("m@1", ())])


GRID = Grid(
    title="Effects of a_b.",
    header=("suite", "effect", "p", "reason"),
    rows=(
        ("a_b", EstimateCell(value=-1.25, low=-2, high=-0.5, n=9), PValue(2.4e-11), ""),
        ("c", "0.5", PValue(0.0123), ""),
    ),
    remarks=1,
)


def test_a_table_and_its_notes_are_folded_where_a_terminal_is_narrow():
    question = "forced choice by prompt: match, not mismatch_number"
    grid = Grid(
        title="Right, in percent.",
        header=("model", "question", "value", "chance"),
        rows=(("demo-causal@91bca5d", question, "58.3 [38.8, 75.5]", "50.0"),),
        labels=2,
        notes=("These are answers to prompts about sentences, " * 3,),
    )
    wide, narrow = grid_as_text(grid), grid_as_text(grid, width=80)
    assert max(map(len, wide.splitlines())) > 80
    assert max(map(len, narrow.splitlines())) <= 80
    assert "58.3 [38.8, 75.5]    50.0" in narrow
    kept = [sorted("".join(text.split()).replace("-", "")) for text in (wide, narrow)]
    assert kept[0] == kept[1]
    assert grid_as_text(grid, width=200).splitlines()[:5] == wide.splitlines()[:5]


def test_papers_have_p_below_a_thousandth_no_empty_column_and_a_label():
    latex = as_latex(dressed(GRID, title="50% & more", names={"a_b": "Suite A"}, label="tab:x"))

    assert "\\caption{50\\% \\& more}\n\\label{tab:x}" in latex
    assert "suite & effect & p \\\\" in latex
    assert "Suite A & $-$1.2 [$-$2.0, $-$0.5] & \\textless{} .001 \\\\" in latex
    assert "c & 0.5 & .012 \\\\" in latex
    assert "2.4e-11" in grid_as_text(GRID)
    assert p_number(None) == "-"


def test_names_are_exchanged_where_they_stand_as_words():
    grid = dressed(GRID, names={"a": "X", "effect": "size", "a_b": "first"})

    assert grid.title == "Effects of first."
    assert grid.header == ("suite", "size", "p", "reason")
    assert grid.rows[0][0] == "first"
    assert grid.rows[0][2].printed == "< .001"


def test_a_word_document_holds_the_table():
    grouped = Grid(
        title="Of <two> groups\x07",
        groups=("", "one", "one"),
        header=("suite", "a", "b"),
        rows=(("x & y", "-1.0", ""), ("z", "2.0", "3.0")),
        bold=frozenset({(1, 2)}),
        rules=frozenset({1}),
        notes=("A note.",),
    )
    rows = table_of(docx(grouped))

    assert rows == [
        ["", "one"],
        ["suite", "a", "b"],
        ["x & y", "−1.0", ""],
        ["z", "2.0", "3.0"],
    ]
    assert docx(grouped) == docx(grouped)
    # A group is as wide as its columns, or programs put it over others.
    document = zipfile.ZipFile(io.BytesIO(docx(grouped))).read("word/document.xml").decode()
    columns = [int(width) for width in re.findall(r'<w:gridCol w:w="(\d+)"', document)]
    first_row = [int(width) for width in re.findall(r'<w:tcW w:w="(\d+)"', document)][:2]
    assert first_row == [columns[0], sum(columns[1:])]
    assert table_of(docx(GRID))[1] == ["a_b", "−1.2 [−2.0, −0.5]", "< .001"]


@pytest.mark.parametrize("ending", ["tex", "docx"])
def test_a_report_is_written_for_latex_and_word(runs_of_every_kind, ending, tmp_path, capsys):
    file = tmp_path / f"x.{ending}"
    options = ["--title", "Mine", "--rename", "it-islands=Islands, all", "--label", "tab:own"]

    assert invoke(["report", str(runs_of_every_kind), *options, "-o", str(file)]) == 0
    if ending == "docx":
        assert "Islands, all" in [row[0] for row in table_of(file.read_bytes())]
    else:
        text = file.read_text("utf-8")
        assert "\\caption{Mine}\n\\label{tab:own}" in text
        assert "Islands, all & 3 &" in text
    assert report(runs_of_every_kind, tmp_path / f"y.{ending}").stat().st_size > 500
    capsys.readouterr()


def test_the_same_table_as_csv_workbook_and_text(runs_of_every_kind, tmp_path, capsys):
    file = tmp_path / "x.csv"
    command = ["report", str(runs_of_every_kind), "--table", "results"]

    assert invoke([*command, "-o", str(file)]) == 0
    with file.open(encoding="utf-8", newline="") as opened:
        assert len(list(csv.DictReader(opened))) == 5
    assert invoke([*command, "-o", str(tmp_path / "x.xlsx")]) == 0
    assert openpyxl.load_workbook(tmp_path / "x.xlsx").active.max_row == 6
    capsys.readouterr()
    assert invoke([*command, "--rename", "demo-causal=Ours"]) == 0
    assert "Ours" in capsys.readouterr().out


def test_what_is_for_tables_alone_is_refused_elsewhere(runs_of_every_kind, capsys):
    command = ["report", str(runs_of_every_kind)]

    assert invoke([*command, "--title", "Mine"]) == 2
    assert "It belongs to --table NAME" in capsys.readouterr().err
    assert invoke([*command, "--table", "results", "--rename", "Mine"]) == 2
    assert "Write NAME=TEXT" in capsys.readouterr().err


TWO_REVISIONS = ["Suite s", "gpt@1a", "gpt@2b", "bert@3c", "24"]


def test_a_model_is_renamed_without_its_revision_where_that_is_unique():
    assert names_standing({"bert": "B", "s": "T"}, TWO_REVISIONS) == {
        "bert": "B", "bert@3c": "B", "s": "T",
    }  # fmt: skip
    with pytest.raises(UsageError, match=r"several revisions.*gpt@1a or gpt@2b"):
        names_standing({"gpt": "G"}, TWO_REVISIONS)
    with pytest.raises(UsageError, match="Did you mean 'bert"):
        names_standing({"brt": "B"}, TWO_REVISIONS)


@pytest.mark.parametrize("name", ["--table=results", "figure"])
def test_unknown_names_are_refused(runs_of_every_kind, name, tmp_path, capsys):
    folder = str(runs_of_every_kind / "it-islands")
    command = ["report", folder, "--figure", "rows", "-o", str(tmp_path / "x.json")]
    if name != "figure":
        command = ["report", folder, name]
    assert invoke([*command, "--rename", "it-ilands=I"]) == 2
    error = capsys.readouterr().err
    assert "--rename it-ilands: nothing has this name." in error
    assert invoke([*command, "--rename", "demo-causal=GPT"]) == 0
    shown = capsys.readouterr().out
    if name == "figure":
        shown = (tmp_path / "x.json").read_text("utf-8")
    assert "GPT" in shown
    assert "demo-causal" not in shown


@pytest.mark.parametrize(
    ("kind", "table", "advice"),
    [
        ("it-acceptability", "accuracy", "give --table results"),
        ("it-acceptability", "people", "For ratings of single sentences give --table correlations"),
    ],
)
def test_a_table_that_does_not_apply_leads_to_the_one_that_does(
    runs_of_every_kind, kind, table, advice, capsys
):
    command = ["report", str(runs_of_every_kind / kind), "--table"]

    assert invoke([*command, table]) == 2
    assert advice in capsys.readouterr().err
    assert invoke([*command, advice.split()[-1]]) == 0
    capsys.readouterr()


def test_a_figure_has_title_names_font_and_grays_of_ones_own(runs_of_every_kind, tmp_path):
    pytest.importorskip("altair")
    file = tmp_path / "x.json"
    command = [
        "report",
        str(runs_of_every_kind / "it-islands"),
        "--figure",
        "interaction",
        "-o",
        str(file),
    ]

    assert invoke(command) == 0
    plain = file.read_text("utf-8")
    options = ["--title", "Mine", "--rename", "nonisland=no island", "--font-size", "22", "--gray"]
    assert invoke([*command, *options]) == 0
    text = file.read_text("utf-8")
    spec = json.loads(text)

    assert "#0072b2" in plain
    assert not {"#0072b2", "#d55e00"} & set(text.split('"'))
    assert spec["title"] == "Mine" or spec["title"]["text"] == "Mine"
    assert '"nonisland"' in plain
    assert '"nonisland"' not in text
    assert '"no island"' in text
    assert spec["config"]["axis"]["labelFontSize"] == 22
    # names of columns are not texts that are shown
    assert plain.count('"field"') == text.count('"field"')
    fields = [json.dumps(field["field"]) for field in fields_of(json.loads(plain))]
    assert fields == [json.dumps(field["field"]) for field in fields_of(spec)]


def fields_of(value):
    """The parts of a spec that name a field."""
    if isinstance(value, dict):
        fields = [value] if "field" in value else []
        return [*fields, *(field for part in value.values() for field in fields_of(part))]
    return [field for part in value for field in fields_of(part)] if isinstance(value, list) else []


def test_numbers_of_several_predictions_say_that_all_must_hold():
    two = [
        *outcomes_of("+-----", "all predictions"),
        *outcomes_of("+++---", "prediction 0"),
        *outcomes_of("+---++", "prediction 1"),
    ]
    runs = [
        made_run("m@1", two, suite="a"),
        made_run("m@1", outcomes_of("++++--", "all predictions"), suite="b"),
    ]
    grid = results_grid(runs)

    # The second suite has a single prediction, so a column would have a blank cell.
    assert grid.header == ("suite", "n", "m")
    note = "An item with several predictions passes only if all of them hold"
    assert f"{note} (predictions: a: 2)." in grid.notes
    assert f"{note} (predictions: a: 2)." in as_latex(grid)
    both = results_grid([runs[0], made_run("m@1", two, suite="c")])
    assert both.header == ("suite", "predictions", "n", "m")
    assert [row[:3] for row in both.text] == [("a", "2", "6"), ("c", "2", "6")]
    assert f"{note}." in both.notes
    assert results_grid(runs[1:]).header == ("suite", "n", "m")
    assert not any(note in said for said in results_grid(runs[1:]).notes)
    models = [made_run(model, two, suite="a") for model in ("k@1", "l@1")]
    assert "only if all of them hold (predictions: a: 2)." in results_grid(models).notes[0]


def test_a_footnote_says_once_why_there_is_no_interval_or_no_value():
    cells = [
        EstimateCell(
            value=1.0, low=None, high=None, n=n, reason=f"{n} {noun}s: an interval needs 5 or more"
        )
        for n, noun in ((4, "value"), (3, "value"), (4, "cluster"), (4, "value"))
    ]
    cells += [
        EstimateCell(value=None, low=None, high=None, n=0, reason=reason)
        for reason in ("nothing was scored", "x: undefined", "y: undefined", "nothing was scored")
    ]
    grid = Grid(title="T.", header=("a", "b"), rows=tuple(("x", cell) for cell in cells))

    assert grid.footnotes == (
        "No value: nothing was scored; x or y: undefined.",
        "No interval: fewer than 5 items; fewer than 5 clusters.",
    )
