"""One command of cimento in a process of its own, watched from inside.

Called as ``python child.py MODULE:FUNCTION REPORT SOURCE watch|plain ARGUMENT...``. The function is
the entry point of the command line; REPORT is written as JSON when it ends, however it ends.
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType

UNNAMED = {"<module>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
"""Code that is not a function of its own; later versions of Python inline some of it."""

MODEL = str(Path("torch", "nn", "modules", "module.py"))
"""The end of the path of the file that every network of PyTorch goes through."""

CALL = "_wrapped_call_impl"
"""The function there that calls a network."""


class Watcher:
    """The functions of one source tree that are entered, and the way to the network.

    Kept are the stacks where a network is first touched (it is loaded) and first called. What runs
    while a module is imported (decorators, class bodies) is not counted.

    Args:
        source: folder of the package.
    """

    def __init__(self, source: str) -> None:
        self._source = str(Path(source) / "_").removesuffix("_")
        self._local = threading.local()
        self._inside: dict[str, bool] = {}
        self.entered: set[CodeType] = set()
        self.made: list[tuple[str, str]] = []
        self.called: list[tuple[str, str]] = []

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """Note one event of `sys.setprofile`."""
        if event not in ("call", "return"):
            return
        code = frame.f_code
        if code.co_name == "<module>":
            importing = getattr(self._local, "importing", 0)
            self._local.importing = max(0, importing + (1 if event == "call" else -1))
        elif event == "call" and not getattr(self._local, "importing", 0):
            if self.is_own(code):
                self.entered.add(code)
            elif not self.called and code.co_filename.endswith(MODEL):
                self.made = self.made or self._stack(frame.f_back)
                if code.co_name == CALL:
                    self.called = self._stack(frame.f_back)

    def is_own(self, code: CodeType) -> bool:
        """Whether a function is in the source tree and has a name or is a lambda."""
        file = code.co_filename
        if file not in self._inside:
            self._inside[file] = file.startswith(self._source)
        return self._inside[file] and code.co_name not in UNNAMED

    def _stack(self, frame: FrameType | None) -> list[tuple[str, str]]:
        frames = []
        while frame is not None and frame.f_code.co_filename != __file__:
            frames.append((frame.f_code.co_filename, frame.f_code.co_qualname))
            frame = frame.f_back
        return frames[::-1]


def main() -> None:
    """Run the command and write what was seen."""
    entry, report, source, mode, *arguments = sys.argv[1:]
    module, _, name = entry.partition(":")
    sys.argv = ["cimento", *arguments]
    function = getattr(importlib.import_module(module), name)
    watcher = Watcher(source)
    if mode == "watch":
        threading.setprofile(watcher)
        sys.setprofile(watcher)
    try:
        function()
    finally:
        sys.setprofile(None)
        seen = {
            "torch": "torch" in sys.modules,
            "functions": sorted(
                (code.co_filename, code.co_qualname, code.co_firstlineno)
                for code in watcher.entered
            ),
            "made": watcher.made,
            "called": watcher.called,
        }
        Path(report).write_text(json.dumps(seen), encoding="utf-8")


if __name__ == "__main__":
    main()
