"""The suites of cimento itself in a language: starter suites, and drafts made from its grammars.

They are parts of their own of what is asked in a language, beside its published sets. Only pairs
are in them: designs and ratings have no rate to show.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.corpus.generation import generate_suites
from cimento.corpus.grammar_files import find_grammar, grammar_names, read_grammar
from cimento.errors import InputError
from cimento.kinds.registry import load_suites
from cimento.suites.builtin import language_models, list_builtin, readers_of

if TYPE_CHECKING:
    from cimento.corpus.grammar import Grammar
    from cimento.kinds.registry import LoadedSuite
    from cimento.suites import Suite

PAIRS_AND_RATINGS = ("regions", "ratings")
"""The paradigms of pairs and of rated sentences."""
ITEMS_OF_DRAFT = 24
"""Items of each draft."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A suite of pairs made from a grammar that comes with cimento, not reviewed as a whole.

    Attributes:
        suite: name of the suite, which is that of the grammar.
        phenomenon: the class of phenomena of the grammar.
        about: what the grammar is about.
        n_items: number of its items.
        seed: seed of the draw of words.
        n_read: items of this grammar, of any draw, that two readers or more judged.
        readers: who the readers of the suite were.
    """

    suite: str
    phenomenon: str
    about: str
    n_items: int
    seed: int
    n_read: int
    readers: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafts:
    """The suites made from the grammars of a language.

    Attributes:
        suites: the suites.
        drafts: what is known of each of them, in the same order.
        failed: names of grammars, each mapped to why so many items cannot be drawn.
    """

    suites: tuple[LoadedSuite, ...]
    drafts: tuple[Draft, ...]
    failed: dict[str, InputError]


def starter_suites(language: str) -> tuple[LoadedSuite, ...]:
    """The suites of pairs that come with cimento.

    Args:
        language: its code.
    """
    names = [
        suite.name
        for suite in list_builtin()
        if suite.language == language and suite.kind in PAIRS_AND_RATINGS
    ]
    return tuple(
        one
        for one in load_suites(names)
        if one.paradigm.name != "ratings" and one.sentences and not one.sentences.factors
    )


def generated_suites(language: str, *, seed: int) -> Drafts:
    """Suites of pairs made from the grammars of a language, each with as many items.

    They are those of ``cimento suites build pairs GRAMMAR --items 24 --seed SEED``.

    Args:
        language: its code.
        seed: of the draw of words.
    """
    suites: list[Suite] = []
    drafts: list[Draft] = []
    failed: dict[str, InputError] = {}
    for name in grammar_names():
        path = find_grammar(name)
        if path.parent.name != language or (grammar := read_grammar(path)).factors:
            continue
        try:
            suite, _ = generate_suites(grammar, n=ITEMS_OF_DRAFT, seed=seed)
        except InputError as error:
            failed[grammar.name] = error
            continue
        suites.append(suite)
        drafts.append(_draft(grammar, name, path.parent, suite, seed=seed))
    return Drafts(suites=tuple(load_suites(suites)), drafts=tuple(drafts), failed=failed)


def _draft(grammar: Grammar, name: str, folder: Path, suite: Suite, *, seed: int) -> Draft:
    """What is known of a draft, with who judged items of its grammar."""
    read = {
        item: names
        for item, names in readers_of(folder).items()
        if item.partition("/")[0] == name and len(names) > 1
    }
    who = {reader for names in read.values() for reader in names}
    return Draft(
        suite=suite.name,
        phenomenon=grammar.term,
        about=grammar.phenomenon,
        n_items=len(suite.items),
        seed=seed,
        n_read=len(read),
        readers=_readers({name for name, _ in who}, natives=any(native for _, native in who)),
    )


def _readers(names: set[str], *, natives: bool) -> str:
    """Who readers are, in words."""
    if not names:
        return "nobody"
    if names <= language_models():
        return "language models"
    return "people, native speakers among them" if natives else "people, no native speaker"
