"""Queries of treebanks: Grew's notation, an index of words, matching, and the stored queries."""
