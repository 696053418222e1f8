"""What models are asked for the study, and what they answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.paradigms.cloze.detecting import MULTIWORD, SHEET
from cimento.paradigms.cloze.judgments import (
    Expectation,
    Fits,
    human_judgments,
)
from cimento.paradigms.cloze.portuguese import Instance
from cimento.paradigms.cloze.requests import Candidate, ClozeAnswers
from cimento.studies.portuguese.data import StudyData
from cimento.studies.portuguese.grammar import (
    DIMENSIONS,
    instance_expectations,
)
from cimento.suites.cloze import ClozeItem

if TYPE_CHECKING:
    from cimento.kinds.run import Run

MULTIWORD_STARTER = "pt-idioms"
GRAMMAR_STARTER = "pt-grammar-templates"

_VERB_GROUPS: Mapping[str, str] = {
    "past indicative": "1", "present indicative": "2", "future indicative": "2",
    "infinitive": "3", "gerund": "4", "present subjunctive": "5", "past subjunctive": "6",
    "future subjunctive": "7",
}  # fmt: skip
"""What the starter templates of verb agreement expect, to the study's group."""

_PERSONS: Mapping[str, str] = {
    "1sg": "pron_eu", "2sg": "pron_tu", "3sg": "pron_ele",
    "1pl": "pron_nos", "2pl": "pron_vos", "3pl": "V:P3p",
}  # fmt: skip
_TENSES: Mapping[str, str] = {
    "presente": "Indicativo presente",
    "imperfeito": "Indicativo pretérito imperfeito",
    "perfeito": "Indicativo pretérito perfeito simples",
    "maisqueperfeito": "Indicativo Pretérito Mais que Perfeito Simples",
    "futuro": "Indicativo Futuro do Presente Simples",
    "condicional": "Condicional Futuro do Pretérito Simples",
}
_WEATHER = ("chov", "vent", "trovej", "nev")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswers:
    """The candidates of one model for both halves of the study.

    Attributes:
        model: its label.
        multiwords: items with a masked word of an expression.
        hits: candidates for them.
        instances: of the tests of grammar.
        candidates: candidates for them.
        expected: what each of these expects, as far as it says so.
        people: what annotators of the run said of them.
        warnings: what should be known of the multiword items, as sentences.
    """

    model: str
    multiwords: Sequence[ClozeItem] = ()
    hits: Sequence[Candidate] = ()
    instances: Sequence[Instance] = ()
    candidates: Sequence[Candidate] = ()
    expected: Mapping[str, Expectation]
    people: Fits = field(default_factory=dict)
    warnings: Sequence[str] = ()


def model_answers(model: str, runs: Sequence[Run], released: StudyData | None) -> ModelAnswers:
    """What a model gave, from its runs of the two suites of the study.

    Args:
        model: its label.
        runs: of it.
        released: the authors' files, with the labels of their sentences; None for our own.
    """
    multi = next((run for run in runs if _is_multiword(run)), None)
    grammar = next((run for run in runs if not _is_multiword(run)), None)
    words, tests = (ClozeAnswers(run) if run else None for run in (multi, grammar))
    known = {instance.item.id: instance for instance in released.instances} if released else {}
    items = tests.items if tests else ()
    instances = [known.get(item.id) or starter_instance(item) for item in items]
    return ModelAnswers(
        model=model,
        multiwords=words.items if words else (),
        hits=words.candidates(words.methods[0]) if words else (),
        instances=instances,
        candidates=tests.candidates(tests.methods[0]) if tests else (),
        expected=instance_expectations(instances),
        people=human_judgments(grammar.folder) if grammar else {},
        warnings=multi.warnings if multi else (),
    )


def _is_multiword(run: Run) -> bool:
    return "expression" in ClozeAnswers(run).items[0].columns


def is_of_grammar(run: Run) -> bool:
    """Whether a run is of the study's tests of grammar, or of our own ones."""
    columns = ClozeAnswers(run).items[0].columns
    test = columns.get("dimension") or columns.get("phenomenon", "").replace(" ", "_")
    return test in DIMENSIONS.values()


def starter_instance(item: ClozeItem) -> Instance:
    """A starter item of `GRAMMAR_STARTER` with the labels that the study's tables group by."""
    columns, category = item.columns, item.columns.get("category", "")
    dimension = columns.get("phenomenon", "").replace(" ", "_")
    seed = columns.get("seed", "")
    parts = [part.partition("_") for part in category.split("; ") if part]
    tense = _TENSES.get(parts[-1][0]) if parts else None
    persons = {person for _, _, person in parts}
    case: str | None = category
    group = ""
    if dimension == "verb_agreement":
        group, case = _VERB_GROUPS[columns["tense"]], f"pron_{seed}"
    elif dimension == "subject_agreement":
        # A form of two persons belongs to none of the rows of Table 6.
        case = _PERSONS.get(persons.pop()) if len(persons) == 1 else None
    elif dimension == "impersonal_verbs":
        group = "1" if seed.startswith(_WEATHER) else "2"
        tense = f"{tense.split()[0]}/{tense}" if tense else None
    elif dimension == "connectors":
        group = columns["template"].rpartition("-")[2]
    kept = {**columns, "dimension": dimension, "group": group, "seed": seed}
    asked = ClozeItem(item.id, item.before, item.after, item.options, columns=kept)
    return Instance(asked, categories=tuple(category.split("; ")), case=case, tense=tense)


def asked_suites(data: Path | None) -> list[str]:
    """The suites for models: the authors' sentences if available, otherwise our own.

    Args:
        data: the authors' folder as released, or one file of it; None for our own sentences.

    Raises:
        UsageError: neither file of sentences is there.
    """
    if data is None:
        return [MULTIWORD_STARTER, GRAMMAR_STARTER]
    folder = data.parent if data.is_file() else data
    names = [data.name] if data.is_file() else [MULTIWORD, SHEET]
    paths = [str(folder / name) for name in (MULTIWORD, SHEET) if name in names]
    paths = [path for path in paths if Path(path).is_file()]
    if not paths:
        raise UsageError(
            where=f"--data {data}",
            seen=f"neither {MULTIWORD} nor {SHEET} is there, whose sentences are asked",
            todo="Give the folder as the authors released it, or leave --data out.",
        )
    return paths
