"""Write src/cimento/kinds/option_types.py: types of keyword options, from their declarations.

Usage: python scripts/option_types.py [--check]

Type checkers read these classes; what is given is checked by the declarations themselves.
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
import types
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Union, get_args, get_origin

from cimento.kinds.registry import own_paradigms
from cimento.measures import names_of_measures
from cimento.models.hf.arguments import texts_of_arguments
from cimento.models.settings import dtype_rule
from cimento.options import JudgingOptions, ModelOptions, RunOptions, ScoringOptions, TargetOptions
from json_fields import attributes_of

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

FILE = Path(__file__).parent.parent / "src" / "cimento" / "kinds" / "option_types.py"
NAMED = ("limit", "force")
"""The options that functions have as arguments of their own, in most places."""
_FLAG = re.compile(r"--(\w[\w-]*)")
INNER = {*TargetOptions.model_fields, *NAMED, "set", "from_file"}
"""The fields that nobody gives as options of a function."""
SUITES = {
    "regions": "For pairs and designs",
    "ratings": "For rated sentences",
    "cloze": "For cloze tests",
    "stories": "For stories",
    "prompted": "For prompted judgments",
}
"""Paradigm to the suites whose options are described, as text begins that says so."""
NAMED_OTHERWISE = {"measure", "also", "near_tie_bits"}
"""Options of paradigms that functions call ``measures`` and ``near_ties``."""
TAKEN: Mapping[object, str] = {
    texts_of_arguments: "Mapping[str, Any] | Sequence[str] | str",
    dtype_rule: "object",
    names_of_measures: "MeasuresLike",
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

from cimento.measures import MeasuresLike
'''


def taken(name: str, field: FieldInfo) -> str:
    """The type of the values that an option takes, as Python writes it."""
    if name in OBJECTS:
        return OBJECTS[name]
    functions = [getattr(validator, "func", None) for validator in field.metadata]
    return next((TAKEN[one] for one in functions if one in TAKEN), None) or written(
        field.annotation
    )


def forms(field: FieldInfo) -> str:
    """The forms in which functions take an option whose texts are assignments."""
    functions = [getattr(validator, "func", None) for validator in field.metadata]
    return " Give a mapping, or KEY=VALUE texts." if texts_of_arguments in functions else ""


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


class Written(NamedTuple):
    """An option as the module has it: its type, and what is said of it."""

    type_: str
    about: str


def declared(model: type[BaseModel], *, without: Iterable[str] = ()) -> dict[str, Written]:
    """The options of a class."""
    left_out = {*without, *INNER}
    said = attributes_of(model)
    return {
        name: Written(taken(name, field), sentence(field.description or said[name]) + forms(field))
        for name, field in model.model_fields.items()
        if name not in left_out
    }


def sentence(text: str) -> str:
    """A text of the command line as one about keywords: a list says that there may be several."""
    said = _FLAG.sub(lambda flag: flag[1].replace("-", "_"), " ".join(text.split()))
    return f"{said.removesuffix(' May be repeated.').removesuffix('.')}."


def of_paradigms(*, judging: bool) -> dict[str, Written]:
    """The options that paradigms have beside those of every run; of one name, either type.

    Args:
        judging: those that only concern judging, in at least one paradigm, or else the others.
    """
    written: dict[str, dict[str, Written]] = {}
    is_judging: set[str] = set()
    for paradigm in own_paradigms():
        without = {*RunOptions.model_fields, *NAMED_OTHERWISE}
        for name, one in declared(paradigm.options, without=without).items():
            written.setdefault(name, {})[paradigm.name] = one
        is_judging |= {*paradigm.options.model_fields} - paradigm.options.ASKED
    return {
        name: shared(several)
        for name, several in written.items()
        if (name in is_judging) is judging
    }


def shared(several: Mapping[str, Written]) -> Written:
    """An option of several paradigms; where they say something else of it, who says what."""
    abouts = dict.fromkeys(one.about for one in several.values())
    about = " ".join(f"{SUITES[name]}: {one.about}" for name, one in several.items())
    if len(several) > 1 == len(abouts):
        [about] = abouts
        about = f"{about[:1].upper()}{about[1:]}"
    return Written(joined(one.type_ for one in several.values()), about)


def written_class(name: str, base: str, doc: str, options: Mapping[str, Written]) -> str:
    """The class of some options."""
    lines = [f"    {field}: {one.type_}\n{quoted(one.about)}" for field, one in options.items()]
    return "\n".join([f"\n\nclass {name}({base}, total=False):", f'    """{doc}"""\n', *lines, ""])


def quoted(text: str) -> str:
    """A text as the docstring of a field."""
    lines = textwrap.wrap(f'r"""{text}' if "\\" in text else f'"""{text}', 90)
    return textwrap.indent("\n".join(lines) + '"""', "    ")


def module() -> str:
    """The module, as ruff formats it."""
    fields = RunOptions.model_fields
    named = {
        name: Written(taken(name, fields[name]), fields[name].description or "") for name in NAMED
    }
    asked_or_judged = {**ScoringOptions.model_fields, **JudgingOptions.model_fields}
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
            "JudgingKeywords",
            "TypedDict",
            "The options of `Run.judge`, with those of every paradigm.",
            declared(JudgingOptions) | of_paradigms(judging=True),
        ),
        written_class(
            "EvaluationKeywords",
            "ScoringKeywords, JudgingKeywords",
            "The options of `evaluate` and `evaluate_all`, with those of every paradigm.",
            declared(RunOptions, without=asked_or_judged) | of_paradigms(judging=False),
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
