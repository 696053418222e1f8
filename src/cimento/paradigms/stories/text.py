"""Stories and their runs as text, the contents of a file in numbers, and its audit as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, TypeAlias

from cimento.errors import few_of_each_code
from cimento.io.inline_markup import columns
from cimento.paradigms.stories.checks import CHECKED, audit, pair_shape
from cimento.paradigms.stories.classification import choices
from cimento.paradigms.stories.estimates import tier_question
from cimento.paradigms.stories.judging import JudgedAnswers, asked_of, judge_stories, judged_run
from cimento.paradigms.stories.metrics import (
    METRICS,
    constant_answers,
    distinct,
    majority_labels,
    short_constant,
)
from cimento.paradigms.stories.options import Grouping, applicable, code_group, corrections
from cimento.paradigms.stories.outcomes import Step, flow
from cimento.records.outcomes import BASELINE, Estimate, reasons_together
from cimento.report.cells import HIGH, LOW, REASON, N, Shown, count
from cimento.report.formatting import interval, number
from cimento.suites import JsonValue
from cimento.suites.stories import (
    ATTRIBUTES,
    FALSE,
    TIERS,
    TRUE,
    Story,
    StorySuite,
    StoryType,
    bases,
    by_triple,
    changed,
    is_replacement,
    is_swap,
    made_as,
    most_frequent,
    pair_label,
)

if TYPE_CHECKING:
    from cimento.kinds.run import Run


UNKNOWN = "-"

Rows: TypeAlias = "list[tuple[str, ...]]"


def runs_text(runs: Sequence[Run]) -> str:
    """The tables of some runs, one run after the other."""
    return "\n\n".join(_run_text(run) for run in runs) + "\n"


def _run_text(run: Run) -> str:
    estimates, words = run.estimates(), []
    if asked_of(run)[1].task != "tiers":
        tables = {"Questions beside the tiers": question_rows(estimates)}
    else:
        judged = judged_run(run)
        tables = {
            "Right at this tier and all before, and what constant answers and chance would reach":
            metric_rows(estimates, judged.groupings),
            "Each tier by itself: all stories that have an answer there":
            tier_rows(estimates, judged),
            "Flow of implausible stories through the tiers": flow_rows(judged),
        }  # fmt: skip
        words = [WORDS + fill(" ".join(constants_in_words(estimates, judged.groupings)), _WIDTH)]
    shown = [f"{title}\n{columns(rows, indent=2)}" for title, rows in tables.items()]
    notes = "\n".join(
        [*interval_notes(estimates), *(f"Note: {text}" for text in few_of_each_code(run.warnings))]
    )
    last = [notes] if notes else []
    return "\n\n".join([f"{run.suite.name}  {run.model}", *shown, *words, *last])


_WIDTH = 96
WORDS = """\
story_class: is the story plausible? conflict_detec: which two sentences are in conflict?
physical_state: which state is it about?
Accuracy: right at the first tier; consistency: at the first two; verifiability: at all three
(the last two over implausible stories). Intervals are of the model's rates only.
greedy: how often the most probable continuation is an option at all. unread: replies that name
no option. constant: the share that would pass if the answer were always false.
"""
"""What the words in the tables mean."""


def constants_in_words(estimates: Iterable[Estimate], groupings: Sequence[Grouping]) -> list[str]:
    """What the answers without any knowledge are, and how stories are counted, in sentences."""
    methods = dict.fromkeys(one.method for one in estimates if one.method.startswith(BASELINE))
    known = dict(short_constant(method.removeprefix(BASELINE)) for method in methods)
    said = []
    if answers := known.get("always false"):
        said.append(
            f"always false, always true: this answer to every story, and the most frequent pair and"
            f" state ({answers})."
        )
    if answers := known.get("first option"):
        said.append(f"first option: the first of every list ({answers}).")
    if len(distinct(groupings)) > 1:
        said.append("type, paper code: stories counted by their version, or by letters in ids.")
    return said


def metric_rows(estimates: Sequence[Estimate], groupings: Sequence[Grouping]) -> Rows:
    """Each metric by grouping, with its interval and baselines that need no knowledge."""
    known = {
        (estimate.question, estimate.method, estimate.group, estimate.level): estimate
        for estimate in estimates
        if estimate.statistic == "accuracy"
    }
    counted = distinct(groupings)
    first = counted[0].label
    heads = ["right"] if len(counted) == 1 else [grouping.label for grouping in counted]
    methods = dict.fromkeys(estimate.method for estimate in estimates)
    without = [method for method in methods if method.startswith(BASELINE)]
    names = (short_constant(method.removeprefix(BASELINE))[0] for method in without)
    rows: Rows = [("metric", "n", *heads, *names, "chance")]
    for name, (tier, group) in METRICS.items():
        question, level = tier_question(tier), group or ""
        whole = known[question, "", "", ""]
        row = [known.get((question, "", grouping.label, level), whole) for grouping in counted]
        sizes = sorted({cell.n for cell in row if cell.value is not None})
        beside = [known[question, method, first, level] for method in without]
        rows.append(
            (
                name,
                count(sizes[0]) if len(sizes) == 1 else ", ".join(map(str, sizes)),
                *map(_with_interval, row),
                *(shown(baseline.value, 3) for baseline in beside),
                shown(row[0].chance, 3),
            )
        )
    return rows


def tier_rows(estimates: Sequence[Estimate], judged: JudgedAnswers) -> Rows:
    """Accuracy of each tier whatever came before, with ties, unread and unscored answers."""
    known = {
        estimate.question: estimate for estimate in reversed(estimates) if estimate.role != "detail"
    }
    answers = {tier: choices(judged.outcomes, tier) for tier in TIERS}
    return [
        ("tier", "accuracy", "95% interval", "n", "ties", "greedy", "unread", "unscored"),
        *(
            (
                tier,
                shown(known[tier].value, 3),
                interval(known[tier].low, known[tier].high),
                count(known[tier].n if known[tier].value is not None else None, absent=UNKNOWN),
                count(at_tier.n_ties_at_max),
                shown(at_tier.any_choice_greedy_rate.value, 2),
                count(at_tier.invalid),
                count(sum(at_tier.unscored.values())),
            )
            for tier, at_tier in answers.items()
        ),
    ]


def flow_rows(judged: JudgedAnswers) -> Rows:
    """The implausible stories that reach and pass each tier, next to constant answers."""
    steps = flow(judged.stories, judged.chained)
    return [
        ("tier", "reached", "unscored", "passed", "share", "constant"),
        *(
            (
                step.tier, shown(step.reached, 0), count(step.unscored), shown(step.passed, 0),
                shown(share_of(step), 3), shown(share_of(constant), 3),
            )
            for step, constant in zip(steps, constant_flow(judged), strict=True)
        ),
    ]  # fmt: skip


def constant_flow(judged: JudgedAnswers) -> tuple[Step, ...]:
    """The flow of one answer for all stories: the majority label at every tier."""
    answers = constant_answers(judged.stories, majority_labels(judged.stories))
    constant = judge_stories(judged.stories, answers)
    return flow(constant.stories, constant.chained)


def share_of(step: Step) -> float | None:
    """The proportion of the scored stories that pass a step; None where none is known."""
    scored = None if step.reached is None else step.reached - step.unscored
    return None if not scored or step.passed is None else step.passed / scored


def question_rows(estimates: Iterable[Estimate]) -> Rows:
    """The proportions of additional questions that are right."""
    return [
        ("", "share", "95% interval", "right", "n", "chance"),
        *(
            (
                estimate.question, shown(estimate.value, 3), interval(estimate.low, estimate.high),
                count(estimate.right or 0), count(estimate.n), shown(estimate.chance, 2),
            )
            for estimate in estimates
        ),
    ]  # fmt: skip


def interval_notes(estimates: Sequence[Estimate]) -> list[str]:
    """Notes on how intervals of rates were made and why some are missing, one sentence each."""
    known = [rate for rate in estimates if rate.is_share and rate.value is not None and rate.n]
    rates = [rate for rate in known if rate.statistic in ("accuracy", "proportion of answers")]
    made = dict.fromkeys(rate.interval_method for rate in rates if rate.low is not None)
    missing = reasons_together(rate.reason for rate in rates if rate.low is None)
    notes = [f"Intervals (95%): {'; '.join(filter(None, made))}."] if made else []
    return [*notes, *([f"No interval where there is a dash ({missing})."] if missing else [])]


def shown(value: float | None, digits: int) -> str:
    """A number to read."""
    if value is not None and not digits and float(value).is_integer():
        return count(int(value), absent=UNKNOWN)
    return number(value, digits=digits, absent=UNKNOWN)


def _with_interval(estimate: Estimate) -> str:
    text = f"{estimate.value or 0.0:.3f} {interval(estimate.low, estimate.high)}"
    rests_on = {LOW: estimate.low, HIGH: estimate.high, N: estimate.n, REASON: estimate.reason}
    return Shown(UNKNOWN if estimate.value is None else text, {"": estimate.value, **rests_on})


NO_TYPE = "null"
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryCounts:
    """Counts over the stories of a file; those of conflicts are over implausible stories.

    Attributes:
        stories: number of stories.
        triples: number of different stories, each with its variants.
        complete: triples with a plausible story and at least one variant of either type.
        types: by type; ``null`` for none.
        plausible: ``true`` and ``false``.
        states: by state, the most frequent first.
        pairs: by conflict pair, the most frequent first.
        distances: by how far the breakpoint is from the conflicting sentence.
        locations: by place, over all stories.
        domains: by domain, over all stories.
        swaps: order variants that exchange exactly two sentences, by whether the conflict pair is
            these two, shares one of them, or none.
        replacements: cloze variants that replace one sentence, by the role of that sentence.
    """

    stories: int
    triples: int
    complete: int
    types: Mapping[str, int]
    plausible: Mapping[str, int]
    states: Mapping[str, int]
    pairs: Mapping[str, int]
    distances: Mapping[int, int]
    locations: Mapping[str, int]
    domains: Mapping[str, int]
    swaps: Mapping[str, int]
    replacements: Mapping[str, int]

    @property
    def adjacent(self) -> int:
        """Conflicts between neighboring sentences."""
        return self.distances.get(1, 0)


def count_stories(stories: Sequence[Story]) -> StoryCounts:
    """Counts of everything that a file of stories holds."""
    conflicts = [story for story in stories if not story.plausible]
    pairs = [story.pair for story in conflicts if story.pair is not None]
    triples = by_triple(stories)
    return StoryCounts(
        stories=len(stories),
        triples=len(triples),
        complete=sum(
            any(story.plausible for story in triple)
            and {"order", "cloze"} <= {story.type for story in triple if not story.plausible}
            for triple in triples.values()
        ),
        types=most_frequent(story.type or NO_TYPE for story in stories),
        plausible=most_frequent(TRUE if story.plausible else FALSE for story in stories),
        states=most_frequent(story.state for story in conflicts if story.state),
        pairs=most_frequent(pair_label(*pair) for pair in pairs),
        distances=dict(sorted(Counter(high - low for low, high in pairs).items())),
        locations=most_frequent(story.location for story in stories if story.location),
        domains=most_frequent(story.domain for story in stories if story.domain),
        swaps=_swaps(stories),
        replacements=_replacements(stories),
    )


def code_counts(stories: Sequence[Story]) -> dict[str, dict[str, int]]:
    """For each attribute, the counts of its codes over entities and sentences."""
    counts: dict[str, Counter[int]] = {name: Counter() for name in ATTRIBUTES}
    for story in stories:
        for block in story.sentence_states:
            for attribute, entries in block.entries.items():
                counts.setdefault(attribute, Counter()).update(code for _, code in entries)
    return {
        attribute: {str(code): n for code, n in sorted(codes.items())}
        for attribute, codes in counts.items()
    }


def _variants(stories: Sequence[Story], kind: StoryType) -> Iterator[tuple[Story, Story]]:
    """The variants of a kind, each with its plausible story."""
    known = bases(stories)
    for story in stories:
        base = known[story.story_id]
        if base is not None and made_as(story, base) == kind:
            yield story, base


def _swaps(stories: Sequence[Story]) -> dict[str, int]:
    """Order variants by how the annotated pair relates to the positions that were swapped."""
    shared = Counter(
        len({*(story.pair or ())} & {*(changed(story, base) or ())})
        for story, base in _variants(stories, "order")
        if is_swap(story, base)
    )
    return {"the two": shared[2], "one of the two": shared[1], "neither": shared[0]}


def _replacements(stories: Sequence[Story]) -> dict[str, int]:
    """Cloze variants by what the replaced sentence is in the conflict."""
    counts = {"conflicting": 0, "breakpoint": 0, "neither": 0}
    for story, base in _variants(stories, "cloze"):
        if is_replacement(story, base):
            [place] = changed(story, base) or ()
            roles = dict(zip(story.pair or (), ("conflicting", "breakpoint"), strict=False))
            counts[roles.get(place, "neither")] += 1
    return counts


def suite_text(suite: StorySuite, items: int) -> str:
    """The content of a suite of stories, and its first stories.

    Args:
        suite: of stories.
        items: number of its stories to show.
    """
    lines = [suite.name, columns(_facts(suite), indent=2)]
    lines += [_story(story) for story in suite.stories[:items]]
    return "\n".join(lines)


def _facts(suite: StorySuite) -> list[tuple[str, ...]]:
    about = count_stories(suite.stories)
    names = ("language", "version", "license", "status", "citation")
    rows = [(name, text) for name in names if (text := getattr(suite.meta, name))]
    rows += [
        ("stories", f"{about.stories} in {about.triples} triples, {about.complete} complete"),
        ("types", _listed(about.types)),
        ("plausible", _listed(about.plausible)),
        ("states", _listed(about.states)),
        ("conflict pairs", _listed(about.pairs)),
        ("adjacent", f"{about.adjacent} of {sum(about.distances.values())} conflicts"),
        ("swapped are", _listed({f"{k} in conflict": n for k, n in about.swaps.items()})),
        ("replaced is", _listed(about.replacements)),
    ]
    places = list(about.locations.items())
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    rows.append(("locations", f"{_listed(dict(places[:_SHOWN]))}{more}"))
    if about.domains:
        rows.append(("domains", _listed(about.domains)))
    return [tuple(row) for row in rows]


def _story(story: Story) -> str:
    kind = "plausible" if story.plausible else f"{story.type or 'no type'}, {story.state}"
    lines = [f"  story {story.row} ({story.example_id}) {kind}"]
    for place, sentence in enumerate(story.sentences):
        mark = "*" if place in (story.pair or ()) else " "
        lines.append(f"   {mark}{place} {sentence}")
    return "\n".join(lines)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in counts.items()) or "none"


_COUNTED = ("states_filled_on_plausible_story",)
_CONTRACT = ("order_not_a_swap", "cloze_not_one_replacement")
_RENAMED = {"worker_id_of_one_story": "worker_id_not_GAP"}
_RENAMED_V1 = {
    "plausible_but_has_breakpoint": "plausible_true_with_breakpoint",
    "sentences_not_length": "sentences_not_5",
    "confl_pairs_disagree": "confl_pairs_disagree_with_sents_breakpoint",
}
_SHORTENED = ("outer_spaces_in_entity", "human_entity_is_not_actor", "object_entity_not_listed")
_FIRST = 10


def audit_record(file: StorySuite) -> dict[str, JsonValue]:
    """Counts, findings and how variants are made, of the whole file.

    Stories are named by row, in GITA v1 by key. What is found in many stories there is a count
    and the first ten keys.
    """
    rows = dict.fromkeys(CHECKED[file.format], ()) | {
        finding.check.name: finding.rows for finding in audit(file)
    }
    return _record_v1(file, rows) if file.format == "gita-v1" else _record(file, rows)


def _record(file: StorySuite, wrong: Mapping[str, tuple[int, ...]]) -> dict[str, JsonValue]:
    about = count_stories(file.stories)
    issues: dict[str, JsonValue] = {
        _RENAMED.get(name, name): len(rows) if name in _COUNTED else list(rows)
        for name, rows in wrong.items()
        if name not in _CONTRACT
    }
    contract: dict[str, JsonValue] = {
        "order_true_two_sentence_swap": sum(about.swaps.values()),
        "order_not_a_swap": list(wrong["order_not_a_swap"]),
        "cloze_one_replacement": sum(about.replacements.values()),
        "cloze_not_one_replacement": list(wrong["cloze_not_one_replacement"]),
        "order_pair_is": dict(about.swaps),
        "cloze_new_sentence_is": dict(about.replacements),
    }
    audited: dict[str, JsonValue] = {
        "n_docs": about.stories,
        "counts_by_type": dict(about.types),
        "counts_by_plausible": dict(about.plausible),
        "counts_code_groups": _code_groups(file),
        "state_counts_implausible": dict(about.states),
        "conflict_pair_counts_implausible": dict(about.pairs),
        "conflict_distance_counts_implausible": {
            str(n): count for n, count in about.distances.items()
        },
        "n_stories": about.triples,
        "issues": issues,
        "generator_contract": contract,
    }
    corrected = applicable(file.stories)
    if corrected is not None:
        audited["proposed_corrections"] = {
            correction.name: dict(correction.changes) for correction in corrections(corrected)
        }
    return audited


def _record_v1(file: StorySuite, wrong: Mapping[str, tuple[int, ...]]) -> dict[str, JsonValue]:
    keys = [story.key for story in file.stories]
    issues: dict[str, JsonValue] = {}
    for name, rows in wrong.items():
        names: list[JsonValue] = [keys[row] for row in rows]
        if name == "structural":
            issues[name] = {"keys": names} if names else {}
        elif name in _SHORTENED:
            issues[name] = {"n_stories": len(names), "keys": names[:_FIRST]}
        else:
            issues[_RENAMED_V1.get(name, name)] = names
    shapes = Counter(f"{story.type}:{pair_shape(story)}" for story in file.stories)
    issues["confl_pairs_shape"] = dict(shapes)
    counts = Counter(f"{story.type}|{story.plausible}" for story in file.stories)
    codes: dict[str, JsonValue] = {
        name: dict(counts) for name, counts in code_counts(file.stories).items()
    }
    return {
        "n_stories": len(keys),
        "top_level": '{"test": {key: record}}',
        "counts": dict(counts),
        "issues": issues,
        "attribute_value_counts": codes,
    }


def _code_groups(file: StorySuite) -> dict[str, JsonValue]:
    """Group sizes by the letters of the ids, as the paper's code has them."""
    groups = Counter(code_group(story.example_id) for story in file.stories)
    conflicts = (story for story in file.stories if not story.plausible)
    implausible = Counter(code_group(story.example_id) for story in conflicts)
    return {
        "O_in_id": groups["order"],
        "C_in_id": groups["cloze"],
        "neither": groups["plausible"],
        "implausible_O": implausible["order"],
        "implausible_C": implausible["cloze"],
        "implausible_total": implausible.total(),
    }
