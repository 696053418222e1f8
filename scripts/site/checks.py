"""The list of the checks of suites: a row for each code, which leads to its page."""

from __future__ import annotations

from cells import DOCS, filled, table

from cimento.faults import CHECKS as SUITE_CHECKS
from cimento.paradigms.cloze.codes import CLOZE_CHECKS
from cimento.paradigms.stories.checks import CHECKS as STORY_CHECKS

PAGE = "checks.md"
SEVERITIES = {
    **{code: check.severity for code, check in SUITE_CHECKS.items()},
    **{code: severity for code, (severity, _) in CLOZE_CHECKS.items()},
    **{check.code: check.severity for check in STORY_CHECKS.values()},
}
"""Every code to its severity."""
_LETTERS = {"sentences": "S", "blanks": "C", "stories": "T"}


def checks_page() -> str:
    """The page in Markdown.

    Raises:
        OSError: a code has no page in docs/checks/.
    """
    return filled(PAGE, {place: _table(letter) for place, letter in _LETTERS.items()})


def _table(letter: str) -> str:
    codes = sorted(code for code in SEVERITIES if code.startswith(f"CIM-{letter}"))
    rows = ((f"[{code}](checks/{code}.md)", SEVERITIES[code], _title(code)) for code in codes)
    return table(("code", "severity", "what is wrong"), rows)


def _title(code: str) -> str:
    """What its page says of a code in its first line."""
    first, _, _ = (DOCS / "checks" / f"{code}.md").read_text(encoding="utf-8").partition("\n")
    return first.removeprefix(f"# {code}: ")
