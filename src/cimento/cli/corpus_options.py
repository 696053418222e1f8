"""Arguments, options and remarks that the commands on treebanks share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cimento.cli import options
from cimento.cli.console import note

if TYPE_CHECKING:
    from cimento.corpus.treebanks import ReadingProblem, TreebankFile

_SHOWN = 10

Treebanks = Annotated[
    list[Path],
    typer.Argument(
        metavar="TREEBANK...", help="CoNLL-U files (.conllu, .gz), folders of them; it_sample."
    ),
]
InventoryName = Annotated[
    str,
    options.option(
        "--inventory",
        help="it-connectives, or a file: .toml, .tsv, .xml (DiMLex, LexConn), .json (NVdB), .txt.",
    ),
]
RuleName = Annotated[
    str, options.option("--rule", help="paper, verb, any ... or a TOML file (docs/corpus.md).")
]
WithText = Annotated[
    bool | None,
    options.option(
        "--text/--ids-only", help="Sentences as text, or ids only; else as the licences allow."
    ),
]
Malformed = Annotated[
    Literal["refuse", "skip"],
    options.option("--malformed", help="Refuse malformed sentences, or skip and report them."),
]
Duplicates = Annotated[
    Literal["keep", "drop"],
    options.option("--duplicates", help="Sentences that were there before, in any file."),
]
Licence = Annotated[
    str,
    options.option("--licence", help="Of the treebanks, where neither name nor README tells."),
]


def where_skipped(malformed: str) -> list[ReadingProblem] | None:
    """Where malformed sentences are noted; None where they are refused."""
    return [] if malformed == "skip" else None


def note_skipped(skipped: Sequence[ReadingProblem] | None) -> None:
    """Say what was passed over."""
    faults = [each for each in skipped or () if each.severity == "error"]
    if not faults:
        return
    n = len({(each.path, each.sentence or each.line) for each in faults})
    note(f"{n} malformed sentences were skipped:")
    for each in faults[:_SHOWN]:
        note(f"  {each}")
    if len(faults) > _SHOWN:
        note(f"  ... and {len(faults) - _SHOWN} more faults; cimento corpus check lists them")


def shows_text(files: Sequence[TreebankFile], wanted: bool | None) -> bool:  # noqa: FBT001  # as the option gives it
    """Whether sentences are given as text: as asked for, else where every licence allows it."""
    from cimento.corpus.treebanks import licences_of, may_show

    closed = {k: v for k, v in licences_of(files).items() if not may_show(v)}
    if not closed:
        return wanted is not False
    said = ", ".join(f"{corpus}: {licence}" for corpus, licence in closed.items())
    if wanted is None:
        note(f"Ids only ({said}); --text gives the sentences too, for your own use.")
        return False
    if wanted:
        note(f"With sentences that may not be passed on freely ({said}).")
    return wanted
