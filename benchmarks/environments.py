"""The interpreters of the peers: each in an environment of its own, made when it is first needed.

minicons 0.3.39 cannot score masked models with transformers 5, so the peers cannot share one.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TORCH = "torch==2.13.0"
"""Installed first, so that none of the others chooses a build that brings GPU packages."""

PEERS = {
    "minicons": ("minicons==0.3.39", "transformers==4.57.*"),
    "lm-eval": ("lm-eval[hf]==0.4.13",),
}


def find_or_make(peer: str, *, given: Path | None, folder: Path) -> tuple[Path | None, str]:
    """The interpreter that can import a peer, or None and the reason why there is none.

    Args:
        peer: a key of `PEERS`.
        given: an interpreter that already has it.
        folder: where environments are made.
    """
    python = given or folder / peer / "bin" / "python"
    if not python.exists():
        if given:
            return None, f"there is no interpreter {given}"
        try:
            _make(peer, folder / peer)
        except subprocess.CalledProcessError as error:
            lines = (error.stderr or "").strip().splitlines() or [str(error)]
            return None, f"cannot be installed ({lines[-1][:200]})"
    module = peer.replace("-", "_")
    check = subprocess.run(  # noqa: S603  # an interpreter that we made or were given
        [str(python), "-c", f"import {module}"], capture_output=True, text=True, check=False
    )
    if check.returncode:
        return None, f"cannot be imported ({check.stderr.strip().splitlines()[-1][:200]})"
    return python, ""


def _make(peer: str, folder: Path) -> None:
    print(f"installing {peer} into {folder} ...", file=sys.stderr)
    python = folder / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    steps = (
        [sys.executable, "-m", "venv", str(folder)],
        [*pip, TORCH],
        [*pip, TORCH, *PEERS[peer]],
    )
    try:
        for command in steps:
            subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603  # fixed words
    except subprocess.CalledProcessError:
        # Left half-made, it would be taken for whole the next time.
        python.unlink(missing_ok=True)
        raise
