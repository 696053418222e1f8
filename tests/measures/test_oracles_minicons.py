"""Scores equal those of minicons where its definition is the same.

tests/data/minicons_*.json were made by scripts/oracles/minicons_scores.py, which says how; the
versions are in the files. Where minicons is known to be wrong (a first token without BOS, words
with elision, texts longer than the window) there is nothing to be equal to.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cimento import Policy
from cimento.paradigms import Score
from tests.helpers import zoo
from tests.helpers.whole_path import ask_folder

DATA = Path(__file__).parents[1] / "data"
CAUSAL = ("gpt2", "llama")
MASKED = ("bert-cased", "bert", "xlm-roberta")
METRICS = {"original": "original", "within-word-l2r": "within_word_l2r"}
TOLERANCE_NATS = 1e-5


def recorded(name):
    """What minicons said of a model, after a look at whether this still is that model."""
    content = json.loads((DATA / f"minicons_{name}.json").read_text(encoding="utf-8"))
    assert zoo.digest(zoo.model(name)) == content["weights_sha256"], (
        f"tests/helpers/zoo.py makes another {name} than the one minicons scored:"
        " run scripts/oracles/minicons_scores.py again"
    )
    return content


def assert_equal(answers, token_scores, sequence_scores):
    for answer, tokens, total in zip(answers, token_scores, sequence_scores, strict=True):
        assert answer.logprobs == pytest.approx([s for _, s in tokens], abs=TOLERANCE_NATS)
        assert answer.total == pytest.approx(total, abs=TOLERANCE_NATS * len(tokens))


@pytest.mark.parametrize("name", CAUSAL)
def test_causal_scores(name, zoo_folder):
    said = recorded(name)

    answers = ask_folder(zoo_folder(name), said["sentences"])

    assert [answer.tokens for answer in answers] == [
        [token for token, _ in tokens] for tokens in said["token_score"]
    ]
    assert_equal(answers, said["token_score"], said["sequence_score"])


@pytest.mark.parametrize("name", CAUSAL)
def test_causal_scores_after_a_prefix(name, zoo_folder):
    said = recorded(name)
    requests = [
        Score(text, context=prefix) for number, (prefix, text) in enumerate(said["prefixed"])
    ]

    answers = ask_folder(zoo_folder(name), requests)

    totals = [answer.total for answer in answers]
    assert totals == pytest.approx(said["conditional_score"], abs=20 * TOLERANCE_NATS)


@pytest.mark.parametrize("pll", METRICS)
@pytest.mark.parametrize("name", MASKED)
def test_masked_scores(name, pll, zoo_folder):
    said = recorded(name)
    # For minicons, a word is what the tokenizer takes for one: between blanks with SentencePiece.
    punctuation = "keep" if name == "xlm-roberta" else "split"

    answers = ask_folder(
        zoo_folder(name), said["sentences"], Policy(pll=pll, punctuation=punctuation)
    )

    metric = METRICS[pll]
    assert_equal(answers, said["token_score"][metric], said["sequence_score"][metric])


@pytest.mark.parametrize("name", MASKED)
def test_the_two_metrics_are_not_the_same(name):
    said = recorded(name)["sequence_score"]
    assert max(abs(a - b) for a, b in zip(*said.values(), strict=True)) > 0.1
