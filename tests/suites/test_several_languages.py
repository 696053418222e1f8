"""A column that names several languages: a suite has one."""

from __future__ import annotations

import pytest

from cimento import evaluate, load_suite
from cimento.report.formatting import remarks
from cimento.testing import FakeScorer
from tests.suites.test_suite_own_tables import found, written


@pytest.mark.parametrize(
    ("name", "cells", "count"),
    [
        ("lingua", ("italiano", "spagnolo"), 1),
        ("Language", ("it", "es"), 1),
        ("idioma", ("español", "ita"), 1),
        ("lingua", ("italiano", "italiano"), 0),
        ("lingua", ("scritta", "parlata"), 0),  # no languages
        ("fonte", ("it", "es"), 0),
    ],
)
def test_sentences_in_several_languages_are_reported(tmp_path, name, cells, count):
    rows = [
        f"1 / La zia parte. / La zia partono. / {cells[0]}",
        f"2 / El gato duerme. / El gato duermen. / {cells[1]}",
    ]
    suite = load_suite(written(tmp_path, f"item / good / bad / {name}", *rows), language="it")
    assert len(found(suite, "CIM-S094")) == count


def test_a_run_says_so_before_everything_else_and_counts_sentences(tmp_path):
    rows = [
        "1 / La zia parte. / La zia partono. / it",
        "2 / El gato duerme. / El gato dormir. / es",
    ]
    suite = load_suite(written(tmp_path, "item / good / bad / lingua", *rows))
    run = evaluate(suite, FakeScorer(lambda *_: -1.0)).judge()
    first, *others = remarks(run.summary())
    assert "'it' (2 sentences), 'es' (2 sentences)" in first
    assert any("CIM-S033" in remark for remark in others)
