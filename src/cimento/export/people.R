# People's single ratings, one row each. The column rating is as given; z is within each participant,
# over all that this participant rated in the suite.
judgments <- read.csv("judgments.csv", encoding = "UTF-8", stringsAsFactors = FALSE,
                      colClasses = c(item = "character", participant = "character"))
# The factors of a design, as codes whose interaction is DD (see factorial.R's part above); in other
# suites the condition.
factors_of <- function(part) {
  if (!("first_factor" %in% names(part)) || is.na(part$first_factor[1])) return("condition")
  codes <- make.names(paste0(c(part$second_factor[1], part$first_factor[1]), "_code"))
  paste(codes, collapse = " * ")
}
# Participants and items have intercepts of their own here. If there are enough ratings, let effects
# vary between them too: replace (1 | participant) by (1 + A * B || participant), with the two codes,
# and likewise for items.
random <- "(1 | participant) + (1 | item)"
by <- judgments[intersect(c("suite", "phenomenon"), names(judgments))]
for (part in split(judgments, lapply(by, function(column) ifelse(is.na(column), "", column)),
                   drop = TRUE)) {
  part <- subset(part, nzchar(participant))
  if (length(unique(part$participant)) < 2 || length(unique(part$condition)) < 2) next
  cat("\nPeople,", part$suite[1], "-", if (is.null(part$phenomenon)) "" else part$phenomenon[1],
      "- z of", length(unique(part$participant)), "participants\n")
  fixed <- factors_of(part)
  # z has a mean of 0 within each participant, so that the variance of participants may be 0.
  fitted_or_not(lmer(as.formula(paste("z ~", fixed, "+", random)), data = part))
  # Ratings as an ordered scale, without z: install.packages("ordinal")
  # print(summary(ordinal::clmm(as.formula(paste("factor(rating) ~", fixed, "+", random)), data = part)))
}
