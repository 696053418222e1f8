"""Answers about languages in the workspace, with the runs that they were made from."""

from __future__ import annotations

import shutil
from pathlib import Path

from cimento.app.workspace import RUNS, StoredRun, Workspace
from cimento.documents.language_page import ANSWER, ANSWER_FORMS
from cimento.engine.units import FOLDER
from cimento.errors import InputError
from cimento.io.files import writing
from cimento.io.untrusted import is_plain_file

_FILE = f"{ANSWER}.json"
_LONGEST_SHOWN = 20


def answered_languages(workspace: Workspace) -> list[str]:
    """The codes of the languages about whose published sets there is an answer."""
    folders = [path for path in workspace.entries(RUNS) if path.is_dir()]
    return [path.name for path in folders if is_plain_file(path / _FILE)]


def answer_file(workspace: Workspace, language: str) -> Path:
    """The file with the answer about a language.

    Raises:
        InputError: there is none.
    """
    if language not in answered_languages(workspace):
        raise InputError(
            where=language[:_LONGEST_SHOWN], seen="there is no such answer", todo="Choose another."
        )
    return workspace.plain(f"{RUNS}/{language}/{_FILE}")


def runs_about(workspace: Workspace, language: str) -> list[StoredRun]:
    """The finished runs that an answer was made from, those of a suite together."""
    return workspace.runs(f"{RUNS}/{language}")


def delete_answer(workspace: Workspace, language: str) -> None:
    """Delete an answer in all its forms, with its runs; the sets and the models' answers stay.

    What else is in its folder, such as runs of a suite that has the name of the language, stays.

    Raises:
        InputError: there is no answer about the language.
        StorageError: something of it cannot be deleted.
    """
    folder = answer_file(workspace, language).parent
    with writing(folder):
        for run in runs_about(workspace, language):
            shutil.rmtree(run.path)
            if not any(run.path.parent.iterdir()):
                run.path.parent.rmdir()
        units = folder / FOLDER  # what was asked for these runs
        if units.is_dir() and not units.is_symlink():
            shutil.rmtree(units)
        # The file by which an answer is found goes last.
        for ending in sorted(ANSWER_FORMS, key=lambda ending: ending == Path(_FILE).suffix):
            (folder / f"{ANSWER}{ending}").unlink(missing_ok=True)
        if not any(folder.iterdir()):
            folder.rmdir()
