"""One process that loads one tool, does one work and says what it cost.

``python worker.py JOB.json OUT.json``. It runs under the interpreter of the tool's own environment,
so it imports nothing but the standard library and that tool.
"""

from __future__ import annotations

import dataclasses
import gc
import importlib.metadata
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from meter import Meter
from tools import LOADERS, Job

PACKAGES = ("torch", "transformers", "tokenizers", "minicons", "lm_eval", "numpy")


def main() -> int:
    """Do the job and write down its cost and its scores."""
    job_file, out_file = map(Path, sys.argv[1:3])
    job = _read(job_file)
    import torch

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    started = time.perf_counter()
    score = LOADERS[job.tool](job)
    _touch_weights()
    loading = time.perf_counter() - started
    costs = []
    for _ in range(job.passes):
        meter = Meter()
        scores = score()
        costs.append(dataclasses.asdict(meter.read()))
    report = {
        **costs[-1],
        "first_pass_wall_seconds": costs[0]["wall_seconds"],
        "loading_seconds": loading,
        "device_peak_bytes": torch.cuda.max_memory_allocated() if job.device != "cpu" else None,
        "device_name": torch.cuda.get_device_name() if job.device != "cpu" else "CPU",
        "threads": torch.get_num_threads(),
        "versions": _versions(),
        "python": sys.version.split()[0],
        "scores": scores,
    }
    out_file.write_text(json.dumps(report), encoding="utf-8")
    return 0


def _read(path: Path) -> Job:
    fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return Job(**{**fields, "folder": Path(fields["folder"])})


def _touch_weights() -> None:
    """Read every weight once: a file that is mapped into memory counts only where it was read."""
    import torch

    with torch.inference_mode():
        for instance in gc.get_objects():
            if isinstance(instance, torch.nn.Module):
                for weight in instance.parameters(recurse=False):
                    weight.sum()


def _versions() -> dict[str, str]:
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


if __name__ == "__main__":
    sys.exit(main())
