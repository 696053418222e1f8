"""The pools of suites of regions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cimento.engine.engines import Engine
from cimento.scheduling.pools import Pool, Processes, ThisProcess


@contextmanager
def opened(engine: Engine, most: int, *, device: str = "auto") -> Iterator[Pool]:
    """The workers, which are ended afterwards."""
    number = engine.count(most, device)
    pool: Pool
    if engine.name == "ray" and most:
        from cimento.scheduling.on_ray import RayActors

        pool = RayActors(engine.workers, most=most)
    else:
        gpus = engine.devices(device)
        pool = ThisProcess() if number <= 1 else Processes(number, devices=gpus)
    try:
        yield pool
    finally:
        pool.close()
