"""The study as tables to read: computed beside printed, and the paper's Table 3."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, cast

from cimento.paradigms import Grid, JsonValue, cells, formatting
from cimento.paradigms.stories import METRICS, TRUE, Story, applicable, by_paper_code, by_type
from cimento.studies import Cell, Section, beside, printed_tables, section_of
from cimento.studies.stories import MORE, TABLE_3, published_rows
from cimento.studies.stories.asked import AskingRecord, asked_notes, row_names

Rows: TypeAlias = "list[tuple[str, ...]]"

_NOTHING = "-"
_TIER_NAMES = ("story", "conflict", "state")


def grouping_rows(summary: Mapping[str, JsonValue]) -> Rows:
    """Each metric by grouping, with its interval, beside what needs no knowledge."""
    groupings = list(mapping(_value_at(summary, "rates")))
    baselines = mapping(_value_at(summary, "baselines"))
    rows: Rows = [("metric", "n", *groupings, *baselines)]
    for name in METRICS:
        texts = [
            _with_interval(_value_at(summary, "rates", grouping, name)) for grouping in groupings
        ]
        texts += [shown(_number_at(baseline, name), 3) for baseline in baselines.values()]
        rows.append(
            (
                name,
                _n_of(_value_at(summary, "rates", grouping, name) for grouping in groupings),
                *texts,
            )
        )
    return rows


def _n_of(rates: Iterable[JsonValue]) -> str:
    """How many stories rates rest on: one number, or all that there are."""
    counts = [_value_at(rate, "count") for rate in rates]
    sizes = sorted({int(str(count[1])) for count in counts if isinstance(count, list)})
    return cells.count(sizes[0]) if len(sizes) == 1 else ", ".join(map(str, sizes))


def missing_reasons(summary: Mapping[str, JsonValue]) -> list[str]:
    """Why metrics have no value, or do not count all stories, one sentence for each reason."""
    notes: dict[str, list[str]] = {}
    grouping = str(_value_at(summary, "grouping"))
    for name in METRICS:
        rate = _value_at(summary, "rates", grouping, name)
        unscored = _number_at(rate, "unscored")
        reason = _value_at(rate, "reason")
        if isinstance(reason, str) and reason:
            notes.setdefault(f"no value: {reason}", []).append(name)
        elif unscored:
            left = f"without the stories that have no score ({unscored:.0f})"
            notes.setdefault(left, []).append(name)
    return [f"{', '.join(names)}: {reason}." for reason, names in notes.items()]


def _flow_rows(summary: Mapping[str, JsonValue]) -> Rows:
    """How many implausible stories reach and pass each tier."""
    rows: Rows = [("tier", "reached", "unscored", "passed", "share", "constant")]
    steps, constant = (
        cast("list[JsonValue]", _value_at(summary, *keys))
        for keys in (("flow",), ("constant", "flow"))
    )
    for step, other in zip(steps, constant, strict=True):
        reached, passed = _number_at(step, "reached"), _number_at(step, "passed")
        unscored = _number_at(step, "unscored") or 0
        share = _share(passed, None if reached is None else reached - unscored)
        beside = _share(_number_at(other, "passed"), _number_at(other, "reached"))
        numbers = (shown(value, 0) for value in (reached, unscored, passed))
        rows.append((str(_value_at(step, "tier")), *numbers, shown(share, 3), shown(beside, 3)))
    return rows


def survivor_rows(summary: Mapping[str, JsonValue], name: str) -> Rows:
    """How many stories of each kind pass each tier and all before, beside the constant answer.

    Args:
        summary: as `summarize_stories` gives it.
        name: ``by_state``, ``by_distance`` or ``by_breakpoint``.
    """
    tiers = ("story_ok", "conflict_ok", "state_ok")
    rows: Rows = [(name.removeprefix("by_"), "n", *_TIER_NAMES, "constant")]
    for kind, by_tier in mapping(_value_at(summary, name)).items():
        constant = [
            shown(_number_at(_value_at(summary, "constant", name, kind), tier), 0) for tier in tiers
        ]
        passed = [shown(_number_at(by_tier, tier), 0) for tier in tiers]
        beside = {
            f"_{tier}": cells.parts_of(one)[""]
            for tier, one in zip(_TIER_NAMES, constant, strict=True)
        }
        among = cells.Shown("/".join(constant), beside)
        rows.append((kind, shown(_number_at(by_tier, "n"), 0), *passed, among))
    return rows


def choice_rows(summary: Mapping[str, JsonValue]) -> Rows:
    """The answers at each tier: accuracy over what was asked, ties, greedy options, calibration."""
    rows: Rows = [("tier", *_CHOICES)]
    for tier, task in mapping(_value_at(summary, "per_task")).items():
        texts = (shown(_number_at(task, *keys), digits) for keys, digits in _CHOICES.values())
        rows.append((tier, *texts))
    return rows


_CHOICES: Mapping[str, tuple[tuple[str, ...], int]] = {
    "n": (("n",), 0),
    "accuracy": (("acc",), 3),
    "majority": (("majority",), 3),
    "chance": (("chance",), 3),
    "per char": (("acc_norm_chars",), 3),
    "ties wrong": (("acc_if_ties_wrong",), 3),
    "ties": (("n_ties_at_max",), 0),
    "greedy": (("any_choice_greedy_rate",), 2),
    "invalid": (("invalid",), 0),
    "Brier": (("confidence", "brier_sum"), 3),
    "NLL": (("confidence", "nll"), 3),
    "ECE": (("confidence", "calibration", "ece"), 3),
}
"""Heading to where the number stands, and its decimals."""


def _value_at(value: JsonValue | Mapping[str, JsonValue], *keys: str) -> JsonValue:
    """What is in nested objects; None where there is nothing."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return cast("JsonValue", value)


def _number_at(value: JsonValue | Mapping[str, JsonValue], *keys: str) -> float | None:
    """A number in nested objects; None where there is none."""
    leaf = _value_at(value, *keys)
    return float(leaf) if isinstance(leaf, int | float) else None


def mapping(value: JsonValue) -> Mapping[str, JsonValue]:
    """An object, or an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def shown(value: float | None, digits: int) -> str:
    """A number to read."""
    if value is not None and not digits and float(value).is_integer():
        return cells.count(int(value))
    return formatting.number(value, digits=digits, absent=_NOTHING)


def _share(part: float | None, whole: float | None) -> float | None:
    return None if not whole or part is None else part / whole


def _with_interval(rate: JsonValue) -> str:
    value = _number_at(rate, "value")
    if value is None:
        return _NOTHING
    text = f"{value:.3f} {_ends(_value_at(rate, 'interval'))}"
    return cells.Shown(text, {"": value, **_rests_on(rate)})


def _rests_on(rate: JsonValue, *, percent: bool = False) -> dict[str, cells.CellValue]:
    """The interval, the n and the reason of a rate, by the endings of their columns."""
    ends = [_number_at(rate, "interval", end) for end in ("low", "high")]
    if percent:
        ends = [None if end is None else 100 * end for end in ends]
    of, reason = _value_at(rate, "count"), _value_at(rate, "reason")
    n = int(str(of[1])) if isinstance(of, list) else None
    return {
        cells.LOW: ends[0],
        cells.HIGH: ends[1],
        cells.N: n,
        cells.REASON: str(reason) if reason else None,
    }


def _ends(interval: JsonValue) -> str:
    low, high = _number_at(interval, "low"), _number_at(interval, "high")
    if low is None or high is None:
        return cells.no_ends(_NOTHING)
    return cells.ends(low, high, f"[{low:.3f}, {high:.3f}]")


_LOG = "metrics.txt of github.com/EkhiAzur/GITA4CALAMITA"
_PAPER = "Pensa et al. 2024, CEUR-WS Vol-3878, paper 127"


def metric_sections(record: Mapping[str, JsonValue]) -> list[Section]:
    """Each metric of the paper's code beside the authors' log, and beside Table 3 in percent."""
    values, counts = (
        _value_at(record, "paper_code", "value"),
        _value_at(record, "paper_code", "count"),
    )
    logged, table = [], []
    for name in METRICS:
        value, count = _number_at(values, name), _value_at(counts, name)
        of = f"{count[0]}/{count[1]}" if isinstance(count, list) else ""
        log = _number_at(record.get("published_metrics_txt"), name)
        share = _number_at(record.get("published_table3_percent"), name)
        # The log has the machine's digits, of which four are shown.
        equal = beside(name, value, None if log is None else f"{log:.12f}").equal
        computed, printed = shown(value, 4), None if log is None else shown(log, 4)
        logged.append(Cell(what=name, computed=computed, printed=printed, equal=equal, count=of))
        percent = None if value is None else 100 * value
        cell = beside(name, percent, None if share is None else f"{share:.2f}")
        table.append(replace(cell, count=of))
    model = record["model"]
    titles = {
        "log": (f"{model}: metrics of the paper's code beside the authors' log", logged, _LOG),
        "table 3": (f"{model}: the same in percent beside Table 3", table, _PAPER),
    }
    return [
        Section(name=name, title=title, source=source, cells=tuple(cells))
        for name, (title, cells, source) in titles.items()
    ]


def compared_with_published(record: Mapping[str, JsonValue]) -> list[Section | Grid]:
    """What the study says of one model: metrics beside published ones, and what stands behind."""
    summary = mapping(record[MORE])
    tables = {
        "groupings and baselines": grouping_rows(summary),
        "flow of implausible stories": _flow_rows(summary),
        "first tier as detection of plausible stories": bias_rows(record),
        "answers at each tier, of those who were asked": choice_rows(summary),
        "right so far, by state": survivor_rows(summary, "by_state"),
        "right so far, by distance of the two sentences": survivor_rows(summary, "by_distance"),
        "prompts and draws rebuilt": prompt_rows(record),
    }
    missing = tuple(missing_reasons(summary))
    grids = [
        Grid(
            title=f"{record['model']}: {title}",
            header=header,
            rows=tuple(rows),
            notes=missing if title == "groupings and baselines" else (),
        )
        for title, (header, *rows) in tables.items()
        if rows
    ]
    return [*metric_sections(record), *grids]


def bias_rows(record: Mapping[str, JsonValue]) -> Rows:
    """The first tier as a detection task, beside the constant answer "false"."""
    bias = mapping(record["bias"])
    constant = _value_at(record, MORE, "constant", "detection")
    intervals = _value_at(record, MORE, "detection_intervals")
    counts = [_number_at(bias, name) for name in ("tp", "tn", "fp", "fn")]
    n = sum(int(count) for count in counts if count is not None) or None
    rows: Rows = [("measure", "value", "95%", "constant")]
    for name, value in bias.items():
        if not name.endswith("_reason"):
            digits = 0 if isinstance(value, int) else 4
            beside = _of_constant(constant, name)
            computed, ends = (
                shown(_number_at(bias, name), digits),
                _ends(_value_at(intervals, name)),
            )
            cell = cells.Shown(computed, {**cells.parts_of(computed), cells.N: n})
            rows.append((name, cell, ends, shown(beside, digits)))
    return rows


def _of_constant(constant: JsonValue, name: str) -> float | None:
    """The same measure of the constant answer; None where options are not scored."""
    if name in {"tp", "tn", "fp", "fn"}:
        return _number_at(constant, "counts", name)
    return (
        _number_at(constant, "answers", TRUE)
        if name == "p_answer_true"
        else _number_at(constant, name)
    )


def prompt_rows(record: Mapping[str, JsonValue]) -> Rows:
    """How many prompts and draws are rebuilt."""
    rows: Rows = [("tier", "prompts", "rebuilt", "draws", "drawn again")]
    for tier, prompts in mapping(_value_at(record, MORE, "prompts")).items():
        names = ("prompts", "equal_prompts", "draws", "equal_draws")
        rows.append((tier, *(shown(_number_at(prompts, name), 0) for name in names)))
    return rows


def paired_grid(paired: Mapping[str, JsonValue]) -> Grid:
    """Models against each other, with the test that respects triples."""
    rows = (
        (
            name,
            shown(_number_at(test, "only_first_correct"), 0),
            shown(_number_at(test, "only_second_correct"), 0),
            shown(_number_at(test, "change", "estimate"), 3),
            _ends(_value_at(test, "change")),
            _p(_number_at(test, "test", "p")),
            _p(_number_at(test, "p_holm")),
        )
        for name, test in paired.items()
    )
    return Grid(
        title="Models against each other, first tier",
        header=("models", "only first", "only second", "change", "95%", "p", "Holm p"),
        rows=tuple(rows),
    )


def differing(sections: Iterable[Section]) -> int:
    """How many computed numbers are not the published ones."""
    return sum(cell.equal is False for section in sections for cell in section.cells)


def _p(value: float | None) -> str:
    return cells.Shown(_NOTHING if value is None else f"{value:.3g}", value)


_UNKNOWN = "–"
_KINDS = ("plausible", "order", "cloze")
"""Of stories, in the order of Table 2."""
_SUMMED = {"Accuracy", "Consistency", "Verifiability"}


@section_of("table 2", title="Table 2. Stories", source=_PAPER)
def story_kinds(stories: Sequence[Story]) -> Iterator[Cell]:
    """How many stories there are of each kind, beside the paper's Table 2.

    By the field that says so and by the letters of the ids, as the paper's code goes by.
    """
    printed = printed_tables("stories")["Table 2"] if applicable(stories) else {}
    rules = {"by the field type": by_type, "by letters of the ids": by_paper_code}
    for name, rule in rules.items():
        grouping = rule(stories)
        for kind in _KINDS:
            yield beside(f"{kind}, {name}", len(grouping.rows(kind)), printed.get(kind))


def tier_table(
    records: Mapping[str, Mapping[str, JsonValue]],
    stories: Sequence[Story],
    *,
    grouping: str = "paper_code",
    by_model: Mapping[str, AskingRecord] | None = None,
    of: Sequence[Story] = (),
    notes: Sequence[str] = (),
) -> Grid:
    """Models in the layout of the paper's Table 3 below its rows; the best of several in bold.

    Args:
        records: model to what `study_record` gives.
        stories: that they were asked about.
        grouping: ``paper_code``, ``type`` or ``corrected``.
        by_model: how models were asked, which their rows are named after; those of recordings are
            not there.
        of: all stories of the file, where only some were asked about.
        notes: sentences to be below.
    """
    names = row_names(by_model or {})
    rows = [
        (names.get(model, model), *_rates_of(_value_at(record, MORE, "rates", grouping)))
        for model, record in records.items()
    ]
    above = _published()
    first = next(iter(records.values()))
    baselines = mapping(_value_at(first, MORE, "baselines_by_grouping", grouping))
    beside = [
        (name, *(_percent(_number_at(values, metric)) for metric in TABLE_3))
        for name, values in baselines.items()
    ]
    bold = _best(rows, below=len(above))
    remarks = [
        "Published rows: Table 3, or the authors' logs; groups by paper_code.",
        "Intervals (95%) and n of each value are in the CSV.",
        *_other_stories(stories, of),
        *asked_notes({names[name]: one for name, one in (by_model or {}).items()}),
        *(["Bold: the highest of the models that are not published ones."] if bold else []),
    ]
    return Grid(
        title=f"Table 3. Accuracy, consistency and verifiability (percent), groups by {grouping}",
        header=("model", *(_group_of(name) for name in TABLE_3)),
        groups=("", *(name.rsplit(" ", maxsplit=1)[-1] for name in TABLE_3)),
        rows=(*above, *rows, *beside),
        bold=bold,
        rules=frozenset({len(above), len(above) + len(rows)}),
        notes=(*remarks, *notes),
    )


def _published() -> list[tuple[str, ...]]:
    """The rows that the paper or the authors' logs have."""
    return [
        (f"{model} (published)", *(_printed(row.get(name)) for name in TABLE_3))
        for model, row in published_rows().items()
    ]


def _rates_of(rates: JsonValue) -> Iterator[str]:
    """The metrics of Table 3 in percent, whose intervals and n only programs see."""
    for metric in TABLE_3:
        cell = _percent(_number_at(rates, metric, "value"))
        rests_on = _rests_on(_value_at(rates, metric), percent=True)
        yield cells.Shown(cell, {**cells.parts_of(cell), **rests_on}, cells.PERCENT)


def _other_stories(stories: Sequence[Story], of: Sequence[Story]) -> list[str]:
    """What is said where the models were not asked about the stories of the published rows."""
    if applicable(stories) is not None:
        return []
    others = f"{len(stories)} of them" if of and applicable(of) is not None else "other ones"
    return [f"They are about the 356 stories of GITA4CALAMITA, the others about {others}."]


def _group_of(name: str) -> str:
    return "all" if name in _SUMMED else name.split(" ", maxsplit=1)[0].lower()


def _printed(percent: str | None) -> str:
    return cells.printed(percent or _UNKNOWN, unit=cells.PERCENT)


def _percent(value: float | None) -> str:
    return formatting.percent(value, digits=2, absent=_UNKNOWN)


def _best(rows: Sequence[tuple[str, ...]], *, below: int) -> frozenset[tuple[int, int]]:
    """Row and column of the highest value in each column, all of them where several are equal.

    None where there is nothing to compare: one row, or one value in all of them.

    Args:
        rows: that are compared.
        below: how many rows are above them.
    """
    codes = set()
    for column in range(1, len(TABLE_3) + 1):
        known = {
            place: float(row[column]) for place, row in enumerate(rows) if row[column] != _UNKNOWN
        }
        codes |= {
            (below + place, column)
            for place, value in known.items()
            if value == max(known.values()) > min(known.values())
        }
    return frozenset(codes)
