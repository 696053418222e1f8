"""`make audit`: what is known of the pinned packages, or that nothing was checked."""

from __future__ import annotations

import json
import subprocess

import pytest

from audit import NOTHING, main

MADE = (0, "", "")
SKIPPED = {"name": "cimento-data", "skip_reason": "Dependency not found and could not be audited"}


def runner(*results):
    """Commands that end so, one after the other."""
    waiting = [subprocess.CompletedProcess([], *result) for result in results]
    return lambda _: waiting.pop(0)


def report(*vulnerabilities):
    packages = [
        {"name": "polars", "version": "2.1", "vulns": []},
        {"name": "jinja2", "version": "3.1", "vulns": list(vulnerabilities)},
    ]
    return json.dumps({"dependencies": [*packages, SKIPPED]})


@pytest.mark.parametrize(
    "results",
    [
        [MADE, (1, "", "ERROR: No matching distribution found")],
        [MADE, MADE, (1, "", "Connection refused")],
        [MADE, MADE, (1, "{}", "")],
        [MADE, MADE, (0, json.dumps({"dependencies": [SKIPPED]}), "")],
    ],
)
def test_without_a_network_nothing_is_checked_and_that_is_said(results, capsys):
    assert main(runner(*results)) == 0
    assert capsys.readouterr().out.startswith(NOTHING)


def test_packages_without_known_vulnerabilities_are_counted(capsys):
    assert main(runner(MADE, MADE, (0, report(), ""))) == 0
    said = capsys.readouterr().out
    assert "2 pinned packages, 0 with known vulnerabilities" in said
    assert "Not checked, since the databases do not know them: cimento-data." in said


def test_a_known_vulnerability_is_named_and_fails(capsys):
    vulnerability = {"id": "CVE-2099-1", "fix_versions": ["3.2"]}

    assert main(runner(MADE, MADE, (1, report(vulnerability), ""))) == 1

    said = capsys.readouterr().out
    assert "jinja2 3.1: CVE-2099-1 (fixed in: 3.2)" in said
    assert "1 with known vulnerabilities" in said
