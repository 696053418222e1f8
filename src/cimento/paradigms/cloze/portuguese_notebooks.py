"""The notebooks of Wilkens, Zilio and Villavicencio, read as they were released.

``BertMaskSyntactic.ipynb`` prints the templates and their seeds, before and after the study's
review by hand. ``BertMaskMWE.ipynb`` has the multiword items in its cells and the candidates that
three models gave for them, without probabilities, in what it printed.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cimento.errors import InputError
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_json
from cimento.paradigms.cloze.answers import Candidate
from cimento.paradigms.cloze.portuguese import MASK, around_mask, decoded, test_of
from cimento.paradigms.cloze.suite import BaseSentence, ClozeItem, Option, SeedSet, Template

MODELS: Mapping[str, str] = {
    "neuralmind/bert-base-portuguese-cased": "bertimbau-base",
    "neuralmind/bert-large-portuguese-cased": "bertimbau-large",
    "bert-base-multilingual-cased": "mbert",
}
"""The models of the study, by their names on the hub."""

_MODEL = re.compile(r"""pipeline\(\s*['"]fill-mask['"]\s*,\s*model\s*=\s*['"]([^'"]+)['"]""")
_SENTENCE_BEGINS = re.compile(r"\d+ \S.*")
_CANDIDATE = re.compile(r"\tW([12]) (.*?) -?[\d.e-]+ -?[\d.e-]+ -?[\d.e-]+ \t-\t")


def read_templates(path: Path) -> list[Template]:
    """Templates with the seeds that were left after the study's review by hand.

    Raises:
        InputError: the file is no notebook, or does not print them.
    """
    printed = [text for cell in _cells(path) for text in cell.results if text.startswith("{")]
    if not printed:
        raise _unlike(path, "it prints no templates")
    # The first are those that were generated, the last those that were kept.
    tasks = _literal(printed[-1], path)
    try:
        return [
            Template(
                id=name,
                sentences=tuple(BaseSentence(*around_mask(text, path.name)) for text in sentences),
                seeds=tuple(SeedSet(category, tuple(forms)) for category, forms in seeds.items()),
                columns=test_of(name, path.name),
            )
            for name, (seeds, sentences) in tasks.items()
        ]
    except (AttributeError, TypeError, ValueError) as error:
        raise _unlike(path, "what it prints are no templates") from error


def read_multiwords(path: Path) -> list[ClozeItem]:
    """The multiword items with one word masked each; columns `expression`, `word` and `cue`.

    Raises:
        InputError: the file is no notebook, or has none.
    """
    items = []
    for name, sentences in _expressions(path).items():
        for number, (text, answer) in enumerate(sentences):
            first, second = answer.split()
            texts = (
                text.replace("[MASK2]", second).replace("[MASK1]", MASK),
                text.replace("[MASK1]", first).replace("[MASK2]", MASK),
            )
            for word, masked in enumerate(texts, start=1):
                before, after = around_mask(masked, path.name)
                target, cue = (first, second) if word == 1 else (second, first)
                columns = {"expression": name, "word": str(word), "cue": cue}
                columns["sentence"] = str(number)
                place = f"{name}/{number}/W{word}"
                items.append(ClozeItem(place, before, after, (Option(target),), columns=columns))
    return items


def read_predictions(path: Path) -> dict[str, list[Candidate]]:
    """Recorded candidates by model, without probabilities, in the order of their ranks.

    Raises:
        InputError: the file is no notebook, or has none.
    """
    places = [
        f"{name}/{number}"
        for name, sentences in _expressions(path).items()
        for number in range(len(sentences))
    ]
    predictions: dict[str, list[Candidate]] = {}
    model = ""
    for cell in _cells(path):
        if named := _MODEL.search(cell.source):
            model = MODELS.get(named[1], named[1])
        if any(map(_CANDIDATE.match, cell.printed.split("\n")[1:2])):
            predictions[model] = list(_printed_candidates(cell.printed, places, path))
    if not predictions:
        raise _unlike(path, "it prints no candidates")
    return predictions


def _printed_candidates(text: str, places: Sequence[str], path: Path) -> Iterator[Candidate]:
    """The candidates that one model gave, as they were printed, sentence after sentence."""
    sentence = -1
    ranks: Counter[str] = Counter()
    for line in text.split("\n"):
        if candidate := _CANDIDATE.match(line):
            item = f"{places[sentence]}/W{candidate[1]}"
            ranks[item] += 1
            yield Candidate(item, ranks[item], candidate[2])
        elif _SENTENCE_BEGINS.fullmatch(line):
            sentence += 1
            if sentence == len(places):
                raise _unlike(path, f"it prints more than {len(places)} sentences")


def _expressions(path: Path) -> dict[str, list[tuple[str, str]]]:
    """The sentences of each expression, with the words that are masked in them."""
    expressions: dict[str, list[tuple[str, str]]] = {}
    for cell in _cells(path):
        name, assigned, value = cell.source.partition("] = ")
        if assigned and name.startswith('TASKS["'):
            pairs, expression = _literal(value, path), _literal(name.removeprefix("TASKS["), path)
            usable = isinstance(expression, str) and isinstance(pairs, list)
            if not usable or not all(map(_is_item, pairs)):
                raise _unlike(path, f"the sentences of {name}] cannot be used")
            expressions[expression] = list(pairs)
    if not expressions:
        raise _unlike(path, "it has no multiword items")
    return expressions


def _is_item(pair: object) -> bool:
    """Whether something is a sentence with the two words that are masked in it."""
    match pair:
        case (str(), str(answer)):
            return len(answer.split()) == len(("first", "second"))
        case _:
            return False


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell of a notebook: its source, what it printed, and values that it showed as text."""

    source: str
    printed: str
    results: tuple[str, ...]


def _cells(path: Path) -> list[_Cell]:
    try:
        cells = parse_json(decoded(path, read_bytes(path)))["cells"]
        return [
            _Cell(
                source="".join(cell["source"]),
                printed="".join("".join(out.get("text", ())) for out in cell.get("outputs", ())),
                results=tuple(
                    "".join(out.get("data", {}).get("text/plain", ()))
                    for out in cell.get("outputs", ())
                ),
            )
            for cell in cells
        ]
    except (json.JSONDecodeError, AttributeError, KeyError, TypeError) as error:
        raise _unlike(path, "it is no notebook") from error


def _literal(text: str, path: Path) -> Any:  # noqa: ANN401  # what a notebook shows
    """A value as Python writes it; nothing is executed."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError) as error:
        raise _unlike(path, "a value in it cannot be read") from error


def _unlike(path: Path, seen: str) -> InputError:
    return InputError(
        where=path.name, seen=seen, todo="Is this the notebook that the study released?"
    )
