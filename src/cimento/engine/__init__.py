"""The engine, which has models answer requests without knowing which paradigm asks."""

from typing import Literal, TypeAlias

EngineName: TypeAlias = Literal["local", "ray"]
