"""Removes the lines of the user's program from texts: file and line number stay, the code is removed."""

import re
from collections.abc import Callable
from typing import Any, Final

_NODE: Final = re.compile(r"(?P<place>#\s*File: (?P<file>(?:(?!#\s*File: )[^\n])*?)), code: (?P<code>[^\n]*)")
"""How FX prints where a node comes from."""
_GUARD_PLACE: Final = re.compile(r":\d+ in ")
"""How Dynamo prints where a guard comes from: `# ` and the line, ` # ` and its file, this and the function."""
_FRAME: Final = re.compile(r"""([ \t>#|+]*)File "(?P<file>[^"\n]*)", line \d+""")
"""How Python prints a frame of a traceback; the line is below it, indented."""

_BYTECODE: Final = "_BYTECODE"
"""How names of artifacts end that are bytecode: it has the program's names and constants."""

_TABLE: Final = "torch._higher_order_ops.triton_kernel_wrap.kernel_side_table."
_KERNEL_BEGINS: Final = ("    custom_kernel=True,", f"{_TABLE}reset_table")
"""Below these stands the source of a Triton kernel of the program: in generated code, and in `fx_graph_runnable.py`."""
_KERNEL_ENDS: Final = ("'''", f"{_TABLE}constant_args", "class ")
_BETWEEN: Final = (")", _TABLE)
"""How lines of torch's begin in it."""


class SourceLines:
    """Removes source lines, and counts them. `taken` is told the file that each comes from, and the line."""

    def __init__(self, taken: Callable[[str, str], object] | None = None) -> None:
        self.count = 0
        self._taken = taken
        self._indent: int | None = None
        self._file = ""
        self._is_kernel = False

    def json(self, value: Any) -> Any:
        """A JSON value, without the code of its locations and the lines in its texts."""
        match value:
            case str():
                return self.text(value)
            case {"file": file, "line": _, "code": str() as code} if code:
                self._took(str(file), code)
                return self.json({**value, "code": ""})
            case {"fact": "artifact", "name": str() as name, "text": str() as text} if text and name.endswith(
                _BYTECODE
            ):
                self._took("", text)
                return {**value, "text": ""}
            case {"fact": "tuned", "patch": str() as patch} if patch:
                self._took("", patch)
                return {**value, "patch": ""}
            case dict():
                return {key: self.json(item) for key, item in value.items()}
            case list():
                return [self.json(item) for item in value]
            case _:
                return value

    def text(self, text: str) -> str:
        """A separate text. The lines of tracebacks are removed completely."""
        if "#" not in text and 'File "' not in text and _KERNEL_BEGINS[0] not in text:
            return text
        self.end()
        kept = [found for line in text.split("\n") if (found := self.line(line)) or not line]
        self.end()
        return "\n".join(kept)

    def end(self) -> None:
        """A text has ended."""
        self._indent, self._is_kernel = None, False

    def line(self, line: str) -> str:
        """The next line of a file: empty for a line that is removed, so that line numbers stay the same."""
        if self._is_kernel:
            self._is_kernel = not line.startswith(_KERNEL_ENDS)
            if self._is_kernel and line.strip() and not line.startswith(_BETWEEN):
                self._took("", line)
                return ""
        elif line.startswith(_KERNEL_BEGINS):
            self._is_kernel = True
        frame = _FRAME.match(line)
        if frame is not None:
            self._indent, self._file = len(frame[1]), frame["file"]
            return line
        if self._indent is not None:
            bare = line.lstrip(" \t>#|+")
            if bare.strip() and len(line) - len(bare) > self._indent:
                self._took(self._file, bare)
                return ""
            self._indent = None
        if "#" in line:
            line = self._without_guard_line(_NODE.sub(self._node, line))
        return line

    def _took(self, file: str, text: str) -> None:
        self.count += 1
        if self._taken is not None:
            self._taken(file, text)

    def _node(self, found: re.Match[str]) -> str:
        self._took(found["file"], found["code"])
        return found["place"]

    def _without_guard_line(self, line: str) -> str:
        """Only the last place is Dynamo's: the line before it may have comments that look alike."""
        number = max((found.start() for found in _GUARD_PLACE.finditer(line)), default=0)
        place = line.rfind(" # ", 0, number)
        begin = min((at for mark in (" # ", "\t# ") if (at := line.find(mark, 0, max(place, 0))) >= 0), default=-1)
        if begin < 0 or line[place + 3].isspace():
            return line
        self._took(line[place + 3 : number], line[begin:place])
        return line[: begin + 1] + line[place:]
