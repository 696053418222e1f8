"""TODO: judgments."""
