"""Results and samples as lm-evaluation-harness 0.4 writes them with ``--log_samples``.

Its own record of the format is ``lm_eval/result_schema.py`` (v0.4.13): one ``results_*.json`` for a
model, one ``samples_*.jsonl`` for a task. A suite with one prediction is a task; of several each is
a task of its own, and so is their conjunction.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

from cimento.errors import UsageError
from cimento.exporting.data import Outcome, RunData, Share
from cimento.files import write_text
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
        by_model.setdefault(run.facts.label, []).append(run)
    return [path for label, own in by_model.items() for path in _write_model(label, own, folder)]


def _write_model(label: str, runs: Sequence[RunData], folder: Path) -> list[Path]:
    place = folder / _IN_MODEL.sub("__", label)
    stamp = max(run.created for run in runs).replace(":", "-")
    tasks = _tasks(runs)
    samples = {
        name: [_sample(run, k, each) for k, each in enumerate(run.scored(question))]
        for name, (run, question) in tasks.items()
    }
    shares = {name: run.share(question) for name, (run, question) in tasks.items()}
    results: dict[str, JsonValue] = {
        "results": {name: _metrics(name, share) for name, share in shares.items()},
        "group_subtasks": {name: [] for name in tasks},
        "configs": {name: _config(name, *tasks[name], shares[name]) for name in tasks},
        "versions": {name: run.facts.meta.version or NOT_KNOWN for name, (run, _) in tasks.items()},
        "n-shot": dict.fromkeys(tasks, 0),
        "higher_is_better": {name: {"acc": True} for name in tasks},
        "n-samples": {
            name: {"original": sum(share.counts.values()), "effective": share.n}
            for name, share in shares.items()
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


def _tasks(runs: Sequence[RunData]) -> dict[str, tuple[RunData, str]]:
    """Task to its run and question."""
    tasks: dict[str, tuple[RunData, str]] = {}
    for run in runs:
        for question in run.questions:
            name = _task(run, question)
            if name in tasks:
                raise UsageError(
                    where=str(run.path),
                    seen=f"its task {name} is that of {tasks[name][0].path} too",
                    todo="Export one of the two into a folder of its own.",
                )
            tasks[name] = (run, question)
    return tasks


def _task(run: RunData, question: str) -> str:
    name = _IN_TASK.sub("_", run.suite)
    return name if len(run.questions) == 1 else f"{name}_{_IN_TASK.sub('_', question)}"


def _metrics(name: str, share: Share) -> dict[str, JsonValue]:
    return {
        "name": name,
        "alias": name,
        "sample_len": share.n,
        "acc,none": NOT_KNOWN if share.accuracy is None else share.accuracy,
        "acc_stderr,none": NOT_KNOWN if share.stderr is None else share.stderr,
    }


def _config(name: str, run: RunData, question: str, share: Share) -> dict[str, JsonValue]:
    meta = run.facts.meta
    return {
        "task": name,
        "dataset_path": meta.name,
        "output_type": "multiple_choice",
        "description": run.described(question),
        "num_fewshot": 0,
        "metadata": {
            "version": meta.version,
            "sha256": _sha256(run),
            "language": meta.language,
            "licence": meta.licence,
            "citation": meta.citation,
            "uncertainty": share.uncertainty,
        },
    }


def _model_config(run: RunData) -> dict[str, JsonValue]:
    card, policy = run.facts.model, run.facts.policy
    return {
        "model": "cimento",
        "model_args": {"pretrained": run.model, **{k: str(v) for k, v in policy.items()}},
        "model_dtype": card.get("dtype"),
        "model_revision": card.get("revision"),
        "model_sha": card.get("revision"),
        "batch_size": None,
        "device": card.get("device"),
        "limit": run.facts.asking.get("limit"),
        "bootstrap_iters": 0,
        "gen_kwargs": None,
        "random_seed": run.facts.judging.seed,
    }


def _sample(run: RunData, number: int, outcome: Outcome) -> dict[str, JsonValue]:
    """One item; what lm-eval would have asked are the item's conditions, one text each."""
    texts = run.texts.get(outcome.item, {})
    logprobs = run.logprobs.get(outcome.item, {})
    doc: dict[str, JsonValue] = {
        "item": outcome.item,
        "texts": dict(texts),
        "verdict": outcome.verdict,
        "margin_bits": outcome.margin_bits,
    }
    target = run.described(outcome.question)
    # Whether a text is what the model would have written itself is not known here.
    answers: list[JsonValue] = [[str(logprobs.get(name)), str(None)] for name in texts]
    requests: dict[str, JsonValue] = {
        f"gen_args_{k}": {"arg_0": "", "arg_1": text} for k, text in enumerate(texts.values())
    }
    return {
        "doc_id": number,
        "doc": doc,
        "target": target,
        "arguments": requests,
        "resps": [[each] for each in answers],
        "filtered_resps": answers,
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": _hash(json.dumps(doc, indent=2, ensure_ascii=False)),
        "prompt_hash": _hash("\n".join(texts.values())),
        "target_hash": _hash(target),
        "acc": float(run.is_right(outcome)),
    }


def _task_hash(samples: Sequence[dict[str, JsonValue]]) -> str:
    names = ("doc_hash", "prompt_hash", "target_hash")
    return _hash("".join(str(each[name]) for each in samples for name in names))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _sha256(run: RunData) -> str:
    suite = run.facts.manifest.get("suite")
    return str(suite.get("sha256", "")) if isinstance(suite, dict) else ""
