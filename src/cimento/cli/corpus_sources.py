"""``cimento corpus tweets`` and ``concordance``: sentences that are in no treebank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cimento.cli import options
from cimento.cli.console import note, show
from cimento.cli.corpus_options import InventoryName
from cimento.errors import InputError
from cimento.io.inline_markup import columns

if TYPE_CHECKING:
    from cimento.corpus.texts import PlainSentence

Output = Annotated[Path, options.option("-o", "--output", help="CoNLL-U file to write.")]


# size: one argument for each option
def tweets(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Tables, .jsonl, or .txt: one a line.")
    ],
    output: Output,
    *,
    hashtags: Annotated[
        Literal["keep", "mask", "word"],
        options.option("--hashtags", help="word: without the sign."),
    ] = "keep",
    urls: Annotated[Literal["keep", "mask"], options.option("--urls", help="Addresses.")] = "mask",
    mentions: Annotated[
        Literal["keep", "mask"], options.option("--mentions", help="Names of people.")
    ] = "mask",
    duplicates: Annotated[
        Literal["keep", "drop"], options.option("--duplicates", help="Messages there before.")
    ] = "drop",
    inventory: InventoryName = "it-connectives",
) -> None:
    """Read messages, and say how connectives are spelt in them.

    The file has no annotation: search it with --rule plain, and draw with --no-join.
    """
    from cimento.corpus.connectives.inventories import open_inventory
    from cimento.corpus.texts import Masks, message_sentences, read_messages, spelling_table

    opened = open_inventory(inventory)
    found = message_sentences(
        [each for path in files for each in read_messages(path)],
        masks=Masks(hashtags=hashtags, urls=urls, mentions=mentions),
        name=output.name.partition(".")[0],
        duplicates=duplicates == "keep",
    )
    _write(found.sentences, found.counts, output)
    rows: list[tuple[str, ...]] = [("connective", "class", "spelling", "n")]
    rows += [(*row[:3], str(row[3])) for row in spelling_table(found.sentences, opened)]
    show(columns(rows))


# size: one argument for each option
def concordance(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Concordances: CSV, TSV, xlsx, XML.")
    ],
    output: Output,
    *,
    per: Annotated[
        int | None, options.option("--per", min=1, help="Sentences for each keyword; else all.")
    ] = None,
    seed: Annotated[int, options.option("--seed", help="Seed of the draw and the order.")] = 0,
    shortest: Annotated[int, options.option("--shortest", min=1, help="In tokens.")] = 5,
    longest: Annotated[int, options.option("--longest", min=1, help="In tokens.")] = 40,
    incomplete: Annotated[
        bool, options.option("--incomplete", help="Keep sentences that are cut off.")
    ] = False,
) -> None:
    """Take the sentences of concordances, mixed, those of each keyword of all lengths.

    The file has no annotation: search it with --rule plain, and draw with --no-join.
    """
    from cimento.corpus.texts import concordance_sentences, read_concordance

    found = concordance_sentences(
        [each for path in files for each in read_concordance(path)],
        name=output.name.partition(".")[0],
        seed=seed,
        per=per,
        incomplete=incomplete,
        shortest=shortest,
        longest=longest,
    )
    _write(found.sentences, found.counts, output)


def _write(sentences: Sequence[PlainSentence], counts: Mapping[str, int], output: Path) -> None:
    from cimento.corpus.texts import as_conllu
    from cimento.io.files import write_text

    for what, number in counts.items():
        if number:
            note(f"{what}: {number}")
    if not sentences:
        raise InputError(where="input", seen="no sentence is left", todo="Allow more.")
    write_text("".join(as_conllu(sentences)), output)
    note(f"{len(sentences)} sentences: {output}. cimento corpus search {output} --rule plain")
