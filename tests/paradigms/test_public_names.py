"""Code of cimento's own that is written as another package would be: with public names alone."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import cimento
import cimento.paradigms
import cimento.types
from cimento.io.public_names import homes_of
from cimento.kinds.registry import PARADIGMS
from cimento.paradigms import Asker, Judge, Presenter, SuiteReader, Surveyor
from tests.helpers.site_pages import site_module

ROOT = Path(__file__).parents[2]
KINDS = tuple(f"cimento.paradigms.{kind}" for kind in PARADIGMS)
"""The faces of the kinds of test."""
FACES = (
    "cimento", "cimento.paradigms", "cimento.statistics", "cimento.studies", "cimento.types", *KINDS
)  # fmt: skip
"""The modules whose names are public: those of their `__all__`."""
IMPORTS_OF_KINDS = 16
"""How many imports of a kind stand outside `paradigms` and `studies`; 20 was the aim."""
FILES_WITH_KINDS = 14
"""In how many files these are."""
OF_KIND = re.compile(rf"cimento\.paradigms\.({'|'.join(PARADIGMS)})\.")
OTHERS = {
    "Any",
    "Collection",
    "DataFrame",
    "Hashable",
    "Literal",
    "Mapping",
    "None",
    "Path",
    "Sequence",
}
"""Types of Python and of polars."""
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("## Public names")[2].partition("\n## ")[0]


def public() -> set[tuple[str, str]]:
    """Module and name of all that is public; of errors, those that `cimento` or a face has too."""
    names = {(face, name) for face in FACES for name in importlib.import_module(face).__all__}
    homes = (homes_of(cimento.__file__) | homes_of(cimento.paradigms.__file__)).items()
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


def imports_of_kinds(source: str) -> list[str]:
    """What is imported of a kind: each statement once, and a kind itself however it is loaded."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            if OF_KIND.match(f"{node.module}."):
                found.append(str(node.module))
            elif node.module == "cimento.paradigms":
                found += [f"{node.module}.{name.name}" for name in node.names]
        elif isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append(node.value.partition(":")[0])  # as importlib and the registry take it
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("find_paradigm"):
            names = [value.value for value in node.args if isinstance(value, ast.Constant)]
            found += [f"cimento.paradigms.{name}" for name in names]
    return [module for module in found if OF_KIND.match(f"{module}.")]


def outside_kinds() -> dict[str, list[str]]:
    """The imports of kinds by file, of the files outside `paradigms` and `studies` that have some.

    The registry finds every kind by its place, as it finds those of plug-ins.
    """
    package = ROOT / "src" / "cimento"
    by_file = {
        path.relative_to(package).as_posix(): imports_of_kinds(path.read_text(encoding="utf-8"))
        for path in sorted(package.rglob("*.py"))
    }
    inside = ("paradigms/", "studies/", "kinds/registry.py")
    return {file: found for file, found in by_file.items() if found and not file.startswith(inside)}


@pytest.mark.parametrize(
    "source",
    [
        "from cimento.paradigms.cloze.text import cloze_text",
        "def f():\n    from cimento.paradigms.cloze import CLOZE",
        "from cimento.paradigms import Suite, cloze",
        "import cimento.paradigms.cloze as blanks",
        "import importlib\nimportlib.import_module('cimento.paradigms.cloze')",
        "registry.find_paradigm('cloze').reader",
    ],
)
def test_an_import_of_a_kind_is_counted_however_it_is_written(source):
    assert len(imports_of_kinds(source)) == 1


@pytest.mark.slow
def test_no_more_imports_of_kinds_from_outside_than_there_are():
    """Commands and packages ask for what every paradigm has, or else for a kind's public names."""
    outside = outside_kinds()
    modules = [module for found in outside.values() for module in found]
    assert 0 < len(modules) <= IMPORTS_OF_KINDS
    assert len(outside) <= FILES_WITH_KINDS
    assert {*modules} <= {*KINDS}


def test_no_module_of_a_kind_hides_a_public_name():
    """A module that was imported would be in the place of a name that is loaded on first use."""
    for kind in KINDS:
        face = importlib.import_module(kind)
        modules = {path.stem for path in Path(str(face.__file__)).parent.glob("*.py")}
        assert modules & {*face.__all__} == set()


def test_the_page_names_every_public_module():
    listed = {*re.findall(r"`(cimento[\w.]*)`", TABLE)}
    assert listed >= {*FACES} - {*KINDS}
    assert {*KINDS} & listed == {"cimento.paradigms.cloze"}, "the others are said in words"


def test_the_reference_describes_constants_and_other_names_for_types():
    signatures = site_module("signatures")
    values = [
        f"{face}.{name}"
        for face in FACES
        for name in importlib.import_module(face).__all__
        if not inspect.isfunction(made := getattr(importlib.import_module(face), name))
        and not inspect.isclass(made)
    ]
    assert len(values) > 50
    assert [path for path in values if not signatures.summary(path)] == []


def test_every_type_that_a_public_signature_names_is_imported_from_a_public_module():
    """`cimento.types` has those that no other public module has, and nothing else."""
    reference = site_module("reference")
    named = [path for paths in reference.types().values() for path in paths]
    homes = homes_of(cimento.types.__file__)
    assert sorted(f"{home}.{name}" for name, home in homes.items()) == sorted(named)
    assert {"AnyScorer", "EvaluationKeywords", "JudgingKeywords", "ModelLike"} <= homes.keys()
    assert {"LoadingKeywords", "ScoringKeywords", "SuiteLike", "Unit"} <= homes.keys()
    for name, home in homes.items():
        written = getattr(importlib.import_module(home), name)
        assert getattr(cimento.types, name) is written


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
