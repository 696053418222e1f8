"""``cimento cache``: the answers kept between runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from cimento.cli.console import show

if TYPE_CHECKING:
    from cimento.engine.cache import FileCache

DAMAGED = 1

cache_app = typer.Typer(help="Look after the answers kept between runs.", no_args_is_help=True)


@cache_app.command("info")
def info() -> None:
    """Print where the cache is, how many texts it knows and how large it is."""
    with _open() as cache:
        number = cache.count()
        size = cache.path.stat().st_size
    show(f"{cache.path}\n{number} texts scored, {size / 1e6:.1f} MB")


@cache_app.command("clear")
def clear() -> None:
    """Forget all answers; stored runs stay as they are."""
    from cimento.models.server.identity import FILE

    with _open() as cache:
        cache.path.with_name(FILE).unlink(missing_ok=True)
        show(f"{cache.clear()} texts forgotten")


@cache_app.command("verify")
def verify() -> int:
    """Check every entry; the exit code is 1 where something is damaged."""
    with _open() as cache:
        problems = cache.verify()
    show("\n".join(problems) if problems else "Nothing is damaged.")
    if problems:
        show("Clear it with: cimento cache clear, or delete the file.")
    return DAMAGED if problems else 0


@contextlib.contextmanager
def _open() -> Iterator[FileCache]:
    from cimento.engine.cache import FileCache, default_cache_folder

    cache = FileCache(default_cache_folder())
    try:
        yield cache
    finally:
        cache.close()
