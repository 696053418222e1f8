"""``cimento annotate stories``, ``second`` and ``agreement``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cimento.cli import options
from cimento.cli.console import note, show
from cimento.io.inline_markup import columns

if TYPE_CHECKING:
    from cimento.paradigms.stories.suite import Story
    from cimento.people.annotate.second_annotator import StoryJudgment

Stories = Annotated[Path, typer.Argument(metavar="FILE", help="Stories as JSONL; need not exist.")]
Annotator = Annotated[str, options.option("--annotator", help="Who is at the keyboard.")]


def stories(
    file: Stories,
    *,
    replay: Annotated[
        Path | None, options.option("--replay", help="Recorded dialogues instead of a terminal.")
    ] = None,
    annotator: Annotator = "",
) -> int:
    """Write stories down, field by field, and append them to a file.

    The fields and their order are those of Appendix B of the GITA4CALAMITA paper. An empty line
    takes what stands in brackets; :help says what else can be typed. A story that was left is gone
    on with the next time.
    """
    from cimento.paradigms.stories.formats import ITEMS
    from cimento.people.annotate.story_files import append, known_stories, play, read_recorded

    if file.is_dir():
        file = file / ITEMS
    if replay is None:
        return _write_stories(file, annotator)
    for recorded in read_recorded(replay):
        story = play(recorded, known_stories(file))
        append(story, file)
        note(f"{story.example_id} is in {file}.")
    return 0


def second(
    file: Stories,
    judgments: Annotated[Path, typer.Argument(metavar="JUDGMENTS", help="Where they go.")],
    *,
    annotator: Annotator = "second",
    seed: Annotated[int, options.option("--seed", help="Seed of the mixed order.")] = 0,
) -> int:
    """Judge stories blind: their sentences and nothing else, in mixed order.

    Goes on where it was left; every judgment is stored at once.
    """
    from cimento.people.annotate.second_annotator import (
        blind_order,
        read_judgments,
        write_story_judgments,
    )
    from cimento.people.annotate.story_files import known_stories

    known = known_stories(file)
    done = read_judgments(judgments, stories=known) if judgments.exists() else []
    judged = {each.row for each in done}
    waiting = [story for story in blind_order(known, seed=seed) if story.row not in judged]
    for number, story in enumerate(waiting, start=len(judged) + 1):
        show(f"\n{number} of {len(known)}")
        each = _judge(story, annotator)
        if each is None:
            break
        done.append(each)
        write_story_judgments(done, judgments)
    note(f"{len(done)} of {len(known)} stories are judged in {judgments}.")
    return 0


def agreement(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Stories as JSONL, or a table of judgments.")
    ],
    judgments: Annotated[
        Path | None, typer.Argument(metavar="[JUDGMENTS]", help="Of one annotator, on stories.")
    ] = None,
    *,
    adjudicate: Annotated[
        Path | None, options.option("--adjudicate", help="Write what differs to this JSONL.")
    ] = None,
    json: options.Json = False,
) -> int:
    """How far people agree: all those of a table of judgments, or a second annotator of stories."""
    if judgments is None:
        _agreement_of_table(file, as_json=json)
        return 0
    import json as json_
    from dataclasses import asdict

    from cimento.io.files import write_text
    from cimento.people.annotate import second_annotator as second_
    from cimento.people.annotate.story_files import known_stories
    from cimento.report.formatting import agreement as agreed

    known = known_stories(file)
    said = second_.read_judgments(judgments, stories=known)
    found = second_.agreement(known, said)
    if json:
        show(json_.dumps([asdict(each) for each in found], ensure_ascii=False, indent=2))
    else:
        rows: list[tuple[str, ...]] = [("tier", "agree", "Cohen's kappa", "Krippendorff's alpha")]
        rows += [
            (each.tier, f"{each.equal}/{each.compared}", *map(agreed, (each.kappa, each.alpha)))
            for each in found
        ]
        show(columns(rows))
    if adjudicate is not None:
        differing = second_.to_adjudicate(known, said)
        lines = (json_.dumps(each, ensure_ascii=False) + "\n" for each in differing)
        write_text("".join(lines), adjudicate)
        note(f"{len(differing)} stories to decide about are in {adjudicate}.")
    return 0


def _agreement_of_table(file: Path, *, as_json: bool) -> None:
    """Every question of a table of judgments, described."""
    import json
    from dataclasses import asdict

    from cimento.people.judgments.records import judgments_of, read_judgments
    from cimento.people.judgments.summaries import summarise
    from cimento.report.formatting import agreement as agreed

    found = summarise(judgments_of(read_judgments(file)))
    if as_json:
        show(json.dumps([asdict(each) for each in found], ensure_ascii=False, indent=2))
        return
    rows: list[tuple[str, ...]] = [
        ("question", "people", "places", "answers", "mean", "sd in places", "alpha")
    ]
    rows += [
        (
            each.question,
            *map(str, (each.people, each.places, each.judgments)),
            "-" if each.mean is None else f"{each.mean:.3f}",
            "-" if each.sd is None else f"{each.sd:.3f}",
            agreed(each.alpha),
        )
        for each in found
    ]
    show(columns(rows))


def _write_stories(file: Path, annotator: str) -> int:
    """One dialogue after another, until one is left."""
    from cimento.people.annotate.dialogue import DialogueSession, converse
    from cimento.people.annotate.stories import finished, story_fields
    from cimento.people.annotate.story_files import (
        append,
        append_timing,
        known_stories,
        story_session_file,
    )

    while True:
        known = known_stories(file)
        session = DialogueSession(story_fields(known), path=story_session_file(file))
        if session.lines:
            note(f"Going on with a story that was left ({session.state.values.get('example_id')}).")
        if not converse(session, _typed, show):
            if session.lines:
                note("\nWhat was typed is kept; the next time it goes on here.")
            return 0
        story = finished(session.state.values, row=len(known))
        append(story, file)
        append_timing(story, session, file, annotator=annotator or story.worker_id)
        session.forget()
        note(f"{story.example_id} is in {file} ({session.seconds / 60:.1f} minutes).\n")


def _judge(story: Story, annotator: str) -> StoryJudgment | None:
    from cimento.people.annotate.dialogue import DialogueSession, converse
    from cimento.people.annotate.second_annotator import blind_fields, judgment, story_text

    session = DialogueSession(blind_fields(story))
    show(story_text(story))
    if not converse(session, _typed, show):
        return None
    return judgment(session.state.values, story=story, annotator=annotator, seconds=session.seconds)


def _typed(prompt: str) -> str:
    return input(prompt)
