"""The locked packages: the versions of constraints.txt with the sha256 of their files.

`make lock` writes two files in pip's format, which `pip install --require-hashes` reads: locked.txt
has what `cimento[hf]` and its build need, locked-dev.txt all other packages. The hashes are those
that pip reports for each supported Python on Linux, of x86_64 and aarch64. Addresses are left out,
so the files hold for every copy of the package index.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCKED = ("locked.txt", "locked-dev.txt")
PYTHONS = ("3.11.9", "3.12.9", "3.13.9")
MACHINES = ("x86_64", "aarch64")
_GLIBC = ("manylinux2014", "manylinux1", "manylinux2010", "linux")
_PLATFORMS = (*_GLIBC, *(f"manylinux_2_{minor}" for minor in range(5, 37)))
_NOT_THERE = re.compile(r"No matching distribution found for (\S+)==")


def pinned(text: str) -> dict[str, str]:
    """Canonical name of each package to its line, without hashes."""
    lines = (line.split(" \\")[0] for line in text.splitlines() if re.match(r"\w", line))
    return {canonicalize_name(line.partition("==")[0]): line for line in lines}


def needed(roots: Iterable[str]) -> set[str]:
    """Canonical names of what the requirements need in all, read from what is installed."""
    names: set[str] = set()
    left = [(Requirement(root), "") for root in roots]
    while left:
        requirement, extra = left.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        if name in names and not requirement.extras:
            continue
        names.add(name)
        try:
            more = [Requirement(line) for line in requires(name) or ()]
        except PackageNotFoundError:  # a package of another platform
            continue
        left += [(further, wanted) for further in more for wanted in ("", *requirement.extras)]
    return names


def reported(lines: Mapping[str, str], python: str, machine: str) -> dict[str, str]:
    """Canonical name to sha256 of the file for a platform; packages without one are left out."""
    wanted = dict(lines)
    platforms = [f"--platform={name}_{machine}" for name in _PLATFORMS]
    while True:
        with tempfile.TemporaryDirectory() as folder:
            asked = Path(folder, "asked.txt")
            asked.write_text("\n".join(wanted.values()), encoding="utf-8")
            command = [sys.executable, "-m", "pip", "--isolated", "install", "--quiet", "--dry-run"]
            command += ["--no-deps", "--ignore-installed", "--only-binary=:all:", "--report=-"]
            command += [f"--python-version={python}", "--implementation=cp", *platforms]
            command += [f"--target={folder}", f"--requirement={asked}"]
            env = {**os.environ, "PIP_CONFIG_FILE": os.devnull}
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)  # noqa: S603  # pip of this environment
        missing = _NOT_THERE.search(done.stderr)
        if missing is None:
            break
        del wanted[canonicalize_name(missing[1])]
    if done.returncode:
        sys.exit(done.stderr)
    return {
        canonicalize_name(entry["metadata"]["name"]): entry["download_info"]["archive_info"][
            "hashes"
        ]["sha256"]
        for entry in json.loads(done.stdout)["install"]
    }


def main() -> None:
    """Write both files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lines = pinned((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    hashes: dict[str, set[str]] = defaultdict(set)
    for python in PYTHONS:
        for machine in MACHINES:
            for name, sha256 in reported(lines, python, machine).items():
                hashes[name].add(sha256)
    run = needed(
        project["project"]["dependencies"]
        + project["project"]["optional-dependencies"]["hf"]
        + project["build-system"]["requires"]
    )
    for file, is_run in zip(LOCKED, (True, False), strict=True):
        entries = [
            " \\\n    ".join(
                [line, *(f"--hash=sha256:{digest}" for digest in sorted(hashes[name]))]
            )
            for name, line in lines.items()
            if (name in run) is is_run
        ]
        (ROOT / file).write_text("\n".join(entries) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
