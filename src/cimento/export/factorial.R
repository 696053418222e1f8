scores <- read.csv("scores.csv", encoding = "UTF-8", stringsAsFactors = FALSE,
                   colClasses = c(item = "character", cluster = "character"))
crossed <- subset(scores, !is.na(first_factor) & nzchar(first_factor))
# The column value is what the measure defines; in oriented, more is always better.
# A factor has a column of its name with the levels, and a column ending in _code with numbers: for
# the first factor, +1/2 is the changed level; for the second, +1/2 is the plain level; the other
# level is -1/2. Their interaction is therefore the difference of differences (DD): it is above 0 if
# both changes together cost more than their separate costs add up to. If there are clusters, all
# effects, including DD, vary between them.
for (part in split(crossed, list(crossed$suite, crossed$model, crossed$phenomenon), drop = TRUE)) {
  first <- make.names(paste0(part$first_factor[1], "_code"))
  second <- make.names(paste0(part$second_factor[1], "_code"))
  fixed <- paste0("oriented ~ ", second, " * ", first)
  items <- c("(1 | item)", paste0("(1 + ", second, " + ", first, " || item)"))
  factors <- c("cluster", further(part))
  clusters <- paste0("(1 + ", second, " * ", first, " || ", factors, ")", collapse = " + ")
  for (random in if (clustered(part)) paste(items, "+", clusters) else items) {
    cat("\n", part$suite[1], "-", part$model[1], "-", part$phenomenon[1], "\n")
    say_groups(part)
    formula <- as.formula(paste(fixed, "+", random))
    fitted_or_not(lmer(formula, data = part, REML = TRUE))
  }
}
