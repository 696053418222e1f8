"""A small suite of the paradigm that tests/sample_plugin brings."""

from __future__ import annotations

from pathlib import Path

PLUGINS = Path(__file__).parents[1] / "sample_plugin"
ITEMS = """\
id\tprompt\tright\twrong\tnoun
1\tLa bambina con i fiori\tdorme\tdormono\tfiori
2\tI vicini della maestra\tpartono\tparte\tmaestra
3\tIl libro dei ragazzi\tmanca\tmancano\tragazzi
4\tLe finestre della cucina\tsbattono\tsbatte\tcucina
5\tIl cane dei pastori\tabbaia\tabbaiano\tpastori
6\tLe chiavi del cassetto\tbrillano\tbrilla\tcassetto
7\tLa zia dei gemelli\tcanta\tcantano\tgemelli
"""


def write_suite(folder: Path) -> Path:
    """Write the suite, and return its folder."""
    folder.mkdir(parents=True)
    toml = 'kind = "probing"\n[meta]\nname = "it-probe"\nlanguage = "it"\n'
    (folder / "suite.toml").write_text(toml, encoding="utf-8")
    (folder / "items.tsv").write_text(ITEMS, encoding="utf-8")
    return folder
