"""``cimento corpus``: treebanks searched for connectives and made into suites, and texts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cimento.cli.console import in_columns, note, show, show_json
from cimento.cli.corpus_build import (
    ConnectiveOptions,
    InventoryOptions,
    TextOptions,
    TreebankOptions,
    note_inventory,
    note_skipped,
    shows_text,
    where_skipped,
)
from cimento.cli.flags import command_of
from cimento.corpus.connectives.matching import builtin_rules, open_rule
from cimento.corpus.texts import (
    Masks,
    as_conllu,
    concordance_sentences,
    message_sentences,
    read_concordance,
    read_messages,
    spelling_table,
)
from cimento.corpus.treebanks import open_treebanks
from cimento.errors import InputError, counted
from cimento.io.declared import Options, Texts, option
from cimento.io.files import write_text
from cimento.kinds.registry import load_suite, owner_of, sentence_suite
from cimento.options import run_option
from cimento.report.formatting import rate_as_text
from cimento.suites import Meta
from cimento.suites.cloze import ClozeItem, ClozeSuite, Option

if TYPE_CHECKING:
    from cimento.corpus.connectives.frequencies import PublishedFrequencies
    from cimento.corpus.inference import HypothesisWording, InferenceItem
    from cimento.corpus.texts import PlainSentence


class MergeOptions(Options):
    """The inventories to merge."""

    inventories: Texts = option(
        ...,
        "Lists of connectives: it-connectives, or files as for --inventory.",
        argument="INVENTORY...",
    )
    output: Path | None = option(None, "Inventory to write (TOML).", flags=("-o",))


@command_of
def inventory(options: MergeOptions) -> None:
    """Merge lists of connectives: each appears once, whatever its spelling in the lists.

    The table says which lists have each connective. Names are taken from the first list.
    """
    from cimento.corpus.connectives.inventories import write_inventory, write_spelling
    from cimento.corpus.connectives.lexicons import merge_inventories, open_inventory

    opened = [open_inventory(name) for name in options.inventories]
    name = options.output.stem if options.output else "merged"
    merged, lists = merge_inventories(opened, name=name)
    rows = [
        (
            connective.name,
            connective.category or None,
            ", ".join(map(write_spelling, connective.spellings[1:])) or None,
            ", ".join(lists[connective.name]),
        )
        for connective in merged.connectives
    ]
    show(in_columns(("connective", "class", "other spellings", "lists"), rows))
    sizes = ", ".join(f"{inventory.name} {len(inventory.connectives)}" for inventory in opened)
    several = sum(len(names) > 1 for names in lists.values())
    note(f"{sizes}: {len(lists)} connectives, of which {several} are in several lists")
    if options.output is not None:
        note(f"written: {write_inventory(merged, options.output)}")


class TagOptions(TreebankOptions):
    """The treebanks to measure, and those that the model of tags is made of."""

    train: tuple[Path, ...] = option(..., "Treebanks of the model; other ones. May be repeated.")
    order: int = option(3, "Length of n-grams of tags.", flags=("-n", "--order"), ge=1, le=10)
    added: float = option(1.0, "Added to every count; above 0.", ge=1e-9)
    output: Path | None = option(None, "Table of all sentences to write (TSV).", flags=("-o",))


@command_of
def tags(options: TagOptions) -> None:
    """Measure how usual the sequences of parts of speech are, as their perplexity.

    The n-gram model is of the tags of --train. With -o every sentence gets a row.
    """
    from cimento.corpus import TagModel, tags_of

    training = [
        tags_of(sentence) for file in open_treebanks(options.train) for sentence in file.sentences()
    ]
    model = TagModel(training, order=options.order, added=options.added)
    rows: list[tuple[object, ...]] = []
    table = ["\t".join(("file", "sent_id", "n_tags", "logprob_nats", "perplexity", "tags"))]
    for file in options.files:
        tagged = [(sentence.id, tags_of(sentence)) for sentence in file.sentences()]
        whole = model.perplexity([tags for _, tags in tagged])
        size = sum(len(tags) for _, tags in tagged)
        rows.append((file.name, len(tagged), size, rate_as_text(whole)))
        for name, tags in tagged:
            nats, perplexity = model.logprob_nats(tags), model.perplexity([tags])
            cells = (file.name, name, str(len(tags)), repr(nats), repr(perplexity), " ".join(tags))
            table.append("\t".join(cells))
    show(in_columns(("file", "sentences", "tags", "perplexity"), rows))
    note(f"{options.order}-grams of {counted(len(training), 'sentence')}, {options.added:g} added")
    if options.output is not None:
        note(f"written: {write_text(chr(10).join(table) + chr(10), options.output)}")


class SearchOptions(ConnectiveOptions, TextOptions):
    """The treebanks to search, and the form of the hits."""

    output: Path | None = option(None, "Table to write (TSV); else printed.", flags=("-o",))
    duplicates: Literal["keep", "drop"] = option(
        "keep", "Sentences that occurred earlier, in any file."
    )
    as_json: bool = run_option("as_json")


@command_of
def search(options: SearchOptions) -> None:
    """Find connectives, with a row for each: file, sha256, sentence and token.

    Sentences are given as text if the license of every treebank allows redistribution, and
    otherwise only as ids; --text overrides this.
    """
    from cimento.corpus.search import DuplicateSentences, hit_rows, hits_as_json, search_treebanks

    files = options.files
    skipped = where_skipped(options.malformed)
    known = DuplicateSentences() if options.duplicates == "drop" else None
    opened = options.connectives
    note_inventory(files, opened)
    hits = search_treebanks(
        files,
        opened,
        open_rule(options.rule),
        skipped=skipped,
        duplicates=known,
    )
    with_text = shows_text(files, options.text)
    if options.as_json:
        content = json.dumps(
            hits_as_json(hits, files, with_text=with_text), ensure_ascii=False, indent=2
        )
    else:
        content = "".join(hit_rows(hits, files, with_text=with_text))
    if options.output is None:
        show(content)
    else:
        write_text(content if content.endswith("\n") else content + "\n", options.output)
        note(f"hits: {options.output}")
    note_skipped(skipped)
    if known is not None and known.pairs:
        note(f"left out as duplicates: {counted(len(known.pairs), 'sentence')}")


class CountOptions(ConnectiveOptions):
    """The items counted, the unit, and the published table to compare with."""

    per: Literal["words", "tokens"] = option(
        "words", "Percentages of words, or of tokens (del is one)."
    )
    join: Texts = option(
        (), "Count corpora together under a name. May be repeated.", metavar="NAME=A,B"
    )
    compare: Texts = option(
        (),
        "Compare a corpus with a column of a published table: paper:ISDT, or of a file. May"
        " be repeated.",
        metavar="CORPUS=TABLE:COLUMN",
    )
    duplicates: Literal["keep", "drop"] = option(
        "keep", "Sentences that occurred earlier, in any file."
    )
    as_json: bool = run_option("as_json")


@command_of
def connectives(options: CountOptions) -> None:
    """Count connectives in the layout of Table 6 of the connectives paper."""
    from cimento.corpus.connectives import tables
    from cimento.corpus.connectives.frequencies import compare_published, count_connectives
    from cimento.report.terminal import on_terminal

    files = options.files
    opened, main = options.connectives, open_rule(options.rule)
    note_inventory(files, opened)
    wanted = tables.read_comparisons(options.compare, _published_tables)
    others = [open_rule(name) for name in builtin_rules() if name != main.name] if wanted else []
    skipped = where_skipped(options.malformed)
    counts = count_connectives(
        files,
        opened,
        [main, *others],
        joint=tables.read_joint(options.join),
        skipped=skipped,
        drop_duplicates=options.duplicates == "drop",
    )
    shown = [count for count in counts if count.rule == main.name]
    numbers = {counts.corpus: {n: counts.hits.get(n, 0) for n in opened.names} for counts in shown}
    tables.need_corpora([corpus for corpus, _ in wanted], list(numbers))
    compared = {
        (corpus, table.corpus): (
            table,
            compare_published(
                [count for count in counts if count.corpus == corpus], table, rule=main.name
            ),
        )
        for corpus, table in wanted
    }
    printed = {f"{table.corpus} as published": table.counts for table, _ in compared.values()}
    ranks = tables.rank_agreement({**numbers, **printed})
    if options.as_json:
        show_json(tables.connectives_json(files, opened, shown, compared, ranks, per=options.per))
    else:
        show(on_terminal(tables.frequency_grid(opened.names, shown, per=options.per)))
        for (corpus, _), (table, cells) in compared.items():
            show("\n" + on_terminal(tables.compared_grid(cells, corpus=corpus, published=table)))
        if ranks:
            show("\n" + on_terminal(tables.rank_grid(ranks)))
    note_skipped(skipped)


def _published_tables(name: str) -> list[PublishedFrequencies]:
    """The columns of a published table: ``paper``, or a file."""
    from cimento.corpus.connectives.frequencies import PublishedFrequencies, read_published

    if name != "paper":
        return read_published(Path(name))
    from cimento.studies.connectives import TABLE_6, WORDS

    return [
        PublishedFrequencies(
            corpus,
            {connective: share.count for connective, share in rows.items()},
            {connective: share.percent for connective, share in rows.items()},
            WORDS[corpus],
        )
        for corpus, rows in TABLE_6.items()
    ]


class TweetOptions(InventoryOptions):
    """The messages, and what to mask in them."""

    files: tuple[Path, ...] = option(
        ..., "Tables, .jsonl, or .txt with one message per line.", argument="FILE..."
    )
    output: Path = option(..., "CoNLL-U file to write.", flags=("-o",))
    hashtags: Literal["keep", "mask", "word"] = option("keep", "word: without the sign.")
    urls: Literal["keep", "mask"] = option("mask", "Addresses.")
    mentions: Literal["keep", "mask"] = option("mask", "Names of people.")
    duplicates: Literal["keep", "drop"] = option("drop", "Repeated messages.")


@command_of
def tweets(options: TweetOptions) -> None:
    """Read messages, and report the spellings of connectives in them.

    The file has no annotation: search it with --rule plain, and draw with --no-join.
    """
    opened = options.connectives
    extracted = message_sentences(
        [message for path in options.files for message in read_messages(path)],
        masks=options.named_in(Masks),
        name=options.output.name.partition(".")[0],
        duplicates=options.duplicates == "keep",
    )
    _write(extracted.sentences, extracted.counts, options.output)
    rows = spelling_table(extracted.sentences, opened)
    show(in_columns(("connective", "class", "spelling", "n"), rows))


class ConcordanceOptions(Options):
    """The concordances, and the sentences to take from them."""

    files: tuple[Path, ...] = option(..., "Concordances: CSV, TSV, xlsx, XML.", argument="FILE...")
    output: Path = option(..., "CoNLL-U file to write.", flags=("-o",))
    per: int | None = option(None, "Sentences for each keyword; else all.", ge=1)
    seed: int = option(0, "Seed of the draw and the order.")
    shortest: int = option(5, "In tokens.", ge=1)
    longest: int = option(40, "In tokens.", ge=1)
    incomplete: bool = option(default=False, help="Keep incomplete sentences.")


@command_of
def concordance(options: ConcordanceOptions) -> None:
    """Extract the sentences of concordances in random order, short and long ones for each keyword.

    The file has no annotation: search it with --rule plain, and draw with --no-join.
    """
    extracted = concordance_sentences(
        [line for path in options.files for line in read_concordance(path)],
        name=options.output.name.partition(".")[0],
        seed=options.seed,
        per=options.per,
        incomplete=options.incomplete,
        shortest=options.shortest,
        longest=options.longest,
    )
    _write(extracted.sentences, extracted.counts, options.output)


def _write(sentences: Sequence[PlainSentence], counts: Mapping[str, int], output: Path) -> None:
    for what, number in counts.items():
        if number:
            note(f"{what}: {number}")
    if not sentences:
        raise InputError(where="input", seen="no sentence is left", todo="Allow more.")
    write_text("".join(as_conllu(sentences)), output)
    note(f"{len(sentences)} sentences: {output}. cimento corpus search {output} --rule plain")


class InferenceOptions(InventoryOptions):
    """The sentences with connectives, and the wording of hypotheses."""

    suite: str = option(..., "Sentences: before, connective, after.", argument="SUITE")
    output: Path = option(..., "Suite folder to write.", flags=("-o",))
    wording: str = option("it", "A language that cimento has, or a TOML file.")
    ambiguous: Literal["skip", "first"] = option(
        "skip", "Connectives of several senses: leave out, or first."
    )
    seed: int = option(0, "Seed of the neutral hypotheses.")


@command_of
def nli(options: InferenceOptions) -> None:
    """Make three hypotheses about each sentence: one entailed, one contradictory, one neutral.

    The result is a cloze suite whose blank takes one of three words, so it can be used with models,
    surveys and tables like any other suite.
    """
    from cimento.corpus.inference import inferences, open_wording

    source, words = sentence_suite(load_suite(options.suite)), open_wording(options.wording)
    inferred = inferences(
        source,
        options.connectives,
        words,
        seed=options.seed,
        ambiguous=options.ambiguous,
    )
    for reason, number in Counter(inferred.passed.values()).items():
        note(f"{number} sentences skipped: {reason}")
    if not inferred.items:
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
        license=source.meta.license,
        status=words.status,
        comment=f"Made of the suite {source.name} {source.meta.version}".rstrip(),
    )
    extra = {"sources": source.extra["sources"]} if "sources" in source.extra else {}
    items = tuple(_item(item, words) for item in inferred.items)
    suite = ClozeSuite(meta, items, cluster="premise", extra=extra)
    owner_of(suite).reader.write(suite, options.output)
    note(f"{len(items)} items of {len(items) // 3} premises: {options.output}")
    if words.status:
        note(f"Status of the hypotheses: {words.status}. Read them before you use them.")
    survey = f"cimento annotate survey build {options.output} --apart premise"
    note(f"cimento run {options.output} -m MODEL; {survey}")


def _item(item: InferenceItem, wording: HypothesisWording) -> ClozeItem:
    options_ = tuple(
        Option(word, "target" if label == item.label else "implausible")
        for label, word in sorted(wording.labels.items(), key=lambda pair: pair[0] != item.label)
    )
    columns = {
        "premise": item.source,
        "label": item.label,
        "connective": item.connective,
        "sense": item.sense,
        "sense_by": item.sense_by,
    }
    return ClozeItem(item.id, *item.text, options_, columns=columns)
