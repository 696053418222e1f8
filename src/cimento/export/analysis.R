# Mixed models of runs of cimento. Needs lme4 (and lmerTest, if you want p-values):
#   install.packages(c("lme4", "lmerTest"))
# Run it in this folder: Rscript analysis.R

library(lme4)
if (requireNamespace("lmerTest", quietly = TRUE)) library(lmerTest)
options(width = 120)

estimates <- read.csv("estimates.csv", encoding = "UTF-8", stringsAsFactors = FALSE)
cat("\nWhat the runs say\n")
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
    cat("random effects of", length(unique(part$cluster)), "clusters and their items\n")
  } else {
    cat("random effects of items; the suite declares no clusters\n")
  }
}

# Right or wrong, with what varies between items; of one model there is nothing to compare.
for (part in split(verdicts, list(verdicts$suite, verdicts$question), drop = TRUE)) {
  mixed <- length(unique(part$right)) > 1
  if (length(unique(part$model)) > 1 && mixed) {
    cat("\n", part$suite[1], "-", part$question[1], "\n")
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
    cat("\n", part$suite[1], "-", part$question[1], "-", part$unit[1], "of", part$kind[1],
        "models\n")
    told(part)
    formula <- if (clustered(part)) value ~ model + (1 | item) + (1 | cluster)
               else value ~ model + (1 | item)
    print(summary(lmer(formula, data = part, REML = TRUE)), correlation = FALSE)
  }
}
