"""GPUs are counted from what drivers write, without torch."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cimento.models.hf import devices

BUILT = {
    "cuda": "__version__ = '2.13.0'\ncuda: Optional[str] = '13.0'\nhip: Optional[str] = None\n",
    "hip": "cuda: Optional[str] = None\nhip: Optional[str] = '6.4'\n",
    "": "cuda: Optional[str] = None\nhip: Optional[str] = None\n",
}


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with some GPUs and a torch that is built for some."""

    def make(*, built, nvidia=0, amd=0, **environment):
        package = tmp_path / "site" / "torch"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("raise AssertionError('torch is imported')\n")
        (package / "version.py").write_text(BUILT[built])
        for number in range(nvidia):
            (tmp_path / "nvidia" / f"0000:0{number}:00.0").mkdir(parents=True)
        for number in range(amd + 1):
            node = tmp_path / "amd" / str(number)
            node.mkdir(parents=True)
            # The first node is the processor.
            (node / "properties").write_text(
                f"cpu_cores_count 8\nsimd_count {304 * (number > 0)}\n"
            )
        monkeypatch.setattr(devices, "NVIDIA_GPUS", tmp_path / "nvidia")
        monkeypatch.setattr(devices, "AMD_NODES", tmp_path / "amd")
        for variable in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"):
            monkeypatch.delenv(variable, raising=False)
        for variable, value in environment.items():
            monkeypatch.setenv(variable, value)
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        monkeypatch.delitem(sys.modules, "torch", raising=False)
        devices.count_gpus.cache_clear()
        return devices.count_gpus()

    yield make
    devices.count_gpus.cache_clear()


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ({"built": "cuda", "nvidia": 2}, 2),
        ({"built": "cuda"}, 0),
        ({"built": "", "nvidia": 2}, 0),
        ({"built": "hip", "nvidia": 2, "amd": 3}, 3),
        ({"built": "cuda", "nvidia": 4, "CUDA_VISIBLE_DEVICES": "2,3"}, 2),
        ({"built": "cuda", "nvidia": 4, "CUDA_VISIBLE_DEVICES": ""}, 0),
        ({"built": "cuda", "nvidia": 4, "CUDA_VISIBLE_DEVICES": "-1"}, 0),
        ({"built": "cuda", "nvidia": 4, "CUDA_VISIBLE_DEVICES": "1,9,2"}, 1),
        ({"built": "cuda", "nvidia": 4, "CUDA_VISIBLE_DEVICES": "GPU-5ebe9f43"}, 1),
        ({"built": "hip", "amd": 4, "HIP_VISIBLE_DEVICES": "0,1"}, 2),
    ],
)
def test_gpus_are_counted_as_torch_would_without_importing_it(machine, given, count):
    assert machine(**given) == count


SHOW = """
import sys
from pathlib import Path
from cimento.models.hf import devices
devices.NVIDIA_GPUS = Path(sys.argv[1])
devices._torch_built_for = lambda: "cuda"
from cimento.cli.main import invoke
code = invoke(["run", "en-subject-verb", "-m", "demo-causal", "-o", sys.argv[2]])
assert devices.count_gpus() == 1
sys.exit(10 + code if "torch" in sys.modules else code)
"""


@pytest.mark.slow
def test_a_stored_run_is_shown_without_torch_on_a_machine_with_a_gpu(tmp_path):
    from cimento.cli.main import invoke

    runs = str(tmp_path / "runs")
    assert (
        invoke(["run", "en-subject-verb", "-m", "demo-causal", "--device", "cpu", "-o", runs]) == 0
    )
    (tmp_path / "nvidia" / "0000:01:00.0").mkdir(parents=True)
    command = [sys.executable, "-c", SHOW, str(tmp_path / "nvidia"), runs]
    done = subprocess.run(  # noqa: S603  # our own program
        command, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "0.917" in done.stdout
