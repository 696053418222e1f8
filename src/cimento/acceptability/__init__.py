"""Acceptability: sentences that people rated, and models beside the people.

`records` says what a rated sentence is, `readers` get them from published files, `judgments` makes
the judgments table, `items` describes ratings by item and by label, `people` says how far people
agree, `beside` compares a model's measures with their ratings, `binary` predicts a yes or no.
"""
