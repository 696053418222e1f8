"""Recorded surprisals of several suites: which file answers for which suite.

A recording belongs to a suite by its sentences. The name of a file says which suite is tried first;
whether its tokens spell that suite's sentences decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cimento.engine.requests import PREFIX, Recording
from cimento.errors import CimentoError, InputError, UsageError, counted
from cimento.evaluation import open_model
from cimento.io.below import files_below
from cimento.io.files import expanded, file_digest

if TYPE_CHECKING:
    from cimento.kinds.registry import LoadedSuite
    from cimento.models.settings import Asking
    from cimento.studies.agreement.released import LanguageSuite

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The recordings of one model.

    Attributes:
        name: as the user gave it, with ``replay:``.
        suites: language and name of a suite to the recording of it.
        without: names of the suites that it does not answer for.
    """

    name: str
    suites: Mapping[tuple[str, str], Recording] = field(default_factory=dict)
    without: tuple[str, ...] = ()

    def said(self) -> str:
        """Which suites it answers for, in a sentence."""
        n = len(self.suites)
        more = " ..." if len(self.without) > _MOST_NAMED else ""
        names = f" (none for {', '.join(self.without[:_MOST_NAMED])}{more})" if self.without else ""
        return f"{self.name} answers for {n} of {counted(n + len(self.without), 'suite')}{names}."


def is_recording(model: str) -> bool:
    """Whether the name of a model is that of recorded answers."""
    return model.startswith(PREFIX)


def find_recordings(name: str, suites: Sequence[LanguageSuite], scoring: Asking) -> Recorded:
    """The recordings of a model, each with the suite whose sentences it holds.

    All have one label, so that they are one model in the tables: the name of the file or folder,
    with a digest of all files.

    Args:
        name: ``replay:FILE``, or ``replay:FOLDER`` with a file for each suite.
        suites: with their languages.
        scoring: with the unit of the recordings, and their model spec.

    Raises:
        UsageError: the folder has no file, or an option conflicts with a recording.
        InputError: a file answers for none of the suites; says why.
    """
    path = expanded(name.removeprefix(PREFIX))
    files = [path]
    if path.is_dir():
        spec = scoring.spec and scoring.spec.resolve()
        files = [file for file in files_below(path) if file.resolve() != spec]
    if not files:
        raise UsageError(
            where=name, seen="the folder has no file", todo="Put a recording of each suite there."
        )
    digest = file_digest(*files)
    left = {(language, loaded.suite.name): loaded for language, loaded in suites}
    found: dict[tuple[str, str], Recording] = {}
    for file in files:
        key, recording = _fitting(file, left, scoring)
        del left[key]
        card = replace(recording.card, name=path.stem, revision=digest)
        found[key] = replace(recording, card=card)
    return Recorded(name=name, suites=found, without=tuple(suite for _, suite in left))


def _fitting(
    file: Path, suites: Mapping[tuple[str, str], LoadedSuite], scoring: Asking
) -> tuple[tuple[str, str], Recording]:
    """The suite that a file answers for, and its recording.

    Raises:
        UsageError: an option conflicts with a recording.
        InputError: there is no such suite.
    """
    words = {part.casefold() for part in (file.stem, *file.parts)}
    keys = sorted(suites, key=lambda key: -sum(word.casefold() in words for word in key))
    errors: list[CimentoError] = []
    for key in keys:
        try:
            recording = open_model(f"{PREFIX}{file}", suites[key], scoring)
        except UsageError:
            raise
        except CimentoError as error:
            errors.append(error)
        else:
            return key, cast("Recording", recording)
    if len(errors) == 1:
        raise errors[0]
    first = errors and f"{errors[0].where.partition(', ')[2]}: {errors[0].seen}"
    why = f". {keys[0][1]}, {first}" if first else ", or all have another recording"
    raise InputError(
        where=str(file),
        seen=f"it answers for none of {counted(len(keys), 'suite')}{why}",
        todo="A recording has a suite's sentences in the suite's order; see the page"
        ' "Recorded answers". Give the suites with --data, and --spec where tokens are marked.',
    )
