"""Tweets and other short messages as sentences: what is masked, duplicates, and spellings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from cimento.corpus.inventories import Connective, Inventory, normal, write_spelling
from cimento.corpus.plain import PlainSentence, normalised, tokens
from cimento.corpus.treebanks import fingerprint
from cimento.errors import InputError
from cimento.suites.reading import open_json_lines, open_text
from cimento.suites.tables import open_table

Treatment: TypeAlias = Literal["keep", "mask"]
HashtagTreatment: TypeAlias = Literal["keep", "mask", "word"]
"""``word``: without its sign."""

SpellingClass: TypeAlias = Literal["standard", "accent", "lengthened", "short", "other"]
"""How a connective is written: as in a dictionary; with another accent or none (perche'); with
letters repeated (perchééé); with fewer letters or k for ch (xk, perké); listed otherwise (ed).
"""

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
    """What becomes of the parts of a message that are no words.

    Attributes:
        hashtags: kept, masked, or without their sign.
        urls: kept or masked.
        mentions: kept or masked; they name people.
    """

    hashtags: HashtagTreatment = "keep"
    urls: Treatment = "mask"
    mentions: Treatment = "mask"


@dataclass(frozen=True, slots=True, kw_only=True)
class Messages:
    """Messages that were read.

    Attributes:
        sentences: those that are kept, in order.
        counts: what was seen, masked and left out, in words, to how often.
    """

    sentences: tuple[PlainSentence, ...]
    counts: dict[str, int]


def read_messages(path: Path) -> list[tuple[str, str]]:
    """The id and the text of each message of a file.

    Args:
        path: a table with a column ``text``; JSON lines with that key; or ``.txt``, one a line.

    Raises:
        InputError: it cannot be read, or has no texts.
    """
    suffix = path.suffix.lower()
    if suffix == ".txt":
        lines = open_text(path).split("\n")
        return [(str(n), line) for n, line in enumerate(lines, start=1) if line.strip()]
    if suffix in (".jsonl", ".ndjson"):
        records = [
            {key: str(value) for key, value in each.items() if value is not None}
            for each in open_json_lines(path)
        ]
    else:
        table = open_table(path)
        records = [dict(row.cells) for row in table.rows]
    text, name = (_key(records, known) for known in (TEXT_COLUMNS, ID_COLUMNS))
    if not text:
        raise InputError(
            where=str(path),
            seen="there is no column of texts",
            todo=f"Call it one of {', '.join(TEXT_COLUMNS)}.",
        )
    return [
        (each.get(name, "") if name else str(n), each.get(text, ""))
        for n, each in enumerate(records, start=1)
        if each.get(text, "").strip()
    ]


def messages(
    found: Iterable[tuple[str, str]], *, masks: Masks, name: str, duplicates: bool = False
) -> Messages:
    """Messages as sentences.

    Retweets, and messages that were there before (case, marks, addresses and mentions do not
    count), are left out and counted.

    Args:
        found: id and text of each.
        masks: what becomes of hashtags, addresses and mentions.
        name: of the collection, which ids begin with.
        duplicates: keep messages that were there before.
    """
    counts, known, kept = Counter[str](), set[bytes](), list[PlainSentence]()
    ids = Counter[str]()
    for given, raw in found:
        text, own = normalised(raw), normalised(given)
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
        if not any(each[0].isalnum() for each, _ in tokens(shown)):
            counts["without words, left out"] += 1
            continue
        ids[own] += 1
        identity = f"{name}-{own}" + (f"-{ids[own]}" if ids[own] > 1 else "")
        kept.append(PlainSentence(identity, shown))
    return Messages(sentences=tuple(kept), counts=dict(counts))


def masked(text: str, masks: Masks, counts: Counter[str] | None = None) -> str:
    """A text with its addresses, mentions and hashtags as wanted.

    Args:
        text: of a message.
        masks: what becomes of each.
        counts: given, counts what was found.
    """
    seen = Counter[str]() if counts is None else counts
    seen["addresses"] += len(_URL.findall(text))
    if masks.urls == "mask":
        text = _URL.sub(URL_MASK, text)
    seen["mentions"] += len(_MENTION.findall(text))
    if masks.mentions == "mask":
        text = _MENTION.sub(MENTION_MASK, text)
    seen["hashtags"] += len(_HASHTAG.findall(text))
    if masks.hashtags != "keep":
        text = _HASHTAG.sub(HASHTAG_MASK if masks.hashtags == "mask" else r"\1", text)
    return text


def spelling_class(form: str, connective: Connective) -> SpellingClass | None:
    """How a connective is spelt; None where the form is none of its spellings.

    Args:
        form: a word of a text.
        connective: of one word.
    """
    plain = normal(form)
    listed = {write_spelling(each) for each in connective.spellings}
    listed |= {each for each in (connective.elided, connective.euphonic) if each}
    shortened = _REPEATED.sub(r"\1", plain)
    if plain == connective.name:
        return "standard"
    if plain not in listed:
        return "lengthened" if shortened != plain and shortened in listed else None
    if plain in (connective.elided, connective.euphonic):
        return "other"
    bare, name = (each.translate(_ACCENTS).rstrip("'") for each in (plain, connective.name))
    if bare == name:
        return "accent"
    return "short" if len(bare) < len(name) or "k" in bare else "other"


def spelling_table(
    sentences: Sequence[PlainSentence], inventory: Inventory
) -> list[tuple[str, SpellingClass, str, int]]:
    """Connective, class, spelling and how often it is there, the most frequent first.

    Connectives of several words are left out: their spellings are not told apart.
    """
    single = [
        each for each in inventory.connectives if all(len(part) == 1 for part in each.spellings[0])
        and len(each.spellings[0]) == 1
    ]  # fmt: skip
    counts: Counter[tuple[str, SpellingClass, str]] = Counter()
    forms = Counter(normal(form) for each in sentences for form, _ in tokens(each.text))
    for form, count in forms.items():
        for connective in single:
            found = spelling_class(form, connective)
            if found is not None:
                counts[connective.name, found, form] += count
    order = {name: place for place, name in enumerate(inventory.names)}
    rows = [(name, kind, form, count) for (name, kind, form), count in counts.items()]
    return sorted(rows, key=lambda row: (order[row[0]], -row[3], row[2]))


def _key(records: Sequence[dict[str, str]], known: Sequence[str]) -> str:
    names = {name.casefold(): name for each in records for name in each}
    return next((names[each] for each in known if each in names), "")
