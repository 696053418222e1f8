"""Models of transformers: files, loading, batches, scores, fills and inspection."""
