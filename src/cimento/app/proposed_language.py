"""The language that is proposed for sentences: that of their words, or the last one chosen here."""

from __future__ import annotations

from cimento.app.editing import Grid
from cimento.app.words import Words
from cimento.app.workspace import Workspace
from cimento.errors import CimentoError
from cimento.intake.profile import profile
from cimento.io.files import read_utf8, write_text
from cimento.io.untrusted import is_plain_file
from cimento.suites.guessed_language import guessed_language
from cimento.suites.languages import NAMES

_FILE = ".language"
"""The file of a workspace with the code of the language that was chosen last."""


def proposed(workspace: Workspace, grid: Grid, say: Words) -> tuple[str, str]:
    """The code of a language, and a sentence that says why it is proposed.

    Args:
        workspace: may have the language that was chosen last.
        grid: the table; the columns of sentences in it tell their language.
        say: the words of the page, whose language is proposed, without a sentence, for want of
            better.
    """
    sheet = grid.items
    cells = [sheet.values(column) for column in range(sheet.width)]
    sentences = [cell for of in cells if profile(of).kind == "sentences" for cell in of]
    if code := guessed_language(sentences):
        return code, say("edit.language-guessed", language=say.named("language", code))
    if code := _last(workspace):
        return code, say("edit.language-last", language=say.named("language", code))
    return say.language, ""


def remember(workspace: Workspace, code: str) -> None:
    """Keep the language that somebody has chosen, to propose it the next time."""
    if code in NAMES:
        write_text(f"{code}\n", workspace.folder / _FILE)


def _last(workspace: Workspace) -> str:
    """The language that was chosen last in a workspace; empty where none was."""
    path = workspace.folder / _FILE
    try:
        code = read_utf8(path).strip() if is_plain_file(path) else ""
    except CimentoError:
        return ""
    return code if code in NAMES else ""
