"""``cimento suites build``: make new items out of those that are there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cimento.cli import building_templates, building_treebank, options
from cimento.cli.console import note

if TYPE_CHECKING:
    from cimento.paradigms.stories.building import Replacement

app = typer.Typer(help="Make new items out of those that are there.", no_args_is_help=True)
app.command("templates")(building_templates.templates)
app.command("treebank")(building_treebank.treebank)


@app.command("stories")
def stories(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="Stories, plausible ones in them.")
    ],
    output: Annotated[Path, options.option("-o", "--output", help="JSONL file to write.")],
    *,
    orders: Annotated[
        int | None,
        options.option("--orders", min=0, help="Order variants per story; all unless given."),
    ] = None,
    replacements: Annotated[
        Path | None,
        options.option(
            "--replacements", help="Table with story_id, position (from 0) and sentence."
        ),
    ] = None,
    seed: Annotated[int, options.option("--seed", help="Seed of the draw of variants.")] = 0,
) -> None:
    """Propose order variants (two sentences swapped) and cloze variants (one replaced).

    What conflicts is proposed too, and marked so until a person confirms it:
    ``cimento suites check`` reports stories that nobody has confirmed.
    """
    from cimento.paradigms.stories.building import cloze_variants, order_variants
    from cimento.paradigms.stories.formats import read_stories, write_jsonl
    from cimento.suites.builtin import find_suite

    known = read_stories(find_suite(source)).stories
    found = list(order_variants(known, per_story=orders, seed=seed))
    if replacements is not None:
        found += cloze_variants((*known, *found), _read_replacements(replacements))
    write_jsonl(found, output)
    note(f"{len(found)} variants to confirm: {output}")


@app.command("pairs")
def pairs(
    grammar: Annotated[
        str,
        typer.Argument(metavar="GRAMMAR", help="A folder with grammar.toml, or a built-in one."),
    ],
    output: Annotated[Path, options.option("-o", "--output", help="Folder for the suites.")],
    *,
    items: Annotated[int, options.option("--items", min=1, help="How many items.")] = 24,
    seed: Annotated[int, options.option("--seed", help="Seed of the draw of words.")] = 0,
) -> None:
    """Make an agreement suite from a grammar, and its adversarial twin where it has attractors."""
    from cimento.corpus.making.generation import generate_suites
    from cimento.corpus.making.grammar import find_grammar, read_grammar
    from cimento.suites.formats.native import write_native

    suite, twin = generate_suites(read_grammar(find_grammar(grammar)), n=items, seed=seed)
    for each in filter(None, (suite, twin)):
        write_native(each, output / each.name)
        note(f"{len(each.items)} items: {output / each.name}")


def _read_replacements(path: Path) -> list[Replacement]:
    from cimento.errors import InputError
    from cimento.paradigms.stories.building import Replacement
    from cimento.suites.tables import open_table

    table = open_table(path)
    names = ("story_id", "position", "sentence")
    missing = [name for name in names if table.find(name) is None]
    if missing:
        raise InputError(
            where=str(path),
            seen=f"the column {', '.join(missing)} is missing",
            todo="Name the columns story_id, position, sentence in the first row.",
        )
    found = []
    for row in table.rows:
        number, position, sentence = (row.cells[str(table.find(name))].strip() for name in names)
        if not number.isdecimal() or not position.isdecimal() or not sentence:
            raise InputError(
                where=table.where(row),
                seen=f"got story_id {number!r}, position {position!r}, sentence {sentence!r}",
                todo="Write two whole numbers and a sentence.",
            )
        found.append(Replacement(story_id=int(number), position=int(position), sentence=sentence))
    return found
