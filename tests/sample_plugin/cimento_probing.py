"""A paradigm as a user would write one: which of two verbs fits the subject?"""

from __future__ import annotations

import csv
import hashlib
import io
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cimento import Estimate, Meta, Outcome, SuiteError
from cimento.paradigms import (
    Answers,
    AskedModel,
    Asker,
    Asking,
    Choose,
    Fault,
    ItemGroups,
    Judge,
    Paradigm,
    ParadigmOptions,
    PlainPresenter,
    Requests,
    Run,
    SuiteReader,
    SuiteReading,
    VerdictName,
    outcomes_table,
    prompts_table,
    rate,
)

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("id", "prompt", "right", "wrong", "noun")
NATS_PER_BIT = 0.6931471805599453


@dataclass(frozen=True)
class Probe:
    """The beginning of a sentence with a verb that agrees and one that does not."""

    id: str
    prompt: str
    right: str
    wrong: str
    noun: str


@dataclass(frozen=True)
class ProbingSuite:
    """Probes with their metadata."""

    meta: Meta
    probes: tuple[Probe, ...]

    @property
    def name(self) -> str:
        """The suite's name."""
        return self.meta.name


class ProbingOptions(ParadigmOptions):
    """Options of probing.

    Attributes:
        article: text before the beginning of every sentence.
        seed: seed of the order in which an adaptive run asks.
    """

    ASKED = frozenset({"article"})

    article: str = ""
    seed: int = 0


class ProbingReader(SuiteReader[ProbingSuite]):
    """The reader of folders with suite.toml and items.tsv."""

    def owns(self, suite: object) -> bool:
        """Whether it is a suite of probes."""
        return isinstance(suite, ProbingSuite)

    def read(self, path: Path) -> SuiteReading[ProbingSuite]:
        """A folder with suite.toml and items.tsv."""
        files = path / "suite.toml", path / "items.tsv"
        toml, table = (file.read_bytes() for file in files)
        meta = Meta(**tomllib.loads(toml.decode())["meta"])
        rows = list(csv.DictReader(io.StringIO(table.decode()), delimiter="\t"))
        missing = [name for name in COLUMNS if rows and name not in rows[0]]
        if missing:
            seen = f"there is no column {missing[0]!r}."
            fault = Fault("PROBE-1", "error", "items.tsv", seen=seen, todo="Add it.")
            raise SuiteError(where=str(path), faults=[fault])
        probes = tuple(Probe(**{name: row[name] for name in COLUMNS}) for row in rows)
        suite = ProbingSuite(meta, probes)
        sha256 = hashlib.sha256(toml + table).hexdigest()
        return SuiteReading(suite=suite, faults=(), sha256=sha256, path=path)

    def write(self, suite: ProbingSuite, folder: Path) -> None:
        """The same folder."""
        folder.mkdir(parents=True, exist_ok=True)
        meta = f'kind = "probing"\n[meta]\nname = "{suite.name}"\nlanguage = "it"\n'
        (folder / "suite.toml").write_text(meta, encoding="utf-8")
        probes = ([getattr(p, name) for name in COLUMNS] for p in suite.probes)
        table = "".join("\t".join(row) + "\n" for row in [COLUMNS, *probes])
        (folder / "items.tsv").write_text(table, encoding="utf-8")

    def groups(self, suite: ProbingSuite) -> ItemGroups:
        """The probes, all of one group."""
        return ItemGroups([probe.id for probe in suite.probes])

    def selected(self, suite: ProbingSuite, items: Collection[str]) -> ProbingSuite:
        """Some of the probes, for `--limit` and `--adaptive`."""
        return replace(suite, probes=tuple(p for p in suite.probes if p.id in items))


class ProbingAsker(Asker[ProbingSuite, ProbingOptions]):
    """The asker of forced choices between two continuations."""

    def requests(
        self,
        suite: ProbingSuite,
        options: ProbingOptions,
        *,
        scoring: Asking,  # noqa: ARG002  # the same for every way of scoring
        model: AskedModel,  # noqa: ARG002  # and for every model
        answers: Answers,
    ) -> Requests | None:
        """One round: each beginning with its two continuations."""
        if answers.n:
            return None
        prompts = [f"{options.article}{probe.prompt}" for probe in suite.probes]
        asked = [
            Choose(prompt=prompt, options=(f" {probe.right}", f" {probe.wrong}"))
            for probe, prompt in zip(suite.probes, prompts, strict=True)
        ]
        ids = [probe.id for probe in suite.probes]
        places = prompts_table(suite.name, zip(ids, prompts, strict=True))
        return Requests(asked=asked, places=places)


class ProbingJudge(Judge[Run]):
    """The judge of options scored by their summed log-probability."""

    def outcomes(self, run: Run) -> pl.DataFrame:
        """A pass if the verb that agrees is more probable; equal ones are a tie."""
        suite = run.suite
        assert isinstance(suite, ProbingSuite)
        scores = run.table("choices").partition_by("request", as_dict=True)
        outcomes = []
        for number, probe in enumerate(suite.probes):
            right, wrong = scores[number,].sort("option")["logprob_nats"]
            verdict: VerdictName = "pass" if right > wrong else "fail"
            if right == wrong:
                verdict = "tie"
            outcomes.append(
                Outcome(
                    item=probe.id,
                    question="agreement",
                    verdict=verdict,
                    right=right > wrong,
                    value=(right - wrong) / NATS_PER_BIT,
                    unit="bits",
                    cluster=probe.noun,
                    groups={"noun": probe.noun},
                )
            )
        return outcomes_table(suite.name, outcomes)

    def estimates(self, run: Run) -> Sequence[Estimate]:
        """The rate at which the verb that agrees is preferred; one half by chance."""
        like = Estimate(
            suite=run.suite.name,
            model=run.model,
            question="agreement",
            role="headline",
            description="The verb that agrees is the more probable one.",
            chance=0.5,
            chance_method="answers drawn at random",
        )
        return [rate(run.outcomes(), like)]


PROBING = Paradigm(
    name="probing",
    options=ProbingOptions,
    reader=ProbingReader(),
    asker=ProbingAsker(),
    judge=ProbingJudge(),
    presenter=PlainPresenter(),
)
