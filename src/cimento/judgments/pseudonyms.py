"""Names of participants replaced by pseudonyms that only the holder of a secret can make again.

The pseudonym is a keyed hash (HMAC-SHA256, RFC 2104 and FIPS 180-4): the same participant has the
same one in every table that was imported with the same secret, and without the secret a list of
all identifiers is of no help in finding out who is who.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import unicodedata
from pathlib import Path

from cimento.errors import InputError, StorageError
from cimento.io.files import read_bytes

BYTES = 32
"""Of a new secret."""

LEAST_BYTES = 16
"""A shorter one could be guessed."""

SHOWN = 12
"""Hexadecimal digits of a pseudonym: 48 bits; two of 10,000 people share one in 2 of 10 million."""


def open_secret(path: Path) -> tuple[bytes, bool]:
    """The secret in a file, and whether it was made just now, readable by its owner alone.

    Raises:
        InputError: the file is too short to be one.
        StorageError: it cannot be written.
    """
    if path.exists():
        secret = read_bytes(path).strip()
        if len(secret) < LEAST_BYTES:
            raise InputError(
                where=str(path),
                seen=f"has {len(secret)} characters",
                todo=f"A secret has {LEAST_BYTES} or more; name a file that is not there to make"
                " one.",
            )
        return secret, False
    secret = secrets.token_hex(BYTES).encode("ascii")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(secret + b"\n")
    except OSError as error:
        raise StorageError(
            where=str(path),
            seen=f"cannot be written ({error.strerror or error})",
            todo="Name a file in a folder of yours.",
        ) from error
    return secret, True


def pseudonym(name: str, secret: bytes) -> str:
    """The pseudonym of a participant.

    Args:
        name: as the platform has it; blanks at its ends and the Unicode form do not count.
        secret: of `open_secret`.
    """
    plain = unicodedata.normalize("NFC", name).strip().encode("utf-8")
    return "p" + hmac.new(secret, plain, hashlib.sha256).hexdigest()[:SHOWN]
