"""Adaptive runs: what is asked, when asking stops, what is kept, and what is said of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cimento import UsageError, cite, evaluate, evaluate_all, open_run
from cimento.cli.main import invoke
from cimento.records.store import find_runs
from cimento.testing.models import FakeScorer, uniform_scorer

ITEMS = 120
SUITE = "item\tgood\tbad\n"
ROWS = "".join(f"{n}\tLei dorme {n}.\tLei dormono {n} qui.\n" for n in range(ITEMS))


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def pairs(tmp_path) -> Path:
    """120 pairs, the first of which is the shorter and so the better one for a uniform model."""
    path = tmp_path / "pairs.tsv"
    path.write_text(SUITE + ROWS, encoding="utf-8")
    return path


def uniform():
    return uniform_scorer(100)


def _by_length(tokens, index):
    """Log-probabilities by which some items are right and some are wrong."""
    return -1.0 - (len(tokens[index]) * 7 + index) % 5


def headline(run):
    return next(one for one in run.estimates() if one.role == "headline")


def recorded(tmp_path: Path, *, wrong: int) -> str:
    """Recorded surprisals by which every item is right but the first few."""
    rows = ["sentence_id\ttoken_id\ttoken\tsurprisal"]
    for n in range(ITEMS):
        bits = (9.0, 2.0) if n < wrong else (1.0, 5.0)
        for k, (words, cost) in enumerate(zip((f"Lei dorme {n}.", f"Lei dormono {n} qui."), bits,
                                              strict=True), start=1):  # fmt: skip
            for position, word in enumerate(words.split(), start=1):
                rows.append(f"{2 * n + k}\t{position}\t{word}\t{cost}")
    path = tmp_path / "said.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return f"replay:{path}"


def test_a_clear_result_needs_few_items_in_random_order(pairs):
    run = evaluate(pairs, uniform(), adaptive=True, precision=0.1)
    order = run.table("order")
    asked = order.filter(order["round"].is_not_null())

    assert run.n_items == len(run.suite.items) == len(asked) < ITEMS
    assert sorted(order["item"], key=int) == [str(n) for n in range(ITEMS)]
    assert order["item"].to_list() != [str(n) for n in range(ITEMS)]
    assert set(run.outcomes()["item"]) == set(asked["item"])
    left = order.filter(order["round"].is_null())
    assert set(left["reason"]) == {"not asked: the share was known to ±0.1 without it"}
    assert run.manifest["adaptive"] == {
        "precision": 0.1, "seed": 0, "asked": len(asked), "of": ITEMS,
        "rounds": int(asked["round"].max()), "stopped": "precision reached",
    }  # fmt: skip
    share = headline(run)
    assert (share.value, share.n) == (1.0, len(asked))
    assert share.high - share.low <= 0.2
    assert "confidence sequence" in share.interval_method
    assert f"{len(asked)} were asked, {ITEMS - len(asked)} not" in " ".join(run.warnings)


def test_a_close_result_takes_more_and_its_interval_holds_the_share_of_all(pairs, tmp_path):
    sure, close = (
        evaluate(pairs, recorded(tmp_path, wrong=wrong), adaptive=True) for wrong in (0, 54)
    )
    assert sure.n_items < close.n_items < ITEMS
    share = headline(close)
    assert share.low <= 66 / ITEMS <= share.high
    assert (share.high - share.low) / 2 <= 0.1


def test_a_seed_gives_another_order_and_the_same_seed_the_same(pairs):
    orders = [
        evaluate(pairs, uniform(), adaptive=True, seed=seed).table("order")["item"].to_list()
        for seed in (0, 0, 1)
    ]
    assert orders[0] == orders[1] != orders[2]


def test_all_items_are_asked_where_fewer_do_not_suffice_and_the_run_is_the_usual_one(pairs):
    usual = evaluate(pairs, uniform())
    run = evaluate(pairs, uniform(), adaptive=True, precision=0.001)
    assert run.manifest["adaptive"]["stopped"] == "all items asked"
    assert run.estimates() == usual.estimates()
    assert run.table("order")["reason"].is_null().all()


def test_a_stored_run_is_opened_as_it_was_and_not_asked_again(pairs, tmp_path):
    out = tmp_path / "runs"
    run = evaluate(pairs, uniform(), adaptive=True, output=out)
    opened = open_run(run.folder)
    assert opened.estimates() == run.estimates()
    assert opened.outcomes().equals(run.outcomes())
    assert [item.id for item in opened.suite.items] == [item.id for item in run.suite.items]
    # Judged again with another rule, whose interval is also one that holds for such a run.
    again = headline(opened.judge(ties="pass"))
    assert (again.low, again.high) == (headline(run).low, headline(run).high)
    written = {path: path.stat().st_mtime_ns for path in run.folder.rglob("*")}
    evaluate(pairs, uniform(), adaptive=True, output=out)
    assert {path: path.stat().st_mtime_ns for path in run.folder.rglob("*")} == written
    evaluate(pairs, uniform(), adaptive=True, precision=0.2, output=out)
    evaluate(pairs, uniform(), output=out)
    assert len(list(find_runs(out))) == 3


@pytest.mark.slow
def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path):
    """The first model dies in a later round; what it answered is not asked again."""
    out = tmp_path / "runs"
    asked: list[int] = []

    class Counted(FakeScorer):
        dies_after = 3

        def score(self, encoded):
            asked.append(len(encoded))
            if len(asked) > self.dies_after:
                raise KeyboardInterrupt
            return super().score(encoded)

    suite = "it-connectives"
    scorer = Counted(_by_length)
    with pytest.raises(KeyboardInterrupt):
        evaluate(suite, scorer, adaptive=True, precision=0.05, output=out)
    first = sum(asked[:3])
    asked.clear()
    Counted.dies_after = 1000
    run = evaluate(suite, scorer, adaptive=True, precision=0.05, output=out)
    whole = evaluate(suite, FakeScorer(_by_length), adaptive=True, precision=0.05)
    assert run.outcomes().equals(whole.outcomes())
    assert first > 0
    assert sum(asked) + first == whole.rows("tokens").select("request").collect().n_unique()


@pytest.mark.slow
def test_it_is_made_again_byte_for_byte(tmp_path, capsys):
    out = tmp_path / "runs"
    asked = ["run", "it-islands", "-m", "demo-causal", "--adaptive", "--precision", "0.15"]
    assert invoke([*asked, "-o", str(out)]) == 0
    assert invoke(["rerun", str(out), "-o", str(tmp_path / "again")]) == 0
    assert "everything agrees" in capsys.readouterr().out
    [folder] = find_runs(out)
    copied = open_run(folder.path).paradigm.reader.read_copy(folder.suite_folder)
    assert len(copied.items) == 180  # the items that were not asked are kept


def test_methods_say_how_items_were_chosen_and_why_asking_stopped(pairs):
    run = evaluate(pairs, uniform(), adaptive=True)
    for appendix in ("methods", "appendix"):
        text = cite(run, appendix)
        assert "Items were asked in random order (seed 0)" in text
        assert f"this took {run.n_items}" in text
        assert "Waudby-Smith" in text
        assert "Wilson" not in text


def test_methods_of_several_runs_say_which_was_asked_how(pairs, tmp_path):
    whole, stopped = (
        evaluate(pairs, uniform(), adaptive=True, precision=size) for size in (0.001, 0.1)
    )
    alone = cite(whole, "methods")
    assert "were to be asked in random order" in alone
    assert "but all were asked before it was." in alone
    assert "this took" not in alone
    assert "all 120 were asked before" in " ".join(whole.warnings)

    everything, some = cite([evaluate(pairs, uniform()), stopped], "methods").split("\n\n")
    assert everything.startswith("The run with all items: ")
    assert "on 120 items in 2 conditions" in everything
    assert some.startswith("The run with precision = 0.1: ")
    assert f"on {stopped.n_items} items in 2 conditions" in some
    assert "known to within ±0.1" in some

    other = tmp_path / "other.tsv"
    other.write_text(SUITE + ROWS, encoding="utf-8")
    one = cite([stopped, evaluate(other, uniform(), adaptive=True, seed=1)], "methods")
    assert "pairs: items were asked in random order (seed 0)" in one
    assert "other: items were asked in random order (seed 1)" in one
    assert "no seed" not in one


def test_the_terminal_says_which_intervals_are_of_which_kind(tmp_path, capsys):
    arguments = ["run", "it-islands", "-m", "demo-causal", "--adaptive", "-o", str(tmp_path / "r")]
    assert invoke(arguments) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Wilson; of proportions of all items in adaptive runs, confidence sequence" in shown
    assert "of single predictions too" in shown


def test_a_run_file_may_ask_for_it(pairs, tmp_path):
    file = tmp_path / "night.toml"
    file.write_text(
        f"suites = ['{pairs}']\nmodels = ['demo-causal']\noutput = '{tmp_path / 'runs'}'\n"
        "adaptive = true\nprecision = 0.2\n",
        encoding="utf-8",
    )
    assert invoke(["run", str(file)]) == 0
    [folder] = find_runs(tmp_path / "runs")
    assert json.loads((folder.path / "manifest.json").read_text())["adaptive"]["precision"] == 0.2


def test_a_plan_counts_the_first_round_and_the_most_that_may_follow(pairs, capsys):
    assert invoke(["plan", str(pairs), "-m", "demo-causal", "--adaptive", "--json"]) == 0
    [suite] = json.loads(capsys.readouterr().out)["suites"]
    assert suite["requests"]["score"] + suite["later"] == 2 * ITEMS


def test_what_no_share_sums_up_is_refused():
    with pytest.raises(UsageError, match="spearman sums up its runs, not a proportion of items"):
        evaluate("it-acceptability", uniform(), adaptive=True)


def test_examples_drawn_for_all_stories_in_order_are_refused():
    with pytest.raises(UsageError, match="drew its worked examples for all stories"):
        evaluate("es-stories", "demo-causal", adaptive=True, shots_mode="paper", limit=20)
    with pytest.raises(UsageError, match="task=pair are about several stories together"):
        evaluate("es-stories", "demo-causal", adaptive=True, task="pair", shots=0)


@pytest.mark.slow
def test_stories_are_asked_so_in_several_rounds_each():
    run = evaluate("es-stories", "demo-causal", adaptive=True, limit=30, precision=0.2, shots=0)
    order = run.table("order")
    asked = order.filter(order["round"].is_not_null())["item"]
    assert set(run.outcomes()["item"]) == set(asked)
    assert run.manifest["adaptive"]["of"] == 30


def test_a_precision_without_adaptive_is_refused(pairs, capsys):
    assert invoke(["run", str(pairs), "-m", "demo-causal", "--precision", "0.1"]) == 2
    assert "Add --adaptive, or leave it out." in capsys.readouterr().err


def test_a_paradigm_of_somebody_else_without_a_choice_of_items_is_refused(probing, monkeypatch):
    import cimento_probing

    from cimento.paradigms import SuiteReader

    monkeypatch.setattr(cimento_probing.ProbingReader, "selected", SuiteReader.selected)
    with pytest.raises(UsageError, match="are asked as a whole"):
        evaluate(probing, "demo-causal", adaptive=True)


def test_several_models_meet_the_same_items(pairs):
    first, second = evaluate_all(pairs, [uniform(), "demo-causal"], adaptive=True)
    one, other = (list(run.table("order")["item"]) for run in (first, second))
    assert one == other
