"""Records of Every Eval Ever (EvalEval Coalition), version 0.2.2 of their two JSON schemas.

One JSON file for each run with its results, beside it a JSONL with every verdict, in the folders
``<suite>/<developer>/<model>`` that their datastore has.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from cimento.exporting.data import Outcome, RunData, Share
from cimento.files import write_text
from cimento.suites.model import JsonValue

VERSION = "0.2.2"
UNKNOWN = "unknown"
_PART = re.compile(r"[^\w.@-]+")


def write_every_eval_ever(
    runs: Sequence[RunData], folder: Path, *, organization: str = UNKNOWN
) -> list[Path]:
    """One record and one file of verdicts for each run.

    Results of which nothing was scored have no number and are left out.

    Args:
        runs: of any kind.
        folder: where to.
        organization: who made the evaluation.

    Raises:
        StorageError: the folder cannot be written.
    """
    return [path for run in runs for path in _write(run, folder, organization)]


def _write(run: RunData, folder: Path, organization: str) -> list[Path]:
    developer, _, name = _model_id(run).rpartition("/")
    place = folder / _safe(run.suite) / _safe(developer or UNKNOWN) / _safe(name)
    # Made from the run, so that exporting it twice makes no second record.
    stem = str(uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(run.facts.manifest, sort_keys=True)))
    rows = [_row(run, each) for each in run.outcomes if each.verdict != "unscored"]
    lines = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in rows)
    samples = write_text(lines, place / f"{stem}_samples.jsonl")
    record = _record(run, organization)
    record["detailed_evaluation_results"] = {
        "format": "jsonl",
        "file_path": samples.name,
        "hash_algorithm": "sha256",
        "checksum": hashlib.sha256(lines.encode()).hexdigest(),
        "total_rows": len(rows),
    }
    text = json.dumps(record, ensure_ascii=False, indent=2)
    return [write_text(text + "\n", place / f"{stem}.json"), samples]


def _record(run: RunData, organization: str) -> dict[str, JsonValue]:
    shares = [run.share(question) for question in run.questions]
    return {
        "schema_version": VERSION,
        "evaluation_id": _evaluation_id(run),
        "evaluation_timestamp": run.created,
        "retrieved_timestamp": _epoch(run),
        "source_metadata": {
            "source_name": "cimento",
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "cimento",
            "version": str(run.facts.manifest.get("cimento", UNKNOWN)),
            "additional_details": _texts(run.facts.manifest.get("versions")),
        },
        "model_info": _model(run),
        "evaluation_results": [_result(run, each) for each in shares if each.accuracy is not None],
    }


def _model(run: RunData) -> dict[str, JsonValue]:
    card, versions = run.facts.model, run.facts.manifest.get("versions")
    model_id = _model_id(run)
    developer = model_id.rpartition("/")[0]
    engine = versions.get("transformers") if isinstance(versions, dict) else None
    info: dict[str, JsonValue] = {
        "name": run.model,
        "id": model_id,
        "additional_details": {
            **_texts({name: value for name, value in card.items() if name != "details"}),
            **_texts(card.get("details")),
            "policy": json.dumps(dict(run.facts.policy), sort_keys=True),
        },
    }
    if developer:
        info["developer"] = developer
    if engine:
        info["inference_engine"] = {"name": "transformers", "version": str(engine)}
    return info


def _result(run: RunData, share: Share) -> dict[str, JsonValue]:
    uncertainty: dict[str, JsonValue] = {"num_samples": share.n}
    if share.stderr is not None:
        uncertainty["standard_error"] = {"value": share.stderr, "method": "analytic"}
    interval = share.interval
    if interval.low is not None and interval.high is not None:
        uncertainty["confidence_interval"] = {
            "lower": interval.low,
            "upper": interval.high,
            "confidence_level": 0.95,
            "method": interval.method,
        }
    return {
        "evaluation_result_id": _result_id(run, share.question),
        "evaluation_name": f"{run.suite}: {share.question}",
        "source_data": _source(run),
        "evaluation_timestamp": run.created,
        "metric_config": {
            "evaluation_description": run.described(share.question),
            "metric_id": "accuracy",
            "metric_name": "Accuracy",
            "metric_kind": "accuracy",
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
        },
        "score_details": {
            "score": share.accuracy,
            "details": _texts({**share.counts, **_reasons(share)}),
            "uncertainty": uncertainty,
        },
    }


def _reasons(share: Share) -> dict[str, str]:
    """Why there is no standard error, or no interval, where there is none."""
    return {"stderr_reason": share.stderr_reason, "interval_reason": share.interval.reason or ""}


def _source(run: RunData) -> dict[str, JsonValue]:
    meta, suite = run.facts.meta, run.facts.manifest.get("suite")
    details: dict[str, JsonValue] = {
        "version": meta.version,
        "language": meta.language,
        "licence": meta.licence,
        "citation": meta.citation,
        "sha256": suite.get("sha256") if isinstance(suite, dict) else "",
    }
    return {
        "dataset_name": run.suite,
        "source_type": "other",
        "additional_details": _texts({name: value for name, value in details.items() if value}),
    }


def _row(run: RunData, outcome: Outcome) -> dict[str, JsonValue]:
    """One verdict. There is no answer to read out of a reply: the verdict is the output."""
    texts = run.texts.get(outcome.item, {})
    raw, reference = "\n".join(texts.values()), run.described(outcome.question)
    choices: list[JsonValue] | None = [*texts.values()] if len(texts) > 1 else None
    right = run.is_right(outcome)
    return {
        "schema_version": f"instance_level_eval_{VERSION}",
        "evaluation_id": _evaluation_id(run),
        "model_id": _model_id(run),
        "evaluation_name": f"{run.suite}: {outcome.question}",
        "evaluation_result_id": _result_id(run, outcome.question),
        "sample_id": outcome.item,
        "sample_hash": hashlib.sha256((raw + reference).encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": raw, "reference": [reference], "choices": choices},
        "output": {"raw": [outcome.verdict]},
        "messages": None,
        "answer_attribution": [],
        "evaluation": {"score": float(right), "is_correct": right},
        "metadata": _texts({"verdict": outcome.verdict, "margin_bits": outcome.margin_bits}),
    }


def _evaluation_id(run: RunData) -> str:
    return f"{run.suite}/{_model_id(run).replace('/', '_')}/{_epoch(run)}"


def _result_id(run: RunData, question: str) -> str:
    return f"{_evaluation_id(run)}#{question}"


def _model_id(run: RunData) -> str:
    """As the Hugging Face hub names it; the bare name of a model from elsewhere."""
    return run.model


def _epoch(run: RunData) -> str:
    return str(run.timestamp)


def _texts(value: object) -> dict[str, JsonValue]:
    """A mapping whose values are texts; what is null or empty is left out."""
    items = value.items() if isinstance(value, Mapping) else ()
    return {
        str(name): each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)
        for name, each in items
        if each not in (None, "", {}, [])
    }


def _safe(name: str) -> str:
    # A name of points alone would be another folder.
    return _PART.sub("_", name).strip(".") or UNKNOWN
