"""The public names of the paradigm of judgments by prompt, as another package would have them."""

from cimento.paradigms.prompted.paradigm import PROMPTED
from cimento.paradigms.prompted.prompts import prompted_suite

__all__ = ["PROMPTED", "prompted_suite"]
