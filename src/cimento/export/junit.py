"""JUnit XML for continuous integration: a test for each requirement of runs or of a gate."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from cimento.errors import counted
from cimento.io.files import write_text
from cimento.io.tables import REQUESTS
from cimento.io.values import grouped
from cimento.records.outcomes import Outcome, each_outcome

if TYPE_CHECKING:
    from pathlib import Path

    from cimento.compare.before_after import BeforeAfter
    from cimento.compare.gate import Gate, GatedChange
    from cimento.evaluation import Failure
    from cimento.kinds.run import Run


_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot contain (section 2.2), not even escaped."""

_DIGITS = 3
RUN = "the run is made"
SCORED = "every item is scored"
COMPARED = "every item of the first is compared"
_MOST_ITEMS = 10
"""Items that the text of a failure names."""
_MOST_TEXTS = 4
_LONGEST = 120
"""Sentences of an item that are shown, and characters of each."""


def write_junit(
    runs: Iterable[tuple[Run, str]],
    path: Path,
    *,
    least: float | None = None,
    whole: bool = False,
    failures: Iterable[Failure] = (),
) -> Path:
    """Write runs as JUnit XML: a test suite for each run, and in it a test for each requirement.

    The requirements are that the run is made, that every item is scored, and that the rate is at
    least the one that is asked for. The text of a failure names the first items behind it.

    Args:
        runs: the runs, each with a message if its rate is too low, or else an empty text.
        path: the path of the file.
        least: the rate that is asked for, a proportion; None where none is.
        whole: whether items that could not be scored make a test fail; otherwise it is skipped.
        failures: pairs of suite and model whose run failed; each is a test suite with one error.

    Returns:
        The path of the file.

    Raises:
        StorageError: the file cannot be written.
    """
    suites = [_testsuite(run, under, least=least, whole=whole) for run, under in runs]
    return _written([*suites, *(_failed(failure) for failure in failures)], path)


def write_gate_junit(
    gate: Gate, comparison: BeforeAfter, second: Iterable[Run], path: Path, *, partial: bool = False
) -> Path:
    """Write a gate as JUnit XML: a test for each change that it asks about, and for what is there.

    A change that cannot be estimated is skipped. The text of a failure names the first items that
    were lost.

    Args:
        gate: what was compared.
        comparison: of both sides.
        second: the runs of the second side, whose sentences a failure shows.
        path: the path of the file.
        partial: whether the second may lack runs and items of the first; such tests are skipped.

    Returns:
        The path of the file.

    Raises:
        StorageError: the file cannot be written.
    """
    runs = {run.suite.name: run for run in second}
    cases = [_change_case(one, gate.margin, runs.get(one.suite)) for one in gate.every]
    for pair in comparison.runs:
        cases.append(case := _case(pair.second, COMPARED))
        if pair.left_out:
            of = pair.shared + len(pair.only_first)
            _lacking(case, f"only {of - pair.left_out} of {counted(of, 'item')}", partial=partial)
    for name in comparison.only_first:
        cases.append(case := _case(name, RUN))
        _lacking(case, "only the first side has it", partial=partial)
    return _written([_suite_of("compare", cases)], path)


def _change_case(one: GatedChange, margin: float, run: Run | None) -> ET.Element:
    by = f" by more than {margin:g}" if margin else ""
    case = _case(one.name, f"{one.question} is not worse{by}".strip())
    change = one.change
    if change.low is None or change.high is None:
        ET.SubElement(case, "skipped", message=_plain(change.reason or ""))
    elif one.worse:
        message = (
            f"change {change.estimate:+.{_DIGITS}f}, widened interval"
            f" [{change.low:+.{_DIGITS}f}, {change.high:+.{_DIGITS}f}],"
            f" over {counted(one.n, 'item')}"
        )
        texts = _sentences(run, one.lost[:_MOST_ITEMS])
        lines = [f"item {item}: lost{texts.get(item, '')}" for item in one.lost[:_MOST_ITEMS]]
        _fail(case, message, "worse", _with_rest(lines, len(one.lost)))
    return case


def _lacking(case: ET.Element, message: str, *, partial: bool) -> None:
    """Have a test fail for what the second side lacks, or skip it where that is allowed."""
    if partial:
        ET.SubElement(case, "skipped", message=_plain(message))
    else:
        _fail(case, message, "missing", [])


def _written(suites: Sequence[ET.Element], path: Path) -> Path:
    root = ET.Element("testsuites", {"name": "cimento", **_counts(suites)})
    root.extend(suites)
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return write_text(f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n', path)


def _failed(failure: Failure) -> ET.Element:
    case = _case(failure.suite, RUN)
    ET.SubElement(case, "error", message=_plain(str(failure.error)), type="run")
    return _suite_of(f"{failure.suite} x {failure.model}", [case])


def _testsuite(run: Run, under: str, *, least: float | None, whole: bool) -> ET.Element:
    outcomes = _headline_outcomes(run)
    cases = [_case(run.suite.name, RUN), _scored_case(run, outcomes, whole=whole)]
    if least is not None:
        headline = run.summary().headline
        statistic = "rate" if headline is None else headline.statistic
        case = _case(run.suite.name, f"{statistic} is at least {least:g}")
        if under:
            wrong = [one for one in outcomes if one.right is False]
            _fail(case, under, "rate", [*_by_phenomenon(outcomes), *_listed(run, wrong)])
        cases.append(case)
    return _suite_of(f"{run.suite.name} x {run.model}", cases)


def _headline_outcomes(run: Run) -> list[Outcome]:
    """The outcomes of the question that sums up a run; those of all where nothing does."""
    headline = run.summary().headline
    return [
        one
        for one in each_outcome(run.outcomes())
        if headline is None or (one.question, one.method) == (headline.question, headline.method)
    ]


def _scored_case(run: Run, outcomes: Sequence[Outcome], *, whole: bool) -> ET.Element:
    case = _case(run.suite.name, SCORED)
    unscored = [one for one in outcomes if one.verdict == "unscored"]
    if not unscored:
        return case
    message = f"{len(unscored)} of {counted(len(outcomes), 'item')} could not be scored"
    if whole or len(unscored) == len(outcomes):
        _fail(case, message, "unscored", _listed(run, unscored))
    else:
        ET.SubElement(case, "skipped", message=message)
    return case


def _by_phenomenon(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The rate of each phenomenon, where there are several."""
    rows = grouped(
        (one.groups["phenomenon"], one.right)
        for one in outcomes
        if one.right is not None and one.groups.get("phenomenon")
    )
    for phenomenon, right in rows.items() if len(rows) > 1 else ():
        rate = sum(right) / len(right)
        yield f"{phenomenon}: {rate:.{_DIGITS}f} of {counted(len(right), 'item')}"


def _listed(run: Run, outcomes: Sequence[Outcome]) -> list[str]:
    """The first items of some with their sentences, what became of them, and how many more."""
    first = outcomes[:_MOST_ITEMS]
    texts = _sentences(run, [one.item for one in first])
    lines = []
    for one in first:
        value = "" if one.value is None else f" ({one.value:z.{_DIGITS}f} {one.unit}".rstrip() + ")"
        said = f"item {one.item}: {one.verdict}{value} {one.reason}".rstrip()
        lines.append(said + texts.get(one.item, ""))
    return _with_rest(lines, len(outcomes))


def _sentences(run: Run | None, items: Sequence[str]) -> dict[str, str]:
    """The sentences of some items as the end of a line; none where a run has no texts."""
    if run is None or REQUESTS.name not in run.tables:
        return {}
    wanted = {*items}
    rows = run.table(REQUESTS.name).select("item", "text").iter_rows()
    texts = grouped(dict.fromkeys((item, text) for item, text in rows if item in wanted))
    return {item: ": " + " / ".join(map(_cut, some[:_MOST_TEXTS])) for item, some in texts.items()}


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def _with_rest(lines: list[str], total: int) -> list[str]:
    left = total - _MOST_ITEMS
    return [*lines, f"and {counted(left, 'more item')}"] if left > 0 else lines


def _case(suite: str, name: str) -> ET.Element:
    return ET.Element("testcase", classname=_plain(suite), name=_plain(name))


def _fail(case: ET.Element, message: str, kind: str, lines: Sequence[str]) -> None:
    failure = ET.SubElement(case, "failure", message=_plain(message), type=kind)
    failure.text = _plain("\n".join(["", *lines, ""]))


def _suite_of(name: str, cases: Sequence[ET.Element]) -> ET.Element:
    ends = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    counts = {
        total: str(sum(case.find(end) is not None for case in cases)) for total, end in ends.items()
    }
    tests = str(len(cases))
    suite = ET.Element("testsuite", {"name": _plain(name), "tests": tests, **counts})
    suite.extend(cases)
    return suite


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
