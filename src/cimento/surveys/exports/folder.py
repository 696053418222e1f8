"""A folder with a design and everything made from it."""

from __future__ import annotations

from pathlib import Path

from cimento.errors import UsageError
from cimento.io.files import write_text
from cimento.surveys.design import FILE, Design, read_design, write_design

_MADE = ("forms/survey-*.csv", "print/survey-*.html")
"""What another design may have more of."""


def write_folder(design: Design, folder: Path, *, force: bool = False) -> list[Path]:
    """Write the design, tables for forms, pages to print, a jsPsych and a PCIbex experiment.

    Args:
        design: what is written.
        folder: where to.
        force: take the place of another design, and of all that was made from it.

    Returns:
        The files, in the order in which they were written.

    Raises:
        UsageError: there is another design.
        StorageError: the folder cannot be written.
    """
    from cimento.surveys.exports import jspsych, pages, pcibex, tables

    if not force and (folder / FILE).exists() and read_design(folder) != design:
        raise UsageError(
            where=str(folder),
            seen="holds another design, which people may have answered already",
            todo="Name another folder, or give --force to replace it.",
        )
    files = {
        **{f"forms/{name}": text for name, text in tables.form_tables(design).items()},
        **{f"print/{name}": text for name, text in pages.printed(design).items()},
        **{f"jspsych/{name}": text for name, text in jspsych.experiment(design).items()},
        "pcibex/main.js": pcibex.script(design),
    }
    written = [
        write_design(design, folder / FILE),
        *(write_text(text, folder / name) for name, text in files.items()),
    ]
    for earlier in {path for pattern in _MADE for path in folder.glob(pattern)} - {*written}:
        earlier.unlink()
    return written
