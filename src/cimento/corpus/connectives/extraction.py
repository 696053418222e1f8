"""Extraction: selection of the connectives of a study, and sentences drawn for each by seed.

Connectives are selected by frequency, except those excluded with a reason; sentences are drawn from
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

from cimento.corpus import TreebankSentence
from cimento.corpus.conllu import ReadingProblem
from cimento.corpus.connectives.inventories import JOINED_BY, Inventory, Passage, passage_of
from cimento.corpus.connectives.matching import Finder, Match, Rule, is_clause, is_initial
from cimento.corpus.search import DuplicateSentences, Hit, make_hit, search_treebanks
from cimento.corpus.treebanks import TreebankFile
from cimento.errors import InputError, need_known
from cimento.io.values import grouped

_AUXILIARIES = ("aux", "cop")


@dataclass(frozen=True, slots=True)
class Selection:
    """A connective with the decision whether it is selected.

    Attributes:
        connective: its name.
        n: number of its occurrences.
        infinitive: number of occurrences whose clause is an infinitive.
        rank: rank by `n`, which connectives with the same number share.
        taken: whether it is selected.
        reason: the reason why it is not selected.
    """

    connective: str
    n: int
    infinitive: int
    rank: int
    taken: bool
    reason: str

    @property
    def infinitive_share(self) -> float | None:
        """The proportion of infinitives among its occurrences; None without occurrences."""
        return self.infinitive / self.n if self.n else None


def select_connectives(
    files: Sequence[TreebankFile],
    inventory: Inventory,
    rule: Rule,
    *,
    top: int,
    exclude: Mapping[str, str],
    skipped: list[ReadingProblem] | None = None,
) -> list[Selection]:
    """Select the most frequent connectives, except those that are excluded.

    Connectives that share the rank of the last one are selected too, since their order is chance.

    Args:
        files: treebanks that are counted together.
        inventory: the inventory to choose from.
        rule: the rule for occurrences that count.
        top: number of the most frequent connectives, including excluded ones.
        exclude: reasons for exclusion, by connective.
        skipped: list to which malformed sentences are added; None refuses them.

    Returns:
        All connectives, the most frequent first.

    Raises:
        UsageError: an excluded connective is not in the inventory.
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
    selected = []
    for name in sorted(inventory.names, key=lambda name: -numbers[name]):
        n, rank = numbers[name], 1 + sum(other > numbers[name] for other in numbers.values())
        reason = exclude.get(name, "")
        if n == 0:
            reason = reason or "not found"
        elif rank > top:
            reason = f"not among the first {top}"
        selected.append(Selection(name, n, infinitives[name], rank, not reason, reason))
    return selected


def selected_inventory(inventory: Inventory, selected: Sequence[Selection]) -> Inventory:
    """The inventory of the selected connectives, the most frequent first."""
    taken = tuple(inventory[row.connective] for row in selected if row.taken)
    return replace(inventory, connectives=taken)


def is_infinitive(hit: Hit, sentence: TreebankSentence) -> bool:
    """Whether the clause of an occurrence is an infinitive, without a finite verb or auxiliary."""
    if not hit.head_id:
        return False
    head = sentence.words[hit.head_id - 1]
    verbs = [head, *(w for w in sentence.words if w.head == head.id and w.relation in _AUXILIARIES)]
    forms = {word.feature("VerbForm") for word in verbs}
    return "Inf" in forms and "Fin" not in forms


_NUMBER = re.compile(r"\d{1,18}$")
_MOST_CLAUSES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSentence:
    """An occurrence of a connective in a sentence that could become an item.

    Attributes:
        hit: the occurrence.
        passage: its text.
        license: license of its treebank.
        words: number of words of its sentence, including marks.
        clauses: number of clauses of its sentence.
        order: number of the candidate in the treebanks.
    """

    hit: Hit
    passage: Passage
    license: str
    words: int
    clauses: int
    order: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceLimits:
    """The limits on candidate sentences.

    Attributes:
        shortest: least number of words, including marks.
        longest: greatest number of words, including marks.
        join: whether a sentence is joined to the one before if its connective requires it; not in
            collections of single sentences, such as tweets.
        whole_words: whether connectives that are glued to the next word, such as ``dov'``, are left
            out.
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

    If a connective opens its sentence and links it to the one before (CCONJ, ADV), both are joined.
    It is skipped if the file lacks the sentence before, or if a sentence is a repetition.

    Args:
        files: treebanks.
        inventory: the connectives to look for.
        rule: the rule for occurrences that count.
        limits: the limits on sentences.
        skipped: list to which malformed sentences are added; None refuses them.
        reasons: if given, counts the reasons for skipping occurrences.

    Raises:
        InputError: a file cannot be read, or a sentence is malformed and `skipped` is None.
    """
    finder = Finder(inventory, rule)
    left_out = Counter[str]() if reasons is None else reasons
    known, order = DuplicateSentences(), 0
    for file in files:
        previous: TreebankSentence | None = None
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
                    license=file.license,
                    words=len(sentence.words),
                    clauses=count_clauses(sentence),
                    order=order,
                )
            previous = sentence


def _passage(
    sentence: TreebankSentence,
    match: Match,
    category: str,
    previous: TreebankSentence | None,
    limits: SentenceLimits,
) -> Passage | str:
    """The passage of an occurrence, or the reason why it cannot be used."""
    mark = JOINED_BY.get(category, "") if is_initial(sentence, match) else ""
    before = previous if limits.join else None
    passage = passage_of(sentence, match.word_ids, needs_before=mark, previous=before)
    if isinstance(passage, Passage) and limits.whole_words and passage.glued:
        return "it is glued to the next word"
    return passage


def follows(previous: TreebankSentence, sentence: TreebankSentence) -> bool:
    """Whether a sentence follows another in its document.

    If both IDs end in a number, the numbers must be consecutive, because files of treebanks often
    hold single sentences drawn from documents.
    """
    one, other = _NUMBER.search(previous.id), _NUMBER.search(sentence.id)
    if one and other and int(other[0]) != int(one[0]) + 1:
        return False
    return previous.document == sentence.document


def count_clauses(sentence: TreebankSentence) -> int:
    """The number of clauses of a sentence: main verbs, and heads with a copula."""
    return sum(
        is_clause(sentence, word) for word in sentence.words if word.relation not in _AUXILIARIES
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

    Candidates are divided by length (thirds) and number of clauses (one, two, more), and drawn from
    these strata in turn; within a stratum, clauses with a verb that was not drawn yet come first.

    Args:
        candidates: candidates of all connectives.
        names: names of the connectives.
        per: number of sentences for each connective.
        seed: seed of the draw.
        fewer: whether fewer sentences are accepted where there are not enough.
        avoid: sha256 of the file and ID of each sentence that must not be drawn.

    Returns:
        The drawn candidates of each connective, in the order of the treebanks.

    Raises:
        InputError: a connective has too few candidates, and `fewer` is not set.
    """
    urns = {
        name: _Urn([c for c in candidates if c.hit.connective == name], f"{seed}/{name}")
        for name in names
    }
    used, waiting = set(avoid), dict(urns)
    while waiting:
        # The connective with the fewest spare candidates draws next, so that others do not take
        # them.
        name = min(waiting, key=lambda name: waiting[name].left(used) + len(waiting[name].taken))
        if not waiting[name].draw(used) or len(waiting[name].taken) == per:
            del waiting[name]
    drawn = {name: sorted(urn.taken, key=attrgetter("order")) for name, urn in urns.items()}
    short = {name: len(drawn[name]) for name in names if len(drawn[name]) < per}
    if short and not fewer:
        counts = ", ".join(f"{name} {number}" for name, number in short.items())
        raise InputError(
            where="treebanks",
            seen=f"there are not {per} usable sentences for every connective: {counts}",
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
        """The number of candidates whose sentences are still free; the others are discarded."""
        for members in self._strata.values():
            members[:] = [member for member in members if not _places(member) & used]
        return sum(map(len, self._strata.values()))

    def draw(self, used: set[tuple[str, str]]) -> bool:
        """Draw a candidate from the next stratum that has some; returns whether there was one."""
        if not self.left(used):
            return False
        members = next(group for key in self._turns if (group := self._strata[key]))
        chosen = next(
            (member for member in members if member.hit.head_lemma not in self._lemmas), members[0]
        )
        self.taken.append(chosen)
        self._lemmas.add(chosen.hit.head_lemma)
        used.update(_places(chosen))
        return True


def _places(candidate: CandidateSentence) -> set[tuple[str, str]]:
    """The sentences of a candidate's passage."""
    hit, joined = candidate.hit, candidate.passage.joined
    return {(hit.sha256, name) for name in (hit.sentence_id, joined) if name}


def _strata(
    candidates: Sequence[CandidateSentence],
) -> Mapping[tuple[int, int], list[CandidateSentence]]:
    """Candidates by third of length, and by number of clauses up to three."""
    lengths = sorted(candidate.words for candidate in candidates)
    thirds = [lengths[len(lengths) * k // 3] for k in (1, 2)] if lengths else []
    return grouped(
        ((sum(c.words >= third for third in thirds), min(c.clauses, _MOST_CLAUSES)), c)
        for c in candidates
    )
