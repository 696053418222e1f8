"""``cimento demo`` and ``cimento app``: where one starts, in the terminal and in the browser."""

from __future__ import annotations

import webbrowser
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from cimento.cli.console import note, show
from cimento.cli.flags import command_of
from cimento.documents.findings import findings_of
from cimento.errors import needing
from cimento.io.declared import Options, option
from cimento.io.inline_markup import columns
from cimento.options import RunOptions, run_option
from cimento.records.outcomes import missing
from cimento.report.formatting import interval
from cimento.report.overview import meanings

if TYPE_CHECKING:
    from cimento.evaluation import Failure
    from cimento.kinds.run import Run
    from cimento.records.outcomes import Estimate

_LONG = ("es-stories", "it-stories", "pt-stories")
"""Suites with prompts longer than the window of the masked demo model."""

_DEMO = (
    *("it-subject-verb", "it-subject-verb-adversarial", "es-subject-verb", "pt-subject-verb"),
    *("ru-subject-verb", "en-subject-verb", "it-acceptability", "it-connectives-cloze"),
    *("pt-idioms", "es-agreement-templates", "pt-grammar-templates", "ru-agreement-templates"),
    *_LONG,
)
"""One starter suite of each kind in each language, and one of the harder agreement suites."""


class DemoOptions(Options):
    """The suites of the demo, and the folder of its runs."""

    output: Path = option(Path("cimento-demo"), "Folder of runs.", flags=("-o",))
    everything: bool = option(
        default=False, help="Run all starter suites, in about two minutes.", flags=("--all",)
    )
    site: bool = option(default=False, help="Also write a site with a board.")
    as_json: bool = run_option("as_json")


@command_of
def demo(options: DemoOptions) -> int:
    """Run 15 starter suites in five languages on two demo models, offline, in a minute or two.

    A report covers all of them. The demo models are small and know little: they are for trying the
    tool, not for research.
    """
    from cimento.cli import evaluating
    from cimento.documents import report as write_report
    from cimento.kinds.registry import paradigm_of
    from cimento.models.hf.names import DEMO_MODELS
    from cimento.suites.builtin import builtin_names, find_suite

    output = options.output
    names = [*_DEMO, *(sorted({*builtin_names()} - {*_DEMO}) if options.everything else ())]
    whole = [name for name in names if "all_tokens" in paradigm_of(find_suite(name)).asker.scoring]
    others = [name for name in names if name not in {*whole, *_LONG}]
    causal, masked = DEMO_MODELS
    note(f"{len(names)} suites on {causal} and {masked} ...")
    usual = RunOptions(device="cpu", output=output, no_cache=True)
    runs: list[Run] = []
    failures: list[Failure] = []
    for suites, models, run_options in (
        (whole, DEMO_MODELS, usual.model_copy(update={"all_tokens": True})),
        (others, DEMO_MODELS, usual),
        (_LONG, [causal], usual),
    ):
        done, failed = evaluating.evaluate_with_progress(suites, models, run_options)
        runs += done
        failures += failed
    if options.as_json:
        code = evaluating.show_ends(runs, failures, output=None, as_json=True)
    else:
        code = evaluating.report_failures(runs, failures)
        evaluating.show_runs([run for run in runs if run.suite.name == names[0]])
        show(_in_short(runs))
    page = write_report(runs, output / "report.html")
    note(_NEXT.format(page=page.resolve(), output=output))
    if options.site:
        _write_site(runs, output / "site")
    return code


_NEXT = """
Next
  everything about each suite and item    open in a browser: {page}
  the two models, item by item            cimento compare {output}
  sentences of your own                   cimento suites new pairs mine.xlsx --language it
                                          cimento run mine.xlsx -m demo-causal
  a table that you have, with two columns cimento run pairs.xlsx --language it -m demo-causal
  a model of your own                     cimento run it-subject-verb -m FOLDER, or org/name of the
                                          Hugging Face hub"""


def _write_site(runs: Sequence[Run], folder: Path) -> None:
    """Write a site of the runs, and say where it begins."""
    from cimento.site import SiteSettings, write_site

    board = write_site(runs, folder, SiteSettings(title="Demo models")).page
    note(f"  a board, and pages of every suite       open in a browser: {board.resolve()}")


def _in_short(runs: Sequence[Run]) -> str:
    """The main number of each run, in a table of suites by models, and what they show."""
    headlines: dict[str, dict[str, Estimate]] = {}
    for run in runs:
        if (headline := run.summary().headline) is not None:
            headlines.setdefault(run.suite.name, {})[run.model] = headline
    models = list(dict.fromkeys(run.model for run in runs))
    rows = [("suite", "what", "n", *models, "chance")]
    for suite, of in headlines.items():
        first = next(iter(of.values()))
        chance = _NO_CHANCE if first.chance is None else f"{first.chance:.3f}"
        counts = sorted({estimate.n for estimate in of.values()})
        n = "-".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))
        rows.append((suite, _what(first), n, *(_cell(of.get(model)) for model in models), chance))
    about = map(_folded, _about(headlines, models))
    return "\n".join(["", "In short", columns(rows, indent=2), "", *about, "", *_said(runs)])


def _folded(line: str) -> str:
    return fill(line, 90, initial_indent="  ", subsequent_indent="    ")


def _said(runs: Sequence[Run]) -> list[str]:
    """What the runs show, in the sentences of a report."""
    said = findings_of(runs)
    parts = [f"{part.about}, {part.where}. {' '.join(part.sentences)}" for part in said.parts]
    return ["What they show", *map(_folded, (*parts, *said.notes))]


def _what(estimate: Estimate) -> str:
    """The name of a number: accuracy of predictions, or else what is right or correlated."""
    if not estimate.is_share or estimate.is_of_predictions:
        return estimate.statistic
    return estimate.question or estimate.statistic


_NOT_RUN, _UNDEFINED, _NO_CHANCE = "not run", "undefined", "none"


def _cell(estimate: Estimate | None) -> str:
    if estimate is None:
        return _NOT_RUN
    if estimate.value is None:
        return _UNDEFINED
    ends = interval(estimate.low, estimate.high, absent="no interval")
    return f"{estimate.value:.3f} {ends}"


def _about(headlines: Mapping[str, Mapping[str, Estimate]], models: Sequence[str]) -> list[str]:
    """Sentences on what the columns are, and why cells have no number."""
    shown = [estimate for of in headlines.values() for estimate in of.values()]
    kinds = {_what(estimate) for estimate in shown}
    named = meanings(replace(one, method="") for one in shown if one.is_share)
    lines = [
        "n: the items judged. In brackets: the 95% interval.",
        *(f"{kind}: {_KINDS[kind]}" for kind in _KINDS if kind in kinds),
        *([named] if named else []),
        *missing((estimate.value, estimate.low, estimate.reason) for estimate in shown),
    ]
    lacking = {suite for suite, of in headlines.items() if not {*models} <= {*of}}
    if lacking:
        long = "the prompts are longer than this model can read."
        lines.append(f"{_NOT_RUN}: {long if lacking <= {*_LONG} else 'see the messages above.'}")
    reasons = dict.fromkeys(estimate.chance_method for estimate in shown if estimate.chance is None)
    lines += [f"chance {_NO_CHANCE}: {reason}." for reason in reasons if reason]
    return lines


_KINDS = {
    "accuracy": "the proportion of items where the model does as the suite predicts.",
    "spearman": "whether sentences rated better are likelier, from -1 to 1.",
}
"""What the numbers are whose names `meanings` does not explain."""


class AppOptions(Options):
    """The folder, and where the page is."""

    folder: Path = option(
        Path("cimento-files"),
        "Folder of suites, runs and surveys, made if need be; cimento-files by default.",
        argument="[FOLDER]",
    )
    port: int = option(0, "Port of this machine; 0 for any that is free.", ge=0, le=65535)
    models: tuple[Path, ...] = option(
        (), "Another folder from which models may be loaded. May be repeated."
    )
    browser: bool = option(
        default=True, help="Open the browser.", flags=("--browser/--no-browser",)
    )
    shortcut: bool = option(
        default=False,
        help="Only put a file on the desktop that starts the app when you double-click it.",
    )


@command_of
def app(options: AppOptions) -> None:
    """Open a page in the browser to make suites, run models and read results.

    The page is on this machine only, at an address that nobody can guess, and works on files of one
    folder. Stop it with Ctrl-C; a run in progress continues, and its scores are kept.
    """
    if options.shortcut:
        _write_shortcut(options)
        return
    with needing("nicegui", extra="app", purpose="cimento app"):
        import nicegui as _  # noqa: F401  # before anything is written
    from cimento.app import listen, serve
    from cimento.app.workspace import Workspace

    workspace = Workspace(
        options.folder.expanduser().absolute(),
        tuple(folder.expanduser().absolute() for folder in options.models),
    )
    workspace.prepare()

    def opened(address: str, page: Path) -> None:
        note(f"The page is at {address}\nFiles: {options.folder}. Stop with Ctrl-C.")
        if options.browser:
            webbrowser.open(page.as_uri())  # others can read the arguments of a browser

    with listen(options.port) as listening:
        serve(workspace, listening, ready=opened)


def _write_shortcut(options: AppOptions) -> None:
    """Write the starter of an app with the same folders."""
    from cimento.app.starter import desktop, write_starter

    words = ["app", str(options.folder.expanduser().absolute())]
    words += [word for folder in options.models for word in ("--models", str(folder.absolute()))]
    note(f"Double-click to start: {write_starter(desktop(), words)}")
