"""The checks of cloze suites by their codes, and their faults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cimento.errors import Fault, Severity
from cimento.faults import named_blanks

CLOZE_CHECKS: Mapping[str, tuple[Severity, str]] = {
    "CIM-C001": ("error", "Write the blank once, as three underscores: ___"),
    "CIM-C002": ("error", "Add rows for it to seeds.tsv, or name the set in the column `seeds`."),
    "CIM-C003": ("warning", "Write <SEED> where the forms belong, or remove the forms."),
    "CIM-C004": ("error", "Give every item its own id."),
    "CIM-C005": ("error", "Correct the header line or the row."),
    "CIM-C006": ("error", "Put each word of the expression in braces: {testa} al {toro}."),
    "CIM-C007": ("error", "List each option under one role."),
    "CIM-C008": ("error", "Give all rows of a template the same options."),
    "CIM-C009": ("error", "Add at least one item."),
    "CIM-C010": ("warning", 'Write its code, such as language = "it", under [meta] in suite.toml.'),
    "CIM-C011": ("warning", "Remove one of the two."),
    "CIM-C012": ("warning", "The item of such a form belongs to all of them; is that intended?"),
    "CIM-C013": ("error", "Correct the column `expected`."),
    "CIM-C014": ("error", "Name a column that every item has."),
    "CIM-C015": ("warning", "Write a single space, or none."),
    "CIM-C016": ("warning", "Remove one, or put them in one cluster."),
    "CIM-C017": ("warning", "Write a bar ( | ) between options."),
    "CIM-C018": ("warning", "Write the word that is due in the blank, or leave the row out."),
    "CIM-C019": ("warning", "Write all words of the row with the same kind of first letter."),
    "CIM-C020": ("warning", "Nothing is to be done if the column lists all options."),
    "CIM-C021": ("warning", "Is that intended? Else write ___ in the sentences."),
    "CIM-C022": ("error", "Correct the word, or write it among the options of its row too."),
}
"""Code to severity and to what can be done about it."""


def cloze_fault(
    code: str, *, where: str, seen: str, todo: str = "", places: Iterable[str] = ()
) -> Fault:
    """A fault of a known code, with its advice unless there is another."""
    severity, usual = CLOZE_CHECKS[code]
    return Fault(code, severity, where, named_blanks(seen), todo or usual, tuple(places))
