"""Input and output: files written completely, read within bounds, and texts shown safely."""
