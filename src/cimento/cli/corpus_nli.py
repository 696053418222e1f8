"""``cimento corpus nli``: inference items out of sentences with connectives."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cimento.cli import options
from cimento.cli.console import note
from cimento.cli.corpus_options import InventoryName
from cimento.errors import InputError

if TYPE_CHECKING:
    from cimento.cloze.records import ClozeItem
    from cimento.corpus.making.inference import HypothesisWording, InferenceItem


# size: one argument for each option
def nli(
    suite: Annotated[
        str, typer.Argument(metavar="SUITE", help="Sentences: before, connective, after.")
    ],
    output: Annotated[Path, options.option("-o", "--output", help="Suite folder to write.")],
    *,
    inventory: InventoryName = "it-connectives",
    wording: Annotated[
        str, options.option("--wording", help="A language that cimento has, or a TOML file.")
    ] = "it",
    ambiguous: Annotated[
        Literal["skip", "first"],
        options.option("--ambiguous", help="Connectives of several senses: leave out, or first."),
    ] = "skip",
    seed: Annotated[int, options.option("--seed", help="Seed of the neutral hypotheses.")] = 0,
) -> None:
    """Make three hypotheses about each sentence: one follows, one contradicts it, one is open.

    The result is a cloze suite whose blank is one of three words, so that models, surveys and
    tables work as for any other.
    """
    from cimento.api import load_suite
    from cimento.cloze.records import ClozeSuite
    from cimento.cloze.writers.native import write_folder
    from cimento.corpus.connectives.inventories import open_inventory
    from cimento.corpus.making.inference import inferences, open_wording
    from cimento.paradigms.suites import sentence_suite
    from cimento.suites.model import Meta

    source, words = sentence_suite(load_suite(suite)), open_wording(wording)
    found = inferences(source, open_inventory(inventory), words, seed=seed, ambiguous=ambiguous)
    for reason, number in Counter(found.passed.values()).items():
        note(f"{number} sentences passed over: {reason}")
    if not found.items:
        raise InputError(
            where=f"suite {source.name!r}",
            seen="nothing can be made of its sentences",
            todo="Give a column 'sense', or --ambiguous first.",
        )
    meta = Meta(
        name=output.resolve().name,
        version="0.1.0",
        language=words.language,
        phenomenon="inference from connectives",
        licence=source.meta.licence,
        status=words.status,
        comment=f"Made of the suite {source.name} {source.meta.version}".rstrip(),
    )
    extra = {"sources": source.extra["sources"]} if "sources" in source.extra else {}
    items = tuple(_item(each, words) for each in found.items)
    write_folder(ClozeSuite(meta, items, cluster="premise", extra=extra), output)
    note(f"{len(items)} items of {len(items) // 3} premises: {output}")
    if words.status:
        note(f"Status of the hypotheses: {words.status}. Read them before you use them.")
    note(f"cimento run {output} -m MODEL; cimento annotate survey build {output} --apart premise")


def _item(each: InferenceItem, wording: HypothesisWording) -> ClozeItem:
    from cimento.cloze.records import ClozeItem, Option

    options_ = tuple(
        Option(word, "target" if label == each.label else "implausible")
        for label, word in sorted(wording.labels.items(), key=lambda pair: pair[0] != each.label)
    )
    columns = {
        "premise": each.source,
        "label": each.label,
        "connective": each.connective,
        "sense": each.sense,
        "sense_by": each.sense_by,
    }
    return ClozeItem(each.id, *each.text, options_, columns=columns)
