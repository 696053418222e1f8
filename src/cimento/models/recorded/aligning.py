"""The alignment of recorded tokens with regions, from their strings alone.

The rules are those of SyntaxGym's aligner (Gauthier et al. 2020,
doi:10.18653/v1/2020.acl-demos.10), which walks through the text and the tokens side by side:

- a token belongs to the region where the text goes on; it may not reach into the next one;
- tokens that begin a sentence belong to the first region, tokens that end it to the last one,
  even where these regions are empty;
- a token for an unknown word stands for the text up to the next token that can be found again.
  All of it is charged to the region where it begins, so that a region after it may be left
  without tokens; at the end of a sentence that includes the token that ends it.

Where that aligner fails, this one does what a reader would expect; docs/replay.md lists the
differences. A token that does not fit is an error and is never skipped.

A tokenizer may have rewritten the text before cutting it, so its possible forms are tried, the
plainest first.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise, product
from typing import TypeAlias

from cimento.errors import TableError
from cimento.models.characters import BYTE_LETTERS
from cimento.models.recorded.reading import ModelSpec, Tokenizer
from cimento.suites.letters import APOSTROPHE, SPELLINGS, Spelling, respelled
from cimento.suites.stimuli import Span

_Change: TypeAlias = Callable[[str], str]

_BYTE_MARK = "Ġ"

_MOSES_MARK = re.compile(r"@[-,.]@")
_WORD = re.compile(r"\w")
_STRETCH = re.compile(r"\S+")
_LONGEST_DROPPED = 100
"""Greatest length of a word without tokens, since the spec's patterns are slow on long words."""
_TODO = "Is this the recording of this very suite, and the spec that of its model?"


@dataclass(frozen=True, slots=True)
class RewrittenText:
    """A text as a tokenizer may have rewritten it, and the way back.

    Attributes:
        source: the text as the suite has it.
        chars: the text rewritten.
        origin: for each of `chars`, and for their end, the offset in `source` of what it is of.
        until: for each of `chars` the offset in `source` where that ends.
        owner: for each of `chars` its region, from 1, or 0 between regions; for their end the
            last region.
        ends: for each region one past its last character, in `chars`.
        is_respelled: whether letters are spelled differently from the suite.
    """

    source: str
    chars: str
    origin: tuple[int, ...]
    until: tuple[int, ...]
    owner: tuple[int, ...]
    ends: tuple[int, ...]
    is_respelled: bool = False

    def span(self, start: int, end: int) -> Span:
        """Offsets in `source` of a stretch of `chars`, without blanks at its end."""
        end = start + len(self.chars[start:end].rstrip())
        return self.origin[start], self.until[end - 1] if end > start else self.origin[start]

    def words(self, start: int, end: int) -> list[str]:
        """The words of a stretch of `chars`, as the suite has them."""
        first, last = self.span(start, end)
        return self.source[first:last].split()

    def end_of_region(self, pos: int) -> int:
        """One past the last character of the region that `pos` is in."""
        return self.ends[self.owner[pos] - 1]


def rewritings(text: str, regions: Sequence[Span], tokenizer: Tokenizer) -> Iterator[RewrittenText]:
    """The possible forms of a text before it was cut, the plainest first.

    Args:
        text: the sentence.
        regions: character spans of its regions, in order.
        tokenizer: in lower case, unless it is ``cased``; further forms depend on its marks.
    """
    base: _Change = str if tokenizer.cased else str.lower
    changes = [base]
    if not tokenizer.cased:
        changes.append(lambda char: _without_accents(base(char)))
    if tokenizer.metaspace:
        changes.append(lambda char: unicodedata.normalize("NFKC", base(char)))
    if tokenizer.sentinel_pattern == _BYTE_MARK:
        changes.append(lambda char: _bytes_as_letters(base(char)))
    yield from (_rewrite(text, regions, change) for change in changes)
    if text.isascii() and APOSTROPHE not in text:
        return
    # What was scored may have been another copy of the suite, with its accents taken apart.
    for change, spelling in product(changes, SPELLINGS):
        rewritten = _rewrite(text, regions, _respelling(change, spelling), whole_letters=True)
        yield replace(rewritten, is_respelled=True)


def _respelling(change: _Change, spelling: Spelling) -> _Change:
    """What a tokenizer makes of a letter, with its accents, that is spelled in some way."""

    def changed(letter: str) -> str:
        return "".join(map(change, respelled(letter, spelling)))

    return changed


def _without_accents(text: str) -> str:
    """As uncased BERT does: decomposed, and all non-spacing marks left out."""
    parts = unicodedata.normalize("NFD", text)
    return "".join(part for part in parts if unicodedata.category(part) != "Mn")


def _bytes_as_letters(char: str) -> str:
    """As GPT-2 does: each byte of the UTF-8 form as one printable character.

    Blanks are kept, since their mark is handled separately.
    """
    if char.isspace():
        return char
    # A suite in JSON may hold half a surrogate pair.
    return "".join(BYTE_LETTERS[byte] for byte in char.encode(errors="surrogatepass"))


def _rewrite(
    text: str, regions: Sequence[Span], change: _Change, *, whole_letters: bool = False
) -> RewrittenText:
    """A text with each of its characters, or each letter with the accents after it, rewritten."""
    region_of = [0] * len(text)
    for number, (start, end) in enumerate(regions, start=1):
        region_of[start:end] = [number] * (end - start)
    # An accent that begins a region belongs to no letter.
    begins = [
        index
        for index, char in enumerate(text)
        if not whole_letters
        or not index
        or not unicodedata.combining(char)
        or region_of[index] != region_of[index - 1]
    ]
    parts = list(pairwise([*begins, len(text)]))
    pieces = [change(text[start:end]) for start, end in parts]
    offsets = dict(zip([*begins, len(text)], [0, *accumulate(map(len, pieces))], strict=True))
    each = [
        (start, end, region_of[start])
        for (start, end), piece in zip(parts, pieces, strict=True)
        for _ in piece
    ]
    return RewrittenText(
        source=text,
        chars="".join(pieces),
        origin=(*(start for start, _, _ in each), len(text)),
        until=tuple(end for _, end, _ in each),
        owner=(*(region for _, _, region in each), len(regions)),
        ends=tuple(offsets[end] for _, end in regions),
    )


@dataclass(frozen=True, slots=True)
class Alignment:
    """The alignment of the tokens of one sentence.

    Attributes:
        regions: for each token the number of its region, from 1; None for special tokens.
        spans: for each token the characters of the text that it stands for; of no length where
            it stands for none, and the whole stretch for each of the tokens that stand for an
            unknown one.
        oovs: for each region the words that unknown tokens stand for.
        unspelled: indices of tokens that were placed by their length, because they begin with
            the mark for a blank and do not spell the text there.
        is_respelled: whether the tokens spell the letters of the text differently from the suite.
    """

    regions: tuple[int | None, ...]
    spans: tuple[Span, ...]
    oovs: tuple[tuple[str, ...], ...]
    unspelled: tuple[int, ...] = ()
    is_respelled: bool = False


def align_tokens(
    text: str, regions: Sequence[Span], tokens: Sequence[str], spec: ModelSpec
) -> Alignment:
    """Find the region of every token.

    Args:
        text: the sentence.
        regions: character spans of its regions, in order; at least one.
        tokens: what a model made of the sentence, special tokens included.
        spec: which tokens are special, and how the others spell the text.

    Raises:
        TableError: the tokens do not spell the text, or one of them reaches over the end of a
            region; names the token and the region.
    """
    faults: list[TableError] = []
    for walk in _walks(text, regions, tokens, spec):
        try:
            return walk.align()
        except TableError as error:
            faults.append(error)
    raise faults[0]


def _walks(
    text: str, regions: Sequence[Span], tokens: Sequence[str], spec: ModelSpec
) -> Iterator[_Walk]:
    """The ways of reading a text, each made when those before it have failed."""
    for version in rewritings(text, regions, spec.tokenizer):
        yield _Walk(version, tokens, spec)
    if spec.tokenizer.metaspace:
        plainest = next(rewritings(text, regions, spec.tokenizer))
        yield _Walk(plainest, tokens, spec, by_length=True)


def _spellings(token: str, spec: ModelSpec) -> tuple[str, ...]:
    """The possible forms of a token in the text, the likeliest first."""
    spellings = [token, token.strip()]
    mark = spec.tokenizer.sentinel_pattern
    if spec.tokenizer.type == "subword" and mark:
        if spec.tokenizer.sentinel_position == "final":
            spellings += [token.removesuffix(mark), token.rstrip(mark)]
        else:
            spellings += [token.removeprefix(mark), token.lstrip(mark)]
    if spec.tokenizer.metaspace:
        spellings.append(token.removeprefix(spec.tokenizer.metaspace))
    return tuple(dict.fromkeys(spellings))


class _Walk:
    """One walk through a text and its tokens, side by side.

    Args:
        text: the text, rewritten.
        tokens: what must be placed.
        spec: how tokens spell the text.
        by_length: let a token that begins with the mark for a blank stand where it does not
            spell the text, for as many characters as it has.
    """

    def __init__(
        self,
        text: RewrittenText,
        tokens: Sequence[str],
        spec: ModelSpec,
        *,
        by_length: bool = False,
    ) -> None:
        self._text = text
        self._tokens = tokens
        self._vocabulary = spec.vocabulary
        self._edge_types = (*spec.vocabulary.prefix_types, *spec.vocabulary.suffix_types)
        self._metaspace = spec.tokenizer.metaspace if by_length else None
        self._moses = "moses" in spec.tokenizer.behaviors
        pattern = spec.tokenizer.drop_token_pattern
        self._drop = re.compile(pattern) if pattern is not None else None
        self._spellings = {token: _spellings(token, spec) for token in tokens}
        self._pos = 0
        self._regions: list[int | None] = []
        self._spans: list[Span] = []
        self._oovs: list[list[str]] = [[] for _ in text.ends]
        self._unspelled: list[int] = []

    def align(self) -> Alignment:
        """Place every token.

        Raises:
            TableError: a token cannot be placed, or text is left over.
        """
        while len(self._regions) < len(self._tokens):
            self._place_next()
        pos = self._skip(self._pos)
        if pos < len(self._text.chars):
            raise TableError(
                where=f"region {self._text.owner[pos]}",
                seen=f"the tokens end before {self._excerpt(pos)}",
                todo="Is the recording whole, and of this very suite?",
            )
        return Alignment(
            regions=tuple(self._regions),
            spans=tuple(self._spans),
            oovs=tuple(tuple(words) for words in self._oovs),
            unspelled=tuple(self._unspelled),
            is_respelled=self._text.is_respelled,
        )

    def _place_next(self) -> None:
        """Place one token, or all tokens of an unknown stretch."""
        index = len(self._regions)
        token = self._tokens[index]
        pos = self._skip(self._pos)
        if self._is_marker(token):
            self._put(self._region_of_marker(token, pos), pos, pos)
        elif (step := self._step(token, pos)) is not None:
            self._put(self._text.owner[pos], pos, pos + step)
            self._pos = pos + step
        elif token in self._vocabulary.unk_types and pos < len(self._text.chars):
            self._place_unknown(pos)
        elif self._metaspace and token.startswith(self._metaspace) and pos < len(self._text.chars):
            length = len(token) - len(self._metaspace)
            end = min(pos + length, self._text.end_of_region(pos))
            self._unspelled.append(index)
            self._put(self._text.owner[pos], pos, end)
            self._pos = end
        else:
            raise self._misfit(index, pos)

    def _put(self, region: int | None, start: int, end: int) -> None:
        self._regions.append(region)
        self._spans.append(self._text.span(start, end))

    def _is_marker(self, token: str) -> bool:
        """Whether a token stands for no part of the text."""
        return token in self._edge_types or token in self._vocabulary.special_types

    def _is_special(self, token: str) -> bool:
        """Whether a token belongs to no region."""
        return token in self._vocabulary.special_types and token not in self._edge_types

    def _region_of_marker(self, token: str, pos: int) -> int | None:
        if self._is_special(token):
            return None
        at_start = self._pos == 0 and {1, None}.issuperset(self._regions)
        begins = at_start and token in self._vocabulary.prefix_types
        return 1 if begins else self._text.owner[pos]

    def _skip(self, pos: int) -> int:
        """The position after blanks and words without tokens."""
        chars = self._text.chars
        while pos < len(chars):
            if chars[pos].isspace():
                pos += 1
                continue
            if self._drop is None:
                break
            match = _STRETCH.match(chars, pos, self._text.end_of_region(pos))
            word = match[0] if match else ""
            if not 0 < len(word) <= _LONGEST_DROPPED or self._drop.sub("", word):
                break
            pos += len(word)
        return pos

    def _step(self, token: str, pos: int) -> int | None:
        """The number of characters that a token spells at `pos`; None if it does not fit there."""
        chars = self._text.chars
        end = self._text.end_of_region(pos)
        for spelling in self._spellings[token]:
            if chars.startswith(spelling, pos, end):
                return len(spelling)
        # Dashes of every length are ``@-@`` for Moses, so that the character is not compared.
        if self._moses and pos < end and _MOSES_MARK.fullmatch(token) and not chars[pos].isalnum():
            return 1
        return None

    def _place_unknown(self, pos: int) -> None:
        """Place the tokens of an unknown stretch, which begins at `pos`."""
        start = len(self._regions)
        unknown = self._vocabulary.unk_types
        after = start
        while after < len(self._tokens) and (
            self._tokens[after] in unknown or self._is_marker(self._tokens[after])
        ):
            after += 1
        stop = len(self._text.chars) if after == len(self._tokens) else self._find(after, pos)
        region = self._text.owner[pos]
        for token in self._tokens[start:after]:
            self._put(None if self._is_special(token) else region, pos, stop)
        self._oovs[region - 1] += self._text.words(pos, stop)
        self._pos = stop

    def _find(self, index: int, unknown: int) -> int:
        """The position after an unknown stretch.

        Args:
            index: the first token after it.
            unknown: where it begins; it has one character at least.
        """
        places: list[int] = []
        for pos in range(unknown + 1, len(self._text.chars)):
            if not self._begins_word(pos) or not self._step(self._tokens[index], pos):
                continue
            if self._fits(index, pos):
                return pos
            places.append(pos)
        if places:
            return places[0]
        raise TableError(
            where=f"token {index + 1} ({self._tokens[index]!r}), "
            f"region {self._text.owner[unknown]} or later",
            seen=f"is nowhere in the text after the unknown word at {self._excerpt(unknown)}",
            todo=_TODO,
        )

    def _begins_word(self, pos: int) -> bool:
        """Whether a token may begin at `pos`: not inside a stretch of word characters."""
        chars = self._text.chars
        if chars[pos].isspace():
            return False
        inside = _WORD.match(chars[pos]) and _WORD.match(chars[pos - 1])
        return not inside or self._text.owner[pos] != self._text.owner[pos - 1]

    def _fits(self, index: int, pos: int) -> bool:
        """Whether the tokens from `index` spell the text from `pos`, up to an unknown one."""
        for token in self._tokens[index:]:
            if token in self._vocabulary.unk_types:
                return True
            if self._is_marker(token):
                continue
            pos = self._skip(pos)
            step = self._step(token, pos)
            if step is None:
                return False
            pos += step
        return True

    def _misfit(self, index: int, pos: int) -> TableError:
        """The error for a token that cannot be placed."""
        token = self._tokens[index]
        chars = self._text.chars
        if pos == len(chars):
            return TableError(
                where=f"token {index + 1} ({token!r})",
                seen="comes after the end of the text",
                todo=_TODO,
            )
        where = f"token {index + 1} ({token!r}), region {self._text.owner[pos]}"
        to_come = "".join(chars[pos:].split())
        rest = self._text.end_of_region(pos) - pos
        for spelling in self._spellings[token]:
            if len(spelling) > rest and to_come.startswith("".join(spelling.split())):
                return TableError(
                    where=where,
                    seen=f"reaches over the end of this region, {chars[pos : pos + rest]!r}",
                    todo="A token belongs to one region: move the boundary between the regions.",
                )
        return TableError(where=where, seen=f"the text there is {self._excerpt(pos)}", todo=_TODO)

    def _excerpt(self, pos: int) -> str:
        return repr(self._text.source[self._text.origin[pos] :][:30])
