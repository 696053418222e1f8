"""``cimento corpus inventory``, ``tweets``, ``concordance``, ``nli``: without a treebank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cimento.cli.console import note, show
from cimento.cli.corpus_build import InventoryOptions, TreebankOptions
from cimento.cli.flags import command_of
from cimento.corpus.texts import (
    Masks,
    as_conllu,
    concordance_sentences,
    message_sentences,
    read_concordance,
    read_messages,
    spelling_table,
)
from cimento.errors import InputError, counted
from cimento.io.inline_markup import columns
from cimento.options import Options, Texts, option
from cimento.paradigms.cloze.suite import ClozeItem, ClozeSuite, Option

if TYPE_CHECKING:
    from cimento.corpus.making.inference import HypothesisWording, InferenceItem
    from cimento.corpus.texts import PlainSentence


class MergeOptions(Options):
    """The inventories to merge."""

    inventories: Texts = option(
        ..., "Lists of connectives: it-connectives, or files as for --inventory."
    )
    output: Path | None = option(None, "Inventory to write (TOML).", flags=("-o",))


def _inventory(options: MergeOptions) -> None:
    """Merge lists of connectives: what several lists have, in any spelling they name, stands once.

    The table says which lists have each connective. The first list has the say about names.
    """
    from cimento.corpus.connectives.inventories import write_inventory, write_spelling
    from cimento.corpus.connectives.lexicons import merge_inventories, open_inventory

    opened = [open_inventory(name) for name in options.inventories]
    name = options.output.stem if options.output else "merged"
    merged, lists = merge_inventories(opened, name=name)
    rows: list[tuple[str, ...]] = [("connective", "class", "other spellings", "lists")]
    for each in merged.connectives:
        others = ", ".join(map(write_spelling, each.spellings[1:]))
        rows.append((each.name, each.category or "-", others or "-", ", ".join(lists[each.name])))
    show(columns(rows))
    sizes = ", ".join(f"{each.name} {len(each.connectives)}" for each in opened)
    several = sum(len(names) > 1 for names in lists.values())
    note(f"{sizes}: {len(lists)} connectives, of which {several} are in several lists")
    if options.output is not None:
        note(f"written: {write_inventory(merged, options.output)}")


inventory = command_of(MergeOptions, _inventory, positional="inventories", metavar="INVENTORY...")


class TagOptions(TreebankOptions):
    """The treebanks to measure, and those that the model of tags is made of."""

    train: tuple[Path, ...] = option(..., "Treebanks of the model; other ones. May be repeated.")
    order: int = option(3, "Length of n-grams of tags.", flags=("-n", "--order"), ge=1, le=10)
    added: float = option(1.0, "Added to every count; above 0.", ge=1e-9)
    output: Path | None = option(None, "Table of all sentences to write (TSV).", flags=("-o",))


def _tags(options: TagOptions) -> None:
    """Measure how usual the sequences of parts of speech are, as their perplexity.

    The n-gram model is of the tags of --train. With -o every sentence gets a row.
    """
    from cimento.corpus.tags import TagModel, tags_of
    from cimento.corpus.treebanks import open_treebanks
    from cimento.io.files import write_text

    training = [
        tags_of(sentence) for file in open_treebanks(options.train) for sentence in file.sentences()
    ]
    model = TagModel(training, order=options.order, added=options.added)
    rows: list[tuple[str, ...]] = [("file", "sentences", "tags", "perplexity")]
    table = ["\t".join(("file", "sent_id", "n_tags", "logprob_nats", "perplexity", "tags"))]
    for file in options.files:
        found = [(sentence.id, tags_of(sentence)) for sentence in file.sentences()]
        whole = model.perplexity([tags for _, tags in found])
        size = str(sum(len(tags) for _, tags in found))
        rows.append((file.name, str(len(found)), size, "-" if whole is None else f"{whole:.3f}"))
        for name, tags in found:
            nats, own = model.logprob_nats(tags), model.perplexity([tags])
            cells = (file.name, name, str(len(tags)), repr(nats), repr(own), " ".join(tags))
            table.append("\t".join(cells))
    show(columns(rows))
    note(f"{options.order}-grams of {counted(len(training), 'sentence')}, {options.added:g} added")
    if options.output is not None:
        note(f"written: {write_text(chr(10).join(table) + chr(10), options.output)}")


tags = command_of(TagOptions, _tags, positional="treebanks", metavar="TREEBANK...")


class TweetOptions(InventoryOptions):
    """The messages, and what to mask in them."""

    files: tuple[Path, ...] = option(..., "Tables, .jsonl, or .txt: one a line.")
    output: Path = option(..., "CoNLL-U file to write.", flags=("-o",))
    hashtags: Literal["keep", "mask", "word"] = option("keep", "word: without the sign.")
    urls: Literal["keep", "mask"] = option("mask", "Addresses.")
    mentions: Literal["keep", "mask"] = option("mask", "Names of people.")
    duplicates: Literal["keep", "drop"] = option("drop", "Messages there before.")


def _tweets(options: TweetOptions) -> None:
    """Read messages, and report the spellings of connectives in them.

    The file has no annotation: search it with --rule plain, and draw with --no-join.
    """
    opened = options.connectives
    found = message_sentences(
        [message for path in options.files for message in read_messages(path)],
        masks=Masks(hashtags=options.hashtags, urls=options.urls, mentions=options.mentions),
        name=options.output.name.partition(".")[0],
        duplicates=options.duplicates == "keep",
    )
    _write(found.sentences, found.counts, options.output)
    rows: list[tuple[str, ...]] = [("connective", "class", "spelling", "n")]
    rows += [(*row[:3], str(row[3])) for row in spelling_table(found.sentences, opened)]
    show(columns(rows))


tweets = command_of(TweetOptions, _tweets, positional="files", metavar="FILE...")


class ConcordanceOptions(Options):
    """The concordances, and the sentences to take from them."""

    files: tuple[Path, ...] = option(..., "Concordances: CSV, TSV, xlsx, XML.")
    output: Path = option(..., "CoNLL-U file to write.", flags=("-o",))
    per: int | None = option(None, "Sentences for each keyword; else all.", ge=1)
    seed: int = option(0, "Seed of the draw and the order.")
    shortest: int = option(5, "In tokens.", ge=1)
    longest: int = option(40, "In tokens.", ge=1)
    incomplete: bool = option(default=False, help="Keep incomplete sentences.")


def _concordance(options: ConcordanceOptions) -> None:
    """Take the sentences of concordances in mixed order, with all lengths for each keyword.

    The file has no annotation: search it with --rule plain, and draw with --no-join.
    """
    found = concordance_sentences(
        [each for path in options.files for each in read_concordance(path)],
        name=options.output.name.partition(".")[0],
        seed=options.seed,
        per=options.per,
        incomplete=options.incomplete,
        shortest=options.shortest,
        longest=options.longest,
    )
    _write(found.sentences, found.counts, options.output)


concordance = command_of(ConcordanceOptions, _concordance, positional="files", metavar="FILE...")


def _write(sentences: Sequence[PlainSentence], counts: Mapping[str, int], output: Path) -> None:
    from cimento.io.files import write_text

    for what, number in counts.items():
        if number:
            note(f"{what}: {number}")
    if not sentences:
        raise InputError(where="input", seen="no sentence is left", todo="Allow more.")
    write_text("".join(as_conllu(sentences)), output)
    note(f"{len(sentences)} sentences: {output}. cimento corpus search {output} --rule plain")


class InferenceOptions(InventoryOptions):
    """The sentences with connectives, and the wording of hypotheses."""

    suite: str = option(..., "Sentences: before, connective, after.")
    output: Path = option(..., "Suite folder to write.", flags=("-o",))
    wording: str = option("it", "A language that cimento has, or a TOML file.")
    ambiguous: Literal["skip", "first"] = option(
        "skip", "Connectives of several senses: leave out, or first."
    )
    seed: int = option(0, "Seed of the neutral hypotheses.")


def _nli(options: InferenceOptions) -> None:
    """Make three hypotheses about each sentence: one entailed, one contradictory, one neutral.

    The result is a cloze suite whose blank takes one of three words, so it can be used with models,
    surveys and tables like any other suite.
    """
    from cimento.corpus.making.inference import inferences, open_wording
    from cimento.paradigms.cloze.writing import write_cloze
    from cimento.paradigms.registry import load_suite, sentence_suite
    from cimento.suites.model import Meta

    source, words = sentence_suite(load_suite(options.suite)), open_wording(options.wording)
    found = inferences(
        source,
        options.connectives,
        words,
        seed=options.seed,
        ambiguous=options.ambiguous,
    )
    for reason, number in Counter(found.passed.values()).items():
        note(f"{number} sentences skipped: {reason}")
    if not found.items:
        raise InputError(
            where=f"suite {source.name!r}",
            seen="nothing can be made of its sentences",
            todo="Give a column 'sense', or --ambiguous first.",
        )
    meta = Meta(
        name=options.output.resolve().name,
        version="0.1.0",
        language=words.language,
        phenomenon="inference from connectives",
        licence=source.meta.licence,
        status=words.status,
        comment=f"Made of the suite {source.name} {source.meta.version}".rstrip(),
    )
    extra = {"sources": source.extra["sources"]} if "sources" in source.extra else {}
    items = tuple(_item(item, words) for item in found.items)
    write_cloze(ClozeSuite(meta, items, cluster="premise", extra=extra), options.output)
    note(f"{len(items)} items of {len(items) // 3} premises: {options.output}")
    if words.status:
        note(f"Status of the hypotheses: {words.status}. Read them before you use them.")
    survey = f"cimento annotate survey build {options.output} --apart premise"
    note(f"cimento run {options.output} -m MODEL; {survey}")


nli = command_of(InferenceOptions, _nli, positional="suite", metavar="SUITE")


def _item(each: InferenceItem, wording: HypothesisWording) -> ClozeItem:
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
