"""Russian by pymorphy3 and its dictionary, with OpenCorpora's tags as Universal Dependencies.

Korobov 2015, "Morphological analyzer and generator for Russian and Ukrainian languages"
(doi:10.1007/978-3-319-26123-2_31). The analyser's own order (by its estimate) is kept; none of
its readings is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from cimento.corpus.morphology.model import Features, WordReading, chosen, format_features
from cimento.errors import MissingDependencyError

_POS: Mapping[str, tuple[str, Features]] = {
    "NOUN": ("NOUN", {}),
    "ADJF": ("ADJ", {}),
    "ADJS": ("ADJ", {"Variant": "Short"}),
    "COMP": ("ADJ", {"Degree": "Cmp"}),
    "VERB": ("VERB", {"VerbForm": "Fin"}),
    "INFN": ("VERB", {"VerbForm": "Inf"}),
    "PRTF": ("VERB", {"VerbForm": "Part"}),
    "PRTS": ("VERB", {"VerbForm": "Part", "Variant": "Short"}),
    "GRND": ("VERB", {"VerbForm": "Conv"}),
    "NUMR": ("NUM", {}),
    "ADVB": ("ADV", {}),
    "PRED": ("ADV", {}),
    "NPRO": ("PRON", {}),
    "PREP": ("ADP", {}),
    "CONJ": ("CONJ", {}),
    "PRCL": ("PART", {}),
    "INTJ": ("INTJ", {}),
}
_VALUES: Mapping[str, tuple[str, str]] = {
    "nomn": ("Case", "Nom"),
    "gent": ("Case", "Gen"),
    "gen1": ("Case", "Gen"),
    "gen2": ("Case", "Par"),
    "datv": ("Case", "Dat"),
    "accs": ("Case", "Acc"),
    "acc2": ("Case", "Acc"),
    "ablt": ("Case", "Ins"),
    "loct": ("Case", "Loc"),
    "loc1": ("Case", "Loc"),
    "loc2": ("Case", "Loc"),
    "voct": ("Case", "Voc"),
    "masc": ("Gender", "Masc"),
    "femn": ("Gender", "Fem"),
    "neut": ("Gender", "Neut"),
    "sing": ("Number", "Sing"),
    "plur": ("Number", "Plur"),
    "anim": ("Animacy", "Anim"),
    "inan": ("Animacy", "Inan"),
    "perf": ("Aspect", "Perf"),
    "impf": ("Aspect", "Imp"),
    "past": ("Tense", "Past"),
    "pres": ("Tense", "Pres"),
    "futr": ("Tense", "Fut"),
    "1per": ("Person", "1"),
    "2per": ("Person", "2"),
    "3per": ("Person", "3"),
    "indc": ("Mood", "Ind"),
    "impr": ("Mood", "Imp"),
    "actv": ("Voice", "Act"),
    "pssv": ("Voice", "Pass"),
    "Supr": ("Degree", "Sup"),
}
_NAMES = frozenset({"Name", "Surn", "Patr", "Geox", "Orgn", "Trad"})


class _Tag(Protocol):
    @property
    def grammemes(self) -> frozenset[str]: ...


class _Parse(Protocol):
    """What is used of one of pymorphy3's readings."""

    word: str
    normal_form: str
    tag: _Tag
    is_known: bool

    @property
    def lexeme(self) -> Iterable[_Parse]: ...


class Russian:
    """pymorphy3 behind the one interface.

    Raises:
        MissingDependencyError: pymorphy3 is not installed.
    """

    def __init__(self) -> None:
        try:
            import pymorphy3
        except ImportError as error:
            raise MissingDependencyError(
                package="pymorphy3", extra="morphology", purpose="Russian morphology"
            ) from error
        self._analyser = pymorphy3.MorphAnalyzer(lang="ru")

    @property
    def name(self) -> str:
        """``pymorphy3``."""
        return "pymorphy3"

    def analyse(self, form: str) -> tuple[WordReading, ...]:
        """All readings of a form; see `Morphology`. Those of unknown words are guesses."""
        return chosen(map(_reading, self._analyser.parse(form)), None)

    def inflect(
        self, lemma: str, features: Features | None = None, *, pos: str = ""
    ) -> tuple[WordReading, ...]:
        """All forms of a lemma with these features; see `Morphology`."""
        # ё may be written е: pymorphy3 finds such words too, under their right spelling.
        wanted = lemma.lower().replace("ё", "е")
        forms = [
            _reading(form)
            for parse in self._analyser.parse(lemma)
            if parse.normal_form.replace("ё", "е") == wanted
            for form in parse.lexeme
        ]
        return chosen(forms, features, pos=pos)


def from_opencorpora(grammemes: frozenset[str]) -> tuple[str, dict[str, str]]:
    """Part of speech and features of a set of OpenCorpora's grammemes."""
    pos, features = next(
        (_POS[grammeme] for grammeme in sorted(grammemes) if grammeme in _POS), ("X", {})
    )
    found = dict(features)
    for name in sorted(grammemes):
        if name in _VALUES:
            feature, value = _VALUES[name]
            found[feature] = value
    if pos == "NOUN" and grammemes & _NAMES:
        pos = "PROPN"
    return pos, found


def _reading(parse: _Parse) -> WordReading:
    pos, features = from_opencorpora(frozenset(parse.tag.grammemes))
    return WordReading(
        form=parse.word,
        lemma=parse.normal_form,
        pos=pos,
        feats=format_features(features),
        tag=str(parse.tag),
        guessed=not parse.is_known,
    )
