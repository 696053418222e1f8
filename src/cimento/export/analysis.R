# Mixed models of runs of cimento. Needs lme4 (and lmerTest, if you want p-values):
#   install.packages(c("lme4", "lmerTest"))
# Run it in this folder: Rscript analysis.R

library(lme4)
if (requireNamespace("lmerTest", quietly = TRUE)) library(lmerTest)
options(width = 160)

estimates <- read.csv("estimates.csv", encoding = "UTF-8", stringsAsFactors = FALSE)
cat("\nEstimates of the runs\n")
print(estimates[, c("suite", "model", "method", "question", "statistic", "value", "low", "high",
                    "n")])

outcomes <- read.csv("outcomes.csv", encoding = "UTF-8", stringsAsFactors = FALSE,
                     colClasses = c(item = "character", cluster = "character"))
verdicts <- subset(outcomes, !is.na(right))
verdicts$right <- as.integer(verdicts$right)

# The last columns of outcomes.csv hold other groupings of the items; replace phenomenon by one of
# them to get its table.
known <- subset(verdicts, !is.na(verdicts$phenomenon) & nzchar(verdicts$phenomenon))
if (nrow(known) > 0) {
  cat("\nNumber of right items and of all items, by phenomenon\n")
  groups <- known[c("phenomenon", "question", "model", "suite")]
  print(aggregate(cbind(right = known$right, n = 1), groups, FUN = sum))
}

# Correlations of values of sentences with mean human ratings (column reference).
rated <- subset(outcomes, !is.na(value) & !is.na(reference))
for (part in split(rated, list(rated$suite, rated$model, rated$question), drop = TRUE)) {
  if (nrow(part) > 2 && length(unique(part$value)) > 1 && length(unique(part$reference)) > 1) {
    spearman <- cor(part$value, part$reference, method = "spearman")
    cat("\n", part$suite[1], "-", part$model[1], "-", part$question[1], "with", nrow(part),
        "ratings: Spearman's rho", format(spearman, digits = 3), "\n")
  }
}

# If the suite declares clusters (column cluster; otherwise empty), they have random effects too, and
# so has each model within each cluster, (1 | cluster:model): models may differ more in one cluster
# than in another (slopes of model by cluster, all of one variance). Without the first, items of one
# cluster would count as independent; without the second, a difference between models that only some
# clusters make would look sure.
clustered <- function(part) any(nzchar(part$cluster)) && length(unique(part$cluster)) > 1
# Crossed clusters, such as templates and verbs, have a column for each factor beyond the first
# (cluster_2 ...), and the same two random effects for each.
further <- function(part) {
  columns <- grep("^cluster_[0-9]+$", names(part), value = TRUE)
  Filter(function(column) any(nzchar(as.character(part[[column]]))), columns)
}
with_further <- function(part, formula) {
  columns <- further(part)
  if (length(columns) == 0) return(formula)
  terms <- paste0("(1 | ", columns, ") + (1 | ", columns, ":model)")
  as.formula(paste(deparse1(formula), "+", paste(terms, collapse = " + ")))
}
say_groups <- function(part) {
  if (clustered(part)) {
    cat("Random effects of", length(unique(part$cluster)), "clusters and their items\n")
  } else {
    cat("Random effects of items; the suite declares no clusters\n")
  }
}

# Reasons why the standard errors of a fit are meaningless: if nearly every item is always right or
# always wrong, the variance of items in log-odds has no upper limit.
degenerate <- function(fit) {
  deviations <- as.data.frame(VarCorr(fit))
  largest <- max(deviations$sdcor[is.na(deviations$var2) & deviations$grp != "Residual"])
  errors <- sqrt(diag(as.matrix(vcov(fit))))
  binary <- is(fit, "glmerMod")
  said <- c(
    if (binary && largest > 10) sprintf("random effects vary by %.0f log-odds", largest),
    if (binary && any(abs(fixef(fit)) > 15)) "an effect is practically infinite",
    if (!binary && sigma(fit) < 1e-6 * sd(model.response(model.frame(fit)))) "the residual variance is zero",
    if (any(!is.finite(errors))) "a standard error is undefined"
  )
  said
}

# The summary of a model, without p-values if they would be meaningless. If a model cannot be fitted,
# the script says so and continues.
fitted_or_not <- function(fit) {
  fit <- tryCatch(suppressWarnings(fit), error = function(problem) conditionMessage(problem))
  if (is.character(fit)) {
    cat("No fit:", fit, "\n")
    return(invisible())
  }
  said <- unlist(fit@optinfo$conv$lme4$messages)
  if (isSingular(fit)) said <- "a variance or correlation is at its limit (singular fit)"
  if (length(said) > 0) cat("Note:", paste(said, collapse = "; "), "\n")
  wrong <- degenerate(fit)
  if (length(wrong) == 0) {
    print(summary(fit), correlation = FALSE)
  } else {
    cat("No p-values, since the fit is degenerate:", paste(wrong, collapse = "; "), "\n")
    cat("Fixed effects\n")
    print(fixef(fit))
    print(VarCorr(fit))
  }
}

# The exact McNemar test, as in `cimento compare`, for each pair of models with independent items.
exact <- function(part) {
  if (clustered(part) || anyDuplicated(part[c("item", "model")])) return(invisible())
  for (two in combn(unique(part$model), 2, simplify = FALSE)) {
    both <- merge(part[part$model == two[1], c("item", "right")],
                  part[part$model == two[2], c("item", "right")], by = "item")
    only <- c(sum(both$right.x > both$right.y), sum(both$right.x < both$right.y))
    p <- if (sum(only) > 0) binom.test(only[1], sum(only))$p.value else 1
    cat("Exact McNemar test on ", nrow(both), " items: only ", two[1], " right ", only[1], ", only ",
        two[2], " right ", only[2], ", p = ", format(p, digits = 3), "\n", sep = "")
  }
}

# Right or wrong, with random effects of items; only for two models or more.
for (part in split(verdicts, list(verdicts$suite, verdicts$question), drop = TRUE)) {
  mixed <- length(unique(part$right)) > 1
  if (length(unique(part$model)) > 1 && mixed) {
    cat("\n", part$suite[1], "-", part$question[1], "\n")
    say_groups(part)
    formula <- if (clustered(part)) right ~ model + (1 | item) + (1 | cluster) + (1 | cluster:model)
               else right ~ model + (1 | item)
    fitted_or_not(glmer(with_further(part, formula), data = part, family = binomial))
    exact(part)
  }
}

# Values such as margins, within one kind of model: causal and masked models have different scales.
values <- subset(outcomes, !is.na(value))
for (part in split(values, list(values$suite, values$question, values$kind), drop = TRUE)) {
  if (length(unique(part$model)) > 1 && length(unique(part$item)) > 1) {
    cat("\n", part$suite[1], "-", part$question[1], "-", part$unit[1], "of", part$kind[1],
        "models\n")
    say_groups(part)
    formula <- if (clustered(part)) value ~ model + (1 | item) + (1 | cluster) + (1 | cluster:model)
               else value ~ model + (1 | item)
    fitted_or_not(lmer(with_further(part, formula), data = part, REML = TRUE))
  }
}
