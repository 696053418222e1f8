"""Blanks: cloze items, templates and multiword expressions, and what a model puts there."""
