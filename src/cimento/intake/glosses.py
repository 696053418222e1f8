"""Glosses and translations that are below sentences, as in the examples of papers.

An example in another language has two more lines: its words one by one, with the abbreviations of
grammar (after the Leipzig Glossing Rules), and what it means, in quotation marks. Pasted into a
table, each line is a row, and none of the two is a sentence of the test.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cimento.intake.table import Table
from cimento.intake.words import ITEMS

_ABBREVIATIONS = {
    "ABL", "ABS", "ACC", "ADJ", "ADV", "AGR", "ALL", "ANTIP", "APPL", "ART", "AUX", "BEN",
    "CAUS", "CL", "CLF", "COM", "COMP", "COMPL", "COND", "COP", "CVB", "DAT", "DECL", "DEF",
    "DEM", "DET", "DIST", "DISTR", "DU", "DUR", "ERG", "EXCL", "F", "FOC", "FUT", "GEN", "GER",
    "IMP", "IMPF", "INCL", "IND", "INDF", "INF", "INS", "INTR", "IPFV", "IRR", "LOC", "M", "N",
    "NEG", "NMLZ", "NOM", "OBJ", "OBL", "PASS", "PERF", "PFV", "PL", "POSS", "PRED", "PRES",
    "PRET", "PRF", "PROG", "PROH", "PROX", "PRS", "PST", "PTCP", "PURP", "QUOT", "RECP", "REFL",
    "REL", "RES", "SBJ", "SBJV", "SG", "SUBJ", "TOP", "TR", "VOC",
}  # fmt: skip
"""Abbreviations of the Leipzig Glossing Rules, and others in use, in capitals."""

_PERSON = re.compile(r"[123](?:SG|PL|DU)?", re.IGNORECASE)
_ALONE = re.compile(r"[123](?:SG|PL|DU)", re.IGNORECASE)
_JOINTS = re.compile(r"[-.=:>~]")
_AROUND = "\"'()[],;!?."
_SINGLE = (("'", "'"), ("\u2018", "\u2019"))
_DOUBLE = (('"', '"'), ("\u201c", "\u201d"), ("\u201e", "\u201c"), ("«", "»"))
_LINES = 3


def gloss_rows(table: Table) -> dict[int, str]:
    """The rows that are a gloss or a translation of the sentence above, each with its text.

    A gloss has words with abbreviations of grammar (``duerme-3SG``). A translation is in single
    quotation marks; in others, or in none below a gloss, where the row says less than that of the
    sentence, such as no rating. No first row is one of the two.
    """
    rows = [[cell.strip() for cell in row] for row in zip(*table.cells.values(), strict=True)]
    item = next((k for k, name in enumerate(table.cells) if name.casefold() in ITEMS), None)
    in_threes = _in_threes(rows)
    found: dict[int, str] = {}
    above: list[str] = []
    below_gloss = False
    for number, row in enumerate(rows):
        repeats = item is not None and bool(above) and row[item] == above[item]
        filled = [k for k, cell in enumerate(row) if cell and not (repeats and k == item)]
        texts = [row[k] for k in filled]
        is_below = bool(filled) and bool(above) and all(above[k] for k in filled)
        says_less = len(filled) + repeats < sum(map(bool, above))
        is_gloss = is_below and all(map(_is_gloss, texts))
        is_translation = is_below and (
            _quoted(texts, _SINGLE if not says_less else (*_SINGLE, *_DOUBLE))
            or (below_gloss and (says_less or in_threes))
        )
        if is_gloss or (is_translation and not _quoted(list(filter(None, above)), _SINGLE)):
            found[number] = texts[0]
        elif filled:
            above = row
        below_gloss = is_gloss
    most = (_LINES - 1) * (len(rows) - len(found))
    return found if len(found) <= most else {}


def _in_threes(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the second of every three rows is a gloss, and no other row."""
    glosses = [all(map(_is_gloss, texts)) for row in rows if (texts := [*filter(None, row)])]
    return glosses == [False, True, False] * (len(glosses) // _LINES)


def _quoted(texts: Sequence[str], marks: Sequence[tuple[str, str]]) -> bool:
    """Whether there are texts, each from its first to its last letter in quotation marks."""
    return bool(texts) and all(
        any(
            text[:1] == opening and text[1:].rstrip(".").endswith(closing)
            for opening, closing in marks
        )
        for text in texts
    )


def _is_gloss(text: str) -> bool:
    """Whether some word of a text is glossed."""
    return any(map(_is_glossed, text.split()))


def _is_glossed(word: str) -> bool:
    """Whether a word is joined with an abbreviation of grammar, or is a person and a number."""
    word = word.strip(_AROUND)
    if _ALONE.fullmatch(word):
        return True
    parts = [part for part in _JOINTS.split(word) if part]
    marks = [part in _ABBREVIATIONS or bool(_PERSON.fullmatch(part)) for part in parts]
    others = [part for part, is_mark in zip(parts, marks, strict=True) if not is_mark]
    has_letters = any(part.isalpha() for part, is_mark in zip(parts, marks, strict=True) if is_mark)
    return len(parts) > 1 and has_letters and all(map(_is_word, others))


def _is_word(part: str) -> bool:
    return part.isalpha() and (part.islower() or part.istitle())
