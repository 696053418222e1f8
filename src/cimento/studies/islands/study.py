"""The whole study: which sections there are, and which of them are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from cimento.errors import UsageError, did_you_mean
from cimento.studies.islands.blimp import blimp_models, blimp_people
from cimento.studies.islands.fillers import kobzeva, wilcox
from cimento.studies.islands.human import human
from cimento.studies.islands.materials import contexts, materials, scales
from cimento.studies.islands.records import Maker, Section
from cimento.studies.islands.thesis import blimp_table, pseudo_likelihoods, tables, variations

SECTIONS: Mapping[str, Maker] = {
    "materials": materials,
    "tables": tables,
    "blimp-table": blimp_table,
    "variations": variations,
    "pseudo-likelihoods": pseudo_likelihoods,
    "blimp": blimp_models,
    "blimp-people": blimp_people,
    "human": human,
    "scales": scales,
    "kobzeva": kobzeva,
    "wilcox": wilcox,
    "contexts": contexts,
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
