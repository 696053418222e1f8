"""Models of transformers; here the import of the libraries, in our processes without unused parts.

Half of the time of their imports goes to parts that compile models (torch._dynamo), distribute them
over machines (torch.distributed) or compute losses (scipy). In cimento's own processes, commands
and workers, these parts are left out; a program that imports cimento gets the complete libraries.
In all processes, sums are taken in the same order.
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
"""The decorators that mark functions for the compiler while libraries are imported."""

_NEEDED = ("transformers.modeling_utils", "transformers.generation.utils")
"""The modules that every model of transformers imports."""

_UNUSED = ("is_torch_distributed_available", "is_scipy_available")
"""Functions by which transformers decides to import torch.distributed and scipy."""

_OBJECTS, _TIMES = 20_000, (20, 20)
"""Thresholds of garbage collection: new objects, and searches of younger objects."""

_is_own: list[bool] = []


def own_process() -> None:
    """Declare this process as cimento's own, whose imports nobody else uses.

    Threads that share a matrix product then sleep while they wait for each other. By default they
    spin, which doubles the time of a small model when other programs run too.
    """
    _is_own.append(True)
    # There are many records and few cycles among them; searching for cycles took a tenth of the
    # time.
    gc.set_threshold(_OBJECTS, *_TIMES)
    # Every threading library of torch reads this when torch is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # numpy's OpenBLAS spins for 2 to this power of ticks; it takes no less than 4. Beside another
    # program, mixed models of small designs needed ten times the CPU seconds.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")


def end_process() -> None:
    """Make the end of our own process quick by skipping the last searches for cycles.

    The system reclaims its memory as a whole.
    """
    gc.freeze()


def steady_arithmetic() -> None:
    """Have sums taken in a fixed order, however many threads a process has and wherever it began.

    Otherwise the last bits depend on the number of workers, among which threads are divided. The
    setting is MKL's Conditional Numerical Reproducibility. A process reads it when it first
    computes something, so commands, programs and their workers must all set it before.
    """
    os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")


@functools.cache
def import_libraries() -> None:
    """Import torch and transformers, if that was not done before, with a fixed order of sums.

    Raises:
        ImportError: a library is not installed.
    """
    # Every command imports this module, but most do not read a suite.
    from cimento.io.parsing import no_collection

    steady_arithmetic()
    # Imports make many objects and no garbage; searching for it takes a fifth of their time.
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
    # Imported objects stay to the end, so they need not be searched again.
    gc.freeze()


class _Compiler(ModuleType):
    """A stand-in for the compiler of torch, which is loaded when something is compiled.

    Args:
        file: file of its module.

    Attributes:
        is_wanted: whether importing a module of it means compiling; transformers does not compile.
    """

    def __init__(self, file: Path) -> None:
        super().__init__(_COMPILER)
        self.__file__ = str(file)
        self.is_wanted = self._is_loaded = False
        for name in _MARKS:
            setattr(self, name, _unmarked)

    @property
    def __path__(self) -> list[str]:  # type: ignore[override]
        """The folder of its modules, which Python reads when one of them is imported."""
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
    """A function unchanged, or a decorator that leaves functions unchanged."""
    return _unmarked if function is None else function


def _not_installed() -> bool:
    return False


@contextmanager
def _doing_without() -> Iterator[None]:
    """A context in which transformers takes unneeded libraries as not installed."""
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
