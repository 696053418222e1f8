"""What a run and a report say of the people who rated the sentences of a design."""

from __future__ import annotations

import pytest

from cimento.judgments import Judgment, table_of, write_judgments
from tests.helpers.command_line import invoke

SEEN = ("gatto", "nonno", "cuoco", "medico", "sarto", "pittore")
THINGS = ("divano", "treno", "forno", "banco", "tavolo", "muro")
CELLS = {
    "person_marked": (5, 4, 4),
    "person_control": (1, 2, 2),
    "control_marked": (2, 3, 1),
    "control_control": (4, 5, 3),
}


@pytest.fixture(scope="module")
def rated(tmp_path_factory):
    """A run of a design of two factors with the ratings of three people; and what it printed."""
    folder = tmp_path_factory.mktemp("rated")
    lines, judgments = ["item,animacy,marking,sentence"], []
    for number, (person, thing) in enumerate(zip(SEEN, THINGS, strict=True), start=1):
        for cell, ratings in CELLS.items():
            animacy, marking = cell.split("_")
            noun = person if animacy == "person" else thing
            text = f"Vedo {'a ' if marking == 'marked' else ''}quel {noun}."
            lines.append(f"{number},{animacy},{marking},{text}")
            judgments += [
                Judgment(
                    suite="dom", item=str(number), condition=cell, annotator=name, value=str(value)
                )
                for name, value in zip("abc", ratings, strict=True)
            ]
    suite, answers, copy = folder / "dom.csv", folder / "kept.csv", folder / "dom-rated"
    suite.write_text("\n".join(lines) + "\n", encoding="utf-8")
    write_judgments(table_of(judgments), answers)
    apply = ["annotate", "apply", str(suite), str(answers), "-o", str(copy), "--scale", "1,5"]
    assert invoke([*apply, "--language", "it"]) == 0
    assert invoke(["run", str(copy), "-m", "demo-causal", "-o", str(folder / "runs")]) == 0
    return folder / "runs"


def test_accuracies_of_a_rated_design_name_their_predictions_once(rated, tmp_path):
    assert invoke(["report", str(rated), "-o", str(tmp_path / "report.txt")]) == 0
    text = (tmp_path / "report.txt").read_text()
    table = text[text.index("accuracy by phenomenon") :].splitlines()
    assert table[0].split() == ["accuracy", "by", "phenomenon", "prediction", "n", "accuracy",
                                "95%"]  # fmt: skip
    named = [line.split("  ")[1:] for line in table[1:] if line.startswith("  dom ")]
    assert len(named) == 5
    assert len(set(map(tuple, named))) == 5
    assert any("person_control" in line for line in table)


@pytest.mark.parametrize("ending", ["html", "md", "txt"])
def test_reports_have_the_ceiling_and_the_agreement_of_the_people(rated, tmp_path, ending):
    path = tmp_path / f"report.{ending}"
    assert invoke(["report", str(rated), "-o", str(path)]) == 0
    text = path.read_text(encoding="utf-8").replace("&#39;", "'").lower()
    assert "noise ceiling: " in text
    assert "agreement of the people, krippendorff's alpha: nominal" in text
    if ending != "md":
        assert "people's dd is not computed" in text


def test_agreement_names_its_mean_and_its_alpha(rated, capsys):
    assert invoke(["annotate", "agreement", str(rated.parent / "kept.csv")]) == 0
    header, row = capsys.readouterr().out.splitlines()[:2]
    assert header.split("  ")[-1].strip() == "Krippendorff's alpha"
    assert "mean of places" in header
    assert "  interval 0." in row
