"""Treebanks: searched for connectives and agreeing words, and made into suites."""
