"""Inflection of Russian words: six cases, long and short adjectives, two conjugations."""

from __future__ import annotations

from demo.lexicon import Cell, Rules

CASES = ("nom", "gen", "dat", "acc", "ins", "loc")
_HUSHERS = "жшщч"
_BACK = "гкх"


def _spell(word: str) -> str:
    """ы becomes и after back consonants and hushers; я, ю become а, у after hushers and ц."""
    for consonant in _HUSHERS + _BACK:
        word = word.replace(consonant + "ы", consonant + "и")
    for consonant in _HUSHERS + "ц":
        word = word.replace(consonant + "я", consonant + "а").replace(
            consonant + "ю", consonant + "у"
        )
    return word


def noun(cell: Cell) -> tuple[str, dict[str, str]]:
    """Gender and the twelve forms, keys such as ``sg.gen``; ``sg.place`` follows в and на."""
    gender = next(mark for mark in cell.marks if mark in ("m", "f", "n"))
    if "ind" in cell.marks:
        one: tuple[str, ...] = (cell.lemma,) * 6
        many = one
    else:
        one = _singular(cell, gender)
        many = _plural(cell, gender)
    forms = {f"sg.{case}": form for case, form in zip(CASES, one, strict=True)}
    forms |= {f"pl.{case}": form for case, form in zip(CASES, many, strict=True)}
    if cell.lemma[-1] not in "ая" and gender == "m":
        forms["sg.acc.animate"] = forms["sg.gen"]
    forms["pl.acc.animate"] = forms["pl.gen"]
    forms["sg.place"] = cell.keys.get("loc", forms["sg.loc"])
    forms["pl.place"] = forms["pl.loc"]
    return gender, forms


def _singular(cell: Cell, gender: str) -> tuple[str, ...]:
    stem, endings = _declension(cell, gender)
    forms = [_spell(stem + ending) for ending in endings]
    unchanged = gender == "m" and cell.lemma[-1] not in "ая"
    if unchanged:
        forms[0] = forms[3] = cell.lemma
    forms[4] = cell.keys.get("ins", forms[4])
    return tuple(forms)


def _declension(cell: Cell, gender: str) -> tuple[str, tuple[str, ...]]:
    """The stem and the six endings of the singular."""
    word = cell.lemma
    last, stem = word[-1], word[:-1]
    after_i = "и" if stem[-1] == "и" else "е"
    if last == "а":
        return stem, ("а", "ы", "е", "у", "ей" if stem[-1] in _HUSHERS + "ц" else "ой", "е")
    if last == "я":
        return stem, ("я", "и", after_i, "ю", "ей", after_i)
    if last == "о":
        return stem, ("о", "а", "у", "о", "ом", "е")
    if last == "е":
        return stem, ("е", "я", "ю", "е", "ем", after_i)
    if last == "ь" and gender == "f":
        return stem, ("ь", "и", "и", "ь", "ью", "и")
    return _masculine(cell)


def _masculine(cell: Cell) -> tuple[str, tuple[str, ...]]:
    """The same for masculine nouns, whose first and fourth forms are the word itself."""
    word = cell.lemma
    if word[-1] in "ьй":
        return cell.keys.get("stem", word[:-1]), ("", "я", "ю", "", "ем", "е")
    stem = cell.keys.get("stem", word)
    return stem, ("", "а", "у", "", "ем" if stem[-1] in _HUSHERS + "ц" else "ом", "е")


def _plural(cell: Cell, gender: str) -> tuple[str, ...]:
    listed = cell.listed("pl")
    if len(listed) == len(CASES):
        return listed
    nominative = listed[0] if listed else _nominative_plural(cell, gender)
    base = nominative[:-1]
    soft = nominative[-1] in "ия" and base[-1] not in _HUSHERS + _BACK
    vowel = "я" if soft else "а"
    genitive = cell.keys.get("gp", _genitive_plural(cell, base, nominative))
    oblique = (base + vowel + "м", base + vowel + "ми", base + vowel + "х")
    return nominative, genitive, oblique[0], nominative, oblique[1], oblique[2]


def _nominative_plural(cell: Cell, gender: str) -> str:
    word = cell.lemma
    stem = cell.keys.get("stem", word if word[-1] not in "аяьйое" else word[:-1])
    if gender == "n":
        return _spell(stem + ("а" if word[-1] == "о" else "я"))
    return _spell(stem + ("и" if word[-1] in "яьй" else "ы"))


def _genitive_plural(cell: Cell, base: str, nominative: str) -> str:
    last = cell.lemma[-1]
    if last in "ао":
        return base
    if last == "я":
        return base + ("й" if base[-1] in "ие" else "ь")
    if last == "е":
        return base + ("й" if base[-1] == "и" else "ей")
    if last == "ь" or base[-1] in _HUSHERS:
        return base + "ей"
    short = last == "й" or (base[-1] == "ц" and nominative[-1] != "а")
    return base + ("ев" if short else "ов")


_LONG = {
    "m": ("ый", "ого", "ому", "ый", "ым", "ом"),
    "n": ("ое", "ого", "ому", "ое", "ым", "ом"),
    "f": ("ая", "ой", "ой", "ую", "ой", "ой"),
    "pl": ("ые", "ых", "ым", "ые", "ыми", "ых"),
}
_SOFT = str.maketrans("ыоау", "иеяю")


def adjective(cell: Cell) -> dict[str, str]:
    """Long forms, keys such as ``f.acc``, and short ones (``short.f``) where the table has them."""
    word = cell.lemma
    stem = word[:-2]
    soft = word.endswith("ний")
    forms = {}
    for gender, endings in _LONG.items():
        for case, ending in zip(CASES, endings, strict=True):
            forms[f"{gender}.{case}"] = _spell_adjective(stem, ending, soft=soft)
    for case in ("nom", "acc"):
        forms[f"m.{case}"] = word
    if soft:
        forms["f.acc"] = stem + "юю"
    forms["m.acc.animate"] = forms["m.gen"]
    forms["pl.acc.animate"] = forms["pl.gen"]
    short = cell.listed("short")
    if len(short) == 1:
        short = tuple(short[0] + end for end in ("", "а", "о", "ы"))
    forms |= {f"short.{g}": f for g, f in zip(("m", "f", "n", "pl"), short, strict=False)}
    return forms


def _spell_adjective(stem: str, ending: str, *, soft: bool) -> str:
    if soft:
        return stem + ending[0].translate(_SOFT) + ending[1:]
    if stem[-1] in _HUSHERS and ending[0] == "о":
        return f"{stem}е{ending[1:]}"
    return stem + (
        "и" + ending[1:] if stem[-1] in _HUSHERS + _BACK and ending[0] == "ы" else ending
    )


_FIRST = ("ю", "ешь", "ет", "ем", "ете", "ют")
_SECOND = ("ю", "ишь", "ит", "им", "ите", "ят")


def verb(cell: Cell) -> dict[str, tuple[str, ...]]:
    """Infinitive, present (six persons), past of both aspects (m, f, n, pl)."""
    plain = _past(cell.lemma, cell.listed("past"))
    perfective = plain
    if "pf" in cell.keys or "pfpast" in cell.keys:
        perfective = _past(cell.keys.get("pf", cell.lemma), cell.listed("pfpast"))
    return {
        "infinitive": (cell.lemma,),
        "present": cell.listed("pres") or _present(cell),
        "imperfect": plain,
        "past": perfective,
    }


def _past(infinitive: str, listed: tuple[str, ...]) -> tuple[str, ...]:
    if listed:
        return listed
    if infinitive.endswith("ся"):
        base = infinitive[:-4]
        return base + "лся", base + "лась", base + "лось", base + "лись"
    base = infinitive[:-2]
    return base + "л", base + "ла", base + "ло", base + "ли"


def _present(cell: Cell) -> tuple[str, ...]:
    word = cell.lemma
    reflexive = word.endswith("ся")
    word = word.removesuffix("ся")
    if "1" in cell.marks:
        forms = [word[:-2] + end for end in _FIRST]
    elif "ov" in cell.marks:
        forms = [word[:-5] + "у" + end for end in _FIRST]
    else:
        forms = [_spell(word[:-3] + end) for end in _SECOND]
    forms[0] = cell.keys.get("one", forms[0])
    if reflexive:
        forms = [form + ("сь" if form[-1] in "юуее" else "ся") for form in forms]
    return tuple(forms)


RULES = Rules(noun, adjective, verb)
