"""The acceptability and cloze study of Italian connectives, redone from what can be had of it.

Albertin, Miaschi and Brunato 2021, "On the Role of Textual Connectives in Sentence Comprehension:
A New Dataset for Italian", CLiC-it 2021 (ceur-ws.org/Vol-3033, paper 16; CC BY 4.0). The resource
itself is not public: `checks` has the printed tables and what does not add up in them; `released`
computes statistics of released data and finds them; `user_copy` makes the tables of a user's copy,
and `models` those of the user's models in the paper's layout. `text` counts Table 6 in treebanks
and prints what is compared.
"""
