"""What is in a sentence that its author did not mean as part of it: rules about one text.

Judgment marks, example numbers, optional words, alternatives, what a PDF or a word processor makes
of letters and marks, and special tokens of models. Whether a suite has a fault is decided over all
its sentences, in `cimento.suites.checks.notation`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from cimento.intake.marks import is_formula_error
from cimento.suites.stimuli import Span

TICKS = "✓✔√"
_MARKS = f"*?#%{TICKS}"
_HARD = "*?"
"""Marks that ordinary text has before no word, as hashtags and ticks of lists are there."""
_OPENING = "\"'«“‘„¿¡(["
_FIRST = re.compile(
    rf"(?:[{re.escape(_MARKS)}]+|\((?:\?{{1,3}}|\*{{1,2}})\))"
    rf"(?=\s*(?:[^\W\d]|[{re.escape(_OPENING)}]))"
)
"""Marks before a sentence. `#1` and Turkish `%50` are numbers, which are written so."""
_INNER = re.compile(
    rf"(?:(?<!\S)|(?<=[«“‘„(\[¿¡—–])|(?<=\s[\"'])|(?<=^[\"'])|(?<=[^\W\d_]['’])(?=\*))"
    rf"[{re.escape(_MARKS)}]{{1,3}}(?=[^\W\d_]|\([^\W\d_]+\))"
)
"""Marks directly before a word within a sentence, after a blank or what opens a word.

``3 * x``, footnotes such as ``word*``, and questions (``Who??``) have none.
"""
_EMPHASIS = re.compile(r"\*{1,3}[^\s*](?:[^*]*[^\s*])?\*{1,3}(?!\w)")
"""Words between asterisks, as in Markdown and chats: ``*very*``."""
_PRODUCT = re.compile(r"[\d)=]\s*$")

_EXAMPLE = (
    r"(?:[Ee]x|[Ee]s|[Ee]j|[Bb]sp|[Пп]р|[Ee]xample|[Ee]sempio|[Ee]jemplo|[Ee]xemplo|[Пп]ример)"
)
_CLEAR = re.compile(
    rf"{_EXAMPLE}\.?\s*\(?\d{{1,3}}[a-zа-я]?['′’]*[).:]+"
    r"|[(\[]\d{1,3}[-.]?[a-zа-я]{1,2}['′’]*[)\]][.:]?"
    r"|\d{1,3}[a-zа-я]['′’]*[.):]"
    r"|(?:[(\[]\d{1,3}[)\]]|\d{1,3}[.)])\s*(?:[a-zа-я]['′’]*[.)]|\([a-zа-я]\))"
)
"""Numbers that nothing but an example has: (12a), 12b., (12) a., Ex. (15)."""
_DOUBTFUL = re.compile(
    r"[(\[]\d{1,3}['′’]*[)\]][.:]?|\d{1,3}['′’]*[.)]|\(?[a-zа-яA-H]['′’]*[.)]|\(?[ivx]{2,4}[.)]"
)
"""Numbers that lists have too, and initials such as ``A. Rossi``: (12), 12., a., b), (ii)."""
_AFTER_CLEAR = re.compile(r"\s*(?=\S)")
_AFTER_DOUBTFUL = re.compile(
    rf"(?:\s+|(?<=[)\]])|(?=[{re.escape(_MARKS)}]))(?=[^\W\d]|[{re.escape(_MARKS + _OPENING)}])"
)


@dataclass(frozen=True, slots=True)
class Lead:
    """What comes before a sentence.

    Attributes:
        number: the example number; empty without one.
        mark: the judgment mark; empty without one.
        end: where the sentence begins.
        is_clear: whether the number can be nothing but that of an example.
        is_initial: whether it may be the initial of a name.
    """

    number: str = ""
    mark: str = ""
    end: int = 0
    is_clear: bool = False
    is_initial: bool = False


NO_LEAD = Lead()


def lead(text: str) -> Lead:
    """The example number and the judgment mark before a sentence, in either order.

    >>> lead("(12b) *La torta è buona.")
    Lead(number='(12b)', mark='*', end=7, is_clear=True, is_initial=False)
    """
    if is_formula_error(text):
        return NO_LEAD
    number = mark = ""
    at, is_clear = 0, False
    for _ in range(2):
        if not mark and (match := _FIRST.match(text, at)):
            mark, at = match[0], _past_blanks(text, match.end())
        if not number and (end := _number_end(text, at)):
            is_clear = _CLEAR.match(text, at) is not None
            number, at = text[at:end], _past_blanks(text, end)
    if not (number or mark):
        return NO_LEAD
    is_clear = is_clear or (bool(number) and not {*mark}.isdisjoint(_HARD))
    return Lead(number, mark, at, is_clear, not is_clear and number[:1].isupper())


def _number_end(text: str, at: int) -> int:
    """Where an example number ends; 0 without one."""
    for pattern, after in ((_CLEAR, _AFTER_CLEAR), (_DOUBTFUL, _AFTER_DOUBTFUL)):
        if (match := pattern.match(text, at)) and after.match(text, match.end()):
            return match.end()
    return 0


def _past_blanks(text: str, at: int) -> int:
    return len(text) - len(text[at:].lstrip())


def inner_marks(text: str, *, soft: bool = False) -> list[Span]:
    """The places of judgment marks before words within a sentence.

    Args:
        text: the sentence.
        soft: whether marks count that begin ordinary words too, such as hashtags.
    """
    start = lead(text).end
    places = []
    for match in _INNER.finditer(text, start):
        mark, before = match[0], text[: match.start()]
        is_told = soft or not {*mark}.isdisjoint(_HARD)
        is_emphasis = {*mark} == {"*"} and _EMPHASIS.match(text, match.start()) is not None
        is_product = text[match.end()] == "(" and _PRODUCT.search(before) is not None
        if match.start() >= start and is_told and not (is_emphasis or is_product):
            places.append(match.span())
    return places


def judgment_marks(text: str, *, soft: bool = False) -> tuple[str, ...]:
    """The marks by which linguists judge a sentence or a word in it, in the order of the text.

    >>> judgment_marks("(12b) ?The boys *sleeps.")
    ('?', '*')
    >>> judgment_marks("What?? 3 * 4 is *not* #easy.")
    ()

    Args:
        text: the sentence, perhaps after an example number.
        soft: whether marks within it count that begin ordinary words too, such as hashtags.
    """
    first = lead(text).mark
    inner = [text[begin:end] for begin, end in inner_marks(text, soft=soft)]
    return (first, *inner) if first else tuple(inner)


def judgment_mark(text: str) -> str:
    """The first judgment mark of a sentence; empty without one."""
    return next(iter(judgment_marks(text)), "")


def cleaned(text: str, *, doubtful: bool = False, soft: bool = False) -> str:
    """A sentence without judgment marks and example numbers.

    >>> cleaned("(12b) *The boys *sleeps.")
    'The boys sleeps.'

    Args:
        text: the sentence.
        doubtful: whether numbers go that lists have too, such as ``12.`` and ``a.``.
        soft: whether marks within the sentence go that begin ordinary words too.
    """
    before = lead(text)
    for begin, end in reversed(inner_marks(text, soft=soft)):
        text = text[:begin] + text[end:]
    if before.number and not (before.is_clear or doubtful):
        return f"{before.number} {text[before.end :]}" if before.mark else text
    return text[before.end :]


_WORD = r"[^\W\d_]+(?:['’-][^\W\d_]+)*['’]?"
_OPTIONAL = re.compile(rf"(?<![^\W\d_])\(({_WORD})\)(?![^\W\d_])")
_OPTIONAL_PART = re.compile(r"[^\W\d_]{2,}\([^\W\d_]+\)|\([^\W\d_]+\)[^\W\d_]+")
_ASIDES = frozenset({"sic", "ndr", "ndt", "nda", "ndc", "ed", "eds", "cit", "ibid", "fig", "tab"})
_ONE_LETTER = frozenset("aeoyàèéвкосуи")
"""Words of one letter; other letters in parentheses number the parts of a text."""
_ROMAN = re.compile(r"[ivx]+")


def optional_words(text: str) -> list[str]:
    """Words and parts of words in parentheses, as linguists write what may be left out.

    >>> optional_words("Li ho visti (già) tutti (quattro su cinque), con le loro figli(e) (RAI).")
    ['(già)', 'figli(e)']
    """
    places = [
        (match.start(), match[0])
        for match in _OPTIONAL.finditer(text)
        if match[1].islower()
        and match[1] not in _ASIDES
        and not _ROMAN.fullmatch(match[1])
        and (len(match[1]) > 1 or match[1] in _ONE_LETTER)
    ]
    places += [(match.start(), match[0]) for match in _OPTIONAL_PART.finditer(text)]
    return [word for _, word in sorted(places)]


_SLASHED = re.compile(r"(?<![\w/.:@#~\\])([^\W\d_]+['’]?(?:/[^\W\d_]+['’]?)+)(?![\w/@\\]|[.:]\w)")
_UNITS = frozenset({
    "m", "km", "cm", "mm", "dm", "g", "kg", "mg", "l", "ml", "dl", "cl", "h", "s", "min", "sec",
    "mi", "ft", "lb", "w", "kw", "kwh", "mwh", "v", "a", "j", "n", "pa", "hz", "mb", "gb", "kb",
    "mbit", "gbit", "kbit", "bit", "mol", "ha", "d", "yr", "м", "км", "см", "г", "кг", "мг",
    "л", "мл", "ч", "с", "мин", "сек",
})  # fmt: skip
_USUAL = frozenset({
    "and/or", "e/o", "o/e", "ed/o", "e/od", "y/o", "y/u", "o/y", "e/ou", "ou/e", "et/ou",
    "und/oder", "oder/und", "en/of", "og/eller", "och/eller", "i/lub", "и/или", "или/и",
    "ja/tai", "w/o", "c/o", "n/a", "a/c", "b/c", "y/n", "i/o", "w/e", "p/o", "d/o", "б/у",
})  # fmt: skip

_ARTICLE = 4
"""Letters of the longest words that are taken for articles where they have capitals: *Uno/Una*."""


def alternatives(text: str) -> list[str]:
    """Words with a slash between them, of which a reader is to choose one.

    >>> alternatives("Il/la collega va a 90 km/h e/o legge il sito a.it/b: TCP/IP il 12/3.")
    ['Il/la']
    """
    found = []
    for match in _SLASHED.finditer(text):
        first, *others = match[1].split("/")
        words = [first, *others]
        if not text[lead(text).end : match.start()].strip(_OPENING + " "):
            if all(word[0].isupper() and len(word) <= _ARTICLE for word in words):
                words = [word.lower() for word in words]
            elif not first.isupper():
                words = [first.lower(), *others]
        is_lower = all(word.islower() for word in words)
        if is_lower and "/".join(words) not in _USUAL and not {*words} <= _UNITS:
            found.append(match[1])
    return found


_LIGATURE = re.compile("[ﬀ-ﬆĳǆǉǌ]")
_BROKEN = re.compile(r"(?<![\w-])([^\W\d_]{2,})-\s+([^\W\d_]{2,})")
_JOINING = frozenset({
    "e", "o", "ed", "od", "ma", "che", "né", "and", "or", "to", "nor", "but", "than", "the",
    "of", "y", "u", "ni", "ou", "nem", "et", "und", "oder", "bzw", "sowie", "bis",
    "och", "og", "en", "eller", "i", "lub", "и", "или", "а", "но", "да", "нем", "que",
    "di", "del", "de",
})  # fmt: skip
"""Words after a hyphen that leaves something out, as in *pre- e postbellico*."""


def plain_letters(text: str) -> dict[str, str]:
    """The words of a text that have a ligature, such as U+FB01, and how they are written."""
    if not _LIGATURE.search(text):
        return {}
    words = re.findall(r"\w+", text)
    return {
        word: _LIGATURE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), word)
        for word in words
        if _LIGATURE.search(word)
    }


def broken_words(text: str) -> dict[str, str]:
    """The words that a line's end has cut (``par- lare``), and how they are written."""
    return {
        match[0]: match[1] + match[2]
        for match in _BROKEN.finditer(text)
        if match[1][1:].islower()
        and match[2].islower()
        and match[2] not in _JOINING
        and not match[2].startswith(match[1].lower())
    }


_SPECIAL = re.compile(
    r"\[(?:MASK|CLS|SEP|PAD|UNK|BOS|EOS|EOT|gMASK|INST|/INST)\]"
    r"|</?s>|<(?:mask|unk|pad|bos|eos|cls|sep|eod|eop)>|<extra_id_\d+>|<(?:start|end)_of_turn>"
    r"|<\|[^|<>\s]{1,40}\|>"
)


def special_tokens(text: str) -> list[str]:
    """What models read as a special token, by its spelling.

    >>> special_tokens("The [MASK] sleeps.</s> a < b > c |x|")
    ['[MASK]', '</s>']
    """
    return [match[0] for match in _SPECIAL.finditer(text)]


_TYPED: Mapping[str, re.Pattern[str]] = {
    "quotation marks": re.compile('["“”„‟«»]'),
    "apostrophes": re.compile(r"(?<=\w)['’]|['’](?=\w)"),
    "dashes": re.compile(r"[–—−‐‑]|(?<=\s)-(?=\s)|(?<=\w)-(?=\w)"),
    "dots": re.compile(r"…|\.{3}|\. \. \."),
}
"""What is typed in several ways that mean the same."""


def typed_marks(text: str) -> dict[str, tuple[str, ...]]:
    """The forms of each mark that is typed in several ways, in the order of the text.

    >>> typed_marks("qui… – l’ho")
    {'apostrophes': ('’',), 'dashes': ('–',), 'dots': ('…',)}
    """
    forms = {name: tuple(pattern.findall(text)) for name, pattern in _TYPED.items()}
    return {name: several for name, several in forms.items() if several}
