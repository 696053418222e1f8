"""The thread of a model on a GPU: plans share passes, and errors reach all who wait."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pytest

from cimento.engine.model_thread import COMPUTING, ModelThread


@dataclass(eq=False)
class OnePlan:
    number: int
    values: np.ndarray = field(default_factory=lambda: np.full(1, np.nan))

    @property
    def done(self) -> bool:
        return not np.isnan(self.values[0])


class Summing:
    """A planner whose batches hold four plans; each gets its number, and the batch is noted."""

    def __init__(self, *, fails_at: int = -1) -> None:
        self.waiting: list[OnePlan] = []
        self.batches: list[list[int]] = []
        self.threads: set[int] = set()
        self.fails_at = fails_at

    def add(self, plan, columns):
        assert columns == ()
        self.waiting.append(plan)
        if len(self.waiting) == 4:
            self.flush()

    def flush(self):
        self.threads.add(threading.get_ident())
        some, self.waiting = self.waiting, []
        assert some
        if any(plan.number == self.fails_at for plan in some):
            raise ValueError("the model is gone")
        self.batches.append(sorted(plan.number for plan in some))
        for plan in some:
            plan.values[0] = plan.number

    def forget(self):
        self.waiting = []


@pytest.fixture
def thread():
    thread = ModelThread()
    yield thread
    thread.close()


def carried_out(thread, planner, numbers):
    def one(number):
        with thread.client():
            return thread.carry_out(planner, OnePlan(number), ())[0]

    with ThreadPoolExecutor(len(numbers)) as pool:
        return [future.exception() or future.result() for future in
                [pool.submit(one, number) for number in numbers]]  # fmt: skip


def test_plans_of_many_threads_share_batches_and_the_last_is_not_full(thread):
    planner = Summing()
    thread.expect(10)
    with ThreadPoolExecutor(10) as pool:
        done = [
            pool.submit(lambda n: thread.carry_out(planner, OnePlan(n), ())[0], number)
            for number in range(10)
        ]
        while sum(future.done() for future in done) < 8:
            time.sleep(0.001)
        assert sorted(map(len, planner.batches)) == [4, 4]
        thread.expect(2)
        assert [some.result() for some in done] == list(range(10))
    assert sorted(map(len, planner.batches)) == [2, 4, 4]
    assert len(planner.threads) == 1


def test_nobody_waits_who_is_alone(thread):
    assert thread.carry_out(Summing(), OnePlan(7), ()).tolist() == [7.0]
    assert thread.call(lambda one, two: one + two, 1, two=2) == 3


def test_an_error_of_a_batch_is_raised_in_each_thread_that_waits_for_it(thread):
    thread.expect(4)
    results = carried_out(thread, Summing(fails_at=2), range(4))
    assert [str(result) for result in results] == ["the model is gone"] * 4
    thread.expect(0)
    assert thread.carry_out(Summing(), OnePlan(5), ()).tolist() == [5.0]


def test_an_error_of_a_call_is_raised_where_it_was_asked(thread):
    with pytest.raises(ZeroDivisionError):
        thread.call(lambda: 1 // 0)


def test_few_threads_compute_while_the_others_wait_for_the_model(thread):
    computing, most, lock = 0, 0, threading.Lock()
    planner = Summing()
    thread.expect(12)

    def work(number):
        nonlocal computing, most
        with thread.client():
            with lock:
                computing += 1
                most = max(most, computing)
            sum(range(20_000))
            with lock:
                computing -= 1
            return thread.carry_out(planner, OnePlan(number), ())[0]

    with ThreadPoolExecutor(12) as pool:
        assert sorted(pool.map(work, range(12))) == list(range(12))
    assert most <= COMPUTING
    assert sorted(map(len, planner.batches)) == [4, 4, 4]
