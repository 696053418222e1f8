"""What ``cimento demo`` runs; the command itself is run on a clean clone."""

from __future__ import annotations

from cimento.cli.run import _DEMO
from cimento.suites.builtin import list_builtin


def test_the_demo_has_a_suite_of_each_kind_in_each_language():
    kinds = {suite.name: (suite.kind, suite.language) for suite in list_builtin()}
    assert {kinds[name] for name in _DEMO} == set(kinds.values())
