"""Cloze items, templates and multiword expressions: what a model puts in the blank.

The flow is that of the whole package, with records of its own: `records` (what is asked),
`templates` (expansion), `readers` and `writers` (files), `judging` (what came back).
"""
