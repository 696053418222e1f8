"""Logs of Inspect (UK AI Security Institute), version 2 of their JSON form, one for each run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

from cimento.exporting.data import Result, RunData, counts, standard_error, uncertainty
from cimento.io.files import write_text
from cimento.runs.outcomes import Outcome
from cimento.suites.model import JsonValue

_MARKS = {True: "C", False: "I"}
_NAME = re.compile(r"[^\w-]+")


def write_inspect(runs: Sequence[RunData], folder: Path) -> list[Path]:
    """One log for each run.

    Raises:
        StorageError: the folder cannot be written.
    """
    written = []
    for run in runs:
        text = json.dumps(_log(run), ensure_ascii=False, indent=2)
        stamp = run.created.replace(":", "-")
        name = f"{stamp}_{_NAME.sub('-', run.suite)}_{_id(run)}.json"
        written.append(write_text(text + "\n", folder / name))
    return written


def _log(run: RunData) -> dict[str, JsonValue]:
    samples = _samples(run)
    scores: list[JsonValue] = [*map(_score, run.results)]
    return {
        "version": 2,
        "status": "success",
        "eval": _spec(run, [str(each["id"]) for each in samples]),
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": len(samples),
            "completed_samples": len(samples),
            "scores": scores,
        },
        "stats": {"started_at": run.created, "completed_at": run.created, "model_usage": {}},
        "samples": list(samples),
    }


def _spec(run: RunData, ids: list[str]) -> dict[str, JsonValue]:
    manifest, meta = run.run.manifest, run.run.suite.meta
    sample_ids: list[JsonValue] = [*ids]
    return {
        "eval_id": _id(run),
        "run_id": _id(run),
        "created": run.created,
        "task": run.suite,
        "task_id": _id(run),
        "task_version": meta.version or 0,
        "dataset": {
            "name": run.suite,
            "samples": len(ids),
            "sample_ids": sample_ids,
            "shuffled": False,
        },
        "model": f"cimento/{run.model}",
        "model_args": dict(run.policy),
        "config": {"limit": run.asking.get("limit")},
        "packages": {"cimento": str(manifest.get("cimento", ""))},
        "metadata": {
            "model": dict(run.card),
            "suite": manifest.get("suite"),
            "versions": manifest.get("versions"),
            "language": meta.language,
            "licence": meta.licence,
            "citation": meta.citation,
        },
    }


def _samples(run: RunData) -> list[dict[str, JsonValue]]:
    by_item: dict[str, list[tuple[Result, Outcome]]] = {}
    for result in run.results:
        for outcome in result.outcomes:
            by_item.setdefault(outcome.item, []).append((result, outcome))
    return [_sample(run, item, outcomes) for item, outcomes in by_item.items()]


def _sample(
    run: RunData, item: str, outcomes: Sequence[tuple[Result, Outcome]]
) -> dict[str, JsonValue]:
    texts = run.texts.get(item, {})
    targets: list[JsonValue] = [result.description for result, _ in outcomes]
    unscored: dict[str, JsonValue] = {
        result.name: one.reason for result, one in outcomes if not counts(one)
    }
    return {
        "id": item,
        "epoch": 1,
        "input": "\n".join(texts.values()),
        "choices": list(texts.values()) if len(texts) > 1 else None,
        "target": targets,
        "messages": [],
        "output": {"model": f"cimento/{run.model}", "choices": []},
        "scores": {
            result.name: {
                "value": one.value if one.right is None else _MARKS[one.right],
                "explanation": one.verdict or one.unit,
                "metadata": {"value": one.value, "unit": one.unit, "reference": one.reference},
            }
            for result, one in outcomes
            if counts(one)
        },
        "metadata": {
            "conditions": dict(texts),
            "logprob_nats": dict(run.logprobs.get(item, {})),
            "unscored": unscored,
        },
    }


def _score(result: Result) -> JsonValue:
    metrics: dict[str, JsonValue] = {}
    first = result.estimates[0]
    for estimate in result.estimates:
        name, (error, _) = estimate.statistic, standard_error(estimate)
        if estimate.value is not None:
            metrics[name] = {"name": name, "value": estimate.value}
        if error is not None:
            metrics["stderr"] = {"name": "stderr", "value": error}
    return {
        "name": result.name,
        "scorer": "cimento",
        "scored_samples": first.n,
        "unscored_samples": first.unscored,
        "metrics": metrics,
        "metadata": {
            "uncertainty": {one.statistic: uncertainty(one) for one in result.estimates},
            "ties": first.tied,
        },
    }


def _id(run: RunData) -> str:
    """The same for the same run, so that exporting twice makes no second log."""
    text = json.dumps(run.run.manifest, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:22]
