"""What suites of every kind ask people, for answers that name it by an id or by its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from cimento.errors import InputError
from cimento.judgments.places import Place, Places
from cimento.judgments.records import BETTER
from cimento.suites.kinds import ACCEPTABILITY, REGIONS, kind_of

Named: TypeAlias = tuple[Place, list[str]]

SENTENCE_ID = "sentence_id"
"""Free column with an id of each sentence, as suites made of treebanks have it."""


def places_of(suites: Sequence[Path]) -> Places:
    """The questions of suites, by every name that an answer may have for them.

    Args:
        suites: folders or files of any kind but stories.

    Raises:
        InputError: one cannot be read, or is of a kind about which people are not asked so.
    """
    return Places(each for path in suites for each in _named(path))


def _named(path: Path) -> Iterator[Named]:
    from cimento.acceptability.suites import is_rated_table

    kind = kind_of(path)
    if kind in (REGIONS, ACCEPTABILITY) or is_rated_table(path):
        yield from _sentences(path)
    elif kind in ("cloze", "templates"):
        yield from _blanks(path)
    else:
        raise InputError(
            where=str(path),
            seen=f"is a suite of kind {kind!r}",
            todo="Answers are imported for sentences, pairs and blanks.",
        )


def _sentences(path: Path) -> Iterator[Named]:
    from cimento.acceptability.suites import is_rated_table, read_rated_suite
    from cimento.requests import stimulus_text
    from cimento.suites.load import load_suite

    suite = read_rated_suite(path) if is_rated_table(path) else load_suite(path).suite
    for item in suite.items:
        for condition in item.conditions:
            text = stimulus_text(condition, rule=suite.join)
            both = f"{item.id}/{condition.name}"
            names = [item.id, both, both.replace("/", " "), text]
            names.append(condition.columns.get(SENTENCE_ID, ""))
            yield Place(suite.name, item.id, condition.name, text), names
        if len(item.conditions) > 1:
            yield Place(suite.name, item.id, "", ""), [f"{item.id}/{BETTER}"]


def _blanks(path: Path) -> Iterator[Named]:
    from cimento.cloze.load import load_cloze

    suite = load_cloze(path).suite
    for item in suite.items:
        shown = [f"{item.before}{sign}{item.after}" for sign in ("___", "...", " ... ", "…")]
        yield Place(suite.name, item.id, "", item.text), [item.id, *shown]
