"""``cimento study connectives``: what adds up in the paper, and the tables of a user's own copy."""

from __future__ import annotations

import dataclasses
import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cimento.cli import options
from cimento.cli.console import show
from cimento.errors import UsageError

if TYPE_CHECKING:
    from cimento.models.base import BosRule
    from cimento.studies.connectives.own import Cell, Perplexities
    from cimento.suites.model import JsonValue


# size: one argument for each option.
def connectives(
    data: Annotated[
        Path | None,
        options.option("--data", help="Folder of released data (AcCompl-it, Lau 2020, ...)."),
    ] = None,
    *,
    own: Annotated[
        Path | None,
        options.option("--own", help="Folder of your copy: acceptability.tsv, cloze.tsv."),
    ] = None,
    expected: Annotated[
        Path | None, options.option("--expected", help="JSON of expected statistics of --data.")
    ] = None,
    blimp: Annotated[
        Path | None,
        options.option("--blimp-summary", help="BLiMP's published human accuracies (CSV)."),
    ] = None,
    model: Annotated[
        str | None,
        options.option("-m", "--model", help="Gives the perplexities of --own; else column ppl."),
    ] = None,
    cloze_model: Annotated[
        str | None,
        options.option("--cloze-model", help="Masked; gives completions; else completions.tsv."),
    ] = None,
    bos: options.Bos = None,
    device: options.Device = "auto",
    json: options.Json = False,
) -> int:
    """Check the printed tables, describe comparable data, make Tables 2 to 5 of your own copy.

    The resource is not public: without --data and --own the printed tables alone are checked.
    Exit code 1: a number differs from an expected one.
    """
    from cimento.studies.connectives.checks import check_published
    from cimento.studies.connectives.released import compare, read_expected, released
    from cimento.studies.connectives.text import study_text

    if (expected or blimp) and data is None:
        raise UsageError(where="--expected", seen="there is no --data", todo="Give both.")
    if (model or cloze_model) and own is None:
        raise UsageError(where="--model", seen="there is no --own", todo="Give both.")
    checks = check_published()
    found = released(data, published_blimp=blimp) if data else None
    compared = compare(found.values, read_expected(expected)) if found and expected else []
    cells, scored = (
        _own(own, model, cloze_model, options.given(bos=bos), device) if own else ([], None)
    )
    if json:
        plain = {
            "checks": [dataclasses.asdict(each) for each in checks],
            "statistics": found.values if found else None,
            "absent": list(found.absent) if found else None,
            "compared": [dataclasses.asdict(each) for each in compared],
            "own": [dataclasses.asdict(each) for each in cells],
            "perplexities": _perplexities(scored),
        }
        show(json_module.dumps(plain, ensure_ascii=False, indent=2))
    else:
        show(study_text(checks, found, compared, cells, scored))
    return int(any(each.equal is False for each in compared))


def _own(
    folder: Path, model: str | None, cloze_model: str | None, bos: dict[str, BosRule], device: str
) -> tuple[list[Cell], Perplexities | None]:
    """The tables of a user's copy, and what a model says of it."""
    from cimento.studies.connectives.own import own_tables, perplexities, read_own, with_completions

    copy = read_own(folder)
    if cloze_model is not None:
        if not copy.cloze:
            raise _no_section(folder, "cloze")
        cloze = with_completions(copy.cloze, cloze_model, device=device)
        copy = dataclasses.replace(copy, cloze=cloze)
    if model is None:
        return own_tables(copy), None
    if copy.acceptability is None:
        raise _no_section(folder, "acceptability")
    scored = perplexities(copy.acceptability, model, device=device, **bos)
    return own_tables(copy, scored.values), scored


def _no_section(folder: Path, name: str) -> UsageError:
    return UsageError(
        where="--model",
        seen=f"{folder} has no {name} section to score",
        todo=f"Add {name}.tsv, or leave the model out.",
    )


def _perplexities(scored: Perplexities | None) -> JsonValue:
    from cimento.measures import Missing

    if scored is None:
        return None
    return {
        "model": scored.model,
        "measure": scored.measure,
        "first_token": scored.first_token,
        "sentences": {
            name: {
                "value": None if isinstance(value, Missing) else value,
                "reason": value.reason if isinstance(value, Missing) else None,
                "n_tokens": scored.tokens[name],
            }
            for name, value in scored.values.items()
        },
    }
