"""The GPUs of this machine, counted without torch, which takes seconds to import."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import sys
from pathlib import Path

NVIDIA_GPUS = Path("/proc/driver/nvidia/gpus")
"""The folder in which the driver of NVIDIA has a folder for each GPU."""

AMD_NODES = Path("/sys/class/kfd/kfd/topology/nodes")
"""The folder in which the driver of AMD has a folder for each processor and GPU."""

WINDOWS_GPU = Path("/dev/dxg")
"""The device of all GPUs in Windows' Linux subsystem, which does not say how many there are."""


def is_cuda(device: str) -> bool:
    """Whether the device that the user chose is a GPU of CUDA (or ROCm) on this machine.

    A device that is named explicitly counts as present, so that a run keeps its number format when
    it is put together on another machine.

    Args:
        device: the device as the user named it, or ``auto``.
    """
    return device.startswith("cuda") or (device == "auto" and count_gpus() > 0)


@functools.cache
def count_gpus() -> int:
    """The number of CUDA (or ROCm) devices that torch would use; 0 where it is not installed."""
    built_for = _torch_built_for()
    if not built_for:
        return 0
    if sys.platform != "linux" or WINDOWS_GPU.exists():
        return _counted_by_torch()
    if built_for == "cuda":
        return _visible(_entries(NVIDIA_GPUS), "CUDA_VISIBLE_DEVICES")
    gpus = [node for node in _entries(AMD_NODES) if _computes(AMD_NODES / node)]
    return _visible(gpus, "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")


def _torch_built_for() -> str:
    """The kind of GPU that the installed torch can use, ``cuda`` or ``hip``; empty for none."""
    found = importlib.util.find_spec("torch")
    if found is None or not found.submodule_search_locations:
        return ""
    try:
        written = (Path(found.submodule_search_locations[0]) / "version.py").read_text("utf-8")
    except OSError:
        return ""
    kinds = re.findall(r"^(cuda|hip)\b[^=\n]*=\s*['\"]", written, flags=re.MULTILINE)
    return "hip" if "hip" in kinds else "".join(kinds[:1])


def _entries(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except OSError:
        return []


def _computes(node: Path) -> bool:
    """Whether a processor that AMD's driver lists is a GPU: only those have such units."""
    try:
        written = (node / "properties").read_text("utf-8")
    except OSError:
        return False
    return re.search(r"^simd_count [1-9]", written, flags=re.MULTILINE) is not None


def _visible(gpus: list[str], *variables: str) -> int:
    """The number of GPUs that the environment leaves visible.

    A list is read up to the first name that is not a GPU, as CUDA does it.
    """
    number = len(gpus)
    for variable in variables:
        named = os.environ.get(variable)
        if named is None or not number:
            continue
        count = 0
        for name in named.split(","):
            text = name.strip()
            is_number = text.isascii() and text.isdecimal()
            if not text or text == "-1" or (is_number and int(text) >= len(gpus)):
                break
            count += 1
        number = min(number, count)
    return number


def _counted_by_torch() -> int:
    try:
        import torch
    except ImportError:
        return 0
    return torch.cuda.device_count()
