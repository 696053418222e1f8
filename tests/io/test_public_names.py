"""Packages whose public names are listed once, in a stub."""

import ast
import importlib
import tomllib
from pathlib import Path

import pytest

from cimento.io.public_names import homes_of

ROOT = Path(__file__).parents[2]
STUBS = sorted((ROOT / "src" / "cimento").rglob("__init__.pyi"))
FACES = [".".join(path.parent.relative_to(ROOT / "src").parts) for path in STUBS]


@pytest.mark.parametrize("face", FACES)
def test_dir_and_all_list_the_names_of_the_stub_each_from_its_home(face):
    module = importlib.import_module(face)
    stub = Path(module.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    listed = {
        (statement.module, name.name)
        for statement in ast.parse(stub).body
        if isinstance(statement, ast.ImportFrom)
        for name in statement.names
        if name.name == name.asname
    }
    assert {(home, name) for name, home in homes_of(module.__file__).items()} == listed
    assert dir(module) == module.__all__ == sorted(name for _, name in listed)
    for home, name in listed:
        assert getattr(module, name) is getattr(importlib.import_module(home), name)


@pytest.mark.parametrize("face", FACES)
def test_a_name_that_is_none_names_its_neighbor(face):
    module = importlib.import_module(face)
    name = module.__all__[0]
    with pytest.raises(AttributeError, match=f"{face!r} has no attribute.*Did you mean '{name}'"):
        getattr(module, f"{name}x")


@pytest.mark.parametrize("face", [face for face in FACES if face != "cimento"])
def test_no_face_offers_a_name_of_a_package_above_it(face):
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = contracts["tool"]["importlinter"]["contracts"][0]["layers"]
    rung = {name.strip(): n for n, names in enumerate(layers) for name in names.split("|")}
    own = rung[face.split(".")[1]]
    homes = {
        home.split(".")[1] for home in homes_of(importlib.import_module(face).__file__).values()
    }
    assert {home for home in homes if rung[home] < own} == set()
