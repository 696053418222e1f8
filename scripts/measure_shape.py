"""Measure the shape of cimento, and print it beside what it was and what it is to become.

The rows are those of the redesign that a program can measure; the tests hold the others. Source is
read as text, commands are run as a user runs them: nothing of the package is imported here. Run
with::

    python scripts/measure_shape.py            # everything, about ten minutes
    python scripts/measure_shape.py --quick    # without the rows that run thousands of pairs
    python scripts/measure_shape.py --only kinds --only circles --json
    python scripts/measure_shape.py --list kinds
    python scripts/measure_shape.py --page             # the table of docs/design/size.md, written
    python scripts/measure_shape.py --page --check     # only compared, within 5%

CPU seconds and memory are those of this machine: compare only what was measured on one.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from shape import kinds, page, running, source

SUITES = {
    "regions": "it-subject-verb",
    "cloze": "it-connectives-cloze",
    "stories": "it-stories",
    "ratings": "it-acceptability",
}
"""A built-in suite of each paradigm."""

PAGE = Path("docs") / "design" / "size.md"
MOST_IN_FUNCTION, MOST_IN_FILE = 50, 500
PAIRS = 10_000
FEW_PAIRS, MANY_PAIRS = 1_000, 100_000
MEGA = 1_000_000


@dataclass(frozen=True)
class Measured:
    """What one row of the table says.

    Attributes:
        now: for people; why there is nothing, where it could not be measured.
        values: for programs, by name; None where it could not be measured.
        places: what was counted, one a line, where that can be listed.
    """

    now: str
    values: Mapping[str, object] | None
    places: Sequence[str] = ()


class Tree:
    """A working tree, and a folder to run it in; what several rows need is done once.

    Args:
        root: of the working tree.
        folder: empty, for runs.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self.shop = running.Workshop(root, folder)

    @cached_property
    def modules(self) -> list[source.Module]:
        """The files of the package."""
        return source.read_package(self.shop.source)


def measure_kinds(tree: Tree) -> Measured:
    """Who asks outside `paradigms/` which kind of test a suite is."""
    asking = kinds.places(tree.modules)
    places = kinds.scopes(asking)
    at_home = kinds.scopes(place for place in asking if place.in_home)
    values = {"places": len(places), "in_packages_of_kinds": len(at_home), "lines": len(asking)}
    now = f"{len(places)} ({len(at_home)} in packages named after a kind)"
    return Measured(now, values, [str(place) for place in asking])


def measure_entered(tree: Tree, paradigms: Iterable[str]) -> Measured:
    """Files and functions that a first run of a suite enters, after imports."""
    values: dict[str, object] = {}
    places, shown = [], []
    for paradigm in paradigms:
        functions = tree.shop.trace(SUITES[paradigm]).functions
        files = {file for file, _, _ in functions}
        values[paradigm] = {"files": len(files), "functions": len(functions)}
        shown.append(f"{len(files)} / {len(functions)}")
        places += [
            f"{paradigm}: {Path(file).relative_to(tree.shop.source)}:{line}: {name}"
            for file, name, line in functions
        ]
    return Measured(", ".join(shown), values, places)


def measure_frames(tree: Tree) -> Measured:
    """Frames of the package on the stack where the network is first touched, and first called."""
    values: dict[str, object] = {}
    places = []
    for paradigm, suite in SUITES.items():
        spent = tree.shop.trace(suite)
        touched, called = (
            running.frames(stack, tree.shop.source) for stack in (spent.made, spent.called)
        )
        values[paradigm] = {
            "until_touched": touched[0], "until_touched_all": touched[1],
            "until_called": called[0], "until_called_all": called[1],
        }  # fmt: skip
        places += [f"{paradigm}: {file}: {name}" for file, name in spent.called]
    rows = [dict(row) for row in values.values() if isinstance(row, dict)]
    until, all_until, call, all_call = (
        ", ".join(str(row[key]) for row in rows)
        for key in ("until_touched", "until_touched_all", "until_called", "until_called_all")
    )
    now = (
        f"{until} until it is loaded ({all_until} with other packages'); "
        f"{call} until its first forward pass ({all_call})"
    )
    return Measured(now, values, places)


def measure_root(tree: Tree) -> Measured:
    """Modules at the root of the package."""
    loose = source.loose_modules(tree.modules)
    return Measured(str(len(loose)), {"modules": len(loose)}, loose)


def measure_circles(tree: Tree) -> Measured:
    """Sets of modules that import one another."""
    top = source.import_circles(tree.modules, inside_functions=False)
    everything = source.import_circles(tree.modules, inside_functions=True)
    now = f"{len(everything)} ({len(top)} without imports inside functions)"
    values = {"circles": len(everything), "at_top_level": len(top)}
    return Measured(now, values, [" <-> ".join(circle) for circle in everything])


def measure_lines(tree: Tree) -> Measured:
    """Lines of code and files, in all and for each package."""
    lines, files = _sizes(tree.modules)
    values: dict[str, object] = {
        "lines": lines.total(),
        "files": files.total(),
        "packages": {name: {"lines": lines[name], "files": files[name]} for name in sorted(lines)},
    }
    places = [f"{name}: {count:,} in {files[name]} files" for name, count in lines.most_common()]
    return Measured(f"{lines.total():,} in {files.total()} files", values, places)


def _sizes(modules: Iterable[source.Module]) -> tuple[Counter[str], Counter[str]]:
    """Lines of code and files by package."""
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for module in modules:
        lines[module.package] += source.code_lines(module)
        files[module.package] += 1
    return lines, files


def update_page(root: Path, *, check: bool) -> int:
    """Write the table of packages into the page about size, or only compare the two.

    Args:
        root: of the working tree.
        check: whether nothing is written.

    Returns:
        The exit code: 1 where the page is to be compared and is outdated.
    """
    path = root / PAGE
    text = path.read_text(encoding="utf-8")
    lines, files = _sizes(source.read_package(root / "src" / "cimento"))
    packages = {name: (lines[name], files[name]) for name in lines}
    if not check:
        path.write_text(page.written(text, packages), encoding="utf-8")
        return 0
    faults = page.outdated(text, packages)
    for fault in faults:
        print(f"{PAGE}: {fault}; python scripts/{Path(__file__).name} --page")
    return int(bool(faults))


def measure_sentence(tree: Tree) -> Measured:
    """CPU time of a sentence where every answer is in the cache."""
    seconds, whole, start_up = tree.shop.sentence_seconds(PAIRS)
    values: dict[str, object] = {
        "milliseconds": 1000 * seconds, "cpu_seconds": whole, "start_up_cpu_seconds": start_up,
    }  # fmt: skip
    return Measured(f"{1000 * seconds:.2f} ms CPU ({whole:.1f} s - {start_up:.1f} s)", values)


def measure_memory(tree: Tree) -> Measured:
    """What the largest memory of a run grows by when a suite is a hundred times as long."""
    few, many = tree.shop.peak(FEW_PAIRS), tree.shop.peak(MANY_PAIRS)
    more, few_mb, many_mb = ((n / MEGA) for n in (many - few, few, many))
    values: dict[str, object] = {"more_bytes": many - few, "few_bytes": few, "many_bytes": many}
    return Measured(f"{more:.0f} MB more ({few_mb:.0f} to {many_mb:.0f} MB)", values)


def measure_stored(tree: Tree) -> Measured:
    """What showing a stored run costs, from start to end of the process."""
    spent = tree.shop.again(PAIRS)
    values: dict[str, object] = {"cpu_seconds": spent.cpu_seconds, "torch": spent.torch}
    return Measured(f"{spent.cpu_seconds:.1f} s CPU, {'' if spent.torch else 'no '}torch", values)


def measure_functions(tree: Tree) -> Measured:
    """Functions over the ceiling."""
    return _counted(source.long_functions(tree.modules, MOST_IN_FUNCTION))


def measure_files(tree: Tree) -> Measured:
    """Files over the ceiling."""
    return _counted(source.long_files(tree.modules, MOST_IN_FILE))


def _counted(places: Sequence[str]) -> Measured:
    return Measured(str(len(places)), {"count": len(places)}, places)


def measure_private(tree: Tree) -> Measured:
    """Private functions of modules, and those that are used once."""
    everything, once = source.private_functions(tree.modules)
    values: dict[str, object] = {"once": len(once), "all": len(everything)}
    return Measured(f"{len(once):,} of {len(everything):,}", values, once)


def measure_names(tree: Tree) -> Measured:
    """Variables and arguments whose names say nothing."""
    names = source.vague_names(tree.modules)
    shown = ", ".join(f"{name} {count:,}" for name, count in names.items())
    return Measured(f"{names.total():,} ({shown})", {**names, "all": names.total()})


@dataclass(frozen=True)
class Row:
    """One row of the table.

    Attributes:
        name: for ``--only``.
        title: for people.
        before: what it was when the redesign began, as its plan has it.
        end: what it is to be.
        measure: what measures it.
        slow: whether ``--quick`` leaves it out.
    """

    name: str
    title: str
    before: str
    end: str
    measure: Callable[[Tree], Measured]
    slow: bool = False


ROWS = (
    Row("kinds", "places that ask which paradigm a suite is, outside `paradigms/`", "16", "0",
        measure_kinds),
    Row("entered", "files / functions entered by `run it-subject-verb`", "123 / 775",
        "at most 60 / 400", lambda tree: measure_entered(tree, ["regions"])),
    Row("entered-others", "the same for cloze, stories, ratings", "75 / 384, 94 / 454, 116 / 666",
        "at most 55, 65, 65 files",
        lambda tree: measure_entered(tree, ["cloze", "stories", "ratings"])),
    Row("frames", "cimento's frames from `main` to the model: regions, cloze, stories, ratings",
        "19, 18, 16, 18", "at most 10", measure_frames),
    Row("root", "loose modules at the root", "37", "at most 4", measure_root),
    Row("circles", "import circles", "5, those for type checkers included", "0", measure_circles),
    Row("lines", "lines of code (neither blank, comment nor docstring)", "62,100 in 621 files",
        "at most 48,000 in at most 380 files", measure_lines),
    Row("sentence", "non-model cost of a sentence, 10,000 pairs, cache warm, `--force`",
        "0.53 ms CPU", "at most 0.10 ms CPU", measure_sentence, slow=True),
    Row("memory", "peak memory, 100,000 pairs against 1,000", "flat, by files on disk",
        "at most 200 MB more, held", measure_memory, slow=True),
    Row("stored", "`cimento run` of what is stored already, 10,000 pairs", "7.1 s CPU",
        "under 0.6 s CPU, no torch", measure_stored, slow=True),
    Row("functions", "functions of more than 50 lines", "not given", "0", measure_functions),
    Row("files", "files of more than 500 lines", "not given", "0", measure_files),
    Row("private", "private functions at the top level that are used once", "1,371 of 1,972",
        "no target", measure_private),
    Row("names", "variables named each, found, own, how, told", "6,984, counted otherwise",
        "none in new code", measure_names),
)  # fmt: skip


def measured(row: Row, tree: Tree) -> Measured:
    """One row measured; a command that fails spoils no other row."""
    try:
        return row.measure(tree)
    except (running.CommandError, SyntaxError) as error:
        reason = " ".join(str(error).replace("|", "/").split())
        return Measured(f"not measured: {reason}", None, [reason])


def markdown(rows: Iterable[tuple[Row, Measured]]) -> str:
    """The table as Markdown."""
    lines = ["| measure | 21 November | now | end |", "|---|---|---|---|"]
    lines += [f"| {row.title} | {row.before} | {seen.now} | {row.end} |" for row, seen in rows]
    return "\n".join(lines)


def as_json(rows: Iterable[tuple[Row, Measured]]) -> str:
    """The same for programs, with every value by its name."""
    plain = {
        row.name: {
            "measure": row.title, "before": row.before, "now": seen.now, "end": row.end,
            "values": seen.values,
        }
        for row, seen in rows
    }  # fmt: skip
    return json.dumps(plain, indent=2)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, or what one row counted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [row.name for row in ROWS]
    default = Path(__file__).parents[1]
    parser.add_argument("--root", type=Path, default=default, help="a working tree (this one)")
    parser.add_argument("--only", action="append", choices=names, help="may be repeated")
    parser.add_argument("--quick", action="store_true", help="leave the slow rows out")
    parser.add_argument("--list", choices=names, help="print what one row counted, one a line")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--page", action="store_true", help=f"write the table of {PAGE}")
    parser.add_argument("--check", action="store_true", help="with --page: only compare it")
    given = parser.parse_args(arguments)
    if given.page:
        return update_page(given.root.resolve(), check=given.check)
    wanted = [given.list] if given.list else given.only or names
    chosen = [row for row in ROWS if row.name in wanted and not (given.quick and row.slow)]
    with tempfile.TemporaryDirectory() as folder:
        try:
            tree = Tree(given.root.resolve(), Path(folder))
        except OSError as error:
            print(f"measure_shape: {error}", file=sys.stderr)
            return 1
        rows = [(row, measured(row, tree)) for row in chosen]
    if given.list:
        print("\n".join(place for _, seen in rows for place in seen.places))
    else:
        print(as_json(rows) if given.json else markdown(rows))
    return int(any(seen.values is None for _, seen in rows))


if __name__ == "__main__":
    sys.exit(main())
