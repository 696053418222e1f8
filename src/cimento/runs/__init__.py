"""Runs: the answers of one model to one suite, their storage, outcomes and estimates."""
