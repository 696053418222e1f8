"""The codes of what can be wrong with a cloze suite; docs/cloze.md says more of each.

Faults of the files themselves (their encoding, a missing table) keep the codes of
`cimento.suites.faults`.
"""

from __future__ import annotations

from collections.abc import Mapping

from cimento.errors import Fault, Severity

CHECKS: Mapping[str, tuple[Severity, str]] = {
    "CIM-C001": ("error", "Write the blank once, as three underscores: ___"),
    "CIM-C002": ("error", "Add rows for it to seeds.tsv, or name the set in the column `seeds`."),
    "CIM-C003": ("warning", "Write <SEED> where the forms belong, or remove the forms."),
    "CIM-C004": ("error", "Give every item an id of its own."),
    "CIM-C005": ("error", "Correct the header line or the row."),
    "CIM-C006": ("error", "Put each word of the expression in braces: {testa} al {toro}."),
    "CIM-C007": ("error", "Give each option one role."),
    "CIM-C008": ("error", "Give all rows of a template the same options."),
    "CIM-C009": ("error", "Add at least one item."),
    "CIM-C010": ("warning", 'Add the ISO 639-1 code, such as language = "it".'),
    "CIM-C011": ("warning", "Remove one of the two."),
    "CIM-C012": ("warning", "The item of such a form belongs to all of them; is that meant so?"),
    "CIM-C013": ("error", "Correct the column `expected`."),
    "CIM-C014": ("error", "Name a column that every item has."),
    "CIM-C015": ("warning", "Write one blank, or none."),
    "CIM-C016": ("warning", "Remove one, or give them one cluster."),
}
"""Code to severity and to what can be done about it."""


def fault(code: str, *, where: str, seen: str) -> Fault:
    """A fault of a known code."""
    severity, todo = CHECKS[code]
    return Fault(code, severity, where, seen, todo)
