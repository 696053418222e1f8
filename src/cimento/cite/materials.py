"""The materials of runs in the words of an appendix: suites, models, software."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cimento.cite.library import Reference
from cimento.cite.sentences import RunFacts, cite_keys
from cimento.runs.store import manifest_part
from cimento.suites.builtin import NAMES

DIGITS = 12
"""Digits of hashes in the paragraph; manifests have all digits."""

_LIBRARIES: Mapping[str, str] = {"torch": "paszke2019", "transformers": "wolf2020"}


def suite_sentences(
    runs: Sequence[RunFacts], works: Callable[[RunFacts], Sequence[Reference]]
) -> str:
    """A sentence on all suites and their contents, and one on each design of factors."""
    suites: dict[str, RunFacts] = {}
    for run in runs:
        own = works(run)
        cited = cite_keys(work.key for work in own)
        suites[f"{run.meta.name} ({_contents(run, own)}){cited}{_cut(run)}"] = run
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


def _contents(run: RunFacts, works: Sequence[Reference]) -> str:
    """The version, language, size and hash of a suite."""
    version = f"version {run.meta.version}" if run.meta.version else ""
    known = [
        version if version not in {work.short for work in works} else "",  # the citation has it
        NAMES.get(run.meta.language, run.meta.language),
        run.methods.counted,
        _hash("SHA-256", manifest_part(run.manifest, "suite").get("sha256")),
    ]
    return ", ".join(filter(None, known))


def _cut(run: RunFacts) -> str:
    limit = run.asking.get("limit")
    return f", limited to its first {limit} items" if limit is not None else ""


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
    card = run.model
    details = manifest_part(card, "details")
    parameters = str(details.get("parameters", ""))
    device = f" on {card['device']}" if card.get("device") else ""
    known = [
        str(card.get("kind", "")),
        str(details.get("architecture", "")),
        f"{int(parameters):,} parameters" if parameters.isdecimal() else "",
        _hash("revision", card.get("revision")),
        _hash("tokenizer", card.get("tokenizer")),
        f"{card['dtype']}{device}" if card.get("dtype") else "",
    ]
    return f"{card.get('name', run.label)} ({', '.join(filter(None, known))})"


def _hash(name: str, value: object) -> str:
    return f"{name} {value[:DIGITS]}" if isinstance(value, str) and value else ""
