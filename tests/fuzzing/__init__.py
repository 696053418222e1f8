"""Mutated files for every reader: one table of targets and one mutator, for two harnesses."""
