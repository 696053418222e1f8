"""Build the documentation as a site, with warnings as errors: `make docs`.

::

    python scripts/site/build.py                     # build/docs, then build/site
    python scripts/site/build.py --docs FOLDER --into FOLDER

The builder, Zensical, reads a folder of Markdown and calls nobody. So the pages are put together
first; at the end, links are checked. docs/design/site.md says why the site is built this way.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import links
import search
import tomli_w
from breaks import breakable
from cells import DOCS, ROOT
from entries import collapsed
from staging import menu, parent, stage

from cimento._version import __version__

_OPTION = re.compile(r"<code>(?=-[\w -]{1,30}</code>)")
_COMMAND = re.compile(r"(?<!<pre>)<code>(?:[\w./]+ )+-[^<]*</code>")
_FLAG = re.compile(r"(?<= )-[-\w]+")
_PAGE = re.compile(r"\bdocs/(?:parts/)?([\w-]+)\.md(?![^<]*</code>)")
_HEADING = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)
_GROUP = re.compile(r'(<input class="md-nav__toggle md-toggle[^>]*? id="__nav_\d+") *>')
"""The box that opens a group of the menu."""
_COLOR = re.compile(r"\x1b\[[\d;]*m")


def main(arguments: list[str]) -> int:
    """Build the site; returns the exit code, which is 1 where anything is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--docs", type=Path, default=DOCS, help="the folder of the kept pages")
    parser.add_argument("--into", type=Path, default=ROOT / "build", help="docs/, site/ go here")
    options = parser.parse_args(arguments)
    into: Path = options.into.resolve()
    stage(options.docs, into / "docs")
    config, code = write_config(into), 0
    found = menu_faults(into)
    if not found and not (code := run_builder(config)):
        site = into / "site"
        in_menu = menu(tomllib.loads(config.read_text(encoding="utf-8")))
        for page in site.rglob("*.html"):
            finish(page, site, in_menu)
        search.shorten(site)
        found = [*links.faults(site)]
    for said in found:
        print(f"error: {said}", file=sys.stderr)
    return code or int(bool(found))


def write_config(into: Path) -> Path:
    """Write the builder's settings beside the staged pages: those of zensical.toml, with paths."""
    config = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    project = config["project"]
    named = f"{project['site_name']} {__version__}"
    project |= {"docs_dir": "docs", "site_dir": "site", "site_name": named}
    python = project["plugins"]["mkdocstrings"]["handlers"]["python"]
    python["paths"] = [str(ROOT / path) for path in python["paths"]]
    options = python["options"]
    options["extensions"] = [str(ROOT / path) for path in options["extensions"]]
    path = into / "zensical.toml"
    path.write_text(tomli_w.dumps(config), encoding="utf-8")
    return path


def run_builder(config: Path) -> int:
    """Build the site, printing only what is wrong; returns the builder's exit code."""
    shutil.rmtree(config.parent / "site", ignore_errors=True)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    done = subprocess.run(  # noqa: S603  # our own words
        [*command, "--config-file", str(config)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = done.stdout + done.stderr.partition("Traceback")[0]
        print(_COLOR.sub("", said), file=sys.stderr)
    return done.returncode


def menu_faults(into: Path) -> list[str]:
    """Sentences about pages that the menu names and that are not there, or that it names twice."""
    config = tomllib.loads((into / "zensical.toml").read_text(encoding="utf-8"))
    names = menu(config)
    faults = [f"the menu names {name} twice" for name in {*names} if names.count(name) > 1]
    return faults + [
        f"the menu names {name}, and there is no such page"
        for name in names
        if not (into / "docs" / name).is_file()
    ]


def finish(page: Path, site: Path, in_menu: Sequence[str]) -> None:
    """Mark what is an option, so that no line ends behind its dashes; link pages in docstrings.

    A page that the menu lacks has the menu open at the page to which it belongs.
    """
    html = _OPTION.sub('<code class="option">', page.read_text(encoding="utf-8"))
    html = _COMMAND.sub(lambda code: _FLAG.sub(r'<span class="option">\g<0></span>', code[0]), html)
    if page.parent.name == "reference":
        html = collapsed(_PAGE.sub(lambda named: _linked(named, site), html))
    path = page.relative_to(site).with_suffix(".md").as_posix()
    if above := parent(path, in_menu):
        html = opened(html, os.path.relpath(Path(above).with_suffix(".html"), Path(path).parent))
    page.write_text(breakable(html), encoding="utf-8")


def opened(html: str, address: str) -> str:
    """A page with the menu open where it leads to an address, and that link marked."""
    link = re.search(rf'<a href="(?:\./)?{re.escape(address)}" class="md-nav__link', html)
    if link is None:
        return html
    before, after = html[: link.start()], html[link.end() :]
    groups = list(_GROUP.finditer(before))
    if groups:
        box = groups[-1]
        inside = before[box.end() :].replace('aria-expanded="false"', 'aria-expanded="true"', 1)
        before = f"{before[: box.start()]}{box[1]} checked>{inside}"
    return f"{before}{link[0]} md-nav__link--active{after}"


def _linked(named: re.Match[str], site: Path) -> str:
    """The file of a page, as a docstring names it, as a link with the page's title."""
    page = site / f"{named[1]}.html"
    found = _HEADING.search(page.read_text(encoding="utf-8")) if page.is_file() else None
    title = re.sub(r"<[^>]+>", "", found[1]).removesuffix("&para;").strip() if found else ""
    return f'<a href="../{page.name}">{title}</a>' if title else named[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
