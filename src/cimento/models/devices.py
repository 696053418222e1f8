"""How many GPUs there are."""

from __future__ import annotations

import functools
import os
import sys

_DRIVERS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")
"""What the drivers of NVIDIA and AMD bring, and that of Windows' own Linux."""


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
