"""Suites made from treebanks and from grammars."""
