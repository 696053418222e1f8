"""The script that measures the shape of cimento counts right, on small packages made up here."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import measure_shape
from shape import kinds, page, running, source

KINDS_FILE = '''"""The names of kinds."""
CLOZE = "cloze"
STORIES = "stories"
'''

ASKING = '''"""Who asks."""
from typing import TYPE_CHECKING

from pack.kinds import CLOZE, STORIES as TOLD
from pack.cloze.load import ClozeItems, is_cloze

RUNNERS = {CLOZE: "pack.run:cloze", TOLD: "pack.run:stories"}


def compares(run):
    return run.kind == CLOZE or run.manifest.get("kind") in {"regions", "ratings"}


def matches(paradigm):
    match paradigm.name:
        case "stories":
            return 1
        case _:
            return 2


def detects(path):
    return is_cloze(path)


def looks_at(thing):
    return isinstance(thing, ClozeItems)


def pops(by_kind):
    return by_kind.pop(TOLD, [])


def gives(find):
    return find(kind=CLOZE)


def names(find_paradigm):
    return find_paradigm("regions")


def supposes(manifest):
    return manifest.get("kind") or CLOZE
'''

SILENT = '''"""Who does not ask which kind of test a suite is."""


def columns(table):
    return table["ratings"], table.get("regions"), {"cloze": len(table)}


def models(kind):
    return kind == "causal" or kind == "masked"


def letters(kind):
    if kind == "order":
        return "O"
    return "C" if kind == "cloze" else ""


def question(judgment):
    return judgment.question == "acceptability"
'''


def package(folder: Path, **files: str) -> list[source.Module]:
    """A package of the files given; `a__b` is the module `a.b`."""
    root = folder / "pack"
    for name, text in {"__init__": "", **files}.items():
        path = root / f"{name.replace('__', '/') if name != '__init__' else name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return source.read_package(root)


def test_every_way_to_ask_for_the_kind_is_seen_once(tmp_path):
    places = kinds.places(package(tmp_path, kinds=KINDS_FILE, asking=ASKING))
    assert [(place.scope, place.form) for place in places] == [
        ("line 7", "table"),
        ("compares", "comparison"),
        ("compares", "comparison"),
        ("matches", "match"),
        ("detects", "detection"),
        ("looks_at", "isinstance"),
        ("pops", "look-up"),
        ("gives", "kind given"),
        ("names", "kind given"),
        ("supposes", "default"),
    ]
    assert len(kinds.scopes(places)) == 9
    assert str(places[0]).startswith("asking.py:7: line 7: table: {CLOZE: 'pack.run:cloze'")


def test_columns_models_and_questions_are_no_kinds_of_suites(tmp_path):
    assert kinds.places(package(tmp_path, silent=SILENT)) == []


def test_paradigms_may_ask_and_packages_named_after_a_kind_are_told_apart(tmp_path):
    asks = 'def asks(kind):\n    return kind == "cloze"\n'
    modules = package(tmp_path, paradigms__cloze=asks, cloze__load=asks, report=asks)
    places = kinds.places(modules)
    assert [(place.file, place.in_home) for place in places] == [
        ("cloze/load.py", True),
        ("report.py", False),
    ]


def test_lines_of_code_leave_out_blanks_comments_and_docstrings(tmp_path):
    text = '''"""The docstring
of two lines."""

# a comment
LIMIT = 3  # beside code
"""What the limit is."""


def function():
    """Its docstring."""
    return """a text

    of two lines and a blank one"""
'''
    [_, module] = package(tmp_path, module=text)
    assert source.code_lines(module) == 4


def test_circles_are_found_with_and_without_imports_inside_functions(tmp_path):
    modules = package(
        tmp_path,
        a="from pack import b\n",
        b="from pack.c import name\n",
        c="def late():\n    import pack.a\n",
        d="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pack.e import x\n",
        e="from .d import y\n",
        f="from .g.inner import z\n",
        g__inner="from ..f import z\n",
    )
    names = [["pack.a", "pack.b", "pack.c"], ["pack.f", "pack.g.inner"]]
    assert sorted(source.import_circles(modules, inside_functions=True)) == names
    assert source.import_circles(modules, inside_functions=False) == names[1:]


def test_loose_modules_private_functions_long_ones_and_names_are_counted(tmp_path):
    text = """def _once(each):
    return each


def _twice():
    return 1


def _never():
    return 2


def long(own):
    found = _once(own)
    return _twice() + _twice() + found
"""
    modules = package(tmp_path, __main__="", module=text, folder__inner="")
    assert source.loose_modules(modules) == ["module.py"]
    everything, once = source.private_functions(modules)
    assert len(everything) == 3
    assert once == ["module.py:1: _once"]
    assert source.long_functions(modules, 2) == ["module.py:13: long (3)"]
    assert source.long_files(modules, 14) == ["module.py (15)"]
    assert source.vague_names(modules) == {"each": 2, "found": 2, "own": 2, "how": 0, "told": 0}


PROGRAM = '''"""A program that calls a network."""
import sys


def main():
    from cimento import late

    if sys.argv[1:] == ["run", "fails"]:
        sys.exit("no such suite")
    return [late.ask(word) for word in ("a", "b")]
'''

LATE = '''"""Imported late."""
from torch.nn.modules.module import Module


def decorated(function):
    return function


@decorated
def ask(word):
    return (lambda: Module()._wrapped_call_impl(word))()


def unused():
    pass
'''

NETWORK = """class Module:
    def __init__(self):
        pass

    def _wrapped_call_impl(self, word):
        return word
"""


@pytest.fixture
def shop(tmp_path):
    """A working tree whose program touches and calls a network that is not real."""
    files = {
        "pyproject.toml": '[project.scripts]\ncimento = "cimento.cli:main"\n',
        "src/cimento/__init__.py": "",
        "src/cimento/cli.py": PROGRAM,
        "src/cimento/late.py": LATE,
        "src/torch/__init__.py": "",
        "src/torch/nn/modules/module.py": NETWORK,
    }
    for name, text in files.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    folder = tmp_path / "runs"
    folder.mkdir()
    return running.Workshop(tmp_path / "tree", folder)


def test_what_a_command_enters_is_counted_without_what_imports_do(shop):
    spent = shop.trace("suite")
    assert sorted(name for _, name, _ in spent.functions) == [
        "ask",
        "ask.<locals>.<lambda>",
        "main",
    ]
    assert {Path(file).name for file, _, _ in spent.functions} == {"cli.py", "late.py"}
    assert spent.torch
    assert spent.cpu_seconds > 0
    assert spent.peak_bytes > 1_000_000


def test_frames_are_counted_from_the_first_one_of_the_package(shop):
    spent = shop.trace("suite")
    inside, everything = running.frames(spent.called, shop.source)
    named = [name for _, name in spent.called[-everything:] if "comp>" not in name]
    assert named == ["main", "ask", "ask.<locals>.<lambda>"]
    assert inside == everything
    assert running.frames([], shop.source) == (0, 0)


def test_a_command_that_fails_is_an_error_with_what_it_printed(shop):
    with pytest.raises(running.CommandError, match="cimento run fails: no such suite"):
        shop.run("folder", "fails")


def test_the_table_is_printed_as_markdown_and_json_and_its_places_one_a_line(tmp_path, capsys):
    (tmp_path / "pyproject.toml").write_text('[project.scripts]\ncimento = "cimento:main"\n')
    (tmp_path / "src" / "cimento").mkdir(parents=True)
    (tmp_path / "src" / "cimento" / "loose.py").write_text("def main():\n    return 1\n")
    root = ["--root", str(tmp_path), "--only", "root", "--only", "lines"]
    assert measure_shape.main(root) == 0
    printed = capsys.readouterr().out.splitlines()
    loose, lines = printed[2:]
    assert loose == "| loose modules at the root | 37 | 1 | at most 4 |"
    assert lines.endswith(
        "| 62,100 in 621 files | 2 in 1 files | at most 48,000 in at most 380 files |"
    )
    assert measure_shape.main([*root, "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["lines"]["values"] == {
        "lines": 2,
        "files": 1,
        "packages": {".": {"lines": 2, "files": 1}},
    }
    assert measure_shape.main(["--root", str(tmp_path), "--list", "root"]) == 0
    assert capsys.readouterr().out == "loose.py\n"


def test_the_page_about_size_has_todays_table_within_five_percent(tmp_path, capsys):
    for name, text in {"io/a": "X = 1\n" * 300, "cli/b": "Y = 2\n" * 2000}.items():
        path = tmp_path / "src" / "cimento" / f"{name}.py"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    size = tmp_path / measure_shape.PAGE
    size.parent.mkdir(parents=True)
    size.write_text(f"# Size\n\n{page.START}\n{page.END}\n\nAfter.\n")
    command = ["--root", str(tmp_path), "--page"]
    assert measure_shape.main([*command, "--check"]) == 1
    assert "`cli/`: None on the page, (2000, 1) today" in capsys.readouterr().out
    assert measure_shape.main(command) == 0
    assert "| `cli/` | commands | 2,000 | 1 |\n| all others |  | 300 | 1 |" in size.read_text()
    assert size.read_text().endswith("| **all** |  | 2,300 | 2 |\n<!-- shape: end -->\n\nAfter.\n")
    path = tmp_path / "src" / "cimento" / "cli" / "b.py"
    path.write_text("Y = 2\n" * 2100)
    assert measure_shape.main([*command, "--check"]) == 0
    path.write_text("Y = 2\n" * 2200)
    assert measure_shape.main([*command, "--check"]) == 1


def test_the_page_about_size_counts_todays_files():
    # Lines take seconds to count: `make check` compares them.
    root = Path(__file__).parents[2]
    table = (root / measure_shape.PAGE).read_text(encoding="utf-8").partition(page.END)[0]
    shown = int(re.findall(r"\| (\d+) \|$", table, re.MULTILINE)[-1])
    today = sum(1 for _ in (root / "src" / "cimento").rglob("*.py"))
    assert abs(shown - today) <= page.TOLERANCE * today


def test_a_command_that_fails_leaves_its_row_undefined_and_spoils_no_other(shop, capsys):
    cli = shop.source / "cli.py"
    cli.write_text('"""Broken."""\n\n\ndef main():\n    raise SystemExit("broken | today")\n')
    rows = ["--only", "entered", "--only", "root"]
    assert measure_shape.main(["--root", str(shop.source.parents[1]), *rows, "--json"]) == 1
    plain = json.loads(capsys.readouterr().out)
    assert plain["entered"]["values"] is None
    reason = "not measured: cimento run it-subject-verb -m demo-causal: broken / today"
    assert plain["entered"]["now"] == reason
    assert plain["root"]["values"] == {"modules": 2}


@pytest.mark.parametrize("present", [(), ("pyproject.toml",)])
def test_a_tree_without_the_package_is_no_tree_of_zeros(tmp_path, capsys, present):
    for name in present:
        (tmp_path / name).write_text('[project.scripts]\ncimento = "cimento:main"\n')
    assert measure_shape.main(["--root", str(tmp_path), "--only", "root"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert ("src/cimento is not a folder" if present else "pyproject.toml") in printed.err
