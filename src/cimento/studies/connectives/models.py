"""Tables 2 to 6 in the paper's layout: published rows above those of people and models.

Models are asked the user's own copy of the resource, or, where there is none, our own suites of the
same design.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from statistics import stdev
from typing import TYPE_CHECKING, TypeAlias

from cimento.cite.brief import PLL_IN_BRIEF
from cimento.corpus.treebanks import SAMPLE
from cimento.io.values import NoValue, Value
from cimento.paradigms.cloze.judging import CHOSEN, unreachable_items
from cimento.paradigms.cloze.requests import ClozeAnswers
from cimento.paradigms.ratings.estimates import (
    UNACCEPTABLE,
    by_label,
)
from cimento.paradigms.ratings.people import sentence_design
from cimento.paradigms.ratings.runs import RatedRun
from cimento.records.blanks import FORCED_CHOICE
from cimento.records.outcomes import each_outcome
from cimento.records.store import manifest_part
from cimento.report.cells import PERCENT, Shown, count, repeated
from cimento.report.cells import printed as printed_cell
from cimento.report.formatting import number
from cimento.report.grid import EstimateCell, Grid, GridCell
from cimento.statistics.means import mean_of
from cimento.statistics.multiple import holm
from cimento.studies import Cell, Section
from cimento.studies import connectives as printed
from cimento.studies.connectives.cloze import (
    NO_OPTION,
    NOT_ANSWERED,
    OTHER_TIE,
    UNREACHABLE,
    ClassCount,
    ClozeSection,
    choice_counts,
    chosen_by_people,
    table_5,
)
from cimento.studies.connectives.user_copy import (
    CLOZE_ROWS,
    LABEL_ROWS,
    SOURCE,
    TEN_ROWS,
    UserCopy,
    accuracies,
    correlated,
    rho_cells,
)
from cimento.suites.ratings import RatedSentence, RatedSet, rated_of

if TYPE_CHECKING:
    from cimento.kinds.registry import SuiteLike
    from cimento.kinds.run import Run
    from cimento.studies.connectives.text import CountedCorpus

PAIRS_STARTER, BLANKS_STARTER = "it-connectives", "it-connectives-cloze"
PUBLISHED = "(published)"
PEOPLE, PERPLEXITY_MODEL, BLANKS_MODEL = "people", "GePpeTto", "bert-base-italian-xxl-cased"
TOP = 10
"""Completions that are looked at in Table 5."""
SEED = 0
"""Of the bootstrap behind the intervals of means."""

_LABELS: Mapping[str, str] = {**LABEL_ROWS, UNACCEPTABLE: "both unacceptable"}
_CHOSEN: Mapping[str, str] = {
    **CLOZE_ROWS, OTHER_TIE: "Another tie", NO_OPTION: "None of them", NOT_ANSWERED: "Not answered"
}  # fmt: skip
_FOUND: Mapping[str, str] = {**TEN_ROWS, UNREACHABLE: "Target of several tokens"}
_CHOICE_RULES = ("sentence", "left-to-right")
"""The rules by which options of any length are compared, of causal and of masked models."""

_DISJOINT = (
    "NonAcceptable are the grammatical ones alone, without NonAccept+NonGr. The ranges of Table 4"
    " say this of its published rows; of those of Table 2 nothing does."
)
_BEYOND = (
    "The published row is what most people chose. A model's choice is the option that it makes most"
    " probable: 'sentence' compares the filled sentences, 'left-to-right' the option's own tokens."
)
_ONE_MASK = (
    "A masked model fills one mask, as the study's; it cannot give a target of several tokens. A"
    " causal model continues the text before the blank."
)

_PERPLEXITY = (
    "ppl and pppl are exp of the mean surprisal of the tokens. Intervals of their means are made on"
    " the log scale."
)

Cells: TypeAlias = tuple[GridCell, ...]
Lines: TypeAlias = "list[tuple[str, Cells]]"
"""Whose numbers they are, and the numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """The items that Tables 2 to 5 are made of.

    Attributes:
        sentences: of the acceptability section; None where there is none.
        blanks: of the cloze section; None where there is none.
        rated_suite: the sentences as models are asked them; None where there are none.
        blanks_suite: the blanks as models are asked them; None where there are none.
        whose: says in a table whose people and items these are.
        notes: what has to be said below every table, as sentences.
    """

    sentences: RatedSet | None
    blanks: ClozeSection | None
    rated_suite: SuiteLike | None
    blanks_suite: SuiteLike | None
    whose: str
    notes: tuple[str, ...] = ()


def starter_material() -> Material:
    """Our own suites, which nobody has rated yet."""
    from cimento.paradigms.cloze.files import load_cloze
    from cimento.suites.builtin import find_suite
    from cimento.suites.load import open_suite

    ours = (
        f"our own ({PAIRS_STARTER}, {BLANKS_STARTER}), drafts that no native speaker has reviewed"
    )
    return Material(
        sentences=rated_of(open_suite(find_suite(PAIRS_STARTER)).suite),
        blanks=ClozeSection(load_cloze(find_suite(BLANKS_STARTER))),
        rated_suite=PAIRS_STARTER,
        blanks_suite=BLANKS_STARTER,
        whose="our starter items",
        notes=(
            f"Published rows are of the study's items, which are not public; the others of {ours}.",
        ),
    )


def copy_material(copy: UserCopy) -> Material:
    """A user's own copy."""
    blanks_suite: SuiteLike | None = None
    if copy.blanks is not None and copy.blanks_path is not None:
        path = copy.blanks_path
        blanks_suite = str(path) if path.is_dir() else copy.blanks.suite
    return Material(
        sentences=copy.sentences,
        blanks=copy.blanks,
        rated_suite=str(copy.sentences_path) if copy.sentences_path else None,
        blanks_suite=blanks_suite,
        whose="your copy",
    )


def paper_tables(
    material: Material,
    *,
    rated: Sequence[Run] = (),
    filled: Sequence[Run] = (),
    counted: Sequence[CountedCorpus] = (),
) -> dict[str, Grid]:
    """Tables 2 to 6, by the names of their files.

    Args:
        material: the items, with what people said of them.
        rated: runs of the acceptability section.
        filled: runs of the cloze section.
        counted: columns of Table 6.
    """
    tables = {
        "table-2": _table_2(material),
        "table-3": _table_3(material, [ClozeAnswers(run) for run in filled]),
        "table-4": _table_4([RatedRun(run) for run in rated]),
        "table-5": _table_5(material, [ClozeAnswers(run) for run in filled]),
    }
    notes = (*_few_only(material, rated, filled), *material.notes)
    noted = {name: replace(table, notes=(*table.notes, *notes)) for name, table in tables.items()}
    return {**noted, "table-6": _table_6(counted)}


def _few_only(material: Material, rated: Sequence[Run], filled: Sequence[Run]) -> Iterator[str]:
    """What has to be said of runs that were asked some items alone."""
    every = len(material.sentences.sentences) if material.sentences else 0
    sizes = [(run, len(RatedRun(run).sentences), every, "sentences") for run in rated]
    every = len(material.blanks.items) if material.blanks else 0
    sizes += [(run, len(ClozeAnswers(run).items), every, "blanks") for run in filled]
    for run, n, total, what in sizes:
        if n < total:
            yield f"{run.model}: only {n} of {total} {what}."


def model_sections(runs: Sequence[Run]) -> list[Section]:
    """For each model, its perplexities beside people's scores, and accuracies of pairs.

    With several models, Holm's correction of p is over all of them.
    """
    rated = [(run, run.values.columns[run.perplexity]) for run in map(RatedRun, runs)]
    rhos = {run.model: correlated(run.sentences, of) for run, of in rated if run.n_rated}
    adjusted = holm([rho.p for rho in rhos.values()]) if len(rhos) > 1 else [None] * len(rhos)
    p_holm = dict(zip(rhos, adjusted, strict=True))
    sections = []
    for run, perplexities in rated:
        tables: dict[tuple[str, str], Iterable[Cell]] = {}
        if rho := rhos.get(run.model):
            p = p_holm[run.model]
            cells = rho_cells(rho, p_holm=p, n_models=len(rhos))
            uncompared = (replace(cell, equal=None) for cell in cells)
            tables["section 4", "Human scores and perplexities"] = uncompared
        title = "Pairs whose acceptable sentence is the less perplexing one"
        tables["Pairs", title] = accuracies(run.sentences, perplexities)
        sections += [
            Section(name=name, title=f"{title}, {run.model}", source=SOURCE, cells=tuple(cells))
            for (name, title), cells in tables.items()
        ]
    return sections


def _table_2(material: Material) -> Grid:
    lines_of: dict[str, Lines] = {
        label: [
            (
                f"{PEOPLE} {PUBLISHED}",
                (printed_cell(f"{row.mean:.3f}"), printed_cell(f"{row.sd:.3f}")),
            )
        ]
        for label, row in printed.TABLE_2.items()
    }
    sentences = material.sentences.sentences if material.sentences else ()
    rated = [sentence for sentence in sentences if sentence.mean is not None]
    for name, group in by_label(rated).items():
        means = {sentence.id: sentence.mean for sentence in group if sentence.mean is not None}
        mean, values = _mean(group, means)
        deviation = number(stdev(values) if len(values) > 1 else None, absent="")
        line = (mean, deviation)
        lines_of.setdefault(_LABELS[name], []).append((material.whose, line))
    nobody = f"Nobody has rated {material.whose}." if sentences else _lacks(material, "sentences")
    notes = (_DISJOINT,) if rated else (nobody,)
    return _grid(
        "Table 2. Scores that people gave, from 1 to 5: mean over sentences, and standard deviation"
        " of the sentences' means (n - 1)",
        ("Acceptability label", "by", "AvgIntScore", "StDev"),
        lines_of,
        notes,
    )


def _lacks(material: Material, what: str) -> str:
    return f"There are no {what} in {material.whose}."


def _table_3(material: Material, runs: Iterable[ClozeAnswers]) -> Grid:
    lines_of: dict[str, Lines] = {
        label: [(f"{PEOPLE} {PUBLISHED}", _counted(row.count, row.percent))]
        for label, row in printed.TABLE_3.items()
    }
    blanks = material.blanks
    answered = blanks is not None and any(blanks.choices.values())
    if blanks and answered:
        _add(
            lines_of,
            _CHOSEN,
            material.whose,
            [choice_counts(blanks.suite, chosen_by_people(blanks))],
        )
    unscored = []
    for answers in runs:
        rule = next((name for name in _CHOICE_RULES if name in answers.choices), "")
        outcomes = [
            outcome
            for outcome in each_outcome(answers.run.outcomes())
            if outcome.question == FORCED_CHOICE and outcome.method == rule
        ]
        roles = {
            outcome.item: outcome.groups[CHOSEN] for outcome in outcomes if CHOSEN in outcome.groups
        }
        _add(
            lines_of, _CHOSEN, f"{answers.run.model}, {rule}", [choice_counts(answers.suite, roles)]
        )
        if lost := len(outcomes) - len(roles):
            unscored.append(f"{answers.run.model}: {lost} items have an option without a score.")
    said = f"Nobody has answered {material.whose}." if blanks else _lacks(material, "blanks")
    nobody = [] if answered else [said]
    return _grid(
        "Table 3. The option that most people chose, and that a model prefers: items and %",
        ("Cloze task choice", "by", "N. Items", "(%)"),
        lines_of,
        (_BEYOND, *nobody, *unscored),
    )


def _table_4(runs: Iterable[RatedRun]) -> Grid:
    lines_of: dict[str, Lines] = {
        label: [
            (
                f"{PERPLEXITY_MODEL} {PUBLISHED}",
                tuple(printed_cell(f"{value:.3f}") for value in (row.mean, row.low, row.high)),
            )
        ]
        for label, row in printed.TABLE_4.items()
    }
    notes = [_DISJOINT]
    for run in runs:
        values = run.values.columns[run.perplexity]
        for name, group in by_label(run.sentences).items():
            mean, known = _mean(group, values, positive=True)
            least, most = (min(known), max(known)) if known else (None, None)
            ends = (number(least, absent=""), number(most, absent=""))
            line = (f"{run.model}, {run.perplexity}", (mean, *ends))
            lines_of.setdefault(_LABELS[name], []).append(line)
        notes.append(f"{run.model}: {run.first_token}.")
        notes += _masking(run)
    notes.append(_PERPLEXITY)
    return _grid(
        "Table 4. Perplexity of sentences: mean, smallest and largest",
        ("AcceptabilityLabel", "model", "AvgPPL", "minPPL", "maxPPL"),
        lines_of,
        notes,
    )


def _masking(run: RatedRun) -> list[str]:
    """By which rule a masked model was asked; nothing of others."""
    rule = str(manifest_part(run.run.manifest, "asking", "policy").get("pll", ""))
    if run.run.model_kind != "masked" or rule not in PLL_IN_BRIEF:
        return []
    brief = PLL_IN_BRIEF[rule].partition(" [@")[0]
    return [f"{run.model}: pppl by {brief} (--pll {rule})."]


def _table_5(material: Material, runs: Iterable[ClozeAnswers]) -> Grid:
    lines_of: dict[str, Lines] = {}
    for label, row in printed.TABLE_5_TEN.items():
        first = printed.TABLE_5_FIRST.get(label)
        ends = _counted(first.count, first.percent) if first else ("", "")
        line = (f"{BLANKS_MODEL} {PUBLISHED}", (*_counted(row.count, row.percent), *ends))
        lines_of[label] = [line]
    blanks = material.blanks
    if blanks and blanks.completions:
        _add(lines_of, _FOUND, "completions file", table_5(blanks.suite, blanks.completions, k=TOP))
    for answers in (answers for answers in runs if answers.methods):
        completions = answers.by_method(answers.methods[0])
        lacking = unreachable_items(answers, answers.items)
        classes = table_5(answers.suite, completions, k=TOP, unreachable=lacking)
        _add(lines_of, _FOUND, f"{answers.run.model}, {answers.methods[0]}", classes)
    return _grid(
        f"Table 5. Items with the target, the plausible alternative, both or neither among {TOP}"
        " completions, and first",
        ("Predict.", "model", "n", "%", "n", "%"),
        lines_of,
        (_ONE_MASK,),
        groups=("", "", f"{TOP} match", f"{TOP} match", "1st match", "1st match"),
    )


def _table_6(counted: Sequence[CountedCorpus]) -> Grid:
    columns = list(dict.fromkeys([*printed.TABLE_6, *(corpus.name for corpus in counted)]))
    by_connective: dict[str, Lines] = {}
    for connective in next(iter(printed.TABLE_6.values())):
        shares = {name: rows[connective] for name, rows in printed.TABLE_6.items()}
        above = {name: _counted(share.count, share.percent) for name, share in shares.items()}
        by_connective[connective] = [("published", _across(columns, above))]
        if counted:
            here = {}
            for corpus in counted:
                percent = corpus.counts.percent(connective, "words")
                shown = Shown(number(percent, absent=""), percent, PERCENT)
                here[corpus.name] = (count(corpus.counts.hits.get(connective, 0)), shown)
            by_connective[connective].append(("counted", _across(columns, here)))
    notes = [f"{corpus.described}." for corpus in counted]
    notes.append("Counts of whole files have no intervals; those of a part are lower bounds.")
    if not {corpus.name for corpus in counted} & set(printed.TABLE_6):
        notes.append(
            f"The study's treebanks are not here (--data). {SAMPLE} is our own and was written to"
            " hold each connective three times or more, so that its shares say nothing of Italian."
        )
    return _grid(
        "Table 6. Occurrences of the connectives, and % of all words",
        ("Conn.", "", *("n", "%") * len(columns)),
        by_connective,
        notes,
        groups=("", "", *(name for name in columns for _ in range(2))),
    )


def _across(columns: Sequence[str], cells: Mapping[str, tuple[str, str]]) -> Cells:
    """The two cells of each column, blank where a column has none."""
    return tuple(text for name in columns for text in cells.get(name, ("", "")))


def _mean(
    group: Sequence[RatedSentence], values: Mapping[str, Value], *, positive: bool = False
) -> tuple[EstimateCell, list[float]]:
    """The mean of some sentences with its interval, and the values that they have.

    Args:
        group: the sentences.
        values: of each, by id.
        positive: whether the interval is made on the log scale, by the delta method.
    """
    perplexities = {
        sentence.id: value
        for sentence in group
        if not isinstance(value := values[sentence.id], NoValue)
    }
    known = [sentence for sentence in group if sentence.id in perplexities]
    mean = mean_of(list(perplexities.values()), sentence_design(known), seed=SEED)
    low, high = mean.low, mean.high
    if positive and mean.value is not None and high is not None:
        reach = (high - mean.value) / mean.value
        low, high = mean.value * exp(-reach), mean.value * exp(reach)
    cell = EstimateCell(
        value=mean.value, low=low, high=high, n=mean.n, reason=mean.reason or "", digits=3
    )
    return cell, list(perplexities.values())


def _add(
    lines_of: dict[str, Lines],
    names: Mapping[str, str],
    who: str,
    parts: Sequence[Sequence[ClassCount]],
) -> None:
    """Add a line to each class: its items and their share, of one part or of several."""
    by_name = [{column.name: column for column in part} for part in parts]
    for name in dict.fromkeys(name for part in by_name for name in part):
        cells = (cell for part in by_name for cell in _share(part.get(name)))
        lines_of.setdefault(names[name], []).append((who, tuple(cells)))


def _share(counted: ClassCount | None) -> tuple[GridCell, GridCell]:
    if counted is None:
        return "", ""
    interval = counted.interval
    cell = EstimateCell(
        value=counted.percent,
        low=interval.low,
        high=interval.high,
        n=len(counted.held),
        reason=interval.reason or "",
        digits=2,
        unit=PERCENT,
    )
    return count(counted.count), cell


def _counted(number: int, percent: str) -> tuple[str, str]:
    """A count and its share, as they were printed."""
    return count(number), printed_cell(percent, unit=PERCENT)


def _grid(
    title: str,
    header: tuple[str, ...],
    lines_of: Mapping[str, Lines],
    notes: Iterable[str],
    *,
    groups: tuple[str, ...] = (),
) -> Grid:
    """A table with a block of lines for each label, the published line first."""
    rows: list[Cells] = []
    rules = set()
    for label, lines in lines_of.items():
        rules.add(len(rows))
        names = [label, *(repeated(label) for _ in lines[1:])]
        rows += [(name, who, *cells) for name, (who, cells) in zip(names, lines, strict=True)]
    return Grid(
        title=title,
        header=header,
        groups=groups,
        rows=tuple(rows),
        rules=frozenset(rules - {0}),
        labels=2,
        notes=tuple(notes),
        keys={"": "source"},
    )
