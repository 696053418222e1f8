"""Methods of runs, as sentences with citations.

Sentences mark citations in pandoc's syntax, ``[@key; @other]``. A sentence that applies to all runs
is stated once. In an appendix, sentences that apply to the same runs form a paragraph, which names
them. Suites, models and software are the materials, in the words of an appendix.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.cite import brief, sentences
from cimento.cite.groups import made_alike, unlike
from cimento.cite.library import (
    YEAR,
    CitedWork,
    bibtex_key,
    cimento_itself,
    from_text,
    library,
    works_in,
)
from cimento.cite.sentences import RunFacts, cite_keys
from cimento.errors import counted
from cimento.io.inline_markup import tex
from cimento.io.parsing import whole_number
from cimento.io.values import grouped
from cimento.kinds.partial import taken_items
from cimento.records.store import manifest_part
from cimento.suites.languages import ENGLISH

if TYPE_CHECKING:
    from cimento.kinds.run import Run

ParagraphForm: TypeAlias = Literal["text", "markdown", "latex"]
"""How a methods paragraph is written."""

_CITED = re.compile(r" ?\[@[^\s;\]]+(?:; @[^\s;\]]+)*\]")
_KEY = re.compile(r"@([^\s;\]]+)")

Sayer: TypeAlias = Callable[[RunFacts], Sequence[str]]

_SAYERS: Sequence[Sayer] = (
    sentences.plugin_sentences,
    sentences.adaptive_sentences,
    sentences.scoring_sentences,
    lambda run: run.methods.sentences,
    sentences.outcome_sentences,
    sentences.results,
)
"""The parts of an appendix between models and software, in order."""


def methods_paragraph(
    runs: Sequence[Run], *, form: ParagraphForm = "text", appendix: bool = False
) -> str:
    r"""The methods of some runs: a paragraph for a paper, or an appendix.

    Args:
        runs: the runs; what they share is stated once.
        appendix: whether to give the full protocol instead of about 150 words for a paper.
        form: ``text`` names works in parentheses, ``markdown`` uses pandoc's ``[@key]``, ``latex``
            natbib's ``\citep{key}``.

    Returns:
        The text without a final line break, empty if there are no runs: a line for each group of
        runs that were made in one way, or, for an appendix, for each group of runs that sentences
        are about, with an empty line between.
    """
    facts = [*map(RunFacts, _each_once(runs))]
    paragraph = _paragraph(facts, appendix=appendix)
    if form == "markdown":
        return paragraph
    names = {work.key: work for work in _works(facts, paragraph)}
    if form == "latex":
        return _with_citations(
            paragraph, names, lambda keys: f" \\citep{{{','.join(keys)}}}", between=tex
        )
    return _with_citations(paragraph, names, lambda keys: _named(keys, names))


def cited_text(paragraph: str) -> str:
    """A paragraph with the works that its citations mark, in parentheses.

    Args:
        paragraph: text with citations such as ``[@holm1979]``; unknown keys stay as they are.
    """
    names = {**library(), "cimento": cimento_itself()}
    return _with_citations(paragraph, names, lambda keys: _named(keys, names))


def cited_works(runs: Sequence[Run], *, appendix: bool | None = None) -> tuple[CitedWork, ...]:
    """The works cited for some runs, each once, in order of citation.

    Args:
        runs: the runs.
        appendix: whether the works are cited by the appendix or by the paragraph; None for both.
    """
    facts = [*map(RunFacts, _each_once(runs))]
    cited = (False, True) if appendix is None else (appendix,)
    return _works(facts, " ".join(_paragraph(facts, appendix=is_appendix) for is_appendix in cited))


def _each_once(runs: Sequence[Run]) -> list[Run]:
    """The runs, one that was named twice only once: its verdicts count once."""
    return [
        *{
            (run.folder.resolve() if run.folder else id(run), run.options.model_dump_json()): run
            for run in runs
        }.values()
    ]


def _paragraph(runs: Sequence[RunFacts], *, appendix: bool) -> str:
    said = []
    for way, those in made_alike(runs).items():
        parts = [*map(" ".join, _parts(those))] if appendix else [" ".join(_brief_sentences(those))]
        which = f"The {'run' if len(those) == 1 else 'runs'} with {way}: " if way else ""
        said += [f"{which}{parts[0]}", *parts[1:]]
    return "\n\n".join(said)


def _works(runs: Sequence[RunFacts], paragraph: str) -> tuple[CitedWork, ...]:
    suites = {work.key: work for run in runs for work in _works_of_suite(run)}
    known = {**library(), **sentences.plugged_works(runs), **suites, "cimento": cimento_itself()}
    keys = dict.fromkeys(key for cited in _CITED.findall(paragraph) for key in _KEY.findall(cited))
    # Text in a suite may look like a citation, so unknown keys are ignored.
    return tuple(known[key] for key in keys if key in known)


def _parts(runs: Sequence[RunFacts]) -> list[list[str]]:
    """The sentences of an appendix by the runs that they are about, beginning with all runs."""
    if not runs:
        return []
    about: dict[str, list[str]] = {
        "": [
            suite_sentences(runs),
            model_sentences(runs),
            *sentences.computed_sentences(runs),
            *dict.fromkeys(software_sentences(run) for run in runs),
        ]
    }
    for sentence, those in _said(_SAYERS, runs).items():
        about.setdefault(_whose(those, runs), []).append(sentence)
    return [
        [f"{whose}: {first}" if whose else first, *others]
        for whose, (first, *others) in about.items()
    ]


def _brief_sentences(runs: Sequence[RunFacts]) -> list[str]:
    """The sentences for a paper; one about some of the runs begins with their names."""
    if not runs:
        return []
    said = [brief.evaluated(runs, _cited_for), *brief.reviewed(runs)]
    for sentence, those in _said([sentences.adaptive_sentences], runs).items():
        whose = _whose(those, runs)
        said.append(f"{whose}: {sentence[0].lower()}{sentence[1:]}" if whose else sentence)
    ways = [f"{_whose(those, runs)} ran with {way}" for those, way in unlike(runs)]
    said += [f"The runs differ in their options: {'; '.join(ways)}."] if ways else []
    said += [*_said([brief.scored_in_brief], runs), *brief.computed_in_brief(runs)]
    every = dict.fromkeys(run.meta.name for run in runs)
    last = ""
    for sentence, those in _said([lambda run: run.methods.brief], runs).items():
        suites = dict.fromkeys(run.meta.name for run in those)
        whose = brief.in_suites([*suites]) if suites != every else last and "In all suites"
        says_kind = any(f"{run.card.get('kind')} models" in sentence for run in those)
        if not says_kind and not all(run in those for run in runs if run.meta.name in suites):
            models = dict.fromkeys(run.label for run in those)
            whose = f"{brief.in_suites([*suites])} with {sentences.names_in_row([*models])}"
        same = whose == last
        said.append(sentence if same else f"{whose}, {sentence[0].lower()}{sentence[1:]}")
        last = whose
    return [*said, *brief.counted_in_brief(runs)]


def _said(sayers: Sequence[Sayer], runs: Sequence[RunFacts]) -> dict[str, list[RunFacts]]:
    """Each sentence, with the runs that it is about."""
    return grouped((sentence, run) for say in sayers for run in runs for sentence in say(run))


def _whose(those: Sequence[RunFacts], runs: Sequence[RunFacts]) -> str:
    """The runs that a sentence is about: all (empty), some suites, some models, or single runs."""
    if len(those) == len(runs):
        return ""
    suites = dict.fromkeys(run.meta.name for run in those)
    models = dict.fromkeys(run.label for run in those)
    if all(run in those for run in runs if run.meta.name in suites):
        return sentences.names_in_row(list(suites))
    if all(run in those for run in runs if run.label in models):
        return sentences.names_in_row(list(models))
    if all(run in those for run in runs if run.meta.name in suites and run.label in models):
        return f"{sentences.names_in_row(list(suites))} with {sentences.names_in_row(list(models))}"
    return sentences.names_in_row([f"{run.meta.name} with {run.label}" for run in those])


def _works_of_suite(run: RunFacts) -> tuple[CitedWork, ...]:
    """The references of a suite: itself, if it has an author or a citation, and its source."""
    work = _of_suite(run)
    return (*([] if work is None else [work]), *works_in(run.meta.reference))


_STARTER = "cimento starter suites, "


def _of_suite(run: RunFacts) -> CitedWork | None:
    """The suite's own reference; None if it has neither a citation nor an author."""
    meta = run.meta
    key = bibtex_key(meta.name)
    if not meta.citation and not meta.author:
        return None
    if meta.citation.lstrip().startswith("@"):
        return from_text(meta.citation)
    fields = {"version": meta.version, "note": meta.citation}
    # Starter suites are released with cimento; what their citation repeats of them is left out.
    if meta.citation.startswith(_STARTER):
        kept = {meta.author.lower(), f"{meta.name} {meta.version}".lower()}
        parts = [part for part in meta.citation.split(", ") if part.lower() not in kept]
        fields |= {"year": YEAR, "note": ", ".join(parts)}
    return CitedWork(
        key=key,
        type="misc",
        authors=(f"{{{meta.author}}}",) if meta.author else (),
        title=meta.name,
        fields={name: text for name, text in fields.items() if text},
        by_version=True,
    )


def _cited_for(run: RunFacts) -> str:
    """The citation of a suite, and that of the works that it follows, whose suite it is not."""
    work = _of_suite(run)
    own = [] if work is None else [work.key]
    others = [one.key for one in works_in(run.meta.reference) if one.key not in own]
    return cite_keys(own) + (f" after earlier work{cite_keys(others)}" if others else "")


def _with_citations(
    paragraph: str,
    known: Collection[str],
    written: Callable[[list[str]], str],
    *,
    between: Callable[[str], str] = str,
) -> str:
    """The paragraph with citations formatted by `written`, and the text between by `between`."""
    parts: list[str] = []
    at = 0
    for match in _CITED.finditer(paragraph):
        keys = _KEY.findall(match[0])
        if any(key not in known for key in keys):
            continue
        parts += [between(paragraph[at : match.start()]), written(keys)]
        at = match.end()
    return "".join([*parts, between(paragraph[at:])])


def _named(keys: list[str], names: Mapping[str, CitedWork]) -> str:
    shorts = [names[key].short for key in keys]
    return f" ({'; '.join(dict.fromkeys(shorts))})"


_DIGITS = 12
"""Digits of hashes in the paragraph; manifests have all digits."""

_LIBRARIES: Mapping[str, str] = {"torch": "paszke2019", "transformers": "wolf2020"}


def suite_sentences(runs: Sequence[RunFacts]) -> str:
    """A sentence on all suites and their contents, and one on each design of factors."""
    suites: dict[str, RunFacts] = {}
    for run in runs:
        suites[f"{run.meta.name} ({_contents(run)}){_cited_for(run)}{_cut(run)}"] = run
    if len(suites) == 1:
        used, designed = f"We used the suite {next(iter(suites))}.", "Its items"
    else:
        used, designed = f"We used {len(suites)} suites: {'; '.join(suites)}.", ""
    designs = dict.fromkeys(
        f"{designed or f'The items of {run.meta.name}'} {run.methods.design}."
        for run in suites.values()
        if run.methods.design
    )
    return " ".join([used, *designs])


def _contents(run: RunFacts) -> str:
    """The version, language, size and hash of a suite."""
    version = f"version {run.meta.version}" if run.meta.version else ""
    work = _of_suite(run)
    known = [
        "" if work and version in work.short else version,  # the citation has it
        ENGLISH.get(run.meta.language, run.meta.language),
        run.methods.counted,
        _hash("SHA-256", manifest_part(run.manifest, "suite").get("sha256")),
    ]
    return ", ".join(filter(None, known))


def _cut(run: RunFacts) -> str:
    limit = run.asking.get("limit")
    cut = ""
    if isinstance(limit, int):
        cut = f", limited to {taken_items(run.manifest, counted(limit, 'item'))}"
    return cut if run.asking.get("precision") is None else f"{cut}, asked adaptively"


def model_sentences(runs: Sequence[RunFacts]) -> str:
    """A sentence on the models, each named once."""
    known = list(dict.fromkeys(map(_model, runs)))
    if len(known) == 1:
        return f"The model was {known[0]}."
    return f"The models were {'; '.join(known[:-1])}; and {known[-1]}."


def software_sentences(run: RunFacts) -> str:
    """A sentence on the versions of the software that scores depend on."""
    versions = manifest_part(run.manifest, "versions")
    python = f" under Python {versions['python']}" if "python" in versions else ""
    libraries = [
        f"{name} {version}{cite_keys([_LIBRARIES[name]] if name in _LIBRARIES else [])}"
        for name, version in versions.items()
        if name != "python"
    ]
    rest = f", with {', '.join(libraries)}" if libraries else ""
    version = run.manifest.get("cimento", "")
    return f"We used cimento {version} [@cimento]{python}{rest}."


def _model(run: RunFacts) -> str:
    card = run.card
    details = manifest_part(card, "details")
    parameters = str(details.get("parameters", ""))
    n_parameters = whole_number(parameters)
    known = [
        sentences.order_of(card) or str(card.get("kind", "")),
        str(details.get("architecture", "")),
        "" if n_parameters is None else f"{n_parameters:,} parameters",
        _hash("revision", card.get("revision")),
        _hash("tokenizer", card.get("tokenizer")),
    ]
    return f"{card.get('name', run.label)} ({', '.join(filter(None, known))})"


def _hash(name: str, value: object) -> str:
    return f"{name} {value[:_DIGITS]}" if isinstance(value, str) and value else ""
