"""A dataset folder for the Hugging Face hub: one Parquet file for each table, and its card."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.citing import bibtex, methods_paragraph, references
from cimento.citing.used import counted
from cimento.exporting.data import RunData
from cimento.io.files import atomically, write_text
from cimento.io.parquet import write_parquet
from cimento.report.formatting import interval, rate
from cimento.report.grid import BLANK, Grid, as_markdown
from cimento.runs.estimates import ESTIMATES
from cimento.runs.outcomes import OUTCOMES

if TYPE_CHECKING:
    import polars as pl

_ABOUT = {
    OUTCOMES.name: "one row an item and question: pass, fail, tie or unscored, and its value",
    ESTIMATES.name: "one row a number about many items, with its interval",
    "tokens": "one row a token: its log-probability in nats",
    "requests": "one row a region of a text that was asked",
    "fills": "one row a candidate for a blank",
    "choices": "one row an option of a question",
    "replies": "one row a reply that a model wrote",
}
_LICENCE = re.compile(r"^[\w.+-]+$")


def write_hf_dataset(runs: Sequence[RunData], folder: Path) -> list[Path]:
    """All tables of some runs, each with the columns ``model`` and ``suite``, and the card.

    Judgments of people hold their names or codes; they are left out.

    Raises:
        StorageError: the folder cannot be written.
    """
    written = []
    for name in _ABOUT:
        frame = _joined(runs, name)
        if frame is not None:
            path = folder / "data" / f"{name}.parquet"
            written.append(atomically(path, partial(write_parquet, frame)))
    names = [path.stem for path in written]
    return [*written, write_text(_card(runs, names), folder / "README.md")]


def _joined(runs: Sequence[RunData], name: str) -> pl.DataFrame | None:
    """A table of all runs that have it; None where none has."""
    import polars as pl

    frames = []
    for data in runs:
        if name not in (*data.run.tables, OUTCOMES.name, ESTIMATES.name):
            continue
        table = data.run.table(name).drop("model", "suite", strict=False)
        whose = (pl.lit(data.run.model).alias("model"), pl.lit(data.suite).alias("suite"))
        frames.append(table.select(*whose, pl.all()))
    # A column that only some runs have is null in the others.
    return pl.concat(frames, how="diagonal") if frames else None


def _card(runs: Sequence[RunData], tables: Sequence[str]) -> str:
    opened = [data.run for data in runs]
    metas = [run.suite.meta for run in opened]
    head = ["---", *_listed("language", sorted({meta.language for meta in metas} - {""}))]
    licences = sorted({meta.licence for meta in metas if _LICENCE.match(meta.licence)})
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
        f'table = load_dataset("PATH", "{tables[0]}", split="train")',
        "```",
        "",
        "## How it was made",
        "",
        methods_paragraph(opened, form="text"),
        "",
        "## Citation",
        "",
        "```bibtex",
        bibtex(references(opened)).rstrip("\n"),
        "```",
    ]
    return "\n".join([*head, *body]) + "\n"


def _results(runs: Sequence[RunData]) -> Grid:
    rows = []
    for data in runs:
        for result in data.results:
            for one in result.estimates:
                right = BLANK if one.right is None else str(one.right)
                value = rate(one.value, absent=BLANK)
                ends = interval(one.low, one.high, absent=one.reason or BLANK)
                names = (data.suite, data.run.model, result.name, one.statistic)
                rows.append((*names, right, str(one.n), value, ends))
    header = ("suite", "model", "question", "statistic", "right", "of", "value", "95 % interval")
    return Grid(title="What the runs say.", header=header, rows=tuple(rows), labels=4)


def _listed(name: str, values: Sequence[str]) -> list[str]:
    # In quotation marks: without them YAML takes Norwegian, "no", for a truth value.
    return [f"{name}:", *(f"- {json.dumps(value)}" for value in values)] if values else []
