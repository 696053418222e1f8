"""Stored runs of stories under several prompts and seeds."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cimento import Meta, TableError, UsageError, evaluation
from cimento.cli.main import invoke
from cimento.paradigms.stories.conditions import condition_of
from cimento.paradigms.stories.prompts import prompts
from cimento.paradigms.stories.variation import open_story_runs, variation_of
from cimento.suites.builtin import find_suite
from cimento.suites.formats.stories import read_stories, write_suite
from cimento.suites.stories import STORY, StorySuite
from cimento.testing import FakeScorer

STORIES = read_stories(find_suite("pt-stories")).stories[:6]
WORDS = {
    label: {prompt.tiers[STORY].answers[label].lower() for prompt in prompts().values()}
    for label in ("true", "false")
}


class Partly(FakeScorer):
    """A model that is right at the first tier about the first stories."""

    def __init__(self, name, right):
        super().__init__(lambda _tokens, _index: -1.0, name=name)
        self._right = right

    def encode(self, requests):
        self._asked = list(requests)
        return super().encode(requests)

    def score(self, encoded):
        asked = zip(encoded, self._asked, strict=True)
        return [np.full(len(encoding.wanted), self._nats(request)) for encoding, request in asked]

    def _nats(self, asked):
        places = {
            story.row: [asked.context.find(text) for text in story.sentences] for story in STORIES
        }
        rows = [
            row for row, starts in places.items() if min(starts) >= 0 and starts == sorted(starts)
        ]
        if len(rows) != 1:
            return -1.0
        gold = STORIES[rows[0]].gold(STORY)
        label = gold if rows[0] < self._right else "true" if gold == "false" else "false"
        return -0.5 if asked.text.lower() in WORDS[label] else -3.0


def store(root, *, model, prompt, seed, right, suite="mine", order="paper"):
    """A finished run in which the first `right` stories are judged rightly."""
    folder = root / "suites" / suite
    stories = STORIES if suite == "mine" else STORIES[1:]
    write_suite(StorySuite(meta=Meta(suite, language="pt"), stories=stories), folder)
    return evaluation.evaluate(
        folder, Partly(model, right), output=root / "runs", prompt=prompt, shots_seed=seed,
        order=order, order_seed=7, shots=0,
    )  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("variation")
    for prompt, right in (("it-1", 6), ("it-2", 3)):
        for seed in (1, 2):
            store(root, model="alpha", prompt=prompt, seed=seed, right=right)
            store(root, model="beta", prompt=prompt, seed=seed, right=4)
    return root / "runs"


@pytest.mark.slow
def test_models_vary_and_change_places(runs):
    found = variation_of(open_story_runs([runs]))
    by_model, order = found.models, found.ranking
    alpha, beta = by_model["alpha@0000000"], by_model["beta@0000000"]
    assert (alpha.mean, alpha.low, alpha.high) == (0.75, 0.5, 1.0)
    # 24 cells, 18 right: total 24 * 3/16 = 4.5; prompts 24 * (1/4)² = 1.5.
    assert alpha.shares.shares["prompt"] == pytest.approx(1 / 3)
    assert alpha.shares.shares["seed"] == 0.0
    assert (beta.sd, beta.same_throughout) == (0.0, 1.0)
    assert beta.shares.shares["story"] == pytest.approx(1.0)
    # Alpha is ahead with the first prompt and behind with the second.
    assert order.kept["alpha@0000000", "beta@0000000"] == 0.5
    assert {models[0] for models in order.orders.values()} == {"alpha@0000000", "beta@0000000"}


def test_what_is_unusual_about_a_prompt_is_named(tmp_path):
    store(tmp_path, model="alpha", prompt="it-1", seed=1, right=6)
    store(tmp_path, model="alpha", prompt="it-1", seed=1, right=6, order="shuffled")
    names = {condition_of(run).prompt for run in open_story_runs([tmp_path / "runs"])}
    assert names == {"it-1 shots=0/fixed", "it-1 order=shuffled order_seed=7 shots=0/fixed"}


def test_runs_that_cannot_be_compared_are_refused(runs, tmp_path_factory):
    again = tmp_path_factory.mktemp("again")
    store(again, model="alpha", prompt="it-1", seed=1, right=2)
    with pytest.raises(UsageError, match="alpha@0000000 was asked twice with it-1"):
        variation_of(open_story_runs([runs, again / "runs"]))
    other = tmp_path_factory.mktemp("other")
    store(other, model="alpha", prompt="it-1", seed=1, right=2, suite="yours")
    with pytest.raises(UsageError, match=r"different stories \(mine, yours\)"):
        variation_of(open_story_runs([runs, other / "runs"]))
    with pytest.raises(TableError, match="no finished run here"):
        open_story_runs([tmp_path_factory.mktemp("empty")])


def test_runs_of_other_kinds_are_passed_over(tmp_path):
    (tmp_path / "manifest.json").write_text('{"kind": "cloze"}')
    with pytest.raises(TableError, match="no run of stories here"):
        open_story_runs([tmp_path])


def test_the_command_prints_both(runs, capsys):
    assert invoke(["analyze", "variation", str(runs)]) == 0
    output = capsys.readouterr().out
    assert "variance: prompt" in output
    assert "alpha@0000000 before beta@0000000" in output
    assert invoke(["analyze", "variation", str(runs), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["models"]["alpha@0000000"]["mean"] == 0.75
    assert printed["ranking"]["kept"] == [
        {"first": "alpha@0000000", "second": "beta@0000000", "ahead": 0.5}
    ]
    assert invoke(["analyze", "variation", str(runs), "--tier", "physical_state", "--json"]) == 0
    later = json.loads(capsys.readouterr().out)["models"]
    assert {name: model["mean"] for name, model in later.items()} == {
        "alpha@0000000": 0.0, "beta@0000000": 0.0
    }  # fmt: skip
