"""What can stand beside the connectives resource, found under the names of its release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import InputError
from cimento.studies.record import first_below


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedSet:
    """Files that were released together.

    Attributes:
        names: of the files, each of which is found in the folder or below it.
        where: they are released.
        what: they are.
        also: another name of each, where there is one, with ``*`` for anything.
    """

    names: tuple[str, ...]
    where: str
    what: str
    also: Mapping[str, str]


ACCEPTABILITY = ("ACCEPT-Corpus-training.tsv", "acceptability-set-test.tsv")
COMPLEXITY = ("COMPL-Corpus-training.tsv", "complexity-set-test.tsv")
DISCOTEX = ("discotex_2_train_clean_release.tsv", "discotex_2_test_set_release.tsv")
LAU = ("context-none-ratings.csv", "context-real-ratings.csv")
BRITTON = "Italian_LM_data.csv"
BLIMP = "blimp_human_validation_rawMTurk.csv"
PUBLISHED_BLIMP = "human_validation_summary.csv"
ITACOLA = "ItaCoLA_dataset.tsv"
PLAYERS = "acceptability_dataset_non-expertannotations.tsv"

SETS: tuple[ReleasedSet, ...] = (
    ReleasedSet(
        names=(*ACCEPTABILITY, *COMPLEXITY),
        where="sites.google.com/view/accompl-it",
        what="AcCompl-it (EVALITA 2020), ratings of Italian sentences",
        also={name: f"*_{name}" for name in (*ACCEPTABILITY, *COMPLEXITY)},
    ),
    ReleasedSet(
        names=DISCOTEX,
        where="github.com/davidecolla/DisCoTex",
        what="DisCoTEX (EVALITA 2023), coherence of Italian texts",
        also={},
    ),
    ReleasedSet(
        names=LAU,
        where="github.com/jhlau/acceptability-prediction-in-context",
        what="ratings of Lau et al. 2020",
        also={name: f"*_{name}" for name in LAU},
    ),
    ReleasedSet(
        names=(BRITTON,),
        where="github.com/yancong222/LMs-discourse-connectives-Surprisals",
        what="surprisals of Britton et al. 2024",
        also={},
    ),
    ReleasedSet(
        names=(BLIMP, PUBLISHED_BLIMP),
        where="raw_results of github.com/alexwarstadt/blimp",
        what="BLiMP's human answers",
        also={PUBLISHED_BLIMP: f"*_{PUBLISHED_BLIMP}"},
    ),
    ReleasedSet(
        names=(ITACOLA, PLAYERS),
        where="github.com/dhfbk/ItaCoLA-dataset",
        what="ItaCoLA, and answers of players",
        also={PLAYERS: "ItaCoLA_dataset_non-expertannotations.tsv"},
    ),
)

_TREEBANKS = (
    "it_isdt-ud-*.conllu, it_postwita-ud-*.conllu, it_twittiro-ud-*.conllu: Table 6, release 2.5,"
    " 2.6 or 2.7 of universaldependencies.org"
)
_WITHOUT = (
    "Without any, `cimento study connectives` checks the printed tables, and -m MODEL asks our own"
    " items and sets the printed rows above"
)


def find(folder: Path, name: str) -> Path | None:
    """A released file in a folder or below it; None where it is not there."""
    other = next((each.also[name] for each in SETS if name in each.also), None)
    return first_below(folder, name) or (first_below(folder, other) if other else None)


def nothing_there(folder: Path) -> InputError:
    """The error of a folder with none of the files; it says what is looked for, and where it is."""
    looked = [f"{', '.join(each.names)}: {each.what}, {each.where}" for each in SETS]
    return InputError(
        where=str(folder),
        seen="none of the released files is there or below",
        todo=f"Looked for are these, each as released. {'; '.join([*looked, _TREEBANKS])}."
        f" {_WITHOUT}. Your copy of the resource itself is for --own.",
    )


def need_folder(folder: Path) -> None:
    """See that a folder is there.

    Raises:
        InputError: it is not.
    """
    if not folder.is_dir():
        raise InputError(where=str(folder), seen="is no folder", todo="Give the data with --data.")
