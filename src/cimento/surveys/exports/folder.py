"""A folder with a design and everything made from it."""

from __future__ import annotations

from pathlib import Path

from cimento.files import write_text
from cimento.surveys.design import FILE, Design, write_design


def write_folder(design: Design, folder: Path) -> list[Path]:
    """Write the design, tables for forms, pages to print, a jsPsych and a PCIbex experiment.

    PCIbex is left out where a page asks several things.

    Returns:
        The files, in the order in which they were written.

    Raises:
        StorageError: the folder cannot be written.
    """
    from cimento.surveys.exports import jspsych, pages, pcibex, tables

    files = {
        **{f"forms/{name}": text for name, text in tables.form_tables(design).items()},
        **{f"print/{name}": text for name, text in pages.printed(design).items()},
        **{f"jspsych/{name}": text for name, text in jspsych.experiment(design).items()},
    }
    if len(design.fields) == 1:
        files["pcibex/main.js"] = pcibex.script(design)
    return [
        write_design(design, folder / FILE),
        *(write_text(text, folder / name) for name, text in files.items()),
    ]
