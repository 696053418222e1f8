"""The command that writes a site: what it refuses."""

from __future__ import annotations

from cimento.cli.main import invoke


def test_an_address_that_is_none_is_refused(tmp_path, capsys):
    command = ["report", str(tmp_path), "--site", str(tmp_path / "site"), "--address", "foo"]
    assert invoke(command) == 2
    assert "'foo' is not the address of a page" in capsys.readouterr().err


def test_items_that_nobody_judged_are_in_no_order(tmp_path):
    runs, site = str(tmp_path / "runs"), str(tmp_path / "site")
    asked = ["run", "it-acceptability", "-m", "demo-causal", "--limit", "2", "-o", runs]
    assert invoke(asked) == 0
    assert invoke(["report", runs, "--site", site]) == 0
    (page,) = (tmp_path / "site").glob("suites/it-acceptability*.html")
    text = page.read_text("utf-8")
    assert "Every item" in text
    assert "fewest models get right" not in text
