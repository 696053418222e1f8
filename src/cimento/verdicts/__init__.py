"""Verdicts: what predictions say about items, how often they hold, and what chance would do."""
