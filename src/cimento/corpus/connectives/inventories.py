"""Inventories of connectives, and passages in which one connective can take the place of another.

An inventory has spellings, syntactic class and senses; it is read and written as TOML. A passage
that needs the sentence before it is joined to that sentence.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeAlias

from cimento.corpus import TreebankSentence, token_spans
from cimento.corpus.connectives import DecisionKind
from cimento.errors import InputError, need_known
from cimento.io.parsing import read_toml
from cimento.suites import Region
from cimento.suites.letters import one_spelling

Part: TypeAlias = tuple[str, ...]
"""A part of a spelling: adjacent words."""

Spelling: TypeAlias = tuple[Part, ...]
"""A spelling of a connective in parts, between which other words may stand."""

FOLDER = Path(__file__).parents[2] / "data" / "inventories"

_GAP = re.compile(r"…|\[\.\.\.\]|\.\.\.")
_WORD = re.compile(r"[^\s'’]+['’]?|['’]")
JOINED_BY = {"CCONJ": ",", "ADV": ";"}
"""Classes that link to the sentence before, with the mark that replaces its period."""

_ENDS = ("?", "!", "…", "...", "»", '"', "”", ")")


@dataclass(frozen=True, slots=True)
class Connective:
    """An entry of an inventory.

    Attributes:
        name: name, which is also the usual spelling.
        spellings: all spellings, the usual one first.
        category: syntactic class: ``CCONJ``, ``SCONJ``, ``ADV``, or the class in the lexicon.
        senses: senses as named in the lexicon, such as ``Contingency.Cause.Reason``.
        interrogative: whether the same word also asks questions (``quando``).
        elided: its form before some vowels (``dov'``); empty for none.
        elided_before: beginnings of words before which it is elided.
        euphonic: its other form before some vowels (``ed``); empty for none.
        euphonic_before: beginnings of words before which it has that form.
        comment: any other remark.
    """

    name: str
    spellings: tuple[Spelling, ...]
    category: str = ""
    senses: tuple[str, ...] = ()
    interrogative: bool = False
    elided: str = ""
    elided_before: tuple[str, ...] = ()
    euphonic: str = ""
    euphonic_before: tuple[str, ...] = ()
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Inventory:
    """A list of connectives.

    Attributes:
        name: name of the list.
        language: ISO 639-1 code; empty if the file does not state it.
        connectives: the connectives in the order of the list.
        license: license of the list.
        source: origin of the list.
    """

    name: str
    language: str
    connectives: tuple[Connective, ...]
    license: str = ""
    source: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the connectives."""
        return tuple(connective.name for connective in self.connectives)

    def __getitem__(self, name: str) -> Connective:
        """The connective of a name; raises KeyError if there is none."""
        for connective in self.connectives:
            if connective.name == name:
                return connective
        raise KeyError(name)


def normal(text: str) -> str:
    """A text in the form for comparing words: in one spelling and lower case."""
    return one_spelling(text).lower()


def read_spelling(text: str) -> Spelling:
    """The spelling of a text: ``a meno che`` has one part, ``sia ... sia`` has two."""
    parts = (tuple(_WORD.findall(normal(part))) for part in _GAP.split(text.strip()))
    return tuple(part for part in parts if part)


def builtin_inventories() -> list[str]:
    """The names of the built-in inventories."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read_inventory(path: Path) -> Inventory:
    """An inventory in cimento's own format.

    Raises:
        InputError: it cannot be read or used.
    """
    settings = read_toml(path)
    entries = settings.get("connectives")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(
            where=str(path),
            seen="there are no [[connectives]]",
            todo='Write one [[connectives]] with name = "..." for each.',
        )
    return make_inventory(
        [_from_toml(entry, f"{path}, connective {n}") for n, entry in enumerate(entries, start=1)],
        name=str(settings.get("name", path.stem)),
        language=str(settings.get("language", "")),
        terms=str(settings.get("license", "")),
        source=str(settings.get("source", "")),
        where=str(path),
    )


def make_inventory(
    connectives: Sequence[Connective],
    *,
    where: str,
    name: str,
    language: str = "",
    terms: str = "",
    source: str = "",
) -> Inventory:
    """Make an inventory in which every name occurs once.

    Raises:
        InputError: the inventory is empty, or a name occurs twice.
    """
    if not connectives:
        raise InputError(where=where, seen="there is no connective", todo="Add one at least.")
    times = Counter(connective.name for connective in connectives)
    twice = next((name for name, number in times.items() if number > 1), None)
    if twice is not None:
        raise InputError(
            where=where, seen=f"the connective {twice!r} is there twice", todo="Remove one."
        )
    return Inventory(name, language, tuple(connectives), terms, source)


def checked_toml(key: str, value: Any, default: object, *, where: str, example: str) -> Any:  # noqa: ANN401  # a text, a flag, or a tuple of texts
    """The value of a key of TOML, a list of texts as a tuple.

    Args:
        key: the key.
        value: its value in the file.
        default: the value of a key that is left out, which has the right type.
        where: place of the key, for the message.
        example: a list of texts, for the message.

    Raises:
        InputError: the value has another type.
    """
    if isinstance(default, tuple):
        if isinstance(value, list) and all(isinstance(text, str) for text in value):
            return tuple(value)
        wanted = f"a list of texts, such as {example}"
    elif isinstance(value, type(default)):
        return value
    else:
        wanted = "true or false" if isinstance(default, bool) else "a text in quotation marks"
    raise InputError(where=where, seen=f"{key} is {value!r}", todo=f"It is {wanted}.")


def _from_toml(values: Mapping[str, object], where: str) -> Connective:
    empty = asdict(Connective("", ()))
    read: dict[str, Any] = {}
    for key, value in values.items():
        need_known(key, empty, where=where, seen=f"the key {key!r} is unknown", error=InputError)
        known = checked_toml(key, value, empty[key], where=where, example='["a", "b"]')
        read[key] = _composed(known)
    if not read.get("name"):
        raise InputError(where=where, seen="there is no name", todo='Write name = "..."')
    spellings = dict.fromkeys(map(read_spelling, (read["name"], *read.get("spellings", ()))))
    return Connective(**{**read, "spellings": tuple(spellings)})


def _composed(value: object) -> object:
    """A text, or several, in NFC as sentences of treebanks are; anything else as it is."""
    if isinstance(value, tuple):
        return tuple(map(_composed, value))
    return unicodedata.normalize("NFC", value.strip()) if isinstance(value, str) else value


def write_inventory(inventory: Inventory, path: Path) -> Path:
    """Write an inventory in cimento's TOML format.

    Raises:
        StorageError: the file cannot be written.
    """
    import tomli_w

    from cimento.io.files import write_text

    head = {key: getattr(inventory, key) for key in ("name", "language", "license", "source")}
    keys = [field.name for field in fields(Connective)]
    entries = [
        {key: _as_toml(value) for key in keys if (value := getattr(unnamed, key))}
        # The first spelling is the name.
        for unnamed in (
            replace(connective, spellings=connective.spellings[1:])
            for connective in inventory.connectives
        )
    ]
    content = {**{key: value for key, value in head.items() if value}, "connectives": entries}
    return write_text(tomli_w.dumps(content), path)


def write_spelling(spelling: Spelling) -> str:
    """The text of a spelling; the inverse of `read_spelling`."""
    parts = (" ".join(part).replace("' ", "'") for part in spelling)
    return " ... ".join(parts)


def _as_toml(value: object) -> object:
    """A field as a TOML value."""
    if not isinstance(value, tuple):
        return value
    return [part if isinstance(part, str) else write_spelling(part) for part in value]


@dataclass(frozen=True, slots=True)
class Passage:
    """A text with one connective in it.

    Attributes:
        text: the sentence, or two sentences joined.
        start: offset of the connective's first character.
        end: offset one past its last character.
        joined: ID of the sentence that was put before it; empty for none.
        edit: description of the changes for joining; empty for none.
    """

    text: str
    start: int
    end: int
    joined: str = ""
    edit: str = ""

    @property
    def before(self) -> str:
        """The text before the connective."""
        return self.text[: self.start]

    @property
    def form(self) -> str:
        """The connective as written in the text."""
        return self.text[self.start : self.end]

    @property
    def after(self) -> str:
        """The text after the connective."""
        return self.text[self.end :]

    @property
    def glued(self) -> bool:
        """Whether a word follows the connective without a blank, as after ``dov'``."""
        return self.after[:1].isalnum()

    @property
    def marked(self) -> str:
        """The text with the connective in double brackets."""
        return f"{self.before}[[{self.form}]]{self.after}"


def passage_of(
    sentence: TreebankSentence,
    word_ids: tuple[int, ...],
    *,
    needs_before: str = "",
    previous: TreebankSentence | None = None,
) -> Passage | str:
    """The passage of a connective in a sentence, or the reason why there is none.

    Args:
        sentence: the sentence of the connective.
        word_ids: IDs of the connective's words.
        needs_before: mark for joining the sentence before; empty for no joining.
        previous: the sentence before it in the same document; None where there is none.
    """
    spans = token_spans(sentence)
    if spans is None:
        return "the text is not that of the tokens"
    covered = [
        (index, token)
        for index, token in enumerate(sentence.tokens())
        if token.first in word_ids or token.last in word_ids
    ]
    words = tuple(n for _, token in covered for n in range(token.first, token.last + 1))
    if words != word_ids:
        return "it is a part of a token"
    first, last = covered[0][0], covered[-1][0]
    if last - first + 1 != len(covered):
        return "it has parts with other words between them"
    start, end = spans[first][0], spans[last][1]
    passage = Passage(sentence.text, start, end)
    if not needs_before:
        return passage
    if previous is None:
        return "it opens its sentence, and the one before is not there to join it to"
    return _join(passage, previous, needs_before)


def _join(passage: Passage, previous: TreebankSentence, mark: str) -> Passage:
    text = previous.text.rstrip()
    if text.endswith(_ENDS):
        start = f"{text} "
        form, edit = passage.form, f"after {previous.id}"
    else:
        start = f"{text.rstrip('.,;:')}{mark} "
        form, edit = uncapitalized(passage.form), f"after {previous.id}, joined with {mark!r}"
    before = start + passage.before
    return Passage(
        before + form + passage.after, len(before), len(before) + len(form), previous.id, edit
    )


def uncapitalized(form: str) -> str:
    """A form without its initial capital; a form in all capitals is unchanged."""
    if len(form) > 1 and form.isupper():
        return form
    return form[:1].lower() + form[1:]


def regions_of(passage: Passage) -> tuple[Region, ...]:
    """The regions before, connective and after, glued where the text has no blank."""
    parts = (passage.before, passage.form, passage.after)
    regions, ends_open = [], False
    for part in parts:
        regions.append(Region(part.strip(), glued=ends_open and not part.startswith(" ")))
        ends_open = bool(part) and not part.endswith(" ")
    return tuple(regions)


_NEXT_WORD = re.compile(r"\s*(\w+)")


@dataclass(frozen=True, slots=True)
class ConnectiveReplacement:
    """A connective that could replace another.

    Attributes:
        name: the connective.
        same_class: whether it has the same syntactic class, which keeps the sentence grammatical.
        shared: senses that both connectives have; with one, the replacement is plausible.
    """

    name: str
    same_class: bool
    shared: tuple[str, ...]

    def __str__(self) -> str:
        parts = ["same class"] if self.same_class else []
        parts += [re.split(r"[.:]", sense)[-1].strip().lower() for sense in self.shared]
        return f"{self.name} ({', '.join(parts)})" if parts else self.name


def ranked_candidates(
    section: DecisionKind, connective: Connective, inventory: Inventory
) -> list[ConnectiveReplacement]:
    """The other connectives, those that should best replace a connective in a section first.

    Of sentences these are the ones that make grammatical nonsense: of the same class without a
    shared sense, of another class without one, then the rest. Of blanks they are the ones that best
    preserve the meaning. Within each group, the order is that of the inventory.
    """
    candidates = [
        ConnectiveReplacement(
            other.name,
            bool(set(_classes(connective)) & set(_classes(other))),
            tuple(
                shared
                for shared in connective.senses
                if any(_is_same_sense(shared, sense) for sense in other.senses)
            ),
        )
        for other in inventory.connectives
        if other.name != connective.name
    ]
    shares = section is DecisionKind.BLANKS
    return sorted(candidates, key=lambda c: (bool(c.shared) != shares, not c.same_class))


def _classes(connective: Connective) -> list[str]:
    return [part.strip() for part in connective.category.split(";") if part.strip()]


def _is_same_sense(one: str, other: str) -> bool:
    """Whether two senses agree on all levels of the hierarchy that both have.

    Precedence and succession are both asynchronous, but opposites.
    """
    levels = zip(_levels(one), _levels(other), strict=False)
    return all(first == second for first, second in levels)


def _levels(sense: str) -> list[str]:
    """The levels of a sense, with any separator that lexicons use."""
    return [part.strip().lower() for part in re.split(r"[.:]", sense)]


# --- Spelling


def replaced(passage: Passage, connective: Connective) -> Passage:
    """A passage with its connective replaced by another.

    The new connective gets the case, elision and euphonic *d* that the place requires; a blank is
    added or removed if elision requires it. Nothing else changes.
    """
    form = spelled(connective, passage)
    elided = bool(connective.elided) and form.lower() == connective.elided
    after = passage.after.lstrip(" ") if elided else passage.after
    if passage.glued and not elided:
        after = " " + after
    return Passage(
        passage.before + form + after,
        passage.start,
        passage.start + len(form),
        passage.joined,
        passage.edit,
    )


def spelled(connective: Connective, passage: Passage, *, elide: bool = True) -> str:
    """The form of a connective in the place of a passage's connective.

    Args:
        connective: the new connective.
        passage: the passage.
        elide: whether it may be elided, which removes a blank from the text.
    """
    match = _NEXT_WORD.match(passage.after)
    following = match[1].lower() if match else ""
    form = connective.name
    if elide and connective.elided and following in connective.elided_before:
        form = connective.elided
    elif connective.euphonic and _without_accents(following).startswith(
        connective.euphonic_before or ("?",)
    ):
        form = connective.euphonic
    return _in_case_of(passage, form)


def _in_case_of(passage: Passage, form: str) -> str:
    letters = [letter for letter in passage.form if letter.isalpha()]
    if len(letters) > 1 and all(letter.isupper() for letter in letters):
        return form.upper()
    if letters and letters[0].isupper():
        # A single capital letter (E, O) may just open a sentence, so it does not show text in
        # capitals.
        return form[:1].upper() + form[1:]
    return form


def _without_accents(text: str) -> str:
    """A text without accents, because *ed è* has its *d* before an *e*."""
    return "".join(letter for letter in unicodedata.normalize("NFD", text) if letter.isalpha())
