"""``cimento corpus query`` and ``cimento corpus queries``: trees searched by patterns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cimento.cli.console import note, show, show_json
from cimento.cli.corpus_build import (
    TextOptions,
    TreebankOptions,
    note_skipped,
    shows_text,
    where_skipped,
)
from cimento.cli.flags import command_of, run_option
from cimento.errors import UsageError, counted
from cimento.io.inline_markup import columns
from cimento.options import Options, option

if TYPE_CHECKING:
    from cimento.corpus.making.edits import Editor
    from cimento.corpus.queries.matching import TreeMatch
    from cimento.corpus.queries.parsing import StoredQuery
    from cimento.corpus.queries.records import TreebankIndex


class MalformedOptions(Options):
    """What becomes of malformed sentences."""

    malformed: Literal["refuse", "skip"] = option(
        "refuse", "Refuse malformed sentences, or skip and report them."
    )


class FormOptions(Options):
    """Where the other forms of words come from."""

    dictionary: str = option(
        "",
        "delaf:FILE, unimorph:FILE, rules:it or pymorphy3, asked before the treebanks themselves.",
    )


def editor_of(index: TreebankIndex, dictionary: str, language: str) -> Editor:
    """What changes the sentences of treebanks: a dictionary, if any, and their own forms."""
    from cimento.cli.resources import open_named
    from cimento.corpus.making.edits import Editor
    from cimento.corpus.making.forms import Contexts, TreebankMorphology

    named = [open_named(dictionary, language=language)] if dictionary else []
    return Editor([*named, TreebankMorphology(index)], Contexts(index))


def note_unknown(index: TreebankIndex, stored: StoredQuery) -> None:
    """Say which features and relations of a query no word of the treebanks has."""
    missing = dict.fromkeys(name for request in stored.requests for name in index.unknown(request))
    if missing:
        note(f"No word of the treebanks has: {', '.join(missing)}.")


class QueryOptions(TreebankOptions, TextOptions, MalformedOptions):
    """The query, and the treebanks to search."""

    query: str = option(..., "A stored query, a file .req, or 'pattern { ... }'.")
    by: str = option("", "Count the values of a word's feature, such as V.lemma, in place of hits.")
    output: Path | None = option(None, "Table to write (TSV); else printed.", flags=("-o",))
    as_json: bool = run_option("as_json")


def _query(options: QueryOptions) -> None:
    """Search treebanks with a query in Grew's notation: a row for each match.

    Sentences are given as text if the license of every treebank allows redistribution, and
    otherwise only as ids; --text overrides this.
    """
    from cimento.corpus.queries.matching import find
    from cimento.corpus.queries.parsing import open_query
    from cimento.corpus.queries.records import TreebankIndex
    from cimento.corpus.treebanks import licences_of
    from cimento.io.files import write_text

    stored = open_query(options.query)
    skipped = where_skipped(options.malformed)
    index = TreebankIndex(options.files, skipped=skipped)
    note_unknown(index, stored)
    matches = [match for request in stored.requests for match in find(index, request)]
    if options.by:
        counts = _counted_by(index, options.by, stored, matches)
        rows: list[tuple[str, ...]] = [
            (options.by, "matches"),
            *((value, str(n)) for value, n in counts),
        ]
        result: dict[str, object] = {"by": options.by, "counts": dict(counts)}
    else:
        with_text = shows_text(index.files, options.text)
        rows = _rows(index, stored, matches, with_text=with_text)
        result = {"hits": [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]}
    sentences = len({match.sentence for match in matches})
    result = {"licences": licences_of(index.files), "matches": len(matches),
              "sentences": sentences, "words": index.n_words, **result}  # fmt: skip
    if options.as_json:
        show_json(result)
    elif options.output is not None:
        write_text("".join("\t".join(row) + "\n" for row in rows), options.output)
        note(f"matches: {options.output}")
    elif len(rows) > 1:
        show(columns(rows) if options.by else "\n".join("\t".join(row) for row in rows))
    note_skipped(skipped)
    there = f"{counted(len(matches), 'match', 'matches')} in {counted(sentences, 'sentence')}"
    note(f"{there} of {len(index.entries):,}, {index.n_words:,} words")


query = command_of(
    QueryOptions,
    _query,
    positional=("query", "treebanks"),
    metavar=("QUERY", "TREEBANK..."),
)


def _counted_by(
    index: TreebankIndex, by: str, stored: StoredQuery, matches: Sequence[TreeMatch]
) -> list[tuple[str, int]]:
    name, dot, feature = by.partition(".")
    if not dot or not feature or name not in stored.requests[0].nodes:
        raise UsageError(
            where="--by",
            seen=f"got {by!r}",
            todo=f"Write {stored.requests[0].nodes[0]}.lemma, with a word of the pattern.",
        )
    words = (int(index.starts[match.sentence]) + match.words[name] - 1 for match in matches)
    counts = Counter(index.value(feature, word) or "-" for word in words)
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _rows(
    index: TreebankIndex, stored: StoredQuery, matches: Sequence[TreeMatch], *, with_text: bool
) -> list[tuple[str, ...]]:
    names = stored.requests[0].nodes
    head = ("file", "sha256", "sent_id", *names, *(["text"] if with_text else []))
    rows: list[tuple[str, ...]] = [head]
    for match in matches:
        entry = index.entries[match.sentence]
        file = index.files[entry.file]
        start = int(index.starts[match.sentence])
        places = [
            f"{match.words[name]}:{index.value('form', start + match.words[name] - 1)}"
            if with_text else str(match.words[name])
            for name in names
        ]  # fmt: skip
        text = [" ".join(entry.text.split())] if with_text else []
        rows.append((file.name, file.sha256, entry.id, *places, *text))
    return rows


class LibraryOptions(MalformedOptions, FormOptions):
    """The stored queries to list, and the treebanks to try them on."""

    treebanks: tuple[Path, ...] = option((), "Treebanks in which to count matches and pairs.")
    language: str = option("", "Only queries for treebanks of this language.")
    as_json: bool = run_option("as_json")


def _queries(options: LibraryOptions) -> None:
    """List the stored queries; with treebanks, what each finds in them.

    A match becomes a pair if the change can be made without a doubt.
    """
    from cimento.corpus.queries.parsing import stored_queries

    queries = [
        query for query in stored_queries().values() if options.language in ("", *query.languages)
    ]
    counts = query_counts(queries, options) if options.treebanks else {}
    records = [
        {
            "name": query.name,
            "group": query.group,
            "languages": list(query.languages),
            "title": query.title,
            "patterns": [request.text for request in query.requests],
            "change": query.change or None,
            "controller": query.controller or None,
            "remark": query.remark or None,
            **counts.get(query.name, {}),
        }
        for query in queries
    ]
    if options.as_json:
        show_json({"queries": records})
        return
    shown = ("name", "languages", "title", *(["matches", "pairs", "twins"] if counts else []))
    rows = [tuple("bad sentence" if name == "title" else name for name in shown)]
    rows += [tuple(_cell(record.get(name)) for name in shown) for record in records]
    show(columns(rows))


def _cell(value: object) -> str:
    return " ".join(value) if isinstance(value, list) else "-" if value is None else str(value)


def query_counts(
    queries: Sequence[StoredQuery], options: LibraryOptions
) -> dict[str, dict[str, int | None]]:
    """The matches, pairs and twins of each query; null where a query makes none."""
    from cimento.corpus.making.edits import parse_change
    from cimento.corpus.making.query_pairs import PairQuery, make_pairs
    from cimento.corpus.queries.matching import find
    from cimento.corpus.queries.records import TreebankIndex
    from cimento.corpus.treebanks import open_treebanks

    skipped = where_skipped(options.malformed)
    index = TreebankIndex(open_treebanks(options.treebanks), skipped=skipped)
    editor = editor_of(index, options.dictionary, options.language)
    counts: dict[str, dict[str, int | None]] = {}
    for stored in queries:
        if not stored.change:
            matches = sum(len(find(index, request)) for request in stored.requests)
            counts[stored.name] = {"matches": matches, "pairs": None, "twins": None}
            continue
        pair_query = PairQuery(
            name=stored.name,
            requests=stored.requests,
            change=parse_change(stored.change, stored.requests[0].nodes),
            controller=stored.controller,
            twin=stored.twin,
        )
        drafts = make_pairs(index, pair_query, editor)
        twins = sum(pair.twin is not None for pair in drafts.pairs)
        counts[stored.name] = {
            "matches": drafts.matches, "pairs": len(drafts.pairs),
            "twins": twins if stored.controller and stored.twin else None,
        }  # fmt: skip
    note_skipped(skipped)
    return counts


queries = command_of(LibraryOptions, _queries, positional="treebanks", metavar="[TREEBANK...]")
