"""Morphological dictionaries: the readings of a form, and the forms of a lemma."""
