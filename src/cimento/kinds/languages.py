"""The language of a suite that is given separately, because a bare table cannot state it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cimento.errors import Fault, UsageError
from cimento.faults import WITHOUT_LANGUAGE, changed
from cimento.kinds.base import SuiteReading
from cimento.suites.formats.ratings import CONNECTIVES_FORM
from cimento.suites.languages import LANGUAGE_CODE, language_code


def in_language(reading: SuiteReading[Any], language: str) -> SuiteReading[Any]:
    """A suite that was read, in a language given separately.

    Args:
        reading: result of reading; a bare table has no place for its language, and without a given
            one, its fault says how to give it.
        language: ISO 639-1 code; empty for the suite's own.

    Raises:
        UsageError: the code is invalid, or the suite states another language.
    """
    suite, flag = reading.suite, f"--language={language}"
    code = language_code(language)
    if language and (code != language or not LANGUAGE_CODE.fullmatch(language)):
        todo = "Give two letters: en, es, it, pt, ru ..."
        todo = f"Give --language={code}." if code != language else todo
        raise UsageError(where=flag, seen="it is not an ISO 639-1 code", todo=todo)
    if suite is None or not language:
        return replace(reading, faults=_with_language_advice(reading))
    stated = suite.meta.language
    if reading.table is not None and reading.table.known == CONNECTIVES_FORM:
        stated = ""  # the resource's, and not said by the table
    if stated and stated.partition("-")[0] != language.partition("-")[0]:
        raise UsageError(
            where=flag,
            seen=f"{suite.name} says that it is in {stated!r}",
            todo="Leave --language out, or correct the suite.",
        )
    if stated:
        return reading
    meta = replace(suite.meta, language=language)
    return replace(
        reading,
        suite=replace(suite, meta=meta),
        faults=changed(reading.faults, _but_of_language),
        language=language,
    )


def _but_of_language(faults: Sequence[Fault]) -> Sequence[Fault]:
    """The faults but that of a missing language."""
    return tuple(fault for fault in faults if fault.code not in WITHOUT_LANGUAGE)


def _with_language_advice(reading: SuiteReading[Any]) -> Sequence[Fault]:
    """The faults of a suite; a fault of a missing language says where to give one."""
    if (
        reading.format in ("native", "python")
        or reading.suite is None
        or reading.suite.meta.language
    ):
        return reading.faults
    return changed(reading.faults, _advise_language)


def _advise_language(faults: Sequence[Fault]) -> Sequence[Fault]:
    # The file is not named, so that many files without a language make one remark.
    todo = (
        "Say in which language the sentences are: --language CODE (en, es, it, pt, ru ...);"
        " `cimento suites convert FILE --language CODE -o NAME.xlsx` writes a workbook that says"
        " it."
    )
    return tuple(
        replace(fault, todo=todo) if fault.code in WITHOUT_LANGUAGE else fault for fault in faults
    )
