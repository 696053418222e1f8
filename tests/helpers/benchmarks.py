"""Runs of suites that were fetched from a benchmark of the hub, as their manifests say it."""

from __future__ import annotations

import json
from pathlib import Path


def say_fetched_from(runs: Path, dataset: str) -> Path:
    """Stored runs with a dataset of the hub as the source of their suites.

    Args:
        runs: the folder of the runs, which is changed.
        dataset: id of the dataset, ``owner/name``.
    """
    address = f"https://huggingface.co/datasets/{dataset}"
    source = {"name": dataset.partition("/")[2], "address": address, "revision": "0" * 40}
    for path in runs.rglob("manifest.json"):
        manifest = json.loads(path.read_text("utf-8"))
        manifest["suite"]["source"] = source
        path.write_text(json.dumps(manifest), "utf-8")
    return runs
