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
    cat("\n", part$suite[1], "-", part$model[1], "-", part$phenomenon[1], "\n")
    told(part)
    print(summary(lmer(formula, data = part, REML = TRUE)), correlation = FALSE)
  }
}
