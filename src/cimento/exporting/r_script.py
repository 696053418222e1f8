"""Tables as CSV, and an R script that loads them and fits the mixed models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.exporting.data import RunData, counts
from cimento.io.files import write_text

if TYPE_CHECKING:
    import polars as pl

_HEAD = """\
# Mixed models of runs of cimento. Needs lme4 (and lmerTest, if you want p-values):
#   install.packages(c("lme4", "lmerTest"))
# Run it in this folder: Rscript analysis.R

library(lme4)
if (requireNamespace("lmerTest", quietly = TRUE)) library(lmerTest)
options(width = 120)
"""

_OUTCOMES = """
estimates <- read.csv("estimates.csv", encoding = "UTF-8", stringsAsFactors = FALSE)
cat("\\nWhat the runs say\\n")
print(estimates[, c("suite", "model", "question", "statistic", "value", "low", "high", "n")])

outcomes <- read.csv("outcomes.csv", encoding = "UTF-8", stringsAsFactors = FALSE,
                     colClasses = c(item = "character", cluster = "character"))
verdicts <- subset(outcomes, !is.na(right))
verdicts$right <- as.integer(verdicts$right)

# Where the suite says which items belong together (column cluster, else empty), clusters have
# random effects too: without them items of one cluster would count as independent.
clustered <- function(part) any(nzchar(part$cluster)) && length(unique(part$cluster)) > 1
told <- function(part) {
  if (clustered(part)) {
    cat("random effects of", length(unique(part$cluster)), "clusters and their items\\n")
  } else {
    cat("random effects of items; the suite declares no clusters\\n")
  }
}

# Right or wrong, with what varies between items; of one model there is nothing to compare.
for (part in split(verdicts, list(verdicts$suite, verdicts$question), drop = TRUE)) {
  mixed <- length(unique(part$right)) > 1
  if (length(unique(part$model)) > 1 && mixed) {
    cat("\\n", part$suite[1], "-", part$question[1], "\\n")
    told(part)
    formula <- if (clustered(part)) right ~ model + (1 | item) + (1 | cluster)
               else right ~ model + (1 | item)
    print(summary(glmer(formula, data = part, family = binomial)))
  }
}

# Values such as margins, of models of one kind: causal and masked models are on no one scale.
values <- subset(outcomes, !is.na(value))
for (part in split(values, list(values$suite, values$question, values$kind), drop = TRUE)) {
  if (length(unique(part$model)) > 1 && length(unique(part$item)) > 1) {
    cat("\\n", part$suite[1], "-", part$question[1], "-", part$unit[1], "of", part$kind[1],
        "models\\n")
    told(part)
    formula <- if (clustered(part)) value ~ model + (1 | item) + (1 | cluster)
               else value ~ model + (1 | item)
    print(summary(lmer(formula, data = part, REML = TRUE)), correlation = FALSE)
  }
}
"""

_SCORES = """
scores <- read.csv("scores.csv", encoding = "UTF-8", stringsAsFactors = FALSE,
                   colClasses = c(item = "character", cluster = "character"))
# first, second: the two factors, which first_factor and second_factor name. The first is +1/2
# where it is changed, the second where it is plain, and -1/2 else, so that their interaction is
# the difference of differences (DD): above 0 where both changes together cost more than each
# alone explains. Where there are clusters, all effects, DD among them, vary between them.
alone <- list(
  score ~ second * first + (1 | item),
  score ~ second * first + (1 + second + first || item)
)
in_clusters <- list(
  score ~ second * first + (1 | item) + (1 + second * first || cluster),
  score ~ second * first + (1 + second + first || item) + (1 + second * first || cluster)
)
for (part in split(scores, list(scores$suite, scores$model, scores$phenomenon), drop = TRUE)) {
  for (formula in if (clustered(part)) in_clusters else alone) {
    cat("\\n", part$suite[1], "-", part$model[1], "-", part$phenomenon[1], "\\n")
    told(part)
    print(summary(lmer(formula, data = part, REML = TRUE)), correlation = FALSE)
  }
}
"""


def write_r(runs: Sequence[RunData], folder: Path) -> list[Path]:
    """``outcomes.csv``, ``estimates.csv`` and ``analysis.R``.

    ``scores.csv`` too, where a suite crosses two factors.

    Raises:
        StorageError: the folder cannot be written.
    """
    written = [
        write_text(_outcomes(runs).write_csv(), folder / "outcomes.csv"),
        write_text(_estimates(runs).write_csv(), folder / "estimates.csv"),
    ]
    scores = [table for data in runs if (table := _scores(data)) is not None]
    script = _HEAD + _OUTCOMES
    if scores:
        import polars as pl

        written.append(write_text(pl.concat(scores).write_csv(), folder / "scores.csv"))
        script += _SCORES
    return [*written, write_text(script, folder / "analysis.R")]


def _outcomes(runs: Sequence[RunData]) -> pl.DataFrame:
    """One row an item and question; 1 is right, 0 wrong, and neither what was not scored."""
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
            one.value if counts(one) else None,
            one.unit,
            one.reference,
        )
        for data in runs
        for result in data.results
        for clustered in (any(one.cluster for one in result.outcomes),)
        for one in result.outcomes
    ]
    text, number = pl.String(), pl.Float64()
    columns = {
        "suite": text,
        "model": text,
        "kind": text,
        "item": text,
        "cluster": text,
        "question": text,
        "verdict": text,
        "right": pl.Int64(),
        "value": number,
        "unit": text,
        "reference": number,
    }
    return pl.DataFrame(rows, schema=columns, orient="row")


def _estimates(runs: Sequence[RunData]) -> pl.DataFrame:
    """Every estimate that is no mere detail, as the runs have it."""
    from cimento.runs.estimates import estimates_table

    return estimates_table(
        estimate for data in runs for result in data.results for estimate in result.estimates
    )


def _scores(data: RunData) -> pl.DataFrame | None:
    """One row an item and condition of a suite that crosses two factors; None for others."""
    import polars as pl

    table = data.run.paradigm.scores(data.run)
    if table is None or "phenomenon" not in table.columns:
        return None
    outcomes = data.run.outcomes()
    clusters = dict(outcomes.select("item", "cluster").drop_nulls().unique().iter_rows())
    whose = pl.col("item").replace_strict(clusters, default=pl.col("item"), return_dtype=pl.String)
    return (
        table.filter(pl.col("score").is_not_null() & pl.col("phenomenon").is_not_null())
        .with_columns(
            suite=pl.lit(data.suite),
            model=pl.lit(data.run.model),
            cluster=whose if clusters else pl.lit(""),
        )
        .select(_SCORE_COLUMNS)
    )


_SCORE_COLUMNS = (
    "suite", "model", "measure", "phenomenon", "first_factor", "second_factor", "item", "cluster",
    "condition", "first", "second", "score",
)  # fmt: skip
