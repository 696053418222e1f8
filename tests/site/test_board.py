"""The board of a site: its rows and columns, and what it says first."""

from __future__ import annotations

import pytest

from cimento import evaluate, write_site
from cimento.testing import FakeScorer
from tests.helpers.pages import parse_page
from tests.site.conftest import RATED, WISE, agreement


@pytest.mark.slow
def test_where_suites_outnumber_models_they_are_the_rows_of_the_board(tmp_path):
    long = FakeScorer(lambda tokens, index: -len(tokens[index]), name="lab/wise")
    asked = [(agreement("it-one"), WISE), (agreement("it-two"), WISE), (RATED, long)]
    runs = [evaluate(*pair, output=tmp_path / "runs") for pair in asked]
    write_site(runs, tmp_path / "site")
    board = parse_page((tmp_path / "site" / "index.html").read_text(encoding="utf-8"))
    [table] = board.all("table.board")
    head, *rows = [row.all("th") for row in table.all("tr")]
    assert [cell.words for cell in head] == ["Suite", "lab/wise@0000000"]
    # Rates and correlations are apart, each under the name of its kind.
    names = [cells[0].words.partition("it")[0] for cells in rows]
    assert [row[0].words for row in rows if not row[0].all("a")] == [
        "Accuracy", "Spearman's rho of lp",
    ]  # fmt: skip
    assert len(names) == 5
    values = [cell.attributes["data-value"] for cell in table.all("td.cell")]
    assert values == [str(run.summary().headline.value) for run in runs]
    # Twenty of twenty: Wilson's interval begins at 20 / (20 + 1.96^2) = .839.
    [said] = board.all("div.findings")
    assert said.all("dd")[0].words == (
        "lab/wise is above chance (0.500) on both suites (1.000, the lowest interval begins"
        " at 0.839)."
    )
