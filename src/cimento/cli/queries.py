"""``cimento corpus query``, ``queries`` and ``suites build query``: trees searched by patterns.

From the matches of a query come counts and rows, or minimal pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cimento.cli.console import in_columns, json_text, note, show, show_json
from cimento.cli.corpus_build import (
    FormOptions,
    MalformedOptions,
    TextOptions,
    TreebankOptions,
    note_languages,
    note_skipped,
    shows_text,
    where_skipped,
)
from cimento.cli.flags import command_of
from cimento.errors import UsageError, counted
from cimento.io.declared import option
from cimento.io.files import write_text
from cimento.io.inline_markup import columns
from cimento.options import run_option
from cimento.suites import Meta
from cimento.suites.formats.native import write_native

if TYPE_CHECKING:
    from cimento.corpus.edits import Editor
    from cimento.corpus.queries import TreebankIndex
    from cimento.corpus.queries.matching import TreeMatch
    from cimento.corpus.queries.parsing import StoredQuery
    from cimento.corpus.query_pairs import Drafts, PairQuery, TreebankPair

SOURCES, TREES, RECORD, SHEET = "sources.tsv", "trees.conllu", "query.json", "review.tsv"
_TWIN, _MATCHED = "-adversarial", "-matched"
_DISCORDANT = 0.2


def editor_of(index: TreebankIndex, dictionary: str, language: str) -> Editor:
    """What changes the sentences of treebanks: a dictionary, if any, and their own forms."""
    from cimento.cli.resources import open_named
    from cimento.corpus.edits import Editor
    from cimento.corpus.forms import Contexts, TreebankMorphology

    named = [open_named(dictionary, language=language)] if dictionary else []
    return Editor([*named, TreebankMorphology(index)], Contexts(index))


def note_unknown(index: TreebankIndex, stored: StoredQuery) -> None:
    """Say which features and relations of a query no word of the treebanks has."""
    missing = dict.fromkeys(name for request in stored.requests for name in index.unknown(request))
    if missing:
        note(f"No word of the treebanks has: {', '.join(missing)}.")


class QueryOptions(TreebankOptions, TextOptions, MalformedOptions):
    """The query, and the treebanks to search."""

    query: str = option(..., "A stored query, a file .req, or 'pattern { ... }'.", argument="QUERY")
    by: str = option("", "Count the values of a word's feature, such as V.lemma, in place of hits.")
    output: Path | None = option(None, "Table to write (TSV); else printed.", flags=("-o",))
    as_json: bool = run_option("as_json")


@command_of
def query(options: QueryOptions) -> None:
    """Search treebanks with a query in Grew's notation: a row for each match.

    Sentences are given as text if the license of every treebank allows redistribution, and
    otherwise only as ids; --text overrides this.
    """
    from cimento.corpus.queries import TreebankIndex
    from cimento.corpus.queries.matching import find
    from cimento.corpus.queries.parsing import open_query
    from cimento.corpus.treebanks import licenses_of

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
    result = {"licenses": licenses_of(index.files), "matches": len(matches),
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

    treebanks: tuple[Path, ...] = option(
        (), "Treebanks in which to count matches and pairs.", argument="[TREEBANK...]"
    )
    language: str = option("", "Only queries for treebanks of this language.")
    as_json: bool = run_option("as_json")


@command_of
def queries(options: LibraryOptions) -> None:
    """List the stored queries; with treebanks, what each finds in them.

    A match becomes a pair only if the changed form is unambiguous.
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
    heads = ["bad sentence" if name == "title" else name for name in shown]
    for record, query_ in zip(records, queries, strict=True):
        record["languages"] = " ".join(query_.languages)
    show(in_columns(heads, ([record.get(name) for name in shown] for record in records)))


def query_counts(
    queries: Sequence[StoredQuery], options: LibraryOptions
) -> dict[str, dict[str, int | None]]:
    """The matches, pairs and twins of each query; null where a query makes none."""
    from cimento.corpus.edits import parse_change
    from cimento.corpus.queries import TreebankIndex
    from cimento.corpus.queries.matching import find
    from cimento.corpus.query_pairs import PairQuery, make_pairs
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


class PairQueryOptions(TreebankOptions, TextOptions, MalformedOptions, FormOptions):
    """The query, the change, and the number of pairs to draw."""

    query: str = option(..., "A stored query, a file .req, or 'pattern { ... }'.", argument="QUERY")
    treebanks: tuple[Path, ...] = option(
        ...,
        "CoNLL-U files, folders of them, or it_sample. May be repeated.",
        flags=("--treebank",),
    )
    output: Path = option(..., "Suite folder to write.", flags=("-o",))
    language: str = option(..., "ISO 639-1 code.")
    change: str = option(
        "",
        "V.Number, V.Mood=Ind, V.lemma=andare, V.form=se, del_node N, swap A B,"
        ' add_before N "che"; as stored.',
    )
    controller: str = option("", "The word with which the changed word agrees; as stored.")
    dependents: Literal["break", "keep"] = option(
        "break", "Change the word alone, or the words that agree with it inside its phrase too."
    )
    items: int | None = option(None, "At most so many; all unless given.", ge=1)
    per_lemma: int = option(10, "Items of the same changed lemma.", ge=1)
    longest: int = option(40, "In words.", ge=1)
    frequency: float | None = option(
        None, "Also write a copy whose two forms' Zipf frequencies are at most so far apart.", ge=0
    )
    seed: int = option(0, "Seed of the draw.")
    as_json: bool = run_option("as_json")


@command_of
def build_query(options: PairQueryOptions) -> None:
    """Make minimal pairs of the matches of a query, with one change to a word of each.

    Matches with an ambiguous form are left out; their number and the reasons are printed. If a noun
    between the two agreeing words can be made an attractor, a twin suite has the same items with
    it.
    """
    from cimento.corpus.queries import TreebankIndex
    from cimento.corpus.queries.parsing import open_query
    from cimento.corpus.query_pairs import as_ids, as_trees, draw_pairs, make_pairs

    stored = open_query(options.query)
    query = _pair_query(stored, options)
    skipped = where_skipped(options.malformed)
    index = TreebankIndex(options.files, skipped=skipped)
    note_unknown(index, stored)
    note_languages([file.corpus for file in index.files], options.language)
    editor = editor_of(index, options.dictionary, options.language)
    drafts = make_pairs(index, query, editor, longest=options.longest)
    drawn = draw_pairs(
        drafts.pairs, n=options.items, per_lemma=options.per_lemma, seed=options.seed
    )
    pairs = {str(number): pair for number, pair in enumerate(drawn, start=1)}
    undrawn = drafts.not_drawn(drawn, per_lemma=options.per_lemma)
    record = _record(index, query, options, drafts, drawn)
    record["not_drawn"] = dict(undrawn.most_common())
    note_skipped(skipped)
    for reason, number in (drafts.reasons + undrawn).most_common():
        note(f"{number} left out: {reason}")
    with_text = bool(pairs) and shows_text(index.files, options.text)
    if not pairs:
        note(f"No pairs of {counted(drafts.matches, 'match', 'matches')}: nothing is written.")
    else:
        write_text(as_ids(index, pairs), options.output / SOURCES)
    if with_text:
        write_text(as_trees(index, pairs), options.output / TREES)
        record["suites"] = _write_suites(index, query, stored, options, pairs)
    if pairs:
        write_text(json_text(record, indent=1) + "\n", options.output / RECORD)
    if options.as_json:
        show_json(record)
    if options.as_json or not pairs:
        return
    asked, matches = options.items or 0, counted(drafts.matches, "match", "matches")
    fewer = f", fewer than --items {asked}" if len(pairs) < asked else ""
    note(f"{counted(len(pairs), 'pair')} of {matches}{fewer}: {options.output}")
    for line in _power_lines(record):
        note(line)
    if with_text:
        note(f"Next: cimento suites audit {options.output}; a native speaker fills in {SHEET}.")


def _pair_query(stored: StoredQuery, options: PairQueryOptions) -> PairQuery:
    from cimento.corpus.edits import parse_change
    from cimento.corpus.query_pairs import PairQuery
    from cimento.errors import did_you_mean

    change = options.change or stored.change
    if not change:
        raise UsageError(
            where="--change",
            seen="nothing says what makes the bad sentence",
            todo="Write --change V.Number, with the name of a word of the pattern.",
        )
    nodes = stored.requests[0].nodes
    controller = options.controller or ("" if options.change else stored.controller)
    if controller and controller not in nodes:
        raise UsageError(
            where="--controller",
            seen=f"the pattern has no word {controller!r}",
            todo=did_you_mean(controller, nodes),
        )
    return PairQuery(
        name=stored.name,
        requests=stored.requests,
        change=parse_change(change, nodes),
        controller=controller,
        dependents=options.dependents,
        twin=stored.twin,
    )


def _record(
    index: TreebankIndex,
    query: PairQuery,
    options: PairQueryOptions,
    drafts: Drafts,
    drawn: Sequence[TreebankPair],
) -> dict[str, object]:
    """What was searched and what came of it, for `query.json` and ``--json``."""
    from cimento.statistics.power import detectable_difference

    lemmas = len({pair.lemma for pair in drawn})
    rate, of_lemmas, two = (
        detectable_difference(n, discordant=discordant) if n else None
        for n, discordant in ((len(drawn), 1.0), (lemmas, 1.0), (len(drawn), _DISCORDANT))
    )
    return {
        "query": query.name or None,
        "patterns": [request.text for request in query.requests],
        "change": query.change.text,
        "controller": query.controller or None,
        "dependents": query.dependents,
        "dictionary": options.dictionary or None,
        "seed": options.seed,
        "treebanks": [
            {"file": file.name, "sha256": file.sha256, "license": file.license}
            for file in index.files
        ],
        "matches": drafts.matches,
        "left_out": dict(drafts.reasons.most_common()),
        "usable": len(drafts.pairs),
        "items": len(drawn),
        "lemmas": lemmas,
        "without_twin": dict(Counter(p.twinless for p in drawn if p.twinless).most_common()),
        "power": {
            "power": 0.8,
            "accuracy_above_chance": None if rate is None else (1 + rate) / 2,
            "accuracy_above_chance_by_lemma": None if of_lemmas is None else (1 + of_lemmas) / 2,
            "difference_of_two_models": two,
            "discordant": _DISCORDANT,
        },
        "suites": {},
    }


def _power_lines(record: Mapping[str, object]) -> list[str]:
    power = record["power"]
    assert isinstance(power, dict)  # noqa: S101  # as made above
    rate, lemma = power["accuracy_above_chance"], power["accuracy_above_chance_by_lemma"]
    two = power["difference_of_two_models"]
    lines = []
    if rate is not None:
        alike = "" if lemma is None else f"; {lemma:.0%} or more if items of a lemma are alike"
        lines.append(
            f"With these items, an accuracy of {rate:.0%} or more is distinguishable from chance"
            f" (power 0.8){alike}."
        )
    if two is not None:
        lines.append(
            "Two models that differ on a fifth of the items are distinguishable"
            f" if their accuracies are {two:.1%} apart (power 0.8)."
        )
    if record["items"] and not lines:
        lines.append("With so few items no accuracy is distinguishable from chance (power 0.8).")
    return lines


def _write_suites(
    index: TreebankIndex,
    query: PairQuery,
    stored: StoredQuery,
    options: PairQueryOptions,
    pairs: Mapping[str, TreebankPair],
) -> dict[str, int]:
    """Write the suite, its sheet, its twin and its matched copy; the items of each."""
    from cimento.corpus.query_pairs import pair_suite
    from cimento.people.annotate.spreadsheets import export_review

    made = {"": pairs}
    twins = {name: pair.twin for name, pair in pairs.items() if pair.twin is not None}
    if twins:
        made[_TWIN] = twins
    if options.frequency is not None:
        made |= _matched(options, pairs)
    for suffix, members in made.items():
        folder = options.output.with_name(options.output.name + suffix)
        meta = _meta(index, query, stored, options, folder.resolve().name, members)
        write_native(pair_suite(index, query, members, meta=meta), folder)
        export_review([folder], folder / SHEET)
        if suffix:
            note(f"{counted(len(members), 'item')} of them: {folder}")
    return {options.output.name + suffix: len(members) for suffix, members in made.items()}


def _matched(
    options: PairQueryOptions, pairs: Mapping[str, TreebankPair]
) -> dict[str, Mapping[str, TreebankPair]]:
    from cimento.cli.resources import needed_frequencies
    from cimento.corpus.query_pairs import matched_pairs, mean_zipf_apart

    frequency = needed_frequencies(options.language)
    kept = matched_pairs(pairs, frequency, most=options.frequency or 0.0)
    before, after = (
        mean_zipf_apart(members, frequency) for members in (pairs.values(), kept.values())
    )
    later = "" if after is None else f", then {after:+.2f}"
    note(f"Zipf frequency of good forms less that of bad ones: {before:+.2f} on average{later}")
    return {_MATCHED: kept} if kept else {}


def _meta(
    index: TreebankIndex,
    query: PairQuery,
    stored: StoredQuery,
    options: PairQueryOptions,
    name: str,
    pairs: Mapping[str, TreebankPair],
) -> Meta:
    files = dict.fromkeys(index.files[index.entries[p.sentence].file] for p in pairs.values())
    forms = f"{options.dictionary}, then the treebanks" if options.dictionary else "the treebanks"
    title = f"{stored.title}: " if stored.title else ""
    return Meta(
        name=name,
        version="0.1.0",
        language=options.language,
        phenomenon=query.name or "own query",
        license=" AND ".join(dict.fromkeys(file.license for file in files)),
        status="made from a treebank, not yet reviewed",
        comment=f"{title}{query.change.text} by {query.name or 'a query'} ({RECORD});"
        f" forms of {forms}; dependents: {query.dependents}; seed {options.seed}.",
    )
