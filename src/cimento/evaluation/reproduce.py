"""The repetition of a stored run from its manifest, and the comparison of the two."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import TableError, UsageError
from cimento.io.files import read_bytes, write_bytes
from cimento.io.tables import JUDGMENTS
from cimento.kinds.identity import content_of
from cimento.kinds.stopped import ADAPTIVE
from cimento.kinds.suite_field import SuiteField
from cimento.measures.errors import ROUNDING_BITS
from cimento.models.hf.arguments import as_options
from cimento.models.registry import reason_to_name, without_secrets
from cimento.models.settings import Asking, Policy
from cimento.records.outcomes import ESTIMATES, OUTCOMES
from cimento.records.store import SUITE_FOLDER, Manifest, RunFolder, manifest_part
from cimento.suites import JsonValue
from cimento.suites.stimuli import Context

if TYPE_CHECKING:
    import polars as pl

    from cimento.kinds.run import Run

_ON_HUB = re.compile(r"[\w.-]+/[\w.-]+(@.+)?")
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRepeat:
    """The comparison of one file of a run with that of its repetition.

    Attributes:
        name: path in the run's folder.
        same: whether the content agrees: byte for byte, or within the precision of the model's
            number format, if only numbers differ.
        remark: the differences; empty where there are none.
        largest: the largest tolerated difference of numbers; None where there is none.
    """

    name: str
    same: bool
    remark: str = ""
    largest: float | None = None


def model_of(manifest: Manifest, *, where: str) -> str:
    """The name of a run's model, if it may be taken from the manifest.

    Raises:
        TableError: the manifest does not name the model.
        UsageError: the name may not be opened on a file's word alone; see `reason_to_name`.
    """
    named = manifest.get("named")
    if not isinstance(named, str) or not named:
        raise TableError(
            where=where,
            seen="the model was in memory and has no name"
            if "named" in manifest
            else "its manifest does not say how the model was named",
            todo="Give it with -m, such as the checkpoint of its step.",
        )
    if trusts := reason_to_name(named):
        raise UsageError(
            where=where,
            seen=f"its manifest names {without_secrets(named)}: {trusts}",
            todo=f"If you trust it, name it yourself: -m {shlex.quote(without_secrets(named))}",
        )
    revision = str(manifest_part(manifest, "model").get("revision", ""))
    if _ON_HUB.fullmatch(named) and _COMMIT.fullmatch(revision):
        # A branch may have moved since the run; the commit has not.
        return f"{named.partition('@')[0]}@{revision}"
    return named


def was_in_memory(manifest: Manifest) -> bool:
    """Whether the model of a run was made in Python, so that its revision is that of its weights.

    The revision of a name is a commit, or a hash of the files in its folder.
    """
    return manifest.get("named") == ""


def asking_of(
    manifest: Manifest,
    *,
    where: str,
    model_args: Mapping[str, JsonValue] | None = None,
    tokenizer_args: Mapping[str, JsonValue] | None = None,
) -> Asking:
    """The settings under which the model of a run was asked.

    Args:
        manifest: the manifest of the run.
        where: the run, for messages.
        model_args: options for transformers and for trust, which must be given again, because none
            of them is taken from a manifest.
        tokenizer_args: the same for the tokenizer.

    Raises:
        TableError: the manifest lacks the settings, or has them in the form of another version.
        UsageError: the run was made with other options for transformers, or trusted otherwise.
    """
    asking = dict(manifest_part(manifest, "asking"))
    try:
        policy, context = dict(_object(asking.pop("policy"))), _object(asking.pop("context"))
        spec, columns = asking.pop("spec"), asking.pop("columns")
        stored = policy.pop("model_args"), policy.pop("tokenizer_args")
        given = dict(model_args or {}), dict(tokenizer_args or {})
        # Weights in memory were loaded before cimento saw them.
        if stored != given and not was_in_memory(manifest):
            raise _other_args(stored, given, where=where)
        if not all(isinstance(value, str) for value in context.values()):
            raise TypeError("what came before the texts is not text")  # noqa: TRY301  # see below
        return Asking(
            policy=Policy(**policy, model_args=given[0], tokenizer_args=given[1]),  # type: ignore[arg-type]  # written by `asdict`
            context=Context(**context),  # type: ignore[arg-type]  # seen to be texts
            spec=Path(spec) if isinstance(spec, str) else None,
            columns=tuple(columns) if isinstance(columns, list) else (),  # type: ignore[arg-type]
            **asking,  # type: ignore[arg-type]
        )
    except (KeyError, TypeError) as error:
        raise TableError(
            where=where,
            seen=f"its manifest does not say how the model was asked ({error})",
            todo="It was made by another version of cimento; run again with the same options.",
        ) from error


def _other_args(
    stored: Sequence[JsonValue], given: Sequence[Mapping[str, JsonValue]], *, where: str
) -> UsageError:
    """The error of options for transformers and trust that differ from those of the run."""
    return UsageError(
        where=where,
        seen=f"the run was made with {as_options(*map(_object, stored))};"
        f" given {as_options(*given)}",
        todo="These options are not taken from a manifest, which may be a stranger's: give them"
        " as the run had them, if you trust the model.",
    )


def repeat_run(run: Run, target: RunFolder, *, model: str, scoring: Asking) -> Run:
    """Repeat a stored run with the same suite and options, without any cache.

    Args:
        run: the stored run.
        target: folder of the repetition; see `new_folders`.
        model: name of the model.
        scoring: the settings of the run; see `asking_of`.

    Returns:
        The repetition, stored.

    Raises:
        CimentoError: the suite cannot be asked, or the model cannot answer.
    """
    from cimento.engine.cache import MemoryCache
    from cimento.evaluation import ask_suite, open_model
    from cimento.kinds.base import SuiteReading
    from cimento.kinds.registry import LoadedSuite
    from cimento.kinds.restored import stored_suite
    from cimento.models.in_memory import in_memory

    stored = RunFolder(run.folder or Path())
    is_adaptive = ADAPTIVE in run.manifest
    asked = SuiteField.as_asked(run)
    suite = stored_suite(run.paradigm, stored, run.manifest) if is_adaptive else asked
    reading = SuiteReading(
        suite=suite,
        faults=tuple(run.paradigm.reader.check(suite)),
        sha256=str(manifest_part(run.manifest, "suite").get("sha256", "")),
        path=stored.suite_folder,
        content=content_of(run),
    )
    loaded = LoadedSuite(paradigm=run.paradigm, reading=reading)
    target.prepare()
    is_object = was_in_memory(run.manifest)
    source = open_model(in_memory(model, scoring) if is_object else model, loaded, scoring)
    again = ask_suite(loaded, source, run.options, scoring=scoring, cache=MemoryCache())
    # Judgments of people enter the estimates, so they are copied before the repetition is judged.
    judgments = f"{JUDGMENTS.name}.parquet"
    if (stored.path / judgments).is_file():
        write_bytes(read_bytes(stored.path / judgments), target.path / judgments)
    return replace(again, folder=target.path).save(target, whole=suite)


def compare_runs(first: Run, second: Run) -> tuple[FileRepeat, ...]:
    """The comparison of a run with its repetition in answers, outcomes and estimates.

    Args:
        first: the run.
        second: its repetition.
    """
    tables = dict.fromkeys((*first.tables, *second.tables, OUTCOMES.name, ESTIMATES.name))
    models = _models(first, second)
    dtype = str(manifest_part(first.manifest, "model").get("dtype") or "")
    exact = models or first.model_kind == "replay"
    precision = 0.0 if exact else ROUNDING_BITS.get(dtype, ROUNDING_BITS["float32"])
    return (
        *models,
        *(_compared_tables(first, second, name, precision) for name in sorted(tables)),
        *(_compared_files(first, second, name) for name in _suite_files(first, second)),
    )


def _models(first: Run, second: Run) -> list[FileRepeat]:
    """A line for each property of the model that differs between the runs."""
    was, now = (manifest_part(run.manifest, "model") for run in (first, second))
    return [
        FileRepeat(
            name=f"model: {name}",
            same=False,
            remark=f"was {was.get(name)!r}, is {now.get(name)!r}",
        )
        for name in ("revision", "tokenizer", "dtype", "device")
        if was.get(name) != now.get(name)
    ]


def _compared_tables(first: Run, second: Run, name: str, precision: float) -> FileRepeat:
    import polars as pl

    file = f"{name}.parquet"
    judged = (OUTCOMES.name, ESTIMATES.name)
    for run, which in ((first, "the run"), (second, "the repetition")):
        if name not in judged and name not in run.tables:
            return FileRepeat(name=file, same=False, remark=f"{which} has none")
    paths = [(run.folder or Path()) / file for run in (first, second)]
    both_stored = all(path.is_file() for path in paths)
    if both_stored and paths[0].read_bytes() == paths[1].read_bytes():
        return FileRepeat(name=file, same=True)
    one, other = first.table(name), second.table(name)
    renamed = "model" in other.columns and first.model != second.model
    if renamed:  # the folder of a model that has moved; another revision is told by the cards
        other = other.with_columns(model=pl.lit(first.model))
    remark, largest = _frame_differences(one, other)
    if renamed and not remark:
        return FileRepeat(name=file, same=True, remark=f"the model is called {second.model} now")
    if remark and largest is not None and largest <= precision:
        return FileRepeat(name=file, same=True, remark=remark, largest=largest)
    if both_stored and not remark:
        remark = "the values agree, the bytes do not (another version of polars?)"
    return FileRepeat(name=file, same=not remark, remark=remark)


def _suite_files(first: Run, second: Run) -> list[str]:
    """The files of the copies of the suite, if both runs have such copies."""
    files = []
    for run in (first, second):
        folder = run.folder or Path()
        paths = (folder / SUITE_FOLDER).rglob("*")
        files.append({path.relative_to(folder).as_posix() for path in paths if path.is_file()})
    return sorted(files[0] | files[1]) if all(files) else []


def _compared_files(first: Run, second: Run, name: str) -> FileRepeat:
    pair = [(run.folder or Path()) / name for run in (first, second)]
    for path, which in zip(pair, ("the run", "the repetition"), strict=True):
        if not path.is_file():
            return FileRepeat(name=name, same=False, remark=f"{which} has none")
    one, other = (path.read_bytes() for path in pair)
    if one == other:
        return FileRepeat(name=name, same=True)
    lines, others = one.splitlines(), other.splitlines()
    if len(lines) != len(others):
        remark = f"{len(lines)} lines, and {len(others)} in the repetition"
    else:
        pairs = enumerate(zip(lines, others, strict=True), start=1)
        number = next((number for number, (line, same) in pairs if line != same), 1)
        remark = f"line {number} is the first that differs"
    return FileRepeat(name=name, same=False, remark=remark)


def _frame_differences(one: pl.DataFrame, other: pl.DataFrame) -> tuple[str, float | None]:
    """The differences between two tables in words, empty where there are none, and the largest.

    The largest difference is relative for numbers above 1; None if more than numbers differs.
    """
    if one.columns != other.columns:
        names = ", ".join(sorted(set(one.columns) ^ set(other.columns)))
        return f"other columns: {names}", None
    if one.height != other.height:
        return f"{one.height} rows, and {other.height} in the repetition", None
    columns = [_column_differences(one[name], other[name]) for name in one.columns]
    known = [largest for _, largest in columns if largest is not None]
    largest = max(known, default=0.0) if len(known) == len(columns) else None
    return "; ".join(remark for remark, _ in columns if remark), largest


def _column_differences(one: pl.Series, other: pl.Series) -> tuple[str, float | None]:
    """The differences between two columns in words, and the largest, as of tables."""
    if one.dtype != other.dtype:
        return f"{one.name} is {one.dtype}, and {other.dtype} in the repetition", None
    differs = one.ne_missing(other)
    if not differs.any():
        return "", 0.0
    remark = f"{one.name} differs in {int(differs.sum())} of {len(one)} rows"
    if not one.dtype.is_float():
        return remark, None
    apart = (one - other).abs()
    if isinstance(most := apart.max(), float):
        remark = f"{remark}, by {most:.2g} at most"
    largest = (apart / one.abs().clip(lower_bound=1.0)).filter(differs).max()
    if not isinstance(largest, float) or not (one.is_null() == other.is_null()).all():
        return remark, None
    return remark, largest if math.isfinite(largest) else None


def _object(value: object) -> Mapping[str, JsonValue]:
    return value if isinstance(value, dict) else {}
