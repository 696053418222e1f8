"""The whole study: which sections there are, and which of them are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from cimento.errors import UsageError, did_you_mean
from cimento.studies.islands import blimp, fillers, human, materials, thesis
from cimento.studies.islands.records import Maker, Section

SECTIONS: Mapping[str, Maker] = {
    "materials": materials.materials,
    "tables": thesis.tables,
    "blimp-table": thesis.blimp_table,
    "variations": thesis.variations,
    "pseudo-likelihoods": thesis.pseudo_likelihoods,
    "blimp": blimp.blimp_models,
    "blimp-people": blimp.blimp_people,
    "human": human.human,
    "scales": materials.scales,
    "kobzeva": fillers.kobzeva,
    "wilcox": fillers.wilcox,
    "contexts": materials.contexts,
}
"""Name to what makes the section from the data folder; none of them needs a model."""


def study(data: Path, names: Sequence[str] = ()) -> list[Section]:
    """Sections of the study, in its order.

    Args:
        data: the folder of released data.
        names: of the sections wanted; empty for all.

    Raises:
        UsageError: there is no section of a name.
        InputError: a file is missing or cannot be read.
    """
    for name in names:
        if name not in SECTIONS:
            raise UsageError(
                where=f"--section {name}",
                seen="there is no such section",
                todo=did_you_mean(name, SECTIONS),
            )
    return [make(data) for name, make in SECTIONS.items() if not names or name in names]
