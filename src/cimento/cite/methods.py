"""The methods paragraph: what was done, in sentences that cite; the same sentences in three forms.

Sentences mark citations as pandoc does, ``[@key; @other]``. What all runs share is said once; what
only some do is said of these by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.cite import sentences
from cimento.cite.library import (
    Reference,
    cimento_itself,
    from_text,
    library,
    slug,
    works_in,
)
from cimento.cite.sentences import RunFacts
from cimento.io.inline_markup import tex

if TYPE_CHECKING:
    from cimento.runs.run import Run

ParagraphForm: TypeAlias = Literal["text", "markdown", "latex"]

_CITED = re.compile(r" ?\[@[^\s;\]]+(?:; @[^\s;\]]+)*\]")
_KEY = re.compile(r"@([^\s;\]]+)")

Sayer: TypeAlias = Callable[[RunFacts], Sequence[str]]

_SAYERS: Sequence[Sayer] = (
    sentences.scoring_sentences,
    lambda run: run.methods.sentences,
    sentences.outcome_sentences,
    sentences.results,
)
"""What is said between models and software, in order."""


def methods_paragraph(runs: Sequence[Run], *, form: ParagraphForm = "text") -> str:
    r"""How some runs were made, as one paragraph.

    Args:
        runs: one or more; what they share is said once.
        form: ``text`` names works in parentheses, ``markdown`` has pandoc's ``[@key]``, ``latex``
            natbib's ``\citep{key}``.

    Returns:
        One line, without a line break at its end; empty without runs.
    """
    facts = [*map(RunFacts, runs)]
    paragraph = " ".join(_sentences(facts))
    if form == "markdown":
        return paragraph
    names = {work.key: work for work in _works(facts, paragraph)}
    if form == "latex":
        return _with_citations(paragraph, names, _latex, between=tex)
    return _with_citations(paragraph, names, lambda keys: _named(keys, names))


def references(runs: Sequence[Run]) -> tuple[Reference, ...]:
    """The works that the methods paragraph of some runs cites, in order, each once."""
    facts = [*map(RunFacts, runs)]
    return _works(facts, " ".join(_sentences(facts)))


def _works(runs: Sequence[RunFacts], paragraph: str) -> tuple[Reference, ...]:
    suites = {work.key: work for run in runs for work in (_of_suite(run), *_origins(run))}
    known = {**library(), **sentences.plugged_works(runs), **suites, "cimento": cimento_itself()}
    keys = dict.fromkeys(key for cited in _CITED.findall(paragraph) for key in _KEY.findall(cited))
    # A suite's own words may look like a citation.
    return tuple(known[key] for key in keys if key in known)


def _sentences(runs: Sequence[RunFacts]) -> list[str]:
    if not runs:
        return []
    said = [
        *dict.fromkeys(sentences.suite_sentences(run, cited=_keys(run)) for run in runs),
        sentences.model_sentences(runs),
    ]
    by_sentence: dict[str, list[RunFacts]] = {}
    for say in _SAYERS:
        for run in runs:
            for sentence in say(run):
                by_sentence.setdefault(sentence, []).append(run)
    last = ""
    for sentence, those in by_sentence.items():
        whose = _whose(those, runs)
        said.append(sentence if whose == last else f"{whose or 'In all runs'}: {sentence}")
        last = whose
    return [*said, *dict.fromkeys(sentences.software_sentences(run) for run in runs)]


def _whose(those: Sequence[RunFacts], runs: Sequence[RunFacts]) -> str:
    """Whom a sentence is about: all runs of some suites, of some models, single ones; or all."""
    if len(those) == len(runs):
        return ""
    suites = dict.fromkeys(run.meta.name for run in those)
    models = dict.fromkeys(run.label for run in those)
    if all(run in those for run in runs if run.meta.name in suites):
        return _listed(list(suites))
    if all(run in those for run in runs if run.label in models):
        return _listed(list(models))
    return _listed([f"{run.meta.name} with {run.label}" for run in those])


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _of_suite(run: RunFacts) -> Reference:
    """The suite itself: as its author wants it cited, else from what is known of it."""
    meta = run.meta
    key = slug(meta.name)
    if meta.citation.lstrip().startswith("@"):
        return from_text(meta.citation)
    fields = {"version": meta.version, "note": meta.citation}
    return Reference(
        key=key,
        type="misc",
        authors=(f"{{{meta.author}}}",) if meta.author else (),
        title=meta.name,
        fields={name: text for name, text in fields.items() if text},
    )


def _origins(run: RunFacts) -> tuple[Reference, ...]:
    """The publications that a suite says it comes from."""
    return works_in(run.meta.reference)


def _keys(run: RunFacts) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.key for each in (_of_suite(run), *_origins(run))))


def _with_citations(
    paragraph: str,
    known: Collection[str],
    written: Callable[[list[str]], str],
    *,
    between: Callable[[str], str] = str,
) -> str:
    """The paragraph with each citation as `written` has it, and the rest as `between` has it."""
    found: list[str] = []
    at = 0
    for match in _CITED.finditer(paragraph):
        keys = _KEY.findall(match[0])
        if any(key not in known for key in keys):
            continue
        found += [between(paragraph[at : match.start()]), written(keys)]
        at = match.end()
    return "".join([*found, between(paragraph[at:])])


def _latex(keys: list[str]) -> str:
    return f" \\citep{{{','.join(keys)}}}"


def _named(keys: list[str], names: Mapping[str, Reference]) -> str:
    shorts = [names[key].short for key in keys]
    return f" ({'; '.join(dict.fromkeys(shorts))})"
