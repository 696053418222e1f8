"""Minimal pairs from agreeing words of a treebank, one of which is inflected differently.

The method is that of MultiBLiMP (Jumelet, Weissweiler, Nivre and Bisazza 2025, arXiv:2504.02768): a
word that must agree takes its form with the other value of one feature, and pairs that a dictionary
cannot distinguish are left out.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from cimento.corpus.connectives.passages import Passage, passage_of, regions_of
from cimento.corpus.morphology.model import Morphology, WordReading, chosen
from cimento.corpus.search import DuplicateSentences
from cimento.corpus.sentences import Sentence, Word
from cimento.corpus.treebanks import ReadingProblem, TreebankFile
from cimento.errors import InputError
from cimento.suites.model import Condition, Item, Meta, Prediction, Suite

Phenomenon: TypeAlias = Literal["subject-verb", "noun-adjective"]

OTHER: Mapping[str, Mapping[str, str]] = {
    "Number": {"Sing": "Plur", "Plur": "Sing"},
    "Gender": {"Masc": "Fem", "Fem": "Masc"},
}
"""The features that can be changed, with the new value for each value."""

_COMMENT = "The sentence that agrees is less surprising."
_KEPT = ("VerbForm", "Mood", "Tense", "Person", "Gender", "Number", "Degree")
_SUBJECTS = ("nsubj",)
_NOMINAL = ("NOUN", "PROPN", "PRON")
_AUXILIARIES = ("aux", "cop")
_COLLECTIVE = ("conj", "nummod", "cc", "nmod:desc")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreeingPair:
    """A word and another that agrees with it, with the form of the latter that does not agree.

    Attributes:
        file: name of the file.
        sha256: hash of the file.
        licence: licence of its treebank.
        sentence_id: ID of the sentence.
        passage: the text, with the agreeing word marked.
        wrong: the agreeing word with the other value.
        lemma: lemma of that word.
        controller: the word with which it agrees.
        feature: the feature that is changed.
        value: its value in the treebank.
        distance: number of words from the controller to the agreeing word; negative if the latter
            comes first.
        attractors: number of nouns between both with the other value.
    """

    file: str
    sha256: str
    licence: str
    sentence_id: str
    passage: Passage
    wrong: str
    lemma: str
    controller: str
    feature: str
    value: str
    distance: int
    attractors: int


class _Found(NamedTuple):
    """A controller and the word that agrees with it."""

    controller: Word
    target: Word
    pos: str


def agreeing_pairs(
    files: Sequence[TreebankFile],
    morphology: Morphology,
    phenomenon: Phenomenon,
    *,
    feature: str = "Number",
    longest: int = 40,
    skipped: list[ReadingProblem] | None = None,
    reasons: Counter[str] | None = None,
) -> Iterator[AgreeingPair]:
    """Every agreeing pair with an unambiguous wrong form.

    Args:
        files: treebanks.
        morphology: a dictionary of their language.
        phenomenon: finite verbs with their subjects, or adjectives with their nouns.
        feature: ``Number`` or ``Gender``.
        longest: greatest number of words in a sentence.
        skipped: list to which malformed sentences are added; None refuses them.
        reasons: if given, counts the reasons for leaving pairs out.

    Raises:
        InputError: a file cannot be read, or a sentence is malformed and `skipped` is None.
    """
    known = DuplicateSentences()
    for file in files:
        for sentence in file.sentences(skipped=skipped):
            if len(sentence.words) > longest or not known.is_new(sentence, file.name):
                continue
            for words in _find(sentence, phenomenon):
                made = _make(file, sentence, words, morphology, feature)
                if isinstance(made, AgreeingPair):
                    yield made
                elif reasons is not None:
                    reasons[made] += 1


def draw_pairs(
    pairs: Sequence[AgreeingPair], *, n: int | None, per_lemma: int, seed: int
) -> list[AgreeingPair]:
    """Draw pairs: both values in turn, no sentence twice, no lemma too often.

    Args:
        pairs: the pairs to draw from.
        n: number of pairs; None for all that the limits allow.
        per_lemma: largest number of pairs with the same agreeing lemma.
        seed: seed of the draw.

    Raises:
        InputError: there are fewer than `n` pairs.
    """
    generator = random.Random(seed)  # noqa: S311  # a draw, not a secret
    by_value: dict[str, list[AgreeingPair]] = {}
    for pair in pairs:
        by_value.setdefault(pair.value, []).append(pair)
    for members in by_value.values():
        generator.shuffle(members)
    drawn: list[AgreeingPair] = []
    lemmas: Counter[str] = Counter()
    sentences: set[tuple[str, str]] = set()
    queues = [iter(by_value[value]) for value in sorted(by_value)]
    while queues and (n is None or len(drawn) < n):
        queue = queues.pop(0)
        for pair in queue:
            place = (pair.sha256, pair.sentence_id)
            if lemmas[pair.lemma] < per_lemma and place not in sentences:
                drawn.append(pair)
                lemmas[pair.lemma] += 1
                sentences.add(place)
                queues.append(queue)
                break
    if n is not None and len(drawn) < n:
        raise InputError(
            where="treebanks",
            seen=f"there are {len(drawn)} usable pairs and not {n}",
            todo="Ask for fewer, allow more --per-lemma, or add treebanks.",
        )
    return drawn


# --- Finding


def _find(sentence: Sentence, phenomenon: Phenomenon) -> Iterator[_Found]:
    for word in sentence.words:
        if phenomenon == "noun-adjective":
            noun = sentence.head_of(word)
            if word.deprel == "amod" and noun is not None and noun.upos == "NOUN":
                yield _Found(noun, word, "ADJ")
        elif word.deprel in _SUBJECTS and word.upos in _NOMINAL:
            verb = _finite(sentence, word)
            if verb is not None:
                yield _Found(word, verb, "VERB")


def _finite(sentence: Sentence, subject: Word) -> Word | None:
    """The finite verb of a subject's clause: its head, or an auxiliary or copula of that."""
    head = sentence.head_of(subject)
    if head is None:
        return None
    if head.feature("VerbForm") == "Fin":
        return head
    verbs = (w for w in sentence.words if w.head == head.id and w.relation in _AUXILIARIES)
    return next((verb for verb in verbs if verb.feature("VerbForm") == "Fin"), None)


# --- Making


def _make(
    file: TreebankFile, sentence: Sentence, words: _Found, morphology: Morphology, feature: str
) -> AgreeingPair | str:
    """The pair, or the reason why there is none."""
    controller, target = words.controller, words.target
    value = target.feature(feature)
    if value not in OTHER[feature]:
        return f"the agreeing word has no {feature}"
    if controller.feature(feature) != value:
        return f"the treebank gives the other word no {feature}, or another"
    if sentence.has_child(controller, _COLLECTIVE):
        return "the word that is agreed with is coordinated or counted"
    wrong, reason = _other_form(words, morphology, feature)
    if reason:
        return reason
    passage = passage_of(sentence, (target.id,))
    if isinstance(passage, str):
        return passage
    low, high = sorted((controller.id, target.id))
    nouns = [word for word in sentence.words[low : high - 1] if word.upos in _NOMINAL]
    return AgreeingPair(
        file=file.name,
        sha256=file.sha256,
        licence=file.licence,
        sentence_id=sentence.id,
        passage=passage,
        wrong=_like(target.form, wrong),
        lemma=target.lemma,
        controller=controller.form,
        feature=feature,
        value=value,
        distance=target.id - controller.id,
        attractors=sum(noun.feature(feature) == OTHER[feature][value] for noun in nouns),
    )


def _other_form(words: _Found, morphology: Morphology, feature: str) -> tuple[str, str]:
    """The only form with the other value, or the reason why there is none.

    Neither form may have both values.
    """
    target = words.target
    values = {name: kept for name in _KEPT if (kept := target.feature(name))}
    value, other = values[feature], OTHER[feature][values[feature]]
    forms = morphology.inflect(target.lemma, None, pos=words.pos)
    # A dictionary need not have every feature of the treebank.
    there = {name for reading in forms for name in reading.features}
    wanted = {name: kept for name, kept in values.items() if name in there}
    if feature not in wanted:
        return "", "the dictionary does not know the lemma"
    if target.form.lower() not in _spelled(chosen(forms, wanted)):
        return "", "the dictionary has another form"
    changed = _spelled(chosen(forms, {**wanted, feature: other}))
    if len(changed) != 1:
        return "", "there is no other form, or more than one"
    (wrong,) = changed
    right = _spelled(chosen(forms, {feature: value})) | _spelled(
        # A form of another lemma with the same spelling may agree too; guessed readings do not
        # count.
        reading
        for reading in morphology.analyse(wrong)
        if not reading.guessed and reading.pos == words.pos and reading.has({feature: value})
    )
    if wrong in right or target.form.lower() in _spelled(chosen(forms, {feature: other})):
        return "", "a form is ambiguous"
    return wrong, ""


def _spelled(readings: Iterable[WordReading]) -> set[str]:
    return {reading.form.lower() for reading in readings}


def _like(form: str, other: str) -> str:
    """A form with the capitalization of another."""
    if len(form) > 1 and form.isupper():
        return other.upper()
    return other[:1].upper() + other[1:] if form[:1].isupper() else other


# --- Suites


def agreement_suite(pairs: Sequence[AgreeingPair], *, meta: Meta) -> Suite:
    """A suite of pairs with the conditions ``match`` and ``mismatch``.

    Args:
        pairs: the pairs, each of which becomes an item.
        meta: metadata of the suite.
    """
    return Suite(
        meta,
        ("before", "target", "after"),
        (Prediction("(*;%match%) < (*;%mismatch%)", comment=_COMMENT),),
        tuple(_item(number, pair) for number, pair in enumerate(pairs, start=1)),
        cluster="lemma",
    )


def _item(number: int, pair: AgreeingPair) -> Item:
    names = ("lemma", "controller", "feature", "value", "distance", "attractors")
    columns = {name: str(getattr(pair, name)) for name in names}
    columns["source"] = f"{pair.file}#{pair.sentence_id}"
    passage = pair.passage
    end = passage.start + len(pair.wrong)
    wrong = Passage(passage.before + pair.wrong + passage.after, passage.start, end)
    conditions = (("match", passage), ("mismatch", wrong))
    return Item(
        str(number), tuple(Condition(name, regions_of(p), columns) for name, p in conditions)
    )


def as_ids(pairs: Sequence[AgreeingPair]) -> str:
    """The sources of pairs, as TSV without their sentences."""
    columns = ("item", "licence", "file", "sha256", "sent_id", "form", "wrong", "feature", "value")
    rows = [
        (
            str(number), pair.licence, pair.file, pair.sha256, pair.sentence_id,
            pair.passage.form, pair.wrong, pair.feature, pair.value,
        )
        for number, pair in enumerate(pairs, start=1)
    ]  # fmt: skip
    return "".join("\t".join(row) + "\n" for row in (columns, *rows))
