"""Two triples of stories and answers to them, small enough to be worked out by hand."""

from __future__ import annotations

from cimento.suites.stories import CONFLICT, OPTIONS, STATE, STORY, Story, TierAnswer


def story(row, type_, *, number, pair=None, state="", **more):
    suffix = {"order": "-O0", "cloze": "-C0", None: ""}[type_]
    return Story(
        row=row,
        story_id=number,
        type=type_,
        example_id=f"{number}{suffix}",
        sentences=tuple(f"Frase {place} di {number}{suffix}." for place in range(5)),
        plausible=pair is None,
        breakpoint=-1 if pair is None else pair[1],
        confl_sents=() if pair is None else (pair[0],),
        state=state,
        location="cucina" if number == 1 else "giardino",
        **more,
    )


# Two triples: pairs 0-1 and 2-4, states open and open; 3-4 and 0-1, states power and wet.
STORIES = (
    story(0, None, number=1),
    story(1, "order", number=1, pair=(0, 1), state="open"),
    story(2, "cloze", number=1, pair=(2, 4), state="open"),
    story(3, None, number=2),
    story(4, "order", number=2, pair=(3, 4), state="power"),
    story(5, "cloze", number=2, pair=(0, 1), state="wet"),
)


def chose(row, tier, label, *, margin=1.0, **more):
    values = tuple(0.0 if option == label else -margin for option in OPTIONS[tier])
    return TierAnswer(row=row, tier=tier, options=OPTIONS[tier], logprobs_nats=values, **more)


# Tier 1: 0 right, 3 wrong; 1, 2, 4 right, 5 wrong. Tier 2: 1 right, 2 half right (it has the
# breakpoint), 4 right. Tier 3: 1 wrong but of the family (location), 4 right.
ANSWERS = (
    chose(0, STORY, "true", margin=3.0, shots=(1, 3, 2)),
    chose(1, STORY, "false", shots=(0, 3, 4)),
    chose(2, STORY, "false", margin=2.0, shots=(0, 1, 4)),
    chose(3, STORY, "false", margin=0.5, shots=(0, 1, 4)),
    chose(4, STORY, "false", shots=(0, 1, 3)),
    chose(5, STORY, "true", margin=0.25, shots=(1, 2, 4)),
    chose(1, CONFLICT, "0 and 1"),
    chose(2, CONFLICT, "3 and 4"),
    chose(4, CONFLICT, "3 and 4"),
    chose(1, STATE, "location"),
    chose(4, STATE, "power"),
)
