"""Dialogues in a terminal, and spreadsheets, in which people write and judge test items."""
