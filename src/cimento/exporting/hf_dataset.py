"""A dataset folder for the Hugging Face hub: one Parquet file for each table, and its card."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.answers import (
    CHOICES,
    FILLS,
    JUDGMENTS,
    REPLIES,
    REQUESTS,
    SCORES,
    STORY_CHOICES,
    STORY_REPLIES,
    TOKENS,
    VERDICTS,
    TableSchema,
    find_table,
)
from cimento.citing import bibtex, methods_paragraph, references
from cimento.citing.facts import STORIES
from cimento.citing.used import counted
from cimento.exporting.data import RunData
from cimento.files import atomically, write_text
from cimento.report.grid import BLANK, Grid, as_markdown
from cimento.report.wording import interval, rate
from cimento.runs.estimates import ESTIMATES
from cimento.runs.outcomes import OUTCOMES

if TYPE_CHECKING:
    import polars as pl

TABLES: Sequence[TableSchema] = (
    OUTCOMES, ESTIMATES, VERDICTS, TOKENS, REQUESTS, FILLS, CHOICES, REPLIES, SCORES, JUDGMENTS,
)  # fmt: skip
_ABOUT = {
    "outcomes": "one row an item and question: what became of it, and why",
    "estimates": "one row a rate, an effect or a correlation, with its interval",
    "verdicts": "one row an item and question: pass, fail, tie or unscored; margins in bits",
    "tokens": "one row a token: its log-probability in nats",
    "requests": "one row a region of a text that was asked",
    "fills": "one row a candidate for a blank",
    "choices": "one row an option of a story's question",
    "replies": "one row a reply that a model wrote",
    "scores": "one row a measure of a sentence",
    "judgments": "one row a judgment of a person",
}
_OF_STORIES = {schema.name: schema for schema in (STORY_CHOICES, STORY_REPLIES)}
_LICENCE = re.compile(r"^[\w.+-]+$")


def write_hf_dataset(runs: Sequence[RunData], folder: Path) -> list[Path]:
    """All tables of some runs, each with the columns ``model`` and ``suite``, and the card.

    Judgments of people hold their names or codes; they are left out.

    Raises:
        StorageError: the folder cannot be written.
    """
    written = []
    for schema in TABLES:
        frame = _joined(runs, schema) if schema is not JUDGMENTS else None
        if frame is not None:
            path = folder / "data" / f"{schema.name}.parquet"
            written.append(atomically(path, frame.write_parquet))
    names = [path.stem for path in written]
    return [*written, write_text(_card(runs, names), folder / "README.md")]


def _joined(runs: Sequence[RunData], schema: TableSchema) -> pl.DataFrame | None:
    """A table of all runs that have it; None where none has."""
    import polars as pl

    frames = []
    for run in runs:
        of_stories = _OF_STORIES if run.facts.kind == STORIES else {}
        table = find_table(of_stories.get(schema.name, schema), run.path)
        if table is None:
            continue
        own = (pl.lit(run.facts.label).alias("model"), pl.lit(run.suite).alias("suite"))
        frames.append(table.drop("suite", "model", strict=False).select(*own, pl.all()))
    # A column that only some runs have is null in the others.
    return pl.concat(frames, how="diagonal") if frames else None


def _card(runs: Sequence[RunData], tables: Sequence[str]) -> str:
    facts = [run.facts for run in runs]
    head = ["---", *_listed("language", sorted({each.meta.language for each in facts} - {""}))]
    licences = sorted({each.meta.licence for each in facts if _LICENCE.match(each.meta.licence)})
    if len(licences) == 1:
        head.append(f"license: {licences[0].lower()}")
    head += ["tags:", "- cimento", "- linguistic-evaluation", "configs:"]
    for number, name in enumerate(tables):
        head += [f"- config_name: {name}", f"  data_files: data/{name}.parquet"]
        head += ["  default: true"] if number == 0 else []
    suites = ", ".join(dict.fromkeys(run.suite for run in runs))
    body = [
        "---",
        "",
        f"# Answers to {suites}",
        "",
        f"{counted(len(runs), 'run', 'runs')} of cimento, with everything that the models said.",
        "",
        *as_markdown(_results(runs)).splitlines(),
        "",
        "## Tables",
        "",
        *(f"- `{name}`: {_ABOUT[name]}" for name in tables),
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        f'table = load_dataset("PATH", "{tables[0] if tables else "verdicts"}", split="train")',
        "```",
        "",
        "## How it was made",
        "",
        methods_paragraph(facts, form="text"),
        "",
        "## Citation",
        "",
        "```bibtex",
        bibtex(references(facts)).rstrip("\n"),
        "```",
    ]
    return "\n".join([*head, *body]) + "\n"


def _results(runs: Sequence[RunData]) -> Grid:
    rows = []
    for run in runs:
        for share in map(run.share, run.questions):
            counts = (str(share.right), str(share.n), rate(share.accuracy, absent=BLANK))
            found = share.interval
            ends = interval(found.low, found.high, absent=found.reason or BLANK)
            rows.append((run.suite, run.facts.label, share.question, *counts, ends))
    header = ("suite", "model", "question", "right", "of", "accuracy", "95 % interval")
    return Grid(title="How often each answer is right.", header=header, rows=tuple(rows), labels=3)


def _listed(name: str, values: Sequence[str]) -> list[str]:
    # In quotation marks: without them YAML takes Norwegian, "no", for a truth value.
    return [f"{name}:", *(f"- {json.dumps(value)}" for value in values)] if values else []
