"""SyntaxGym's circuits and SG score: what Hu et al. 2020 published, and models of one's own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import InputError
from cimento.io.values import group_by
from cimento.studies import Cell, beside, need, printed_tables, read_rows, section_of

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.report.grid import Grid

SOURCE = "Hu et al. 2020, doi:10.18653/v1/2020.acl-main.158"
BRAIN_SCORE = "distilgpt2, github.com/brain-score/language, benchmarks/syntaxgym"
LANGUAGE = "en"

CIRCUITS: Mapping[str, tuple[str, ...]] = {
    "Licensing": (
        *(f"npi_{place}_{word}" for place in ("orc", "src") for word in ("any", "ever")),
        *(
            f"reflexive_{place}_{gender}"
            for place in ("orc", "prep", "src")
            for gender in ("fem", "masc")
        ),
    ),
    "Long-Distance Dependencies": (
        "fgd_hierarchy", "fgd_object", "fgd_pp", "fgd_subject", "cleft", "cleft_modifier",
    ),
    "Agreement": ("number_orc", "number_prep", "number_src"),
    "Garden-Path Effects": (
        "npz_ambig", "npz_ambig_mod", "npz_obj", "npz_obj_mod", "mvrr", "mvrr_mod",
    ),
    "Gross Syntactic State": (
        "subordination", "subordination_orc-orc", "subordination_pp-pp", "subordination_src-src",
    ),
    "Center Embedding": ("center_embed", "center_embed_mod"),
}  # fmt: skip
"""The six circuits, and the suites of each."""

IN_NO_SCORE = ("fgd-embed3", "fgd-embed4", "nn-nv-rpl")
"""Suites that were released and are in no score of the study."""

SCORED = tuple(suite for suites in CIRCUITS.values() for suite in suites)
SUITES = frozenset((*SCORED, *IN_NO_SCORE))

SG_SCORE = "SG score"
_VOTING = ("1gram", "ngram", "ngram-single")
"""Models whose seeds differ in how ties are broken, and which vote item by item."""
_NAMES = {
    "1gram": "1-gram",
    "gpt-2": "GPT-2",
    "gpt-2-pretrained": "GPT-2",
    "gpt-2-xl-pretrained": "GPT-2-XL",
    "grnn": "GRNN",
    "jrnn": "JRNN",
    "ngram": "n-gram",
    "ordered-neurons": "ON-LSTM",
    "rnng": "RNNG",
    "transformer-xl": "Transformer-XL",
    "vanilla": "LSTM",
}
_MEANS = (
    "A circuit is the mean of its suites, the SG score that of the 31 suites of all circuits;"
    " without intervals, since the suites are not a sample of suites."
)
_CONVENTIONS = (
    "Of fgd_hierarchy the first of its two predictions counts, as in the published verdicts.",
    "Brain-score takes both predictions of fgd_hierarchy, which contradict each other.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """What a model scores on SyntaxGym's suites.

    Attributes:
        model: its name.
        published: whether somebody else published the verdicts.
        accuracies: suite to the proportion of its items that the model gets right.
        sg_score: mean over the 31 suites of the score; None where one of them is missing.
        circuits: circuit to the mean over its suites; None where one of them is missing.
        reason: why a score is None.
    """

    model: str
    published: bool
    accuracies: Mapping[str, float]
    sg_score: float | None
    circuits: Mapping[str, float | None]
    reason: str = ""


Verdicts = Mapping[str, Mapping[str, tuple[int, int]]]
"""Model with its corpus and seed, to suite, to correct items and all items."""


def syntaxgym_scores(
    model: str, accuracies: Mapping[str, float], *, published: bool = False
) -> Scores:
    """The scores of one model.

    Args:
        model: its name.
        accuracies: suite to the proportion of its items that the model gets right.
        published: whether somebody else published them.
    """
    missing = [suite for suite in SCORED if suite not in accuracies]
    reason = f"{len(missing)} of {len(SCORED)} suites are missing"
    return Scores(
        model=model,
        published=published,
        accuracies=accuracies,
        sg_score=_mean(accuracies, SCORED),
        circuits={name: _mean(accuracies, suites) for name, suites in CIRCUITS.items()},
        reason=reason if missing else "",
    )


def shipped_verdicts() -> Verdicts:
    """The released verdicts that come with cimento."""
    printed = printed_tables("agreement")
    items = printed["Hu et al. 2020, items of each suite"]["suites"]
    released = printed["Hu et al. 2020, released verdicts"]
    return {
        model: {suite: (right, items[suite]) for suite, right in suites.items()}
        for model, suites in released.items()
    }


def read_verdicts(paths: Iterable[Path]) -> Verdicts:
    """Released verdicts, item by item (``syntaxgym_results_*.csv``).

    The seeds of an n-gram model differ in how ties are broken. They vote: an item is right where
    more than half of the seeds have it right (notebooks/main.py of the study).

    Args:
        paths: of the files.

    Raises:
        InputError: a file cannot be read, or says two things about one item.
    """
    verdicts: dict[tuple[str, str, str], bool] = {}
    for path in paths:
        rows = read_rows(path)
        need(path, rows, ("model", "suite", "item", "correct"))
        for row in rows:
            key = (row["model"], row["suite"], row["item"])
            right = _right(path, row["correct"])
            if verdicts.setdefault(key, right) != right:
                raise InputError(
                    where=str(path),
                    seen=f"{key[0]}, {key[1]}, item {key[2]} is right here and wrong elsewhere",
                    todo="Give each file once.",
                )
    return _counted(_voted(verdicts))


def published_scores(verdicts: Verdicts) -> list[Scores]:
    """Published models, the seeds of one model and corpus averaged, the best first.

    Args:
        verdicts: of each seed.
    """
    all_scores = []
    for name, models in group_by(verdicts, _title).items():
        title = name if len(models) == 1 else f"{name}, {len(models)} seeds"
        shares = _over_seeds([verdicts[model] for model in models])
        all_scores.append(syntaxgym_scores(title, shares, published=True))
    return sorted([*all_scores, distilgpt2()], key=lambda scores: -(scores.sg_score or 0.0))


def distilgpt2() -> Scores:
    """What brain-score published of distilgpt2, by the conjunction of all predictions."""
    printed = printed_tables("agreement")["brain-score, distilgpt2"]["suites"]
    accuracies = {suite: float(value) for suite, value in printed.items()}
    return syntaxgym_scores("distilgpt2", accuracies, published=True)


def run_scores(runs: Sequence[Run]) -> list[Scores]:
    """The scores of models of one's own, by the first prediction of each suite.

    An item without a verdict is left out of all accuracies.

    Args:
        runs: of SyntaxGym's suites.
    """
    models: dict[str, dict[str, float]] = {}
    for run in runs:
        outcomes = run.outcomes()
        first = outcomes.filter(outcomes["question"] == outcomes["question"][0])
        held = [verdict == "pass" for verdict in first["verdict"] if verdict != "unscored"]
        accuracies = models.setdefault(run.model, {})
        if held:
            accuracies[run.suite.name] = sum(held) / len(held)
    return [syntaxgym_scores(model, accuracies) for model, accuracies in models.items()]


def circuit_table(rows: Sequence[Scores], notes: Iterable[str] = ()) -> Grid:
    """SG score and circuits, the published models above a line.

    Args:
        rows: the published first.
        notes: more of what is below the table.
    """
    reasons = [f"{row.model}: {row.reason}." for row in rows if row.reason]
    return _grid(
        "SyntaxGym: SG score and circuits",
        [(row, [row.sg_score, *row.circuits.values()]) for row in rows],
        header=("model", SG_SCORE, *CIRCUITS),
        notes=(_MEANS, *_CONVENTIONS, *reasons, *notes),
    )


def suite_accuracies(rows: Sequence[Scores]) -> Grid:
    """The accuracy on every suite, the published models above a line.

    Args:
        rows: the published first.
    """
    names = (*SCORED, *IN_NO_SCORE)
    circuits = [circuit for circuit, suites in CIRCUITS.items() for _ in suites]
    return _grid(
        "SyntaxGym: accuracy on every suite",
        [(row, [row.accuracies.get(name) for name in names]) for row in rows],
        header=("model", *names),
        groups=("", *circuits, *("in no score" for _ in IN_NO_SCORE)),
        notes=_CONVENTIONS,
    )


@section_of(
    "printed",
    title="SyntaxGym: printed scores against published verdicts",
    source=f"{SOURCE}, notebooks/main.ipynb, cell 17; {BRAIN_SCORE}, test.py",
)
def checked_scores(verdicts: Verdicts) -> Iterator[Cell]:
    """The printed scores beside those that the published verdicts give.

    Args:
        verdicts: of each seed.
    """
    printed = printed_tables("agreement")
    for model, circuits in printed["Hu et al. 2020, notebook"].items():
        for circuit, value in circuits.items() if model in verdicts else ():
            scores = syntaxgym_scores(model, _shares(verdicts[model]))
            yield beside(f"{model}: {circuit}", scores.circuits[circuit], value)
    mean = printed["brain-score, distilgpt2"]["mean"]
    note = "computed from the 31 accuracies that the same repository lists"
    yield beside("distilgpt2: mean of 31 suites", distilgpt2().sg_score, mean, note=note)


@section_of(
    "sg-eval",
    title="sg-eval's example: accuracy from recorded surprisals",
    source="github.com/pqian11/sg-eval, what score.py prints",
)
def replayed_example(suite: Path, surprisals: Path, spec: Path) -> Iterator[Cell]:
    """The example of sg-eval, from its recorded surprisals.

    Args:
        suite: the suite fgd_hierarchy.
        surprisals: recorded by a model, token by token.
        spec: how that model's tokenizer marks words.

    Raises:
        CimentoError: a file cannot be read, or the files do not belong together.
    """
    from cimento.evaluation import evaluate

    run = evaluate(suite, f"replay:{surprisals}", compat="syntaxgym", spec=spec)
    name = run.suite.name
    printed = printed_tables("agreement")["sg-eval, example"]
    value = run_scores([run])[0].accuracies.get(name)
    note = "the first of two predictions, which contradict each other"
    yield beside(name, value, printed.get(name), note=note)


def _mean(accuracies: Mapping[str, float], suites: Sequence[str]) -> float | None:
    known = [accuracies[suite] for suite in suites if suite in accuracies]
    return math.fsum(known) / len(known) if len(known) == len(suites) else None


def _right(path: Path, text: str) -> bool:
    if text not in ("True", "False"):
        raise InputError(
            where=str(path),
            seen=f"correct is {text!r}, and neither True nor False",
            todo="Give the file as it was released.",
        )
    return text == "True"


def _parts(model: str) -> tuple[str, str]:
    """The name and the corpus of a released model, such as ``rnng_bllip-sm_64924``."""
    name, _, rest = model.partition("_")
    return name, rest.rpartition("_")[0] if "_" in rest else rest


def _title(model: str) -> str:
    name, corpus = _parts(model)
    trained = corpus.upper() or ("pretrained" if name.endswith("-pretrained") else "")
    return " ".join(filter(None, (_NAMES.get(name, name), trained)))


def _voted(verdicts: Mapping[tuple[str, str, str], bool]) -> dict[tuple[str, str, str], bool]:
    """The verdicts, those of n-gram models by majority over their seeds."""

    def voter(key: tuple[str, str, str]) -> tuple[str, str, str]:
        name, corpus = _parts(key[0])
        return (f"{name}_{corpus}_0", *key[1:]) if name in _VOTING else key

    return {
        key: 2 * sum(verdicts[one] for one in ballots) > len(ballots)
        for key, ballots in group_by(verdicts, voter).items()
    }


def _counted(verdicts: Mapping[tuple[str, str, str], bool]) -> Verdicts:
    counts: dict[str, dict[str, tuple[int, int]]] = {}
    for (model, suite, _), right in verdicts.items():
        suites = counts.setdefault(model, {})
        correct, n = suites.get(suite, (0, 0))
        suites[suite] = (correct + right, n + 1)
    return counts


def _shares(suites: Mapping[str, tuple[int, int]]) -> dict[str, float]:
    return {suite: right / n for suite, (right, n) in suites.items()}


def _over_seeds(seeds: Sequence[Mapping[str, tuple[int, int]]]) -> dict[str, float]:
    """The mean accuracy over seeds of every suite that all of them have."""
    shares = [_shares(suites) for suites in seeds]
    return {
        suite: math.fsum(row[suite] for row in shares) / len(shares)
        for suite in shares[0]
        if all(suite in row for row in shares)
    }


def _grid(
    title: str,
    cells: Sequence[tuple[Scores, Sequence[float | None]]],
    *,
    header: tuple[str, ...],
    notes: tuple[str, ...],
    groups: tuple[str, ...] = (),
) -> Grid:
    from cimento.report.formatting import number
    from cimento.report.grid import Grid

    published = sum(row.published for row, _ in cells)
    return Grid(
        title=title,
        header=header,
        groups=groups,
        rows=tuple(
            (
                f"{row.model} (published)" if row.published else row.model,
                *(number(value, absent="") for value in values),
            )
            for row, values in cells
        ),
        rules=frozenset({published}) if 0 < published < len(cells) else frozenset(),
        notes=(f"Published rows: {SOURCE}, data/raw/sg_results; {BRAIN_SCORE}.", *notes),
    )
