"""Changes to a sentence, each named by the words of a pattern, and the sentence with them made.

The notation follows the commands of Grew's rules: ``V.Number=Plur``, ``V.lemma=andare``,
``V.form=se``, ``del_node N``; ``swap A B`` and ``add_before N "che"`` are spelled otherwise there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from cimento.corpus import TreebankSentence, Word, token_spans
from cimento.corpus.forms import NO_OTHER, SEVERAL, Contexts, agreeing_words, other_forms
from cimento.corpus.morphology import Morphology
from cimento.errors import UsageError, did_you_mean

OPPOSITE: Mapping[str, Mapping[str, str]] = {
    "Number": {"Sing": "Plur", "Plur": "Sing"},
    "Gender": {"Masc": "Fem", "Fem": "Masc"},
}
"""The features whose other value need not be named, with that value for each."""

ChangeKind: TypeAlias = Literal["features", "lemma", "form", "delete", "swap", "add"]
Dependents: TypeAlias = Literal["keep", "break"]

_NOTATION = (
    "Write V.Number, V.Mood=Ind, V.lemma=andare, V.form=se, del_node N, swap A B,"
    ' or add_before N "che".'
)
_ASSIGNED = re.compile(r"(?P<node>\w+)\.(?P<feature>\w+(?:\[\w+\])?)\s*(?:=\s*(?P<value>.+))?")
_COMMAND = re.compile(
    r'(?P<verb>del_node|swap|add_before)\s+(?P<node>\w+)(?:\s+(?:"(?P<text>[^"]+)"|(?P<other>\w+)))?'
)
_APOSTROPHES = ("'", "’")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change to one word of a match.

    Attributes:
        text: as it was written.
        kind: what is done.
        node: the word of the pattern that is changed.
        features: the new value of each feature; empty for the opposite one.
        other: the other word of a swap; the new lemma or form, or the word that is added.
    """

    text: str
    kind: ChangeKind
    node: str
    features: Mapping[str, str] = field(default_factory=dict)
    other: str = ""

    @property
    def keeps_words(self) -> bool:
        """Whether the sentence has the same number of words after it."""
        return self.kind not in ("delete", "add")

    def new_values(self, word: Word) -> dict[str, str] | str:
        """The new value of each feature, or why there is none."""
        values = {}
        for name, value in self.features.items():
            old = word.feature(name)
            if not old:
                return f"the word has no {name}"
            if not value and old not in OPPOSITE[name]:
                return f"{name}={old} has no opposite"
            values[name] = value or OPPOSITE[name][old]
            if values[name] == old:
                return f"the word has {name}={old} already"
        return values


def parse_change(text: str, nodes: Collection[str]) -> Change:
    """The record of a change.

    Args:
        text: as written.
        nodes: the names of the pattern.

    Raises:
        UsageError: it is no change, or names a word that the pattern does not have.
    """
    change = _assignment(text) or _command(text)
    if change is None:
        raise UsageError(where="--change", seen=f"got {text!r}", todo=_NOTATION)
    names = (change.node, change.other) if change.kind == "swap" else (change.node,)
    for name in names:
        if name not in nodes:
            seen = f"{text!r} names {name!r}, which the pattern does not have"
            raise UsageError(where="--change", seen=seen, todo=did_you_mean(name, nodes))
    return change


def _assignment(text: str) -> Change | None:
    features: dict[str, str] = {}
    node = ""
    for number, part in enumerate(text.split(",")):
        named = part.strip() if not number or "." in part else f"{node}.{part.strip()}"
        match = _ASSIGNED.fullmatch(named)
        if match is None or (node and match["node"] != node):
            return None
        node, name, value = (
            match["node"],
            match["feature"],
            (match["value"] or "").strip().strip('"'),
        )
        if name in ("lemma", "form"):
            kind: ChangeKind = "lemma" if name == "lemma" else "form"
            whole = value and "," not in text
            return Change(text=text, kind=kind, node=node, other=value) if whole else None
        if not value and name not in OPPOSITE:
            raise UsageError(
                where="--change",
                seen=f"{part.strip()!r} does not say the new value",
                todo=f"Write {node}.{name}=VALUE; only {' and '.join(OPPOSITE)} have an opposite.",
            )
        features[name] = value
    return Change(text=text, kind="features", node=node, features=features)


def _command(text: str) -> Change | None:
    match = _COMMAND.fullmatch(text.strip())
    if match is None:
        return None
    verb, node, added, other = match["verb"], match["node"], match["text"], match["other"]
    if verb == "del_node" and not (added or other):
        return Change(text=text, kind="delete", node=node)
    if verb == "swap" and other and other != node:
        return Change(text=text, kind="swap", node=node, other=other)
    if verb == "add_before" and added:
        return Change(text=text, kind="add", node=node, other=added)
    return None


# --- Sentences in pieces


@dataclass(frozen=True, slots=True)
class TokenPiece:
    """A token of a sentence with what follows it.

    Attributes:
        text: the token as written; empty if it was deleted.
        gap: blanks up to the next token.
        first: ID of its first word.
        last: ID of its last word.
    """

    text: str
    gap: str
    first: int
    last: int


Pieces: TypeAlias = tuple[TokenPiece, ...]


def pieces_of(sentence: TreebankSentence) -> Pieces | str:
    """The tokens of a sentence as it is written, or why they cannot be told."""
    spans = token_spans(sentence)
    if spans is None:
        return "the text is not that of the tokens"
    ends = [start for start, _ in spans[1:]] + [len(sentence.text)]
    return tuple(
        TokenPiece(token.form, sentence.text[end:following], token.first, token.last)
        for token, (_, end), following in zip(sentence.tokens(), spans, ends, strict=True)
    )


def joined_pieces(pieces: Sequence[TokenPiece]) -> str:
    """The text of pieces."""
    return "".join(piece.text + piece.gap for piece in pieces)


class Editor:
    """What changes sentences: dictionaries, and where the treebanks have which form.

    Args:
        sources: dictionaries, the first one first.
        contexts: of the treebanks.
    """

    def __init__(self, sources: Sequence[Morphology], contexts: Contexts) -> None:
        self._sources = sources
        self._contexts = contexts

    def changed(
        self,
        sentence: TreebankSentence,
        pieces: Pieces,
        change: Change,
        words: Mapping[str, Word],
        *,
        dependents: Dependents,
        controller: Word | None = None,
    ) -> Pieces | str:
        """The pieces of the changed sentence, one for each given one, or why there are none.

        Args:
            sentence: the sentence.
            pieces: its tokens.
            change: the change.
            words: the word of each name of the pattern.
            dependents: whether words that agree with the changed one change with it.
            controller: the word that it agrees with, if any.
        """
        word = words[change.node]
        if change.kind == "swap":
            return _swapped(pieces, word, words[change.other])
        if change.kind in ("delete", "add"):
            return _with_or_without(pieces, word, change.other)
        if change.kind == "form":
            return self.replaced(sentence, pieces, {word.id: {change.other}})
        if change.kind == "lemma":
            forms = other_forms(word, {}, self._sources, lemma=change.other)
            return forms if isinstance(forms, str) else self.replaced(sentence, pieces, {word.id: forms})  # fmt: skip  # noqa: E501
        values = change.new_values(word)
        if isinstance(values, str):
            return values
        return self.inflected(
            sentence, pieces, word, values, dependents=dependents, controller=controller
        )

    def inflected(
        self,
        sentence: TreebankSentence,
        pieces: Pieces,
        word: Word,
        values: Mapping[str, str],
        *,
        dependents: Dependents,
        controller: Word | None = None,
    ) -> Pieces | str:
        """The pieces with a word that has other features, and with those that agree with it."""
        old = {name: word.feature(name) for name in values}
        others = agreeing_words(sentence, word, old) if dependents == "keep" else ()
        replaced: dict[int, set[str]] = {}
        for member in (word, *others):
            near = controller if member is word else word
            beside = {n: v for n in ("Gender", "Animacy") if near and (v := near.feature(n))}
            forms = other_forms(member, values, self._sources, beside=beside)
            if isinstance(forms, str):
                return forms if member is word else f"of a word that agrees, {forms}"
            replaced[member.id] = forms
        return self.replaced(sentence, pieces, replaced)

    def replaced(
        self, sentence: TreebankSentence, pieces: Pieces, forms: Mapping[int, set[str]]
    ) -> Pieces | str:
        """The pieces with other forms of some words; if there are several, the one that fits its place."""
        settled: dict[int, str] = {}
        for number in sorted(forms, reverse=True):
            following = sentence.words[number].form if number < len(sentence.words) else ""
            following = settled.get(number + 1, following)
            upos = sentence.words[number - 1].upos
            form = self._one_of(forms[number], following, upos)
            if not form:
                return SEVERAL
            settled[number] = form
        edited = list(pieces)
        for place, piece in enumerate(pieces):
            ids = range(piece.first, piece.last + 1)
            if not settled.keys() & set(ids):
                continue
            parts = [settled.get(number, sentence.words[number - 1].form) for number in ids]
            form = parts[0] if len(parts) == 1 else self._contexts.contracted(parts)
            if not form:
                return "it is a part of a token whose new form the treebanks do not have"
            edited[place] = _written(piece, form)
        return NO_OTHER if tuple(edited) == pieces else tuple(edited)

    def _one_of(self, forms: set[str], following: str, upos: str) -> str:
        if len(forms) == 1:
            return next(iter(forms))
        return self._contexts.fitting(forms, following, upos=upos)


def like(form: str, other: str) -> str:
    """A form with the capitals of another: of *Canta*, *cantano* is *Cantano*."""
    if len(form) > 1 and form.isupper():
        return other.upper()
    return other[:1].upper() + other[1:] if form[:1].isupper() else other


def _written(piece: TokenPiece, form: str) -> TokenPiece:
    """A piece with another form, and a blank after it unless it is elided."""
    gap = piece.gap
    if form.endswith(_APOSTROPHES):
        gap = ""
    elif piece.text.endswith(_APOSTROPHES) and not gap:
        gap = " "
    return TokenPiece(like(piece.text, form), gap, piece.first, piece.last)


def _place(pieces: Pieces, word: Word) -> int | str:
    """The place of a word that is a token by itself, or why there is none."""
    for place, piece in enumerate(pieces):
        if piece.first <= word.id <= piece.last:
            return place if piece.first == piece.last else "it is a part of a token"
    return "it is in no token"


def _swapped(pieces: Pieces, one: Word, other: Word) -> Pieces | str:
    first, second = sorted((one.id, other.id))
    places = [_place(pieces, word) for word in (one, other)]
    for place in places:
        if isinstance(place, str):
            return place
    low, high = sorted(place for place in places if isinstance(place, int))
    left, right = pieces[low], pieces[high]
    if left.text.endswith(_APOSTROPHES) or right.text.endswith(_APOSTROPHES):
        return "it is elided before the next word"
    edited = list(pieces)
    start, end = right.text, left.text
    if low == 0 or not pieces[low - 1].text[-1:].isalnum():
        word = one if one.id == first else other
        end = end if word.upos == "PROPN" or end.isupper() else end[:1].lower() + end[1:]
        start = like(left.text, start)
    edited[low] = TokenPiece(start, left.gap, first, first)
    edited[high] = TokenPiece(end, right.gap, second, second)
    return tuple(edited)


def _with_or_without(pieces: Pieces, word: Word, added: str) -> Pieces | str:
    """The pieces without a word, or with another one put before it."""
    place = _place(pieces, word)
    if isinstance(place, str):
        return place
    piece = pieces[place]
    edited = list(pieces)
    if added and place:
        # The word before carries the new one, so that the region after begins with the same word.
        before = pieces[place - 1]
        text = f"{before.text}{before.gap or ' '}{added}"
        edited[place - 1] = TokenPiece(text, " ", before.first, before.last)
        return tuple(edited)
    if added:
        shown = piece.text if word.upos == "PROPN" else piece.text[:1].lower() + piece.text[1:]
        text = f"{like(piece.text, added)} {shown}"
        edited[place] = TokenPiece(text, piece.gap, piece.first, piece.last)
        return tuple(edited)
    edited[place] = TokenPiece("", "", piece.first, piece.last)
    if not piece.gap and place and pieces[place + 1 :]:
        before = pieces[place - 1]
        edited[place - 1] = TokenPiece(before.text, "", before.first, before.last)
    if place == 0 and pieces[1:]:
        after = pieces[1]
        edited[1] = TokenPiece(like(piece.text, after.text), after.gap, after.first, after.last)
    return tuple(edited)
