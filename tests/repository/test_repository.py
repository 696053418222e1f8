"""The files at the root say what is so: versions, targets, tools, links, words."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

import cimento
import lock
import picture
from tests.helpers.docs_pages import DOCS, blocks

ROOT = DOCS.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PAGES = [*ROOT.glob("*.md"), *(ROOT / ".github").glob("*.md")]
PYTHONS = re.compile(r"Python :: (3\.\d+)$")
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
WORDS = set(
    re.findall(
        r"\w+",
        """
        accuracy answer bos cache canary chance cluster condition dd interval item
        judgment manifest margin measure model outcome paradigm perplexity policy prediction region
        report run suite surprisal survey tie token twin verdict
        """,
    )
)


def read_yaml(path: Path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def made(target: str) -> list[str]:
    """The commands of a target of the Makefile."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    match = re.search(rf"^{target}:.*\n((?:\t.*\n)*)", text, re.MULTILINE)
    assert match, f"no target {target}"
    return match[1].replace("\\\n", "").splitlines()


def steps(workflow: Path) -> list[str]:
    """The commands of a workflow, in order."""
    jobs = read_yaml(workflow)["jobs"].values()
    return [step["run"] for job in jobs for step in job["steps"] if "run" in step]


def slug(heading: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def test_the_citation_is_of_this_version_and_of_those_whom_the_package_names():
    citation = read_yaml(ROOT / "CITATION.cff")
    assert citation["version"] == cimento.__version__
    assert citation["cff-version"] == "1.2.0"
    assert citation["authors"] == PROJECT["authors"]
    assert citation["license"] == "Apache-2.0"
    assert citation["keywords"] == PROJECT["keywords"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_make_what_everybody_makes(workflow):
    targets = [words[1] for step in steps(workflow) if (words := shlex.split(step))[0] == "make"]
    assert targets
    for target in targets:
        made(target)
    assert "secrets." not in workflow.read_text(encoding="utf-8")


def test_a_release_is_tried_as_a_change_is_and_more():
    tests, release = (set(steps(ROOT / ".github/workflows" / name)) for name in
                      ("tests.yml", "release.yml"))  # fmt: skip
    assert {"make check", "make test", "make test-slow", "make smoke"} <= tests & release


def test_every_python_that_the_package_names_is_tried():
    named = [
        match[1] for classifier in PROJECT["classifiers"] if (match := PYTHONS.search(classifier))
    ]
    tried = read_yaml(ROOT / ".github/workflows/tests.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert tried["python"] == named
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert f"{', '.join(named[:-1])} and {named[-1]}" in page
    image = re.search(
        r"^FROM python:(3\.\d+)", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE
    )
    assert image
    assert image[1] in named


def test_hooks_are_the_tools_of_make_check():
    hooks = [hook for repo in read_yaml(ROOT / ".pre-commit-config.yaml")["repos"]
             for hook in repo["hooks"]]  # fmt: skip
    # Of a hook, the tool; `ruff` takes the files that are committed where `make` takes all.
    tools = [hook["entry"].removeprefix(".venv/bin/").split(" --")[0] for hook in hooks]
    check = [line.strip().removeprefix("$(BIN)/").removesuffix(" .") for line in made("check")]
    assert sorted(tools) == sorted(line.split(" --")[0] for line in check)


def test_lint_runs_what_check_runs_with_fewer_packages():
    check, lint = (
        [line.split(f"$({folder})/")[1] for line in made(target)]
        for target, folder in (("check", "BIN"), ("lint", "LINT"))
    )
    # What is not installed is untyped, so that mypy is told to mind less.
    assert [line.split()[0] if line.startswith("mypy ") else line for line in lint] == check
    names, dev = (
        re.findall(r"^\w\S*", (ROOT / f"requirements-{kind}.txt").read_text("utf-8"), re.MULTILINE)
        for kind in ("lint", "dev")
    )
    own = {re.split(r"\W=", name)[0] for name in PROJECT["dependencies"]}
    assert {"ruff", "mypy", "import-linter"} < set(names) <= own.union(dev)
    pinned = lock.pinned((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    assert {lock.canonicalize_name(name) for name in names} <= pinned.keys()


def test_what_the_image_is_made_of_is_there_and_is_not_kept_out():
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
            if line.startswith("!")]  # fmt: skip
    copied = [
        name
        for line in re.findall(r"^COPY (.*)$", text, re.MULTILINE)
        for name in line.split()[:-1]
    ]
    assert copied
    for name in copied:
        assert (ROOT / name).exists()
        assert any(Path(name).match(pattern) for pattern in kept), name


def test_locked_packages_are_those_of_the_constraints_with_hashes():
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in lock.LOCKED]
    run, dev = map(lock.pinned, texts)
    assert not run.keys() & dev.keys()
    assert run | dev == lock.pinned((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    for text in texts:
        assert re.fullmatch(r"(\S+==\S+( \\\n    --hash=sha256:[0-9a-f]{64})+\n)+", text)


def test_the_image_and_releases_take_packages_by_their_hashes():
    image = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert "--require-hashes --requirement locked.txt" in image
    assert steps(ROOT / ".github/workflows/release.yml")[0].startswith("make locked")
    assert all(name in made("locked")[0] for name in ("--require-hashes", *lock.LOCKED))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_at_the_root_lead_somewhere(page):
    text = re.sub(r"(?ms)^(`{3,}).*?^\1$", "", page.read_text(encoding="utf-8"))
    for link in LINK.findall(text):
        target, _, anchor = link.partition("#")
        if target.startswith(("https:", "mailto:")):
            continue
        path = (page.parent / target) if target else page
        assert path.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.*)$", path.read_text("utf-8"), re.MULTILINE)
            assert anchor in map(slug, headings), link


def test_the_changelog_keeps_its_form():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert versions[0].startswith("Unreleased\n")
    order = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
    for version in versions:
        sections = re.split(r"^### ", version, flags=re.MULTILINE)[1:]
        names = [section.split("\n")[0] for section in sections]
        assert names == [name for name in order if name in names]
        assert all("\n- " in section or "\n| " in section for section in sections)
    assert all(re.match(r"Unreleased|\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d$", version.split("\n")[0])
               for version in versions)  # fmt: skip


def test_every_word_of_the_glossary_has_a_short_entry_with_an_example():
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    entries = dict(re.findall(r"^### (\w+)\n\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL))
    assert set(map(str.lower, entries)) == WORDS
    for word, entry in entries.items():
        says, _, example = entry.partition("*Example:* ")
        assert example.strip(), word
        assert len(says.split()) <= 60, word


@pytest.mark.parametrize("page", ["../README.md", "quickstart.md", "concepts.md"])
def test_the_first_pages_lead_to_the_glossary(page):
    path = DOCS / page
    assert "glossary.md" in path.read_text(encoding="utf-8")
    linked = re.findall(r"glossary\.md#(\w+)", path.read_text(encoding="utf-8"))
    assert set(linked) <= WORDS


def test_commands_of_the_contributors_page_make_what_there_is():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([a-z-]+)`", text):
        made(target)
    assert any(block.language == "diff" for block in blocks(ROOT / "CONTRIBUTING.md"))


def test_arrows_that_a_chain_implies_are_left_out():
    arrows = {("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("a", "d")}
    assert picture.reduced(arrows) == {("a", "b"), ("b", "c"), ("c", "d")}


def test_the_picture_is_of_rooms_and_files_that_there_are():
    assert {"evaluation", "engine", "paradigms"} <= set(picture.rooms())
    assert picture.imports()["evaluation", "engine"]
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for path in re.findall(r"`(\w+/\w+\.py)`", page):
        assert (picture.PACKAGE / path).is_file() or (ROOT / path).is_file(), path


def test_every_call_on_the_path_of_a_sentence_is_in_the_code():
    [path] = [block for block in blocks(ROOT / "ARCHITECTURE.md") if block.language == "text"]
    callers: list[tuple[int, str]] = []
    for line in path.text.splitlines():
        name, file = line.split()[:2]
        source = (picture.PACKAGE / file).read_text(encoding="utf-8")
        assert re.search(rf"^ *def {name}\(", source, re.MULTILINE), line
        indent = len(line) - len(line.lstrip())
        callers = [*(caller for caller in callers if caller[0] < indent), (indent, source)]
        assert len(callers) == 1 or re.search(rf"\b{name}\b", callers[-2][1]), line


def test_the_readme_says_first_how_to_get_it():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    clone = next(n for n, line in enumerate(lines) if line.startswith("git clone "))
    demo = next(n for n, line in enumerate(lines) if line.startswith("make demo"))
    assert clone < demo < 30
