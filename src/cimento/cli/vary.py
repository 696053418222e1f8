"""``cimento suites vary``: variants of a suite, each a suite folder of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cimento.cli import options


def vary_suite(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="Built-in name or path.")],
    variants: Annotated[
        Path, options.option("--variants", help="A file with [[variants]] (docs/variants.md).")
    ],
    output: Annotated[
        Path, options.option("-o", "--output", help="Folder; each variant gets one in it.")
    ],
) -> None:
    """Write the variants of a suite: one lexical change in every item, with its provenance.

    Run suite and variants with one model, then: cimento compare RUN RUN.
    """
    from cimento.api import load_suite
    from cimento.cli.console import note, show
    from cimento.io.inline_markup import columns
    from cimento.paradigms.suites import sentence_suite
    from cimento.suites.faults import summarize
    from cimento.suites.formats.native import write_native
    from cimento.suites.load import inspect_suite
    from cimento.suites.variants import open_slots, read_variants, vary

    loaded = load_suite(suite)
    sentences, digest = sentence_suite(loaded), loaded.reading.sha256
    made = [(each, vary(sentences, each, sha256=digest)) for each in read_variants(variants)]
    rows = [("variant", "items changed", "sentences changed", "items untouched", "folder")]
    for variant, varied in made:
        folder = write_native(varied.suite, output / varied.suite.name)
        changed, untouched = str(len(varied.changed)), str(len(varied.untouched))
        rows.append((variant.name, changed, str(varied.sentences), untouched, str(folder)))
        for line in summarize(inspect_suite(folder)[1]):
            note(f"{varied.suite.name}: {line}")
        if left := open_slots(varied.suite):
            note(f"{varied.suite.name}: slots that nothing fills: {', '.join(left)}")
    show(columns(rows))
