"""TODO: morphology."""
