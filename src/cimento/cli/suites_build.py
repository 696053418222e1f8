"""``cimento suites build``: items from templates, queries, stories and grammars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cimento.cli.console import in_columns, note, show, show_json
from cimento.cli.flags import command_of
from cimento.errors import InputError, UsageError, counted, need_known
from cimento.io.declared import Options, Texts, option
from cimento.io.files import folders_atomically, refuse_filled_in, write_text
from cimento.io.parsing import whole_number
from cimento.kinds.registry import load_suite, owner_of, sentence_suite
from cimento.options import run_option
from cimento.paradigms import cloze
from cimento.suites.builtin import find_suite, language_models, readers_of
from cimento.suites.formats.native import write_native

if TYPE_CHECKING:
    from cimento.models.questions import FillCandidate
    from cimento.suites import Suite
    from cimento.suites.cloze import MultiwordItem
    from cimento.suites.story_variants import Replacement


class TemplateOptions(Options):
    """The description of the templates, and what generates seeds for them."""

    description: Path = option(..., "Description (TOML): sentences, seeds.", argument="FILE")
    output: Path = option(..., "Suite folder to write.", flags=("-o",))
    dictionary: str = option("", "delaf:FILE, unimorph:FILE, rules:pt, pymorphy3; as described.")
    generator: str = option("", "Model that proposes seeds; as described.")
    device: str = option("auto", "cpu, cuda, cuda:1, mps; auto prefers a GPU.")
    as_json: bool = run_option("as_json")


@command_of
def templates(options: TemplateOptions) -> None:
    """Generate seeds by inflection or with a model, and write a suite of templates.

    All generated forms are in generated.tsv, the accepted ones in seeds.tsv: review that file.
    Building again does not change seeds.tsv, and prints the differences between the two.
    """
    from cimento.cli.resources import open_named

    described = cloze.read_description(options.description)
    name = options.dictionary or described.dictionary
    model = options.generator or described.generator
    known = described.model_copy(update={"generator": model})
    opened = open_named(name, language=described.meta.language) if name else None
    ask = _asking(model, options.device) if model else None
    output = options.output
    reviews = cloze.build_templates(known, output, dictionary=opened, ask=ask)
    counted_by_name = {
        name: {**asdict(review), "reviewed": review.reviewed} for name, review in reviews.items()
    }
    if options.as_json:
        show_json(counted_by_name)
        return
    rows = [
        (name, *(part if isinstance(part, int) else len(part) for part in parts.values()))
        for name, parts in counted_by_name.items()
    ]
    header = ("template", "generated", "kept", "removed", "added", "reviewed")
    show(in_columns(header, rows))
    note(f"Review {output / 'seeds.tsv'}, then: cimento suites check {output}")


def _asking(model: str, device: str) -> Callable[[Sequence[str], int], list[list[FillCandidate]]]:
    """A function that asks a model for whole words in blanks; the model is loaded on first use."""

    def ask(texts: Sequence[str], k: int) -> list[list[FillCandidate]]:
        from cimento.evaluation.free_fills import ask_texts
        from cimento.models.questions import FillPolicy
        from cimento.models.settings import Asking

        policy = FillPolicy(k=k, protocol="words")
        return ask_texts(texts, model, policy=policy, asking=Asking(device=device))

    return ask


class ExpressionOptions(Options):
    """The concordances or texts, and the sentences to take from them."""

    files: tuple[Path, ...] = option(
        ...,
        "Concordances: CSV, TSV, xlsx, XML; with --terms, texts or treebanks.",
        argument="FILE...",
    )
    output: Path = option(..., "Suite folder to write.", flags=("-o",))
    language: str = option(..., "ISO 639-1 code.")
    named_by: Literal["keyword", "file"] = option(
        "keyword", "What an expression is called: its keyword, or its file, for inflected forms."
    )
    kinds: Path | None = option(
        None,
        "A table with expression and kind, such as idiom, collocation or term; results are broken"
        " down by it with --set by=kind.",
    )
    terms: Path | None = option(
        None,
        "Search FILE... for these terms: one a line, or a table with term, forms (a | b) and kind.",
    )
    license: str = option("", "Terms of use of the sentences.")
    per: int | None = option(None, "Sentences for each expression; else all.", ge=1)
    seed: int = option(0, "Seed of the draw and the order.")
    shortest: int = option(5, "In tokens.", ge=1)
    longest: int = option(40, "In tokens.", ge=1)


@command_of
def expressions(options: ExpressionOptions) -> None:
    """Make items of expressions from concordances, or of terms from texts.

    The keyword of a line, or a term, is the expression. Its words, except articles, prepositions
    and the like, are put in braces, {testa} al {toro}, and each is asked in turn. Sentences without
    a beginning or an end are left out.
    """
    from cimento.suites import Meta
    from cimento.suites.cloze import ClozeSuite

    items, counts = _items_of_expressions(options)
    for reason, number in counts.items():
        note(f"{reason}: {number}")
    if not items:
        raise InputError(where="input", seen="no sentence is left", todo="Allow more.")
    meta = Meta(
        name=options.output.resolve().name,
        version="0.1.0",
        language=options.language,
        phenomenon="terminology" if options.terms else "multiword expressions",
        license=options.license,
        status=f"made from {'texts' if options.terms else 'concordances'}, not yet reviewed",
    )
    suite = ClozeSuite(meta, multiwords=tuple(items), cluster="expression")
    owner_of(suite).reader.write(suite, options.output)
    names = len({item.expression for item in items})
    note(f"{len(items)} sentences of {names} expressions: {options.output}")


def _items_of_expressions(options: ExpressionOptions) -> tuple[list[MultiwordItem], Counter[str]]:
    """The items of concordances or terms, and the number of sentences left out by reason."""
    drawing = options.named_in(cloze.Drawing)
    if options.terms is None:
        return cloze.items_of_concordances(
            options.files,
            language=options.language,
            named_by=options.named_by,
            drawing=drawing,
            kinds=cloze.read_kinds(options.kinds) if options.kinds else None,
        )
    if options.kinds:
        todo = "Write them into a column kind of the terms."
        raise UsageError(where="--kinds", seen="with --terms they have a column", todo=todo)
    terms = cloze.read_terms(options.terms)
    return cloze.items_of_terms(options.files, terms, language=options.language, drawing=drawing)


_REPLACE = "Choose another folder, or add --force to replace it."


class StoryVariantOptions(Options):
    """The stories, and the variants to propose."""

    source: Path = option(..., "Stories; the plausible ones are used.", argument="FILE")
    output: Path = option(..., "JSONL file to write.", flags=("-o",))
    orders: int | None = option(None, "Order variants per story; all unless given.", ge=0)
    replacements: Path | None = option(None, "Table with story_id, position (from 0) and sentence.")
    seed: int = option(0, "Seed of the sample of variants.")


@command_of
def stories(options: StoryVariantOptions) -> None:
    """Propose order variants (two sentences swapped) and cloze variants (one replaced).

    Conflicting variants are proposed too, and marked as such until a person confirms them:
    ``cimento suites check`` reports stories that nobody has confirmed.
    """
    from cimento.suites.formats.stories import read_stories, write_jsonl
    from cimento.suites.story_variants import cloze_variants, order_variants

    known = read_stories(find_suite(options.source)).stories
    variants = list(order_variants(known, per_story=options.orders, seed=options.seed))
    if options.replacements is not None:
        variants += cloze_variants((*known, *variants), _read_replacements(options.replacements))
    write_jsonl(variants, options.output)
    note(f"{len(variants)} variants to confirm: {options.output}")


class GrammarOptions(Options):
    """The grammars, and the number of items to make from them."""

    grammars: Texts = option(
        (),
        "Built-in grammars, folders with grammar.toml, .toml files.",
        argument="GRAMMAR...",
    )
    output: Path | None = option(
        None, "Folder for the suites; needed unless --list is given.", flags=("-o",)
    )
    items: int = option(200, "Number of items of each suite.", ge=1)
    seed: int = option(0, "Seed of the sample of words.")
    every: Texts = option(
        (), "All built-in grammars of a language. Repeatable.", flags=("--all",), metavar="LANG"
    )
    classes: Texts = option(
        (), "With --all, only grammars of this class, such as agreement. Repeatable.",
        flags=("--class",),
    )  # fmt: skip
    review: Path | None = option(
        None, "A folder for audit.txt and, for each language, a sheet for a native speaker."
    )
    reviewed: int = option(10, "Items of each suite in the sheets.", ge=1)
    listed: bool = option(default=False, help="List the built-in grammars.", flags=("--list",))
    force: bool = option(default=False, help="Replace suites that are there.")


@command_of
def pairs(options: GrammarOptions) -> None:
    """Make suites from grammars, and the adversarial twins of those that have attractors."""
    from cimento.corpus.generation import generate_suites, lengths
    from cimento.corpus.grammar_files import find_grammar, grammar_names, read_grammar

    output = options.output
    if options.listed:
        _list_grammars(options.grammars or _built_in(options) or grammar_names())
        return
    names = [*options.grammars, *_built_in(options)]
    if not names or output is None:
        seen = "no grammar is given" if not names else "no folder for the suites is given"
        todo = "Write cimento suites build pairs GRAMMAR -o FOLDER; --list lists the grammars."
        raise UsageError(where="suites build pairs", seen=seen, todo=todo)
    # Nothing is written before all grammars are found and no suite is in the way.
    read = [read_grammar(find_grammar(name)) for name in names]
    made = [generate_suites(grammar, n=options.items, seed=options.seed) for grammar in read]
    parts = [part for pair in made for part in pair if part is not None]
    if options.force:
        for part in parts:
            write_native(part, output / part.name)
    else:
        writers = {output / part.name: partial(write_native, part) for part in parts}
        folders_atomically(writers, todo=_REPLACE)
    for part in parts:
        note(f"{counted(len(part.items), 'item')}: {output / part.name}; {lengths(part)}")
    languages = Counter(part.meta.language for part in parts)
    total = sum(len(part.items) for part in parts)
    note(
        f"{total:,} items in {counted(len(parts), 'suite')} of"
        f" {counted(len(languages), 'language')}. They are drafts: no native speaker has read them."
    )
    if options.review is not None:
        _write_review(options, parts, output, options.review)


def _built_in(options: GrammarOptions) -> list[str]:
    """The built-in grammars of the languages that were named, of the classes that were named.

    Raises:
        UsageError: there is no such class, or no language was named.
    """
    from cimento.corpus.grammar_files import find_grammar, grammar_names, read_grammar

    names = [name for language in options.every for name in grammar_names(language)]
    if not options.classes:
        return names
    if not names:
        raise UsageError(where="--class", seen="it is about --all", todo="Add --all LANG.")
    terms = {name: read_grammar(find_grammar(name)).term for name in names}
    for term in options.classes:
        need_known(term, set(terms.values()), where=f"--class {term}", seen="no grammar has it")
    return [name for name, term in terms.items() if term in options.classes]


def _write_review(
    options: GrammarOptions, parts: Sequence[Suite], output: Path, folder: Path
) -> None:
    """Write the audit of every suite, and a sheet for each language with items of all its suites.

    Sheets are made of plain suites: the items of their twins differ in the attractor alone.
    """
    from cimento.cli.suites_audit import plain_audits
    from cimento.corpus.generation import TWIN
    from cimento.people.annotate.spreadsheets import export_review

    folder.mkdir(parents=True, exist_ok=True)
    write_text(plain_audits(parts) + "\n", folder / "audit.txt")
    for language in dict.fromkeys(part.meta.language for part in parts):
        sheet = folder / f"review-{language}.xlsx"
        refuse_filled_in(sheet, holds="verdicts")
        suites = [
            output / part.name
            for part in parts
            if part.meta.language == language and not part.name.endswith(TWIN)
        ]
        count = export_review(suites, sheet, items=options.reviewed, seed=options.seed)
        note(f"{counted(count, 'row')} to read: {sheet}")
    note(f"The audits: {folder / 'audit.txt'}")


def _list_grammars(names: Sequence[str]) -> None:
    from cimento.corpus.grammar_files import find_grammar, items_read, read_grammar

    paths = {name: find_grammar(name) for name in names}
    read = {folder: items_read(folder) for folder in {path.parent for path in paths.values()}}
    rows = [
        (name, one.language, one.term, one.phenomenon, read[path.parent][name] or "")
        for name, path in paths.items()
        for one in [read_grammar(path)]
    ]
    show(in_columns(("name", "language", "class", "phenomenon", "items with two readers"), rows))
    items = (item for folder in read for item in readers_of(folder).values())
    if {name for item in items for name, _ in item} <= language_models():
        note("The readers are language models; no native speaker has read the items.")


def _read_replacements(path: Path) -> list[Replacement]:
    from cimento.intake.tables import open_table
    from cimento.suites.story_variants import Replacement

    table = open_table(path)
    names = ("story_id", "position", "sentence")
    missing = [name for name in names if table.find(name) is None]
    if missing:
        raise InputError(
            where=str(path),
            seen=f"the column {', '.join(missing)} is missing",
            todo="Name the columns story_id, position, sentence in the first row.",
        )
    replacements = []
    for row in table.rows:
        number, position, sentence = (row.cells[str(table.find(name))].strip() for name in names)
        if whole_number(number) is None or whole_number(position) is None or not sentence:
            raise InputError(
                where=table.where(row),
                seen=f"got story_id {number!r}, position {position!r}, sentence {sentence!r}",
                todo="Write two whole numbers and a sentence.",
            )
        replacements.append(
            Replacement(story_id=int(number), position=int(position), sentence=sentence)
        )
    return replacements


class PromptedOptions(Options):
    """The suite whose sentences are asked about, and where the new one goes."""

    suite: str = option(..., "Pairs or rated sentences: a name or a path.", argument="SUITE")
    output: Path = option(..., "Suite folder to write.", flags=("-o",))
    force: bool = option(default=False, help="Replace suites that are there.")


@command_of
def prompted(options: PromptedOptions) -> None:
    """Have models asked by prompt about the sentences of a suite: which is better, or how good.

    This is for models that only chat. Their answers are not the probability of a sentence, so the
    suite has its own name (NAME-prompted), and so have its runs and their numbers.
    """
    from cimento.paradigms.prompted import PROMPTED, prompted_suite

    derived, output = prompted_suite(sentence_suite(load_suite(options.suite))), options.output
    write = partial(PROMPTED.reader.write, derived)
    if options.force:
        write(output)
    else:
        folders_atomically({output: write}, todo=_REPLACE)
    note(f"{len(derived.items)} items: {output}. Now: cimento run {output} -m openai:URL#MODEL")
