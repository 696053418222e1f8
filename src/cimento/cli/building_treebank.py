"""``cimento suites build treebank``: minimal pairs of agreement from a treebank."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

from cimento.cli import options
from cimento.cli.console import note
from cimento.cli.corpus_options import (
    Licence,
    Malformed,
    Treebanks,
    WithText,
    note_skipped,
    shows_text,
    where_skipped,
)

IDS = "sources.tsv"


# size: one argument for each option
def treebank(
    treebanks: Treebanks,
    output: Annotated[Path, options.option("-o", "--output", help="Suite folder to write.")],
    *,
    language: Annotated[str, options.option("--language", help="ISO 639-1 code.")],
    dictionary: Annotated[
        str,
        options.option(
            "--dictionary", help="delaf:FILE, unimorph:FILE, rules:it, pymorphy3; rules by default."
        ),
    ] = "",
    phenomenon: Annotated[
        Literal["subject-verb", "noun-adjective"],
        options.option("--phenomenon", help="What agrees with what."),
    ] = "subject-verb",
    feature: Annotated[
        Literal["Number", "Gender"],
        options.option("--feature", help="The feature that is changed."),
    ] = "Number",
    items: Annotated[
        int | None, options.option("--items", min=1, help="How many; all unless given.")
    ] = None,
    per_lemma: Annotated[
        int, options.option("--per-lemma", min=1, help="Items of the same agreeing lemma.")
    ] = 10,
    longest: Annotated[int, options.option("--longest", min=1, help="In words.")] = 40,
    seed: Annotated[int, options.option("--seed", help="Seed of the draw.")] = 0,
    text: WithText = None,
    malformed: Malformed = "refuse",
    licence: Licence = "",
) -> None:
    """Find agreeing pairs and inflect one of the two, as MultiBLiMP does.

    Forms that a dictionary cannot tell apart are left out; how many pairs, and why, is printed.
    """
    from cimento.cli.dictionaries import open_named
    from cimento.corpus.making.agreement import agreeing_pairs, agreement_suite, as_ids, draw_pairs
    from cimento.corpus.treebanks import open_treebanks
    from cimento.io.files import write_text
    from cimento.suites.formats.native import write_native
    from cimento.suites.model import Meta

    files, skipped = open_treebanks(treebanks, licence=licence), where_skipped(malformed)
    morphology = open_named(dictionary or f"rules:{language}", language=language)
    reasons: Counter[str] = Counter()
    found = list(
        agreeing_pairs(
            files,
            morphology,
            phenomenon,
            feature=feature,
            longest=longest,
            skipped=skipped,
            reasons=reasons,
        )
    )
    note_skipped(skipped)
    for reason, number in reasons.most_common():
        note(f"{number} left out: {reason}")
    drawn = draw_pairs(found, n=items, per_lemma=per_lemma, seed=seed)
    write_text(as_ids(drawn), output / IDS)
    if not shows_text(files, text):
        note(f"{len(drawn)} of {len(found)} pairs, ids only: {output / IDS}")
        return
    meta = Meta(
        name=output.resolve().name,
        version="0.1.0",
        language=language,
        phenomenon=f"{phenomenon} agreement",
        licence=" AND ".join(dict.fromkeys(each.licence for each in drawn)),
        status="made from a treebank, not yet reviewed",
        comment=f"{feature} changed by {morphology.name}, seed {seed}.",
    )
    write_native(agreement_suite(drawn, meta=meta), output)
    note(f"{len(drawn)} of {len(found)} pairs: {output}")
