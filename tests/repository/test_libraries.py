"""In a process of its own cimento imports no more of torch and transformers than it uses."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from cimento import evaluate, open_run

# Each test starts processes that import torch.
pytestmark = pytest.mark.slow

HEAVY = ("torch._dynamo.symbolic_convert", "scipy.optimize", "torch.distributed.tensor")
OWN = "from cimento.models.hf import import_libraries, own_process; own_process();"


def said(code: str, **environment: str) -> str:
    """What a program prints; it is told nothing of MKL but what is here."""
    inherited = {name: value for name, value in os.environ.items() if name != "MKL_CBWR"}
    done = subprocess.run(  # noqa: S603  # our own interpreter and code
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**inherited, **environment},
    )
    return done.stdout.strip()


def test_a_command_scores_the_same_without_what_it_does_not_use(tmp_path):
    command = ["run", "it-subject-verb", "-m", "demo-causal", "--limit", "4", "--no-cache"]
    command += ["-o", str(tmp_path)]
    code = (
        f"import sys; from cimento.cli.main import main\ntry: main({command})"
        f"\nfinally: print([name for name in {HEAVY} if name in sys.modules])"
    )
    assert said(code).splitlines()[-1] == "[]"
    [manifest] = tmp_path.rglob("manifest.json")
    run = evaluate("it-subject-verb", "demo-causal", limit=4)
    assert open_run(manifest.parent).table("tokens").equals(run.table("tokens"))


def test_whoever_compiles_has_the_compiler_all_the_same():
    code = (
        f"{OWN} import_libraries(); import torch; print(type(torch._dynamo).__name__,"
        " torch.compile(lambda x: x + 1, backend='eager')(torch.ones(1)).item(),"
        " torch._dynamo.explain.__name__)"
    )
    assert said(code) == "_Compiler 2.0 explain"


def test_a_program_that_imports_cimento_has_its_libraries_whole():
    code = (
        "from cimento.models.hf import import_libraries; import_libraries();"
        "import sys, os; from transformers.utils import is_scipy_available;"
        "print('transformers' in sys.modules, 'OMP_WAIT_POLICY' in os.environ)"
    )
    assert said(code) == "True False"


def test_a_program_and_a_command_take_sums_in_the_same_order(tmp_path):
    asked = "it-connectives-cloze", "demo-masked"
    program = f"from cimento import evaluate; evaluate(*{asked}, limit=6, output='program')"
    words = ["run", asked[0], "-m", asked[1], "--limit", "6", "--no-cache", "-o", "command"]
    # Without a setting, sums depend on how many threads share them, and on where numbers lie.
    for threads, code in (
        ("1", program),
        ("2", f"from cimento.cli.main import main; main({words})"),
    ):
        said(f"import os; os.chdir({str(tmp_path)!r}); {code}", OMP_NUM_THREADS=threads)
    one, other = (
        {path.name: path.read_bytes() for path in (tmp_path / name).rglob("*.parquet")}
        for name in ("program", "command")
    )
    assert "fills.parquet" in one
    assert one == other


def test_the_order_of_sums_is_the_users_to_set():
    code = f"{OWN} import_libraries(); import os; print(os.environ['MKL_CBWR'])"
    assert said(code) == "AUTO,STRICT"
    assert said(code, MKL_CBWR="COMPATIBLE") == "COMPATIBLE"


@pytest.mark.parametrize(
    ("name", "ours", "theirs"),
    [("OMP_WAIT_POLICY", "PASSIVE", "ACTIVE"), ("OPENBLAS_THREAD_TIMEOUT", "4", "20")],
)
def test_threads_of_a_command_sleep_while_they_wait_unless_told_otherwise(name, ours, theirs):
    code = f"{OWN} import os; print(os.environ[{name!r}])"
    assert said(code, **{name: theirs}) == theirs
    assert said(f"import os; os.environ.pop({name!r}, None); {code}") == ours
