"""``cimento run``, and the parts shared by all commands that ask models."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from cimento.cli.console import NOT_REACHED, note, show
from cimento.cli.flags import Given, command_of, neutralize, options_of, refuse_file_name
from cimento.cli.lm_eval import model_from_lm_eval
from cimento.cli.run_file import CallOptions, LanguageOptions, is_of_language, with_run_file
from cimento.errors import MissingDependencyError, UsageError
from cimento.io.files import expanded, matches_of, need_writable, write_text
from cimento.report.grid import GRID_FORMS

if TYPE_CHECKING:
    from cimento.evaluation import Failure
    from cimento.kinds.run import Run
    from cimento.report.figures import Figure


OptionsT = TypeVar("OptionsT", bound=LanguageOptions)


def run_command(action: Callable[[OptionsT], int]) -> Callable[..., Callable[[], int | None]]:
    """A command with the options of a run.

    Args:
        action: function of `LanguageOptions`, or of a subclass with the options of the command.
    """
    model = options_of(action)

    def read(given: Given) -> Given:
        stated = dict(with_run_file(model, model_from_lm_eval(given)))
        if isinstance(suites := stated.get("suites"), list | tuple):
            stated["suites"] = [match for name in suites for match in matches_of(str(name))]
        _refuse_file(stated.get("output"))
        _refuse_swapped(stated, command=action.__name__)
        of_language = stated.get("language") or stated.get("all_languages")
        needed = (("suites", "SUITE"), *((("models", "--model"),) * model.NEEDS_MODELS))
        for name, where in needed:
            if not (stated.get(name) or (name == "suites" and of_language)):
                raise UsageError(
                    where=where,
                    seen=f"no {name} are given",
                    todo="Give SUITE... -m MODEL..., or a run file that names them; --language CODE"
                    " without SUITE means all sets and suites of a language.",
                )
        return stated

    return command_of(action, read=read)


def _refuse_file(output: object) -> None:
    """See that runs are not to be stored in a folder that is called like a file.

    Raises:
        UsageError: they are.
    """
    refuse_file_name(
        Path(str(output or "")),
        holds="runs are",
        then="; then `cimento report {folder} -o FILE` writes a page or a table",
    )


def _refuse_swapped(stated: Given, *, command: str) -> None:
    """Refuse models in the place of suites, and suites in the place of models.

    Raises:
        UsageError: there is one; or no model is given, and the name of a suite may be that of one.
        InputError: no model is given, and a suite does not exist.
    """
    from cimento.models.hf.names import holds_model, is_model_here, is_of_hub
    from cimento.suites.builtin import find_suite

    suites, models = (
        [str(name) for name in cast("Sequence[object]", stated.get(kind) or ())]
        for kind in ("suites", "models")
    )
    unknown = [
        name
        for name in suites
        if (is_model_here(name) or not expanded(name).exists()) and not _is_suite_here(name)
    ]
    as_models = [
        name
        for name in models
        # `hf:gpt2` after -m is meant as a model, though data sets have this prefix.
        if not (is_model_here(name) or is_of_hub(name) or holds_model(expanded(name).parent))
        and _is_suite_here(name)
    ]
    as_suites = [name for name in unknown if as_models or is_model_here(name)]
    if not models and len(unknown) == 1 < len(suites):
        as_suites = unknown
    if not (as_suites or as_models):
        for name in () if models else unknown:
            find_suite(name)
        return
    suites = [name for name in suites if name not in as_suites] + as_models
    models = [name for name in models if name not in as_models] + as_suites
    flags = shlex.join(word for model in models for word in ("-m", model))
    wrong = [f"{name!r} is a suite, and comes after -m" for name in as_models]
    wrong += [
        f"{name!r} is a model, and is in the place of a suite"
        if is_model_here(name)
        else f"no suite is called {name!r}"
        for name in as_suites
    ]
    raise UsageError(
        where="SUITE" if as_suites else "--model",
        seen="; ".join(wrong),
        todo="Suites come first, models after -m. Did you mean"
        f" `cimento {command} {shlex.join(suites) or 'SUITE'} {flags or '-m MODEL'}`?",
    )


def _is_suite_here(name: str) -> bool:
    """Whether a name is that of a suite that is known, or a path of one."""
    from cimento.suites.builtin import is_builtin
    from cimento.suites.published import is_published

    if is_builtin(name):
        return True
    if not expanded(name).exists():
        return is_published(name)
    # The readers of suites take longer to import than a stored run to be shown.
    from cimento.suites.load import suite_files

    return bool(suite_files(expanded(name)))


@run_command
def run(options: CallOptions) -> int:
    """Run suites on models, judge the answers, store everything and print a table.

    A run that is already stored is shown and not repeated. If there are several measures, the run
    is stored with the first. A run file names suites, models and options; the command line
    overrides it. Without SUITE, --language CODE runs every published set of the
    language, our starter suites and generated drafts; --sets chooses among them.
    """
    from cimento.cli.evaluating import (
        PART_MISSING,
        evaluate_with_progress,
        partly_scored,
        report_failures,
        runs_under,
        show_ends,
    )
    from cimento.engine.engines import Engine, parse_share

    if is_of_language(options):
        from cimento.cli.language import run_languages

        return run_languages(options)
    _refuse_together(options)
    if options.sensitivity:
        _refuse_sensitivity(options)
    _need_targets(options)
    share = None if options.share is None else parse_share(options.share)
    engine = Engine(name=options.engine, workers=options.workers, share=share)
    runs, failures = evaluate_with_progress(options.suites, options.models, options, engine=engine)
    if share is not None:
        if not failures:
            note(
                f"cimento: share {options.share} is done. When all are, merge the runs:"
                " cimento cluster collect, with the same suites, models and options."
            )
        return report_failures([share], failures)
    code = show_ends(
        runs, failures, output=options.output, as_json=options.as_json, dtype=options.dtype
    )
    if options.sensitivity and code == 0:
        _show_sensitivity(options)
    under = runs_under(runs, options.fail_under)
    _note_all(filter(None, under))
    _write_logs(runs, under, failures, options)
    if code == 0 and any(under):
        return NOT_REACHED
    gated = options.fail_under is not None and not options.allow_partial
    unscored = partly_scored(runs) if gated else []
    _note_all(unscored)
    return PART_MISSING if code == 0 and unscored else code


def _note_all(lines: Iterable[str]) -> None:
    """Print what keeps a run from counting as a success."""
    for line in lines:
        note(f"cimento: {line}")


def _refuse_together(options: CallOptions) -> None:
    """Check that everything requested in addition to the runs can be made.

    Raises:
        UsageError: a request needs complete runs, or a folder, that this command does not make.
    """
    asked = {
        "--fail-under": options.fail_under is not None,
        "--junit": options.junit is not None,
        "--log-samples": options.log_samples,
    }
    for name in (name for name, is_asked in asked.items() if is_asked and options.share):
        raise UsageError(
            where=name,
            seen="it needs whole runs, and --share makes a part of one",
            todo="Leave --share out, or run again after cimento cluster collect.",
        )


def _need_targets(options: CallOptions) -> None:
    """Check that everything can be written that is written after the runs.

    Raises:
        StorageError: something cannot.
    """
    if options.junit is not None:
        need_writable(options.junit)
    if options.log_samples:
        need_writable(_logs_of(options), is_folder=True)
    folder = options.output
    if options.sensitivity and folder is not None:
        from cimento.report.grid import GRID_FORMS

        for end in GRID_FORMS:
            need_writable(folder / f"sensitivity{end}")
            need_writable(folder / f"specifications{end}")


def _logs_of(options: CallOptions) -> Path:
    """The folder of logs as lm-eval writes them."""
    return (options.output or Path("runs")) / "lm-eval"


def _write_logs(
    runs: Sequence[Run], under: Sequence[str], failures: Sequence[Failure], options: CallOptions
) -> None:
    """Write the runs for other programs, if requested, and report where.

    Raises:
        StorageError: a file cannot be written.
    """
    if options.junit is not None:
        from cimento.export.junit import write_junit

        path = write_junit(
            zip(runs, under, strict=True),
            options.junit,
            least=options.fail_under,
            whole=options.fail_under is not None and not options.allow_partial,
            failures=failures,
        )
        note(f"JUnit XML: {path}")
    if options.log_samples and runs:
        from cimento.export import export

        written = export(runs, "lm-eval", _logs_of(options))
        folders = dict.fromkeys(str(path.parent) for path in written)
        note(f"Logs as lm-eval writes them: {', '.join(folders)}")


def _refuse_sensitivity(options: CallOptions) -> None:
    """Check that a table of sensitivity can be made and printed.

    Raises:
        UsageError: the table cannot be made or printed.
    """
    from cimento.kinds.registry import load_suites

    loaded = list(load_suites(options.suites, language=options.language, columns=options.roles))
    others = [one.paradigm.name for one in loaded if one.sentences is None]
    remote = [model for model in options.models if ":" in model]
    refusals = (
        (
            others,
            f"{', '.join(dict.fromkeys(others))} suites are not judged by formulas",
            "Give other suites.",
        ),
        (
            remote,
            f"{', '.join(remote)} is not loaded here",
            "Give a name on the hub or a folder; of a stored run: report RUN --table sensitivity.",
        ),
        (
            options.share,
            "it needs whole runs, and --share makes a part of one",
            "Leave --share out.",
        ),
        (
            options.as_json,
            "--json prints one document, the summary",
            "Leave --json out: -o gets the table as sensitivity.json.",
        ),
    )
    for holds, seen, todo in refusals:
        if holds:
            raise UsageError(where="--sensitivity", seen=seen, todo=todo)


def _show_sensitivity(options: CallOptions) -> None:
    """Print tables of verdicts and of results under other choices, and write them to the runs."""
    from cimento.cli.evaluating import opened_cache
    from cimento.compare.robustness_tables import sensitivity_grid
    from cimento.evaluation.sensitivity import (
        sensitivities,
        specification_results,
        specified_runs,
    )
    from cimento.report.terminal import on_terminal

    with opened_cache(keep_answers=not options.no_cache) as cache:
        rows = sensitivities(options.suites, options.models, options, cache=cache)
        runs = specified_runs(options.suites, options.models, options, cache=cache, remark=note)
    curves, figures = specification_results(runs)
    grids = {"sensitivity": sensitivity_grid(rows)} if rows else {}
    grids |= {"specifications": curves} if curves else {}
    for grid in grids.values():
        show("\n" + on_terminal(grid))
    folder = options.output
    if folder is None:
        return
    paths = [
        write_text(form(grid), folder / f"{name}{end}")
        for name, grid in grids.items()
        for end, form in GRID_FORMS.items()
    ]
    neutralize(paths)
    paths += _draw_curves(figures, folder)
    note(f"The tables are also in {folder}: {', '.join(path.name for path in paths)}")


def _draw_curves(figures: Callable[[], Sequence[Figure]], folder: Path) -> list[Path]:
    """Draw a figure for each suite and model, where drawing is installed."""
    try:
        drawn = figures()
        ends = [f"-{number}" for number in range(1, len(drawn) + 1)] if drawn[1:] else [""]
        return [
            figure.write(folder / f"specifications{end}.svg")
            for end, figure in zip(ends, drawn, strict=False)
        ]
    except MissingDependencyError as error:
        note(f"cimento: the figure is not drawn: {error}")
        return []
