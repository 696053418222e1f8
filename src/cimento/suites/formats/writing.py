"""Suites written in a format; what it cannot hold is listed, so that nothing is lost unnoticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import InputError, SuiteError, need_known
from cimento.faults import errors
from cimento.io.files import folder_atomically, refuse_existing
from cimento.suites import Suite
from cimento.suites.checks import check_suite
from cimento.suites.formats import blimp, lm_eval, native, sentences, syntaxgym


@dataclass(frozen=True, slots=True)
class Target:
    """A format that can be written.

    Attributes:
        title: title of the format for people.
        write: writes a suite to a path.
        losses: lists the parts of a suite that the format cannot hold.
    """

    title: str
    write: Callable[[Suite, Path], Path]
    losses: Callable[[Suite], list[str]] = lambda _: []


TARGETS = {
    "native": Target("a folder with suite.toml and items.tsv", native.write_native),
    "syntaxgym": Target("SyntaxGym JSON", syntaxgym.write_syntaxgym),
    "blimp": Target("BLiMP JSONL", blimp.write_blimp, blimp.blimp_losses),
    "minicons": Target(
        "a table of prefixes and stimuli for minicons",
        sentences.write_minicons,
        sentences.minicons_losses,
    ),
    "lm-eval": Target(
        "a task of lm-evaluation-harness", lm_eval.write_lm_eval, lm_eval.lm_eval_losses
    ),
}


def losses(suite: Suite, format_: str) -> list[str]:
    """The parts of a suite that a format cannot hold, as phrases; empty if nothing is lost.

    Raises:
        UsageError: there is no such format.
    """
    need_known(
        format_, TARGETS, where=f"format {format_!r}", seen="there is no such format to write"
    )
    return TARGETS[format_].losses(suite)


_FOLDERS = frozenset({"native", "lm-eval"})
"""The formats of a folder."""


def convert(suite: Suite, format_: str, path: Path, *, allow_loss: bool = False) -> Path:
    """Write a suite in a format.

    Args:
        suite: a suite without errors.
        format_: a key of `TARGETS`.
        path: the file to write, or the folder for the native format; must not exist.
        allow_loss: whether the suite is written even if something is lost.

    Returns:
        The path.

    Raises:
        UsageError: there is no such format.
        InputError: something would be lost; the message lists it all.
        SuiteError: the suite has faults.
        StorageError: the path exists or cannot be written.
    """
    lost, target = losses(suite, format_), TARGETS[format_]
    if faults := errors(check_suite(suite)):
        raise SuiteError(where=suite.name, faults=faults)
    if lost and not allow_loss:
        raise InputError(
            where=suite.name,
            seen=f"{target.title} cannot hold: {'; '.join(lost)}",
            todo="Choose another format, or allow the loss with --allow-loss.",
        )
    refuse_existing(path)
    if format_ in _FOLDERS:
        return folder_atomically(path, lambda folder: target.write(suite, folder))
    return target.write(suite, path)
