"""Look the pinned packages up among known vulnerabilities, where there is a network.

pip-audit asks the databases. Where it cannot be installed or cannot reach them, nothing is checked,
and that is said: it is not a fault of the project.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import TypeAlias

Done: TypeAlias = "subprocess.CompletedProcess[str]"
Runner: TypeAlias = Callable[[Sequence[str]], Done]

PINNED = "constraints.txt"
FOLDER = ".venv/audit"
NOTHING = "make audit: nothing was checked"


def main(run: Runner | None = None) -> int:
    """Audit the pinned packages; 1 where one has a known vulnerability, else 0."""
    run = run or _run
    # In an environment of its own, so that it changes no pinned package.
    run([sys.executable, "-m", "venv", FOLDER])
    python = f"{FOLDER}/bin/python"
    installed = run([python, "-m", "pip", "install", "--quiet", "pip-audit"])
    if installed.returncode:
        return _unchecked("pip-audit cannot be installed here", installed)
    options = ["--requirement", PINNED, "--no-deps", "--disable-pip", "--format", "json"]
    audited = run([python, "-m", "pip_audit", *options])
    try:
        packages = json.loads(audited.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return _unchecked("the databases of vulnerabilities cannot be reached", audited)
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    if len(skipped) == len(packages):
        return _unchecked("the databases of vulnerabilities know none of the packages", audited)
    checked = [
        (package["name"], package.get("version", "?"), package.get("vulns", []))
        for package in packages
        if "skip_reason" not in package
    ]
    for name, version, vulnerabilities in checked:
        for vulnerability in vulnerabilities:
            fixed = ", ".join(vulnerability.get("fix_versions", [])) or "none yet"
            print(f"{name} {version}: {vulnerability['id']} (fixed in: {fixed})")
    bad = sum(bool(vulnerabilities) for _, _, vulnerabilities in checked)
    print(f"make audit: {len(checked)} pinned packages, {bad} with known vulnerabilities.")
    if skipped:
        print(f"Not checked, since the databases do not know them: {', '.join(skipped)}.")
    return 1 if bad else 0


def _unchecked(reason: str, done: Done) -> int:
    lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
    print(f"{NOTHING}: {reason}{f' ({lines[-1].strip()[:200]})' if lines else ''}.")
    return 0


def _run(command: Sequence[str]) -> Done:
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # commands of this file


if __name__ == "__main__":
    sys.exit(main())
