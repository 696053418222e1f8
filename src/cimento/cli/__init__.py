"""The command line: one file for each command, a thin shell around a function."""
