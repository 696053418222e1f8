"""Clusters that are chosen for runs: --cluster, and cluster= in Python."""

from __future__ import annotations

import json
import shutil

import pytest

import cimento
from cimento.errors import UsageError
from cimento.io.clusters import CROSSED
from cimento.kinds.registry import find_suite, save_suite
from cimento.kinds.run import open_runs
from cimento.records.outcomes import design_of
from cimento.statistics.intervals import WILSON, WILSON_CROSSED, share_interval
from tests.helpers.command_line import invoke

FRAMES = {
    "evening": "Il {} {} ogni sera.",
    "yard": "Nel cortile il {} {} da solo.",
    "usually": "Di solito il {} {} poco.",
    "anna": "Secondo Anna il {} {} bene.",
    "today": "Oggi il {} {} ancora.",
}
VERBS = {
    "dorme": "dormono",
    "canta": "cantano",
    "ride": "ridono",
    "mangia": "mangiano",
    "corre": "corrono",
    "piange": "piangono",
}
ROWS = [
    {
        "good": text.format("gatto", verb),
        "bad": text.format("gatto", wrong),
        "frame": frame,
        "verb": verb,
        "odd": "" if verb == "ride" else verb,
    }
    for frame, text in FRAMES.items()
    for verb, wrong in VERBS.items()
]
SAID = (
    "frames: 30 items in 5 × 6 crossed clusters (frame × verb). Intervals and tests take it that"
    " items of one frame or of one verb may behave alike."
)


@pytest.fixture(scope="module")
def suite():
    return cimento.pairs(ROWS, name="frames", language="it")


@pytest.fixture(scope="module")
def folder(suite, tmp_path_factory):
    path = tmp_path_factory.mktemp("suites") / "frames"
    return save_suite(cimento.load_suite(suite), path)


def accuracy(run):
    return next(estimate for estimate in run.estimates() if estimate.statistic == "accuracy")


def test_python_takes_columns_and_the_run_keeps_them(suite):
    plain = cimento.evaluate(suite, "demo-causal")
    run = cimento.evaluate(suite, "demo-causal", cluster=["frame", "verb"])
    assert accuracy(plain).interval_method == WILSON
    assert "cluster" not in plain.options.model_dump(mode="json")
    assert run.options.model_dump(mode="json")["cluster"] == ["frame", "verb"]
    cells = [f"{row['frame']}{CROSSED}{row['verb']}" for row in ROWS]
    outcomes = run.outcomes()
    assert outcomes["cluster"].to_list() == cells
    expected = share_interval(outcomes["right"].to_list(), design_of(outcomes["item"], cells))
    assert accuracy(run).interval_method == WILSON_CROSSED
    assert (accuracy(run).low, accuracy(run).high) == pytest.approx((expected.low, expected.high))
    assert run.judge(cluster="frame").outcomes()["cluster"].to_list() == [r["frame"] for r in ROWS]
    assert run.suite.cluster == ("frame", "verb")
    assert suite.cluster == ()


def test_the_command_stores_them_and_every_table_says_so(folder, tmp_path, capsys):
    runs = tmp_path / "runs"
    command = ["run", str(folder), "-m", "demo-causal", "-m", "demo-masked", "-o", str(runs)]
    assert invoke([*command, "--cluster", "frame,verb"]) == 0
    assert SAID in capsys.readouterr().out
    [run, other] = open_runs(runs)
    stored = json.loads((run.folder / "manifest.json").read_text(encoding="utf-8"))
    assert stored["options"]["cluster"] == ["frame", "verb"]
    assert run.suite.cluster == other.suite.cluster == ("frame", "verb")
    assert accuracy(run).interval_method == WILSON_CROSSED
    assert invoke(["report", str(runs)]) == 0
    assert SAID in capsys.readouterr().out
    assert invoke(["compare", str(runs)]) == 0
    compared = " ".join(capsys.readouterr().out.split())
    assert "Intervals and p of 30 items in 5 × 6 crossed clusters (frame × verb): " in compared
    assert invoke(["report", str(runs), "-o", str(tmp_path / "page.html")]) == 0
    assert SAID in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert invoke(["rerun", str(run.folder), "-o", str(tmp_path / "again")]) == 0
    [again] = open_runs(tmp_path / "again")
    assert again.outcomes().equals(run.outcomes())


def test_stored_runs_are_judged_with_other_clusters(folder, tmp_path, capsys):
    runs = str(tmp_path / "runs")
    for model in ("demo-causal", "demo-masked"):
        assert invoke(["run", str(folder), "-m", model, "-o", runs]) == 0
    assert "Intervals and tests take it" not in capsys.readouterr().out
    assert invoke(["report", runs, "--cluster", "frame,verb"]) == 0
    assert SAID in capsys.readouterr().out
    assert invoke(["compare", runs, "--cluster", "verb"]) == 0
    assert "30 items in 6 clusters" in capsys.readouterr().out
    assert invoke(["judge", runs, "--cluster", "frame", "-o", str(tmp_path / "frames")]) == 0
    assert "30 items in 5 clusters (frame)." in capsys.readouterr().out
    [judged, _] = open_runs(tmp_path / "frames")
    assert judged.suite.cluster == ("frame",)
    assert set(judged.outcomes()["cluster"]) == set(FRAMES)
    [stored, _] = open_runs(runs)
    assert stored.outcomes()["cluster"].is_null().all(), "nothing that is stored changes"


def test_a_run_that_is_stored_with_other_clusters_is_shown_with_those_asked_for(
    folder, tmp_path, capsys
):
    command = ["run", str(folder), "-m", "demo-causal", "-o", str(tmp_path / "runs")]
    assert invoke([*command, "--cluster", "frame"]) == 0
    capsys.readouterr()
    assert invoke([*command, "--cluster", "frame,verb"]) == 0
    assert SAID in capsys.readouterr().out
    assert invoke(command) == 0
    assert "Intervals and tests take it" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("frame,werb", "have no column 'werb'. Did you mean 'verb'?"),
        ("frame,frame", "a column is named twice"),
        ("frame,odd", "The cluster column 'odd' is empty here. (9 more like this)"),
    ],
)
def test_columns_that_no_suite_has_are_refused_before_a_model_is_asked(
    folder, tmp_path, capsys, columns, words
):
    command = ["run", str(folder), "-m", "demo-causal", "-o", str(tmp_path / "runs")]
    assert invoke([*command, "--cluster", columns]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error
    assert invoke(command) == 0
    capsys.readouterr()
    for again in ("compare", "report", "judge"):
        assert invoke([again, str(tmp_path / "runs"), "--cluster", columns]) == 2
        assert words in capsys.readouterr().err


def test_blanks_ratings_and_stories_take_them_too():
    blanks = cimento.evaluate("es-agreement-templates", "demo-causal", cluster="template,seed")
    assert blanks.suite.cluster == ("template", "seed")
    assert "crossed" in next(one for one in blanks.estimates() if one.low).interval_method
    rated = cimento.evaluate("it-acceptability", "demo-causal", cluster="phenomenon")
    spearman = next(one for one in rated.estimates() if one.statistic == "spearman")
    assert "clusters" in spearman.interval_method
    told = cimento.evaluate(
        "it-stories", "demo-causal", cluster="location,actor", shots=0, limit=24
    )
    cells = told.outcomes()["cluster"]
    assert all(CROSSED in cell for cell in cells)
    assert told.suite.cluster == ("location", "actor")
    assert "crossed" in next(one for one in told.estimates() if one.n).interval_method
    with pytest.raises(UsageError, match="no column 'writer'"):
        cimento.evaluate("it-stories", "demo-causal", cluster="writer", shots=0)


def test_stories_declare_clusters_in_their_folder(tmp_path, capsys):
    made = tmp_path / "stories"
    shutil.copytree(find_suite("it-stories"), made)
    toml = made / "suite.toml"
    text = toml.read_text(encoding="utf-8")
    toml.write_text(f'{text}\n[options]\ncluster = "location"\n', encoding="utf-8")
    suite = cimento.load_suite(made).suite
    places = {story.location for story in suite.stories}
    assert {story.cluster_cell for story in suite.stories} == places
    for story in suite.stories:
        same = {other.cluster_cell for other in suite.stories if other.story_id == story.story_id}
        assert len(same) == 1, "variants of a story belong to what it belongs to"
    copy = save_suite(cimento.load_suite(made), tmp_path / "copy")
    assert cimento.load_suite(copy).suite.stories == suite.stories
    assert cimento.load_suite(copy).suite.cluster == ("location",)
    plain = cimento.load_suite("it-stories")
    assert plain.content != cimento.load_suite(made).content
    toml.write_text(f'{text}\n[options]\ncluster = ["place"]\n', encoding="utf-8")
    assert invoke(["suites", "check", str(made)]) == 2
    assert "The stories have no key 'place'." in capsys.readouterr().out


ISLANDS = {
    "short_non": "Chi pensa che {name} abbia {verb} {what}?",
    "long_non": "Che cosa pensi che {name} abbia {verb}?",
    "short_island": "Chi si chiede se {name} abbia {verb} {what}?",
    "long_island": "Che cosa ti chiedi se {name} abbia {verb}?",
}
DONE = {
    "dipinto": "il muro",
    "letto": "il giornale",
    "venduto": "la casa",
    "comprato": "il pane",
    "scritto": "la lettera",
    "perso": "le chiavi",
}


@pytest.fixture(scope="module")
def islands(tmp_path_factory):
    """A table of a two-by-two design: five names and six verbs, crossed."""
    lines = ["item\tcondition\tlength\tstructure\tname\tverb\tsentence"]
    for name in ("Anna", "Piero", "Lucia", "Marco", "Giulia"):
        for verb, what in DONE.items():
            for condition, text in ISLANDS.items():
                sentence = text.format(name=name, verb=verb, what=what)
                levels = condition.replace("_", "\t")
                lines.append(f"{name} {verb}\t{condition}\t{levels}\t{name}\t{verb}\t{sentence}")
    path = tmp_path_factory.mktemp("designs") / "islands.tsv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_a_design_in_crossed_clusters_says_both_numbers_wherever_it_is_shown(
    islands, tmp_path, capsys
):
    runs, page = tmp_path / "runs", tmp_path / "page.html"
    asked = ["run", str(islands), "--language", "it", "-m", "demo-causal", "-m", "demo-masked"]
    assert invoke([*asked, "--cluster", "name,verb", "-o", str(runs)]) == 0
    said = capsys.readouterr()
    rows = [line.split() for line in said.out.splitlines() if line.startswith("demo-")]
    assert rows[0][2:6] == ["30", "5", "×", "6"]
    assert "islands: 30 items in 5 × 6 crossed clusters (name × verb)." in said.out
    # What is a cluster is used; the two columns were said to be unused.
    assert 'cluster = "name", "verb"; 30 items' in said.err
    assert "not used" not in said.err
    assert invoke(["report", str(runs), "-o", str(page)]) == 0
    text = page.read_text("utf-8")
    assert "n 30, 5 × 6 clusters" in text
    assert "n 30, 5 clusters" not in text
    assert "tested over crossed clusters, with CR2 standard errors" in text
    assert "studentized bootstrap" not in text
    assert invoke(["compare", str(runs)]) == 0
    assert "30 items in 5 × 6 crossed clusters (name × verb)" in " ".join(
        capsys.readouterr().out.split()
    )
