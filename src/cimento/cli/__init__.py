"""The command line: one file a command, each a thin shell around a function."""
