"""Try a sentence: surprisal word by word as colored strips, and fillers for a blank.

The models that can be chosen are here too, and the one that is loaded to try sentences.
"""

from __future__ import annotations

import asyncio
import functools
import re
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, cast

from nicegui import ui

from cimento.app.frame import CommandLine, Text, Visit, guarded, heading, withdraw
from cimento.app.parts import table_of
from cimento.app.words import Words, percent, said
from cimento.app.workspace import Workspace
from cimento.errors import UsageError
from cimento.models.hf.names import hub_cache
from cimento.models.hf.stored import cached_models, demo_models
from cimento.report.html import STEP_BITS, STEPS

if TYPE_CHECKING:
    import polars as pl

    from cimento.models.in_memory import LoadedModel
    from cimento.models.registry import AnyScorer

LONGEST = 2000
"""The largest number of characters that are tried at once."""
MOST_TEXTS = 20
CANDIDATES = 10
LEAST_PERCENT = 0.01


def piped(texts: Sequence[str], *, system: str = sys.platform) -> str:
    """The beginning of a command line that gives a command its texts, a line each.

    Args:
        texts: the texts.
        system: as `sys.platform` names it; for ``win32`` the line is one of PowerShell.
    """
    if system == "win32":
        return ", ".join("'" + text.replace("'", "''") + "'" for text in texts) + " | "
    return f"printf '%s\\n' {' '.join(map(quote, texts))} | "


_BLANK = re.compile(r"_{3,}")

EXAMPLES = {
    "en": "The keys to the cabinet are on the table.\nThe keys to the cabinet is on the table.",
    "it": "Le chiavi dell'armadio sono sul tavolo.\nLe chiavi dell'armadio è sul tavolo.",
    "es": "Las llaves del armario están en la mesa.\nLas llaves del armario está en la mesa.",
    "pt": "As chaves do armário estão na mesa.\nAs chaves do armário está na mesa.",
    "ru": "Ключи от шкафа лежат на столе.\nКлючи от шкафа лежит на столе.",
}
"""Two sentences of each language, which differ in agreement."""


@dataclass(frozen=True, slots=True)
class TrialAnswer:
    """What a model says about some texts.

    Attributes:
        texts: the texts.
        blanks: whether they have blanks, which are filled; else they are scored.
        table: the rows of `cimento.fill` or, word by word, of `cimento.score`.
    """

    texts: tuple[str, ...]
    blanks: bool
    table: pl.DataFrame


def try_texts(given: str, model: str) -> TrialAnswer:
    """Score the words of some texts, or fill their blanks.

    Args:
        given: one text per line, each with one blank (``___``), or none of them with any.
        model: the model's name.

    Raises:
        UsageError: there is no text, there is too much, or only some texts have blanks.
        CimentoError: the model cannot be used.
    """
    from cimento.evaluation.free_fills import fill
    from cimento.evaluation.freetext import score

    texts = tuple(filter(None, (line.strip() for line in given.splitlines())))
    if not texts or len(texts) > MOST_TEXTS or len(given) > LONGEST:
        raise UsageError(
            where="sentences",
            seen=f"there are {len(texts)} of them, with {len(given):,} characters",
            todo=f"Write between 1 and {MOST_TEXTS}, in {LONGEST:,} characters or fewer.",
        )
    blanks = [bool(_BLANK.search(text)) for text in texts]
    if any(blanks) and not all(blanks):
        raise UsageError(
            where="sentences",
            seen="some have a blank and others have none",
            todo="Write ___ in each of them, or in none.",
        )
    opened = opened_model(model)
    if any(blanks):
        return TrialAnswer(texts, blanks=True, table=fill(texts, opened, k=CANDIDATES))
    return TrialAnswer(texts, blanks=False, table=score(texts, opened, level="word"))


def build(visit: Visit) -> None:
    """Build the part of the page."""
    say = visit.say
    heading(say("start.try"))
    Text(say("start.try_lead")).classes("lead")
    with ui.element("div").classes("fields"):
        example = EXAMPLES.get(say.language, EXAMPLES["en"])
        texts = ui.textarea(say("start.sentences"), value=example).props("outlined autogrow")
        texts.classes("wide").mark("sentences")
        model = model_choice(visit, say("start.model"), "demo-causal").mark("try-model")
    button = ui.button(say("start.try_go")).props("no-caps unelevated").mark("try")
    waiting = Text(say("start.waiting")).props("role=status").classes("small")
    waiting.set_visibility(False)
    result = ui.element("div").props("aria-live=polite").mark("tried")
    command = CommandLine(visit)

    def describe() -> None:
        withdraw(visit)
        given = tuple(filter(None, (line.strip() for line in str(texts.value or "").splitlines())))
        filled = any(map(_BLANK.search, given))
        words = ["fill", "-m"] if filled else ["score", "--words", "-m"]
        command.show([*words, str(model.value)], before=piped(given), whole=bool(given))

    async def go() -> None:
        name = visit.workspace.model(str(model.value or ""))
        result.clear()
        waiting.set_visibility(True)
        button.disable()
        try:
            tried = await asyncio.to_thread(try_texts, str(texts.value or ""), name)
        finally:
            waiting.set_visibility(False)
            button.enable()
        with result:
            _show(visit, tried)

    texts.on_value_change(describe)
    model.on_value_change(describe)
    button.on_click(guarded(visit, go))
    describe()


def _show(visit: Visit, tried: TrialAnswer) -> None:
    """Show what a model says, text by text."""
    rows: dict[int, list[dict[str, object]]] = {}
    for row in tried.table.iter_rows(named=True):
        rows.setdefault(row["text"], []).append(row)
    for number, text in enumerate(tried.texts, start=1):
        if tried.blanks:
            _fillers(visit, text, rows.get(number, []))
        else:
            _strip(visit, rows.get(number, []))
    if not tried.blanks:
        _legend(visit)


def _strip(visit: Visit, words: list[dict[str, object]]) -> None:
    """The words of a text, each on the color of its surprisal and with the number below."""
    known = [bits for word in words if isinstance(bits := word["surprisal_bits"], float)]
    with ui.element("div").props("role=list dir=auto").classes("strip"):
        for word in words:
            bits = word["surprisal_bits"]
            with ui.element("div").props("role=listitem").classes(f"word {_color(bits)}"):
                Text(str(word["word"]), "span")
                reason = str(word["unscored_reason"] or "")
                below = Text(
                    visit.say.number(bits, ".1f") if isinstance(bits, float) else "–", "small"
                )
                if reason:
                    below.tooltip(said(reason, visit.say.language) or reason)
    if len(known) == len(words):
        Text(visit.say("start.sum", bits=visit.say.number(sum(known), ".1f"))).classes("small")


def _color(bits: object) -> str:
    """The class of a word's color, as in the report: a step for each two bits."""
    if not isinstance(bits, float):
        return "none"
    return f"t{min(max(int(bits / STEP_BITS), 0), STEPS - 1)}"


def _legend(visit: Visit) -> None:
    with ui.element("p").classes("ramp small"):
        Text(visit.say("start.expected"), "span")
        for step in range(STEPS):
            Text(f"{step * STEP_BITS:.0f}", "span").classes(f"t{step}")
        Text(visit.say("start.surprising"), "span")


def _fillers(visit: Visit, text: str, rows: list[dict[str, object]]) -> None:
    """The candidates for a blank, with their probabilities as bars."""
    Text(text).classes("filled")
    names = map(visit.say, ("start.candidate", "start.probability"))
    with table_of(names, "fillers"):
        for row in rows:
            share = row["probability"]
            with ui.element("tr"):
                Text(str(row["candidate"]).strip(), "th").props("scope=row")
                with ui.element("td"):
                    if isinstance(share, float):
                        bar = ui.element("span").classes("bar").props("aria-hidden=true")
                        bar.style(f"width: {max(share, 0.004) * 14:.2f}rem")
                        Text(_percent(share, visit.say), "span")


def _percent(share: float, say: Words) -> str:
    """A probability in percent, of small ones two digits."""
    value = 100 * share
    if 0 < value < LEAST_PERCENT:
        return f"< {percent(LEAST_PERCENT, say, 'g')}"
    return percent(value, say, ".0f" if value >= 10 else ".2g")  # noqa: PLR2004  # two digits


def known_models(workspace: Workspace) -> list[str]:
    """The names of models on this machine: those of cimento, of the hub's cache, and in folders."""
    cache = hub_cache()
    cached = cached_models(cache) if cache is not None else []
    names = [model.name for model in [*demo_models(), *cached] if model.kind]
    return list(dict.fromkeys([*names, *workspace.model_folders()]))


class _Names(ui.select):
    """A choice of names in which others may be typed.

    The Tab key gives the text of the field as if it were typed. For one of the choices that is what
    it is shown as, of which NiceGUI knows no value, so that the field would be emptied.
    """

    def _handle_new_value(self, value: str) -> str:
        shown = cast("Mapping[str, str]", self.options)
        named = next((name for name, text in shown.items() if text == value), None)
        return named if named is not None else str(super()._handle_new_value(value))


def model_choice(visit: Visit, label: str, value: str | list[str]) -> ui.select:
    """A field for one model or several: those on this machine, or any other by its name.

    Args:
        visit: what the page is built for.
        label: what is asked for.
        value: the model chosen at first; a list for a field of several.
    """
    several = isinstance(value, list)
    given = value if several else [value]
    small = {model.name for model in demo_models()}
    options = {
        name: visit.say("run.demo", name=name) if name in small else name
        for name in [*known_models(visit.workspace), *given]
    }
    field = _Names(options, label=label, value=value, multiple=several, new_value_mode="add-unique")
    field.props("outlined use-chips" if several else "outlined hide-selected fill-input")
    return field.props(f'hint="{visit.say("run.names")}"').classes("wide")


_ONE_AT_A_TIME = threading.Lock()


def opened_model(name: str) -> AnyScorer | LoadedModel:
    """A model, which stays loaded until another is asked for.

    Args:
        name: as `Workspace.model` returns it.

    Raises:
        CimentoError: there is no such model, or it cannot be loaded.
    """
    with _ONE_AT_A_TIME:
        return _opened(name)


@functools.lru_cache(maxsize=1)
def _opened(name: str) -> AnyScorer | LoadedModel:
    from cimento.evaluation import load_model

    return load_model(name)
