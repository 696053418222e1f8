"""The field `suite` of a run, which is read from a stored run when it is first needed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast, overload

from cimento.io.files import read_bytes, write_bytes
from cimento.kinds.clusters import chosen_clusters

if TYPE_CHECKING:
    from cimento.kinds.base import TestSuite
    from cimento.kinds.run import Run


@dataclass(frozen=True, eq=False)
class LaterSuite:
    """The suite of a stored run, read when it is first needed.

    Attributes:
        read: reads the suite, and remembers it.
        copy: the folder from which it is read.
        is_unchanged: whether the run is as it was opened.
    """

    read: Callable[[], TestSuite]
    copy: Path
    is_unchanged: bool = True


class SuiteField:
    """The field `suite` of a run, which holds a suite or a `LaterSuite` that reads it.

    The field holds the suite as it was asked, which is what is stored; what it gives has the
    clusters that the run's options choose.

    `is_unchanged` of the `LaterSuite` tells an opened run from a changed copy of one.
    """

    _PLACE = "_suite"

    @overload
    def __get__(self, run: None, owner: type) -> NoReturn: ...
    @overload
    def __get__(self, run: object, owner: type) -> TestSuite: ...
    def __get__(self, run: object | None, owner: type) -> TestSuite:
        if run is None:
            raise AttributeError("suite")  # the field has no default
        suite, one = self.as_asked(run), cast("Run", run)
        if not (columns := chosen_clusters(one.options)):
            return suite
        judge = one.paradigm.judge
        return cast("TestSuite", one.once(self._PLACE, lambda: judge.clustered(suite, columns)))

    @classmethod
    def as_asked(cls, run: object) -> TestSuite:
        """The suite of a run with the clusters that it declares itself."""
        held = vars(run)[cls._PLACE]
        return cast("TestSuite", held.read() if isinstance(held, LaterSuite) else held)

    def __set__(self, run: object, suite: TestSuite | LaterSuite) -> None:
        vars(run)[self._PLACE] = suite

    @classmethod
    def is_unchanged(cls, run: object) -> bool:
        """Whether a run is as it was opened."""
        suite = vars(run)[cls._PLACE]
        return isinstance(suite, LaterSuite) and suite.is_unchanged

    @classmethod
    def changed(cls, run: object) -> Any:  # noqa: ANN401  # the field takes it for the suite it reads
        """The suite for a changed copy of a run, still read only when it is first needed."""
        suite = vars(run)[cls._PLACE]
        is_later = isinstance(suite, LaterSuite)
        return dataclasses.replace(suite, is_unchanged=False) if is_later else suite

    @classmethod
    def write(cls, run: object, folder: Path, *, writer: Callable[[TestSuite, Path], None]) -> None:
        """Write the suite of a run; a suite that was read from a copy is copied file by file.

        Args:
            run: the run.
            folder: folder of the copy.
            writer: writes a suite into a folder.

        Raises:
            StorageError: the folder cannot be written.
        """
        suite = vars(run)[cls._PLACE]
        if not isinstance(suite, LaterSuite):
            writer(suite, folder)
        elif suite.copy != folder:
            for file in (path for path in suite.copy.rglob("*") if path.is_file()):
                write_bytes(read_bytes(file), folder / file.relative_to(suite.copy))
