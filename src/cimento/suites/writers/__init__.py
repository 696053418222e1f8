"""Writers of suites, one format a file, and the rule that nothing is lost unnoticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import InputError, StorageError, SuiteError, UsageError, did_you_mean
from cimento.suites.checks import check_suite
from cimento.suites.faults import errors
from cimento.suites.model import Suite
from cimento.suites.writers.blimp import blimp_losses, write_blimp
from cimento.suites.writers.lm_eval import write_lm_eval
from cimento.suites.writers.minicons import minicons_losses, write_minicons
from cimento.suites.writers.native import write_native
from cimento.suites.writers.syntaxgym import write_syntaxgym


def _nothing(_suite: Suite) -> list[str]:
    return []


@dataclass(frozen=True, slots=True)
class Target:
    """A format that can be written.

    Attributes:
        title: what it is, for people.
        write: writes a suite to a path.
        losses: says what of a suite it cannot hold.
    """

    title: str
    write: Callable[[Suite, Path], Path]
    losses: Callable[[Suite], list[str]] = _nothing


TARGETS = {
    "native": Target("a folder with suite.toml and items.tsv", write_native),
    "syntaxgym": Target("SyntaxGym JSON", write_syntaxgym),
    "blimp": Target("BLiMP JSONL", write_blimp, blimp_losses),
    "minicons": Target(
        "a table of prefixes and stimuli for minicons", write_minicons, minicons_losses
    ),
    "lm-eval": Target("a task of lm-evaluation-harness", write_lm_eval, blimp_losses),
}


def losses(suite: Suite, format_: str) -> list[str]:
    """What a format cannot hold of a suite, as phrases; empty where nothing is lost.

    Raises:
        UsageError: there is no such format.
    """
    return _target(format_).losses(suite)


def convert(suite: Suite, format_: str, path: Path, *, allow_loss: bool = False) -> Path:
    """Write a suite in a format.

    Args:
        suite: without faults that keep it from being used.
        format_: a key of `TARGETS`.
        path: the file to write, or the folder for the native format; must not exist.
        allow_loss: write even where something is lost.

    Returns:
        The path.

    Raises:
        UsageError: there is no such format.
        InputError: something would be lost; the message lists it all.
        SuiteError: the suite has faults.
        StorageError: the path exists or cannot be written.
    """
    target = _target(format_)
    faults = errors(check_suite(suite))
    if faults:
        raise SuiteError(where=suite.name, faults=faults)
    lost = target.losses(suite)
    if lost and not allow_loss:
        raise InputError(
            where=suite.name,
            seen=f"{target.title} cannot hold: {'; '.join(lost)}",
            todo="Choose another format, or allow the loss.",
        )
    if path.is_file() or (path.is_dir() and any(path.iterdir())):
        raise StorageError(
            where=str(path), seen="exists already", todo="Choose another name, or remove it."
        )
    return target.write(suite, path)


def _target(format_: str) -> Target:
    if format_ not in TARGETS:
        raise UsageError(
            where=f"format {format_!r}",
            seen="there is no such format to write",
            todo=did_you_mean(format_, TARGETS),
        )
    return TARGETS[format_]
