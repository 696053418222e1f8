"""What the authors of the island studies released, found under its own names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from cimento.errors import InputError

NEW, PUBLISHED = "custom-wh_complex_np_islands.jsonl", "wh_complex_np.jsonl"
NEW_LATER = "wh_complex_np_islands.jsonl"
"""The new items on the branch py36_compatibility, in ``mdd2``."""

LOOKED_FOR: Mapping[str, str] = {
    "outputs/": "the Italian items, github.com/ml-utils/bert-syntax-it (or `cimento suites get"
    " sprouse-it`)",
    "sprouse2016_en_ratings.csv": "English judgments of Sprouse et al. 2016, with the columns that"
    " docs/studies-islands.md names",
    "models_summary.jsonl, human_validation_summary.csv": "raw_results/summary of"
    " github.com/alexwarstadt/blimp",
    "gpt2/whether_*_result.csv, lstm/whether_*_result.csv": "data/results of"
    " github.com/anastasiakobzeva/learning-FGDs-with-NLMs",
    "wh_islands.csv": "scripts of github.com/wilcoxeg/fgd_learnability",
    "adjunct_island.jsonl, complex_NP_island.jsonl, wh_island.jsonl": "for -m, data of"
    " github.com/alexwarstadt/blimp (or `cimento suites get blimp`)",
    "context-none-ratings.csv": "github.com/jhlau/acceptability-prediction-in-context",
}
"""Names of released files to what they are and where they are released."""

WITHOUT = (
    "Without --data, the printed tables are checked, and -m asks your models about it-islands."
)

BLIMP_FILES: Mapping[str, str] = {
    "adjunct island": "adjunct_island.jsonl",
    "complex NP island": "complex_NP_island.jsonl",
    "wh island": "wh_island.jsonl",
}
"""Column of Table 3 to the file of BLiMP that it is about."""

_SUITES: Mapping[str, tuple[str, str, str]] = {
    "adjunct": ("custom-wh_adjunct_islands", "wh_adjunct_islands", "wh_adjunct_island"),
    "complex_np": ("custom-wh_complex_np_islands", "wh_complex_np_islands", "wh_complex_np"),
    "subject": ("custom-wh_subject_islands", "wh_subject_islands", "wh_subject_island"),
    "whether": ("custom-wh_whether_island", "wh_whether_island", "wh_whether_island"),
}
"""Phenomenon to the names of its files: new items, the same later, and published ones."""

_FOLDERS = frozenset({"sprouse", "mdd2", "multiple", "variations", "syntactic_tests_it", "drafts"})


class AbsentError(InputError):
    """A released file is not there."""


def find(data: Path, name: str) -> Path:
    """The one file of a name in a folder or below it; of several, the first by path.

    Raises:
        AbsentError: there is none.
    """
    paths = sorted(path for path in data.rglob(name) if path.is_file())
    if not paths:
        raise missing(data, [name])
    return paths[0]


def missing(data: Path, names: Iterable[str]) -> AbsentError:
    """The error of a folder without some files; it names all that can be there."""
    looked = "; ".join(f"{name}: {what}" for name, what in LOOKED_FOR.items())
    return AbsentError(
        where=str(data),
        seen=f"{', '.join(names)} is neither there nor below",
        todo=f"The study reads these files, each as released. {looked}. {WITHOUT}",
    )


def surprisals(data: Path) -> list[Path]:
    """The files of Kobzeva et al. 2023 on whether-clauses; the folder of each names its model.

    Raises:
        AbsentError: there is none.
    """
    paths = sorted(data.rglob("whether_*_result.csv"))
    if not paths:
        raise missing(data, ["whether_*_result.csv"])
    return paths


def item_files(data: Path) -> list[Path]:
    """Every file of items of bert-syntax-it, of either branch.

    Raises:
        AbsentError: there is none.
    """
    paths = sorted(data.rglob("*.jsonl"))
    found = [path for path in paths if path.parent.name in _FOLDERS]
    flat = [path for path in paths if path.name.startswith(("custom-wh_", "wh_", "rc_"))]
    if not (found or flat):
        raise missing(data, ["outputs/"])
    return found or flat


def new_items(data: Path) -> dict[str, Path]:
    """Phenomenon to the file of its new items: those of July 2022, else those of ``mdd2``.

    Raises:
        AbsentError: a file is missing.
    """
    later = [path for path in sorted(data.rglob(NEW_LATER)) if path.parent.name == "mdd2"]
    first = sorted(data.rglob(NEW), key=lambda path: (path.parent.name == "drafts", path))
    if first:
        return _beside(first[0].parent, 0)
    if later:
        return _beside(later[0].parent, 1)
    raise missing(data, [NEW])


def published_items(data: Path) -> dict[str, Path]:
    """Phenomenon to the file of the items of Sprouse et al. 2016.

    Raises:
        AbsentError: a file is missing.
    """
    return _beside(find(data, PUBLISHED).parent, 2)


def _beside(folder: Path, state: int) -> dict[str, Path]:
    paths = {name: folder / f"{stems[state]}.jsonl" for name, stems in _SUITES.items()}
    absent = [path.name for path in paths.values() if not path.is_file()]
    if absent:
        raise missing(folder, absent)
    return paths
