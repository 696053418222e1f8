"""The names of models on this machine, and what may be meant by a name without a model."""

from __future__ import annotations

import difflib
import itertools
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from cimento.errors import UsageError
from cimento.io.files import expanded

DEMO_MODELS = ("demo-causal", "demo-masked")
CONFIG = "config.json"
ADAPTER_CONFIG = "adapter_config.json"
FORMS = (
    "Give a folder, org/name@revision, openai:URL#model, kenlm:FILE, gguf:FILE,"
    f" replay:FILE, {' or '.join(DEMO_MODELS)}."
)

_NEAR = 0.75
_MOST_ENTRIES = 2_000
"""Of a folder; what is further down is not suggested."""
MOST_LISTED = 6
_MORE = "..."
_HUB_PAGE = re.compile(r"^https?://huggingface\.co/(?P<name>[\w.-]+/[\w.-]+)")
_HUB_NAME = re.compile(r"^(hf|hub|huggingface|transformers|pretrained)[:=](?P<name>.+)")
_FILES = {".gguf": "gguf", ".arpa": "kenlm", ".klm": "kenlm"}
_SUITE = "suite.toml"


def is_folder(path: Path) -> bool:
    """Whether there is a folder at a path; no error for a name that no file can have."""
    try:
        return path.is_dir()
    except OSError:
        return False


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def holds_model(folder: Path) -> bool:
    """Whether a folder holds a model of transformers, or an adapter."""
    return any(_is_file(folder / config) for config in (CONFIG, ADAPTER_CONFIG))


def is_of_hub(name: str) -> bool:
    """Whether a name is written with a prefix for models of the hub, which have none here."""
    return bool(_HUB_NAME.match(name))


def is_model_here(name: str) -> bool:
    """Whether a name is a demo model, or a folder with a model of transformers."""
    return name in DEMO_MODELS or holds_model(expanded(name))


def refuse_misnamed(name: str, *, what: str = "model") -> None:
    """Refuse a name that can be neither a folder of a model nor a name on the hub.

    Args:
        name: as the user wrote it; no demo model.
        what: what is named, for messages.

    Raises:
        UsageError: it is empty, a file, a page of the hub, has a prefix that models lack, or is a
            folder with a revision.
    """
    where = f"{what} {name!r}"
    if not name.strip():
        raise UsageError(where=where, seen="the name is empty", todo=FORMS)
    if page := _HUB_PAGE.match(name):
        raise UsageError(
            where=where,
            seen="this is the address of a page of the hub",
            todo=f"Give the name alone: {page['name']}",
        )
    if name.startswith(("http://", "https://")):
        raise UsageError(
            where=where,
            seen="this is an address, and the kind of server is not named",
            todo=f"For a server that speaks OpenAI's protocol: openai:{name}, or with the name of"
            f" its model, openai:{name}#NAME.",
        )
    path = expanded(name)
    if (prefixed := _HUB_NAME.match(name)) and not is_folder(path):
        raise UsageError(
            where=where,
            seen="models of the hub and folders have no prefix",
            todo=f"Give the name alone: {prefixed['name']}",
        )
    if _is_file(path):
        prefix = _FILES.get(path.suffix)
        raise UsageError(
            where=where,
            seen="this is a file, and a model of transformers is a folder",
            todo=f"Give {prefix}:{name}"
            if prefix
            else f"Give its folder: {Path(name).parent}"
            if holds_model(path.parent)
            else "Give the folder with config.json.",
        )
    folder, at, revision = name.rpartition("@")
    if at and folder and not is_folder(path) and is_folder(expanded(folder)):
        _refuse_revision(folder, revision, where=where)


def _refuse_revision(folder: str, revision: str, *, where: str) -> None:
    """Refuse the revision of a folder on this machine, naming the checkpoint where there is one.

    Raises:
        UsageError: always.
    """
    steps = [name for name in checkpoints(expanded(folder)) if _is_step(name, revision)]
    raise UsageError(
        where=where,
        seen=f"{folder} is a folder on this machine, and only names on the hub have revisions",
        todo=f"Give its checkpoint, {Path(folder, steps[0])}" if steps else f"Give {folder}",
    )


def _is_step(name: str, revision: str) -> bool:
    """Whether a folder is the checkpoint of a revision, such as checkpoint-200 of 200."""
    return name == revision or (revision.isdigit() and re.findall(r"\d+", name) == [revision])


def folder_without_model(name: str) -> UsageError:
    """The error for a folder that is not a model, with what it holds in place of one."""
    path = expanded(name)
    seen = "this folder holds no config.json, so it is not a Hugging Face model"
    todo = "Give the folder that `save_pretrained` wrote."
    files = [entry.name for entry in _entries(path) if entry.suffix == ".gguf"]
    if inside := checkpoints(path):
        seen = f"this folder is not a model, and holds {len(inside)}: {', '.join(_some(inside))}"
        flags = (
            inner if inner == _MORE else f"-m {_quoted(name, inner)}" for inner in _some(inside)
        )
        todo = f"Give the models that you mean: {' '.join(flags)}"
    elif (path / _SUITE).is_file():
        seen, todo = "this folder is a suite, and no model", "Suites are given without -m."
    elif files:
        seen = f"this folder holds no config.json, and the file {files[0]}"
        todo = f"Give -m gguf:{_quoted(name, files[0])}"
    return UsageError(where=f"model {name!r}", seen=seen, todo=todo)


def _some(names: list[str]) -> list[str]:
    return names if len(names) <= MOST_LISTED else [*names[:2], _MORE, names[-1]]


def _quoted(*parts: str) -> str:
    return shlex.quote(str(Path(*parts)))


def checkpoints(folder: Path) -> list[str]:
    """The folders of models in a folder, in the order of the numbers in their names."""
    names = [entry.name for entry in _entries(folder) if holds_model(entry)]
    return sorted(names, key=lambda name: ([int(n) for n in re.findall(r"\d{1,18}", name)], name))


def meant_by(name: str) -> str:
    """A question after the model that may have been meant by a misspelled name; may be empty."""
    if advice := _badly_written(name):
        return advice
    path = expanded(name)
    beside = [
        str(Path(name).parent / entry.name) if Path(name).parent.name else entry.name
        for entry in _entries(path.parent)
        if holds_model(entry)
    ]
    known = [other for other in (*DEMO_MODELS, *beside, *_downloaded()) if other != name]
    close = difflib.get_close_matches(name, known, 3, _NEAR)
    return f"Did you mean {' or '.join(map(repr, close))}?" if close else ""


def _badly_written(name: str) -> str:
    """Advice on a name that is several, or is written in another way; empty for none."""
    plain = name.strip("\u201c\u201d\u2018\u2019\u00ab\u00bb")
    parts = [part for part in re.split(r"\s*,\s*", name) if part]
    prefix, colon, rest = name.partition(":")
    there = name.replace("\\", "/")
    advice: dict[str, bool] = {
        f"Type straight quotation marks, or none: {plain}": plain != name,
        "Separate model arguments by commas, without blanks.": "=" in name and " " in name,
        f"Give -m once for each model: {' '.join(f'-m {part}' for part in parts)}": len(parts) > 1,
        "-m takes one model and no pattern; give it once for each.": bool(set(name) & set("*?")),
        f"Folders are separated by / on this system: {there}": there != name and os.sep == "/",
        f"No kind of models is called {prefix!r}; a revision comes after @: {prefix}@{rest}": bool(
            colon and re.fullmatch(r"[\w.-]+", rest)
        ),
    }
    return next((text for text, holds in advice.items() if holds), "")


def _entries(folder: Path) -> Iterator[Path]:
    """The first entries of a folder; none where it cannot be read."""
    try:
        yield from itertools.islice(folder.iterdir(), _MOST_ENTRIES)
    except OSError:
        return


def hub_cache() -> Path | None:
    """The folder with downloads of the Hugging Face hub; None without its library."""
    try:
        from huggingface_hub import constants
    except ImportError:
        return None
    return Path(constants.HF_HUB_CACHE)


def _downloaded() -> list[str]:
    """The names of the models in the hub's cache."""
    cache = hub_cache()
    names = (entry.name.split("--") for entry in _entries(cache)) if cache else ()
    return ["/".join(name) for kind, *name in names if kind == "models"]
