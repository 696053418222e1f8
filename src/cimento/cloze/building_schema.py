"""What a description of templates may contain, as pydantic models."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from cimento.suites.schema import Open, TomlMeta

Text = Annotated[str, Field(min_length=1)]


class Strict(Open):
    """A table in which every key is known; a misspelt one is a fault."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Forms(Strict):
    """Forms that are given, by category."""

    kind: Literal["forms"]
    forms: dict[str, list[str]]
    columns: dict[str, dict[str, str]] = Field(default_factory=dict)


class Verb(Strict):
    """Forms of verbs: tenses by persons. Tenses are letters (P, J, ...) or features of UD."""

    kind: Literal["verb"]
    lemmas: Annotated[list[Text], Field(min_length=1)]
    tenses: Annotated[list[Text], Field(min_length=1)]
    persons: list[Text] = Field(default_factory=list)
    prefix: str = ""
    suffix: str = ""


class Nominal(Strict):
    """Forms of nouns or adjectives: gender by number, with or without an article."""

    kind: Literal["noun", "adjective"]
    lemmas: Annotated[list[Text], Field(min_length=1)]
    genders: list[Literal["Masc", "Fem", "Neut"]] = Field(default=["Masc", "Fem"])
    numbers: list[Literal["Sing", "Plur"]] = Field(default=["Sing", "Plur"])
    gender: Literal["", "Masc", "Fem"] = ""
    article: Literal["", "definite", "indefinite"] = ""
    prefix: str = ""
    suffix: str = ""


class Source(Strict):
    """A sentence in which a model is asked for seeds, its slot written as the blank."""

    category: Text
    text: Text
    prefix: str = ""
    suffix: str = ""
    columns: dict[str, str] = Field(default_factory=dict)


class Generated(Strict):
    """Forms that a generator model puts into the seed's slot."""

    kind: Literal["model"]
    sources: Annotated[list[Source], Field(min_length=1)]
    top: Annotated[int, Field(ge=1, le=1000)] = 10
    minimum: Annotated[float, Field(ge=0, le=1)] = 0.001
    expand: bool = False
    pos: str = ""


Seeds = Annotated[Forms | Verb | Nominal | Generated, Field(discriminator="kind")]


class TemplateText(Strict):
    """One template of the description."""

    id: Text
    sentences: Annotated[list[Text], Field(min_length=1)]
    seeds: list[Seeds] = Field(default_factory=list)
    capital: bool | None = None
    columns: dict[str, str] = Field(default_factory=dict)


class Description(Strict):
    """A description of templates."""

    meta: TomlMeta
    dictionary: str = ""
    generator: str = ""
    cluster: str = ""
    template: Annotated[list[TemplateText], Field(min_length=1)]
