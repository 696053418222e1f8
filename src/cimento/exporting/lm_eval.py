"""Results and samples as lm-evaluation-harness 0.4 writes them with ``--log_samples``.

Its own record of the format is ``lm_eval/result_schema.py`` (v0.4.13): one ``results_*.json`` for a
model, one ``samples_*.jsonl`` for a task. A question of a suite is a task; where there is only one,
the suite is.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

from cimento.errors import UsageError
from cimento.exporting.data import ACCURACY, Result, RunData, standard_error, uncertainty
from cimento.io.files import write_text
from cimento.runs.estimates import Estimate
from cimento.runs.outcomes import Outcome
from cimento.suites.model import JsonValue

NOT_KNOWN = "N/A"
_IN_MODEL = re.compile(r"[\"<>:/|\\?*\[\]]+")
_IN_TASK = re.compile(r"\W")


def write_lm_eval(runs: Sequence[RunData], folder: Path) -> list[Path]:
    """One folder for each model, with its results and the samples of every task.

    Raises:
        UsageError: two runs of one model would be the same task.
        StorageError: the folder cannot be written.
    """
    by_model: dict[str, list[RunData]] = {}
    for run in runs:
        by_model.setdefault(run.run.model, []).append(run)
    return [path for label, own in by_model.items() for path in _write_model(label, own, folder)]


def _write_model(label: str, runs: Sequence[RunData], folder: Path) -> list[Path]:
    place = folder / _IN_MODEL.sub("__", label)
    stamp = max(run.created for run in runs).replace(":", "-")
    tasks = _tasks(runs)
    samples = {
        name: [_sample(run, result, k, one) for k, one in enumerate(result.scored)]
        for name, (run, result) in tasks.items()
    }
    versions = {name: run.run.suite.meta.version for name, (run, _) in tasks.items()}
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
            name: {"original": one.n + one.unscored, "effective": one.n}
            for name, (_, result) in tasks.items()
            for one in result.estimates[:1]
        },
        "config": _model_config(runs[0]),
        "git_hash": None,
        "date": runs[0].timestamp,
        "model_source": "cimento",
        "model_name": runs[0].model,
        "model_name_sanitized": _IN_MODEL.sub("__", runs[0].model),
        "task_hashes": {name: _task_hash(own) for name, own in samples.items()},
    }
    text = json.dumps(results, ensure_ascii=False, indent=2)
    written = [write_text(text + "\n", place / f"results_{stamp}.json")]
    for name, own in samples.items():
        lines = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in own)
        written.append(write_text(lines, place / f"samples_{name}_{stamp}.jsonl"))
    return written


def _tasks(runs: Sequence[RunData]) -> dict[str, tuple[RunData, Result]]:
    """Task to its run and question."""
    tasks: dict[str, tuple[RunData, Result]] = {}
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


def _task(run: RunData, result: Result) -> str:
    name = _IN_TASK.sub("_", run.suite)
    return name if len(run.results) == 1 else f"{name}_{_IN_TASK.sub('_', result.name)}"


def _metric(estimate: Estimate) -> str:
    """The name of a statistic; of accuracy as lm-eval has it."""
    return "acc" if estimate.statistic == ACCURACY else _IN_TASK.sub("_", estimate.statistic)


def _metrics(name: str, result: Result) -> dict[str, JsonValue]:
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


def _config(name: str, run: RunData, result: Result) -> dict[str, JsonValue]:
    meta = run.run.suite.meta
    return {
        "task": name,
        "dataset_path": meta.name,
        "output_type": "multiple_choice",
        "description": result.description,
        "num_fewshot": 0,
        "metadata": {
            "version": meta.version,
            "sha256": _sha256(run),
            "language": meta.language,
            "licence": meta.licence,
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


def _sample(run: RunData, result: Result, number: int, outcome: Outcome) -> dict[str, JsonValue]:
    """One item; what lm-eval would have asked are the item's conditions, one text each."""
    texts = run.texts.get(outcome.item, {})
    logprobs = run.logprobs.get(outcome.item, {})
    doc: dict[str, JsonValue] = {
        "item": outcome.item,
        "texts": dict(texts),
        "verdict": outcome.verdict,
        "value": outcome.value,
        "unit": outcome.unit,
        "reference": outcome.reference,
    }
    target = result.description
    # Whether a text is what the model would have written itself is not known here.
    answers: list[JsonValue] = [[str(logprobs.get(name)), str(None)] for name in texts]
    requests: dict[str, JsonValue] = {
        f"gen_args_{k}": {"arg_0": "", "arg_1": text} for k, text in enumerate(texts.values())
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
    return _hash("".join(str(each[name]) for each in samples for name in names))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _sha256(run: RunData) -> str:
    suite = run.run.manifest.get("suite")
    return str(suite.get("sha256", "")) if isinstance(suite, dict) else ""
