"""What the commands on stored runs share: which runs, and how tables are written."""

from __future__ import annotations

from pathlib import Path

from cimento.options import Options, option


class StoredOptions(Options):
    """Stored runs."""

    runs: tuple[Path, ...] = option(..., "Run folders, or folders of runs.")


class TableOptions(StoredOptions):
    """Stored runs, and what is made of them in files."""

    seed: int = option(0, "Seed of the simulated chance levels.")
    spreadsheet_safe: bool = option(
        default=False, help="In CSV, an apostrophe before cells that begin a formula."
    )
