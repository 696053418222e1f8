"""One spelling of English in code, messages and pages: the American one (scripts/spelling.py)."""

from __future__ import annotations

import tomllib

import pytest

import spelling

RULES = spelling.Spelling(tomllib.loads(spelling.RULES.read_text("utf-8")))


def british(text, path="a.md"):
    return [match[0] for match in RULES.british(text, path)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The colour is normalised.", ["colour", "normalised"]),
        ("_COLOURS = labelled_rows(NeighbourhoodOf)", ["COLOURS", "labelled", "Neighbourhood"]),
        (r"'a\nlicence'", ["licence"]),
        ("Five per cent of them.", ["per cent"]),
        ("Colors, normalized; the analyses of a color, organisms, licenses, hours.", []),
        ("A promise to exercise; controlled dialogues; installing a filler; percent.", []),
        ("Que se centré, due per cento, aria-labelledby", []),
        ("Assessing linguistic generalisation in language models", []),
    ],
)
def test_british_words_are_found_and_american_and_foreign_ones_are_not(text, found):
    assert british(text) == found


def test_words_and_names_of_files_are_replaced_with_their_capitals(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(spelling, "tracked", lambda root: [path.name for path in root.iterdir()])
    (tmp_path / "colours.py").write_text("GREY = Colour('towards')\n", encoding="utf-8")
    (tmp_path / "pagina.it.md").write_text("centre\n", encoding="utf-8")
    assert spelling.main(["--root", str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "colours.py: the name of the file: colours, colors",
        "colours.py:1: GREY, GRAY",
        "colours.py:1: Colour, Color",
        "colours.py:1: towards, toward",
    ]
    assert spelling.main(["--root", str(tmp_path), "--fix"]) == 0
    assert (tmp_path / "colors.py").read_text("utf-8") == "GRAY = Color('toward')\n"
    assert not (tmp_path / "colours.py").exists()
    assert (tmp_path / "pagina.it.md").read_text("utf-8") == "centre\n"
    assert spelling.main(["--root", str(tmp_path)]) == 0
