r"""The places of a server's tokens in the text that it was sent, by what the tokens spell.

Tokens come as strings, often with the places where they begin. Only the strings say which text was
scored, so they must spell the one that was sent. But a token may be a part of a character (then
its string is ``\ufffd``, or empty, or ``bytes:\xf0\x9f``), may be written in the letters of
byte-level tokenizers (``Ġcittà`` is ``ĠcittÃł``), may have lost the blank before it, and one that
stands for the beginning of the text is not in the text at all. So tokens are matched with the
bytes of the text, every reading of a string is tried, and of those that reach the end the one that
takes most strings at their word is chosen. A tokenizer may also change capitals, which are then
put aside.

Offsets count only where the strings are numbers of tokens and the text is echoed: an answer to
another text of the same length has the same offsets. Some servers count characters, others bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from cimento.models.characters import OCTETS
from cimento.suites.stimuli import SURROGATE

_ESCAPED = re.compile(r"\\x([0-9a-fA-F]{2})")
_BYTES = "bytes:"
_BYTE_TOKEN = re.compile(r"<0x([0-9a-fA-F]{2})>")
_NUMBER = re.compile(r"(token_id:)?[0-9]+")
_SPECIAL = re.compile(r"(<[^<>\s]+>|\[[A-Z]+\])?")
_BLANK = re.compile("[ ▁]+")
_BLANKS = re.compile(r"[\s▁]+")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_CONTINUATION = range(0x80, 0xC0)
"""The bytes of UTF-8 that do not begin a character."""
_LONGEST = 4
"""Largest number of bytes of a character in UTF-8."""

Starts = list[int | None]


def token_starts(
    text: str,
    tokens: Sequence[str],
    *,
    offsets: Sequence[int] = (),
    prompt_tokens: int | None = None,
    recased: bool = False,
) -> Starts | None:
    """Match the tokens of a text with its bytes.

    Args:
        text: what the server was sent.
        tokens: what it says the tokens are: those of the text, then those it generated.
        offsets: where it says each begins, in characters or in bytes, for an answer that is known
            to be one to this text; they count where the tokens are numbers.
        prompt_tokens: how many it says are the text's, if it does.
        recased: whether capital and small letters count as the same.

    Returns:
        For each token of the text the offset of its first byte in UTF-8, ascending; None for a
        special token before the text; twice 0 where the tokenizer put a blank before the text
        that is a token of its own. None in all where tokens and text do not fit.
    """
    spelled = _spelled(text, tokens, prompt_tokens, recased=recased)
    if spelled is None and are_numbers(tokens):
        return _placed(text, offsets, prompt_tokens)
    return spelled


def are_numbers(tokens: Sequence[str]) -> bool:
    """Whether tokens are named by their numbers in the vocabulary, and so spell nothing."""
    return all(map(_NUMBER.fullmatch, tokens))


def echoed(echo: str, text: str, *, recased: bool = False) -> bool:
    """Whether a server's echo begins with a text, blanks and special tokens before it aside.

    Args:
        echo: the text that it sent back, with what it generated.
        text: what it was sent.
        recased: whether capital and small letters count as the same.
    """
    wanted = _bare(text, recased=recased)
    rest = echo
    while not _bare(rest, recased=recased).startswith(wanted):
        special = _SPECIAL.match(rest := rest.lstrip())
        if special is None or not special[0]:
            return False
        rest = rest[special.end() :]
    return True


def _bare(text: str, *, recased: bool) -> str:
    """A text without blanks, and without capitals if these do not count."""
    bare = _BLANKS.sub("", text)
    return _lower(bare) if recased else bare


def first_misfit(text: str, tokens: Sequence[str]) -> tuple[int, int]:
    """Where tokens stop spelling a text, capitals aside.

    Returns:
        The index of the first token that fits nowhere (their number if all fit), and the byte of
        the text that it would begin at.
    """
    content, origin = _folded(text) if text else (b"", [0])
    reached = _reached(content, tokens, recased=True)
    fit = max(count for count, places in enumerate(reached) if places)
    return fit, origin[max(reached[fit])]


def _lower(text: str) -> str:
    """A text with each letter in the one form that capital and small letters share."""
    return "".join(map(str.casefold, text))


def _lower_bytes(literal: bytes) -> bytes:
    """The same of bytes; those of parts of characters remain."""
    try:
        return _lower(literal.decode()).encode()
    except UnicodeDecodeError:
        return literal


def _folded(text: str) -> tuple[bytes, list[int]]:
    """The bytes of a text without capitals, and for each the byte of the text it stands for.

    The last entry is the length of the text in bytes.
    """
    origin: list[int] = []
    at = 0
    pieces: list[bytes] = []
    for char in text:
        size, piece = len(char.encode()), _lower(char).encode()
        origin += [at + min(index, size - 1) for index in range(len(piece))]
        pieces.append(piece)
        at += size
    return b"".join(pieces), [*origin, at]


def _spelled(
    text: str, tokens: Sequence[str], prompt_tokens: int | None, *, recased: bool
) -> Starts | None:
    """The starts of tokens by their strings, if these spell the text; else None."""
    content, origin = _folded(text) if recased else (text.encode(), [])
    reached = _reached(content, tokens, recased=recased)
    whole = [count for count, places in enumerate(reached) if len(content) in places]
    exact = [count for count in whole if not reached[count][len(content)][0]]
    count = _prompt_length(whole, exact, len(tokens), prompt_tokens)
    if count is None:
        return None
    starts: Starts = []
    end = len(content)
    for token, places in zip(
        reversed(tokens[:count]), reversed(reached[1 : count + 1]), strict=True
    ):
        _, start = places[end]
        shown = origin[start] if recased else start
        starts.append(None if start == end and not _BLANK.fullmatch(token) else shown)
        end = start
    return starts[::-1]


def _reached(
    content: bytes, tokens: Sequence[str], *, recased: bool
) -> list[dict[int, tuple[int, int]]]:
    """After each token, the places that can be reached, with what that costs and from where.

    Of several ways to a place the cheapest is kept, and of those the first.
    """
    reached: list[dict[int, tuple[int, int]]] = [{0: (0, 0)}]
    for token in tokens:
        after: dict[int, tuple[int, int]] = {}
        for place, (so_far, _) in reached[-1].items():
            for end, cost in _ends(token, content, place, recased=recased):
                if end not in after or so_far + cost < after[end][0]:
                    after[end] = (so_far + cost, place)
        reached.append(after)
    return reached


def _prompt_length(
    whole: Sequence[int], exact: Sequence[int], n_tokens: int, prompt_tokens: int | None
) -> int | None:
    """The number of tokens of the text: the server's number, all but one, or all.

    One token was to be generated. A server that generated more is believed where the text can
    only end in one place, and every token up to there is spelled as the text has it.
    """
    for count in (prompt_tokens, n_tokens - 1, n_tokens):
        if count in whole:
            return count
    return exact[0] if len(whole) == 1 == len(exact) else None


def _ends(token: str, content: bytes, start: int, *, recased: bool) -> Iterator[tuple[int, int]]:
    """The possible ends of a token that begins at a byte, each with a penalty."""
    said = SURROGATE.sub(_REPLACEMENT, token)
    literals = [
        said.encode(), said.replace("▁", " ").encode(), _exact_bytes(token), _octets(said)
    ]  # fmt: skip
    if recased:
        literals = [literal and _lower_bytes(literal) for literal in literals]
        said = _lower(said)
    for literal in filter(None, dict.fromkeys(literals)):
        if content.startswith(literal, start):
            yield start + len(literal), 0
        yield from ((end, 1) for end in _near_ends(literal, content, start))
    if not said and content[start : start + 1].isspace():
        yield start + 1, 1
    if not content.isascii():
        replaced = not said or _REPLACEMENT in said
        yield from ((end, 1 - replaced) for end in _fragment_ends(said, content, start))
    if start == 0 and (_SPECIAL.fullmatch(token) or _BLANK.fullmatch(token)):
        yield 0, 1


def _near_ends(literal: bytes, content: bytes, start: int) -> Iterator[int]:
    """The string has lost the blank before it, has one too many, or tells a begun character."""
    blanks = len(content[start:]) - len(content[start:].lstrip())
    if blanks and content.startswith(literal, start + blanks):
        yield start + blanks + len(literal)
    bare = literal.lstrip()
    if start == 0 and bare and bare != literal and content.startswith(bare):
        yield len(bare)
    first = _character_start(content, start)
    if first < start < first + len(literal) and content.startswith(literal, first):
        yield first + len(literal)


def _fragment_ends(said: str, content: bytes, start: int) -> Iterator[int]:
    """The token holds parts of characters, which its string replaces or leaves out."""
    for end in range(start + 1, min(start + len(said.encode()) + _LONGEST, len(content) + 1)):
        part = content[start:end]
        if said in (part.decode(errors="replace"), part.decode(errors="ignore")):
            yield end


def _exact_bytes(token: str) -> bytes | None:
    """The bytes that a token spells out, as OpenAI and SentencePiece write them."""
    if token.startswith(_BYTES):
        plain = token.removeprefix(_BYTES).encode("latin-1", errors="ignore").decode("latin-1")
        return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), plain).encode("latin-1")
    if single := _BYTE_TOKEN.fullmatch(token):
        return bytes.fromhex(single[1])
    return None


def _octets(said: str) -> bytes | None:
    """The bytes of a token in the letters of byte-level tokenizers."""
    octets = [] if said.isascii() else [OCTETS.get(letter) for letter in said]
    return bytes(octet for octet in octets if octet is not None) if None not in octets else None


def _character_start(content: bytes, place: int) -> int:
    """First byte of the character that a byte belongs to."""
    while place < len(content) and content[place] in _CONTINUATION:
        place -= 1
    return place


def _placed(text: str, offsets: Sequence[int], prompt_tokens: int | None) -> Starts | None:
    """Starts by the server's offsets, where the generated token's is the length of the text.

    That offset says whether characters or bytes are counted.
    """
    edges = [0, *accumulate(len(char.encode()) for char in text)]
    for count in (prompt_tokens, len(offsets) - 1):
        if count is None or not 0 < count < len(offsets):
            continue
        if offsets[count] == len(text) and 0 <= min(offsets[:count]) <= max(offsets[:count]) < len(
            text
        ):
            return _spread([edges[offset] for offset in offsets[:count]], edges)
        if offsets[count] == edges[-1]:
            return _spread(list(offsets[:count]), edges)
    return None


def _spread(starts: list[int], edges: Sequence[int]) -> Starts | None:
    """Give each of the tokens that begin at one character a byte of it, as far as it has some."""
    for index, start in enumerate(starts[1:], start=1):
        end = next((edge for edge in edges if edge > start), start)
        if start <= starts[index - 1] < end - 1:
            starts[index] = starts[index - 1] + 1
    ascending = all(one < other for one, other in pairwise([*starts, edges[-1]]))
    return list(starts) if starts[0] == 0 and ascending else None
