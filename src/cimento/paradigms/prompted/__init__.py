"""The public names of the paradigm of judgments by prompt, as another package would have them."""

from cimento.paradigms.prompted.paradigm import PROMPTED

__all__ = ["PROMPTED"]
