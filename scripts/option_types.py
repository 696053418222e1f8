"""Write src/cimento/io/option_types.py: the types of keyword options, from where they are declared.

Usage: python scripts/option_types.py [--check]

Type checkers read these classes; what is given is checked by the declarations themselves.
"""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from cimento.kinds.registry import own_paradigms
from cimento.models.hf.arguments import texts_of_arguments
from cimento.models.settings import dtype_rule
from cimento.options import ModelOptions, RunOptions, ScoringOptions, TargetOptions

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

FILE = Path(__file__).parent.parent / "src" / "cimento" / "io" / "option_types.py"
NAMED = ("limit", "force")
"""The options that functions have as arguments of their own, in most places."""
INNER = {*TargetOptions.model_fields, *NAMED, "set", "from_file"}
"""The fields that nobody gives as options of a function."""
TAKEN: Mapping[object, str] = {
    texts_of_arguments: "Mapping[str, Any] | Sequence[str] | str",
    dtype_rule: "object",
}
"""What validators take that turn it into another type."""
OBJECTS = {"tokenizer": "object"}
"""Options that functions take as objects too."""
HEAD = '''"""The types of keyword options, for type checkers.

`scripts/option_types.py` writes this module from where the options are declared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict
'''


def taken(name: str, field: FieldInfo) -> str:
    """The type of the values that an option takes, as Python writes it."""
    if name in OBJECTS:
        return OBJECTS[name]
    functions = [getattr(validator, "func", None) for validator in field.metadata]
    return next((TAKEN[one] for one in functions if one in TAKEN), None) or written(
        field.annotation
    )


def written(annotation: Any) -> str:  # noqa: ANN401  # any type
    """A type as Python writes it, as wide as pydantic takes it."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, parts))}]"
    if origin in (Union, types.UnionType):
        return joined(written(part) for part in parts)
    if origin is tuple:
        element = written(parts[0])
        return joined([f"Sequence[{element}]", element])
    if origin is dict:
        return "Mapping[str, Any]"
    if annotation is Path:
        return "Path | str"
    return "None" if annotation is types.NoneType else str(annotation.__name__)


def joined(types_: Iterable[str]) -> str:
    """A union, each of its parts once."""
    parts = dict.fromkeys(part for type_ in types_ for part in type_.split(" | "))
    literals = [part for part in parts if part.startswith("Literal[")]
    values = dict.fromkeys(
        value for part in literals for value in part[len("Literal[") : -1].split(", ")
    )
    literal = [f"Literal[{', '.join(values)}]"] if values else []
    return " | ".join([*literal, *(part for part in parts if part not in literals)])


def declared(model: type[BaseModel], *, without: Iterable[str] = ()) -> dict[str, str]:
    """The options of a class and their types."""
    left_out = {*without, *INNER}
    fields = model.model_fields.items()
    return {name: taken(name, field) for name, field in fields if name not in left_out}


def of_paradigms() -> dict[str, str]:
    """The options that paradigms have beside those of every run; of one name, either type."""
    types_: dict[str, list[str]] = {}
    for paradigm in own_paradigms():
        for name, type_ in declared(paradigm.options, without=RunOptions.model_fields).items():
            types_.setdefault(name, []).append(type_)
    return {name: joined(several) for name, several in types_.items()}


def written_class(name: str, base: str, doc: str, fields: Mapping[str, str]) -> str:
    """The class of some options."""
    lines = [f"    {field}: {type_}" for field, type_ in fields.items()]
    return "\n".join([f"\n\nclass {name}({base}, total=False):", f'    """{doc}"""\n', *lines, ""])


def module() -> str:
    """The module, as ruff formats it."""
    named = {name: taken(name, RunOptions.model_fields[name]) for name in NAMED}
    parts = [
        HEAD,
        written_class(
            "LoadingKeywords",
            "TypedDict",
            "The options of `load_model` and `fill`.",
            declared(ModelOptions),
        ),
        written_class(
            "ScoringKeywords",
            "LoadingKeywords",
            "The options of `score`.",
            declared(ScoringOptions, without=ModelOptions.model_fields),
        ),
        written_class(
            "EvaluationKeywords",
            "ScoringKeywords",
            "The options of `evaluate` and `evaluate_all`, with those of every paradigm.",
            declared(RunOptions, without=ScoringOptions.model_fields) | of_paradigms(),
        ),
        written_class(
            "TrainingKeywords",
            "EvaluationKeywords",
            "The options of `evaluate_while_training`.",
            named,
        ),
    ]
    return subprocess.run(  # noqa: S603  # our own tool
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(FILE), "-"],
        input="".join(parts), capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


def main() -> int:
    """Write the module, or say whether it is current."""
    made = module()
    if "--check" in sys.argv[1:]:
        if FILE.read_text(encoding="utf-8") != made:
            print(f"{FILE.name} is not current: run python scripts/option_types.py")
            return 1
        return 0
    FILE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
