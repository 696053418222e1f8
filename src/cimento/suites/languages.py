"""The languages of suites and of published sets: their codes and English names."""

from __future__ import annotations

import re

_LANGUAGES = (
    ("ar", "ara", "Arabic"), ("ca", "cat", "Catalan"),
    ("da", "dan", "Danish"), ("de", "deu", "German"),
    ("en", "eng", "English"), ("es", "spa", "Spanish"),
    ("eu", "eus", "Basque"), ("fo", "fao", "Faroese"),
    ("fr", "fra", "French"), ("he", "heb", "Hebrew"),
    ("hi", "hin", "Hindi"), ("hu", "hun", "Hungarian"),
    ("id", "ind", "Indonesian"), ("is", "isl", "Icelandic"),
    ("it", "ita", "Italian"), ("ja", "jpn", "Japanese"),
    ("ko", "kor", "Korean"), ("nl", "nld", "Dutch"),
    ("no", "nor", "Norwegian"), ("pt", "por", "Portuguese"),
    ("ru", "rus", "Russian"), ("sv", "swe", "Swedish"),
    ("sw", "swa", "Swahili"), ("ta", "tam", "Tamil"),
    ("th", "tha", "Thai"), ("tr", "tur", "Turkish"),
    ("zh", "zho", "Chinese"),
)  # fmt: skip
"""The codes of languages in ISO 639-1 and ISO 639-3, and their names; the app has all of them."""

_OTHERS = (
    ("ab", "abk", "Abkhazian"), ("am", "amh", "Amharic"), ("be", "bel", "Belarusian"),
    ("bg", "bul", "Bulgarian"), ("bn", "ben", "Bengali"), ("br", "bre", "Breton"),
    ("cs", "ces", "Czech"), ("cu", "chu", "Church Slavic"), ("cy", "cym", "Welsh"),
    ("el", "ell", "Greek"), ("et", "est", "Estonian"), ("fa", "fas", "Persian"),
    ("fi", "fin", "Finnish"), ("ga", "gle", "Irish"), ("gd", "gla", "Scottish Gaelic"),
    ("gl", "glg", "Galician"), ("gu", "guj", "Gujarati"), ("hy", "hye", "Armenian"),
    ("ka", "kat", "Georgian"), ("kk", "kaz", "Kazakh"), ("ky", "kir", "Kyrgyz"),
    ("la", "lat", "Latin"), ("lt", "lit", "Lithuanian"), ("lv", "lav", "Latvian"),
    ("mk", "mkd", "Macedonian"), ("mr", "mar", "Marathi"), ("pl", "pol", "Polish"),
    ("ro", "ron", "Romanian"), ("sa", "san", "Sanskrit"), ("se", "sme", "Northern Sami"),
    ("sh", "hbs", "Serbo-Croatian"), ("sk", "slk", "Slovak"), ("sl", "slv", "Slovenian"),
    ("sq", "sqi", "Albanian"), ("ug", "uig", "Uyghur"), ("uk", "ukr", "Ukrainian"),
    ("ur", "urd", "Urdu"), ("uz", "uzb", "Uzbek"), ("wo", "wol", "Wolof"),
)  # fmt: skip
"""The same of further languages that published sets are in."""

VARIETIES = {"ar": "arb"}
"""ISO 639-3 codes of the one variety that sets have of a language with a code of its own."""

NAMES = {code: name for code, _, name in _LANGUAGES}
"""English names of languages by ISO 639-1 code."""

ENGLISH = {code: name for code, _, name in (*_LANGUAGES, *_OTHERS)}
"""English names by ISO 639-1 code, also of further languages."""

ISO_639_3 = {code: three for code, three, _ in (*_LANGUAGES, *_OTHERS)}
"""ISO 639-3 codes by ISO 639-1 code."""

_CODES = {word.casefold(): code for code, *words in (*_LANGUAGES, *_OTHERS) for word in words} | {
    variety: code for code, variety in VARIETIES.items()
}

LANGUAGE_CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9-]+)?")


def language_code(name: str) -> str:
    """The ISO 639-1 code of a language from its English name, or its code of three letters.

    An unknown name is unchanged.
    """
    return _CODES.get(name.strip().casefold(), name.strip())
