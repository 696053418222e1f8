"""Which connectives of a long list a study takes: the most frequent, less those with a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cimento.corpus.conllu import Problem
from cimento.corpus.inventories import Inventory
from cimento.corpus.records import Sentence
from cimento.corpus.rules import Rule
from cimento.corpus.search import Hit, search
from cimento.corpus.treebanks import TreebankFile
from cimento.errors import UsageError, did_you_mean

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


def select(
    files: Sequence[TreebankFile],
    inventory: Inventory,
    rule: Rule,
    *,
    top: int,
    exclude: Mapping[str, str],
    skipped: list[Problem] | None = None,
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
    _need_names(exclude, inventory)
    numbers: Counter[str] = Counter()
    infinitives: Counter[str] = Counter()
    for hit, sentence in search(files, inventory, rule, skipped=skipped):
        numbers[hit.connective] += 1
        infinitives[hit.connective] += is_infinitive(hit, sentence)
    ordered = sorted(inventory.names, key=lambda name: -numbers[name])
    found = []
    for name in ordered:
        n, rank = numbers[name], 1 + sum(other > numbers[name] for other in numbers.values())
        reason = exclude.get(name, "")
        if n == 0:
            reason = reason or "not found"
        elif rank > top:
            reason = f"not among the first {top}"
        found.append(Selected(name, n, infinitives[name], rank, not reason, reason))
    return found


def _need_names(exclude: Mapping[str, str], inventory: Inventory) -> None:
    for name in exclude:
        if name not in inventory.names:
            raise UsageError(
                where="--exclude",
                seen=f"there is no connective {name!r}",
                todo=did_you_mean(name, inventory.names),
            )


def selected_inventory(inventory: Inventory, selected: Sequence[Selected]) -> Inventory:
    """The inventory of those that were taken, the most frequent first."""
    names = [each.connective for each in selected if each.taken]
    return replace(inventory, connectives=tuple(inventory[name] for name in names))


def is_infinitive(hit: Hit, sentence: Sentence) -> bool:
    """Whether the clause of an occurrence is an infinitive: no finite verb or auxiliary in it."""
    if not hit.head_id:
        return False
    head = sentence.words[hit.head_id - 1]
    verbs = [head, *(w for w in sentence.words if w.head == head.id and w.relation in _AUXILIARIES)]
    forms = {word.feature("VerbForm") for word in verbs}
    return "Inf" in forms and "Fin" not in forms
