"""Runs in the formats of other programs; see docs/results.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from cimento.export.data import RunData
    from cimento.kinds.run import RunsLike

ExportTarget: TypeAlias = Literal[
    "lm-eval", "inspect", "every-eval-ever", "hf-dataset", "eval-results", "r"
]
"""The program or format that `export` writes for."""

_OWN: Mapping[str, ExportTarget] = {
    "organization": "every-eval-ever",
    "dataset": "eval-results",
    "source": "eval-results",
}
"""Options of one format, each with it."""


def export(
    runs: RunsLike,
    to: ExportTarget,
    output: str | Path,
    *,
    organization: str = "",
    dataset: str = "",
    source: str = "",
) -> list[Path]:
    """Write the files of runs for another program.

    Args:
        runs: the runs to export.
        to: the format: ``lm-eval``, ``inspect``, ``every-eval-ever``, ``hf-dataset``,
            ``eval-results`` or ``r``.
        output: the folder to write to.
        organization: name of the evaluating organization, for ``every-eval-ever``.
        dataset: the benchmark on the Hugging Face hub, for ``eval-results``.
        source: address where the results are explained, for ``eval-results``.

    Returns:
        The paths of the files.

    Raises:
        UsageError: the format is unknown, or has no place for an option.
        StorageError: a file cannot be written.

    Example:
        >>> run = evaluate("it-subject-verb", "demo-causal")
        >>> [path.name for path in export(run, "r", "for-r")]
        ['outcomes.csv', 'estimates.csv', 'sentences.csv', 'analysis.R']
    """
    from cimento.export import harnesses, leaderboards, tables
    from cimento.export.data import run_data
    from cimento.kinds.run import runs_of

    evaluator = organization or leaderboards.NOT_STATED
    writers: Mapping[str, Callable[[Sequence[RunData], Path], list[Path]]] = {
        "lm-eval": harnesses.write_lm_eval_logs,
        "inspect": harnesses.write_inspect,
        "every-eval-ever": partial(leaderboards.write_every_eval_ever, organization=evaluator),
        "hf-dataset": tables.write_hf_dataset,
        "eval-results": partial(leaderboards.write_eval_results, dataset=dataset, source=source),
        "r": tables.write_r,
    }
    if to not in writers:
        raise UsageError(where="--to", seen=f"got {to!r}", todo=did_you_mean(str(to), writers))
    _refuse_others(to, {"organization": organization, "dataset": dataset, "source": source})
    return writers[to](run_data(runs_of(runs)), Path(output))


def _refuse_others(to: ExportTarget, given: Mapping[str, str]) -> None:
    """Refuse options of other formats than the one that is written.

    Raises:
        UsageError: there is one.
    """
    for name, target in _OWN.items():
        if given[name] and to != target:
            raise UsageError(
                where=f"--{name}",
                seen=f"{to} has no place for it",
                todo=f"Leave it out, or write --to={target}.",
            )
