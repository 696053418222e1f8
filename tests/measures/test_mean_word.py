"""The mean over words in scripts without blanks: the words are those of the scoring."""

from __future__ import annotations

import importlib.util

import pytest

from cimento import cite, evaluate, open_runs
from cimento.errors import MissingDependencyError
from cimento.measures import scores
from cimento.paradigms.regions.judging import scores_of
from tests.helpers.command_line import invoke
from tests.helpers.suites_on_disk import write_folder

needs_icu = pytest.mark.skipif(
    importlib.util.find_spec("icu4py") is None, reason="icu4py (cimento[segment]) is not installed"
)

TOML = """\
regions = ["subject", "time", "verb", "place", "end"]

[meta]
name = "places"
language = "zh"

[options]
join = "none"

[[predictions]]
formula = "(*;%match%) < (*;%mismatch%)"
"""
ITEMS = """\
item	condition	text
1	match	我们|明天|去|北京|。
1	mismatch	我们|北京|去|明天|。
"""
# Counted by hand, in both sentences: letters, and words without the mark.
WORDS = [("letters", 7), ("bars", 4), pytest.param("icu", 4, marks=needs_icu)]


@pytest.fixture
def suite(tmp_path):
    return write_folder(tmp_path / "places", toml=TOML, items=ITEMS)


@pytest.mark.parametrize("kind", ["demo-causal", "demo-masked"])
@pytest.mark.parametrize(("segmenter", "words"), WORDS)
def test_mean_word_divides_by_the_words_of_the_scoring(suite, kind, segmenter, words):
    run = evaluate(suite, kind, segmenter=segmenter, measures="mean-word", device="cpu")
    assert run.manifest["asking"]["policy"]["segmenter"] == segmenter
    values = scores_of(run, ["lp", "mean-word"])["value"].to_list()
    for lp, mean in zip(values[::2], values[1::2], strict=True):
        assert mean == pytest.approx(lp / words, rel=1e-12)
    stated = {"letters": "were split", "bars": "the bars of the suite", "icu": "ICU's dictionaries"}
    assert stated[segmenter] in cite(run, "appendix")


def test_the_words_that_are_masked_together_are_those_between_bars(suite):
    """Letters alone are words of one or more bytes, so that their later letters are shown."""
    scored = {
        rule: evaluate(suite, "demo-masked", segmenter=rule, device="cpu").table("tokens")
        for rule in ("letters", "bars")
    }
    first, second = (table["logprob_nats"].to_list() for table in scored.values())
    assert first != second


def test_runs_with_other_words_are_other_runs(suite, tmp_path):
    command = ["run", str(suite), "-m", "demo-causal", "--device", "cpu", "-o", str(tmp_path)]
    assert [invoke([*command, *more]) for more in ([], ["--segmenter", "bars"])] == [0, 0]
    runs = open_runs([tmp_path])
    rules = [run.manifest["asking"]["policy"]["segmenter"] for run in runs]
    assert sorted(rules) == ["bars", "letters"]


def test_without_the_segmenter_the_mean_is_null_with_a_reason(suite, monkeypatch):
    run = evaluate(suite, "demo-causal", segmenter="bars", device="cpu")

    def missing(*_, **__):
        raise MissingDependencyError(package="icu4py", extra="segment", purpose="words")

    monkeypatch.setattr(scores, "count_words", missing)
    table = scores_of(run, ["mean-word", "lp"])
    assert table["value"].is_null().to_list() == [True, False] * 2
    assert "cimento[segment]" in table["unscored_reason"][0]
