"""The license on the card of an exported data set."""

from __future__ import annotations

from cimento.cli.main import invoke


def test_a_card_has_a_license_only_where_all_suites_agree_on_it(tmp_path):
    for name, line in (("free", ""), ("open", 'license = "cc-by-4.0"')):
        (tmp_path / name).mkdir()
        toml = f'[meta]\nname = "{name}"\nlanguage = "en"\n{line}\n'
        prediction = '[[predictions]]\nname = "better"\nformula = "(*;%bad%) > (*;%good%)"\n'
        (tmp_path / name / "suite.toml").write_text(toml + prediction, "utf-8")
        rows = "item\tcondition\ttext\n1\tgood\tThe lamp is on.\n1\tbad\tThe lamp are on.\n"
        (tmp_path / name / "items.tsv").write_text(rows, "utf-8")
    suites = [str(tmp_path / name) for name in ("free", "open")]
    runs = tmp_path / "runs"
    assert invoke(["run", *suites, "-m", "demo-causal", "-o", str(runs)]) == 0
    for given, line in ((runs, ""), (runs / "open", "license: cc-by-4.0")):
        out = tmp_path / f"card-{given.name}"
        assert invoke(["export", str(given), "--to", "hf-dataset", "-o", str(out)]) == 0
        head, _, body = (out / "README.md").read_text("utf-8").partition("\n---\n")
        assert [row for row in head.splitlines() if row.startswith("license")] == (
            [line] if line else []
        )
        assert "- `open`: cc-by-4.0\n" in body
        assert ("- `free`: not stated\n" in body) == (given == runs)
