"""Code of cimento's own that is written as another package would be: with public names alone."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import cimento
import cimento.paradigms
from cimento.io.public_names import homes_of
from cimento.paradigms import Asker, Judge, Presenter, SuiteReader, Surveyor

ROOT = Path(__file__).parents[2]
KINDS = ("cimento.paradigms.ratings", "cimento.paradigms.regions", "cimento.paradigms.stories")
FACES = ("cimento", "cimento.paradigms", "cimento.statistics", "cimento.studies", *KINDS)
"""The modules whose names are public: those of their `__all__`."""
IMPORTS_OF_KINDS = 107
"""How many imports of a kind stand outside `paradigms` and `studies`; the aim is 20."""
OTHERS = {"Any", "Collection", "DataFrame", "Literal", "Mapping", "None", "Path", "Sequence"}
"""Types of Python and of polars."""
PAGE = (ROOT / "docs" / "paradigms.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("## The public names")[2].partition("\n## ")[0]


def public() -> set[tuple[str, str]]:
    """Module and name of all that is public; of errors, those that `cimento` has too."""
    names = {(face, name) for face in FACES for name in importlib.import_module(face).__all__}
    homes = homes_of(cimento.__file__).items()
    return names | {(home, name) for name, home in homes if home == "cimento.errors"}


def foreign(package: str) -> set[tuple[str, str]]:
    """Module and name of all that a package imports of cimento from outside itself."""
    found = set()
    for path in sorted((ROOT / "src").joinpath(*package.split(".")).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {(name.name, "") for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert not node.level, path
                found |= {(str(node.module), name.name) for name in node.names}
    return {
        (module, name)
        for module, name in found
        if module.split(".")[0] == "cimento" and not f"{module}.".startswith(f"{package}.")
    }


@pytest.mark.parametrize("package", ["cimento.paradigms.prompted", "cimento.studies.stories"])
def test_it_is_written_with_public_names_alone(package):
    names = foreign(package)
    assert names
    assert names - public() == set()


def test_a_private_name_is_noticed():
    names = foreign("cimento.paradigms.cloze")
    assert ("cimento.io.files", "read_bytes") in names - public()


def test_no_more_imports_of_kinds_from_outside_than_there_are():
    """Commands and packages ask for what every paradigm has; what is left may only become less."""
    imports = [
        node.module
        for path in sorted((ROOT / "src" / "cimento").rglob("*.py"))
        if path.relative_to(ROOT / "src" / "cimento").parts[0] not in {"paradigms", "studies"}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        and re.match(
            r"cimento\.paradigms\.(regions|ratings|cloze|stories|prompted)\b", str(node.module)
        )
    ]
    assert 0 < len(imports) <= IMPORTS_OF_KINDS


def test_the_page_lists_the_public_names():
    rows = re.findall(r"^\| (`.*?) \|", TABLE, re.MULTILINE)
    listed = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    names = {*cimento.paradigms.__all__}
    for kind in KINDS:
        names |= {*importlib.import_module(kind).__all__}
    assert sorted(listed) == sorted(names)


def test_every_public_function_and_class_has_its_docstring():
    for module, name in public():
        made = getattr(importlib.import_module(module), name)
        if inspect.isfunction(made) or inspect.isclass(made):
            assert inspect.getdoc(made), (module, name)


MOST_METHODS = 12


@pytest.mark.parametrize("part", [SuiteReader, Asker, Judge, Presenter, Surveyor])
def test_a_part_of_a_paradigm_has_few_methods(part):
    methods = [name for name, _ in inspect.getmembers(part, inspect.isfunction) if name[0] != "_"]
    assert 0 < len(methods) <= MOST_METHODS


def test_what_the_methods_of_a_paradigm_take_and_give_is_public():
    """Who overrides a method has to be able to write its types."""
    parts = (SuiteReader, Asker, Judge, Presenter, Surveyor)
    methods = [
        method
        for part in parts
        for name, method in vars(part).items()
        if inspect.isfunction(method) and not name.startswith("_")
    ]
    assert len(methods) > 20
    written = " ".join(str(kind) for method in methods for kind in method.__annotations__.values())
    types = {
        name for name in re.findall(r"\b[A-Z]\w+", written) if not re.search("T$|T_contra$", name)
    }
    assert types - {name for _, name in public()} - OTHERS == set()
