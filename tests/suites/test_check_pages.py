"""Every code of `cimento suites check` has a page whose example shows what the page says."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from cimento import load_suite, new_canary
from cimento.cli.main import invoke
from cimento.faults import CHECKS as SUITE_CHECKS
from cimento.paradigms.cloze.codes import CLOZE_CHECKS
from cimento.paradigms.stories.checks import CHECKS as STORY_CHECKS
from cimento.suites import CANARY
from tests.helpers.check_pages import FOLDER, good_suites, printed_by
from tests.helpers.docs_pages import blocks
from tests.helpers.site_pages import site_module

SEVERITIES: Mapping[str, str] = {
    **{code: check.severity for code, check in SUITE_CHECKS.items()},
    **{code: severity for code, (severity, _) in CLOZE_CHECKS.items()},
    **{check.code: check.severity for check in STORY_CHECKS.values()},
}


def test_every_code_has_a_page_and_no_page_is_left_over():
    assert {path.stem for path in FOLDER.glob("*.md")} == set(SEVERITIES)


def test_the_list_has_every_code_with_its_severity():
    page = site_module("checks").checks_page()
    listed = re.findall(
        r"^\| \[(CIM-\w+)\]\(checks/(CIM-\w+)\.md\) \| (\w+) \|", page, re.MULTILINE
    )
    assert {code: severity for code, _, severity in listed} == SEVERITIES
    assert all(code == target for code, target, _ in listed)


@pytest.mark.parametrize("code", sorted(SEVERITIES))
def test_a_page_says_what_its_example_gives(code, tmp_path):
    path = FOLDER / f"{code}.md"
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"# {code}: ")
    assert f"**{SEVERITIES[code].title()}: " in text
    assert "\n## Example\n" in text
    assert "\n## How to fix it\n" in text
    faults = re.split(r"^(?=error: |warning: )", printed_by(path, tmp_path), flags=re.MULTILINE)
    shown = [block.text for block in blocks(path) if block.language == "text"]
    assert shown == ["".join(fault for fault in faults if code in fault)]


@pytest.mark.parametrize("name", ["lamps", "umbrellas", "letters"])
def test_the_suites_of_the_examples_are_in_order(name, tmp_path, capsys):
    for file, text in good_suites()[name].items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    assert invoke(["suites", "check", str(tmp_path)]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("code", SUITE_CHECKS)
def test_titles_of_pages_and_of_the_program_are_the_same(code):
    first, _, _ = (FOLDER / f"{code}.md").read_text(encoding="utf-8").partition("\n")
    assert first == f"# {code}: {SUITE_CHECKS[code].title}"


def test_new_suites_have_a_canary_of_their_own(tmp_path):
    for name in ("a", "b"):
        assert invoke(["suites", "new", "pairs", str(tmp_path / name)]) == 0
    canaries = [load_suite(tmp_path / name).suite.meta.extra["canary"] for name in ("a", "b")]
    assert canaries[0] != canaries[1]
    assert all(CANARY.search(canary) for canary in canaries)


def test_a_warning_of_one_of_several_suites_names_it(tmp_path, capsys):
    for name in ("first", "second"):
        assert invoke(["suites", "new", "pairs", str(tmp_path / name)]) == 0
    rows = ["item\tgood\tbad"]
    for number, verb in enumerate(("sleeps", "sings", "walks", "reads", "waits", "runs")):
        rows.append(f"{number}\tThe cat {verb}.\tThe old and tired cats of mine {verb}.")
    (tmp_path / "second" / "items.tsv").write_text("\n".join(rows), encoding="utf-8")
    capsys.readouterr()
    invoke(["suites", "check", str(tmp_path)])
    lines = [line for line in capsys.readouterr().out.splitlines() if "warning: CIM" in line]
    assert lines
    assert all("second: " in line for line in lines)


def test_a_canary_has_a_random_part():
    assert CANARY.search(new_canary())
    assert not CANARY.search("cimento:do-not-train")
