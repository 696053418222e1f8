"""Corpora: treebanks and texts, the connectives in them, suites made from them, dictionaries."""
