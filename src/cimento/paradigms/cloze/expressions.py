"""Multiword items: the words of an expression or a term are in braces, and each is asked in turn.

Sentences come from concordances, or from texts that are searched for a list of terms.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from cimento.corpus.texts import (
    ConcordanceLine,
    PlainSentence,
    PlainText,
    balanced,
    concordance_sentences,
    normalize_plain,
    read_concordance,
    tokens,
)
from cimento.corpus.treebanks import SUFFIXES, text_lines
from cimento.errors import InputError, did_you_mean
from cimento.intake.tables import read_suite_table
from cimento.io.files import read_bytes
from cimento.paradigms.cloze.reading import read_cell, table_with
from cimento.suites.cloze import MultiwordItem
from cimento.suites.derived import OTHER, closed_class

NamedBy: TypeAlias = Literal["keyword", "file"]
"""Whether concordances are named after their keywords or their file."""
FEWEST_WORDS = 2
"""Words that an expression must have besides articles and the like; a term may be one word."""

TERM = "term"
"""The kind of a term that has no other."""

_WORD = re.compile(r"\w+(?:-\w+)*")


@dataclass(frozen=True, slots=True)
class Term:
    """A term that is looked for in texts.

    Attributes:
        name: what it is called.
        forms: forms of the expression in texts, its name among them.
        kind: what kind of expression it is.
    """

    name: str
    forms: tuple[str, ...]
    kind: str = TERM


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Which sentences are taken.

    Attributes:
        per: sentences for each expression, in turn from thirds of length; None for all.
        seed: seed of the draw and of the order.
        shortest: least number of tokens.
        longest: greatest number of tokens.
    """

    per: int | None
    seed: int
    shortest: int
    longest: int

    def sentences(self, lines: Sequence[ConcordanceLine], name: str) -> PlainText:
        """The different sentences around keywords that are neither too short nor too long."""
        return concordance_sentences(
            lines, name=name, seed=self.seed, shortest=self.shortest, longest=self.longest
        )

    def items(
        self, marked: Mapping[str, list[MultiwordItem]], kinds: Mapping[str, str] | None
    ) -> list[MultiwordItem]:
        """Items of sentences by expression, numbered, with the expression's kind."""
        items = []
        for name, group in marked.items():
            kind = _kind_of(name, kinds)
            lengths = [len(list(tokens(item.text))) for item in group]
            drawn = balanced(group, lengths, n=self.per, seed=self.seed)
            for number, item in enumerate(drawn, start=1):
                columns = {**kind, **item.columns}
                items.append(MultiwordItem(f"{name}/{number}", name, item.text, columns))
        return items


def items_of_concordances(
    paths: Sequence[Path],
    *,
    language: str,
    named_by: NamedBy,
    drawing: Drawing,
    kinds: Mapping[str, str] | None = None,
) -> tuple[list[MultiwordItem], Counter[str]]:
    """Items of the sentences around the keywords, and the number of lines left out by reason.

    Args:
        paths: concordances, as for ``cimento corpus concordance``.
        language: ISO 639-1 code; function words (*al* in *testa al toro*) are not hidden.
        named_by: whether an expression is called like its keyword, or like its file.
        drawing: which sentences are taken.
        kinds: expression to its kind (idiom, term), a column of its items; None for no column.

    Raises:
        InputError: a file cannot be read, or an expression has no kind.
    """
    counts = Counter[str]()
    marked: dict[str, list[MultiwordItem]] = {}
    for path in paths:
        extracted = drawing.sentences(read_concordance(path), path.stem)
        counts.update(extracted.counts)
        for sentence in extracted.sentences:
            name = path.stem.replace("_", " ") if named_by == "file" else sentence.comments["node"]
            item, reason = _marked(sentence, name, language, fewest=FEWEST_WORDS)
            if item is None:
                counts[reason] += 1
            else:
                marked.setdefault(name, []).append(item)
    return drawing.items(marked, kinds), counts


def items_of_terms(
    paths: Sequence[Path], terms: Sequence[Term], *, language: str, drawing: Drawing
) -> tuple[list[MultiwordItem], Counter[str]]:
    """Items of the sentences with a term, and the number of those left out by reason.

    Where a term is a part of another one (*rete* of *rete neurale*), the longer one counts.

    Args:
        paths: texts, or treebanks.
        terms: what is looked for.
        language: ISO 639-1 code; function words are not hidden.
        drawing: which sentences are taken.

    Raises:
        InputError: a file cannot be read.
    """
    found: dict[str, list[ConcordanceLine]] = {term.name: [] for term in terms}
    for path in paths:
        for name, line in _lines_with(path, terms):
            found[name].append(line)
    counts = Counter[str]()
    marked: dict[str, list[MultiwordItem]] = {}
    for term in terms:
        extracted = drawing.sentences(found[term.name], term.name)
        counts.update(extracted.counts)
        if not extracted.sentences:
            counts[f"no sentence is left of those with {term.name!r}"] = len(found[term.name])
        for sentence in extracted.sentences:
            fewest = FEWEST_WORDS if " " in term.name else 1
            item, reason = _marked(sentence, term.name, language, fewest=fewest)
            if item is None:
                counts[reason] += 1
            else:
                marked.setdefault(term.name, []).append(item)
    return drawing.items(marked, {term.name: term.kind for term in terms}), counts


def _lines_with(path: Path, terms: Sequence[Term]) -> Iterator[tuple[str, ConcordanceLine]]:
    """Every place of a term in a text or a treebank, with the name of the term."""
    names = {_plain(form): term.name for term in terms for form in term.forms}
    longest_first = sorted(names, key=len, reverse=True)
    either = "|".join(re.escape(form).replace(r"\ ", r"\s+") for form in longest_first)
    pattern = re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)
    # Sentences of a treebank are whole. A line of a text may have several; one begins with it.
    start, end = ("<s>", "</s>") if path.name.endswith(SUFFIXES) else (". ", "")
    for number, text in enumerate(text_lines(path), start=1):
        for match in pattern.finditer(text):
            left, right = f"{start}{text[: match.start()]}", f"{text[match.end() :]}{end}"
            name = names[_plain(match.group())]
            yield name, ConcordanceLine(f"{path.name}:{number}", left, match.group(), right)


def _plain(form: str) -> str:
    return normalize_plain(form).lower()


def read_terms(path: Path) -> list[Term]:
    """Terms in a list with one a line, or in a table.

    A table has the columns ``term``, and if there are any, ``forms`` (others than the term, with
    bars between them) and ``kind``.

    Raises:
        InputError: it cannot be read, holds no term, or one twice.
    """
    table, _ = read_suite_table(read_bytes(path), path)
    if table is not None and len(table.columns) > 1 and TERM not in table.columns:
        table.need(TERM, todo=did_you_mean(TERM, table.columns))
    if table is None or TERM not in table.columns:
        terms = [Term(line, (line,)) for line in map(normalize_plain, text_lines(path)) if line]
    else:
        rows = [{name: read_cell(cell) for name, cell in row.cells.items()} for row in table.rows]
        terms = [
            Term(row["term"], (row["term"], *_forms(row.get("forms", ""))), row.get("kind") or TERM)
            for row in rows
        ]
    seen: dict[str, str] = {}
    for term in terms:
        for form in map(_plain, term.forms):
            if seen.setdefault(form, term.name) != term.name or not form:
                both = f"{form!r} is a form of {seen[form]!r} and of {term.name!r}"
                raise InputError(where=str(path), seen=both, todo="Leave one of them out.")
    if not terms:
        raise InputError(where=str(path), seen="there is no term", todo="Write one a line.")
    return terms


def _forms(cell: str) -> Iterator[str]:
    return filter(None, map(str.strip, cell.split("|")))


def read_kinds(path: Path) -> dict[str, str]:
    """The kind of each expression in a table with the columns ``expression`` and ``kind``.

    Raises:
        InputError: it cannot be read, a column is missing, or an expression has two kinds.
    """
    table = table_with(path, "expression", "kind")
    kinds: dict[str, str] = {}
    for row in table.rows:
        name, kind = (read_cell(row.cells[column]) for column in ("expression", "kind"))
        if kinds.setdefault(name, kind) != kind:
            raise InputError(
                where=table.where(row),
                seen=f"{name!r} is {kind!r} here and {kinds[name]!r} above",
                todo="Give each expression one kind.",
            )
    return kinds


def _kind_of(name: str, kinds: Mapping[str, str] | None) -> dict[str, str]:
    """The column of an expression's kind; none where kinds are not told apart."""
    if kinds is None:
        return {}
    if not kinds.get(name):
        raise InputError(
            where=f"expression {name!r}", seen="it has no kind", todo=did_you_mean(name, kinds)
        )
    return {"kind": kinds[name]}


def _marked(
    sentence: PlainSentence, name: str, language: str, *, fewest: int
) -> tuple[MultiwordItem | None, str]:
    """The item of a sentence with the words of its keyword in braces, or why there is none."""

    def is_content(word: str) -> bool:
        return closed_class(word, language, initial=False) in {OTHER, None}

    parts = sentence.comments["node"].split()
    pattern = r"\s*".join(map(re.escape, parts))
    matches = list(re.finditer(rf"(?<!\w){pattern}(?!\w)", sentence.text, re.IGNORECASE))
    if len(matches) != 1 or not {"{", "}"}.isdisjoint(sentence.text):
        return None, "keyword not there once, left out"
    start, end = matches[0].span()
    words = _WORD.sub(
        lambda word: f"{{{word[0]}}}" if is_content(word[0].lower()) else word[0],
        sentence.text[start:end],
    )
    if words.count("{") < fewest:
        return None, "keyword with one word to hide, left out"
    columns = {"source": sentence.id, "reference": sentence.comments["reference"]}
    text = sentence.text[:start] + words + sentence.text[end:]
    return MultiwordItem("", name, text, columns), ""
