"""Cloze suites and recorded candidates, read from files."""
