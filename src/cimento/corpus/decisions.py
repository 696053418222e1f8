"""The table in which a person decides on each drawn sentence: writing, reading and checking.

The table has one row for each sentence, with its source filled in. A person adds the replacement
(for a cloze item, the alternatives), whether the result is grammatical, and why an item is dropped.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.corpus import TreebankSentence
from cimento.corpus.connectives import DecisionKind
from cimento.corpus.connectives.extraction import CandidateSentence
from cimento.corpus.connectives.inventories import (
    JOINED_BY,
    Connective,
    Inventory,
    Passage,
    passage_of,
    ranked_candidates,
    regions_of,
    replaced,
    spelled,
)
from cimento.corpus.treebanks import TreebankFile
from cimento.errors import InputError, counted
from cimento.intake.table import Row, Table
from cimento.intake.tables import open_table, unquoted
from cimento.io.parsing import whole_number
from cimento.suites import Condition, Item, JsonValue, Meta, Prediction, Suite

IMPLAUSIBLE = 3
"""Number of implausible alternatives of a cloze item."""

_SOURCE = ("corpus", "license", "file", "sha256", "sent_id", "token_id", "joined")
_ID = re.compile(r"(?P<connective>.+) (?P<number>[1-9]\d{0,8})(?P<kind>cl|)")
_YES = ("yes", "x", "1", "true", "sì", "si")
_NO = ("", "no", "0", "false")
_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class PairDecision:
    """A decision: a row of the table, checked against its treebank.

    Attributes:
        id: ``<connective> <n>``, with ``cl`` for a cloze item.
        section: the kind of item that it becomes.
        connective: the original connective.
        source: corpus, license, file, sha256, sent_id, token_id and joined, from the row.
        passage: the text, read again from the treebank.
        replacement: the connective in place of the original; empty for cloze items.
        grammatical: whether the result is grammatical; None for cloze items.
        plausible: the plausible alternative of a cloze item.
        implausible: its implausible alternatives.
        dropped: the reason why the item is dropped; empty if it is not.
    """

    id: str
    section: DecisionKind
    connective: str
    source: Mapping[str, str]
    passage: Passage
    replacement: str = ""
    grammatical: bool | None = None
    plausible: str = ""
    implausible: tuple[str, ...] = ()
    dropped: str = ""

    @property
    def sentence(self) -> str:
        """The file and the id of its sentence."""
        return f"{self.source['file']}#{self.source['sent_id']}"

    @property
    def row(self) -> dict[str, str]:
        """The decision as a row of a table without texts."""
        row = {"id": self.id, **self.source, "edit": self.passage.edit}
        if self.dropped:
            return {**row, "drop": "yes", "reason": self.dropped}
        if self.section is DecisionKind.BLANKS:
            implausible = " | ".join(self.implausible)
            return {**row, "plausible": self.plausible, "implausible": implausible}
        grammatical = "yes" if self.grammatical else "no"
        return {**row, "replacement": self.replacement, "grammaticality": grammatical}


def columns_of(section: DecisionKind, *, with_text: bool) -> tuple[str, ...]:
    """The columns of the table of a section."""
    text = ("text",) if with_text else ()
    return ("id", *_SOURCE, "edit", *text, "candidates", *section.to_fill, "drop", "reason")


def decision_rows(
    drawn: Mapping[str, Sequence[CandidateSentence]],
    inventory: Inventory,
    *,
    section: DecisionKind,
    per: int,
    with_text: bool,
    propose: int | None = None,
) -> list[dict[str, str]]:
    """The rows to decide on, in the order of the inventory.

    Items are numbered over the whole section. The numbers of the k-th connective begin with ``per *
    (k - 1) + 1``, so that they do not change if a connective has fewer items.

    Args:
        drawn: candidates of each connective.
        inventory: the inventory of replacements.
        section: the kind of items.
        per: number of ids reserved for each connective.
        with_text: whether the table has a column of texts.
        propose: seed of proposals to start from; None leaves the columns empty.
    """
    rows = []
    for rank, (name, candidates) in enumerate(drawn.items()):
        connective = inventory[name]
        replacements = " | ".join(map(str, ranked_candidates(section, connective, inventory)))
        for number, candidate in enumerate(candidates, start=per * rank + 1):
            identity = f"{name} {number}{section.ending}"
            row = {"id": identity, **_source(candidate), "candidates": replacements}
            if with_text:
                row["text"] = " ".join(candidate.passage.marked.split())
            if propose is not None:
                row |= _proposal(identity, connective, inventory, section, propose)
            rows.append(row)
    return rows


def as_table(rows: Sequence[Mapping[str, str]], columns: Sequence[str]) -> str:
    """Rows as TSV without quoting."""
    lines = [list(columns), *([" ".join(row.get(c, "").split()) for c in columns] for row in rows)]
    return "".join("\t".join(line) + "\n" for line in lines)


def _source(candidate: CandidateSentence) -> dict[str, str]:
    hit, passage = candidate.hit, candidate.passage
    return {
        "corpus": hit.corpus, "license": candidate.license, "file": hit.file, "sha256": hit.sha256,
        "sent_id": hit.sentence_id, "token_id": ",".join(map(str, hit.token_ids)),
        "joined": passage.joined, "edit": passage.edit,
    }  # fmt: skip


def _proposal(
    identity: str, connective: Connective, inventory: Inventory, section: DecisionKind, seed: int
) -> dict[str, str]:
    """A proposal drawn from the likeliest candidates, so that items get different ones."""
    generator = random.Random(f"{seed}/{identity}")  # noqa: S311  # a draw, not a secret
    ranked = ranked_candidates(DecisionKind.SENTENCES, connective, inventory)
    unlike = [other for other in ranked if not other.shared]
    names = [other.name for other in unlike]
    best = [other.name for other in unlike if other.same_class] or names
    if section is DecisionKind.SENTENCES:
        return {"replacement": generator.choice(best)} if best else {}
    plausible = ranked_candidates(DecisionKind.BLANKS, connective, inventory)[:1]
    taken = [other.name for other in plausible]
    others = [name for name in names if name not in taken]
    first = [name for name in best if name in others][: IMPLAUSIBLE * 2]
    pool = first if len(first) >= IMPLAUSIBLE else others
    chosen = generator.sample(pool, IMPLAUSIBLE) if len(pool) >= IMPLAUSIBLE else pool
    return {"plausible": " ".join(taken), "implausible": " | ".join(chosen)}


# --- Read back


@dataclass(frozen=True, slots=True)
class OpenTable:
    """A table whose sentences agree with their treebanks, however many decisions it has so far.

    Attributes:
        section: the kind of its items.
        columns: names of its columns.
        rows: its rows of cells.
        passages: the passage of each row.
    """

    section: DecisionKind
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    passages: tuple[Passage, ...]


def open_decisions(path: Path, files: Sequence[TreebankFile], inventory: Inventory) -> OpenTable:
    """Open a table of decisions to continue it.

    Args:
        path: the table: TSV, CSV or xlsx.
        files: the treebanks, identified by their sha256.
        inventory: the inventory of the connectives.

    Raises:
        InputError: a row lacks its sentence or has a malformed id; the message names all such rows.
    """
    table = open_table(path)
    reader = _Rows(table, _section(table), inventory)
    passages = reader.passages(files)
    reader.check_names()
    reader.raise_faults(path)
    rows = tuple({name: cell.strip() for name, cell in row.cells.items()} for row in table.rows)
    texts = tuple(passages[row.number] for row in table.rows)
    return OpenTable(_section(table), table.columns, rows, texts)


def read_decisions(
    path: Path, files: Sequence[TreebankFile], inventory: Inventory
) -> list[PairDecision]:
    """The decisions of a table, each checked against its treebank.

    Args:
        path: the table: TSV, CSV or xlsx.
        files: the treebanks, identified by their sha256.
        inventory: the inventory of the connectives.

    Raises:
        InputError: something is missing or wrong; the message names all faults.
    """
    table = open_table(path)
    reader = _Rows(table, _section(table), inventory)
    passages = reader.passages(files)
    decisions = [reader.decision(row, passages.get(row.number)) for row in table.rows]
    reader.check_ids()
    reader.raise_faults(path)
    return [decision for decision in decisions if decision is not None]


def _section(table: Table) -> DecisionKind:
    for section in DecisionKind:
        needed = ("id", *_SOURCE, *section.to_fill, "drop", "reason")
        if set(needed) <= set(table.columns):
            return section
    raise InputError(
        where=table.name,
        seen=f"there are the columns {', '.join(table.columns)}",
        todo="Start from a table that cimento corpus pairs wrote.",
    )


class _Rows:
    """The rows of a table while they are checked."""

    def __init__(self, table: Table, section: DecisionKind, inventory: Inventory) -> None:
        self.faults: list[str] = []
        self._table = table
        self._section = section
        self._inventory = inventory
        self._ids: dict[str, int] = {}

    def _fault(self, row: Row, seen: str) -> None:
        name = row.cells["id"].strip() or "no id"
        self.faults.append(f"{self._table.where(row)} ({name}): {seen}")

    def raise_faults(self, path: Path) -> None:
        """Raise an InputError with all faults found, if there are any."""
        if self.faults:
            shown = "".join(f"\n  {fault}" for fault in self.faults[:_SHOWN])
            more = len(self.faults) - _SHOWN
            raise InputError(
                where=str(path),
                seen=f"{counted(len(self.faults), 'problem')}:{shown}"
                + (f"\n  ... {more} more" * (more > 0)),
            )

    def check_names(self) -> None:
        """Add faults for malformed ids and for connectives that are not in the inventory."""
        for row in self._table.rows:
            self._identity(row, row.cells["id"].strip())
        self.check_ids()

    # The treebank's side

    def passages(self, files: Sequence[TreebankFile]) -> dict[int, Passage]:
        """The passage of each row by its number; rows without a passage get a fault."""
        by_hash = {file.sha256: file for file in files}
        wanted: dict[str, dict[str, list[Row]]] = {}
        for row in self._table.rows:
            sha256 = row.cells["sha256"].strip()
            if sha256 not in by_hash:
                seen = f"no treebank has the sha256 of {row.cells['file']}: give that very file"
                self._fault(row, seen)
                continue
            wanted.setdefault(sha256, {}).setdefault(row.cells["sent_id"].strip(), []).append(row)
        passages: dict[int, Passage] = {}
        for sha256, rows in wanted.items():
            previous: TreebankSentence | None = None
            # Malformed sentences were skipped when sentences were drawn, so no row can be of one.
            for sentence in by_hash[sha256].sentences(skipped=[]):
                for row in rows.pop(sentence.id, ()):
                    passage = self._passage(row, sentence, previous)
                    if passage is not None:
                        passages[row.number] = passage
                previous = sentence
            for row in (row for left in rows.values() for row in left):
                self._fault(row, f"the file has no sentence {row.cells['sent_id']!r}")
        return passages

    def _passage(
        self, row: Row, sentence: TreebankSentence, previous: TreebankSentence | None
    ) -> Passage | None:
        joined = row.cells["joined"].strip()
        if joined and (previous is None or previous.id != joined):
            self._fault(row, f"the sentence {joined!r} does not come before {sentence.id!r}")
            return None
        numbers = row.cells["token_id"].strip().split(",")
        if not all(1 <= (whole_number(n) or 0) <= len(sentence.words) for n in numbers):
            self._fault(row, f"the sentence has no token {row.cells['token_id']!r}")
            return None
        match = _ID.fullmatch(row.cells["id"].strip())
        name = match["connective"] if match else ""
        category = self._inventory[name].category if name in self._inventory.names else ""
        mark = JOINED_BY.get(category, ",") if joined else ""
        ids = tuple(map(int, numbers))
        passage = passage_of(sentence, ids, needs_before=mark, previous=previous)
        if isinstance(passage, str):
            self._fault(row, passage)
            return None
        text = unquoted(row.cells.get("text", ""))
        if text and text != unquoted(passage.marked):
            self._fault(row, "the text is not that of the treebank; leave it as it is, or empty")
            return None
        return passage

    # The person's side

    def decision(self, row: Row, passage: Passage | None) -> PairDecision | None:
        """The decision of a row; None if it cannot be used."""
        before = len(self.faults)
        cells = {name: cell.strip() for name, cell in row.cells.items()}
        connective = self._identity(row, cells["id"])
        drop, reason = cells["drop"].lower(), cells["reason"]
        if drop not in _YES + _NO:
            self._fault(row, f"drop is {cells['drop']!r}; write yes, or leave it empty")
        dropped = reason if drop in _YES else ""
        if drop in _YES and not reason:
            self._fault(row, "it is dropped without a reason")
        values: dict[str, str] = {}
        flag: bool | None = None
        options: tuple[str, ...] = ()
        if not dropped and self._section is DecisionKind.SENTENCES:
            values["replacement"] = self._other(row, cells["replacement"], connective)
            text = cells["grammaticality"].lower()
            flag = text in _YES
            if text not in (*_YES, *_NO[1:]):
                self._fault(row, f"grammaticality is {cells['grammaticality']!r}; write yes or no")
        elif not dropped:
            values["plausible"] = self._other(row, cells["plausible"], connective)
            options = self._implausible(row, cells["implausible"], connective, values["plausible"])
        if passage is None or len(self.faults) > before:
            return None
        return PairDecision(
            id=cells["id"],
            section=self._section,
            connective=connective,
            source={name: cells[name] for name in _SOURCE},
            passage=passage,
            grammatical=flag,
            implausible=options,
            dropped=dropped,
            **values,
        )

    def _identity(self, row: Row, text: str) -> str:
        match = _ID.fullmatch(text)
        if match is None or match["kind"] != self._section.ending:
            self._fault(row, f"the id is {text!r}; it is like 'e 11{self._section.ending}'")
            return ""
        if match["connective"] not in self._inventory.names:
            self._fault(row, f"there is no connective {match['connective']!r} in the inventory")
        if text in self._ids:
            self._fault(row, f"the id is also that of row {self._ids[text]}")
        self._ids[text] = row.number
        return match["connective"]

    def _other(self, row: Row, name: str, connective: str) -> str:
        if not name:
            self._fault(row, "no other connective is chosen; choose one, or drop the item")
        elif name not in self._inventory.names:
            self._fault(row, f"there is no connective {name!r} in the inventory")
        elif name == connective:
            self._fault(row, f"{name!r} is the connective itself")
        return name

    def _implausible(self, row: Row, text: str, connective: str, plausible: str) -> tuple[str, ...]:
        names = tuple(part.strip() for part in text.split("|") if part.strip())
        for name in names:
            self._other(row, name, connective)
        if len({*names, plausible}) != IMPLAUSIBLE + 1:
            wanted = f"write {IMPLAUSIBLE} different ones with | between them"
            self._fault(row, f"implausible is {text!r}; {wanted}")
        return names

    def check_ids(self) -> None:
        """Add faults for ids out of order and for repeated ids."""
        numbers = [int(match["number"]) for text in self._ids if (match := _ID.fullmatch(text))]
        twice = next((number for number, times in Counter(numbers).items() if times > 1), None)
        if twice is not None:
            self.faults.append(f"{self._table.name}: the number {twice} is there twice")


KIND = "acceptability"
ACCEPTABLE, UNACCEPTABLE = "acceptable", "unacceptable"
REGIONS = ("before", "connective", "after")


def decision_suite(decisions: Sequence[PairDecision], inventory: Inventory, *, meta: Meta) -> Suite:
    """The suite of the acceptability section: each sentence, and the same with another connective.

    Args:
        decisions: decisions of the section; dropped ones do not become items.
        inventory: the inventory of the connectives.
        meta: metadata of the suite.

    Raises:
        InputError: all decisions are dropped.
    """
    items = tuple(_pair(decision, inventory) for decision in decisions if not decision.dropped)
    if not items:
        raise InputError(where=meta.name, seen="every item is dropped", todo="Keep some.")
    extra: dict[str, JsonValue] = {"kind": KIND, "ratings": {}, "sources": sources(decisions)}
    prediction = Prediction(
        f"(*;%{ACCEPTABLE}%) < (*;%{UNACCEPTABLE}%)",
        comment="The sentence with its own connective is less surprising.",
        name=ACCEPTABLE,
    )
    return Suite(meta, REGIONS, (prediction,), items, extra=extra)


def decision_options(
    decision: PairDecision, inventory: Inventory, *, seed: int
) -> tuple[list[tuple[str, str]], list[str]]:
    """The options of a text with a blank: the target, the plausible one, the implausible ones.

    Args:
        decision: a decision of the section with blanks.
        inventory: the inventory of the connectives.
        seed: seed of the order in which options are shown.

    Returns:
        Each option with another spelling that counts as equal (``e`` and ``ed``), or "" for none;
        and the options in the order in which they are shown.
    """
    passage = decision.passage
    names = (decision.connective, decision.plausible, *decision.implausible)
    forms = [passage.form, *(spelled(inventory[name], passage, elide=False) for name in names[1:])]
    others = [
        _other_spelling(inventory[name], form) for name, form in zip(names, forms, strict=True)
    ]
    order = [*forms]
    random.Random(f"{seed}/{decision.id}").shuffle(order)  # noqa: S311  # a draw, not a secret
    return list(zip(forms, others, strict=True)), order


def sources(decisions: Sequence[PairDecision]) -> list[JsonValue]:
    """The source files of items, with license and sha256."""
    fields = ("corpus", "file", "license", "sha256")
    by_digest: dict[str, JsonValue] = {
        decision.source["sha256"]: {name: decision.source[name] for name in fields}
        for decision in decisions
        if not decision.dropped
    }
    return list(by_digest.values())


def license_of(decisions: Sequence[PairDecision]) -> str:
    """The licenses of all sources, joined by ``AND`` as in SPDX."""
    return " AND ".join(dict.fromkeys(decision.source["license"] for decision in decisions))


def _pair(decision: PairDecision, inventory: Inventory) -> Item:
    cells = {
        "connective": decision.connective,
        "replacement": decision.replacement,
        "grammaticality": "yes" if decision.grammatical else "no",
        "source": decision.sentence,
    }
    other = replaced(decision.passage, inventory[decision.replacement])
    both = ((ACCEPTABLE, decision.passage, "A"), (UNACCEPTABLE, other, "NA"))
    return Item(
        decision.id,
        tuple(
            Condition(name, regions_of(passage), {"sentence_id": f"{decision.id}{label}", **cells})
            for name, passage, label in both
        ),
    )


def _other_spelling(connective: Connective, form: str) -> str:
    """The other form of a connective with a euphonic form, in the same case; "" without one."""
    both = {connective.name, connective.euphonic}
    if not (connective.euphonic and connective.euphonic_before and form.lower() in both):
        return ""
    (other,) = both - {form.lower()}
    return other[:1].upper() + other[1:] if form[:1].isupper() else other
