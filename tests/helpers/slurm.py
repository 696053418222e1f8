"""A real Slurm of one node for a test: munged, slurmctld and slurmd in a folder of its own."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.helpers.servers.programs import free_port

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "sinfo", "squeue", "scancel")

CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={controller}
SlurmdPort={node}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0
KillWait=1
ReturnToService=2
SwitchType=switch/none
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> list[str]:
    """The programs of Slurm that are not installed."""
    return [name for name in PROGRAMS if _program(name) is None]


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


def _is_idle(variables: dict[str, str]) -> bool:
    """Whether the node takes jobs within half a minute."""
    command = [_program("sinfo") or "sinfo", "--noheader", "--format=%t"]
    end = time.monotonic() + 30
    while time.monotonic() < end:
        told = subprocess.run(  # noqa: S603  # Slurm's own command
            command, env=variables, capture_output=True, text=True, check=False, timeout=30
        )
        if told.stdout.split() == ["idle"]:
            return True
        time.sleep(0.5)
    return False


@contextmanager
def slurm(folder: Path) -> Iterator[dict[str, str]]:
    """Slurm of one node until the block ends: the variables with which its commands find it."""
    folder.mkdir(mode=0o700)
    (folder / "state").mkdir()
    (folder / "spool").mkdir()
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o400)
    host = socket.gethostname().partition(".")[0]
    user = os.environ.get("USER") or Path.home().owner()
    (folder / "slurm.conf").write_text(
        CONFIGURATION.format(
            folder=folder, host=host, user=user, cores=min(2, os.cpu_count() or 1),
            controller=free_port(), node=free_port(),
        )
    )  # fmt: skip
    variables = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
    munge = [f"--{name}-file={folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
    commands = [
        ["munged", "--foreground", "--force", f"--socket={folder}/munge.socket", *munge],
        ["slurmctld", "-D", "-i"],
        ["slurmd", "-D", "-N", host],
    ]
    programs: list[subprocess.Popen[bytes]] = []
    try:
        with (folder / "output").open("wb") as output:
            for name, *options in commands:
                command = [_program(name) or name, *options]
                programs.append(
                    subprocess.Popen(  # noqa: S603  # Slurm's own commands
                        command, env=variables, stdout=output, stderr=output
                    )
                )
                time.sleep(0.5)
        if not _is_idle(variables):
            said = (folder / "output").read_text(errors="replace")[-500:]
            pytest.skip(f"Slurm does not start on this machine: {said}")
        yield variables
    finally:
        for program in reversed(programs):
            program.terminate()
        for program in reversed(programs):
            try:
                program.wait(10)
            except subprocess.TimeoutExpired:
                program.kill()
