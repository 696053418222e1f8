"""Runs as JUnit XML, the form in which continuous integration reads what passed and what failed.

A suite of tests is a run, a test is one question about one item. Elements and attributes are those
that GitLab, Jenkins and GitHub's test reporters read alike (``testsuites``, ``testsuite``,
``testcase``, ``failure``, ``skipped``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from cimento.io.files import write_text
from cimento.runs.outcomes import Outcome, each_outcome

if TYPE_CHECKING:
    from cimento.runs.run import Run

_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold (section 2.2), not even escaped."""

_DIGITS = 3
THRESHOLD = "at least the rate of --fail-under"
"""Name of the test that a whole run is."""


def write_junit(runs: Iterable[tuple[Run, str]], path: Path) -> Path:
    """Runs written as JUnit XML.

    Args:
        runs: each is a suite of tests, and what is said of one below the rate that was asked for,
            else nothing; an outcome without a verdict is no test.
        path: of the file.

    Returns:
        The file.

    Raises:
        StorageError: the file cannot be written.
    """
    suites = [_testsuite(run, under) for run, under in runs]
    root = ET.Element("testsuites", {"name": "cimento", **_counts(suites)})
    root.extend(suites)
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return write_text(f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n', path)


def _testsuite(run: Run, under: str) -> ET.Element:
    name = f"{run.suite.name} x {run.model}"
    judged = [row for row in each_outcome(run.outcomes()) if row.verdict is not None]
    cases = [_testcase(run.suite.name, outcome) for outcome in judged]
    if under:
        case = ET.Element("testcase", classname=_plain(run.suite.name), name=THRESHOLD)
        ET.SubElement(case, "failure", message=_plain(under), type="rate")
        cases.append(case)
    counts = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "errors": 0,
        "skipped": sum(case.find("skipped") is not None for case in cases),
    }
    written = {key: str(count) for key, count in counts.items()}
    suite = ET.Element("testsuite", {"name": _plain(name), **written})
    suite.extend(cases)
    return suite


def _testcase(suite: str, outcome: Outcome) -> ET.Element:
    phenomenon = outcome.groups.get("phenomenon", "")
    case = ET.Element(
        "testcase",
        classname=_plain(".".join(filter(None, (suite, phenomenon)))),
        name=_plain(" ".join(filter(None, (outcome.item, outcome.question, outcome.method)))),
    )
    if outcome.verdict == "unscored":
        ET.SubElement(case, "skipped", message=_plain(outcome.reason))
    elif not outcome.right:
        value = outcome.value
        margin = "" if value is None else f" ({value:z.{_DIGITS}f} {outcome.unit}".rstrip() + ")"
        message = f"{outcome.verdict}{margin} {outcome.reason}".rstrip()
        kind = str(outcome.verdict)
        ET.SubElement(case, "failure", message=_plain(message), type=kind)
    return case


def _counts(suites: Iterable[ET.Element]) -> dict[str, str]:
    """The sums over some suites of tests."""
    rows = list(suites)
    return {
        name: str(sum(int(row.get(name, "0")) for row in rows))
        for name in ("tests", "failures", "errors", "skipped")
    }


def _plain(text: str) -> str:
    """A text without characters that XML cannot hold."""
    return _NO_XML.sub("\ufffd", text)
