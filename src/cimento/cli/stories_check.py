"""What ``cimento suites`` checks and shows of files of stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from cimento.errors import Fault
from cimento.markup import columns
from cimento.stories.audit import audit, story_names
from cimento.stories.audit_record import audit_record
from cimento.stories.describe import describe
from cimento.stories.readers import StoryFile, read_stories
from cimento.stories.records import Story
from cimento.suites.model import JsonValue

_SHOWN = 5


def check_stories(path: Path) -> Sequence[Fault]:
    """Everything that is wrong with a file of stories."""
    file = read_stories(path)
    return [each.fault(file=path.name, names=story_names(file)) for each in audit(file)]


def audit_stories(path: Path) -> JsonValue:
    """The same as JSON, with counts of what is in the file."""
    return audit_record(read_stories(path))


def describe_stories(path: Path, items: int) -> str:
    """What is in a file of stories, and its first stories."""
    file = read_stories(path)
    lines = [file.name, columns(_facts(file), indent=2)]
    lines += [_story(story) for story in file.stories[:items]]
    return "\n".join(lines)


def _facts(file: StoryFile) -> list[tuple[str, ...]]:
    about = describe(file.stories)
    names = ("language", "version", "licence", "status", "citation")
    rows = [(name, str(file.meta[name])) for name in names if file.meta.get(name)]
    rows += [
        ("stories", f"{about.stories} in {about.triples} triples, {about.complete} complete"),
        ("types", _counts(about.types)),
        ("plausible", _counts(about.plausible)),
        ("states", _counts(about.states)),
        ("conflict pairs", _counts(about.pairs)),
        ("adjacent", f"{about.adjacent} of {sum(about.distances.values())} conflicts"),
        ("swapped are", _counts({f"{k} in conflict": n for k, n in about.swaps.items()})),
        ("replaced is", _counts(about.replacements)),
    ]
    places = list(about.locations.items())
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    rows.append(("locations", _counts(dict(places[:_SHOWN])) + more))
    if about.domains:
        rows.append(("domains", _counts(about.domains)))
    return [tuple(row) for row in rows]


def _story(story: Story) -> str:
    kind = "plausible" if story.plausible else f"{story.type or 'no type'}, {story.state}"
    lines = [f"  story {story.row} ({story.example_id}) {kind}"]
    for place, sentence in enumerate(story.sentences):
        mark = "*" if place in (story.pair or ()) else " "
        lines.append(f"   {mark}{place} {sentence}")
    return "\n".join(lines)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in counts.items()) or "none"
