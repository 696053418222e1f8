"""The interface of dictionaries: readings of a form and forms of a lemma, not disambiguated.

Features are those of Universal Dependencies (https://universaldependencies.org/u/feat/), whatever
the notation of the dictionary, so that the same rule works with every dictionary.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from cimento.errors import UsageError

DATA = Path(__file__).parents[2] / "data" / "morphology"

Features: TypeAlias = Mapping[str, str]
"""The value of each feature, such as ``{"Gender": "Fem", "Number": "Plur"}``."""


@dataclass(frozen=True, slots=True, order=True)
class WordReading:
    """A reading of a form.

    Attributes:
        form: the word form in the spelling of the dictionary.
        lemma: its lemma.
        pos: part of speech as in Universal Dependencies; ``CONJ`` where a dictionary does not
            say whether a conjunction coordinates or subordinates.
        feats: features in UD's own notation, sorted: ``Gender=Fem|Number=Plur``; empty for none.
        tag: tag in the dictionary's notation: ``A:fp``, ``ADJ;FEM;PL``.
        guessed: whether it was made by rules and not found in a dictionary.
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
        """Whether the reading has all these features; an unspecified feature counts as absent."""
        values = self.features
        return all(values.get(name) == value for name, value in features.items())


class Morphology(Protocol):
    """The protocol of a dictionary, or of rules in place of one."""

    @property
    def name(self) -> str:
        """The name in messages and manifests."""

    def analyse(self, form: str) -> tuple[WordReading, ...]:
        """All readings of a form, in a fixed order; case is ignored; empty for an unknown form."""

    def inflect(
        self, lemma: str, features: Features | None = None, *, pos: str = ""
    ) -> tuple[WordReading, ...]:
        """All forms of a lemma that have these features, in a fixed order.

        Args:
            lemma: the lemma, spelled as in `WordReading.lemma`; case is ignored.
            features: features that the forms must have; None for any.
            pos: part of speech; empty for any.
        """


def parse_features(text: str) -> dict[str, str]:
    """A mapping of features from UD's notation, ``Gender=Fem|Number=Plur``.

    Raises:
        UsageError: a part is not ``Name=Value``.
    """
    features: dict[str, str] = {}
    for part in filter(None, text.split("|")):
        name, equals, value = part.partition("=")
        if not (name and equals and value):
            raise UsageError(
                where="features",
                seen=f"{part!r} is no feature",
                todo="Write them as in Gender=Fem|Number=Plur.",
            )
        features[name] = value
    return features


def format_features(features: Features) -> str:
    """Features in UD's notation, sorted as in UD: by name, ignoring case."""
    ordered = sorted(features.items(), key=lambda pair: (pair[0].lower(), pair[1]))
    return "|".join(f"{name}={value}" for name, value in ordered)


def chosen(
    readings: Iterable[WordReading], features: Features | None, *, pos: str = ""
) -> tuple[WordReading, ...]:
    """The readings with a part of speech and features, without repeats, in the same order."""
    wanted = features or {}
    kept = (reading for reading in readings if pos in ("", reading.pos) and reading.has(wanted))
    return tuple(dict.fromkeys(kept))


def sister_forms(
    morphology: Morphology, form: str, changes: Features, *, pos: str = ""
) -> tuple[WordReading, ...]:
    """The forms of the same lemma with other features: ``brancas`` from ``branco``.

    Every reading of the form that has the changed features is used; features that are not changed
    keep their values.

    Args:
        morphology: the dictionary.
        form: a word form.
        changes: the new values of features.
        pos: part of speech of the readings used; empty for all.
    """
    sisters: dict[WordReading, None] = {}
    for reading in chosen(morphology.analyse(form), None, pos=pos):
        if changes.keys() <= reading.features.keys():
            wanted = {**reading.features, **changes}
            for sister in morphology.inflect(reading.lemma, wanted, pos=reading.pos):
                sisters.setdefault(sister)
    return tuple(sisters)
