"""Concordances as sentences: what stood around a keyword, cut to the sentence that it is in.

Read are the files that NoSketchEngine and Sketch Engine export (CSV, TSV, xlsx, XML) and any table
with a column for what is left of the keyword, the keyword, and what is right of it.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.corpus.lexicons import parse_xml
from cimento.corpus.plain import PlainSentence, balanced, normalised, tokens
from cimento.corpus.treebanks import fingerprint
from cimento.errors import InputError, SuiteError
from cimento.io.files import read_bytes
from cimento.suites.faults import errors
from cimento.suites.reading import open_text
from cimento.suites.tables import read_rows

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LEFT = ("left", "left context", "left_context", "leftcontext", "contesto sinistro", "lc")
NODE = ("kwic", "node", "keyword", "match", "hit", "kw", "parola")
RIGHT = ("right", "right context", "right_context", "rightcontext", "contesto destro", "rc")
REFERENCE = ("reference", "ref", "refs", "source", "doc", "riferimento")

_TAG = re.compile(r"</?(s|p|g|doc|align|text)\b[^<>]*/?>", re.IGNORECASE)
_START = re.compile(r".*(?:<s\b[^<>]*>|</s>)", re.IGNORECASE | re.DOTALL)
_END = re.compile(r"</s>|<s\b", re.IGNORECASE)
_LAST_END = re.compile(r".*[.!?…][»\"”')]*\s+(?=[A-ZÀ-Ý«\"“(])", re.DOTALL)
_FIRST_END = re.compile(r"(?<![.!?…])[.!?…]+[»\"”')]*(?=\s|$)")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a concordance.

    Attributes:
        reference: where it is from, as the file says.
        left: what stands before the keyword.
        node: the keyword.
        right: what stands after it.
    """

    reference: str
    left: str
    node: str
    right: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Concordance:
    """Sentences of a concordance.

    Attributes:
        sentences: that are kept, mixed.
        counts: what was seen and left out, in words, to how often.
    """

    sentences: tuple[PlainSentence, ...]
    counts: Mapping[str, int]


def read_concordance(path: Path) -> list[Line]:
    """The lines of a concordance file.

    Raises:
        InputError: it cannot be read, or has no columns for left, keyword and right.
    """
    if path.suffix.lower() == ".xml":
        found = list(_from_xml(path))
    elif path.suffix.lower() == ".xlsx":
        rows, faults = read_rows(read_bytes(path), path)
        if errors(faults):
            raise SuiteError(where=str(path), faults=faults)
        found = list(_from_rows(rows, path))
    else:
        found = list(_from_rows(_rows(open_text(path), path), path))
    if not found:
        raise InputError(where=str(path), seen="there is no line", todo="Export it again.")
    return found


def sentence_of(line: Line) -> tuple[str, bool]:
    """The sentence of a keyword, and whether both of its ends are there.

    The tags ``<s>`` and ``</s>`` tell where it begins and ends; without them a period, a question
    or an exclamation mark before a capital letter does, and after the keyword any such mark.
    """
    # What tells a new sentence may be the capital of the keyword itself.
    left, right = f"{line.left.rstrip()} {line.node[:1]}", line.right
    by_tag, by_mark = _START.match(left), None
    if by_tag:
        left = left[by_tag.end() :]
    elif by_mark := _LAST_END.match(left):
        left = left[by_mark.end() :]
    left = left[: len(left) - len(line.node[:1])]
    begins = by_tag is not None or by_mark is not None
    if not left.strip() and not begins:
        begins = line.node[:1].isupper()
    end = _END.search(right)
    mark = None if end else _FIRST_END.search(right)
    if end:
        right = right[: end.start()]
    elif mark:
        right = right[: mark.end()]
    glued = "" if right[:1] and not right[:1].isalnum() and not right.startswith(" ") else " "
    text = normalised(_TAG.sub(" ", f"{left} {line.node}{glued}{right}"))
    return _without_blanks(text), begins and (end is not None or mark is not None)


def sentences_of(
    lines: Sequence[Line],
    *,
    name: str,
    seed: int,
    per: int | None = None,
    incomplete: bool = False,
    shortest: int = 5,
    longest: int = 40,
) -> Concordance:
    """Sentences drawn by seed, those of each keyword balanced over thirds of length.

    Args:
        lines: of concordances.
        name: of the collection, which ids begin with.
        seed: of the draw and of the order.
        per: how many for each keyword; None for all.
        incomplete: keep sentences whose beginning or end is cut off.
        shortest: in tokens.
        longest: in tokens.
    """
    counts, known = Counter[str](lines=len(lines)), set[bytes]()
    by_node: dict[str, list[PlainSentence]] = {}
    for number, line in enumerate(lines, start=1):
        text, whole = sentence_of(line)
        length = len(list(tokens(text)))
        mark = fingerprint(text)
        if not whole and not incomplete:
            counts["without a beginning or an end, left out"] += 1
        elif not shortest <= length <= longest:
            counts[f"not of {shortest} to {longest} tokens, left out"] += 1
        elif mark in known:
            counts["duplicates, left out"] += 1
        else:
            known.add(mark)
            node = normalised(line.node).lower()
            comments = {"node": node, "reference": line.reference}
            sentence = PlainSentence(f"{name}-{number}", text, comments)
            by_node.setdefault(node, []).append(sentence)
    kept: list[PlainSentence] = []
    for node, own in by_node.items():
        lengths = [len(list(tokens(each.text))) for each in own]
        kept += balanced(own, lengths, n=per, seed=_seed(seed, node))
    mixed = balanced(kept, [0] * len(kept), n=None, seed=seed)
    return Concordance(sentences=mixed, counts=dict(counts))


def _seed(seed: int, node: str) -> int:
    """A seed of its own for each keyword, so that one more does not change the others."""
    from hashlib import sha256

    return int.from_bytes(sha256(f"{seed}/{node}".encode()).digest()[:8])


def _rows(text: str, path: Path) -> list[list[str]]:
    first = next((line for line in text.split("\n") if line.strip()), "")
    if path.suffix.lower() == ".tsv" or "\t" in first:
        return [line.split("\t") for line in text.split("\n")]
    delimiter = ";" if first.count(";") > first.count(",") else ","
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise InputError(
            where=str(path),
            seen=f"is not CSV ({error})",
            todo="Is a quotation mark left open? Export it as TSV or XML.",
        ) from error


def _from_rows(rows: Sequence[Sequence[str]], path: Path) -> Iterator[Line]:
    """The rows below the header, which may stand below lines about the corpus and the query."""
    for number, row in enumerate(rows):
        plain = [cell.strip().casefold() for cell in row]
        places = [_place(plain, names) for names in (LEFT, NODE, RIGHT)]
        if None in places:
            continue
        reference = _place(plain, REFERENCE)
        for cells in rows[number + 1 :]:
            found = [cells[p] if p is not None and p < len(cells) else "" for p in places]
            if found[1].strip():
                said = cells[reference] if reference is not None and reference < len(cells) else ""
                yield Line(normalised(said), *found)
        return
    raise InputError(
        where=str(path),
        seen="no line heads columns for left, keyword and right",
        todo="Call them left, kwic and right.",
    )


def _place(header: Sequence[str], names: Sequence[str]) -> int | None:
    return next((header.index(name) for name in names if name in header), None)


def _from_xml(path: Path) -> Iterator[Line]:
    for element in parse_xml(path).iter():
        parts = {child.tag.rpartition("}")[2].casefold(): _all_text(child) for child in element}
        places = [_place(list(parts), names) for names in (LEFT, NODE, RIGHT)]
        if None not in places:
            values = list(parts.values())
            left, node, right = (values[place] for place in places if place is not None)
            reference = element.get("refs") or next(
                (parts[name] for name in REFERENCE if name in parts), ""
            )
            yield Line(normalised(reference), left, node, right)


def _all_text(element: Element) -> str:
    return "".join(element.itertext())


def _without_blanks(text: str) -> str:
    """A text of a tokenised corpus as people write it: no blank before a mark or after l'."""
    closed = re.sub(r" +(?=[.,;:!?…»”)\]])", "", text)
    opened = re.sub(r"(?<=[«“(\[]) +", "", closed)
    return re.sub(r"(?<=\w['’]) +(?=\w)", "", opened)
