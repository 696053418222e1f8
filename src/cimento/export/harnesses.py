"""Logs of other harnesses: Inspect (UK AI Security Institute) and lm-evaluation-harness."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

from cimento.errors import UsageError
from cimento.evaluation.job import ITEMS_OF_SUITE
from cimento.export.data import (
    ExportedResult,
    RunData,
    counts,
    standard_error,
    uncertainty,
)
from cimento.io.files import write_text
from cimento.io.values import grouped
from cimento.records.outcomes import ACCURACY, Estimate, Outcome
from cimento.records.store import BLANK
from cimento.suites import JsonValue

_MARKS = {True: "C", False: "I"}
_NAME = re.compile(r"[^\w-]+")


def write_inspect(runs: Sequence[RunData], folder: Path) -> list[Path]:
    """Write one log for each run.

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
        "eval": _spec(run, [str(sample["id"]) for sample in samples]),
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
    manifest, meta = run.manifest, run.meta
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
            "license": meta.license,
            "citation": meta.citation,
        },
    }


def _samples(run: RunData) -> list[dict[str, JsonValue]]:
    by_item = grouped(
        (outcome.item, (result, outcome)) for result in run.results for outcome in result.outcomes
    )
    return [_inspect_sample(run, item, outcomes) for item, outcomes in by_item.items()]


def _inspect_sample(
    run: RunData, item: str, outcomes: Sequence[tuple[ExportedResult, Outcome]]
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
                "metadata": {
                    "value": one.value,
                    "unit": one.unit,
                    "reference": one.reference,
                    "logprob_nats": dict(run.side_values(one)),
                },
            }
            for result, one in outcomes
            if counts(one)
        },
        "metadata": {
            "conditions": dict(texts),
            "unscored": unscored,
        },
    }


def _score(result: ExportedResult) -> JsonValue:
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
    """An id derived from the run, so that exporting twice makes no second log."""
    return run.digest.hex()[:22]


NOT_KNOWN = "N/A"
_IN_MODEL = re.compile(r"[\"<>:/|\\?*\[\]]+")
_IN_TASK = re.compile(r"\W")


def write_lm_eval_logs(runs: Sequence[RunData], folder: Path) -> list[Path]:
    """Write the results and the samples of every task, in one folder for each model.

    A file of results has one configuration of the model. Runs of a model with several, such as
    another limit, are written to a folder for each.

    Raises:
        UsageError: two runs of one model would be the same task.
        StorageError: the folder cannot be written.
    """
    by_model: dict[str, dict[str, list[RunData]]] = {}
    for run in runs:
        configuration = json.dumps(_model_config(run), sort_keys=True, default=str)
        by_model.setdefault(run.run.model, {}).setdefault(configuration, []).append(run)
    written = []
    for label, groups in by_model.items():
        for configuration, group in groups.items():
            several = f"--{_hash(configuration)[:8]}" if len(groups) > 1 else ""
            place = folder / (_IN_MODEL.sub("__", label) + several)
            written += _write_model(place, group)
    return written


def _write_model(place: Path, runs: Sequence[RunData]) -> list[Path]:
    stamp = max(run.created for run in runs).replace(":", "-")
    tasks = _tasks(runs)
    samples = {
        name: [_sample(run, result, k, one) for k, one in enumerate(result.scored)]
        for name, (run, result) in tasks.items()
    }
    versions = {name: run.meta.version for name, (run, _) in tasks.items()}
    results: dict[str, JsonValue] = {
        "results": {name: _metrics(name, result) for name, (_, result) in tasks.items()},
        "group_subtasks": {name: [] for name in tasks},
        "configs": {name: _config(name, *task) for name, task in tasks.items()},
        "versions": {name: version or NOT_KNOWN for name, version in versions.items()},
        "n-shot": dict.fromkeys(tasks, 0),
        "higher_is_better": {
            name: {_metric(one): True for one in result.estimates}
            for name, (_, result) in tasks.items()
        },
        "n-samples": {
            name: {"original": _whole(run, one), "effective": one.n}
            for name, (run, result) in tasks.items()
            for one in result.estimates[:1]
        },
        "config": _model_config(runs[0]),
        "git_hash": None,
        "date": runs[0].timestamp,
        "model_source": "cimento",
        "model_name": runs[0].model,
        "model_name_sanitized": _IN_MODEL.sub("__", runs[0].model),
        "task_hashes": {name: _task_hash(records) for name, records in samples.items()},
    }
    text = json.dumps(results, ensure_ascii=False, indent=2)
    written = [write_text(text + "\n", place / f"results_{stamp}.json")]
    for name, records in samples.items():
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        written.append(write_text(lines, place / f"samples_{name}_{stamp}.jsonl"))
    return written


def _whole(run: RunData, estimate: Estimate) -> JsonValue:
    """The number of items of the whole suite, of which a limit may have left some out."""
    if run.asking.get("limit") is None:
        return estimate.n + estimate.unscored
    return run.manifest.get(ITEMS_OF_SUITE, NOT_KNOWN)


def _tasks(runs: Sequence[RunData]) -> dict[str, tuple[RunData, ExportedResult]]:
    """The tasks by name, each with its run and question."""
    tasks: dict[str, tuple[RunData, ExportedResult]] = {}
    for run in runs:
        for result in run.results:
            name = _task(run, result)
            if name in tasks:
                other = tasks[name][0].run
                raise UsageError(
                    where=str(run.run.folder or run.suite),
                    seen=f"its task {name} is that of {other.folder or other.suite.name} too",
                    todo="Export one of the two into a folder of its own.",
                )
            tasks[name] = (run, result)
    return tasks


def _task(run: RunData, result: ExportedResult) -> str:
    name = _IN_TASK.sub("_", run.suite)
    return name if len(run.results) == 1 else f"{name}_{_IN_TASK.sub('_', result.name)}"


def _metric(estimate: Estimate) -> str:
    """The name of a statistic in lm-eval, where accuracy is ``acc``."""
    return "acc" if estimate.statistic == ACCURACY else _IN_TASK.sub("_", estimate.statistic)


def _metrics(name: str, result: ExportedResult) -> dict[str, JsonValue]:
    metrics: dict[str, JsonValue] = {
        "name": name,
        "alias": name,
        "sample_len": result.estimates[0].n,
    }
    for estimate in result.estimates:
        error, _ = standard_error(estimate)
        metrics[f"{_metric(estimate)},none"] = _or_not_known(estimate.value)
        metrics[f"{_metric(estimate)}_stderr,none"] = _or_not_known(error)
    return metrics


def _or_not_known(value: float | None) -> JsonValue:
    return NOT_KNOWN if value is None else value


def _config(name: str, run: RunData, result: ExportedResult) -> dict[str, JsonValue]:
    meta = run.meta
    return {
        "task": name,
        "dataset_path": meta.name,
        "output_type": "multiple_choice",
        "description": result.description,
        "num_fewshot": 0,
        "metadata": {
            "version": meta.version,
            "sha256": run.sha256,
            "language": meta.language,
            "license": meta.license,
            "citation": meta.citation,
            "uncertainty": {_metric(one): uncertainty(one) for one in result.estimates},
        },
    }


def _model_config(run: RunData) -> dict[str, JsonValue]:
    card, policy = run.card, run.policy
    return {
        "model": "cimento",
        "model_args": {"pretrained": run.model, **{k: str(v) for k, v in policy.items()}},
        "model_dtype": card.get("dtype"),
        "model_revision": card.get("revision"),
        "model_sha": card.get("revision"),
        "batch_size": None,
        "device": card.get("device"),
        "limit": run.asking.get("limit"),
        "bootstrap_iters": 0,
        "gen_kwargs": None,
        "random_seed": getattr(run.run.options, "seed", None),
    }


def _sample(
    run: RunData, result: ExportedResult, number: int, outcome: Outcome
) -> dict[str, JsonValue]:
    """One item, whose conditions are the requests that lm-eval would have made, one text each."""
    sides = run.side_values(outcome)
    texts = {name: text for name, text in run.texts.get(outcome.item, {}).items() if name in sides}
    doc: dict[str, JsonValue] = {
        "item": outcome.item,
        "texts": dict(texts),
        "verdict": outcome.verdict,
        "value": outcome.value,
        "unit": outcome.unit,
        "reference": outcome.reference,
    }
    target = result.description
    # It is unknown whether the model's own greedy output would equal the text.
    answers: list[JsonValue] = [[str(sides[name]), str(None)] for name in texts]
    blank = " " if run.policy.get(BLANK) else ""
    requests: dict[str, JsonValue] = {
        f"gen_args_{k}": {"arg_0": "", "arg_1": blank + text}
        for k, text in enumerate(texts.values())
    }
    metric, score = ("value", outcome.value) if outcome.right is None else ("acc", outcome.right)
    return {
        "doc_id": number,
        "doc": doc,
        "target": target,
        "arguments": requests,
        "resps": [[answer] for answer in answers],
        "filtered_resps": answers,
        "filter": "none",
        "metrics": [metric],
        "doc_hash": _hash(json.dumps(doc, indent=2, ensure_ascii=False)),
        "prompt_hash": _hash("\n".join(texts.values())),
        "target_hash": _hash(target),
        metric: None if score is None else float(score),
    }


def _task_hash(samples: Sequence[dict[str, JsonValue]]) -> str:
    names = ("doc_hash", "prompt_hash", "target_hash")
    return _hash("".join(str(sample[name]) for sample in samples for name in names))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
