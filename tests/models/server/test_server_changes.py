"""A server that loads another model while a run asks it: what is refused, and what is kept."""

from __future__ import annotations

from itertools import count

import pytest

from cimento import Asking, ModelError, Policy
from cimento.cli.main import invoke
from cimento.engine.cache import MemoryCache
from cimento.engine.scores import ask
from cimento.engine.units import Unit
from cimento.engine.workers import UnitTask, Worker
from cimento.errors import ChangedModelError
from cimento.io.transport import TransientError
from cimento.models.server.http import Server
from cimento.models.server.identity import PROBES, Fingerprint
from cimento.models.server.model import connect
from cimento.models.server.watch import Watch
from cimento.paradigms import Score
from tests.helpers.servers.loopback import completion, serve
from tests.helpers.servers.replies import reply_server
from tests.helpers.stories import ask as ask_stories

pytestmark = pytest.mark.usefixtures("fresh_cache")

TEXTS = [f"La lampada numero {number} era accesa." for number in range(40)]


def lower(prompt, *, model="tiny"):
    """A second model: every score is one nat lower."""
    answer = completion(prompt)
    listed = answer["choices"][0]["logprobs"]
    listed["token_logprobs"] = [value and value - 1 for value in listed["token_logprobs"]]
    return {**answer, "model": model}


def from_request(number, other):
    """The first model, and another one from some text on, probes included."""
    texts = set()

    def answer(prompt):
        if prompt not in PROBES:
            texts.add(prompt)
        return (other if len(texts) >= number else completion)(prompt)

    return answer


def scorer_of(server, **options):
    chosen = {"concurrency": 1, "timeout_s": 60, **options}
    return connect(f"{server.url}#tiny", policy=Policy(), **chosen)


def scores_of(scorer, cache):
    return ask([Score(text=text) for text in TEXTS], scorer, policy=Policy(), cache=cache)


def test_a_run_whose_model_changes_is_refused_in_one_message_and_nothing_since_is_kept(
    tmp_path, capsys
):
    rows = [f"{text}\t{text.replace('era', 'erano')}" for text in TEXTS[:10]]
    for name in ("one.tsv", "two.tsv"):
        (tmp_path / name).write_text("\n".join(["good\tbad", *rows, ""]), encoding="utf-8")
    with serve(from_request(7, lower)) as server:
        command = [str(tmp_path / "one.tsv"), "-m", server.address, "-o", str(tmp_path / "runs")]
        assert invoke(["run", *command]) == 1
        said = " ".join(capsys.readouterr().err.split())
        server.answer = completion
        server.prompts.clear()
        assert invoke(["run", *command, "--unscored-first", "drop"]) == 0

    assert said.count("another model answers than at the start of the run") == 1
    assert "differ by 1.00 nats a token" in said
    assert "20 answers since it was last seen to be the same are not used" in said
    assert len(server.prompts) == 20


def test_what_came_before_the_last_good_probes_is_kept_and_what_came_after_is_not():
    cache = MemoryCache()
    with serve(from_request(25, lower)) as server:
        # The clock moves on by each answer, whenever the next request is sent.
        scorer = scorer_of(server, checked_every_s=10, clock=count().__next__)
        with pytest.raises(ChangedModelError) as caught:
            scores_of(scorer, cache)
        asked = len(server.prompts)
        with pytest.raises(ChangedModelError):
            scores_of(scorer, cache)
        assert len(server.prompts) == asked, "it is not asked any more"
        server.answer = completion
        server.prompts.clear()
        table = scores_of(scorer_of(server), cache)
        kept = len(TEXTS) - len(server.prompts)
        alone = scores_of(scorer_of(server), MemoryCache())

    assert kept == 20
    assert f"{kept} answers from before are kept" in str(caught.value)
    assert table.equals(alone)


@pytest.mark.parametrize("what", ["name", "root", "gone", "refused"])
def test_what_tells_another_model_is_named(what):
    expected = {
        "name": "its answers came from 'tiny' and now come from 'tiny-2'",
        "root": "it reports root '/b' and reported '/a'",
        "gone": "it no longer lists this model, but 'other'",
        "refused": "it does not answer the fixed probes as it did",
    }
    with serve() as server:
        server.models = {"data": [{"id": "tiny", "root": "/a"}]}
        scorer = scorer_of(server)
        if what == "name":
            server.answer = lambda prompt: {**completion(prompt), "model": "tiny-2"}
        elif what == "refused":
            server.answer = lambda prompt: {} if prompt in PROBES else completion(prompt)
        else:
            entry = {"id": "tiny", "root": "/b"} if what == "root" else {"id": "other"}
            server.models = {"data": [entry]}
        with pytest.raises(ChangedModelError) as caught:
            scores_of(scorer, MemoryCache())
    assert expected[what] in str(caught.value)


def test_rounding_does_not_make_another_model_in_mid_run():
    def near(prompt):
        answer = completion(prompt)
        listed = answer["choices"][0]["logprobs"]
        listed["token_logprobs"] = [value and value + 0.03 for value in listed["token_logprobs"]]
        return answer

    with serve(from_request(5, near)) as server:
        assert scores_of(scorer_of(server), MemoryCache())["request"].n_unique() == len(TEXTS)


def watch_of(probe):
    server = Server("http://127.0.0.1:9/v1")
    expected = Fingerprint(scores=({0: -1.0},))
    return Watch(server=server, model="tiny", expected=expected, entry={}, probe=probe, listed=dict)


def test_a_server_that_falls_silent_has_not_changed_and_its_answers_are_kept():
    def probe():
        raise ModelError(where="server", seen="no answer") from TransientError("gone", status=503)

    messages = []
    with pytest.raises(ModelError, match="no answer") as caught:
        messages.extend(watch_of(probe).believed(letter for letter in "abc"))
    assert messages == ["a", "b", "c"]
    assert not isinstance(caught.value, ChangedModelError)


def test_an_interrupted_run_keeps_what_the_same_model_answered():
    def interrupted():
        yield "a"
        raise KeyboardInterrupt

    messages = []
    with pytest.raises(KeyboardInterrupt):
        messages.extend(watch_of(lambda: Fingerprint(scores=({0: -1.0},))).believed(interrupted()))
    assert messages == ["a"]


def test_a_chat_whose_replies_change_is_refused_and_one_reply_by_chance_is_not(tmp_path):
    said = iter(["a table", "a table", "a lamp", "a chair"])
    with reply_server(lambda _turns: "Vero.") as server:
        # The second time both replies differ, and the third time they are as at first.
        server.to_probes = lambda: next(said, "a table")
        ask_stories(server.address, tmp_path / "one", answer="generate", limit=2)
        turns = count()
        server.to_probes = lambda: "a table" if next(turns) < 2 else "a chair"
        with pytest.raises(ChangedModelError, match="'a chair', not 'a table'"):
            ask_stories(server.address, tmp_path / "two", answer="generate", limit=4)


def test_a_worker_refuses_a_model_that_is_not_the_one_the_unit_was_made_for():
    unit = Unit.of([Score(text=TEXTS[0])])
    with serve() as server:
        label = scorer_of(server).card.label
        task = UnitTask(
            number=0, model=server.address, label=label, scoring=Asking().settled(), unit=unit
        )
        assert Worker(cache=MemoryCache()).do(task).error is None
        server.answer = lower
        error = Worker(cache=MemoryCache()).do(task).error

    assert error is not None
    assert error.whole_model
    assert isinstance(error.error(), ChangedModelError)
    assert label in error.seen
