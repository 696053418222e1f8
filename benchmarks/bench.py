"""Speed and memory of cimento beside minicons, lm-evaluation-harness and the bare model.

Every run is a process of its own with a fixed number of threads; the tools take turns, and medians
are reported. ``make bench``, or ``python benchmarks/bench.py --help``.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus import Corpus, read_corpus
from environments import PEERS, find_or_make
from meter import machine_seconds
from models import NAMES
from table import Measured, markdown
from works import Contender, Groups, Work, largest_work, llama_work, size_of, works_for

ROOT = Path(__file__).parents[1]
TUNING_TEXTS = {"causal": 250, "masked": 20}
"""Batch sizes are compared on about so many texts."""

QUIET_SHARE = 0.05
"""A run is called disturbed where other processes took more of the processors than this."""

Run = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """What holds for all runs: where things are, threads, device, patience with other processes."""

    models: Path
    pythons: dict[str, Path]
    threads: int
    device: str
    rounds: int
    patience_seconds: float


def main() -> int:
    """Measure what the command line asks for, and write table.md and results.json."""
    options = _options()
    device = "cuda" if options.gpu else "cpu"
    corpus = read_corpus(options.data)
    works = works_for(corpus, on_gpu=options.gpu)
    if options.llama:
        works.append(llama_work(corpus, on_gpu=options.gpu))
    texts = training_texts(works, corpus)
    # Tokenizers are trained on the sentences: other sentences, other models.
    models = options.output / f"models-{hashlib.sha256(texts.encode()).hexdigest()[:8]}"
    models.mkdir(parents=True, exist_ok=True)
    if options.gpu:
        works.append(largest_work(corpus))
    works = [work for work in works if not options.works or work.name in options.works]
    pythons, notes = _pythons(options)
    setting = Setting(models, pythons, options.threads, device, options.rounds, options.patience)
    build_models(works, texts, models)
    measured = []
    for dtype in options.dtypes:
        for work in works:
            measured.append(measure(work, dtype, setting))
            page = markdown(measured, source=corpus.source, notes=notes)
            (options.output / "table.md").write_text(page, encoding="utf-8")
            (options.output / "results.json").write_text(
                json.dumps([measurement.as_json() for measurement in measured], indent=1),
                encoding="utf-8",
            )
    print((options.output / "table.md").read_text(encoding="utf-8"))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--data", type=Path, help="folder with BLiMP files, SyntaxGym suites, treebanks")
    add("--output", type=Path, default=ROOT / "runs" / "bench", help="models and results go here")
    add("--works", nargs="*", default=[], help="names of works; all where none is given")
    add("--rounds", type=int, default=3, help="times that every tool is run")
    add("--threads", type=int, default=2)
    add("--llama", action="store_true", help="also a model of a billion parameters (9 GB)")
    add("--gpu", action="store_true", help="measure on the GPU, wall seconds of a second pass")
    add("--dtypes", nargs="*", help="default: float32; on a GPU also bfloat16 and float16")
    add("--patience", type=float, default=0, metavar="SECONDS",
        help="how long to wait for other processes and to repeat runs they disturbed")  # fmt: skip
    for peer in PEERS:
        variable = f"CIMENTO_BENCH_{peer.upper().replace('-', '_')}"
        add(f"--{peer}", type=Path, default=os.environ.get(variable), metavar="PYTHON",
            help=f"an interpreter that has {peer}; else one is made (also {variable})")  # fmt: skip
    add("--no-peers", action="store_true", help="leave minicons and lm-eval out")
    options = parser.parse_args()
    options.dtypes = options.dtypes or (
        ["float32", "bfloat16", "float16"] if options.gpu else ["float32"]
    )
    return options


def _pythons(options: argparse.Namespace) -> tuple[dict[str, Path], list[str]]:
    """The interpreter of each tool, and a note for each tool that has none."""
    pythons = {"cimento": Path(sys.executable), "bare": Path(sys.executable)}
    notes = []
    for peer in PEERS:
        given = getattr(options, peer.replace("-", "_"))
        if options.no_peers:
            notes.append(f"{peer} was left out, as asked.")
            continue
        python, reason = find_or_make(
            peer, given=Path(given) if given else None, folder=ROOT / ".venv-bench"
        )
        if python:
            pythons[peer] = python
        else:
            notes.append(f"{peer} was left out: it {reason}.")
    return pythons, notes


def training_texts(works: Sequence[Work], corpus: Corpus) -> str:
    """What tokenizers are made from, as JSON: all sentences, and the works of each model."""
    by_model: dict[str, list[list[str]]] = defaultdict(list)
    for work in works:
        by_model[work.model].append(work.texts)
    sentences = itertools.chain(*(work.texts for work in works), corpus.prose)
    return json.dumps({"sentences": list(dict.fromkeys(sentences)), "works": by_model})


def build_models(works: Sequence[Work], texts: str, folder: Path) -> None:
    """Make the models that the works need, in a process of their own."""
    (folder / "texts.json").write_text(texts, encoding="utf-8")
    names = sorted({work.model for work in works})
    script = Path(__file__).with_name("models.py")
    command = [sys.executable, str(script), str(folder / "texts.json"), str(folder), *names]
    subprocess.run(command, check=True)  # noqa: S603  # our own script


def measure(work: Work, dtype: str, setting: Setting) -> Measured:
    """Let the contenders of a work take turns."""
    contenders = [contender for contender in work.contenders if contender.tool in setting.pythons]
    batches = {
        contender.label: _best_batch(work, contender, dtype, setting) for contender in contenders
    }
    runs: dict[str, list[Run]] = {contender.label: [] for contender in contenders}
    for number in range(setting.rounds):
        shift = number % len(contenders)
        for contender in [*contenders[shift:], *contenders[:shift]]:
            groups = contender.groups or work.groups
            run = _undisturbed(work, contender, groups, batches[contender.label], dtype, setting)
            runs[contender.label].append(run)
            _say(work, contender.label, run)
    size = size_of(work, setting.models / work.model)
    return Measured(work, NAMES[work.model], dtype, setting.device, size, batches, runs)


def _best_batch(work: Work, contender: Contender, dtype: str, setting: Setting) -> int | None:
    if len(contender.batches) == 1:
        return contender.batches[0]
    groups = contender.groups or work.groups
    step = max(1, round(sum(map(len, groups)) / TUNING_TEXTS[work.kind]))
    # Whole suites, or sentences from all over the only one.
    groups = groups[::step] if len(groups) > 1 else (groups[0][::step],)
    key = "wall_seconds" if setting.device == "cuda" else "cpu_seconds"
    cost = {}
    for batch in contender.batches:
        run = _undisturbed(work, contender, groups, batch, dtype, setting)
        cost[batch] = run[key]
        _say(work, f"{contender.label}, batch {batch} tried", run)
    return min(cost, key=cost.__getitem__)


def _undisturbed(
    work: Work,
    contender: Contender,
    groups: Groups,
    batch: int | None,
    dtype: str,
    setting: Setting,
) -> Run:
    """One run; repeated while other processes disturb it and there is patience left."""
    job = {
        "tool": contender.tool,
        "kind": work.kind,
        "folder": str(setting.models / work.model),
        "groups": groups,
        "batch": batch,
        "device": setting.device,
        "dtype": dtype,
        "passes": 2 if setting.device == "cuda" else 1,
    }
    until = time.monotonic() + setting.patience_seconds
    best: Run | None = None
    while True:
        _wait_for_quiet(until)
        run = _work(job, setting)
        if best is None or (run["other_cpu_share"] or 0) < (best["other_cpu_share"] or 0):
            best = run
        if (best["other_cpu_share"] or 0) <= QUIET_SHARE or time.monotonic() > until:
            return best


def _wait_for_quiet(until: float) -> None:
    while time.monotonic() < until:
        before = machine_seconds()
        time.sleep(2)
        after = machine_seconds()
        if before is None or after is None:
            return
        if (after - before) / (2 * (os.cpu_count() or 1)) < QUIET_SHARE:
            return


def _work(job: dict[str, Any], setting: Setting) -> Run:
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": str(setting.threads),
        "RAYON_NUM_THREADS": str(setting.threads),
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_VERBOSITY": "error",
        "PYTHONPATH": str(ROOT / "src") if job["tool"] in ("cimento", "bare") else "",
        "PYTHONWARNINGS": "ignore",
    }
    with tempfile.TemporaryDirectory(dir=setting.models) as scratch:
        task, result = Path(scratch) / "job.json", Path(scratch) / "result.json"
        task.write_text(json.dumps(job), encoding="utf-8")
        script = Path(__file__).with_name("worker.py")
        command = [str(setting.pythons[job["tool"]]), str(script), str(task), str(result)]
        done = subprocess.run(  # noqa: S603  # our own script
            command, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{job['tool']} failed:\n{done.stderr[-3000:]}")
        run: Run = json.loads(result.read_text(encoding="utf-8"))
        return run


def _say(work: Work, label: str, run: Run) -> None:
    grown = (run["peak_bytes"] - run["resident_bytes_before"]) / 1e6
    others = run["other_cpu_share"]
    print(
        f"{work.name:14} {label:28} CPU {run['cpu_seconds']:7.2f} s"
        f"  wall {run['wall_seconds']:7.2f} s  +{grown:5.0f} MB"
        + (f"  others {others:.0%}" if others is not None else ""),
        file=sys.stderr,
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
