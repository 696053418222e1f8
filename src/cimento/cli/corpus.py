"""``cimento corpus``: treebanks searched for connectives, and made into suites."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cimento.cli import corpus_build, corpus_sources, flags
from cimento.cli.console import note, show
from cimento.cli.corpus_build import (
    Duplicates,
    InventoryName,
    Licence,
    Malformed,
    RuleName,
    Treebanks,
    WithText,
    note_skipped,
    shows_text,
    where_skipped,
)

if TYPE_CHECKING:
    from cimento.corpus.connectives.frequencies import PublishedFrequencies

app = typer.Typer(help="Search treebanks, and make suites of them.", no_args_is_help=True)
app.command("select", short_help="The most frequent connectives, some left out.")(
    corpus_build.select
)
app.command("pairs", short_help="Draw sentences; a person decides on replacements.")(
    corpus_build.pairs
)
app.command("finish", short_help="Make a suite of decisions.")(corpus_build.finish)
app.command("nli", short_help="Premises and hypotheses of sentences.")(corpus_sources.nli)
app.command("tweets", short_help="Messages as sentences.")(corpus_sources.tweets)
app.command("concordance", short_help="Sentences of concordances.")(corpus_sources.concordance)


# size: one argument for each option
@app.command("search", short_help="Every occurrence that a rule accepts.")
def search(
    treebanks: Treebanks,
    *,
    inventory: InventoryName = "it-connectives",
    rule: RuleName = "paper",
    output: Annotated[
        Path | None, flags.option("-o", "--output", help="Table to write (TSV); else printed.")
    ] = None,
    text: WithText = None,
    malformed: Malformed = "refuse",
    duplicates: Duplicates = "keep",
    licence: Licence = "",
    json: flags.Json = False,
) -> None:
    """Find connectives; a row for each, with file, sha256, sentence and token.

    Sentences are given as text where the licence of every treebank allows passing them on, else
    their ids only: --text says otherwise.
    """
    from cimento.corpus.connectives.lexicons import open_inventory
    from cimento.corpus.connectives.matching import open_rule
    from cimento.corpus.search import DuplicateSentences, hit_rows, hits_as_json, search_treebanks
    from cimento.corpus.treebanks import open_treebanks
    from cimento.io.files import write_text

    files = open_treebanks(treebanks, licence=licence)
    skipped = where_skipped(malformed)
    known = DuplicateSentences() if duplicates == "drop" else None
    found = search_treebanks(
        files,
        open_inventory(inventory),
        open_rule(rule),
        skipped=skipped,
        duplicates=known,
    )
    with_text = shows_text(files, text)
    if json:
        content = json_module.dumps(
            hits_as_json(found, files, with_text=with_text), ensure_ascii=False, indent=2
        )
    else:
        content = "".join(hit_rows(found, files, with_text=with_text))
    if output is None:
        show(content)
    else:
        write_text(content if content.endswith("\n") else content + "\n", output)
        note(f"hits: {output}")
    note_skipped(skipped)
    if known is not None and known.pairs:
        note(f"{len(known.pairs)} sentences that were there before were left out")


# size: one argument for each option
@app.command("connectives", short_help="How often each connective is found.")
def connectives(
    treebanks: Treebanks,
    *,
    inventory: InventoryName = "it-connectives",
    rule: RuleName = "paper",
    per: Annotated[
        Literal["words", "tokens"],
        flags.option("--per", help="Percentages of words, or of tokens (del is one)."),
    ] = "words",
    join: Annotated[
        list[str] | None,
        flags.option(
            "--join",
            metavar="NAME=A,B",
            help="Count corpora together under a name. May be repeated.",
        ),
    ] = None,
    compare: Annotated[
        list[str] | None,
        flags.option(
            "--compare",
            metavar="CORPUS=TABLE:COLUMN",
            help="Set a corpus beside a column of a published table: paper:ISDT, or of a file."
            " May be repeated.",
        ),
    ] = None,
    malformed: Malformed = "refuse",
    duplicates: Duplicates = "keep",
    licence: Licence = "",
    json: flags.Json = False,
) -> None:
    """Count connectives in the layout of Table 6 of the connectives paper."""
    from cimento.cli.corpus_text import (
        compared_grid,
        connectives_json,
        frequency_grid,
        need_corpora,
        read_comparisons,
        read_joint,
    )
    from cimento.corpus.connectives.frequencies import compare_published, count_connectives
    from cimento.corpus.connectives.lexicons import open_inventory
    from cimento.corpus.connectives.matching import builtin_rules, open_rule
    from cimento.corpus.treebanks import open_treebanks
    from cimento.report.grid import as_text

    files = open_treebanks(treebanks, licence=licence)
    opened, main = open_inventory(inventory), open_rule(rule)
    wanted = read_comparisons(compare or (), _published_tables)
    others = [open_rule(name) for name in builtin_rules() if name != main.name] if wanted else []
    skipped = where_skipped(malformed)
    counts = count_connectives(
        files,
        opened,
        [main, *others],
        joint=read_joint(join or ()),
        skipped=skipped,
        drop_duplicates=duplicates == "drop",
    )
    shown = [each for each in counts if each.rule == main.name]
    need_corpora([corpus for corpus, _ in wanted], [each.corpus for each in shown])
    compared = {
        (corpus, table.corpus): (
            table,
            compare_published(
                [each for each in counts if each.corpus == corpus], table, rule=main.name
            ),
        )
        for corpus, table in wanted
    }
    if json:
        plain = connectives_json(files, opened, shown, compared, per=per)
        show(json_module.dumps(plain, ensure_ascii=False, indent=2))
    else:
        show(as_text(frequency_grid(opened.names, shown, per=per)))
        for (corpus, _), (table, cells) in compared.items():
            show("\n" + as_text(compared_grid(cells, corpus=corpus, published=table)))
    note_skipped(skipped)


@app.command("check", short_help="What is malformed in treebank files.")
def check(treebanks: Treebanks, *, json: flags.Json = False) -> int:
    """List every malformed line of CoNLL-U files; the exit code is 2 where there is one."""
    from cimento.corpus.treebanks import ReadingProblem, open_treebanks

    failed = False
    plain = []
    for file in open_treebanks(treebanks):
        problems: list[ReadingProblem] = []
        sentences = words = 0
        for sentence in file.sentences(skipped=problems):
            sentences += 1
            words += len(sentence.words)
        faults = [each for each in problems if each.severity == "error"]
        failed = failed or bool(faults)
        if json:
            plain.append(
                {
                    "file": file.name,
                    "sha256": file.sha256,
                    "sentences": sentences,
                    "words": words,
                    "problems": [
                        {
                            "line": each.line,
                            "sentence": each.sentence,
                            "seen": each.seen,
                            "severity": each.severity,
                        }
                        for each in problems
                    ],
                }
            )
            continue
        for each in problems:
            show(f"{each.severity}: {each}")
        show(f"{file.name}: {sentences} sentences, {words} words, {len(faults)} faults")
    if json:
        show(json_module.dumps({"files": plain}, ensure_ascii=False, indent=2))
    return 2 if failed else 0


def _published_tables(name: str) -> list[PublishedFrequencies]:
    """The columns of a published table: ``paper``, or a file."""
    from cimento.corpus.connectives.frequencies import PublishedFrequencies, read_published

    if name != "paper":
        return read_published(Path(name))
    from cimento.studies.connectives.published import TABLE_6, WORDS

    return [
        PublishedFrequencies(
            corpus,
            {connective: share.count for connective, share in rows.items()},
            {connective: share.percent for connective, share in rows.items()},
            WORDS[corpus],
        )
        for corpus, rows in TABLE_6.items()
    ]
