scores <- read.csv("scores.csv", encoding = "UTF-8", stringsAsFactors = FALSE,
                   colClasses = c(item = "character", cluster = "character"))
crossed <- subset(scores, !is.na(first_factor) & nzchar(first_factor))
# A factor has a column of its name with the levels, and one whose name ends in _code with numbers:
# the first factor is +1/2 where it is changed, the second where it is plain, and -1/2 else, so that
# their interaction is the difference of differences (DD): above 0 where both changes together cost
# more than each alone explains. Where there are clusters, all effects, DD among them, vary between
# them.
for (part in split(crossed, list(crossed$suite, crossed$model, crossed$phenomenon), drop = TRUE)) {
  first <- make.names(paste0(part$first_factor[1], "_code"))
  second <- make.names(paste0(part$second_factor[1], "_code"))
  fixed <- paste0("score ~ ", second, " * ", first)
  items <- c("(1 | item)", paste0("(1 + ", second, " + ", first, " || item)"))
  clusters <- paste0("(1 + ", second, " * ", first, " || cluster)")
  for (random in if (clustered(part)) paste(items, "+", clusters) else items) {
    cat("\n", part$suite[1], "-", part$model[1], "-", part$phenomenon[1], "\n")
    told(part)
    formula <- as.formula(paste(fixed, "+", random))
    fitted_or_not(lmer(formula, data = part, REML = TRUE))
  }
}
