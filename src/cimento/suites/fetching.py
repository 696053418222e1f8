"""Downloads of published datasets, which are recorded, checked, and resumed after interruptions."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from cimento.errors import InputError, StorageError, needing
from cimento.io.files import file_digest, write_text, writing
from cimento.io.parsing import parse_json
from cimento.suites.languages import ENGLISH, ISO_639_3, VARIETIES
from cimento.suites.load import CHUNK_BYTES, unpacked
from cimento.suites.published import PublishedDataset, https_only, is_address
from cimento.suites.sources import SOURCE, recorded_source
from cimento.suites.tarballs import TARBALL, unpack_tarball

if TYPE_CHECKING:
    from http.client import HTTPResponse
    from urllib.request import OpenerDirector


_TIMEOUT_S = 60
_ATTEMPTS = 4
_SLOWEST_BYTES_PER_S = 1000
"""The pace below which a download is given up; an ordinary modem had several times that."""
_PARTIAL = 206
_MOST_NAMED = 10


def fetch(
    dataset: PublishedDataset, folder: Path, *, language: str = "", endpoint: str | None = None
) -> Path:
    """Fetch a published dataset into a folder, unless its files are there undamaged.

    A dataset of the hub without a commit is fetched at its newest, which is recorded and kept.

    Args:
        dataset: an entry of the registry.
        folder: for the files; a file ``source.json`` next to them gives their source.
        language: ISO 639-1 or 639-3 code; empty for all languages.
        endpoint: address of another hub than huggingface.co.

    Returns:
        The folder that holds the suites.

    Raises:
        UsageError: the dataset does not exist in this language.
        InputError: the dataset cannot be reached, or must be fetched by hand.
        StorageError: the folder cannot be written, a file in it has been changed, or it holds the
            dataset at another commit.
    """
    dataset.check_language(language)
    target = folder / language if language else folder
    recorded = recorded_source(target)
    _check_commit(dataset, target, recorded)
    if recorded.get("complete") and recorded.get("name") == dataset.name:
        _check_files(target, recorded)
        return target
    with writing(target):
        target.mkdir(parents=True, exist_ok=True)
        with _nothing_left(target, folder):
            revision = _bring(dataset, target, language, endpoint, recorded)
            _record(dataset, target, language, revision, complete=True)
    return target


def _check_commit(dataset: PublishedDataset, target: Path, recorded: Mapping[str, object]) -> None:
    """See that a dataset of the hub is not mixed with what was fetched at another commit.

    Raises:
        StorageError: the folder has another one.
    """
    before = str(recorded.get("revision") or "") if recorded.get("name") == dataset.name else ""
    if dataset.hub and dataset.revision and before and before != dataset.revision:
        raise StorageError(
            where=str(target),
            seen=f"holds {dataset.name} at the commit {before}, not {dataset.revision}",
            todo="Choose another folder with -o, or remove this one.",
        )


@contextlib.contextmanager
def _nothing_left(*folders: Path) -> Iterator[None]:
    """A context that removes folders left empty by a failure, so that none is taken for a suite."""
    try:
        yield
    except BaseException:
        for folder in folders:
            with contextlib.suppress(OSError):  # it has files, or does not exist
                folder.rmdir()
        raise


def _bring(
    dataset: PublishedDataset,
    target: Path,
    language: str,
    endpoint: str | None,
    recorded: dict[str, object],
) -> str:
    """Fetch the files, and return their revision."""
    if dataset.hub:
        revision = dataset.revision or str(recorded.get("revision") or "")
        return _from_hub(dataset, target, language, endpoint, revision)
    if dataset.archive:
        _from_archive(dataset, target, language)
        return Path(dataset.archive).stem
    if dataset.zenodo:
        _from_zenodo(dataset, target)
        return dataset.zenodo
    if dataset.files:
        wanted = (files for code, files in dataset.files.items() if language in ("", code))
        for address in chain.from_iterable(wanted):
            path = target / address.rsplit("/", 1)[1]
            with explained(dataset, address, target):
                download(https_only(address), path)
            if path.name.endswith(TARBALL):
                unpack_tarball(path)
        return ""
    raise InputError(
        where=dataset.name, seen="it cannot be fetched from here", todo=dataset.by_hand
    )


def download(address: str, path: Path, *, wait: Callable[[float], object] = time.sleep) -> Path:
    """Download one file; an interrupted download continues where it stopped.

    After a transient failure, the download is attempted again a few times.

    Raises:
        OSError: the address cannot be reached, sends less than it announces or hardly anything (the
            part that came is kept), or the file cannot be written.
    """
    from cimento.io.deadline import Limit, TooSlowError
    from cimento.io.transport import Patience, TransientError, opener, patiently

    patience = Patience(timeout_s=_TIMEOUT_S, attempts=_ATTEMPTS)
    opened = opener(address, allowed=https_only, limit=Limit(_TIMEOUT_S, _SLOWEST_BYTES_PER_S))
    part = path.with_name(path.name + ".part")
    try:
        patiently(
            lambda: _download_more(opened, address, part), patience, request=address, wait=wait
        )
    except TransientError as error:
        raise error.__cause__ or error from None
    except TooSlowError as error:
        pace = f"it sends fewer than {_SLOWEST_BYTES_PER_S:,} bytes a second"
        raise OSError(errno.ETIMEDOUT, pace) from error
    part.replace(path)
    return path


def _download_more(opened: OpenerDirector, address: str, part: Path) -> None:
    """Download the missing part of a partly downloaded file.

    Raises:
        TransientError: the site asks to try again later, or stopped before the end.
    """
    import urllib.error
    import urllib.request

    from cimento.io.transport import USER_AGENT, TransientError, transient

    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(address, headers={"User-Agent": USER_AGENT})  # noqa: S310  # callers see to https
    if have:
        request.add_header("Range", f"bytes={have}-")
    response: HTTPResponse
    try:
        answer = opened.open(request, timeout=_TIMEOUT_S)
    except urllib.error.HTTPError as error:
        error.close()  # it keeps the connection open
        if passing := transient(error):
            raise passing from error
        raise
    with answer as response:
        goes_on = have and response.status == _PARTIAL
        with part.open("ab" if goes_on else "wb") as sink:
            while chunk := _chunk(response):
                sink.write(chunk)
        length = response.headers.get("Content-Length")
        whole = int(length) + (have if goes_on else 0) if length else None
    came = part.stat().st_size
    # urllib takes the end of a connection for the end of the file, so the length is compared.
    if whole is not None and came != whole:
        cut = OSError(errno.EPIPE, f"it was cut off after {came:,} of {whole:,} bytes")
        raise TransientError(str(cut)) from cut


def _chunk(response: HTTPResponse) -> bytes:
    """The next chunk of a download, read apart from writing: disk errors are not transient.

    Raises:
        TransientError: the connection broke.
    """
    from cimento.io.transport import BROKEN, TransientError

    try:
        return response.read(CHUNK_BYTES)
    except BROKEN as error:
        raise TransientError(str(error)) from error


def _from_archive(dataset: PublishedDataset, target: Path, language: str) -> None:
    """Fetch the suites in a repository's zip, which is deleted afterwards."""
    archive = target / ".archive.zip"
    with explained(dataset, dataset.archive, target):
        download(https_only(dataset.archive), archive)
    with unpacked(archive) as folder:
        (root,) = list(folder.iterdir())
        names = [language] if language else [c for c in dataset.languages if len(c) == len("it")]
        for name in names if "{language}" in dataset.inside else [""]:
            source = root / dataset.inside.replace("{language}", name)
            if source.is_file():
                shutil.copy2(source, target / source.name)
                continue
            if not source.is_dir():
                raise InputError(
                    where=dataset.archive,
                    seen=f"there is no file or folder {dataset.inside!r} in it",
                    todo=f"Look at {dataset.address} for its name.",
                )
            into = target / name if name and not language else target
            shutil.copytree(source, into, dirs_exist_ok=True)
    archive.unlink()


def _from_hub(
    dataset: PublishedDataset, target: Path, language: str, endpoint: str | None, revision: str
) -> str:
    """Fetch the files of a dataset of the hub, and return the commit that they are of."""
    with needing("huggingface_hub", extra="hf", purpose=f"dataset {dataset.name!r}"):
        from huggingface_hub import HfApi, hf_hub_download
    from cimento.io.transport import look_up

    address = f"{endpoint or 'https://huggingface.co'}/datasets/{dataset.hub}"
    with explained(dataset, address, target):
        look_up(address)
        api = HfApi(endpoint=endpoint)
        revision = revision or str(api.dataset_info(dataset.hub).sha)
        names = api.list_repo_files(dataset.hub, repo_type="dataset", revision=revision)
        wanted = wanted_files(dataset, names, language)
        # The revision is recorded before the first file, so that a resumed fetch uses the same one.
        _record(dataset, target, language, revision, complete=False)
        for name in wanted:
            hf_hub_download(
                dataset.hub,
                name,
                repo_type="dataset",
                revision=revision,
                local_dir=target,
                endpoint=endpoint,
            )
    return revision


RECORDS = "https://zenodo.org/api/records/"
"""The address of Zenodo's records."""


def _from_zenodo(dataset: PublishedDataset, target: Path) -> None:
    """Fetch the files of a record of Zenodo, and compare them with the record's own digests.

    Raises:
        InputError: the record is another one, or has no such file.
        StorageError: a file is not the one in the record.
    """
    address = f"{RECORDS}{dataset.zenodo}"
    files = _record_files(dataset, address, target)
    for name in wanted_files(dataset, list(files), ""):
        path = target / PurePosixPath(name).name
        content = f"{address}/files/{quote(name)}/content"
        with explained(dataset, content, target):
            download(https_only(content), path)
        with path.open("rb") as handle:
            digest = f"md5:{hashlib.file_digest(handle, _md5).hexdigest()}"
        if digest != files[name]:
            path.unlink()
            raise StorageError(
                where=content,
                seen=f"what came has the digest {digest}, and the record says {files[name]}",
                todo="Try again; if it stays so, do not use it.",
            )


def _record_files(dataset: PublishedDataset, address: str, target: Path) -> dict[str, str]:
    """The names of a record's files, with the digests that the record states.

    Raises:
        InputError: the number stands for all versions of a record.
    """
    described = target / ".record.json"
    with explained(dataset, address, target):
        record = parse_json(download(https_only(address), described).read_text(encoding="utf-8"))
        described.unlink()
    whole = record if isinstance(record, dict) else {}
    if str(whole.get("id")) != dataset.zenodo:
        raise InputError(
            where=dataset.name,
            seen=f"this number stands for all versions; the newest is {whole.get('id')}",
            todo=f"Write zenodo:10.5281/zenodo.{whole.get('id')}, whose files never change.",
        )
    files = whole.get("files")
    entries = (
        [entry for entry in files if isinstance(entry, dict)] if isinstance(files, list) else []
    )
    return {str(entry.get("key")): str(entry.get("checksum")) for entry in entries}


def _md5(data: bytes = b"") -> Any:  # noqa: ANN401  # hashlib does not export the type
    """The digest that Zenodo states; it shows damage, and protects against nobody."""
    return hashlib.md5(data, usedforsecurity=False)


def wanted_files(dataset: PublishedDataset, names: list[str], language: str) -> list[str]:
    """The files of a dataset that are in its part, have its suffixes and are in a language.

    Raises:
        InputError: there are none.
    """
    files = [name for name in names if name.endswith(dataset.suffixes)]
    if inside := dataset.inside:
        files = [name for name in names if name == inside or name.startswith(f"{inside}/")]
    if not files:
        shown = ", ".join(names[:_MOST_NAMED]) or "none"
        raise InputError(
            where=dataset.name,
            seen=f"there is no file or folder {inside!r} in it, but {shown}"
            if inside
            else f"none of its files can be a suite: {shown}",
            todo=f"Look at {dataset.address}",
        )
    if not language:
        return files
    others = (known.get(language, "") for known in (ISO_639_3, ENGLISH, VARIETIES))
    marks = {language, *others} - {""}
    words = {mark.casefold() for mark in marks}
    chosen = [name for name in files if words & {*re.split(r"[/._ -]", name.casefold())}]
    if not chosen:
        shown = ", ".join(files[:_MOST_NAMED])
        raise InputError(
            where=f"{dataset.name}, language {language}",
            seen=f"none of its files names this language: {shown}",
            todo="Fetch all of it, without --language.",
        )
    return chosen


@contextlib.contextmanager
def explained(dataset: PublishedDataset, address: str, target: Path) -> Iterator[None]:
    """A context that turns network errors into one message, which says what to copy where."""
    try:
        yield
    except (InputError, StorageError):
        raise
    # urllib and the hub's library raise errors of many unrelated classes.
    except Exception as error:
        reason = str(error).strip().splitlines() or [""]
        folder = "FOLDER" if is_address(dataset.name) else target
        raise InputError(
            where=address,
            seen=f"cannot be fetched ({type(error).__name__}: {reason[0][:200]})",
            todo=f"Without a network: fetch it elsewhere ({dataset.format}), copy its files into"
            f" {folder}, and run that folder. With one: try again; it resumes.",
        ) from error


def _record(
    dataset: PublishedDataset, target: Path, language: str, revision: str, *, complete: bool
) -> None:
    files = {
        path.relative_to(target).as_posix(): file_digest(path)
        for path in sorted(target.rglob("*"))
        if path.is_file() and path.name != SOURCE and ".cache" not in path.parts
    }
    content = {
        "name": dataset.name,
        "address": dataset.address,
        "revision": revision,
        "language": language,
        "license": dataset.license,
        "citation": dataset.citation,
        "read_as": dataset.read_as,
        "complete": complete,
        "files": files if complete else {},
    }
    if complete:
        _check_pinned(dataset, files, target, whole=not language)
    write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", target / SOURCE)


def _check_pinned(
    dataset: PublishedDataset, files: Mapping[str, str], target: Path, *, whole: bool
) -> None:
    """Check fetched files against the sha256 that the registry has of published ones.

    Args:
        dataset: an entry of the registry.
        files: the fetched files, with their sha256.
        target: the folder that they are in.
        whole: whether all files were fetched, and not only those of one language.

    Raises:
        StorageError: a file differs from the published one, or is missing.
    """
    for name, digest in dataset.sha256.items():
        if files.get(name, "" if whole else digest) != digest:
            raise StorageError(
                where=str(target / name),
                seen="is not the file that was published: its sha256 is another, or it is missing",
                todo=f"Remove {target} and fetch again; if it stays so, do not use it.",
            )


def unpinned(dataset: PublishedDataset, folder: Path) -> int:
    """The number of fetched files whose sha256 the registry does not have.

    Args:
        dataset: an entry of the registry.
        folder: the folder that `fetch` returned.
    """
    files = recorded_source(folder).get("files")
    return len((files if isinstance(files, dict) else {}).keys() - dataset.sha256.keys())


def _check_files(target: Path, recorded: dict[str, object]) -> None:
    """Check that fetched files have not changed since.

    Raises:
        StorageError: a file is missing or has been changed.
    """
    files = recorded.get("files")
    for name, digest in (files if isinstance(files, dict) else {}).items():
        path = target / name
        if not path.is_file() or file_digest(path) != digest:
            raise StorageError(
                where=str(path),
                seen="is not as it was fetched: its sha256 is another",
                todo=f"Remove {target} and fetch again, or choose another folder with -o.",
            )
