"""One run of many small shards, for tests that kill it: OUTPUT CACHE."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from cimento import Condition, Item, Meta, Prediction, Region, Suite, evaluate
from cimento.engine import units
from cimento.engine.cache import FileCache
from cimento.paradigms import Score
from cimento.testing import FakeScorer

N_ITEMS = 400


def suite() -> Suite:
    """Pairs of sentences that are all different."""
    items = tuple(
        Item(
            str(number),
            tuple(
                Condition(name, (Region(f"La lampada {number}"), Region(verb), Region("accesa.")))
                for name, verb in (("good", "era"), ("bad", "erano"))
            ),
        )
        for number in range(N_ITEMS)
    )
    meta = Meta(name="killed", language="it")
    return Suite(meta, ("a", "b", "c"), (Prediction("(2;%good%) < (2;%bad%)"),), items)


def slow_score(tokens, index):
    """A score that depends on the token, and takes its time."""
    time.sleep(0.014)
    return -1.0 - len(tokens[index]) / 7


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Counting(FakeScorer):
    """A model that says, after every batch, how many texts it has been asked."""

    asked = 0

    def score(self, encoded):
        answers = super().score(encoded)
        self.asked += len(encoded)
        say(str(self.asked))
        return answers


if __name__ == "__main__":
    units.SIZES = {Score: 16}
    model = Counting(slow_score)
    evaluate(suite(), model, output=Path(sys.argv[1]), cache=FileCache(Path(sys.argv[2])))
    say(str(model.asked))
