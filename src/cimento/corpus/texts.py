"""Texts without annotation, such as messages and concordances, converted to CoNLL-U.

Only words and marks are distinguished: classes are ``X``, lemmas are the words in lower case, and
every word depends on the first one. Rules that test syntax find nothing in such files; the rule
``plain``, which tests forms alone, does. Messages are tweets and the like; concordances are files
exported by NoSketchEngine and Sketch Engine (CSV, TSV, xlsx, XML), and any table with columns for
the left context, the keyword and the right context, which is cut to the sentence around the
keyword.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from cimento.corpus.connectives.inventories import Connective, Inventory, normal, write_spelling
from cimento.corpus.connectives.lexicons import parse_xml
from cimento.corpus.treebanks import fingerprint
from cimento.errors import InputError, SuiteError
from cimento.faults import errors
from cimento.intake.decoding import open_json_lines, open_text
from cimento.intake.tables import SUFFIXES, open_table, read_raw_rows
from cimento.io.files import read_bytes

T = TypeVar("T")
THIRDS = 3

_TOKEN = re.compile(
    r"https?://\S+|www\.\S+"  # addresses
    r"|[@#]\w+"  # mentions and hashtags
    r"|\w+['’](?=\w)"  # an elided word, such as l' before a word
    r"|\b(?:perche|pero|cioe|piu|po|di|da|fa|va|sta)['’](?!\w)"  # apostrophe for an accent
    r"|\w+(?:[-.]\w+)*"  # words, numbers with points
    r"|\.{2,}|[!?]+|[^\w\s]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PlainSentence:
    """A sentence without annotation.

    Attributes:
        id: id that is unique in its file.
        text: text with single blanks, in NFC.
        comments: comments above the sentence, by name.
    """

    id: str
    text: str
    comments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainText:
    """The sentences taken from a file.

    Attributes:
        sentences: the sentences that are kept.
        counts: number of times that something was seen, masked or left out, by its description.
    """

    sentences: tuple[PlainSentence, ...]
    counts: Mapping[str, int]


def normalize_plain(text: str) -> str:
    """A text in NFC, with single blanks and without control characters."""
    composed = unicodedata.normalize("NFC", text)
    kept = (" " if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char for char in composed)
    return " ".join("".join(kept).split())


def tokens(text: str) -> Iterator[tuple[str, bool]]:
    """The tokens of a text, and whether a blank follows each."""
    for match in _TOKEN.finditer(text):
        yield match[0], text[match.end() : match.end() + 1] in ("", " ")


def as_conllu(sentences: Iterable[PlainSentence]) -> Iterator[str]:
    """Sentences in CoNLL-U, each as one text."""
    for sentence in sentences:
        lines = [f"# sent_id = {sentence.id}", f"# text = {sentence.text}", "# annotation = none"]
        lines += [
            f"# {name} = {' '.join(text.split())}" for name, text in sentence.comments.items()
        ]
        for number, (form, blank) in enumerate(tokens(sentence.text), start=1):
            head, relation = ("0", "root") if number == 1 else ("1", "dep")
            misc = "_" if blank else "SpaceAfter=No"
            lines.append(
                "\t".join((str(number), form, form.lower(), "X", "_", "_", head, relation, "_",
                           misc))
            )  # fmt: skip
        yield "\n".join(lines) + "\n\n"


def balanced(
    members: Sequence[T], lengths: Sequence[int], *, n: int | None, seed: int
) -> tuple[T, ...]:
    """Members drawn by seed, in turn from thirds of length, and shuffled.

    Args:
        members: the members to draw from.
        lengths: length of each member.
        n: number of members to draw; None for all.
        seed: seed of the draw and of the order.
    """
    generator = random.Random(seed)  # noqa: S311  # a draw, not a secret
    order = sorted(range(len(members)), key=lambda place: lengths[place])
    cuts = [len(order) * k // THIRDS for k in range(THIRDS + 1)]
    strata = [order[start:end] for start, end in pairwise(cuts)]
    for stratum in strata:
        generator.shuffle(stratum)
    wanted = len(members) if n is None else min(n, len(members))
    taken: list[int] = []
    while len(taken) < wanted:
        for stratum in strata:
            if stratum and len(taken) < wanted:
                taken.append(stratum.pop())
    generator.shuffle(taken)
    return tuple(members[place] for place in taken)


Treatment: TypeAlias = Literal["keep", "mask"]
HashtagTreatment: TypeAlias = Literal["keep", "mask", "word"]
"""The treatment of hashtags; ``word`` keeps them without the sign."""

SpellingClass: TypeAlias = Literal["standard", "accent", "lengthened", "short", "other"]
"""The class of a spelling: as in a dictionary; with another accent or none (perche'); with repeated
letters (perchééé); with fewer letters or k for ch (xk, perké); another listed spelling (ed)."""

URL_MASK, MENTION_MASK, HASHTAG_MASK = "URL", "@utente", "#hashtag"

TEXT_COLUMNS = ("text", "testo", "tweet", "full_text", "content")
ID_COLUMNS = ("id", "tweet_id", "id_str", "sent_id")

_URL = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_MENTION = re.compile(r"(?<!\w)@\w+")
_HASHTAG = re.compile(r"(?<!\w)#(\w+)")
_RETWEET = re.compile(r"^RT @\w+:?\s", re.IGNORECASE)
_REPEATED = re.compile(r"(\w)\1{2,}")
_ACCENTS = str.maketrans("àèéìòù", "aeeiou")


@dataclass(frozen=True, slots=True, kw_only=True)
class Masks:
    """The treatment of the parts of a message that are not words.

    Attributes:
        hashtags: whether they are kept, masked, or kept without their sign.
        urls: whether addresses are kept or masked.
        mentions: whether mentions, which name people, are kept or masked.
    """

    hashtags: HashtagTreatment = "keep"
    urls: Treatment = "mask"
    mentions: Treatment = "mask"


def read_messages(path: Path) -> list[tuple[str, str]]:
    """The id and the text of each message of a file.

    Args:
        path: a table with a column ``text``, JSON lines with that key, or ``.txt`` with one a line.

    Raises:
        InputError: the file cannot be read, or has no texts.
    """
    suffix = path.suffix.lower()
    if suffix == ".txt":
        lines = open_text(path).split("\n")
        return [(str(n), line) for n, line in enumerate(lines, start=1) if line.strip()]
    if suffix in (".jsonl", ".ndjson"):
        records = [
            {key: str(value) for key, value in line.items() if value is not None}
            for line in open_json_lines(path)
        ]
    else:
        records = [dict(row.cells) for row in open_table(path).rows]
    text, name = (_key(records, known) for known in (TEXT_COLUMNS, ID_COLUMNS))
    if not text:
        raise InputError(
            where=str(path),
            seen="there is no column of texts",
            todo=f"Call it one of {', '.join(TEXT_COLUMNS)}.",
        )
    return [
        (record.get(name, "") if name else str(n), record.get(text, ""))
        for n, record in enumerate(records, start=1)
        if record.get(text, "").strip()
    ]


def message_sentences(
    messages: Iterable[tuple[str, str]], *, masks: Masks, name: str, duplicates: bool = False
) -> PlainText:
    """The sentences of messages.

    Retweets and repeated messages (ignoring case, marks, addresses and mentions) are left out and
    counted.

    Args:
        messages: id and text of each message.
        masks: the treatment of hashtags, addresses and mentions.
        name: name of the collection, the prefix of ids.
        duplicates: whether repeated messages are kept.
    """
    counts, known, kept = Counter[str](), set[bytes](), list[PlainSentence]()
    ids = Counter[str]()
    for given, raw in messages:
        text, key = normalize_plain(raw), normalize_plain(given)
        counts["messages"] += 1
        if _RETWEET.match(text):
            counts["retweets, left out"] += 1
            continue
        mark = fingerprint(text)
        if mark in known and not duplicates:
            counts["duplicates, left out"] += 1
            continue
        known.add(mark)
        shown = masked(text, masks, counts)
        if not any(token[0].isalnum() for token, _ in tokens(shown)):
            counts["without words, left out"] += 1
            continue
        ids[key] += 1
        identity = f"{name}-{key}" + (f"-{ids[key]}" if ids[key] > 1 else "")
        kept.append(PlainSentence(identity, shown))
    return PlainText(sentences=tuple(kept), counts=dict(counts))


def masked(text: str, masks: Masks, counts: Counter[str] | None = None) -> str:
    """A text with its addresses, mentions and hashtags masked as requested.

    Args:
        text: the text of a message.
        masks: the treatment of each kind.
        counts: if given, counts the parts found.
    """
    seen = Counter[str]() if counts is None else counts
    for name, treatment, pattern, mask in (
        ("addresses", masks.urls, _URL, URL_MASK),
        ("mentions", masks.mentions, _MENTION, MENTION_MASK),
        ("hashtags", masks.hashtags, _HASHTAG, HASHTAG_MASK),
    ):
        seen[name] += len(pattern.findall(text))
        if treatment != "keep":
            text = pattern.sub(mask if treatment == "mask" else r"\1", text)
    return text


def spelling_class(form: str, connective: Connective) -> SpellingClass | None:
    """The class of a connective's spelling; None if the form is not one of its spellings.

    Args:
        form: a word of a text.
        connective: a connective of one word.
    """
    plain = normal(form)
    listed = {write_spelling(spelling) for spelling in connective.spellings}
    others = [normal(text) for text in (connective.elided, connective.euphonic) if text]
    listed |= {*others}
    shortened = _REPEATED.sub(r"\1", plain)
    name = normal(connective.name)
    if plain == name:
        return "standard"
    if plain not in listed:
        return "lengthened" if shortened != plain and shortened in listed else None
    if plain in others:
        return "other"
    bare, name = (text.translate(_ACCENTS).rstrip("'") for text in (plain, name))
    if bare == name:
        return "accent"
    return "short" if len(bare) < len(name) or "k" in bare else "other"


def spelling_table(
    sentences: Sequence[PlainSentence], inventory: Inventory
) -> list[tuple[str, SpellingClass, str, int]]:
    """Rows of connective, class, spelling and count, the most frequent first.

    Connectives of several words are left out, since their spellings are not classified.
    """
    single = [c for c in inventory.connectives if list(map(len, c.spellings[0])) == [1]]
    counts: Counter[tuple[str, SpellingClass, str]] = Counter()
    forms = Counter(normal(form) for sentence in sentences for form, _ in tokens(sentence.text))
    for form, count in forms.items():
        for connective in single:
            if (kind := spelling_class(form, connective)) is not None:
                counts[connective.name, kind, form] += count
    order = {name: place for place, name in enumerate(inventory.names)}
    rows = ((*key, count) for key, count in counts.items())
    return sorted(rows, key=lambda row: (order[row[0]], -row[3], row[2]))


def _key(records: Sequence[dict[str, str]], known: Sequence[str]) -> str:
    names = {name.casefold(): name for record in records for name in record}
    return next((names[key] for key in known if key in names), "")


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
class ConcordanceLine:
    """A line of a concordance.

    Attributes:
        reference: source of the line, as given in the file.
        left: the text before the keyword.
        node: keyword of the concordance.
        right: the text after the keyword.
    """

    reference: str
    left: str
    node: str
    right: str


def read_concordance(path: Path) -> list[ConcordanceLine]:
    """The lines of a concordance file.

    Raises:
        InputError: the file cannot be read, or lacks columns for left, keyword and right.
    """
    is_xml = path.suffix.lower() == ".xml"
    lines = list(_from_xml(path) if is_xml else _from_rows(_rows(path), path))
    if not lines:
        raise InputError(where=str(path), seen="there is no line", todo="Export it again.")
    return lines


def sentence_of(line: ConcordanceLine) -> tuple[str, bool]:
    """The sentence of a keyword, and whether both of its ends are present.

    It is delimited by the tags ``<s>`` and ``</s>``; without them, by a period, a question mark or
    an exclamation mark before a capital letter, or by any such mark after the keyword.
    """
    # The capital that marks a new sentence may be that of the keyword itself.
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
    text = normalize_plain(_TAG.sub(" ", f"{left} {line.node}{glued}{right}"))
    return _without_blanks(text), begins and (end is not None or mark is not None)


def concordance_sentences(
    lines: Sequence[ConcordanceLine],
    *,
    name: str,
    seed: int,
    per: int | None = None,
    incomplete: bool = False,
    shortest: int = 5,
    longest: int = 40,
) -> PlainText:
    """Sentences drawn by seed, balanced over thirds of length for each keyword.

    Args:
        lines: lines of concordances.
        name: name of the collection, the prefix of ids.
        seed: seed of the draw and of the order.
        per: number of sentences for each keyword; None for all.
        incomplete: whether sentences with a missing beginning or end are kept.
        shortest: least number of tokens.
        longest: greatest number of tokens.
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
            node = normalize_plain(line.node).lower()
            comments = {"node": node, "reference": line.reference}
            sentence = PlainSentence(f"{name}-{number}", text, comments)
            by_node.setdefault(node, []).append(sentence)
    kept: list[PlainSentence] = []
    for node, sentences in by_node.items():
        lengths = [len(list(tokens(sentence.text))) for sentence in sentences]
        # A seed for each keyword keeps its draw independent of other keywords.
        node_seed = int.from_bytes(sha256(f"{seed}/{node}".encode()).digest()[:8])
        kept += balanced(sentences, lengths, n=per, seed=node_seed)
    mixed = balanced(kept, [0] * len(kept), n=None, seed=seed)
    return PlainText(sentences=mixed, counts=dict(counts))


def _rows(path: Path) -> list[list[str]]:
    """The rows of a concordance file, whose name may end in anything.

    Raises:
        InputError: it cannot be read.
        SuiteError: it is not a table.
    """
    known = path if path.suffix.lower() in SUFFIXES else path.with_name(f"{path.name}.txt")
    rows, faults = read_raw_rows(read_bytes(path), known)
    if errors(faults):
        raise SuiteError(where=str(path), faults=faults)
    return rows


def _cell(cells: Sequence[str], place: int | None) -> str:
    return cells[place] if place is not None and place < len(cells) else ""


def _from_rows(rows: Sequence[Sequence[str]], path: Path) -> Iterator[ConcordanceLine]:
    """The rows below the header, which may follow lines about the corpus and the query."""
    for number, row in enumerate(rows):
        plain = [cell.strip().casefold() for cell in row]
        places = [_place(plain, names) for names in (LEFT, NODE, RIGHT)]
        if None in places:
            continue
        reference = _place(plain, REFERENCE)
        for cells in rows[number + 1 :]:
            texts = [_cell(cells, place) for place in places]
            if texts[1].strip():
                yield ConcordanceLine(normalize_plain(_cell(cells, reference)), *texts)
        return
    raise InputError(
        where=str(path),
        seen="no line heads columns for left, keyword and right",
        todo="Call them left, kwic and right.",
    )


def _place(header: Sequence[str], names: Sequence[str]) -> int | None:
    return next((header.index(name) for name in names if name in header), None)


def _from_xml(path: Path) -> Iterator[ConcordanceLine]:
    for element in parse_xml(path).iter():
        parts = {
            child.tag.rpartition("}")[2].casefold(): "".join(child.itertext()) for child in element
        }
        places = [_place(list(parts), names) for names in (LEFT, NODE, RIGHT)]
        if None not in places:
            values = list(parts.values())
            left, node, right = (values[place] for place in places if place is not None)
            references = (parts[name] for name in REFERENCE if name in parts)
            reference = element.get("refs") or next(references, "")
            yield ConcordanceLine(normalize_plain(reference), left, node, right)


def _without_blanks(text: str) -> str:
    """A text of a tokenized corpus without blanks before marks or after l'."""
    closed = re.sub(r" +(?=[.,;:!?…»”)\]])", "", text)
    opened = re.sub(r"(?<=[«“(\[]) +", "", closed)
    return re.sub(r"(?<=\w['’]) +(?=\w)", "", opened)
