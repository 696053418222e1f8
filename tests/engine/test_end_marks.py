"""Ends of sentences after every prefix, with scores that are known."""

from __future__ import annotations

import math

import pytest

from cimento import UsageError
from cimento.cli.main import invoke
from cimento.evaluation.end_marks import prefixes, score_end_marks
from cimento.testing import FakeScorer
from tests.helpers.suites_on_disk import write


def test_prefixes_leave_the_final_mark_off():
    assert prefixes("Che cosa pensi?") == [
        ("Che", "Che"),
        ("cosa", "Che cosa"),
        ("pensi", "Che cosa pensi"),
    ]
    assert prefixes("Ha detto: sì, sì. ")[-1] == ("sì", "Ha detto: sì, sì")
    assert prefixes("?") == []


def test_each_mark_is_scored_after_each_word():
    # a question mark costs as many nats as there are words before it, a full stop twice that
    scorer = FakeScorer(lambda tokens, index: -index * {"?": 1.0, ".": 2.0}.get(tokens[index], 99))
    table = score_end_marks(["Chi parte?", "Chi"], scorer)
    assert table.select("text", "position", "word", "mark", "logprob_nats").rows() == [
        (1, 1, "Chi", "?", -1.0),
        (1, 1, "Chi", ".", -2.0),
        (1, 2, "parte", "?", -2.0),
        (1, 2, "parte", ".", -4.0),
        (2, 1, "Chi", "?", -1.0),
        (2, 1, "Chi", ".", -2.0),
    ]
    assert table["surprisal_bits"][0] == pytest.approx(1 / math.log(2))
    assert table["unscored_reason"].to_list() == [None] * 6


def test_marks_must_be_given():
    scorer = FakeScorer(lambda _tokens, _index: -1.0)
    with pytest.raises(UsageError, match="a mark is empty"):
        score_end_marks(["Chi?"], scorer, marks=["?", " "])


def test_the_command_prints_them_for_a_model(tmp_path, capsys):
    file = write(tmp_path / "frasi.txt", "Il cane dorme?\n")
    for model in ("demo-causal", "demo-masked"):
        assert invoke(["score", str(file), "-m", model, "--end-marks", "?."]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].split("\t")[:4] == ["text", "position", "word", "mark"]
        assert len(lines) == 7
        assert all(float(line.split("\t")[4]) < 0 for line in lines[1:])
