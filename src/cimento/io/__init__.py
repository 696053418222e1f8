"""Files in and out: written whole, read within bounds, and their texts shown safely."""
