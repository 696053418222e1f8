"""Sentences to score: from BLiMP files, SyntaxGym suites and treebanks, or generated."""

from __future__ import annotations

import itertools
import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TREEBANK_WORDS = range(5, 21)
"""Lengths of the treebank sentences that are used, in words."""

Pair = tuple[str, str]


@dataclass(frozen=True)
class Corpus:
    """The sentences of all works.

    Attributes:
        paradigms: minimal pairs, by name of their paradigm.
        suites: sentences of region suites, by name of the suite.
        prose: running text, one sentence each.
        source: where they come from, in words.
    """

    paradigms: dict[str, list[Pair]]
    suites: dict[str, list[str]]
    prose: list[str]
    source: str


def read_corpus(folder: Path | None) -> Corpus:
    """What a folder holds; what it lacks, or everything without a folder, is generated.

    Files are known by what is in them. Where several folders hold files of one sort (the same
    suites in two notations), the one with the most is read, the last by name among equals.
    """
    given = folder is not None
    paradigms = _richest(folder, "*.jsonl", _pairs_of) if folder else {}
    suites = _richest(folder, "*.json", _suite_of) if folder else {}
    treebanks = _richest(folder, "*.conllu", _treebank_of) if folder else {}
    prose = list(itertools.chain(*treebanks.values()))
    sources = [
        f"{len(paradigms)} BLiMP paradigms" if paradigms else "generated pairs",
        f"{len(suites)} SyntaxGym suites" if suites else "generated suites",
        f"{len(prose)} treebank sentences" if prose else "no treebank",
    ]
    paradigms = paradigms or {f"generated_{i}": generated_pairs(i, 250) for i in range(12)}
    suites = suites or {
        name: list(itertools.chain(*pairs[:48])) for name, pairs in paradigms.items()
    }
    source = ", ".join(sources) if given else "generated sentences"
    return Corpus(paradigms=paradigms, suites=suites, prose=prose, source=source)


def _richest(folder: Path, pattern: str, read: Callable[[Path], list[Any]]) -> dict[str, list[Any]]:
    by_folder: dict[Path, dict[str, list[Any]]] = defaultdict(dict)
    for path in sorted(folder.rglob(pattern)):
        content = read(path)
        if content:
            by_folder[path.parent][path.stem] = content
    best = max(by_folder, key=lambda parent: (len(by_folder[parent]), parent), default=None)
    return by_folder[best] if best else {}


def _pairs_of(path: Path) -> list[Pair]:
    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines or '"sentence_good"' not in lines[0]:
        return []
    rows = [json.loads(line) for line in lines if line.strip()]
    return [(row["sentence_good"], row["sentence_bad"]) for row in rows]


def _suite_of(path: Path) -> list[str]:
    suite = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(suite, dict) or not {"items", "predictions"} <= suite.keys():
        return []
    sentences = []
    for item in suite["items"]:
        for condition in item["conditions"]:
            regions = [region.get("content", "").strip() for region in condition["regions"]]
            sentences.append(" ".join(region for region in regions if region))
    return sentences


def _treebank_of(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    texts = [line.partition("=")[2].strip() for line in lines if line.startswith("# text =")]
    return [text for text in texts if len(text.split()) in TREEBANK_WORDS]


_DETERMINERS = ("the", "a", "this", "that", "every", "some", "no", "each")
_NOUNS = (
    "teacher", "doctor", "waiter", "painter", "guest", "actress", "student", "driver", "lawyer",
    "child", "report", "story", "window", "picture", "garden", "bicycle", "museum", "letter",
    "cousin", "farmer", "pilot", "nurse", "book", "cabinet", "river", "senator", "poem", "cake",
)  # fmt: skip
_VERBS = (
    "admires", "discusses", "hides", "remembers", "notices", "praises", "describes", "forgets",
    "watches", "sells", "visits", "criticizes", "returns", "leaves", "finds", "fears",
)  # fmt: skip
_PLACES = (
    "near the lake", "in the old library", "behind the station", "at the market", "after dinner",
    "before the concert", "without a word", "every morning", "on Sundays", "during the storm",
)  # fmt: skip
_SHAPES = (
    "{d0} {n0} {v0} {d1} {n1} {p0} .",
    "{d0} {n0} that {v0} {d1} {n1} {v1} {d2} {n2} .",
    "{d0} {n0} {p0} {v0} {d1} {n1} .",
    "{d0} {n0} knows what {d1} {n1} {v0} {p0} .",
    "{d0} {n0} of {d1} {n1} {v0} {d2} {n2} {p0} .",
    "who {v0} {d0} {n0} that {v1} {d1} {n1} ?",
    "{d0} {n0} and {d1} {n1} think that {d2} {n2} {v0} them .",
)


def generated_pairs(paradigm: int, count: int) -> list[Pair]:
    """Pairs of a made-up paradigm: the second sentence swaps two neighboring words of the first.

    Args:
        paradigm: which; it chooses the shape of the sentences and where they differ.
        count: number of pairs.
    """
    draw = random.Random(paradigm)  # noqa: S311  # sentences, not secrets
    shape = _SHAPES[paradigm % len(_SHAPES)].split()
    swap = 1 + (paradigm // len(_SHAPES)) % (len(shape) - 3)
    pairs: dict[Pair, None] = {}
    while len(pairs) < count:
        filled = [_fill(slot, draw) for slot in shape]
        swapped = [*filled]
        swapped[swap : swap + 2] = reversed(swapped[swap : swap + 2])
        pairs[_sentence(filled), _sentence(swapped)] = None
    return list(pairs)


def _fill(slot: str, draw: random.Random) -> str:
    choices = {"d": _DETERMINERS, "n": _NOUNS, "v": _VERBS, "p": _PLACES}
    return draw.choice(choices[slot[1]]) if slot.startswith("{") else slot


def _sentence(words: Sequence[str]) -> str:
    text = " ".join(words)
    return (text[0].upper() + text[1:]).replace(" .", ".").replace(" ?", "?")


def multiplied(paradigms: dict[str, list[Pair]], *, count: int, pairs: int) -> Iterator[list[Pair]]:
    """As many paradigms as are wanted, no two with the same sentences.

    Beyond those that there are, paradigms are repeated with their words renamed one for one, so
    that lengths and shared beginnings stay as they are while every sentence is new.

    Args:
        paradigms: what there is.
        count: how many are wanted.
        pairs: of each, at most.
    """
    originals = [paradigm[:pairs] for paradigm in paradigms.values()]
    for number in range(count):
        chosen = originals[number % len(originals)]
        if number < len(originals):
            yield chosen
            continue
        words = sorted({word for pair in chosen for text in pair for word in text.split()})
        renamed = words[:]
        random.Random(number).shuffle(renamed)  # noqa: S311  # sentences, not secrets
        names = dict(zip(words, renamed, strict=True))
        yield [(_renamed(good, names), _renamed(bad, names)) for good, bad in chosen]


def _renamed(text: str, names: dict[str, str]) -> str:
    return " ".join(names[word] for word in text.split())


_HEADS = (
    "key", "letter", "picture", "lamp", "basket", "ticket", "mirror", "ladder", "plate", "map",
)  # fmt: skip
_OTHERS = ("cabinet", "window", "garden", "table")


def agreement_items() -> Iterator[tuple[str, str]]:
    """Ten-word sentences and their target, a verb that agrees with its subject or does not."""
    for head, other in itertools.product(_HEADS, _OTHERS):
        for verb in ("is", "are"):
            yield f"The {head}s near the old {other} {verb} very dusty today.", verb


def sample(sentences: Iterable[str], count: int) -> list[str]:
    """The first sentences that differ from one another."""
    return list(itertools.islice(dict.fromkeys(sentences), count))
