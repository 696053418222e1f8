"""Seeds of templates: how a description asks for them, and how they are made.

They are given, inflected by a dictionary, or found by a generator model in their place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import ConfigDict, Field

from cimento.corpus.morphology import TENSES, Features, Morphology, parse_features, sister_forms
from cimento.corpus.morphology.rules import with_article
from cimento.errors import InputError
from cimento.suites.schema import Open, TomlMeta

if TYPE_CHECKING:
    from cimento.models.questions import FillCandidate


Text = Annotated[str, Field(min_length=1)]


class Strict(Open):
    """A table in which every key is known; a misspelled one is a fault."""

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


class SeedSentence(Strict):
    """A sentence in which a model is asked for seeds, its slot written as the blank."""

    category: Text
    text: Text
    prefix: str = ""
    suffix: str = ""
    columns: dict[str, str] = Field(default_factory=dict)


class GeneratedForms(Strict):
    """Forms that a generator model puts into the seed's slot."""

    kind: Literal["model"]
    sources: Annotated[list[SeedSentence], Field(min_length=1)]
    top: Annotated[int, Field(ge=1, le=1000)] = 10
    minimum: Annotated[float, Field(ge=0, le=1)] = 0.001
    expand: bool = False
    pos: str = ""


Seeds = Annotated[Forms | Verb | Nominal | GeneratedForms, Field(discriminator="kind")]


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
    cluster: str | list[str] = ""
    template: Annotated[list[TemplateText], Field(min_length=1)]


AskModel = Callable[[Sequence[str], int], "list[list[FillCandidate]]"]
"""From texts with a blank, and how many candidates are wanted, to whole words for each."""

_NUMBERS = {"s": "Sing", "p": "Plur"}


@dataclass(frozen=True, slots=True)
class Seed:
    """A form that may be in a template.

    Attributes:
        category: what it has in common with others.
        form: as it is put into the sentence.
        origin: where it comes from: ``given``, the name of a dictionary or of a model.
        columns: free keys of the items made with it.
        probability: of a form that a model gave.
        note: what a reviewer should look at.
    """

    category: str
    form: str
    origin: str
    columns: Mapping[str, str] = field(default_factory=dict)
    probability: float | None = None
    note: str = ""


def given_seeds(seeds: Forms) -> list[Seed]:
    """Forms that the description gives."""
    return [
        Seed(category, form, "given", seeds.columns.get(category, {}))
        for category, forms in seeds.forms.items()
        for form in forms
    ]


def verb_seeds(seeds: Verb, dictionary: Morphology, *, where: str) -> list[Seed]:
    """Forms of verbs: every tense in every person.

    Raises:
        InputError: the dictionary has not a form that is asked for, or a tense or person is none.
    """
    inflected = []
    for lemma in seeds.lemmas:
        for tense in seeds.tenses:
            for person in seeds.persons or [""]:
                wanted = {**_tense(tense, where), **_person(person, where)}
                category = " ".join(part for part in (tense, person) if part)
                columns = {**_lowered(wanted), "lemma": lemma}
                like = Seed(category, "", dictionary.name, columns)
                inflected += _forms(like, wanted, "VERB", seeds, dictionary, where=where)
    return inflected


def nominal_seeds(
    seeds: Nominal, dictionary: Morphology, *, language: str, where: str
) -> list[Seed]:
    """Forms of nouns or adjectives: every gender in every number, after their article.

    A noun has the gender that is given, or its own as the dictionary says.

    Raises:
        InputError: the dictionary has not a form that is asked for.
        UsageError: an article is wanted and a gender is not known.
    """
    pos = "NOUN" if seeds.kind == "noun" else "ADJ"
    forms = []
    for lemma in seeds.lemmas:
        genders = seeds.genders if pos == "ADJ" else [_gender(lemma, seeds, dictionary, where)]
        for gender in genders:
            for number in seeds.numbers:
                agreement = {"Gender": gender, "Number": number}
                # Rules know the number of a noun and nothing of its gender.
                wanted = agreement if pos == "ADJ" else {"Number": number}
                columns = {**_lowered(agreement), "lemma": lemma}
                category = f"{gender[0].lower()}_{'sg' if number == 'Sing' else 'pl'}"
                like = Seed(category, "", dictionary.name, columns)
                inflected = _forms(like, wanted, pos, seeds, dictionary, where=where)
                forms += [_with_article(seed, seeds, agreement, language) for seed in inflected]
    return forms


def generated_seeds(
    seeds: GeneratedForms, ask: AskModel, *, model: str, dictionary: Morphology | None
) -> list[Seed]:
    """Whole words that a model puts in the place of the seed, with a minimum probability.

    Pieces, punctuation and what is not a word are left out; capitals stay as the model writes
    them. With `expand` the dictionary adds the forms of the other genders and numbers.
    """
    if seeds.expand:
        _refuse_nothing_to_expand(seeds, dictionary)
    texts = [source.text for source in seeds.sources]
    by_form: dict[tuple[str, str], Seed] = {}
    for source, fills in zip(seeds.sources, ask(texts, seeds.top), strict=True):
        for fill in fills:
            if fill.kind != "word" or fill.logprob_nats is None:
                continue
            probability = math.exp(fill.logprob_nats)
            if probability >= seeds.minimum:
                form = f"{source.prefix}{fill.candidate}{source.suffix}"
                seed = Seed(source.category, form, model, source.columns, probability)
                by_form.setdefault((seed.category, seed.form), seed)
                if seeds.expand and dictionary is not None:
                    for sister in _sisters(fill.candidate, seeds, dictionary):
                        by_form.setdefault((sister.category, sister.form), sister)
    return list(by_form.values())


def _refuse_nothing_to_expand(seeds: GeneratedForms, dictionary: Morphology | None) -> None:
    """See that ``expand = true`` can add a form.

    Raises:
        InputError: there is no dictionary, or no two sources differ in gender or number.
    """
    forms = {
        (source.columns.get("gender"), source.columns.get("number")) for source in seeds.sources
    }
    if dictionary is None:
        seen, todo = "there is no dictionary", "Name one (dictionary = ...), or leave expand out."
    elif len(forms - {(None, None)}) < 2:  # noqa: PLR2004  # one form has no other to go to
        seen = "there are no two sources of different gender or number"
        todo = (
            "Write a source for each category, with columns = {gender = ..., number = ...}, or"
            " leave expand out."
        )
    else:
        return
    raise InputError(where="expand = true", seen=seen, todo=todo)


def capitalized(seeds: Iterable[Seed]) -> Iterator[Seed]:
    """Seeds as they begin a sentence."""
    for seed in seeds:
        yield replace(seed, form=seed.form[:1].upper() + seed.form[1:])


def _sisters(word: str, seeds: GeneratedForms, dictionary: Morphology) -> Iterator[Seed]:
    """The word in the genders and numbers of the other sources."""
    for source in seeds.sources:
        changes = {
            name: source.columns[name.lower()]
            for name in ("Gender", "Number")
            if name.lower() in source.columns
        }
        if not changes:
            continue
        for sister in sister_forms(dictionary, word, changes, pos=seeds.pos):
            form = f"{source.prefix}{sister.form}{source.suffix}"
            note = f"{word} inflected"
            yield Seed(source.category, form, dictionary.name, source.columns, note=note)


def _forms(
    like: Seed,
    wanted: Features,
    pos: str,
    seeds: Verb | Nominal,
    dictionary: Morphology,
    *,
    where: str,
) -> list[Seed]:
    """The forms of a lemma, which a seed without a form has among its columns."""
    lemma = like.columns["lemma"]
    readings = dictionary.inflect(lemma, wanted, pos=pos)
    if not readings:
        asked = "|".join(f"{name}={value}" for name, value in wanted.items())
        raise InputError(
            where=where,
            seen=f"{dictionary.name} has no form of {lemma!r} with {asked}",
            todo="Leave it out, give the form, or use another dictionary.",
        )
    note = "made by rule" if any(reading.guessed for reading in readings) else ""
    return [
        replace(like, form=f"{seeds.prefix}{form}{seeds.suffix}", note=note)
        for form in dict.fromkeys(reading.form for reading in readings)
    ]


def _with_article(seed: Seed, seeds: Nominal, agreement: Features, language: str) -> Seed:
    if not seeds.article:
        return seed
    bare = seed.form.removeprefix(seeds.prefix)
    form = with_article(bare, agreement, language=language, article=seeds.article)
    return replace(seed, form=f"{seeds.prefix}{form}")


def _gender(lemma: str, seeds: Nominal, dictionary: Morphology, where: str) -> str:
    if seeds.gender:
        return seeds.gender
    known = {
        reading.features["Gender"]
        for reading in dictionary.analyze(lemma)
        if reading.pos == "NOUN" and "Gender" in reading.features
    }
    if len(known) != 1:
        raise InputError(
            where=where,
            seen=f"the gender of {lemma!r} is not known"
            if not known
            else f"{lemma!r} has the genders {', '.join(sorted(known))}",
            todo='Write gender = "Masc" or "Fem".',
        )
    return known.pop()


def _tense(text: str, where: str) -> Features:
    if text in TENSES:
        return TENSES[text]
    if "=" in text:
        return parse_features(text)
    raise InputError(
        where=where,
        seen=f"{text!r} is not a tense",
        todo=f"Write one of {', '.join(TENSES)}, or features such as Mood=Ind|Tense=Pres.",
    )


def _person(text: str, where: str) -> Features:
    if not text:
        return {}
    if len(text) != 2 or text[0] not in "123" or text[1] not in _NUMBERS:  # noqa: PLR2004  # 1s
        raise InputError(where=where, seen=f"{text!r} is not a person", todo="Write 1s to 3p.")
    return {"Person": text[0], "Number": _NUMBERS[text[1]]}


def _lowered(features: Features) -> dict[str, str]:
    """Features as columns: what an item's ``expected`` may name in braces."""
    return {name.lower(): value for name, value in features.items()}
