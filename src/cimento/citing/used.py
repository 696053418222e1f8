"""Sentences on what was used: suites, models, software."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cimento.citing.facts import RunFacts, part
from cimento.citing.library import Reference, works_in
from cimento.errors import CimentoError
from cimento.measures import find_measure
from cimento.suites.published import NAMES

DIGITS = 12
"""Of hashes, as the paragraph has them; manifests hold them whole."""

_LIBRARIES: Mapping[str, str] = {"torch": "paszke2019", "transformers": "wolf2020"}


def suite(run: RunFacts, *, cited: Iterable[str]) -> str:
    """The suite and what is in it."""
    meta, manifest = run.meta, run.manifest
    known = [
        f"version {meta.version}" if meta.version else "",
        NAMES.get(meta.language, meta.language),
        run.methods.counted,
        _hash("SHA-256", part(manifest, "suite").get("sha256")),
    ]
    text = f"The suite {meta.name} ({', '.join(filter(None, known))}) was used{cite(cited)}"
    limit = run.asking.get("limit")
    cut = f", of which only the first {limit} items were asked" if limit is not None else ""
    design = f" {run.methods.design}" if run.methods.design else ""
    return f"{text}{cut}.{design}"


def models(runs: Sequence[RunFacts]) -> str:
    """The models, each once."""
    known = list(dict.fromkeys(map(_model, runs)))
    if len(known) == 1:
        return f"The model was {known[0]}."
    return f"The models were {'; '.join(known[:-1])}; and {known[-1]}."


def software(run: RunFacts) -> str:
    """Versions of everything that scores depend on."""
    versions = part(run.manifest, "versions")
    python = f" under Python {versions['python']}" if "python" in versions else ""
    libraries = [
        f"{name} {version}{cite([_LIBRARIES[name]] if name in _LIBRARIES else [])}"
        for name, version in versions.items()
        if name != "python"
    ]
    rest = f", with {', '.join(libraries)}" if libraries else ""
    version = run.manifest.get("cimento", "")
    return f"All of this was done with cimento {version} [@cimento]{python}{rest}."


def counted(count: int, one: str, several: str) -> str:
    """A number with what it counts: ``1 verdict is``, ``2 verdicts are``."""
    return f"{count} {one if count == 1 else several}"


def cite(keys: Iterable[str]) -> str:
    """A citation of some works; nothing where there are none."""
    found = "; ".join(f"@{key}" for key in dict.fromkeys(keys))
    return f" [{found}]" if found else ""


def cite_source(text: str) -> str:
    """A citation of the works that a source names."""
    return cite(each.key for each in works_in(text))


def measure(name: str) -> str:
    """A measure with its formula, unit, direction and source."""
    try:
        known = find_measure(name)
    except CimentoError:
        return name  # a plug-in that is not installed here brought it
    unit = f"in {known.unit}, " if known.unit else ""
    better = "higher" if known.higher_is_better else "lower"
    return f"{known.name}, {known.formula} ({unit}{better} is better){cite_source(known.source)}"


def plugged_works(runs: Sequence[RunFacts]) -> dict[str, Reference]:
    """The works behind the measures of some runs, with those that only a plug-in knows."""
    found: dict[str, Reference] = {}
    for run in runs:
        for name in run.methods.measures:
            try:
                source = find_measure(name).source
            except CimentoError:
                continue  # the plug-in that brought it is not installed here
            found |= {each.key: each for each in works_in(source)}
    return found


def _model(run: RunFacts) -> str:
    card = run.model
    details = part(card, "details")
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
