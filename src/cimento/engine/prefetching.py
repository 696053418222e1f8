"""Models and suites brought here at pinned revisions, for nodes that have no network."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cimento.errors import CimentoError, StorageError
from cimento.fetching import fetch
from cimento.models.locate import DEMO_MODELS, locate
from cimento.sources import OPENERS, shown_name
from cimento.suites.builtin import builtin_names, find_suite
from cimento.suites.published import find_published, published


@dataclass(frozen=True, slots=True)
class Prefetched:
    """What is here now.

    Attributes:
        models: names that need no network any more, those of the hub with their commits.
        suites: built-in names and paths.
        variables: of the environment, for runs without network.
        failed: what could not be brought, and why.
        online: models that cannot be brought: servers.
    """

    models: list[str] = field(default_factory=list)
    suites: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    failed: dict[str, CimentoError] = field(default_factory=dict)
    online: list[str] = field(default_factory=list)


def prefetch(models: Sequence[str], suites: Sequence[str], *, into: Path | None) -> Prefetched:
    """Download what is not here.

    Args:
        models: names as for ``cimento run``.
        suites: names and paths; names of published datasets are fetched too.
        into: folder for downloads; None for the hub's own cache, and for suites this folder.

    Raises:
        StorageError: the folder cannot be written.
    """
    found = Prefetched()
    if into is not None:
        cache = (into / "hub").absolute()
        _use_cache(cache)
        found.variables["HF_HUB_CACHE"] = str(cache)
    found.variables.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1")
    for name in models:
        with_failure = _model(name, found)
        if with_failure is not None:
            found.failed[shown_name(name)] = with_failure
    for name in suites:
        with_failure = _suite(name, into or Path(), found)
        if with_failure is not None:
            found.failed[name] = with_failure
    return found


def _model(name: str, found: Prefetched) -> CimentoError | None:
    prefix, _, rest = name.partition(":")
    if rest and prefix == "openai":
        found.online.append(shown_name(name))
        found.models.append(name)
        return None
    if rest and (prefix in OPENERS or not Path(name).exists()):
        # A file, or a plug-in's own matter: nothing is to be downloaded.
        found.models.append(name)
        return None
    try:
        located = locate(name)
    except StorageError:
        raise
    except CimentoError as error:
        return error
    local = name in DEMO_MODELS or Path(name).expanduser().is_dir()
    hub_name = name.partition("@")[0]
    # An adapter's revision is a hash over two: its own commit is the name of its folder.
    folder = located.adapter.folder if located.adapter is not None else located.folder
    found.models.append(name if local else f"{hub_name}@{folder.name}")
    return None


def _suite(name: str, into: Path, found: Prefetched) -> CimentoError | None:
    here = name in builtin_names() or Path(name).expanduser().exists()
    try:
        if not here and name in published():
            name = str(fetch(find_published(name), into / name))
        find_suite(name)
    except StorageError:
        raise
    except CimentoError as error:
        return error
    found.suites.append(name)
    return None


def _use_cache(folder: Path) -> None:
    """Have the hub's library keep its files there; it reads the variable when it is imported."""
    os.environ["HF_HUB_CACHE"] = str(folder)
    constants = sys.modules.get("huggingface_hub.constants")
    if constants is not None:
        vars(constants)["HF_HUB_CACHE"] = str(folder)
