"""Extraction: which connectives a study takes, and sentences drawn for each of them by seed.

Connectives are taken by frequency, less those left out with a reason; sentences are drawn from
strata of length and number of clauses.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from operator import attrgetter

from cimento.corpus.connectives.inventories import Inventory
from cimento.corpus.connectives.matching import Match, Rule, is_clause, is_initial
from cimento.corpus.connectives.passages import JOINED_BY, Passage, passage_of
from cimento.corpus.search import DuplicateSentences, Finder, Hit, make_hit, search_treebanks
from cimento.corpus.sentences import Sentence
from cimento.corpus.treebanks import ReadingProblem, TreebankFile
from cimento.errors import InputError, need_known

_AUXILIARIES = ("aux", "cop")


@dataclass(frozen=True, slots=True)
class Selected:
    """A connective, and whether it is taken.

    Attributes:
        connective: its name.
        n: its occurrences.
        infinitive: those whose clause is an infinitive.
        rank: by `n`; connectives of the same number share a rank.
        taken: whether it is.
        reason: why it is not.
    """

    connective: str
    n: int
    infinitive: int
    rank: int
    taken: bool
    reason: str

    @property
    def infinitive_share(self) -> float | None:
        """Infinitives among its occurrences; None where there are none."""
        return self.infinitive / self.n if self.n else None


def select_connectives(
    files: Sequence[TreebankFile],
    inventory: Inventory,
    rule: Rule,
    *,
    top: int,
    exclude: Mapping[str, str],
    skipped: list[ReadingProblem] | None = None,
) -> list[Selected]:
    """Take the most frequent connectives, and leave some of them out.

    Those that share the rank of the last one are taken too: which of them comes first is chance.

    Args:
        files: treebanks that are counted together.
        inventory: what to choose from.
        rule: what counts.
        top: how many of the most frequent, the excluded ones among them.
        exclude: connective to the reason why it is left out.
        skipped: where malformed sentences are noted; None refuses them.

    Returns:
        All connectives, the most frequent first.

    Raises:
        UsageError: a connective that is excluded is not in the inventory.
        InputError: a file cannot be read, or a sentence is malformed and `skipped` is None.
    """
    for name in exclude:
        need_known(
            name, inventory.names, where="--exclude", seen=f"there is no connective {name!r}"
        )
    numbers, infinitives = Counter[str](), Counter[str]()
    for hit, sentence in search_treebanks(files, inventory, rule, skipped=skipped):
        numbers[hit.connective] += 1
        infinitives[hit.connective] += is_infinitive(hit, sentence)
    found = []
    for name in sorted(inventory.names, key=lambda name: -numbers[name]):
        n, rank = numbers[name], 1 + sum(other > numbers[name] for other in numbers.values())
        reason = exclude.get(name, "")
        if n == 0:
            reason = reason or "not found"
        elif rank > top:
            reason = f"not among the first {top}"
        found.append(Selected(name, n, infinitives[name], rank, not reason, reason))
    return found


def selected_inventory(inventory: Inventory, selected: Sequence[Selected]) -> Inventory:
    """The inventory of those that were taken, the most frequent first."""
    taken = tuple(inventory[each.connective] for each in selected if each.taken)
    return replace(inventory, connectives=taken)


def is_infinitive(hit: Hit, sentence: Sentence) -> bool:
    """Whether the clause of an occurrence is an infinitive: no finite verb or auxiliary in it."""
    if not hit.head_id:
        return False
    head = sentence.words[hit.head_id - 1]
    verbs = [head, *(w for w in sentence.words if w.head == head.id and w.relation in _AUXILIARIES)]
    forms = {word.feature("VerbForm") for word in verbs}
    return "Inf" in forms and "Fin" not in forms


_NUMBER = re.compile(r"\d{1,18}$")
_MOST_CLAUSES = 3
_NOT_CLAUSES = ("aux", "cop")


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSentence:
    """An occurrence that a sentence could be taken from.

    Attributes:
        hit: the occurrence.
        passage: its text.
        licence: of its treebank.
        words: of its sentence, marks among them.
        clauses: of its sentence.
        order: number of the candidate in the treebanks.
    """

    hit: Hit
    passage: Passage
    licence: str
    words: int
    clauses: int
    order: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceLimits:
    """What sentences are looked at.

    Attributes:
        shortest: in words, marks among them.
        longest: in words.
        join: whether sentences are joined to the one before where the connective asks for it; not
            in collections of single sentences, such as tweets.
        whole_words: leave out connectives that are glued to the next word, such as ``dov'``.
    """

    shortest: int = 5
    longest: int = 40
    join: bool = True
    whole_words: bool = False


def candidate_sentences(
    files: Sequence[TreebankFile],
    inventory: Inventory,
    rule: Rule,
    *,
    limits: SentenceLimits,
    skipped: list[ReadingProblem] | None = None,
    reasons: Counter[str] | None = None,
) -> Iterator[CandidateSentence]:
    """Every occurrence whose sentence can be used.

    A connective that opens its sentence and links it to the one before (CCONJ, ADV) is joined to
    that; where the file lacks it, and where a sentence was there before, it is skipped.

    Args:
        files: treebanks.
        inventory: what to look for.
        rule: what counts.
        limits: what sentences are looked at.
        skipped: where malformed sentences are noted; None refuses them.
        reasons: given, counts the reasons why occurrences were skipped.

    Raises:
        InputError: a file cannot be read, or a sentence is malformed and `skipped` is None.
    """
    finder = Finder(inventory, rule)
    left_out = Counter[str]() if reasons is None else reasons
    known, order = DuplicateSentences(), 0
    for file in files:
        previous: Sentence | None = None
        for sentence in file.sentences(skipped=skipped):
            previous = previous if previous and follows(previous, sentence) else None
            fits = limits.shortest <= len(sentence.words) <= limits.longest
            matches = finder.find(sentence) if fits and known.is_new(sentence, file.name) else []
            for match in matches:
                category = inventory[match.connective].category
                passage = _passage(sentence, match, category, previous, limits)
                if isinstance(passage, str):
                    left_out[passage] += 1
                    continue
                order += 1
                yield CandidateSentence(
                    hit=make_hit(file, sentence, match, rule),
                    passage=passage,
                    licence=file.licence,
                    words=len(sentence.words),
                    clauses=count_clauses(sentence),
                    order=order,
                )
            previous = sentence


def _passage(
    sentence: Sentence,
    match: Match,
    category: str,
    previous: Sentence | None,
    limits: SentenceLimits,
) -> Passage | str:
    """The text of an occurrence, or why it cannot be used."""
    mark = JOINED_BY.get(category, "") if is_initial(sentence, match) else ""
    before = previous if limits.join else None
    found = passage_of(sentence, match.word_ids, needs_before=mark, previous=before)
    if isinstance(found, Passage) and limits.whole_words and found.glued:
        return "it is glued to the next word"
    return found


def follows(previous: Sentence, sentence: Sentence) -> bool:
    """Whether a sentence follows another in its document.

    Where both IDs end in a number, these must follow each other: the files of a treebank often hold
    single sentences drawn from documents.
    """
    one, other = _NUMBER.search(previous.id), _NUMBER.search(sentence.id)
    if one and other and int(other[0]) != int(one[0]) + 1:
        return False
    return previous.document == sentence.document


def count_clauses(sentence: Sentence) -> int:
    """How many clauses a sentence has: verbs that are no auxiliaries, and heads with a copula."""
    return sum(
        is_clause(sentence, word) for word in sentence.words if word.relation not in _NOT_CLAUSES
    )


def draw_candidates(
    candidates: Sequence[CandidateSentence],
    names: Sequence[str],
    *,
    per: int,
    seed: int,
    fewer: bool = False,
    avoid: frozenset[tuple[str, str]] = frozenset(),
) -> dict[str, list[CandidateSentence]]:
    """Draw sentences for each connective; no sentence is drawn twice.

    Candidates are divided by length (thirds) and number of clauses (one, two, more), and taken from
    these strata in turn; in each, those come first whose clause has a verb that was not taken yet.

    Args:
        candidates: of all connectives.
        names: of the connectives.
        per: how many sentences for each.
        seed: of the draw.
        fewer: take what there is where there are not so many.
        avoid: sha256 and sentence ID of sentences that are not to be drawn.

    Returns:
        For each connective its candidates, in the order of the treebanks.

    Raises:
        InputError: there are fewer for some connectives, and `fewer` is not set.
    """
    urns = {
        name: _Urn([c for c in candidates if c.hit.connective == name], f"{seed}/{name}")
        for name in names
    }
    used, waiting = set(avoid), dict(urns)
    while waiting:
        # The one with the least to spare draws next, so that others do not take its sentences.
        name = min(waiting, key=lambda name: waiting[name].left(used) + len(waiting[name].taken))
        if not waiting[name].draw(used) or len(waiting[name].taken) == per:
            del waiting[name]
    drawn = {name: sorted(urn.taken, key=attrgetter("order")) for name, urn in urns.items()}
    short = {name: len(drawn[name]) for name in names if len(drawn[name]) < per}
    if short and not fewer:
        said = ", ".join(f"{name} {number}" for name, number in short.items())
        raise InputError(
            where="treebanks",
            seen=f"there are not {per} usable sentences for every connective: {said}",
            todo="Ask for fewer, add treebanks, or take what there is with --fewer.",
        )
    return drawn


class _Urn:
    """The candidates of one connective while sentences are drawn."""

    def __init__(self, candidates: Sequence[CandidateSentence], seed: str) -> None:
        self.taken: list[CandidateSentence] = []
        self._strata = _strata(candidates)
        generator = random.Random(seed)  # noqa: S311  # a draw, not a secret
        for key in sorted(self._strata):
            generator.shuffle(self._strata[key])
        self._turns = cycle(sorted(self._strata))
        self._lemmas: set[str] = set()

    def left(self, used: set[tuple[str, str]]) -> int:
        """How many candidates there are whose sentences nobody has; the others are let go."""
        for members in self._strata.values():
            members[:] = [member for member in members if not _places(member) & used]
        return sum(map(len, self._strata.values()))

    def draw(self, used: set[tuple[str, str]]) -> bool:
        """Take one from the next stratum that has some; whether there was one."""
        if not self.left(used):
            return False
        members = next(found for key in self._turns if (found := self._strata[key]))
        chosen = next(
            (member for member in members if member.hit.head_lemma not in self._lemmas), members[0]
        )
        self.taken.append(chosen)
        self._lemmas.add(chosen.hit.head_lemma)
        used.update(_places(chosen))
        return True


def _places(candidate: CandidateSentence) -> set[tuple[str, str]]:
    """The sentences that a candidate is made of."""
    hit, joined = candidate.hit, candidate.passage.joined
    return {(hit.sha256, name) for name in (hit.sentence_id, joined) if name}


def _strata(
    candidates: Sequence[CandidateSentence],
) -> Mapping[tuple[int, int], list[CandidateSentence]]:
    """Candidates by third of length, and by number of clauses up to three."""
    lengths = sorted(candidate.words for candidate in candidates)
    thirds = [lengths[len(lengths) * k // 3] for k in (1, 2)] if lengths else []
    strata: dict[tuple[int, int], list[CandidateSentence]] = {}
    for candidate in candidates:
        length = sum(candidate.words >= third for third in thirds)
        key = length, min(candidate.clauses, _MOST_CLAUSES)
        strata.setdefault(key, []).append(candidate)
    return strata
