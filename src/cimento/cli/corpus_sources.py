"""``cimento corpus tweets``, ``concordance`` and ``nli``: items that come from no treebank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cimento.cli import flags
from cimento.cli.console import note, show
from cimento.cli.corpus_build import InventoryName
from cimento.errors import InputError
from cimento.io.inline_markup import columns

if TYPE_CHECKING:
    from cimento.corpus.making.inference import HypothesisWording, InferenceItem
    from cimento.corpus.texts import PlainSentence
    from cimento.paradigms.cloze.suite import ClozeItem


Output = Annotated[Path, flags.option("-o", "--output", help="CoNLL-U file to write.")]


# size: one argument for each option
def tweets(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Tables, .jsonl, or .txt: one a line.")
    ],
    output: Output,
    *,
    hashtags: Annotated[
        Literal["keep", "mask", "word"],
        flags.option("--hashtags", help="word: without the sign."),
    ] = "keep",
    urls: Annotated[Literal["keep", "mask"], flags.option("--urls", help="Addresses.")] = "mask",
    mentions: Annotated[
        Literal["keep", "mask"], flags.option("--mentions", help="Names of people.")
    ] = "mask",
    duplicates: Annotated[
        Literal["keep", "drop"], flags.option("--duplicates", help="Messages there before.")
    ] = "drop",
    inventory: InventoryName = "it-connectives",
) -> None:
    """Read messages, and say how connectives are spelt in them.

    The file has no annotation: search it with --rule plain, and draw with --no-join.
    """
    from cimento.corpus.connectives.lexicons import open_inventory
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
        int | None, flags.option("--per", min=1, help="Sentences for each keyword; else all.")
    ] = None,
    seed: Annotated[int, flags.option("--seed", help="Seed of the draw and the order.")] = 0,
    shortest: Annotated[int, flags.option("--shortest", min=1, help="In tokens.")] = 5,
    longest: Annotated[int, flags.option("--longest", min=1, help="In tokens.")] = 40,
    incomplete: Annotated[
        bool, flags.option("--incomplete", help="Keep sentences that are cut off.")
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


# size: one argument for each option
def nli(
    suite: Annotated[
        str, typer.Argument(metavar="SUITE", help="Sentences: before, connective, after.")
    ],
    output: Annotated[Path, flags.option("-o", "--output", help="Suite folder to write.")],
    *,
    inventory: InventoryName = "it-connectives",
    wording: Annotated[
        str, flags.option("--wording", help="A language that cimento has, or a TOML file.")
    ] = "it",
    ambiguous: Annotated[
        Literal["skip", "first"],
        flags.option("--ambiguous", help="Connectives of several senses: leave out, or first."),
    ] = "skip",
    seed: Annotated[int, flags.option("--seed", help="Seed of the neutral hypotheses.")] = 0,
) -> None:
    """Make three hypotheses about each sentence: one follows, one contradicts it, one is open.

    The result is a cloze suite whose blank is one of three words, so that models, surveys and
    tables work as for any other.
    """
    from cimento.api import load_suite
    from cimento.corpus.connectives.lexicons import open_inventory
    from cimento.corpus.making.inference import inferences, open_wording
    from cimento.paradigms.cloze.suite import ClozeSuite
    from cimento.paradigms.cloze.writing import write_folder
    from cimento.paradigms.registry import sentence_suite
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
    from cimento.paradigms.cloze.suite import ClozeItem, Option

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
