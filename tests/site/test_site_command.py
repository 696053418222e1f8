"""The command that writes a site: what it refuses."""

from __future__ import annotations

from cimento.cli.main import invoke


def test_an_address_that_is_none_is_refused(tmp_path, capsys):
    command = ["site", str(tmp_path), "-o", str(tmp_path / "site"), "--address", "foo"]
    assert invoke(command) == 2
    assert "'foo' is no address of a page" in capsys.readouterr().err
