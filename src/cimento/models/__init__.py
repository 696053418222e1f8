"""Language models and their answers; no other package imports torch or transformers."""
