"""Models are found under the names with short revisions that tables show."""

from __future__ import annotations

import shutil

import pytest

from cimento import UsageError
from cimento.models.hf.files import locate

MAIN, TAGGED, NEAR = "1" * 40, "2222222" + "a" * 33, "2222222" + "b" * 33


@pytest.fixture
def hub(tmp_path, monkeypatch, zoo_folder):
    """A hub's cache without a network: one model with three commits, a branch and a tag."""
    folder = tmp_path / "hub" / "models--org--tiny"
    for commit in (MAIN, TAGGED, NEAR):
        shutil.copytree(zoo_folder("gpt2"), folder / "snapshots" / commit)
    for name, commit in {"main": MAIN, "v/2": TAGGED, "abcdef0": MAIN}.items():
        path = folder / "refs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(commit, encoding="utf-8")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder.parent))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    return folder


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize(
    ("revision", "commit"),
    [("", MAIN), ("@main", MAIN), ("@v/2", TAGGED), (f"@{NEAR}", NEAR), ("@1111111", MAIN),
     ("@2222222a", TAGGED), ("@2222222b", NEAR), ("@abcdef0", MAIN)],
)  # fmt: skip
def test_a_revision_is_a_name_a_commit_or_its_first_digits(revision, commit):
    located = locate(f"org/tiny{revision}")
    assert (located.name, located.revision) == ("org/tiny", commit)


@pytest.mark.usefixtures("hub")
def test_the_name_that_is_shown_is_one_that_is_read(zoo_folder, tmp_path, monkeypatch):
    shutil.copytree(zoo_folder("gpt2"), tmp_path / "here")
    monkeypatch.chdir(tmp_path)
    for name in ("org/tiny", "demo-causal", "here"):
        located = locate(name)
        assert locate(located.label) == located


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("revision", ["nope", "3333333", "111111"])
def test_an_unknown_revision_is_named_with_those_in_the_cache(revision):
    with pytest.raises(UsageError) as caught:
        locate(f"org/tiny@{revision}")
    assert f"'org/tiny@{revision}'" in str(caught.value)
    assert "1111111 (abcdef0, main), 2222222 (v/2), 2222222" in str(caught.value)
    assert "Did you mean" not in str(caught.value)


@pytest.mark.usefixtures("hub")
def test_digits_with_which_several_commits_begin_are_refused():
    with pytest.raises(UsageError, match=rf"2 revisions .* begin so: {TAGGED}, {NEAR}"):
        locate("org/tiny@2222222")


def test_another_revision_of_a_demo_model_is_refused():
    with pytest.raises(UsageError, match="comes with demo-causal@"):
        locate("demo-causal@0000000")


def test_digits_of_another_revision_of_a_folder_are_refused(zoo_folder):
    with pytest.raises(UsageError, match="only names on the hub have revisions"):
        locate(f"{zoo_folder('gpt2')}@0000000")


def test_a_name_is_not_suggested_for_itself(hub):
    shutil.rmtree(hub / "snapshots")
    with pytest.raises(UsageError) as caught:
        locate("org/tiny")
    assert "Did you mean 'org/tiny'" not in str(caught.value)
