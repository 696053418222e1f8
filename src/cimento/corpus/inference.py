"""Inference items from sentences with connectives: hypotheses that make the relation explicit.

The sentence is the premise. One hypothesis follows from the sense of its connective, one
contradicts it, and one is neutral; the model, or a person, labels each with one of three words.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from cimento.corpus.connectives.inventories import Connective, Inventory
from cimento.errors import InputError, UsageError
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_toml
from cimento.io.templates import filled
from cimento.suites import Condition, Item, Suite

InferenceLabel: TypeAlias = Literal["entailment", "neutral", "contradiction"]
LABELS: tuple[InferenceLabel, ...] = get_args(InferenceLabel)

Ambiguous: TypeAlias = Literal["skip", "first"]
"""The treatment of a connective with several senses: left out, or taken in the first sense."""

ACCEPTABLE = ("acceptable", "good", "sentence")
CONNECTIVE, SENSE = "connective", "sense"
ADVERB = "ADV"
BLANK = "___"

_FOLDER = Path(__file__).parents[1] / "data" / "nli"
_ENDS = " \t\r\n\u00a0\u202f.;:,!…"
_NO_CLAUSE = re.compile(r"(che|di|a|da|per)\b", re.IGNORECASE)
_REGIONS = 3
_MARKS = (",", ";", ":", ".", "!", "?")


@dataclass(frozen=True, slots=True, kw_only=True)
class HypothesisWording:
    """The wording of hypotheses in a language.

    Attributes:
        language: ISO 639-1 code.
        status: state of review, such as ``draft, not yet reviewed by native speakers``.
        prompt: prompt with ``{premise}``, ``{hypothesis}`` and ``{blank}``.
        labels: the word for each label.
        neutral: hypotheses that are neutral whatever the sense.
        senses: hypotheses by sense and label, with ``{first}`` and ``{second}``.
    """

    language: str
    status: str
    prompt: str
    labels: Mapping[InferenceLabel, str]
    neutral: tuple[str, ...]
    senses: Mapping[str, Mapping[InferenceLabel, str]]

    def of(self, sense: str) -> Mapping[InferenceLabel, str] | None:
        """The hypotheses of a sense, or of the most specific sense above it."""
        levels = sense.split(".")
        while levels:
            if texts := self.senses.get(".".join(levels)):
                return texts
            levels.pop()
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceItem:
    """A premise and a hypothesis.

    Attributes:
        id: id of the source item, a hyphen and the label.
        source: id of the source item, which three items share.
        premise: the sentence.
        hypothesis: the hypothesis about it.
        label: relation of the hypothesis to the premise.
        connective: connective of the premise.
        sense: sense of the connective in the premise.
        sense_by: origin of the sense: ``column`` if a person gave it, ``only`` if it is the only
            one, ``first`` if it is assumed.
        text: the prompt, up to the blank and after it.
    """

    id: str
    source: str
    premise: str
    hypothesis: str
    label: InferenceLabel
    connective: str
    sense: str
    sense_by: str
    text: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Inferences:
    """The inference items made from a suite.

    Attributes:
        items: three for each premise.
        passed: the reasons for source items without inference items, by item.
    """

    items: tuple[InferenceItem, ...]
    passed: Mapping[str, str]


def open_wording(name: str) -> HypothesisWording:
    """The built-in wording of a language, or the wording in a TOML file.

    Raises:
        InputError: there is no such wording, or it lacks something.
    """
    path = _FOLDER / f"{name}.toml" if (_FOLDER / f"{name}.toml").is_file() else Path(name)
    try:
        table = parse_toml(read_bytes(path).decode("utf-8-sig"))
        wording = HypothesisWording(
            language=str(table["language"]),
            status=str(table.get("status", "")),
            prompt=str(table["prompt"]),
            labels={label: str(table["labels"][label]) for label in LABELS},
            neutral=tuple(map(str, table["neutral"])),
            senses={
                sense: {label: str(texts[label]) for label in ("entailment", "contradiction")}
                for sense, texts in table["senses"].items()
            },
        )
    # Text that is not TOML, or not UTF-8, raises a ValueError.
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            where=str(path),
            seen=f"is not a wording of hypotheses ({error})",
            todo='It has language, prompt, neutral, [labels] and [senses."NAME"].',
        ) from error
    _refuse_wording(wording, path)
    return wording


def inferences(
    suite: Suite,
    inventory: Inventory,
    wording: HypothesisWording,
    *,
    seed: int,
    ambiguous: Ambiguous = "skip",
) -> Inferences:
    """Three items for each sentence whose connective has a known sense.

    Args:
        suite: sentences in three regions, before, connective and after, with a column
            ``connective`` and maybe ``sense``, as `cimento corpus finish` writes them.
        inventory: the inventory with the senses.
        wording: the wording of the hypotheses.
        seed: seed of the choice among neutral hypotheses.
        ambiguous: treatment of connectives with several senses, if no column decides.

    Raises:
        UsageError: the suite has no such regions or column.
    """
    if len(suite.region_names) != _REGIONS or CONNECTIVE not in suite.column_names:
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen=f"has the regions {', '.join(suite.region_names)}"
            + ("" if CONNECTIVE in suite.column_names else f", and no column {CONNECTIVE!r}"),
            todo="Give sentences as `cimento corpus finish` makes them: before, connective, after.",
        )
    items: list[InferenceItem] = []
    passed: dict[str, str] = {}
    for item in suite.items:
        made = _of_item(item, suite, inventory, wording, seed, ambiguous)
        if isinstance(made, str):
            passed[item.id] = made
        else:
            items += made
    return Inferences(tuple(items), passed)


def clauses(
    before: str, connective: str, after: str, *, category: str = ""
) -> tuple[str, str] | str:
    """The clause before a connective and the one it introduces, or why they cannot be separated.

    If the connective opens the sentence, the clause that it introduces ends at the first comma. An
    adverb opens its clause only after a mark: in *vengo anche io* it does not.

    Args:
        before: the text before the connective.
        connective: the connective as written.
        after: the text after it.
        category: its syntactic class.
    """
    if after.rstrip().endswith("?"):
        return "it is a question"
    if _NO_CLAUSE.match(after.lstrip()):
        return f"{connective!r} introduces no clause of its own there"
    if before.strip():
        if category == ADVERB and not before.rstrip().endswith(_MARKS):
            return "the adverb is inside its clause"
        first, second = before, after
    else:
        second, comma, first = after.partition(",")
        if not comma:
            return "the connective opens the sentence, and no comma ends its clause"
    one, other = (part.rstrip(_ENDS).strip() for part in (first, second))
    if not one or not other:
        return "one of the clauses is empty"
    return one[:1].upper() + one[1:], other[:1].upper() + other[1:]


def _of_item(
    item: Item,
    suite: Suite,
    inventory: Inventory,
    wording: HypothesisWording,
    seed: int,
    ambiguous: Ambiguous,
) -> list[InferenceItem] | str:
    from cimento.suites.stimuli import stimulus_text

    condition = next((c for c in item.conditions if c.name in ACCEPTABLE), None)
    if condition is None:
        return "it has no acceptable sentence"
    name = condition.columns.get(CONNECTIVE, "")
    if name not in inventory.names:
        return f"the inventory has no connective {name!r}"
    sense, by = _sense(condition, inventory[name], ambiguous)
    hypotheses = wording.of(sense) if sense else None
    if hypotheses is None:
        return f"the sense {sense!r} has no wording" if sense else by
    before, connective, after = (region.text for region in condition.regions)
    parts = clauses(before, connective, after, category=inventory[name].category)
    if isinstance(parts, str):
        return parts
    chance = random.Random(f"{seed}/{item.id}")  # noqa: S311  # a draw, not a secret
    texts: dict[InferenceLabel, str] = {**hypotheses, "neutral": chance.choice(wording.neutral)}
    premise = stimulus_text(condition, rule=suite.join)
    items = []
    for label in LABELS:
        hypothesis = filled(texts[label], dict(zip(("first", "second"), parts, strict=True)))
        shown = {"premise": premise, "hypothesis": hypothesis, "blank": BLANK}
        before_blank, _, after_blank = filled(wording.prompt, shown).rpartition(BLANK)
        items.append(
            InferenceItem(
                id=f"{item.id}-{label}",
                source=item.id,
                premise=premise,
                hypothesis=hypothesis,
                label=label,
                connective=name,
                sense=sense,
                sense_by=by,
                text=(before_blank, after_blank),
            )
        )
    return items


def _sense(condition: Condition, connective: Connective, ambiguous: Ambiguous) -> tuple[str, str]:
    """The sense of a connective in a sentence with its origin, or "" with the reason."""
    if given := condition.columns.get(SENSE, "").strip():
        return given, "column"
    if len(connective.senses) == 1:
        return connective.senses[0], "only"
    if not connective.senses:
        return "", f"{connective.name!r} has no sense in the inventory"
    if ambiguous == "first":
        return connective.senses[0], "first"
    count = len(connective.senses)
    return "", f"{connective.name!r} has {count} senses; a column 'sense' says which"


def _refuse_wording(wording: HypothesisWording, path: Path) -> None:
    """Refuse a wording in which a text lacks a placeholder."""
    hypotheses = [text for sense in wording.senses.values() for text in sense.values()]
    for number, text in enumerate((wording.prompt, *wording.neutral, *hypotheses)):
        names = set(re.findall(r"{([^{}]*)}", text))
        is_prompt = number == 0
        known = {"premise", "hypothesis", "blank"} if is_prompt else {"first", "second"}
        if not names <= known or (is_prompt and names != known) or not names:
            raise InputError(
                where=str(path),
                seen=f"the places in {text!r} are {', '.join(sorted(names)) or 'none'}",
                todo=f"Write {', '.join(f'{{{name}}}' for name in sorted(known))}.",
            )
    if not wording.neutral or len(set(wording.labels.values())) != len(LABELS):
        raise InputError(
            where=str(path),
            seen="there is no neutral hypothesis, or two labels are one word",
            todo="Give three words, and one neutral hypothesis or more.",
        )
