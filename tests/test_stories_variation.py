"""Stored runs of stories under several prompts and seeds."""

from __future__ import annotations

import json

import pytest

from cimento.cli.main import invoke
from cimento.errors import TableError, UsageError
from cimento.stories.readers import read_stories
from cimento.stories.records import STORY
from cimento.stories.stored import open_story_runs, vary
from cimento.stories.writers import write_jsonl
from cimento.suites.builtin import find_suite

STORIES = read_stories(find_suite("pt-stories")).stories[:6]


def store(root, *, model, prompt, seed, right, suite="mine", order="paper"):
    """A finished run in which the first `right` stories are judged rightly."""
    folder = root / suite / f"{model}--{prompt}-{seed}-{order}"
    folder.mkdir(parents=True)
    write_jsonl(STORIES, folder / "stories.jsonl")
    lines = []
    for story in STORIES:
        gold = story.gold(STORY)
        wrong = "true" if gold == "false" else "false"
        label = gold if story.row < right else wrong
        lines.append(json.dumps({"doc": story.row, "task": STORY, "label": label, "reply": label}))
    (folder / "answers.jsonl").write_text("\n".join(lines))
    manifest = {
        "kind": "stories",
        "label": model,
        "suite": {"name": suite, "sha256": suite},
        "prompt": {"id": prompt},
        "stories": {
            "answer": "loglik",
            "norm": "sum",
            "protocol": "native",
            "style": {"order": order, "order_seed": 7, "numbering": 0},
            "shots": {"n": 3, "mode": "fixed", "seed": seed},
        },
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.fixture
def runs(tmp_path):
    for prompt, right in (("it-1", 6), ("it-2", 3)):
        for seed in (1, 2):
            store(tmp_path, model="alpha", prompt=prompt, seed=seed, right=right)
            store(tmp_path, model="beta", prompt=prompt, seed=seed, right=4)
    return tmp_path


def test_models_vary_and_change_places(runs):
    found, order = vary(open_story_runs([runs]))
    alpha, beta = found["alpha"], found["beta"]
    assert (alpha.mean, alpha.low, alpha.high) == (0.75, 0.5, 1.0)
    # 24 cells, 18 right: total 24 * 3/16 = 4.5; prompts 24 * (1/4)² = 1.5.
    assert alpha.shares.shares["prompt"] == pytest.approx(1 / 3)
    assert alpha.shares.shares["seed"] == 0.0
    assert (beta.sd, beta.same_throughout) == (0.0, 1.0)
    assert beta.shares.shares["story"] == pytest.approx(1.0)
    # Alpha is ahead with the first prompt and behind with the second.
    assert order.kept["alpha", "beta"] == 0.5
    assert {models[0] for models in order.orders.values()} == {"alpha", "beta"}


def test_what_is_unusual_about_a_prompt_is_named(tmp_path):
    store(tmp_path, model="alpha", prompt="it-1", seed=1, right=6)
    store(tmp_path, model="alpha", prompt="it-1", seed=1, right=6, order="shuffled")
    names = {run.condition.prompt for run in open_story_runs([tmp_path])}
    assert names == {"it-1 shots=3/fixed", "it-1 order=shuffled order_seed=7 shots=3/fixed"}


def test_runs_that_cannot_be_compared_are_refused(runs, tmp_path_factory):
    again = tmp_path_factory.mktemp("again")
    store(again, model="alpha", prompt="it-1", seed=1, right=2)
    with pytest.raises(UsageError, match="alpha was asked twice with it-1"):
        vary(open_story_runs([runs, again]))
    other = tmp_path_factory.mktemp("other")
    store(other, model="alpha", prompt="it-1", seed=1, right=2, suite="yours")
    with pytest.raises(UsageError, match=r"different stories \(mine, yours\)"):
        vary(open_story_runs([runs, other]))
    with pytest.raises(TableError, match="no finished run here"):
        open_story_runs([tmp_path_factory.mktemp("empty")])


def test_runs_of_other_kinds_are_passed_over(tmp_path):
    (tmp_path / "manifest.json").write_text('{"kind": "cloze"}')
    with pytest.raises(TableError, match="no run of stories here"):
        open_story_runs([tmp_path])


def test_the_command_prints_both(runs, capsys):
    assert invoke(["stories", "variation", str(runs)]) == 0
    output = capsys.readouterr().out
    assert "variance: prompt" in output
    assert "alpha before beta" in output
    assert invoke(["stories", "variation", str(runs), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["models"]["alpha"]["mean"] == 0.75
    assert found["ranking"]["kept"] == [{"first": "alpha", "second": "beta", "ahead": 0.5}]
    assert invoke(["stories", "variation", str(runs), "--tier", "physical_state", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"models": {}}
