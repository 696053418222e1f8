"""``cimento corpus``: treebanks searched for connectives and made into suites."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from cimento.cli import corpus_build, corpus_sources
from cimento.cli.console import note, show, show_json
from cimento.cli.corpus_build import (
    ConnectiveOptions,
    TextOptions,
    note_skipped,
    shows_text,
    where_skipped,
)
from cimento.cli.flags import command_of, run_option
from cimento.corpus.connectives.matching import builtin_rules, open_rule
from cimento.corpus.treebanks import ReadingProblem, open_treebanks
from cimento.errors import counted
from cimento.options import Options, Texts, option

if TYPE_CHECKING:
    from cimento.corpus.connectives.frequencies import PublishedFrequencies

app = typer.Typer(help="Search treebanks, and make suites from them.", no_args_is_help=True)
app.command("inventory", short_help="Merge lists of connectives.")(corpus_sources.inventory)
app.command("tags", short_help="Measure how usual sequences of parts of speech are.")(
    corpus_sources.tags
)
app.command("select", short_help="Select the most frequent connectives.")(corpus_build.select)
app.command("pairs", short_help="Sample sentences; a person decides on replacements.")(
    corpus_build.pairs
)
app.command("finish", short_help="Make a suite from the decisions.")(corpus_build.finish)
app.command("nli", short_help="Write premises and hypotheses.")(corpus_sources.nli)
app.command("tweets", short_help="Turn messages into sentences.")(corpus_sources.tweets)
app.command("concordance", short_help="Extract sentences from concordances.")(
    corpus_sources.concordance
)


class SearchOptions(ConnectiveOptions, TextOptions):
    """The treebanks to search, and the form of the hits."""

    output: Path | None = option(None, "Table to write (TSV); else printed.", flags=("-o",))
    duplicates: Literal["keep", "drop"] = option(
        "keep", "Sentences that were there before, in any file."
    )
    as_json: bool = run_option("as_json")


def _search(options: SearchOptions) -> None:
    """Find connectives, with a row for each: file, sha256, sentence and token.

    Sentences are given as text if the license of every treebank allows redistribution, and
    otherwise only as ids; --text overrides this.
    """
    from cimento.corpus.search import DuplicateSentences, hit_rows, hits_as_json, search_treebanks
    from cimento.io.files import write_text

    files = options.files
    skipped = where_skipped(options.malformed)
    known = DuplicateSentences() if options.duplicates == "drop" else None
    found = search_treebanks(
        files,
        options.connectives,
        open_rule(options.rule),
        skipped=skipped,
        duplicates=known,
    )
    with_text = shows_text(files, options.text)
    if options.as_json:
        content = json.dumps(
            hits_as_json(found, files, with_text=with_text), ensure_ascii=False, indent=2
        )
    else:
        content = "".join(hit_rows(found, files, with_text=with_text))
    if options.output is None:
        show(content)
    else:
        write_text(content if content.endswith("\n") else content + "\n", options.output)
        note(f"hits: {options.output}")
    note_skipped(skipped)
    if known is not None and known.pairs:
        note(f"left out, since they were there before: {counted(len(known.pairs), 'sentence')}")


app.command("search", short_help="Find every occurrence that a rule accepts.")(
    command_of(SearchOptions, _search, positional="treebanks", metavar="TREEBANK...")
)


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
        "keep", "Sentences that were there before, in any file."
    )
    as_json: bool = run_option("as_json")


def _connectives(options: CountOptions) -> None:
    """Count connectives in the layout of Table 6 of the connectives paper."""
    from cimento.corpus.connectives.frequencies import compare_published, count_connectives
    from cimento.corpus.connectives.ranks import rank_agreement, rank_grid
    from cimento.corpus.connectives.tables import (
        compared_grid,
        connectives_json,
        frequency_grid,
        need_corpora,
        read_comparisons,
        read_joint,
    )
    from cimento.report.grid import as_text

    files = options.files
    opened, main = options.connectives, open_rule(options.rule)
    wanted = read_comparisons(options.compare, _published_tables)
    others = [open_rule(name) for name in builtin_rules() if name != main.name] if wanted else []
    skipped = where_skipped(options.malformed)
    counts = count_connectives(
        files,
        opened,
        [main, *others],
        joint=read_joint(options.join),
        skipped=skipped,
        drop_duplicates=options.duplicates == "drop",
    )
    shown = [count for count in counts if count.rule == main.name]
    numbers = {each.corpus: {n: each.hits.get(n, 0) for n in opened.names} for each in shown}
    need_corpora([corpus for corpus, _ in wanted], list(numbers))
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
    ranks = rank_agreement({**numbers, **printed})
    if options.as_json:
        show_json(connectives_json(files, opened, shown, compared, ranks, per=options.per))
    else:
        show(as_text(frequency_grid(opened.names, shown, per=options.per)))
        for (corpus, _), (table, cells) in compared.items():
            show("\n" + as_text(compared_grid(cells, corpus=corpus, published=table)))
        if ranks:
            show("\n" + as_text(rank_grid(ranks)))
    note_skipped(skipped)


app.command("connectives", short_help="Count each connective.")(
    command_of(CountOptions, _connectives, positional="treebanks", metavar="TREEBANK...")
)


class CheckOptions(Options):
    """The treebanks to check."""

    treebanks: tuple[Path, ...] = option(
        ..., "CoNLL-U files (.conllu, .gz), folders of them; it_sample."
    )
    as_json: bool = run_option("as_json")


def _check(options: CheckOptions) -> int:
    """List every malformed line of CoNLL-U files; the exit code is 2 if there are any."""
    failed = False
    plain = []
    for file in open_treebanks(options.treebanks):
        problems: list[ReadingProblem] = []
        sentences = words = 0
        for sentence in file.sentences(skipped=problems):
            sentences += 1
            words += len(sentence.words)
        faults = [problem for problem in problems if problem.severity == "error"]
        failed = failed or bool(faults)
        if options.as_json:
            plain.append(
                {
                    "file": file.name,
                    "sha256": file.sha256,
                    "sentences": sentences,
                    "words": words,
                    "problems": [
                        {
                            "line": problem.line,
                            "sentence": problem.sentence,
                            "seen": problem.seen,
                            "severity": problem.severity,
                        }
                        for problem in problems
                    ],
                }
            )
            continue
        for each in problems:
            show(f"{each.severity}: {each}")
        show(
            f"{file.name}: {counted(sentences, 'sentence')}, {counted(words, 'word')},"
            f" {counted(len(faults), 'fault')}"
        )
    if options.as_json:
        show_json({"files": plain})
    return 2 if failed else 0


app.command("check", short_help="List the errors of treebank files.")(
    command_of(CheckOptions, _check, positional="treebanks", metavar="TREEBANK...")
)


def _published_tables(name: str) -> list[PublishedFrequencies]:
    """The columns of a published table: ``paper``, or a file."""
    from cimento.corpus.connectives.frequencies import PublishedFrequencies, read_published

    if name != "paper":
        return read_published(Path(name))
    from cimento.studies.connectives.checks import TABLE_6, WORDS

    return [
        PublishedFrequencies(
            corpus,
            {connective: share.count for connective, share in rows.items()},
            {connective: share.percent for connective, share in rows.items()},
            WORDS[corpus],
        )
        for corpus, rows in TABLE_6.items()
    ]
