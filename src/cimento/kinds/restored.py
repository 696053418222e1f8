"""The suite and the options of a stored run, read from its folder."""

from __future__ import annotations

from typing import cast

from cimento.errors import InputError, TableError
from cimento.io.tables import read_table
from cimento.kinds.base import ParadigmOptions, TestSuite
from cimento.kinds.paradigm import AnyParadigm
from cimento.kinds.partial import TAKEN
from cimento.kinds.reader import limited
from cimento.kinds.stopped import ADAPTIVE, asked_items
from cimento.records.store import ORDER, Manifest, RunFolder, manifest_part


def asked_suite(paradigm: AnyParadigm, folder: RunFolder, manifest: Manifest) -> TestSuite:
    """The suite of a stored run, as far as it was asked.

    Raises:
        TableError: the copy in the folder of the run cannot be read.
    """
    suite = stored_suite(paradigm, folder, manifest)
    if ADAPTIVE not in manifest:
        return suite
    items = set(asked_items(read_table(ORDER, folder.path)))
    return cast("TestSuite", paradigm.reader.selected(suite, items))


def stored_suite(paradigm: AnyParadigm, folder: RunFolder, manifest: Manifest) -> TestSuite:
    """The suite of a stored run, with all items among which an adaptive run chose.

    Raises:
        TableError: the copy in the folder of the run cannot be read.
    """
    try:
        suite: TestSuite = paradigm.reader.read_copy(folder.suite_folder)
    except InputError as error:
        seen = f"it holds no suite of the kind {paradigm.name!r} ({error})"
        raise TableError(where=str(folder.suite_folder), seen=seen, todo="Run again.") from error
    if isinstance(taken := manifest.get(TAKEN), list):
        return cast("TestSuite", paradigm.reader.selected(suite, frozenset(map(str, taken))))
    limit = manifest_part(manifest, "inputs").get("limit")
    return limited(paradigm.reader, suite, limit) if isinstance(limit, int) else suite


def stored_options(paradigm: AnyParadigm, manifest: Manifest) -> ParadigmOptions:
    """The options of a stored run. Manifests have all of them; the usual ones count as not given.

    Raises:
        pydantic.ValidationError: there is no such option, or not this value of it.
    """
    stored = manifest.get("options")
    if isinstance(stored, dict):
        fields = paradigm.options.model_fields.items()
        usual = {name: field.get_default(call_default_factory=True) for name, field in fields}
        stored = {name: v for name, v in stored.items() if name not in usual or v != usual[name]}
    options: ParadigmOptions = paradigm.options.model_validate(stored)
    return options
