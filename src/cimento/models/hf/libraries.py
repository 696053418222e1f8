"""torch and transformers, imported without what scoring does not use, where that is ours to say.

Half of the seconds that their imports take go to what compiles models (torch._dynamo),
spreads one over machines (torch.distributed) or computes losses (scipy). In a process that is
cimento's own, a command or a worker, that is left out; a program that imports cimento has its
libraries whole. All of them take sums in the same order.
"""

from __future__ import annotations

import functools
import gc
import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

_COMPILER = "torch._dynamo"
_MARKS = ("allow_in_graph", "assume_constant_result", "disable")
"""What marks functions for the compiler, as libraries do while they are imported."""

_NEEDED = ("transformers.modeling_utils", "transformers.generation.utils")
"""What every model of transformers imports."""

_UNUSED = ("is_torch_distributed_available", "is_scipy_available")
"""Functions of transformers by which it imports torch.distributed and scipy, or does without."""

_OBJECTS, _TIMES = 20_000, (20, 20)
"""After so many new objects circles are looked for among them; so many times among young ones."""

_is_own: list[bool] = []

_DRIVERS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")
"""What the drivers of NVIDIA and AMD bring, and that of Windows' own Linux."""


def own_process() -> None:
    """Say that this process is cimento's own: what it imports is for nobody else.

    Threads that share a matrix product then sleep while they wait for each other. As a rule they
    turn in a circle: where other programs run too, a small model costs twice its seconds for it.
    """
    _is_own.append(True)
    # Records are many and circles among them few: looking for those took a tenth of the time.
    gc.set_threshold(_OBJECTS, *_TIMES)
    # Read when torch is loaded, by every library of threads that comes with it.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def end_process() -> None:
    """Make the end of a process of our own quick: nothing is looked through for circles any more.

    The system takes its memory back as a whole.
    """
    gc.freeze()


def steady_arithmetic() -> None:
    """Have sums taken in one order, however many threads a process has, and wherever it began.

    Otherwise the last bits depend on the number of workers, among which threads are divided. It is
    MKL's setting (Conditional Numerical Reproducibility), which each process reads when it first
    computes something: a command, a program and their workers must all have it before.
    """
    os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")


@functools.cache
def import_libraries() -> None:
    """Import torch and transformers, if that was not done before, and have them add up steadily.

    Raises:
        ImportError: one is not installed.
    """
    # Every command imports this module, and most of them read no suite.
    from cimento.suites.reading import no_collection

    steady_arithmetic()
    # Imports make many objects and no garbage: looking for it takes a fifth of their time.
    with no_collection():
        import torch

        if not _is_own or _COMPILER in sys.modules or "transformers.modeling_utils" in sys.modules:
            import transformers  # noqa: F401, RUF100  # whoever needs it finds it there

            return
        compiler = _Compiler(Path(torch.__file__).parent / "_dynamo" / "__init__.py")
        sys.modules[_COMPILER] = compiler
        with _doing_without():
            for name in _NEEDED:
                importlib.import_module(name)
        compiler.is_wanted = True
    # What was imported stays to the end.
    gc.freeze()


class _Compiler(ModuleType):
    """The compiler of torch, loaded when somebody compiles; until then its marks mark nothing.

    Args:
        file: of its module.

    Attributes:
        is_wanted: whether who imports a module of it will compile; transformers will not.
    """

    def __init__(self, file: Path) -> None:
        super().__init__(_COMPILER)
        self.__file__ = str(file)
        self.is_wanted = self._is_loaded = False
        for name in _MARKS:
            setattr(self, name, _unmarked)

    @property
    def __path__(self) -> list[str]:  # type: ignore[override]
        """The folder of its modules, which is asked for when one of them is imported."""
        if self.is_wanted:
            self._load()
        return [str(Path(self.__file__ or "").parent)]

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") or self._is_loaded:
            raise AttributeError(name)
        self._load()
        return getattr(self, name)

    def _load(self) -> None:
        if self._is_loaded:
            return
        self._is_loaded = True
        self.__spec__ = spec_from_file_location(
            _COMPILER, self.__file__, submodule_search_locations=self.__path__
        )
        if self.__spec__ is not None and self.__spec__.loader is not None:
            self.__spec__.loader.exec_module(self)


def _unmarked(function: Callable[..., Any] | None = None, *_: object, **__: object) -> object:
    """A function as it is, or what gives functions as they are."""
    return _unmarked if function is None else function


def _not_installed() -> bool:
    return False


@contextmanager
def _doing_without() -> Iterator[None]:
    """The library while it takes what it does not need here for not installed."""
    utils = importlib.import_module("transformers.utils")
    places = (utils, importlib.import_module("transformers.utils.import_utils"))
    known = [(place, name) for place in places for name in _UNUSED if name in vars(place)]
    before = [(place, name, vars(place)[name]) for place, name in known]
    try:
        for place, name, _ in before:
            setattr(place, name, _not_installed)
        yield
    finally:
        for place, name, function in before:
            setattr(place, name, function)


def is_cuda(device: str) -> bool:
    """Whether a device, as the user chose it, is a GPU of CUDA (or ROCm) on this machine.

    Told without torch where no driver is there. A device that is named is taken at its word: a
    run that is put together on another machine than it was computed on keeps its number format.
    """
    return device.startswith("cuda") or (device == "auto" and count_gpus() > 0)


@functools.cache
def count_gpus() -> int:
    """The CUDA devices that torch sees; 0 where it is not installed."""
    if sys.platform == "linux" and not any(map(os.path.exists, _DRIVERS)):
        # torch need not be imported to see that there is none.
        return 0
    try:
        import torch
    except ImportError:
        return 0
    return torch.cuda.device_count()
