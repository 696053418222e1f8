"""Tables of runs for other tools: a dataset folder with its card; CSV files with an R script."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cite import bibtex, cited_works, methods_paragraph
from cimento.documents import versions_apart
from cimento.errors import counted
from cimento.export.data import RunData, counts, run_data
from cimento.export.judgments import judgments_of_people, single_ratings
from cimento.intake.words import HEADERS
from cimento.io.clusters import CROSSED, cluster_shown
from cimento.io.files import atomically, write_text
from cimento.io.parquet import write_parquet
from cimento.io.values import BITS_PER_NAT, NOT_STATED
from cimento.paired.item_outcomes import labeled_apart
from cimento.records.outcomes import ESTIMATES, OUTCOMES, Outcome
from cimento.report.cells import count
from cimento.report.formatting import interval, rate_as_text
from cimento.report.grid import BLANK, Grid, as_markdown

if TYPE_CHECKING:
    import polars as pl


_ABOUT = {
    OUTCOMES.name: "one row per item and question: pass, fail, tie or unscored, and its value",
    ESTIMATES.name: "one row per number about many items, with its interval",
    "tokens": "one row per token: its log-probability in nats",
    "requests": "one row per region of a text that was asked",
    "fills": "one row per candidate for a blank",
    "choices": "one row per option of a question",
    "replies": "one row per reply that a model wrote",
}
_LICENSE = re.compile(r"^[\w.+-]+$")


def write_hf_dataset(runs: Sequence[RunData], folder: Path) -> list[Path]:
    """Write all tables of some runs, with the columns ``model`` and ``suite``, and the card.

    People's judgments contain their names or codes and are left out.

    Raises:
        StorageError: the folder cannot be written.
    """
    runs = _told_apart(runs)
    written = []
    for name in _ABOUT:
        frame = _joined(runs, name)
        if frame is not None:
            path = folder / "data" / f"{name}.parquet"
            written.append(atomically(path, partial(write_parquet, frame)))
    names = [path.stem for path in written]
    return [*written, write_text(_card(runs, names), folder / "README.md")]


def _told_apart(runs: Sequence[RunData]) -> list[RunData]:
    """The runs, named by what they differ in if a model has several of a suite.

    Two runs of one name, in two number formats say, would be one model in a joined table.
    """
    return run_data(labeled_apart(versions_apart([data.run for data in runs])))


def _joined(runs: Sequence[RunData], name: str) -> pl.DataFrame | None:
    """One table of all runs that have it; None if none has it."""
    import polars as pl

    frames = []
    for data in runs:
        if name not in (*data.run.tables, OUTCOMES.name, ESTIMATES.name):
            continue
        table = _with_shown_clusters(data.run.table(name)).drop("model", "suite", strict=False)
        whose = (pl.lit(data.run.model).alias("model"), pl.lit(data.suite).alias("suite"))
        frames.append(table.select(*whose, pl.all()))
    # A column that only some runs have is null in the other runs.
    return pl.concat(frames, how="diagonal") if frames else None


def _card(runs: Sequence[RunData], tables: Sequence[str]) -> str:
    opened = [data.run for data in runs]
    metas = [run.suite.meta for run in opened]
    head = ["---", *_listed("language", sorted({meta.language for meta in metas} - {""}))]
    licenses = {meta.license.lower() for meta in metas}
    # A license in the head is one of the whole folder: a suite that states none agrees to none.
    if len(licenses) == 1 and _LICENSE.match(shared := min(licenses)):
        head.append(f"license: {shared}")
    head += ["tags:", "- cimento", "- linguistic-evaluation", "configs:"]
    for number, name in enumerate(tables):
        head += [f"- config_name: {name}", f"  data_files: data/{name}.parquet"]
        head += ["  default: true"] if number == 0 else []
    stated = {run.suite: run.meta.license for run in runs}
    body = [
        "---",
        "",
        f"# Answers to {', '.join(stated)}",
        "",
        f"{counted(len(runs), 'run')} of cimento, with everything that the models said.",
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
        "## Licenses of the suites",
        "",
        *(f"- `{suite}`: {terms or NOT_STATED}" for suite, terms in stated.items()),
        "",
        "## How it was made",
        "",
        methods_paragraph(opened, appendix=True),
        "",
        "## Citation",
        "",
        "```bibtex",
        bibtex(cited_works(opened)).rstrip("\n"),
        "```",
    ]
    return "\n".join([*head, *body]) + "\n"


def _results(runs: Sequence[RunData]) -> Grid:
    rows = []
    for data in runs:
        for result in data.results:
            for one in result.estimates:
                right = count(one.right, absent=BLANK)
                value = rate_as_text(one.value, absent=BLANK)
                ends = interval(one.low, one.high, absent=one.reason or BLANK)
                names = (data.suite, data.run.model, result.name, one.statistic)
                rows.append((*names, right, count(one.n), value, ends))
    header = ("suite", "model", "question", "statistic", "right", "of", "value", "95% interval")
    return Grid(title="What the runs say.", header=header, rows=tuple(rows), labels=4)


def _listed(name: str, values: Sequence[str]) -> list[str]:
    # In quotation marks, because YAML reads an unquoted ``no``, the code of Norwegian, as false.
    return [f"{name}:", *(f"- {json.dumps(value)}" for value in values)] if values else []


_SCRIPTS = Path(__file__).parent


def write_r(runs: Sequence[RunData], folder: Path) -> list[Path]:
    """Write ``outcomes.csv``, ``estimates.csv``, ``sentences.csv`` and ``analysis.R``.

    If the sentences of a suite were scored, ``scores.csv`` is written too; if people's single
    ratings are in it, ``judgments.csv``.

    Raises:
        StorageError: the folder cannot be written.
    """
    import polars as pl

    runs = _told_apart(runs)
    of_runs = [_scores(data) for data in runs]
    scores = [table for table in of_runs if table is not None]
    units = [_units(table) for table in of_runs]
    tables = {"outcomes": _outcomes(runs, units), "estimates": _estimates(runs)}
    tables["sentences"] = _sentences(runs)
    script = (_SCRIPTS / "analysis.R").read_text("utf-8")
    if scores:
        tables["scores"] = pl.concat(scores, how="diagonal")
    if any("first_factor" in table.columns for table in scores):
        script += "\n" + (_SCRIPTS / "factorial.R").read_text("utf-8")
    if judged := _judgments(runs, of_runs):
        tables["judgments"] = pl.concat(judged, how="diagonal")
        script += "\n" + (_SCRIPTS / "people.R").read_text("utf-8")
    written = [
        write_text(_factors_apart(table).write_csv(), folder / f"{name}.csv")
        for name, table in tables.items()
    ]
    return [*written, write_text(script, folder / "analysis.R")]


def _factors_apart(table: pl.DataFrame) -> pl.DataFrame:
    """A table with a column for each factor of crossed clusters: cluster, cluster_2 ...

    An item without a label of a factor is a cluster of its own there.
    """
    import polars as pl

    if "cluster" not in table.columns or CROSSED not in "".join(table["cluster"].unique()):
        return table
    labels = pl.col("cluster").str.split(CROSSED)
    factors = [
        pl.when(labels.list.get(place, null_on_oob=True) == "")
        .then(pl.col("item"))
        .otherwise(labels.list.get(place, null_on_oob=True).fill_null(""))
        .alias(f"cluster_{place + 1}" if place else "cluster")
        for place in range(int(table.select(labels.list.len().max()).item()))
    ]
    return table.with_columns(factors)


def _with_shown_clusters(table: pl.DataFrame) -> pl.DataFrame:
    """A table whose crossed clusters are in one column, with a cross between the labels."""
    import polars as pl

    if "cluster" not in table.columns:
        return table
    return table.with_columns(pl.col("cluster").map_elements(cluster_shown, return_dtype=pl.String))


def _judgments(
    runs: Sequence[RunData], scores: Sequence[pl.DataFrame | None]
) -> list[pl.DataFrame]:
    """People's single ratings of each suite that has some, with factors where it is a design."""
    of_suites = {data.suite: (data, table) for data, table in zip(runs, scores, strict=True)}
    tables = (
        judgments_of_people(data, _texts(data) if table is None else table)
        for data, table in of_suites.values()
    )
    return [table for table in tables if table is not None]


def _units(scores: pl.DataFrame | None) -> dict[str, str]:
    """The unit of each measure in the scores of a run."""
    return {} if scores is None else dict(scores.select("measure", "unit").unique().iter_rows())


def _in_unit_of_scores(one: Outcome, units: Mapping[str, str]) -> tuple[float | None, str]:
    """The value of an outcome in nats where its measure is, else as judged; with its unit.

    Margins are judged in bits; beside the scores that they are differences of, they have one unit.
    """
    if not counts(one) or one.value is None:
        return None, one.unit
    if one.unit == "bits" and units.get(one.method) == "nats":
        return one.value / BITS_PER_NAT, "nats"
    return one.value, one.unit


def _outcomes(runs: Sequence[RunData], units: Sequence[Mapping[str, str]]) -> pl.DataFrame:
    """A table with one row per item and question; 1 is right, 0 wrong, blank unscored.

    The columns by which items are grouped, such as ``phenomenon``, are the last ones.

    Args:
        runs: the runs.
        units: of each run's measures.
    """
    import polars as pl

    rows = [
        (
            data.suite,
            data.run.model,
            data.run.model_kind,
            one.item,
            one.cluster or (one.item if clustered else ""),
            result.name,
            one.verdict or "",
            None if one.right is None else int(one.right),
            *_in_unit_of_scores(one, its_units),
            one.reference,
        )
        for data, its_units in zip(runs, units, strict=True)
        for result in data.results
        for clustered in (any(one.cluster for one in result.outcomes),)
        for one in result.outcomes
    ]
    texts = dict.fromkeys(("suite", "model", "kind", "item", "cluster", "question", "verdict"), str)
    schema = {**texts, "right": int, "value": float, "unit": str, "reference": float}
    groups = [
        {_free(name, schema): level for name, level in one.groups.items()}
        for data in runs
        for result in data.results
        for one in result.outcomes
    ]
    names = dict.fromkeys(name for row in groups for name in row)
    grouped = pl.DataFrame(groups, schema=dict.fromkeys(names, pl.String))
    return pl.concat([pl.DataFrame(rows, schema=schema, orient="row"), grouped], how="horizontal")


def _free(name: str, used: Container[str]) -> str:
    """The name of a free column, with a prefix if the table itself has a column of that name."""
    return f"column_{name}" if name in used else name


def _estimates(runs: Sequence[RunData]) -> pl.DataFrame:
    """A table of every estimate that is not a detail, as stated in the runs."""
    from cimento.records.outcomes import estimates_table

    return estimates_table(
        replace(estimate, suite=data.suite, model=data.run.model)
        for data in runs
        for result in data.results
        for estimate in result.estimates
    )


def _sentences(runs: Sequence[RunData]) -> pl.DataFrame:
    """A table with one row per text of each suite, and the free columns of its suite."""
    import polars as pl

    tables = [_texts(data).select(pl.lit(data.suite).alias("suite"), pl.all()) for data in runs]
    return pl.concat(tables, how="diagonal").unique(maintain_order=True)


def _texts(data: RunData) -> pl.DataFrame:
    """The texts of a run by item and condition, with the free columns of a suite of sentences.

    Single ratings and who gave them, which are in one cell each there, have a table of their own.
    """
    import polars as pl

    suite, elsewhere = data.run.sentences, _SINGLE if single_ratings(data) else ()
    columns = {
        (item.id, condition.name): condition.columns
        for item, condition in (suite.stimuli() if suite is not None else ())
    }
    rows = [
        {
            **dict(zip(_TEXT_COLUMNS, (item, condition, text), strict=True)),
            **{
                _free(
                    name,
                    (*_SENTENCE_COLUMNS, *_DESIGN_COLUMNS[1:], *_TEXT_COLUMNS, *_VALUE_COLUMNS),
                ): cell
                for name, cell in columns.get((item, condition), {}).items()
                if name not in elsewhere
            },
        }
        for item, texts in data.texts.items()
        for condition, text in texts.items()
    ]
    names = dict.fromkeys((*_TEXT_COLUMNS, *(name for row in rows for name in row)))
    table = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String))
    return table.with_columns(
        _with_points(table[name]) for name in table.columns[len(_TEXT_COLUMNS) :]
    )


def _with_points(column: pl.Series) -> pl.Series:
    """A column with decimal points, if all of its cells are numbers and some have decimal commas.

    R would read numbers with commas as texts, and a model would treat them as factor levels.
    """
    cells = column.drop_nulls().str.strip_chars()
    numbers = cells.str.contains(r"^[+-]?\d+(,\d+)?$").all() and cells.str.contains(",").any()
    return column.str.replace(",", ".", literal=True) if numbers else column


def _scores(data: RunData) -> pl.DataFrame | None:
    """A table with one row per scored sentence, including its text; None if none was scored.

    A suite that crosses two factors has one column for each factor, named after it, with the
    levels, and one column with their codes.
    """
    import polars as pl

    table = data.run.paradigm.judge.scores(data.run)
    if table is None:
        return None
    clusters = dict(data.run.outcomes().select("item", "cluster").drop_nulls().iter_rows())
    whose = pl.col("item").replace_strict(clusters, default=pl.col("item"), return_dtype=pl.String)
    known = _texts(data)
    known = known.select(
        name for name in known.columns if name in _TEXT_COLUMNS or name not in table
    )
    whole = (
        table.filter(pl.col("value").is_not_null())
        .join(known, on=["item", "condition"], how="left", maintain_order="left")
        .with_columns(
            suite=pl.lit(data.suite),
            model=pl.lit(data.run.model),
            cluster=whose if any(clusters.values()) else pl.lit(""),
        )
    )
    if whole.is_empty():
        return None
    if "first_factor" not in whole.columns:
        return whole.select(*_SENTENCE_COLUMNS, *known.columns[2:], *_VALUE_COLUMNS)
    whole = whole.filter(pl.col("phenomenon").is_not_null())
    factors: list[pl.Expr] = []
    for place in ("first", "second"):
        name = str(whole[f"{place}_factor"][0]) if whole.height else place
        taken = (*_SENTENCE_COLUMNS, *_DESIGN_COLUMNS, "text", *_VALUE_COLUMNS)
        name = f"factor_{name}" if name in taken else name
        factors += [
            pl.lit(name).alias(f"{place}_factor"),
            pl.col(f"{place}_level").alias(name),
            pl.col(place).alias(f"{name}_code"),
        ]
    named = whole.select(*_SENTENCE_COLUMNS, "phenomenon", *factors).columns
    # The column of phenomena may have an Italian, Spanish, Portuguese or Russian header.
    named += [name for name in known.columns if name.casefold() in HEADERS["phenomenon"]]
    free = [name for name in known.columns[2:] if name not in named]
    return whole.select(*_SENTENCE_COLUMNS, "phenomenon", *factors, *free, *_VALUE_COLUMNS)


_SINGLE = ("ratings", "participants")
_TEXT_COLUMNS = ("item", "condition", "text")
_SENTENCE_COLUMNS = ("suite", "model", "measure", "unit", "item", "cluster", "condition")
_VALUE_COLUMNS = ("value", "oriented")
_DESIGN_COLUMNS = ("phenomenon", "first_factor", "second_factor")
