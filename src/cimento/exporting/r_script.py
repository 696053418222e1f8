"""Tables as CSV, and an R script that loads them and fits the mixed models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.designs import factorial_of, is_factorial
from cimento.exporting.data import RunData
from cimento.files import write_text
from cimento.results import Run
from cimento.runs.store import RunFolder
from cimento.suites.kinds import REGIONS

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

_VERDICTS = """
verdicts <- read.csv("verdicts.csv", encoding = "UTF-8", stringsAsFactors = FALSE,
                     colClasses = c(item = "character", cluster = "character"))
verdicts <- subset(verdicts, verdict != "unscored")
verdicts$right <- as.integer(verdicts$right)
cat("\\nShare of items that are right\\n")
print(aggregate(right ~ suite + model + question, data = verdicts, FUN = mean))

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

# Margins in bits, of models of one kind: those of causal and masked models are no one scale.
margins <- subset(verdicts, !is.na(margin_bits))
for (part in split(margins, list(margins$suite, margins$question, margins$kind), drop = TRUE)) {
  if (length(unique(part$model)) > 1 && length(unique(part$item)) > 1) {
    cat("\\n", part$suite[1], "-", part$question[1], "- margins,", part$kind[1], "models\\n")
    told(part)
    formula <- if (clustered(part)) margin_bits ~ model + (1 | item) + (1 | cluster)
               else margin_bits ~ model + (1 | item)
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
    """``verdicts.csv`` and ``analysis.R``; ``scores.csv`` too where a suite has two factors.

    Raises:
        StorageError: the folder cannot be written.
    """
    written = [write_text(_verdicts(runs).write_csv(), folder / "verdicts.csv")]
    scores = _scores(runs)
    script = _HEAD + _VERDICTS
    if not scores.is_empty():
        written.append(write_text(scores.write_csv(), folder / "scores.csv"))
        script += _SCORES
    return [*written, write_text(script, folder / "analysis.R")]


def _verdicts(runs: Sequence[RunData]) -> pl.DataFrame:
    import polars as pl

    rows = [
        (
            run.suite,
            run.facts.label,
            str(run.facts.model.get("kind", "")),
            each.item,
            run.cluster_name(each.item),
            each.question,
            each.verdict,
            int(run.is_right(each)),
            each.margin_bits,
        )
        for run in runs
        for each in run.outcomes
    ]
    columns = {
        "suite": pl.String(),
        "model": pl.String(),
        "kind": pl.String(),
        "item": pl.String(),
        "cluster": pl.String(),
        "question": pl.String(),
        "verdict": pl.String(),
        "right": pl.Int64(),
        "margin_bits": pl.Float64(),
    }
    return pl.DataFrame(rows, schema=columns, orient="row")


def _scores(runs: Sequence[RunData]) -> pl.DataFrame:
    """One row an item and condition of factorial suites; a higher score is better."""
    import polars as pl

    rows = [row for run in runs if run.facts.kind == REGIONS for row in _score_rows(run)]
    columns = {
        "suite": pl.String(),
        "model": pl.String(),
        "measure": pl.String(),
        "phenomenon": pl.String(),
        "first_factor": pl.String(),
        "second_factor": pl.String(),
        "item": pl.String(),
        "cluster": pl.String(),
        "condition": pl.String(),
        "first": pl.Float64(),
        "second": pl.Float64(),
        "score": pl.Float64(),
    }
    return pl.DataFrame(rows, schema=columns, orient="row")


def _score_rows(data: RunData) -> list[tuple[str | float, ...]]:
    run = Run.open(RunFolder(data.path))
    if not is_factorial(run):
        return []
    result = factorial_of(run, normalisations=("raw",))
    rows: list[tuple[str | float, ...]] = []
    for phenomenon in result.phenomena:
        cells, names = phenomenon.square.cells, phenomenon.square.factors
        changed, plain = cells[1].levels[0], cells[0].levels[1]
        head = (data.suite, data.facts.label, result.measure, phenomenon.name)
        for each in phenomenon.effects["raw"].items:
            for cell, score in zip(cells, each.scores, strict=True):
                if score is not None:
                    first = 0.5 if cell.levels[0] == changed else -0.5
                    second = 0.5 if cell.levels[1] == plain else -0.5
                    whose = (each.item, data.cluster_name(each.item))
                    rows.append((*head, *names, *whose, cell.name, first, second, score))
    return rows
