"""All published sets of a language in the app: the plan, the queue and the answer."""

from __future__ import annotations

import json

import pytest

from cimento import UsageError
from cimento.app.workspace import Workspace
from cimento.cli.main import invoke
from cimento.suites import published
from cimento.suites.language_sets import accepted_licenses
from tests.helpers.app_user import visit

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from nicegui import ui

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
        assert "What demo-causal knows of Italian" in reply.text
        assert "alert(1)" not in reply.text
        assert "sandbox" in reply.headers["content-security-policy"]
        for language, said in (("es", "it is not an answer"), ("../it", "there is no such answer")):
            reply = await user.http_client.get("/answer", params={"language": language})
            assert (reply.status_code, said in reply.text) == (400, True)

    visit(tmp_path, flow)
