"""Runs: one suite answered by one model, how it is stored, and what came of it."""
