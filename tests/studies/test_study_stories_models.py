"""Table 3 of one's own models, and of logs of lm-eval that anybody has."""

from __future__ import annotations

import csv
import json

import pytest

from cimento import open_runs
from cimento.cli.main import invoke
from cimento.studies.stories import TABLE_3, published_rows
from cimento.studies.stories.asked import ways_to_ask
from cimento.suites.builtin import find_suite
from cimento.suites.formats.stories import read_stories
from tests.helpers.tidy_tables import check_folder
from tests.models.test_lm_eval_logs import story_log


def test_the_ten_published_rows_are_there():
    rows = published_rows()
    assert len(rows) == 10
    assert all(set(row) == set(TABLE_3) for row in rows.values())
    assert rows["Meta-Llama-3.1-8B"]["Accuracy"] == "60.96"
    assert rows["Mistral-7B-Instruct-v0.3"]["Order Verifiability"] == "0.00"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Two models with two prompts each, both rows of one command, on some of our own stories."""
    folder = tmp_path_factory.mktemp("study")
    arguments = ["study", "stories", "-m", "demo-causal", "-m", "demo-masked", "--limit", "2"]
    arguments += ["--set", "prompt=it-1", "--set", "shots=0", "--also", "prompt=it-2"]
    arguments += ["--draws", "100"]
    assert invoke([*arguments, "-o", str(folder)]) == 0
    return folder, arguments


@pytest.mark.slow
def test_ones_own_models_stand_below_the_published_rows(written):
    folder, _ = written
    rows = list(csv.reader((folder / "table-3.csv").read_text(encoding="utf-8").splitlines()))
    names = [row[0] for row in rows[1:]]
    assert len(rows[0]) == 1 + 5 * len(TABLE_3)
    assert all(name.endswith("(published)") for name in names[:10])
    labels = [(name.partition("@")[0], name.rpartition(" (")[2]) for name in names[10:14]]
    prompts = [f"{prompt}, protocol paper, 0 shots)" for prompt in ("it-1", "it-2")]
    assert labels == [
        (model, prompt) for prompt in prompts for model in ("demo-causal", "demo-masked")
    ]
    assert all(0 <= float(row[1]) <= 100 for row in rows[11:15])
    assert check_folder(folder, labels=1) > 2
    text = (folder / "table-3.txt").read_text(encoding="utf-8")
    assert "the others about other ones" in text
    for name in ("table-2.tex", "details.csv", "flow.svg", "runs/it-stories"):
        assert (folder / name).exists(), name


@pytest.mark.slow
def test_of_several_models_the_highest_is_bold_and_the_legend_says_so(written):
    folder, _ = written
    tex = (folder / "table-3.tex").read_text(encoding="utf-8")
    assert "Bold: the highest" in tex
    # One story, right or wrong by all four, has nothing bold.
    table = (folder / "table-3.csv").read_text(encoding="utf-8").splitlines()
    cells = [
        [row[name] for name in row if name.endswith("_percent")] for row in csv.DictReader(table)
    ][10:14]
    apart = sum(len(set(column)) > 1 for column in zip(*cells, strict=True))
    bold = [sum("textbf" in line.split(" & ")[k] for line in tex.splitlines()
                if line.startswith("demo-")) for k in range(1, 11)]  # fmt: skip
    assert sum(number > 0 for number in bold) == apart > 0


AS_IN_ITALY = ("--set", "protocol=native", "--set", "prompt=it-1")
FORMS = [((), ".tex"), ((), ".csv"), *((AS_IN_ITALY, end) for end in (".txt", ".tex", ".csv"))]


@pytest.mark.parametrize(
    ("given", "ending"),
    [((), ".txt"), *(pytest.param(*form, marks=pytest.mark.slow) for form in FORMS)],
)
def test_the_one_row_says_how_its_model_was_asked_and_is_not_bold(given, ending, tmp_path, capsys):
    """What the manifest has is what the row says, whatever was given with --set."""
    arguments = ["study", "stories", "-m", "demo-causal", "--limit", "9", "--draws", "100", *given]
    assert invoke([*arguments, "-o", str(tmp_path)]) == 0
    capsys.readouterr()
    [run] = open_runs(tmp_path / "runs")
    options = run.manifest["options"]
    assert (options["protocol"], options["shots_mode"], options["shots"], options["prompt"]) == (
        ("native", "fixed", 3, "it-1") if given else ("paper", "paper", 3, "paper-en")
    )
    table = (tmp_path / f"table-3{ending}").read_text(encoding="utf-8")
    label = "(it-1, protocol native, 3 shots fixed)" if given else (
        "(paper-en, protocol paper, 3 shots as in the paper)"
    )  # fmt: skip
    assert label in table
    assert "textbf" not in table
    if ending != ".csv":
        plain = table.replace("\\_", "_")
        assert ("cannot be compared with theirs" in plain) == bool(given)
        assert (": asked as the models of the published rows were" in plain) != bool(given)
        assert ("protocol=native and not paper" in plain) == bool(given)
        assert "Bold" not in table


@pytest.mark.slow
def test_the_csv_has_wilsons_interval_and_n_of_each_value(tmp_path, capsys):
    """Invented answers, all right at the first tier; the later ones are not asked.

    Wilson's lower end of 60 of 60 is 60 / (60 + 1.959964 ** 2) = .9398.
    """
    stories = find_suite("it-stories")
    answers = [
        {"doc": story.row, "task": "story_class", "label": str(story.plausible).lower()}
        for story in read_stories(stories).stories
    ]
    (tmp_path / "right.jsonl").write_text("\n".join(map(json.dumps, answers)), encoding="utf-8")
    arguments = ["study", "stories", "--data", str(stories), "--draws", "100"]
    arguments += ["--responses", str(tmp_path / "right.jsonl"), "-o", str(tmp_path / "out")]
    assert invoke(arguments) == 0
    capsys.readouterr()
    lines = (tmp_path / "out" / "table-3.csv").read_text(encoding="utf-8").splitlines()
    [row] = [row for row in csv.DictReader(lines) if row["model"] == "right"]
    ends = ("", "_low", "_high", "_n")
    plausible = [float(row[f"Accuracy_plausible_percent{end}"]) for end in ends]
    assert plausible == pytest.approx([100, 93.98, 100, 60], abs=0.01)
    assert (row["Consistency_all_percent"], row["Consistency_all_percent_n"]) == ("", "")
    assert row["Consistency_all_percent_reason"]
    text = (tmp_path / "out" / "table-3.txt").read_text(encoding="utf-8")
    assert "100.00 [" not in text
    assert "Intervals (95%) and n of each value are in the CSV." in text


def test_further_rows_are_asked_on_top_of_the_first():
    first = {"protocol": "paper", "shots": "2"}
    assert ways_to_ask({"shots": "2"}, ["shots=0", "protocol=native, shots-mode=varied"]) == [
        first,
        {**first, "shots": "0"},
        {"protocol": "native", "shots": "2", "shots_mode": "varied"},
    ]
    # One way is one row, however often it is given.
    assert ways_to_ask({}, ["protocol=paper", "shots=0", "shots=0"]) == [
        {"protocol": "paper"},
        {"protocol": "paper", "shots": "0"},
    ]


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        (["--also", "shots"], "'shots' is not KEY=VALUE"),
        (["--also", "shotz=0"], "Did you mean 'shots'"),
        (["--also", "task=pair"], "Table 3 is about the three tiers"),
        (["--set", "task=pair"], "Table 3 is about the three tiers"),
        (["--also", "corrections=gita"], "rows of one table are about the same stories"),
    ],
)
def test_a_further_row_that_cannot_be_is_refused_before_any_model_is_asked(given, seen, capsys):
    assert invoke(["study", "stories", "-m", "demo-causal", *given]) == 2
    said = capsys.readouterr().err
    assert seen in said
    assert "texts" not in said


def test_asking_again_asks_nothing(written, capsys):
    folder, arguments = written
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("run.json")}
    manifests = {path: path.stat().st_mtime_ns for path in (folder / "runs").rglob("*.parquet")}
    assert invoke([*arguments, "-o", str(folder), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["models"]) == 4
    assert manifests == {path: path.stat().st_mtime_ns for path in manifests}
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_the_json_of_one_model_is_like_that_of_several(written, capsys):
    folder, _ = written
    arguments = ["study", "stories", "-m", "demo-causal", "--limit", "2", "--set", "prompt=it-1"]
    arguments += ["--set", "shots=0", "--draws", "100", "-o", str(folder), "--json"]
    assert invoke(arguments) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [name.partition("@")[0] for name in printed["models"]] == ["demo-causal"]
    assert "paired_story_class" not in printed


def test_logs_of_other_stories_have_no_published_number_beside(tmp_path, capsys):
    story_log(tmp_path / "logs" / "a" / "org__tiny")
    story_log(tmp_path / "logs" / "b" / "org__tiny", right=False)
    arguments = ["study", "stories", "--responses", str(tmp_path / "logs"), "--draws", "100"]
    assert invoke(arguments) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "tiny (a) 100.00" in out
    assert "tiny (b) 0.00" in out
    assert "plausible, by the field type 1 order" in out


def test_a_folder_without_logs_says_what_is_looked_for_and_where_it_is(tmp_path, capsys):
    assert invoke(["study", "stories", "--responses", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    for name in ("samples_story_class_*.jsonl", "github.com/EkhiAzur/GITA4CALAMITA", "-m MODEL"):
        assert name in said
    assert invoke(["study", "stories"]) == 2
    assert "there is neither --responses nor -m" in capsys.readouterr().err
