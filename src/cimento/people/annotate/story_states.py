"""The physical states of a story's sentences: a block for each, and an editor with few words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from cimento.errors import did_you_mean
from cimento.paradigms.stories.suite import ATTRIBUTES, Attribute, bearers
from cimento.people.annotate.dialogue import RefusedError, Taken, Values
from cimento.suites.model import JsonValue

StateBlock: TypeAlias = "dict[str, list[tuple[str, int]]]"

DONE = "done"
USAGE = (
    "SENTENCE ATTRIBUTE ENTITY CODE sets a code (1 open frigo 4); sentences count from 0.\n"
    "codes ATTRIBUTE says what its codes mean; attributes lists them all.\n"
    "show [SENTENCE] shows what is set; copy FROM TO copies a sentence's codes.\n"
    "trip gives every entity TRIP's defaults (conscious, exist, functional, moveable: 2).\n"
    "done ends it."
)


def empty_blocks(
    actors: Sequence[str], objects: Sequence[str], n_sentences: int, *, trip: bool = False
) -> list[StateBlock]:
    """A block for each sentence, every entity with every attribute it can have.

    Args:
        actors: who acts.
        objects: what is there.
        n_sentences: number of blocks.
        trip: codes are TRIP's defaults and not 0.
    """
    return [
        {
            attribute.name: [(name, attribute.default if trip else 0) for name in names]
            for attribute in ATTRIBUTES.values()
            for names in [actors if attribute.bearer == "actor" else objects]
        }
        for _ in range(n_sentences)
    ]


def edit(line: str, values: Values) -> Taken:
    """The blocks after one line of the editor; see `USAGE`.

    Raises:
        RefusedError: the line is no command, or names what is not there.
    """
    blocks = blocks_of(values)
    words = line.split()
    if words == [DONE]:
        return Taken(_plain(blocks))
    match words:
        case ["attributes"]:
            message = _attributes()
        case ["codes", name]:
            message = _codes(_attribute(name))
        case ["show", *chosen]:
            message = _shown(blocks, chosen)
        case ["trip"]:
            blocks, message = _with_trip(blocks, values), "TRIP's defaults are set."
        case ["copy", source, target]:
            blocks[_sentence(target, blocks)] = blocks[_sentence(source, blocks)]
            message = f"{source} is copied to {target}."
        case [number, attribute, *entity, code] if entity:
            message = _set(_sentence(number, blocks), attribute, " ".join(entity), code, blocks)
        case _:
            raise RefusedError(f"This is none of the commands.\n{USAGE}")
    return Taken(_plain(blocks), finished=False, message=message)


def blocks_of(values: Values) -> list[StateBlock]:
    """The blocks as they are, or empty ones."""
    given = values.get("states")
    sentences = values.get("sentences")
    n = len(sentences) if isinstance(sentences, list) else 0
    actors, objects = _names(values, "actor"), _names(values, "objects")
    fresh = empty_blocks(actors, objects, n)
    if not isinstance(given, list):
        return fresh
    known = [_block(entry) for entry in given]
    # After a step back the story may have other sentences or entities.
    return [
        {
            name: [
                (entity, dict(block.get(name, ())).get(entity, code)) for entity, code in entries
            ]
            for name, entries in new.items()
        }
        for block, new in zip([*known, *({} for _ in range(n))], fresh, strict=False)
    ]


def _with_trip(blocks: Sequence[StateBlock], values: Values) -> list[StateBlock]:
    """TRIP's defaults, except for codes set by hand."""
    names = _names(values, "actor"), _names(values, "objects")
    [tripped] = empty_blocks(*names, 1, trip=True)
    return [
        {
            name: [(entity, code or dict(tripped[name])[entity]) for entity, code in entries]
            for name, entries in block.items()
        }
        for block in blocks
    ]


def _set(number: int, name: str, entity: str, code: str, blocks: list[StateBlock]) -> str:
    """Set one code, and return its meaning."""
    attribute = _attribute(name)
    entries = blocks[number][attribute.name]
    names = [owner for owner, _ in entries]
    if entity not in names:
        listed = ", ".join(names) or "there are none"
        raise RefusedError(f"{attribute.name} is about {attribute.bearer}s: {listed}.")
    if not code.isdigit() or int(code) not in attribute.codes:
        raise RefusedError(f"{code!r} is no code of {attribute.name}.\n{_codes(attribute)}")
    changed = [(owner, int(code) if owner == entity else old) for owner, old in entries]
    # A copied sentence shares its block with the other one.
    blocks[number] = {**blocks[number], attribute.name: changed}
    return f"Sentence {number}: {entity}, {attribute.name}: {attribute.codes[int(code)]}."


def _sentence(word: str, blocks: Sequence[StateBlock]) -> int:
    if not word.isdigit() or int(word) >= len(blocks):
        raise RefusedError(f"There is no sentence {word!r}: they are 0 to {len(blocks) - 1}.")
    return int(word)


def _attribute(name: str) -> Attribute:
    if name not in ATTRIBUTES:
        raise RefusedError(f"There is no attribute {name!r}. {did_you_mean(name, ATTRIBUTES)}")
    return ATTRIBUTES[name]


def _codes(attribute: Attribute) -> str:
    lines = (f"  {code}  {meaning}" for code, meaning in attribute.codes.items())
    return "\n".join((f"{attribute.name} ({attribute.bearer}s)", *lines))


def _attributes() -> str:
    return "\n".join(
        f"{bearer}s: {', '.join(attribute.name for attribute in bearers(bearer))}"
        for bearer in ("actor", "object")
    )


def _shown(blocks: Sequence[StateBlock], words: Sequence[str]) -> str:
    chosen = [_sentence(word, blocks) for word in words] or range(len(blocks))
    lines = [
        f"{number}  {entity}, {name}: {code} ({ATTRIBUTES[name].codes[code]})"
        for number in chosen
        for name, entries in blocks[number].items()
        for entity, code in entries
        if code
    ]
    return "\n".join(lines) or "Every code is 0."


def _names(values: Values, name: str) -> list[str]:
    given = values.get(name)
    return [part.strip() for part in str(given or "").split(",") if part.strip()]


def _block(plain: JsonValue) -> StateBlock:
    block: StateBlock = {}
    for name, entries in plain.items() if isinstance(plain, Mapping) else ():
        pairs = entries if isinstance(entries, list) else []
        block[name] = [
            (str(pair[0]), pair[1])
            for pair in pairs
            if isinstance(pair, list) and isinstance(pair[1], int)
        ]
    return block


def _plain(blocks: Sequence[StateBlock]) -> JsonValue:
    return [
        {name: [[entity, code] for entity, code in entries] for name, entries in block.items()}
        for block in blocks
    ]
