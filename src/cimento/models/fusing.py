"""The same function in one step: activations that transformers spells out operation by operation.

GPT-2 and its kin compute the tanh form of GELU (Hendrycks and Gimpel 2016, arXiv:1606.08415) in
eight steps over the widest tensors of the model. torch has it as one, equal but for rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def fuse_activations(model: torch.nn.Module) -> None:
    """Replace activations of a model by torch's own where there is one for the same function."""
    import torch
    from transformers import activations

    spelled_out = (activations.NewGELUActivation, activations.FastGELUActivation)
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, spelled_out):
                setattr(module, name, torch.nn.GELU(approximate="tanh"))
