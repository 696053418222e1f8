"""Reports and comparisons in the languages of the app: no text of cimento is left in English.

What is the same in the English page and in another, and has a word that only the English texts of
cimento have, was forgotten. The sentences, names and descriptions of suites are their authors'.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

import cimento
from cimento.app.checking import check_grid
from cimento.app.opening import open_grid
from cimento.app.report_page import page_language, report_page
from cimento.app.shown import compared
from cimento.app.words import LANGUAGES, advice_of, message_of, said
from cimento.cli.main import invoke
from cimento.compare import analyze
from cimento.compare.analysis_tables import analysis_section
from cimento.errors import CimentoError
from cimento.kinds.run import Run, open_runs
from cimento.report.grid import Grid
from tests.helpers.rated_designs import answers, sentences, write_rows

OTHERS = [code for code in LANGUAGES if code != "en"]
DATA = Path(cimento.__file__).parent / "data"
KINDS = {
    "pairs": ("it-subject-verb", "it-subject-verb-adversarial"),
    "design": ("it-islands",),
    "ratings": ("it-acceptability",),
    "people": ("answers.csv",),
    "unjudged": ("three.csv",),
    "cloze": ("it-connectives-cloze",),
    "stories": ("it-stories",),
}
"""The suites of each kind of report; those of ``people`` and ``unjudged`` are made here."""
ONE_MODEL = {"stories"}
"""Kinds whose prompts are longer than the window of the other demo model."""

UNJUDGED = {"ratings", "unjudged"}
"""Kinds without right and wrong answers, of which there is no analysis of items."""

KEPT = {
    r"(.* )?surprisal-(bits)?|bits": "the name of a measure, as options have it, in figures broken",
    r"((Cloze|Order|Plausible) )?(Accuracy|Consistency|Verifiability)|Cloze|Order|Plausible":
        "a metric of the study of stories, as it is printed there",
    r"\w+_\w+": "the name of a tier, a condition or a column",
    r"choice \(.*\)": "a question with the name of the rule by which it is answered",
    r".*doi:.*": "a work cited",
    r"Spearman|Pearson": "whom a coefficient is named after",
}  # fmt: skip
"""What may stay, as patterns of whole texts, with the reason."""

ATTRIBUTES = ("title", "aria-label", "alt", "placeholder")
WORD = re.compile(r"[^\W\d_]{2,}")


class Page(HTMLParser):
    """The texts of a page, and apart from them those that are marked as English."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: dict[str, None] = {}
        self.english: list[str] = []
        self._open: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.texts |= dict.fromkeys(text for name in ATTRIBUTES if (text := given.get(name)))
        if tag not in ("meta", "link", "br", "input"):
            apart = tag in ("style", "script", "code") or (tag, given.get("lang")) == ("div", "en")
            kind = "apart" if apart else "english" if given.get("lang") == "en" else ""
            self._open.append((tag, kind))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        kinds, text = {kind for _, kind in self._open}, " ".join(data.split())
        if text and "apart" not in kinds:
            if "english" in kinds:
                self.english.append(text)
            self.texts[text] = None


@cache
def words_of_english(code: str) -> frozenset[str]:
    """The words that the English texts of cimento have, and those of another language have not."""
    english, other = set[str](), set[str]()
    for name in ("app", "said", "report"):
        tables = tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8")).values()
        for entry in itertools.chain(*(t if isinstance(t, list) else t.values() for t in tables)):
            for words, language in ((english, "en"), (other, code)):
                bare = re.sub(r"\{[^{}]*\}|`[^`]*`", " ", entry.get(language, ""))
                words |= {word.lower() for word in WORD.findall(bare)}
    return frozenset(english - other)


def texts_in(part: object) -> Iterator[str]:
    """The texts in a record of a suite, however deep."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        yield from itertools.chain(*map(texts_in, itertools.chain(part, part.values())))
    elif isinstance(part, list | tuple | set | frozenset):
        yield from itertools.chain(*map(texts_in, part))
    elif hasattr(part, "__dataclass_fields__"):
        yield from itertools.chain(*(texts_in(getattr(part, f)) for f in part.__dataclass_fields__))


def left(texts: Sequence[str], english: Sequence[str], code: str, runs: Sequence[Run]) -> list[str]:
    """The texts of cimento that are in English, of the texts of a page."""
    own = {*itertools.chain(*(texts_in(run.suite) for run in runs)), *(run.model for run in runs)}
    words = words_of_english(code) - {word.lower() for text in own for word in WORD.findall(text)}
    known = {*english}
    return [
        text for text in texts
        if text in known and words & {word.lower() for word in WORD.findall(text)}
        and text not in own and not any(re.fullmatch(kept, text) for kept in KEPT)
    ]  # fmt: skip


def texts_of(grids: Sequence[Grid], code: str) -> list[str]:
    """What the window shows of tables, without the cells."""
    language = page_language(code)
    told = [language.told(grid).compact() for grid in grids]
    return [
        text
        for grid in told
        for text in (
            language.plain(grid.title),
            *map(language.header, grid.header),
            *(language.named(name) for name, _ in grid.spans if any(grid.groups)),
            *map(language.plain, grid.footnotes),
        )
    ]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Run]]:
    """Stored runs of every kind, by its name."""
    folder = tmp_path_factory.mktemp("kinds")
    rows = [*sentences()]
    write_rows([*answers(rows)], folder / "answers.csv")
    own = ("item", "condition", "sentence")
    three = {"norma": "Il gatto dorme.", "errore": "Il gatto dormono.", "oggi": "Oggi piove."}
    write_rows(
        [dict(zip(own, (f"{n}", *one), strict=True)) for n in range(6) for one in three.items()],
        folder / "three.csv",
    )
    for kind, suites in KINDS.items():
        named = [str(folder / name) if name.endswith(".csv") else name for name in suites]
        models = ["-m", "demo-causal", *(["-m", "demo-masked"] if kind not in ONE_MODEL else [])]
        limit = ["--language", "it"] if kind in ("people", "unjudged") else ["--limit", "8"]
        assert invoke(["run", *named, *models, *limit, "-o", str(folder / kind)]) == 0
    return {kind: open_runs([folder / kind]) for kind in KINDS}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_text_of_a_report_is_left_in_english(runs: dict[str, list[Run]], kind: str) -> None:
    some = runs[kind]
    joint = () if kind in UNJUDGED else (analysis_section(analyze(some)),)
    english = Page(report_page(some, "en", joint))
    assert len(english.texts) > 50
    found = {}
    for code in OTHERS:
        page = Page(report_page(some, code, joint))
        # How a table was read is said in English, and marked so.
        marked = [text for text in page.english if not text.startswith("Read as ")]
        texts = [text for text in page.texts if text not in page.english]
        found[code] = marked + left(texts, [*english.texts], code, some)
    assert {code: texts for code, texts in found.items() if texts} == {}


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [("pairs",), ("design",), ("people",), ("cloze",),
                                   ("pairs", "design", "ratings")], ids="+".join)  # fmt: skip
def test_no_text_of_a_comparison_is_left_in_english(
    runs: dict[str, list[Run]], kinds: Sequence[str]
) -> None:
    some = [run for kind in kinds for run in runs[kind]]
    grids = [*compared([str(n) for n, _ in enumerate(some)], some).grids.values()]
    assert grids
    english = texts_of(grids, "en")
    assert len(english) > 10
    found = {code: left(texts_of(grids, code), english, code, some) for code in OTHERS}
    assert {code: texts for code, texts in found.items() if texts} == {}


@pytest.mark.parametrize("code", OTHERS)
def test_a_text_that_is_left_is_found(code: str) -> None:
    """What the tests above go by knows a forgotten sentence from a translated one."""
    forgotten = "Every pair of models."
    told = page_language(code).plain(forgotten)
    assert left([forgotten, told], [forgotten], code, []) == [forgotten]


BROKEN = {
    "pairs": "good,bad\nIl gatto dorme.,\n,Il cane dormono.\nLa zia legge.,La zia legge.\nX,Y\n",
    "rows": "item,condition,sentence\n1,good,Il gatto dorme.\n1,good,Il gatto dormono.\n2,bad,\n",
    "ratings": "sentence,rating\nIl gatto dorme.,sette\nIl cane dorme.,9\nIl cane dorme.,3\n,4\n",
    "blanks": "text,target,distractor 1\nIl ___ va.,gatto,\nUgo va.,gatto,cane\n___ e ___,a,b\n",
    "people": "participant,sentence,rating\na,Piove.,1\na,Piove.,7\nb,Piove.,x\n",
    "labels": "sentence,acceptable\nPiove.,1\nNevica.,2\nGrandina.,forse\n",
    "regions": "item,condition,region 1,region 2\n1,a,Il gatto,dorme\n1,b,Il gatto,\n2,a,Ugo,va\n",
    "open quote": 'good,bad\n"Il gatto dorme\n',
    "nothing": "",
    "no columns": "a,b,c\n1,2,3\n",
}
ENGLISH = re.compile(
    r"\b(the|of|and|is|are|with|not|there|which|this|that|end|each)\b", re.IGNORECASE
)


@pytest.mark.parametrize("table", BROKEN.values(), ids=BROKEN)
def test_what_is_said_of_a_broken_table_is_in_every_language(tmp_path: Path, table: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(table, encoding="utf-8")
    try:
        opened = open_grid(path)
        found = [(f.seen, f.todo) for f in check_grid(opened.grid, opened.notes).findings]
        told = {
            c: [f"{said(seen, c)} {advice_of(todo, c)}" for seen, todo in found] for c in OTHERS
        }
    except CimentoError as error:
        told = {c: [message_of(error, c)] for c in OTHERS}
    for messages in told.values():
        assert messages
        assert [text for text in messages if ENGLISH.search(text) or "None" in text] == []
