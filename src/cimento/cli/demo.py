"""``cimento demo``: everything once, offline, on the embedded models and suites."""

from __future__ import annotations

from pathlib import Path

from cimento.cli import options


def demo(
    output: options.Output = Path("cimento-demo"),
    *,
    json: options.Json = False,
) -> int:
    """Run the starter suites of sentences on the two demo models and write a report, offline.

    The demo models are small and know little: they are for trying the tool, not for science.
    """
    from cimento.cli.console import note
    from cimento.cli.evaluating import evaluate_with_progress, show_ends
    from cimento.models.hf.files import DEMO_MODELS
    from cimento.options import RunOptions
    from cimento.report.document import report as write_report
    from cimento.suites.builtin import builtin_names
    from cimento.suites.kinds import REGIONS

    run_options = RunOptions(device="cpu", all_tokens=True, output=output, no_cache=True)
    runs, failures = evaluate_with_progress(builtin_names(kind=REGIONS), DEMO_MODELS, run_options)
    code = show_ends(runs, failures, output=None, as_json=json)
    page = output / "report.html"
    write_report(runs, page)
    note(f"Open this page in a browser: {page.resolve()}")
    return code
