"""The documentation as a site: built without a fault, whole, asking nothing of other hosts."""

from __future__ import annotations

import ast
import functools
import html
import http.server
import importlib
import inspect
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest

import cimento
import cimento.types
from cimento import statistics
from cimento.cli.tree import COMMANDS, leaves
from cimento.io.public_names import homes_of
from tests.helpers.site_pages import FOLDER, site_module


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The built site; anything that is wrong fails the build."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(  # noqa: S603  # our own words
        [sys.executable, str(FOLDER / "build.py"), "--into", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def address(site) -> Iterator[str]:
    """The site on a server of this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def search(page, query: str) -> list[str]:
    """The addresses that a search on a page of the site finds, in order."""
    page.locator(".md-search__button").first.click()
    page.get_by_role("combobox", name="Search").fill(query)
    found = page.get_by_role("option")
    found.first.wait_for()
    return found.evaluate_all("links => links.map(link => link.href)")


FAULTS = {
    "[x](nowhere.md)": "index.html leads to nowhere.md, and there is no such file",
    "[x](other.md#lost)": "index.html leads to other.html#lost, and there is no such place",
    "[x](#lost)": "index.html leads to #lost, and there is no such place",
    "![x](lost.svg)": "index.html leads to lost.svg, and there is no such file",
    '<img src="https://example.org/x.svg">': "loads https://example.org/x.svg from another host",
}
"""What is wrong on a page to what the build says of it."""


def a_site(folder: Path, text: str) -> Path:
    """A site of two pages as the builder would write it, without the theme."""
    page = re.sub(r"!\[x\]\(([^)]*)\)", r'<img src="\1">', text)
    page = re.sub(r"\[x\]\(([^)]*)\)", r'<a href="\1">x</a>', page)
    page = page.replace("other.md", "other.html")
    (folder / "index.html").write_text(f'<a href="other.html">other</a>{page}', encoding="utf-8")
    (folder / "other.html").write_text('<h1 id="found">Other</h1>', encoding="utf-8")
    return folder


@pytest.mark.parametrize("text", FAULTS)
def test_what_is_wrong_on_a_page_is_said(text, tmp_path):
    faults = site_module("links").faults
    [said] = faults(a_site(tmp_path, text))
    assert FAULTS[text] in said


def test_a_page_to_which_nothing_leads_is_named_and_a_good_site_has_no_fault(tmp_path):
    faults = site_module("links").faults
    assert list(faults(a_site(tmp_path, "[x](other.md#found) [x](https://example.org/)"))) == []
    (tmp_path / "alone.html").write_text("<h1>Alone</h1>", encoding="utf-8")
    assert list(faults(tmp_path)) == ["nothing leads to alone.html"]


def test_no_command_is_cut_off_at_the_edge_of_the_page():
    folding = site_module("folding")
    long = (
        "cimento annotate import one.csv two.csv --design survey --columns participant='Your code'"
        " --names keep -o judgments.csv   # codes, not names"
    )
    page = folding.folded(f"A\n\n```sh\n{long}\n```\n")
    assert page.splitlines() == [
        "A",
        "",
        "```sh",
        "# codes, not names",
        "cimento annotate import one.csv two.csv --design survey \\",
        "  --columns participant='Your code' --names keep -o judgments.csv",
        "```",
    ]
    assert folding.folded("```sh\ncimento --help\n```") == "```sh\ncimento --help\n```"


def test_long_data_are_broken_and_tables_are_not():
    folded = site_module("folding").folded
    row = '{"sentence": "' + "a " * 60 + '"}'
    assert folded(f'```json title="x"\n{row}\n```').startswith('```{ .json .wrap title="x" }\n')
    table = f"```text\na   b{'  c' * 40}\n1   2{'  3' * 40}\n```"
    assert folded(table) == table


def test_one_row_of_a_table_is_not_broken_and_a_long_sentence_is():
    folded = site_module("folding").folded
    row = f"```text\na   1{' ' * 90}[0.1, 0.2]\n```"
    assert folded(row) == row
    assert folded(f"```text\n{'word ' * 30}\n```").startswith("```{ .text .wrap }\n")


def test_long_words_of_tables_can_be_broken_and_links_stay():
    breakable = site_module("breaks").breakable
    link = '<a href="https://doi.org/10.1162/tacl_a_00321">'
    assert breakable(f"<td>{link}doi:10.1162/tacl_a_00321</a> in 0.25 s</td>") == (
        f"<td>{link}doi:10.1162/<wbr>tacl_<wbr>a_<wbr>00321</a> in 0.25 s</td>"
    )
    assert breakable("<td><code>pretrained=X,revision=R</code></td>") == (
        "<td><code>pretrained=<wbr>X,<wbr>revision=<wbr>R</code></td>"
    )
    text = "<p>doi:10.1162/tacl_a_00321</p>"
    assert breakable(text) == text


def test_a_source_in_a_table_is_a_link_and_code_in_python_scrolls():
    staged = site_module("staging").as_page(
        "| lp | Hale 2001, doi:10.3115/1073336.1073357; see |\n"
    )
    assert staged == "| lp | [Hale 2001](https://doi.org/10.3115/1073336.1073357); see |\n"
    block = f"```python\nx = {'1 + ' * 30}1\n```"
    assert site_module("folding").folded(block) == block


def test_a_table_with_tabs_is_a_table_and_a_design_record_is_only_named():
    as_page = site_module("staging").as_page
    text = '```tsv title="items.tsv"\nitem\ttext\n1\ta | b\n```\n[why](design/ladder.md)\n'
    assert as_page(text) == (
        "**`items.tsv`**\n\n| item | text |\n| --- | --- |\n| 1 | a &#124; b |\n"
        "why (`docs/design/ladder.md`)\n"
    )
    fenced = "```md\n[why](design/ladder.md)\n```\n"
    assert as_page(fenced) == fenced


def test_an_entry_of_the_reference_shows_its_first_paragraph_and_folds_the_rest_with_its_methods():
    collapsed = site_module("entries").collapsed
    method = (
        '<div class="doc doc-object"><h3 id="cimento.Run.judge" class="doc doc-heading">judge</h3>'
        '<div class="doc doc-contents "><p>Judge again.</p><p>More.</p></div></div>'
    )
    heading = '<div class="doc doc-object"><h2 id="cimento.Run" class="doc doc-heading">Run</h2>'
    bases = '<p class="doc doc-class-bases">Bases: x</p>'
    first = f'<div class="doc doc-contents first">{bases}<p>A run.</p>'
    rest = f"<p>Attributes:</p><div>one</div>{method}"
    page = f"{heading}{first}{rest}</div></div><p>after</p>"
    opens = '\n<details class="entry"><summary>Details</summary>'
    assert collapsed(page) == f"{heading}{first}{opens}{rest}</details>\n</div></div><p>after</p>"
    short = f"{heading}{first}\n</div></div>"  # nothing is left to fold
    assert collapsed(short) == short
    assert collapsed("<h2>Means</h2><p>Prose.</p>") == "<h2>Means</h2><p>Prose.</p>"


def test_a_check_is_found_as_a_whole_and_a_method_with_its_class():
    sections = {
        "checks/CIM-S001.html": 1,
        "checks/CIM-S001.html#example": 2,
        "reference/python.html#cimento.Run": 2,
        "reference/python.html#cimento.Run.estimates": 3,
        "models.html#memory": 3,
    }
    items = [{"location": at, "level": level, "text": at} for at, level in sections.items()]
    found = {item["location"]: item["text"] for item in site_module("search").kept(items)}
    assert list(found) == [list(sections)[n] for n in (0, 2, 4)]
    assert found["checks/CIM-S001.html"] == "checks/CIM-S001.html checks/CIM-S001.html#example"


def test_the_menu_has_seven_groups_and_names_no_page_twice():
    config = tomllib.loads((FOLDER.parents[1] / "zensical.toml").read_text(encoding="utf-8"))
    names = site_module("staging").menu(config)
    assert len(config["project"]["nav"]) == 7
    assert len({*names}) == len(names)
    assert len(site_module("count").kept_in(names)) <= 45


def test_every_command_has_a_page_with_its_options():
    commands = site_module("commands")
    listed = commands.commands_page()
    assert [words for words in leaves() if f"[`cimento {' '.join(words)}`](" not in listed] == []
    pages = commands.command_pages()
    assert set(pages) == {f"reference/{name}.md" for name in COMMANDS}
    for option in ("-m, --model MODEL", "--measure MEASURE", "--all-tokens"):
        assert f"`{option}" in pages["reference/run.md"]
    assert "Must be given." in pages["reference/score.md"]
    for name in ("cimento suites check", "cimento suites build pairs"):
        assert re.search(f"^#+ {name}$", pages["reference/suites.md"], re.MULTILINE)


def test_every_public_name_is_in_the_python_reference():
    pages = site_module("reference").pages()
    for package, page in ((cimento, "python"), (statistics, "statistics")):
        names = pages[f"reference/{page}.md"].partition("## Types in signatures")[0]
        shown = [path.rpartition(".")[2] for path in shown_on(names)]
        assert sorted(shown) == sorted(package.__all__)
        if package is cimento:  # in the order of use, which is that of the stub
            assert shown == list(homes_of(cimento.__file__))


OTHERS = {
    *("Any", "Callable", "ClassVar", "Collection", "Hashable", "Iterable", "Iterator", "Mapping"),
    *("Annotated", "Counter", "ForwardRef", "Literal", "None", "Sequence", "TypeAlias"),
    *("Unpack",),
    *("Array", "DataFrame", "Generator", "LazyFrame", "Path"),
    *("BeforeValidator", "PreTrainedModel", "PreTrainedTokenizerBase", "Trainer"),
}
"""Types of Python, numpy, polars, pydantic and transformers."""


def annotations_of(made: object) -> Iterator[str]:
    """What a function, or a class with its public methods, is annotated with."""
    if inspect.isclass(made):
        for name, member in vars(made).items():
            if not name.startswith("_") or name == "__init__":
                yield from annotations_of(getattr(member, "fget", None) or member)
    made = inspect.unwrap(getattr(made, "__func__", made))
    yield from map(str, getattr(made, "__annotations__", {}).values())


def is_variable(home: str, name: str) -> bool:
    """Whether a name in the annotations of a module stands for any type."""
    made = getattr(importlib.import_module(home), name, None)
    return isinstance(made, TypeVar | ParamSpec)


def test_every_type_that_a_public_signature_names_has_an_entry():
    reference = site_module("reference")
    entries = [name for page in reference.pages().values() for name in shown_on(page)]
    shown = {name.rpartition(".")[2] for name in entries}
    for module in map(importlib.import_module, reference.MODULES):
        shown |= {*module.__all__}
    lacking = set()
    for face in map(importlib.import_module, ("cimento", "cimento.statistics", *reference.MODULES)):
        for made in (getattr(face, name) for name in face.__all__):
            for annotation in annotations_of(made):
                bare = re.sub(r"""'[^']*'|"[^"]*"|<[^>]*>""", "", annotation)
                named = {*re.findall(r"\b[A-Z]\w*[a-z]\w*", bare)} - shown - OTHERS
                home = getattr(made, "__module__", face.__name__)
                lacking |= {(home, name) for name in named if not is_variable(home, name)}
    assert lacking == set()
    assert {"AnswerCache", "EvaluationKeywords", "FillPolicy", "ModelLike", "SuiteLike"} <= shown


def test_what_an_entry_of_a_type_shows_is_described():
    for module, _, name in (path.rpartition(".") for path in types_shown()):
        made = getattr(importlib.import_module(module), name)
        if inspect.isclass(made) and made.__module__ == module:
            assert inspect.getdoc(made), name
        else:
            source = inspect.getsource(importlib.import_module(module))
            assert re.search(rf'^{name}\b[^=\n]*= (?:.*\n)+?"""\S', source, re.MULTILINE), name


def test_every_module_has_a_page_with_its_names_and_the_list_leads_to_all():
    reference = site_module("reference")
    pages = reference.pages()
    listed = pages["reference/modules.md"]
    for module in map(importlib.import_module, reference.MODULES):
        page = reference.page_of(module.__name__)
        assert f"## [`{module.__name__}`]({page})" in listed
        for name in module.__all__:
            assert re.search(rf"^\| \[?`{name}`.* \| \S.* \|$", listed, re.MULTILINE), name
    types_ = pages["reference/modules-types.md"]
    for name in cimento.types.__all__:
        assert re.search(rf"^\| \[`{name}`\]\(\S+\) \| \S.* \|$", types_, re.MULTILINE), name


def test_every_dependency_has_its_reason():
    project = tomllib.loads((FOLDER.parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    declared = {"always": project["dependencies"], **project["optional-dependencies"]}
    shown = site_module("dependencies").dependencies()
    for extra, packages in declared.items():
        assert [*shown[extra]] == packages
        assert all(reason.endswith(".") and len(reason) > 9 for reason in shown[extra].values())


def test_a_dependency_has_its_versions_and_the_license_and_size_of_what_is_installed():
    page = site_module("dependencies").dependencies_page()
    [row] = re.findall(r"^\| always \| `numpy` .*$", page, re.MULTILINE)
    _, versions, license_, size, _ = row.strip("| ").split(" | ")[1:]
    assert versions == "`>=1.26`"
    # What numpy's own metadata and its folder say; a wheel of it has more than 10 MB.
    assert "BSD-3-Clause" in license_
    assert 10 < float(size) < 500


def test_code_in_a_summary_may_stand_between_two_grave_accents():
    prose = site_module("cells").prose
    assert prose("``log_sum`` for `sums_nats`, a_b") == "`log_sum` for `sums_nats`, a&#95;b"


MENU = """
<input class="md-nav__toggle md-toggle " type="checkbox" id="__nav_1" >
<nav aria-expanded="false"><a href="../commands.html" class="md-nav__link"></a></nav>
<input class="md-nav__toggle md-toggle " type="checkbox" id="__nav_2" >
<nav aria-expanded="false"><a href="./python.html" class="md-nav__link"></a></nav>
"""


def test_a_page_that_the_menu_lacks_opens_the_menu_where_it_belongs():
    build, staging = site_module("build"), site_module("staging")
    first, second = build.opened(MENU, "python.html").split("id=")[1:]
    assert "checked" not in first
    assert 'aria-expanded="false"' in first
    assert "checked" in second
    assert 'aria-expanded="true"' in second
    assert second.count("md-nav__link--active") == 1
    in_menu = staging.menu(
        tomllib.loads((FOLDER.parents[1] / "zensical.toml").read_text(encoding="utf-8"))
    )
    pages = [
        *staging.made_pages(),
        *(path.name for path in (FOLDER.parents[1] / "docs").glob("*.md")),
    ]
    lacking = [page for page in pages if not staging.parent(page, in_menu)]
    assert sorted(set(lacking) - {*in_menu}) == []
    assert "changelog.md" in pages


def types_shown() -> list[str]:
    """The types that have an entry because a signature names them."""
    return [path for paths in site_module("reference").types().values() for path in paths]


def shown_on(page: str) -> list[str]:
    """The objects that a page of the reference shows."""
    return re.findall(r"^::: ([\w.]+)$", page, re.MULTILINE)


REFERENCE = (
    "python",
    "statistics",
    *(f"modules-{name}" for name in ("types", "models", "explain")),
)
"""Pages of the reference of Python."""


def text_of(page: Path) -> str:
    """The text of the article of a page, each run of blanks as one."""
    article = re.search(r"<article.*?</article>", page.read_text("utf-8"), re.DOTALL)
    assert article is not None
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", article[0])).split())


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCE)
def test_signatures_have_no_private_name(site, name):
    text = text_of(site / "reference" / f"{name}.html")
    assert re.findall(r"(?<!\w)_[A-Za-z]\w*", text) == []


@pytest.mark.slow
def test_records_have_their_constructors_with_what_is_required(site):
    text = text_of(site / "reference" / "python.html")
    for record in (cimento.Measure, cimento.Outcome):
        found = re.search(rf"\b{record.__name__}\(( \*,.*?), \) ", text)
        assert found is not None
        written = ast.parse(f"def made({found[1]}): ...").body[0]
        assert isinstance(written, ast.FunctionDef)
        options = zip(written.args.kwonlyargs, written.args.kw_defaults, strict=True)
        assert {argument.arg: default is None for argument, default in options} == {
            name: one.default is one.empty
            for name, one in inspect.signature(record).parameters.items()
        }


@pytest.mark.slow
def test_the_reference_says_what_docstrings_say(site):
    page = (site / "reference" / "python.html").read_text(encoding="utf-8")
    assert "a built-in name, a path, or a suite made in Python, of any kind." in page
    page = (site / "reference" / "statistics.html").read_text(encoding="utf-8")
    types = site_module("reference").types()["statistics.md"]
    shown = len(statistics.__all__) + len(types)
    assert len(re.findall(r'<h3 id="cimento\.', page)) == shown
    for name in ("python", "statistics"):
        page = (site / "reference" / f"{name}.html").read_text(encoding="utf-8")
        blocks = re.findall(r"<pre>.*?</pre>", page, re.DOTALL)
        assert "<blockquote" not in page
        assert sum(block.count("&gt;&gt;&gt;") for block in blocks) == page.count("&gt;&gt;&gt;")
        assert any("&gt;&gt;&gt;" in block for block in blocks)
    page = (site / "reference" / "run.html").read_text(encoding="utf-8")
    assert '<code class="option">--all-tokens</code>' in page


@pytest.mark.slow
@pytest.mark.parametrize("page", ["index", "people", "statistics", "commands"])
def test_the_menu_is_open_at_the_group_of_the_page_and_closed_elsewhere(site, page):
    text = (site / f"{page}.html").read_text(encoding="utf-8")
    groups = re.split(r'(?=<input class="md-nav__toggle[^>]*id="__nav_\d+")', text)[1:]
    assert len(groups) == 7
    opened = [group for group in groups if re.match(r"<input[^>]* checked", group)]
    assert len(opened) == 1
    assert "md-nav__link--active" in opened[0]


@pytest.mark.slow
def test_browsing_asks_for_nothing_elsewhere_and_search_finds(address, browser):
    page = browser.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    for name in ("index.html", "quickstart.html", "reference/run.html", "checks.html"):
        page.goto(address + name)
    assert search(page, "pseudo-log-likelihood")
    page.close()
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []
    assert said == []


WANTED = {
    "tie": "glossary.html",
    "surprisal": "concepts.html",
    "power": "power.html",
    "install": "quickstart.html",
    "excel": "formats.html",
    "windows": "quickstart.html",
    "interval": "statistics.html",
    "mcnemar": "statistics.html",
    "minimal pairs": "first-suite.html",
    "survey": "people.html",
    "checkpoint": "checkpoints.html",
    "vllm": "servers.html",
    "exit code": "commands.html",
    "--batch-size": "models.html",
}
"""What people look for to the page that they want."""


@pytest.mark.slow
def test_a_site_opened_by_double_click_has_the_wanted_page_among_the_first_five(site, browser):
    page = browser.new_page()
    missed = {}
    for query, wanted in WANTED.items():
        page.goto((site / "first-suite.html").as_uri())
        found = (address.partition("?")[0] for address in search(page, query))
        pages = list(dict.fromkeys(Path(address).name for address in found))
        if wanted not in pages[:5]:
            missed[query] = pages
    page.close()
    assert missed == {}


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_a_phone(address, browser, scheme):
    context = browser.new_context(color_scheme=scheme, viewport={"width": 390, "height": 800})
    page = context.new_page()
    for name in ("index.html", "studies.html", "statistics.html", "reference/run.html"):
        page.goto(address + name)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 390, f"{name} is {width} wide"
    context.close()
