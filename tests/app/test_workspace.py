"""The folder of the app: what is listed, and that no name leads out of it."""

from __future__ import annotations

import pytest

from cimento import InputError, UsageError
from cimento.app.workspace import MOST_SHOWN, SUITES, Workspace
from cimento.cli.main import invoke
from cimento.errors import CimentoError
from cimento.suites.builtin import new_suite


@pytest.fixture
def workspace(tmp_path):
    workspace = Workspace(tmp_path / "files")
    workspace.prepare()
    return workspace


@pytest.mark.parametrize(
    "name", ["..", "../x", "/etc/passwd", "suites/../../x", "a\0b", "~/x/../../.."]
)
def test_no_name_leads_out_of_the_folder(workspace, name):
    with pytest.raises(UsageError, match="outside"):
        workspace.inside(name)


@pytest.mark.parametrize("inside", [False, True])
def test_no_link_is_followed_wherever_it_leads(workspace, tmp_path, inside):
    target = (workspace.folder if inside else tmp_path) / "secret.csv"
    target.write_text("good,bad\na,b\n")
    (workspace.folder / "link.csv").symlink_to(target)
    (workspace.folder / "folder").symlink_to(workspace.folder)
    assert [suite.name for suite in workspace.suites()] == ["secret.csv"] * inside
    for name in ("link.csv", "folder/secret.csv", "folder"):
        with pytest.raises(UsageError, match="it is a link"):
            workspace.suite(name)


def test_a_suite_or_a_model_with_a_link_in_it_is_refused(workspace, tmp_path):
    new_suite("pairs", workspace.folder / "mine", language="it")
    (tmp_path / "secret").write_text("x")
    (workspace.folder / "mine" / "notes").mkdir()
    (workspace.folder / "mine" / "notes" / "a.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(UsageError, match=r"mine/notes/a.txt: it is a link"):
        workspace.suite("mine")
    with pytest.raises(UsageError, match=r"mine/notes/a.txt: it is a link"):
        workspace.model("./mine")


def test_the_folder_itself_may_be_reached_through_a_link(tmp_path):
    real = tmp_path / "real"
    real.mkdir()
    (real / "a.csv").write_text("good,bad\na,b\n")
    (tmp_path / "here").symlink_to(real)
    workspace = Workspace(tmp_path / "here")
    assert workspace.suite("a.csv") == real / "a.csv"
    assert workspace.inside(tmp_path / "here" / "a.csv") == real / "a.csv"
    assert workspace.model(str(tmp_path / "here" / "a.csv")) == "a.csv"


@pytest.mark.parametrize("name", ["runs/" + "x" * 5000, "x/" * 3000, "x" * 300])
def test_a_name_that_no_file_can_have_is_told_in_a_short_message(workspace, name):
    for asked in (workspace.inside, workspace.suite, workspace.plain, workspace.delete_run):
        with pytest.raises(CimentoError) as told:
            asked(name)
        assert len(str(told.value)) < 500


def test_suites_at_the_top_and_in_their_folder_are_listed(workspace):
    new_suite("pairs", workspace.folder / SUITES / "mine.xlsx", language="it")
    new_suite("factorial", workspace.folder / "two", language="it")
    (workspace.folder / "table.csv").write_text("good,bad\na,b\n")
    (workspace.folder / ".hidden.csv").write_text("good,bad\na,b\n")
    (workspace.folder / "notes.txt").write_text("nothing")
    assert [suite.name for suite in workspace.suites()] == ["table.csv", "two", "suites/mine.xlsx"]
    (workspace.folder / SUITES / "list.txt").write_text("Il cane dorme.")
    assert workspace.suite("suites/list.txt") == workspace.folder.resolve() / SUITES / "list.txt"
    assert workspace.suite("two") == (workspace.folder / "two").resolve()
    assert workspace.suite("it-islands") == "it-islands"
    with pytest.raises(InputError, match="no such suite"):
        workspace.suite("notes.txt")


def test_runs_are_listed_as_their_manifests_say_and_others_are_left_out(workspace):
    runs = workspace.folder / "runs"
    assert invoke(["run", "it-islands", "-m", "demo-causal", "--limit", "2", "-o", str(runs)]) == 0
    (runs / "it-islands" / "unfinished").mkdir()
    broken = runs / "it-islands" / "broken"
    broken.mkdir()
    (broken / "manifest.json").write_text("{")
    [run] = workspace.runs()
    assert (run.suite, run.paradigm) == ("it-islands", "regions")
    assert run.model.startswith("demo-causal@")
    assert run.created.startswith("20")
    assert workspace.inside(run.name) == run.path.resolve()
    for name in ("runs/it-islands", "../files", "runs/it-islands/unfinished"):
        with pytest.raises(InputError, match="no such run"):
            workspace.delete_run(name)
    workspace.delete_run(run.name)
    assert workspace.runs() == []
    assert broken.is_dir()


def test_a_suite_is_deleted_and_nothing_that_is_none(workspace):
    folder = workspace.folder
    (folder / SUITES).mkdir()
    (folder / SUITES / "a.csv").write_text("good,bad\na,b\n")
    (folder / SUITES / "two").mkdir()
    (folder / SUITES / "two" / "suite.toml").write_text("")
    (folder / "notes.txt").write_text("mine")
    for name in ("notes.txt", "../x.csv", "suites", "it-islands"):
        with pytest.raises(InputError, match="no such suite"):
            workspace.delete_suite(name)
    for suite in workspace.suites():
        workspace.delete_suite(suite.name)
    assert [*(folder / SUITES).iterdir()] == []
    assert (folder / "notes.txt").is_file()


def test_a_survey_is_deleted_with_its_answers_and_not_those_of_another(workspace):
    for name in ("frasi", "frasi-2"):
        (workspace.folder / "surveys" / name).mkdir(parents=True)
        (workspace.folder / "surveys" / name / "design.json").write_text("{}")
    tables = workspace.folder / "judgments"
    tables.mkdir()
    mine = {"frasi.parquet", "frasi-kept.parquet", "frasi-kept.log.json", "frasi.secret"}
    others = {"frasi-2.parquet", "frasi-2-kept.parquet", "frasinuove.csv"}
    for name in (*mine, *others):
        (tables / name).write_text("")
    survey = workspace.surveys()[0]
    assert {path.name for path in workspace.parts_of_survey(survey)} == {"frasi", *mine}
    workspace.delete_survey(survey)
    assert {path.name for path in tables.iterdir()} == others
    assert [path.name for path in workspace.surveys()] == ["frasi-2"]


def test_the_last_run_of_a_suite_leaves_no_folder(workspace):
    runs = workspace.folder / "runs"
    assert invoke(["run", "it-islands", "-m", "demo-causal", "--limit", "2", "-o", str(runs)]) == 0
    [run] = workspace.runs()
    workspace.delete_run(run.name)
    assert not (runs / "it-islands").exists()


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("verbs.xlsx", "verbs.xlsx"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\x\\frasi.csv", "frasi.csv"),
        ("a:b*c?.csv", "abc.csv"),
        (".hidden", "hidden"),
        ("\u202egood.csv", "good.csv"),
        ("Les chèvres (2).xlsx", "Les chèvres (2).xlsx"),
        ("l'accordo e l’ordine.csv", "l'accordo e l’ordine.csv"),
    ],
)
def test_a_new_file_has_a_name_that_every_system_takes(workspace, given, name):
    assert workspace.new(SUITES, given) == workspace.folder.resolve() / SUITES / name


def test_a_new_file_never_replaces_another(workspace):
    first = workspace.new(SUITES, "verbs.csv")
    first.parent.mkdir()
    first.write_text("x")
    assert workspace.new(SUITES, "verbs.csv").name == "verbs-2.csv"
    with pytest.raises(UsageError, match="not a name"):
        workspace.new(SUITES, "///")


@pytest.mark.parametrize(
    "name", ["demo-causal", "org/name@main", "openai:http://127.0.0.1:8000#m", "gpt2"]
)
def test_names_of_the_hub_and_of_servers_stay_as_they_are(workspace, name):
    assert workspace.model(f" {name} ") == name


@pytest.mark.parametrize(
    "name", ["/etc", "../models/x", "~/x", "a/../../x", "gguf:/tmp/x.gguf", "replay:../x"]
)
def test_models_elsewhere_on_this_machine_are_refused(workspace, name):
    with pytest.raises(UsageError, match="outside the folder"):
        workspace.model(name)


def test_models_may_also_be_in_folders_named_at_the_start(tmp_path):
    models = tmp_path / "models"
    (models / "mine").mkdir(parents=True)
    (models / "mine" / "config.json").write_text("{}")
    workspace = Workspace(tmp_path / "files", models=(models,))
    workspace.prepare()
    assert workspace.model_folders() == [str(models / "mine")]
    assert workspace.model(str(models / "mine")) == str(models / "mine")
    assert Workspace(tmp_path / "files").model_folders() == []


@pytest.mark.parametrize("name", ["", "  ", "gguf:", "replay:"])
def test_a_model_must_be_named(workspace, name):
    with pytest.raises(UsageError, match="no model is named"):
        workspace.model(name)


def test_a_folder_that_cannot_be_written_is_told(tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    assert invoke(["app", str(tmp_path / "file" / "inside"), "--no-browser"]) == 1
    assert "cannot be written" in capsys.readouterr().err


def test_no_more_files_are_listed_than_a_page_can_show(workspace):
    for number in range(MOST_SHOWN + 3):
        (workspace.folder / f"{number:05}.csv").touch()
    assert len(workspace.suites()) == MOST_SHOWN
