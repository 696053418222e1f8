"""--cluster of `analyze` and `export`: as if runs had been judged with these clusters before."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import cimento
from cimento.kinds.registry import save_suite
from cimento.records.outcomes import design_of
from cimento.statistics.intervals import share_interval
from tests.helpers.command_line import invoke

COLUMNS = "scene,noun"
SCENES = {
    "garden": "In giardino {} {} sempre.",
    "night": "Di notte {} {} spesso.",
    "teacher": "Secondo la maestra {} {} troppo.",
    "never": "Per fortuna {} {} raramente.",
    "again": "Da ieri {} {} di nuovo.",
}
NOUNS = {
    "il cane": ("abbaia", "abbaiano"),
    "le galline": ("scappano", "scappa"),
    "la capra": ("salta", "saltano"),
    "gli asini": ("ragliano", "raglia"),
    "il bambino": ("piange", "piangono"),
    "i nonni": ("litigano", "litiga"),
}
ROWS = [
    {
        "good": text.format(noun, good),
        "bad": text.format(noun, bad),
        "scene": scene,
        "noun": noun,
    }
    for scene, text in SCENES.items()
    for noun, (good, bad) in NOUNS.items()
]


@pytest.fixture(scope="module")
def stored(tmp_path_factory) -> Path:
    """The runs of two models, ``plain``, and ``judged`` with crossed clusters."""
    folder = tmp_path_factory.mktemp("analyses")
    suite = cimento.pairs(ROWS, name="scenes", language="it")
    save_suite(cimento.load_suite(suite), folder / "scenes")
    models = ["-m", "demo-causal", "-m", "demo-masked", "-o", str(folder / "plain")]
    assert invoke(["run", str(folder / "scenes"), *models]) == 0
    judged = ["--cluster", COLUMNS, "-o", str(folder / "judged")]
    assert invoke(["judge", str(folder / "plain"), *judged]) == 0
    return folder


def of_model(folder: Path, model: str = "demo-causal") -> str:
    [run] = folder.glob(f"scenes/{model}*")
    return str(run)


@pytest.mark.parametrize(
    "command",
    [
        ["items", "RUNS"],
        ["power", "RUN", "--of", "margin", "--trials", "100"],
        ["power", "RUN", "--pilot", "OTHER", "--difference", "0.3", "--trials", "100"],
        ["exposure", "RUNS", "--corpus", "CORPUS"],
        ["attribution", "RUN", "--by", "gradient"],
    ],
    ids=lambda words: "-".join(words[:3]),
)
def test_numbers_are_those_of_runs_that_were_judged_before(stored, capsys, command):
    corpus = stored / "corpus.txt"
    corpus.write_text("Il cane abbaia.\nLa capra salta.\nI nonni litigano.\n", encoding="utf-8")

    def printed(name: str, *more: str) -> dict[str, object]:
        runs = stored / name
        places = {
            "RUNS": str(runs), "RUN": of_model(runs), "OTHER": of_model(runs, "demo-masked"),
            "CORPUS": str(corpus),
        }  # fmt: skip
        words = [places.get(word, word) for word in command]
        assert invoke(["analyze", *words, *more, "--json"]) == 0
        return json.loads(capsys.readouterr().out.replace(str(runs), ""))

    chosen = printed("plain", "--cluster", COLUMNS)
    before = printed("judged")
    for one in (chosen, before):  # the folder's name has the options of the run
        one.pop("run", None)
    assert chosen == before
    assert chosen != printed("plain")


def test_a_probe_keeps_chosen_clusters_together_as_declared_ones(stored, tmp_path, capsys):
    declared = cimento.pairs(ROWS, name="scenes", language="it", cluster=["scene", "noun"])
    save_suite(cimento.load_suite(declared), tmp_path / "declared")

    def probed(*words: str) -> list[dict[str, object]]:
        assert invoke(["analyze", "probe", *words, "-m", "demo-causal", "--json"]) == 0
        return json.loads(capsys.readouterr().out)["probes"]

    plain = str(stored / "scenes")
    assert probed(plain, "--cluster", COLUMNS) == probed(str(tmp_path / "declared"))
    assert probed(plain, "--cluster", COLUMNS) != probed(plain)
    assert invoke(["analyze", "probe", plain, "-m", "demo-causal", "--cluster", "verb"]) == 2
    assert "have no column 'verb'" in capsys.readouterr().err


def test_a_profile_has_the_intervals_of_the_chosen_clusters(tmp_path, capsys):
    runs = str(tmp_path / "runs")
    assert invoke(["run", "es-agreement-templates", "-m", "demo-masked", "-o", runs]) == 0
    judged = ["--cluster", "seed", "-o", str(tmp_path / "judged")]
    assert invoke(["judge", runs, *judged]) == 0
    capsys.readouterr()

    def profiled(*words: str) -> object:
        assert invoke(["analyze", "profile", *words, "--by", "phenomenon", "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    chosen = profiled(runs, "--cluster", "seed")
    assert chosen == profiled(str(tmp_path / "judged"))
    assert chosen != profiled(runs)


def test_tables_for_r_have_the_chosen_clusters_in_columns_and_in_intervals(stored, tmp_path):
    def exported(name: str, *more: str) -> Path:
        made = tmp_path / "-".join([name, *more])
        assert invoke(["export", str(stored / name), "--to", "r", "-o", str(made), *more]) == 0
        return made

    chosen = exported("plain", "--cluster", COLUMNS)
    before, plain = exported("judged"), exported("plain")
    for file in before.iterdir():
        assert (chosen / file.name).read_text("utf-8") == file.read_text("utf-8")
    rows = pl.read_csv(chosen / "outcomes.csv").filter(pl.col("model").str.contains("causal"))
    assert rows["cluster"].to_list() == [row["scene"] for row in ROWS]
    assert rows["cluster_2"].to_list() == [row["noun"] for row in ROWS]
    assert "cluster_2" not in pl.read_csv(plain / "outcomes.csv").columns
    [run, _] = cimento.open_runs(stored / "judged")
    outcomes = run.outcomes()
    design = design_of(outcomes["item"].to_list(), outcomes["cluster"].to_list())
    expected = share_interval(outcomes["right"].to_list(), design)
    estimates = pl.read_csv(chosen / "estimates.csv").filter(
        (pl.col("statistic") == "accuracy") & pl.col("model").str.contains("causal")
    )
    assert estimates["low"][0] == pytest.approx(expected.low)
    assert estimates["high"][0] == pytest.approx(expected.high)


@pytest.mark.parametrize("target", ["inspect", "every-eval-ever"])
def test_records_of_other_clusters_do_not_take_the_place_of_those_of_the_run(
    stored, tmp_path, target
):
    def files(*more: str) -> set[str]:
        command = ["export", str(stored / "plain"), "--to", target, "-o", str(tmp_path)]
        assert invoke([*command, *more]) == 0
        return {path.name for path in tmp_path.rglob("*") if path.is_file()}

    plain = files()
    assert files() == plain
    assert len(files("--cluster", COLUMNS)) == 2 * len(plain)
