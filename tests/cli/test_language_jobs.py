"""``cluster slurm``, ``collect`` and ``prefetch`` of a language, and how its plan ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.main import invoke
from tests.cli.test_language_command import answer_at, line, site
from tests.helpers.serving import Site, serve

if TYPE_CHECKING:
    import pytest

__all__ = ["line", "serve", "site"]


def test_the_jobs_of_a_language_give_the_answer_of_one_run(
    line: list[str], site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Sets are fetched when the array is written; its jobs, which fetch nothing, find them."""
    array = ["--except", "gone,hand,starter,generated", "--jobs", "3", "--gpus", "0"]
    assert invoke(["cluster", "slurm", *line, *array]) == 0
    assert "rated: no license is stated" in capsys.readouterr().err
    script = (tmp_path / "runs/slurm/array.sh").read_text(encoding="utf-8")
    assert "export HF_HUB_OFFLINE=1\n" in script
    assert script.splitlines()[-1].endswith(
        'run runs/slurm/run.toml --no-cache --share "${SLURM_ARRAY_TASK_ID}/3"'
    )
    asked = len(site.asked)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for job in range(3):
        assert invoke(["cluster", "collect", "runs/slurm/run.toml", "--check"]) != 0
        share = ["--no-cache", "--share", f"{job}/3"]
        assert invoke(["run", "runs/slurm/run.toml", *share]) == 0
    assert not (tmp_path / "runs/it/answer.json").exists()
    assert invoke(["cluster", "collect", "runs/slurm/run.toml", "--check"]) == 0
    assert invoke(["cluster", "collect", "runs/slurm/run.toml"]) == 0
    assert len(site.asked) == asked
    assert invoke(["run", "runs/slurm/run.toml", "-o", "alone"]) == 0
    assert answer_at(tmp_path / "runs") == answer_at(tmp_path / "alone")


def test_no_array_is_written_where_no_published_set_can_be_used(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ends as the plan does; one that can be used is enough."""
    array = ["cluster", "slurm", *line, "--sets"]
    for sets in ("hand,rated", "gone,starter"):
        assert invoke([*array, sets]) == 3
        said = " ".join(capsys.readouterr().err.split())
        assert "no array is written: no published set of Italian can be used" in said
        assert "--sets starter,generated asks for suites of cimento itself alone" in said
        assert not (tmp_path / "runs/slurm").exists()
    for sets in ("agreement,hand", "starter"):
        assert invoke([*array, sets]) == 0
        assert (tmp_path / "runs/slurm/array.sh").exists()


def test_jobs_of_a_language_cannot_each_draw_another_part(
    line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    timed = [*line, "--budget", "10m"]
    for command in (["cluster", "slurm"], ["cluster", "collect"], ["run", "--share", "0/2"]):
        assert invoke([*command, *timed]) == 2
        assert "each job would time the models" in " ".join(capsys.readouterr().err.split())


def test_sets_are_prefetched_without_a_model(
    line: list[str], site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    data = [part for part in line if part not in {"-m", "demo-causal"}]
    sets = ["--sets", "agreement,more"]
    assert invoke(["cluster", "prefetch", *data, *sets, "--into", "there"]) == 0
    out, err = capsys.readouterr()
    assert "export HF_HUB_OFFLINE=1" in out
    assert "cimento run there/run.toml -m MODEL" in err
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    asked = len(site.asked)
    assert invoke(["run", "there/run.toml", "-m", "demo-causal"]) == 0
    assert len(site.asked) == asked
    assert [one["set"] for one in answer_at(tmp_path / "runs")["used"]] == ["agreement", "more"]
    assert invoke(["run", *data, *sets]) == 2
    assert "no models are given" in capsys.readouterr().err


def test_a_plan_ends_as_the_run_would_where_nothing_published_or_no_model_can_be_asked(
    line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["plan", *line]) == 0
    assert invoke(["plan", *line, "--sets", "hand,rated,starter"]) == 3
    assert "hand: it cannot be fetched from here" in capsys.readouterr().out
    other = ["no/such" if part == "demo-causal" else part for part in line]
    assert invoke(["plan", *other, "--sets", "starter"]) == 1
    assert invoke(["plan", *line, "-m", "no/such", "--sets", "starter"]) == 3


def test_a_budget_is_planned_before_sets_are_fetched_and_says_of_which_it_draws(
    line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """With a budget a run asks nothing of cimento's own, so the plan does not either."""
    budget = ["--budget", "10"]
    assert invoke(["plan", *line, *budget, "--json"]) == 0
    out, err = capsys.readouterr()
    planned = json.loads(out)
    assert (planned["suites"], err) == ([], "")
    assert [one["set"] for one in planned["sets"] if one["is_fetched"]] == [
        "agreement", "more", "gone",
    ]  # fmt: skip
    assert invoke(["run", *line, "--sets", "more"]) == 0
    capsys.readouterr()
    for times in (budget, ["--budget", "2s"]):
        assert invoke(["plan", *line, *times, "--json"]) == 0
        out, err = capsys.readouterr()
        assert [one["suite"] for one in json.loads(out)["suites"]] == ["more"]
        assert ("A random 10 of 12 items" in err) == (times == budget)
        assert "That is of the sets that are here" in err
    assert invoke(["plan", *line, *budget, "--sets", "starter"]) == 2
    assert "asked whole or not at all" in capsys.readouterr().err
