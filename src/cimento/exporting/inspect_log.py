"""Logs of Inspect (UK AI Security Institute), version 2 of their JSON form, one for each run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from cimento.exporting.data import Outcome, RunData, Share
from cimento.files import write_text
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
    scores: list[JsonValue] = [_score(run.share(question)) for question in run.questions]
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
    facts = run.facts
    sample_ids: list[JsonValue] = [*ids]
    return {
        "eval_id": _id(run),
        "run_id": _id(run),
        "created": run.created,
        "task": run.suite,
        "task_id": _id(run),
        "task_version": facts.meta.version or 0,
        "dataset": {
            "name": run.suite,
            "samples": len(ids),
            "sample_ids": sample_ids,
            "shuffled": False,
        },
        "model": f"cimento/{run.model}",
        "model_args": dict(facts.policy),
        "config": {"limit": facts.asking.get("limit")},
        "packages": {"cimento": str(facts.manifest.get("cimento", ""))},
        "metadata": {
            "model": dict(facts.model),
            "suite": facts.manifest.get("suite"),
            "versions": facts.manifest.get("versions"),
            "language": facts.meta.language,
            "licence": facts.meta.licence,
            "citation": facts.meta.citation,
        },
    }


def _samples(run: RunData) -> list[dict[str, JsonValue]]:
    by_item: dict[str, list[Outcome]] = {}
    for outcome in run.outcomes:
        by_item.setdefault(outcome.item, []).append(outcome)
    return [_sample(run, item, outcomes) for item, outcomes in by_item.items()]


def _sample(run: RunData, item: str, outcomes: Sequence[Outcome]) -> dict[str, JsonValue]:
    texts = run.texts.get(item, {})
    questions: list[JsonValue] = [run.described(each.question) for each in outcomes]
    unscored: Mapping[str, JsonValue] = {
        each.question: each.reason for each in outcomes if each.verdict == "unscored"
    }
    return {
        "id": item,
        "epoch": 1,
        "input": "\n".join(texts.values()),
        "choices": list(texts.values()) if len(texts) > 1 else None,
        "target": questions,
        "messages": [],
        "output": {"model": f"cimento/{run.model}", "choices": []},
        "scores": {
            each.question: {
                "value": _MARKS[run.is_right(each)],
                "explanation": each.verdict,
                "metadata": {"margin_bits": each.margin_bits},
            }
            for each in outcomes
            if each.verdict != "unscored"
        },
        "metadata": {
            "conditions": dict(texts),
            "logprob_nats": dict(run.logprobs.get(item, {})),
            "unscored": dict(unscored),
        },
    }


def _score(share: Share) -> dict[str, JsonValue]:
    metrics: dict[str, JsonValue] = {}
    if share.accuracy is not None:
        metrics["accuracy"] = {"name": "accuracy", "value": share.accuracy}
    if share.stderr is not None:
        metrics["stderr"] = {"name": "stderr", "value": share.stderr}
    return {
        "name": share.question,
        "scorer": "cimento",
        "scored_samples": share.n,
        "unscored_samples": share.counts.get("unscored", 0),
        "metrics": metrics,
        "metadata": {
            **share.uncertainty,
            "ties": share.counts.get("tie", 0),
        },
    }


def _id(run: RunData) -> str:
    """The same for the same run, so that exporting twice makes no second log."""
    text = json.dumps(run.facts.manifest, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:22]
