"""Corpora: treebanks and texts, connectives in them, suites made from them, and dictionaries."""
