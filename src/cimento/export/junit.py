"""Runs as JUnit XML, the form in which continuous integration reads passes and failures.

Each run is a test suite; each question about an item is a test case. Only elements and attributes
that the test reporters of GitLab, Jenkins and GitHub all read are used (``testsuites``,
``testsuite``, ``testcase``, ``failure``, ``skipped``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from cimento.io.files import write_text
from cimento.runs.outcomes import Outcome, each_outcome

if TYPE_CHECKING:
    from cimento.api import Failure
    from cimento.runs.run import Run

_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot contain (section 2.2), not even escaped."""

_DIGITS = 3
THRESHOLD = "at least the rate of --fail-under"
"""Name of the test case that stands for the rate of a whole run."""
RUN = "the run could be made"
"""Name of the only test case of a suite on which a run failed."""


def write_junit(
    runs: Iterable[tuple[Run, str]], path: Path, *, failures: Iterable[Failure] = ()
) -> Path:
    """Write runs as JUnit XML.

    Args:
        runs: the runs, each a test suite, and a message if its rate is below the requested one,
            otherwise an empty text; an outcome without a verdict is not a test case.
        path: the path of the file.
        failures: pairs of suite and model whose run failed; each is a test suite with one error.

    Returns:
        The path of the file.

    Raises:
        StorageError: the file cannot be written.
    """
    suites = [_testsuite(run, under) for run, under in runs]
    suites += [_failed(failure) for failure in failures]
    root = ET.Element("testsuites", {"name": "cimento", **_counts(suites)})
    root.extend(suites)
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return write_text(f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n', path)


def _failed(failure: Failure) -> ET.Element:
    case = ET.Element("testcase", classname=_plain(failure.suite), name=RUN)
    ET.SubElement(case, "error", message=_plain(str(failure.error)), type="run")
    return _suite_of(f"{failure.suite} x {failure.model}", [case])


def _testsuite(run: Run, under: str) -> ET.Element:
    judged = [row for row in each_outcome(run.outcomes()) if row.verdict is not None]
    cases = [_testcase(run, outcome) for outcome in judged]
    if under:
        case = ET.Element("testcase", classname=_plain(run.suite.name), name=THRESHOLD)
        ET.SubElement(case, "failure", message=_plain(under), type="rate")
        cases.append(case)
    return _suite_of(f"{run.suite.name} x {run.model}", cases)


def _suite_of(name: str, cases: Sequence[ET.Element]) -> ET.Element:
    ends = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    counts = {
        counted: str(sum(case.find(end) is not None for case in cases))
        for counted, end in ends.items()
    }
    tests = str(len(cases))
    suite = ET.Element("testsuite", {"name": _plain(name), "tests": tests, **counts})
    suite.extend(cases)
    return suite


def _testcase(run: Run, outcome: Outcome) -> ET.Element:
    phenomenon, question = outcome.groups.get("phenomenon", ""), run.named(outcome.question)
    case = ET.Element(
        "testcase",
        classname=_plain(".".join(filter(None, (run.suite.name, phenomenon)))),
        name=_plain(" ".join(filter(None, (outcome.item, question, outcome.method)))),
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
    """The summed counts of several test suites."""
    rows = list(suites)
    return {
        name: str(sum(int(row.get(name, "0")) for row in rows))
        for name in ("tests", "failures", "errors", "skipped")
    }


def _plain(text: str) -> str:
    """A text without the characters that XML cannot contain."""
    return _NO_XML.sub("\ufffd", text)
