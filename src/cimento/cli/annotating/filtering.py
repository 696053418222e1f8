"""``cimento annotate filter``: participants left out by rules, in the open."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from cimento.cli import options
from cimento.cli.console import note, show
from cimento.errors import UsageError


# size: one argument for each option.
def filter_answers(
    judgments: Annotated[
        Path, typer.Argument(metavar="JUDGMENTS", help="Table of judgments, or a run with one.")
    ],
    output: Annotated[Path, options.option("-o", "--output", help="Table of what is left.")],
    *,
    duplicates: Annotated[
        Literal["keep", "first", "last", "none"],
        options.option("--duplicates", help="Of several answers of one person to one question."),
    ] = "keep",
    status: Annotated[
        str, options.option("--status", help="Leave these out, as in REJECTED,RETURNED.")
    ] = "",
    min_seconds: Annotated[
        float | None, options.option("--min-seconds", min=0, help="Of the whole sitting.")
    ] = None,
    attention: Annotated[
        float | None,
        options.option("--attention", min=0, max=1, help="Least share of checks that is right."),
    ] = None,
    same_share: Annotated[
        float | None,
        options.option("--same-share", min=0, max=1, help="Largest share of one answer."),
    ] = None,
    same_run: Annotated[
        int | None, options.option("--same-run", min=1, help="Longest run of equal answers.")
    ] = None,
    with_rest: Annotated[
        float | None,
        options.option("--with-rest", min=-1, max=1, help="Least agreement with all others."),
    ] = None,
    drop: Annotated[
        list[str] | None,
        options.option("--drop", metavar="WHO=WHY", help="Leave one out, and why. Repeatable."),
    ] = None,
    by: Annotated[
        str, options.option("--by", help="Who decides on these rules, for the log.")
    ] = "",
) -> None:
    """Leave participants out by rules, and say who, why and what it changes.

    Beside OUTPUT the log is written, as .log.json and .log.txt; the text is printed too.
    """
    from hashlib import sha256

    from cimento.io.files import read_bytes, write_text
    from cimento.people.judgments.filters import (
        ExclusionRules,
        filter_judgments,
        log_json,
        log_text,
    )
    from cimento.people.judgments.records import (
        judgments_of,
        read_judgments,
        refuse_overwriting,
        refuse_suffix,
        table_of,
        write_judgments,
    )
    from cimento.people.judgments.summaries import summarise

    refuse_suffix(output)
    limits = ExclusionRules(
        duplicates=duplicates,
        statuses=tuple(part.strip() for part in status.split(",") if part.strip()),
        seconds=min_seconds,
        attention=attention,
        same_share=same_share,
        same_run=same_run,
        with_rest=with_rest,
        by_hand=options.reasons(drop or (), flag="--drop", example="p12=asked for it"),
    )
    if limits == ExclusionRules():
        raise UsageError(
            where="filter", seen="no rule is given", todo="Give --min-seconds or another rule."
        )
    file = judgments / "judgments.parquet" if judgments.is_dir() else judgments
    refuse_overwriting(output, [file])
    found = filter_judgments(judgments_of(read_judgments(judgments)), limits)
    text = log_text(found, source=file.name, by=by)
    digest = sha256(read_bytes(file)).hexdigest()
    write_judgments(table_of(found.judgments), output)
    logs = [output.with_suffix(ending) for ending in (".log.json", ".log.txt")]
    write_text(log_json(found, limits, source=file.name, sha256=digest, by=by), logs[0])
    write_text(text, logs[1])
    show(text)
    if not summarise(found.judgments):
        note("Nothing is left.")
    note(f"{len(found.judgments)} judgments: {output}; the log: {logs[0].name}, {logs[1].name}")
