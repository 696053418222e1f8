"""Cloze suites, written to files."""
