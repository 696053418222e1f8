"""Human judgments: read from what survey programs write, filtered in the open, adjudicated."""
