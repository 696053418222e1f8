"""Runs in the formats of other programs; see docs/export.md."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from cimento.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from cimento.runs.run import RunsLike

ExportTarget: TypeAlias = Literal["lm-eval", "inspect", "every-eval-ever", "hf-dataset", "r"]


def export(
    runs: RunsLike, to: ExportTarget, folder: str | Path, *, organization: str = ""
) -> list[Path]:
    """Runs written for another program.

    Args:
        runs: that are written.
        to: ``lm-eval``, ``inspect``, ``every-eval-ever``, ``hf-dataset`` or ``r``.
        folder: where.
        organization: who evaluated, for ``every-eval-ever``.

    Returns:
        The files.

    Raises:
        UsageError: there is no such program, or it has no place for an organization.
        StorageError: a file cannot be written.
    """
    from cimento.export.data import of_runs
    from cimento.runs.run import runs_of

    if to not in get_args(ExportTarget):
        raise UsageError(
            where="--to", seen=f"got {to!r}", todo=did_you_mean(str(to), get_args(ExportTarget))
        )
    if organization and to != "every-eval-ever":
        raise UsageError(
            where="--organization",
            seen=f"{to} has no place for it",
            todo="Leave it out, or write --to every-eval-ever.",
        )
    data, folder = of_runs(runs_of(runs)), Path(folder)
    if to == "lm-eval":
        from cimento.export.harnesses import write_lm_eval

        return write_lm_eval(data, folder)
    if to == "inspect":
        from cimento.export.harnesses import write_inspect

        return write_inspect(data, folder)
    if to == "every-eval-ever":
        from cimento.export.every_eval_ever import NOT_STATED, write_every_eval_ever

        return write_every_eval_ever(data, folder, organization=organization or NOT_STATED)
    if to == "hf-dataset":
        from cimento.export.tables import write_hf_dataset

        return write_hf_dataset(data, folder)
    from cimento.export.tables import write_r

    return write_r(data, folder)
