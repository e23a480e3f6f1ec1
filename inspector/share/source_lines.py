"""Removes the lines of the user's program from texts: file and line number stay, the code is removed."""

import re
from typing import Any, Final

_NODE: Final = re.compile(r"(#\s*File: (?:(?!#\s*File: )[^\n])*?), code: [^\n]*")
"""How FX prints where a node comes from."""
_GUARD_PLACE: Final = re.compile(r":\d+ in ")
"""How Dynamo prints where a guard comes from: `# ` and the line, ` # ` and its file, this and the function."""
_FRAME: Final = re.compile(r"""([ \t>#|+]*)File "[^"\n]*", line \d+""")
"""How Python prints a frame of a traceback; the line is below it, indented."""

_BYTECODE: Final = "_BYTECODE"
"""How names of artifacts end that are bytecode: it has the program's names and constants."""


class SourceLines:
    """Removes source lines, and counts them."""

    def __init__(self) -> None:
        self.count = 0
        self._indent: int | None = None

    def json(self, value: Any) -> Any:
        """A JSON value, without the code of its locations and the lines in its texts."""
        match value:
            case str():
                return self.text(value)
            case {"file": _, "line": _, "code": str() as code} if code:
                self.count += 1
                return {**value, "code": ""}
            case {"fact": "artifact", "name": str() as name, "text": str()} if name.endswith(_BYTECODE):
                self.count += 1
                return {**value, "text": ""}
            case dict():
                return {key: self.json(item) for key, item in value.items()}
            case list():
                return [self.json(item) for item in value]
            case _:
                return value

    def text(self, text: str) -> str:
        """A separate text. The lines of tracebacks are removed completely."""
        if "#" not in text and 'File "' not in text:
            return text
        self._indent = None
        kept = [found for line in text.split("\n") if (found := self.line(line)) or not line]
        self._indent = None
        return "\n".join(kept)

    def line(self, line: str) -> str:
        """The next line of a file: empty for a line of a traceback, so that line numbers stay the same."""
        frame = _FRAME.match(line)
        if frame is not None:
            self._indent = len(frame[1])
            return line
        if self._indent is not None:
            bare = line.lstrip(" \t>#|+")
            if bare.strip() and len(line) - len(bare) > self._indent:
                self.count += 1
                return ""
            self._indent = None
        if "#" in line:
            line, times = _NODE.subn(r"\1", line)
            self.count += times
            line = self._without_guard_line(line)
        return line

    def _without_guard_line(self, line: str) -> str:
        """Only the last place is Dynamo's: the line before it may have comments that look alike."""
        number = max((found.start() for found in _GUARD_PLACE.finditer(line)), default=0)
        place = line.rfind(" # ", 0, number)
        begin = min((at for mark in (" # ", "\t# ") if (at := line.find(mark, 0, max(place, 0))) >= 0), default=-1)
        if begin < 0 or line[place + 3].isspace():
            return line
        self.count += 1
        return line[: begin + 1] + line[place:]
