"""``cimento suites match``, ``prime`` and ``merge``: suites made of others by a rule."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cimento.cli import options
from cimento.cli.frequencies import zipf_frequencies

if TYPE_CHECKING:
    from cimento.suites.matching import Balance, Frequency

SuiteName = Annotated[str, typer.Argument(metavar="SUITE", help="Built-in name or path.")]
Folder = Annotated[Path, options.option("-o", "--output", help="Folder to write.")]


# size: one argument for each option.
def match_suite(
    suite: SuiteName,
    output: Folder,
    *,
    words: Annotated[
        int | None, options.option("--words", min=0, help="At most so many words apart.")
    ] = None,
    characters: Annotated[
        int | None, options.option("--characters", min=0, help="At most so many characters apart.")
    ] = None,
    frequency: Annotated[
        float | None,
        options.option("--frequency", min=0, help="Mean Zipf frequencies at most so far apart."),
    ] = None,
    overlap: Annotated[
        float | None,
        options.option("--overlap", min=0, max=1, help="At least this share of words in common."),
    ] = None,
    condition: Annotated[
        list[str] | None,
        options.option("--condition", help="Compare only these; may be repeated. All by default."),
    ] = None,
) -> None:
    """Write a copy with the items whose conditions are alike, and say how alike they were.

    Differences in length, frequency or words between conditions can make or hide an effect.
    """
    from cimento.api import load_suite
    from cimento.cli.console import note, show
    from cimento.errors import UsageError
    from cimento.io.inline_markup import columns
    from cimento.paradigms.suites import sentence_suite
    from cimento.suites.formats.native import write_native
    from cimento.suites.matching import Limits, match_items

    limits = Limits(words=words, characters=characters, frequency=frequency, overlap=overlap)
    if limits == Limits():
        raise UsageError(
            where="cimento suites match",
            seen="no limit is given",
            todo="Give --words, --characters, --frequency or --overlap.",
        )
    loaded = load_suite(suite)
    sentences = sentence_suite(loaded)
    language = sentences.meta.language
    known = _frequencies(language) if frequency is not None else None
    found = match_items(
        sentences,
        limits,
        conditions=tuple(condition or ()),
        frequency=known,
        sha256=loaded.reading.sha256,
    )
    write_native(found.suite, output)
    kept = len(found.suite.items)
    rows = [
        ("", "items", "words apart", "characters apart", "words shared", "frequency apart"),
        ("all", str(kept + len(found.dropped)), *_numbers(found.before)),
        ("kept", str(kept), *_numbers(found.after)),
    ]
    show(columns(rows))
    note(f"Written: {output}")


def prime_suite(
    suite: SuiteName,
    output: Folder,
    *,
    condition: Annotated[
        str, options.option("--condition", help="Of the sentences that come first.")
    ],
    earlier: Annotated[int, options.option("--earlier", min=1, help="How many come first.")] = 1,
    seed: Annotated[int, options.option("--seed", help="Of the choice.")] = 0,
) -> None:
    """Write a copy with sentences of other items before every sentence, as context.

    Run it with --context-column context; cimento compare tells what exposure changes.
    """
    from cimento.api import load_suite
    from cimento.cli.console import note
    from cimento.paradigms.suites import sentence_suite
    from cimento.suites.formats.native import write_native
    from cimento.suites.variants import COLUMN, prime

    loaded = load_suite(suite)
    digest = loaded.reading.sha256
    made = prime(sentence_suite(loaded), condition, earlier, seed=seed, sha256=digest)
    write_native(made, output)
    note(f"Written: {output}. Run it with: cimento run {output} --context-column {COLUMN}")


def merge_suite(
    suites: Annotated[
        list[str], typer.Argument(metavar="SUITE...", help="Built-in names or paths.")
    ],
    output: Folder,
    *,
    name: Annotated[str, options.option("--name", help="Of the whole.")],
) -> None:
    """Write several suites of one design as one, a phenomenon each.

    Scores are normalised over a suite, so that what is to be pooled must be one.
    """
    from cimento.api import load_suites
    from cimento.cli.console import note
    from cimento.paradigms.suites import sentence_suite
    from cimento.suites.formats.native import write_native
    from cimento.suites.pairs import merge_suites

    parts = {loaded.suite.name: sentence_suite(loaded) for loaded in load_suites(suites)}
    made = merge_suites(parts, name=name)
    write_native(made, output)
    note(f"Written: {output}, {len(made.items)} items of {len(parts)} suites")


def _numbers(balance: Balance) -> tuple[str, str, str, str]:
    frequency = "" if balance.frequency is None else f"{balance.frequency:.2f}"
    return (
        f"{balance.words:.2f}",
        f"{balance.characters:.1f}",
        f"{balance.overlap:.2f}",
        frequency,
    )


def _frequencies(language: str) -> Frequency:
    """Zipf frequencies of a language's words.

    Raises:
        MissingDependencyError: wordfreq is not installed.
        UsageError: it does not know the language.
    """
    from cimento.errors import UsageError

    found = zipf_frequencies(language, purpose="frequencies of words")
    if found is None:
        raise UsageError(
            where="--frequency", seen=f"there are no frequencies for the language {language!r}"
        )
    return found
