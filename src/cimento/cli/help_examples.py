"""Command lines to begin with, which the help of a command ends with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

EXAMPLES: Mapping[str, Sequence[str]] = {
    "run": (
        "cimento run it-subject-verb -m out/checkpoint-3000",
        "cimento run pairs.xlsx --language it -m demo-causal",
        "cimento run --language it -m org/name@revision -o italian",
        "cimento run my-suite -m ./candidate --fail-under 0.6 --junit results.xml",
    ),
    "plan": (
        "cimento plan it-subject-verb -m org/name@revision",
        "cimento plan --language it -m out/checkpoint-3000",
    ),
    "judge": ("cimento judge runs --measure penlp -o runs-penlp",),
    "rerun": ("cimento rerun runs",),
    "show": ("cimento show runs", "cimento show runs/it-subject-verb 3"),
    "report": (
        "cimento report runs -o report.html",
        "cimento report runs --table results -o table.tex",
        "cimento report runs --figure margins -o margins.svg",
    ),
    "compare": (
        "cimento compare runs  # all models, ranked",
        "cimento compare released candidate --fail-if-worse 0.02  # a gate for CI",
        "cimento compare runs --before checkpoint-2000 --after checkpoint-3000  # two of them",
        "cimento compare runs --figure curve.svg  # checkpoints of one model",
    ),
    "analyze reading-times": (
        "cimento analyze reading-times times.csv -m demo-causal --boundary auto -o joined.csv",
        "cimento analyze reading-times times.csv -m org/name --columns word=token,rt=RT",
    ),
    "analyze reading-gains": (
        "cimento analyze reading-gains times.csv -m org/a -m org/b --boundary auto",
        "cimento analyze reading-gains times.csv --given surprisal --columns participant=who",
    ),
    "analyze power": (
        "cimento analyze power runs/pairs --difference 0.1",
        "cimento analyze power pairs.xlsx --pilot runs/pairs",
    ),
    "cite": ("cimento cite runs", "cimento cite runs --methods"),
    "export": (
        "cimento export runs --to lm-eval -o for-lm-eval",
        "cimento export runs --to eval-results --dataset OWNER/NAME -o cards",
    ),
    "score": ("cimento score texts.txt -m demo-causal",),
    "suites list": ("cimento suites list --remote --language pt",),
    "suites check": ("cimento suites check pairs.xlsx --language it",),
    "suites new": ("cimento suites new pairs mine.xlsx --language it",),
    "annotate survey build": ("cimento annotate survey build pairs.csv --language it -o survey",),
    "annotate import": (
        "cimento annotate import form.csv --suite pairs.csv --names keep -o judgments.csv",
        "cimento annotate import answers.csv --design survey --names keep -o judgments.csv",
    ),
    "annotate apply": (
        "cimento annotate apply pairs.csv judgments.csv --scale 1,5 --language it -o rated",
    ),
    "cluster slurm": (
        "cimento cluster slurm my-suite -m org/name@revision --jobs 16 -o runs",
        "cimento cluster slurm --language it -m out/checkpoint-3000 -o italian",
    ),
    "models check": (
        "cimento models check out/checkpoint-3000",
        "cimento models check org/name@revision it-subject-verb --precision",
    ),
}
