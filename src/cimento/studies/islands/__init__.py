"""Island effects in Italian and English: the 2022 study of bert-syntax-it and its sources."""
