"""Models that others use too: a shell of one's own around the same weights, and a lock.

Scoring puts hooks on modules and exchanges forward passes for a moment. If it did so with the
modules that a caller gave, a forward pass of the caller in another thread would go astray. So each
scorer has modules of its own, which have the parameters and buffers of the model and nothing else
in common with it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

import torch

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Module = TypeVar("Module", bound=torch.nn.Module)

_LOCKS: WeakKeyDictionary[torch.nn.Module, threading.RLock] = WeakKeyDictionary()
_LOCKING = threading.Lock()


def lock_of(model: torch.nn.Module) -> threading.RLock:
    """The lock of a model, which whoever has it read texts holds meanwhile.

    It keeps scorers apart that share weights; models whose modules are not copied need it.
    """
    with _LOCKING:
        return _LOCKS.setdefault(model, threading.RLock())


def shell_of(model: PreTrainedModel) -> PreTrainedModel:
    """A model with modules of its own around the weights of another; no weight is copied.

    A model is returned itself if a forward pass is an attribute of one of its modules, as
    accelerate and ``torch.compile`` make them: such a pass stays with the module it was made for.

    Args:
        model: a model of transformers.
    """
    if any(
        "forward" in vars(module) or isinstance(module, torch.jit.ScriptModule)
        for module in model.modules()
    ):
        return model
    return _copy(model, {})


def _copy(module: Module, copies: dict[torch.nn.Module, torch.nn.Module]) -> Module:
    """A copy of a module and of those inside, each once."""
    own = object.__new__(type(module))
    copies[module] = own
    # Hooks, parameters, buffers and modules are in dictionaries, which are copied; what these
    # contain is shared.
    vars(own).update(
        (name, value.copy() if isinstance(value, dict) else value)
        for name, value in vars(module).items()
    )
    for name, child in module._modules.items():  # noqa: SLF001  # modules of modules, by name
        if child is not None:
            own._modules[name] = copies.get(child) or _copy(child, copies)
    return own
