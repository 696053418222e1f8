"""The results as a page of Markdown and as plain data."""

from __future__ import annotations

import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from works import Work

MEGA = 1e6


@dataclass(frozen=True)
class Measured:
    """All runs of one work.

    Attributes:
        work: what was done.
        model: its model, in words.
        dtype: of the weights.
        device: ``cpu`` or ``cuda``.
        size: numbers of sentences, tokens and the like.
        batches: batch size of each contender, by label.
        runs: what each contender's workers reported, by label.
    """

    work: Work
    model: str
    dtype: str
    device: str
    size: dict[str, int]
    batches: dict[str, int | None]
    runs: dict[str, list[dict[str, Any]]]

    @property
    def unit(self) -> str:
        """What contenders are compared by."""
        return "wall_seconds" if self.device == "cuda" else "cpu_seconds"

    def median(self, label: str, field: str) -> float:
        """The median of one field over a contender's runs."""
        return statistics.median(run[field] for run in self.runs[label])

    def ratio(self, label: str) -> float:
        """Seconds of a contender divided by those of cimento."""
        return self.median(label, self.unit) / self.median("cimento", self.unit)

    def difference(self, label: str) -> float | None:
        """Largest difference of a score from cimento's, in nats; None where there is no score."""
        ours, theirs = self.runs["cimento"][0]["scores"], self.runs[label][0]["scores"]
        if label == "cimento" or not theirs or len(ours) != len(theirs):
            return None
        worst = 0.0
        for one, other in zip(ours, theirs, strict=True):
            mine = [sum(one)] if len(other) == 1 else one
            if len(mine) != len(other):
                return None
            worst = max([worst, *(abs(a - b) for a, b in zip(mine, other, strict=True))])
        return worst

    def as_json(self) -> dict[str, Any]:
        """Everything but the scores themselves."""
        runs = {
            label: [{k: v for k, v in run.items() if k != "scores"} for run in some]
            for label, some in self.runs.items()
        }
        return {
            "work": self.work.name, "title": self.work.title, "model": self.model,
            "dtype": self.dtype, "device": self.device, "size": self.size,
            "batches": self.batches, "runs": runs,
            "differences": {label: self.difference(label) for label in runs},
            "ratios": {label: self.ratio(label) for label in runs},
        }  # fmt: skip


def markdown(measured: Sequence[Measured], *, source: str, notes: Sequence[str]) -> str:
    """The page: one table for each work, what was to be reached, and how it was measured."""
    parts = [_work_table(measurement) for measurement in measured]
    targets = [line for measurement in measured for line in _target_lines(measurement)]
    if targets:
        head = "| work | compared with | target | measured | reached |\n|---|---|---|---|---|"
        parts.append("\n".join([head, *targets]))
    parts.append(_conditions(measured, source))
    parts.extend(notes)
    return "\n\n".join(parts) + "\n"


def _work_table(measurement: Measured) -> str:
    size = ", ".join(
        f"{value:,} {name.replace('_', ' ')}" for name, value in measurement.size.items()
    )
    lines = [
        f"**{measurement.work.title}; {measurement.model}, {measurement.dtype}** ({size})",
        "",
        "| tool | CPU s | wall s | sentences/s | memory, MB | relative to cimento | differs by |",
        "|---|---|---|---|---|---|---|",
    ]
    for label in measurement.runs:
        batch = measurement.batches[label]
        named = label if batch is None or str(batch) in label else f"{label}, batch {batch}"
        difference = measurement.difference(label)
        lines.append(
            f"| {named} | {measurement.median(label, 'cpu_seconds'):.2f}"
            f" | {measurement.median(label, 'wall_seconds'):.2f}"
            f" | {measurement.size['sentences'] / measurement.median(label, 'wall_seconds'):.1f}"
            f" | {_memory(measurement, label):.0f} | {measurement.ratio(label):.2f}"
            f" | {'' if difference is None else f'{difference:.1e}'} |"
        )
    return "\n".join(lines)


def _memory(measurement: Measured, label: str) -> float:
    if measurement.device == "cuda":
        return measurement.median(label, "device_peak_bytes") / MEGA
    grown = [run["peak_bytes"] - run["resident_bytes_before"] for run in measurement.runs[label]]
    return statistics.median(grown) / MEGA


def _target_lines(measurement: Measured) -> list[str]:
    return [
        f"| {measurement.work.title}, {measurement.model} | {target.label} | {target.ratio:.2f}"
        f" | {measurement.ratio(target.label):.2f}"
        f" | {'yes' if measurement.ratio(target.label) >= target.ratio else 'no'} |"
        for target in measurement.work.targets
        if target.label in measurement.runs
    ]


def _conditions(measured: Sequence[Measured], source: str) -> str:
    first = measured[0].runs["cimento"]
    versions = {
        f"{package} {version}"
        for measurement in measured
        for runs in measurement.runs.values()
        for package, version in runs[0]["versions"].items()
    }
    shares = [
        run["other_cpu_share"] or 0.0
        for measurement in measured
        for runs in measurement.runs.values()
        for run in runs
    ]
    memory = (
        "largest memory allocated on the GPU, weights included"
        if measured[0].device == "cuda"
        else "largest resident memory above that after loading"
    )
    return (
        f"Medians of {len(first)} runs in turn, each in a process of its own; {first[0]['threads']}"
        f" threads; {first[0]['device_name']} ({platform.machine()});"
        f" Python {first[0]['python']}; {', '.join(sorted(versions))}."
        f" Sentences: {source}. Memory: {memory}. Other processes took at most"
        f" {max(shares):.0%} of the processors during a run."
    )
