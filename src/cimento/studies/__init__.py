"""The published studies, redone: every table, computed beside printed."""
