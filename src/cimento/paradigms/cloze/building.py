"""Templates built from a description: seeds generated, reviewed by a person, and compared.

A build writes what was generated to ``generated.tsv`` and, where there is none yet, the same forms
to ``seeds.tsv``, which is the list that counts: a person removes, corrects and adds rows there. A
later build leaves it alone and says what the two differ in.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import InputError, SuiteError
from cimento.intake.decoding import decode
from cimento.io.files import read_bytes, write_text
from cimento.io.parsing import parse_toml
from cimento.io.templates import filled
from cimento.io.values import grouped
from cimento.paradigms.cloze.files import as_tsv, load_cloze, write_cell, write_cloze
from cimento.paradigms.cloze.reading import read_blanks, read_cell, table_with
from cimento.paradigms.cloze.seeds import (
    AskModel,
    Description,
    Seed,
    TemplateText,
    capitalized,
    generated_seeds,
    given_seeds,
    nominal_seeds,
    verb_seeds,
)
from cimento.suites.cloze import (
    EXPECTED,
    SEED,
    BaseSentence,
    ClozeSuite,
    SeedSet,
    Template,
)
from cimento.suites.formats.native import meta_of

if TYPE_CHECKING:
    from cimento.corpus.morphology import Morphology


GENERATED_FILE = "generated.tsv"
REVIEWED_FILE = "seeds.tsv"

FormsOf = Mapping[str, Sequence[tuple[str, str]]]
"""Id of a template to its forms with their categories."""


@dataclass(frozen=True, slots=True)
class Review:
    """A generated list and the reviewed one: distinct forms of one template or several.

    Attributes:
        generated: number of generated forms.
        kept: number of generated templates that are in the reviewed list.
        removed: generated templates that are not in the reviewed list, each with the reason.
        added: templates of the reviewed list that were not generated.
    """

    generated: int
    kept: int
    removed: tuple[tuple[str, str], ...]
    added: tuple[tuple[str, str], ...]

    @property
    def reviewed(self) -> int:
        """The number of forms in the reviewed list."""
        return self.kept + len(self.added)


def read_description(path: Path) -> Description:
    """A description of templates.

    Raises:
        InputError: the file cannot be read, or is not TOML.
        SuiteError: it has faults; the error carries all of them.
    """
    from cimento.suites.schema import validate

    text, faults = decode(read_bytes(path), name=path.name)
    if text is None:
        raise SuiteError(where=str(path), faults=faults)
    try:
        parsed = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            where=str(path), seen=f"is not TOML ({error})", todo="Correct it."
        ) from error
    description, faults = validate(Description, parsed, where=path.name)
    if description is None:
        raise SuiteError(where=str(path), faults=faults)
    return description


def generate(
    description: Description, *, dictionary: Morphology | None, ask: AskModel | None
) -> dict[str, list[Seed]]:
    """The seeds of each template.

    Raises:
        InputError: a dictionary or a generator model is needed and there is none, or a form is
            missing.
    """
    return {
        template.id: _seeds_of(template, description, dictionary, ask)
        for template in description.template
    }


def build_templates(
    description: Description,
    folder: Path,
    *,
    dictionary: Morphology | None = None,
    ask: AskModel | None = None,
) -> dict[str, Review]:
    """Write the suite, or the generated forms next to a suite that was reviewed.

    Args:
        description: description of the templates.
        folder: folder of the suite.
        dictionary: inflects seeds; None if none is needed.
        ask: asks a generator model for words in blanks; None if none is needed.

    Returns:
        For each template what its two lists differ in.

    Raises:
        InputError: a dictionary or a generator model is needed and there is none, or a form is
            missing.
        SuiteError: what is there cannot be read, or the sentences have faults.
        StorageError: the folder cannot be written.
    """
    seeds, reviewed = generate(description, dictionary=dictionary, ask=ask), _reviewed(folder)
    wanted = {template.id: template.columns.get(EXPECTED, "") for template in description.template}
    sets = {name: _sets(_expecting(given, wanted[name])) for name, given in seeds.items()}
    kept = sets if reviewed is None else reviewed
    write_cloze(_suite(description, kept), folder)
    write_text(as_tsv(_rows(seeds)), folder / GENERATED_FILE)
    load_cloze(folder)
    return review(_pairs(sets), _pairs(kept))


def review(generated: FormsOf, reviewed: FormsOf) -> dict[str, Review]:
    """The differences of generated and reviewed lists, template by template."""
    names = dict.fromkeys([*generated, *reviewed])
    return {name: compare_forms(generated.get(name, ()), reviewed.get(name, ())) for name in names}


def compare_forms(
    generated: Iterable[tuple[str, str]], reviewed: Iterable[tuple[str, str]]
) -> Review:
    """The differences of two lists of forms with their categories; each form counts once."""
    old, new = dict.fromkeys(generated), dict.fromkeys(reviewed)
    removed = tuple(form for form in old if form not in new)
    added = tuple(form for form in new if form not in old)
    return Review(len(old), len(old) - len(removed), removed, added)


def _seeds_of(
    template: TemplateText,
    description: Description,
    dictionary: Morphology | None,
    ask: AskModel | None,
) -> list[Seed]:
    where = f"template {template.id!r}"
    seeds: list[Seed] = []
    for seed in template.seeds:
        if seed.kind == "forms":
            seeds += given_seeds(seed)
        elif seed.kind == "model":
            if ask is None:
                raise _missing(where, "a generator model", "--generator=MODEL")
            seeds += generated_seeds(
                seed, ask, model=description.generator or "model", dictionary=dictionary
            )
        elif dictionary is None:
            raise _missing(where, "a dictionary", "--dictionary=NAME")
        elif seed.kind == "verb":
            seeds += verb_seeds(seed, dictionary, where=where)
        else:
            language = description.meta.language
            seeds += nominal_seeds(seed, dictionary, language=language, where=where)
    first = template.capital
    if first is None:
        first = all(sentence.startswith(SEED) for sentence in template.sentences)
    return list(capitalized(seeds)) if first else seeds


def _missing(where: str, what: str, option: str) -> InputError:
    return InputError(
        where=where, seen=f"its seeds need {what}, and none is given", todo=f"Give {option}."
    )


def _suite(description: Description, sets: Mapping[str, Sequence[SeedSet]]) -> ClozeSuite:
    templates = tuple(
        Template(
            id=template.id,
            sentences=tuple(_sentence(text, template.id) for text in template.sentences),
            seeds=tuple(sets.get(template.id, ())),
            columns=template.columns,
        )
        for template in description.template
    )
    return ClozeSuite(meta_of(description.meta), templates=templates, cluster=description.cluster)


def _sentence(text: str, template: str) -> BaseSentence:
    parts = read_blanks(text)
    if len(parts) != 2:  # noqa: PLR2004  # before and after
        raise InputError(
            where=f"template {template!r}",
            seen=f"there {'is no blank' if len(parts) == 1 else 'are several blanks'} in {text!r}",
            todo="Write one, as ___.",
        )
    return BaseSentence(parts[0], parts[1])


def _sets(seeds: Iterable[Seed]) -> list[SeedSet]:
    """Seeds by category, each form once."""
    by_group = grouped((seed.category, seed) for seed in seeds)
    return [
        SeedSet(category, tuple(dict.fromkeys(s.form for s in alike)), columns=_common(alike))
        for category, alike in by_group.items()
    ]


def _common(seeds: Sequence[Seed]) -> dict[str, str]:
    """The columns on which the seeds of a category agree."""
    return {
        name: value
        for name, value in seeds[0].columns.items()
        if all(seed.columns.get(name) == value for seed in seeds)
    }


def _expecting(seeds: Iterable[Seed], expected: str) -> list[Seed]:
    """Seeds with their items' expectation written out, where it names columns of the seeds.

    A form that belongs to two categories is then expected to agree with either.
    """
    marked = []
    for seed in seeds:
        try:
            written = filled(expected, seed.columns)
        except (KeyError, ValueError):
            # It names a column of the template: it is written out when it is asked.
            written = expected
        changed = written != expected
        columns: dict[str, str] = {**seed.columns, **({EXPECTED: written} if changed else {})}
        marked.append(replace(seed, columns=columns))
    return marked


def _pairs(sets: Mapping[str, Iterable[SeedSet]]) -> dict[str, list[tuple[str, str]]]:
    return {
        name: [(seed_set.category, form) for seed_set in seed_sets for form in seed_set.forms]
        for name, seed_sets in sets.items()
    }


def _reviewed(folder: Path) -> dict[str, list[SeedSet]] | None:
    """The list that counts, where a person may have been at it; None where there is none."""
    path = folder / REVIEWED_FILE
    if not path.exists():
        return None
    todo = "Correct it, or remove it to take what is generated."
    table = table_with(path, "set", "category", "form", todo=todo)
    rows: dict[str, list[Seed]] = {}
    for row in table.rows:
        cells = {name: read_cell(cell) for name, cell in row.cells.items()}
        name, category, form = (cells.pop(key) for key in ("set", "category", "form"))
        columns = {key: value for key, value in cells.items() if value}
        rows.setdefault(name, []).append(Seed(category, form, "reviewed", columns))
    return {name: _sets(seeds) for name, seeds in rows.items()}


def _rows(seeds: Mapping[str, Iterable[Seed]]) -> list[dict[str, str]]:
    return [
        {
            "set": write_cell(name),
            "category": write_cell(seed.category),
            "form": write_cell(seed.form),
            "origin": write_cell(seed.origin),
            "probability": _shown(seed.probability),
            "note": write_cell(seed.note),
        }
        for name, given in seeds.items()
        for seed in given
    ]


def _shown(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.6f}"
