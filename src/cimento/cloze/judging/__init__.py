"""What was put into blanks, judged: hits against targets, and shares of candidates that fit."""
