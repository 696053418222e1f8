"""Minimal pairs from the matches of a query, with one change made, and suites of them."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import NamedTuple

from cimento.corpus import TreebankSentence, Word
from cimento.corpus.connectives.inventories import Passage, regions_of
from cimento.corpus.edits import Change, Dependents, Editor, Pieces, joined_pieces, pieces_of
from cimento.corpus.queries import Request, TreebankIndex
from cimento.corpus.queries.matching import find
from cimento.corpus.search import DuplicateSentences
from cimento.errors import counted
from cimento.io.values import grouped
from cimento.suites import BAD, GOOD, PAIR_PREDICTION, Condition, Item, Meta, Prediction, Suite
from cimento.suites.stimuli import stimulus_text

REGIONS = ("before", "target", "after")
NO_NOUN = "no noun is between that can be made an attractor"

_NOMINAL = ("NOUN", "PROPN", "PRON")
_INSIDE = ("nmod", "obl", "obj")
_HELD = ("conj", "nummod", "cc", "acl", "appos", "cop")
"""What keeps a noun from changing its number without a change elsewhere."""

_AFTER = Prediction(
    f"(3;%{GOOD}%) < (3;%{BAD}%)",
    comment="What follows the changed place is less surprising in the good sentence.",
    name=GOOD,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairQuery:
    """A query whose matches become pairs.

    Attributes:
        name: its name in the library; empty for a pattern of one's own.
        requests: the patterns, all with the words that the change and the controller name.
        change: what makes the bad sentence.
        controller: the word of the pattern with which the changed word agrees; empty for none.
        dependents: whether words that agree with the changed one change with it.
        twin: whether attractors are made.
    """

    name: str
    requests: tuple[Request, ...]
    change: Change
    controller: str = ""
    dependents: Dependents = "break"
    twin: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TreebankPair:
    """A pair with the tree that it comes from.

    Attributes:
        sentence: number of its sentence in the index.
        words: ID of the word in each place of the pattern.
        good: the sentence of the treebank, with the part that changes marked.
        bad: the same with the change.
        lemma: lemma of the changed word.
        controller: form of the word with which it agrees; empty for none.
        value: value of the changed feature in the treebank; empty for other changes.
        distance: number of words from the controller to the changed word; None without one.
        attractors: number of nouns between both with the other value; None without a controller.
        forms: the changed word before and after.
        twin: the same pair with an attractor made of a noun between both words; None without one.
        twinless: why there is none; empty without a controller.
    """

    sentence: int
    words: Mapping[str, int]
    good: Passage
    bad: Passage
    lemma: str
    controller: str = ""
    value: str = ""
    distance: int | None = None
    attractors: int | None = None
    forms: tuple[str, str]
    twin: TreebankPair | None = None
    twinless: str = ""


@dataclass(frozen=True, slots=True)
class Drafts:
    """What became of the matches of a query.

    Attributes:
        pairs: the pairs.
        matches: number of matches.
        reasons: how many matches were left out, by reason.
    """

    pairs: tuple[TreebankPair, ...]
    matches: int
    reasons: Counter[str]

    def not_drawn(self, drawn: Sequence[TreebankPair], *, per_lemma: int) -> Counter[str]:
        """The number of pairs that `draw_pairs` did not take, by reason.

        Args:
            drawn: the pairs that it took.
            per_lemma: largest number of pairs with the same changed lemma.
        """
        taken = {id(pair) for pair in drawn}
        sentences = {pair.sentence for pair in drawn}
        lemmas = Counter(pair.lemma for pair in drawn)
        once = "a sentence is used only once"
        rare = f"a lemma has at most {counted(per_lemma, 'pair')} (--per-lemma)"
        enough = "--items was reached"
        return Counter(
            once if pair.sentence in sentences
            else rare if lemmas[pair.lemma] >= per_lemma
            else enough
            for pair in self.pairs
            if id(pair) not in taken
        )  # fmt: skip


def make_pairs(
    index: TreebankIndex, query: PairQuery, editor: Editor, *, longest: int = 40
) -> Drafts:
    """A pair for every match of a query whose change can be made without a doubt.

    Args:
        index: the treebanks.
        query: the patterns and the change.
        editor: the dictionaries.
        longest: greatest number of words in a sentence.

    Raises:
        InputError: a pattern has too many matches.
    """
    reasons = Counter[str]()
    pairs: dict[tuple[int, str], TreebankPair] = {}
    n_matches = 0
    for number, matches in _by_sentence(index, query.requests, longest, reasons):
        sentence = index.sentence(number)
        for words in matches:
            n_matches += 1
            pair = _pair(query, editor, number, sentence, words)
            if isinstance(pair, str):
                reasons[pair] += 1
            elif pairs.setdefault((number, pair.bad.text), pair) is not pair:
                reasons["another match gives the same pair"] += 1
    n_matches += reasons[_LONG] + reasons[_REPEATED]
    return Drafts(tuple(pairs.values()), n_matches, reasons)


_APOSTROPHES = re.compile(r"['’\s]")
_LONG = "the sentence is too long"
_REPEATED = "a duplicate sentence"


def _by_sentence(
    index: TreebankIndex, requests: Iterable[Request], longest: int, reasons: Counter[str]
) -> Iterator[tuple[int, list[Mapping[str, int]]]]:
    """The matches of each sentence that is neither long nor repeated."""
    every = (match for request in requests for match in find(index, request))
    matches = grouped((match.sentence, match.words) for match in every)
    known = DuplicateSentences()
    for number, here in sorted(matches.items()):
        sentence = index.sentence(number)
        if len(sentence.words) > longest:
            reasons[_LONG] += len(here)
        elif not known.is_new(sentence, index.files[index.entries[number].file].name):
            reasons[_REPEATED] += len(here)
        else:
            yield number, here


# --- One pair


def _pair(
    query: PairQuery,
    editor: Editor,
    number: int,
    sentence: TreebankSentence,
    ids: Mapping[str, int],
) -> TreebankPair | str:
    pieces = pieces_of(sentence)
    if isinstance(pieces, str):
        return pieces
    words = {name: sentence.words[i - 1] for name, i in ids.items()}
    word, controller = words[query.change.node], words.get(query.controller)
    changed = editor.changed(
        sentence,
        pieces,
        query.change,
        words,
        dependents=query.dependents,
        controller=controller,
    )
    if isinstance(changed, str):
        return changed
    passages = _passages(pieces, changed)
    if passages is None:
        return "the text has blanks that regions cannot keep"
    if len({_APOSTROPHES.sub("", passage.text) for passage in passages}) == 1:
        return "both sound alike: an apostrophe tells them apart"
    pair = TreebankPair(
        sentence=number,
        words=ids,
        good=passages[0],
        bad=passages[1],
        lemma=word.lemma,
        forms=_forms(pieces, changed, word),
    )
    feature = next(iter(query.change.features), "")
    if controller is None or not feature:
        return replace(pair, controller=controller.form if controller else "")
    values = query.change.new_values(word)
    place = _Place(sentence, pieces, changed, feature, word.feature(feature), values[feature])  # type: ignore[index]
    return _between(pair, controller, word, place, editor if query.twin else None)


class _Place(NamedTuple):
    """Where an attractor may be: the sentence, both versions of it, and the changed feature."""

    sentence: TreebankSentence
    good: Pieces
    bad: Pieces
    feature: str
    old: str
    new: str


def _between(
    pair: TreebankPair, controller: Word, word: Word, place: _Place, editor: Editor | None
) -> TreebankPair:
    """The pair with what is between the agreeing words, and with its twin."""
    low, high = sorted((controller.id, word.id))
    nouns = [noun for noun in place.sentence.words[low : high - 1] if noun.upos in _NOMINAL]
    pair = replace(
        pair,
        controller=controller.form,
        value=place.old,
        distance=word.id - controller.id,
        attractors=sum(noun.feature(place.feature) == place.new for noun in nouns),
    )
    if editor is None:
        return pair
    twin = _twin(pair, editor, place, nouns)
    return replace(pair, twinless=twin) if isinstance(twin, str) else replace(pair, twin=twin)


def _twin(
    pair: TreebankPair, editor: Editor, place: _Place, between: Sequence[Word]
) -> TreebankPair | str:
    """The pair with a noun between that has the other number, or why there is none."""
    if pair.attractors:
        return "there is an attractor already"
    nouns = [
        noun
        for noun in reversed(between)
        if noun.upos == "NOUN"
        and noun.relation in _INSIDE
        and noun.feature(place.feature) == place.old
        and not place.sentence.has_child(noun, _HELD)
    ]
    if place.feature != "Number" or not nouns:
        return NO_NOUN
    changes = {place.feature: place.new}
    for noun in nouns:
        good = editor.inflected(place.sentence, place.good, noun, changes, dependents="keep")
        passages = None if isinstance(good, str) else _with_attractor(place, good)
        if passages is not None:
            return replace(pair, good=passages[0], bad=passages[1], attractors=1)
    return "the form of no noun between can be changed without a doubt"


def _with_attractor(place: _Place, good: Pieces) -> tuple[Passage, Passage] | None:
    """Both texts with an attractor; None if it is in a token that the pair changes too."""
    rows = list(zip(place.good, place.bad, good, strict=True))
    if any(plain not in (wrong, edited) for plain, wrong, edited in rows):
        return None
    bad = tuple(edited if edited != plain else wrong for plain, wrong, edited in rows)
    return _passages(good, bad)


def _forms(good: Pieces, bad: Pieces, word: Word) -> tuple[str, str]:
    return next(
        (one.text, other.text)
        for one, other in zip(good, bad, strict=True)
        if one.first <= word.id <= one.last
    )


def _passages(good: Pieces, bad: Pieces) -> tuple[Passage, Passage] | None:
    """Both texts with the part in which they differ; None if regions cannot be joined again."""
    same = [one == other for one, other in zip(good, bad, strict=True)]
    first = sum(1 for _ in takewhile(bool, same))
    last = len(same) - sum(1 for _ in takewhile(bool, reversed(same)))
    passages = []
    for pieces in (good, bad):
        before, target = joined_pieces(pieces[:first]), joined_pieces(pieces[first:last])
        text = before + target + joined_pieces(pieces[last:])
        passages.append(Passage(text, len(before), len(before) + len(target.rstrip())))
    if all(_joined(passage) == " ".join(passage.text.split()) for passage in passages):
        return passages[0], passages[1]
    return None


def _joined(passage: Passage) -> str:
    return stimulus_text(Condition(GOOD, regions_of(passage)), rule="blank")


# --- Drawing


def draw_pairs(
    pairs: Sequence[TreebankPair], *, n: int | None, per_lemma: int, seed: int
) -> list[TreebankPair]:
    """Draw pairs: all values in turn, no sentence twice, no lemma too often.

    Args:
        pairs: the pairs to draw from.
        n: the most pairs; None for all that the other limits allow.
        per_lemma: largest number of pairs with the same changed lemma.
        seed: seed of the draw.
    """
    generator = random.Random(seed)  # noqa: S311  # a draw, not a secret
    by_value = grouped((pair.value, pair) for pair in pairs)
    for members in by_value.values():
        generator.shuffle(members)
    drawn: list[TreebankPair] = []
    lemmas: Counter[str] = Counter()
    sentences: set[int] = set()
    queues = [iter(by_value[value]) for value in sorted(by_value)]
    while queues and (n is None or len(drawn) < n):
        queue = queues.pop(0)
        for pair in queue:
            if lemmas[pair.lemma] < per_lemma and pair.sentence not in sentences:
                drawn.append(pair)
                lemmas[pair.lemma] += 1
                sentences.add(pair.sentence)
                queues.append(queue)
                break
    return drawn


def matched_pairs(
    pairs: Mapping[str, TreebankPair], frequency: Callable[[str], float], *, most: float
) -> dict[str, TreebankPair]:
    """The pairs whose two forms are about equally frequent.

    Args:
        pairs: the pair of each item.
        frequency: the Zipf frequency of a word.
        most: greatest difference of both forms' frequencies.
    """
    return {name: pair for name, pair in pairs.items() if abs(_zipf_apart(pair, frequency)) <= most}


def mean_zipf_apart(
    pairs: Iterable[TreebankPair], frequency: Callable[[str], float]
) -> float | None:
    """The mean Zipf frequency of the good forms less that of the bad ones; None without pairs."""
    values = [_zipf_apart(pair, frequency) for pair in pairs]
    return sum(values) / len(values) if values else None


def _zipf_apart(pair: TreebankPair, frequency: Callable[[str], float]) -> float:
    one, other = (frequency(form.lower()) for form in pair.forms)
    return one - other


# --- Suites


def pair_suite(
    index: TreebankIndex,
    query: PairQuery,
    pairs: Mapping[str, TreebankPair],
    *,
    meta: Meta,
) -> Suite:
    """A suite of pairs.

    Whole sentences are compared if both have the same words but for a form or their order. If one
    has a word more, what follows that word is compared, as sums depend on length.

    Args:
        index: the treebanks.
        query: what was searched.
        pairs: the pair of each item.
        meta: metadata of the suite.
    """
    return Suite(
        meta,
        REGIONS,
        (PAIR_PREDICTION if query.change.keeps_words else _AFTER,),
        tuple(_item(index, query, name, pair) for name, pair in pairs.items()),
        cluster="lemma",
    )


def _item(index: TreebankIndex, query: PairQuery, name: str, pair: TreebankPair) -> Item:
    entry = index.entries[pair.sentence]
    columns = {
        "lemma": pair.lemma,
        "query": query.name or "own",
        "source": f"{index.files[entry.file].name}#{entry.id}",
        "words": _places(pair),
    }
    if pair.attractors is not None:
        columns |= {
            "controller": pair.controller,
            "value": pair.value,
            "distance": str(pair.distance),
            "attractors": str(pair.attractors),
        }
    conditions = ((GOOD, pair.good), (BAD, pair.bad))
    return Item(name, tuple(Condition(n, regions_of(p), columns) for n, p in conditions))


def _places(pair: TreebankPair) -> str:
    return " ".join(f"{name}={number}" for name, number in pair.words.items())


def as_ids(index: TreebankIndex, pairs: Mapping[str, TreebankPair]) -> str:
    """The sources of pairs, as TSV without their sentences."""
    columns = ("item", "license", "file", "sha256", "sent_id", "words", "form", "wrong")
    rows = [columns]
    for name, pair in pairs.items():
        entry = index.entries[pair.sentence]
        file = index.files[entry.file]
        rows.append(
            (name, file.license, file.name, file.sha256, entry.id, _places(pair), *pair.forms)
        )
    return "".join("\t".join(row) + "\n" for row in rows)


def as_trees(index: TreebankIndex, pairs: Mapping[str, TreebankPair]) -> str:
    """The trees of pairs in CoNLL-U, with the item and the words of the pattern as comments."""
    parts = []
    for name, pair in pairs.items():
        sentence = index.sentence(pair.sentence)
        file = index.files[index.entries[pair.sentence].file]
        lines = [
            f"# sent_id = {sentence.id}",
            f"# text = {sentence.text}",
            f"# item = {name}",
            f"# words = {_places(pair)}",
            f"# treebank = {file.name} sha256 {file.sha256}",
        ]
        ranges = {multiword.first: multiword for multiword in sentence.multiwords}
        for word in sentence.words:
            if token := ranges.get(word.id):
                cells = [f"{token.first}-{token.last}", token.form, *"_______", token.misc or "_"]
                lines.append("\t".join(cells))
            row = (word.form, word.lemma, word.upos, word.xpos, word.feats)
            end = (str(word.head), word.deprel, "_", word.misc or "_")
            lines.append("\t".join((str(word.id), *(cell or "_" for cell in row), *end)))
        parts.append("\n".join(lines) + "\n\n")
    return "".join(parts)
