"""The nightly run: 10,000 mutated files for each reader, guided by what they make it do.

``python -m tests.fuzzing [--runs N] [--seconds N] [TARGET...]``: every target in a process of its
own, by atheris (libFuzzer for Python). A file that breaks a promise is kept in ``fuzz-findings/``.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

FINDINGS = Path("fuzz-findings")
RUNS = 10_000
SECONDS = 1.0
"""Of processor time, for one file; the test allows more, since machines may be busy."""

_FIRST_LINES = 25
_LAST = 500


def main() -> int:
    """Fuzz every target that is named, or all."""
    asked = _asked()
    if asked.plain:
        return _attempt_plainly(asked.one, Path(asked.plain), seconds=asked.seconds)
    if asked.one:
        _fuzz(asked.one, runs=asked.runs, seconds=asked.seconds)
    from tests.fuzzing.targets import TARGETS

    unknown = [name for name in asked.target if name not in TARGETS]
    if unknown:
        sys.exit(f"There is no target {unknown[0]!r}. Known: {', '.join(TARGETS)}")
    broken = [name for name in asked.target or TARGETS if not _is_sound(name, asked)]
    print(f"{len(broken)} broken" + (f": {', '.join(broken)}" if broken else ""))  # noqa: T201  # the result of a script
    return 1 if broken else 0


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", nargs="*")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    parser.add_argument("--plain", default="", help=argparse.SUPPRESS)
    return parser.parse_args()


def _this_module(options: list[str]) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "tests.fuzzing", *options]
    return subprocess.run(command, capture_output=True, check=False)  # noqa: S603  # our own interpreter


def _is_sound(name: str, asked: argparse.Namespace) -> bool:
    """Fuzz one target in a process of its own, and say what came of it."""
    start = time.monotonic()
    options = ["--one", name, "--runs", str(asked.runs), "--seconds", str(asked.seconds)]
    done = _this_module(options)
    taken = f"{time.monotonic() - start:.0f} s"
    print(f"{name}: {'sound' if done.returncode == 0 else 'BROKEN'} ({asked.runs} files, {taken})")  # noqa: T201
    if done.returncode:
        said = (done.stdout + done.stderr).decode(errors="replace").split("\n")
        first = next((n for n, line in enumerate(said) if "Uncaught Python" in line), 0)
        print("\n".join(said[first : first + _FIRST_LINES]))  # noqa: T201
    sys.stdout.flush()
    return done.returncode == 0


def _attempt_plainly(name: str, path: Path, *, seconds: float) -> int:
    """Read one file in a process that watches nothing; what came of it is in the status."""
    from tests.fuzzing.targets import TARGETS
    from tests.fuzzing.watching import attempt

    target = TARGETS[name]
    with tempfile.TemporaryDirectory() as warm:
        target.read(target.write(target.seeds()[0], Path(warm)))  # imports what it needs
    attempt(target.read, path, seconds=seconds)
    return 0


def _fuzz(name: str, *, runs: int, seconds: float) -> None:
    """Fuzz one target in this process, which libFuzzer ends."""
    import atheris

    with atheris.instrument_imports(include=["cimento"]):
        from tests.fuzzing.targets import TARGETS

        target = TARGETS[name]
        seeds = target.seeds()
        with tempfile.TemporaryDirectory() as warm:
            target.read(target.write(seeds[0], Path(warm)))  # imports what it needs

    from tests.fuzzing.mutating import mutate
    from tests.fuzzing.watching import BrokenError, SlowError, attempt

    folder = Path(tempfile.mkdtemp(prefix="cimento-fuzz-"))
    corpus = Path(tempfile.mkdtemp(prefix="cimento-corpus-"))
    for number, seed in enumerate(seeds):
        (corpus / str(number)).write_bytes(seed)
    FINDINGS.mkdir(exist_ok=True)

    def test_one_input(data: bytes) -> None:
        path = target.write(data, folder)
        try:
            attempt(target.read, path, seconds=seconds)
        except SlowError:
            # Every line of cimento is counted here, which takes longer than the line.
            again = ["--one", name, "--plain", str(path), "--seconds", str(seconds)]
            done = _this_module(again)
            if done.returncode:
                raise BrokenError(done.stderr.decode(errors="replace")[-_LAST:]) from None

    def mutator(data: bytes, max_size: int, seed: int) -> bytes:
        generator = random.Random(seed)  # noqa: S311  # mutations, not secrets
        return mutate(data, generator, seeds)[:max_size]

    options = [
        f"-runs={runs}", "-max_len=1000000", "-rss_limit_mb=0", "-timeout=600", "-seed=7",
        "-len_control=0", f"-artifact_prefix={FINDINGS}/{name.replace(' ', '-')}-", str(corpus),
    ]  # fmt: skip
    fuzzer: Any = atheris
    fuzzer.Setup([sys.argv[0], *options], test_one_input, custom_mutator=mutator)
    fuzzer.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
