"""The options that all studies share: models, the folder of results, and the form of tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.console import note
from cimento.cli.flags import SheetOptions, run_option, run_options_of
from cimento.options import Dtype, Limit, Texts, option
from cimento.studies.record import Form, write_parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cimento.options import RunOptions
    from cimento.report.grid import Grid
    from cimento.studies.record import Section


class StudyOptions(SheetOptions):
    """Models to ask, where results are written, and the form in which they are shown."""

    model: Texts = option(
        (),
        "Ask this model, and set its tables below the published rows; without released items, of"
        " our own. May be repeated.",
        flags=("-m",),
    )
    output: Path | None = option(
        None, "A folder for tables (.txt, .csv, .tex), figures and runs.", flags=("-o",)
    )
    limit: int | None = run_option("limit")
    device: str = run_option("device")
    dtype: Dtype = run_option("dtype")
    batch_size: Limit = run_option("batch_size")
    batch_tokens: Limit = run_option("batch_tokens")
    form: Form = option("text", "Of the tables: text, markdown, csv or latex.", flags=("--format",))
    as_json: bool = run_option("as_json")

    def run_options(self, **fixed: object) -> RunOptions:
        """The options of runs, which are stored below the folder of results if there is one.

        Args:
            fixed: options that the study sets itself.
        """
        place = {} if self.output is None else {"output": self.output / "runs"}
        return run_options_of(self, **fixed, **place)

    def write(
        self,
        parts: Mapping[str, Section | Grid | Sequence[Section | Grid]],
        figures: Sequence[Path] = (),
    ) -> None:
        """Write tables beside the figures, and say where they are; nothing without a folder."""
        if self.output is None:
            return
        written = write_parts(parts, self.output)
        self.neutralise(*written)
        names = ", ".join(path.name for path in (*written, *figures))
        note(f"Written to {self.output}: {names}")
