"""Steps 1, 3 and 4 in the hands of a user, without a browser."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from shutil import copytree

import pytest

from cimento import InputError
from cimento.app.opening import open_grid
from cimento.app.shown import compared
from cimento.app.workspace import Workspace
from cimento.cli.main import invoke
from cimento.documents import versions_apart
from cimento.kinds.run import open_runs
from cimento.records.store import MANIFEST
from cimento.suites import fetching, published
from tests.helpers.app_user import until, visit
from tests.helpers.serving import REVISION, archive_of, serve

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from nicegui import ui
from nicegui.elements.upload_files import SmallFileUpload

from cimento.app.sentences import piped
from cimento.app.start import listed_suites, refusal
from cimento.app.wanted import RunRequest
from cimento.app.words import words

__all__ = ["serve"]

TABLE = "good,bad\nIl cane dorme.,Il cane dormono.\nLe ragazze ridono.,Le ragazze ride.\n"


async def seen(user, text):
    await user.should_see(text, retries=200)


def commands(user):
    """The commands that the page shows."""
    return [element.text for element in user.find(content="cimento ").elements]


async def send(user, name, content):
    """Choose a file for the upload of the page."""
    (upload,) = user.find(ui.upload).elements
    await upload.handle_uploads([SmallFileUpload(name, "", content)])


def test_the_bare_address_leads_to_the_first_step_in_the_language_of_the_browser(tmp_path):
    async def flow(user):
        for accepted, language in (("pt-BR,pt;q=0.9", "pt"), ("ja", "en")):
            reply = await user.http_client.get("/", headers={"accept-language": accepted})
            assert reply.is_redirect
            assert reply.headers["location"] == f"/{language}/start"

    visit(tmp_path, flow)


def test_built_in_tests_are_found_by_language_kind_and_phenomenon(tmp_path):
    async def flow(user):
        await user.open("/it/start")
        await user.should_see("it-islands")
        await user.should_not_see("ru-subject-verb")
        (language,) = user.find(marker="filter-language").elements
        language.value = "es"
        await seen(user, "es-subject-verb")
        await user.should_not_see("it-islands")
        (kind,) = user.find(marker="filter-kind").elements
        kind.value = "stories"
        await seen(user, "es-stories")
        await user.should_not_see("es-subject-verb")

    visit(tmp_path, flow)


def test_sentences_are_colored_word_by_word_and_blanks_are_filled(tmp_path):
    async def flow(user):
        await user.open("/en/start")
        (texts,) = user.find(marker="sentences").elements
        texts.value = "Il cane dorme."
        user.find(marker="try").click()
        await seen(user, "Surprisal of the sentence")
        for word in ("Il", "cane", "dorme"):
            await user.should_see(word)
        texts.value = "La casa è ___."
        assert any("cimento fill -m demo-causal" in command for command in commands(user))
        user.find(marker="try").click()
        await seen(user, "Filler")

    visit(tmp_path, flow)


@pytest.mark.parametrize(
    ("given", "message"),
    [("", "there are 0 of them"), ("Il cane ___.\nIl cane dorme.", "some have a blank")],
)
def test_what_cannot_be_tried_is_told(tmp_path, given, message):
    async def flow(user):
        await user.open("/en/start")
        (texts,) = user.find(marker="sentences").elements
        texts.value = given
        user.find(marker="try").click()
        await seen(user, message)

    visit(tmp_path, flow)


def test_a_file_is_taken_into_the_folder_and_looked_at(tmp_path):
    async def flow(user):
        await user.open("/en/start")
        await send(user, "../verbi.csv", TABLE.encode())
        await seen(user, "2 items in the conditions good, bad")
        await user.should_see("CIM-S033")
        await user.should_see("cimento suites check suites/verbi.csv")

    visit(tmp_path, flow)
    assert (tmp_path / "suites" / "verbi.csv").read_text() == TABLE


def test_a_file_that_is_taken_again_is_the_same_and_another_of_its_name_is_told(tmp_path):
    async def flow(user):
        await user.open("/en/start")
        for content in (TABLE, TABLE):
            await send(user, "verbi.csv", content.encode())
            await seen(user, "cimento suites check suites/verbi.csv")
        assert [path.name for path in (tmp_path / "suites").iterdir()] == ["verbi.csv"]
        await send(user, "verbi.csv", TABLE.replace("\n", "\r\n").encode())
        await seen(user, "this file is now called verbi-2.csv")

    visit(tmp_path, flow)


def test_a_file_of_ones_own_is_deleted_once_somebody_agrees(tmp_path):
    (tmp_path / "mine.csv").write_text("good,bad\na,b\n")
    (tmp_path / "mine-2.csv").write_text("good,bad\nc,d\n")

    async def flow(user):
        await user.open("/it/start")
        user.find(marker="delete mine-2.csv").click()
        await user.should_see("le esecuzioni e i questionari restano", retries=200)
        assert (tmp_path / "mine-2.csv").is_file()
        user.find(marker="delete-do").click()
        await user.should_not_see("mine-2.csv", retries=200)
        await user.should_see("mine.csv")

    visit(tmp_path, flow)
    assert not (tmp_path / "mine-2.csv").exists()


def test_a_test_of_blanks_without_a_language_is_sent_to_the_steps_of_the_page(tmp_path):
    table = "text\ttarget\nNon sono uscita, ___ pioveva.\tperché\nHo fame, ___ mangio.\tquindi\n"

    async def flow(user):
        await user.open("/it/start")
        await send(user, "buchi.tsv", table.encode())
        await seen(user, "CIM-C010")
        await user.should_see("Scegli la lingua al passo 2")
        await user.should_not_see("suite.toml")

    visit(tmp_path, flow)


def test_a_file_that_is_no_suite_is_told_and_kept(tmp_path):
    async def flow(user):
        await user.open("/en/start")
        await send(user, "letter.csv", b"dear,madam\n1,2\n")
        await seen(user, "Step 2 shows what is wrong")
        await user.should_see("is a table with the columns dear, madam")
        await user.should_see("Edit: suites/letter.csv")

    visit(tmp_path, flow)


@pytest.mark.parametrize(
    ("name", "advice"),
    [("stimoli.docx", "Copia le frasi in una tabella"), ("voti.ods", "Aprilo con il tuo foglio"),
     ("voti.numbers", "Aprilo con il tuo foglio"), ("a", "Copia le frasi in una tabella")],
)  # fmt: skip
def test_a_file_of_another_program_is_not_taken_and_what_to_do_is_said(name, advice):
    assert advice in refusal(name, words("it"))
    assert refusal("frasi.txt", words("it")) == refusal("A.XLSX", words("it")) == ""


def test_an_upload_into_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "suites").write_text("a file where a folder should be")

    async def flow(user):
        await user.open("/en/start")
        await send(user, "verbi.csv", TABLE.encode())
        await seen(user, "cannot be written")

    visit(tmp_path, flow)


def test_a_new_suite_is_made_and_opened(tmp_path):
    async def flow(user):
        await user.open("/en/start")
        (kind,) = user.find(marker="kind").elements
        kind.value = "factorial"
        assert "cimento suites new factorial suites/my-test.xlsx --language en" in commands(user)
        (name,) = user.find(marker="new-name").elements
        name.value = "isole"
        user.find(marker="make").click()
        await until((tmp_path / "suites" / "isole.xlsx").exists)

    visit(tmp_path, flow)
    assert [suite.name for suite in Workspace(tmp_path).suites()] == ["suites/isole.xlsx"]
    assert invoke(["suites", "check", str(tmp_path / "suites" / "isole.xlsx")]) == 0


def test_a_command_is_shown_once_it_would_work(tmp_path):
    async def flow(user):
        await user.open("/en/run")
        await user.should_not_see("cimento run")
        await user.open("/en/run?suite=it-islands")
        await user.should_see("cimento run it-islands -m demo-causal -o runs")

    visit(tmp_path, flow)


def test_texts_are_piped_as_the_shell_of_the_system_takes_them():
    texts = ["Il gatto dorme.", "L'acqua è alta."]
    assert piped(texts, system="win32") == "'Il gatto dorme.', 'L''acqua è alta.' | "
    assert shlex.split(piped(texts, system="linux")) == ["printf", "%s\\n", *texts, "|"]


def test_the_example_of_a_template_has_a_word_of_its_seeds():
    examples = {suite.name: example for suite, example in listed_suites().items()}
    assert examples["ru-agreement-templates"] == "В музее выставили ___ портрет."
    assert [name for name, example in examples.items() if "<" in example] == []


def test_a_run_is_planned_and_put_into_the_queue(tmp_path):
    async def flow(user):
        await user.open("/en/run?suite=it-islands")
        assert "cimento run it-islands -m demo-causal -o runs" in commands(user)
        user.find(marker="plan").click()
        await seen(user, "Time and memory are rough estimates.")
        await user.should_see("demo-causal@")
        await user.should_see("< 0.1 GB")
        user.find(marker="run").click()
        await seen(user, "Waiting")
        await user.should_see("it-islands × demo-causal")
        user.find(marker="stop-1").click()
        await seen(user, "Stopped")
        user.find(marker="forget-1").click()
        await seen(user, "Nothing has been run yet.")

    visit(tmp_path, flow)


def test_a_suite_that_predicts_nothing_is_named_before_it_is_run(tmp_path):
    rows = "item\tcondizione\tfrase\n1\tx\tLa torta cuoce.\n1\ty\tLa torta cuociono.\n"
    rows += "2\tx\tIl vento soffia.\n2\ty\tIl vento soffiano.\n"

    async def flow(user):
        await user.open("/it/start")
        await send(user, "mute.tsv", rows.encode())
        await seen(user, "CIM-S023")
        await send(user, "verbi.csv", TABLE.encode())
        folder = Workspace(tmp_path)
        await until(lambda: any("verbi" in name for name in folder.suite_names()))
        names = folder.suite_names()
        (mute,) = (name for name in names if "mute" in name)
        (verbs,) = (name for name in names if "verbi" in name)
        await user.open("/it/run")
        (suites,) = user.find(marker="suites").elements
        suites.value = [verbs, mute]
        await seen(user, f"In {mute} non verrà valutato nulla")
        (told,) = user.find(marker="unjudged").elements
        suites.value = [verbs]
        await until(lambda: not told.visible)

    visit(tmp_path, flow)


def test_a_model_elsewhere_on_the_machine_is_refused_before_it_is_run(tmp_path):
    async def flow(user):
        await user.open("/en/run?suite=it-islands")
        (models,) = user.find(marker="models").elements
        models.options = [*models.options, "../../model"]
        models.value = ["../../model"]
        user.find(marker="run").click()
        await seen(user, "it is outside the folder")

    visit(tmp_path, flow)


def test_the_words_of_a_run_are_those_of_the_command():
    suites = ("-x.csv", "~y/z.csv", "it-islands")
    wanted = RunRequest(suites, ("demo-causal", "org/m@r"), "it", 5, trusted=True)
    assert wanted.arguments == (
        "run", "./-x.csv", "./~y/z.csv", "it-islands", "-m", "demo-causal", "-m", "org/m@r",
        "--language", "it", "--limit", "5", "--trust-remote-code", "-o", "runs",
    )  # fmt: skip
    assert "--trust-remote-code" not in RunRequest(("it-islands",), ("demo-causal",)).arguments


def choose(user, *names):
    """Choose tests by name, as if they were typed."""
    (suites,) = user.find(marker="suites").elements
    suites.options = {**suites.options, **{name: name for name in names}}
    suites.value = list(names)


def test_a_suite_by_its_address_is_fetched_before_it_waits_in_the_queue(
    tmp_path, monkeypatch, serve
):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(fetching, "https_only", lambda address: address)
    site = serve({f"/someone/suites/archive/{REVISION}.zip": archive_of("it")})
    monkeypatch.setattr(published, "GITHUB", site.address)
    address = f"github:someone/suites@{REVISION}:it/a.tsv"

    async def flow(user):
        await user.open("/en/run")
        choose(user, address)
        assert f"cimento run {address} -m demo-causal -o runs" in commands(user)
        user.find(marker="run").click()
        await seen(user, "Waiting")

    visit(tmp_path / "files", flow)
    assert len(list((tmp_path / "cache").rglob("a.tsv"))) == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("blimp", "suites/blimp, and run that folder"),
        (f"github:someone/suites@{REVISION}", "cannot be fetched"),
        ("hf:someone/suites", "it names no commit"),
        ("blimpo", "there is no such suite"),
    ],
)
def test_what_cannot_be_fetched_is_told_and_not_put_into_the_queue(
    tmp_path, monkeypatch, name, message
):
    def no_network(*_):
        raise OSError("no network")

    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(fetching, "download", no_network)

    async def flow(user):
        await user.open("/en/run")
        choose(user, name)
        user.find(marker="run").click()
        await seen(user, message)
        await user.should_see("Nothing has been run yet.")

    visit(tmp_path / "files", flow)


def test_a_published_dataset_is_run_from_the_folder_that_it_is_fetched_into(tmp_path):
    wanted = RunRequest(("multiblimp", "it-islands"), ("demo-causal",), "it")
    assert wanted.before == "cimento suites get multiblimp -o suites/multiblimp --language it && "
    assert wanted.arguments[:3] == ("run", "suites/multiblimp/it", "it-islands")
    folder = tmp_path / "suites" / "multiblimp" / "it"
    folder.mkdir(parents=True)
    (folder / "a.tsv").write_text("good\tbad\nIl cane dorme.\tIl cane dormono.\n")
    (folder / "source.json").write_text('{"name": "multiblimp", "complete": true}')
    options = wanted.checked(Workspace(tmp_path)).options(Workspace(tmp_path))
    assert options.suites == (str(folder), "it-islands")
    with pytest.raises(InputError, match="is a published dataset of 1 suite"):
        open_grid(folder)


@pytest.fixture(scope="module")
def with_runs(tmp_path_factory):
    """A workspace with the runs of two models on a suite."""
    folder = tmp_path_factory.mktemp("files")
    words = ["run", "it-subject-verb", "-m", "demo-causal", "-m", "demo-masked", "--limit", "6"]
    assert invoke([*words, "-o", str(folder / "runs")]) == 0
    return folder


def test_results_are_shown_compared_and_cited(with_runs):
    async def flow(user):
        await user.open("/en/read?suite=it-subject-verb")
        assert user._gather_elements(marker="tab-report") == set()
        for run in Workspace(with_runs).runs():
            user.find(marker=f"choose {run.name}").elements.pop().value = True
        user.find(marker="read").click()
        await until(lambda: user._gather_elements(marker="tab-report") != set())
        (frame,) = [
            element for element in user.find(ui.element).elements if element.tag == "iframe"
        ]
        assert frame.props["sandbox"] == "allow-scripts allow-popups"
        assert frame.props["src"].startswith("/report?run=runs%2Fit-subject-verb%2Fdemo-causal%40")
        (tabs,) = user.find(ui.tabs).elements
        for tab, text in (
            ("compare", "over the items scored in both"),
            ("tables", "Accuracy (%)"),
            ("methods", "@misc{cimento"),
        ):
            tabs.value = tab
            await seen(user, text)

    visit(with_runs, flow)


def test_the_earlier_run_is_before_and_a_run_of_another_version_is_named(with_runs):
    causal, masked = open_runs([run.path for run in Workspace(with_runs).runs()])

    def version(run, digits, day):
        suite = {**run.manifest["suite"], "content": f"0{digits}", "sha256": digits}
        return replace(run, manifest={**run.manifest, "suite": suite, "created": f"2026-01-{day}"})

    stored = version(causal, "e501", 10), version(causal, "af82", 11), version(masked, "af82", 12)
    old, new, other = versions_apart(stored)
    made = compared(["new", "old"], [new, old])
    assert made.names == ("old", "new")
    sides = "before (it-subject-verb (e501)) and after (it-subject-verb (af82))"
    assert sides in made.grids["rates"].title
    of_three = compared(["a", "b", "c"], [other, new, old])
    assert of_three.alone == (f"it-subject-verb (e501), {causal.model}",)


def test_versions_of_a_suite_are_told_apart(with_runs, tmp_path):
    copytree(with_runs / "runs", tmp_path / "runs")
    first, second = Workspace(tmp_path).runs()
    manifest = json.loads((first.path / MANIFEST).read_text())
    manifest["suite"] |= {"content": "0e501", "sha256": "e501"}
    manifest["created"] = "2020-01-01T00:00:00+00:00"
    (first.path / MANIFEST).write_text(json.dumps(manifest))

    async def flow(user):
        await user.open("/en/read")
        boxes = {
            box.text: box.value
            for run in (first, second)
            for box in user.find(marker=f"choose {run.name}").elements
        }
        told = ("version 1 of 2, e501", f"version 2 of 2, the newest, {second.sha256[:4]}")
        assert list(boxes) == [f"it-subject-verb ({tag})" for tag in told]
        assert not any(boxes.values())

    visit(tmp_path, flow)


def test_the_report_comes_with_a_policy_and_only_from_the_folder(with_runs):
    [first, _] = [run.name for run in Workspace(with_runs).runs()]

    async def flow(user):
        answer = await user.http_client.get("/report", params={"run": first})
        assert answer.status_code == 200
        assert answer.headers["content-security-policy"].startswith("sandbox allow-scripts")
        assert "it-subject-verb" in answer.text
        for name in ("../", "/etc", "runs/nothing"):
            answer = await user.http_client.get("/report", params={"run": name})
            assert answer.status_code == 400
            assert "<script" not in answer.text

    visit(with_runs, flow)


@pytest.mark.parametrize(
    ("part", "name", "begins"),
    [("figures", "margins.svg", b"<svg"), ("figures", "margins.png", b"\x89PNG"),
     ("tables", "results.csv", b"model,"), ("tables", "results.docx", b"PK"),
     *(pytest.param(*one, marks=pytest.mark.slow) for one in (
         ("figures", "margins.pdf", b"%PDF"), ("figures", "margins.csv", b"suite,model"),
         ("tables", "results.tex", b"% needs \\usepackage{booktabs}"),
         ("tables", "results.xlsx", b"PK")))],
)  # fmt: skip
def test_figures_and_tables_are_downloaded_in_their_forms(with_runs, part, name, begins):
    async def flow(user):
        await user.open("/en/read?suite=it-subject-verb")
        user.find(marker="read").click()
        await until(lambda: user._gather_elements(marker="tab-report") != set())
        (tabs,) = user.find(ui.tabs).elements
        tabs.value = part
        await until(lambda: user._gather_elements(marker=f"file-{name}") != set())
        user.find(marker=f"file-{name}").click()
        answer = await user.download.next()
        assert answer.content.lstrip().startswith(begins), answer.content[:40]

    visit(with_runs, flow)


def test_without_runs_the_page_leads_to_the_step_before(tmp_path):
    async def flow(user):
        await user.open("/en/read")
        await user.should_see("There are no results in your folder yet.")

    visit(tmp_path, flow)
