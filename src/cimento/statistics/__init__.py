"""Statistics of verdicts, scores and ratings: pure functions, every formula with its source."""
