"""How large the downloads of published sets are, as their sites say before anything is fetched."""

from __future__ import annotations

import urllib.request
from itertools import chain

from cimento.io.transport import USER_AGENT, look_up, opener
from cimento.suites.fetching import wanted_files
from cimento.suites.language_sets import LanguageSet
from cimento.suites.published import https_only

_TIMEOUT_S = 10


def download_bytes(one: LanguageSet, *, endpoint: str | None = None) -> int | None:
    """The size of what would be fetched of a set.

    Args:
        one: the set.
        endpoint: address of another hub than huggingface.co.

    Returns:
        Bytes; None where its site does not say, or cannot be reached.
    """
    dataset = one.dataset
    try:
        if dataset.hub:
            return _on_hub(one, endpoint)
        wanted = (files for code, files in dataset.files.items() if one.part in ("", code))
        addresses = [dataset.archive] if dataset.archive else list(chain.from_iterable(wanted))
        sizes = [_length(https_only(address)) for address in addresses]
    except Exception:  # noqa: BLE001  # the hub's library raises errors of many unrelated classes
        return None
    known = [size for size in sizes if size is not None]
    return sum(known) if known and len(known) == len(sizes) else None


def _length(address: str) -> int | None:
    """The length that a site states of a file.

    Raises:
        OSError: it cannot be reached.
    """
    request = urllib.request.Request(  # noqa: S310  # callers see to https
        address, method="HEAD", headers={"User-Agent": USER_AGENT}
    )
    with opener(address, allowed=https_only).open(request, timeout=_TIMEOUT_S) as response:
        length = response.headers.get("Content-Length")
    return int(length) if length else None


def _on_hub(one: LanguageSet, endpoint: str | None) -> int | None:
    """The sizes of a set's files on the hub, at its revision or else at the newest."""
    from huggingface_hub import HfApi

    look_up(endpoint or one.dataset.address)
    info = HfApi(endpoint=endpoint).dataset_info(
        one.dataset.hub,
        revision=one.dataset.revision or None,
        files_metadata=True,
        timeout=_TIMEOUT_S,
    )
    sizes = {file.rfilename: file.size for file in info.siblings or ()}
    wanted = [sizes[name] for name in wanted_files(one.dataset, list(sizes), one.part)]
    return None if None in wanted else sum(size or 0 for size in wanted)
