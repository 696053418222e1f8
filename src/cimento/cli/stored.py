"""``cimento judge``, ``rerun``, ``export`` and ``cite``: what is done with stored runs."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cite import bibtex, cited_works, methods_paragraph
from cimento.cite.methods import ParagraphForm
from cimento.cite.preregistration import (
    deviations,
    preregistration_sheet,
    read_preregistration,
)
from cimento.cli.console import deliver, json_text, note, show, show_json, show_tables
from cimento.cli.flags import SheetOptions, StoredOptions, command_of
from cimento.documents import versions_apart
from cimento.errors import UsageError, counted
from cimento.export import ExportTarget
from cimento.export import export as write_runs
from cimento.io.declared import Texts, option
from cimento.io.files import need_writable, write_bytes
from cimento.io.inline_markup import columns, printable
from cimento.kinds.clusters import with_clusters
from cimento.kinds.packages import other_versions
from cimento.kinds.run import open_runs
from cimento.models.hf.arguments import (
    ALLOW_PICKLE,
    TRUST_CODE,
    as_options,
    parse_model_args,
    parse_tokenizer_args,
)
from cimento.options import Arguments, JudgingOptions, run_option
from cimento.paired.item_outcomes import labeled_apart, on_each_measure
from cimento.report.word import paragraphs_docx

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from cimento.evaluation.reproduce import FileRepeat
    from cimento.kinds.run import Run
    from cimento.records.store import RunFolder
    from cimento.suites import JsonValue


class JudgeOptions(StoredOptions, JudgingOptions):
    """The runs to judge again, and the new options."""

    as_json: bool = option(default=False, help="Print the summary as JSON.", flags=("--json",))
    items: bool = option(default=False, help="Print the verdict of every item (TSV).")
    scores: bool = option(default=False, help="Print the measures of every sentence (TSV).")
    output: Path | None = option(None, "Folder in which the judged runs are stored.", flags=("-o",))


@command_of
def judge(options: JudgeOptions) -> int:
    """Judge stored answers again, with another metric, measure, unit, prediction or dictionary.

    Options that are not given stay as in the run. Nothing is scored, and the stored runs are not
    changed: -o is another folder, where no other run is replaced either.
    """
    from cimento.cli.evaluating import show_ends
    from cimento.evaluation.honored import refuse_unused, unused_options
    from cimento.kinds.replacing import new_folders, refuse_replacing

    stored = open_runs(options.runs)
    refuse_unused((run.paradigm for run in stored), options)
    for line in unused_options(stored, options):
        note(f"cimento: {line}")
    # What is stored, and JSON, where a run has its options and its folder, keep the plain labels.
    plain = options.output is not None or options.as_json
    opened = [_judged(run, options) for run in (stored if plain else _told_apart(stored))]
    if options.scores:
        _show_scores(opened, options)
        return 0
    judged = [measured for run in opened for measured in on_each_measure(run, options.measures)]
    if options.output is not None:
        if len(judged) > len(opened):
            raise UsageError(
                where="--output",
                seen="a run is stored with one judging, and there are several measures",
                todo="Give one measure.",
            )
        folders = new_folders(judged, options.output)
        refuse_replacing(judged, folders)
        judged = [run.save(folder) for run, folder in zip(judged, folders, strict=True)]
    if options.items:
        show_tables(_with_model(run.outcomes(), run) for run in judged)
        return 0
    return show_ends(judged, (), output=None, as_json=options.as_json)


def _judged(run: Run, options: JudgeOptions) -> Run:
    """A run with the given options that its paradigm has, except measures.

    Raises:
        UsageError: an option has an invalid value, or would change the requests.
    """
    known = type(run.options).model_fields.keys() - {"measure", "also"}
    given = {name: value for name, value in options.given.items() if name in known}
    return run.judged(given)


def _show_scores(runs: Sequence[Run], options: JudgeOptions) -> None:
    """Print the measures of every sentence.

    Raises:
        UsageError: no run has scored sentences.
    """
    tables = [(run, run.paradigm.judge.sentence_scores(run, options.measures)) for run in runs]
    scored = [_with_model(table, run) for run, table in tables if table is not None]
    if not scored:
        kinds = ", ".join(dict.fromkeys(run.paradigm.name for run in runs))
        raise UsageError(
            where="--scores",
            seen=f"runs of the kind {kinds} have no scored sentences",
            todo="Give runs of regions or ratings; --items prints what became of every item.",
        )
    show_tables(scored)


def _with_model(table: pl.DataFrame, run: Run) -> pl.DataFrame:
    """A table of one run with its model in the second column."""
    import polars as pl

    return table.select("suite", pl.lit(run.model).alias("model"), pl.exclude("suite"))


def _told_apart(runs: Sequence[Run]) -> list[Run]:
    """Runs whose labels differ within a suite: by options, version of the suite or folder."""
    labeled = labeled_apart(versions_apart(runs))
    counts = Counter((run.suite.name, run.model) for run in labeled)
    return [
        replace(run, manifest={**run.manifest, "label": f"{run.model} ({run.folder})"})
        if counts[run.suite.name, run.model] > 1
        else run
        for run in labeled
    ]


DIFFERS = 1


class RerunOptions(StoredOptions):
    """The runs to repeat, the places of their models, and what these are allowed to do."""

    output: Path = option(Path("reruns"), "Folder of runs for the repetitions.", flags=("-o",))
    model: str = option("", "Where the model is now, if it has moved.", flags=("-m",))
    device: str = option("", "Another device than the run's own.")
    model_args: Arguments = run_option("model_args")
    tokenizer_args: Arguments = run_option("tokenizer_args")
    allow_pickle: bool = run_option("allow_pickle")
    trust_remote_code: bool = run_option("trust_remote_code")
    prereg: Path | None = option(
        None, "First say how the runs differ from this sheet (cite --prereg)."
    )
    as_json: bool = run_option("as_json")


@command_of
def rerun(options: RerunOptions) -> int:
    """Rerun stored runs, from their manifests and copies of their suites, and compare.

    Servers, options for transformers and trust are not taken from a manifest: give them again.
    Nothing is taken from the cache. Plug-ins whose installed version is another one are named. The
    exit code is 0 if all tables agree, with numbers equal within the precision of the model's
    number format, and 1 otherwise; also 1 if --prereg is given and the runs deviate from the sheet.
    """
    from cimento.kinds.replacing import new_folders, refuse_replacing_others

    runs = open_runs(options.runs)
    strayed = (
        [] if options.prereg is None else deviations(read_preregistration(options.prereg), runs)
    )
    for line in strayed:
        note(f"cimento: not as preregistered: {line}")
    if options.prereg is not None and not strayed:
        note(f"cimento: all runs are as {options.prereg} has it.")
    args = parse_model_args(
        options.model_args,
        allow_pickle=options.allow_pickle,
        trust_remote_code=options.trust_remote_code,
    )
    folders = new_folders(runs, options.output)
    refuse_replacing_others(runs, folders)
    plugins = {str(run.folder): [*other_versions(run.manifest)] for run in runs}
    for name, remarks in plugins.items():
        for remark in remarks:
            note(printable(f"cimento: {name}: {remark}"))
    repeated = {
        str(run.folder): _repeat(run, folder, options, args)
        for run, folder in zip(runs, folders, strict=True)
    }
    if options.as_json:
        show_json({"runs": repeated, "plugins": plugins})
    else:
        show("\n\n".join(_as_text(name, files) for name, files in repeated.items()))
    same = all(file.same for files in repeated.values() for file in files)
    return 0 if same and not strayed else DIFFERS


def _repeat(
    run: Run, folder: RunFolder, options: RerunOptions, args: Mapping[str, JsonValue]
) -> tuple[FileRepeat, ...]:
    """The comparison of the tables of a repeated run with those of the run."""
    from cimento.evaluation.reproduce import asking_of, compare_runs, model_of, repeat_run

    where = str(run.folder)
    model = options.model or model_of(run.manifest, where=where)
    of_tokenizer = parse_tokenizer_args(options.tokenizer_args)
    scoring = asking_of(run.manifest, where=where, model_args=args, tokenizer_args=of_tokenizer)
    if not options.model:
        _refuse_trust(model, args)
        if Path(model).is_absolute() and not Path(model).exists():
            raise UsageError(
                where=where,
                seen=f"its model was {model}, and there is nothing there now",
                todo="Say where the model is with -m.",
            )
    if options.device:
        scoring = replace(scoring, device=options.device)
    if not options.model:
        note(printable(f"{where}: the model is {model}, as its manifest says"))
    return compare_runs(run, repeat_run(run, folder, model=model, scoring=scoring))


def _refuse_trust(model: str, args: Mapping[str, JsonValue]) -> None:
    """Refuse to trust a model that is named only by a manifest.

    Raises:
        UsageError: a model that the manifest names would be trusted with code or pickles.
    """
    trust = {key: True for key in (ALLOW_PICKLE, TRUST_CODE) if key in args}
    if trust:
        raise UsageError(
            where=as_options(trust),
            seen=f"the model that would be trusted is named by a manifest only: {model}",
            todo=f"If you trust it, name it yourself: -m {shlex.quote(model)}",
        )


def _as_text(name: str, files: tuple[FileRepeat, ...]) -> str:
    words = {True: "same", False: "differs"}
    rows = [
        (file.name, words[file.same] if file.largest is None else "equal", file.remark)
        for file in files
    ]
    differing = sum(not file.same for file in files)
    apart = max((file.largest for file in files if file.largest is not None), default=None)
    summary = f"{differing} of {len(files)} differ" if differing else "everything agrees"
    if apart is not None and not differing:
        summary += f" within the precision of the number format: {apart:.2g} apart at most"
    return f"{name}\n{columns(rows, indent=2)}\n{summary}"


class ExportOptions(StoredOptions, SheetOptions):
    """The runs to write, and the format."""

    output: Path = option(..., "A folder.", flags=("-o",))
    to: ExportTarget = option(
        ...,
        "lm-eval, inspect, every-eval-ever, hf-dataset, eval-results or r (CSV). For Excel:"
        " cimento report RUN --table results -o FILE.xlsx.",
    )
    cluster: Texts = run_option("cluster")
    organization: str = option("", "Who evaluated, for every-eval-ever.")
    dataset: str = option(
        "", "The benchmark on the hub; eval-results needs it.", metavar="OWNER/NAME"
    )
    source: str = option("", "Where results are explained, for eval-results.", metavar="URL")


@command_of
def export(options: ExportOptions) -> None:
    """Write stored runs for other programs.

    lm-eval: results and samples in the form of lm-evaluation-harness logs. inspect: logs of
    Inspect. every-eval-ever: records of that schema. hf-dataset: a dataset folder with its card.
    eval-results: files for the model cards of the Hugging Face hub, of runs of suites that were
    fetched from the benchmark --dataset. r: tables and a script that
    fits mixed models.
    """
    opened = with_clusters(open_runs(options.runs), options.cluster)
    written = write_runs(
        opened,
        options.to,
        options.output,
        organization=options.organization,
        dataset=options.dataset,
        source=options.source,
    )
    options.neutralize(*written)
    show("\n".join(map(str, written)))
    note(f"{counted(len(opened), 'run is', 'runs are')} in {options.output}.")


class CiteOptions(StoredOptions):
    """The runs to cite, and the form."""

    methods: bool = option(default=False, help="Print the methods paragraph instead of BibTeX.")
    appendix: bool = option(
        default=False, help="Print the whole protocol, alone or after the paragraph."
    )
    form: ParagraphForm = option(
        "text", "Format of paragraphs: text, markdown or latex.", flags=("--format",)
    )
    prereg: bool = option(
        default=False,
        help="Print a preregistration sheet: the suites, measures and contrasts of pilot runs.",
    )
    as_json: bool = option(
        default=False, help="Print references and paragraphs as JSON.", flags=("--json",)
    )
    output: Path | None = option(
        None, "A file (UTF-8), or of paragraphs .docx; else printed.", flags=("-o",)
    )


@command_of
def cite(options: CiteOptions) -> None:
    r"""Print BibTeX for the suites, measures and methods of stored runs, or a methods paragraph.

    The keys of the entries are those in the paragraph, as [@key] in Markdown (pandoc) and
    \citep{key} in LaTeX (natbib). In plain text, the references follow the paragraph.
    """
    if options.output is not None:
        _refuse_ending(options, options.output)
        need_writable(options.output)
    text = _citation(options)
    if options.output is None or options.output.suffix.lower() != _WORD:
        deliver(text, options.output)
        return
    lines = (line.removeprefix("- ") for line in text.splitlines() if line)
    note(f"Written: {write_bytes(paragraphs_docx(lines), options.output)}")


_WORD = ".docx"
_NO_TEXT = {_WORD, ".doc", ".odt", ".rtf", ".pdf", ".xlsx", ".html"}
"""Endings of files that are not plain text."""


def _refuse_ending(options: CiteOptions, output: Path) -> None:
    """See that the file can have this ending.

    Raises:
        UsageError: it stands for another form than what is asked for.
    """
    ending = output.suffix.lower()
    paragraphs = (options.methods or options.appendix) and options.form == "text"
    if ending == _WORD and paragraphs and not (options.as_json or options.prereg):
        return
    if ending in _NO_TEXT:
        raise UsageError(
            where=f"--output={output}",
            seen=f"this is not written as {ending}",
            todo="Write BibTeX as .bib, paragraphs (--methods) as .docx, .txt, .md or .tex, the"
            " sheet (--prereg) as .toml, and --json as .json.",
        )


def _citation(options: CiteOptions) -> str:
    """What is asked for: BibTeX, paragraphs, the sheet, or everything as JSON.

    Raises:
        UsageError: two options contradict each other.
        InputError: a run cannot be read.
    """
    if options.prereg:
        if options.methods or options.appendix or options.as_json:
            raise UsageError(
                where="--prereg",
                seen="a sheet is printed alone",
                todo="Leave out --methods, --appendix and --json.",
            )
        return preregistration_sheet(open_runs(options.runs))
    written = [name for name in ("methods", "appendix") if getattr(options, name)]
    if options.form != "text" and not written:
        raise UsageError(
            where="--format",
            seen="it is the form of paragraphs, and BibTeX has one form only",
            todo="Add --methods or --appendix, or leave --format out.",
        )
    opened = open_runs(options.runs)
    paragraphs = {
        name: methods_paragraph(opened, form=options.form, appendix=name == "appendix")
        for name in written
    }
    in_text = None if len(written) != 1 else options.appendix
    cited = cited_works(opened, appendix=in_text)
    if options.as_json:
        works = [{**asdict(work), "line": work.line, "bibtex": bibtex([work])} for work in cited]
        return json_text({"references": works, "methods": None, "appendix": None, **paragraphs})
    if not written:
        return bibtex(cited).rstrip("\n")
    parts = [*paragraphs.values()]
    if options.form == "text":
        parts.append("References\n\n" + "\n".join(f"- {work.line}" for work in cited))
    return "\n\n".join(parts)
