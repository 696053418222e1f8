"""Files that each reader can read, of the shape that takes it longest or fills most memory.

Each has somewhat less than a megabyte: rows as short as they can be, one huge cell, names that are
compared with names, texts that a regular expression goes over again and again, templates that
make many items of few rows, archives and workbooks that grow.
"""

from __future__ import annotations

import pytest

from tests.fuzzing import readers, seeds, seeds_more
from tests.fuzzing.watching import attempt, settle
from tests.helpers import shapes_of_rows, shapes_that_grow
from tests.security.test_hostile_files import MILLION

WATCHDOG_S = 60.0
"""Of processor time. What was quadratic took minutes."""

SHAPES = {**shapes_of_rows.SHAPES, **shapes_that_grow.SHAPES}

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", SHAPES)
def test_a_file_is_read_or_refused_in_little_time_and_memory(tmp_path, name):
    file, made, read = SHAPES[name]
    content = made()
    assert len(content) <= MILLION * 1.02
    path = tmp_path / file
    path.write_bytes(content)
    if file == "README.md":
        (tmp_path / "a.conllu").write_bytes(seeds_more.CONLLU)
        path = tmp_path

    settle()
    attempt(read, path, seconds=WATCHDOG_S)


@pytest.mark.parametrize(
    ("sentences", "forms"),
    [(20_000, 40_000), (1, 60_000), (60_000, 1), (3_000, 3_000)],
)
def test_templates_of_few_rows_that_make_many_items(tmp_path, sentences, forms):
    items = "".join(f"t\ta{n} [SEED] ___.\n" for n in range(sentences))
    seeds_table = "".join(f"t\tc\tb{n}\n" for n in range(forms))
    (tmp_path / "suite.toml").write_bytes(seeds.TEMPLATES_TOML)
    (tmp_path / "items.tsv").write_text(f"item\ttext\n{items}")
    (tmp_path / "seeds.tsv").write_text(f"set\tcategory\tform\n{seeds_table}")

    settle()
    attempt(readers.cloze, tmp_path, seconds=WATCHDOG_S)


def test_a_form_that_stands_in_a_sentence_very_often(tmp_path):
    (tmp_path / "suite.toml").write_bytes(seeds.TEMPLATES_TOML)
    (tmp_path / "items.tsv").write_text(f"item\ttext\nt\t{'[SEED] ' * 40_000} ___.\n")
    (tmp_path / "seeds.tsv").write_text(f"set\tcategory\tform\nt\tc\t{'b' * 400_000}\n")

    settle()
    attempt(readers.cloze, tmp_path, seconds=WATCHDOG_S)
