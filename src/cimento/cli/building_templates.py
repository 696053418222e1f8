"""``cimento suites build templates``: templates with seeds from a dictionary or a model."""

from __future__ import annotations

import json as json_module
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cimento.cli import options
from cimento.cli.console import note, show
from cimento.io.inline_markup import columns

if TYPE_CHECKING:
    from cimento.cloze.building import Review
    from cimento.cloze.seeding import AskModel
    from cimento.models.questions import Fill


def templates(
    description: Annotated[
        Path, typer.Argument(metavar="FILE", help="Description (TOML): sentences, seeds.")
    ],
    output: Annotated[Path, options.option("-o", "--output", help="Suite folder to write.")],
    *,
    dictionary: Annotated[
        str,
        options.option(
            "--dictionary", help="delaf:FILE, unimorph:FILE, rules:pt, pymorphy3; as described."
        ),
    ] = "",
    generator: Annotated[
        str, options.option("--generator", help="Model that proposes seeds; as described.")
    ] = "",
    device: options.Device = "auto",
    json: options.Json = False,
) -> None:
    """Generate seeds by inflection or by a model, and write a suite of templates.

    What is generated is in generated.tsv, what counts in seeds.tsv: review that. Building again
    leaves seeds.tsv as it is and prints what the two differ in.
    """
    from cimento.cli.dictionaries import open_named
    from cimento.cloze.building import build, generate, read_description

    found = read_description(description)
    name = dictionary or found.dictionary
    model = generator or found.generator
    known = found.model_copy(update={"generator": model})
    opened = open_named(name, language=found.meta.language) if name else None
    reviews = build(
        known,
        generate(known, dictionary=opened, ask=_asking(model, device) if model else None),
        output,
    )
    if json:
        show(json_module.dumps(_plain(reviews), ensure_ascii=False, indent=2))
        return
    show(columns(_rows(reviews)))
    note(f"Review {output / 'seeds.tsv'}, then: cimento suites check {output}")


def _asking(model: str, device: str) -> AskModel:
    """Asks a model for whole words in blanks; it is loaded when it is first asked."""

    def ask(texts: Sequence[str], k: int) -> list[list[Fill]]:
        from cimento.cloze.free import ask_texts
        from cimento.models.questions import FillPolicy
        from cimento.models.registry import Asking

        policy = FillPolicy(k=k, protocol="words")
        return ask_texts(texts, model, policy=policy, asking=Asking(device=device))

    return ask


def _rows(reviews: Mapping[str, Review]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        ("template", "generated", "kept", "removed", "added", "reviewed")
    ]
    for name, each in reviews.items():
        counts = (each.generated, each.kept, len(each.removed), len(each.added), each.reviewed)
        rows.append((name, *map(str, counts)))
    return rows


def _plain(reviews: Mapping[str, Review]) -> dict[str, object]:
    return {
        name: {
            "generated": each.generated,
            "kept": each.kept,
            "removed": [list(pair) for pair in each.removed],
            "added": [list(pair) for pair in each.added],
            "reviewed": each.reviewed,
        }
        for name, each in reviews.items()
    }
