"""Checks of the language of a suite: it is named by its code, and there is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cimento.errors import Fault, counted
from cimento.faults import NO_LANGUAGE, SEVERAL_LANGUAGES, fault
from cimento.intake.words import NAMES, word_list
from cimento.suites import ItemColumns
from cimento.suites.checks.structure import Check, Stimuli
from cimento.suites.languages import ENGLISH, LANGUAGE_CODE, language_code

_SHOWN = 4
"""Largest number of languages that a message lists."""
_COLUMNS = {"language", "lang", *NAMES["language"]}
_WORDS = {*word_list("words.languages")}


def _language(stimuli: Stimuli) -> Iterator[Fault]:
    suite = stimuli.suite
    language = suite.meta.language
    if not language:
        yield fault(NO_LANGUAGE, where=suite.name, seen="The suite does not name its language.")
    elif not LANGUAGE_CODE.fullmatch(language):
        code = language_code(language)
        seen = f"The language {language!r} is not an ISO 639-1 code."
        todo = f"Write {code!r}." if code != language else None
        yield fault(NO_LANGUAGE, where=suite.name, seen=seen, todo=todo)


def _several(stimuli: Stimuli) -> Iterator[Fault]:
    """The fault of a column whose cells name several languages, and nothing else."""
    for name, cells in ItemColumns.of(stimuli.suite.items).free.items():
        if name.casefold().strip() not in _COLUMNS:
            continue
        counts = Counter(cell.strip() for cell in cells if cell and cell.strip())
        if len(counts) > 1 and all(map(_is_language, counts)):
            shown = ", ".join(
                f"{word!r} ({counted(n, 'sentence')})" for word, n in counts.most_common(_SHOWN)
            )
            more = f" and {len(counts) - _SHOWN} more" if len(counts) > _SHOWN else ""
            seen = f"By the column {name!r}, the sentences are in several languages: {shown}{more}."
            todo = "Make one file for each language, and run each with its --language."
            yield fault(SEVERAL_LANGUAGES, where=stimuli.suite.name, seen=seen, todo=todo)


def _is_language(word: str) -> bool:
    """Whether a word is the code of a language, or its name in one of the languages of tables."""
    return language_code(word).casefold() in ENGLISH or word.casefold() in _WORDS


LANGUAGE_CHECKS: tuple[Check, ...] = (_language, _several)
"""The checks of codes CIM-S033 and CIM-S094, which are warnings."""
