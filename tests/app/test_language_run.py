"""All published sets of a language in the app: the plan, the queue and the answer."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from cimento import UsageError
from cimento.app.workspace import Workspace
from cimento.cli.main import invoke
from cimento.suites import published
from cimento.suites.language_sets import accepted_licenses
from tests.helpers.app_user import visit

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from nicegui import ui

from cimento.app.language_answers import runs_about
from cimento.app.language_run import planned
from cimento.app.wanted import RunRequest


async def seen(user, text):
    await user.should_see(text, retries=200)


def commands(user):
    """The commands that the page shows."""
    return [element.text for element in user.find(content="cimento ").elements]


def set_of_italian(folder, name="multiblimp"):
    """A set of Italian pairs, as it is on a machine where it was fetched."""
    place = folder / "suites" / published.published()[name].folder / "it"
    place.mkdir(parents=True)
    rows = ["good\tbad", "Il cane dorme.\tIl cane dormono.", "I cani dormono.\tI cani dorme."]
    (place / "a.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (place / "source.json").write_text(json.dumps({"name": name, "complete": True}))


def test_all_sets_of_a_language_are_planned_and_put_into_the_queue(tmp_path, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    set_of_italian(tmp_path / "files")

    async def flow(user):
        await user.open("/it/run")
        user.find(marker="sets-plan").click()
        await seen(user, "non ne è stato scelto nessuno")
        (language,) = user.find(marker="sets-language").elements
        language.value = "it"
        words = "-m demo-causal --language it --budget 10m --sets-folder suites -o runs"
        assert f"cimento run {words}" in commands(user)
        user.find(marker="sets-plan").click()
        await seen(user, "multiblimp")
        await user.should_see("già qui")
        await user.should_see("Che cosa richiede l'esecuzione")
        await user.should_see("Tempo e memoria sono stime approssimative")
        await user.should_see("quanti item stanno in 10m")
        await user.should_see("senza rete non si scarica nulla")
        await user.should_see("per usarla spunta la casella")
        (licenses,) = user.find(marker="sets-license").elements
        named = set(licenses.text.rsplit(": ", 1)[1].split(", "))
        (budget,) = user.find(marker="sets-budget").elements
        budget.value = "soon"
        user.find(marker="sets-run").click()
        await seen(user, "soon")
        assert accepted_licenses() == frozenset()
        budget.value = "40"
        licenses.value = True
        user.find(marker="sets-run").click()
        await seen(user, "italiano: tutti i test pubblicati × demo-causal")
        assert accepted_licenses() == named
        user.find(marker="stop-1").click()

    visit(tmp_path / "files", flow)


def test_a_file_of_the_queue_does_not_begin_the_sets_of_a_language_by_itself(tmp_path):
    plain = RunRequest((), ("demo-causal",), "it", budget="40").stored
    wanted = RunRequest.from_stored(plain).checked(Workspace(tmp_path))
    assert list(wanted.needs(Workspace(tmp_path))) == ["it"]
    for wrong in (
        {"budget": "--force"},
        {"language": ""},
        {"suites": ["it-islands"]},
        {"limit": 2},
    ):
        with pytest.raises(UsageError):
            RunRequest.from_stored({**plain, **wrong}).checked(Workspace(tmp_path))
    with pytest.raises(ValueError, match="budget"):
        RunRequest.from_stored({**plain, "budget": 40})
    (tmp_path / "cimento.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="it is a link"):
        wanted.checked(Workspace(tmp_path))


def test_the_answer_about_a_language_is_shown_from_its_numbers(tmp_path, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    set_of_italian(tmp_path)
    monkeypatch.chdir(tmp_path)
    wanted = RunRequest((), ("demo-causal",), "it", budget="2").checked(Workspace(tmp_path))
    assert invoke(list(wanted.arguments)) == 0
    (tmp_path / "runs/it/answer.html").write_text("<script>alert(1)</script>")
    (tmp_path / "runs/es").mkdir()
    (tmp_path / "runs/es/answer.json").write_text('{"language": "es"}')

    async def flow(user):
        await user.open("/en/read?answer=it")
        (frame,) = (
            one for one in user.find(kind=ui.element).elements
            if "language=it" in str(one.props.get("src"))
        )  # fmt: skip
        assert "allow-same-origin" not in frame.props["sandbox"]
        reply = await user.http_client.get("/answer?language=it")
        assert "What demo-causal knows about Italian" in reply.text
        assert "alert(1)" not in reply.text
        assert "sandbox" in reply.headers["content-security-policy"]
        for language, said in (("es", "it is not an answer"), ("../it", "there is no such answer")):
            reply = await user.http_client.get("/answer", params={"language": language})
            assert (reply.status_code, said in reply.text) == (400, True)

    visit(tmp_path, flow)


def test_an_answer_is_shown_with_its_runs_and_deleted_with_them(tmp_path, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    set_of_italian(tmp_path)
    monkeypatch.chdir(tmp_path)
    wanted = RunRequest((), ("demo-causal",), "it", budget="2").checked(Workspace(tmp_path))
    assert invoke(list(wanted.arguments)) == 0
    alone = ["run", "it-subject-verb", "-m", "demo-causal", "--limit", "2", "-o", "runs"]
    assert invoke(alone) == 0
    named_alike = tmp_path / "runs/it/demo-causal"  # of a suite that is called it
    named_alike.mkdir()
    (named_alike / "notes.txt").write_text("mine")
    stored = runs_about(Workspace(tmp_path), "it")
    assert {run.model.partition("@")[0] for run in stored} == {"demo-causal"}

    async def flow(user):
        await user.open("/it/read?answer=it")
        await seen(user, f"Le esecuzioni da cui viene, ognuna con il suo resoconto: {len(stored)}.")
        links = {str(link.props["href"]) for link in user.find(ui.link).elements}
        for run in stored:
            assert f"/report?run={quote(run.name, safe='')}&words=it" in links
            reply = await user.http_client.get("/report", params={"run": run.name})
            assert reply.status_code == 200
        user.find(marker="delete italiano").click()
        await seen(user, "Non si può tornare indietro")
        user.find(marker="delete-do").click()
        await seen(user, "it-subject-verb")
        await user.should_not_see("Le esecuzioni da cui viene", retries=100)

    visit(tmp_path, flow)
    runs = tmp_path / "runs"
    left = {path.relative_to(runs).as_posix() for path in runs.rglob("*")}
    assert {path for path in left if path.startswith("it/")} == {
        "it/demo-causal",
        "it/demo-causal/notes.txt",
    }
    assert any(path.startswith("it-subject-verb/") for path in left)
    assert (tmp_path / "suites").is_dir()


def test_a_plan_of_a_number_of_items_is_of_the_part_that_is_drawn(tmp_path, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    set_of_italian(tmp_path)
    wanted = RunRequest((), ("demo-causal",), "it", budget="1").checked(Workspace(tmp_path))
    plan = planned(Workspace(tmp_path), wanted)
    assert (plan.is_drawn, plan.part.items, plan.part.of_items) == (True, 1, 2)
    (model,) = plan.runs.models
    assert (model.model.partition("@")[0], model.requests) == ("demo-causal", 2)
    assert model.memory_bytes
    monkeypatch.chdir(tmp_path)
    assert invoke(list(wanted.arguments)) == 0
    (suite,) = planned(Workspace(tmp_path), wanted).runs.suites
    assert suite.stored
