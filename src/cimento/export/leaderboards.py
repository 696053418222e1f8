"""Results for public leaderboards: records of Every Eval Ever, and files for hub model cards.

Every Eval Ever (EvalEval Coalition) has two JSON schemas; these records are in version 0.3.0. Each
run becomes one JSON file with its results and one JSONL file with every verdict, in folders
``<suite>/<developer>/<model>`` as in the project's datastore.

The hub of Hugging Face reads the folder ``.eval_results`` of a model, in the form of
https://huggingface.co/docs/hub/eval-results: a YAML list with one entry for each result, whose data
set is a benchmark on the hub and whose task is one of that benchmark.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from cimento.errors import UsageError
from cimento.export.data import ExportedResult, RunData, bounds, standard_error
from cimento.io.files import write_text
from cimento.io.values import grouped
from cimento.paired.item_outcomes import labeled_apart
from cimento.records.effects import effects_among
from cimento.records.outcomes import Estimate, Outcome
from cimento.records.store import file_name, manifest_part
from cimento.records.wrong_side import DD
from cimento.report.formatting import estimate_label, interval, number, p_value
from cimento.suites import JsonValue
from cimento.suites.published import hub_page

EVERY_EVAL_VERSION = "0.3.0"
NOT_STATED = "unknown"
DATA = "data"
"""The folder of all records in the datastore, with which the paths in records begin."""
_PART = re.compile(r"[^\w.@-]+")
_FEW = 5
"""The number of suites that a message names."""
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
FOLDER = ".eval_results"
"""The folder in the repository of a model that the hub reads."""


def write_every_eval_ever(
    runs: Sequence[RunData], folder: Path, *, organization: str = NOT_STATED
) -> list[Path]:
    """Write one record and one file of verdicts for each run.

    A run without verdicts, such as one of ratings alone, has no file of them. Results without any
    scored item have no number and are left out, and so are those without a
    smallest and largest possible value, which the schema requires.

    Args:
        runs: runs of any kind.
        folder: the folder to write to.
        organization: name of the evaluating organization.

    Raises:
        StorageError: the folder cannot be written.
    """
    return [path for run in runs for path in _write(run, folder, organization)]


def records(runs: Sequence[RunData], *, organization: str = NOT_STATED) -> dict[str, str]:
    """The record of each run without its verdicts, by its path in the datastore.

    Args:
        runs: as for `write_every_eval_ever`.
        organization: likewise.
    """
    return {f"{_place(run)}.json": _text(_record(run, organization)) for run in runs}


def _place(run: RunData) -> PurePosixPath:
    """The path of a run's files without their suffix.

    The name is derived from the run, so that exporting twice makes no second record.
    """
    developer, _, name = run.model.rpartition("/")
    # The validator wants the form of a random UUID.
    stem = str(uuid.UUID(bytes=run.digest[:16], version=4))
    return PurePosixPath(_safe(run.suite), _safe(developer or NOT_STATED), _safe(name), stem)


def _text(record: Mapping[str, JsonValue]) -> str:
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"


def _write(run: RunData, folder: Path, organization: str) -> list[Path]:
    place = _place(run)
    rows = [
        _row(run, result, outcome)
        for result in run.results
        for outcome in result.outcomes
        if outcome.right is not None
    ]
    record, files = _record(run, organization), []
    if rows:
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        files.append(write_text(lines, folder / f"{place}_samples.jsonl"))
        record["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": str(DATA / place.parent / files[0].name),
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(lines.encode()).hexdigest(),
            "total_rows": len(rows),
        }
    return [write_text(_text(record), folder / f"{place}.json"), *files]


def _record(run: RunData, organization: str) -> dict[str, JsonValue]:
    return {
        "schema_version": EVERY_EVAL_VERSION,
        "evaluation_id": _evaluation_id(run),
        "evaluation_timestamp": run.created,
        "retrieved_timestamp": str(run.timestamp),
        "source_metadata": {
            "source_name": "cimento",
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "cimento",
            "version": str(run.manifest.get("cimento", NOT_STATED)),
            "additional_details": _texts(run.manifest.get("versions")),
        },
        "model_info": _model(run),
        "evaluation_results": [
            _result(run, result, estimate)
            for result in run.results
            for estimate in result.estimates
            if estimate.value is not None and bounds(estimate) is not None
        ],
    }


def _model(run: RunData) -> dict[str, JsonValue]:
    card, versions = run.card, run.manifest.get("versions")
    developer = run.model.rpartition("/")[0]
    engine = versions.get("transformers") if isinstance(versions, dict) else None
    info: dict[str, JsonValue] = {
        "name": run.model,
        "id": run.model,
        "developer": developer or NOT_STATED,
        "additional_details": {
            **_availability(run),
            **_texts({name: value for name, value in card.items() if name != "details"}),
            **_texts(card.get("details")),
            "policy": json.dumps(dict(run.policy), sort_keys=True),
        },
    }
    if engine:
        info["inference_engine"] = {"name": "transformers", "version": str(engine)}
    return info


def _availability(run: RunData) -> dict[str, JsonValue]:
    """Where the model ran and whether its weights are published, as far as a run can tell.

    Weights that were loaded have a number format; those with an owner in their name are from a hub.
    """
    loaded = bool(run.card.get("dtype"))
    published = loaded and "/" in run.model and not Path(run.model).is_absolute()
    return {
        "deployment_type": "self_deployed" if loaded else NOT_STATED,
        "model_availability": "open_weights" if published else NOT_STATED,
    }


def _result(run: RunData, result: ExportedResult, estimate: Estimate) -> dict[str, JsonValue]:
    uncertainty: dict[str, JsonValue] = {"num_samples": estimate.n}
    error, why = standard_error(estimate)
    if error is not None:
        uncertainty["standard_error"] = {"value": error, "method": "analytic"}
    if estimate.low is not None and estimate.high is not None:
        uncertainty["confidence_interval"] = {
            "lower": estimate.low,
            "upper": estimate.high,
            "confidence_level": 0.95,
            "method": estimate.interval_method,
        }
    least, greatest = bounds(estimate) or (0.0, 1.0)
    counts = {
        "pass": estimate.passed,
        "fail": estimate.failed,
        "tie": estimate.tied,
        "unscored": estimate.unscored,
    }
    return {
        "evaluation_result_id": _result_id(run, result, estimate),
        "evaluation_name": f"{run.suite}: {result.name}",
        "source_data": _source(run),
        "evaluation_timestamp": run.created,
        "metric_config": {
            "evaluation_description": result.description,
            "metric_id": estimate.statistic,
            "metric_name": estimate.statistic.capitalize(),
            "metric_kind": "accuracy" if estimate.is_share else "correlation",
            "metric_unit": "proportion" if estimate.is_share else estimate.unit or "none",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": least,
            "max_score": greatest,
        },
        "score_details": {
            "score": estimate.value,
            "details": _texts({**counts, "stderr_reason": why, "interval_reason": estimate.reason}),
            "uncertainty": uncertainty,
        },
    }


def _source(run: RunData) -> dict[str, JsonValue]:
    meta = run.meta
    details: dict[str, JsonValue] = {
        "version": meta.version,
        "language": meta.language,
        "license": meta.license,
        "citation": meta.citation,
        "sha256": run.sha256,
    }
    return {
        "dataset_name": run.suite,
        "source_type": "other",
        "additional_details": _texts({name: value for name, value in details.items() if value}),
    }


def _row(run: RunData, result: ExportedResult, outcome: Outcome) -> dict[str, JsonValue]:
    """One verdict, which is itself the output, since no answer is extracted from a reply."""
    texts = run.texts.get(outcome.item, {})
    raw, reference = "\n".join(texts.values()), result.description
    choices: list[JsonValue] | None = [*texts.values()] if len(texts) > 1 else None
    right = bool(outcome.right)
    return {
        "schema_version": f"instance_level_eval_{EVERY_EVAL_VERSION}",
        "evaluation_id": _evaluation_id(run),
        "model_id": run.model,
        "evaluation_name": f"{run.suite}: {result.name}",
        "evaluation_result_id": _result_id(run, result, result.estimates[0]),
        "sample_id": outcome.item,
        "sample_hash": hashlib.sha256((raw + reference).encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": raw, "reference": [reference], "choices": choices},
        "output": {"raw": [outcome.verdict or ""]},
        "messages": None,
        "answer_attribution": [],
        "evaluation": {"score": float(right), "is_correct": right},
        "metadata": _texts(
            {"verdict": outcome.verdict, "value": outcome.value, "unit": outcome.unit}
        ),
    }


def _evaluation_id(run: RunData) -> str:
    return f"{run.suite}/{run.model.replace('/', '_')}/{run.timestamp}"


def _result_id(run: RunData, result: ExportedResult, estimate: Estimate) -> str:
    several = f"/{estimate.statistic}" if len(result.estimates) > 1 else ""
    return f"{_evaluation_id(run)}#{result.name}{several}"


def _texts(value: object) -> dict[str, JsonValue]:
    """A mapping with its values as texts, without null and empty ones."""
    items = value.items() if isinstance(value, Mapping) else ()
    return {
        str(name): part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)
        for name, part in items
        if part not in (None, "", {}, [])
    }


def _safe(name: str) -> str:
    # A name that consists only of dots would be another folder.
    return _PART.sub("_", name).strip(".") or NOT_STATED


def write_eval_results(
    runs: Sequence[RunData], folder: Path, *, dataset: str, source: str = ""
) -> list[Path]:
    """Write one file for each model: ``MODEL/.eval_results/NAME.yaml``.

    Args:
        runs: runs of any kinds, of suites that were fetched from the benchmark; those without an
            estimate that sums them up are left out.
        folder: the folder to write to.
        dataset: the benchmark on the hub, ``owner/name``, whose tasks are named like the suites.
        source: address where the results are explained, such as that of a site; empty for none.

    Raises:
        UsageError: the data set is not named ``owner/name``, a suite was not fetched from it, or no
            run has a result.
        StorageError: the folder cannot be written.
    """
    need_benchmark(dataset)
    _refuse_others([run for run in runs if not _is_from(run, dataset)], dataset)
    by_model = grouped((run.run.model, run) for run in runs)
    name = f"{file_name(dataset.partition('/')[2])}.yaml"
    texts = {
        model: eval_results(several, dataset=dataset, source=source)
        for model, several in by_model.items()
    }
    if not any(texts.values()):
        raise UsageError(where="--to=eval-results", seen="nothing was judged in these runs")
    return [
        write_text(text, folder / file_name(model) / FOLDER / name)
        for model, text in texts.items()
        if text
    ]


def need_benchmark(dataset: str, runs: Sequence[RunData] | None = None) -> None:
    """See that a data set is named as on the hub and, of some runs, that one is of it.

    Raises:
        UsageError: it is not named so, or none of the runs is of a suite fetched from it.
    """
    if not dataset:
        raise UsageError(
            where="--to=eval-results",
            seen="eval-results needs --dataset OWNER/NAME",
            todo="Name the benchmark on the hub from which the suites were fetched.",
        )
    if not _HUB_ID.fullmatch(dataset):
        raise UsageError(
            where=f"--dataset={dataset}",
            seen="it is not the name of a data set on the hub",
            todo="Write OWNER/NAME: the benchmark whose tasks are named like the suites.",
        )
    if runs is not None and not any(_is_from(run, dataset) for run in runs):
        _refuse_others(runs, dataset)


def _is_from(run: RunData, dataset: str) -> bool:
    """Whether a run's suite was fetched from a data set of the hub, by what the run stores of it.

    Args:
        run: the run; its manifest has the address of fetched suites.
        dataset: the data set, ``owner/name``.
    """
    source = manifest_part(run.manifest, "suite", "source")
    return source.get("address") == hub_page(dataset)


def _refuse_others(others: Sequence[RunData], dataset: str) -> None:
    """Refuse runs of suites that are not of a benchmark: a card would call them its tasks.

    Raises:
        UsageError: there is one.
    """
    if not others:
        return
    names = [*dict.fromkeys(run.suite for run in others)]
    few, more = names[:_FEW], len(names) - _FEW
    shown = ", ".join(few) + (f" and {more} more" if more > 0 else "")
    raise UsageError(
        where=f"--dataset={dataset}",
        seen=f"not fetched from it: {shown}",
        todo="Export only runs of its suites (`cimento suites get` fetches them and records where"
        " they are from). On a card, others would be called tasks of this benchmark.",
    )


def eval_results(runs: Iterable[RunData], *, dataset: str, source: str = "") -> str:
    """The results of one model as YAML; empty if nothing of the benchmark was judged.

    Args:
        runs: runs of one model; those of suites that were not fetched from the benchmark are left
            out.
        dataset: as for `write_eval_results`.
        source: likewise.
    """
    several = [run for run in runs if _is_from(run, dataset)]
    labeled = labeled_apart([run.run for run in several])
    return "".join(
        _entry(run, one, named.model, dataset=dataset, source=source)
        for run, named in zip(several, labeled, strict=True)
        for one in _summing_up(run.run.estimates())
        if one.value is not None
    )


def _summing_up(estimates: Sequence[Estimate]) -> list[Estimate]:
    """What sums up a run: the DDs of a factorial design, else its headline."""
    designs = [effect.estimate for effect in effects_among(estimates)]
    return designs or [one for one in estimates if one.role == "headline"]


def _entry(run: RunData, one: Estimate, label: str, *, dataset: str, source: str) -> str:
    lines: list[tuple[str, JsonValue]] = [
        ("- dataset", None),
        ("    id", dataset),
        ("    task_id", run.suite),
        ("  value", one.value),
        ("  date", run.created),
    ]
    if source:
        lines += [("  source", None), ("    url", source), ("    name", "cimento")]
    lines.append(("  notes", _notes(run, one, label)))
    # A string of JSON is one of YAML too.
    return "".join(
        f"{name}:{'' if value is None else f' {json.dumps(value, ensure_ascii=False)}'}\n"
        for name, value in lines
    )


def _notes(run: RunData, one: Estimate, label: str) -> str:
    """What the value is of, its interval and n, and what was asked of which version.

    Args:
        run: the run.
        one: its estimate.
        label: the model, with the options in which several runs of one suite differ.
    """
    version = run.meta.version
    p = f"{p_value(one.p_corrected)} (Holm)" if one.p_corrected is not None else ""
    parts = (
        f"{DD} of {one.level}" if one.statistic == DD else estimate_label(one) or one.statistic,
        one.unit if one.statistic == DD else "",
        label.removeprefix(run.run.model).strip(" ()"),
        f"95% interval {interval(one.low, one.high)}" if one.low is not None else "no interval",
        p if one.statistic == DD else "",
        f"n {one.n}",
        f"chance {number(one.chance)}" if one.chance is not None else "",
        f"suite version {version}" if version else "",
        f"suite sha256 {run.sha256[:12]}" if run.sha256 else "",
        f"revision {run.card.get('revision')}" if run.card.get("revision") else "",
        f"cimento {run.manifest.get('cimento', '')}",
    )
    return "; ".join(filter(None, parts))
