"""Statistics of verdicts: pure functions, every formula with its source."""
