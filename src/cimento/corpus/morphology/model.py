"""What every dictionary gives: readings of a form, forms of a lemma; nothing is disambiguated.

Features are those of Universal Dependencies (https://universaldependencies.org/u/feat/), whatever
the dictionary itself writes, so that one rule judges words of any dictionary.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from cimento.errors import UsageError

DATA = Path(__file__).parents[2] / "data" / "morphology"

Features: TypeAlias = Mapping[str, str]
"""Feature to value, such as ``{"Gender": "Fem", "Number": "Plur"}``."""


@dataclass(frozen=True, slots=True, order=True)
class WordReading:
    """One thing that a form can be.

    Attributes:
        form: the word form, as the dictionary spells it.
        lemma: its lemma.
        pos: part of speech as in Universal Dependencies; ``CONJ`` where a dictionary does not
            say whether a conjunction coordinates or subordinates.
        feats: features in UD's own notation, sorted: ``Gender=Fem|Number=Plur``; empty for none.
        tag: as the dictionary writes it: ``A:fp``, ``ADJ;FEM;PL``.
        guessed: made by rules, not found in a dictionary.
    """

    form: str
    lemma: str
    pos: str
    feats: str
    tag: str
    guessed: bool = False

    @property
    def features(self) -> dict[str, str]:
        """The features as a mapping."""
        return parse_features(self.feats)

    def has(self, features: Features) -> bool:
        """Whether it has all these features; one that it leaves open it has not."""
        own = self.features
        return all(own.get(name) == value for name, value in features.items())


class Morphology(Protocol):
    """A dictionary, or rules that stand in for one."""

    @property
    def name(self) -> str:
        """What it is, for messages and manifests."""

    def analyse(self, form: str) -> tuple[WordReading, ...]:
        """All readings of a form, in a fixed order; case is ignored; empty for an unknown form."""

    def inflect(
        self, lemma: str, features: Features | None = None, *, pos: str = ""
    ) -> tuple[WordReading, ...]:
        """All forms of a lemma that have these features, in a fixed order.

        Args:
            lemma: as `WordReading.lemma` spells it; case is ignored.
            features: what the forms must have; None for any.
            pos: part of speech; empty for any.
        """


def parse_features(text: str) -> dict[str, str]:
    """Features in UD's notation, ``Gender=Fem|Number=Plur``, as a mapping.

    Raises:
        UsageError: a part is not ``Name=Value``.
    """
    found: dict[str, str] = {}
    for part in filter(None, text.split("|")):
        name, equals, value = part.partition("=")
        if not (name and equals and value):
            raise UsageError(
                where="features",
                seen=f"{part!r} is no feature",
                todo="Write them as in Gender=Fem|Number=Plur.",
            )
        found[name] = value
    return found


def format_features(features: Features) -> str:
    """A mapping in UD's notation, sorted as UD sorts: by name, ignoring case."""
    ordered = sorted(features.items(), key=lambda pair: (pair[0].lower(), pair[1]))
    return "|".join(f"{name}={value}" for name, value in ordered)


def chosen(
    readings: Iterable[WordReading], features: Features | None, *, pos: str = ""
) -> tuple[WordReading, ...]:
    """Those readings that have a part of speech and features, each once, in their order."""
    wanted = features or {}
    kept = (reading for reading in readings if pos in ("", reading.pos) and reading.has(wanted))
    return tuple(dict.fromkeys(kept))


def sister_forms(
    morphology: Morphology, form: str, changes: Features, *, pos: str = ""
) -> tuple[WordReading, ...]:
    """The form with other features: ``brancas`` from ``branco`` with feminine plural.

    Every reading of the form that has the changed features is followed; what the changes do not
    name stays as it is.

    Args:
        morphology: the dictionary.
        form: a word form.
        changes: features to have instead.
        pos: part of speech of the readings that are followed; empty for all.
    """
    found: dict[WordReading, None] = {}
    for reading in chosen(morphology.analyse(form), None, pos=pos):
        if changes.keys() <= reading.features.keys():
            wanted = {**reading.features, **changes}
            for sister in morphology.inflect(reading.lemma, wanted, pos=reading.pos):
                found.setdefault(sister)
    return tuple(found)
