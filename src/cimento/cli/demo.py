"""``cimento demo``: everything once, offline, on the embedded models and suites."""

from __future__ import annotations

from pathlib import Path

from cimento.cli import options


def demo(
    output: options.Output = Path("cimento-demo"),
    *,
    json: options.Json = False,
) -> int:
    """Run every starter suite on the two demo models and write a report, offline.

    The demo models are small and know little: they are for trying the tool, not for science.
    """
    from cimento.cli.console import note, show
    from cimento.cli.evaluating import evaluate_with_progress, report_failures, show_table
    from cimento.judging import Judging
    from cimento.models.locate import DEMO_MODELS
    from cimento.regions_api import Evaluation
    from cimento.report.summary import to_json
    from cimento.reporting import write_report
    from cimento.results import summarise
    from cimento.sources import Asking
    from cimento.suites.builtin import builtin_names
    from cimento.suites.kinds import REGIONS

    evaluation = Evaluation(
        asking=Asking(device="cpu", all_tokens=True), judging=Judging(), output=output
    )
    runs, failures = evaluate_with_progress(
        builtin_names(kind=REGIONS), DEMO_MODELS, evaluation, keep_answers=False
    )
    summary = summarise(runs)
    if json:
        show(to_json(summary))
    else:
        show_table(summary)
    page = output / "report.html"
    write_report(runs, page)
    note(f"Open this page in a browser: {page.resolve()}")
    return report_failures(runs, failures)
