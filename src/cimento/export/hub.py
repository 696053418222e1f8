"""Results for model cards of the Hugging Face hub: files for the folder ``.eval_results``.

The form is that of https://huggingface.co/docs/hub/eval-results: a YAML list with one entry for
each result, whose data set is a benchmark on the hub and whose task is one of that benchmark.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from cimento.errors import UsageError
from cimento.export.data import RunData
from cimento.io.files import write_text
from cimento.report.formatting import estimate_label, interval, number
from cimento.runs.outcomes import Estimate
from cimento.runs.store import file_name
from cimento.suites.model import JsonValue

_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
FOLDER = ".eval_results"
"""The folder in the repository of a model that the hub reads."""


def write_eval_results(
    runs: Sequence[RunData], folder: Path, *, dataset: str, source: str = ""
) -> list[Path]:
    """Write one file for each model: ``MODEL/.eval_results/NAME.yaml``.

    Args:
        runs: runs of any paradigms; those without an estimate that sums them up are left out.
        folder: the folder to write to.
        dataset: the benchmark on the hub, ``owner/name``, whose tasks are named like the suites.
        source: address where the results are explained, such as that of a site; empty for none.

    Raises:
        UsageError: the data set is not named ``owner/name``, or no run has a result.
        StorageError: the folder cannot be written.
    """
    need_hub_name(dataset)
    by_model: dict[str, list[RunData]] = {}
    for run in runs:
        by_model.setdefault(run.run.model, []).append(run)
    name = f"{file_name(dataset.partition('/')[2])}.yaml"
    texts = {
        model: eval_results(several, dataset=dataset, source=source)
        for model, several in by_model.items()
    }
    if not any(texts.values()):
        raise UsageError(where="--to eval-results", seen="nothing was judged in these runs")
    return [
        write_text(text, folder / file_name(model) / FOLDER / name)
        for model, text in texts.items()
        if text
    ]


def need_hub_name(dataset: str) -> None:
    """See that a data set is named as on the hub.

    Raises:
        UsageError: it is not.
    """
    if not _HUB_ID.fullmatch(dataset):
        raise UsageError(
            where=f"--dataset {dataset}",
            seen="it is not the name of a data set on the hub",
            todo="Write OWNER/NAME: the benchmark whose tasks are named like the suites.",
        )


def eval_results(runs: Iterable[RunData], *, dataset: str, source: str = "") -> str:
    """The results of one model as YAML; empty if nothing was judged.

    Args:
        runs: runs of one model.
        dataset: as for `write_eval_results`.
        source: likewise.
    """
    return "".join(
        _entry(run, one, dataset=dataset, source=source)
        for run in runs
        for one in run.run.estimates()
        if one.role == "headline" and one.value is not None
    )


def _entry(run: RunData, one: Estimate, *, dataset: str, source: str) -> str:
    lines: list[tuple[str, JsonValue]] = [
        ("- dataset", None),
        ("    id", dataset),
        ("    task_id", run.suite),
        ("  value", one.value),
        ("  date", run.created),
    ]
    if source:
        lines += [("  source", None), ("    url", source), ("    name", "cimento")]
    lines.append(("  notes", _notes(run, one)))
    # A string of JSON is one of YAML too.
    return "".join(
        f"{name}:{'' if value is None else f' {json.dumps(value, ensure_ascii=False)}'}\n"
        for name, value in lines
    )


def _notes(run: RunData, one: Estimate) -> str:
    """What the value is of, its interval and n, and what was asked of which version."""
    version = run.run.suite.meta.version
    parts = (
        estimate_label(one) or one.statistic,
        f"95% interval {interval(one.low, one.high)}" if one.low is not None else "no interval",
        f"n {one.n}",
        f"chance {number(one.chance)}" if one.chance is not None else "",
        f"suite version {version}" if version else "",
        f"suite sha256 {run.sha256[:12]}" if run.sha256 else "",
        f"revision {run.card.get('revision')}" if run.card.get("revision") else "",
        f"cimento {run.run.manifest.get('cimento', '')}",
    )
    return "; ".join(filter(None, parts))
