"""Suites that are made of the same items."""

from __future__ import annotations

from dataclasses import replace

from cimento import load_suite
from cimento.suites.twins import units_of


def test_a_starter_suite_and_its_twin_are_one_unit_whatever_they_are_called():
    plain, hard = (
        load_suite(name).suite for name in ("it-subject-verb", "it-subject-verb-adversarial")
    )
    other = load_suite("es-subject-verb").suite
    renamed = replace(hard, meta=replace(hard.meta, name="anything"))
    assert units_of([plain, renamed, other]) == {
        "it-subject-verb": "it-subject-verb",
        "anything": "it-subject-verb",
        "es-subject-verb": "es-subject-verb",
    }


def test_a_name_alone_makes_no_twin():
    plain = load_suite("it-subject-verb").suite
    other = load_suite("it-relative-clause-verb").suite
    meta = replace(plain.meta, name="it-subject-verb-adversarial")
    assert len(set(units_of([plain, replace(other, meta=meta)]).values())) == 2
