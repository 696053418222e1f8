"""``cimento plan``: what a run would do and cost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cimento.cli.run_options import kind_run, run_command
from cimento.options import RunOptions

if TYPE_CHECKING:
    from cimento.scheduling.estimating import ModelEstimate
    from cimento.scheduling.work import Work
    from cimento.suites.model import JsonValue

_MINUTE, _HOUR = 60, 3600


def _plan(options: RunOptions) -> int:
    """Say what a run would do, before anything is loaded or computed.

    Times and memory are estimates: from earlier units of the same model, else from its size.
    """
    from cimento.cli.console import show
    from cimento.cli.kinds import suites_by_kind
    from cimento.engine.cache import FileCache, default_cache_folder
    from cimento.engine.engines import visible_gpus
    from cimento.scheduling.estimating import estimate
    from cimento.scheduling.work import plan_work
    from cimento.suites.kinds import REGIONS

    how = kind_run(options)
    by_kind = suites_by_kind(options.suites)
    regions = by_kind.pop(REGIONS, [])
    others: dict[str, JsonValue] = {kind: list(names) for kind, names in by_kind.items()}
    gpu = how.device(options.models) != "cpu" and bool(visible_gpus())
    cache = FileCache(default_cache_folder()) if how.keep_answers else None
    try:
        with plan_work(regions, options.models, how.evaluation, keep=how.keep_answers) as work:
            found = estimate(work, cache, gpu=gpu)
    finally:
        if cache is not None:
            cache.close()
    if how.as_json:
        show(json.dumps(_plain(work, found, others), ensure_ascii=False, indent=2))
    else:
        show(_text(work, found, others, gpu=gpu))
    return 0


plan = run_command(RunOptions, _plan)


def _plain(
    work: Work, found: list[ModelEstimate], others: dict[str, JsonValue]
) -> dict[str, JsonValue]:
    suites: list[JsonValue] = [
        {
            "suite": part.name,
            "items": part.items,
            "texts": part.texts,
            "new_texts": sum(part.shards.values()),
            "problem": str(part.error) if part.error else "",
        }
        for part in work.parts
    ]
    models: list[JsonValue] = [each.plain() for each in found]
    return {"plan": 1, "suites": suites, "models": models, "asked_whole": others}


def _text(
    work: Work, found: list[ModelEstimate], others: dict[str, JsonValue], *, gpu: bool
) -> str:
    from cimento.markup import columns

    suites = [("suite", "items", "texts", "new")]
    suites += [
        (
            part.name,
            str(part.items),
            str(part.texts),
            str(sum(part.shards.values())),
        )
        for part in work.parts
    ]
    models = [("model", "texts", "units", "done", "tokens", "kept", "time", "memory")]
    models += [
        (
            each.model,
            str(each.texts),
            str(each.units) if each.units else "-",
            str(each.done) if each.units else "-",
            "-" if each.tokens is None else f"{each.tokens:,}",
            "-" if each.kept is None else str(each.kept),
            "-" if each.seconds is None else f"{_time(each.seconds)} ({each.by})",
            "-" if each.memory_bytes is None else f"{each.memory_bytes / 1e9:.1f} GB",
        )
        for each in found
    ]
    device = "one GPU" if gpu else "the processors here"
    lines = [
        *([columns(suites), ""] if len(suites) > 1 else []),
        columns(models),
        "",
        "new: texts that no suite before asks. kept: texts whose answers are in the cache.",
        f"time and memory are rough estimates for {device}: from earlier units of the model, or",
        "from its size (2 operations for each parameter and token).",
        *(f"{kind}, asked whole: {', '.join(map(str, names))}" for kind, names in _lists(others)),
        *(f"{each.model}: {each.problem}" for each in found if each.problem),
        *(f"{part.name}: {part.error}" for part in work.parts if part.error),
    ]
    return "\n".join(lines)


def _lists(others: dict[str, JsonValue]) -> list[tuple[str, list[JsonValue]]]:
    return [(kind, names) for kind, names in others.items() if isinstance(names, list)]


def _time(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / _MINUTE:.0f} min" if seconds < _HOUR else f"{seconds / _HOUR:.1f} h"
