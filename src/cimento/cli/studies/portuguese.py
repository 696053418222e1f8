"""``cimento study portuguese``: Wilkens, Zilio and Villavicencio 2023 from their released files."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated, Literal

from cimento.cli import options
from cimento.cli.console import note, show

StateName = Literal["snapshot", "release"]


# size: one argument for each option.
def portuguese(
    data: Annotated[
        Path,
        options.option(
            "--data", help="Folder with the released files, or all-eval.tsv; see docs/cloze.md."
        ),
    ],
    *,
    table: Annotated[
        int | None, options.option("--table", help="Only this table, 1 to 13; else all of them.")
    ] = None,
    what: Annotated[
        str | None,
        options.option(
            "--what",
            help="Instead of tables: mcnemar, claims, profiles, auto, confidence, per-template, "
            "hits, per-mwe, person, tense, clusters.",
        ),
    ] = None,
    state: Annotated[
        StateName | None,
        options.option(
            "--state",
            help="State of the judgments: the snapshot that the paper used, or the release; "
            "both by default.",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Every table of the study of Brazilian Portuguese, computed beside printed, equal or not."""
    from cimento.errors import UsageError
    from cimento.studies.portuguese.data import load
    from cimento.studies.portuguese.study import numbers_of, of_judgments, part
    from cimento.studies.portuguese.study import table as compute
    from cimento.studies.portuguese.text import part_text, table_text

    if table is not None and what is not None:
        raise UsageError(
            where="--table and --what", seen="both are given", todo="Ask for one at a time."
        )
    released = load(data)
    states = released.states if state is None else (state,)
    if not set(states) <= set(released.states):
        raise UsageError(
            where=f"--state {state}",
            seen="the sheet of judgments alone has only the release",
            todo="Give a folder with all files, see docs/cloze.md.",
        )
    for each in states if of_judgments(table, what) else ():
        for warning in released.warnings(each):
            note(f"warning: {each}: {warning}")
    if what is not None:
        found = part(released, what)
        show(_as_json(found) if json else part_text(what, found))
        return
    numbers = numbers_of(released) if table is None else (table,)
    tables = [compute(released, number, states) for number in numbers]
    if not json:
        show("\n\n".join(table_text(each) for each in tables))
    elif table is not None:
        show(_as_json(tables[0]))
    else:
        show(_as_json({"tables": tables}))


def _as_json(value: object) -> str:
    return json_module.dumps(value, ensure_ascii=False, indent=1)
