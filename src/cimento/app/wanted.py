"""The runs that somebody wants: suites, models and limits, from the form or from the queue's files.

A file of the queue may come from others, so it holds these and no command. What it would have
trusted is asked of whoever presses *Go on*: a server, code, a model elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from shlex import join
from typing import TYPE_CHECKING, TypeGuard

from cimento.app.workspace import RUNS, SUITES, Workspace
from cimento.errors import UsageError
from cimento.evaluation.budget import parse_budget
from cimento.io.declared import checked
from cimento.models.hf.names import DEMO_MODELS
from cimento.models.registry import reason_to_name
from cimento.options import RunOptions
from cimento.suites.languages import LANGUAGE_CODE
from cimento.suites.lock import LOCK
from cimento.suites.published import PublishedDataset, find_published, is_address, published

if TYPE_CHECKING:
    from cimento.suites import JsonValue

RUN = "run"
"""The only command that is queued."""
MOST_NAMES = 1000
"""Of suites, and of models, in one file of the queue."""

_DOWNLOADED = "a test, which would be downloaded"
_SETS = "the tests of a language, which would be downloaded"
_ELSEWHERE = "a model in a folder outside this one"


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The runs that somebody wants.

    Attributes:
        suites: built-in names, paths from the workspace, names of published datasets, and
            addresses of others.
        models: names of models, as `Workspace.model` returns them.
        language: of suites that do not state theirs; empty for none.
        limit: number of items of each suite; None for all.
        trusted: whether code that comes with a model may be run.
        budget: how much of all published sets of the language is asked, such as ``10m``; empty for
            all of it, None where suites are named.
    """

    suites: tuple[str, ...]
    models: tuple[str, ...]
    language: str = ""
    limit: int | None = None
    trusted: bool = False
    budget: str | None = None

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words of the command after ``cimento``."""
        # The command would take such a name for an option, or for the home folder.
        suites = (f"./{name}" if name.startswith(("-", "~")) else name for name in self.places)
        return (
            RUN,
            *suites,
            *(word for model in self.models for word in ("-m", model)),
            *(("--language", self.language) if self.language else ()),
            *(("--limit", str(self.limit)) if self.limit else ()),
            *(("--budget", self.budget) if self.budget else ()),
            *(() if self.budget is None else ("--sets-folder", SUITES)),
            *(("--trust-remote-code",) if self.trusted else ()),
            "-o",
            RUNS,
        )

    @property
    def is_whole(self) -> bool:
        """Whether there is something to run, and a model to run it."""
        return bool((self.suites or (self.budget is not None and self.language)) and self.models)

    @property
    def is_remote(self) -> bool:
        """Whether a suite may have to be fetched."""
        return bool(self.to_get) or any(map(is_address, self.suites))

    @property
    def to_get(self) -> tuple[tuple[PublishedDataset, str], ...]:
        """The published datasets that are to be in the workspace, each with its language."""
        entries = published()
        return tuple(
            (entry, self.language if self.language in entry.languages else "")
            for name in self.suites
            if (entry := entries.get(name)) is not None
        )

    @property
    def places(self) -> tuple[str, ...]:
        """The suites as a command finds them: published datasets by their folders."""
        folders = {entry.name: _folder(entry, language) for entry, language in self.to_get}
        return tuple(folders.get(name, name) for name in self.suites)

    @property
    def before(self) -> str:
        """The commands that fetch published datasets, as they come before the command of runs."""
        return "".join(
            join(["cimento", "suites", "get", entry.name, "-o", f"{SUITES}/{entry.folder}",
                  *(("--language", language) if language else ())]) + " && "
            for entry, language in self.to_get
        )  # fmt: skip

    @property
    def stored(self) -> dict[str, JsonValue]:
        """What the queue's file says of them; whether code is trusted is nobody's word but mine."""
        return {
            "suites": list(self.suites),
            "models": list(self.models),
            "language": self.language,
            "limit": self.limit,
            "budget": self.budget,
        }

    @classmethod
    def from_stored(cls, plain: Mapping[str, object]) -> RunRequest:
        """The runs of a file of the queue, which trusts nothing.

        Raises:
            ValueError: the file holds something else.
        """
        language, limit = plain.get("language"), plain.get("limit")
        if not (language == "" or (_is_text(language) and LANGUAGE_CODE.fullmatch(language))):
            raise ValueError("language")
        if not (limit is None or (type(limit) is int and limit > 0)):
            raise ValueError("limit")
        budget = plain.get("budget")
        if not (budget is None or _is_text(budget)):
            raise ValueError("budget")
        names = _names(plain, "suites"), _names(plain, "models")
        return cls(*names, language, limit, budget=budget)

    @property
    def title(self) -> str:
        """The suites and models, without their folders.

        >>> RunRequest(("suites/a.xlsx", "it-islands"), ("one", "org/two")).title
        'a.xlsx, it-islands × one, org/two'
        """
        suites = (name.rsplit("/", 1)[-1] for name in self.places)
        if self.budget is not None:
            return f"--language {self.language} × {', '.join(self.models)}"
        return f"{', '.join(suites)} × {', '.join(self.models)}"

    @property
    def with_code(self) -> tuple[str, ...]:
        """The models that may come with code: those of the hub and in folders."""
        return tuple(
            model for model in self.models if model not in DEMO_MODELS and not _has_prefix(model)
        )

    def needs(self, workspace: Workspace) -> dict[str, str]:
        """What must be agreed to before a file's word is followed: its name, and what it is."""
        return dict(self._needs(workspace))

    def _needs(self, workspace: Workspace) -> Iterator[tuple[str, str]]:
        if self.budget is not None:
            yield self.language, _SETS
        remote = {entry.name for entry, _ in self.to_get}
        for suite in self.suites:
            is_there = suite in remote and workspace.exists(self._place(suite))
            if is_address(suite) or (suite in remote and not is_there):
                yield suite, _DOWNLOADED
        for model in self.models:
            if trusts := reason_to_name(model) or (
                _ELSEWHERE if workspace.is_outside(model) else ""
            ):
                yield model, trusts

    def _place(self, suite: str) -> str:
        return replace(self, suites=(suite,)).places[0]

    def checked(self, workspace: Workspace) -> RunRequest:
        """The same, if there is something to run and all of it may be used.

        Raises:
            CimentoError: no suite or model is named, one that is outside the workspace, or an
                address that does not pin what is behind it.
        """
        if self.budget is not None:
            self._check_sets(workspace)
        suites = self.suites if self.budget is None else (self.language,)
        for what, names in (("suite", suites), ("model", self.models)):
            if not (names and all(names)):
                raise UsageError(where=what, seen="none is chosen", todo="Choose one or more.")
        remote = {entry.name for entry, _ in self.to_get}
        for suite in self.suites:
            if is_address(suite):
                find_published(suite)
            elif suite not in remote:
                workspace.suite(suite)
        return replace(self, models=tuple(map(workspace.model, self.models)))

    def _check_sets(self, workspace: Workspace) -> None:
        """Refuse what all sets of a language cannot be asked with.

        Raises:
            CimentoError: there is such a thing, or a link where files would be written.
        """
        parse_budget(self.budget or "")
        if self.suites or self.limit:
            raise UsageError(
                where=self.title,
                seen="tests are named beside a language",
                todo="Choose one of them.",
            )
        for name in (SUITES, RUNS, LOCK):
            workspace.plain(name)

    def options(self, workspace: Workspace) -> RunOptions:
        """The options of the runs, with paths in full; runs of a language have a folder of its own.

        Raises:
            CimentoError: an option cannot be used.
        """
        runs = workspace.folder / RUNS
        return checked(
            RunOptions,
            {
                "suites": tuple(
                    suite if is_address(suite) else str(workspace.suite(suite))
                    for suite in self.places
                ),
                "models": self.models,
                "language": self.language if self.budget is None else "",
                "limit": self.limit,
                "trust_remote_code": self.trusted,
                "output": runs if self.budget is None else runs / self.language,
            },
        )


def _folder(entry: PublishedDataset, language: str) -> str:
    """The folder of a published dataset from the workspace; each language has one of its own."""
    return "/".join(filter(None, (SUITES, entry.folder, language)))


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str)


def _names(plain: Mapping[str, object], key: str) -> tuple[str, ...]:
    """A list of names in a file of the queue.

    Raises:
        ValueError: it is not one.
    """
    names = plain.get(key)
    if not isinstance(names, list) or not all(map(_is_text, names)) or len(names) > MOST_NAMES:
        raise ValueError(key)
    return tuple(names)


def _has_prefix(model: str) -> bool:
    """Whether a model is named with a prefix, such as ``openai:``; a drive of Windows is none."""
    prefix, colon, _ = model.partition(":")
    return bool(colon) and len(prefix) > 1
