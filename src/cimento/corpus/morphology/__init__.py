"""Morphological dictionaries: what a form can be, and which forms a lemma has."""
