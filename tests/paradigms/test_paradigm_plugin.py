"""A paradigm of another package, without a line in cimento; test_conformance says what it has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cimento.cli.main import invoke
from cimento.errors import SuiteError
from cimento.evaluation import evaluate
from cimento.testing.models import FakeScorer

PLUGINS = Path(__file__).parents[1] / "sample_plugin"
MOST_LINES = 200


@pytest.fixture
def short_words() -> FakeScorer:
    """A model for which a letter costs one nat."""
    return FakeScorer(lambda words, index: -float(len(words[index])), name="short")


def test_the_numbers_are_those_counted_by_hand(probing, short_words):
    run = evaluate(probing, short_words)
    # Shorter verbs win: 1, 3, 5 and 7 are singular and right, the plurals 2, 4 and 6 are longer.
    assert run.outcomes()["verdict"].to_list() == [
        "pass", "fail", "pass", "fail", "pass", "fail", "pass",
    ]  # fmt: skip
    [headline] = run.estimates()
    assert (headline.right, headline.n, headline.chance) == (4, 7, 0.5)


def test_the_command_line_runs_it(probing, tmp_path, capsys):
    runs = tmp_path / "runs"
    assert invoke(["run", str(probing), "-m", "demo-causal", "-o", str(runs)]) == 0
    assert "agreement" in capsys.readouterr().out


def test_a_table_without_a_column_is_told(probing, short_words):
    (probing / "items.tsv").write_text("id\tprompt\n1\tLa zia\n", encoding="utf-8")
    with pytest.raises(SuiteError, match="there is no column 'right'"):
        evaluate(probing, short_words)


def test_it_is_short():
    lines = (PLUGINS / "cimento_probing.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) < MOST_LINES


def test_the_page_shows_the_code_that_is_tested_here():
    page = (PLUGINS.parents[1] / "docs" / "paradigms.md").read_text(encoding="utf-8")
    shown = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert (PLUGINS / "cimento_probing.py").read_text(encoding="utf-8") in shown
