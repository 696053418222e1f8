"""What cloze items ask of a model: one blank for each distinct text."""

from __future__ import annotations

from collections.abc import Sequence

from cimento.cloze.records import BLANK, ClozeItem
from cimento.engine.requests import Fill, Requests
from cimento.io.tables import REQUESTS
from cimento.models.questions import FillPolicy


def blank_requests(items: Sequence[ClozeItem], policy: FillPolicy, *, suite: str = "") -> Requests:
    """One request for each distinct text with a blank, and the items that each is for.

    Args:
        items: a text that several of them share is asked once, with the options of all.
        policy: how candidates are found, and by which rules options are scored.
        suite: its name.
    """
    import polars as pl

    options: dict[tuple[str, str], dict[str, None]] = {}
    for item in items:
        texts = options.setdefault((item.before, item.after), {})
        texts.update(dict.fromkeys(text for option in item.options for text in option.spellings))
    numbers = {text: number for number, text in enumerate(options)}
    places = [
        (numbers[item.before, item.after], suite, item.id, "", 1, item.text, "",
         len(item.before), len(item.before) + len(BLANK), True)
        for item in items
    ]  # fmt: skip
    return Requests(
        asked=[
            Fill(before=before, after=after, options=tuple(texts), policy=policy)
            for (before, after), texts in options.items()
        ],
        places=pl.DataFrame(places, schema=REQUESTS.polars(), orient="row"),
    )
