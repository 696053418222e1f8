"""People who answer and annotate: surveys, tables of judgments, dialogues, reading times."""
