"""Inflection of Italian, Spanish and Portuguese words.

Verb forms are in the order first, second, third person singular, first, (second,) third plural;
Spanish and Portuguese have no second person plural here. The subjunctive has its third persons
only. Participles and adjectives: m.sg, f.sg, m.pl, f.pl.
"""

from __future__ import annotations

from collections.abc import Sequence

from demo.lexicon import Cell, Rules

AGREEMENT = ("m.sg", "f.sg", "m.pl", "f.pl")

_PRESENT = {
    "it": {
        "are": "o i a iamo ate ano",
        "ere": "o i e iamo ete ono",
        "ire": "o i e iamo ite ono",
    },
    "es": {"ar": "o as a amos an", "er": "o es e emos en", "ir": "o es e imos en"},
    "pt": {"ar": "o a a amos am", "er": "o e e emos em", "ir": "o e e imos em"},
}
_IMPERFECT = {
    "it": {
        k: f"{k[0]}vo {k[0]}vi {k[0]}va {k[0]}vamo {k[0]}vate {k[0]}vano"
        for k in ("are", "ere", "ire")
    },
    "es": {
        "ar": "aba abas aba ábamos aban",
        "er": "ía ías ía íamos ían",
        "ir": "ía ías ía íamos ían",
    },
    "pt": {"ar": "ava ava ava ávamos avam", "er": "ia ia ia íamos iam", "ir": "ia ia ia íamos iam"},
}
_PRETERITE = {
    "es": {"ar": "é aste ó amos aron", "er": "í iste ió imos ieron", "ir": "í iste ió imos ieron"},
    "pt": {"ar": "ei ou ou amos aram", "er": "i eu eu emos eram", "ir": "i iu iu imos iram"},
}
_FUTURE = {
    "it": "ò ai à emo ete anno",
    "es": "é ás á emos án",
    "pt": "ei á á emos ão",
}
_PARTICIPLE = {
    "it": {"are": "ato", "ere": "uto", "ire": "ito"},
    "es": {"ar": "ado", "er": "ido", "ir": "ido"},
    "pt": {"ar": "ado", "er": "ido", "ir": "ido"},
}
_SUBJUNCTIVE = {
    "it": {"are": ("i", "ino"), "ere": ("a", "ano"), "ire": ("a", "ano")},
    "es": {"ar": ("e", "en"), "er": ("a", "an"), "ir": ("a", "an")},
    "pt": {"ar": ("e", "em"), "er": ("a", "am"), "ir": ("a", "am")},
}
# Spelling that keeps the sound of a stem before e and i.
_SOFTEN = {
    "it": (("c", "ch"), ("g", "gh")),
    "es": (("c", "qu"), ("g", "gu"), ("z", "c")),
    "pt": (("c", "qu"), ("g", "gu"), ("ç", "c")),
}
_PLAIN = str.maketrans("áéíóú", "aeiou")


def _add(language: str, stem: str, ending: str, *, hard: bool) -> str:
    """Stem and ending; `hard` for verbs in -are, -ar, whose stems keep their sound."""
    if hard and ending[0] in "eéi":
        if language == "it" and stem.endswith("i"):
            return stem[:-1] + ending
        for old, new in _SOFTEN[language]:
            if stem.endswith(old):
                return stem[: -len(old)] + new + ending
    return stem + ending


def _four(masculine: str, feminine: str, many: str, many_feminine: str) -> tuple[str, ...]:
    return masculine, feminine, many, many_feminine


def italian_plural(word: str, gender: str) -> str:
    """The regular plural of an Italian noun or adjective."""
    if word[-1] not in "aeo" or word[-1] in "àèéìòù":
        return word
    if word[-1] == "a" and gender == "f":
        return word[:-1] + ("he" if word[-2] in "cg" else "e")
    return word[:-2] + "i" if word.endswith("io") else word[:-1] + "i"


def spanish_plural(word: str) -> str:
    """The regular plural of a Spanish noun or adjective."""
    if word.endswith("z"):
        return word[:-1] + "ces"
    if word[-1] in "aeiouáéó":
        return word + "s"
    if word[-2] in "áéíóú":
        return word[:-2] + word[-2:].translate(_PLAIN) + "es"
    return word + "es"


def portuguese_plural(word: str) -> str:
    """The regular plural of a Portuguese noun or adjective."""
    if word in ("ônibus", "lápis"):
        return word
    for old, new in (
        ("ão", "ões"),
        ("m", "ns"),
        ("ável", "áveis"),
        ("ível", "íveis"),
        ("ácil", "áceis"),
        ("ícil", "íceis"),
        ("útil", "úteis"),
        ("al", "ais"),
        ("el", "éis"),
        ("il", "is"),
        ("ol", "óis"),
        ("ul", "uis"),
        ("ês", "eses"),
    ):
        if word.endswith(old):
            return word[: -len(old)] + new
    return word + ("es" if word[-1] in "rzs" else "s")


def plural(language: str, word: str, gender: str) -> str:
    """The regular plural of a word."""
    if language == "it":
        return italian_plural(word, gender)
    return spanish_plural(word) if language == "es" else portuguese_plural(word)


def noun(language: str, cell: Cell) -> tuple[str, dict[str, str]]:
    """Gender and the forms ``sg`` and ``pl``."""
    gender = "f" if "f" in cell.marks or "el" in cell.marks else "m"
    many = cell.keys.get("pl", plural(language, cell.lemma, gender))
    return gender, {"sg": cell.lemma, "pl": many}


def adjective(language: str, cell: Cell) -> dict[str, str]:
    """The four forms of an adjective."""
    lemma = cell.lemma
    feminine = cell.keys.get("f") or (lemma[:-1] + "a" if lemma[-1] == "o" else lemma)
    if language == "pt" and lemma.endswith("ês"):
        feminine = lemma[:-2] + "esa"
    many = cell.keys.get("pl", plural(language, lemma, "m"))
    return dict(
        zip(
            AGREEMENT,
            _four(lemma, feminine, many, _many_feminine(language, feminine, many)),
            strict=True,
        )
    )


def _many_feminine(language: str, feminine: str, many: str) -> str:
    if feminine[-1] == "a":
        return plural(language, feminine, "f")
    return many


def infinitive(language: str, cell: Cell) -> str:
    """What the endings are cut from: without clitic, without the accent of reír."""
    lemma = cell.lemma
    if "refl" in cell.marks:
        lemma = lemma[:-2] + ("e" if language == "it" else "")
    if lemma.endswith("porre"):
        return lemma.replace("porre", "ponere")
    return lemma[:-2] + "ir" if lemma.endswith("ír") else lemma


def verb(language: str, cell: Cell) -> dict[str, tuple[str, ...]]:
    """All forms of a verb, by tense."""
    lemma = infinitive(language, cell)
    size = 3 if language == "it" else 2
    stem, ending = lemma[:-size], lemma[-size:]
    hard = ending in ("are", "ar")
    present = _present(language, cell, stem, ending)
    singular, many = _SUBJUNCTIVE[language][ending]
    subjunctive_stem = present[0].removesuffix("o")
    forms = {
        "infinitive": (cell.lemma,),
        "present": present,
        "imperfect": _imperfect(language, cell, stem, ending),
        "future": _future(language, cell, stem, ending),
        "subjunctive": cell.listed("subj")
        or tuple(_add(language, subjunctive_stem, end, hard=hard) for end in (singular, many)),
        "participle": _participle(language, cell, stem, ending),
    }
    if language != "it":
        forms["past"] = cell.listed("pret") or tuple(
            _add(language, stem, end, hard=hard) for end in _PRETERITE[language][ending].split()
        )
    return forms


def _present(language: str, cell: Cell, stem: str, ending: str) -> tuple[str, ...]:
    listed = cell.listed("pres")
    if listed:
        return listed
    endings = _PRESENT[language][ending].split()
    stressed = (0, 1, 2, len(endings) - 1)
    boot = stem + "isc" if "isc" in cell.marks else cell.keys.get("boot", stem)
    forms = [
        _add(language, boot if place in stressed else stem, end, hard=ending in ("are", "ar"))
        for place, end in enumerate(endings)
    ]
    forms[0] = cell.keys.get("one", forms[0])
    return tuple(forms)


def _imperfect(language: str, cell: Cell, stem: str, ending: str) -> tuple[str, ...]:
    endings: Sequence[str] = _IMPERFECT[language][ending].split()
    if "impf" in cell.keys:
        stem = cell.keys["impf"]
        endings = [end[1:] for end in endings] if language == "it" else endings
    if language == "pt" and ending == "ir" and stem[-1] in "au":
        endings = [end.replace("i", "í", 1) for end in endings]
    return tuple(stem + end for end in endings)


def _future(language: str, cell: Cell, stem: str, ending: str) -> tuple[str, ...]:
    if language == "it":
        base = stem + ending[:-1]
        if ending == "are":
            soft = stem.endswith(("ci", "gi"))
            base = stem[:-1] + "er" if soft else stem + "er"
            if stem[-1] in "cg":
                base = stem + "her"
        base = cell.keys.get("fut", base)
    else:
        base = cell.keys.get("fut", stem + ending)
    return tuple(base + end for end in _FUTURE[language].split())


def _participle(language: str, cell: Cell, stem: str, ending: str) -> tuple[str, ...]:
    regular = _PARTICIPLE[language][ending]
    if language == "pt" and stem[-1] in "au":
        regular = regular.replace("i", "í")
    one = cell.keys.get("pp", stem + regular)
    base = one[:-1]
    if language == "it":
        return _four(one, base + "a", base + "i", base + "e")
    return _four(one, base + "a", base + "os", base + "as")


def _rules(language: str) -> Rules:
    return Rules(
        lambda cell: noun(language, cell),
        lambda cell: adjective(language, cell),
        lambda cell: verb(language, cell),
    )


RULES = {language: _rules(language) for language in ("it", "es", "pt")}
