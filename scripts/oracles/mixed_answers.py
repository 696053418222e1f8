"""What R says of twenty small mixed models of answers: lme4's glmer, and ordinal's clmm.

The data come from `random.Random`, whose numbers are the same in every version of Python. With R
and its packages lme4 and ordinal (Debian: r-base-core r-cran-lme4 r-cran-ordinal)::

    python scripts/oracles/mixed_answers.py tests/data/mixed_answers.json
"""

from __future__ import annotations

import csv
import json
import math
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

Table = dict[str, list[float]]


@dataclass(frozen=True)
class Case:
    """A data set and the formula that is fitted to it.

    Attributes:
        seed: of the data.
        formula: as R and cimento read it.
        people: number of participants, or of clusters of items.
        items: number of items.
        kept: proportion of all pairs of a participant and an item that are there.
        sds: of the intercepts of participants and of items, and of the slopes of participants.
        categories: of the answers; 2 for right and wrong.
    """

    seed: int
    formula: str
    people: int
    items: int
    kept: float
    sds: tuple[float, float, float]
    categories: int = 2

    @property
    def name(self) -> str:
        """The name of the case in the file of R's values."""
        return f"{self.seed}: {self.formula}"

    def columns(self) -> Table:
        """The data: ``y``, ``x`` (-0.5 or 0.5), ``c`` (a number), ``person`` and ``item``.

        Half of the items are in each level of x, in another half for every other person.
        """
        source = random.Random(self.seed)  # noqa: S311  # keeps no secret

        def normal() -> float:
            return NormalDist().inv_cdf(source.random())

        people = [(normal(), normal()) for _ in range(self.people)]
        items = [(normal(), round(normal(), 2)) for _ in range(self.items)]
        rows = []
        for person, (base, slope) in enumerate(people):
            for item, (difficulty, c) in enumerate(items):
                kept, noise = source.random() < self.kept, source.random()
                x = 0.5 if (person + item) % 2 else -0.5
                z = 0.2 + 0.8 * x + 0.4 * c + self.sds[0] * base + self.sds[1] * difficulty
                z += self.sds[2] * slope * x + math.log(noise / (1 - noise))
                if kept:
                    rows.append((self._category(z), x, c, person, item))
        columns = map(list, zip(*rows, strict=True))
        return dict(zip(("y", "x", "c", "person", "item"), columns, strict=True))

    def _category(self, z: float) -> int:
        if self.categories == 2:  # noqa: PLR2004  # right and wrong
            return int(z > 0)
        cuts = [4 * (k + 1) / self.categories - 2 for k in range(self.categories - 1)]
        return 1 + sum(z > cut for cut in cuts)


CROSSED = "y ~ x + (1 | person) + (1 | item)"
SLOPES = "y ~ x + (1 + x | person) + (1 | item)"
APART = "y ~ x + (1 + x || person) + (1 | item)"
CASES = (
    Case(1, "y ~ x + (1 | item)", 6, 40, 1, (0, 1, 0)),
    Case(2, CROSSED, 12, 20, 1, (0.7, 1, 0)),
    Case(3, CROSSED, 20, 12, 0.6, (1, 0.5, 0)),
    Case(4, "y ~ x + c + (1 | person) + (1 | item)", 15, 15, 0.8, (0.8, 0.8, 0)),
    Case(5, SLOPES, 16, 24, 1, (0.8, 0.7, 1.2)),
    Case(6, SLOPES, 24, 30, 0.7, (1, 1, 1)),
    Case(7, APART, 16, 24, 0.8, (0.7, 0.7, 1.2)),
    Case(8, "y ~ x * c + (1 | person) + (1 | item)", 12, 30, 0.8, (0.6, 0.6, 0)),
    Case(9, CROSSED, 10, 20, 1, (0, 1, 0)),
    Case(10, "y ~ 1 + (1 | person) + (1 | item)", 30, 10, 0.5, (0.9, 0.4, 0)),
    Case(11, CROSSED, 12, 20, 1, (0.7, 1, 0), 5),
    Case(12, CROSSED, 20, 12, 0.6, (1, 0.5, 0), 5),
    Case(13, "y ~ x + c + (1 | person) + (1 | item)", 15, 15, 0.8, (0.8, 0.8, 0), 7),
    Case(14, "y ~ x + (1 + x | person)", 14, 20, 1, (1.2, 0, 0.9), 4),
    Case(15, "y ~ x * c + (1 | person) + (1 | item)", 12, 24, 0.8, (0.6, 0.6, 0), 3),
    Case(16, CROSSED, 30, 16, 0.4, (1.5, 0.8, 0), 5),
    Case(17, SLOPES, 16, 24, 1, (0.8, 0.7, 1.2), 5),
    Case(18, CROSSED, 8, 40, 1, (0.5, 0.9, 0), 3),
    Case(40, CROSSED, 10, 16, 1, (0.9, 0, 0), 5),
    Case(20, CROSSED, 14, 14, 0.9, (0.8, 0.8, 0), 6),
)

# glmer's modes are as near as digits allow (where its search fails then, less near), and its errors
# come from numDeriv's second derivatives of its own deviance by steps of 0.1 and less: its own are
# differences over one step of 1e-4. clmm, whose errors come from numerical derivatives too, finds
# modes within 1e-6, below which its search of some modes fails.
R = r"""
suppressMessages({library(lme4); library(ordinal)})
out <- file(commandArgs(TRUE)[2], "w")
number <- function(x) paste(sprintf("%.10g", x), collapse = " ")
for (line in readLines(commandArgs(TRUE)[1])) {
  part <- strsplit(line, "\t")[[1]]
  d <- read.csv(part[2])
  d$person <- factor(d$person); d$item <- factor(d$item)
  formula <- as.formula(part[3])
  if (part[4] == "2") {
    fitted <- function(tolerance) {
      control <<- glmerControl(optimizer = "bobyqa", tolPwrss = tolerance, calc.derivs = FALSE,
                               optCtrl = list(rhoend = 1e-9, maxfun = 1e5),
                               check.conv.singular = "ignore")
      glmer(formula, d, binomial, control = control)
    }
    fit <- tryCatch(fitted(1e-14), error = function(problem) fitted(1e-11))
    deviance <- update(fit, devFunOnly = TRUE)
    at <- c(getME(fit, "theta"), fixef(fit))
    zero <- getME(fit, "lower") == 0 & at[seq_along(getME(fit, "theta"))] < 1e-4
    free <- c(!zero, rep(TRUE, length(fixef(fit))))
    moved <- function(x) { y <- at; y[free] <- y[free] + x - 10; deviance(y) }
    hessian <- numDeriv::hessian(moved, rep(10, sum(free)), method.args = list(d = 0.01, r = 3))
    covariance <- solve(hessian / 2)
    errors <- tail(sqrt(diag(covariance)), length(fixef(fit)))
    values <- fixef(fit)
    sds <- as.data.frame(VarCorr(fit)); sds <- sds$sdcor[is.na(sds$var2)]
    loglik <- as.numeric(logLik(fit))
  } else {
    d$y <- factor(d$y, ordered = TRUE)
    fit <- suppressWarnings(clmm(formula, d, control = clmm.control(gradTol = 1e-6)))
    values <- coef(fit)
    sds <- unlist(lapply(VarCorr(fit), function(v) sqrt(diag(v))))
    # At a variance of zero clmm has no errors; without its term the likelihood is the same.
    if (inherits(try(vcov(fit), silent = TRUE), "try-error") && any(sds < 1e-2)) {
      fit <- clmm(update(formula, . ~ . - (1 | item)), d, control = clmm.control(gradTol = 1e-6))
    }
    errors <- sqrt(diag(vcov(fit)))[seq_along(values)]
    loglik <- as.numeric(logLik(fit))
  }
  cat(part[1], number(values), number(errors), number(sort(sds)), number(loglik),
      sep = "\t", file = out)
  cat("\n", file = out)
}
close(out)
"""
VERSIONS = """
cat(R.version.string)
for (p in c("lme4", "ordinal")) cat(";", p, format(packageVersion(p)))
"""
NEEDED = 'for (p in c("lme4", "ordinal", "numDeriv")) if (!requireNamespace(p)) stop(p)'


def of_r(folder: Path) -> dict[str, dict[str, list[float]]]:
    """What R says of every case: ``estimates``, ``errors``, ``sds`` (ascending) and ``loglik``.

    Args:
        folder: where files for R may be written.

    Raises:
        subprocess.CalledProcessError: R fails.
    """
    lines = []
    for case in CASES:
        path = folder / f"{case.seed}.csv"
        table = case.columns()
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(table)
            writer.writerows(zip(*table.values(), strict=True))
        lines.append(f"{case.name}\t{path}\t{case.formula}\t{case.categories}")
    (folder / "cases.tsv").write_text("\n".join(lines) + "\n")
    (folder / "fit.R").write_text(R)
    command = ["Rscript", *(str(folder / name) for name in ("fit.R", "cases.tsv", "out.tsv"))]
    subprocess.run(command, check=True)  # noqa: S603  # the script is above
    names = ("estimates", "errors", "sds", "loglik")
    said = {}
    for line in (folder / "out.tsv").read_text().splitlines():
        name, *rest = line.split("\t")
        numbers = [[float(one) for one in part.split()] for part in rest]
        said[name] = dict(zip(names, numbers, strict=True))
    return said


def main() -> int:
    """Write R's values to the file named."""
    with tempfile.TemporaryDirectory() as folder:
        said = of_r(Path(folder))
    versions = subprocess.run(  # noqa: S603  # the line is above
        ["Rscript", "-e", VERSIONS],  # noqa: S607  # R is on the path
        check=True,
        capture_output=True,
        text=True,
    )
    made = {"made_by": f"scripts/oracles/mixed_answers.py, {versions.stdout}", "cases": said}
    Path(sys.argv[1]).write_text(json.dumps(made, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
