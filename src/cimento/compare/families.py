"""Families of models: checkpoints of one run, sizes of one architecture, or as they are given.

Names only propose who belongs together. How alike the models of a family answer is estimated from
their answers, and is nothing where they do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from cimento.errors import UsageError, did_you_mean
from cimento.paired.item_outcomes import step_of

_SIZE = re.compile(
    r"\d+(\.\d+)?[kmbt]|tiny|mini|small|base|medium|large|x+l|huge|big", re.IGNORECASE
)


def family_of(name: str) -> str:
    """The family that the name of a model proposes.

    Args:
        name: as the model was named: ``org/name-70m``, ``org/name@step1000``,
            ``out/checkpoint-500``; a revision, a step and a size are taken off.
    """
    stem = step_of(name)[0].partition("@")[0]
    folder, slash, last = stem.rpartition("/")
    parts = re.split(r"([-_])", last)
    kept = [part for part in parts[::2] if part and not _SIZE.fullmatch(part)]
    return f"{folder}{slash}{'-'.join(kept)}" if kept else stem


def families_given(texts: Iterable[str], models: Sequence[str]) -> dict[str, str]:
    """The families of ``--family NAME=MODEL,MODEL``, by the label of the model.

    Args:
        texts: as given.
        models: labels of the models; each is named with or without its revision.

    Raises:
        UsageError: a text is not of this form, or names a model that is not there or twice.
    """
    families: dict[str, str] = {}
    for text in texts:
        family, equals, listed = text.partition("=")
        names = [name.strip() for name in listed.split(",") if name.strip()]
        if not equals or not family.strip() or not names:
            raise UsageError(
                where=f"--family={text}",
                seen="it is not a name with models",
                todo="Write NAME=MODEL,MODEL.",
            )
        for name in names:
            labels = [one for one in models if name in (one, one.partition("@")[0])]
            if not labels:
                raise UsageError(
                    where=f"--family={text}",
                    seen=f"no model here is called {name!r}",
                    todo=did_you_mean(name, models),
                )
            for label in labels:
                if families.setdefault(label, family.strip()) != family.strip():
                    raise UsageError(
                        where=f"--family={text}",
                        seen=f"{label} is in {families[label]} already",
                        todo="Name each model in one family.",
                    )
    return families


def families_among(proposed: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """The family of each model; a model that shares its family with none has its own name.

    Args:
        proposed: model to the family that its name proposes.
        given: the same, as it was given; where there are any, nothing else counts.
    """
    families = {model: given.get(model, model) for model in proposed} if given else dict(proposed)
    shared = list(families.values())
    return {
        model: family if shared.count(family) > 1 else model for model, family in families.items()
    }
