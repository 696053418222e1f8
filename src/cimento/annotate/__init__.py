"""Terminal dialogues in which people write and judge test items."""
