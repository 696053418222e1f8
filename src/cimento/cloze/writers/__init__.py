"""Cloze suites and judged candidates, written to files."""
