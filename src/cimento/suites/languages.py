"""Languages by code and by name, as far as datasets of this field name them."""

from __future__ import annotations

NAMES = {
    "ca": "Catalan",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "he": "Hebrew",
    "it": "Italian",
    "nl": "Dutch",
    "pt": "Portuguese",
    "ru": "Russian",
    "zh": "Chinese",
}
"""ISO 639-1 code to English name."""

_CODES = {name.casefold(): code for code, name in NAMES.items()}


def language_code(name: str) -> str:
    """The ISO 639-1 code of a language from its English name; what is unknown stays as it is."""
    return _CODES.get(name.strip().casefold(), name.strip())
