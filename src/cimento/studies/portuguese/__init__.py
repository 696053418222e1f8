"""Wilkens, Zilio and Villavicencio 2023 (doi:10.1007/s10579-023-09664-1), redone.

Brazilian Portuguese: multiword expressions masked word by word in three models, and six tests of
grammar in BERTimbau Large, whose ten candidates a linguist judged one by one.
"""
