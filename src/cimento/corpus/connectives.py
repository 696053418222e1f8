"""How often connectives are found in treebanks, in the layout of Table 6 of the connectives paper.

Albertin, Miaschi and Brunato 2021, ceur-ws.org/Vol-3033, paper 16.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cimento.corpus.conllu import Problem
from cimento.corpus.inventories import Inventory
from cimento.corpus.rules import Rule
from cimento.corpus.search import Duplicates, Finder
from cimento.corpus.treebanks import TreebankFile
from cimento.errors import UsageError, did_you_mean

Denominator: TypeAlias = Literal["words", "tokens"]


@dataclass(frozen=True, slots=True)
class Size:
    """How large a corpus is.

    Attributes:
        sentences: read, malformed ones and left-out duplicates not among them.
        words: syntactic words.
        tokens: what is written between blanks and marks: ``del`` is one token and two words.
    """

    sentences: int
    words: int
    tokens: int

    def of(self, denominator: Denominator) -> int:
        """Words or tokens."""
        return self.words if denominator == "words" else self.tokens


@dataclass(frozen=True, slots=True)
class Counts:
    """The connectives of one corpus under one rule.

    Attributes:
        corpus: its name.
        rule: the rule's name.
        size: of the corpus.
        hits: connective to the number of its occurrences.
        in_sentences: connective to the number of sentences that have some.
        duplicates: sentences that were there before; left out only where that was asked for.
    """

    corpus: str
    rule: str
    size: Size
    hits: Mapping[str, int]
    in_sentences: Mapping[str, int]
    duplicates: int = 0

    def percent(self, connective: str, denominator: Denominator) -> float | None:
        """Occurrences in a hundred words or tokens; None where the corpus is empty."""
        size = self.size.of(denominator)
        return 100 * self.hits.get(connective, 0) / size if size else None

    def ranks(self, connectives: Sequence[str]) -> dict[str, int]:
        """The rank of each connective by its number; those of the same number share the first."""
        counts = [self.hits.get(name, 0) for name in connectives]
        return {
            name: 1 + sum(other > count for other in counts)
            for name, count in zip(connectives, counts, strict=True)
        }


def count_connectives(
    files: Sequence[TreebankFile],
    inventory: Inventory,
    rules: Sequence[Rule],
    *,
    joint: Mapping[str, Sequence[str]] | None = None,
    skipped: list[Problem] | None = None,
    drop_duplicates: bool = False,
) -> list[Counts]:
    """Count connectives by corpus and rule, reading every file once.

    Args:
        files: treebanks; files of the same corpus are counted together.
        inventory: what to look for.
        rules: what counts; each gives counts of its own.
        joint: name of a joint corpus to the corpora in it, which are then not given alone.
        skipped: where malformed sentences are noted; None refuses them.
        drop_duplicates: leave out sentences that were there before in the same (joint) corpus.

    Returns:
        For each corpus, in order of appearance, the counts under each rule, in order.

    Raises:
        InputError: a file cannot be read, or a sentence is malformed and `skipped` is None.
        UsageError: a joint corpus names one that is not there.
    """
    named = _corpus_names(files, joint or {})
    finders = [Finder(inventory, rule) for rule in rules]
    tallies: dict[str, _Tally] = {}
    for file in files:
        name = named[file.corpus]
        tally = tallies.setdefault(name, _Tally(len(finders)))
        for sentence in file.sentences(skipped=skipped):
            if not tally.known.is_new(sentence, file.name) and drop_duplicates:
                continue
            tally.add(len(sentence.words), sentence.n_tokens)
            for index, finder in enumerate(finders):
                found = [match.connective for match in finder.find(sentence)]
                tally.hits[index].update(found)
                tally.in_sentences[index].update(set(found))
    return [
        tally.counts(name, rule.name, index)
        for name, tally in tallies.items()
        for index, rule in enumerate(rules)
    ]


class _Tally:
    """What is counted while one corpus is read."""

    def __init__(self, n_rules: int) -> None:
        self.known = Duplicates()
        self.size = Size(0, 0, 0)
        self.hits: list[Counter[str]] = [Counter() for _ in range(n_rules)]
        self.in_sentences: list[Counter[str]] = [Counter() for _ in range(n_rules)]

    def add(self, words: int, tokens: int) -> None:
        size = self.size
        self.size = Size(size.sentences + 1, size.words + words, size.tokens + tokens)

    def counts(self, corpus: str, rule: str, index: int) -> Counts:
        return Counts(
            corpus,
            rule,
            self.size,
            dict(self.hits[index]),
            dict(self.in_sentences[index]),
            len(self.known.pairs),
        )


def _corpus_names(
    files: Sequence[TreebankFile], joint: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Each corpus to the name that it is counted under."""
    there = list(dict.fromkeys(file.corpus for file in files))
    named = {corpus: corpus for corpus in there}
    for name, members in joint.items():
        for member in members:
            if member not in named:
                raise UsageError(
                    where=f"joint corpus {name!r}",
                    seen=f"there is no corpus {member!r}",
                    todo=did_you_mean(member, there),
                )
            named[member] = name
    return named
