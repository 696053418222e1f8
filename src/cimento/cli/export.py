"""``cimento export`` and ``cite``: stored runs for other programs, and for a paper."""

from __future__ import annotations

from pathlib import Path

from cimento.cite import bibtex, methods_paragraph, references
from cimento.cite.methods import ParagraphForm
from cimento.cli.console import note, show
from cimento.cli.flags import SheetOptions, command_of
from cimento.cli.report import StoredOptions
from cimento.errors import UsageError, counted
from cimento.export import ExportTarget
from cimento.export import export as write_runs
from cimento.options import option
from cimento.runs.run import open_runs


class ExportOptions(StoredOptions, SheetOptions):
    """The runs to write, and the format."""

    output: Path = option(..., "A folder.", flags=("-o",))
    to: ExportTarget = option(..., "lm-eval, inspect, every-eval-ever, hf-dataset or r.")
    organization: str = option("", "Who evaluated, for every-eval-ever.")


def _export(options: ExportOptions) -> None:
    """Write stored runs for other programs.

    lm-eval: results and samples in the form of lm-evaluation-harness logs. inspect: logs of
    Inspect. every-eval-ever: records of that schema. hf-dataset: a dataset folder with its card. r:
    tables and a script that fits mixed models.
    """
    opened = open_runs(options.runs)
    written = write_runs(opened, options.to, options.output, organization=options.organization)
    options.neutralise(*written)
    show("\n".join(map(str, written)))
    note(f"{counted(len(opened), 'run is', 'runs are')} in {options.output}.")


export = command_of(ExportOptions, _export, positional="runs", metavar="RUN...")


class CiteOptions(StoredOptions):
    """The runs to cite, and the form."""

    methods: bool = option(default=False, help="Print the methods paragraph instead of BibTeX.")
    appendix: bool = option(
        default=False, help="Print the whole protocol, alone or after the paragraph."
    )
    form: ParagraphForm = option(
        "text", "Of paragraphs: text, markdown or latex.", flags=("--format",)
    )


def _cite(options: CiteOptions) -> None:
    r"""Print BibTeX for the suites, measures and methods of stored runs, or a methods paragraph.

    The keys of the entries are those in the paragraph, as [@key] in Markdown (pandoc) and
    \\citep{key} in LaTeX (natbib). In plain text, the references follow the paragraph.
    """
    written = [name for name in ("methods", "appendix") if getattr(options, name)]
    if options.form != "text" and not written:
        raise UsageError(
            where="--format",
            seen="it is the form of paragraphs, and BibTeX has one form only",
            todo="Add --methods or --appendix, or leave --format out.",
        )
    opened = open_runs(options.runs)
    if not written:
        show(bibtex(references(opened)).rstrip("\n"))
        return
    paragraphs = [
        methods_paragraph(opened, form=options.form, appendix=name == "appendix")
        for name in written
    ]
    show("\n\n".join(paragraphs))
    if options.form == "text":
        cited = references(opened, appendix=None if len(written) > 1 else options.appendix)
        show("\nReferences\n\n" + "\n".join(f"- {work.line}" for work in cited))


cite = command_of(CiteOptions, _cite, positional="runs", metavar="RUN...")
