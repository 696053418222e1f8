"""A site that was killed while it was built, and what the next build makes of it."""

from __future__ import annotations

import pytest

from cimento import write_site
from cimento.io.files import write_bytes


@pytest.mark.parametrize(
    "moment", [3, *(pytest.param(moment, marks=pytest.mark.slow) for moment in (1, 12))]
)
def test_a_site_that_was_killed_is_finished_by_the_same_command(
    animal_runs, tmp_path, monkeypatch, moment
):
    """The process is gone while it writes a file: nothing after that moment happens."""
    write_site(animal_runs, tmp_path / "whole")

    class GoneError(BaseException):
        pass

    write, count = write_bytes, 0

    def killed(data, path, **options):
        nonlocal count
        count += 1
        if count == moment:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_name(f".{path.name}.unfinished").write_bytes(data[:9])
            raise GoneError
        return write(data, path, **options)

    monkeypatch.setattr("cimento.site.write_bytes", killed)
    with pytest.raises(GoneError):
        write_site(animal_runs, tmp_path / "site")
    monkeypatch.undo()
    write_site(animal_runs, tmp_path / "site")
    files = {
        name: {path.relative_to(tmp_path / name): path.read_bytes()
               for path in (tmp_path / name).rglob("*") if path.is_file()}
        for name in ("whole", "site")
    }  # fmt: skip
    assert files["site"] == files["whole"]


def test_the_list_of_what_was_begun_has_nothing_outside_removed(animal_runs, tmp_path):
    root = tmp_path / "site"
    root.mkdir()
    (tmp_path / "outside.html").write_text("mine")
    (root / "of-nobody.html").write_text("begun by a build that was killed")
    (root / ".site.begun").write_text("\n../outside.html\n\nof-nobody.html\n\n/etc/passwd\n")
    write_site(animal_runs, root)
    assert (tmp_path / "outside.html").read_text() == "mine"
    assert not (root / "of-nobody.html").exists()
    assert not (root / ".site.begun").exists()
