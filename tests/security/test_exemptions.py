"""Every exemption from ruff's security rules says why it is safe."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_EXEMPTION = re.compile(r"# noqa: (?P<codes>[A-Z0-9, ]*\bS\d{3}[A-Z0-9, ]*)(?P<rest>.*)")
_REASON = re.compile(r"\s*(#|-)\s*\S.*\w")


def test_every_security_exemption_has_its_reason():
    exemptions, bare = 0, []
    for folder in ("src", "tests", "scripts", "benchmarks"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
                exemption = _EXEMPTION.search(line)
                if exemption is None:
                    continue
                exemptions += 1
                if not _REASON.match(exemption["rest"]):
                    bare.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")

    assert exemptions > 10
    assert bare == []
