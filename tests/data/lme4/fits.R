# Makes the expected values of tests/statistics/test_statistics_mixed.py (R 4.2.2, lme4 1.1-31, lmerTest 3.1-3):
#   Rscript tests/data/lme4/fits.R > tests/data/lme4/fits.tsv
suppressMessages(library(lmerTest))

noise <- function(k, a) { x <- sin(k * a) * 43758.5453; x - floor(x) - 0.5 }

d <- expand.grid(distance = c(-0.5, 0.5), structure = c(-0.5, 0.5), item = 1:12, person = 1:10)
d$score <- 0.3 + 0.5 * d$structure - 0.8 * d$distance + 1.1 * d$structure * d$distance +
  noise(d$item, 78.233) + 1.2 * noise(d$person, 37.719) + 0.9 * noise(d$item, 11.135) * d$structure +
  0.8 * noise(d$person, 91.77) * d$structure * d$distance +
  1.5 * noise(1000 * d$item + 10 * d$person + 4 * d$structure + 2 * d$distance, 12.9898)
one <- d[d$person == 3, ]

fit <- function(name, formula, data, REML = TRUE) {
  # With lme4's bobyqa the maximal model stops at -332.936, with its Nelder-Mead at -340.524.
  control <- lmerControl(
    optimizer = "nloptwrap", optCtrl = list(xtol_abs = 1e-10, ftol_abs = 1e-12, maxeval = 1e6)
  )
  m <- suppressMessages(suppressWarnings(lmer(formula, data, REML = REML, control = control)))
  put <- function(what, value) cat(name, what, format(value, digits = 12), sep = "\t", fill = TRUE)
  s <- coef(summary(m))
  for (row in rownames(s)) {
    put(paste("estimate", row), s[row, "Estimate"])
    put(paste("se", row), s[row, "Std. Error"])
    put(paste("df", row), s[row, "df"])
    put(paste("p", row), s[row, "Pr(>|t|)"])
  }
  v <- as.data.frame(VarCorr(m))
  for (row in seq_len(nrow(v))) {
    kind <- if (is.na(v$var2[row])) "sd" else "r"
    cells <- na.omit(c(kind, sub("\\.[0-9]+$", "", v$grp[row]), v$var1[row], v$var2[row]))
    put(paste(cells, collapse = " "), v$sdcor[row])
  }
  put("loglik", c(logLik(m)))
  put("singular", as.numeric(isSingular(m)))
}

fit("items", score ~ structure * distance + (1 | item), one)
fit("items-ml", score ~ structure * distance + (1 | item), one, FALSE)
fit("crossed", score ~ structure * distance + (1 | item) + (1 | person), d)
fit("crossed-ml", score ~ structure * distance + (1 | item) + (1 | person), d, FALSE)
fit("slopes", score ~ structure * distance + (1 + structure | item) + (1 | person), d)
fit("maximal", score ~ structure * distance + (1 + structure * distance | item) +
      (1 + structure * distance | person), d)
fit("uncorrelated", score ~ structure * distance + (1 + structure || item) + (1 | person), d)
